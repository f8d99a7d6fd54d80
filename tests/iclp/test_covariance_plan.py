"""The public plan of a covariance: shares of the budget, laws, number of functions."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from skfuncpriv.basis import CosineBasis
from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.iclp._covariance_plan import float_below, plan_covariance
from skfuncpriv.iclp._plan import SENSITIVITY
from skfuncpriv.noise import SeededBits, exact_epsilon

SPECTRUM = CosineBasis(64).spectrum
BASE = {
    "n_people": 500, "n_outputs": 1, "spectrum": SPECTRUM, "epsilon": 1.0,
    "delta": 0.0, "mechanisms": ("spherical",), "n_functions": None, "fewest": 1,
    "public_radius": False,
}  # fmt: skip
EPSILONS = [0.1, 0.3, 1.0, 1 / 3, 7.7, 1e-6, 1e6, 0.1 + 0.2]


def plan_of(**facts):
    return plan_covariance(**{**BASE, **facts})


@pytest.mark.parametrize("public_radius", [True, False])
@pytest.mark.parametrize("mechanism", ["spherical", "laplace"])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_pure_shares_add_up_in_exact_arithmetic(epsilon, mechanism, public_radius):
    plan = plan_of(
        epsilon=epsilon, mechanisms=(mechanism,), public_radius=public_radius
    )
    parts = [plan.mean.epsilon, plan.epsilon_radius or 0.0, plan._epsilon_moment]
    total = sum(map(Fraction, parts))
    assert total <= exact_epsilon(epsilon)
    assert total >= exact_epsilon(epsilon) * (1 - Fraction(2) ** -50)
    assert (plan.epsilon_radius is None) == public_radius
    assert min(parts[0], parts[2]) > 0.1 * epsilon
    guarantee = plan.guarantee("row", False)
    assert (guarantee.definition, guarantee.epsilon) == ("pure-dp", epsilon)
    assert guarantee.delta == 0


def exact_delta(epsilon, mu):
    """Of mu-Gaussian DP, by the formula of Dong, Roth and Su (Corollary 2.13)."""
    mp = mpmath.mp.clone()
    mp.dps = 60
    left = mp.ncdf(-epsilon / mu + mu / 2)
    return left - mp.exp(epsilon) * mp.ncdf(-epsilon / mu - mu / 2)


@pytest.mark.parametrize("public_radius", [True, False])
@pytest.mark.parametrize("delta", [1e-9, 0.1])
@pytest.mark.parametrize("epsilon", [0.1, 1 / 3, 7.7, 0.1 + 0.2])
def test_gaussian_steps_compose_to_the_budget(epsilon, delta, public_radius):
    plan = plan_of(
        epsilon=epsilon, delta=delta, mechanisms=("gaussian",),
        public_radius=public_radius,
    )  # fmt: skip
    mp = mpmath.mp.clone()
    mp.dps = 60
    square = mp.mpf(0)
    for law, sensitivity in (
        (plan.mean.law, SENSITIVITY),
        (plan.law, plan.moment.sensitivity),
    ):
        (deviation,) = set(law.deviations)
        square += (mp.mpf(sensitivity) / mp.mpf(deviation)) ** 2
    exact = exact_epsilon(epsilon) - Fraction(plan.epsilon_radius or 0.0)
    left = mp.mpf(exact.numerator) / exact.denominator
    mu = mp.sqrt(square)
    assert exact_delta(left, mu) <= mp.mpf(delta)
    assert exact_delta(left, mu * (1 + mp.mpf(1e-6))) > mp.mpf(delta)
    guarantee = plan.guarantee("person", True)
    assert (guarantee.epsilon, guarantee.delta) == (epsilon, delta)
    assert guarantee.definition == "approx-dp"
    assert guarantee.seeded


def test_the_best_mechanism_is_taken():
    for delta, n_people, expected in ((1e-6, 500, "gaussian"), (1e-300, 50, None)):
        plans = [
            plan_of(delta=delta, n_people=n_people, mechanisms=(name,))
            for name in ("spherical", "gaussian")
        ]
        both = plan_of(
            delta=delta, n_people=n_people, mechanisms=("spherical", "gaussian")
        )
        risks = [plan.predicted_square + plan.bias_bound for plan in plans]
        assert both.predicted_square + both.bias_bound == min(risks)
        assert both.mechanism == plans[int(np.argmin(risks))].mechanism
        assert expected in (None, both.mechanism)


@pytest.mark.parametrize("mechanism", ["spherical", "laplace", "gaussian"])
def test_predictions_are_those_of_the_laws(mechanism):
    plan = plan_of(delta=1e-6, mechanisms=(mechanism,))
    first, second = plan.parts
    assert first.size == plan.moment.n_coordinates
    assert second.size == plan.moment.n_entries
    np.testing.assert_array_equal(np.concatenate([first.std, second.std]), plan.law.std)
    noise = np.sum(second.std**2) / 500**2
    assert plan.expected_square == pytest.approx(noise)
    noise += np.sum(first.std**2) / 500**2 / 0.5**2
    assert plan.predicted_square == pytest.approx(noise, rel=1e-6)
    draws = second.sample(4000, SeededBits(0)) / 500
    squares = np.sum(draws**2, axis=1)
    error = 5 * squares.std() / np.sqrt(len(squares))
    assert abs(squares.mean() - plan.expected_square) < error


def test_more_people_and_budget_have_more_functions():
    for facts in ("n_people", "epsilon"):
        sizes = [
            plan_of(**{facts: value * BASE[facts]}).moment.n_functions
            for value in (0.002 if facts == "epsilon" else 1, 1, 10, 100, 10**4)
            if facts == "epsilon" or value >= 1
        ]
        assert sizes == sorted(sizes)
        assert sizes[-1] > sizes[0]
    assert plan_of(epsilon=1e9).moment.n_functions == 64
    assert plan_of(epsilon=1e9, n_outputs=3).moment.n_functions == 21


def test_stated_numbers_of_functions_are_kept():
    plan = plan_of(n_functions=7)
    assert (plan.moment.n_functions, len(plan.mean.spectrum)) == (7, 7)
    assert plan_of(fewest=12, epsilon=0.01).moment.n_functions == 12


def test_few_people_pay_more_for_the_radius():
    shares = [plan_of(n_people=n).epsilon_radius for n in (10, 160, 400, 10**5)]
    np.testing.assert_allclose(shares, [0.25, 0.25, 0.1, 0.05], rtol=1e-12)


def test_plans_do_not_depend_on_units():
    """In units of norm bound and radius only the number of functions is left."""
    assert plan_of(spectrum=24e3 * SPECTRUM).law == plan_of().law


@pytest.mark.parametrize("epsilon", [5e-324, 1e-308])
def test_budgets_below_floating_point_are_refused(epsilon):
    with pytest.raises((PrivacyError, ValueError)):
        _ = plan_of(epsilon=epsilon).law


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(1, 10), Fraction(1)])
def test_shares_are_rounded_down(value):
    number = float_below(value)
    assert Fraction(number) <= value < Fraction(np.nextafter(number, 2.0))
    with pytest.raises(PrivacyError, match="larger epsilon"):
        float_below(Fraction(1, 10**400))
