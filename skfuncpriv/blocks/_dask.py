"""Blocks that a scheduler of dask computes, on this machine or on others.

Only sums and numbers of people come back; rows never do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ._engines import PATIENCE
from ._forms import form_of
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


def is_dask(table: Any) -> bool:
    """Whether it is an array, frame or series of dask, without importing it."""
    library = type(table).__module__.split(".")[0]
    return library in ("dask", "dask_expr") and hasattr(table, "to_delayed")


def dask_engine(X: Any, y: Any, sample_weight: Any, groups: Any) -> Dask:
    """The blocks of X, with what belongs to their rows."""
    from dask import delayed

    tables = (X, y, sample_weight, groups)
    lazy = [table for table in leaves(tables) if is_dask(table)]
    if any(hasattr(table, "iloc") for table in leaves(tables) if not is_dask(table)):
        raise ValueError(_POSITION)
    chunks = next((t.chunks[0] for t in lazy if _is_known(t)), None)
    n_blocks = lazy[0].npartitions if chunks is None else len(chunks)
    columns: dict[int, list[Any]] = {}
    for table in lazy:
        columns[id(table)] = _partitions(table, chunks)
        if len(columns[id(table)]) != n_blocks:
            raise ValueError(_PARTITIONS)

    plain = [table for table in leaves(tables) if not is_dask(table)]
    if plain:
        lengths = chunks
        if chunks is None:
            first = columns[id(lazy[0])]
            lengths = _compute(delayed([delayed(len)(part) for part in first]))
        cuts = np.append(0, np.cumsum(np.array(lengths, dtype=np.int64)))
        for table in plain:
            if len(table) != cuts[-1]:
                raise ValueError(_PARTITIONS)
            rows = np.asarray(table)
            columns[id(table)] = np.split(rows, cuts[1:-1])
    make = delayed(_block, pure=False)
    blocks = [
        make(mapped(lambda table, k=k: columns[id(table)][k], tables))
        for k in range(n_blocks)
    ]
    forms = mapped(lambda t: _form(t) if is_dask(t) else np.zeros(1), tables)
    return Dask(blocks, Block(forms[:3]))


class Dask:
    """Blocks that a scheduler of dask computes.

    Parameters
    ----------
    blocks : list of delayed `Block`
        The blocks, which never come here.
    form : Block
        A block of zeros.
    """

    def __init__(self, blocks: list[Any], form: Block) -> None:
        self._blocks, self._form = blocks, form

    def form(self) -> Block:
        return self._form

    def total(self, task: Callable[[Block], Any]) -> Any:
        from dask import delayed

        run, add = delayed(_run, pure=False), delayed(_added, pure=False)
        shared = delayed(task, pure=False, traverse=False)  # sent once to a worker
        level = [run(shared, block) for block in self._blocks]
        while len(level) > 1:
            level = [add(level[k : k + _FAN_IN]) for k in range(0, len(level), _FAN_IN)]
        return _compute(level[0])

    def alone(self, task: Callable[[Block], Any]) -> Any:
        from dask import delayed

        shared = delayed(task, pure=False, traverse=False)
        whole = delayed(_gathered, pure=False)(self._blocks)
        return _compute(delayed(_run, pure=False)(shared, whole))

    def by_person(self) -> Dask:
        from dask import delayed

        n = len(self._blocks)
        cut, join = delayed(_pieces, pure=False, nout=n), delayed(_gathered, pure=False)
        pieces = [cut(block, n) for block in self._blocks]
        buckets = [join([piece[b] for piece in pieces]) for b in range(n)]
        return Dask(buckets, self._form)

    def labels(self) -> Dask:
        from dask import delayed

        only = delayed(_only_labels, pure=False)
        return Dask([only(block) for block in self._blocks], self._form)


def _compute(result: Any) -> Any:
    import dask
    from dask.diagnostics import ProgressBar

    if not sys.stderr.isatty():
        return dask.compute(result)[0]
    with ProgressBar(minimum=PATIENCE, out=sys.stderr):
        return dask.compute(result)[0]


def _is_known(table: Any) -> bool:
    chunks = getattr(table, "chunks", None)
    return chunks is not None and not np.isnan(chunks[0]).any()


def _partitions(table: Any, chunks: Any) -> list[Any]:
    if not hasattr(table, "chunks"):
        return list(table.to_delayed())
    alike = {axis: -1 for axis in range(1, table.ndim)}
    if chunks is not None and _is_known(table):
        alike[0] = chunks
    return list(table.rechunk(alike).to_delayed().ravel())


def _form(table: Any) -> Any:
    if hasattr(table, "chunks"):
        return form_of(np.empty((0, *table.shape[1:]), dtype=table.dtype))
    return form_of(table._meta)


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


def _only_labels(block: Any) -> Any:
    return guarded(lambda known: Block((), known.labels), block)
