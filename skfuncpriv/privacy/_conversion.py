"""From zero-concentrated to approximate differential privacy and back.

A rho-zCDP mechanism is (epsilon, delta)-DP for every alpha > 1 with

    epsilon = alpha rho + log(1 - 1/alpha) - (log(delta) + log(alpha)) / (alpha - 1)

(Canonne, Kamath and Steinke 2020, Proposition 12, solved for epsilon). With
u = alpha - 1 the derivative is rho + (log(delta) + log(1 + u)) / u^2, so the best u is
the one root of rho u^2 + log(1 + u) = log(1/delta).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from scipy.optimize import brentq

from .._validation import check_positive
from ..exceptions import PrivacyError
from ..noise import larger_reading, smaller_reading
from ._exact import (
    claim_at_least,
    precise,
    smallest_passing,
    to_precise,
    upper_fraction,
)

DIGITS = 80

# Where the formula gives zero or less, any positive epsilon is a true claim.
LEAST_EPSILON = 2.0**-1022


def zcdp_epsilon(rho: Fraction, delta: Fraction) -> float:
    """The smallest claim of epsilon that the conversion supports."""
    if rho == 0:
        return 0.0
    bound = _epsilon_bound(precise(DIGITS), rho, delta)
    return claim_at_least(max(bound, Fraction(LEAST_EPSILON)))


def rho_for_approx_dp(epsilon: float, delta: float) -> float:
    """Largest rho whose conversion to approximate DP fits (epsilon, delta).

    Parameters
    ----------
    epsilon, delta : float
        Public budget: epsilon finite and > 0, delta in (0, 1).

    Returns
    -------
    float
        The rho-zCDP budget, rounded down: its conversion never exceeds epsilon.

    Raises
    ------
    ValueError
        If epsilon or delta is out of range.
    PrivacyError
        If no positive float64 rho fits.

    Notes
    -----
    The conversion is Proposition 12 of [1]_ at its best order alpha. It is increasing
    in rho; each candidate is converted with 80 digits and the neighbouring float64
    above the answer no longer fits. Composing zCDP charges and converting once is
    tighter than adding (epsilon, delta) pairs.

    References
    ----------
    .. [1] C. Canonne, G. Kamath and T. Steinke, "The discrete Gaussian for
       differential privacy", NeurIPS 2020.

    Examples
    --------
    >>> from skfuncpriv.privacy import rho_for_approx_dp
    >>> round(rho_for_approx_dp(epsilon=1.0, delta=1e-6), 6)
    0.024356
    """
    limit = smaller_reading(check_positive(epsilon, "epsilon"))
    small = smaller_reading(check_open_delta(delta))

    mp = precise(DIGITS)

    def exceeds(rho: float) -> bool:
        return _epsilon_bound(mp, larger_reading(rho), small) > limit

    root_log = math.sqrt(-math.log(delta))
    start = (math.sqrt(root_log**2 + float(epsilon)) - root_log) ** 2
    first_above = smallest_passing(exceeds, max(start, math.ulp(0.0)))
    rho = math.nextafter(first_above, 0.0)
    if rho == 0.0:
        raise PrivacyError(
            f"no positive rho fits epsilon = {epsilon!r}, delta = {delta!r}"
        )
    return rho


def check_open_delta(value: float) -> float:
    """A delta strictly between 0 and 1."""
    number = check_positive(value, "delta")
    if number >= 1.0:
        raise ValueError(f"delta must be a number in (0, 1), got {value!r}")
    return number


def epsilon_at_order(mp: Any, divergence: Any, u: Any, delta: Fraction) -> Fraction:
    """An upper bound of epsilon where the Renyi divergence of order 1 + u is known.

    Proposition 12 holds for any such divergence, not only alpha rho. The result is zero
    where the formula is negative.
    """
    log_delta = mp.log(to_precise(mp, delta))
    terms = (
        divergence,
        -mp.log1p(1 / u),
        -log_delta / u,
        -mp.log1p(u) / u,
    )
    error = max(abs(term) for term in terms) * mp.mpf(10) ** (20 - mp.dps)
    return upper_fraction(max(sum(terms) + error, mp.mpf(0)))


def _epsilon_bound(mp: Any, rho: Fraction, delta: Fraction) -> Fraction:
    """An upper bound of the conversion; zero where the formula is negative."""
    # Any order gives a valid bound, so only the evaluation has to be rigorous.
    u = mp.mpf(_best_order(float(rho), float(delta)))
    return epsilon_at_order(mp, (1 + u) * to_precise(mp, rho), u, delta)


def _best_order(rho: float, delta: float) -> float:
    """The root u = alpha - 1 of rho u^2 + log(1 + u) = log(1/delta), in log(u)."""
    log_inverse = -math.log(delta)
    quadratic = math.sqrt(log_inverse) / math.sqrt(rho)
    # At the low end the left side is at most 3/4 of the right one, at the high end more
    # than the right one.
    low = math.log(min(log_inverse, quadratic) / 2)
    high = math.log(2 * quadratic)

    def slope(log_u: float) -> float:
        u = math.exp(log_u)
        return rho * u * u + math.log1p(u) - log_inverse

    return math.exp(float(brentq(slope, low, high, xtol=1e-13)))
