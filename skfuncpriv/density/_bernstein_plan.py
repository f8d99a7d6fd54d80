"""The plan of a kernel density by way of noisy values on a Bernstein lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..basis._bernstein_operator import BernsteinOperator, bernstein_basis
from ..noise import FixedPoint, IndependentLaplace, NoiseLaw
from ..privacy import PrivacyGuarantee, laplace_scale
from ._bernstein_values import DensityValues, choose_degree
from ._grid_density import Estimate, cells_per_axis, positive_density
from ._kernel_plan import KernelPlan

_ORDER = 2
_NODES = 65


@dataclass(frozen=True, eq=False)
class BernsteinPlan(KernelPlan):
    """Everything about a Bernstein release that follows from public facts.

    The lattice covers the box and a margin, so that mass beyond the bounds can be
    brought back after the release; see `BernsteinReleaser` for the mechanism.

    Parameters
    ----------
    n_people, box, boundary, epsilon, delta, bandwidth, denoise, is_weighted
        As for `KernelPlan`; the noise is Laplace noise, which needs no delta, of values
        that are averaged by the polynomials.
    """

    @cached_property
    def operator(self) -> BernsteinOperator:
        """The operator, of the degree with the smallest bound on the error."""
        n_axes = len(self.box)
        degree = choose_degree(self._values, n_axes, _ORDER, self.epsilon)
        return BernsteinOperator(degree, _ORDER, n_axes)

    @cached_property
    def law(self) -> NoiseLaw:
        """The law of the noise of the sum of bumps of height one."""
        degree = self.operator.degree
        scale = laplace_scale(self.epsilon, self._values.sensitivity(degree))
        return IndependentLaplace((scale,) * (degree + 1) ** len(self.box))

    @property
    def expected_square(self) -> float:
        """The expected squared L2 error that noise adds to the density of the box."""
        nodes = (np.arange(_NODES) + 0.5) / _NODES
        functions = [self._functions(nodes, k) for k in range(len(self.box))]
        square = self.operator.mean_square(functions)
        return 2 * (self.height * self.law.smallest_scale) ** 2 * square

    def sum(
        self,
        points: np.ndarray,
        codes: np.ndarray | None = None,
        shares: np.ndarray | None = None,
    ) -> FixedPoint:
        """The exact sum of people's bumps on the lattice."""
        places = (self.in_widths(points) + self.margin) / self._width
        return self._values.value(self.operator.degree, places, codes, shares)

    def guarantee(self, unit: str, seeded: bool) -> PrivacyGuarantee:
        """What a release by this plan promises."""
        return PrivacyGuarantee(
            definition="pure-dp", epsilon=self.epsilon, unit=unit, seeded=seeded
        )

    def density(self, released: np.ndarray) -> Estimate:
        """From released sums to a density."""
        operator = self.operator
        nodes = np.linspace(0, 1, cells_per_axis(len(self.box)) + 1)
        table = released.reshape((operator.degree + 1,) * len(self.box))
        table = operator.coefficients(table)
        for k in range(table.ndim):
            table = np.tensordot(table, self._functions(nodes, k), ([0], [1]))
        values = positive_density(self.height * table, is_mass_one=False)
        return Estimate(values, math.sqrt(self.expected_square), self.bandwidth)

    @property
    def _width(self) -> np.ndarray:
        """The widths of the lattice, in widths of the box."""
        return 1 + 2 * self.margin

    @property
    def _values(self) -> DensityValues:
        bandwidth = tuple((self.bandwidth / self._width).tolist())
        return DensityValues(self.n_people, bandwidth, self.is_weighted)

    def _functions(self, nodes: np.ndarray, k: int) -> np.ndarray:
        degree, margin, width = self.operator.degree, self.margin[k], self._width[k]
        return self.with_images(
            lambda t: bernstein_basis(np.clip((t + margin) / width, 0.0, 1.0), degree),
            nodes,
            k,
        )
