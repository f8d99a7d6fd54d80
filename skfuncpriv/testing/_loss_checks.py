"""Neighbours lose at most what is promised: exactly, by brute force, and audited."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sklearn.base import clone

from ..noise import FixedPoint, release_lattice
from ..privacy import audit
from ._case import PrivateCase
from ._densities import draw_again, log_ratio, losses, share_of
from ._recording import Transcript, replayed, transcribed
from ._tools import ensure, skip

_ROUNDING = 1e-9  # of exact changes that are read as floats
_SHARP, _AUDITED = 0.99, 0.8
_MISTAKE = 1e-7  # the probability that an audit of a sound mechanism fails
_SEEN = 1e-3  # an audit sees no smaller delta than this


def check_releases_are_on_a_fine_public_lattice(
    estimator: Any, case: PrivateCase
) -> None:
    """Whole multiples of a power of two, far below the noise; values keep their bound.

    That the power is the same for neighbours, and that all else follows from these
    whole numbers, is what `check_releases_decide_the_fit` finds.
    """
    _needs_releases(case)
    for data in case.neighbours:
        _, transcript = _transcript(case, case.new(estimator, random_state=3), data)
        for step in transcript.releases:
            fixed = step.value if isinstance(step.value, FixedPoint) else None
            ensure(step.integers.dtype == np.int64, "a release is no whole numbers")
            finest = release_lattice(step.law.smallest_scale, fixed)
            ensure(
                step.lattice.exponent <= finest.exponent,
                f"{step.lattice} is too coarse for noise of scale "
                f"{step.law.smallest_scale:g}: use release_lattice",
            )
            if fixed is not None:
                largest = max((abs(int(k)) for k in fixed.values.ravel()), default=0)
                ensure(
                    largest <= fixed.bound,
                    f"an exact sum of {largest} is beyond its bound {fixed.bound}: a "
                    "contribution is not clipped, and the release may overflow",
                )


def check_a_neighbour_loses_at_most_the_promise(
    estimator: Any, case: PrivateCase
) -> None:
    """The exact loss of the neighbours of the case is within the guarantee."""
    _needs_releases(case)
    model = case.new(estimator, random_state=3)
    fitted, one = _transcript(case, model, case.neighbours[0])
    other = _replay(case, model, one, case.neighbours[1])
    share = share_of(fitted.guarantee_, losses(one, other, exactly=True))
    _ensure_kept(share, "the neighbours of the case")
    ensure(
        share >= _SHARP or not case.is_worst,
        f"the worst neighbours lose {share:.3g} of what is promised: there is more "
        "noise than the guarantee needs, or the neighbours are not the worst",
    )


def check_no_neighbour_loses_more_than_the_promise(
    estimator: Any, case: PrivateCase
) -> None:
    """Brute force: one person holds absurd things, and all pairs are compared."""
    _needs_releases(case)
    case.needs_table()
    model = case.new(estimator, random_state=3)
    tables = list(_replaced(case))
    fitted, first = _transcript(case, model, tables[0])
    others = [_replay(case, model, first, table) for table in tables[1:]]
    lost = [losses(*pair) for pair in itertools.combinations([first, *others], 2)]
    worst = {max(lost), max(lost, key=lambda loss: loss[1])}  # of epsilon, and of rho
    share = max(share_of(fitted.guarantee_, loss) for loss in worst)
    _ensure_kept(share, "some neighbours")


def check_an_audit_finds_at_most_the_promise(estimator: Any, case: PrivateCase) -> None:
    """Many draws on both neighbours, told apart by their likelihood ratio."""
    _needs_releases(case)
    model = case.new(estimator, random_state=3, **{case.budget_name: 1.0})
    fitted, one = _transcript(case, model, case.neighbours[0])
    other = _replay(case, model, one, case.neighbours[1])
    promise = fitted.guarantee_
    if promise.epsilon is None:
        skip("an audit bounds epsilon: the promise has none")
    size = sum(step.integers.size for step in one.releases)
    result = audit(
        lambda side, count: draw_again(side, count, seed=11 + (side is other)),
        one,
        other,
        n_trials=int(np.clip(400_000 // size, 1000, 40_000)),
        statistic=lambda drawn: log_ratio(one, other, drawn),
        batch=True,
        delta=promise.delta,
        confidence=1 - _MISTAKE,
    )
    ensure(
        result.epsilon_lower <= promise.epsilon,
        f"an audit finds {result}, and promised is {promise.epsilon:g}",
    )
    # in more dimensions hardly a draw is as telling as the worst: the exact loss is
    is_sharp = case.is_worst and len(one.releases) == len(one.steps) and size <= 2
    if is_sharp and (promise.delta == 0 or promise.delta >= _SEEN):
        ensure(
            result.epsilon_lower >= _AUDITED * promise.epsilon,
            f"an audit of the worst neighbours finds no more than {result}: there is "
            "more noise than the guarantee needs",
        )


def _needs_releases(case: PrivateCase) -> None:
    case.needs_function()
    case.needs_laws()


def _ensure_kept(share: float, who: str) -> None:
    ensure(
        share <= 1 + _ROUNDING,
        f"{who} lose {share:.4g} times what is promised: the sensitivity is wrong, a "
        "contribution is not clipped, or the noise is too small",
    )


def _transcript(case: PrivateCase, model: Any, data: Any) -> tuple[Any, Transcript]:
    with transcribed() as transcript:
        fitted = case.release(clone(model), *data)
    ensure(
        transcript.releases,
        "no NoiseLaw.release was seen: what noise hides cannot be checked; if that is "
        "meant, say why in PrivateCase.own_noise",
    )
    return fitted, transcript


def _replay(case: PrivateCase, model: Any, first: Transcript, data: Any) -> Transcript:
    with replayed(first) as transcript:
        case.release(clone(model), *data)
    return transcript


def _replaced(case: PrivateCase) -> Any:
    """The data, and with another last person, who may hold absurd numbers."""
    yield case.data
    rng = np.random.default_rng(5)
    size = case.X.shape[1]
    signs = np.where(np.arange(size) % 2, -1.0, 1.0)
    spread = float(np.median(np.abs(case.X).max(axis=1)))
    people = [
        np.zeros(size),
        np.full(size, 1e308),
        np.full(size, -1e308),
        1e300 * signs,
        np.where(np.arange(size) < size / 2, 1e9, -1e9) * spread,
        rng.normal(0, spread, size),
        rng.normal(0, 1e-3 * spread, size),
    ]
    for k, person in enumerate(people):
        X = case.X.copy()
        X[-1] = person
        y = case.y
        if isinstance(y, np.ndarray) and y.dtype.kind == "f":
            y = y.copy()
            y[-1] = (y.min(), y.max())[k % 2]
        yield X, y
