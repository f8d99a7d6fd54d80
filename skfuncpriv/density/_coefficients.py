"""The plan of a release of Fourier coefficients: ICLP for a kernel density."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from scipy import fft

from ..denoise import bayesian_average
from ..exceptions import PrivacyError
from ..gaussian_process._calibration import GaussianBudget
from ..iclp._partition import best_partition
from ..noise import BlockSpherical, FixedPoint, IndependentGaussian, NoiseLaw
from ..privacy import PrivacyGuarantee
from ..summaries import BallContributions
from ._axes import Axis, CosineAxis, make_axis
from ._features import sum_in_ball
from ._grid_density import Estimate, cells_per_axis, positive_density
from ._kernel_plan import KernelPlan

_SMALLEST = 1e-3  # weight of a coefficient that is still released
_MOST = 1024
_BALL = 2.0  # how far two vectors of the unit ball can be apart
_FINE = 512  # points per function, over which the largest distance is sought
_SLACK = 2.0**-30  # of a distance, far above every rounding error of its own
_ROUNDING = 2.0**-40  # of contributions: angles of 1024 half-waves err by 2^-41


@dataclass(frozen=True, eq=False)
class CoefficientPlan(KernelPlan):
    """Everything about a release of coefficients that follows from public facts.

    The Gaussian kernel of bandwidth h multiplies frequency r (in half-waves) by
    a = exp(-(pi r h)^2 / 2), h in widths of the box. A person contributes the values of
    the basis functions at the person's point, at most `radius` in norm; noise is spread
    over them as is best for a release that is multiplied by a, which it is afterwards.

    On one axis no two points are farther apart than some point and zero. For Fourier
    functions distances depend on x - y alone. For cosines let a = pi x, b = pi y,
    u = (a + b) / 2 and v = (a - b) / 2. The squared distance of x and y is
    2 sum_j (cos ja - cos jb)^2 = 8 sum_j sin(ju)^2 sin(jv)^2, at most
    4 sum_j sin(ju)^4 + 4 sum_j sin(jv)^4, and 8 sum_j sin(ju)^4 is the squared distance
    from zero of the point with angle 2 u (cosines have period 2 pi and are even).

    Parameters
    ----------
    n_people, box, boundary, epsilon, delta, bandwidth, denoise, is_weighted
        As for `KernelPlan`; with weights the constant is released, too.
    """

    def __post_init__(self) -> None:
        if len(self.weights) > _MOST:
            raise PrivacyError(
                f"mechanism='iclp' would release more than {_MOST} coefficients: use a "
                "larger bandwidth, or mechanism='binned'"
            )

    @cached_property
    def _axes(self) -> list[Axis]:
        half_waves = np.sqrt(-2 * np.log(_SMALLEST)) / (np.pi * self.bandwidth)
        sizes = np.clip(np.ceil(half_waves), 1, _MOST).astype(int) + 1
        return list(map(make_axis, sizes.tolist(), self.boundary))

    @cached_property
    def _chosen(self) -> tuple[np.ndarray, np.ndarray]:
        """Multi-indices of released coefficients, and their weights, falling."""
        if np.prod([float(axis.n_bins) for axis in self._axes]) > 64 * _MOST:
            return np.zeros((_MOST + 1, len(self._axes)), int), np.ones(_MOST + 1)
        indices = np.array(list(product(*(range(a.n_bins) for a in self._axes))))
        exponent = np.zeros(len(indices))
        for column, axis, h in zip(indices.T, self._axes, self.bandwidth, strict=True):
            exponent += np.square(np.pi * axis.ranks[column] * h) / 2
        order = np.argsort(exponent, kind="stable")
        if not self.is_weighted:  # the constant, which comes first, is known
            order = order[1:]
        weights = np.exp(-exponent[order])
        kept = weights >= _SMALLEST
        return indices[order][kept], weights[kept]

    @property
    def weights(self) -> np.ndarray:
        """The factors a of the released coefficients."""
        return self._chosen[1]

    @property
    def radius(self) -> float:
        """A bound on the norm of the functions at any point: each is below 2^(d/2)."""
        return float(np.sqrt(len(self.weights) * 2.0 ** len(self.box)))

    @cached_property
    def sensitivity(self) -> float:
        """How far the sum of contributions can move, in units of `radius`.

        On one axis the largest distance from zero, between whose candidates functions
        move by at most sqrt(2) pi r, r their rank; otherwise what two vectors of the
        ball allow. Averages of points lie in the convex hull of points. Roundings are
        those of everybody: see `ProcessPlan`.
        """
        steps = 2 * math.sqrt(len(self.weights)) * self._ball.lattice.step
        moved = 2 * self.n_people * (_ROUNDING + steps)
        if len(self.box) > 1 or self.is_weighted:
            return _BALL + moved
        return min(self._largest_distance, _BALL) + moved

    @property
    def _largest_distance(self) -> float:
        """A bound on the distance of two points of one axis, in units of `radius`."""
        (axis,), size = self._axes, len(self.weights)
        ranks = axis.ranks[self._chosen[0][:, 0]]
        # 2 (cos rt - 1)^2 = 3 - 4 cos rt + cos 2rt, and for a pair of Fourier functions
        # 4 (1 - cos rt): their sums at all candidates at once.
        spectrum = np.zeros(_FINE * size + 1)
        if isinstance(axis, CosineAxis):
            spectrum[0] = 3 * size
            np.add.at(spectrum, ranks, -2.0)
            np.add.at(spectrum, 2 * ranks, 0.5)
        else:
            spectrum[0] = 2 * size
            np.add.at(spectrum, ranks, -1.0)
        farthest = math.sqrt(fft.dct(spectrum, type=1).max())
        speed = math.sqrt(2) * math.pi * float(np.linalg.norm(ranks))
        between = (farthest + speed / (2 * _FINE * size)) / self.radius
        return between * (1 + _SLACK)

    @cached_property
    def _ball(self) -> BallContributions:
        return BallContributions(self.n_people, len(self.weights), 1.0)

    @cached_property
    def law(self) -> NoiseLaw:
        """The law of the noise of the sum of contributions, in units of `radius`."""
        size = len(self.weights)
        if self.delta > 0:
            sigma = GaussianBudget(self.epsilon, self.delta).deviation(self.sensitivity)
            return IndependentGaussian((sigma,) * size)
        blocks = best_partition(self.weights)
        return BlockSpherical.scale_for(self.epsilon, self.sensitivity, *blocks)

    @property
    def expected_square(self) -> float:
        """The expected squared L2 error that noise adds to the density of the box."""
        deviation = self.weights * self.law.std * self.radius / self.n_people
        return float(np.square(deviation).sum())

    def sum(
        self,
        points: np.ndarray,
        codes: np.ndarray | None = None,
        shares: np.ndarray | None = None,
    ) -> FixedPoint:
        """The exact sum of what people contribute, in units of `radius`."""
        return sum_in_ball(self._features, self._ball, points, codes, shares)

    def guarantee(self, unit: str, seeded: bool) -> PrivacyGuarantee:
        """What a release by this plan promises."""
        return PrivacyGuarantee(
            definition="approx-dp" if self.delta > 0 else "pure-dp",
            epsilon=self.epsilon,
            delta=self.delta,
            unit=unit,
            seeded=seeded,
        )

    def density(self, released: np.ndarray) -> Estimate:
        """From released coefficients to a density."""
        factors = self.weights
        if self.denoise:
            bound = float(self.n_people) ** 2
            shrunk = bayesian_average(released[None], self.law, bound)[0]
            factors = factors * shrunk / np.where(released == 0, 1.0, released)
        unit = self.radius / self.n_people
        coef = np.zeros([axis.n_bins for axis in self._axes])
        coef[(0,) * coef.ndim] = 1.0
        coef[tuple(self._chosen[0].T)] = released * factors * unit
        for k, axis in enumerate(self._axes):
            coef = axis.at_nodes(coef, cells_per_axis(len(self.box)), k)
        noise = float(np.linalg.norm(factors * self.law.std * unit))
        values = positive_density(coef, is_mass_one=not self.is_weighted)
        return Estimate(values, noise, self.bandwidth)

    def _features(self, points: np.ndarray) -> np.ndarray:
        """The functions at each point, in units of `radius`."""
        result = np.full((len(points), len(self.weights)), 1 / self.radius)
        for k, (axis, t) in enumerate(
            zip(self._axes, self.in_widths(points).T, strict=True)
        ):
            result *= axis.functions(t)[:, self._chosen[0][:, k]]
        return result
