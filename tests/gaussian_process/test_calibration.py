"""The budget of Gaussian noise: the smallest safe deviation, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.gaussian_process._calibration import GaussianBudget
from skfuncpriv.privacy import PrivacyGuarantee, gaussian_delta


@pytest.mark.parametrize("epsilon", [0.1, 1, 20.0])
@pytest.mark.parametrize("sensitivity", [1e-3, math.sqrt(2), 40.0])
def test_analytic_deviation_is_safe_and_the_smallest(epsilon, sensitivity):
    sigma = GaussianBudget(epsilon, 1e-6).deviation(sensitivity)
    assert gaussian_delta(epsilon, sigma, sensitivity) <= 1e-6
    assert gaussian_delta(epsilon, sigma * (1 - 1e-12), sensitivity) > 1e-6


def test_classic_deviation_is_the_published_constant():
    sigma = GaussianBudget(0.5, 1e-5, None, "classic").deviation(3.0)
    published = 3.0 * math.sqrt(2 * math.log(2 / 1e-5)) / 0.5
    assert sigma == pytest.approx(published, rel=1e-12)


def test_zcdp_deviation_is_safe_and_the_smallest():
    sigma = Fraction(GaussianBudget(rho=0.3).deviation(0.7))
    assert Fraction(0.7) ** 2 <= 2 * Fraction(3, 10) * sigma**2
    assert float(sigma) == pytest.approx(0.7 / math.sqrt(0.6), rel=1e-12)


@pytest.mark.parametrize("seeded", [True, False])
def test_guarantee(seeded):
    assert GaussianBudget(2, 1e-6).guarantee("person", seeded) == PrivacyGuarantee(
        definition="approx-dp", epsilon=2.0, delta=1e-6, unit="person", seeded=seeded
    )
    assert GaussianBudget(None, rho=2).guarantee("row", seeded) == PrivacyGuarantee(
        definition="zcdp", rho=2.0, unit="row", seeded=seeded
    )


def test_epsilon_and_calibration_are_not_read_with_rho():
    budget = GaussianBudget(-1.0, 0.0, 0.5, "classic")
    assert budget.deviation(1.0) == GaussianBudget(rho=0.5).deviation(1.0)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({}, "set delta, for example 1e-6, or rho"),
        ({"delta": 1e-6, "rho": 1.0}, "rho is a budget without delta"),
        ({"epsilon": 1.5, "delta": 1e-6, "calibration": "classic"}, "epsilon <= 1"),
    ],
)
def test_what_gaussian_noise_cannot_keep_is_refused(arguments, match):
    with pytest.raises(PrivacyError, match=match):
        GaussianBudget(**arguments)


@pytest.mark.parametrize("bad", [0, -1, np.nan, np.inf, True, "1", 1j, [1.0]])
def test_bad_numbers_are_refused(bad):
    with pytest.raises(ValueError, match="epsilon must be a finite number > 0"):
        GaussianBudget(bad, 1e-6)
    with pytest.raises(ValueError, match="rho must be a finite number > 0"):
        GaussianBudget(rho=bad)
    with pytest.raises(ValueError, match="sensitivity must be a finite number > 0"):
        GaussianBudget(rho=1.0).deviation(bad)


def test_other_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="delta must be a number in"):
        GaussianBudget(1.0, 1.0)
    with pytest.raises(ValueError, match="epsilon must be a finite number > 0"):
        GaussianBudget(None, 1e-6)
    with pytest.raises(ValueError, match="calibration must be one of"):
        GaussianBudget(1.0, 1e-6, None, "exact")
