"""Exact arithmetic for budgets and scales: what is promised is checked in integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

from .._validation import check_positive


def exact_budget(value: float, name: str = "epsilon") -> Fraction:
    """Return the smaller of a budget's binary value and the decimal it prints as.

    The float nearest to 0.1 lies slightly above one tenth, while a ledger charges the
    decimal 0.1. A mechanism that keeps to the smaller of the two keeps both promises.

    Parameters
    ----------
    value : float
        A *public* budget, finite and > 0.
    name : str, default="epsilon"
        Its name in the error message.

    Returns
    -------
    fractions.Fraction
        The exact budget to keep to.

    Raises
    ------
    ValueError
        If `value` is not a finite number > 0.

    Examples
    --------
    >>> from skfuncpriv.noise import exact_budget
    >>> exact_budget(0.1)
    Fraction(1, 10)
    """
    number = check_positive(value, name)
    return min(Fraction(number), Fraction(repr(number)))


def squared_loss(
    radius: Fraction, scales: Iterable[float], bits: int = 256
) -> Fraction:
    """Return an upper bound, tight to `bits` bits, of sum_j (radius / scale_j)^2.

    Each term is rounded up to a multiple of a power of two, so that the sum stays
    cheap however many terms there are; exact rational terms would not.
    """
    terms = [(radius / Fraction(scale)) ** 2 for scale in scales]
    shift = bits - min(_exponent(term) for term in terms if term) if any(terms) else 0
    unit = Fraction(2) ** -shift
    return unit * sum(math.ceil(term / unit) for term in terms)


def smallest_safe(start: float, is_safe: Callable[[float], bool]) -> float:
    """Return a float at or just above `start` that is proved safe.

    Rounding errors leave `start` within a few units in the last place of the answer,
    so a few outward steps suffice; the proof is `is_safe` itself.
    """
    if not (math.isfinite(start) and start > 0):
        raise ValueError(
            "the noise scale leaves the range of floating point: "
            "choose a larger budget or a smaller sensitivity"
        )
    scale = start
    while not is_safe(scale):
        scale = math.nextafter(scale * (1 + 2**-52), math.inf)
    return scale


def _exponent(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length()
