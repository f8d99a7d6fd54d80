"""Where blocks come from: arrays, files, and functions of the user's own.

A source knows how many blocks it has, and reads one at a time. It can be pickled: files
are kept by name and opened anew for every block, in whatever process reads it.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

_QUOTES = (
    "A block of a CSV file ends within quotes: text with line breaks cannot be read in "
    "blocks; remove it, or convert the file to Parquet"
)


class Source(Protocol):
    """What `Blocks` reads."""

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""

    def read(self, k: int, columns: Any) -> Any:
        """Block k; of a table only these columns, None for all of it."""


@dataclass(frozen=True, eq=False)
class ArrayRows:
    """Consecutive rows of an array or a memory map."""

    array: Any
    block_rows: int

    @property
    def n_blocks(self) -> int:
        return -(-len(self.array) // self.block_rows)

    def read(self, k: int, columns: Any) -> Any:
        rows = self.array[k * self.block_rows : (k + 1) * self.block_rows]
        rows = np.array(rows)  # no view of a map: its pages may be given back
        return rows if columns is None else rows[:, columns]


@dataclass(frozen=True, eq=False)
class MappedRows:
    """Consecutive rows of an array in a file, which every process maps for itself."""

    path: str
    dtype: np.dtype
    offset: int
    shape: tuple[int, ...]
    block_rows: int

    @classmethod
    def of(cls, array: np.memmap, block_rows: int) -> MappedRows | None:
        """The rows of a memory map; None if it is a part of one, or out of order."""
        is_whole = isinstance(array.base, mmap.mmap)
        if array.filename is None or not array.flags.c_contiguous or not is_whole:
            return None
        path = os.fspath(array.filename)
        return cls(path, array.dtype, array.offset, array.shape, block_rows)

    @property
    def n_blocks(self) -> int:
        return -(-self.shape[0] // self.block_rows)

    def read(self, k: int, columns: Any) -> Any:
        first = k * self.block_rows
        shape = (min(self.block_rows, self.shape[0] - first), *self.shape[1:])
        width = int(np.prod(self.shape[1:], dtype=np.int64))
        with open(self.path, "rb") as file:
            file.seek(self.offset + first * width * self.dtype.itemsize)
            rows = np.fromfile(file, self.dtype, int(np.prod(shape))).reshape(shape)
        return rows if columns is None else rows[:, columns]


@dataclass(frozen=True)
class ParquetRows:
    """The row groups of Parquet files, in order."""

    paths: tuple[str, ...]
    groups: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, paths: Sequence[str]) -> ParquetRows:
        """Look up the row groups; no data are read."""
        from pyarrow import parquet

        counts = [parquet.ParquetFile(path).num_row_groups for path in paths]
        groups = tuple((k, g) for k, n in enumerate(counts) for g in range(n))
        return cls(tuple(paths), groups)

    @property
    def n_blocks(self) -> int:
        return len(self.groups)

    def read(self, k: int, columns: Any) -> Any:
        from pyarrow import parquet

        path, group = self.groups[k]
        with parquet.ParquetFile(self.paths[path]) as file:
            names = None if columns is None else list(columns)
            return file.read_row_group(group, columns=names).to_pandas()


@dataclass(frozen=True)
class CsvRows:
    """Pieces of CSV files that end with a line; a compressed file is one piece."""

    paths: tuple[str, ...]
    pieces: tuple[tuple[int, int, int], ...]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, paths: Sequence[str], size: int, texts: Sequence[str]) -> CsvRows:
        """Cut files into pieces of about `size` bytes; only ends of lines are read."""
        pieces = [(k, *ends) for k, p in enumerate(paths) for ends in _pieces(p, size)]
        return cls(tuple(paths), tuple(pieces), tuple(texts))

    @property
    def n_blocks(self) -> int:
        return len(self.pieces)

    def read(self, k: int, columns: Any) -> Any:
        import io

        import pandas as pd

        number, start, stop = self.pieces[k]
        path = self.paths[number]
        how: dict[str, Any] = {"dtype": dict.fromkeys(self.texts, str)}
        if columns is not None:
            how["usecols"] = list(columns)
        if stop == 0:
            table = pd.read_csv(path, **how)
        else:
            with open(path, "rb") as file:
                head = file.readline()
                file.seek(start)
                text = file.read(stop - start)
            if text.count(b'"') % 2:
                raise ValueError(_QUOTES)
            table = pd.read_csv(io.BytesIO(head + text), **how)
        return table if columns is None else table[list(columns)]


@dataclass(frozen=True, eq=False)
class Loaders:
    """Functions without arguments, each of which returns the rows of one block."""

    functions: tuple[Callable[[], Any], ...]

    @property
    def n_blocks(self) -> int:
        return len(self.functions)

    def read(self, k: int, columns: Any) -> Any:
        table = self.functions[k]()
        if columns is None:
            return table
        return table[list(columns)] if hasattr(table, "columns") else table[:, columns]


def _pieces(path: str, size: int) -> list[tuple[int, int]]:
    if Path(path).suffix != ".csv":
        return [(0, 0)]
    pieces, end = [], os.path.getsize(path)
    with open(path, "rb") as file:
        file.readline()
        start = file.tell()
        while start < end:
            file.seek(min(start + size, end))
            file.readline()
            pieces.append((start, file.tell()))
            start = file.tell()
    return pieces
