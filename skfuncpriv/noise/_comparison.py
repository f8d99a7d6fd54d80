"""Exact comparisons of "known value + real draw": which of two sums is larger.

A private choice (sparse vector, noisy maximum) outputs comparisons only. Its proof
moves a noise by an arbitrary real amount, so the draws may not be rounded before they
are compared. Here both sides are read as floats with an error bound, which decides all
but a few comparisons in 10^15; the rest are decided by intervals that shrink as random
bits are added. A draw that enters several comparisons keeps its bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._bits import RandomBits
from ._draws import ROUNDOFF, Measured, Refinable, exponentials, signs
from ._lattice import FloatArray

Mask: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.intp]

_UNDERFLOW = 2.0**-1068  # 64 times the smallest float: products may underflow


class RealDraws:
    """Independent real draws, each known to as many bits as were needed.

    Parameters
    ----------
    law : {"laplace", "exponential"}
        Density exp(-abs(z) / scale) / (2 scale), or exp(-z / scale) / scale on z >= 0.
    scale : float
        Finite and >= 0; *public*. A scale of 0 gives draws that are all 0.
    count : int
        The number of draws; *public*.
    bits : RandomBits
        The source of randomness, asked again when a comparison is undecided.

    Examples
    --------
    >>> from skfuncpriv.noise import RealDraws, SeededBits
    >>> len(RealDraws("laplace", 2.0, 5, SeededBits(0)))
    5
    """

    def __init__(self, law: str, scale: float, count: int, bits: RandomBits) -> None:
        if law not in ("laplace", "exponential"):
            raise ValueError(f"law must be 'laplace' or 'exponential', got {law!r}")
        self._signed = law == "laplace"
        self._scale = scale
        self._bits = bits
        self._words = bits.words(count)
        self._refined: dict[int, Refinable] = {}

    def __len__(self) -> int:
        return len(self._words)

    def read(self, index: Indices) -> Measured:
        """Read draws as floats with a bound on the error of each.

        Parameters
        ----------
        index : ndarray of int, shape (k,)
            Which draws.

        Returns
        -------
        Measured
            Their values and error bounds, each of shape (k,).
        """
        words = self._words[index]
        with np.errstate(all="ignore"):
            draw = exponentials(words)
            value = draw.value * self._scale
            error = draw.error * self._scale + _UNDERFLOW
        return Measured(signs(words) * value if self._signed else value, error)

    def enclose(self, index: int) -> tuple[Fraction, Fraction] | None:
        """Enclose one draw by what its bits say so far; None if still unbounded.

        Parameters
        ----------
        index : int
            Which draw.

        Returns
        -------
        tuple of Fraction or None
            A lower and an upper bound.
        """
        row = self._row(index)
        draw = row.exponential(0)
        if draw is None:
            return None
        low, high = (_fraction(end) * Fraction(self._scale) for end in draw._mpi_)
        return (-high, -low) if self._signed and row.sign(0) < 0 else (low, high)

    def refine(self, index: int) -> None:
        """Add 64 fresh bits to what is known of one draw.

        Parameters
        ----------
        index : int
            Which draw.
        """
        self._row(index).refine()

    def _row(self, index: int) -> Refinable:
        if index not in self._refined:
            words = self._words[index : index + 1]
            self._refined[index] = Refinable(words, self._bits)
        return self._refined[index]


@dataclass(frozen=True)
class NoisyValues:
    """Exactly known values, each with the draw that is added to it.

    Parameters
    ----------
    value : ndarray of float64, shape (k,)
        The values, none of them NaN; *private*. Infinite ones are limits of finite
        ones, so that equal infinities are tied.
    draws : RealDraws
        The noise.
    which : ndarray of int, shape (k,)
        Which draw belongs to each value.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.noise import NoisyValues, RealDraws, SeededBits
    >>> draws = RealDraws("laplace", 1.0, 2, SeededBits(0))
    >>> both = NoisyValues(np.array([3.0, 4.0]), draws, np.array([0, 1]))
    """

    value: FloatArray
    draws: RealDraws
    which: Indices


def at_most(left: NoisyValues, right: NoisyValues) -> Mask:
    """Decide ``left <= right`` as for exact real draws.

    Parameters
    ----------
    left, right : NoisyValues
        Equally many; the two draws of a pair are different ones, and not both of them
        have scale 0.

    Returns
    -------
    ndarray of bool, shape (k,)
        Whether left value plus draw is at most right value plus draw.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.noise import NoisyValues, RealDraws, SeededBits, at_most
    >>> draws = RealDraws("laplace", 1.0, 4, SeededBits(0))
    >>> left = NoisyValues(np.array([-99.0, 99.0]), draws, np.array([0, 1]))
    >>> at_most(left, NoisyValues(np.zeros(2), draws, np.array([2, 3])))
    array([ True, False])
    """
    one, two = left.draws.read(left.which), right.draws.read(right.which)
    with np.errstate(all="ignore"):
        equal = left.value == right.value
        gap = np.where(equal, 0.0, left.value - right.value)
        total = gap + (one.value - two.value)
        size = np.abs(gap) + np.abs(one.value) + np.abs(two.value)
        band = one.error + two.error + 4 * ROUNDOFF * size
        undecided = ~(np.abs(total) > band)  # so that NaN is undecided
    infinite = ~equal & (np.isinf(left.value) | np.isinf(right.value))
    smaller = np.where(infinite, left.value < right.value, total < 0)
    for place in np.flatnonzero(undecided & ~infinite):
        smaller[place] = _decide(left, right, int(place))
    return smaller


def _decide(left: NoisyValues, right: NoisyValues, place: int) -> bool:
    """Add bits to both draws until the two sides are apart."""
    gap = Fraction(0)
    if left.value[place] != right.value[place]:
        gap = Fraction(float(left.value[place])) - Fraction(float(right.value[place]))
    one, two = int(left.which[place]), int(right.which[place])
    while True:
        first, second = left.draws.enclose(one), right.draws.enclose(two)
        if first is not None and second is not None:
            if gap + first[1] < second[0]:
                return True
            if gap + first[0] > second[1]:
                return False
        left.draws.refine(one)
        right.draws.refine(two)


def _fraction(end: Any) -> Fraction:
    """One end of an interval, a finite mpmath number, without rounding."""
    sign, mantissa, exponent, _ = end
    size: Fraction = int(mantissa) * Fraction(2) ** int(exponent)
    return -size if sign else size
