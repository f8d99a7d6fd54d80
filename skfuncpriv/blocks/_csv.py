"""Rows of CSV files, in pieces that end with a line."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

_QUOTES = (
    "A block of a CSV file ends within quotes: text with line breaks cannot be read in "
    "blocks; remove it, or convert the file to Parquet"
)
_NOT_CSV = (
    "A file cannot be read as CSV with a header and the chosen columns: check that all "
    "lines have as many fields as the header, separated by commas, in UTF-8"
)
_NEEDS = "reading CSV files in blocks needs pandas: pip install pandas"
_REFUSED = (ValueError, UnicodeError, LookupError)  # they would quote lines


@dataclass(frozen=True, repr=False)
class CsvRows:
    """Pieces of CSV files; a compressed file is one piece.

    Parameters
    ----------
    paths : tuple of str
        The files.
    pieces : tuple of (file, start, stop)
        Where blocks begin and end, in bytes; a stop of 0 is a whole file.
    texts : tuple of str, or None
        Columns that are text in every block; None is all of them.
    """

    paths: tuple[str, ...]
    pieces: tuple[tuple[int, int, int], ...]
    texts: tuple[str, ...] | None

    @classmethod
    def of(cls, paths: Sequence[str], size: int, texts: Sequence[str]) -> CsvRows:
        """Cut files into pieces of about `size` bytes; only ends of lines are read."""
        _pandas()
        pieces = [(k, *ends) for k, p in enumerate(paths) for ends in _pieces(p, size)]
        absolute = tuple(os.path.abspath(path) for path in paths)
        return cls(absolute, tuple(pieces), tuple(texts))

    @property
    def n_blocks(self) -> int:
        return len(self.pieces)

    def n_rows(self, k: int) -> None:  # noqa: ARG002
        return None  # only the reader of rows knows which lines are none

    def as_text(self, columns: Any) -> CsvRows:
        """The same rows with these columns as they are written, None for all."""
        known = self.texts
        texts = None if known is None or columns is None else (*known, *columns)
        return replace(self, texts=texts)

    def read(self, k: int, columns: Any) -> Any:
        """All fields are read: of fewer, lines that have too many are not noticed."""
        source = self._source(k)
        table = _attempt(lambda: self._table(source, columns))
        if table is None:
            raise ValueError(_NOT_CSV)
        return table

    def _table(self, source: Callable[[], Any], columns: Any) -> Any:
        pd = _pandas()
        # A first line longer than the header would shift all columns: this refuses it.
        pd.read_csv(source(), header=None, nrows=2, dtype=str)
        # Types are those of the whole block; of parts, one label would look like two.
        types: Any = str if self.texts is None else dict.fromkeys(self.texts, str)
        table = pd.read_csv(source(), dtype=types, low_memory=False)
        return table if columns is None else table[list(columns)]

    def _source(self, k: int) -> Callable[[], Any]:
        number, start, stop = self.pieces[k]
        path = self.paths[number]
        if not stop:
            return lambda: path
        with open(path, "rb") as file:
            head = file.readline()
            file.seek(start)
            text = file.read(stop - start)
        if head.count(b'"') % 2 or text.count(b'"') % 2:
            raise ValueError(_QUOTES)
        return lambda: io.BytesIO(head + text)


def _pandas() -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(_NEEDS) from None
    return pd


def _attempt(read: Callable[[], Any]) -> Any:
    """The result, or None: the caller raises outside of the handler, unchained."""
    try:
        return read()
    except _REFUSED:
        return None


def _pieces(path: str, size: int) -> list[tuple[int, int]]:
    if not path.lower().endswith(".csv"):
        return [(0, 0)]
    pieces, end = [], os.path.getsize(path)
    with open(path, "rb") as file:
        file.readline()
        start = file.tell()
        while start < end:
            file.seek(min(start + size, end) - 1)
            file.readline()
            pieces.append((start, file.tell()))
            start = file.tell()
    return pieces
