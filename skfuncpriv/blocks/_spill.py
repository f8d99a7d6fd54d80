"""Rows divided by person, in files that nobody else may read."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._kept import keep
from ._tasks import Block, gathered


class Spill:
    """A folder for rows in buckets, removed when it is closed, or nobody needs it.

    Parameters
    ----------
    n_buckets : int
        How many buckets there are.

    Notes
    -----
    The folder is the operating system's place for temporary files (`TMPDIR`), with
    access for this user only. The rows in it are those that were given, not encrypted.
    """

    def __init__(self, n_buckets: int) -> None:
        self._path = Path(tempfile.mkdtemp(prefix="skfuncpriv-"))
        self._remove = weakref.finalize(self, _remove, str(self._path), os.getpid())
        self._n_buckets = n_buckets
        keep(self)

    def add(self, pieces: Sequence[Block]) -> None:
        """Put one piece into each bucket, labels beside it."""
        for b, piece in enumerate(pieces):
            _append(self._path / f"{b}", piece)
            _append(self._path / f"{b}.labels", Block((), piece.labels))

    def readers(self) -> list[Bucket]:
        """What reads the buckets."""
        return [Bucket(str(self._path / f"{b}")) for b in range(self._n_buckets)]

    def close(self) -> None:
        """Remove all of it."""
        self._remove()


@dataclass(frozen=True)
class Bucket:
    """Reads all rows of some people."""

    path: str

    def __call__(self) -> Block:
        return _read(self.path)

    def labels(self) -> Block:
        return _read(f"{self.path}.labels")

    def n_rows(self) -> None:
        return None  # private


def _remove(path: str, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must leave it to its parent
        shutil.rmtree(path, ignore_errors=True)


def _append(path: Path, piece: Block) -> None:
    with open(path, "ab") as file:
        pickle.dump(piece, file, protocol=pickle.HIGHEST_PROTOCOL)


def _read(path: str) -> Block:
    pieces: list[Any] = []
    with open(path, "rb") as file:
        while file.peek(1):
            pieces.append(pickle.load(file))
    return gathered(pieces)
