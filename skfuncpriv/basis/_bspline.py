"""B-splines on equally spaced knots: local functions that sum to one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline

from skfuncpriv._validation import check_count
from skfuncpriv.basis._base import Basis
from skfuncpriv.basis._orthonormal import OrthonormalBasis
from skfuncpriv.basis._quadrature import FloatArray

# Products of two pieces of this degree are still integrated exactly.
MAX_DEGREE = 15


@dataclass(frozen=True)
class BSplineBasis(Basis):
    """B-splines on uniform knots with clamped ends; not orthonormal.

    Parameters
    ----------
    n_basis : int
        Number of functions, public, at least ``degree + 1``.
    domain : tuple of two floats, default=(0.0, 1.0)
        Ends of the interval, public, in the user's units.
    degree : int, default=3
        Degree of the pieces, public, at most 15; 3 are cubic splines.

    Attributes
    ----------
    spectrum : ndarray of shape (n_basis,)
        Weights of the orthonormalised splines in their order, public.

    Raises
    ------
    ValueError
        If `degree` is not an integer in [0, 15], `n_basis` is not an integer above it,
        or `domain` is not an interval.

    Notes
    -----
    The domain is cut into ``n_basis - degree`` equal pieces; the end knots are repeated
    ``degree + 1`` times, so that the functions sum to one on the whole domain. Noise
    belongs in the coordinates of ``orthonormalize()``, not in these.

    Examples
    --------
    >>> from skfuncpriv.basis import BSplineBasis
    >>> BSplineBasis(4, degree=1).evaluate([0.0, 0.5]).round(3)
    array([[1. , 0. , 0. , 0. ],
           [0. , 0.5, 0.5, 0. ]])
    """

    n_basis: int
    domain: tuple[float, float] = (0.0, 1.0)
    degree: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("degree", check_count(self.degree, "degree", minimum=0))
        if self.degree > MAX_DEGREE:
            raise ValueError(f"degree must be at most {MAX_DEGREE}, got {self.degree}")
        if self.n_basis <= self.degree:
            raise ValueError(
                f"n_basis must be > degree = {self.degree}, got {self.n_basis}"
            )

    @property
    def ordered_by_frequency(self) -> bool:
        """False: the functions are ordered by position."""
        return False

    def orthonormalize(self) -> OrthonormalBasis:
        """An orthonormal basis of the same splines.

        Returns
        -------
        OrthonormalBasis
            The splines, orthonormalised by QR on quadrature nodes.

        Raises
        ------
        PrivacyError
            If the result is not orthonormal in floating point.
        """
        return OrthonormalBasis(self)

    def _evaluate(self, t: FloatArray) -> FloatArray:
        breaks = self._breaks()
        repeats = np.ones(len(breaks), dtype=int)
        repeats[[0, -1]] = self.degree + 1
        splines = BSpline(np.repeat(breaks, repeats), np.eye(self.n_basis), self.degree)
        values: FloatArray = splines(t)
        return values

    def _breaks(self) -> FloatArray:
        return np.linspace(*self.domain, self.n_basis - self.degree + 1)
