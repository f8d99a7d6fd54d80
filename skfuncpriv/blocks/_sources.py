"""Where blocks come from: arrays, files, and functions of the user's own.

A source knows how many blocks it has, and reads one at a time. It can be pickled: files
are kept by name and opened anew for every block, in whatever process reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from glob import glob
from os import PathLike, fspath
from typing import Any, Protocol

from ._arrays import npy_rows
from ._csv import CsvRows
from ._parquet import ParquetRows

_ENDINGS = {".parquet": "parquet", ".npy": "npy", ".csv": "csv", ".csv.gz": "csv"}
_LOADED = (
    "A function of Blocks must return the rows of a block: an array, a frame, a series "
    "or Curves"
)


class Source(Protocol):
    """What `Blocks` reads."""

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""

    def n_rows(self, k: int) -> int | None:
        """How many rows block k has; None where only reading it would tell."""

    def read(self, k: int, columns: Any) -> Any:
        """Block k; of a table only these columns, None for all of it."""


@dataclass(frozen=True, eq=False, repr=False)
class Loaders:
    """Functions without arguments, each of which returns the rows of one block."""

    functions: tuple[Callable[[], Any], ...]

    @property
    def n_blocks(self) -> int:
        return len(self.functions)

    def n_rows(self, k: int) -> int | None:  # noqa: ARG002
        return None

    def read(self, k: int, columns: Any) -> Any:
        table = self.functions[k]()
        if isinstance(table, list | tuple | dict) or not hasattr(table, "__len__"):
            raise TypeError(_LOADED)
        if columns is None:
            return table
        return table[list(columns)] if hasattr(table, "columns") else table[:, columns]


def file_source(files: Any, text: Sequence[str], block_bytes: int) -> Source:
    """The rows of files of one kind, which their endings tell."""
    paths = _paths(files)
    kinds = {_kind(path) for path in paths}
    if kinds == {"parquet"}:
        return ParquetRows.of(paths)
    if kinds == {"csv"}:
        return CsvRows.of(paths, block_bytes, text)
    if kinds == {"npy"}:
        return npy_rows(paths, block_bytes)
    raise ValueError(f"files must all be of one kind: {', '.join(_ENDINGS)}")


def _paths(files: Any) -> list[str]:
    if isinstance(files, str | PathLike):
        path = fspath(files)
        found = sorted(glob(path)) if any(sign in path for sign in "*?[") else [path]
    else:
        found = [fspath(path) for path in files]
    if not found:
        raise FileNotFoundError(f"no file matches {files!r}")
    return found


def _kind(path: str) -> str:
    name = path.lower()
    return next((kind for end, kind in _ENDINGS.items() if name.endswith(end)), "")
