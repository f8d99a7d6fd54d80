"""Calibration: private in exact arithmetic, and not a float64 noisier than needed."""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_mechanism

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.privacy import (
    analytic_gaussian_sigma,
    classic_gaussian_sigma,
    exact_epsilon,
    gaussian_delta,
    laplace_scale,
    zcdp_sigma,
)

EPSILONS = [1e-3, 0.03, 0.1, 0.7, 1.0, 3.3, 10.0, 50.0]
DELTAS = [1e-15, 1e-10, 1e-6, 1e-4, 1e-2]
SENSITIVITIES = [0.1, 1.0, 3e-7, 1234.5]
BUDGETS = [0.1, 0.3, 1.0, 1e-9, 7.7, 1e6]
GRID = list(product(EPSILONS, DELTAS))


def reference_delta(epsilon, sigma, sensitivity=1.0):
    """Balle and Wang's formula with erfc, 120 digits, decimal epsilon."""
    with mpmath.workdps(120):
        exact = exact_epsilon(epsilon)
        loss = mpmath.mpf(exact.numerator) / exact.denominator
        m = mpmath.mpf(sensitivity) / mpmath.mpf(sigma)
        root = mpmath.sqrt(2)
        above = mpmath.erfc((loss / m - m / 2) / root) / 2
        return above - mpmath.exp(loss) * mpmath.erfc((loss / m + m / 2) / root) / 2


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_analytic_sigma_is_private_and_tight(epsilon, delta):
    sigma = analytic_gaussian_sigma(epsilon, delta)
    assert reference_delta(epsilon, sigma) <= delta
    below = sigma * (1 - 1e-9)
    assert reference_delta(epsilon, below) > delta


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-3, 1e-15), (0.1, 1e-6), (50, 0.01)])
def test_analytic_sigma_is_the_smallest_float(epsilon, delta):
    sigma = analytic_gaussian_sigma(epsilon, delta)
    with mpmath.workdps(120):
        reading = min(mpmath.mpf(delta), mpmath.mpf(repr(delta)))
        assert reference_delta(epsilon, sigma) <= reading
        assert reference_delta(epsilon, math.nextafter(sigma, 0)) > reading


@pytest.mark.parametrize(
    ("epsilon", "delta"), list(product([0.1, 1.0, 3.3, 10.0], [1e-6, 1e-4, 1e-2]))
)
def test_gaussian_delta_agrees_with_dp_accounting(epsilon, delta):
    sigma = analytic_gaussian_sigma(epsilon, delta)
    loss = privacy_loss_mechanism.GaussianPrivacyLoss(sigma)
    theirs = loss.get_delta_for_epsilon(epsilon)
    assert gaussian_delta(epsilon, sigma) == pytest.approx(theirs, rel=1e-7)


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_gaussian_delta_rounds_up(epsilon, delta):
    sigma = 1.1 * analytic_gaussian_sigma(epsilon, delta)
    exact = reference_delta(epsilon, sigma)
    assert exact <= gaussian_delta(epsilon, sigma) <= exact * (1 + 1e-15)


def test_gaussian_delta_in_the_far_tails():
    assert gaussian_delta(1.0, 1e6) == math.ulp(0.0)
    assert gaussian_delta(1e-3, 1e100) == math.ulp(0.0)
    assert gaussian_delta(1.0, 1e-9) == 1.0


def test_sensitivity_scales_sigma():
    one = analytic_gaussian_sigma(0.7, 1e-6)
    assert analytic_gaussian_sigma(0.7, 1e-6, 8.0) == 8 * one
    assert gaussian_delta(0.7, 8 * one, 8.0) == gaussian_delta(0.7, one)


@pytest.mark.parametrize("delta", [1e-300, 0.9])
@pytest.mark.parametrize("epsilon", [1e-10, 1e6])
def test_analytic_sigma_at_extreme_budgets(epsilon, delta):
    sigma = analytic_gaussian_sigma(epsilon, delta)
    assert gaussian_delta(epsilon, sigma) <= delta
    assert gaussian_delta(epsilon, sigma * (1 - 1e-9)) > delta


@pytest.mark.parametrize(
    ("epsilon", "sensitivity"), list(product(BUDGETS, SENSITIVITIES))
)
def test_laplace_scale_is_the_smallest_exact_one(epsilon, sensitivity):
    scale = laplace_scale(epsilon, sensitivity)
    change = max(Fraction(sensitivity), Fraction(repr(sensitivity)))
    assert change / Fraction(scale) <= min(Fraction(epsilon), Fraction(repr(epsilon)))
    assert change / Fraction(math.nextafter(scale, 0)) > exact_epsilon(epsilon)


@pytest.mark.parametrize(("rho", "sensitivity"), list(product(BUDGETS, SENSITIVITIES)))
def test_zcdp_sigma_is_the_smallest_exact_one(rho, sensitivity):
    sigma = zcdp_sigma(rho, sensitivity)
    square = max(Fraction(sensitivity), Fraction(repr(sensitivity))) ** 2
    assert square / (2 * Fraction(sigma) ** 2) <= exact_epsilon(rho)
    assert square / (2 * Fraction(math.nextafter(sigma, 0)) ** 2) > exact_epsilon(rho)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0])
def test_classic_sigma(epsilon, delta):
    sigma = classic_gaussian_sigma(epsilon, delta, 0.5)
    formula = 0.5 * math.sqrt(2 * math.log(2 / delta)) / epsilon
    assert sigma == pytest.approx(formula, rel=1e-14)
    with mpmath.workdps(60):
        exact = mpmath.sqrt(2 * mpmath.log(2 / mpmath.mpf(repr(delta)))) / 2
        assert sigma >= exact / mpmath.mpf(repr(epsilon))
    assert sigma > analytic_gaussian_sigma(epsilon, delta, 0.5)


def test_classic_sigma_is_refused_above_one():
    with pytest.raises(PrivacyError, match="use analytic_gaussian_sigma"):
        classic_gaussian_sigma(1.0000001, 1e-6)


@pytest.mark.parametrize(
    "calibrate",
    [
        lambda epsilon: laplace_scale(epsilon),
        lambda epsilon: analytic_gaussian_sigma(epsilon, 1e-6),
        lambda epsilon: classic_gaussian_sigma(epsilon, 1e-6),
        lambda epsilon: gaussian_delta(epsilon, 1.0),
    ],
)
@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "1", True, np.True_, None])
def test_bad_epsilon_is_refused(calibrate, bad):
    with pytest.raises(ValueError, match="epsilon must be a finite number > 0"):
        calibrate(bad)


@pytest.mark.parametrize("bad", [0, 1, -1e-9, math.nan, "0.1", True])
def test_bad_delta_is_refused(bad):
    for calibrate in (analytic_gaussian_sigma, classic_gaussian_sigma):
        with pytest.raises(ValueError, match="delta must be"):
            calibrate(1.0, bad)


def test_bad_sensitivity_is_refused():
    for calibrate in (laplace_scale, zcdp_sigma):
        with pytest.raises(ValueError, match="sensitivity must be a finite number > 0"):
            calibrate(1.0, 0.0)


def test_a_scale_that_overflows_is_refused():
    for calibrate in (laplace_scale, zcdp_sigma):
        with pytest.raises(PrivacyError, match="too large for a float64"):
            calibrate(1e-300, 1e300)


def test_budgets_that_are_met_exactly_cost_nothing_more():
    """Powers of two: the textbook's scale is a float, and no larger one is taken."""
    assert laplace_scale(0.5, 2.0) == 4.0
    assert zcdp_sigma(0.125, 2.0) == 4.0
    assert zcdp_sigma(2.0, 1.0) == 0.5


def test_scales_below_every_float_are_the_smallest():
    assert laplace_scale(1e300, 1e-300) == 5e-324
    assert zcdp_sigma(1e300, 1e-300) == 5e-324
