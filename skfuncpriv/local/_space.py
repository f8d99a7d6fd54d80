"""The inner product space that coefficients live in, and the noise it asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..basis import Basis, PiecewisePolynomialBasis, TensorBasis
from ..basis._base import ORTHONORMAL_TOLERANCE
from ..exceptions import PrivacyError
from ..noise import NoiseLaw, ShapedNoise, release_lattice
from ._budget import GeoBudget
from ._whitening import Whitening


@dataclass(frozen=True, eq=False)
class CoefficientSpace:
    """Coefficients with a public Gram matrix.

    Parameters
    ----------
    ranks : ndarray of int, shape (m,)
        The frequency of each coefficient, equal ones if there is no order; *public*.
    error : float
        A bound on norm(G - I) where the basis counts as orthonormal; *public*.
    whitening : Whitening or None
        The factors of G where it does not.
    """

    ranks: np.ndarray
    error: float = 0.0
    whitening: Whitening | None = None

    @classmethod
    def from_parameters(
        cls,
        size: int,
        basis: Basis | TensorBasis | None,
        gram: Any,
        n_outputs: int,
    ) -> CoefficientSpace:
        """Read the parameters of `GeoPrivateCoefficients`."""
        if basis is not None and gram is not None:
            raise ValueError("give either basis or gram, not both")
        ranks = np.arange(size) // n_outputs
        if basis is None and gram is None:
            return cls(ranks)
        if basis is not None:
            if basis.n_basis != size // n_outputs:
                raise ValueError(
                    f"basis has {basis.n_basis} functions, for {size} coefficients of "
                    f"{n_outputs} outputs"
                )
            gram = basis.gram()
            ranks = ranks if basis.ordered_by_frequency else np.zeros(size, dtype=int)
        matrix = _checked_gram(gram, size // n_outputs)
        deviation = matrix - np.eye(len(matrix))
        rounding = 0.0 if basis is None else _gram_rounding(basis)
        if np.abs(deviation).max() <= ORTHONORMAL_TOLERANCE:
            rounding += 64 * len(matrix) * 2.0**-53
            return cls(ranks, float(np.linalg.norm(deviation, 2)) + rounding)
        return cls(ranks, 0.0, Whitening(np.kron(matrix, np.eye(n_outputs)), rounding))

    def restricted(self, columns: np.ndarray) -> CoefficientSpace:
        """The space of some of the coefficients, where leaving out the others is safe.

        In an orthogonal basis that brings no two functions further apart. In others it
        may: a + b can be small where a alone is large.
        """
        if len(columns) == len(self.ranks):
            return self
        if self.whitening is not None and self.whitening.is_diagonal:
            gram = self.whitening.gram[np.ix_(columns, columns)]
            part = Whitening(gram, self.whitening.rounding)
            return CoefficientSpace(self.ranks[columns], 0.0, part)
        if self.whitening is not None:
            raise PrivacyError(
                "coefficients of a basis that is not orthogonal cannot be left out: "
                "the others may be further apart than the functions are; release all "
                "of them (n_coefficients=None, no NaN), or use BasisProjector"
            )
        return CoefficientSpace(self.ranks[columns], self.error)

    @property
    def may_be_cut(self) -> bool:
        """Whether the first coefficients alone make sense: orthonormal, ordered."""
        orthogonal = self.whitening is None or self.whitening.is_diagonal
        return orthogonal and bool(self.ranks.any())

    def law(self, budget: GeoBudget) -> NoiseLaw:
        """The noise law that spends the budget."""
        if self.whitening is not None:
            return self.whitening.law(budget)
        if not self.error:
            return budget.law(len(self.ranks))
        return budget.law(len(self.ranks), (1 - self.error) ** -0.5 * (1 + 2.0**-50))

    def check_rows(self, present: np.ndarray, rows: np.ndarray, law: NoiseLaw) -> None:
        """Refuse rows that a basis which is not orthogonal cannot protect.

        Parts left out, and clipping of single coefficients where the release cannot
        hold them, would bring functions further apart.
        """
        if self.whitening is None or self.whitening.is_diagonal:
            return
        if (present.any(axis=1) & ~present.all(axis=1)).any():
            self.restricted(np.arange(0))
        largest = release_lattice(law.smallest_scale).step * 2.0**61
        if (np.abs(rows[present]) > largest).any():
            raise ValueError(
                "coefficients of a basis that is not orthogonal must not exceed 2^61 "
                "lattice steps of the release"
            )

    def to_orthonormal(self, rows: np.ndarray) -> np.ndarray:
        """Coordinates in which the noise is spherical; public maths on a release."""
        if self.whitening is None:
            return rows
        return rows @ self.whitening.factor.T

    def from_orthonormal(self, rows: np.ndarray) -> np.ndarray:
        """Back to the coefficients of the basis."""
        if self.whitening is None:
            return rows
        return np.asarray(solve_triangular(self.whitening.factor, rows.T).T)


def spherical_part(law: NoiseLaw) -> NoiseLaw:
    """The law of the noise in orthonormal coordinates."""
    return law.law if isinstance(law, ShapedNoise) else law


def _gram_rounding(basis: Basis | TensorBasis) -> float:
    """A bound on the relative error of a computed Gram matrix, for rounded points.

    Far from zero the nodes of a quadrature are rounded to 2^-53 of their distance from
    it; products of two of m functions change by about m^2 times that, over the width.
    """
    factors = basis.bases if isinstance(basis, TensorBasis) else (basis,)
    error = 0.0
    for one in factors:
        if not isinstance(one, PiecewisePolynomialBasis):  # counts from its breaks
            low, high = one.domain
            far = (abs(low) + abs(high)) / (high - low)
            error += 16 * one.n_basis**2 * 2.0**-53 * far
    if not error <= 2.0**-20:
        raise PrivacyError(
            "floating point numbers are too coarse for distances on this domain: let "
            "it start at 0, with arguments counted from there"
        )
    return error


def _checked_gram(gram: Any, size: int) -> np.ndarray:
    matrix = np.array(gram, dtype=np.float64)
    symmetric = matrix.shape == (size, size) and (matrix == matrix.T).all()
    if not (symmetric and np.isfinite(matrix).all() and (np.diag(matrix) > 0).all()):
        raise ValueError(
            f"gram must be a symmetric positive definite {size} x {size} matrix"
        )
    return matrix
