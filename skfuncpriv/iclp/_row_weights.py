"""The weights of rows: shares of a public cap, divided among the rows of a person."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from .._tables import as_numbers
from .._validation import check_positive

_WEIGHTS = (
    "sample_weight must hold one finite number >= 0 per row; those above weight_cap "
    "are lowered to it"
)
_NO_CAP = (
    "sample_weight needs a public weight_cap: state the largest weight that a row may "
    "have, known without the data"
)


def row_weights(
    sample_weight: Any, cap: Any, X: Any, codes: np.ndarray | None, n_rows: int
) -> np.ndarray:
    """Weights >= 0 that add up to at most one for each person, shape (n_rows,).

    A weight is lowered to the public cap and divided by it, so that it lies in [0, 1];
    with `codes`, the person of each row, it is also divided by how many rows that
    person has. Both are functions of the person's own rows.
    """
    if cap is not None:
        cap = check_positive(cap, "weight_cap")
    weights = np.ones(n_rows)
    if sample_weight is not None:
        if cap is None:
            raise ValueError(_NO_CAP)
        weights = _shares(sample_weight, cap, X, n_rows)
    if codes is not None:
        weights = weights / np.bincount(codes)[codes]
    return weights


def _shares(weights: Any, cap: float, X: Any, n_rows: int) -> np.ndarray:
    both_pandas = hasattr(weights, "iloc") and hasattr(X, "iloc")
    if both_pandas and not X.index.equals(weights.index):
        raise ValueError(
            "sample_weight has another index than X: align them, as in "
            "sample_weight.loc[X.index]"
        )
    if isinstance(weights, Real):  # as in scikit-learn, one number for all rows
        weights = [weights] * n_rows
    numbers = as_numbers(weights)
    if numbers.shape != (n_rows,) or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise ValueError(_WEIGHTS)
    with np.errstate(all="ignore"):
        return np.minimum(numbers, cap) / cap
