"""The exact sum of what each person contributes, and what is free after its release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import ceil

import numpy as np

from .._progress import progress_bar
from ..basis import Basis
from ..basis._base import grid_projection
from ..curves import Curves
from ..denoise import bayesian_average, posterior_deviation
from ..noise import FixedPoint, RandomBits, release_lattice
from ..summaries import (
    BallSum,
    GridContributions,
    ValueBounds,
    curve_coefficients,
    number_of_people,
    person_averages,
)
from ._penalty import soft_threshold
from ._plan import ReleasePlan

_UNSEEN = 0.1  # of the variance of the noise, that a hidden signal may have
_SHARE_ONLY = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"


def sum_contributions(
    curves: Curves,
    codes: np.ndarray | None,
    plan: ReleasePlan,
    basis: Basis,
    values: ValueBounds,
    verbose: bool = False,
) -> FixedPoint:
    """The exact sum of what each person contributes, in units of the norm bound.

    The people may be a part of those that the plan is for: such sums add up.

    Where the bounds of values imply the norm bound, curves on a common grid are summed
    on the grid; otherwise everyone's coefficients are clipped to the ball.
    """
    value = None
    if curves.grid is not None:
        projection = grid_projection(basis, curves.grid)
        on_grid = GridContributions(
            plan.n_people, curves.grid, basis.domain, projection, values
        )
        if on_grid.is_certified:
            value = on_grid.sum(curves, codes)
    if value is None:
        value = _clipped_sum(curves, codes, plan, basis, values, verbose)
    return value


def thresholded(total: FixedPoint, plan: ReleasePlan) -> FixedPoint:
    """The whole sum, moved towards zero where the plan has an absolute penalty."""
    if plan.penalty != "ar":
        return total
    step = Fraction(total.lattice.step)
    limits = [ceil(plan.n_people * Fraction(t) / step) for t in plan.thresholds]
    shrunk = soft_threshold(total.values, np.array(limits, dtype=object))
    return replace(total, values=shrunk)


def _clipped_sum(
    curves: Curves,
    codes: np.ndarray | None,
    plan: ReleasePlan,
    basis: Basis,
    values: ValueBounds,
    verbose: bool,
) -> FixedPoint:
    total = BallSum(plan.ball)
    for rows in _person_chunks(curves, codes, basis, values, verbose):
        total.add(rows)
    return total.value()


def person_coefficients(
    curves: Curves,
    codes: np.ndarray | None,
    basis: Basis,
    values: ValueBounds,
    verbose: bool = False,
) -> np.ndarray:
    """Everyone's coefficients, in units of the norm bound, not clipped to the ball."""
    chunks = _person_chunks(curves, codes, basis, values, verbose)
    return np.concatenate(list(chunks))


def _person_chunks(
    curves: Curves,
    codes: np.ndarray | None,
    basis: Basis,
    values: ValueBounds,
    verbose: bool,
) -> Iterator[np.ndarray]:
    projection: Callable[[np.ndarray], np.ndarray] = basis.projection
    if curves.grid is not None:
        projection = partial(grid_projection, basis)
    chunks = curve_coefficients(curves, projection, basis.domain, values)
    if not curves.is_regular:  # one by one, so it may take a while
        chunks = in_tenths(chunks, curves.n_curves, verbose)
    if codes is None:
        for chunk in chunks:
            yield chunk / values.norm_bound
    else:
        rows = np.concatenate(list(chunks)) / values.norm_bound
        seen = ~curves.all_missing
        radius = values.largest_norm / values.norm_bound
        yield person_averages(rows[seen], codes[seen], number_of_people(codes), radius)


def draw_release(plan: ReleasePlan, total: FixedPoint, bits: RandomBits) -> np.ndarray:
    """Add noise to a sum, once, and round it to the lattice of the release."""
    lattice = release_lattice(plan.law.smallest_scale, total)
    return lattice.to_float(plan.law.release(total, lattice, bits))


def denoised_sum(released: np.ndarray, plan: ReleasePlan) -> np.ndarray:
    """Denoise a released sum, whose signal has at most n people for its norm."""
    bound = float(plan.n_people) ** 2
    return bayesian_average(released[None], plan.law, bound, plan.n_outputs)[0]


def denoised_deviation(
    released: np.ndarray, denoised: np.ndarray, plan: ReleasePlan
) -> np.ndarray:
    """How far the sum without noise may be from `denoised`, given the release.

    With the factor f that a coefficient was multiplied by and the variance s of its
    noise, the posterior variance is about f s, of which f (1 - f) s is the bias of
    shrinking a signal of the size that the prior expects. That is doubled, for signals
    of twice that energy: one curve is no draw of the prior. And where nothing is seen,
    small signals may be there all the same: a tenth of s is kept of what is taken off.
    """
    bound = float(plan.n_people) ** 2
    law, n_outputs = plan.law, plan.n_outputs
    posterior = posterior_deviation(released[None], law, bound, n_outputs)[0]
    kept = np.ones_like(released)
    np.divide(denoised, released, out=kept, where=released != 0)
    doubt = np.sqrt(np.clip(1 - kept, 0.0, 1.0) * (kept + _UNSEEN))
    return np.hypot(posterior, doubt * law.std)


def in_tenths(
    chunks: Iterable[np.ndarray], n_chunks: int, verbose: bool | None = True
) -> Iterator[np.ndarray]:
    """Show progress in tenths: the number of rows that people own is private."""
    words = {"desc": "curves", "total": 10, "bar_format": _SHARE_ONLY}
    with progress_bar(verbose, **words) as bar:
        for done, chunk in enumerate(chunks, start=1):
            yield chunk
            bar.update(10 * done // n_chunks - bar.n)
