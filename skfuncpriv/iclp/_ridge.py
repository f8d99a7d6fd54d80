"""What is free after noisy sufficient statistics are released: least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_SWEEPS, _TOLERANCE = 10_000, 1e-13


@dataclass(frozen=True, eq=False)
class NoisyMoments:
    """Released means of x x' and x u', of which the deviations of noise are known.

    Parameters
    ----------
    second : ndarray, shape (p, p)
        A, symmetric.
    cross : ndarray, shape (p, q)
        B.
    weights : ndarray, shape (p,)
        Weights of the penalty; zero for what is not penalised.
    """

    second: np.ndarray
    cross: np.ndarray
    weights: np.ndarray

    @property
    def _shrink(self) -> np.ndarray:
        """Factors of features in which the weights are one or zero."""
        return 1 / np.sqrt(np.where(self.weights > 0, self.weights, 1.0))

    @property
    def definite(self) -> np.ndarray:
        """The nearest positive semi-definite matrix to A, in scaled features."""
        scaled = self._shrink[:, None] * self.second * self._shrink
        values, vectors = np.linalg.eigh((scaled + scaled.T) / 2)
        return (vectors * np.maximum(values, 0.0)) @ vectors.T

    def inverse(self, psi: float) -> np.ndarray:
        """(A + psi W)^-1, the map from B to the coefficients."""
        matrix = self.definite + psi * np.diag((self.weights > 0).astype(float))
        return (
            self._shrink[:, None]
            * np.linalg.pinv(matrix, rcond=1e-15, hermitian=True)
            * self._shrink
        )

    def ridge(self, psi: float) -> np.ndarray:
        """The minimiser of theta' A theta - 2 B' theta + psi theta' W theta."""
        return self.inverse(psi) @ self.cross

    def absolute(self, psi: float) -> np.ndarray:
        """The same with psi * sum_j sqrt(W_j) abs(theta_j): coordinate descent."""
        matrix = self.definite
        cross = self._shrink[:, None] * self.cross
        threshold = psi / 2 * (self.weights > 0)[:, None]
        height = np.diag(matrix)
        used = np.flatnonzero(height > 1e-15 * max(height.max(), 1e-300))
        theta = np.zeros_like(cross)
        for _ in range(_SWEEPS):
            change = 0.0
            for j in used:
                rest = cross[j] - matrix[j] @ theta + height[j] * theta[j]
                size = np.maximum(np.abs(rest) - threshold[j], 0.0)
                new = np.sign(rest) * size / height[j]
                change = max(change, np.abs(new - theta[j]).max())
                theta[j] = new
            if change <= _TOLERANCE * max(1.0, np.abs(theta).max()):
                break
        return self._shrink[:, None] * theta


def deviations(
    left: np.ndarray,
    inverse: np.ndarray,
    theta: np.ndarray,
    right: np.ndarray,
    noise: tuple[float, float],
) -> np.ndarray:
    """Deviations of the noise of ``left @ theta @ right``, to first order.

    theta = N (B + F) - N E theta with N = `inverse`, entries of F of deviation s_B, and
    E symmetric with deviations s_A on and s_A / sqrt(2) off the diagonal, so that
    cov(E a, E b) = s_A^2 / 2 (a'b I + b a').

    Parameters
    ----------
    left, right : ndarray, shapes (k, p) and (q, l)
        Public maps.
    inverse, theta : ndarray, shapes (p, p) and (p, q)
        N and theta.
    noise : tuple of two floats
        (s_A, s_B).

    Returns
    -------
    ndarray, shape (k, l)
        The deviations.
    """
    half, cross = noise[0] ** 2 / 2, noise[1] ** 2
    rows = left @ inverse
    own = np.square(rows).sum(axis=1)[:, None]
    outputs = theta @ right
    each = cross * np.square(right).sum(axis=0) + half * np.square(outputs).sum(axis=0)
    return np.sqrt(own * each + half * np.square(rows @ outputs))
