"""Who reads the blocks: this process one by one, its workers of joblib, or dask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import Any, Protocol

from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from .._progress import progress_bar
from ._spill import Spill
from ._tasks import Block, added, checked, count, guarded, split
from ._tasks import gathered as gathered_blocks

_MOST_BUCKETS = 1024  # each block appends to all of them


class Engine(Protocol):
    """What computes on blocks, wherever they are."""

    def form(self) -> Block:
        """A block of which only the form is used, here."""

    def n_rows(self) -> int | None:
        """How many rows there are, if that is known without reading them."""

    def total(self, task: Callable[[Any], Any]) -> Any:
        """The sum over all blocks of what a task returns."""

    def alone(self, task: Callable[[Any], Any]) -> Any:
        """What a task returns for all rows as one block, in one place."""

    def by_person(self) -> Engine:
        """The same rows in blocks none of which shares a person with another one."""

    def labels(self) -> Engine:
        """Nothing but the labels of people."""

    def close(self) -> None:
        """Remove what was kept of the rows."""


class BlockReader(Protocol):
    """A function that reads a block, here or in another process."""

    def __call__(self) -> Block:
        """All of it."""

    def labels(self) -> Block:
        """The labels of people alone."""

    def n_rows(self) -> int | None:
        """How many rows it has, if that is known without reading it."""


class Reader:
    """Blocks that this process reads, or the workers of ``joblib.parallel_config``.

    Parameters
    ----------
    readers : sequence of BlockReader
        The blocks.
    unit : str
        What progress counts.
    spill : Spill, default=None
        Files that live as long as this engine.
    """

    def __init__(
        self,
        readers: Sequence[BlockReader],
        unit: str = "block",
        spill: Spill | None = None,
    ) -> None:
        self._readers, self._unit, self._spill = readers, unit, spill

    def form(self) -> Block:
        first: Block = checked(guarded(self._readers[0]))
        return first

    def n_rows(self) -> int | None:
        lengths = [reader.n_rows() for reader in self._readers]
        known = [length for length in lengths if length is not None]
        return sum(known) if len(known) == len(lengths) else None

    def lengths(self) -> list[int]:
        """How many rows each block has; all are read if one of them does not know."""
        lengths = [reader.n_rows() for reader in self._readers]
        known = [length for length in lengths if length is not None]
        if len(known) == len(lengths):
            return known
        return [checked(result).n_people for result in self._results(count)]

    def total(self, task: Callable[[Any], Any]) -> Any:
        return reduce(added, self._results(task))

    def alone(self, task: Callable[[Any], Any]) -> Any:
        blocks = [guarded(reader) for reader in self._shown(self._readers)]
        return task(guarded(gathered_blocks, blocks))

    def labels(self) -> Labels:
        return Labels(self._readers, self._unit, self._spill)

    def by_person(self) -> Reader:
        """Rows divided by person, in files of this user's own until the end.

        As many buckets as blocks, so that memory stays about that of a block: up to
        1,024 of them, since every block appends to all buckets. With more blocks a
        bucket is a 1,024th of all rows.
        """
        n_buckets = min(len(self._readers), _MOST_BUCKETS)
        spill = Spill(n_buckets)
        try:
            for reader in self._shown(self._readers):
                spill.add(checked(guarded(split, guarded(reader), n_buckets)))
        except BaseException:  # an interrupt, too
            spill.close()
            raise
        return Reader(spill.readers(), "bucket", spill)

    def close(self) -> None:
        if self._spill is not None:
            self._spill.close()

    def _read(self) -> Sequence[Callable[[], Block]]:
        """What reads the blocks for a task."""
        return self._readers

    def _results(self, task: Callable[[Any], Any]) -> Iterator[Any]:
        """What a task returns for each block, in order."""
        backend, _ = get_active_backend()
        kind = "generator" if backend.supports_return_generator else "list"
        workers = Parallel(return_as=kind, pre_dispatch="2 * n_jobs")
        jobs = (delayed(_run)(task, reader) for reader in self._read())
        yield from self._shown(workers(jobs))

    def _shown(self, results: Iterable[Any]) -> Iterator[Any]:
        with progress_bar(total=len(self._readers), unit=self._unit) as bar:
            for result in results:
                yield result
                bar.update()


class Labels(Reader):
    """The same blocks, of which only the labels are read."""

    def _read(self) -> Sequence[Callable[[], Block]]:
        return [reader.labels for reader in self._readers]


def _run(task: Callable[[Any], Any], reader: Callable[[], Block]) -> Any:
    return task(guarded(reader))
