"""The public plan: psi and features from public facts, the gap, and the law."""

import math
from dataclasses import replace

import numpy as np
import pytest

from skfuncpriv import PrivacyError
from skfuncpriv.gaussian_process import (
    erm_sensitivity,
    ridge_sensitivity,
    squared_loss_lipschitz,
)
from skfuncpriv.gaussian_process._duality import KAPPA, RoundingErrors
from skfuncpriv.gaussian_process._machine_plan import NoiseBudget, public_plan
from skfuncpriv.noise import IndependentGaussian, SphericalLaplace
from tests.gaussian_process.machines import LOSSES

each_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
MISSED = np.exp(-np.arange(1, 61) / 8)
PURE = NoiseBudget(1.0, 0.0, None, "analytic")
GAUSSIAN = NoiseBudget(1.0, 1e-6, None, "analytic")


def plan_of(loss, n=1000, budget=PURE, n_outputs=1, fewest=2, psi="pss", gap=None):
    return public_plan(
        loss, budget, n, "row", n_outputs, MISSED, fewest, psi=psi, gap=gap
    )


def risk(loss, budget, n, n_outputs, psi, m):
    """The bound that is minimised, written a second time."""
    move = loss.sensitivity(KAPPA, psi, n, "row")
    noise = math.sqrt(n_outputs) * move * float(budget.deviation(n_outputs * m))
    steep = loss.lipschitz(KAPPA, psi)
    norm = loss.typical_norm
    return (
        psi * norm**2
        + min(loss.steepest, 2) ** 2 / (psi * n)
        + min(loss.steepest * noise, loss.curvature_bound * noise**2 / 2)
        + steep * norm / 10 * MISSED[m - 1]
    )


@each_loss
@pytest.mark.parametrize("budget", [PURE, GAUSSIAN], ids=["pure", "gaussian"])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_choice_is_the_best_up_to_its_grid(loss, budget, n_outputs):
    plan = plan_of(loss, budget=budget, n_outputs=n_outputs)
    chosen = risk(loss, budget, 1000, n_outputs, plan.psi, plan.n_features)
    best = min(
        risk(loss, budget, 1000, n_outputs, psi, m)
        for psi in plan.psi * np.geomspace(0.1, 10, 21)
        for m in range(2, 61, 2)
    )
    assert chosen <= 1.03 * best
    # The smallest number within one percent, on the grid of psi.
    fewer = min(
        risk(loss, budget, 1000, n_outputs, psi, plan.n_features - 1)
        for psi in plan.psi * 10.0 ** (np.arange(-5, 6) / 10)
    )
    assert plan.n_features == 2 or fewer > chosen


@each_loss
def test_more_people_or_budget_need_less_regularisation(loss):
    by_people = [plan_of(loss, n).psi for n in (10, 100, 10_000, 10**7)]
    assert by_people == sorted(by_people, reverse=True)
    assert len(set(by_people)) == 4
    budgets = [replace(PURE, epsilon=e) for e in (0.1, 1.0, 10.0)]
    by_budget = [plan_of(loss, 10_000, budget).psi for budget in budgets]
    assert by_budget == sorted(by_budget, reverse=True)


@each_loss
def test_what_is_stated_is_taken(loss):
    plan = plan_of(loss, psi=0.37, fewest=60)
    assert (plan.psi, plan.n_features) == (0.37, 60)
    assert plan_of(loss, fewest=100).n_features == 60  # there are no more
    assert plan_of(loss, gap=1e-3).gap == 1e-3


@each_loss
def test_a_small_psi_that_is_stated_takes_enough_features(loss):
    """Little is known about its sampling error, which no number of features changes."""
    budget = replace(PURE, epsilon=1e6)
    counts = [
        plan_of(loss, 10_000, budget, psi=psi).n_features for psi in (1e-2, 1e-4, 1e-6)
    ]
    assert min(counts) > 30


@each_loss
@pytest.mark.parametrize("n", [1, 50, 10_000])
def test_the_default_gap_adds_a_64th(loss, n):
    plan = plan_of(loss, n)
    exact = loss.sensitivity(KAPPA, plan.psi, n, "row")
    assert plan.sensitivity == pytest.approx(exact * (1 + 1 / 64), rel=1e-9)
    assert plan.sensitivity > exact


def test_a_gap_that_floats_cannot_certify_is_refused():
    with pytest.raises(ValueError, match=r"gap must be None or at least .* got 1e-40"):
        plan_of(LOSSES["hinge"], gap=1e-40)
    # With very many people it is the default, and the sensitivity says so.
    plan = plan_of(LOSSES["hinge"], n=10**9)
    errors = RoundingErrors(plan.loss, plan.psi, plan.n_features)
    assert plan.gap == errors.smallest_gap
    exact = plan.loss.sensitivity(KAPPA, plan.psi, 10**9, "row")
    expected = exact + 2 * math.sqrt(plan.gap / plan.psi)
    assert plan.sensitivity == pytest.approx(expected, rel=1e-9)


@each_loss
def test_the_law_has_the_budget_for_the_sensitivity(loss):
    plan = plan_of(loss)
    assert plan.law == SphericalLaplace(plan.n_features, plan.law.scale)
    direction = np.eye(plan.n_features)[0]
    assert 0.999999 < plan.law.loss(plan.sensitivity * direction) <= 1.0
    gaussian = plan_of(loss, budget=GAUSSIAN, n_outputs=3)
    assert isinstance(gaussian.law, IndependentGaussian)
    assert gaussian.law.size == 3 * gaussian.n_features
    zcdp = plan_of(loss, budget=NoiseBudget(1.0, 0.0, 0.5, "analytic"))
    direction = np.eye(zcdp.n_features)[0]
    assert 0.499999 < zcdp.law.loss(zcdp.sensitivity * direction) <= 0.5


@each_loss
def test_functions_add_in_quadrature(loss):
    one = plan_of(loss, psi=0.1, fewest=60)
    three = plan_of(loss, psi=0.1, fewest=60, n_outputs=3)
    assert three.sensitivity == pytest.approx(math.sqrt(3) * one.sensitivity)


@each_loss
@pytest.mark.parametrize("size", [1, 7, 60])
def test_the_planned_deviation_is_that_of_the_law(loss, size):
    for budget in (PURE, GAUSSIAN):
        law = budget.law(1.0, size)
        np.testing.assert_allclose(budget.deviation(np.array([size])), law.std[0])


def test_ridge_regression_has_its_sharper_bound_for_rows_only():
    loss = LOSSES["squared"]
    rows, people = (loss.sensitivity(KAPPA, 0.05, 100, u) for u in ("row", "person"))
    assert rows == ridge_sensitivity(1.0, KAPPA, 0.05, 100)
    slope = squared_loss_lipschitz(1.0, KAPPA, 0.05)
    assert people == erm_sensitivity(slope, KAPPA, 0.05, 100)
    assert rows < 0.9 * people


@each_loss
def test_budgets_far_from_one(loss):
    for epsilon in (1e-140, 1e-20, 1e20, 1e300):
        plan = plan_of(loss, budget=replace(PURE, epsilon=epsilon))
        assert math.isfinite(plan.law.expected_square)
    with pytest.raises(PrivacyError, match="the noise leaves the range"):
        _ = plan_of(loss, budget=replace(PURE, epsilon=1e-200)).law


def test_guarantees_say_which_budget_was_spent():
    pure = PURE.guarantee("person", seeded=True)
    assert (pure.definition, pure.epsilon, pure.unit) == ("pure-dp", 1.0, "person")
    assert pure.seeded
    approximate = GAUSSIAN.guarantee("row", seeded=False)
    assert (approximate.definition, approximate.delta) == ("approx-dp", 1e-6)
    zcdp = NoiseBudget(1.0, 0.0, 0.5, "analytic").guarantee("row", seeded=False)
    assert (zcdp.definition, zcdp.rho, zcdp.epsilon) == ("zcdp", 0.5, None)


def test_two_budgets_are_refused():
    with pytest.raises(PrivacyError, match="rho is a budget without delta"):
        _ = NoiseBudget(1.0, 1e-6, 0.5, "analytic").gaussian
