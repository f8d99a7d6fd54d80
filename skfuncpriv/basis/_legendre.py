"""Orthonormal Legendre polynomials: the stable basis of all polynomials of a degree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skfuncpriv.basis._base import Basis
from skfuncpriv.basis._quadrature import (
    FloatArray,
    legendre_table,
    polynomial_breaks,
)


@dataclass(frozen=True)
class LegendreBasis(Basis):
    """Orthonormal Legendre polynomials of degree 0 to ``n_basis - 1``.

    Parameters
    ----------
    n_basis : int
        Number of functions, public.
    domain : tuple of two floats, default=(0.0, 1.0)
        Ends of the interval, public, in the user's units.

    Attributes
    ----------
    spectrum : ndarray of shape (n_basis,)
        Matern 3/2 spectral density at pi times the degree over the width, public.

    Raises
    ------
    ValueError
        If `n_basis` is not an integer >= 1 or `domain` is not an interval.

    Notes
    -----
    phi_j(t) = sqrt((2j + 1)/w) P_j(x), x in [-1, 1] the position in the domain of width
    w, by the three-term recurrence. They span the same functions as the monomials,
    whose Gram matrix is singular in floating point from degree 21 on.

    Examples
    --------
    >>> from skfuncpriv.basis import LegendreBasis
    >>> LegendreBasis(3).evaluate([0.0, 0.5]).round(3)
    array([[ 1.   , -1.732,  2.236],
           [ 1.   ,  0.   , -1.118]])
    """

    n_basis: int
    domain: tuple[float, float] = (0.0, 1.0)

    def _evaluate(self, t: FloatArray) -> FloatArray:
        table = legendre_table(self._reference(t), self.n_basis)
        table *= np.sqrt(2.0 / self._width)
        return table

    def _breaks(self) -> FloatArray:
        return self._from_reference(polynomial_breaks(self.n_basis - 1))
