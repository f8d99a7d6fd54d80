"""The release ``round_g(v + Z)``: one correctly rounded noise draw.

``v`` is an exactly known value, ``Z`` an exact real draw of the law and ``g`` a public
lattice. Rounding the ideal real mechanism is post-processing, so the textbook
calibration holds on a real computer as it stands, and the low bits of the output carry
nothing: two neighbours reach the same lattice (Mironov 2012 shows what happens
otherwise).

A law reads its words twice: as floats with an error bound, which decide all but about
one draw in a million, and as shrinking intervals, which decide the rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._bits import RandomBits, Words
from ._draws import ROUNDOFF, Measured, Refinable
from ._lattice import FixedPoint, FloatArray, IntArray, Lattice, SplitValue, split

_CHUNK_WORDS = 1 << 14
_LIMIT = 1 << 62


class NoiseLaw(ABC):
    """A distribution on R^m that can be added to exact values and rounded once.

    Subclasses say how many 64-bit words one draw takes and how to read them.
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """The number m of coordinates of one draw."""

    @property
    @abstractmethod
    def std(self) -> FloatArray:
        """The standard deviation of each coordinate, shape (m,); public."""

    @property
    @abstractmethod
    def smallest_scale(self) -> float:
        """The scale that the lattice of a release must resolve; public."""

    @property
    def expected_square(self) -> float:
        """The expected squared norm of a draw; public."""
        return float(np.sum(self.std**2))

    @abstractmethod
    def loss(self, shift: ArrayLike) -> float:
        """Bound the privacy loss of moving the centre.

        Parameters
        ----------
        shift : array-like, shape (m,)
            The difference h of the values of two neighbours, in the units of the
            coordinates.

        Returns
        -------
        float
            The pure epsilon of the pair (for Gaussian noise the rho of zCDP), rounded
            up to a float.
        """

    @property
    @abstractmethod
    def _n_words(self) -> int:
        """Words per draw."""

    @abstractmethod
    def _read(self, words: Words, exponent: int) -> Measured:
        """Read (n, n_words) words as (n, m) draws in units of ``2**exponent``."""

    @abstractmethod
    def _read_exactly(self, row: Refinable, column: int) -> Any:
        """One coordinate of a draw as an interval, or None if still unbounded."""

    def release(
        self, value: FixedPoint | FloatArray, lattice: Lattice, bits: RandomBits
    ) -> IntArray:
        """Return ``round_g(value + Z)`` with an independent draw Z per row.

        Parameters
        ----------
        value : FixedPoint or ndarray of float64, shape (n, m) or (m,)
            What is released, exactly as given; *private*.
        lattice : Lattice
            The lattice of the output; *public*.
        bits : RandomBits
            The source of randomness.

        Returns
        -------
        ndarray of int64, shape of `value`
            The release in multiples of ``lattice.step``; saturated at +-2^62.
        """
        shape = np.shape(value.values if isinstance(value, FixedPoint) else value)
        parts = split(value, lattice, self.size)
        released = np.empty(parts.integer.shape, dtype=np.int64)
        step = max(1, _CHUNK_WORDS // self._n_words)
        for start in range(0, len(released), step):
            rows = slice(start, start + step)
            released[rows] = self._release_chunk(parts, rows, lattice, bits)
        return released.reshape(shape)

    def sample(self, n_draws: int, bits: RandomBits) -> FloatArray:
        """Return float draws of the noise, for pictures and plans.

        They are right to float64 accuracy but not rounded to a lattice: adding them
        to private data is *not* a private release.

        Parameters
        ----------
        n_draws : int
            The number of draws.
        bits : RandomBits
            The source of randomness.

        Returns
        -------
        ndarray, shape (n_draws, m)
            Independent draws of the law.
        """
        words = bits.words(n_draws * self._n_words).reshape(n_draws, self._n_words)
        return self._read(words, 0).value

    def _release_chunk(
        self, parts: SplitValue, rows: slice, lattice: Lattice, bits: RandomBits
    ) -> IntArray:
        integer, fraction = parts.integer[rows], parts.fraction[rows]
        n_rows = len(integer)
        words = bits.words(n_rows * self._n_words).reshape(n_rows, self._n_words)
        with np.errstate(all="ignore"):
            noise, error = self._read(words, lattice.exponent)
            total = fraction + noise
            nearest = np.rint(total)
            distance = 0.5 - np.abs(total - nearest)
            band = error + 4 * ROUNDOFF * (1 + np.abs(total))
            undecided = ~(distance > band)  # so that NaN is undecided
            released = integer + np.where(undecided, 0.0, nearest).astype(np.int64)
        refined: dict[int, Refinable] = {}
        for row, column in zip(*np.nonzero(undecided), strict=True):
            if row not in refined:
                refined[row] = Refinable(words[row], bits)
            exact = parts.exact(rows.start + row, column)
            multiple = self._round_exactly(refined[row], column, exact, lattice)
            multiple += int(integer[row, column])
            released[row, column] = min(max(multiple, -_LIMIT), _LIMIT)
        return released

    def _round_exactly(
        self, row: Refinable, column: int, fraction: Any, lattice: Lattice
    ) -> int:
        """Add bits until both ends of the interval round to the same integer."""
        while True:
            context = row.context
            noise = self._read_exactly(row, column)
            if noise is not None:
                start = context.mpf(fraction.numerator) / fraction.denominator
                total = start + noise * context.mpf(2) ** -lattice.exponent + 0.5
                low, high = _floor(total.a), _floor(total.b)
                if low is not None and low == high:
                    return low
            row.refine()


def _floor(end: Any) -> int | None:
    """The floor of one end of an interval, exactly; None if it is not finite."""
    sign, mantissa, exponent, _ = end._mpi_[0]
    if mantissa == 0 and exponent != 0:
        return None
    signed = -int(mantissa) if sign else int(mantissa)
    return signed << int(exponent) if exponent >= 0 else signed >> -int(exponent)
