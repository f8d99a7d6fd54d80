"""Karhunen-Loeve expansions on [-1, 1] as sums of orthonormal Legendre polynomials.

In that basis the integral operator of a kernel is a symmetric matrix C and its
eigenvectors are the coefficients of orthonormal eigenfunctions, whatever C was computed
from: an orthogonal matrix of coefficients is all that orthonormality needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from skfuncpriv.basis._quadrature import (
    FloatArray,
    legendre_table,
    polynomial_breaks,
)

# Eigenvalues below this fraction of the first are rounding errors of the decomposition.
SPECTRUM_FLOOR = 1e-12
# Rounding in the coefficients of a function, over its eigenvalue as part of the first.
_ROUNDING = 1e-15
# Dropping a coefficient this small changes the Gram matrix by its square.
_NEGLIGIBLE = 1e-9


class Expansion(Protocol):
    """Eigenvalues and orthonormal eigenfunctions of an operator on [-1, 1]."""

    @property
    def eigenvalues(self) -> FloatArray:
        """Decreasing and positive, shape (n_functions,)."""

    def evaluate(self, x: FloatArray) -> FloatArray:
        """The eigenfunctions, shape (n_points, n_functions)."""

    def breaks(self) -> FloatArray:
        """Points of [-1, 1] between which the functions are resolved."""


@dataclass(frozen=True, eq=False)
class LegendreExpansion:
    """Eigenfunctions given by their Legendre coefficients (degrees, n_functions).

    `truncation` is the largest of their last coefficients in excess of rounding.
    """

    eigenvalues: FloatArray
    coefficients: FloatArray
    truncation: float

    def evaluate(self, x: FloatArray) -> FloatArray:
        return legendre_table(x, len(self.coefficients)) @ self.coefficients

    def breaks(self) -> FloatArray:
        return polynomial_breaks(len(self.coefficients) - 1)


def tail(coefficients: FloatArray) -> FloatArray:
    """The largest coefficient of each column in the last eighth of the degrees."""
    last = coefficients[-max(2, len(coefficients) // 8) :]
    largest: FloatArray = np.max(np.abs(last), axis=0)
    return largest


def expand(matrix: FloatArray, n_functions: int) -> LegendreExpansion:
    """The leading eigenpairs of an operator in the orthonormal Legendre basis.

    Eigenvalues that rounding drowns are raised to `SPECTRUM_FLOOR` of the first. Their
    eigenvectors are arbitrary, so they give way to the smoothest functions orthogonal
    to those before: the eigenvectors of the Legendre operator, k(k + 1) at degree k,
    on what is left.
    """
    eigenvalues, vectors = np.linalg.eigh(matrix)
    eigenvalues, vectors = eigenvalues[::-1], vectors[:, ::-1]
    floor = SPECTRUM_FLOOR * eigenvalues[0]
    resolved = int(np.count_nonzero(eigenvalues > floor))
    if resolved < n_functions:
        rest = vectors[:, resolved:]
        degree = np.arange(len(matrix), dtype=float)[:, np.newaxis]
        _, order = np.linalg.eigh(rest.T @ (degree * (degree + 1.0) * rest))
        vectors = np.hstack((vectors[:, :resolved], rest @ order))
    vectors = vectors[:, :n_functions]
    eigenvalues = np.maximum(eigenvalues[:n_functions], floor)
    rounding = _ROUNDING * eigenvalues[0] / eigenvalues
    return LegendreExpansion(
        eigenvalues=eigenvalues,
        coefficients=_fix_signs(_trim(vectors, np.minimum(rounding, _NEGLIGIBLE))),
        truncation=float(np.max(tail(vectors) - 10.0 * rounding)),
    )


def _trim(vectors: FloatArray, negligible: FloatArray) -> FloatArray:
    """Drop trailing degrees that no function uses: evaluation costs each of them."""
    used = np.flatnonzero(np.any(np.abs(vectors) > negligible, axis=1))
    return vectors[: used[-1] + 1]


def _fix_signs(coefficients: FloatArray) -> FloatArray:
    """Make the first swing, from the left, to half of the maximum an upward one.

    The sign at the left end would not do: eigenfunctions may vanish there.
    """
    x = -np.cos(np.linspace(0.0, np.pi, 4 * len(coefficients) + 1))
    values = legendre_table(x, len(coefficients)) @ coefficients
    large = np.abs(values) >= 0.5 * np.max(np.abs(values), axis=0)
    first = values[np.argmax(large, axis=0), np.arange(values.shape[1])]
    return coefficients * np.where(first < 0.0, -1.0, 1.0)
