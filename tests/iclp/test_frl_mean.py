"""The finite-dimensional baseline: what it releases, and what that costs."""

import math
from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv import BudgetLedger, FRLMean, ICLPMean, NoiseDominatesWarning
from skfuncpriv.basis import CosineBasis, KernelBasis
from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.iclp._parameters import public_plan
from skfuncpriv.iclp._plan import SENSITIVITY
from skfuncpriv.iclp._selection import bias_bound
from skfuncpriv.noise import IndependentLaplace, SphericalLaplace
from skfuncpriv.testing import silenced
from tests.iclp.attacks import attack, is_sharp, wrong_by_root_two
from tests.iclp.spine import private_sum, projections
from tests.iclp.test_sensitivity import (
    DOMAIN,
    FORMS,
    GRID,
    candidates,
    check_all_pairs,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)

FACTS = {"bounds": (-2.0, 6.0), "domain": DOMAIN, "grid": GRID, "random_state": 0}
LAWS = ["laplace", "spherical"]
each_law = pytest.mark.parametrize("law", LAWS)


def curves(n=40, seed=0):
    return np.random.default_rng(seed).uniform(-4, 8, (n, len(GRID)))


# Privacy


@pytest.mark.parametrize("n_people", [1, 2, 3])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@each_law
def test_no_pair_of_neighbours_loses_more_than_epsilon(law, form, n_people):
    versions, read = form
    rng = np.random.default_rng(7)
    model = FRLMean(**FACTS, mechanism=law, n_basis=5, missing="interpolate")
    others = curves(n_people - 1)
    sums = [
        private_sum(model, read(np.vstack([others, version])))
        for person in candidates(rng)
        for version in versions(person, rng)
    ]
    check_all_pairs(sums, model, {"mechanism": law})


@pytest.mark.parametrize("bounds", [{}, {"norm_bound": 3.0}])
@each_law
def test_no_person_with_several_rows_loses_more(law, bounds):
    rng = np.random.default_rng(8)
    model = FRLMean(**FACTS, **bounds, mechanism=law, n_basis=5)
    people, sums = candidates(rng), []
    for n_rows in (1, 2, 5):
        for k in range(0, len(people), n_rows):
            rows = [people[(k + j) % len(people)] for j in range(n_rows)]
            for table in (rows, [people[k]] * n_rows):
                groups = ["a", "a", "b", *["c"] * n_rows]
                data = np.vstack([curves(3), table])
                sums.append(private_sum(model, data, groups))
    check_all_pairs(sums, model, {"mechanism": law})


def worst_pair(law, n_basis, epsilon):
    """Opposite people with equal coefficients, so long that the clip decides."""
    grid = np.linspace(*DOMAIN, 801)
    facts = {"domain": DOMAIN, "grid": grid, "n_basis": n_basis, "random_state": 0}
    model = FRLMean(
        **facts, bounds=(-1e9, 1e9), norm_bound=1.0, epsilon=epsilon, mechanism=law
    )
    curve = 1e4 * CosineBasis(n_basis, DOMAIN).evaluate(grid).sum(axis=1)
    tables = [np.stack([0 * curve, sign * curve]) for sign in (1, -1)]
    return [private_sum(model, table) for table in tables]


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("n_basis", [1, 2, 9])
@each_law
def test_the_worst_pair_loses_epsilon(law, n_basis, epsilon):
    pair = worst_pair(law, n_basis, epsilon)
    assert is_sharp(pair[0].law, pair, epsilon)
    for wrong in wrong_by_root_two(pair[0].law):
        assert not is_sharp(wrong, pair, epsilon)


@each_law
def test_audit_of_the_worst_pair(law):
    pair = worst_pair(law, 2, 1.0)
    assert 0.8 < attack(pair[0].law, pair) <= 1.0
    too_little, too_much = wrong_by_root_two(pair[0].law)
    assert attack(too_little, pair) > 1.0
    assert attack(too_much, pair) < 0.8


@pytest.mark.parametrize("n_basis", [1, 4, 30])
def test_scales_are_those_of_the_absolute_sum(n_basis):
    """b = 2 tau sqrt(M) / (n epsilon), to the slack of roundings, never below it."""
    model = FRLMean(**FACTS, n_basis=n_basis, epsilon=0.7).fit(curves())
    assert isinstance(model.law_, IndependentLaplace)
    (scale,) = set(model.law_.scales)
    square = Fraction(scale) ** 2 * Fraction(0.7) ** 2
    smallest = Fraction(SENSITIVITY) ** 2 * n_basis
    assert smallest <= square <= smallest * (1 + Fraction(1, 10**9))
    tau, b = model.norm_bound_, scale * model.norm_bound_ / 40
    assert tau == pytest.approx(4 * math.sqrt(4), rel=1e-12)
    assert b == pytest.approx(2 * tau * math.sqrt(n_basis) / (40 * 0.7), rel=1e-8)
    assert model.guarantee_.definition == "pure-dp"
    assert model.guarantee_.epsilon == 0.7


# What is released


@pytest.mark.parametrize("basis", ["cosine", "kernel", "given"])
def test_release_without_noise_is_the_projected_mean(basis):
    facts = {
        "cosine": {"n_basis": 7},
        "kernel": {"n_basis": 7, "kernel": "matern32"},
        "given": {"basis": CosineBasis(7, DOMAIN)},
    }[basis]
    X = curves()
    with silenced():  # rounded to a lattice that is fine where epsilon is large
        model = FRLMean(**FACTS, **facts, epsilon=1e6).fit(X)
    clipped = np.clip(X, -2, 6) - 2
    if basis == "kernel":
        assert model.basis_ == KernelBasis("matern32", 7, DOMAIN)
        expected = (clipped @ model.basis_.projection(GRID)).mean(axis=0)
    else:
        expected = projections(clipped, GRID, 7, DOMAIN).mean(axis=0)
    np.testing.assert_allclose(model.coef_, expected, atol=1e-9)
    np.testing.assert_array_equal(model.release_, model.coef_)
    curve = model.basis_.evaluate(GRID) @ expected + 2
    np.testing.assert_allclose(model.mean_, curve, atol=1e-9)
    np.testing.assert_allclose(model.predict(GRID), model.mean_, atol=1e-12)


def test_huge_epsilon_meets_the_mean_of_smooth_curves():
    t = np.linspace(0, 1, 401)
    sizes = np.random.default_rng(0).normal(0, 1, (50, 2))
    X = sizes @ np.stack([np.ones(401), np.cos(3 * np.pi * t)])
    model = FRLMean(bounds=(-9, 9), epsilon=1e9, n_basis=5, random_state=0).fit(X)
    bend = (3 * np.pi / 400) ** 2 / 8  # by which chords leave the arc
    largest = np.abs(sizes.mean(axis=0)).max()
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), atol=2 * bend * largest)


@each_law
def test_release_is_that_of_iclp_without_penalty(law):
    facts = {**FACTS, "mechanism": law, "n_basis": 6, "epsilon": 5.0}
    facts["kernel"] = "matern32"
    one = FRLMean(**facts).fit(curves())
    other = ICLPMean(**facts, psi=0.0, denoise=False).fit(curves())
    for name in ("mean_", "coef_", "noise_std_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_vector_values_and_irregular_people():
    X = np.stack([curves(seed=1), 20 * curves(seed=2)], axis=2)
    bounds = (np.array([-2.0, -40.0]), np.array([6.0, 120.0]))
    model = FRLMean(**{**FACTS, "bounds": bounds}, n_basis=4, epsilon=1e9).fit(X)
    assert model.mean_.shape == model.noise_std_.shape == (len(GRID), 2)
    assert model.coef_.shape == (4, 2)
    second = np.clip(X[:, :, 1], -40, 120) - 40
    expected = projections(second, GRID, 4, DOMAIN).mean(axis=0)
    np.testing.assert_allclose(model.coef_[:, 1], expected, atol=1e-5)


# How large the noise is


@pytest.mark.parametrize("n_basis", [1, 6])
def test_expected_error_is_the_published_one(n_basis):
    facts = {**FACTS, "n_basis": n_basis, "epsilon": 0.5}
    share = 2 * 8.0 / (100 * 0.5)  # 2 tau / (n epsilon)
    laplace = FRLMean(**facts).expected_error(100)
    assert laplace == pytest.approx(2 * n_basis**2 * share**2, rel=1e-8)
    spherical = FRLMean(**facts, mechanism="spherical").expected_error(100)
    assert spherical == pytest.approx(n_basis * (n_basis + 1) * share**2, rel=1e-8)


@each_law
def test_noise_is_as_large_as_it_says(law):
    model = FRLMean(**FACTS, mechanism=law, n_basis=4, epsilon=2.0).fit(curves())
    square = np.square(model.sample(4000, random_state=1))
    gap = np.abs(square.mean(axis=0) - model.noise_std_**2)
    assert (gap < 5 * square.std(axis=0) / math.sqrt(4000)).all()


def test_band_covers_the_release_without_noise():
    facts = {**FACTS, "n_basis": 4, "epsilon": 2.0}
    with silenced():
        quiet = FRLMean(**facts).fit(curves()).mean_
    inside = []
    for seed in range(60):
        model = FRLMean(**{**facts, "random_state": seed}).fit(curves())
        lower, upper = model.noise_band(0.8)
        inside.append(((lower <= quiet) & (quiet <= upper)).all())
    assert abs(np.mean(inside) - 0.8) < 5 * math.sqrt(0.16 / 60)


@each_law
def test_number_of_functions_is_the_best_of_public_facts(law):
    facts = {**FACTS, "grid": None, "mechanism": law}
    sizes = []
    for n_people in (100, 1000, 10000):
        planned = FRLMean(**facts)._planned_release(n_people)
        sizes.append(planned.n_functions)
        m = np.arange(4, 257)
        bias = np.minimum(1, 100 * m**-3.4)
        noise = 2 * m**2 if law == "laplace" else m * (m + 1)
        risk = 64 * (bias + noise * (2 / n_people) ** 2)
        # one of 48 sizes, not of all
        assert planned.bias + planned.noise <= 1.01 * risk.min()
        chosen = risk[m == planned.n_functions]
        assert planned.bias + planned.noise == pytest.approx(chosen[0], rel=1e-8)
    assert sizes == sorted(set(sizes))
    fits = [
        FRLMean(**{**facts, "grid": GRID}).fit(X)
        for X in (curves(100), 1e5 * curves(100, seed=1), np.zeros((100, len(GRID))))
    ]
    assert len({len(fit.coef_) for fit in fits}) == 1


def test_planned_release_is_the_one_that_is_made():
    model = FRLMean(**FACTS, mechanism="spherical", epsilon=5.0).fit(curves())
    planned = model._planned_release(40)
    assert planned.n_functions == len(model.coef_)
    energy = np.sum((model.law_.std * model.norm_bound_ / 40) ** 2)
    assert planned.noise == pytest.approx(energy, rel=1e-9)
    assert planned.noise == model.expected_error(40)
    assert planned.sampling == pytest.approx(model.norm_bound_**2 / 40)
    plan, _ = public_plan(model, 40, 1, DOMAIN, len(GRID))
    assert planned.bias == pytest.approx(bias_bound(plan) * model.norm_bound_**2)
    assert (planned.eta, planned.psi, planned.bandwidth) == (None, None, None)


def test_gaussian_noise_spends_delta():
    model = FRLMean(**FACTS, mechanism="gaussian", delta=1e-6, epsilon=2.0)
    model.fit(curves())
    assert model.guarantee_.delta == 1e-6
    with pytest.raises(PrivacyError, match="needs delta > 0"):
        FRLMean(**FACTS, mechanism="gaussian").fit(curves())
    auto = FRLMean(**FACTS, mechanism="auto", epsilon=2.0).fit(curves())
    assert isinstance(auto.law_, SphericalLaplace)


def test_all_noise_is_said():
    with pytest.warns(NoiseDominatesWarning, match="larger epsilon"):
        FRLMean(**FACTS, epsilon=1e-3).fit(curves(3))


BAD = {
    "epsilon": [0, -1.0, math.nan, True, "1"],
    "delta": [1.0, -0.1, None],
    "mechanism": ["Laplace", "qr", None],
    "bounds": [(1, 1), (0, math.inf), None],
    "domain": [(1, 0), (0.0, 1e-320)],
    "n_basis": [0, 2.5, "all", True],
    "kernel": ["unknown", 3],
    "basis": ["cosine", CosineBasis],
    "norm_bound": [0, math.nan],
    "center": [9.0, "x"],
    "missing": ["drop"],
    "random_state": [-1, "secure"],
}
ALL_BAD = [(name, value) for name, values in BAD.items() for value in values]


@pytest.mark.parametrize(("name", "value"), ALL_BAD, ids=str)
def test_bad_parameters_are_refused_before_the_charge(name, value, tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=10.0)
    model = FRLMean(**{**FACTS, "ledger": str(ledger.path), name: value})
    with pytest.raises((ValueError, TypeError)):
        model.fit(curves())
    assert ledger.history() == []
    assert not hasattr(model, "guarantee_")
