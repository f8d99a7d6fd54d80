"""The exact sum of what each person contributes, and what is free after its release."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..basis import Basis
from ..curves import Curves
from ..denoise import bayesian_average
from ..noise import FixedPoint
from ..summaries import BallSum, ValueBounds, curve_coefficients, person_averages
from ._penalty import soft_threshold
from ._plan import ReleasePlan


def sum_contributions(
    curves: Curves,
    codes: np.ndarray | None,
    plan: ReleasePlan,
    basis: Basis,
    values: ValueBounds,
) -> FixedPoint:
    """The exact sum of what each person contributes, in units of the norm bound."""
    chunks = curve_coefficients(curves, basis.projection, basis.domain, values)
    total = BallSum(plan.ball)
    if codes is None:
        for chunk in chunks:
            total.add(chunk / values.norm_bound)
    else:
        rows = np.concatenate(list(chunks)) / values.norm_bound
        seen = ~curves.all_missing
        radius = values.largest_norm / values.norm_bound
        total.add(person_averages(rows[seen], codes[seen], plan.n_people, radius))
    value = total.value()
    if plan.penalty == "ar":
        steps = plan.n_people * plan.thresholds / plan.ball.lattice.step
        limits = np.minimum(np.ceil(steps), float(value.bound)).astype(np.int64)
        value = replace(value, values=soft_threshold(value.values, limits))
    return value


def denoised_sum(released: np.ndarray, plan: ReleasePlan) -> np.ndarray:
    """Denoise a released sum, whose signal has at most n people for its norm."""
    bound = float(plan.n_people) ** 2
    return bayesian_average(released[None], plan.law, bound, plan.n_outputs)[0]
