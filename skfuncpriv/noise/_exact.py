"""Exact arithmetic for budgets and scales: what is promised is checked in integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

from .._validation import check_positive


def exact_epsilon(epsilon: float) -> Fraction:
    """Largest budget that both readings of a float64 epsilon allow.

    Parameters
    ----------
    epsilon : float
        Public budget, finite and > 0.

    Returns
    -------
    Fraction
        The smaller of the binary value and of the decimal that ``repr`` prints.

    Raises
    ------
    ValueError
        If epsilon is not a finite number > 0.

    Notes
    -----
    A mechanism calibrated to this value keeps its promise whether the reader takes the
    printed decimal or the stored float64, and costs the ledger no more than is charged.

    Examples
    --------
    >>> from skfuncpriv.privacy import exact_epsilon
    >>> exact_epsilon(0.1)
    Fraction(1, 10)
    """
    return smaller_reading(check_positive(epsilon, "epsilon"))


def smaller_reading(value: float) -> Fraction:
    """Return the smaller of the binary value and the printed decimal.

    Parameters
    ----------
    value : float
        A public budget.

    Returns
    -------
    Fraction
        The exact budget to keep to.

    Examples
    --------
    >>> from skfuncpriv.noise import smaller_reading
    >>> smaller_reading(0.1)
    Fraction(1, 10)
    """
    return min(Fraction(value), Fraction(repr(value)))


def larger_reading(value: float) -> Fraction:
    """Return the larger of the binary value and the printed decimal.

    Parameters
    ----------
    value : float
        A public sensitivity.

    Returns
    -------
    Fraction
        The exact sensitivity to cover.

    Examples
    --------
    >>> from skfuncpriv.noise import larger_reading
    >>> larger_reading(0.3)
    Fraction(3, 10)
    """
    return max(Fraction(value), Fraction(repr(value)))


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
