"""Which psi, how many features and which noise a private classifier takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..gaussian_process._duality import KAPPA, RoundingErrors
from ..gaussian_process._losses import HingeLoss, LogisticLoss, Loss
from ..gaussian_process._machine_plan import NoiseBudget, check_psi
from ._design_base import Design
from ._minimiser import MinimiserPlan, budgets, plan_minimiser

LOSSES: dict[str, type[Loss]] = {"logistic": LogisticLoss, "hinge": HingeLoss}
_GRID = np.geomspace(1e-8, 1e2, 101)  # of psi, ten to the decade
# Of the reference problem: the mean square of f, and E p (1 - p) of its labels.
_SIGNAL, _CURVATURE = 4.0, 0.15


@dataclass(frozen=True, eq=False)
class ClassifierPlan:
    """What is released, and the errors that the reference problem has.

    Parameters
    ----------
    release : MinimiserPlan
        *Public.* The release of one function, or one for each class.
    design : Design
        *Public.* The features that are taken.
    bias, sampling, noise : float
        *Public.* Expected squared errors of each decision function.
    """

    release: MinimiserPlan
    design: Design
    bias: float
    sampling: float
    noise: float


def classifier_plan(
    estimator: Any, design: Design, n_people: int, unit: str, n_classes: int
) -> ClassifierPlan:
    """Choose what is left open by the smallest error in a reference problem.

    Notes
    -----
    Independent features z_j with mean squares e_j, labels of a logistic model with f =
    w' z. To second order around w the penalised minimiser has the mean g_j w_j, g_j =
    h e_j / (h e_j + 2 psi), and the variance g_j^2 / (n h e_j), because the mean
    squared slope of the loss is its mean curvature h; noise adds s^2. So the squared
    error of f is

        sum_{j <= m} e_j w_j^2 (1 - g_j)^2 + sum_{j > m} e_j w_j^2    bias
        + sum_{j <= m} g_j^2 / (n h)                                  sampling
        + s^2 sum_{j <= m} e_j                                        noise

    with w_j^2 all the same, so that f has the mean square 4 without the constant, whose
    own part of f has 4, too. The deviation s is that of the law for the sensitivity at
    psi, its gap included.
    """
    psi = check_psi(estimator.psi, 1.0)
    grid = _GRID if psi == "pss" else np.array([psi])
    loss = LOSSES[estimator.loss]()
    n_outputs = 1 if n_classes == 2 else n_classes
    energy = design.energy / design.penalty
    first = int(design.constant > 0)
    prior = np.full(len(energy), _SIGNAL / energy[first:].sum())
    prior[:first] = _SIGNAL / energy[:first]
    signal = prior * energy
    minima = np.array([loss.sensitivity(KAPPA, p, n_people, unit) for p in grid])
    epsilon, delta = float(estimator.epsilon), float(estimator.delta)
    sizes = design.sizes
    if not (isinstance(estimator.X_basis, str) and estimator.X_basis == "pss"):
        sizes = (design.size,)
    best = None
    for budget in budgets(estimator.mechanism, epsilon, delta):
        for m in sizes:
            moves = _moves(loss, grid, minima, m, estimator.gap)
            own = _CURVATURE * energy[:m, None]
            kept = own / (own + 2 * grid)
            bias = signal[:m] @ np.square(1 - kept) + signal[m:].sum()
            with np.errstate(all="ignore"):
                deviation = budget.deviation(np.array(n_outputs * m))
                noise = n_outputs * np.square(deviation * moves) * energy[:m].sum()
            sampling = np.square(kept).sum(axis=0) / (n_people * _CURVATURE)
            errors = np.stack([bias, sampling, noise])
            total = errors.sum(axis=0)
            k = int(np.argmin(total))
            if best is None or total[k] < best[0]:
                best = total[k], budget, m, float(grid[k]), errors[:, k]
    _, budget, m, psi, (bias, sampling, noise) = best
    release = plan_minimiser(
        loss,
        n_people=n_people,
        n_features=m,
        n_outputs=n_outputs,
        unit=unit,
        epsilon=epsilon,
        delta=delta,
        mechanism=_name_of(budget),
        psi=psi,
        gap=estimator.gap,
    )
    parts = float(bias), float(sampling), float(noise)
    return ClassifierPlan(release, design.first(m), *parts)


def _moves(
    loss: Loss, grid: np.ndarray, minima: np.ndarray, m: int, gap: float | None
) -> np.ndarray:
    """How far what is released of a function moves, for each psi; see `default_gap`."""
    smallest = np.array([RoundingErrors(loss, psi, m).smallest_gap for psi in grid])
    if gap is None:
        return np.maximum(minima * (1 + 1 / 64), minima + 2 * np.sqrt(smallest / grid))
    return np.where(gap < smallest, np.inf, minima + 2 * np.sqrt(gap / grid))


def _name_of(budget: NoiseBudget) -> str:
    return "spherical" if budget.gaussian is None else "gaussian"
