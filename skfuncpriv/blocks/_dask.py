"""Blocks that a scheduler of dask computes, on this machine or on others.

Only sums and numbers of people come back; rows never do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from .._progress import PATIENCE, is_watched
from ._forms import form_of
from ._tables import check_table
from ._tasks import Block, Refusal, added, guarded, leaves, mapped, split
from ._tasks import gathered as gathered_blocks

_FAN_IN = 8
_PARTITIONS = (
    "X, y, groups and sample_weight must have the same partitions: take them from one "
    "frame, or rechunk them alike"
)
_POSITION = (
    "X is an object of dask, so y, groups and sample_weight must be objects of dask, "
    "too, or NumPy arrays with one entry for each row: an index is not compared"
)
_COLUMNS = "The number of columns of an array must be known; that of its rows need not"


def is_dask(table: Any) -> bool:
    """Whether it is an array, frame or series of dask, without importing it."""
    library = type(table).__module__.split(".")[0]
    is_table = hasattr(table, "to_delayed") and hasattr(table, "ndim")
    return library in ("dask", "dask_expr") and is_table


def dask_engine(tables: tuple[Any, ...]) -> Dask:
    """The blocks of X, y, weights and groups."""
    from dask import delayed  # type: ignore[attr-defined]

    lazy = [table for table in leaves(tables) if is_dask(table)]
    plain = [table for table in leaves(tables) if not is_dask(table)]
    if not all(isinstance(table, np.ndarray) for table in plain):
        raise ValueError(_POSITION)
    chunks: Any = next((t.chunks[0] for t in lazy if has_known_rows(t)), None)
    columns = {id(table): partitions_of(table, chunks) for table in lazy}
    n_blocks = len(columns[id(lazy[0])])
    if any(len(column) != n_blocks for column in columns.values()):
        raise ValueError(_PARTITIONS)
    n_rows = None if chunks is None else sum(chunks)
    if plain and chunks is None:
        lengths = [delayed(len)(part) for part in columns[id(lazy[0])]]
        chunks = _compute(delayed(list)(lengths))
    for table in plain:
        check_table(table)
        if len(table) != sum(chunks):
            raise ValueError(_PARTITIONS)
        columns[id(table)] = np.split(table, np.cumsum(chunks)[:-1])

    make = delayed(_block, pure=False)

    def blocks(some: Any) -> list[Any]:
        return [
            make(mapped(lambda table: columns[id(table)][k], some))  # noqa: B023
            for k in range(n_blocks)
        ]

    forms = mapped(lambda t: lazy_form(t) if is_dask(t) else form_of(t), tables)
    labels = None
    if tables[3] is not None:  # without what else their rows hold
        labels = blocks((None, None, None, tables[3]))
    frame = next((table for table in lazy if not hasattr(table, "chunks")), None)
    return Dask(blocks(tables), Block(forms[:3]), labels, n_rows, frame)


class Dask:
    """Blocks that a scheduler of dask computes.

    Parameters
    ----------
    blocks : list of delayed `Block`
        The blocks, which never come here.
    form : Block
        A block of zeros.
    labels : list of delayed `Block`, default=None
        The labels of people alone.
    n_rows : int, default=None
        The number of rows, if it is known.
    frame : dask frame or series, default=None
        One that knows how to count its rows.
    """

    def __init__(
        self,
        blocks: list[Any],
        form: Block,
        labels: list[Any] | None = None,
        n_rows: int | None = None,
        frame: Any = None,
    ) -> None:
        self._blocks, self._form, self._labels = blocks, form, labels
        self._n_rows, self._frame = n_rows, frame

    def form(self) -> Block:
        return self._form

    def n_rows(self) -> int | None:
        if self._n_rows is None and self._frame is not None:
            return len(self._frame)  # files are asked, if they know
        return self._n_rows

    def total(self, task: Callable[[Any], Any]) -> Any:
        from dask import delayed  # type: ignore[attr-defined]

        run, add = delayed(_run, pure=False), delayed(_added, pure=False)
        shared = delayed(task, pure=False, traverse=False)  # sent once to a worker
        level = [run(shared, block) for block in self._blocks]
        while len(level) > 1:
            level = [add(level[k : k + _FAN_IN]) for k in range(0, len(level), _FAN_IN)]
        return _compute(level[0])

    def alone(self, task: Callable[[Any], Any]) -> Any:
        from dask import delayed  # type: ignore[attr-defined]

        shared = delayed(task, pure=False, traverse=False)
        whole = delayed(_gathered, pure=False)(self._blocks)
        return _compute(delayed(_run, pure=False)(shared, whole))

    def by_person(self) -> Dask:
        labels = None if self._labels is None else _shuffled(self._labels)
        return Dask(_shuffled(self._blocks), self._form, labels)

    def labels(self) -> Dask:
        return Dask(self._labels or [], self._form)

    def close(self) -> None:
        """Nothing is kept but what the scheduler knows how to make."""


def has_known_rows(table: Any) -> bool:
    """Whether it is an array with chunks of known lengths."""
    chunks = getattr(table, "chunks", None)
    return chunks is not None and not np.isnan(chunks[0]).any()


def partitions_of(table: Any, chunks: Any = None) -> list[Any]:
    """The delayed blocks of a table, each with all columns, cut where chunks begin."""
    if not hasattr(table, "chunks"):
        # All of dask's optimization would join partitions of few columns, labels among
        # them, and so cut tables of one frame at different rows.
        return list(table.simplify().to_delayed(optimize_graph=False))
    alike = {axis: -1 for axis in range(1, table.ndim)}
    if chunks is not None and has_known_rows(table):
        alike[0] = chunks
    return list(table.rechunk(alike).to_delayed().ravel())


def lazy_form(table: Any) -> Any:
    """A row of zeros in the form of a table of dask."""
    if not hasattr(table, "chunks"):
        return form_of(table._meta)
    if np.isnan(np.array(table.shape[1:], dtype=float)).any():
        raise ValueError(_COLUMNS)
    return form_of(np.empty((0, *table.shape[1:]), dtype=table.dtype))


def _shuffled(blocks: list[Any]) -> list[Any]:
    from dask import delayed  # type: ignore[attr-defined]

    n = len(blocks)
    cut, join = delayed(_pieces, pure=False, nout=n), delayed(_gathered, pure=False)
    pieces = [cut(block, n) for block in blocks]
    return [join([piece[b] for piece in pieces]) for b in range(n)]


def _compute(result: Any) -> Any:
    import dask
    from dask.diagnostics import ProgressBar  # type: ignore[attr-defined]

    compute: Any = dask.compute  # type: ignore[attr-defined]
    if not is_watched():
        return compute(result)[0]
    bar: Any = ProgressBar
    with bar(minimum=PATIENCE, out=sys.stderr):
        return compute(result)[0]


def _block(tables: Sequence[Any]) -> Any:
    return guarded(lambda: Block(tuple(tables[:3]), tables[3]))


def _run(task: Callable[[Any], Any], block: Any) -> Any:
    return task(block)


def _added(results: Sequence[Any]) -> Any:
    return reduce(added, results)


def _gathered(blocks: Sequence[Any]) -> Any:
    refusals = [block for block in blocks if isinstance(block, Refusal)]
    return refusals[0] if refusals else guarded(gathered_blocks, blocks)


def _pieces(block: Any, n_buckets: int) -> list[Any]:
    pieces = guarded(split, block, n_buckets)
    return [pieces] * n_buckets if isinstance(pieces, Refusal) else pieces
