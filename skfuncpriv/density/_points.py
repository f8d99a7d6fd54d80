"""Points of a density: how they are read, with texts that quote no value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from .._sklearn import check_feature_names
from .._tables import as_numbers, finite_or
from .._validation import check_positive
from ..gaussian_process._rows import read_rows
from ..noise import FixedPoint

_WEIGHTS = (
    "sample_weight must hold one finite number >= 0 per row; those above weight_cap "
    "are lowered to it"
)
_NO_CAP = (
    "sample_weight needs a public weight_cap: state the largest weight that a row may "
    "have, known without the data"
)
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
        shares = read_shares(weights, self.cap, X, len(points), self.strict)
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


def read_shares(
    weights: Any, cap: float | None, X: Any, n_rows: int, strict: bool = False
) -> np.ndarray | None:
    """Weights as shares of the public cap, in [0, 1]; None if there are none.

    Negative ones and those that are not finite are refused, in strict mode zero.
    """
    if weights is None:
        return None
    both_pandas = hasattr(weights, "iloc") and hasattr(X, "iloc")
    if both_pandas and not X.index.equals(weights.index):
        raise ValueError(
            "sample_weight has another index than X: align them, as in "
            "sample_weight.loc[X.index]"
        )
    if cap is None:
        raise ValueError(_NO_CAP)
    cap = check_positive(cap, "weight_cap")
    if isinstance(weights, Real):  # as in scikit-learn, one number for all rows
        weights = [weights] * n_rows
    shares = as_numbers(weights)
    if strict and shares.shape == (n_rows,):
        shares = np.maximum(finite_or(shares, 0.0), 0.0)
    if shares.shape != (n_rows,) or not (np.isfinite(shares) & (shares >= 0)).all():
        raise ValueError(_WEIGHTS)
    with np.errstate(all="ignore"):
        return np.minimum(shares, cap) / cap
