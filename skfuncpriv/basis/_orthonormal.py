"""An orthonormal basis of the span of another basis, by QR on quadrature nodes.

With B the functions at the nodes, rows times the square roots of the weights, B = Q R
and the orthonormal functions are phi R^-1. The Gram matrix, whose condition number is
the square of that of B, is never formed or inverted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import qr, solve_triangular

from skfuncpriv._validation import check_count
from skfuncpriv.basis._base import Basis, check_orthonormal
from skfuncpriv.basis._quadrature import FloatArray
from skfuncpriv.exceptions import PrivacyError


@dataclass(frozen=True)
class OrthonormalBasis(Basis):
    """The orthonormal basis that QR makes of another basis.

    Parameters
    ----------
    basis : Basis
        Linearly independent functions, public.
    n_kept : int, default=None
        How many of the orthonormal functions are kept, public; None keeps all.

    Attributes
    ----------
    n_basis : int
        Number of functions.
    domain : tuple of two floats
        The domain of `basis`, in the user's units.
    spectrum : ndarray of shape (n_basis,)
        The spectrum of `basis`, public.

    Raises
    ------
    PrivacyError
        If the functions are dependent in floating point, so that the result would not
        be orthonormal to 1e-10.

    Notes
    -----
    Function j is a combination of the first j + 1 functions of `basis` and has a
    positive inner product with the last of them (Gram-Schmidt, computed by Householder
    reflections), so the result does not depend on the signs that LAPACK chooses.

    Examples
    --------
    >>> from skfuncpriv.basis import BSplineBasis
    >>> basis = BSplineBasis(6).orthonormalize()
    >>> bool(abs(basis.gram() - 1.0 * (basis.gram() > 0.5)).max() < 1e-12)
    True
    """

    basis: Basis
    n_kept: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.basis, Basis):
            raise TypeError(f"basis must be a Basis, got {self.basis!r}")
        if self.n_kept is not None and not (
            1 <= check_count(self.n_kept, "n_kept") <= self.basis.n_basis
        ):
            raise ValueError(
                f"n_kept must be at most {self.basis.n_basis}, got {self.n_kept}"
            )
        diagonal = np.abs(np.diagonal(self._factor))
        if not np.all(diagonal > np.finfo(float).tiny):
            raise PrivacyError(
                f"the functions of {self.basis!r} are linearly dependent; "
                "use fewer functions or another basis"
            )
        check_orthonormal(self)

    @property
    def n_basis(self) -> int:  # type: ignore[override]
        """Number of functions."""
        return self.n_kept or self.basis.n_basis

    @property
    def domain(self) -> tuple[float, float]:  # type: ignore[override]
        """Ends of the interval, in the user's units."""
        return self.basis.domain

    @property
    def spectrum(self) -> FloatArray:
        """The spectrum of the basis underneath."""
        return self.basis.spectrum[: self.n_basis]

    @property
    def ordered_by_frequency(self) -> bool:
        """Whether the functions of the basis underneath are ordered by frequency."""
        return self.basis.ordered_by_frequency

    def first(self, n_basis: int) -> OrthonormalBasis:
        """The first of the orthonormal functions; their spans are nested."""
        return replace(self, n_kept=n_basis)

    @cached_property
    def _factor(self) -> FloatArray:
        """The triangular factor R with a positive diagonal."""
        (factor,) = qr(self.basis._weighted_table(), mode="r")
        factor = factor[: self.basis.n_basis]
        signs: FloatArray = np.where(np.diagonal(factor) < 0.0, -1.0, 1.0)
        return signs[:, np.newaxis] * factor

    def _evaluate(self, t: FloatArray) -> FloatArray:
        columns = self.basis._evaluate(t).T
        values: FloatArray = solve_triangular(self._factor, columns, trans="T")
        return values.T[:, : self.n_basis]

    def _breaks(self) -> FloatArray:
        return self.basis._breaks()
