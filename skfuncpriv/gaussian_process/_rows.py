"""How private rows and public bounds are read; no text quotes a private number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .._grids import too_few
from .._tables import (
    as_numbers,
    finite_or,
    frame_to_numbers,
    is_frame,
    refuse_no_table,
)
from .._validation import check_interval

_ONE_AXIS = (
    "Expected a 2D array, one row per observation. Reshape your data: X[:, None] for "
    "one column, series.to_frame() for a series"
)
_NOT_FINITE = (
    "Input contains NaN or infinity: keep a row for everybody, as their number is "
    "public, with the middle of the bounds in place of the gap; with groups a row may "
    "be left out if its person has others"
)
TARGETS = "y must hold one finite number per row of X"


@dataclass(frozen=True, eq=False, repr=False)
class PrivateRows:
    """Points of rows, shape (n_rows, d), and targets in some form; *private*."""

    points: np.ndarray
    targets: Any = None


@dataclass(frozen=True, eq=False)
class RowReading:
    """How points are read, wherever they are, with targets as they are given.

    Parameters
    ----------
    center : callable or None
        As `read_rows` takes it; *public*.
    """

    center: Callable[[int], np.ndarray] | None

    def __call__(self, X: Any, y: Any, weights: Any) -> PrivateRows:  # noqa: ARG002
        """Read points."""
        return PrivateRows(read_rows(X, self.center), y)


def with_targets(read: Callable[[Any, int], Any], data: PrivateRows) -> PrivateRows:
    """Rows whose targets are read by a function of y and the number of rows."""
    return PrivateRows(data.points, read(data.targets, len(data.points)))


def targets_within(
    bounds: Any, center: float | None, y: Any, n_rows: int
) -> np.ndarray | Any:
    """Targets clipped to public bounds, or as they are given if there are none."""
    if bounds is None or y is None:
        return y
    low, high = check_interval(bounds, "y_bounds")
    return np.clip(read_targets(y, n_rows, center), low, high)


def read_rows(X: Any, center: Callable[[int], np.ndarray] | None = None) -> np.ndarray:
    """Private points of finite numbers, shape (n, d); an array is not copied.

    Of d axes, ``center(d)`` takes the place of numbers that are not finite; they are
    refused where it is None.
    """
    if hasattr(type(X), "to_frame") and not is_frame(X):
        raise ValueError(_ONE_AXIS)
    refuse_no_table(X)
    rows = frame_to_numbers(X) if is_frame(X) else as_numbers(X)
    if rows.ndim != 2:
        raise ValueError(_ONE_AXIS)
    if 0 in rows.shape:
        what = "sample" if len(rows) == 0 else "feature"
        raise ValueError(too_few(what, rows.shape))
    if center is not None:
        return finite_or(rows, center(rows.shape[1]))
    return _finite(rows, _NOT_FINITE)


def read_targets(y: Any, n_rows: int, center: float | None = None) -> np.ndarray:
    """Private targets, shape (n,); `center` in place of those that are not finite."""
    if y is None:
        raise ValueError(
            "y is required: this estimator requires y to be passed, but the target y "
            "is None"
        )
    targets = as_numbers(y)
    if targets.shape == (n_rows, 1):
        targets = targets[:, 0]
    if targets.shape != (n_rows,):
        raise ValueError(TARGETS)
    return _finite(targets, TARGETS) if center is None else finite_or(targets, center)


def read_box(bounds: Any, n_axes: int) -> tuple[np.ndarray, np.ndarray]:
    """The ends (low, high) of each axis, from two numbers or two arrays."""
    rule = (
        "bounds must be (low, high), finite with low < high: two numbers, or two "
        f"arrays with one number for each of {n_axes} features; got {bounds!r}"
    )
    try:
        ends = [as_numbers(end) for end in bounds]
        low, high = (np.broadcast_to(end, n_axes).tolist() for end in ends)
    except (TypeError, ValueError):
        raise ValueError(rule) from None
    if any(end.shape not in ((), (n_axes,)) for end in ends):
        raise ValueError(rule)
    if n_axes == 2 and _are_columns(low, high):
        raise ValueError(
            f"bounds of two features are (lows, highs), not one pair for each: say "
            f"({[low[0], high[0]]}, {[low[1], high[1]]}), got {bounds!r}"
        )
    pairs = [check_interval(pair, "bounds") for pair in zip(low, high, strict=True)]
    low, high = np.array(pairs).T
    with np.errstate(over="ignore"):
        if not np.isfinite(high - low).all():
            raise ValueError("bounds are so far apart that their distance overflows")
    return low, high


def _are_columns(first: list[float], second: list[float]) -> bool:
    """Whether pairs are no bounds as (lows, highs), but are as one for each feature."""
    is_box = first[0] < second[0] and first[1] < second[1]
    return not is_box and first[0] < first[1] and second[0] < second[1]


def public_center(
    estimator: Any, bounds: Any, read: Callable[..., Any] = read_box
) -> Callable[[int], np.ndarray] | None:
    """The `center` of `read_rows`: in strict mode the middle of a public box."""

    return partial(_middle, bounds, read) if estimator._is_strict() else None


def _middle(bounds: Any, read: Callable[..., Any], n_axes: int) -> np.ndarray:
    low, high = read(bounds, n_axes)
    return low / 2 + high / 2


def _finite(numbers: np.ndarray, rule: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        is_certain = np.isfinite(numbers.sum())
    if not is_certain and not np.isfinite(numbers).all():
        raise ValueError(rule)
    return numbers
