"""The public plan of a release: how many coefficients, which weights, which noise.

Nothing here sees data. Coefficients are measured in units of the norm bound, so that a
contribution lies in the unit ball and the plan does not depend on units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..exceptions import PrivacyError
from ..noise import (
    BlockSpherical,
    IndependentGaussian,
    IndependentLaplace,
    NoiseLaw,
    SphericalLaplace,
)
from ..summaries import SLACK, BallContributions
from ._partition import best_partition
from ._penalty import absolute_thresholds, quadratic_weights
from ._spending import Spending, gaussian_sigma

SENSITIVITY = 2 * (1 + SLACK)
MECHANISMS = ("laplace", "gaussian", "spherical", "block-spherical")


@dataclass(frozen=True, eq=False)
class ReleasePlan(Spending):
    """Everything about a release that follows from public facts.

    Parameters
    ----------
    n_people : int
        The number of contributions.
    n_outputs : int
        The number of values of a curve at each point.
    spectrum : ndarray, shape (m,)
        The eigenvalues lambda_j of the operator on a domain of length one.
    epsilon, delta : float
        The budget.
    mechanism : {"laplace", "gaussian", "spherical", "block-spherical"}
        The noise law.
    noise : {"matched", "kernel"}
        The profile of independent Laplace scales.
    penalty : {"qr", "ar"}
        The published penalty.
    eta, psi : float
        Its exponent and strength; psi = 0 is a plain projection on m functions.
    knee : float
        The rank j at which the denoiser is expected to halve a coefficient; it is
        expected to multiply by 1 / (1 + (j / knee)^2). Infinite without a denoiser.
    spread : float
        The radius of the ball that contributions are clipped to, in units of the norm
        bound: the noise that is reckoned with is in proportion to it.
    """

    n_people: int
    n_outputs: int
    spectrum: np.ndarray
    epsilon: float
    delta: float = 0.0
    mechanism: str = "spherical"
    noise: str = "matched"
    penalty: str = "qr"
    eta: float = 1.5
    psi: float = 0.0
    knee: float = np.inf
    spread: float = 1.0

    @property
    def size(self) -> int:
        """The number of released coefficients, over all outputs."""
        return len(self.spectrum) * self.n_outputs

    @cached_property
    def weights(self) -> np.ndarray:
        """The factors a_j of the functions, shape (m,): the quadratic penalty."""
        if self.penalty == "qr":
            return quadratic_weights(self.spectrum, self.eta, self.psi)
        return np.ones(len(self.spectrum))

    @cached_property
    def expected_weights(self) -> np.ndarray:
        """The same times what the denoiser is expected to multiply by, shape (m,)."""
        rank = np.arange(len(self.spectrum))
        return self.weights / (1 + (rank / self.knee) ** 2)

    @property
    def _repeated_weights(self) -> np.ndarray:
        """The expected weights of the released coefficients, over all outputs."""
        return np.repeat(self.expected_weights, self.n_outputs)

    @cached_property
    def thresholds(self) -> np.ndarray:
        """The soft thresholds of the mean coefficients; zero without the AR penalty."""
        thresholds = np.zeros(len(self.spectrum))
        if self.penalty == "ar":
            thresholds = absolute_thresholds(self.spectrum, self.eta, self.psi)
        return np.repeat(thresholds, self.n_outputs)

    @cached_property
    def ball(self) -> BallContributions:
        """How the contribution of a person is bounded: the unit ball."""
        return BallContributions(self.n_people, self.size, 1.0)

    @cached_property
    def law(self) -> NoiseLaw:
        """The law of the noise of the *sum* of contributions.

        Contributions lie in the unit ball, up to the slack of `GridContributions`, so
        the sum moves by at most `SENSITIVITY` in Euclidean norm; each law is calibrated
        to that ball in exact arithmetic.
        """
        radius = SENSITIVITY
        if self.mechanism == "gaussian":
            sigma = gaussian_sigma(self.epsilon, self.delta, radius)
            return IndependentGaussian((sigma,) * self.size)
        if self.mechanism == "laplace":
            return IndependentLaplace.scale_for(self.epsilon, radius, self._profile)
        if self.mechanism == "spherical":
            return SphericalLaplace.scale_for(self.epsilon, radius, self.size)
        sizes, profile = best_partition(self._repeated_weights)
        return BlockSpherical.scale_for(self.epsilon, radius, sizes, profile)

    @property
    def expected_square(self) -> float:
        """The expected squared error that noise adds, after all expected weights."""
        std = self.law.std * self._repeated_weights / self.n_people
        return float(np.sum(std**2))

    @cached_property
    def predicted_square(self) -> float:
        """The same without building the law, for contributions within `spread`.

        In units of the norm bound.
        """
        energy = np.square(self.spread * self._repeated_weights)
        if self.mechanism == "gaussian":
            ratio = 2 * gaussian_sigma(self.epsilon, self.delta, 1.0) / self.n_people
            return float(ratio * ratio * energy.sum())
        loss = 2 / (self.n_people * self.epsilon)
        loss *= loss  # a product overflows to infinity, a power would raise
        if self.mechanism == "spherical":
            return loss * (self.size + 1) * energy.sum()
        if self.mechanism == "laplace":
            scales = np.square(self._profile)
            return 2 * loss * (1 / scales).sum() * (energy * scales).sum()
        _, profile = best_partition(self._repeated_weights)
        return loss * (self.spread * np.sum(profile**-2.0)) ** 2

    def cut(self, n_functions: int) -> ReleasePlan:
        """The same plan with the first basis functions only."""
        return replace(self, spectrum=self.spectrum[:n_functions])

    @property
    def _profile(self) -> np.ndarray:
        """Laplace scales of the released coefficients, up to a factor.

        In the shrunk coordinates a_j * y_j the scales are b_j; "matched" has b_j
        proportional to sqrt(a_j), "kernel" (as published) to sqrt(lambda_j).
        """
        if self.noise == "kernel":
            roots = np.sqrt(np.repeat(self.spectrum, self.n_outputs))
            return roots / self._repeated_weights
        return 1 / np.sqrt(self._repeated_weights)


def check_mechanism(mechanism: str, delta: float) -> tuple[str, ...]:
    """The mechanisms to choose from."""
    if mechanism == "auto":
        pure = ("spherical", "block-spherical", "laplace")
        return (*pure, "gaussian") if delta > 0 else pure
    if mechanism not in MECHANISMS:
        raise ValueError(
            f"mechanism must be 'auto' or one of {MECHANISMS}, got {mechanism!r}"
        )
    if mechanism == "gaussian" and delta == 0:
        raise PrivacyError("mechanism='gaussian' needs delta > 0, got delta=0")
    return (mechanism,)
