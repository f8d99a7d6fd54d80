"""Draws that start as 64-bit words and can be refined without end.

A word stands for a real number of which the first bits are known. Two readings of a
word cover every law:

* exponential: one spare bit, then the 63 first bits of a uniform U; E = -log U;
* direction: three bits choose an octant, then the 61 first bits of the angle within
  it; the point (cos, sin) is uniform on the circle.

Float readings come with a proved bound of their error (`Measured`); a `Refinable` row
gives the same numbers as intervals that shrink as bits are added. The bounds assume
that the float log, sin and cos are right to 4 units in the last place, as numpy
states and the tests check; they are doubled throughout.
"""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np

from ._bits import RandomBits, Words
from ._lattice import FloatArray

ROUNDOFF = 2.0**-53
_EXPONENTIAL_BITS = 63
_DIRECTION_BITS = 61
_GROUP = 12  # a product of 12 uniforms of at least 2^-64 stays a normal float


class Measured(NamedTuple):
    """Float values with a bound on the absolute error of each."""

    value: FloatArray
    error: FloatArray


def exponentials(words: Words) -> Measured:
    """Read words as standard exponential draws."""
    known = _known(words, 1)
    value = np.add(known, 0.5)
    value *= 2.0**-_EXPONENTIAL_BITS
    value = np.log(value)
    np.negative(value, out=value)
    error = 1 + value
    error *= 16 * ROUNDOFF
    error += np.divide(1, known, out=known)
    return Measured(value, error)


def exponential_sums(words: Words) -> Measured:
    """Read each row of words as a sum of standard exponential draws.

    The logarithm of a product of uniforms replaces a sum of logarithms.
    """
    known = np.ascontiguousarray(_known(words, 1).T)  # rows in the fast direction
    uniform = np.add(known, 0.5)
    uniform *= 2.0**-_EXPONENTIAL_BITS
    value = np.zeros(len(words))
    for start in range(0, words.shape[1], _GROUP):
        value -= np.log(uniform[start : start + _GROUP].prod(axis=0))
    slack = 16 * ROUNDOFF * (1 + words.shape[1] + value)
    return Measured(value, slack + np.divide(1, known, out=known).sum(axis=0))


def signs(words: Words) -> FloatArray:
    """Read the spare bit of exponential words as +1 or -1."""
    return 1.0 - 2.0 * (words & np.uint64(1)).view(np.int64).astype(np.float64)


def directions(words: Words) -> tuple[FloatArray, FloatArray]:
    """Read words as points on the unit circle; absolute errors below 8 * 2^-53."""
    angle = _known(words, 3)
    angle += 0.5
    angle *= 2.0**-_DIRECTION_BITS
    angle *= np.pi / 4
    cos, sin = np.cos(angle), np.sin(angle)
    # bits of the word swap the two and change their signs: no branch, no rounding
    cos_bits, sin_bits = cos.view(np.uint64), sin.view(np.uint64)
    swapped = cos_bits ^ sin_bits
    swapped &= np.negative(words & np.uint64(1))
    cos_bits ^= swapped
    sin_bits ^= swapped
    cos_bits ^= (words & np.uint64(2)) << np.uint64(62)
    sin_bits ^= (words & np.uint64(4)) << np.uint64(61)
    return cos, sin


def _known(words: Words, spare: int) -> FloatArray:
    """All but the spare low bits as floats; signed integers convert much faster."""
    return (words >> np.uint64(spare)).view(np.int64).astype(np.float64)


class Refinable:
    """One row of words as intervals of real numbers, refined by further bits.

    All coordinates of a row share their words, so they must share the further bits
    too: one object serves every undecided coordinate of the row.
    """

    def __init__(self, words: Words, bits: RandomBits) -> None:
        self._words = [int(word) for word in words]
        self._extra = 0
        self._first = 0
        self._bits = bits
        import mpmath  # one draw in a million needs it

        self.context: Any = mpmath.ctx_iv.MPIntervalContext()
        self.refine()

    def part(self, start: int) -> Refinable:
        """The same row, with words counted from `start`."""
        view = copy(self)
        view._first = self._first + start
        return view

    def refine(self) -> None:
        """Append 64 fresh bits to every word and raise the working precision."""
        fresh = self._bits.words(len(self._words))
        self._words = [
            (word << 64) | int(new)
            for word, new in zip(self._words, fresh, strict=True)
        ]
        self._extra += 64
        self.context.prec = 3 * (self._extra + 64)

    def exponential(self, index: int) -> Any:
        """The exponential draw of a word, as an interval; None if still unbounded."""
        _, known, n_bits = self._parts(index, 1)
        if known == 0:
            return None
        return -self.context.log(self._interval(known, n_bits))

    def exponential_sum(self, start: int, stop: int) -> Any:
        """The sum of the exponential draws of words start..stop-1."""
        total = self.context.mpf(0)
        for index in range(start, stop):
            term = self.exponential(index)
            if term is None:
                return None
            total += term
        return total

    def sign(self, index: int) -> int:
        """The sign of a word read as an exponential draw."""
        return -1 if self._parts(index, 1)[0] & 1 else 1

    def direction(self, index: int) -> tuple[Any, Any]:
        """The point on the circle of a word, as two intervals."""
        head, known, n_bits = self._parts(index, 3)
        angle = self._interval(known, n_bits) * self.context.pi / 4
        cos, sin = self.context.cos(angle), self.context.sin(angle)
        if head & 1:
            cos, sin = sin, cos
        return (-cos if head & 2 else cos), (-sin if head & 4 else sin)

    def _parts(self, index: int, spare: int) -> tuple[int, int, int]:
        """Split a word into its spare low bits and the known bits of the fraction."""
        word = self._words[self._first + index]
        first = word >> self._extra
        tail = word & ((1 << self._extra) - 1)
        known = ((first >> spare) << self._extra) | tail
        return first, known, 64 - spare + self._extra

    def _interval(self, known: int, n_bits: int) -> Any:
        scale = self.context.mpf(2) ** -n_bits
        return self.context.mpf([known, known + 1]) * scale
