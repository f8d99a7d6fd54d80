"""Orthonormal cosines: the Karhunen-Loeve basis of a reflected stationary process.

phi_0 = 1/sqrt(w), phi_j = sqrt(2/w) cos(pi j (t - a)/w) on [a, a + w].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skfuncpriv.basis._base import Basis
from skfuncpriv.basis._quadrature import FloatArray, n_panels


@dataclass(frozen=True)
class CosineBasis(Basis):
    """Orthonormal cosines, the constant first.

    Parameters
    ----------
    n_basis : int
        Number of functions, public.
    domain : tuple of two floats, default=(0.0, 1.0)
        Ends of the interval, public, in the user's units.

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
    phi_0 = 1/sqrt(w) and phi_j(t) = sqrt(2/w) cos(pi j (t - a)/w) on a domain [a, a+w].
    Unlike Fourier functions they do not force the ends of a curve to meet.

    Examples
    --------
    >>> from skfuncpriv.basis import CosineBasis
    >>> CosineBasis(3).evaluate([0.0, 1.0]).round(3)
    array([[ 1.   ,  1.414,  1.414],
           [ 1.   , -1.414,  1.414]])
    """

    n_basis: int
    domain: tuple[float, float] = (0.0, 1.0)

    def _evaluate(self, t: FloatArray) -> FloatArray:
        angle = (t - self.domain[0]) * (np.pi / self._width)
        table: FloatArray = harmonics(angle, self.n_basis).real
        table *= np.sqrt(2.0 / self._width)
        table[:, 0] = np.sqrt(1.0 / self._width)
        return table

    def _breaks(self) -> FloatArray:
        return np.linspace(*self.domain, n_panels(np.pi * (self.n_basis - 1)) + 1)


def harmonics(angle: FloatArray, n_harmonics: int) -> npt.NDArray[np.complex128]:
    """exp(i j angle) for j = 0 to n - 1, as (n_points, n_harmonics).

    Columns n to 2n - 1 are the first n times exp(i n angle): one cosine and sine per
    doubling, so rounding grows with log2(n) only.
    """
    table = np.ones((n_harmonics, len(angle)), dtype=complex)
    done = 1
    while done < n_harmonics:
        more = min(done, n_harmonics - done)
        turn = np.exp(1j * (done * angle))
        np.multiply(table[:more], turn, out=table[done : done + more])
        done += more
    return table.T
