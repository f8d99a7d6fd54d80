"""Laws and word sources shared by the tests of the noise layer."""

import numpy as np

from skfuncpriv.noise import (
    BlockSpherical,
    IndependentGaussian,
    IndependentLaplace,
    RandomBits,
    ShapedNoise,
    SphericalLaplace,
)

LAWS = [
    IndependentLaplace((0.7, 1.0, 3.0)),
    IndependentGaussian((0.7, 1.0, 3.0)),
    SphericalLaplace(1, 0.9),
    SphericalLaplace(4, 0.9),
    SphericalLaplace(5, 1.3),
    BlockSpherical(sizes=(1, 3, 2), scales=(0.5, 1.0, 2.0)),
    ShapedNoise(SphericalLaplace(2), [[2.0, 0.0], [1.0, 0.5]]),
    ShapedNoise(IndependentGaussian((1.0, 1.0, 1.0)), [2.0, 1.0, 0.5]),
]


def law_name(law):
    return f"{type(law).__name__}-{law.size}"


class RecordedBits(RandomBits):
    """A seeded source that remembers what it gave out, in order."""

    seeded = True

    def __init__(self, seed, first=None):
        self._generator = np.random.default_rng(seed)
        self._first = first
        self.given = []

    def words(self, count):
        if self._first is not None:
            words, self._first = self._first, None
            assert words.size == count
            words = words.ravel()
        else:
            words = self._generator.integers(0, 2**64, count, dtype=np.uint64)
        self.given.append(words)
        return words
