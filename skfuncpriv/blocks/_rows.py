"""Private rows, in memory or in blocks, as the `fit` of an estimator uses them.

`fit` reads like one on arrays: it takes the public facts from `read` and `people`, and
asks for exact sums. Rows in memory answer at once. Rows in blocks show a row of zeros
of their form, and let every block be read and summed where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._base import people_of
from ._blocks import Blocks, is_memory_map
from ._dask import dask_engine, is_dask
from ._engines import Engine, Reader
from ._forms import form_of, length_of
from ._tables import take
from ._tasks import Block, Task, checked, count, leaves, mapped

_IN_MEMORY = (
    "y, groups or sample_weight is in blocks but X is in memory: give X in blocks, too"
)
_LENGTHS = "X, y, groups and sample_weight must have the same number of rows"
_OTHER_BLOCKS = "X, y, groups and sample_weight must have the same number of blocks"


def open_rows(
    X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None
) -> MemoryRows | BlockRows:
    """Take the arguments of ``fit``, in memory or in blocks.

    Parameters
    ----------
    X, y, sample_weight, groups
        *Private*: arrays, frames, curves, memory maps, `Blocks`, or arrays and frames
        of dask; X may be a dict or list of several.

    Returns
    -------
    MemoryRows or BlockRows
        The rows.

    Raises
    ------
    ValueError
        If X is in memory and another argument is in blocks, or blocks are of different
        kinds.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.blocks import open_rows
    >>> rows = open_rows(np.ones((4, 2)))
    >>> rows.read(lambda X, y, weights: X).sum()
    8.0
    """
    tables = leaves(X)
    others = leaves((y, sample_weight, groups))
    if any(map(is_dask, tables)):
        engine: Engine = dask_engine(X, y, sample_weight, groups)
    elif any(map(_is_in_blocks, tables)):
        engine = _reader(X, y, sample_weight, groups)
    elif any(map(is_dask, others)) or any(isinstance(t, Blocks) for t in others):
        raise ValueError(_IN_MEMORY)
    else:
        return MemoryRows(X, y, sample_weight, groups)
    return BlockRows(engine, has_groups=groups is not None)


class MemoryRows:
    """Private rows in memory: what is asked for is computed at once.

    Parameters
    ----------
    X, y, sample_weight, groups
        *Private*: the arguments of ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.blocks import MemoryRows
    >>> rows = MemoryRows(np.ones((4, 2)))
    >>> rows.read(lambda X, y, weights: X).shape
    (4, 2)
    """

    in_memory = True

    def __init__(
        self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> None:
        self.X = X
        self._data: Any = (X, y, sample_weight)
        self._groups, self._codes = groups, None

    def read(self, reader: Callable[..., Any]) -> Any:
        """The data, read by a function of X, y and weights."""
        self._data = reader(*self._data)
        return self._data

    def people(self, n_rows: int) -> tuple[int, str]:
        """The number of people, and the unit of privacy; both public."""
        self._codes, n_people, unit = people_of(self._groups, self.X, n_rows)
        return n_people, unit

    def map(self, function: Callable[[Any], Any]) -> None:
        """Apply a function of the data, row by row."""
        self._data = function(self._data)

    def per_person(self, function: Callable[..., Any]) -> None:
        """Replace data by those of people, by a function of data and codes."""
        self._data, self._codes = function(self._data, self._codes), None

    def sum(self, function: Callable[..., Any]) -> Any:
        """The exact sum that a function of data and codes computes."""
        return function(self._data, self._codes)

    def alone(self, function: Callable[..., Any]) -> Any:
        """What a function of data and codes computes, that is no sum over people."""
        return function(self._data, self._codes)


class BlockRows:
    """Private rows in blocks: what is asked for is computed where they are.

    Parameters
    ----------
    engine : Engine
        What computes on blocks.
    has_groups : bool
        Whether blocks have labels of people.

    Notes
    -----
    Functions are sent to blocks, so they must be picklable and hold public facts only.
    `sum` adds integers, by a tree in whatever order: the result is that of the same
    rows in memory, to the last bit, if a function of all rows is the sum of those of
    parts of the people. That the number of people is the expected one is checked each
    time, before anything is charged for the first sum.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.blocks import Blocks, open_rows
    >>> rows = open_rows(Blocks.from_array(np.ones((4, 2)), block_rows=3))
    >>> rows.read(lambda X, y, weights: X).shape  # a row of zeros
    (1, 2)
    >>> rows.people(1)
    (4, 'row')
    >>> rows.sum(lambda X, codes: X.sum())
    8.0
    """

    in_memory = False

    def __init__(self, engine: Engine, *, has_groups: bool) -> None:
        form = engine.form()
        self._forms = mapped(form_of, form.parts)
        self.X = self._forms[0]
        self._engine, self._has_groups = engine, has_groups
        self._steps: tuple[tuple[bool, Callable[..., Any]], ...] = ()
        self._n_people: int | None = None

    def read(self, reader: Callable[..., Any]) -> Any:
        """A row without data, read by a function of X, y and weights."""
        self._steps = ((False, reader),)
        return reader(*self._forms)

    def people(self, n_rows: int) -> tuple[int, str]:  # noqa: ARG002
        """The number of people, and the unit of privacy; both public."""
        engine = self._engine
        if self._has_groups:
            engine = engine.labels().by_person()
            self._engine = self._engine.by_person()
        self._n_people = checked(engine.total(count)).n_people
        if self._n_people == 0:
            raise ValueError("X has no rows")
        return self._n_people, "person" if self._has_groups else "row"

    def map(self, function: Callable[[Any], Any]) -> None:
        """Apply a function of the data, row by row, in every block."""
        self._steps += ((False, function),)

    def per_person(self, function: Callable[..., Any]) -> None:
        """Replace data by those of people, by a function of data and codes."""
        self._steps += ((True, function),)

    def sum(self, function: Callable[..., Any]) -> Any:
        """The exact sum over blocks of what a function of data and codes computes."""
        return self._value(self._engine.total, function)

    def alone(self, function: Callable[..., Any]) -> Any:
        """What a function computes of all rows, in one place that must hold them."""
        return self._value(self._engine.alone, function)

    def _value(self, run: Callable[..., Any], function: Callable[..., Any]) -> Any:
        task = Task(self._forms, self._steps, function)
        return checked(run(task), self._n_people).value


def _is_in_blocks(table: Any) -> bool:
    return isinstance(table, Blocks) or is_memory_map(table)


def _reader(X: Any, y: Any, sample_weight: Any, groups: Any) -> Reader:
    tables = mapped(
        lambda t: Blocks.from_array(t) if is_memory_map(t) else t,
        (X, y, sample_weight, groups),
    )
    blocks = [table for table in leaves(tables) if isinstance(table, Blocks)]
    n_blocks = blocks[0].n_blocks
    if any(table.n_blocks != n_blocks for table in blocks):
        raise ValueError(_OTHER_BLOCKS)
    plain = [table for table in leaves(tables) if not isinstance(table, Blocks)]
    cuts = None
    if plain:
        lengths = [length_of(blocks[0].read(k)) for k in range(n_blocks)]
        cuts = np.append(0, np.cumsum(lengths))
        if any(length_of(table) != cuts[-1] for table in plain):
            raise ValueError(_LENGTHS)
    return Reader([ReadBlock(tables, k, cuts) for k in range(n_blocks)])


class ReadBlock:
    """Reads one block of X, y and weights, and the labels of its rows.

    Parameters
    ----------
    tables : tuple
        X, y, weights and groups, in blocks or in memory.
    number : int
        The number of the block.
    cuts : ndarray or None
        Where blocks begin, for tables in memory.
    """

    def __init__(self, tables: tuple[Any, ...], number: int, cuts: Any) -> None:
        self._tables, self._number, self._cuts = tables, number, cuts

    def __call__(self, only_labels: bool = False) -> Block:
        tables = self._tables[3:] if only_labels else self._tables
        *parts, labels = mapped(self._part, tables)
        return Block(tuple(parts), labels)

    def _part(self, table: Any) -> Any:
        if isinstance(table, Blocks):
            return table.read(self._number)
        first, last = self._cuts[self._number : self._number + 2]
        return take(table, slice(first, last))
