"""The plan of a release on bins, and what is free after it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from ..denoise import average_shrinkage
from ..gaussian_process._calibration import GaussianBudget
from ..noise import FixedPoint, IndependentGaussian, IndependentLaplace, NoiseLaw
from ..privacy import PrivacyGuarantee, laplace_scale
from ..summaries import BinContributions
from ._axes import Axis, make_axis
from ._bandwidth import iqr_bandwidth
from ._grid_density import Estimate, GridDensity, cells_per_axis, positive_density
from ._mixture import mixture_of_bumps
from ._smoothing import smooth

# The number of bins along an axis grows as factor * (n epsilon)^power.
_GROWTH = {1: (2.5, 0.45), 2: (2.0, 0.3), 3: (1.8, 0.22)}
_FEWEST = 4
_NARROW = 16  # bins per bandwidth, from which on they are narrow
_FEW = 80  # bins of one axis, up to which a mixture of bumps is fitted, too
_PER_BANDWIDTH = (4.0, 64.0)  # bins per bandwidth, at least, and where noise allows
_L1, _L2 = 2.0, math.nextafter(math.sqrt(2.0), 2.0)


@dataclass(frozen=True, eq=False)
class BinnedPlan:
    """Everything about a release on bins that follows from public facts.

    Parameters
    ----------
    n_people : int
        The number of contributions.
    box : tuple of (low, high), one pair per axis
        The bounds.
    boundary : tuple of str, one per axis
        What happens at the bounds.
    epsilon, delta : float
        The budget.
    noise : {"auto", "laplace", "gaussian"}
        The law; "auto" is the one with the smaller variance.
    kernel : str
        The kernel that smooths.
    bandwidth : ndarray, shape (d,), "private-iqr" or None
        Bandwidths in widths of the box, or the rule that reads them off the release;
        None leaves smoothing to the denoiser.
    denoise : bool
        Whether the release is denoised.
    is_weighted : bool
        Whether rows have weights, so that the mass is not known to be one per person.
    """

    n_people: int
    box: tuple[tuple[float, float], ...]
    boundary: tuple[str, ...]
    epsilon: float
    delta: float
    noise: str = "auto"
    kernel: str = "gaussian"
    bandwidth: np.ndarray | str | None = None
    denoise: bool = True
    is_weighted: bool = False

    @cached_property
    def bins(self) -> BinContributions:
        """How people's points are spread over bins."""
        periodic = tuple(rule == "periodic" for rule in self.boundary)
        return BinContributions(self.n_people, self.box, self.shape, periodic)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of bins along each axis."""
        n_axes = len(self.box)
        factor, power = _GROWTH[n_axes]
        resolved = max(factor * (self.n_people * self.epsilon) ** power, _FEWEST)
        most = cells_per_axis(n_axes) // 2
        if self.bandwidth is None:
            return (int(min(resolved, most)),) * n_axes
        if isinstance(self.bandwidth, str):
            wanted = np.full(n_axes, 2 * resolved)
        else:
            fewest, enough = (k / self.bandwidth for k in _PER_BANDWIDTH)
            wanted = np.clip(resolved, fewest, enough)
        return tuple(2 ** int(np.ceil(np.log2(min(b, most)))) for b in wanted)

    @cached_property
    def law(self) -> NoiseLaw:
        """The law of the noise of the sum of people's masses.

        The sum moves by at most 2 in absolute sum and sqrt(2) in Euclidean norm, in
        units of the mass of a person: see `BinContributions`.
        """
        if self.is_gaussian:
            return IndependentGaussian((self._deviation,) * self.bins.size)
        return IndependentLaplace((self._scale,) * self.bins.size)

    @property
    def is_gaussian(self) -> bool:
        """Whether the noise is Gaussian."""
        if self.noise == "auto":
            return self.delta > 0 and self._deviation < math.sqrt(2) * self._scale
        return self.noise == "gaussian"

    @property
    def noise_variance(self) -> float:
        """The variance of the noise of the share of people in a bin."""
        deviation = (
            self._deviation if self.is_gaussian else math.sqrt(2) * self._scale
        ) / self.n_people
        return deviation * deviation

    @property
    def expected_square(self) -> float:
        """The expected squared L2 error that noise adds to the density of the box.

        Without a kernel, what it adds to one coefficient.
        """
        square = self.bins.size * self.noise_variance
        return square * self.largest_norm**2 if self._has_kernel else square

    @property
    def largest_norm(self) -> float:
        """A bound on the L2 norm of a density smoothed by the Gaussian kernel.

        Without a kernel, one on a coefficient.
        """
        if not self._has_kernel:
            return float(2.0 ** (len(self.box) / 2))
        return float(np.prod((4 * np.pi * np.square(self.bandwidth)) ** -0.25))

    @property
    def _has_kernel(self) -> bool:
        return isinstance(self.bandwidth, np.ndarray)

    @cached_property
    def _scale(self) -> float:
        return laplace_scale(self.epsilon, _L1)

    @cached_property
    def _deviation(self) -> float:
        return GaussianBudget(self.epsilon, self.delta).deviation(_L2)

    def sum(
        self,
        points: np.ndarray,
        codes: np.ndarray | None = None,
        shares: np.ndarray | None = None,
    ) -> FixedPoint:
        """The exact sum of people's contributions; see `BinContributions`."""
        return self.bins.sum(points, codes, shares)

    def guarantee(self, unit: str, seeded: bool) -> PrivacyGuarantee:
        """What a release by this plan promises."""
        return PrivacyGuarantee(
            definition="approx-dp" if self.is_gaussian else "pure-dp",
            epsilon=self.epsilon,
            delta=self.delta if self.is_gaussian else 0.0,
            unit=unit,
            seeded=seeded,
        )

    def density(self, released: np.ndarray) -> Estimate:
        """From released masses of bins to a density.

        Its `noise` is that before negative values are cut off, with the factors of the
        denoiser as given.
        """
        masses = released.reshape(self.shape)
        mass = float(self.n_people)
        if self.is_weighted:  # less than its noise is not to be divided by
            deviation = math.sqrt(masses.size * self.noise_variance) * mass
            mass = max(float(masses.sum()), deviation)
        masses = masses / mass
        variance = self.noise_variance * (self.n_people / mass) ** 2
        if self.bandwidth is None:
            return self._denoised(masses, variance)
        bandwidth = self.bandwidth
        if isinstance(bandwidth, str):
            pilot = GridDensity.on_unit_cube(self._denoised(masses, variance).values)
            marginals = [pilot.marginal(k) for k in range(masses.ndim)]
            bandwidth = iqr_bandwidth(marginals, self.n_people, self.kernel)
        return self._smoothed(masses, variance, bandwidth)

    @property
    def _axes(self) -> list[Axis]:
        return list(map(make_axis, self.shape, self.boundary))

    @property
    def _n_cells(self) -> int:
        return cells_per_axis(len(self.shape))

    def _coefficients(self, masses: np.ndarray) -> np.ndarray:
        """Coefficients of the density, damped by linear binning."""
        coef = masses * math.sqrt(masses.size)
        for k, axis in enumerate(self._axes):
            coef = axis.transform(coef, k)
        return coef

    def _factors(self, coef: np.ndarray, variance: float) -> np.ndarray:
        return average_shrinkage(coef, [axis.ranks for axis in self._axes], variance)

    def _undamped(self, coef: np.ndarray) -> np.ndarray:
        return coef / reduce(np.multiply.outer, [axis.damping for axis in self._axes])

    def _denoised(self, masses: np.ndarray, variance: float) -> Estimate:
        """Estimate the density that people were drawn from.

        A coefficient has the noise of the release and, as a mean over n people, a
        sampling variance of about 1 / n.
        """
        noise = masses.size * variance
        coef = self._coefficients(masses)
        factors = self._undamped(self._factors(coef, noise + 1 / self.n_people))
        left = math.sqrt(noise * np.square(factors.ravel()[1:]).sum())
        values = positive_density(self._at_nodes(coef * factors))
        if masses.ndim == 1 and masses.size <= _FEW:
            bumps = mixture_of_bumps(coef, self._axes[0], noise + 1 / self.n_people)
            values = (values + positive_density(self._at_nodes(bumps))) / 2
        return Estimate(values, left, 1 / np.array(self.shape))

    def _at_nodes(self, coef: np.ndarray) -> np.ndarray:
        for k, axis in enumerate(self._axes):
            coef = axis.at_nodes(coef, self._n_cells, k)
        return coef

    def _smoothed(
        self, masses: np.ndarray, variance: float, bandwidth: np.ndarray
    ) -> Estimate:
        coef, factors = self._coefficients(masses), np.ones(self.shape)
        if self.denoise:
            factors = self._factors(coef, masses.size * variance)

        # Linear binning and the interpolation of masses widen a kernel. That is undone
        # where bins are wide; where they are narrow it would ring around single values.
        damping = reduce(
            np.multiply.outer,
            [
                axis.damping**2 if axis.n_bins * h < _NARROW else np.ones(axis.n_bins)
                for axis, h in zip(self._axes, bandwidth, strict=True)
            ],
        )

        def density(coef: np.ndarray) -> np.ndarray:
            shown = coef * factors / damping / math.sqrt(masses.size)
            for k, axis in enumerate(self._axes):
                shown = axis.inverse(shown, k)
            how = (self._n_cells, self.kernel, bandwidth, self.boundary)
            return smooth(shown, *how)

        middle = np.zeros(self.shape)
        middle[tuple(n // 2 for n in self.shape)] = 1.0
        energy = np.square(density(self._coefficients(middle))).mean()
        is_mass_one = "renormalize" not in self.boundary
        values = positive_density(density(coef), is_mass_one=is_mass_one)
        return Estimate(values, math.sqrt(variance * masses.size * energy), bandwidth)
