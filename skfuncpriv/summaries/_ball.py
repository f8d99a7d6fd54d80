"""Contributions bounded by a ball, in fixed point, and their exact sums."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from .._validation import check_count, check_positive
from ..exceptions import PrivacyError
from ..noise import FixedPoint, Lattice
from ..noise._lattice import FloatArray, IntArray

_SUM_BITS = 62
_FLOAT_BITS = 52
_CHUNK_VALUES = 1 << 15  # that stay in the cache of a core


@dataclass(frozen=True)
class BallContributions:
    """Coefficient vectors of n people, each held in a ball and rounded to a lattice.

    Parameters
    ----------
    n_people : int
        The number n of people; *public* (neighbours replace one person's data).
    n_coefficients : int
        The length m of a contribution; *public*.
    radius : float
        The bound on the Euclidean norm of a contribution; *public*.

    Notes
    -----
    The lattice is the finest with n * T <= 2^62, T the radius in lattice steps (and
    T <= 2^52, the resolution of the floats that enter). A vector is shrunk to norm at
    most T - sqrt(m) / 2, less a slack for rounding errors of floats, and then rounded
    to the nearest integers, which moves it by at most sqrt(m) / 2: the integers lie in
    the ball of radius T. That is checked again on the integers, in exact arithmetic
    where floats leave a doubt; a row that failed would count as zero.

    Replacing one person changes the sum by the difference of two vectors of that
    ball, so the Euclidean sensitivity of the exact integer sum is 2 T lattice steps.

    Examples
    --------
    >>> from skfuncpriv.summaries import BallContributions
    >>> ball = BallContributions(n_people=2, n_coefficients=2, radius=1.0)
    >>> total = ball.sum([[0.6, 0.0], [30.0, 0.0]])
    >>> total.lattice.to_float(total.values).round(9)
    array([1.6, 0. ])
    """

    n_people: int
    n_coefficients: int
    radius: float

    def __post_init__(self) -> None:
        check_count(self.n_people, "n_people")
        check_count(self.n_coefficients, "n_coefficients")
        check_positive(self.radius, "radius")
        if self._largest_norm < self.steps / 2:
            raise PrivacyError(
                f"{self.n_people} people leave too few bits for "
                f"{self.n_coefficients} coefficients each"
            )

    @cached_property
    def lattice(self) -> Lattice:
        """The public lattice of contributions and of their sum."""
        bits = min(_FLOAT_BITS, _SUM_BITS - (self.n_people - 1).bit_length())
        return Lattice(math.frexp(self.radius)[1] - bits)

    @property
    def steps(self) -> int:
        """The radius T in lattice steps, rounded down."""
        return math.floor(Fraction(self.radius) / Fraction(2) ** self.lattice.exponent)

    @property
    def sensitivity(self) -> float:
        """The exact Euclidean sensitivity of the sum, 2 T lattice steps."""
        return math.ldexp(2.0 * self.steps, self.lattice.exponent)

    def contributions(self, coefficients: FloatArray) -> IntArray:
        """Clip and round coefficient vectors.

        Parameters
        ----------
        coefficients : array-like, shape (n_rows, m)
            One vector per person, in orthonormal coordinates; *private*. A vector
            that is not finite counts as zero.

        Returns
        -------
        ndarray of int64, shape (n_rows, m)
            Vectors of the ball of radius T, in lattice steps.
        """
        vectors = np.asarray(coefficients, dtype=np.float64)
        integers = np.empty(vectors.shape, dtype=np.int64)
        for rows in _chunks(vectors):
            integers[rows] = self._integers(vectors[rows])
        return integers

    def sum(self, coefficients: FloatArray) -> FixedPoint:
        """Return the exact sum of clipped and rounded vectors.

        Parameters
        ----------
        coefficients : array-like, shape (n_people, m)
            One vector per person; *private*.

        Returns
        -------
        FixedPoint
            The sum, with its public lattice and bound.
        """
        total = BallSum(self)
        total.add(coefficients)
        return total.value()

    @property
    def _largest_norm(self) -> float:
        slack = (self.n_coefficients + 8) * 2.0**-50 * self.steps
        return self.steps - math.sqrt(self.n_coefficients) / 2 - slack

    def _integers(self, vectors: FloatArray) -> IntArray:
        """Clip and round few vectors."""
        with np.errstate(all="ignore"):
            peak = np.maximum(vectors.max(axis=1), -vectors.min(axis=1))
            far = ~(peak <= self.radius)
            if far.any():  # bring huge rows to where their squares do not overflow
                vectors = vectors.copy()
                vectors[far] *= (self.radius / peak[far])[:, None]
                vectors[~np.isfinite(vectors).all(axis=1)] = 0.0
            scaled = np.ldexp(vectors, -self.lattice.exponent)
            norm = np.sqrt((scaled * scaled).sum(axis=1))
            shrink = np.minimum(1.0, self._largest_norm / norm)
            scaled *= np.where(norm > 0, shrink, 1.0)[:, None]
        return self._checked(np.rint(scaled, out=scaled).astype(np.int64))

    def _checked(self, integers: IntArray) -> IntArray:
        floats = integers.astype(np.float64)
        square = (floats * floats).sum(axis=1)
        certain = float(self.steps) ** 2 * (1 - (self.n_coefficients + 8) * 2.0**-51)
        for row in np.flatnonzero(~(square <= certain)):
            if sum(int(k) ** 2 for k in integers[row]) > self.steps**2:
                integers[row] = 0
        return integers


class BallSum:
    """A running exact sum of the contributions of at most n people.

    Integer sums do not depend on order, on chunks or on the machine, so partial sums
    made anywhere can be merged.

    Parameters
    ----------
    ball : BallContributions
        How contributions are bounded; *public*.

    Examples
    --------
    >>> from skfuncpriv.summaries import BallContributions, BallSum
    >>> total = BallSum(BallContributions(n_people=2, n_coefficients=1, radius=1.0))
    >>> total.add([[0.25]])
    >>> total.add([[0.5]])
    >>> total.value().lattice.to_float(total.value().values)
    array([0.75])
    """

    def __init__(self, ball: BallContributions) -> None:
        self.ball = ball
        self.n_added = 0
        self._total = np.zeros(ball.n_coefficients, dtype=np.int64)

    def add(self, coefficients: FloatArray) -> None:
        """Add the contributions of people who were not added before.

        Parameters
        ----------
        coefficients : array-like, shape (n_rows, m)
            One vector per person; *private*.
        """
        vectors = np.asarray(coefficients, np.float64)
        self._count(len(vectors))
        for rows in _chunks(vectors):
            self._total += self.ball.contributions(vectors[rows]).sum(axis=0)

    def merge(self, other: BallSum) -> None:
        """Add what another sum with the same public facts has collected.

        Parameters
        ----------
        other : BallSum
            The sum of other people.
        """
        if other.ball != self.ball:
            raise ValueError("only sums with equal public facts can be merged")
        self._count(other.n_added)
        self._total += other._total

    def value(self) -> FixedPoint:
        """Return the exact sum so far.

        Returns
        -------
        FixedPoint
            Shape (m,), with its public lattice and bound.
        """
        bound = self.ball.n_people * self.ball.steps
        return FixedPoint(self._total.copy(), self.ball.lattice, bound)

    def _count(self, n_people: int) -> None:
        """Refuse more people than the public number, for which sums cannot overflow."""
        if self.n_added + n_people > self.ball.n_people:
            raise ValueError(
                "more contributions than n_people: the sum could leave its bound"
            )
        self.n_added += n_people


def _chunks(vectors: FloatArray) -> Iterator[slice]:
    """Slices of few rows."""
    step = max(1, _CHUNK_VALUES // max(1, vectors.shape[1]))
    for start in range(0, len(vectors), step):
        yield slice(start, start + step)
