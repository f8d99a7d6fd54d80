"""Exact readings of float64 numbers, and roundings that keep a claim true.

A guarantee that prints ``epsilon = 0.1`` is read in decimal, and a ledger charges that
decimal; the float64 behind it is a little larger. So a *claim* is read as the decimal
that ``repr`` prints, a *calibration* meets the smaller of the two readings of a budget
and the larger of the two readings of a sensitivity.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact, InvalidOperation
from fractions import Fraction
from typing import Any

from ..exceptions import PrivacyError

# Sums and products of a few float64 readings have at most about 2500 digits; the trap
# turns a sum that would have to be rounded into an error.
EXACT = Context(
    prec=10_000, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[Inexact, InvalidOperation]
)

# Relative error allowed to mpmath, far above what its working precision leaves.
_SLACK = Fraction(1, 10**40)

_KEPT = threading.local()


def decimal_reading(value: float) -> Decimal:
    """The decimal that ``repr`` prints."""
    return Decimal(repr(value))


def claim_at_least(value: Decimal | Fraction) -> float:
    """The smallest float64 whose printed decimal is at least ``value`` >= 0."""
    exact = Fraction(value)
    number = _nearest_float(exact)
    while Fraction(repr(number)) < exact:
        number = _finite(math.nextafter(number, math.inf))
    return number


def claim_at_most(value: Decimal | Fraction) -> float:
    """The largest float64 whose printed decimal is at most ``value`` >= 0."""
    exact = Fraction(value)
    number = _nearest_float(exact)
    while Fraction(repr(number)) > exact:
        number = math.nextafter(number, 0.0)
    return number


def smallest_passing(passes: Callable[[float], bool], start: float) -> float:
    """The smallest positive float64 that passes a test, which all larger ones pass.

    Steps double from ``start`` until one that fails and one that passes are known;
    bisection then goes on until the two are neighbours. The answer was itself tested.
    """
    step = math.ulp(start)
    fail, good = 0.0, math.inf
    number = start
    while number > 0.0 and (fail == 0.0 or good == math.inf):
        if passes(_finite(number)):
            good, number = number, number - step
        else:
            fail, number = number, number + step
        step *= 2
    while (middle := fail + (good - fail) / 2) not in (fail, good):
        if passes(middle):
            good = middle
        else:
            fail = middle
    return good


def precise(digits: int) -> Any:
    """An mpmath context of this thread: ``mpmath.mp`` is shared between threads.

    It is kept, one for each number of digits: making one takes milliseconds.
    """
    contexts = vars(_KEPT).setdefault("contexts", {})
    if digits not in contexts:
        import mpmath  # many a release needs none of it

        contexts[digits] = mpmath.MPContext()
    context = contexts[digits]
    context.dps = digits
    return context


def to_precise(context: Any, value: Fraction) -> Any:
    """A fraction in the precision of the context."""
    return context.mpf(value.numerator) / value.denominator


def upper_fraction(number: Any) -> Fraction:
    """An upper bound of the non-negative number that mpmath approximates.

    It is never below 2^-1100, less than any positive float64: the fraction of a number
    such as exp(-10^12) would not fit in memory.
    """
    mantissa, exponent = max(number, number.context.ldexp(1, -1100)).man_exp
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent) * (1 + _SLACK)


def _nearest_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return _finite(math.inf)


def _finite(number: float) -> float:
    if number == math.inf:
        raise PrivacyError("the result is too large for a float64")
    return number
