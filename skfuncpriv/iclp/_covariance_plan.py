"""The public plan of a release of mean and covariance: who spends what, and the laws.

Three steps share one budget: the mean, the radius within which people are of it, and
the second moment of what is left, in units of that radius. In those units the signal
has a trace of at most 1 whatever the data are, so the number of functions, the shares
and the laws follow from public facts alone.

The constants were set once, on resampled curves of growth, temperature and gait and on
simulated ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from ..exceptions import PrivacyError
from ..noise import (
    BlockSpherical,
    IndependentGaussian,
    IndependentLaplace,
    NoiseLaw,
    exact_epsilon,
    larger_reading,
)
from ..noise._exact import smallest_safe
from ._plan import SENSITIVITY, ReleasePlan
from ._second_moment import SLACK, WEIGHT, SecondMoment, block_loss
from ._selection import select_plan
from ._spending import Spending, gaussian_sigma

MECHANISMS = ("spherical", "laplace", "gaussian")
_MEAN_SHARE = Fraction(1, 4)
# The budget of a Gaussian mean is spent in squares: 4/10 are about a sixth.
_GAUSSIAN_MEAN_SHARE = Fraction(4, 10)
_RADIUS_SHARE = Fraction(1, 20), Fraction(1, 4)  # at least, at most
_RADIUS_PEOPLE = 40  # the budget of the radius times n is this, between those shares
_MOST_COORDINATES = 64
_BIAS, _DECAY = 3.0, 4.0  # squared bias of m functions is at most 3 m^-4


@dataclass(frozen=True, eq=False)
class CovariancePlan(Spending):
    """Everything about a release of mean and covariance that public facts decide.

    Parameters
    ----------
    mean : ReleasePlan
        The first step, with its share of the budget.
    moment : SecondMoment
        The contributions of the third step, in units of the radius.
    mechanism : {"spherical", "laplace", "gaussian"}
        The noise laws of both.
    epsilon, delta : float
        The whole budget.
    epsilon_radius : float or None
        That of the second step; None if the radius is public.

    Notes
    -----
    Pure laws: epsilons add up, and that of the third step is what the first two leave,
    all of them floats whose exact sum is at most epsilon.

    Gaussian laws: a Gaussian mechanism of sensitivity D and deviation s is
    (D/s)-Gaussian DP, also when it is chosen by what was released before, and two of
    them together are mu-Gaussian DP with mu^2 the sum of both squares [1]_. With
    1/mu the deviation that the analytic calibration asks for at sensitivity 1, the two
    are (epsilon - epsilon_radius, delta)-DP, and the pure choice of the radius adds its
    own epsilon. The third step gets what the first leaves of mu^2, in exact arithmetic.

    References
    ----------
    .. [1] J. Dong, A. Roth and W. Su (2022), "Gaussian differential privacy".
    """

    mean: ReleasePlan
    moment: SecondMoment
    mechanism: str
    epsilon: float
    delta: float
    epsilon_radius: float | None

    @cached_property
    def law(self) -> NoiseLaw:
        """The law of the noise of the sum of `SecondMoment` contributions."""
        sensitivity = self.moment.sensitivity
        sizes = (self.moment.n_coordinates, self.moment.n_entries)
        if self.mechanism == "gaussian":
            return IndependentGaussian((self._deviation,) * self.moment.size)
        if self.mechanism == "laplace":
            profile = np.repeat([WEIGHT**0.5, 1.0], sizes)
            return IndependentLaplace.scale_for(
                self._epsilon_moment, sensitivity, profile
            )
        budget = exact_epsilon(self._epsilon_moment)
        loss = larger_reading(self._unit_loss)
        factor = smallest_safe(
            float(self._unit_loss / self._epsilon_moment),
            lambda scale: loss <= budget * Fraction(scale),
        )
        return BlockSpherical(sizes, tuple((factor * self._profile).tolist()))

    @cached_property
    def parts(self) -> tuple[NoiseLaw, NoiseLaw]:
        """The laws of the first moment and of the entries of the second."""
        law, cut = self.law, self.moment.n_coordinates
        if isinstance(law, BlockSpherical):
            return law.blocks
        if isinstance(law, IndependentLaplace):
            ends = law.scales[:cut], law.scales[cut:]
            return IndependentLaplace(ends[0]), IndependentLaplace(ends[1])
        ends = law.deviations[:cut], law.deviations[cut:]
        return IndependentGaussian(ends[0]), IndependentGaussian(ends[1])

    @property
    def expected_square(self) -> float:
        """Expected squared Frobenius norm of the noise of the second moment.

        In units of the fourth power of the radius.
        """
        std = self.parts[1].std / self.moment.n_people
        return float(np.sum(std * std))

    @property
    def predicted_square(self) -> float:
        """Expected squared noise of both moments, without building the law."""
        p, entries = self.moment.n_coordinates, self.moment.n_entries
        if self.mechanism == "gaussian":
            ratio = self._deviation / self.moment.n_people
            return ratio * ratio * (entries + p / WEIGHT**2)
        if self.mechanism == "laplace":
            ratio = self.moment.sensitivity / self.moment.n_people
            ratio /= self._epsilon_moment
            return 2 * ratio * ratio * (p / WEIGHT + entries) ** 2
        ratio = self._unit_loss / self.moment.n_people / self._epsilon_moment
        return float(ratio * ratio * np.sum(self._profile**-2.0))

    @property
    def bias_bound(self) -> float:
        """Bound of the squared bias, in units of the fourth power of the radius."""
        return min(1.0, _BIAS * self.moment.n_functions**-_DECAY)

    @property
    def _profile(self) -> np.ndarray:
        """Scales of both blocks, up to a factor: see `best_partition`."""
        p, entries = self.moment.n_coordinates, self.moment.n_entries
        return np.array([(p + 1) * p / WEIGHT**2, (entries + 1) * entries]) ** -0.25

    @property
    def _unit_loss(self) -> float:
        """The loss of one person under noise with the scales of the profile."""
        return block_loss(WEIGHT, tuple(self._profile.tolist())) * (1 + SLACK)

    @property
    def _epsilon_moment(self) -> float:
        """What the first two steps leave of a pure budget."""
        spent = Fraction(self.mean.epsilon) + Fraction(self.epsilon_radius or 0.0)
        return float_below(exact_epsilon(self.epsilon) - spent)

    @cached_property
    def _deviation(self) -> float:
        """The Gaussian deviation that uses up what the first step leaves."""
        left = exact_epsilon(self.epsilon) - Fraction(self.epsilon_radius or 0.0)
        total = Fraction(gaussian_sigma(float_below(left), self.delta, 1.0)) ** -2
        (spent,) = {Fraction(sigma) for sigma in self.mean.law.deviations}
        left = total - (larger_reading(SENSITIVITY) / spent) ** 2
        change = larger_reading(self.moment.sensitivity) ** 2
        if left <= 0:
            raise PrivacyError("the mean leaves no budget: choose a larger epsilon")
        start = float(np.sqrt(float(change / left)))
        return smallest_safe(start, lambda s: change <= left * Fraction(s) ** 2)


def plan_covariance(
    *,
    n_people: int,
    n_outputs: int,
    spectrum: np.ndarray,
    epsilon: float,
    delta: float,
    mechanisms: Iterable[str],
    n_functions: int | None,
    fewest: int,
    public_radius: bool,
) -> CovariancePlan:
    """Choose laws, shares and the number of functions from public facts.

    Parameters
    ----------
    n_people, n_outputs : int
        Sizes of the data.
    spectrum : ndarray
        The eigenvalues of all functions that may be used, on a domain of length one.
    epsilon, delta : float
        The budget.
    mechanisms : iterable of str
        The noise laws to choose from.
    n_functions : int or None
        How many functions mean and covariance use; None chooses.
    fewest : int
        How many the covariance uses at least.
    public_radius : bool
        Whether the second step, and its share, is left out.

    Returns
    -------
    CovariancePlan
        The one with the smallest noise plus bias in units of the radius.

    Raises
    ------
    PrivacyError
        If a share of the budget leaves the range of floating point.
    """
    budget = exact_epsilon(epsilon)
    for_radius = None
    if not public_radius:
        least, most = _RADIUS_SHARE
        share = min(max(_RADIUS_PEOPLE / (n_people * budget), least), most)
        for_radius = float_below(share * budget)
    best = None
    for mechanism in mechanisms:
        is_gaussian = mechanism == "gaussian"
        share = _GAUSSIAN_MEAN_SHARE if is_gaussian else _MEAN_SHARE
        left = budget - Fraction(for_radius or 0.0)
        mean = ReleasePlan(
            n_people, n_outputs, spectrum, float_below(share * left), delta
        )
        mean = select_plan(
            mean, (mechanism,), n_functions=n_functions, eta="pss", psi=0.0
        )
        most = min(max(fewest, _MOST_COORDINATES // n_outputs), len(spectrum))
        sizes = [n_functions] if n_functions else range(fewest, most + 1)
        start = CovariancePlan(
            mean,
            SecondMoment(n_people, sizes[0], n_outputs),
            mechanism,
            epsilon,
            delta,
            for_radius,
        )
        for size in sizes:
            moment = SecondMoment(n_people, size, n_outputs)
            plan = replace(start, moment=moment)
            risk = plan.predicted_square + plan.bias_bound
            if best is None or risk < best[0]:
                best = risk, plan
    return best[1]


def float_below(value: Fraction) -> float:
    """The largest float that is not above an exact positive number."""
    number = float(value)
    if Fraction(number) > value:
        number = float(np.nextafter(number, 0.0))
    if number <= 0:
        raise PrivacyError(
            "a share of the budget is below every float: choose a larger epsilon"
        )
    return number
