"""Noise that is drawn exactly and rounded once: laws, lattices and random bits."""

from ._bits import OperatingSystemBits, RandomBits, SeededBits, random_bits
from ._block_spherical import BlockSpherical
from ._comparison import NoisyValues, RealDraws, at_most
from ._exact import exact_epsilon, larger_reading, smaller_reading
from ._gaussian import IndependentGaussian
from ._keyed import KeyedBits
from ._laplace import IndependentLaplace
from ._lattice import FixedPoint, Lattice, release_lattice
from ._law import NoiseLaw
from ._shaped import ShapedNoise
from ._spherical import SphericalLaplace

__all__ = [
    "BlockSpherical",
    "FixedPoint",
    "IndependentGaussian",
    "IndependentLaplace",
    "KeyedBits",
    "Lattice",
    "NoiseLaw",
    "NoisyValues",
    "OperatingSystemBits",
    "RandomBits",
    "RealDraws",
    "SeededBits",
    "ShapedNoise",
    "SphericalLaplace",
    "at_most",
    "exact_epsilon",
    "larger_reading",
    "random_bits",
    "release_lattice",
    "smaller_reading",
]
