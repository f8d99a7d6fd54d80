"""Orthonormal cosines behind a straight line and a parabola: curves with free ends.

The cosine series of a smooth curve falls only as j^-2, because cosines are flat at both
ends of the domain and curves are not. Once a line and a parabola have taken up the two
slopes, it falls as j^-4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import zeta

from skfuncpriv.basis._base import Basis
from skfuncpriv.basis._cosine import harmonics
from skfuncpriv.basis._quadrature import FloatArray, legendre_table, n_panels

_N_POLYNOMIALS = 3


@dataclass(frozen=True)
class SmoothCosineBasis(Basis):
    """Orthonormal functions of the span of 1, t, t^2 and cosines, in that order.

    Parameters
    ----------
    n_basis : int
        Number of functions, public.
    domain : tuple of two floats, default=(0.0, 1.0)
        Ends of the interval, public, in the user's units.

    Attributes
    ----------
    spectrum : ndarray of shape (n_basis,)
        Matern 3/2 spectral density at pi times the number of sign changes over the
        width, public.

    Raises
    ------
    ValueError
        If `n_basis` is not an integer >= 1 or `domain` is not an interval.

    Notes
    -----
    The first three are Legendre polynomials. Function 2 + j is the cosine c_j =
    sqrt(2/w) cos(pi j (t - a)/w) made orthogonal to all before it. Of the polynomials
    only P, the linear one for odd j and the quadratic one for even j, has cosines of
    that parity: a_i of order i^-2, with s_j the sum of a_i^2 from i = j on. What is
    left of P after the cosines before j is R_j = P - sum_{i<j} a_i c_i, of squared norm
    s_j, so

        phi_{2+j} = sqrt(s_j / s_{j+2}) (c_j - (a_j / s_j) R_j).

    Examples
    --------
    >>> from skfuncpriv.basis import SmoothCosineBasis
    >>> SmoothCosineBasis(4).evaluate([0.0, 0.5]).round(3)
    array([[ 1.   , -1.732,  2.236, -2.538],
           [ 1.   ,  0.   , -1.118,  0.   ]])
    """

    n_basis: int
    domain: tuple[float, float] = (0.0, 1.0)

    def _evaluate(self, t: FloatArray) -> FloatArray:
        polynomials = legendre_table(self._reference(t), _N_POLYNOMIALS)
        table = np.empty((len(t), self.n_basis))
        table[:, :_N_POLYNOMIALS] = np.sqrt(2.0) * polynomials[:, : self.n_basis]
        count = self.n_basis - _N_POLYNOMIALS
        if count > 0:
            angle = (t - self.domain[0]) * (np.pi / self._width)
            cosines = np.sqrt(2.0) * harmonics(angle, count + 1).real[:, 1:]
            for parity, size in ((1, -4 * np.sqrt(6.0)), (2, 12 * np.sqrt(10.0))):
                rank = np.arange(parity, count + 1, 2)
                own = cosines[:, parity - 1 :: 2]
                table[:, 2 + rank] = _orthogonal(
                    own,
                    rank.astype(float),
                    size / np.pi**2,
                    np.sqrt(2.0) * polynomials[:, parity],
                )
        table *= np.sqrt(1.0 / self._width)
        return table

    def _breaks(self) -> FloatArray:
        phase = np.pi * max(self.n_basis - _N_POLYNOMIALS, 1)
        return np.linspace(*self.domain, n_panels(phase) + 1)


def _orthogonal(
    cosines: FloatArray, rank: FloatArray, size: float, polynomial: FloatArray
) -> FloatArray:
    """Cosines of one parity, orthogonal to each other and to their polynomial."""
    inner = size / rank**2.0
    square = size**2 / 16 * zeta(4.0, np.append(rank, rank[-1:] + 2) / 2)
    known = np.cumsum(inner * cosines, axis=1)
    rest = polynomial[:, np.newaxis] - known + inner * cosines
    factor = np.sqrt(square[:-1] / square[1:])
    result: FloatArray = factor * (cosines - inner / square[:-1] * rest)
    return result
