"""The public plan of a private kernel machine: psi, features, gap, noise.

Nothing here sees data. Targets are labels -1 and 1, or numbers of [-1, 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from .._validation import check_positive
from ..exceptions import PrivacyError
from ..noise import IndependentGaussian, NoiseLaw, SphericalLaplace
from ..noise._scales import root_up
from ..privacy import PrivacyGuarantee
from ._calibration import CALIBRATIONS, GaussianBudget
from ._duality import KAPPA, RoundingErrors
from ._losses import Loss

SMALLEST_PSI, LARGEST_PSI = 1e-8, 1e4
_GRID = np.geomspace(1e-7, 1e2, 91)  # of psi, ten to the decade
_GOOD = 1.01  # fewer features are taken if the bound of the risk is this near
_TAIL = 0.1  # of the norm of a function, beyond the first directions
_LARGEST_NOISE = 1e150
_GAP_SHARE = 128  # see `default_gap`


@dataclass(frozen=True)
class NoiseBudget:
    """Pure epsilon, (epsilon, delta) or rho, with the law of noise that keeps it.

    Parameters
    ----------
    epsilon, delta, rho, calibration
        *Public.* As in `GaussianBudget`; with delta 0 and no rho pure epsilon.
    """

    epsilon: float
    delta: float
    rho: float | None
    calibration: str

    @cached_property
    def gaussian(self) -> GaussianBudget | None:
        """The budget of Gaussian noise; None for pure epsilon."""
        if self.rho is None and self.delta == 0:
            return None
        return GaussianBudget(self.epsilon, self.delta, self.rho, self.calibration)

    @classmethod
    def from_parameters(cls, estimator: Any) -> NoiseBudget:
        """Check and read the parameters of an estimator."""
        epsilon = check_positive(estimator.epsilon, "epsilon")
        if estimator.calibration not in CALIBRATIONS:
            raise ValueError(
                f"calibration must be one of {CALIBRATIONS}, got "
                f"{estimator.calibration!r}"
            )
        budget = cls(epsilon, estimator.delta, estimator.rho, estimator.calibration)
        if estimator.rho is not None or estimator.delta != 0:
            _ = budget.gaussian  # it checks itself
        return budget

    def law(self, sensitivity: float, size: int) -> NoiseLaw:
        """The law on `size` coordinates for a move of at most `sensitivity`."""
        if self.gaussian is None:
            return SphericalLaplace.scale_for(self.epsilon, sensitivity, size)
        return IndependentGaussian((self.gaussian.deviation(sensitivity),) * size)

    def deviation(self, size: np.ndarray) -> np.ndarray:
        """The deviation of a coordinate, per unit of sensitivity."""
        if self.gaussian is None:
            with np.errstate(over="ignore"):  # such noise is refused later
                return np.sqrt(size + 1.0) / self.epsilon
        return np.full(np.shape(size), self.gaussian.deviation(1.0))

    def guarantee(self, unit: str, seeded: bool) -> PrivacyGuarantee:
        """What a release with that noise promises, per row or person."""
        if self.gaussian is not None:
            return self.gaussian.guarantee(unit, seeded)
        return PrivacyGuarantee(
            definition="pure-dp", epsilon=self.epsilon, unit=unit, seeded=seeded
        )


@dataclass(frozen=True)
class MachinePlan:
    """Everything about the release of n_outputs functions that is public.

    Parameters
    ----------
    loss : Loss
        The loss.
    budget : NoiseBudget
        What may be spent.
    n_people : int
        The number of people.
    unit : {"row", "person"}
        Whose data is replaced between neighbours.
    n_outputs : int
        The number of functions that are released together.
    n_features : int
        The number m of coordinates of each.
    psi : float
        The strength of regularisation.
    gap : float
        The duality gap up to which each is solved.
    """

    loss: Loss
    budget: NoiseBudget
    n_people: int
    unit: str
    n_outputs: int
    n_features: int
    psi: float
    gap: float

    @cached_property
    def sensitivity(self) -> float:
        """How far the coordinates of all functions move together, rounded up.

        Each minimiser moves by at most that of the loss; what is released is within
        sqrt(gap / psi) of it, for both neighbours. Functions are orthogonal.
        """
        exact = self.loss.sensitivity(KAPPA, self.psi, self.n_people, self.unit)
        error = Fraction(root_up(Fraction(self.gap) / Fraction(self.psi)))
        each = Fraction(exact) + 2 * error
        return root_up(self.n_outputs * each**2)

    @cached_property
    def law(self) -> NoiseLaw:
        """The law of the noise of all coordinates."""
        law = self.budget.law(self.sensitivity, self.n_outputs * self.n_features)
        if not law.std[0] < _LARGEST_NOISE:
            raise PrivacyError(
                "the noise leaves the range of floating point: choose a larger epsilon"
            )
        return law

    @property
    def radius(self) -> float:
        """A bound on the norm of every minimiser."""
        return self.loss.norm_bound(KAPPA, self.psi)


def public_plan(
    loss: Loss,
    budget: NoiseBudget,
    n_people: int,
    unit: str,
    n_outputs: int,
    missed: np.ndarray,
    fewest: int,
    psi: float | str,
    gap: float | None,
) -> MachinePlan:
    """Choose what is left open.

    Notes
    -----
    "pss" minimises a bound on the expected excess risk over functions f of norm at most
    B, the `typical_norm` of the loss, of which at most B/10 lies beyond the first m
    directions. s is the deviation of the noise of a coordinate, L the Lipschitz
    constant (in the third line that for all values), H the curvature bound and S a
    bound on the mean squared slope at a minimiser:

        psi B^2              regularisation: J(w) <= J(f),
        + S / (psi n)        sampling: the mean stability of the minimiser,
        + min(L s, H s^2/2)  noise: E loss(f + N(0, s^2)) - loss(f), with kappa = 1,
        + L B/10 missed[m]   features that are left out.

    The number of features is the smallest one whose best psi is within 1 %. If psi is
    stated, the second line is left out: it would be the same for all of them, and large
    for a small psi.
    """
    grid = _GRID if psi == "pss" else np.array([psi])
    moves = np.array([loss.sensitivity(KAPPA, p, n_people, unit) for p in grid])
    steep = np.array([loss.lipschitz(KAPPA, p) for p in grid])
    counts = np.arange(min(fewest, len(missed)), len(missed) + 1)
    with np.errstate(all="ignore"):  # an infinite constant times no noise is none
        spread = budget.deviation(n_outputs * counts)[:, None] * moves
        spread *= np.sqrt(n_outputs)
        square = loss.curvature_bound * np.square(spread) / 2
        noise = np.fmin(loss.steepest * spread, square)
    norm = loss.typical_norm
    risk = grid * norm**2 + noise
    if psi == "pss":
        risk = risk + loss.mean_square_slope / (grid * n_people)
    risk = risk + steep * _TAIL * norm * missed[counts - 1, None]
    best = risk.min(axis=1)
    k = int(np.flatnonzero(best <= _GOOD * best.min())[0])
    psi, m = float(grid[risk[k].argmin()]), int(counts[k])
    smallest = RoundingErrors(loss, psi, m).smallest_gap
    if gap is None:
        gap = default_gap(loss, psi, n_people, unit, smallest)
    elif gap < smallest:
        raise ValueError(
            f"gap must be None or at least {smallest:.3g} here, what float64 can "
            f"certify, got {gap!r}"
        )
    return MachinePlan(loss, budget, n_people, unit, n_outputs, m, psi, gap)


def default_gap(
    loss: Loss, psi: float, n_people: int, unit: str, smallest: float
) -> float:
    """The gap that adds 1/64 to the sensitivity: 2 sqrt(gap / psi) = Delta / 64."""
    move = loss.sensitivity(KAPPA, psi, n_people, unit) / _GAP_SHARE
    return max(psi * move * move, smallest)


def check_psi(psi: Any, unit: float) -> float | str:
    """Read psi, which the user measures in `unit`."""
    if isinstance(psi, str) and psi == "pss":
        return psi
    scaled = check_positive(psi, "psi") / unit
    if not SMALLEST_PSI <= scaled <= LARGEST_PSI:
        raise ValueError(
            f"psi must be 'pss' or lie between {SMALLEST_PSI * unit:g} and "
            f"{LARGEST_PSI * unit:g}, got {psi!r}"
        )
    return scaled
