"""From "these two must look alike" to a budget per unit of distance."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from .._validation import check_interval, check_positive
from ._conversion import rho_for_approx_dp
from ._exact import claim_at_most

_LARGEST_ODDS = 1e100  # beyond it, nothing is hidden
_SLACK = 1 - 2.0**-48  # log, sqrt and two products, each off by at most 2^-52


def epsilon_for_radius(radius: float, odds: float, *, domain: Any = None) -> float:
    """Epsilon of geo-privacy that hides differences within a radius.

    Whoever sees the release and wonders which of two functions within the radius it
    came from, changes the odds between both by at most the factor `odds`.

    Parameters
    ----------
    radius : float
        *Public.* The L2 distance within which functions must look alike; with
        `domain`, a distance in the units of the values, kept over the whole domain.
    odds : float
        *Public.* The largest factor, > 1: 2 is strong, 20 is weak.
    domain : tuple of two floats, default=None
        *Public.* The interval of the argument: two functions that are nowhere further
        apart than `radius` have an L2 distance of at most radius * sqrt(width).

    Returns
    -------
    float
        The largest epsilon with epsilon * distance <= log(odds), rounded down.

    Notes
    -----
    By definition eps-GP changes the odds by at most exp(eps * distance) [1]_. Twice the
    distance squares the factor: what lies far away is told apart, by design.

    References
    ----------
    .. [1] M. Andres, N. Bordenabe, K. Chatzikokolakis and C. Palamidessi,
       "Geo-indistinguishability: differential privacy for location-based systems",
       CCS 2013.

    Examples
    --------
    Traces of 10 minutes that are nowhere further apart than 200 metres:

    >>> from skfuncpriv.privacy import epsilon_for_radius
    >>> round(epsilon_for_radius(200.0, odds=3.0, domain=(0, 600)), 6)
    0.000224
    """
    return _at_most(math.log(_check_odds(odds)), _distance(radius, domain))


def rho_for_radius(
    radius: float, odds: float, delta: float, *, domain: Any = None
) -> float:
    """Rho of concentrated geo-privacy that hides differences within a radius.

    As `epsilon_for_radius`, but the factor may be exceeded with probability `delta`.

    Parameters
    ----------
    radius : float
        *Public.* As in `epsilon_for_radius`.
    odds : float
        *Public.* The largest factor, > 1.
    delta : float
        *Public.* In (0, 1).
    domain : tuple of two floats, default=None
        *Public.* As in `epsilon_for_radius`.

    Returns
    -------
    float
        A rho, rounded down, for which functions within the radius are
        (log(odds), delta)-indistinguishable.

    Examples
    --------
    >>> from skfuncpriv.privacy import rho_for_radius
    >>> round(rho_for_radius(100.0, odds=3.0, delta=1e-5), 8)
    3.63e-06
    """
    distance = _distance(radius, domain)
    epsilon = math.log(_check_odds(odds)) * _SLACK
    return _at_most(rho_for_approx_dp(epsilon, delta), distance, power=2)


def _distance(radius: Any, domain: Any) -> float:
    distance = check_positive(radius, "radius")
    if domain is not None:
        low, high = check_interval(domain, "domain")
        distance *= math.sqrt(high - low)
    return check_positive(distance, "the L2 distance of the radius")


def _check_odds(odds: Any) -> float:
    factor = check_positive(odds, "odds")
    if not 1 < factor <= _LARGEST_ODDS:
        raise ValueError(f"odds must be > 1 and at most 1e100, got {odds!r}")
    return factor


def _at_most(loss: float, distance: float, power: int = 1) -> float:
    reach = Fraction(distance) ** power
    number = claim_at_most(Fraction(loss) * Fraction(_SLACK) / reach)
    return check_positive(number, "the budget that the radius asks for")
