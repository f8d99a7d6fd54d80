"""What is free after noisy sufficient statistics are released: least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_SWEEPS, _TOLERANCE = 10_000, 1e-13
_SIZES = np.geomspace(1e-2, 10.0, 16)  # of a prior, beside that of a reference problem
_VAGUE = 1e3  # the variance of what is not penalised, in squared units of the bound


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

    def averaged(
        self, noise: tuple[float, float], sampling: float, size: float
    ) -> np.ndarray:
        """The mean of theta, averaged over priors, given what is released; q = 1.

        Ridge regression trusts B alike in all directions, also where A has next to
        nothing and B is noise alone. Here B = A theta + e, e normal with the covariance
        S = (s_B^2 + s_A^2 norm(theta)^2 / 2) I + `sampling` A, and theta_j is
        N(0, t / W_j): directions are trusted as far as they stand out of the noise. The
        sizes t, a hundredth to ten times `size`, have the weights that B gives them.

        Parameters
        ----------
        noise : tuple of two floats
            (s_A, s_B), the deviations of the noise.
        sampling : float
            Variance of residuals over the number of people.
        size : float
            The t of a reference problem.

        Returns
        -------
        ndarray, shape (p, 1)
            The coefficients; those of no prior are nearly free.
        """
        back = 1 / self._shrink
        values, vectors = np.linalg.eigh(back[:, None] * self.definite * back)
        values = np.maximum(values, 0.0)
        turned = vectors.T @ self.cross[:, 0]
        free = self.weights == 0
        heights = np.diag(self.second)[free]
        known = np.sum(np.square(self.cross[free, 0] / heights))
        found, logs = [], []
        for t in size * _SIZES:
            prior = np.where(free, _VAGUE, t * np.square(self._shrink))
            energy = known + prior[~free].sum()
            each = noise[1] ** 2 + noise[0] ** 2 / 2 * energy + sampling * values
            roots = np.sqrt(prior)
            precision = (vectors * (values**2 / each)) @ vectors.T
            gains, axes = np.linalg.eigh(roots[:, None] * precision * roots)
            gains = 1 + np.maximum(gains, 0.0)
            pull = axes.T @ (roots * (vectors @ (values / each * turned)))
            found.append(roots * (axes @ (pull / gains)))
            misfit = np.sum(turned**2 / each) - np.sum(pull**2 / gains)
            logs.append(-(misfit + np.log(each).sum() + np.log(gains).sum()) / 2)
        shares = np.exp(np.array(logs) - max(logs))
        return (shares @ np.array(found) / shares.sum())[:, None]

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
