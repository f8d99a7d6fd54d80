"""Blocks that a scheduler of dask computes, on this machine or on others.

Only sums and numbers of people come back; rows never do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import reduce
from operator import getitem
from typing import Any
from uuid import uuid4

import numpy as np

from .._progress import PATIENCE, is_watched
from ._forms import form_of
from ._partitions import (
    check_order,
    has_known_rows,
    is_dask,
    is_lazy_frame,
    lazy_form,
    side_by_side,
)
from ._tables import check_table
from ._tasks import Block, Refusal, added, guarded, leaves, mapped, split, unquoted
from ._tasks import gathered as gathered_blocks

_FAN_IN = 8
_MOST_BUCKETS = 32  # each partition is cut into so many pieces, one task for each
_PARTITIONS = (
    "X, y, groups and sample_weight must have the same partitions: take them from one "
    "frame, or rechunk them alike"
)
_POSITION = (
    "X is an object of dask, so y, groups and sample_weight must be objects of dask, "
    "too, or NumPy arrays with one entry for each row: an index is not compared"
)


def dask_engine(tables: tuple[Any, ...]) -> Dask:
    """The blocks of X, y, weights and groups."""
    from dask import delayed  # type: ignore[attr-defined]

    lazy = [table for table in leaves(tables) if is_dask(table)]
    plain = [table for table in leaves(tables) if not is_dask(table)]
    if not all(isinstance(table, np.ndarray) for table in plain):
        raise ValueError(_POSITION)
    chunks: Any = next((t.chunks[0] for t in lazy if has_known_rows(t)), None)
    columns = dict(zip(map(id, lazy), side_by_side(lazy, chunks), strict=True))
    n_blocks = len(columns[id(lazy[0])])
    if any(len(column) != n_blocks for column in columns.values()):
        raise ValueError(_PARTITIONS)
    check_order(list(columns.values()), with_memory=bool(plain))
    n_rows = None if chunks is None else sum(chunks)
    if plain and chunks is None:
        lengths = [delayed(len)(part) for part in columns[id(lazy[0])]]
        chunks = computed(delayed(list)(lengths))
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

    whole = blocks(tables)
    forms = mapped(lambda t: lazy_form(t) if is_dask(t) else form_of(t), tables)
    labels = None
    if tables[3] is not None:  # without what else their rows hold
        if is_dask(tables[3]):  # alone, so that no other column is read
            columns[id(tables[3])] = side_by_side([tables[3]], chunks)[0]
        labels = blocks((None, None, None, tables[3]))
    frame = next((table for table in lazy if is_lazy_frame(table)), None)
    return Dask(whole, Block(forms[:3]), labels, n_rows, frame)


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
            known: int = unquoted(lambda: len(self._frame))  # files may know
            return known
        return self._n_rows

    def total(self, task: Callable[[Any], Any]) -> Any:
        from dask import delayed  # type: ignore[attr-defined]

        run, add = delayed(_run, pure=False), delayed(_added, pure=False)
        shared = delayed(task, pure=False, traverse=False)  # sent once to a worker
        level = [run(shared, block) for block in self._blocks]
        while len(level) > 1:
            level = [add(level[k : k + _FAN_IN]) for k in range(0, len(level), _FAN_IN)]
        return computed(level[0])

    def alone(self, task: Callable[[Any], Any]) -> Any:
        from dask import delayed  # type: ignore[attr-defined]

        shared = delayed(task, pure=False, traverse=False)
        whole = delayed(_gathered, pure=False)(self._blocks)
        return computed(delayed(_run, pure=False)(shared, whole))

    def by_person(self) -> Dask:
        labels = None if self._labels is None else _shuffled(self._labels)
        return Dask(_shuffled(self._blocks), self._form, labels)

    def labels(self) -> Dask:
        return Dask(self._labels or [], self._form)

    def close(self) -> None:
        """Nothing is kept but what the scheduler knows how to make."""


def computed(result: Any) -> Any:
    """What a delayed object stands for, with a bar for whoever waits."""
    import dask
    from dask.diagnostics import ProgressBar  # type: ignore[attr-defined]

    compute: Any = dask.compute  # type: ignore[attr-defined]
    if not is_watched():
        return unquoted(lambda: compute(result)[0])
    bar: Any = ProgressBar
    with bar(minimum=PATIENCE, out=sys.stderr):
        return unquoted(lambda: compute(result)[0])


def _shuffled(blocks: list[Any]) -> list[Any]:
    """The same rows in buckets of people: one graph, from which all sums are made."""
    from dask.delayed import Delayed
    from dask.highlevelgraph import HighLevelGraph

    n_buckets = min(len(blocks), _MOST_BUCKETS)
    token = uuid4().hex
    cut, piece, bucket = f"cut-{token}", f"piece-{token}", f"bucket-{token}"
    layer: dict[Any, Any] = {}
    for k, block in enumerate(blocks):
        layer[cut, k] = (_pieces, block.key, n_buckets)
        layer |= {(piece, k, b): (getitem, (cut, k), b) for b in range(n_buckets)}
    for b in range(n_buckets):
        pieces = [(piece, k, b) for k in range(len(blocks))]
        layer[bucket, b] = (_gathered, pieces)
    graph = HighLevelGraph.from_collections(bucket, layer, dependencies=blocks)
    make: Any = Delayed
    return [make((bucket, b), graph, layer=bucket) for b in range(n_buckets)]


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
