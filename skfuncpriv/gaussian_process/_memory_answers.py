"""The answers of an online release that belongs to one process, without a file.

The same verbs as those of `Answers`. A call is all or nothing here as well: points are
written down before anything else happens to them, and crossed out when the call ends
well. Those that are still there when the next one begins, whatever interrupted it,
were never told to anybody and are taken back.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right, insort
from typing import Any

from ..exceptions import PrivacyError

_BLOCK = 512  # points beside each other: how many are moved for a new one


class MemoryAnswers:
    """The answers of one fit in the memory of the process that made it.

    Parameters
    ----------
    facts : dict
        What was stated when it was made, and the identifier of the fit.
    """

    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts = facts
        self._process = os.getpid()
        self._given: dict[Any, int] = {}
        self._factors: list[tuple[Any, bytes]] = []
        self._order = OrderedPoints([])
        self._new: list[Any] = []  # of the call that is at work

    @property
    def count(self) -> int:
        """How many points were answered."""
        return len(self._given)

    def writing(self) -> MemoryAnswers:
        """A call of the only process that may answer; its answers hold if it ends."""
        if self._process != os.getpid():
            raise PrivacyError(
                "this release is kept in the memory of another process, and a copy "
                "could answer one point twice: give a path"
            )
        return self

    def __enter__(self) -> None:
        if self._new:
            self._take_back()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self._new = []

    def find(self, point: Any) -> int | None:
        """The answer at a point, in lattice steps, if it was given before."""
        return self._given.get(point)

    def around(self, point: float) -> tuple[Any, Any]:
        """(point, answer) of the next points below, and at or above; None at an end."""
        below, above = self._order.around(point)
        return (
            None if below is None else (below, self._given[below]),
            None if above is None else (above, self._given[above]),
        )

    def in_order(self) -> list[tuple[Any, int]]:
        """(point, answer) of all answers, by points."""
        return sorted(self._given.items())

    def after(self, count: int) -> list[tuple[Any, int, bytes]]:
        """(point, answer, factor) of all but the first answers, oldest first."""
        return [
            (point, self._given[point], factor)
            for point, factor in self._factors[count:]
        ]

    def add(self, point: Any, answer: int, factor: bytes | None) -> None:
        """Keep the answer at a new point."""
        self._new.append(point)  # first of all
        self._given[point] = answer
        if factor is None:
            self._order.insert(point)
        else:
            self._factors.append((point, factor))

    def _take_back(self) -> None:
        """Forget answers of a call that did not end; an interrupted one starts over."""
        for point in self._new:
            self._given.pop(point, None)
        kept = [row for row in self._factors if row[0] in self._given]
        self._order = OrderedPoints([] if kept else sorted(self._given))
        self._factors = kept
        self._new = []  # last of all


class OrderedPoints:
    """Numbers in order, in blocks, so that a new one moves few others.

    Parameters
    ----------
    points : list of float
        Increasing.
    """

    def __init__(self, points: list[float]) -> None:
        starts = range(0, len(points), _BLOCK)
        self._blocks = [points[start : start + _BLOCK] for start in starts]
        self._firsts = [block[0] for block in self._blocks]

    def around(self, point: float) -> tuple[float | None, float | None]:
        """The largest number below a point, and the smallest at or above it."""
        blocks = self._blocks
        i = bisect_right(self._firsts, point) - 1
        if i < 0:
            return None, (blocks[0][0] if blocks else None)
        block = blocks[i]
        j = bisect_left(block, point)
        below = block[j - 1] if j else blocks[i - 1][-1] if i else None
        if j < len(block):
            return below, block[j]
        return below, (blocks[i + 1][0] if i + 1 < len(blocks) else None)

    def insert(self, point: float) -> None:
        """Put a new number in its place."""
        if not self._blocks:
            self._blocks, self._firsts = [[point]], [point]
            return
        i = max(bisect_right(self._firsts, point) - 1, 0)
        block = self._blocks[i]
        insort(block, point)
        self._firsts[i] = block[0]
        if len(block) == 2 * _BLOCK:
            self._blocks.insert(i + 1, block[_BLOCK:])
            self._firsts.insert(i + 1, block[_BLOCK])
            del block[_BLOCK:]
