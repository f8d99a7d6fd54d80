"""Correctly rounded noise: a million coordinates of every law, one thread.

A time in seconds is also the time of one coordinate in microseconds.
"""

from __future__ import annotations

import numpy as np

from skfuncpriv.noise import (
    BlockSpherical,
    IndependentGaussian,
    IndependentLaplace,
    ShapedNoise,
    SphericalLaplace,
    random_bits,
    release_lattice,
)

SIZE = 16
LAWS = {
    "laplace": IndependentLaplace((1.0,) * SIZE),
    "gaussian": IndependentGaussian((1.0,) * SIZE),
    "spherical": SphericalLaplace(SIZE),
    "block-spherical": BlockSpherical((4, 4, 8), (1.0, 1.0, 1.0)),
    "shaped": ShapedNoise(SphericalLaplace(SIZE), np.linspace(1.0, 2.0, SIZE)),
}


class Release:
    """``round_g(v + Z)`` for exactly known floats v, bits of the operating system."""

    params = tuple(LAWS)
    param_names = ("law",)

    def setup(self, name):
        """Values of a million coordinates and the usual lattice."""
        self.law = LAWS[name]
        self.values = np.random.default_rng(0).normal(size=(1_000_000 // SIZE, SIZE))
        self.lattice = release_lattice(self.law.smallest_scale)
        self.bits = random_bits(None)

    def time_million_coordinates(self, name):  # noqa: ARG002
        """Microseconds a coordinate."""
        self.law.release(self.values, self.lattice, self.bits)

    def peakmem_million_coordinates(self, name):  # noqa: ARG002
        """Working memory, 8 MB of values and the interpreter included."""
        self.law.release(self.values, self.lattice, self.bits)
