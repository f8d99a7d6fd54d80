"""Contributions that spread one unit of mass over bins, and their exact sum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from .._validation import check_count
from ..noise import FixedPoint, Lattice
from ..noise._lattice import FloatArray, IntArray

_SUM_BITS = 62
_CHUNK_ROWS = 1 << 16
_MASS_BITS = 30  # a chunk of rows, or 2^32 rows of one person, add up exactly


@dataclass(frozen=True)
class BinContributions:
    """Points of n people in a box, spread over the nearest bins.

    Parameters
    ----------
    n_people : int
        The number n of people; *public* (neighbours replace one person's data).
    bounds : tuple of (low, high), one pair per axis
        The box, in the units of the points; *public*. Points outside are moved to it.
    shape : tuple of int
        The number of bins along each axis, at least two; *public*.
    periodic : tuple of bool
        Along which axes the last bin is beside the first one; *public*.

    Notes
    -----
    Along an axis of width one, bins have centres (k + 1/2) / B. A point between two
    centres gives each a share of its mass by linear interpolation, beyond the first or
    the last one (unless periodic) all of it; shares along several axes are multiplied.
    Shares are integers: along an axis they add to 2^b, so those of a point add to
    T = 2^(b d) exactly. Several points of one person are averaged, rounded down.

    So a contribution is a vector of integers >= 0 with a sum of at most T. Replacing
    one person changes the exact integer sum by the difference of two such vectors,
    which is at most 2 T in absolute sum and, since the inner product of two vectors
    without negative entries is not negative, at most sqrt(2) T in Euclidean norm,
    however many bins there are.

    Examples
    --------
    >>> from skfuncpriv.summaries import BinContributions
    >>> bins = BinContributions(2, bounds=((0.0, 4.0),), shape=(4,), periodic=(False,))
    >>> total = bins.sum([[0.1], [2.25]])
    >>> total.lattice.to_float(total.values)
    array([1.  , 0.25, 0.75, 0.  ])
    """

    n_people: int
    bounds: tuple[tuple[float, float], ...]
    shape: tuple[int, ...]
    periodic: tuple[bool, ...]

    def __post_init__(self) -> None:
        check_count(self.n_people, "n_people")
        for n_bins in self.shape:
            check_count(n_bins, "the number of bins", minimum=2)

    @property
    def lattice(self) -> Lattice:
        """The public lattice, on which the mass of a person is one."""
        return Lattice(-self._axis_bits * len(self.shape))

    @property
    def steps(self) -> int:
        """The mass T of a person in lattice steps."""
        return int(2 ** (self._axis_bits * len(self.shape)))

    @property
    def size(self) -> int:
        """The number of bins."""
        return int(np.prod(self.shape))

    def sum(
        self,
        points: FloatArray,
        codes: NDArray[np.intp] | None = None,
        weights: FloatArray | None = None,
    ) -> FixedPoint:
        """Return the exact sum of what each person contributes.

        Parameters
        ----------
        points : array-like, shape (n_rows, d)
            *Private*, finite.
        codes : ndarray of int, shape (n_rows,), default=None
            The person of each row, 0 .. n_people - 1; *private*. None: each row is
            one person.
        weights : ndarray, shape (n_rows,), default=None
            The share of its mass that a row gives, in [0, 1]; *private*.

        Returns
        -------
        FixedPoint
            Shape (size,), with its public lattice and bound.
        """
        points = np.asarray(points, dtype=np.float64)
        bound = self.n_people * self.steps
        if codes is not None:
            total = self._sum_people(points, codes, weights)
        elif len(points) > self.n_people:
            raise ValueError("more contributions than n_people")
        else:
            total = self._sum_rows(points, weights)
        return FixedPoint(total, self.lattice, bound)

    @cached_property
    def _axis_bits(self) -> int:
        free = _SUM_BITS - (self.n_people - 1).bit_length()
        return min(_MASS_BITS, free) // len(self.shape)

    def _sum_rows(self, points: FloatArray, weights: FloatArray | None) -> IntArray:
        total = np.zeros(self.size, dtype=np.int64)
        for start in range(0, len(points), _CHUNK_ROWS):
            rows = slice(start, start + _CHUNK_ROWS)
            for place, share in self._shares(points[rows]):
                if weights is not None:
                    share = np.floor(share * weights[rows])
                added = np.bincount(place, share, self.size)
                total += added.astype(np.int64)
        return total

    def _sum_people(
        self, points: FloatArray, codes: NDArray[np.intp], weights: FloatArray | None
    ) -> IntArray:
        places, shares, owners = [], [], []
        for place, share in self._shares(points):
            if weights is not None:
                share = np.floor(share * weights)
            places.append(place)
            shares.append(share.astype(np.int64))
            owners.append(codes)
        place, share = np.concatenate(places), np.concatenate(shares)
        owner = np.concatenate(owners).astype(np.int64)
        order = np.lexsort((place, owner))
        place, share, owner = place[order], share[order], owner[order]
        first = np.flatnonzero(
            np.append(True, (np.diff(owner) != 0) | (np.diff(place) != 0))
        )
        counts = np.bincount(codes)
        averages = np.add.reduceat(share, first) // counts[owner[first]]
        total = np.zeros(self.size, dtype=np.int64)
        np.add.at(total, place[first], averages)
        return total

    def _shares(
        self, points: FloatArray
    ) -> Iterator[tuple[NDArray[np.intp], FloatArray]]:
        """Bin and integer share of every point, for one corner after the other."""
        axes = [self._axis_shares(points[:, k], k) for k in range(len(self.shape))]
        for corner in product((0, 1), repeat=len(axes)):
            place, share = axes[0][corner[0]]
            for (n_bins, axis), end in zip(
                zip(self.shape[1:], axes[1:], strict=True), corner[1:], strict=True
            ):
                place = place * n_bins + axis[end][0]
                share = share * axis[end][1]
            yield place, share

    def _axis_shares(
        self, x: FloatArray, axis: int
    ) -> tuple[tuple[NDArray[np.intp], FloatArray], ...]:
        (low, high), n_bins = self.bounds[axis], self.shape[axis]
        at = np.clip(x, low, high)
        at = (at / 2 - low / 2) / (high / 2 - low / 2)  # no overflow, whatever the box
        at *= n_bins
        at -= 0.5
        if not self.periodic[axis]:
            np.clip(at, 0, n_bins - 1, out=at)
        left = np.floor(at)
        if not self.periodic[axis]:
            np.minimum(left, n_bins - 2, out=left)
        at -= left
        at *= 2.0**self._axis_bits
        right_share = np.rint(at, out=at)
        place = left.astype(np.intp)
        after = place + 1
        if self.periodic[axis]:
            place %= n_bins
            after %= n_bins
        return (place, 2.0**self._axis_bits - right_share), (after, right_share)
