"""The Bernstein baseline: what it releases, and what that costs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv import BernsteinMean, BudgetLedger, Curves
from skfuncpriv.iclp import _lattice_values
from skfuncpriv.iclp._bernstein_functions import (
    DEGREES,
    BernsteinFunctions,
    bias_factor,
    noise_factor,
    sampling_factor,
)
from skfuncpriv.iclp._lattice_values import LatticeValues
from skfuncpriv.noise import IndependentLaplace
from skfuncpriv.summaries import ValueBounds
from skfuncpriv.testing import silenced
from tests.iclp.attacks import attack, is_sharp, wrong_by_root_two
from tests.iclp.spine import private_sum
from tests.iclp.test_sensitivity import DOMAIN, FORMS, GRID, candidates

pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)

LOW, HIGH = -2.0, 6.0
FACTS = {"bounds": (LOW, HIGH), "domain": DOMAIN, "grid": GRID, "random_state": 0}
CENTERS = {"middle": {}, "low": {"center": -1.5}, "curve": {"center": np.sin(GRID)}}
each_center = pytest.mark.parametrize("center", CENTERS.values(), ids=CENTERS)


def curves(n=40, seed=0):
    return np.random.default_rng(seed).uniform(-4, 8, (n, len(GRID)))


def on_lattice(table, degree):
    """Clipped curves at the points of the lattice."""
    points = np.linspace(*DOMAIN, degree + 1)
    clipped = np.clip(table, LOW, HIGH)
    return np.stack([np.interp(points, GRID, row) for row in clipped])


def polynomial(values, t):
    """The Bernstein polynomial of values on the lattice, written a second time."""
    degree = len(values) - 1
    x = (np.asarray(t) - DOMAIN[0]) / (DOMAIN[1] - DOMAIN[0])
    terms = [
        math.comb(degree, v) * x**v * (1 - x) ** (degree - v) for v in range(degree + 1)
    ]
    return np.tensordot(terms, values, ([0], [0]))


# Privacy


def check_all_pairs(sums):
    """Every pair of neighbours keeps epsilon = 1, and the worst one comes near it."""
    (law,) = {released.law for released in sums}
    exact = [released.exact for released in sums]
    losses = [
        sum(abs(a - b) for a, b in zip(one, other, strict=True))
        / Fraction(law.scales[0])
        for one, other in itertools.combinations(exact, 2)
    ]
    assert len(set(law.scales)) == 1
    assert 0.99 <= max(losses) <= 1


@pytest.mark.parametrize("n_people", [1, 2, 3])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@each_center
def test_no_pair_of_neighbours_loses_more_than_epsilon(center, form, n_people):
    versions, read = form
    if form is FORMS["irregular"] and np.ndim(center.get("center")):
        pytest.skip("a center on the grid needs a grid")
    rng = np.random.default_rng(7)
    model = BernsteinMean(**FACTS, **center, degree=5, missing="interpolate")
    if form is FORMS["irregular"]:
        model.set_params(grid=None)
    others = curves(n_people - 1)
    sums = [
        private_sum(model, read(np.vstack([others, version])))
        for person in candidates(rng)
        for version in versions(person, rng)
    ]
    check_all_pairs(sums)


@each_center
def test_no_person_with_several_rows_loses_more(center):
    rng = np.random.default_rng(8)
    model = BernsteinMean(**FACTS, **center, degree=3, missing="interpolate")
    people, sums = candidates(rng), []
    for n_rows in (1, 2, 5):
        for k in range(0, len(people), n_rows):
            rows = [people[(k + j) % len(people)] for j in range(n_rows)]
            for table in (rows, [people[k]] * n_rows):
                data = np.vstack([curves(3), table])
                if n_rows == 5:
                    data[-1] = np.nan
                groups = ["a", "a", "b", *["c"] * n_rows]
                sums.append(private_sum(model, data, groups))
    check_all_pairs(sums)


def test_outputs_share_one_budget():
    bounds = (np.array([-2.0, -50.0]), np.array([6.0, 0.0]))
    model = BernsteinMean(**{**FACTS, "bounds": bounds}, degree=3)
    rng, sums = np.random.default_rng(9), []
    for one, other in itertools.product(candidates(rng)[:6], repeat=2):
        data = np.zeros((2, len(GRID), 2))
        data[-1, :, 0], data[-1, :, 1] = one, other
        sums.append(private_sum(model, data))
    check_all_pairs(sums)


def worst_pair(degree, epsilon, n_people=2):
    """People who are constant at opposite bounds."""
    model = BernsteinMean(**FACTS, degree=degree, epsilon=epsilon)
    tables = [np.full((n_people, len(GRID)), 1e9) for _ in range(2)]
    tables[1][-1] *= -1
    return [private_sum(model, table) for table in tables]


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("degree", [1, 2, 30])
def test_the_worst_pair_loses_epsilon(degree, epsilon):
    pair = worst_pair(degree, epsilon)
    law = pair[0].law
    assert is_sharp(law, pair, epsilon)
    change = [float(a - b) for a, b in zip(pair[0].exact, pair[1].exact, strict=True)]
    assert law.loss(change) == pytest.approx(epsilon, rel=1e-9)
    for wrong in wrong_by_root_two(law):
        assert not is_sharp(wrong, pair, epsilon)


def test_audit_of_the_worst_pair():
    pair = worst_pair(1, 1.0)
    assert 0.8 < attack(pair[0].law, pair) <= 1.0
    too_little, too_much = wrong_by_root_two(pair[0].law)
    assert attack(too_little, pair) > 1.0
    assert attack(too_much, pair) < 0.8


@each_center
def test_scales_are_those_of_the_absolute_sum(center):
    """(M + 1) (high - low) / (n epsilon) for each value, wherever the center is."""
    model = BernsteinMean(**FACTS, **center, degree=9, epsilon=0.7).fit(curves())
    assert isinstance(model.law_, IndependentLaplace)
    (scale,) = set(model.law_.scales)
    b = scale * model.norm_bound_ / 40
    assert b == pytest.approx(10 * (HIGH - LOW) / (40 * 0.7), rel=1e-9)
    assert model.guarantee_.definition == "pure-dp"
    assert (model.guarantee_.epsilon, model.guarantee_.delta) == (0.7, 0.0)


@pytest.mark.parametrize("n_people", [1, 3, 1 << 20, 1 << 40])
def test_integers_leave_room_for_everybody(n_people):
    values = ValueBounds.from_parameters((-1e-3, 7e5), domain=DOMAIN, center=5.0)
    points = LatticeValues(n_people, np.linspace(*DOMAIN, 4), values, None)
    low, high = points.box
    assert (low <= 0).all()
    assert (high >= 0).all()
    assert n_people * int(max(-low.min(), high.max())) < 2**62
    width = Fraction(7e5) - Fraction(-1e-3)
    exact = 4 * width / Fraction(values.norm_bound)
    assert points.sensitivity >= exact
    assert points.sensitivity <= float(exact) * (1 + 2.0**-18)


def test_roundings_of_floats_stay_within_the_bounds():
    """Weighted means of equal heights may be above them, by a rounding."""
    rng = np.random.default_rng(0)
    domain, grid = (0.0, 1.1), np.linspace(0, 1.1, 12)
    lattice, reached = np.sort(rng.uniform(*domain, 300)), 0
    for _ in range(40):
        bounds = tuple(np.sort(rng.normal(size=2)))
        values = ValueBounds.from_parameters(bounds, domain=domain)
        points = LatticeValues(1, lattice, values, grid)
        low, high = points.box
        for end, limit in zip(bounds, (low, high), strict=True):
            curve = Curves.from_wide(np.full((1, 12), end), grid, domain)
            total = points.sum(curve, None).values[:, None]
            assert ((low <= total) & (total <= high)).all()
            reached += (total == limit).sum()
    assert reached > 100


# What is released


@pytest.mark.parametrize("order", [1, 2, 3])
@each_center
def test_release_without_noise_is_the_iterated_polynomial(order, center):
    X = curves()
    with silenced():
        model = BernsteinMean(**FACTS, **center, degree=6, order=order, epsilon=1e6)
        model.fit(X)
    middle = np.broadcast_to(center.get("center", 2.0), GRID.shape)
    points = np.linspace(*DOMAIN, 7)
    values = on_lattice(X, 6).mean(axis=0) - np.interp(points, GRID, middle)
    np.testing.assert_allclose(model.coef_, values, atol=1e-7)
    coef, left = np.zeros(7), values
    for _ in range(order):  # B^(h) = B + B (I - B) + B (I - B)^2 + ...
        coef = coef + left
        left = left - polynomial(left, points)
    expected = polynomial(coef, GRID) + middle
    np.testing.assert_allclose(model.mean_, expected, atol=1e-7)
    np.testing.assert_allclose(model.predict(GRID), model.mean_, atol=1e-12)
    np.testing.assert_array_equal(model.release_, model.coef_)
    assert model.degree_ == 6


def test_huge_epsilon_meets_the_mean_of_the_curves():
    grid = np.linspace(*DOMAIN, 401)
    slopes = np.random.default_rng(0).uniform(-1, 1, (50, 1))
    facts = {**FACTS, "grid": grid, "epsilon": 1e9}
    for degree in (1, 4, "pss"):
        lines = 2 + slopes * grid
        model = BernsteinMean(**facts, degree=degree).fit(lines)
        np.testing.assert_allclose(model.mean_, lines.mean(axis=0), atol=1e-6)
    waves = 2 + slopes * np.cos(3 * grid)
    model = BernsteinMean(**facts).fit(waves)
    # The plain polynomial errs by x (1 - x) / (2 M) times the second derivative.
    plain = 144 / (8 * model.degree_) * abs(slopes.mean())
    assert np.abs(model.mean_ - waves.mean(axis=0)).max() < plain


def test_forms_of_the_same_curves_are_released_alike():
    X = curves()
    facts = {**FACTS, "degree": 4, "epsilon": 5.0}
    regular = BernsteinMean(**facts).fit(X)
    flat = Curves(X.ravel(), np.tile(GRID, 40), np.arange(41) * len(GRID))
    irregular = BernsteinMean(**facts).fit(flat)
    np.testing.assert_array_equal(irregular.coef_, regular.coef_)
    fine = np.sort(np.append(GRID, (GRID[1:] + GRID[:-1]) / 2))
    inside = np.clip(X, LOW, HIGH)
    refined = np.stack([np.interp(fine, GRID, x) for x in inside])
    model = BernsteinMean(**{**facts, "grid": fine}).fit(refined)
    np.testing.assert_allclose(model.coef_, regular.coef_, atol=1e-5)


def test_a_sum_depends_neither_on_order_nor_on_chunks(monkeypatch):
    model = BernsteinMean(**FACTS, degree=6)
    X = curves()
    expected = private_sum(model, X).value.values
    np.testing.assert_array_equal(private_sum(model, X[::-1]).value.values, expected)
    monkeypatch.setattr(_lattice_values, "_CHUNK_VALUES", 3 * len(GRID))
    np.testing.assert_array_equal(private_sum(model, X).value.values, expected)
    one_row_each = private_sum(model, X, groups=list(range(40)))
    np.testing.assert_array_equal(one_row_each.value.values, expected)


@pytest.mark.parametrize("form", ["rows", "people", "irregular"])
def test_a_person_without_values_counts_as_the_center(form):
    X = curves()
    X[[0, 7]] = np.nan
    model = BernsteinMean(
        **FACTS, degree=3, epsilon=1e6, missing="interpolate", center=1.0
    )
    groups, n_people, data = None, 40, X
    if form == "people":
        groups = [0, 0, *range(2, 40)]  # row 1 is all that person 0 shows
        n_people = 39
    if form == "irregular":
        size = len(GRID)
        data = Curves(
            X.ravel(), np.tile(GRID, 40), np.arange(41) * size, missing="interpolate"
        )
    with silenced():
        model.fit(data, groups=groups)
    assert model.n_people_ == n_people
    seen = on_lattice(np.delete(X, [0, 7], axis=0), 3) - 1.0
    np.testing.assert_allclose(model.coef_, seen.sum(axis=0) / n_people, atol=1e-7)


def test_times_may_be_absurd():
    values, times = [1.0, 5.0, 3.0], [-1e308, 0.0, 1e308]
    flat = Curves(np.tile(values, 2), np.tile(times, 2), [0, 3, 6])
    with silenced():
        model = BernsteinMean(**FACTS, degree=4, epsilon=1e6).fit(flat)
    np.testing.assert_allclose(model.coef_, 3.0, atol=1e-7)  # 5 minus the center


def test_vector_values():
    X = np.stack([curves(seed=1), 20 * curves(seed=2)], axis=2)
    bounds = (np.array([LOW, -40.0]), np.array([HIGH, 120.0]))
    model = BernsteinMean(**{**FACTS, "bounds": bounds}, degree=4, epsilon=1e9).fit(X)
    assert model.mean_.shape == model.noise_std_.shape == (len(GRID), 2)
    assert model.coef_.shape == (5, 2)
    first = on_lattice(X[:, :, 0], 4).mean(axis=0) - 2
    np.testing.assert_allclose(model.coef_[:, 0], first, atol=1e-5)
    lower, upper = model.noise_band()
    assert lower.shape == upper.shape == model.sample(3)[0].shape == (len(GRID), 2)


# How large errors are


@pytest.mark.parametrize("order", [1, 2])
def test_noise_is_as_large_as_it_says(order):
    fine = np.linspace(*DOMAIN, 2001)
    facts = {**FACTS, "grid": fine, "degree": 8, "order": order, "epsilon": 2.0}
    model = BernsteinMean(**facts).fit(np.zeros((40, 2001)))
    planned = model._planned_release(40)
    square = np.trapezoid(model.noise_std_**2, fine)
    assert planned.noise == pytest.approx(square, rel=1e-4)
    assert planned.noise == model.expected_error(40)
    energy = np.square(model.sample(2000, random_state=3)).mean(axis=0)
    spread = np.square(model.sample(2000, random_state=3)).std(axis=0)
    gap = np.abs(energy - model.noise_std_**2)
    assert (gap < 6 * spread / math.sqrt(2000)).all()  # 2001 points, nearly equal
    assert planned.n_functions == 9
    assert planned.mechanism == "laplace"
    assert (planned.psi, planned.eta, planned.delta) == (None, None, 0.0)


@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("degree", [1, 5, 32])
def test_factors_of_sampling_and_noise(degree, order):
    functions = BernsteinFunctions(degree + 1, (0.0, 1.0), order)
    table = functions.evaluate((np.arange(4000) + 0.5) / 4000)
    np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(table @ functions.lattice, functions._breaks()[0]
        + (np.arange(4000) + 0.5) / 4000, atol=1e-9)  # fmt: skip
    energy = np.square(table).sum(axis=1).mean()
    assert noise_factor(degree, order) == pytest.approx(energy, rel=1e-3)
    factor = sampling_factor(degree, order)
    assert factor >= 1 - 1e-12
    if order == 1:
        assert factor == pytest.approx(1, abs=1e-9)
    rng = np.random.default_rng(0)
    values = np.sign(rng.normal(size=(degree + 1, 200)))
    values[:, 0] = 1.0
    assert np.square(table @ values).mean(axis=0).max() <= factor * (1 + 1e-3)


@pytest.mark.parametrize("degree", [2, 8, 64])
def test_bias_of_single_frequencies(degree):
    t = np.linspace(*DOMAIN, 3001)
    lattice = np.linspace(*DOMAIN, degree + 1)
    found = []
    for rank in range(1, 30):
        wave = math.sqrt(2) * np.cos(np.pi * rank * (t - DOMAIN[0]) / 4)
        seen = math.sqrt(2) * np.cos(np.pi * rank * (lattice - DOMAIN[0]) / 4)
        gap = wave - polynomial(seen, t)
        found.append(min(1, 100 * rank**-3.4) * np.mean(gap**2))
    assert bias_factor(degree, 1) == pytest.approx(max(found), rel=5e-3)
    assert bias_factor(4 * degree, 2) < bias_factor(degree, 2)


def test_degree_is_the_best_of_public_facts():
    degrees = []
    for n_people in (100, 1000, 10000):
        facts = {**FACTS, "order": 1, "epsilon": 2.0}
        planned = BernsteinMean(**facts)._planned_release(n_people)
        others = [
            BernsteinMean(**facts, degree=degree)._planned_release(n_people)
            for degree in DEGREES
        ]
        risks = [other.bias + other.noise for other in others]
        assert planned == others[int(np.argmin(risks))]
        degrees.append(planned.n_functions)
    assert degrees[0] < degrees[1] <= degrees[2]
    fits = [BernsteinMean(**FACTS).fit(X) for X in (curves(), np.zeros((40, 12)))]
    assert fits[0].degree_ == fits[1].degree_


BAD = {
    "epsilon": [0, -1.0, math.nan, True, "1", 1e-320],
    "bounds": [(1, 1), (0, math.inf), None],
    "domain": [(1, 0), (0.0, 1e-320)],
    "degree": [0, 2.5, "all", True, None],
    "order": [0, 9, 1.5, "2"],
    "center": [9.0, "x", [0.0, 1.0]],
    "missing": ["drop"],
    "random_state": [-1, "secure"],
}
ALL_BAD = [(name, value) for name, values in BAD.items() for value in values]


@pytest.mark.parametrize(("name", "value"), ALL_BAD, ids=str)
def test_bad_parameters_are_refused_before_the_charge(name, value, tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=10.0)
    model = BernsteinMean(**{**FACTS, "ledger": str(ledger.path), name: value})
    with pytest.raises((ValueError, TypeError)):
        model.fit(curves())
    assert ledger.history() == []
    assert not hasattr(model, "guarantee_")
