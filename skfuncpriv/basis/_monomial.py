"""Monomials: the powers of the argument, and what is released in their place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skfuncpriv.basis._base import Basis
from skfuncpriv.basis._legendre import LegendreBasis
from skfuncpriv.basis._quadrature import FloatArray, polynomial_breaks


@dataclass(frozen=True)
class MonomialBasis(Basis):
    """The powers 1, t, t^2, ... of the argument; not orthonormal.

    Parameters
    ----------
    n_basis : int
        Number of functions, public: the degrees 0 to ``n_basis - 1``.
    domain : tuple of two floats, default=(0.0, 1.0)
        Ends of the interval, public, in the user's units.

    Attributes
    ----------
    spectrum : ndarray of shape (n_basis,)
        Weights of the Legendre polynomials of the same degrees, public.

    Raises
    ------
    ValueError
        If `n_basis` is not an integer >= 1 or `domain` is not an interval; by
        ``evaluate``, ``gram`` and ``projection``, if the powers overflow.

    Notes
    -----
    The powers are those of t in the user's units, wherever the domain lies. The Gram
    matrix, (b^(i+j+1) - a^(i+j+1))/(i+j+1) on [a, b], is the Hilbert matrix on [0, 1]:
    from 12 functions on its condition number exceeds 1e16 and it is singular in
    floating point, so that noise shaped by it leaves some directions bare.
    `check_orthonormal` refuses it, and noise belongs in the coordinates of
    ``orthonormalize()``, which never forms a power.

    Those are Legendre polynomials: Gram-Schmidt on 1, t, t^2, ... gives the unit p_j of
    degree j that is orthogonal to all lower degrees, which fixes it up to sign, with
    <p_j, t^j> > 0. As t^j = p_j/k_j + lower degrees, k_j the leading coefficient of
    p_j, this inner product is 1/k_j; and the leading coefficient of an orthonormal
    Legendre polynomial is positive, also after an increasing change of variable.

    Examples
    --------
    >>> from skfuncpriv.basis import MonomialBasis
    >>> basis = MonomialBasis(3, domain=(0.0, 2.0))
    >>> basis.evaluate([0.0, 1.5])
    array([[1.  , 0.  , 0.  ],
           [1.  , 1.5 , 2.25]])
    >>> basis.orthonormalize()
    LegendreBasis(n_basis=3, domain=(0.0, 2.0))
    """

    n_basis: int
    domain: tuple[float, float] = (0.0, 1.0)

    def orthonormalize(self) -> LegendreBasis:
        """The Legendre polynomials of the same degrees, stable at any degree."""
        return LegendreBasis(self.n_basis, self.domain)

    def _evaluate(self, t: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            # The largest entry of the Gram matrix is below its size.
            size = np.float64(max(np.abs(self.domain))) ** (2 * self.n_basis - 2)
            size *= self._width
        if not np.isfinite(size):
            raise ValueError(
                f"powers up to {self.n_basis - 1} overflow on the domain "
                f"{self.domain}; use orthonormalize()"
            )
        return np.vander(t, self.n_basis, increasing=True)

    def _breaks(self) -> FloatArray:
        return self._from_reference(polynomial_breaks(self.n_basis - 1))
