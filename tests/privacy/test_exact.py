"""Readings and roundings: a claim never says less than the exact number."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.noise import larger_reading, smaller_reading
from skfuncpriv.privacy import exact_epsilon
from skfuncpriv.privacy._exact import (
    EXACT,
    claim_at_least,
    claim_at_most,
    smallest_passing,
)


def test_exact_epsilon_is_the_smaller_reading():
    assert exact_epsilon(0.1) == Fraction(1, 10)  # the binary value is larger
    assert exact_epsilon(0.3) == Fraction(0.3) < Fraction(3, 10)
    assert exact_epsilon(np.float64(0.1)) == Fraction(1, 10)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, True, "1", None])
def test_exact_epsilon_refuses(bad):
    with pytest.raises(ValueError, match="epsilon must be a finite number > 0"):
        exact_epsilon(bad)


def test_the_two_readings_enclose_the_float():
    for value in np.random.default_rng(0).uniform(size=200).tolist():
        assert smaller_reading(value) <= Fraction(value) <= larger_reading(value)
        assert smaller_reading(value) <= Fraction(repr(value)) <= larger_reading(value)


@pytest.mark.parametrize(
    "exact",
    [
        Fraction(1, 3),
        Fraction(2, 3),
        Fraction(3, 10),
        Decimal("0.1") + Decimal("1e-20"),
        Decimal("0.3") - Decimal("1e-20"),
        Decimal("1e-400"),
        Decimal(7),
    ],
)
def test_claims_are_the_nearest_ones_on_their_side(exact):
    up, down = claim_at_least(exact), claim_at_most(exact)
    assert Fraction(repr(down)) <= Fraction(exact) <= Fraction(repr(up))
    assert up == down or math.nextafter(down, math.inf) == up


def test_a_claim_beyond_float64_is_refused():
    with pytest.raises(PrivacyError, match="too large for a float64"):
        claim_at_least(Decimal("1e400"))


def test_decimal_sums_are_never_rounded():
    total = EXACT.add(Decimal("1.7976931348623157e308"), Decimal("5e-324"))
    assert EXACT.subtract(total, Decimal("1.7976931348623157e308")) == Decimal("5e-324")


@pytest.mark.parametrize("start", [5e-324, 1e-9, 1.0, 0.1, 1e12, 1.7e308])
@pytest.mark.parametrize("limit", [5e-324, 3e-200, 0.1, 0.3, 2.5e17])
def test_smallest_passing_finds_the_very_float(limit, start):
    assert smallest_passing(lambda number: number >= limit, start) == limit


def test_smallest_passing_refuses_what_never_passes():
    with pytest.raises(PrivacyError, match="too large for a float64"):
        smallest_passing(lambda number: False, 1.0)
