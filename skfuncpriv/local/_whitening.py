"""Coefficients of a basis that is not orthonormal, and the noise they need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from ..exceptions import PrivacyError
from ..noise import NoiseLaw, ShapedNoise
from ._budget import GeoBudget

_UNIT = 2.0**-53
_TOLERANCE = 2.0**-20  # largest relative error of squared distances that is paid for


@dataclass(frozen=True, eq=False)
class Whitening:
    """Triangular factors of a Gram matrix G, refused where floats cannot hold them.

    Notes
    -----
    dist^2 = (a - a')^T G (a - a') for coefficients a. Noise S Y with Y of a spherical
    law and S S^T = G^-1 has that distance as its norm: norm(S^-1 h)^2 = h^T G h. In
    floats S^T G S = I + E only, so norm(S^-1 h)^2 <= h^T G h / (1 - norm(E)); E is
    bounded, its rounding errors included, and paid for by the scale of Y. A matrix
    with norm(E) above 2^-20 is refused: that happens long before noise is lost. What
    floats made of G itself, as a share of it, is stated by `rounding`.
    """

    gram: np.ndarray
    rounding: float = 0.0

    def __post_init__(self) -> None:
        if not self.error <= _TOLERANCE:
            raise PrivacyError(
                "the Gram matrix is singular in floating point, or so nearly that the "
                "noise of some directions cannot be trusted: use fewer functions, or "
                "coefficients in an orthonormal basis (BasisProjector makes one)"
            )

    @cached_property
    def root(self) -> np.ndarray:
        """The lower triangular S with S S^T = G^-1 (nan if there is none)."""
        reverse = slice(None, None, -1)
        upper = _cholesky(self._scaled[reverse, reverse])[reverse, reverse]
        if not np.isfinite(upper).all():
            return upper
        inverse = solve_triangular(upper, np.eye(len(upper)), check_finite=False)
        return np.asarray(np.tril(inverse.T) / self._sizes[:, None])

    @cached_property
    def factor(self) -> np.ndarray:
        """The upper triangular R with R^T R = G: R a are orthonormal coefficients."""
        return np.asarray(_cholesky(self._scaled).T * self._sizes)

    @cached_property
    def error(self) -> float:
        """A bound on norm(S^T G S - I), rounding errors included."""
        root, size = self.root, len(self.gram)
        if not np.isfinite(root).all():
            return np.inf
        deviation = np.linalg.norm(root.T @ self.gram @ root - np.eye(size), 2)
        spread = np.abs(root).T @ np.abs(self.gram) @ np.abs(root)
        rounding = 64 * size * _UNIT * np.linalg.norm(spread, 2)
        return float(deviation + rounding + self.rounding)

    @property
    def is_diagonal(self) -> bool:
        """Whether the functions are orthogonal: any of them may stand alone."""
        return not np.any(self.gram - np.diag(np.diagonal(self.gram)))

    def law(self, budget: GeoBudget) -> NoiseLaw:
        """The law of the noise of coefficients."""
        plain = budget.law(len(self.gram), (1 - self.error) ** -0.5 * (1 + 8 * _UNIT))
        return ShapedNoise(plain, self.root)

    @cached_property
    def _sizes(self) -> np.ndarray:
        return np.sqrt(np.diagonal(self.gram))

    @cached_property
    def _scaled(self) -> np.ndarray:
        """G with a unit diagonal, so that units do not look like singularity."""
        with np.errstate(all="ignore"):
            return self.gram / np.outer(self._sizes, self._sizes)


def _cholesky(matrix: np.ndarray) -> np.ndarray:
    """The lower Cholesky factor; nan where there is none."""
    try:
        return np.asarray(cholesky(matrix, lower=True))
    except (LinAlgError, ValueError):
        return np.full(matrix.shape, np.nan)
