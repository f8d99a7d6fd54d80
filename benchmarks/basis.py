"""Karhunen-Loeve bases of 100 functions, which do not depend on a data grid."""

from __future__ import annotations

import itertools

import numpy as np

from skfuncpriv.basis import KernelBasis


class KarhunenLoeve:
    """Eigenpairs of a kernel, orthonormal to rounding."""

    params = ("exponential", "matern32", "matern52", "gaussian")
    param_names = ("kernel",)

    def setup(self, kernel):  # noqa: ARG002
        """Lengths that differ in the last digits, so that no answer is kept."""
        self.lengths = (0.1 * (1 + k * 2**-40) for k in itertools.count())
        self.grid = np.linspace(0, 1, 101)

    def time_hundred_functions(self, kernel):
        """Seconds for the spectrum and the functions on 101 points."""
        basis = KernelBasis(kernel, 100, length_scale=next(self.lengths))
        basis.evaluate(self.grid)
        return basis.spectrum

    def peakmem_hundred_functions(self, kernel):
        """Bytes, the interpreter included."""
        return self.time_hundred_functions(kernel)
