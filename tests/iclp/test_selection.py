"""Selection from public facts: risk bounds, candidates, rates."""

from dataclasses import replace

import numpy as np
import pytest

from skfuncpriv import ICLPMean
from skfuncpriv.basis import CosineBasis
from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.iclp._plan import MECHANISMS, ReleasePlan
from skfuncpriv.iclp._selection import bias_bound, rate_psi, risk_bound, select_plan
from skfuncpriv.testing import recorded

BASE = ReleasePlan(
    n_people=200, n_outputs=1, spectrum=CosineBasis(64).spectrum, epsilon=1.0
)
PURE = ("spherical", "block-spherical", "laplace")


def select(plan, mechanisms=PURE, *, n_functions=None, eta="pss", psi="pss"):
    return select_plan(plan, mechanisms, n_functions=n_functions, eta=eta, psi=psi)


@pytest.mark.parametrize("penalty", ["qr", "ar"])
@pytest.mark.parametrize("psi", ["pss", 0.0])
def test_risk_bound_falls_with_people_and_budget(penalty, psi):
    base = replace(BASE, penalty=penalty)
    for name, values in (
        ("n_people", [5, 50, 500, 5000]),
        ("epsilon", [0.05, 0.5, 5.0, 50.0]),
    ):
        plans = [select(replace(base, **{name: v}), psi=psi) for v in values]
        risks = [risk_bound(plan) for plan in plans]
        assert (np.diff(risks) < 0).all()
        sizes = [plan.size for plan in plans]
        assert sizes == sorted(sizes)
        assert sizes[0] < sizes[-1]
    fixed = replace(base, psi=0.1)
    for mechanism in MECHANISMS:
        law = replace(fixed, mechanism=mechanism, delta=1e-6)
        more = replace(law, n_people=400)
        assert risk_bound(more) < risk_bound(law)
        assert more.predicted_square == pytest.approx(law.predicted_square / 4)
        assert bias_bound(more) == bias_bound(law)


def test_bias_bound_covers_means_that_live_on_one_frequency():
    """Their tail energy is at most R^2 m^(-2 s); the bias is computed exactly."""
    rank = np.arange(200.0)
    with np.errstate(divide="ignore"):
        tail = np.minimum(1.0, 100.0 * rank**-3.4)
    spikes = np.diag(np.sqrt(tail))  # one frequency, as high as the ball allows
    for psi in (0.0, 1e-4, 1e-2):
        for size in (4, 9, 30):
            plan = replace(BASE, psi=psi).cut(size)
            kept = np.concatenate([plan.weights, np.zeros(200 - size)])
            bias = np.sum(((1 - kept) * spikes) ** 2, axis=1)
            assert bias.max() <= bias_bound(plan) * (1 + 1e-12)
            assert bias.max() >= bias_bound(plan) / 2


def test_absolute_penalty_costs_its_thresholds_at_most():
    plain = replace(BASE, penalty="ar", psi=0.0).cut(8)
    plan = replace(plain, psi=0.01)
    added = bias_bound(plan) - bias_bound(plain)
    assert 0 < added <= np.sum(plan.thresholds**2) * (1 + 1e-12)


def test_nothing_in_the_candidates_is_better():
    for n_people, epsilon in ((20, 0.5), (200, 1.0), (5000, 4.0)):
        base = replace(BASE, n_people=n_people, epsilon=epsilon)
        best = select(base)
        risk = risk_bound(best)
        for mechanism in PURE:
            alone = select(base, (mechanism,))
            assert alone.mechanism == mechanism
            assert risk_bound(alone) >= risk * (1 - 1e-12)
            for eta in (1.01, 2.0):
                fixed = select(base, (mechanism,), eta=eta)
                assert fixed.eta == eta
                assert risk_bound(fixed) >= risk * (1 - 1e-12)
            for psi in (0.0, 1e-6, 1e-3, 1e-1):  # all on the grid
                fixed = select(base, (mechanism,), psi=psi)
                assert fixed.psi == psi
                assert risk_bound(fixed) >= risk * (1 - 1e-12)
        for size in (4, 8, 64):
            stated = select(base, n_functions=size)
            assert stated.size == size


def test_denoising_replaces_the_quadratic_penalty():
    X = np.zeros((300, 20))
    model = ICLPMean(bounds=(-1, 1), epsilon=5.0).fit(X)
    assert model.psi_ == 0
    assert (model.weights_ == 1).all()
    shrunk = ICLPMean(bounds=(-1, 1), epsilon=5.0, denoise=False).fit(X)
    assert shrunk.psi_ > 0
    for psi in (0.1, "rate"):
        with pytest.raises(ValueError, match="denoising replaces the quadratic"):
            ICLPMean(bounds=(-1, 1), psi=psi).fit(X)


def denoised(plan, mechanisms=PURE, n_functions=None):
    return select_plan(
        plan, mechanisms, n_functions=n_functions, eta="pss", psi="pss", denoise=True
    )


@pytest.mark.parametrize("n_people", [20, 200, 5000, 10**6])
def test_coefficients_that_the_denoiser_keeps_get_less_noise(n_people):
    best = denoised(replace(BASE, n_people=n_people))
    assert best.mechanism == "block-spherical"
    assert best.psi == 0
    std = best.law.std
    assert (np.diff(std) >= -1e-9 * std[0]).all()
    expected = 1 / (1 + (np.arange(best.size) / best.knee) ** 2)
    np.testing.assert_allclose(best.expected_weights, expected)
    # after these weights the noise is below that of one block, and of single ones
    for other in ("spherical", "laplace"):
        noise = replace(best, mechanism=other).predicted_square
        assert best.predicted_square <= noise * (1 + 1e-12)
    np.testing.assert_array_equal(best.weights, 1.0)
    assert denoised(replace(BASE, n_people=n_people), n_functions=7).size == 7


def test_more_people_and_budget_reach_further_and_bend_later():
    plans = [denoised(replace(BASE, n_people=n)) for n in (5, 50, 500, 5000)]
    plans += [denoised(replace(BASE, n_people=5000, epsilon=e)) for e in (3.0, 9.0)]
    for name in ("size", "knee"):
        values = [getattr(plan, name) for plan in plans]
        assert values == sorted(values)
        assert values[0] < values[-1]
    # what is available cuts the plan, but bends nothing
    few = replace(BASE, spectrum=BASE.spectrum[:9], n_people=5000)
    assert (denoised(few).size, denoised(few).knee) == (9, plans[3].knee)


def test_gaussian_noise_is_chosen_where_it_is_predicted_to_be_smaller():
    base = replace(BASE, delta=1e-3, epsilon=0.5, n_people=10_000)
    best = select(base, MECHANISMS)
    alone = {name: risk_bound(select(base, (name,))) for name in MECHANISMS}
    assert best.mechanism == min(alone, key=alone.get) == "gaussian"
    strict = replace(base, delta=1e-300)
    assert select(strict, MECHANISMS).mechanism in PURE


def test_rate_balances_noise_and_bias():
    spectrum = (1.0 + np.arange(100)) ** -2.0
    for eta in (1.0, 2.0):
        strengths = []
        for n_people in (100, 10_000):
            plan = replace(BASE, spectrum=spectrum, n_people=n_people, eta=eta)
            strengths.append(rate_psi(plan))
        # (n eps)^(-2 / (1 + (1 + 1/p) / eta)) with p = 2
        exponent = -2 / (1 + 1.5 / eta)
        slope = np.log(strengths[1] / strengths[0]) / np.log(100)
        assert slope == pytest.approx(exponent, rel=1e-2)
        assert select(plan, eta=eta, psi="rate").psi == rate_psi(plan)


def test_noise_beyond_floating_point_is_refused_by_name():
    with pytest.raises(PrivacyError, match="range of floating point"):
        select(replace(BASE, epsilon=1e-200))


FACTS = {"domain": (0.0, 1.0), "epsilon": 3.0, "random_state": 0}


@pytest.mark.parametrize("denoise", [True, False])
@pytest.mark.parametrize("penalty", ["qr", "ar"])
def test_selection_sees_public_facts_only(penalty, denoise):
    rng = np.random.default_rng(0)
    facts = {**FACTS, "bounds": (-1, 1), "penalty": penalty, "denoise": denoise}
    plans = set()
    for X in (
        np.zeros((60, 30)),
        np.full((60, 30), 1e308),
        rng.normal(size=(60, 30)),
        np.sin(np.linspace(0, 50, 30)) + rng.normal(size=(60, 1)),
    ):
        model = ICLPMean(**facts)
        with recorded() as releases:
            model.fit(X)
        plans.add(
            (model.eta_, model.psi_, model.basis_, model.law_.std.tobytes(),
             releases[0].lattice, releases[0].value.bound,
             releases[0].value.lattice, denoise or model.noise_std_.tobytes())
        )  # fmt: skip
    assert len(plans) == 1


@pytest.mark.parametrize("parameters", [{}, {"denoise": False}, {"penalty": "ar"}])
def test_plans_do_not_depend_on_units(parameters):
    X = np.random.default_rng(0).uniform(-1, 1, (60, 30))
    plans = set()
    for value, argument in ((1.0, 1.0), (100.0, 1.0), (1.0, 24.0), (1e-6, 1e6)):
        facts = {**FACTS, **parameters, "domain": (0.0, argument)}
        model = ICLPMean(**facts, bounds=(-value, value)).fit(value * X)
        plans.add((model.eta_, model.psi_, model.law_.size, type(model.law_)))
        share = model.noise_std_ * np.sqrt(argument) / model.norm_bound_
        np.testing.assert_allclose(share, model.noise_std_ / value, rtol=1e-9)
        if value == argument == 1:
            expected = share
        np.testing.assert_allclose(share, expected, rtol=1e-9)
    assert len(plans) == 1
