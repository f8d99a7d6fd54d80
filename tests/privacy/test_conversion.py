"""From zCDP to approximate DP: valid, never above the closed form, near tight."""

import math
from fractions import Fraction
from functools import cache
from itertools import product

import mpmath
import opendp.prelude as dp
import pytest
from dp_accounting import dp_event
from dp_accounting.rdp import rdp_privacy_accountant

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.privacy import PrivacyGuarantee, gaussian_delta, rho_for_approx_dp

RHOS = [1e-6, 1e-3, 0.05, 0.5, 3.0, 40.0]
DELTAS = [1e-15, 1e-9, 1e-5, 1e-2, 0.3]
GRID = list(product(RHOS, DELTAS))


def convert(rho, delta):
    guarantee = PrivacyGuarantee(definition="zcdp", rho=rho)
    return guarantee.to_approx_dp(delta).epsilon


@pytest.mark.parametrize(("rho", "delta"), GRID)
def test_never_exceeds_the_closed_form(rho, delta):
    closed_form = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert convert(rho, delta) <= closed_form


@pytest.mark.parametrize(("rho", "delta"), GRID)
def test_covers_the_gaussian_mechanism(rho, delta):
    """Gaussian noise with sigma^2 = 1/(2 rho) is rho-zCDP, its exact delta known."""
    sigma = 1 / math.sqrt(2 * rho)
    assert gaussian_delta(convert(rho, delta), sigma) <= delta


@cache
def orders():
    """A grid of alpha, with 1 / (alpha - 1) and what no budget changes, 50 digits."""
    grid = [1 + mpmath.mpf(10) ** (mpmath.mpf(k) / 200) for k in range(-1000, 3200)]
    return [
        (a, 1 / (a - 1), mpmath.log1p(-1 / a) - mpmath.log(a) / (a - 1)) for a in grid
    ]


@pytest.mark.parametrize(("rho", "delta"), GRID)
def test_is_the_minimum_over_alpha(rho, delta):
    with mpmath.workdps(50):
        exact_rho, log_delta = mpmath.mpf(str(rho)), mpmath.log(mpmath.mpf(str(delta)))
        best = min(a * exact_rho + rest - log_delta * b for a, b, rest in orders())
        best = max(best, 0)
        # The grid is 1.16 % apart in alpha - 1: at a minimum that costs 1e-4 at most.
        assert best * (1 - mpmath.mpf("1e-4")) <= convert(rho, delta)
        assert convert(rho, delta) <= best + mpmath.mpf("1e-12") * (1 + best)


@pytest.mark.parametrize(("rho", "delta"), [case for case in GRID if case[1] < 0.1])
def test_meets_opendp(rho, delta):
    """OpenDP searches delta where we solve for epsilon: one curve, two ways."""
    dp.enable_features("contrib")
    space = dp.atom_domain(T=int), dp.absolute_distance(T=float)
    noise = dp.m.make_gaussian(*space, scale=1 / math.sqrt(2 * rho))
    theirs = dp.c.make_zCDP_to_approxDP(noise).map(1.0).epsilon(delta)
    assert convert(rho, delta) == pytest.approx(theirs, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("rho", [1e-3, 0.05, 0.5, 3.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 1e-2])
def test_meets_dp_accounting(rho, delta):
    """Its orders are a grid, ours is the best one: at most 6 % smaller here."""
    accountant = rdp_privacy_accountant.RdpAccountant()
    accountant.compose(dp_event.ZCDpEvent(rho=rho, xi=0.0))
    theirs = accountant.get_epsilon(delta)
    assert 0.94 * theirs <= convert(rho, delta) <= theirs * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 50.0])
@pytest.mark.parametrize("delta", DELTAS)
def test_rho_for_approx_dp_is_the_largest_that_fits(epsilon, delta):
    rho = rho_for_approx_dp(epsilon, delta)
    assert convert(rho, delta) <= epsilon
    assert convert(rho * (1 + 1e-12), delta) > epsilon
    exact = Fraction(repr(convert(rho, delta)))
    assert exact <= min(Fraction(epsilon), Fraction(repr(epsilon)))


@pytest.mark.parametrize("delta", [0, 1, -0.1, math.nan, 2, True])
def test_rho_for_approx_dp_refuses_delta(delta):
    with pytest.raises(ValueError, match="delta must be"):
        rho_for_approx_dp(1.0, delta)


def test_an_unreachable_budget_is_refused():
    with pytest.raises(PrivacyError, match="no positive rho fits"):
        rho_for_approx_dp(1e-320, 1e-300)
