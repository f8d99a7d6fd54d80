"""Rows of arrays: in memory, in a file, or in several files one after the other."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

_FORMS = (
    "The .npy files must hold arrays of one shape, apart from the number of rows, and "
    "of one kind: all integers, all floats or all text"
)
_NUMBERS = "A .npy file must hold numbers, at least one row"


class RowReader(Protocol):
    """An array of which some rows are read at a time."""

    @property
    def n_rows(self) -> int:
        """How many rows it has."""

    def rows(self, first: int, last: int) -> np.ndarray:
        """A copy of some rows."""


@dataclass(frozen=True, eq=False, repr=False)
class ArrayRows:
    """Consecutive rows of an array, divided anywhere.

    Parameters
    ----------
    reader : RowReader
        Reads some rows.
    cuts : sequence of int
        Where blocks begin, and the end.
    """

    reader: RowReader
    cuts: Sequence[int]

    @classmethod
    def of(cls, reader: RowReader, block_rows: int) -> ArrayRows:
        """Blocks of equal length, but for the last one."""
        return cls(reader, [*range(0, reader.n_rows, block_rows), reader.n_rows])

    @property
    def n_blocks(self) -> int:
        return len(self.cuts) - 1

    def n_rows(self, k: int) -> int:
        return self.cuts[k + 1] - self.cuts[k]

    def read(self, k: int, columns: Any) -> np.ndarray:
        rows = self.reader.rows(self.cuts[k], self.cuts[k + 1])
        return rows if columns is None else rows[:, columns]


@dataclass(frozen=True, eq=False, repr=False)
class InMemory:
    """An array, or a view of a memory map that is no consecutive part of its file."""

    array: np.ndarray

    @property
    def n_rows(self) -> int:
        return len(self.array)

    def rows(self, first: int, last: int) -> np.ndarray:
        return np.array(self.array[first:last])  # no view: pages may be given back


@dataclass(frozen=True, eq=False, repr=False)
class InFile:
    """An array in a file, which every process opens for itself."""

    path: str
    dtype: np.dtype[Any]
    offset: int
    shape: tuple[int, ...]
    order: str = "C"

    @property
    def n_rows(self) -> int:
        return self.shape[0]

    def rows(self, first: int, last: int) -> np.ndarray:
        if self.order == "F":
            columns = np.memmap(
                self.path, self.dtype, "r", self.offset, self.shape, order="F"
            )
            return np.array(columns[first:last], order="C")
        shape = (last - first, *self.shape[1:])
        row_bytes = int(np.prod(self.shape[1:], dtype=np.int64)) * self.dtype.itemsize
        with open(self.path, "rb") as file:
            file.seek(self.offset + first * row_bytes)
            read = np.fromfile(file, self.dtype, int(np.prod(shape, dtype=np.int64)))
        return read.reshape(shape)


@dataclass(frozen=True, eq=False, repr=False)
class InFiles:
    """Arrays in files, one below the other."""

    parts: tuple[InFile, ...]

    def __post_init__(self) -> None:
        # Of two kinds, a label in a block of both files would not be that of others.
        if len({(part.shape[1:], part.dtype.kind) for part in self.parts}) > 1:
            raise ValueError(_FORMS)

    @property
    def n_rows(self) -> int:
        return sum(part.n_rows for part in self.parts)

    def rows(self, first: int, last: int) -> np.ndarray:
        pieces, start = [], 0
        for part in self.parts:
            low, high = max(first - start, 0), min(last - start, part.n_rows)
            if low < high:
                pieces.append(part.rows(low, high))
            start += part.n_rows
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def is_memory_map(array: Any) -> bool:
    """Whether an array lives in a file; what is computed from one does not."""
    return isinstance(array, np.memmap) and getattr(array, "_mmap", None) is not None


def reader_of(array: np.ndarray) -> RowReader:
    """Read a memory map from its file, where it is a consecutive part of one."""
    return _in_file(array) if is_memory_map(array) else InMemory(array)


def npy_rows(paths: Sequence[str], block_bytes: int) -> ArrayRows:
    """The rows of .npy files, of which only the headers are read."""
    parts = []
    for path in paths:
        array = _attempt_to_map(path)
        if array is None or array.ndim == 0 or len(array) == 0:
            raise ValueError(_NUMBERS)
        parts.append(_in_file(array))
    row_bytes = max(1, array.nbytes // len(array))
    whole = InFiles(tuple(parts))  # type: ignore[arg-type]
    return ArrayRows.of(whole, max(1, block_bytes // row_bytes))


def _attempt_to_map(path: str) -> Any:
    try:
        return np.load(path, mmap_mode="r")
    except ValueError:  # of objects, which would have to be unpickled
        return None


def _in_file(array: Any) -> RowReader:
    """The place in the file of what NumPy maps, whose views do not know their own."""
    whole = array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    is_stored = isinstance(whole, np.memmap) and isinstance(whole.base, mmap.mmap)
    is_ordered = array.flags.c_contiguous or array.flags.f_contiguous
    if not is_stored or whole.filename is None or not is_ordered:
        return InMemory(array)
    if whole.mode == "c":  # what was changed since is not in the file
        return InMemory(array)
    if whole.mode != "r":
        whole.flush()
    place = whole.offset + array.ctypes.data - whole.ctypes.data
    order = "C" if array.flags.c_contiguous else "F"
    path = os.path.abspath(os.fspath(whole.filename))
    return InFile(path, array.dtype, place, array.shape, order)
