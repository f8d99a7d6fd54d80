"""Rows in blocks, for all estimators whose releases are noisy sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from glob import glob
from os import PathLike, fspath
from typing import Any

import numpy as np

from .._validation import check_count
from ._sources import ArrayRows, CsvRows, Loaders, MappedRows, ParquetRows, Source

_BLOCK_BYTES = 1 << 24
_READERS = ".npy, .parquet, .csv or .csv.gz"


class Blocks:
    """Rows that are read block by block, in place of an array or a frame.

    Give it as X to ``fit`` of any central estimator, and the labels of people as
    another one: sums are exact integers, so the release is the one of the same rows in
    memory, whatever the blocks.

    Parameters
    ----------
    loaders : iterable of callables
        Functions without arguments; each returns the rows of one block, the same ones
        whenever it is called: an array, a frame, a series or `Curves`.

    See Also
    --------
    Blocks.from_files : Blocks of Parquet, CSV and NumPy files.
    Blocks.from_array : Blocks of a memory map, or of an array.

    Notes
    -----
    All blocks have one form: the same columns, or the same grid. The number of rows is
    public, and so are the files, the number of blocks and the form.

    A memory map may be given to ``fit`` as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import ICLPMean
    >>> from skfuncpriv.blocks import Blocks
    >>> rows = Blocks.from_array(np.full((1000, 8), 0.5), block_rows=300)
    >>> model = ICLPMean(bounds=(0, 1), epsilon=1.0, random_state=0).fit(rows)
    >>> model.n_people_
    1000
    """

    def __init__(self, loaders: Iterable[Callable[[], Any]]) -> None:
        functions = tuple(loaders)
        if not functions or not all(map(callable, functions)):
            raise TypeError("loaders must be functions without arguments, at least one")
        self._source: Source = Loaders(functions)
        self._columns: Any = None
        self._is_series = False

    @classmethod
    def from_array(cls, array: Any, block_rows: int | None = None) -> Blocks:
        """Make blocks of the rows of a memory map, or of an array.

        Parameters
        ----------
        array : ndarray or memmap, shape (n_rows, ...)
            *Private* rows.
        block_rows : int, default=None
            How many rows a block has; None is about 16 megabytes of them.

        Returns
        -------
        Blocks
            The rows; those of a memory map are read from its file.
        """
        array = array if isinstance(array, np.ndarray) else np.asarray(array)
        if array.ndim == 0 or len(array) == 0:
            raise ValueError("array must have at least one row")
        row_bytes = max(1, array.nbytes // len(array))
        step = max(1, _BLOCK_BYTES // row_bytes)
        if block_rows is not None:
            step = check_count(block_rows, "block_rows")
        mapped = MappedRows.of(array, step) if is_memory_map(array) else None
        return cls._of(mapped or ArrayRows(array, step))

    @classmethod
    def from_files(
        cls,
        files: Any,
        columns: Any = None,
        *,
        text: Iterable[str] = (),
        block_bytes: int = _BLOCK_BYTES,
    ) -> Blocks:
        """Make blocks of the rows of files, one file after the other.

        Parameters
        ----------
        files : path, pattern such as ``"days/*.parquet"``, or list of paths
            Parquet (a block is a row group), CSV with a header (a block is about
            `block_bytes`, or a whole compressed file), or NumPy's ``.npy``.
        columns : list or str, default=None
            As for ``blocks[columns]``; None is all columns.
        text : iterable of str, default=()
            Columns of CSV files that are text in every block: labels of people, which
            could look like numbers in one block and not in another.
        block_bytes : int, default=2**24
            About how much of a CSV or NumPy file makes a block.

        Returns
        -------
        Blocks
            The rows; only the form of files is read before ``fit``.

        Raises
        ------
        FileNotFoundError
            If a pattern matches no file.
        ValueError
            If files are of unknown or of different kinds.
        """
        paths = _paths(files)
        block_bytes = check_count(block_bytes, "block_bytes")
        endings = {_ending(path) for path in paths}
        if endings == {"parquet"}:
            blocks = cls._of(ParquetRows.of(paths))
        elif endings == {"csv"}:
            blocks = cls._of(CsvRows.of(paths, block_bytes, tuple(text)))
        elif endings == {"npy"}:
            sources = [_npy_rows(path, block_bytes) for path in paths]
            blocks = cls(
                partial(source.read, k, None)
                for source in sources
                for k in range(source.n_blocks)
            )
        else:
            raise ValueError(f"files must all be {_READERS}")
        return blocks if columns is None else blocks[columns]

    def __getitem__(self, columns: Any) -> Blocks:
        """Some columns: a list of names or numbers, or one of them as a series."""
        if self._is_series:
            raise IndexError("a single column has no columns")
        part = Blocks._of(self._source)
        part._is_series = isinstance(columns, str | int | np.integer)
        part._columns = [columns] if part._is_series else list(columns)
        if self._columns is not None and not set(part._columns) <= set(self._columns):
            raise KeyError("columns must be among those that were chosen before")
        return part

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return self._source.n_blocks

    def read(self, k: int) -> Any:
        """Read one block.

        Parameters
        ----------
        k : int
            Its number, from 0.

        Returns
        -------
        ndarray, frame, series or Curves
            The rows of the block; *private*.
        """
        table = self._source.read(k, self._columns)
        if not self._is_series:
            return table
        if hasattr(table, "columns"):
            return table[table.columns[0]]
        return np.asarray(table)[:, 0]

    def __iter__(self) -> Iterator[Any]:
        return map(self.read, range(self.n_blocks))

    def __repr__(self) -> str:
        kind = type(self._source).__name__
        return f"<Blocks: {self.n_blocks} of {kind}>"

    @classmethod
    def _of(cls, source: Source) -> Blocks:
        blocks = cls.__new__(cls)
        blocks._source, blocks._columns, blocks._is_series = source, None, False
        if blocks.n_blocks == 0:
            raise ValueError("there must be at least one block with rows")
        return blocks


def is_memory_map(array: Any) -> bool:
    """Whether an array lives in a file; what is computed from one does not."""
    return isinstance(array, np.memmap) and getattr(array, "_mmap", None) is not None


def _paths(files: Any) -> list[str]:
    if isinstance(files, str | PathLike):
        path = fspath(files)
        found = sorted(glob(path)) if any(sign in path for sign in "*?[") else [path]
    else:
        found = [fspath(path) for path in files]
    if not found:
        raise FileNotFoundError(f"no file matches {files!r}")
    return found


def _ending(path: str) -> str:
    name = path.lower()
    for ending, kind in ((".parquet", "parquet"), (".csv", "csv"), (".npy", "npy")):
        if name.endswith(ending) or (name.endswith(f"{ending}.gz") and kind == "csv"):
            return kind
    return "unknown"


def _npy_rows(path: str, block_bytes: int) -> MappedRows:
    array = np.load(path, mmap_mode="r")
    if array.ndim == 0 or len(array) == 0 or array.dtype.hasobject:
        raise ValueError("a .npy file must hold numbers, at least one row")
    step = max(1, block_bytes // max(1, array.nbytes // len(array)))
    rows = MappedRows.of(array, step)
    if rows is None:
        raise ValueError("a .npy file must be in C order: save np.ascontiguousarray")
    return rows
