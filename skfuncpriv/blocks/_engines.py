"""Who reads the blocks: this process one by one, its workers of joblib, or dask."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any, Protocol

from joblib import Parallel, delayed
from tqdm.auto import tqdm

from ._tasks import Block, added, checked, guarded, split
from ._tasks import gathered as gathered_blocks

PATIENCE = 2.0  # seconds, after which a bar is shown
_FAN_IN = 8


class Engine(Protocol):
    """What computes on blocks, wherever they are."""

    def form(self) -> Block:
        """A block of which only the form is used, here."""

    def total(self, task: Callable[[Block], Any]) -> Any:
        """The sum over all blocks of what a task returns."""

    def alone(self, task: Callable[[Block], Any]) -> Any:
        """What a task returns for all rows as one block, in one place."""

    def by_person(self) -> Engine:
        """The same rows in blocks none of which shares a person with another one."""

    def labels(self) -> Engine:
        """Nothing but the labels of people."""


class Reader:
    """Blocks that this process reads, or the workers of ``joblib.parallel_config``.

    Parameters
    ----------
    readers : sequence of callables
        Functions without arguments that return a `Block`.
    unit : str
        What progress counts.
    """

    def __init__(
        self, readers: Sequence[Callable[[], Block]], unit: str = "block"
    ) -> None:
        self._readers, self._unit = readers, unit
        self._folder: Any = None

    def form(self) -> Block:
        return self._readers[0]()

    def total(self, task: Callable[[Block], Any]) -> Any:
        jobs = (delayed(_run)(task, reader) for reader in self._readers)
        results = Parallel(return_as="generator", pre_dispatch="2 * n_jobs")(jobs)
        return reduce(added, self._shown(results))

    def alone(self, task: Callable[[Block], Any]) -> Any:
        blocks = [reader() for reader in self._shown(self._readers)]
        return task(guarded(gathered_blocks, blocks))

    def labels(self) -> Reader:
        return Reader([partial(_labels, reader) for reader in self._readers])

    def by_person(self) -> Reader:
        """Rows divided by person, in a folder of this user's own until the end.

        As many buckets as blocks, so that memory stays that of a block.
        """
        n_buckets = len(self._readers)
        folder = tempfile.TemporaryDirectory(prefix="skfuncpriv-")
        for reader in self._shown(self._readers):
            pieces = checked(guarded(split, reader(), n_buckets))
            for b, piece in enumerate(pieces):
                with open(Path(folder.name) / f"{b}", "ab") as file:
                    pickle.dump(piece, file, protocol=pickle.HIGHEST_PROTOCOL)
        names = [str(Path(folder.name) / f"{b}") for b in range(n_buckets)]
        engine = Reader([partial(_read_bucket, name) for name in names], "bucket")
        engine._folder = folder  # removed with the last engine that needs it
        return engine

    def _shown(self, results: Any) -> Iterator[Any]:
        n = len(self._readers)
        yield from tqdm(
            results, total=n, unit=self._unit, delay=PATIENCE, disable=None, leave=False
        )


def _run(task: Callable[[Block], Any], reader: Callable[[], Block]) -> Any:
    return task(guarded(reader))


def _labels(reader: Callable[..., Block]) -> Block:
    return reader(only_labels=True)


def _read_bucket(path: str) -> Block:
    pieces = []
    with open(path, "rb") as file:
        while file.peek(1):
            pieces.append(pickle.load(file))
    return gathered_blocks(pieces)
