"""The exact loss of composed randomised responses, on a public lattice.

An epsilon-DP mechanism tells of its input what randomised response tells, or less: a
loss of +epsilon with probability p = e^epsilon / (1 + e^epsilon) and of -epsilon
otherwise. The total loss L of k such responses is a sum, so its law P on a lattice is a
convolution, and the smallest epsilon at delta = h solves

    h = max_j P(L >= j) - e^epsilon Q(L >= j),  Q(L >= j) = P(L <= -j),

where Q is the law under the other input. An epsilon between two points a < b of the
lattice is replaced by a pair: response at b with probability w, at a
otherwise, w such that the mean of p is kept. That tells more, never less: as a function
of x = e^t the delta of response at epsilon is max(1 - x, p - x (1 - p), 0) and that of
the pair is the chord that joins its values at e^-b, e^-a, e^a, e^b.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ._exact import precise, to_precise

_DIGITS = 50
_MOST_STEPS = 100_000  # of the lattice, from 0 to the largest loss
_MOST_WORK = 100_000_000  # steps times releases: about a second
_WEIGHT_WORK = 25_000  # what the weights of one epsilon take, in sums of two numbers
_QUICK_WORK = 220_000_000  # sums of numbers, of which the lattice is fine
_UNIT = 2.0**-52
_UNDERFLOW = 2.0**-960

# Different epsilons in order of size, and how many releases have each.
Responses = Sequence[tuple[Fraction, int]]


def is_quick(responses: Responses) -> bool:
    """Whether the law takes about a second at most; public, as the epsilons are."""
    step = lattice_step(responses)
    work, length = 0, 1
    for epsilon, times in responses:
        high = math.ceil(epsilon / step)
        work += _WEIGHT_WORK + times * length + high * times * (times + 1)
        length += 2 * high * times
    return work <= _QUICK_WORK


def optimal_epsilon(responses: Responses, slack: Fraction) -> Fraction | None:
    """An upper bound of the epsilon of all releases at delta = slack > 0.

    None where the bound is out of the range of float64. Sums of positive numbers have
    a small relative error, for which both tails pay.
    """
    law = _loss_law(responses, lattice_step(responses))
    largest = len(law) // 2
    # Each of the two tails, from its far end to the middle: j = largest, ..., 0.
    upper = np.cumsum(law[: largest - 1 : -1])
    lower = np.cumsum(law[: largest + 1])
    error = (8 * _number(responses) + len(law) + 64) * _UNIT
    excess = upper * (1 + error) + _UNDERFLOW - float_below(slack)
    rest = lower * (1 - error) - _UNDERFLOW
    matters = excess > 0
    if np.any(rest[matters] <= 0):
        return None
    ratio = float(np.max(excess[matters] / rest[matters], initial=1.0))
    if not math.isfinite(ratio):
        return None
    return Fraction(max(math.log(ratio), 0.0)) * (1 + Fraction(1, 2**48)) + Fraction(
        1, 2**48
    )


def lattice_step(responses: Responses) -> Fraction:
    """The common divisor of all epsilons if the lattice is then small enough."""
    epsilons = [epsilon for epsilon, _ in responses]
    total = sum((times * epsilon for epsilon, times in responses), Fraction(0))
    most = min(_MOST_STEPS, max(_MOST_WORK // _number(responses), 1))
    denominator = math.lcm(*(epsilon.denominator for epsilon in epsilons))
    divisor = math.gcd(*(int(epsilon * denominator) for epsilon in epsilons))
    return max(Fraction(divisor, denominator), total / most)


def _number(responses: Responses) -> int:
    return sum(times for _, times in responses)


def _loss_law(responses: Responses, step: Fraction) -> np.ndarray:
    """P(L = i step) for i from -m to m."""
    law = np.ones(1)
    mp = precise(_DIGITS)
    for epsilon, times in responses:
        low, high = math.floor(epsilon / step), math.ceil(epsilon / step)
        weights = _weights(mp, epsilon, low * step, high * step)
        places = (0, high - low, high + low, 2 * high)
        for _ in range(times):
            longer = np.zeros(len(law) + 2 * high)
            for weight, place in zip(weights, places, strict=True):
                if weight > 0:
                    longer[place : place + len(law)] += weight * law
            law = longer
    return law


def _weights(
    mp: Any, epsilon: Fraction, low: Fraction, high: Fraction
) -> tuple[float, float, float, float]:
    """Probabilities of the losses -high, -low, +low, +high."""
    half, half_low, half_high = (
        to_precise(mp, loss / 2) for loss in (epsilon, low, high)
    )
    # p(b) - p(a) = sinh((b - a)/2) / (2 cosh(a/2) cosh(b/2)): nothing cancels.
    share, rest = mp.mpf(1), mp.mpf(0)
    if low < high:
        width = mp.sinh(to_precise(mp, (high - low) / 2)) * mp.cosh(half)
        share = mp.sinh(to_precise(mp, (epsilon - low) / 2)) * mp.cosh(half_high)
        rest = mp.sinh(to_precise(mp, (high - epsilon) / 2)) * mp.cosh(half_low)
        share, rest = share / width, rest / width
    return (
        float(share / (1 + mp.exp(2 * half_high))),
        float(rest / (1 + mp.exp(2 * half_low))),
        float(rest / (1 + mp.exp(-2 * half_low))),
        float(share / (1 + mp.exp(-2 * half_high))),
    )


def float_below(value: Fraction) -> float:
    number = float(value)
    return number if Fraction(number) <= value else math.nextafter(number, 0.0)
