"""How much noise a budget asks for; every answer is the safe end.

Each function searches the smallest float64 scale that passes its own check, in exact
rational arithmetic for the Laplace law and zCDP, with 60 digits or more for the
Gaussian law. A budget is the smaller of its two readings, a sensitivity the larger.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from .._validation import check_positive
from ..exceptions import PrivacyError
from ..noise import exact_epsilon, larger_reading, smaller_reading
from ._conversion import check_open_delta
from ._exact import (
    claim_at_least,
    precise,
    smallest_passing,
    to_precise,
    upper_fraction,
)

_MOST_STEPS = 40  # of Newton's method, which takes about six
_CLOSE = 1e-10  # relative; the step after such a one would be about its square


def laplace_scale(epsilon: float, sensitivity: float = 1.0) -> float:
    """Scale of Laplace noise for pure differential privacy.

    Parameters
    ----------
    epsilon : float
        Public budget, finite and > 0.
    sensitivity : float, default=1.0
        Largest change of the released number between neighbours.

    Returns
    -------
    float
        The smallest float64 b with sensitivity / b <= epsilon.

    Raises
    ------
    ValueError
        If a parameter is not a finite number > 0.
    PrivacyError
        If the scale overflows.

    Notes
    -----
    The density exp(-abs(z)/b) / (2 b) changes by at most exp(sensitivity / b) when z
    moves by the sensitivity [1]_. The inequality is checked between fractions, with
    epsilon as in :func:`exact_epsilon`.

    References
    ----------
    .. [1] C. Dwork, F. McSherry, K. Nissim and A. Smith, "Calibrating noise to
       sensitivity in private data analysis", TCC 2006.

    Examples
    --------
    >>> from skfuncpriv.privacy import laplace_scale
    >>> laplace_scale(epsilon=0.5, sensitivity=2.0)
    4.0
    """
    budget = exact_epsilon(epsilon)
    change = larger_reading(check_positive(sensitivity, "sensitivity"))
    return smallest_passing(
        lambda scale: change <= budget * Fraction(scale), _start(change / budget)
    )


def zcdp_sigma(rho: float, sensitivity: float = 1.0) -> float:
    """Deviation of Gaussian noise for zero-concentrated differential privacy.

    Parameters
    ----------
    rho : float
        Public budget, finite and > 0.
    sensitivity : float, default=1.0
        Largest Euclidean change of the released vector between neighbours.

    Returns
    -------
    float
        The smallest float64 sigma with sensitivity^2 / (2 sigma^2) <= rho.

    Raises
    ------
    ValueError
        If a parameter is not a finite number > 0.
    PrivacyError
        If the deviation overflows.

    Notes
    -----
    The Renyi divergence of order alpha between N(0, sigma^2) and its shift by d is
    alpha d^2 / (2 sigma^2) (Proposition 1.6 of [1]_). Checked between fractions.

    References
    ----------
    .. [1] M. Bun and T. Steinke, "Concentrated differential privacy: simplifications,
       extensions, and lower bounds", TCC 2016.

    Examples
    --------
    >>> from skfuncpriv.privacy import zcdp_sigma
    >>> zcdp_sigma(rho=0.5, sensitivity=2.0)
    2.0
    """
    budget = smaller_reading(check_positive(rho, "rho"))
    square = larger_reading(check_positive(sensitivity, "sensitivity")) ** 2
    mp = precise(60)
    start = mp.sqrt(to_precise(mp, square / (2 * budget)))
    return smallest_passing(
        lambda sigma: square <= 2 * budget * Fraction(sigma) ** 2,
        _start(upper_fraction(start)),
    )


def analytic_gaussian_sigma(
    epsilon: float, delta: float, sensitivity: float = 1.0
) -> float:
    """Smallest deviation of Gaussian noise for approximate differential privacy.

    Parameters
    ----------
    epsilon : float
        Public budget, finite and > 0; unlike the classic formula, above 1 as well.
    delta : float
        Public budget, in (0, 1).
    sensitivity : float, default=1.0
        Largest Euclidean change of the released vector between neighbours.

    Returns
    -------
    float
        The smallest float64 sigma whose exact delta does not exceed ``delta``.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    PrivacyError
        If the deviation overflows.

    Notes
    -----
    Theorem 8 of [1]_: N(0, sigma^2) noise is (epsilon, delta)-DP if and only if

        Phi(m/2 - epsilon/m) - exp(epsilon) Phi(-m/2 - epsilon/m) <= delta,

    with m = sensitivity / sigma. The left side decreases in sigma and is evaluated with
    60 digits after cancellation.

    References
    ----------
    .. [1] B. Balle and Y.-X. Wang, "Improving the Gaussian mechanism for differential
       privacy: analytical calibration and optimal denoising", ICML 2018.

    Examples
    --------
    >>> from skfuncpriv.privacy import analytic_gaussian_sigma
    >>> round(analytic_gaussian_sigma(epsilon=1.0, delta=1e-6), 6)
    4.224679
    """
    budget = exact_epsilon(epsilon)
    small = smaller_reading(check_open_delta(delta))
    change = larger_reading(check_positive(sensitivity, "sensitivity"))
    mp = precise(_digits(budget, Fraction(1)))

    def is_safe(sigma: float) -> bool:
        return _gaussian_delta_bound(mp, budget, change / Fraction(sigma)) <= small

    # For large epsilon sigma is near sensitivity/sqrt(2 epsilon), for small delta near
    # the classic formula; Newton's method goes from there to within a few floats.
    log_delta = mp.log(to_precise(mp, small))
    exact = to_precise(mp, budget)
    guess = (mp.sqrt(-log_delta) + mp.sqrt(-log_delta + exact)) / exact / mp.sqrt(2)
    start = to_precise(mp, change) / _gaussian_ratio(mp, exact, log_delta, 1 / guess)
    return smallest_passing(is_safe, _start(upper_fraction(start)))


def gaussian_delta(epsilon: float, sigma: float, sensitivity: float = 1.0) -> float:
    """Exact delta of Gaussian noise at a given epsilon.

    Parameters
    ----------
    epsilon : float
        Finite and > 0.
    sigma : float
        Deviation of the noise, finite and > 0.
    sensitivity : float, default=1.0
        Largest Euclidean change of the released vector between neighbours.

    Returns
    -------
    float
        The smallest delta that holds, rounded up.

    Raises
    ------
    ValueError
        If a parameter is not a finite number > 0.

    Notes
    -----
    Theorem 8 of [1]_, see :func:`analytic_gaussian_sigma`; 60 digits after
    cancellation.

    References
    ----------
    .. [1] B. Balle and Y.-X. Wang, "Improving the Gaussian mechanism for differential
       privacy: analytical calibration and optimal denoising", ICML 2018.

    Examples
    --------
    >>> from skfuncpriv.privacy import gaussian_delta
    >>> round(gaussian_delta(epsilon=1.0, sigma=1.0), 6)
    0.126937
    """
    budget = exact_epsilon(epsilon)
    change = larger_reading(check_positive(sensitivity, "sensitivity"))
    ratio = change / Fraction(check_positive(sigma, "sigma"))
    mp = precise(_digits(budget, ratio))
    bound = min(_gaussian_delta_bound(mp, budget, ratio), Fraction(1))
    number = claim_at_least(bound)
    return number if number >= bound else math.nextafter(number, 1.0)


def classic_gaussian_sigma(
    epsilon: float, delta: float, sensitivity: float = 1.0
) -> float:
    """Deviation of Gaussian noise by the classic formula, for epsilon <= 1.

    Parameters
    ----------
    epsilon : float
        Public budget in (0, 1].
    delta : float
        Public budget in (0, 1).
    sensitivity : float, default=1.0
        Largest Euclidean or RKHS norm of the change between neighbours.

    Returns
    -------
    float
        The number sensitivity * sqrt(2 log(2/delta)) / epsilon, rounded up.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    PrivacyError
        If epsilon > 1, where the formula is not proved.

    Notes
    -----
    The constant c(delta) = sqrt(2 log(2/delta)) is that of [1]_ for functions in an
    RKHS, kept to reproduce published figures. :func:`analytic_gaussian_sigma` needs
    less noise and holds for every epsilon.

    References
    ----------
    .. [1] R. Hall, A. Rinaldo and L. Wasserman, "Differential privacy for functions
       and functional data", Journal of Machine Learning Research 14, 2013.

    Examples
    --------
    >>> from skfuncpriv.privacy import classic_gaussian_sigma
    >>> round(classic_gaussian_sigma(epsilon=1.0, delta=1e-6), 6)
    5.386772
    """
    budget = exact_epsilon(epsilon)
    if epsilon > 1:
        raise PrivacyError(
            f"the classic calibration needs epsilon <= 1, got {epsilon!r}; "
            "use analytic_gaussian_sigma"
        )
    small = smaller_reading(check_open_delta(delta))
    change = larger_reading(check_positive(sensitivity, "sensitivity"))
    mp = precise(60)
    constant = upper_fraction(mp.sqrt(2 * mp.log(to_precise(mp, 2 / small))))
    exact = change * constant / budget
    return smallest_passing(lambda sigma: Fraction(sigma) >= exact, _start(exact))


def _gaussian_delta_bound(mp: Any, epsilon: Fraction, ratio: Fraction) -> Fraction:
    """Upper bound of the exact delta; ``ratio`` is sensitivity / sigma."""
    return upper_fraction(
        _gaussian_delta(mp, to_precise(mp, epsilon), to_precise(mp, ratio))
    )


def _gaussian_delta(mp: Any, epsilon: Any, m: Any) -> Any:
    distance = m / 2 - epsilon / m
    # Phi(-40) is less than any positive float64.
    if abs(distance) > 40:
        return mp.mpf(0 if distance < 0 else 1)
    above = mp.ncdf(distance)
    below = mp.exp(epsilon) * mp.ncdf(-m / 2 - epsilon / m)
    return max(above - below, mp.mpf(0))


def _gaussian_ratio(mp: Any, epsilon: Any, log_delta: Any, m: Any) -> Any:
    """Where the exact delta is about the given one: a place to search from.

    Newton's method for log(delta) as a function of log(m), whose derivative is
    m phi(m/2 - epsilon/m) / delta. Nothing relies on its result.
    """
    for _ in range(_MOST_STEPS):
        delta = _gaussian_delta(mp, epsilon, m)
        slope = m * mp.npdf(m / 2 - epsilon / m)
        if not delta or not slope:
            break
        step = (log_delta - mp.log(delta)) * delta / slope
        m *= mp.exp(min(max(step, -1), 1))
        if abs(step) < _CLOSE:
            break
    return m


def _digits(epsilon: Fraction, ratio: Fraction) -> int:
    """Digits to work with so that 60 are left, in every range.

    With m the ratio, the difference of the two terms is about m^2 / epsilon of each,
    and rounding the arguments costs them another factor of (m/2 + epsilon/m)^2.
    """
    return 60 + 4 * (abs(_magnitude(epsilon)) + abs(_magnitude(ratio)))


def _magnitude(value: Fraction) -> int:
    """The decimal exponent, to within two."""
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    return bits * 3 // 10


def _start(value: Fraction) -> float:
    """The nearest positive float64, where a search begins."""
    try:
        return max(float(value), math.ulp(0.0))
    except OverflowError:
        raise PrivacyError("the noise scale is too large for a float64") from None
