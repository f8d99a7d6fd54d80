"""The public plan of a private regression: which route, how many features, psi, noise.

Both routes are compared on a public *reference problem*, in units of the targets'
bound. Features have the mean squares a_j that their design states, independent of each
other; the signal and the residuals have the mean square S = 1/9 each, and the
coefficients of the signal prior energies beta_j^2 proportional to 1 / penalty_j. The
constant has the mean square 1/3, as if it were uniform between the bounds. No promise
about data is made by it, and no data are seen here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from ..exceptions import PrivacyError
from ..gaussian_process._duality import KAPPA
from ..gaussian_process._losses import Loss, SquaredLoss
from ..gaussian_process._machine_plan import NoiseBudget
from ._design_base import Design
from ._design_numbers import TYPICAL
from ._minimiser import MinimiserPlan, plan_minimiser
from ._selection import tail_energy
from ._statistics import StatisticsPlan, mean_deviations, statistics_sizes

STATISTICS_MECHANISMS = ("spherical", "block-spherical", "gaussian", "laplace")
_PSI_GRID = np.geomspace(1e-8, 1e3, 111)
_OMEGAS = tuple(math.sqrt(square) for square in (0.5, 1.0, 2.0, 4.0))
_RATIOS = (0.5, 0.71, 1.0, 1.41, 2.0)
MOST_FEATURES, _MOST_STATISTICS = 96, 1 << 14
CONSTANT = 1 / 3  # the mean square of the constant of the reference problem


@dataclass(frozen=True)
class RegressionPlan:
    """The choices, and the errors of predictions that the reference problem has.

    Parameters
    ----------
    release : StatisticsPlan or MinimiserPlan
        What gets noise.
    n_features, n_targets : int
        The features and the units of targets that are taken.
    psi : float
        The strength of the penalty.
    bias, sampling, noise : float
        Expected squared errors of predictions, in squared units of the targets' bound.
    """

    release: StatisticsPlan | MinimiserPlan
    n_features: int
    n_targets: int
    psi: float
    bias: float
    sampling: float
    noise: float

    @property
    def method(self) -> str:
        """The route."""
        is_statistics = isinstance(self.release, StatisticsPlan)
        return "statistics" if is_statistics else "minimiser"

    @property
    def error(self) -> float:
        """The predicted squared error."""
        return self.bias + self.sampling + self.noise


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked for; everything is public.

    Parameters
    ----------
    design : Design
        All features that may be taken.
    target_sizes : tuple of int
        How many units of targets may be taken.
    feature_sizes : tuple of int
        How many features may be taken.
    smooth : bool
        Whether the units are coefficients of curves, cut after `n_targets`.
    n_outputs : int
        The values of a target curve at each point.
    n_people : int
        The number of people.
    unit : {"row", "person"}
        Whose data is replaced between neighbours.
    epsilon, delta : float
        The budget.
    mechanism : str
        The noise law, or "auto".
    psi : float or "pss"
        The strength of the penalty.
    loss : Loss
        The loss, in units of the targets' bound.
    methods : tuple of {"statistics", "minimiser"}
        The routes to choose from.
    is_counted : bool
        Whether every row is known to have data, and the weight one.
    """

    design: Design
    target_sizes: tuple[int, ...]
    feature_sizes: tuple[int, ...]
    smooth: bool
    n_outputs: int
    n_people: int
    unit: str
    epsilon: float
    delta: float
    mechanism: str
    psi: float | str
    loss: Loss
    methods: tuple[str, ...]
    is_counted: bool

    @property
    def constant(self) -> float:
        """The first feature, if it is known in every row; else zero."""
        return self.design.constant if self.is_counted else 0.0

    @property
    def grid(self) -> np.ndarray:
        """The strengths to try."""
        return _PSI_GRID if self.psi == "pss" else np.array([float(self.psi)])

    @property
    def signal(self) -> np.ndarray:
        """Prior energies beta_j^2 of the coefficients of all features."""
        energy, penalty = self.design.energy, self.design.penalty
        first = int(self.design.constant > 0)
        result = np.empty(len(energy))
        result[first:] = TYPICAL / penalty[first:]
        result[first:] /= np.sum((energy / penalty)[first:])
        result[:first] = CONSTANT / energy[:first]
        return result

    def cut(self, n_targets: int) -> float:
        """The energy of signal and constant beyond the units that are taken.

        Their share there is that of the smooth functions of `tail_energy`.
        """
        if not self.smooth:
            return 0.0
        share = tail_energy(np.array([n_targets // self.n_outputs]))[0]
        return float((CONSTANT + TYPICAL) * share)


def best_plan(question: Question) -> RegressionPlan:
    """The plan with the smallest predicted error among the routes."""
    search = {"statistics": statistics_plan, "minimiser": minimiser_plan}
    plans = [search[method](question) for method in question.methods]
    plans = [plan for plan in plans if plan is not None]
    if not plans:
        raise PrivacyError(
            "the noise leaves the range of floating point: choose a larger epsilon"
        )
    return min(plans, key=lambda plan: plan.error)


def statistics_plan(question: Question) -> RegressionPlan | None:
    """The best release of noisy sufficient statistics.

    With noise E of A = mean x x' and F of B = mean x u', of deviations s_A and s_B, the
    coefficients (A + psi W)^-1 (B + F - E theta) have, to first order and for diagonal
    A, the squared error of predictions sum_j a_j g_j^2 (q s_B^2 + s_A^2 (beta_j^2 +
    norm(beta)^2) / 2), g_j = 1 / (a_j + psi W_j). The first order is trusted where psi
    is at least the expected operator norm of the noise of the scaled A, about
    s_A sqrt(2 sum_j 1 / W_j). The constant is not penalised: W_1 = 0.
    """
    laws = _statistics_laws(question)
    facts = question.n_people, question.epsilon, question.delta
    best, found = math.inf, None
    for size in question.feature_sizes:
        terms = _Terms(question, size, penalised=False)
        roots = math.sqrt(2 * np.sum(1 / question.design.penalty[:size]))
        for q in question.target_sizes:
            sizes = statistics_sizes(size, q, question.constant)
            if size > MOST_FEATURES or sum(sizes) > _MOST_STATISTICS:
                continue
            scales = [mean_deviations(law, sizes, *facts) for law in laws]
            second, cross = np.array(scales).T[:, :, None]
            with np.errstate(all="ignore"):
                noise = terms.cross * q * cross**2 + terms.second * second**2
                error = terms.bias + terms.sampling + noise + question.cut(q)
            if question.psi == "pss":
                error = np.where(question.grid >= second * roots, error, np.inf)
            error[np.isnan(error)] = np.inf
            row, k = np.unravel_index(np.argmin(error), error.shape)
            if error[row, k] < best:
                best = error[row, k]
                found = (laws[row], size, q, terms, int(k), noise[row, k])
    if found is None:
        return None
    (mechanism, omega, ratio), size, q, terms, k, noise = found
    release = StatisticsPlan(
        n_people=question.n_people,
        n_features=size,
        n_targets=q,
        epsilon=question.epsilon,
        delta=question.delta,
        mechanism=mechanism,
        omega=omega,
        ratio=ratio,
        constant=question.constant,
    )
    return _planned(question, release, terms, k, noise)


def minimiser_plan(question: Question) -> RegressionPlan | None:
    """The best release of the regularised minimiser.

    Its noise is isotropic in whitened features, of a deviation s that falls as 1 / psi;
    the squared error of predictions is sum_j a_j / W_j q s^2. For other losses than the
    squared one, psi and the features minimise the risk bound of the kernel machines.
    """
    if not isinstance(question.loss, SquaredLoss):
        return _robust_plan(question)
    grid = question.grid
    move = [
        question.loss.sensitivity(KAPPA, psi, question.n_people, question.unit)
        for psi in grid
    ]
    best, found = math.inf, None
    for size in question.feature_sizes:
        terms = _Terms(question, size, penalised=True)
        for q in question.target_sizes:
            unit = _smallest_deviation(question, size * q)
            with np.errstate(all="ignore"):
                noise = terms.cross * q * np.square(unit * np.array(move))
                error = terms.bias + terms.sampling + noise + question.cut(q)
            k = int(np.argmin(error))
            if error[k] < best:
                best, found = error[k], (size, q, k, terms, noise[k])
    if found is None:
        return None
    size, q, k, terms, noise = found
    release = _release(question, size, q, float(grid[k]))
    return _planned(question, release, terms, k, noise)


def _robust_plan(question: Question) -> RegressionPlan:
    sizes, missed = question.feature_sizes, None
    if len(sizes) > 1:
        missed = question.design.missed
    (q,) = question.target_sizes
    release = _release(question, sizes[0], q, question.psi, missed)
    # Errors of the squared loss at the same psi, as an order of magnitude.
    fixed = replace(question, psi=release.psi)
    terms = _Terms(fixed, release.n_features, penalised=True)
    noise = terms.cross[0] * q * float(release.law.std[0]) ** 2
    return _planned(fixed, release, terms, 0, noise)


def _planned(
    question: Question, release: Any, terms: _Terms, k: int, noise: float
) -> RegressionPlan:
    is_statistics = isinstance(release, StatisticsPlan)
    q = release.n_targets if is_statistics else release.n_outputs
    return RegressionPlan(
        release=release,
        n_features=release.n_features,
        n_targets=q,
        psi=float(question.grid[k]),
        bias=float(terms.bias[k] + question.cut(q)),
        sampling=float(terms.sampling[k]),
        noise=float(noise),
    )


class _Terms:
    """Parts of the predicted error for every psi of the grid, shape (n_psi,)."""

    def __init__(self, question: Question, size: int, *, penalised: bool) -> None:
        design, signal = question.design, question.signal
        energy, beta = design.energy[:size], signal[:size]
        weights = design.penalty[:size].copy()
        if not penalised and design.constant > 0:
            weights[0] = 0.0
        with np.errstate(all="ignore"):
            gain = 1 / (energy + question.grid[:, None] * weights)
            kept = energy * gain
            left = np.sum(design.energy[size:] * signal[size:])
            self.bias = np.sum(energy * beta * np.square(1 - kept), axis=1) + left
            self.sampling = TYPICAL * np.square(kept).sum(axis=1) / question.n_people
            if penalised:  # noise of a coefficient, in whitened features
                self.cross = np.full(len(kept), np.sum(energy / weights))
                return
            shrunk = beta * np.square(kept)
            self.cross = np.sum(energy * np.square(gain), axis=1)
            own = np.sum(energy * np.square(gain) * shrunk, axis=1)
            self.second = (own + self.cross * shrunk.sum(axis=1)) / 2


def _statistics_laws(question: Question) -> list[tuple[str, float, float]]:
    """Laws with weights and ratios of scales to try."""
    mechanisms: tuple[str, ...] = (question.mechanism,)
    if question.mechanism == "auto":
        pure = ("spherical", "block-spherical")
        mechanisms = (*pure, "gaussian") if question.delta > 0 else pure
    return [
        (mechanism, omega, ratio)
        for mechanism, omega in product(mechanisms, _OMEGAS)
        for ratio in (_RATIOS if mechanism == "block-spherical" else (1.0,))
    ]


def _smallest_deviation(question: Question, size: int) -> float:
    """Of the noise of a coefficient, per unit of sensitivity."""
    laws = []
    if question.mechanism in ("auto", "spherical"):
        laws.append(NoiseBudget(question.epsilon, 0.0, None, "analytic"))
    if question.delta > 0 and question.mechanism in ("auto", "gaussian"):
        laws.append(NoiseBudget(question.epsilon, question.delta, None, "analytic"))
    return min(float(law.deviation(np.array(size))) for law in laws)


def _release(
    question: Question, size: int, q: int, psi: Any, missed: Any = None
) -> MinimiserPlan:
    return plan_minimiser(
        question.loss,
        n_people=question.n_people,
        n_features=size,
        n_outputs=q,
        unit=question.unit,
        is_joint=isinstance(question.loss, SquaredLoss),
        epsilon=question.epsilon,
        delta=question.delta,
        mechanism=question.mechanism,
        psi=psi,
        missed=missed,
    )
