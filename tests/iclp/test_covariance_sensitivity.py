"""What one person can change in each step of a covariance, and what it costs.

The private sums are read where noise is added, so these tests see what `fit` really
releases, with the laws it really uses. What the first step released is held fixed for
the third one: its noise is private given the release before.
"""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv import Curves, ICLPCovariance, PrivateFPCA
from skfuncpriv.basis import CosineBasis
from skfuncpriv.iclp import _covariance_base, _covariance_steps
from skfuncpriv.iclp._plan import SENSITIVITY
from skfuncpriv.iclp._radius import candidate_radii
from skfuncpriv.iclp._second_moment import WEIGHT
from skfuncpriv.noise import (
    BlockSpherical,
    IndependentGaussian,
    SeededBits,
    exact_epsilon,
)
from skfuncpriv.privacy import audit
from skfuncpriv.testing import recorded
from tests.iclp.spine import projections
from tests.iclp.test_sensitivity import gaussian_delta, log_density

pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)

DOMAIN = (-1.0, 3.0)
GRID = np.concatenate([np.linspace(-0.9, 1.0, 9), [1.05, 1.8, 2.9]])
FACTS = {"bounds": (-2.0, 6.0), "domain": DOMAIN, "grid": GRID, "n_basis": 3}
MECHANISMS = {
    "spherical": {"mechanism": "spherical"},
    "laplace": {"mechanism": "laplace"},
    "gaussian": {"mechanism": "gaussian", "delta": 1e-3},
}
each_mechanism = pytest.mark.parametrize("law", MECHANISMS.values(), ids=MECHANISMS)


@pytest.fixture
def public_mean(monkeypatch):
    """The first step releases the same mean whatever the data are."""

    def mean(estimator, released, plan):
        return np.full(plan.mean.size, 0.1)

    monkeypatch.setattr(_covariance_base.CovarianceEstimator, "_mean_from", mean)


def releases_of(model, X, groups=None):
    with recorded() as releases:
        model.fit(X, groups=groups)
    assert len(releases) == 2
    return releases


def candidates(rng):
    """What the replaced person may hold, on the grid; values may be absurd."""
    size = len(GRID)
    people = [np.full(size, value) for value in (1e308, -1e308, 0.0, 5e-324, 2.0)]
    people += [np.where(np.arange(size) % 2, sign * 1e300, 0) for sign in (1, -1)]
    people += [rng.normal(0, 10.0**k, size) for k in range(-3, 4)]
    functions = CosineBasis(3, DOMAIN).evaluate(GRID)
    people += [2 + sign * 1e6 * column for column in functions.T for sign in (1, -1)]
    return people


def change(one, other):
    return [a - b for a, b in zip(one.exact, other.exact, strict=True)]


def budgets(model, n_people, n_outputs=1):
    """The shares that are stated, and the whole plan."""
    plan, _ = model._plan(n_people, n_outputs, DOMAIN, len(GRID))
    return plan


def check_loss(noise, move, plan, *, at_least=0.0):
    """The exact loss of a move is at most that of the third step, or near to it."""
    if isinstance(noise, IndependentGaussian):
        (sigma,) = {Fraction(s) for s in noise.deviations}
        (first,) = {Fraction(s) for s in plan.mean.law.deviations}
        square = sum(x * x for x in move) / sigma**2
        square += (Fraction(SENSITIVITY) / first) ** 2
        epsilon = float(exact_epsilon(plan.epsilon))
        epsilon -= plan.epsilon_radius or 0.0
        assert gaussian_delta(square, epsilon * (1 + 1e-9)) <= plan.delta
        if at_least:
            assert gaussian_delta(square, at_least * epsilon) > plan.delta
        return
    loss = noise.loss([float(x) for x in move])
    assert at_least * plan._epsilon_moment <= loss <= plan._epsilon_moment


def irregular(table):
    times = np.tile(GRID, len(table))
    offsets = len(GRID) * np.arange(len(table) + 1)
    return Curves(table.ravel(), times, offsets)


@pytest.mark.parametrize(
    ("n_people", "form"),
    [(1, "rows"), (2, "rows"), (3, "irregular"), (1, "people"), (3, "people")],
)
@each_mechanism
def test_no_neighbours_lose_more_than_their_share(law, n_people, form, public_mean):
    rng = np.random.default_rng(1)
    model = ICLPCovariance(**FACTS, **law, radius=1.5, epsilon=2.0, random_state=0)
    others, both = np.full((n_people - 1, len(GRID)), 6.0), []
    for person in candidates(rng):
        table, groups = np.vstack([others, person]), None
        if form == "irregular":
            table = irregular(table)
        if form == "people":
            table = np.vstack([table, person / 2, person])
            groups = [*range(n_people - 1), *[n_people] * 3]
        both.append(releases_of(model, table, groups))
    plan = budgets(model, n_people)
    pairs = list(itertools.combinations(both, 2))
    for step, limit in ((0, SENSITIVITY), (1, plan.moment.sensitivity)):
        moves = [change(one[step], other[step]) for one, other in pairs]
        squares = [sum(x * x for x in move) for move in moves]
        assert max(squares) <= Fraction(limit) ** 2
        assert max(squares) >= (Fraction(limit) * Fraction(0.7)) ** 2
        if step == 1:
            floats = np.array(moves, dtype=float)
            losses = -log_density(both[0][1].law, floats)
            for k in np.argsort(losses)[::-1][:5]:
                check_loss(both[0][1].law, moves[k], plan)


def worst_pair(law, epsilon, n_basis=2, **other):
    """Two people of the largest loss: on the sphere, at the worst angle."""
    grid = np.linspace(*DOMAIN, 801)
    facts = {"bounds": (-1e9, 1e9), "norm_bound": 1.0, "domain": DOMAIN, "grid": grid}
    model = ICLPCovariance(
        **facts, **law, **other, n_basis=n_basis, epsilon=epsilon, random_state=0
    )
    noise = releases_of(model, np.zeros((2, 801)))[1].law
    cosine = -WEIGHT * WEIGHT / 2
    if isinstance(noise, BlockSpherical):
        first, second = WEIGHT / noise.scales[0], 1 / noise.scales[1]
        root = math.hypot(first, 4 * second)
        cosine = (4 * second / (root + first)) ** 2 - 1
    functions = CosineBasis(n_basis, DOMAIN).evaluate(grid)
    angle = math.acos(cosine)
    pair = []
    for turn in (0.0, angle):
        curve = 1e4 * functions[:, :2] @ [math.cos(turn), math.sin(turn)]
        pair.append(releases_of(model, np.stack([np.zeros(801), curve]))[1])
    assert all(released.law == noise for released in pair)
    return noise, pair, budgets(model, 2)


@pytest.fixture
def mean_at_the_centre(monkeypatch):
    def mean(estimator, released, plan):
        return np.zeros(plan.mean.size)

    monkeypatch.setattr(_covariance_base.CovarianceEstimator, "_mean_from", mean)


SHARP = {name: MECHANISMS[name] for name in ("spherical", "gaussian")}


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("n_basis", [2, 6])
@pytest.mark.parametrize("law", SHARP.values(), ids=SHARP)
def test_the_worst_pair_loses_its_share(law, epsilon, n_basis, mean_at_the_centre):
    noise, pair, plan = worst_pair(law, epsilon, n_basis, radius=0.5)
    check_loss(noise, change(*pair), plan, at_least=0.99)


@pytest.mark.parametrize("factor", [math.sqrt(2), 1 / math.sqrt(2)])
@pytest.mark.parametrize("law", SHARP.values(), ids=SHARP)
def test_scales_wrong_by_root_two_are_noticed(law, factor, mean_at_the_centre):
    noise, pair, plan = worst_pair(law, 1.0, 2, radius=0.5)
    if isinstance(noise, BlockSpherical):
        wrong = replace(noise, scales=tuple(factor * b for b in noise.scales))
    else:
        wrong = IndependentGaussian(tuple(factor * s for s in noise.deviations))
    with pytest.raises(AssertionError):
        check_loss(wrong, change(*pair), plan, at_least=0.99)


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
@pytest.mark.parametrize("law", SHARP.values(), ids=SHARP)
def test_audit_of_the_worst_pair(law, epsilon, mean_at_the_centre):
    if law["mechanism"] == "gaussian":
        law = {**law, "delta": 0.05}
    noise, pair, plan = worst_pair(law, epsilon, 2, radius=0.5)
    points = [np.array(list(map(float, released.exact))) for released in pair]
    bits = SeededBits(11)

    def mechanism(released, n_trials):
        value = released.value
        rows = np.tile(value.values.astype(np.int64), (n_trials, 1))
        integers = released.law.release(
            replace(value, values=rows), released.lattice, bits
        )
        return released.lattice.to_float(integers)

    def log_ratio(outputs):
        return log_density(noise, outputs - points[0]) - log_density(
            noise, outputs - points[1]
        )

    result = audit(
        mechanism,
        *pair,
        n_trials=100_000,
        statistic=log_ratio,
        batch=True,
        delta=law.get("delta", 0.0),
        confidence=1 - 1e-7,
    )
    if "delta" in law:
        assert 0.5 * epsilon < result.epsilon_lower <= epsilon
        return
    share = plan._epsilon_moment
    assert 0.5 * share < result.epsilon_lower <= share
    # The exact ratio is at most the share for every output, and nearly so for some.
    ratios = np.abs(log_ratio(mechanism(pair[0], 100_000)))
    assert 0.95 * share < ratios.max() <= share * (1 + 1e-9)


# The first two steps, and what depends on what


@each_mechanism
def test_the_first_step_is_a_mean_with_its_share(law):
    rng = np.random.default_rng(2)
    model = ICLPCovariance(**FACTS, **law, epsilon=2.0, random_state=0)
    sums = [
        releases_of(model, np.vstack([np.zeros(len(GRID)), person]))[0]
        for person in candidates(rng)
    ]
    plan = budgets(model, 2)
    moves = [change(*pair) for pair in itertools.combinations(sums, 2)]
    largest = max(moves, key=lambda move: sum(x * x for x in move))
    square = sum(x * x for x in largest)
    assert Fraction(0.99) * 4 <= square <= Fraction(SENSITIVITY) ** 2
    if law["mechanism"] != "gaussian":
        losses = [sums[0].law.loss([float(x) for x in move]) for move in moves]
        assert max(losses) <= plan.mean.epsilon


@pytest.mark.parametrize("estimator", [ICLPCovariance, PrivateFPCA])
def test_a_person_changes_only_that_persons_distance(
    estimator, public_mean, monkeypatch
):
    """The largest one over the person's rows; to the last bit."""
    seen = []

    def read(distances, radii):
        seen.append((distances.copy(), radii[0]))
        return np.zeros(len(radii))

    def largest(radii, beyond, epsilon, bits):
        assert epsilon == budgets(model, 4).epsilon_radius
        return radii[0]

    monkeypatch.setattr(_covariance_steps, "people_beyond", read)
    monkeypatch.setattr(_covariance_steps, "choose_among", largest)
    rng = np.random.default_rng(3)
    others = rng.uniform(-2, 6, (5, len(GRID)))
    others[0], others[1] = -1.5, 2.5
    model = estimator(**FACTS, norm_bound=4.0, epsilon=2.0, random_state=0)
    groups = ["a", "a", "b", "b", "c", "d", "d"]
    for person in candidates(rng):
        model.fit(np.vstack([others, person, person / 3]), groups=groups)
    tables = np.array([distances for distances, _ in seen])
    assert tables.shape[1] == 4
    assert (tables[:, :3] == tables[0, :3]).all()
    assert len(set(tables[:, 3])) > 5
    assert len({radius for _, radius in seen}) == 1
    assert tables.max() <= seen[0][1] * (1 + 1e-12)
    # The largest over the rows of "a", recomputed from their coefficients.
    coef = projections(others[:2] - 2, GRID, 3, DOMAIN) / 4
    coef /= np.maximum(np.linalg.norm(coef, axis=1), 1)[:, None]
    rows = np.linalg.norm(coef - 0.1, axis=1)
    assert tables[0, 0] == pytest.approx(rows.max(), rel=1e-9)
    assert rows[0] > 1.1 * rows[1]
    # A person without any value is at the centre.
    model.set_params(missing="interpolate")
    gone = np.full((2, len(GRID)), np.nan)
    model.fit(np.vstack([others, gone]), groups=groups)
    assert seen[-1][0][3] == 0.0
    assert (seen[-1][0][:3] == tables[0, :3]).all()


def test_candidates_are_those_that_the_people_pay_for(monkeypatch):
    """The public number of people decides, never that of rows."""
    seen = []

    def largest(radii, beyond, epsilon, bits):
        seen.append((len(radii), epsilon))
        return radii[0]

    monkeypatch.setattr(_covariance_steps, "choose_among", largest)
    model = ICLPCovariance(**FACTS, epsilon=8.0, random_state=0)
    model.fit(np.ones((90, len(GRID))), groups=np.arange(90) // 2)
    ((count, epsilon),) = seen
    assert epsilon == budgets(model, 45).epsilon_radius
    assert count == len(candidate_radii(1.0, 45, epsilon))
    assert count != len(candidate_radii(1.0, 90, epsilon))


def test_a_person_is_the_mean_of_rows_that_have_values():
    """A row of gaps among them changes no bit."""
    people = np.random.default_rng(4).uniform(-2, 6, (5, len(GRID)))
    groups = ["a", "b", "b", "c", "d"]
    model = ICLPCovariance(**FACTS, missing="interpolate", random_state=0)
    with_gaps = np.vstack([people, np.full(len(GRID), np.nan)])
    sums = []
    for X, owners in ((people, groups), (with_gaps, [*groups, "b"])):
        with recorded() as releases:
            model.fit(X, groups=owners)
        sums.append([step.exact for step in releases])
    assert sums[0] == sums[1]


def test_a_public_radius_asks_nobody(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a choice was made")

    monkeypatch.setattr(_covariance_base, "choose_radius_around", refuse)
    model = ICLPCovariance(**FACTS, radius=2.5, random_state=0)
    assert model.fit(np.ones((9, len(GRID)))).radius_ == pytest.approx(2.5)
    assert budgets(model, 9).epsilon_radius is None


def test_curves_are_shrunk_to_the_radius(mean_at_the_centre):
    """With the clip removed somebody far away would count for more."""
    grid = np.linspace(0, 1, 200)
    facts = {"bounds": (-9, 9), "grid": grid, "n_basis": 3, "radius": 0.5}
    model = ICLPCovariance(**facts, random_state=0)
    sums = []
    for length in (0.5, 5.0, 8.9):
        X = np.zeros((4, 200))
        X[-1] = length
        sums.append(np.array(releases_of(model, X)[1].exact, dtype=float))
    assert sums[0][0] == pytest.approx(WEIGHT, rel=1e-9)
    assert sums[0][3] == pytest.approx(1.0, rel=1e-9)
    for far in sums[1:]:
        np.testing.assert_allclose(far, sums[0], atol=1e-9)
