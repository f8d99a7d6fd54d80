"""Orthonormal piecewise polynomials between public break points.

Orthonormal Legendre polynomials on each piece are orthonormal together. Smooth splines
are an orthogonal combination of them: with B the B-splines at Gauss-Legendre nodes of
each piece, rows times the square roots of the weights, and B = Q R, the columns of Q
hold the values of orthonormal splines, and their Legendre coefficients are orthonormal
to rounding, however uneven the pieces are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.interpolate import BSpline
from scipy.linalg import qr

from skfuncpriv._validation import check_count, check_real
from skfuncpriv.basis._base import Basis
from skfuncpriv.basis._quadrature import FloatArray, gauss_legendre, legendre_table
from skfuncpriv.exceptions import PrivacyError

MAX_DEGREE = 15
# Shorter pieces of smooth splines, as parts of the domain, are lost in rounding.
_SHORTEST = 1e-9


@dataclass(frozen=True)
class PiecewisePolynomialBasis(Basis):
    """An orthonormal basis of the polynomials of a degree between break points.

    Parameters
    ----------
    breaks : tuple of floats
        Ends of the pieces, public, increasing, in the user's units; the first and the
        last are the ends of the domain.
    degree : int, default=1
        Degree of the pieces, public, at most 15.
    continuity : int, default=-1
        -1 for independent pieces, 0 for continuous functions, 1 for a continuous
        derivative, too; public, less than `degree`.

    Attributes
    ----------
    n_basis : int
        Number of functions, pieces*(degree + 1) - (pieces - 1)*(continuity + 1).
    domain : tuple of two floats
        The first and the last of the breaks, in the user's units.
    spectrum : ndarray of shape (n_basis,)
        Decreasing weights that any basis has, public; these functions are ordered by
        position, so nothing should be concluded from it if there are several pieces.

    Raises
    ------
    ValueError
        If `breaks` are not two or more increasing finite numbers, or `degree` or
        `continuity` breaks its rule.
    PrivacyError
        If a piece of continuous functions is shorter than 1e-9 of the domain, where
        rounding would tear them apart.

    Notes
    -----
    Independent pieces: functions i*(degree + 1) + k are the orthonormal Legendre
    polynomials of degree k on piece i, zero elsewhere. Pieces contain their left ends,
    so that functions are continuous from the right at the breaks, and the last piece
    contains both ends.

    Continuous functions, continuity < degree (or all pieces would be one polynomial):
    Gram-Schmidt on the B-splines from left to right, so that function j is a
    combination of the first j + 1 of them. After scaling, B-splines are conditioned no
    worse than a constant of the degree, whatever the breaks [1]_. Everything is
    computed from distances to the breaks, so that nothing is lost on a domain far from
    zero; ``gram`` is that of the Legendre coefficients.

    References
    ----------
    .. [1] Scherer and Shadrin (1999), New upper bound for the B-spline basis condition
       number II, Journal of Approximation Theory 99, 217-229.

    Examples
    --------
    >>> from skfuncpriv.basis import PiecewisePolynomialBasis
    >>> basis = PiecewisePolynomialBasis((0.0, 0.5, 2.0), degree=1, continuity=0)
    >>> basis.n_basis, basis.domain
    (3, (0.0, 2.0))
    """

    breaks: tuple[float, ...]
    degree: int = 1
    continuity: int = -1

    def __post_init__(self) -> None:
        self._set("breaks", _check_breaks(self.breaks))
        self._set("degree", check_count(self.degree, "degree", minimum=0))
        self._set("continuity", check_count(self.continuity, "continuity", -1))
        if self.degree > MAX_DEGREE:
            raise ValueError(f"degree must be at most {MAX_DEGREE}, got {self.degree}")
        if self.continuity > min(1, self.degree - 1):
            raise ValueError(
                f"continuity must be at most 1 and less than degree = {self.degree}, "
                f"got {self.continuity}"
            )
        shortest = float(np.min(np.diff(self.breaks)))
        if self.continuity >= 0 and shortest < _SHORTEST * self._width:
            raise PrivacyError(
                f"pieces of continuous functions must be at least {_SHORTEST:.0e} of "
                f"the domain {self.domain} long, got {shortest}; use fewer breaks"
            )

    @property
    def n_basis(self) -> int:  # type: ignore[override]
        """Number of functions."""
        pieces = len(self.breaks) - 1
        return pieces * (self.degree + 1) - (pieces - 1) * (self.continuity + 1)

    @property
    def domain(self) -> tuple[float, float]:  # type: ignore[override]
        """Ends of the interval, in the user's units."""
        return self.breaks[0], self.breaks[-1]

    @property
    def ordered_by_frequency(self) -> bool:
        """Whether there is one piece only; several are ordered by position."""
        return len(self.breaks) == 2

    def gram(self) -> FloatArray:
        """Inner products, those of the Legendre coefficients of each piece."""
        if self.continuity < 0:
            return np.eye(self.n_basis)
        return self._coefficients.T @ self._coefficients

    def projection(self, grid: npt.ArrayLike) -> FloatArray:
        """Inner products with the interpolant of values on a grid."""
        points = self._check_points(grid, "grid")
        if len(points) == 0 or not np.all(np.diff(points) > 0):
            raise ValueError("grid must hold at least one point and strictly increase")
        if len(points) == 1:
            constant: FloatArray = self.projection(self.domain).sum(axis=0)
            return constant[np.newaxis]

        # Step 0: the piece and the grid cell of each panel between points and breaks.
        breaks = self._breaks()
        edges = np.unique(np.concatenate((points, breaks)))
        piece = np.searchsorted(breaks, edges[:-1], side="right") - 1
        cell = np.searchsorted(points, edges[:-1], side="right") - 1
        cell = np.clip(cell, 0, len(points) - 2)
        # Step 1: just enough nodes; where they are in piece and cell, from the ends.
        nodes, weights = gauss_legendre((self.degree + 3) // 2)

        def place(starts: FloatArray, which: npt.NDArray[np.intp]) -> FloatArray:
            left, step = starts[which], np.diff(starts)[which]
            low, high = (edges[:-1] - left) / step, (edges[1:] - left) / step
            return low[:, np.newaxis] + np.outer(high - low, 0.5 * (1.0 + nodes))

        x = 2.0 * place(breaks, piece) - 1.0
        height = np.clip(place(points, cell), 0.0, 1.0)
        # Step 2: integrals of both hats of a cell against the polynomials of a piece.
        table = legendre_table(x.ravel(), self.degree + 1).reshape(*x.shape, -1)
        weights = np.outer(
            np.diff(edges) / np.sqrt(2.0 * np.diff(breaks)[piece]), weights
        )
        hats = np.stack((weights * (1.0 - height), weights * height), axis=1)
        moments = hats @ table
        matrix = np.zeros((len(points), len(breaks) - 1, self.degree + 1))
        np.add.at(matrix, (cell, piece), moments[:, 0])
        np.add.at(matrix, (cell + 1, piece), moments[:, 1])
        return self._combine(matrix)

    def first(self, n_basis: int) -> PiecewisePolynomialBasis:
        """All of the functions; fewer of them are refused.

        Parameters
        ----------
        n_basis : int
            Number of functions, public.

        Returns
        -------
        PiecewisePolynomialBasis
            The basis itself.

        Raises
        ------
        ValueError
            If `n_basis` is not the number of functions of the basis.
        """
        if n_basis != self.n_basis:
            raise ValueError(
                f"first({n_basis!r}) of PiecewisePolynomialBasis has no meaning: its "
                "functions are positions, not frequencies; choose other breaks"
            )
        return self

    @cached_property
    def _coefficients(self) -> FloatArray:
        """Legendre coefficients of smooth splines, (pieces*(degree + 1), n_basis)."""
        # Step 0: B-splines at Gauss-Legendre nodes, counted from the low end.
        breaks = self._breaks() - self.breaks[0]
        half = 0.5 * np.diff(breaks)[:, np.newaxis]
        nodes, weights = gauss_legendre(self.degree + 1)
        points = breaks[:-1, np.newaxis] + half * (1.0 + nodes)
        repeats = np.full(len(breaks), self.degree - self.continuity)
        repeats[[0, -1]] = self.degree + 1
        knots = np.repeat(breaks, repeats)
        splines = BSpline.design_matrix(points.ravel(), knots, self.degree).toarray()
        # Step 1: QR, with the signs of Gram-Schmidt.
        splines *= np.sqrt(half * weights).reshape(-1, 1)
        values, factor = qr(splines, mode="economic")
        values = values * np.where(np.diagonal(factor) < 0.0, -1.0, 1.0)
        # Step 2: from values to coefficients, on each piece by an orthogonal matrix.
        turn = np.sqrt(weights)[:, np.newaxis] * legendre_table(nodes, self.degree + 1)
        by_piece = values.reshape(len(half), self.degree + 1, self.n_basis)
        coefficients: FloatArray = (turn.T @ by_piece).reshape(-1, self.n_basis)
        return coefficients

    def _combine(self, by_piece: FloatArray) -> FloatArray:
        """From the Legendre polynomials (n_points, pieces, degree + 1) to the basis."""
        flat = by_piece.reshape(len(by_piece), len(self.breaks[1:]) * (self.degree + 1))
        return flat if self.continuity < 0 else flat @ self._coefficients

    def _evaluate(self, t: FloatArray) -> FloatArray:
        breaks = self._breaks()
        piece = np.searchsorted(breaks, t, side="right") - 1
        piece = np.clip(piece, 0, len(breaks) - 2)
        left, right = breaks[piece], breaks[piece + 1]
        x = ((t - left) - (right - t)) / (right - left)
        table = legendre_table(x, self.degree + 1)
        values = np.zeros((len(t), len(breaks) - 1, self.degree + 1))
        scale = np.sqrt(2.0 / (right - left))[:, np.newaxis]
        values[np.arange(len(t)), piece] = scale * table
        return self._combine(values)

    def _breaks(self) -> FloatArray:
        return np.array(self.breaks)


def _check_breaks(breaks: object) -> tuple[float, ...]:
    """Two or more increasing finite numbers."""
    rule = f"breaks must be two or more increasing finite numbers, got {breaks!r}"
    try:
        values = tuple(check_real(value, "breaks") for value in breaks)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise ValueError(rule) from None
    if len(values) < 2 or not np.all(np.diff(values) > 0):
        raise ValueError(rule)
    return values
