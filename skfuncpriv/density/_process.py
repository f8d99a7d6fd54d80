"""The plan of a kernel density that a Gaussian process hides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..exceptions import PrivacyError
from ..gaussian_process import GaussianKernel
from ..gaussian_process._calibration import GaussianBudget
from ..gaussian_process._tensor_expansion import TensorExpansion
from ..noise import FixedPoint, IndependentGaussian, NoiseLaw
from ..privacy import PrivacyGuarantee
from ..summaries import BallContributions
from ._features import sum_in_ball
from ._grid_density import Estimate, cells_per_axis, positive_density
from ._kernel_plan import KernelPlan

_MOST = 4096  # functions of the expansion
_SLACK = 2.0**-40  # of the sensitivity, for roundings of its own formula


@dataclass(frozen=True, eq=False)
class ProcessPlan(KernelPlan):
    """Everything about a Gaussian process release that follows from public facts.

    A person contributes K(x, .), K the Gaussian kernel of the estimate, in coordinates
    of a finite expansion. In the RKHS of K two of them are apart by
    sqrt(2 - 2 K(x, y)) <= sqrt(2), so are averages of several of one person, since
    inner products are not negative, and a projection brings nothing further apart.

    Parameters
    ----------
    n_people, box, boundary, epsilon, delta, bandwidth, denoise, is_weighted
        As for `KernelPlan`; the release has no white noise to be removed, and is
        divided by its mass in any case.
    """

    @cached_property
    def expansion(self) -> TensorExpansion:
        """The finite expansion of the kernel on the unit cube and its margin."""
        kernel = GaussianKernel(tuple(self.bandwidth.tolist()))
        expansion = TensorExpansion.on_box(kernel, -self.margin, 1 + self.margin)
        if expansion.size > _MOST:
            raise PrivacyError(
                f"mechanism='gaussian_process' would release over {_MOST} numbers: use "
                "a larger bandwidth, or mechanism='binned'"
            )
        return expansion

    @cached_property
    def ball(self) -> BallContributions:
        """How coordinates are bounded; nobody's reach the bound."""
        radius = self.expansion.gain + self.expansion.rounding(1.0)
        size = self.expansion.size
        return BallContributions(self.n_people, size, radius * (1 + 2.0**-20))

    @cached_property
    def sensitivity(self) -> float:
        """How far the exact integer sum can move, with all roundings.

        Coordinates err by at most `rounding`; to clip to a ball is 1-Lipschitz; the
        lattice moves each coordinate by half a step. That is paid for twice, and for
        everybody: how a matrix product rounds may depend on where a row lies, and with
        `groups` one person's rows move those of all others.
        """
        expansion = self.expansion
        steps = 2 * math.sqrt(expansion.size) * self.ball.lattice.step
        moved = 2 * self.n_people * (expansion.rounding(1.0) + steps)
        return (math.sqrt(2) * expansion.gain + moved) * (1 + _SLACK)

    @property
    def _budget(self) -> GaussianBudget:
        return GaussianBudget(self.epsilon, self.delta)

    @cached_property
    def law(self) -> NoiseLaw:
        """The law of the noise of the sum of coordinates."""
        deviation = self._budget.deviation(self.sensitivity)
        return IndependentGaussian((deviation,) * self.expansion.size)

    @property
    def expected_square(self) -> float:
        """The expected squared L2 error of the noise, but for what the bounds add."""
        height = self._budget.deviation(math.sqrt(2)) * self.height
        return float(height * height)

    def sum(
        self,
        points: np.ndarray,
        codes: np.ndarray | None = None,
        shares: np.ndarray | None = None,
    ) -> FixedPoint:
        """The exact sum of people's coordinates."""
        return sum_in_ball(self._coordinates, self.ball, points, codes, shares)

    def guarantee(self, unit: str, seeded: bool) -> PrivacyGuarantee:
        """What a release by this plan promises."""
        return self._budget.guarantee(unit, seeded)

    def density(self, released: np.ndarray) -> Estimate:
        """From released coordinates to a density."""
        nodes = np.linspace(0, 1, cells_per_axis(len(self.box)) + 1)
        index = self.expansion.index
        table = np.zeros([axis.size for axis in self.expansion.axes])
        table[tuple(index)] = released
        square = np.ones(index.shape[1])  # of the products, averaged over the nodes
        for k in range(table.ndim):
            functions = self._functions(nodes, k)
            table = np.tensordot(table, functions, ([0], [1]))
            square *= np.square(functions).mean(axis=0)[index[k]]
        noise = self.height * self.law.smallest_scale * math.sqrt(square.sum())
        values = positive_density(self.height * table, is_mass_one=False)
        return Estimate(values, noise, self.bandwidth)

    def _functions(self, nodes: np.ndarray, k: int) -> np.ndarray:
        axis, unit = self.expansion.axes[k], self.expansion.transform[k, k]
        return self.with_images(lambda t: axis.coordinates(t[:, None] * unit), nodes, k)

    def _coordinates(self, points: np.ndarray) -> np.ndarray:
        return self.expansion.coordinates_alike(self.in_widths(points))
