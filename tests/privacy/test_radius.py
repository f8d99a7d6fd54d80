"""From a radius and odds to a budget: the promise is kept, and nearly used up."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.privacy import (
    PrivacyGuarantee,
    epsilon_for_radius,
    rho_for_radius,
)

CASES = [
    (radius, odds)
    for radius in (1e-30, 0.1, 1 / 3, 200.0, 7e7, 1e100)
    for odds in (1 + 2.0**-40, 1.1, 2, 3.0, 1e6)
]


@pytest.mark.parametrize(("radius", "odds"), CASES)
def test_epsilon_keeps_the_odds(radius, odds):
    epsilon = epsilon_for_radius(radius, odds)
    for reading in (Fraction(epsilon), Fraction(repr(epsilon))):
        with mpmath.workdps(60):
            loss = mpmath.mpf(reading.numerator) / reading.denominator
            loss *= mpmath.mpf(radius)
            allowed = mpmath.log(mpmath.mpf(odds))
            assert allowed * (1 - mpmath.mpf(2) ** -45) <= loss <= allowed


@pytest.mark.parametrize(("radius", "odds"), [case for case in CASES if case[1] > 1.01])
@pytest.mark.parametrize("delta", [1e-10, 1e-5, 0.1])
def test_rho_keeps_the_odds(radius, odds, delta):
    rho = rho_for_radius(radius, odds, delta)
    promise = PrivacyGuarantee(definition="concentrated-geo", rho=rho, metric="L2")
    found = promise.to_approx_dp(delta, radius=radius).epsilon
    assert found <= math.log(odds)
    assert found >= math.log(odds) * (1 - 1e-9)


def test_functions_that_are_near_everywhere():
    """Nowhere further apart than the radius: an L2 distance of radius sqrt(width)."""
    domain = (100.0, 700.0)
    reach = 200 * math.sqrt(600)
    assert epsilon_for_radius(200, 3, domain=domain) == pytest.approx(
        epsilon_for_radius(reach, 3), rel=1e-12
    )
    assert rho_for_radius(200, 3, 1e-5, domain=domain) == pytest.approx(
        rho_for_radius(reach, 3, 1e-5), rel=1e-12
    )


def test_directions():
    """Wider and stronger protection both cost."""
    assert epsilon_for_radius(2, 3) < epsilon_for_radius(1, 3)
    assert epsilon_for_radius(1, 2) < epsilon_for_radius(1, 3)
    assert epsilon_for_radius(1, 9) == pytest.approx(2 * epsilon_for_radius(1, 3))
    assert rho_for_radius(2, 3, 0.01) == pytest.approx(rho_for_radius(1, 3, 0.01) / 4)
    assert rho_for_radius(1, 3, 1e-9) < rho_for_radius(1, 3, 0.01)
    assert type(epsilon_for_radius(np.float32(1), np.int64(2))) is float


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, True, "1", None])
def test_bad_radii_are_refused(bad):
    for helper in (epsilon_for_radius, lambda r, o: rho_for_radius(r, o, 0.1)):
        with pytest.raises(ValueError, match="radius must be a finite number > 0"):
            helper(bad, 2.0)


@pytest.mark.parametrize("bad", [1, 1.0, 0.5])
def test_odds_of_one_or_less_are_refused(bad):
    with pytest.raises(ValueError, match="odds must be > 1 and at most 1e100, got"):
        epsilon_for_radius(1.0, bad)


@pytest.mark.parametrize("bad", [0, 1, -0.1, 2, math.nan, "0.1", True])
def test_bad_deltas_are_refused(bad):
    with pytest.raises(ValueError, match="delta"):
        rho_for_radius(1.0, 2.0, bad)


@pytest.mark.parametrize("bad", [(1, 0), (0, math.inf), 3, (0, 1, 2)])
def test_bad_domains_are_refused(bad):
    with pytest.raises(ValueError, match="domain must be two finite numbers"):
        epsilon_for_radius(1.0, 2.0, domain=bad)


def test_what_floats_cannot_hold_is_refused():
    for call in (
        lambda: epsilon_for_radius(1e300, 2.0, domain=(0, 1e300)),
        lambda: rho_for_radius(1e200, 2.0, 1e-5),
    ):
        with pytest.raises(ValueError, match=r"radius.* must be a finite number > 0"):
            call()
    for call in (
        lambda: epsilon_for_radius(1e-320, 2.0),
        lambda: rho_for_radius(1e-200, 2.0, 1e-5),
    ):
        with pytest.raises(PrivacyError, match="too large for a float64"):
            call()
