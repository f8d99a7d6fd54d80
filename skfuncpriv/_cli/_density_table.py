"""The columns of a density, read from a file in pieces.

Only the chosen columns are kept, as numbers: a million rows take a second or two. What
is a table, a missing cell and an error is as in `_tables`.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, TextIO

import numpy as np

from ._errors import CommandError
from ._tables import (
    _EXCEL_ENDS,
    _NO_HEADER,
    _NO_TEXT,
    _PARQUET_ENDS,
    _RAGGED,
    Table,
    no_column,
)

_CHUNK_ROWS = 1 << 14
_UNREADABLE = (csv.Error, UnicodeDecodeError, EOFError, gzip.BadGzipFile, zlib.error)
_NUMBERS = (
    "write numbers with a point, and times as numbers since a public origin, such as "
    "hours of the day"
)


def read_columns(
    path: str, names: list[str], group: str | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Points of shape (n, d), and who owns each, from a file."""
    points, owners = [], []
    for piece in _pieces(path, [*names, *([] if group is None else [group])]):
        columns = [piece.numbers(name, _NUMBERS) for name in names]
        points.append(np.stack(columns, axis=1))
        if group is not None:
            owners.append(piece.labels(group))
    return np.concatenate(points), np.concatenate(owners) if owners else None


def _pieces(path: str, wanted: list[str]) -> Iterator[Table]:
    """Some rows each of the wanted columns."""
    if path.lower().endswith((*_EXCEL_ENDS, *_PARQUET_ENDS)):
        yield Table.read(path)
        return
    names: list[str] = []
    n_rows = 0
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", newline="", encoding="utf-8-sig") as file:
        for rows in _chunks(file):
            if not names:
                names = _names(rows.pop(0), wanted)
            if any(len(row) != len(names) for row in rows):
                raise CommandError(_RAGGED)
            n_rows += len(rows)
            places = {name: names.index(name) for name in wanted}
            yield Table(
                {name: [row[k].strip() for row in rows] for name, k in places.items()}
            )
    if n_rows == 0:
        raise CommandError("the file needs a first line of names, and rows below it")


def _names(first: list[str], wanted: list[str]) -> list[str]:
    names = [cell.strip() for cell in first]
    if len(set(names)) < len(names):
        raise CommandError(
            f"the names in the first line of the file must be distinct: {_NO_HEADER}"
        )
    for name in wanted:
        if name not in names:
            raise no_column(name, names)
    return names


def _chunks(file: TextIO) -> Iterator[list[list[str]]]:
    """Rows of cells, those without cells left out; no chunk is empty."""
    header = _attempt(file.readline)
    file.seek(0)
    delimiter = max(",;\t", key=header.count)
    reader = csv.reader(file, delimiter=delimiter, strict=True)
    while rows := _attempt(lambda: list(islice(reader, _CHUNK_ROWS))):
        if rows := [row for row in rows if row]:
            yield rows


def _attempt(read: Callable[[], Any]) -> Any:
    """What is read; an error of the reader would quote the file."""
    with suppress(*_UNREADABLE):
        return read()
    raise CommandError(_NO_TEXT)
