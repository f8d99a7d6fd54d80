"""Points of a density: how they are read, with texts that quote no value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._row_weights import read_weights
from .._sklearn import check_feature_names
from ..gaussian_process._rows import read_rows
from ..noise import FixedPoint

_SMALLEST = 1e-290  # volume of a box, and of its inverse


@dataclass(frozen=True, eq=False, repr=False)
class WeightedPoints:
    """Points of rows, and the share of a contribution that each row gives.

    Parameters
    ----------
    points : ndarray, shape (n_rows, d)
        *Private*.
    shares : ndarray, shape (n_rows,), or None
        *Private*, in [0, 1]; None is one for every row.
    """

    points: np.ndarray
    shares: np.ndarray | None


@dataclass(frozen=True, eq=False)
class PointReading:
    """How points are read, wherever they are; all of it is public.

    Parameters
    ----------
    center : callable or None
        As `read_rows` takes it.
    cap : float or None
        The largest weight.
    strict : bool
        Whether weights that are no numbers >= 0 count as zero.
    """

    center: Callable[[int], np.ndarray] | None
    cap: float | None
    strict: bool

    def __call__(self, X: Any, y: Any, weights: Any) -> WeightedPoints:  # noqa: ARG002
        """Read points and weights."""
        points = read_rows(X, self.center)
        shares = read_weights(weights, self.cap, X, len(points), self.strict)
        return WeightedPoints(points, shares)


def used_columns(part: slice, data: WeightedPoints) -> WeightedPoints:
    """Some of the columns."""
    return replace(data, points=data.points[:, part])


def sum_points(plan: Any, data: WeightedPoints, codes: np.ndarray | None) -> FixedPoint:
    """The exact sum of what the people of these rows contribute to a release."""
    total: FixedPoint = plan.sum(data.points, codes, data.shares)
    return total


def read_queries(owner: Any, X: Any) -> np.ndarray:
    """Rows of finite numbers, shape (n, d), with the columns that were fitted."""
    points = read_rows(X)
    check_feature_names(owner, X, reset=False)
    if points.shape[1] != owner.n_features_in_:
        raise ValueError(
            f"X has {points.shape[1]} features, but {type(owner).__name__} is "
            f"expecting {owner.n_features_in_} features as input"
        )
    return points


def remember_columns(owner: Any, X: Any, n_columns: int) -> None:
    """Keep the names and the number of columns of rows that are fitted."""
    check_feature_names(owner, X, reset=True)
    owner.n_features_in_ = n_columns


def check_volume(low: np.ndarray, high: np.ndarray) -> None:
    """Refuse boxes on which densities are out of the range of floats."""
    with np.errstate(all="ignore"):
        volume = np.prod(high - low)
    if not _SMALLEST < volume < 1 / _SMALLEST:
        raise ValueError(
            "bounds are so close or far apart that densities are out of the range of "
            "floats: choose another unit"
        )
