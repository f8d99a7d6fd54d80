"""The plan of a kernel density by way of noisy values on a Bernstein lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from ..noise import FixedPoint, IndependentLaplace, NoiseLaw
from ..privacy import PrivacyGuarantee, laplace_scale
from ._bernstein_operator import BernsteinOperator, bernstein_basis
from ._bernstein_values import DensityValues, choose_degree
from ._grid_density import Estimate, cells_per_axis, positive_density

_FAR = 4.0  # bandwidths beyond which a kernel has no mass to speak of
_USED = 0.75  # part of the margin from which mass is brought back
_ORDER = 2
_NODES = 65


@dataclass(frozen=True, eq=False)
class BernsteinPlan:
    """Everything about a Bernstein release that follows from public facts.

    The lattice covers the box and a margin, so that mass beyond the bounds can be
    brought back after the release; see `BernsteinReleaser` for the mechanism.

    Parameters
    ----------
    n_people, box, boundary, epsilon, delta
        As for `BinnedPlan`; the noise is Laplace noise, which needs no delta.
    bandwidth : ndarray, shape (d,)
        Bandwidths in widths of the box.
    denoise : bool
        Not used.
    is_weighted : bool
        Whether rows have weights.
    """

    n_people: int
    box: tuple[tuple[float, float], ...]
    boundary: tuple[str, ...]
    epsilon: float
    delta: float
    bandwidth: np.ndarray
    denoise: bool = True
    is_weighted: bool = False

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
        return 2 * (self._height * self.law.smallest_scale) ** 2 * square

    @property
    def largest_norm(self) -> float:
        """The L2 norm of a kernel of mass one: that of a density is not larger."""
        return float(np.prod((4 * np.pi * np.square(self.bandwidth)) ** -0.25))

    def sum(
        self,
        points: np.ndarray,
        codes: np.ndarray | None = None,
        shares: np.ndarray | None = None,
    ) -> FixedPoint:
        """The exact sum of people's bumps on the lattice."""
        low, high = np.array(self.box).T
        unit = (np.clip(points, low, high) / 2 - low / 2) / (high / 2 - low / 2)
        places = (unit + self._margin) / self._width
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
        values = positive_density(self._height * table, is_mass_one=False)
        return Estimate(values, math.sqrt(self.expected_square), self.bandwidth)

    @property
    def _margin(self) -> np.ndarray:
        """How far mass beyond the bounds is followed, in widths of the box."""
        inside = np.array([rule == "renormalize" for rule in self.boundary])
        return np.where(inside, 0.0, np.minimum(_FAR * self.bandwidth, 1.0))

    @property
    def _width(self) -> np.ndarray:
        """The widths of the lattice, in widths of the box."""
        return 1 + 2 * self._margin

    @property
    def _values(self) -> DensityValues:
        bandwidth = tuple((self.bandwidth / self._width).tolist())
        return DensityValues(self.n_people, bandwidth, self.is_weighted)

    @property
    def _height(self) -> float:
        """The height of one person's kernel."""
        volume = np.prod(np.sqrt(2 * np.pi) * self.bandwidth)
        return float(1 / (self.n_people * volume))

    def _functions(self, nodes: np.ndarray, k: int) -> np.ndarray:
        """The polynomials of an axis at nodes, with what lies beyond its bounds."""
        images = {
            "reflect": (nodes, -nodes, 2 - nodes),
            "periodic": (nodes, nodes - 1, nodes + 1),
            "renormalize": (nodes,),
        }[self.boundary[k]]
        degree, margin = self.operator.degree, self._margin[k]
        far = _USED * margin  # polynomials are noisy at the ends of the lattice
        total = np.zeros((len(nodes), degree + 1))
        for image in images:
            seen = (image >= -far) & (image <= 1 + far)
            places = (image[seen] + margin) / self._width[k]
            total[seen] += bernstein_basis(np.clip(places, 0.0, 1.0), degree)
        if self.boundary[k] == "renormalize":
            h = self.bandwidth[k]
            total /= (ndtr((1 - nodes) / h) - ndtr(-nodes / h))[:, None]
        return total
