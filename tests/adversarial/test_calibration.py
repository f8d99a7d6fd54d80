"""Calibration against formulas written a second time, at 50 digits and more.

Budgets are drawn by hypothesis. Whatever is drawn, the answer keeps the budget in the
reading that allows less, and a scale 1e-9 smaller would not.
"""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.noise import (
    BlockSpherical,
    IndependentGaussian,
    IndependentLaplace,
    ShapedNoise,
    SphericalLaplace,
)
from skfuncpriv.privacy import (
    PrivacyGuarantee,
    analytic_gaussian_sigma,
    classic_gaussian_sigma,
    epsilon_for_radius,
    exact_epsilon,
    gaussian_delta,
    laplace_scale,
    rho_for_approx_dp,
    rho_for_radius,
    selection_epsilon,
    zcdp_sigma,
)
from tests.adversarial.cases import mp, number

CLOSE = mp.mpf(10) ** -9


def numbers(low, high):
    """Floats of any size between two powers of ten, with every digit."""
    return st.builds(
        lambda digits, power: digits * 10.0**power,
        st.floats(1.0, 9.999),
        st.integers(low, high - 1),
    )


EPSILON = numbers(-6, 6)
SENSITIVITY = numbers(-9, 9)
DELTA = numbers(-15, -1)


def readings(value):
    """The float and the decimal that it prints."""
    return number(Fraction(value)), number(Fraction(repr(value)))


def printed(value):
    """How the numbers of a guarantee are read."""
    return readings(value)[1]


def at_most(value):
    return min(readings(value))


def at_least(value):
    return max(readings(value))


def check_optimal(loss, scale, budget):
    """A loss that falls with the scale fits, and would not at a scale 1e-9 smaller."""
    assert loss(mp.mpf(scale)) <= budget
    assert loss(mp.mpf(scale) * (1 - CLOSE)) > budget


def normal_delta(epsilon, move):
    """Balle and Wang's delta by complementary error functions, 150 digits."""
    with mpmath.workdps(150):
        epsilon, move = mpmath.mpf(epsilon), mpmath.mpf(move)
        root = mpmath.sqrt(2)
        above = mpmath.erfc((epsilon / move - move / 2) / root) / 2
        below = mpmath.erfc((epsilon / move + move / 2) / root) / 2
        return above - mpmath.exp(epsilon) * below


@given(EPSILON, SENSITIVITY)
def test_laplace(epsilon, sensitivity):
    """Look for a budget at which the scale of Laplace noise is short by a rounding."""
    change = at_least(sensitivity)
    check_optimal(
        lambda scale: change / scale,
        laplace_scale(epsilon, sensitivity),
        at_most(epsilon),
    )
    assert number(exact_epsilon(epsilon)) == at_most(epsilon)


@given(EPSILON, SENSITIVITY)
def test_zcdp(rho, sensitivity):
    """Look for a rho at which the deviation is short by a rounding."""
    change = at_least(sensitivity)
    check_optimal(
        lambda sigma: (change / sigma) ** 2 / 2,
        zcdp_sigma(rho, sensitivity),
        at_most(rho),
    )


@given(EPSILON, DELTA, SENSITIVITY)
def test_analytic_gaussian(epsilon, delta, sensitivity):
    """Look for cancellation in Balle and Wang's formula that hides a part of delta."""
    change = at_least(sensitivity)
    check_optimal(
        lambda sigma: normal_delta(at_most(epsilon), change / sigma),
        analytic_gaussian_sigma(epsilon, delta, sensitivity),
        at_most(delta),
    )


@given(numbers(-3, 3), numbers(-2, 3))
def test_gaussian_delta(epsilon, sigma):
    """Look for a delta that is stated too small, in the far tails as well."""
    exact = normal_delta(at_most(epsilon), 1 / mp.mpf(sigma))
    found = gaussian_delta(epsilon, sigma)
    assert found >= exact
    assert found <= exact * (1 + CLOSE) + mp.mpf(2) ** -1070


@given(numbers(-6, 0), DELTA, SENSITIVITY)
def test_classic_gaussian(epsilon, delta, sensitivity):
    """The published formula, rounded up; with it the exact delta keeps the budget."""
    sigma = classic_gaussian_sigma(epsilon, delta, sensitivity)
    formula = at_least(sensitivity) * mp.sqrt(2 * mp.log(2 / at_most(delta)))
    formula /= at_most(epsilon)
    assert formula <= sigma <= formula * (1 + CLOSE)
    move = at_least(sensitivity) / mp.mpf(sigma)
    assert normal_delta(at_most(epsilon), move) <= at_most(delta)


def best_epsilon(rho, delta):
    """The least epsilon over all orders of Canonne, Kamath and Steinke."""

    def epsilon(log_u):
        u = mp.exp(log_u)
        terms = (1 + u) * rho - mp.log1p(1 / u)
        return terms - (mp.log(delta) + mp.log1p(u)) / u

    def slope(log_u):
        u = mp.exp(log_u)
        return rho * u**2 + mp.log1p(u) + mp.log(delta)

    high = mp.log(2 * mp.sqrt(-mp.log(delta) / rho) + 1)
    low, root = high - 80, high
    for _ in range(50):  # the bound is flat at its least value
        root = (low + high) / 2
        low, high = (root, high) if slope(root) < 0 else (low, root)
    # no other order does better
    assert epsilon(root) <= min(epsilon(root + mp.mpf("1e-3") * k) for k in (-1, 1))
    return epsilon(root)


@given(EPSILON, DELTA)
def test_rho_for_approx_dp(epsilon, delta):
    """Look for a rho whose conversion, at its best order, exceeds the budget."""
    rho, small = rho_for_approx_dp(epsilon, delta), at_most(delta)
    assert best_epsilon(at_least(rho), small) <= at_most(epsilon)
    assert best_epsilon(at_least(rho) * (1 + CLOSE), small) > at_most(epsilon)


@given(numbers(-6, 4), DELTA)
def test_zcdp_to_approx_dp(rho, delta):
    """Look for a converted guarantee that claims less than the best order gives."""
    guarantee = PrivacyGuarantee(definition="zcdp", rho=rho).to_approx_dp(delta)
    exact = best_epsilon(printed(rho), printed(delta))
    claim = printed(guarantee.epsilon)
    assert claim >= exact
    assert guarantee.epsilon <= max(exact * (1 + CLOSE), mp.mpf(2) ** -1000)


@given(EPSILON)
def test_selection(rho):
    """A pure choice at epsilon is epsilon^2/2-zCDP: the largest that fits."""
    epsilon = selection_epsilon(rho)
    assert number(Fraction(repr(epsilon))) ** 2 / 2 <= at_most(rho)
    assert (mp.mpf(epsilon) * (1 + CLOSE)) ** 2 / 2 > at_most(rho)


@settings(max_examples=8)
@given(numbers(-3, 6), st.floats(1.001, 1e6), DELTA, numbers(-3, 4))
def test_radius(radius, odds, delta, width):
    """Look for a radius at which the odds are exceeded, in either reading."""
    for domain in (None, (0.0, width)):
        reach = mp.mpf(radius) * (mp.sqrt(mp.mpf(width)) if domain else 1)
        epsilon = epsilon_for_radius(radius, odds, domain=domain)
        limit = mp.log(mp.mpf(odds))
        assert at_least(epsilon) * reach <= limit
        assert mp.mpf(epsilon) * reach >= limit * (1 - CLOSE)
        rho = rho_for_radius(radius, odds, delta, domain=domain)
        square = reach**2
        assert best_epsilon(at_least(rho) * square, at_most(delta)) <= limit
        more = at_least(rho) * square * (1 + 10 * CLOSE)
        assert best_epsilon(more, at_most(delta)) > limit * (1 - CLOSE)


PROFILE = st.lists(numbers(-3, 3), min_size=1, max_size=6)


@given(EPSILON, SENSITIVITY, PROFILE)
def test_laws_on_balls(epsilon, sensitivity, profile):
    """Look for a direction of the ball that costs more than epsilon, for every law.

    The worst one is known in closed form: along the inverse squares of the scales.
    """
    radius, size = at_least(sensitivity), len(profile)
    laplace = IndependentLaplace.scale_for(epsilon, sensitivity, profile)
    blocks = BlockSpherical.scale_for(epsilon, sensitivity, [2] * size, profile)
    for law in (laplace, blocks):
        check_optimal(
            lambda factor, law=law: (
                factor**-1
                * radius
                * mp.sqrt(mp.fsum(1 / mp.mpf(scale) ** 2 for scale in law.scales))
            ),
            1.0,
            at_most(epsilon),
        )
        shape = np.array(law.scales) / profile
        assert np.ptp(shape) <= 4e-16 * shape.max()
    spherical = SphericalLaplace.scale_for(epsilon, sensitivity, size)
    shaped = ShapedNoise.scale_for(epsilon, sensitivity, np.ones(size))
    for scale in (spherical.scale, shaped.law.scale):
        check_optimal(lambda s: radius / s, scale, at_most(epsilon))
    normal = IndependentGaussian.scale_for(epsilon, sensitivity, size)
    check_optimal(
        lambda s: (radius / s) ** 2 / 2, normal.deviations[0], at_most(epsilon)
    )


@given(st.floats(0, exclude_min=True, allow_infinity=False), numbers(-300, 300))
def test_any_float_is_calibrated_or_refused(epsilon, sensitivity):
    """Feed subnormal and huge budgets: a safe scale, or a refusal."""
    for calibrate, square in ((laplace_scale, False), (zcdp_sigma, True)):
        try:
            scale = calibrate(epsilon, sensitivity)
        except PrivacyError:  # beyond float64
            assert at_least(sensitivity) / at_most(epsilon) > mp.mpf(2) ** 500
            continue
        ratio = at_least(sensitivity) / mp.mpf(scale)
        loss = ratio**2 / 2 if square else ratio
        assert loss <= at_most(epsilon)
        assert 0 < scale < float("inf")


@pytest.mark.parametrize("factor", [2**0.5, 2**-0.5, 1 + 1e-8])
def test_the_oracle_notices_wrong_scales(factor):
    """Too little noise by sqrt(2), too much, and more than is needed by 1e-8."""
    sigma = analytic_gaussian_sigma(0.7, 1e-6) * factor
    with pytest.raises(AssertionError):
        check_optimal(lambda s: normal_delta(at_most(0.7), 1 / s), sigma, at_most(1e-6))
