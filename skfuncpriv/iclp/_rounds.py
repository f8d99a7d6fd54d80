"""Two rounds of a mean: a rough one, then the mean of what is left, in a smaller ball.

Bounds of values allow for far larger curves than people have, and noise is in
proportion to the ball that they imply. A rough mean C from a small share of epsilon,
and a radius r around it that few people are beyond (`choose_radius`), shrink the ball:
the mean is C plus the mean of residuals, clipped to r. Curves that scatter as widely as
the bound lose the shares, and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ..basis import Basis
from ..blocks._block_rows import BlockRows
from ..blocks._memory_rows import MemoryRows
from ..noise import FixedPoint, RandomBits, exact_epsilon
from ..summaries import BallContributions, BallSum
from ._contributions import denoised_sum, draw_release
from ._parameters import public_plan
from ._plan import ReleasePlan
from ._radius import candidate_radii, choose_among, people_beyond

_INFORMATIVE = 2000.0  # people times epsilon, from which on two rounds are tried:
# shares of 5 % each, so that widely scattered curves have at most a quarter more noise
_ROUGH = 100.0  # people times epsilon of the rough mean, and of the radius,
_LEAST = 0.02  # but not less than this share of epsilon
_SMALLEST = 2.0**-4  # that the number of coefficients follows
_CHUNK_VALUES = 1 << 15
_NEGLIGIBLE = 0.02  # noise after denoising, as a share of a bound of the sampling error


def two_rounds_help(n_people: int, epsilon: float, noise: float) -> bool:
    """Whether a rough mean is cheap, and noise matters beside sampling.

    `noise` is the expected squared noise of a single round after denoising, in units of
    the squared norm bound.
    """
    return n_people * epsilon >= _INFORMATIVE and noise * n_people >= _NEGLIGIBLE


@dataclass(frozen=True)
class Shares:
    """How epsilon is divided: rough mean, radius, and mean of residuals.

    Parameters
    ----------
    rough, radius, fine : float
        Budgets whose exact sum is at most that of the release, in both readings.
    """

    rough: float
    radius: float
    fine: float

    @classmethod
    def of(cls, epsilon: float, n_people: int) -> Shares:
        """Divide by public facts."""
        small = min(max(_ROUGH / n_people, _LEAST * epsilon), epsilon / 4)
        fine = epsilon - 2 * small
        while 2 * Fraction(small) + Fraction(fine) > exact_epsilon(epsilon):
            fine = math.nextafter(fine, 0.0)
        return cls(small, small, fine)


@dataclass(frozen=True, eq=False)
class Ball:
    """Where the contributions of the last round lie, in units of the norm bound.

    Parameters
    ----------
    center : ndarray, shape (m,)
        The centre: zero, or a released rough mean.
    radius : float
        The radius: one, or a released one.
    """

    center: np.ndarray
    radius: float

    @classmethod
    def unit(cls, size: int) -> Ball:
        """The ball of a single round."""
        return cls(np.zeros(size), 1.0)


@dataclass(frozen=True, eq=False)
class Rounds:
    """The public plans of two rounds.

    Parameters
    ----------
    rough : ReleasePlan
        The first round.
    fine_for : callable
        From the radius that was chosen, at most one, to the second round: the smaller
        the radius the smaller the noise, and the more coefficients are worth it. At
        least as many as in the first round.
    epsilon : float
        The budget of the radius.
    basis : Basis
        All functions that the second round may take.
    size : int
        The number of their coefficients, over all outputs.
    """

    rough: ReleasePlan
    fine_for: Callable[[float], ReleasePlan]
    epsilon: float
    basis: Basis
    size: int


def plan_rounds(
    rough: Any, fine: Any, epsilon: float, facts: tuple[Any, ...]
) -> Rounds:
    """Plan two rounds.

    Parameters
    ----------
    rough, fine : ICLPMean
        The parameters of both rounds.
    epsilon : float
        The budget of the radius.
    facts : tuple
        What else `public_plan` takes.

    Returns
    -------
    Rounds
        With one noise law for the second round, whatever the radius will be: the
        charge comes before it. What could fail for a radius fails here.
    """
    plan, _ = public_plan(fine, *facts)
    fine.set_params(mechanism=plan.mechanism)
    finest, basis = public_plan(fine, *facts, _SMALLEST)
    _ = finest.law
    most, fewest = len(finest.spectrum), len(plan.spectrum)

    def fine_for(radius: float) -> ReleasePlan:
        chosen, _ = public_plan(fine, *facts, radius)
        size = min(max(fewest, len(chosen.spectrum)), most)
        return replace(finest, knee=chosen.knee, spread=radius).cut(size)

    first, _ = public_plan(rough, *facts)
    return Rounds(first.cut(fewest), fine_for, epsilon, basis, finest.size)


def sum_of_first_round(rows: MemoryRows | BlockRows, rounds: Rounds) -> FixedPoint:
    """The exact sum for the rough mean: it reads all rows, so it comes before a charge.

    From here on `rows` hold everyone's coefficients within the unit ball.
    """
    rows.map(_within_unit_ball)
    return rows.sum(partial(_sum_of_first, ball=rounds.rough.ball))


def release_in_rounds(
    rows: MemoryRows | BlockRows, total: FixedPoint, rounds: Rounds, bits: RandomBits
) -> tuple[np.ndarray, ReleasePlan, Ball]:
    """Release a rough mean, a radius, and the sum of what is left.

    Parameters
    ----------
    rows : MemoryRows or BlockRows
        Everyone's coefficients in units of the norm bound, (n_people, m); *private*.
    total : FixedPoint
        What `sum_of_first_round` returns; *private*.
    rounds : Rounds
        The plans.
    bits : RandomBits
        The source of randomness.

    Returns
    -------
    released : ndarray, shape (fine.size,)
        The sum of residuals, in units of the radius, with noise.
    fine : ReleasePlan
        The plan of the second round.
    ball : Ball
        What they are residuals of; released, too.

    Notes
    -----
    Nobody is farther from the rough mean than one plus its norm; distances are cut
    there, as they are computed in floating point. So every distance is a function of
    one person's data and of what was released, which is all that `choose_radius`
    needs, and so is every residual, which is clipped, last, in `BallContributions`.
    """
    rough = rounds.rough
    mean = denoised_sum(draw_release(rough, total, bits), rough) / rough.n_people
    center = np.zeros(rounds.size)
    center[: rough.size] = _within_unit_ball(mean[None])[0]

    largest = (1 + float(np.linalg.norm(center))) * (1 + 2.0**-30)
    radii = candidate_radii(largest, rough.n_people, rounds.epsilon)
    beyond = rows.sum(partial(_count_beyond, center=center, radii=radii))
    radius = choose_among(radii, beyond, rounds.epsilon, bits)
    fine = rounds.fine_for(min(radius, 1.0))
    ball = Ball(center[: fine.size], radius)
    if radius >= 1:  # no smaller than where everybody is anyway
        ball = Ball.unit(fine.size)
    total = rows.sum(partial(_sum_of_residuals, center=ball, ball=fine.ball))
    return draw_release(fine, total, bits), fine, ball


def _sum_of_first(
    rows: np.ndarray, _: None = None, *, ball: BallContributions
) -> FixedPoint:
    return ball.sum(rows[:, : ball.n_coefficients])


def _count_beyond(
    rows: np.ndarray, _: None = None, *, center: np.ndarray, radii: np.ndarray
) -> np.ndarray:
    distances = np.empty(len(rows))
    for chunk in _chunks(rows):
        distances[chunk] = np.linalg.norm(rows[chunk] - center, axis=1)
    return people_beyond(np.minimum(distances, radii[0]), radii)


def _sum_of_residuals(
    rows: np.ndarray, _: None = None, *, center: Ball, ball: BallContributions
) -> FixedPoint:
    total = BallSum(ball)
    for chunk in _chunks(rows):
        residuals = rows[chunk, : ball.n_coefficients] - center.center
        residuals /= center.radius
        total.add(residuals)
    return total.value()


def _within_unit_ball(rows: np.ndarray) -> np.ndarray:
    """Clip vectors to norm one, up to rounding; those that are no numbers are zero."""
    clipped = np.empty_like(rows)
    for chunk in _chunks(rows):
        norms = np.linalg.norm(rows[chunk], axis=1)
        np.divide(rows[chunk], np.maximum(norms, 1.0)[:, None], out=clipped[chunk])
        clipped[chunk][~np.isfinite(norms)] = 0.0
    return clipped


def _chunks(rows: np.ndarray) -> Iterator[slice]:
    """Slices of few rows, which stay in the cache of a core."""
    step = max(1, _CHUNK_VALUES // rows.shape[1])
    for start in range(0, len(rows), step):
        yield slice(start, start + step)
