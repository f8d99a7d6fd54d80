"""What belongs to rows of X: the same index, and weights.

Weights are shares of a public cap, divided among the rows of a person.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from ._tables import as_numbers, finite_or, indexed
from ._validation import check_positive

_WEIGHTS = (
    "sample_weight must hold one finite number >= 0 per row; those above weight_cap "
    "are lowered to it"
)
_NO_CAP = (
    "sample_weight needs a public weight_cap: state the largest weight that a row may "
    "have, known without the data"
)


def read_weights(
    weights: Any, cap: Any, X: Any, n_rows: int, strict: bool = False
) -> np.ndarray | None:
    """Weights of rows in [0, 1]: lowered to the public cap and divided by it.

    None if there are none. Negative ones and those that are not finite are refused, in
    strict mode zero.
    """
    if weights is None:
        return None
    if cap is None:
        raise ValueError(_NO_CAP)
    cap = check_positive(cap, "weight_cap")
    check_same_index(X, weights, "sample_weight")
    if isinstance(weights, Real):  # as in scikit-learn, one number for all rows
        weights = [weights] * n_rows
    numbers = as_numbers(weights)
    if strict and numbers.shape == (n_rows,):
        numbers = np.maximum(finite_or(numbers, 0.0), 0.0)
    if numbers.shape != (n_rows,) or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise ValueError(_WEIGHTS)
    with np.errstate(all="ignore"):
        return np.minimum(numbers, cap) / cap


def check_same_index(X: Any, other: Any, name: str) -> None:
    """Refuse pandas data of the same rows whose index is not that of X."""
    table = indexed(X)
    both_pandas = hasattr(other, "iloc") and hasattr(table, "iloc")
    if both_pandas and not table.index.equals(other.index):
        raise ValueError(
            f"{name} has another index than X: align them, as in {name}.loc[X.index]"
        )


def divided_among_rows(weights: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Weights over how many rows the person of each has: at most one for a person."""
    return weights / np.bincount(codes)[codes]
