"""The form of rows: what is public about a block, as one row that holds no data.

Everything that is decided before data are read (grids, sizes, names) is decided on a
row of zeros with the columns and the type of the first block; later blocks must have
that form.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from .._tables import is_frame
from ..curves import Curves

LENGTHS = "X, y, groups and sample_weight must have the same number of rows"
_OTHER_FORM = (
    "The blocks differ in their form: every block must have the same columns, or the "
    "same grid and outputs"
)


def form_of(table: Any) -> Any:
    """One row of zeros in the form of a table; one curve for curves."""
    if isinstance(table, Curves):
        return _form_of_curves(table)
    if is_frame(table):
        return _form_of_frame(table)
    if is_column(table):
        return np.zeros(1, dtype=_harmless(table.dtype))
    array = np.asarray(table)
    return np.zeros((1, *array.shape[1:]), dtype=_harmless(array.dtype))


def check_form(table: Any, form: Any) -> None:
    """Refuse a block of another form than the first one."""
    if _signature(table) != _signature(form):
        raise ValueError(_OTHER_FORM)


def is_column(table: Any) -> bool:
    """Whether it is a series of pandas or polars."""
    return hasattr(type(table), "to_frame") and not is_frame(table)


def length_of(table: Any) -> int:
    """How many rows there are."""
    return table.n_curves if isinstance(table, Curves) else len(table)


def _signature(table: Any) -> Any:
    if isinstance(table, Curves):
        grid = None if table.grid is None else tuple(table.grid.tolist())
        return "curves", grid, table.n_outputs, table.is_vector, table.domain
    if is_frame(table):
        return "frame", tuple(table.columns)
    if is_column(table) or np.ndim(table) == 1:
        return ("column",)
    return "array", np.shape(table)[1:]


def _form_of_frame(frame: Any) -> Any:
    row = {}
    for k in range(len(frame.columns)):
        dtype = frame.dtypes.iloc[k] if hasattr(frame, "iloc") else frame.dtypes[k]
        row[str(k)] = np.zeros(1, dtype=_harmless(dtype))
    form = type(frame)(row)
    form.columns = list(frame.columns)
    return form


def _harmless(dtype: Any) -> Any:
    """A type whose zeros are read, or refused, as the values of that type are."""
    kind = getattr(dtype, "kind", None)
    if kind is None:
        name = str(dtype).lower()
        kind = {"b": "b", "u": "u", "i": "i", "f": "f"}.get(name[0], "O")
    if kind in "biufcSUmMO" and isinstance(dtype, np.dtype):
        return np.dtype(float) if kind == "O" else dtype
    return {"b": bool, "i": int, "u": int, "f": float}.get(kind, float)


def _form_of_curves(curves: Curves) -> Curves:
    form = copy.copy(curves)
    n_points = 2 if curves.grid is None else len(curves.grid)
    values = np.zeros((1, n_points, curves.n_outputs))
    if curves.grid is None:
        form.times = np.asarray(curves.domain or (0.0, 1.0))
        form.offsets, values = np.array([0, 2]), values[0]
    form.values, form.all_missing, form.ids = values, np.zeros(1, dtype=bool), None
    return form
