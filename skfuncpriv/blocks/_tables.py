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
        if library.__name__ == "polars" and is_frame(first):
            return library.concat(list(tables), how="vertical_relaxed")
        return library.concat(list(tables))
    arrays = [np.asarray(table) for table in tables]
    if len({array.dtype.kind in "USOT" for array in arrays}) > 1:
        arrays = [array.astype(object) for array in arrays]  # 1 and "1" are two classes
    return np.concatenate(arrays)


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
