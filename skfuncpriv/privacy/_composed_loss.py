"""The epsilon of several releases at one delta, by each method that bounds it.

Each part first gives up its delta: what remains of the one asked for, the *slack*, pays
for the tail of the sum of all losses. The arguments are in the Notes of ``compose``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from ..exceptions import PrivacyError
from ._conversion import DIGITS, LEAST_EPSILON, epsilon_at_order
from ._exact import (
    claim_at_least,
    decimal_reading,
    precise,
    to_precise,
    upper_fraction,
)
from ._guarantee import PrivacyGuarantee
from ._optimal import Responses, float_below, is_quick, lattice_step, optimal_epsilon

METHODS = ("auto", "basic", "concentrated", "optimal", "dp-accounting")

# Products of many 1 - delta, rounded down: exact as long as there are few digits, and
# with an error far below every float64 where there are more.
_DOWN = Context(prec=800, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])

_MOST_DIFFERENT = 10_000  # epsilons whose divergence is computed
_LEAST_ORDER = 1e-12  # of alpha - 1; below it, logarithms of ratios lose their digits


@dataclass(frozen=True)
class Parts:
    """What the releases cost, and what their deltas leave of the one asked for."""

    # Different pairs of epsilon and delta in order of size, and how often each occurs.
    pairs: tuple[tuple[tuple[Fraction, Fraction], int], ...]
    rho: Fraction
    delta: Fraction
    slack: Fraction

    @classmethod
    def of(cls, guarantees: Sequence[PrivacyGuarantee], delta: float) -> Parts:
        """Read the printed decimals, and give up the deltas."""
        counts = sorted(
            Counter((part.epsilon or 0.0, part.delta) for part in guarantees).items()
        )
        target = _reading(delta)
        kept = _product_below(
            (_DOWN.subtract(1, decimal_reading(part)), times)
            for part, times in Counter(part.delta for part in guarantees).items()
        )
        slack = 1 - (1 - target) / kept
        if slack < 0:
            raise PrivacyError(
                f"the deltas of the parts exceed delta = {delta!r}; it must be at "
                f"least {claim_at_least(1 - kept)!r}"
            )
        rhos = Counter(part.rho for part in guarantees)
        rho = sum((times * _reading(one) for one, times in rhos.items()), Fraction(0))
        pairs = (
            ((_reading(epsilon), _reading(part)), times)
            for (epsilon, part), times in counts
        )
        return cls(tuple(pairs), rho, target, slack)

    @cached_property
    def responses(self) -> Responses:
        """The epsilons that are not zero, with their numbers."""
        counts: Counter[Fraction] = Counter()
        for (epsilon, _), times in self.pairs:
            if epsilon > 0:
                counts[epsilon] += times
        return list(counts.items())


def smallest_epsilon(parts: Parts, method: str) -> float:
    """The claim of epsilon at the delta of the parts."""
    if not parts.responses and parts.rho == 0:
        return 0.0
    routes = {
        "basic": _basic,
        "concentrated": _concentrated,
        "optimal": _optimal,
        "dp-accounting": _dp_accounting,
    }
    names: Sequence[str] = (method,)
    if method == "auto":
        names = ["basic", "concentrated"]
        if parts.responses and is_quick(parts.responses):
            names.append("optimal")
    bounds = [routes[name](parts) for name in names]
    known = [bound for bound in bounds if bound is not None]
    if not known:
        raise PrivacyError(
            f"method={method!r} has no bound for these parts at this delta: zcdp ones "
            'need a delta above those of the others, and "basic" or "concentrated"'
        )
    return claim_at_least(max(min(known), Fraction(LEAST_EPSILON)))


def concentrated_rho(guarantees: Sequence[PrivacyGuarantee]) -> Fraction:
    """The rho of zcdp and pure parts together."""
    counts = Counter((part.rho, part.epsilon) for part in guarantees)
    return sum(
        (
            times * (_reading(rho) + response_rho(_reading(epsilon)))
            for (rho, epsilon), times in counts.items()
        ),
        Fraction(0),
    )


def response_rho(epsilon: Fraction) -> Fraction:
    """The smallest rho that every epsilon-DP mechanism has: epsilon tanh(epsilon/2)."""
    if epsilon == 0:
        return Fraction(0)
    mp = precise(DIGITS)
    number = to_precise(mp, epsilon)
    return min(upper_fraction(number * mp.tanh(number / 2)), epsilon**2 / 2)


def _basic(parts: Parts) -> Fraction | None:
    """Every loss at its largest."""
    total = sum((times * epsilon for epsilon, times in parts.responses), Fraction(0))
    if parts.rho == 0:
        return total
    if parts.slack == 0:
        return None
    return total + _at_best_order([], parts.rho, parts.slack)


def _concentrated(parts: Parts) -> Fraction | None:
    """The sum of the Renyi divergences, converted at the best order."""
    if parts.slack == 0:
        return None
    return _at_best_order(_merged(parts.responses), parts.rho, parts.slack)


def _optimal(parts: Parts) -> Fraction | None:
    """The law of the total loss."""
    if parts.rho > 0 or parts.slack == 0:
        return None
    return optimal_epsilon(parts.responses, parts.slack)


def _dp_accounting(parts: Parts) -> Fraction | None:
    """The pessimistic privacy loss distribution of that package."""
    try:
        from dp_accounting.pld import common, privacy_loss_distribution
    except ImportError as error:
        raise ImportError(
            "method='dp-accounting' needs the package dp-accounting; install it, or "
            "leave method='auto'"
        ) from error
    if parts.rho > 0:
        return None
    interval = float(lattice_step(parts.responses))
    total: Any = None
    for (epsilon, delta), times in parts.pairs:
        one = privacy_loss_distribution.from_privacy_parameters(
            common.DifferentialPrivacyParameters(
                _float_above(epsilon), _float_above(delta)
            ),
            value_discretization_interval=interval,
        ).self_compose(times)
        total = one if total is None else total.compose(one)
    found = total.get_epsilon_for_delta(float_below(parts.delta))
    return Fraction(found) if math.isfinite(found) else None


def _merged(responses: Responses) -> Responses:
    """Not too many different epsilons: each becomes the largest one of its group."""
    size = math.ceil(len(responses) / _MOST_DIFFERENT)
    if size <= 1:
        return responses
    groups = (responses[i : i + size] for i in range(0, len(responses), size))
    return [(group[-1][0], sum(times for _, times in group)) for group in groups]


def _at_best_order(responses: Responses, rho: Fraction, delta: Fraction) -> Fraction:
    """Any order gives a valid bound, so only the evaluation has to be rigorous."""
    mp = precise(DIGITS)
    u = mp.mpf(_best_order(responses, float(rho), float(delta)))
    divergence = (1 + u) * to_precise(mp, rho)
    for epsilon, times in responses:
        half = to_precise(mp, epsilon / 2)
        divergence += times * mp.log(mp.cosh((1 + 2 * u) * half) / mp.cosh(half)) / u
    return epsilon_at_order(mp, divergence, u, delta)


def _best_order(responses: Responses, rho: float, delta: float) -> float:
    """A good u = alpha - 1, in float64."""
    halves = np.array([float(epsilon / 2) for epsilon, _ in responses])
    times = np.array([float(number) for _, number in responses])
    log_inverse = -math.log(delta)

    def bound(log_u: float) -> float:
        u = math.exp(log_u)
        curves = _log_cosh((1 + 2 * u) * halves) - _log_cosh(halves)
        divergence = (1 + u) * rho + float(times @ curves) / u
        return divergence - math.log1p(1 / u) + (log_inverse - math.log1p(u)) / u

    # Extreme budgets overflow; the order is then a poor one and the bound still holds.
    with np.errstate(all="ignore"):
        variance = np.clip(rho + 2 * float(times @ halves**2), 1e-300, 1e300)
        centre = max(math.log(log_inverse / variance) / 2, math.log(_LEAST_ORDER) + 13)
        grid = centre + np.linspace(-12.0, 12.0, 97)
        best = float(grid[np.argmin([bound(float(log_u)) for log_u in grid])])
        near = (best - 0.25, best + 0.25)
        found = minimize_scalar(bound, bounds=near, method="bounded")
    return math.exp(float(found.x))


def _log_cosh(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    value: np.ndarray[Any, Any] = np.logaddexp(x, -x) - math.log(2)
    return value


def _product_below(powers: Iterable[tuple[Decimal, int]]) -> Fraction:
    """The product of powers of numbers in (0, 1], every step rounded down."""
    product = Decimal(1)
    for base, times in powers:
        while times:
            if times % 2:
                product = _DOWN.multiply(product, base)
            base = _DOWN.multiply(base, base)
            times //= 2
    return Fraction(product)


def _reading(value: float | None) -> Fraction:
    return Fraction(decimal_reading(value or 0.0))


def _float_above(value: Fraction) -> float:
    number = float(value)
    return number if Fraction(number) >= value else math.nextafter(number, math.inf)
