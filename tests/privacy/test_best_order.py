"""Losses converted at the best order, against a plain search over many orders."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from skfuncpriv.privacy import PrivacyGuarantee, compose
from skfuncpriv.privacy._composed_loss import Parts, _float_above, smallest_epsilon
from skfuncpriv.privacy._conversion import zcdp_epsilon


def responses(alpha, epsilon):
    """The Renyi divergence of two randomised responses, from its definition."""
    log_p, log_q = -np.logaddexp(0, -epsilon), -np.logaddexp(0, epsilon)
    one = alpha * log_p + (1 - alpha) * log_q
    other = alpha * log_q + (1 - alpha) * log_p
    return np.logaddexp(one, other) / (alpha - 1)


def by_search(epsilons, rho, delta):
    """The smallest bound of Canonne, Kamath and Steinke (2020) over many orders."""
    alpha = 1 + np.geomspace(1e-4, 1e8, 100_001)
    divergence = alpha * rho + sum(responses(alpha, e) for e in epsilons)
    rest = np.log1p(-1 / alpha) - (np.log(delta) + np.log(alpha)) / (alpha - 1)
    return (divergence + rest).min()


CASES = [
    ([], 0.02, 1e-6),
    ([], 3.0, 1e-12),
    ([0.1] * 30, 0.0, 1e-6),
    ([0.1] * 30, 0.0, 1e-2),
    ([0.5, 0.01, 2.0], 0.0, 1e-9),
    ([0.3] * 5, 0.05, 1e-6),
    ([4.0], 0.5, 1e-3),
]


@pytest.mark.parametrize(("epsilons", "rho", "delta"), CASES)
def test_no_order_is_better(epsilons, rho, delta):
    parts = Parts(
        tuple(((Fraction(repr(e)), Fraction(0)), 1) for e in epsilons),
        Fraction(repr(rho)),
        Fraction(repr(delta)),
        Fraction(repr(delta)),
    )
    found = smallest_epsilon(parts, "concentrated")
    best = by_search(epsilons, rho, delta)
    assert best * (1 - 1e-6) <= found <= best * (1 + 1e-5)


def test_no_loss_at_all_costs_nothing_and_a_little_loss_a_little():
    nothing = Parts(
        (((Fraction(0), Fraction(0)), 1),), Fraction(0), Fraction(0), Fraction(0)
    )
    for method in ("auto", "basic", "concentrated", "optimal"):
        assert smallest_epsilon(nothing, method) == 0.0
    little = PrivacyGuarantee(definition="pure-dp", epsilon=1e-3)
    for method in ("auto", "concentrated", "optimal"):
        claim = compose(little, little, delta=0.5, method=method)
        assert 0.0 < claim.epsilon < 1e-12  # a definition needs a number above zero


@pytest.mark.parametrize("epsilon", [0.7, 7.0, 30.0, 300.0])
def test_one_large_part_never_claims_less_than_its_loss(epsilon):
    """p - e^claim (1 - p) = delta, in 400 digits."""
    with mpmath.workdps(400):
        p = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
        exact = mpmath.log((p - mpmath.mpf("0.01")) / (1 - p))
        part = PrivacyGuarantee(definition="pure-dp", epsilon=epsilon)
        claim = mpmath.mpf(compose(part, delta=0.01, method="optimal").epsilon)
        assert exact <= claim <= exact + mpmath.mpf(1e-12) * (1 + epsilon)


def test_a_rho_of_zero_converts_to_nothing():
    assert zcdp_epsilon(Fraction(0), Fraction(1, 10**6)) == 0.0
    assert 0.0 < zcdp_epsilon(Fraction(1, 10**30), Fraction(1, 10**6)) < 1e-13
    assert 0.0 < zcdp_epsilon(Fraction(1, 10**6), Fraction(1, 2)) < 1e-300


@pytest.mark.parametrize("text", ["0.1", "0.3", "0.7", "1e-6", "3e-7", "0.5", "0"])
def test_floats_for_another_package_are_not_below_the_decimals(text):
    number = _float_above(Fraction(text))
    assert np.nextafter(number, -1) < Fraction(text) <= Fraction(number)
