"""Values of bounded curves on a public lattice, in fixed point, and their exact sum."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..curves import Curves
from ..noise import FixedPoint, Lattice
from ..noise._scales import round_up
from ..summaries import ValueBounds, number_of_people
from ..summaries._people import integer_averages

_SUM_BITS = 62
_FLOAT_BITS = 52
_CHUNK_VALUES = 1 << 16


@dataclass(frozen=True, eq=False)
class LatticeValues:
    """Curves seen at a few public points only.

    Parameters
    ----------
    n_people : int
        The number n of people; *public*.
    points : ndarray, shape (m,)
        The points of the domain; *public*.
    values : ValueBounds
        At what values are clipped and what is subtracted; *public*.
    grid : ndarray, shape (k,), or None
        The common grid, if there is one; *public*.

    Notes
    -----
    A curve is clipped, centred and interpolated at the points, each from its two
    neighbours, and rounded to an integer, in a power of two times the norm bound. The
    integer is clipped once more to the public range of what a curve within the bounds
    can have there, low <= x <= high, so the rounding errors of floats cannot leave it.
    A person's rows are averaged in integers, which stays within the range, and so does
    zero, the contribution of someone without data.

    *Sensitivity.* Replacing one person moves each of the m * n_outputs sums by at most
    its high - low, and all of them together by `sensitivity` in absolute sum: m times
    the sum over outputs of the distance of their bounds, up to that rounding. It is
    attained by people who are constant at opposite bounds.
    """

    n_people: int
    points: np.ndarray
    values: ValueBounds
    grid: np.ndarray | None

    @property
    def lattice(self) -> Lattice:
        """The public lattice of contributions and of their sum."""
        bits = min(_FLOAT_BITS, _SUM_BITS - 1 - (self.n_people - 1).bit_length())
        largest = float(self.values.reach.max()) / self.values.norm_bound
        return Lattice(math.frexp(largest)[1] - bits)

    @property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """The integers (low, high) of each point and output, shape (m, n_outputs)."""
        ends = []
        for end, rounded in ((self.values.low, np.floor), (self.values.high, np.ceil)):
            room = np.atleast_2d(end - self.values.center)
            if len(room) > 1:
                room = _interpolate(self.grid, room, self.points)
            integers = rounded(self._in_steps(room)).astype(np.int64)
            ends.append(np.broadcast_to(integers, (len(self.points), room.shape[1])))
        return ends[0], ends[1]

    @property
    def sensitivity(self) -> float:
        """The exact sensitivity of the sum in absolute sum, rounded up to a float."""
        low, high = self.box
        steps = sum((high - low).ravel().tolist())
        return round_up(steps * Fraction(2) ** self.lattice.exponent)

    def sum(self, curves: Curves, codes: np.ndarray | None) -> FixedPoint:
        """The exact sum of people's values, shape (m * n_outputs,).

        The people may be a part of all n: such sums add up.
        """
        low, high = self.box
        total = np.zeros(low.size, dtype=np.int64)
        if codes is None:
            if curves.n_curves > self.n_people:
                raise ValueError("more curves than n_people: the sum could overflow")
            for rows in self._integers(curves):
                total += rows.sum(axis=0)
        else:
            rows = np.concatenate(list(self._integers(curves)))
            seen = ~curves.all_missing
            n_people = number_of_people(codes)
            if n_people > self.n_people:
                raise ValueError("more people than n_people: the sum could overflow")
            total += integer_averages(rows[seen], codes[seen], n_people).sum(axis=0)
        bound = self.n_people * int(max(-low.min(), high.max()))
        return FixedPoint(total, self.lattice, bound)

    def _integers(self, curves: Curves) -> Iterator[np.ndarray]:
        """Rows of integers of consecutive curves; those without data are zero."""
        low, high = self.box
        heights = self._regular if curves.is_regular else self._irregular
        start = 0
        for chunk in heights(curves):
            steps = np.nan_to_num(np.rint(self._in_steps(chunk)), nan=0.0)
            limit = float(2**_FLOAT_BITS)
            integers = np.clip(steps, -limit, limit).astype(np.int64)
            integers = np.clip(integers, low, high)
            stop = start + len(chunk)
            integers[curves.all_missing[start:stop]] = 0
            start = stop
            yield integers.reshape(len(chunk), -1)

    def _regular(self, curves: Curves) -> Iterator[np.ndarray]:
        step = max(1, _CHUNK_VALUES // math.prod(curves.values.shape[1:]))
        for start in range(0, curves.n_curves, step):
            rows = curves.values[start : start + step]
            centred = np.clip(rows, self.values.low, self.values.high)
            centred -= self.values.center
            yield np.moveaxis(
                _interpolate(curves.grid, np.moveaxis(centred, 1, 0), self.points), 0, 1
            )

    def _irregular(self, curves: Curves) -> Iterator[np.ndarray]:
        for i in range(curves.n_curves):
            rows = slice(curves.offsets[i], curves.offsets[i + 1])
            if curves.all_missing[i]:
                yield np.zeros((1, len(self.points), curves.n_outputs))
                continue
            centred = np.clip(curves.values[rows], self.values.low, self.values.high)
            centred -= self.values.center
            yield _interpolate(curves.times[rows], centred, self.points)[None]

    def _in_steps(self, values: np.ndarray) -> np.ndarray:
        """Centred values as multiples of the lattice's step."""
        return np.ldexp(values / self.values.norm_bound, -self.lattice.exponent)


def _interpolate(
    knots: np.ndarray, heights: np.ndarray, points: np.ndarray
) -> np.ndarray:
    """Piecewise linear curves, constant beyond their ends; shape (k, ...) to (m, ...).

    Every entry is made from its own two heights alone, to the last bit.
    """
    right = np.clip(np.searchsorted(knots, points), 1, max(len(knots) - 1, 1))
    left, right = right - 1, np.minimum(right, len(knots) - 1)
    gap = knots[right] / 2 - knots[left] / 2  # halves: huge times do not overflow
    share = np.divide(
        points / 2 - knots[left] / 2, gap, out=np.zeros(len(points)), where=gap > 0
    )
    share = np.clip(share, 0.0, 1.0).reshape(-1, *[1] * (heights.ndim - 1))
    return heights[left] * (1 - share) + heights[right] * share
