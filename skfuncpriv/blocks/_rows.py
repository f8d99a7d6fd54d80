"""The arguments of ``fit``, opened for reading: in memory or in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._tables import refuse_collecting
from ._arrays import is_memory_map
from ._block_rows import BlockRows
from ._blocks import Blocks
from ._dask import dask_engine
from ._engines import Engine
from ._memory_rows import MemoryRows
from ._partitions import is_dask
from ._reading import block_reader
from ._tasks import leaves, mapped

_IN_MEMORY = (
    "y, groups or sample_weight is in blocks but X is in memory: give X in blocks, too"
)
_COLLECTED = (
    "X is in files or a memory map, but y, groups or sample_weight is an object of "
    "dask, whose rows would all be collected here: give all of them to dask, or none"
)


def open_rows(
    X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None
) -> MemoryRows | BlockRows:
    """Take the arguments of ``fit``, in memory or in blocks.

    Parameters
    ----------
    X, y, sample_weight, groups : array-like, frame, Curves, Blocks or dask collection
        *Private*: in memory, memory maps, `Blocks`, or arrays and frames of dask; X
        may be a dict or list of several.

    Returns
    -------
    MemoryRows or BlockRows
        The rows.

    Raises
    ------
    ValueError
        If X is in memory and another argument is in blocks, or blocks are of different
        kinds or of different shuffles.
    TypeError
        If an argument is an object of dask that is no array, frame or series.

    Notes
    -----
    Both have the same methods. ``read(function of X, y, weights)`` returns the data,
    and in blocks a row of zeros in their form, so that only public facts can be taken
    from it. ``people(n_rows)`` returns the number of people and the unit of privacy.
    ``sum(function of data and codes)`` returns an exact sum of integers; codes number
    the people of the rows, and are None without `groups`.

    Rows belong together by their place. A shuffle of dask has no fixed order: X and the
    other arguments must be columns of one frame, or the frame must be persisted. Arrays
    that were made from different shuffles are refused.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.blocks import open_rows
    >>> rows = open_rows(np.ones((4, 2)))
    >>> float(rows.read(lambda X, y, weights: X).sum())
    8.0
    """
    tables = leaves(X)
    others = leaves((y, sample_weight, groups))
    is_lazy = any(map(is_dask, tables))
    if not is_lazy and not any(map(_is_in_blocks, tables)):
        if any(is_dask(table) or isinstance(table, Blocks) for table in others):
            raise ValueError(_IN_MEMORY)
        for table in (*tables, *others):
            refuse_collecting(table)
        return MemoryRows(X, y, sample_weight, groups)
    if not is_lazy and any(map(_is_of_dask, others)):
        raise ValueError(_COLLECTED)
    y, sample_weight = map(_as_table, (y, sample_weight))
    if isinstance(groups, list | tuple):  # 1 and "1" are different people
        groups = np.array(groups, dtype=object)
    make: Any = dask_engine if is_lazy else block_reader
    engine: Engine = make((X, y, sample_weight, groups))
    return BlockRows(engine, has_groups=groups is not None)


def refuse_blocks(owner: Any, *tables: Any) -> None:
    """Refuse rows in blocks before they are read, where all rows must be in memory.

    A memory map is an array, too, and is not refused.

    Parameters
    ----------
    owner : estimator
        Who cannot read them.
    *tables : array-like, frame, Curves, Blocks or dask collection
        *Private*: the arguments of ``fit``; a dict or list of several is one, too.

    Raises
    ------
    TypeError
        If a table is `Blocks` or an object of dask.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.blocks._rows import refuse_blocks
    >>> refuse_blocks("this", np.ones((4, 2)), None)
    """
    if is_in_blocks(*tables):
        name = owner if isinstance(owner, str) else type(owner).__name__
        raise TypeError(
            f"{name} needs all rows in memory, and does not take rows in blocks: load "
            "them first, for example with .compute() of dask"
        )


def is_in_blocks(*tables: Any) -> bool:
    """Whether any of these is not an array that is there: `Blocks` or of dask.

    Parameters
    ----------
    *tables : array-like, frame, Curves, Blocks or dask collection
        *Private*; a dict or list of several is one, too.

    Returns
    -------
    bool
        False for memory maps, which are arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.blocks._rows import is_in_blocks
    >>> is_in_blocks(np.ones((4, 2)), None)
    False
    """
    return any(is_dask(t) or isinstance(t, Blocks) for t in leaves(tables))


def unmapped(tables: Any) -> Any:
    """Memory maps as plain arrays, for an estimator that needs all rows in any case.

    Parameters
    ----------
    tables : array-like, frame, Curves, Blocks or dask collection
        *Private*: an argument of ``fit``, or a dict or list of several.

    Returns
    -------
    object
        The same, with views of memory maps that are read like arrays in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.blocks._rows import unmapped
    >>> unmapped(np.ones((2, 1))).shape
    (2, 1)
    """
    if not any(map(is_memory_map, leaves(tables))):
        return tables
    return mapped(lambda t: np.asarray(t) if is_memory_map(t) else t, tables)


def _is_of_dask(table: Any) -> bool:
    """Whether it is anything of dask, which NumPy would compute."""
    return hasattr(type(table), "__dask_graph__")


def _is_in_blocks(table: Any) -> bool:
    return isinstance(table, Blocks) or is_memory_map(table)


def _as_table(column: Any) -> Any:
    return np.asarray(column) if isinstance(column, list | tuple) else column
