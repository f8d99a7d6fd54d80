"""Rows in blocks, for all estimators whose releases are noisy sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .._validation import check_count
from ._arrays import ArrayRows, reader_of
from ._csv import CsvRows
from ._forms import LENGTHS
from ._sources import Loaders, Source, file_source
from ._tables import check_table
from ._tasks import mapped

_BLOCK_BYTES = 1 << 24
_NUMBER = (
    "blocks[columns] chooses columns by name, or by a list: a block is blocks.read(k)"
)


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
    public (of people, with labels of people: how many rows they have is private then),
    and so are the files, the number of blocks and the form; see `fit` of an estimator
    for what else is.

    A memory map may be given to ``fit`` as it is. Columns are chosen by
    ``blocks[["a", "b"]]``, one of them as a series by ``blocks["person"]``, and of
    arrays by ``blocks[3]``; what is iterated over are blocks. Columns of one frame or
    file are read once for X, y and labels. Blocks of arrays are cut where those of X
    are cut.

    Rows of people in several blocks are first divided by person, in a temporary folder
    that only this user can read and that is removed at the end; after an error of
    something else than the rows, when its traceback is gone, at the latest with the
    process. One that is killed leaves it behind; the name begins with ``skfuncpriv-``.
    They are divided into as many parts as there are blocks, 1,024 at most: with more
    blocks than that, each worker holds about a 1,024th of all rows at a time.

    Blocks are read one by one, or by the workers of ``joblib.parallel_config``, but for
    the pass that divides rows by person, which is of this process; a bar of progress
    counts them after two seconds where somebody looks. Errors of functions that load
    blocks may quote rows, so ``fit`` shows their type alone; `read` shows all of them.

    *Dask.* Arrays and frames of dask are given to ``fit`` as they are, and summed where
    their scheduler runs: only sums and numbers of people come back. A partition is made
    anew for every pass (one for people, if there are labels, then one for each exact
    sum), so what is costly to make is better kept there by ``persist``, and it must be
    the same whenever it is made. That the number of people is the same is checked each
    time; that the rows are, nobody can check: of rows that change between passes (a
    sample without a seed, a file that is written) each pass sees other ones, and a
    release of two rounds then is one of two data sets. Errors of functions that make
    partitions are those functions' own, and dask may write down what they were called
    with.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import Blocks, ICLPMean
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
        self._columns: list[Any] | None = None
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
        check_table(array)
        array = array if isinstance(array, np.ndarray) else np.asarray(array)
        if array.ndim == 0 or len(array) == 0:
            raise ValueError("array must have at least one row")
        row_bytes = max(1, array.nbytes // len(array))
        step = max(1, _BLOCK_BYTES // row_bytes)
        if block_rows is not None:
            step = check_count(block_rows, "block_rows")
        return cls._of(ArrayRows.of(reader_of(array), step))

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
            Columns of CSV files that are text in every block, as classes some of which
            look like numbers. Labels of people, ``groups``, always are: they are
            compared as they are written, so that 7, 007 and 7.0 are three people.
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
        block_bytes = check_count(block_bytes, "block_bytes")
        if isinstance(text, str):
            raise TypeError("text must be a list of columns, as in text=['person']")
        blocks = cls._of(file_source(files, tuple(text), block_bytes))
        return blocks if columns is None else blocks[columns]

    def __getitem__(self, columns: Any) -> Blocks:
        """Some columns: a list of names or numbers, or one of them as a series.

        A number alone is a column of arrays in files or in memory only.
        """
        if self._is_series:
            raise IndexError("a single column has no columns")
        is_number = isinstance(columns, int | np.integer)
        if is_number and not isinstance(self._source, ArrayRows):
            raise TypeError(_NUMBER)
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

    def n_rows(self, k: int) -> int | None:
        """Look up how many rows a block has.

        Parameters
        ----------
        k : int
            Its number, from 0.

        Returns
        -------
        int or None
            The number of rows; None where only reading the block would tell.
        """
        return self._source.n_rows(k)

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
        return self._part(self._source.read(k, self._columns), self._columns)

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

    def _from(self, source: Source) -> Blocks:
        """The same columns of another source."""
        blocks = Blocks._of(source)
        blocks._columns, blocks._is_series = self._columns, self._is_series
        return blocks

    def _part(self, table: Any, columns: list[Any] | None) -> Any:
        """These columns of a table that has `columns`, None for all of them."""
        if self._columns is None:
            return table
        is_frame = hasattr(table, "columns")
        if columns != self._columns:
            if is_frame:
                table = table[self._columns]
            else:
                known = self._columns
                table = table[:, known if columns is None else _places(known, columns)]
        if not self._is_series:
            return table
        return table[table.columns[0]] if is_frame else np.asarray(table)[:, 0]


def read_together(blocks: Sequence[Blocks], k: int) -> list[Any]:
    """Block k of several, read once if they are columns of one source."""
    wanted: dict[int, Any] = {}
    for each in blocks:
        source, before = each._source, wanted.get(id(each._source), (None, []))[1]
        columns = None
        if before is not None and each._columns is not None:
            columns = [*before, *(c for c in each._columns if c not in before)]
        wanted[id(source)] = source, columns
    read = {key: (s.read(k, columns), columns) for key, (s, columns) in wanted.items()}
    return [each._part(*read[id(each._source)]) for each in blocks]


def is_divisible(blocks: Blocks) -> bool:
    """Whether blocks may be cut at other rows."""
    return isinstance(blocks._source, ArrayRows)


def recut(blocks: Blocks, cuts: Sequence[int]) -> Blocks:
    """The same rows in blocks that begin elsewhere."""
    source = blocks._source
    if not isinstance(source, ArrayRows) or source.cuts[-1] != cuts[-1]:
        raise ValueError(LENGTHS)
    return blocks._from(ArrayRows(source.reader, cuts))


def text_labels(tables: tuple[Any, ...]) -> tuple[Any, ...]:
    """X, y, weights and groups, where groups of CSV files are text as it is there.

    Whether a column looks like numbers is another answer for every block, and a label
    that is 7 in one block and "7" in another would be two people.
    """
    *others, groups = tables
    if not isinstance(groups, Blocks) or not isinstance(groups._source, CsvRows):
        return tables
    source, columns = groups._source, groups._columns
    text = source.as_text(columns)

    def shared(table: Any) -> Any:
        """Read from the same text if that leaves its own columns as they are."""
        if not isinstance(table, Blocks) or table._source is not source:
            return table
        known = table._columns
        if columns is None or known is None or not set(columns).isdisjoint(known):
            return table
        return table._from(text)

    return (*mapped(shared, others), groups._from(text))


def _places(columns: Sequence[Any], among: Sequence[Any]) -> list[int]:
    return [list(among).index(column) for column in columns]
