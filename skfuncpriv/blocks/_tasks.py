"""What is done with one block: read its rows, and compute an exact sum of them.

A task runs wherever the block is. It returns a sum and the number of people in it, or a
refusal, never an exception: what runs tasks writes the arguments of a function that
failed into its logs, and those are the rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from dis import opmap
from functools import partial
from numbers import Real
from types import TracebackType
from typing import Any

import numpy as np

from ..exceptions import PrivacyError
from ..noise import FixedPoint
from ..summaries import person_codes
from ._forms import LENGTHS, check_form, length_of
from ._labels import as_labels, bucket_of, joined_labels, part_of
from ._tables import check_table, joined, take

_CHANGED = (
    "The number of rows or people changed while blocks were read: blocks must hold the "
    "same rows whenever they are read"
)
_INDEXES = (
    "X, y, groups and sample_weight have different indexes in a block: align them, or "
    "take all of them from one frame"
)
_FAILED = "A block could not be read or summed: {}"
_OURS = (ValueError, TypeError, PrivacyError)  # their texts are constant
_PACKAGE = __name__.split(".")[0]


@dataclass(frozen=True)
class Refusal:
    """An error of a block, to be raised where nobody writes down arguments."""

    error: Exception


@dataclass(frozen=True, eq=False, repr=False)
class Block:
    """The rows of one block: X, y and weights, those that there are, and labels."""

    parts: tuple[Any, ...]
    labels: Any = None

    def __post_init__(self) -> None:
        tables = leaves((self.parts, self.labels))
        for table in tables:
            check_table(table)
        if len({length_of(table) for table in tables}) > 1:
            raise ValueError(LENGTHS)
        indexes = [table.index for table in tables if hasattr(table, "iloc")]
        if not all(index.equals(indexes[0]) for index in indexes[1:]):
            raise ValueError(_INDEXES)

    @property
    def n_rows(self) -> int:
        """How many rows there are; a person's number of them is private."""
        return length_of(leaves((self.parts, self.labels))[0])


@dataclass(frozen=True, eq=False, repr=False)
class Counted:
    """A sum over some people, and how many they are."""

    n_people: int
    value: Any


@dataclass(frozen=True, eq=False, repr=False)
class Task:
    """What is computed from the rows of a block.

    Parameters
    ----------
    forms : tuple
        The forms of X, y and weights; *public*.
    steps : tuple of pairs (per_person, function)
        From one form of private data to the next; the first one takes X, y and weights.
    last : callable
        From data and codes of people to something that adds up.
    """

    forms: tuple[Any, ...]
    steps: tuple[tuple[bool, Callable[..., Any]], ...]
    last: Callable[..., Any]

    def __call__(self, block: Block | Refusal) -> Counted | Refusal:
        result: Counted | Refusal = guarded(self._sum, block)
        return result

    def _sum(self, block: Block) -> Counted:
        for part, form in zip(leaves(block.parts), leaves(self.forms), strict=True):
            check_form(part, form)
        codes, n_people = None, block.n_rows
        if block.labels is not None:
            codes, n_people = person_codes_of(block)
        if block.n_rows == 0:
            return Counted(0, None)
        with np.errstate(all="ignore"):
            data: Any = block.parts
            for k, (per_person, function) in enumerate(self.steps):
                if per_person:
                    data, codes = function(data, codes), None
                else:
                    data = function(*data) if k == 0 else function(data)
            return Counted(n_people, self.last(data, codes))


def guarded(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns; the first refusal among arguments, or its own."""
    for argument in arguments:
        if isinstance(argument, Refusal):
            return argument
    try:
        return function(*arguments)
    except Exception as error:
        return Refusal(_harmless(error))


def unquoted(run: Callable[[], Any]) -> Any:
    """What a scheduler computes; an error of the user's graph is told without its text.

    A reader that fails on a number quotes it. Errors of the scheduler itself, as of
    workers that were lost, hold no rows, and stay as they are.
    """
    try:
        return run()
    except MemoryError:  # some texts hold the number of rows
        told: Exception = MemoryError("a block does not fit into memory")
    except Exception as error:
        if type(error).__module__.split(".")[0] == "distributed":
            raise
        told = _harmless(error)
    raise told


def _harmless(error: Exception) -> Exception:
    """The same error without frames if its text is constant, else one that has.

    Texts of ``raise`` statements of this package are. Others may quote what they failed
    on, those of functions in C that this package calls among them; an error of a file
    is made anew from its number, and names the file.
    """
    if isinstance(error, OSError) and isinstance(error.errno, int):
        name = error.filename if isinstance(error.filename, str) else None
        return OSError(error.errno, os.strerror(error.errno), name)
    if type(error) in _OURS and _is_raised_here(error.__traceback__):
        return type(error)(*error.args)
    return RuntimeError(_FAILED.format(type(error).__name__))


def _is_raised_here(trace: TracebackType | None) -> bool:
    """Whether the last frame is one of this package, and at a ``raise``."""
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    module = trace.tb_frame.f_globals.get("__name__", "")
    is_raise = trace.tb_frame.f_code.co_code[trace.tb_lasti] == opmap["RAISE_VARARGS"]
    return bool(is_raise and module.split(".")[0] == _PACKAGE)


def added(first: Any, second: Any) -> Any:
    """The sum of two results of tasks."""
    return guarded(_added, first, second)


def _added(first: Any, second: Any) -> Any:
    if isinstance(first, Counted):
        n_people = first.n_people + second.n_people
        if first.value is None or second.value is None:  # of a block without rows
            value = second.value if first.value is None else first.value
            return Counted(n_people, value)
        return Counted(n_people, _added(first.value, second.value))
    if isinstance(first, tuple):
        return tuple(map(_added, first, second))
    if isinstance(first, FixedPoint):
        if (first.lattice, first.bound) != (second.lattice, second.bound):
            raise ValueError("only sums with equal public facts can be added")
        return replace(first, values=first.values + second.values)
    return first + second


def count(block: Block | Refusal) -> Counted | Refusal:
    """How many rows a block has, or how many people if it has labels."""
    result: Counted | Refusal = guarded(_count, block)
    return result


def _count(block: Block) -> Counted:
    if block.labels is None:
        return Counted(block.n_rows, 0)
    return Counted(person_codes_of(block)[1], 0)


def split(block: Block, n_buckets: int) -> list[Block]:
    """The rows of a block by the bucket of their person."""
    labels = as_labels(block.labels)
    if len(labels) != block.n_rows:
        raise ValueError(LENGTHS)
    buckets = bucket_of(labels, n_buckets)
    pieces = []
    for k in range(n_buckets):
        rows = np.flatnonzero(buckets == k)
        parts = mapped(partial(take, rows=rows), block.parts)
        pieces.append(Block(parts, part_of(labels, rows)))
    return pieces


def gathered(blocks: Sequence[Block]) -> Block:
    """All rows of several blocks as one."""
    filled = [block for block in blocks if block.n_rows] or list(blocks[:1])
    parts = [leaves(block.parts) for block in filled]
    columns = iter([joined(part) for part in zip(*parts, strict=True)])
    whole = mapped(lambda _: next(columns), filled[0].parts)
    if filled[0].labels is None:
        return Block(whole)
    # Pieces are arrays already; those without rows still have the type of their block.
    labels = [block.labels for block in blocks]
    arrays = [x if isinstance(x, np.ndarray) else as_labels(x) for x in labels]
    return Block(whole, joined_labels(arrays))


def checked(result: Any, n_people: int | None = None) -> Any:
    """The value of a result of the expected number of people; refusals are raised."""
    if isinstance(result, Refusal):
        raise result.error
    if n_people is not None and result.n_people != n_people:
        raise ValueError(_CHANGED)
    return result


def leaves(parts: Any) -> list[Any]:
    """The tables among X, y and weights; X may be a dict or list of several."""
    if isinstance(parts, dict):
        parts = list(parts.values())
    if isinstance(parts, list | tuple):
        return [leaf for part in parts for leaf in leaves(part)]
    return [] if _is_no_table(parts) else [parts]


def mapped(function: Callable[[Any], Any], parts: Any) -> Any:
    """The same structure with every table replaced."""
    if isinstance(parts, dict):
        return {name: mapped(function, part) for name, part in parts.items()}
    if isinstance(parts, list | tuple):
        return type(parts)(mapped(function, part) for part in parts)
    return parts if _is_no_table(parts) else function(parts)


def _is_no_table(part: Any) -> bool:
    """Whether it belongs to all rows: nothing, or one weight for all of them."""
    return part is None or isinstance(part, Real)


def person_codes_of(block: Block) -> tuple[np.ndarray, int]:
    """The codes of the people of a block, and how many they are."""
    labels = as_labels(block.labels)
    if len(labels) == 0:
        return np.zeros(0, dtype=np.intp), 0
    return person_codes(labels, len(labels))
