"""Orthonormal Fourier functions: the Karhunen-Loeve basis of a periodic process.

1/sqrt(w), then sqrt(2/w) sin(2 pi k u), sqrt(2/w) cos(2 pi k u) with u = (t - a)/w.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skfuncpriv.basis._base import Basis, matern_density
from skfuncpriv.basis._cosine import harmonics
from skfuncpriv.basis._quadrature import FloatArray, n_panels


@dataclass(frozen=True)
class FourierBasis(Basis):
    """The constant, then pairs of a sine and a cosine of growing frequency.

    Parameters
    ----------
    n_basis : int
        Number of functions, public; if it is even the last pair is a sine alone.
    domain : tuple of two floats, default=(0.0, 1.0)
        One period, public, in the user's units.

    Attributes
    ----------
    spectrum : ndarray of shape (n_basis,)
        Matern 3/2 spectral density at the frequencies of the functions, public.

    Raises
    ------
    ValueError
        If `n_basis` is not an integer >= 1 or `domain` is not an interval.

    Notes
    -----
    With u = (t - a)/w on the domain [a, a + w]: phi_0 = 1/sqrt(w), phi_{2k-1} =
    sqrt(2/w) sin(2 pi k u), phi_{2k} = sqrt(2/w) cos(2 pi k u). A curve whose ends do
    not meet has coefficients that fall only as 1/k; `CosineBasis` does better there.

    Examples
    --------
    >>> from skfuncpriv.basis import FourierBasis
    >>> FourierBasis(3, domain=(0.0, 24.0)).evaluate([3.0]).round(3)
    array([[0.204, 0.204, 0.204]])
    """

    n_basis: int
    domain: tuple[float, float] = (0.0, 1.0)

    @property
    def spectrum(self) -> FloatArray:
        """Matern 3/2 spectral density at the frequencies of the functions."""
        return matern_density(2.0 * np.pi * self._harmonics(), self._width)

    def _evaluate(self, t: FloatArray) -> FloatArray:
        angle = (t - self.domain[0]) * (2.0 * np.pi / self._width)
        waves = harmonics(angle, self.n_basis // 2 + 1) * np.sqrt(2.0 / self._width)
        table: FloatArray = np.empty((self.n_basis, len(t))).T
        table[:, 1::2] = waves.imag[:, 1:]
        table[:, 2::2] = waves.real[:, 1 : (self.n_basis + 1) // 2]
        table[:, 0] = np.sqrt(1.0 / self._width)
        return table

    def _breaks(self) -> FloatArray:
        phase = 2.0 * np.pi * (self.n_basis // 2)
        return np.linspace(*self.domain, n_panels(phase) + 1)

    def _harmonics(self) -> FloatArray:
        """Periods of each function over the domain: 0, 1, 1, 2, 2, ..."""
        return np.arange(1, self.n_basis + 1, dtype=float) // 2.0
