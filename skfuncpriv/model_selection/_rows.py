"""Rows of whatever estimators take, and the people who own them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base import people_of
from .._sklearn import count_samples, safe_indexing

_LABELS = (
    "groups must name people by labels that can be sorted, such as strings or numbers"
)


def take(X: Any, rows: np.ndarray) -> Any:
    """Some of the rows, in the form that X has."""
    if X is None:
        return None
    if isinstance(X, dict):
        return {name: take(part, rows) for name, part in X.items()}
    if isinstance(X, list | tuple) and any(hasattr(part, "shape") for part in X):
        several = [np.ndim(part) != 1 or hasattr(part, "columns") for part in X]
        if all(several):  # tables of several covariates, not the rows of one
            return type(X)(take(part, rows) for part in X)
    if hasattr(X, "n_curves"):
        return X[rows]
    if not hasattr(X, "__getitem__"):  # it only says what array it would be
        X = np.asarray(X)
    return safe_indexing(X, rows)


def count_rows(X: Any) -> int:
    """How many rows there are."""
    if isinstance(X, dict):
        return count_rows(next(iter(X.values())))
    if isinstance(X, list | tuple) and X and hasattr(X[0], "shape"):
        if np.ndim(X[0]) != 1 or hasattr(X[0], "columns"):
            return count_rows(X[0])
        return len(X)
    return len(X) if hasattr(X, "n_curves") else count_samples(X)


def people_by_label(groups: Any, X: Any) -> tuple[np.ndarray | None, int, str]:
    """Codes of the people who own the rows, in the order of their labels.

    Returns
    -------
    codes : ndarray of int or None
        None if every row is a person.
    n_people : int
        How many people there are; public.
    unit : str
        The unit of privacy.

    Notes
    -----
    `person_codes` numbers people by their first rows, and where these are is private:
    one person with other rows could renumber everybody. The set of labels is public,
    and so is its order.
    """
    codes, n_people, unit = people_of(groups, X, count_rows(X))
    if codes is None:
        return None, n_people, unit
    is_list = isinstance(groups, list | tuple)
    labels = np.asarray(groups, dtype=object if is_list else None)
    _, first = np.unique(codes, return_index=True)
    names = [labels[k] for k in first]
    try:
        order = sorted(range(n_people), key=lambda code: _sortable(names[code]))
    except TypeError:
        order = None
    if order is None:
        raise ValueError(_LABELS)
    rank = np.empty(n_people, dtype=np.intp)
    rank[order] = np.arange(n_people)
    return rank[codes], n_people, unit


def _sortable(label: Any) -> tuple[str, Any]:
    if isinstance(label, bool | int | float | np.number | np.bool_):
        return "number", label
    if isinstance(label, str):
        return "text", label
    if isinstance(label, set | frozenset):  # subsets are a partial order
        raise TypeError
    return type(label).__name__, label
