"""Points of a density: how they are read, with texts that quote no value."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from .._grids import check_wide_shape
from .._sklearn import check_feature_names
from .._tables import as_numbers, frame_to_numbers, is_frame, refuse_no_table
from .._validation import check_interval, check_positive

_NOT_FINITE = (
    "Input contains NaN or infinity: points of a density must be finite numbers; drop "
    "or fill such rows by a rule that does not look at other people's rows"
)
_WEIGHTS = (
    "sample_weight must hold one finite number >= 0 per row; those above weight_cap "
    "are lowered to it"
)
_NO_CAP = (
    "sample_weight needs a public weight_cap: state the largest weight that a row may "
    "have, known without the data"
)


def read_points(owner: Any, X: Any, *, reset: bool) -> np.ndarray:
    """Rows of finite numbers, shape (n, d), with the columns that `owner` knows."""
    refuse_no_table(X)
    points = frame_to_numbers(X) if is_frame(X) else as_numbers(X)
    check_wide_shape(points)
    if points.ndim != 2:
        raise ValueError("points must be an array of shape (n, d)")
    with np.errstate(all="ignore"):
        total = points.sum()
    if not np.isfinite(total) and not np.isfinite(points).all():
        raise ValueError(_NOT_FINITE)
    check_feature_names(owner, X, reset=reset)
    if reset:
        owner.n_features_in_ = points.shape[1]
    elif points.shape[1] != owner.n_features_in_:
        raise ValueError(
            f"X has {points.shape[1]} features, but {type(owner).__name__} is "
            f"expecting {owner.n_features_in_} features as input"
        )
    return points


def read_box(bounds: Any, n_axes: int) -> tuple[tuple[float, float], ...]:
    """One pair (low, high) per axis from two numbers, or from two arrays."""
    rule = (
        "bounds must be (low, high), finite with low < high: two numbers, or two "
        f"arrays with one number for each of {n_axes} features; got {bounds!r}"
    )
    try:
        ends = [np.asarray(end, dtype=np.float64) for end in bounds]
    except (TypeError, ValueError):
        raise ValueError(rule) from None
    if len(ends) != 2 or any(end.shape not in ((), (n_axes,)) for end in ends):
        raise ValueError(rule)
    low, high = (np.broadcast_to(end, n_axes).tolist() for end in ends)
    return tuple(check_interval(pair, "bounds") for pair in zip(low, high, strict=True))


def read_shares(weights: Any, cap: float | None, n_rows: int) -> np.ndarray | None:
    """Weights as shares of the public cap, in [0, 1]; None if there are none."""
    if weights is None:
        return None
    if cap is None:
        raise ValueError(_NO_CAP)
    cap = check_positive(cap, "weight_cap")
    if isinstance(weights, Real):  # as in scikit-learn, one number for all rows
        weights = [weights] * n_rows
    shares = as_numbers(weights)
    if shares.shape != (n_rows,) or not (np.isfinite(shares) & (shares >= 0)).all():
        raise ValueError(_WEIGHTS)
    with np.errstate(all="ignore"):
        return np.minimum(shares, cap) / cap
