"""Rows of Parquet files, of which a row group is a block."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_COLUMNS = "A Parquet file does not have the chosen columns"
_NEEDS = "reading Parquet needs pandas with pyarrow: pip install pandas pyarrow"


@dataclass(frozen=True, repr=False)
class ParquetRows:
    """The row groups of Parquet files, in order.

    Parameters
    ----------
    paths : tuple of str
        The files.
    groups : tuple of (file, row group, number of rows)
        The blocks.
    """

    paths: tuple[str, ...]
    groups: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, paths: Sequence[str]) -> ParquetRows:
        """Look up the row groups; no data are read."""
        parquet = _parquet()
        groups = []
        for k, path in enumerate(paths):
            with parquet.ParquetFile(path) as file:
                about = file.metadata
                sizes = map(about.row_group, range(about.num_row_groups))
                groups += [(k, g, size.num_rows) for g, size in enumerate(sizes)]
        return cls(tuple(os.path.abspath(path) for path in paths), tuple(groups))

    @property
    def n_blocks(self) -> int:
        return len(self.groups)

    def n_rows(self, k: int) -> int:
        return self.groups[k][2]

    def read(self, k: int, columns: Any) -> Any:
        parquet = _parquet()
        path, group, _ = self.groups[k]
        names = None if columns is None else list(columns)
        with parquet.ParquetFile(self.paths[path]) as file:
            table = file.read_row_group(group, columns=names)
        # An index that was stored is no value, but may be chosen as labels of people.
        frame = table.to_pandas(ignore_metadata=names is not None)
        if names is None:
            return frame
        if not set(names) <= set(frame.columns):
            raise ValueError(_COLUMNS)
        return frame[names]


def _parquet() -> Any:
    try:
        import pandas as pd  # noqa: F401 (rows become its frames)
        from pyarrow import parquet
    except ImportError:
        raise ImportError(_NEEDS) from None
    return parquet
