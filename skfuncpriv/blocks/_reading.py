"""Blocks of X, y, weights and labels side by side, cut at the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from ._arrays import is_memory_map
from ._blocks import Blocks, is_divisible, read_together, recut, text_labels
from ._engines import Reader
from ._forms import LENGTHS, length_of
from ._tables import check_table, take
from ._tasks import Block, leaves, mapped

_POSITION = (
    "X is in blocks, so an index is not compared: give y, groups and sample_weight in "
    "the order of the rows, as arrays or with the index 0, 1, 2, ..."
)
_OTHER_BLOCKS = "X, y, groups and sample_weight must have the same number of blocks"


def block_reader(tables: tuple[Any, ...]) -> Reader:
    """The blocks of X, y, weights and groups, cut where blocks of one of them begin.

    That is one that cannot be cut elsewhere, if there is one; else the first.
    """
    tables = mapped(lambda t: Blocks.from_array(t) if is_memory_map(t) else t, tables)
    tables = text_labels(tables)
    blocks = [table for table in leaves(tables) if isinstance(table, Blocks)]
    lead = next((table for table in blocks if not is_divisible(table)), blocks[0])
    if any(table.n_blocks != lead.n_blocks for table in blocks if is_fixed(table)):
        raise ValueError(_OTHER_BLOCKS)
    others = [table for table in leaves(tables) if table is not lead]
    if not all(map(is_fixed, others)):
        cuts = [0, *accumulate(_reader((lead, None, None, None), lead).lengths())]
        tables = mapped(lambda t: t if t is lead else _cut(t, cuts), tables)
    return _reader(tables, lead)


def is_fixed(table: Any) -> bool:
    """Whether a table has blocks that cannot be cut elsewhere."""
    return isinstance(table, Blocks) and not is_divisible(table)


class ReadBlock:
    """Reads one block of X, y and weights, and the labels of its rows.

    Parameters
    ----------
    tables : tuple
        X, y, weights and groups: blocks, or those rows of a table in memory.
    number : int
        The number of the block.
    """

    def __init__(self, tables: tuple[Any, ...], number: int) -> None:
        self._tables, self._number = tables, number

    def __call__(self) -> Block:
        *parts, labels = self._read(self._tables)
        return Block(tuple(parts), labels)

    def labels(self) -> Block:
        return Block((), self._read(self._tables[3:])[0])

    def n_rows(self) -> int | None:
        """How many rows there are, if a table knows without being read."""
        for table in leaves(self._tables):
            if not isinstance(table, Blocks):
                return length_of(table)
        known: int | None = leaves(self._tables)[0].n_rows(self._number)
        return known

    def _read(self, tables: tuple[Any, ...]) -> Any:
        blocks = [table for table in leaves(tables) if isinstance(table, Blocks)]
        read = iter(read_together(blocks, self._number))
        return mapped(lambda t: next(read) if isinstance(t, Blocks) else t, tables)


class Pieces:
    """A table in memory, cut where blocks begin.

    Parameters
    ----------
    parts : tuple
        The rows of each block.
    """

    def __init__(self, parts: tuple[Any, ...]) -> None:
        self.parts = parts


def _reader(tables: tuple[Any, ...], lead: Blocks) -> Reader:
    return Reader([ReadBlock(_part(tables, k), k) for k in range(lead.n_blocks)])


def _cut(table: Any, cuts: Sequence[int]) -> Any:
    if is_fixed(table):
        return table
    if isinstance(table, Blocks):
        return recut(table, cuts)
    check_table(table)
    if length_of(table) != cuts[-1]:
        raise ValueError(LENGTHS)
    pieces = (take(table, slice(*ends)) for ends in pairwise(cuts))
    if not hasattr(table, "iloc"):
        return Pieces(tuple(pieces))
    if table.index.tolist() != list(range(len(table))):
        raise ValueError(_POSITION)
    return Pieces(tuple(piece.reset_index(drop=True) for piece in pieces))


def _part(tables: Any, k: int) -> Any:
    return mapped(lambda t: t.parts[k] if isinstance(t, Pieces) else t, tables)
