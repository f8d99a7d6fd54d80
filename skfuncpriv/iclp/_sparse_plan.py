"""The public plan of a release of numerator and coverage; no data is seen here.

Contributions are measured in units of their norm bound, the root of the width of the
domain, so that they lie in the unit ball. The coefficients of the mask come first, then
those of the curve, outputs beside each other.
"""

from __future__ import annotations

from dataclasses import dataclass
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
from ..summaries import BallContributions
from ._spending import Spending, gaussian_sigma

_RADIUS, _SMOOTHNESS = 1.5, 1.7
_FEWEST = 4
_LARGEST = 1e300  # squared error that leaves room for products
# Noise of the coverage moves the mean in proportion to its distance from the center.
_MASK_WEIGHT = 0.25


@dataclass(frozen=True)
class SparsePlan(Spending):
    """Everything about a release that follows from public facts.

    Parameters
    ----------
    n_people : int
        The number of contributions.
    n_functions : int
        How many coefficients the mask and each output have.
    n_outputs : int
        The number of values of a curve at each point.
    epsilon, delta : float
        The budget.
    mechanism : {"spherical", "block-spherical", "laplace", "gaussian"}
        The noise law.
    """

    n_people: int
    n_functions: int
    n_outputs: int
    epsilon: float
    delta: float = 0.0
    mechanism: str = "block-spherical"

    @property
    def sizes(self) -> tuple[int, int]:
        """The numbers of coefficients of mask and curve."""
        return self.n_functions, self.n_functions * self.n_outputs

    @property
    def size(self) -> int:
        """The number of released coefficients."""
        return sum(self.sizes)

    @cached_property
    def ball(self) -> BallContributions:
        """How the contribution of a person is bounded: the unit ball."""
        return BallContributions(self.n_people, self.size, 1.0)

    @cached_property
    def law(self) -> NoiseLaw:
        """The law of the noise of the sum, calibrated to the ball that it moves in."""
        radius = self.ball.sensitivity
        if self.mechanism == "gaussian":
            sigma = gaussian_sigma(self.epsilon, self.delta, radius)
            return IndependentGaussian((sigma,) * self.size)
        if self.mechanism == "laplace":
            return IndependentLaplace.scale_for(
                self.epsilon, radius, np.ones(self.size)
            )
        if self.mechanism == "spherical":
            return SphericalLaplace.scale_for(self.epsilon, radius, self.size)
        return BlockSpherical.scale_for(
            self.epsilon, radius, self.sizes, self._block_scales
        )

    @property
    def _block_scales(self) -> np.ndarray:
        """The scales of least weighted variance, up to a factor.

        Block i costs w_i (m_i + 1) m_i / eps_i^2, and the eps_i^2 add up to eps^2.
        """
        sizes = np.array(self.sizes)
        weights = np.array([_MASK_WEIGHT, 1.0])
        return (weights * (sizes + 1) * sizes) ** -0.25

    @property
    def variances(self) -> np.ndarray:
        """Of the noise of one coefficient of mask and curve, per person; no law."""
        loss = 2 / (self.n_people * self.epsilon)
        loss *= loss  # a product overflows to infinity, a power would raise
        ones = np.ones(2)
        if self.mechanism == "gaussian":
            ratio = gaussian_sigma(self.epsilon, self.delta, 2.0) / self.n_people
            return ratio * ratio * ones
        if self.mechanism == "laplace":
            return 2 * loss * self.size * ones
        if self.mechanism == "spherical":
            return loss * (self.size + 1) * ones
        square = np.square(self._block_scales)
        return loss * (np.array(self.sizes) + 1) * square * (1 / square).sum()

    @property
    def predicted_square(self) -> float:
        """The expected squared error of noise, for full coverage, by typical weights.

        In units of squared reaches of the values, per output.
        """
        mask, curve = self.n_functions * self.variances
        return float(self.n_outputs * curve + _MASK_WEIGHT * mask)

    @property
    def bias(self) -> float:
        """The squared bias of cutting mask and curve, by the same weights."""
        return (1 + _MASK_WEIGHT) * _tail_energy(self.n_functions)

    @property
    def expected_square(self) -> float:
        """A bound of the same error: the mean may lie on a bound everywhere."""
        return float(np.square(self.law.std / self.n_people).sum())


def best_plan(
    n_people: int,
    n_outputs: int,
    epsilon: float,
    delta: float,
    mechanisms: tuple[str, ...],
    available: int,
    fixed: bool,
) -> SparsePlan:
    """The plan of the smallest risk bound; `fixed` uses all available functions."""
    sizes = [available]
    if not fixed:
        grid = np.geomspace(min(_FEWEST, available), available, 48)
        sizes = sorted(set(grid.round().astype(int).tolist()))
    plans = [
        SparsePlan(n_people, size, n_outputs, epsilon, delta, mechanism)
        for mechanism in mechanisms
        for size in sizes
    ]
    risks = [plan.predicted_square + plan.bias for plan in plans]
    best = int(np.argmin(risks))
    if not risks[best] < _LARGEST:
        raise PrivacyError(
            "the noise leaves the range of floating point: choose a larger epsilon"
        )
    return plans[best]


def _tail_energy(rank: int) -> float:
    """The energy beyond the first functions in a stated ball of smooth functions."""
    return float(min(1.0, _RADIUS**2 * rank ** (-2.0 * _SMOOTHNESS)))
