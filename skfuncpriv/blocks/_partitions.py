"""Partitions of tables of dask, side by side: row k of one and of another is one row.

A shuffle of dask that goes through files or between workers (``shuffle``, ``merge``,
``set_index``, ``sort_values``) gives a partition the same rows each time, but in
whatever order they arrive. So all tables must come from one shuffle that is computed
once. Dask's optimization asks a shuffle for the columns that a table needs, and thereby
makes two shuffles of one; it is left out where there may be a shuffle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._forms import form_of

_COLUMNS = "The number of columns of an array must be known; that of its rows need not"
_ORDER = (
    "X, y, groups and sample_weight come from different shuffles of dask, which have "
    "no fixed order of rows: take all of them from one frame, as columns of it, or "
    "call .persist() after the shuffle"
)
_UNORDERED = ("diskshuffle", "p2pshuffle", "hashjoinp2p")  # how dask names them
_ORDERED = ("Elemwise", "IO")  # operations that neither move nor drop a row


def is_dask(table: Any) -> bool:
    """Whether it is an array, frame or series of dask, without importing it."""
    kind = type(table)  # an object of dask.delayed has every attribute
    is_table = hasattr(kind, "to_delayed") and hasattr(kind, "ndim")
    return kind.__module__.split(".")[0] in ("dask", "dask_expr") and is_table


def has_known_rows(table: Any) -> bool:
    """Whether it is an array with chunks of known lengths."""
    chunks = getattr(table, "chunks", None)
    return chunks is not None and not np.isnan(chunks[0]).any()


def lazy_form(table: Any) -> Any:
    """A row of zeros in the form of a table of dask."""
    if is_lazy_frame(table):
        return form_of(table._meta)
    if np.isnan(np.array(table.shape[1:], dtype=float)).any():
        raise ValueError(_COLUMNS)
    return form_of(np.empty((0, *table.shape[1:]), dtype=table.dtype))


def is_lazy_frame(table: Any) -> bool:
    """Whether it is a frame or series, not an array."""
    return not hasattr(table, "chunks")


def partitions_of(table: Any) -> list[Any]:
    """The delayed partitions of a table that is read alone, each with all columns."""
    return side_by_side([table])[0]


def side_by_side(tables: Sequence[Any], chunks: Any = None) -> list[list[Any]]:
    """The delayed partitions of tables whose rows belong together.

    Each one has all columns, and is cut where chunks begin, if they are known.
    """
    frames = [table for table in tables if is_lazy_frame(table)]
    if len(frames) < 2 or all(map(_keeps_order, frames)):  # read no other columns
        tables = [t.simplify() if is_lazy_frame(t) else t for t in tables]
    return [_partitions(table, chunks) for table in tables]


def check_order(columns: Sequence[Sequence[Any]], *, with_memory: bool) -> None:
    """Refuse partitions whose rows come in different orders each time.

    Parameters
    ----------
    columns : sequence of sequences of delayed partitions
        Those of one table each.
    with_memory : bool
        Whether rows in memory, which have an order, are to be put beside them.
    """
    shuffles = {_unordered(column[0].dask) for column in columns if len(column)}
    if with_memory:
        shuffles.add(frozenset())
    if len(shuffles) > 1:
        raise ValueError(_ORDER)


def _partitions(table: Any, chunks: Any) -> list[Any]:
    if is_lazy_frame(table):
        # All of dask's optimization would join partitions of few columns, labels among
        # them, and so cut tables of one frame at different rows.
        return list(table.to_delayed(optimize_graph=False))
    alike = {axis: -1 for axis in range(1, table.ndim)}
    if chunks is not None and has_known_rows(table):
        alike[0] = chunks
    return list(table.rechunk(alike).to_delayed().ravel())


def _keeps_order(frame: Any) -> bool:
    """Whether all operations on a frame are known to keep rows where they are."""
    kinds = ({kind.__name__ for kind in type(x).__mro__} for x in frame.expr.walk())
    return not any(names.isdisjoint(_ORDERED) for names in kinds)


def _unordered(graph: Any) -> frozenset[str]:
    """The shuffles in a graph of which each computation has an order of its own."""
    names = {str(key[0] if isinstance(key, tuple) else key) for key in graph}
    return frozenset(name for name in names if name.startswith(_UNORDERED))
