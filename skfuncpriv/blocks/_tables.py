"""Rows of a table, by number, and tables one below the other, whatever their type."""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from .._tables import MASKED, MATRIX, SPARSE, is_frame
from ..curves import Curves
from ._forms import is_column


def check_table(table: Any) -> None:
    """Refuse what would lose its meaning as a plain array."""
    if sparse.issparse(table):
        raise TypeError(SPARSE)
    if isinstance(table, np.matrix):
        raise TypeError(MATRIX)
    if isinstance(table, np.ma.MaskedArray):
        raise TypeError(MASKED)


def take(table: Any, rows: Any) -> Any:
    """The rows with these numbers."""
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    return table[rows]


def joined(tables: Sequence[Any]) -> Any:
    """Tables of one form, one below the other."""
    first = tables[0]
    if len(tables) == 1:
        return first
    if isinstance(first, Curves):
        return _joined_curves(tables)
    if is_frame(first) or is_column(first):
        library: Any = sys.modules[type(first).__module__.split(".")[0]]
        is_polars = library.__name__ == "polars"
        if is_polars and is_frame(first):
            return library.concat(list(tables), how="vertical_relaxed")
        if not is_polars or len({table.dtype for table in tables}) == 1:
            return library.concat(list(tables))
    arrays = [np.asarray(table) for table in tables]
    kinds = {"f" if a.dtype.kind in "iu" else a.dtype.kind for a in arrays}
    if len(kinds) > 1:  # 1 and "1" are two classes, and a date is none of them
        arrays = [_as_objects(array) for array in arrays]
    return np.concatenate(arrays)


def _as_objects(array: np.ndarray) -> np.ndarray:
    """The same values, each of which knows what it is: dates stay dates."""
    if array.dtype.kind not in "mM":
        return array.astype(object)
    return np.array(list(array.ravel()), dtype=object).reshape(array.shape)


def _joined_curves(tables: Sequence[Curves]) -> Curves:
    whole = copy.copy(tables[0])
    whole.values = np.concatenate([table.values for table in tables])
    whole.all_missing = np.concatenate([table.all_missing for table in tables])
    whole.ids = None
    if whole.grid is None:
        whole.times = np.concatenate([table.times for table in tables])
        lengths = np.concatenate([np.diff(table.offsets) for table in tables])
        whole.offsets = np.append(0, np.cumsum(lengths))
    return whole
