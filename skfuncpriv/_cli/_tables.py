"""Tables in files, as named columns.

CSV is read without pandas. Cells are stripped of blanks, so that ' ann' and 'ann' are
one person. No text here quotes a cell, a row or a count: names of columns are public.
"""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np

from skfuncpriv._tables import as_numbers, column

from ._errors import CommandError

_MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "None"})
_PARQUET_ENDS = (".parquet", ".pq")
_EXCEL_ENDS = (".xlsx", ".xls", ".xlsm", ".ods")

_NO_PANDAS = "reading Parquet needs pandas with pyarrow: pip install pandas pyarrow"
_NO_PARQUET = "the file cannot be read as Parquet"
_NO_EXCEL = "Excel files are not read: save the table as CSV"
_NO_HEADER = "does the file have a header line?"
VALUES = (
    "write numbers with a point; if it is a code for missing, leave the cell empty or "
    "write NA and use --missing interpolate"
)
_COLUMNS = f"{VALUES}; otherwise leave the column out with --drop or --columns"
_NO_TEXT = "the file is not a CSV table in UTF-8"
_RAGGED = "each row of the file must have as many cells as the first line has names"


class Table:
    """Named columns, read from a file.

    Parameters
    ----------
    columns : dict of str to list of str or ndarray
        The names are *public*, the cells *private*.
    """

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns

    @classmethod
    def read(cls, path: str) -> Table:
        """Read a CSV file, compressed or not, or a Parquet file."""
        if path.lower().endswith(_EXCEL_ENDS):
            raise CommandError(_NO_EXCEL)
        if path.endswith(_PARQUET_ENDS):
            return cls(_read_parquet(path))
        return cls(_read_csv(path))

    @property
    def names(self) -> list[str]:
        """The names of the columns, in the order of the file."""
        return list(self._columns)

    def numbers(self, name: str, remedy: str = _COLUMNS) -> np.ndarray:
        """A column of numbers, NaN where a value is missing."""
        cells = self._cells(name)
        if not isinstance(cells, list):
            return as_numbers(cells)
        try:
            return np.array([np.nan if c in _MISSING else float(c) for c in cells])
        except ValueError:
            pass  # raised outside of the handler: its text quotes a cell
        raise CommandError(f"column {name!r} holds text that is no number: {remedy}")

    @property
    def n_rows(self) -> int:
        """The number of rows; private."""
        return len(next(iter(self._columns.values())))

    def labels(self, name: str, remedy: str = "") -> np.ndarray:
        """A column of labels, none of them missing."""
        cells = np.asarray(self._cells(name))
        if any(c is None or c != c or c in _MISSING for c in cells.tolist()):
            raise CommandError(f"column {name!r} must not have missing cells{remedy}")
        return cells

    def _cells(self, name: str) -> Any:
        if name not in self._columns:
            raise no_column(name, self.names)
        return self._columns[name]


def no_column(name: str, names: list[str], option: str = "") -> CommandError:
    """The error of a column that the file does not have.

    Names that are numbers may be the first row of the data, which is not shown.
    """
    hint = header_hint(names) or f"; its columns are {shortened(names)}"
    return CommandError(f"{option}the file has no column {name!r}{hint}")


def header_hint(names: list[str]) -> str:
    """A question, if a name of a column is a number."""
    is_number = any(name.lstrip("-")[:1].isdecimal() for name in names)
    return f"; {_NO_HEADER}" if is_number else ""


def shortened(names: list[str]) -> str:
    """The names, without most of a long list."""
    if len(names) > 12:
        names = [*names[:6], "...", *names[-3:]]
    return ", ".join(names)


def read_numbers(path: str) -> list[float]:
    """The numbers of a small public file, separated by commas or blanks."""
    try:
        words = Path(path).read_text(encoding="utf-8-sig").replace(",", " ").split()
        return [float(word) for word in words]
    except ValueError:
        pass
    raise CommandError(f"{path!r} must hold numbers, separated by commas or lines")


def _read_csv(path: str) -> dict[str, list[str]]:
    data = Path(path).read_bytes()
    rows, failed = [], False
    try:
        if path.endswith(".gz"):
            data = gzip.decompress(data)
        lines = io.StringIO(data.decode("utf-8-sig"), newline="")
        header = lines.readline()
        lines.seek(0)
        delimiter = max(",;\t", key=header.count)
        # A line without cells is no row; empty cells are a person without data.
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        rows = [row for row in reader if row]
    except (csv.Error, UnicodeDecodeError, EOFError, gzip.BadGzipFile):
        failed = True
    if failed:
        raise CommandError(_NO_TEXT)
    if len(rows) < 2:
        raise CommandError("the file needs a first line of names, and rows below it")
    names, *cells = ([cell.strip() for cell in row] for row in rows)
    if len(set(names)) < len(names):
        raise CommandError(
            f"the names in the first line of the file must be distinct: {_NO_HEADER}"
        )
    if any(len(row) != len(names) for row in cells):
        raise CommandError(_RAGGED)
    return dict(zip(names, map(list, zip(*cells, strict=True)), strict=True))


def _read_parquet(path: str) -> dict[str, np.ndarray]:
    with Path(path).open("rb") as file:
        try:
            import pandas as pd

            frame = pd.read_parquet(file)
        except ImportError:
            raise CommandError(_NO_PANDAS) from None
        except Exception:  # of pyarrow; its text is not ours
            frame = None
    if frame is None:
        raise CommandError(_NO_PARQUET)
    frame.columns = frame.columns.map(str)
    return {name: column(frame, name) for name in frame.columns}
