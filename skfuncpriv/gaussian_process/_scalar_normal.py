"""One correctly rounded normal draw at a time, without arrays.

`IndependentGaussian.release` answers a million coordinates in a fraction of a second
and a single one in as long as hundreds of them. Answers to single queries come one at
a time, so the float filter of that law is written a second time for Python numbers;
what it leaves undecided the law itself decides, from the very same words.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..noise import IndependentGaussian, Lattice, RandomBits
from ..noise._bits import Words
from ..noise._draws import ROUNDOFF

_LIMIT = float(1 << 50)  # of a value in lattice steps: its fraction is then exact
_TAIL = 1 << 20  # words nearer to their ends than this are left to the law
_OCTANT = math.pi / 4 * 2.0**-61


def release_normal(
    value: float, deviation: float, lattice: Lattice, bits: RandomBits
) -> int:
    """Return ``round_g(value + deviation * Z)`` for an exact standard normal draw Z.

    Parameters
    ----------
    value : float
        What is released, exactly as given; *private*.
    deviation : float
        The standard deviation > 0; *public*.
    lattice : Lattice
        The lattice of the output; *public*.
    bits : RandomBits
        The source of randomness, asked for two words.

    Returns
    -------
    int
        The release in multiples of the step, the one that
        ``IndependentGaussian((deviation,)).release`` gives for the same words.
    """
    words = bits.words(2)
    first, second = words.tolist()
    unit = 2.0**-lattice.exponent
    scaled = value * unit
    if abs(scaled) < _LIMIT and _TAIL < first < (1 << 64) - _TAIL:
        known = first >> 1
        draw = -math.log((known + 0.5) * 2.0**-63)
        error = 16 * ROUNDOFF * (1 + draw) + 1 / known
        angle = ((second >> 3) + 0.5) * _OCTANT
        part = math.sin(angle) if second & 1 else math.cos(angle)
        radius = math.sqrt(2 * draw) * (deviation * unit)
        noise = -radius * part if second & 2 else radius * part
        integer = math.floor(scaled)
        total = (scaled - integer) + noise
        if abs(total) < _LIMIT:
            nearest = round(total)
            band = radius * (16 * ROUNDOFF + error / draw)
            band += 4 * ROUNDOFF * (1 + abs(total))
            if 0.5 - abs(total - nearest) > band:
                return integer + nearest
    law = IndependentGaussian((deviation,))
    return int(law.release(np.array([value]), lattice, Reserve(bits, words=words))[0])


class Reserve(RandomBits):
    """A source that hands out words at hand first, and reads many at a time.

    Parameters
    ----------
    bits : RandomBits
        Where words come from.
    ahead : int, default=0
        How many are read at once, if one is needed.
    words : ndarray of uint64, default=()
        Words at hand, for example those that are to be read again.
    """

    def __init__(self, bits: RandomBits, ahead: int = 0, words: Any = ()) -> None:
        self.seeded = bits.seeded
        self._bits, self._ahead = bits, ahead
        self._words, self._start = words, 0

    def words(self, count: int) -> Words:
        stop = self._start + count
        if stop > len(self._words):
            self._words = self._bits.words(max(count, self._ahead))
            stop = count
        taken = self._words[stop - count : stop]
        self._start = stop
        return taken
