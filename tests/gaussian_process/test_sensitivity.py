"""What one person can change, by brute force over neighbours, and what it costs.

The private coordinates are read where noise is added, so these tests see what `fit`
really releases, with the law it really uses. Too little noise, too much noise, a
sensitivity that is missed and one that is not attained all fail.
"""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KernelDensity

from skfuncpriv import GaussianProcessReleaser
from skfuncpriv.gaussian_process import (
    ExponentialKernel,
    GaussianKernel,
    kde_sensitivity,
)
from skfuncpriv.noise import IndependentGaussian, SeededBits
from skfuncpriv.privacy import audit
from tests.gaussian_process.release import check_loss, hidden_by, largest_move, move

pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)
DELTA = 1e-6
COMMON = {"delta": DELTA, "random_state": 0}
H = ((0.02, 0.01), (0.01, 0.03))
POINTS = np.random.default_rng(0).uniform(-1, 1, (25, 5))

# Parameters, the number of features, and the share of the bound that is attained.
DENSITIES = {
    "one": ({"estimator": KernelDensity(bandwidth=0.1)}, 1, 0.999),
    "wide": ({"estimator": KernelDensity(bandwidth=3.0)}, 1, 0.999),
    "two": ({"estimator": KernelDensity(bandwidth=0.3)}, 2, 0.999),
    "three": ({"estimator": KernelDensity(bandwidth=0.7)}, 3, 0.99),
    "axes": ({"estimator": GaussianKernel((0.1, 0.5))}, 2, 0.999),
    "matrix": ({"estimator": GaussianKernel(H)}, 2, 0.999),
    "sobolev": (
        {"estimator": KernelDensity(bandwidth=0.3), "kernel": ExponentialKernel(1.0)},
        1,
        0.9,
    ),
    "sobolev-two": (
        {"estimator": KernelDensity(bandwidth=0.5), "kernel": ExponentialKernel(0.15)},
        2,
        0.85,
    ),
    "points": (
        {"estimator": KernelDensity(bandwidth=0.5), "points": POINTS},
        5,
        0.9,
    ),
    "nodes": ({"estimator": KernelDensity(bandwidth=0.1), "n_nodes": 7}, 1, 0.99),
}
each_density = pytest.mark.parametrize(
    ("facts", "n_features", "attained"), DENSITIES.values(), ids=DENSITIES
)


def places(n_features, rng):
    """Where a person may be, also at absurd places."""
    corners = list(itertools.product((-1.0, 1.0), repeat=n_features))[:8]
    found = [np.array(corner) for corner in corners]
    found += [np.full(n_features, x) for x in (1e308, -1e308, 0.0, 5e-324)]
    found += [np.append(-np.ones(n_features - 1), x) for x in (0.2, 0.6)]
    found += list(rng.uniform(-1, 1, (12, n_features)))
    return found + list(POINTS[:4, :n_features])


def check_all_pairs(fits, sensitivity, attained):
    """All pairs of neighbours keep epsilon = 1; the worst comes near the bound."""
    assert len({hidden.law for hidden in fits}) == 1
    largest = largest_move(fits)
    assert attained * sensitivity <= largest <= sensitivity
    check_loss(largest, fits[0].sigma, 1.0, DELTA, at_least=0.99 * attained)


def in_units_of_the_sum(model, n):
    """The stated sensitivity over the height of one person's bump."""
    facts = model.estimator.get_params() if model.kernel is not None else {}
    own = GaussianKernel(facts["bandwidth"]) if facts else model.kernel_
    volume = math.sqrt(np.linalg.det(own.covariance(model.n_features_in_)))
    height = (2 * math.pi) ** (-model.n_features_in_ / 2) / volume
    return model.sensitivity_ / height * n


@each_density
def test_no_pair_of_neighbours_loses_more_than_epsilon(facts, n_features, attained):
    model = GaussianProcessReleaser(**COMMON, **facts, bounds=(-1.0, 1.0))
    others = np.full((2, n_features), 0.3)
    rng = np.random.default_rng(1)
    fits = [
        hidden_by(model, np.vstack([others, place]))
        for place in places(n_features, rng)
    ]
    check_all_pairs(fits, in_units_of_the_sum(model, 3), attained)


@each_density
def test_people_with_any_number_of_rows(facts, n_features, attained):
    model = GaussianProcessReleaser(**COMMON, **facts, bounds=(-1.0, 1.0))
    others = np.full((3, n_features), 0.3)
    people = places(n_features, np.random.default_rng(2))
    fits = []
    for n_rows in (1, 2, 7):
        for k in range(0, len(people), n_rows):
            mixed = [people[(k + j) % len(people)] for j in range(n_rows)]
            for rows in (mixed, [people[k]] * n_rows):
                groups = ["a", "a", "b", *["c"] * n_rows]
                fits.append(hidden_by(model, np.vstack([others, *rows]), groups=groups))
    assert model.n_people_ == 3
    check_all_pairs(fits, in_units_of_the_sum(model, 3), attained)


@pytest.mark.parametrize("estimator", [KernelDensity(bandwidth=3.0), GaussianKernel(H)])
def test_bounds_far_from_the_origin(estimator):
    """Rounding of coordinates there must not move two people apart."""
    n_features = 1 if isinstance(estimator, KernelDensity) else 2
    far, width = 2.0**40, 2.0**-5
    model = GaussianProcessReleaser(
        **COMMON, estimator=estimator, bounds=(far, far + width)
    )
    inside = np.clip(places(n_features, np.random.default_rng(6)), -1, 1)
    people = far + width * (inside + 1) / 2
    fits = [hidden_by(model, place[None]) for place in people]
    check_all_pairs(fits, in_units_of_the_sum(model, 1), 0.999)
    near = clone(model).set_params(bounds=(0.0, width))
    one, other = (
        m.fit(X).predict(X) for m, X in ((model, people), (near, people - far))
    )
    np.testing.assert_allclose(one, other, rtol=1e-6)


def test_stated_sensitivities_are_those_of_the_public_function():
    for facts, n_features, _ in DENSITIES.values():
        model = GaussianProcessReleaser(**COMMON, **facts, bounds=(-1.0, 1.0))
        model.fit(np.zeros((40, n_features)))
        estimator = facts["estimator"]
        bandwidth = getattr(estimator, "bandwidth", None)
        public = kde_sensitivity(
            40,
            bandwidth,
            n_features,
            kernel=facts.get("kernel"),
            bounds=(-1.0, 1.0),
        )
        assert public <= model.sensitivity_ <= public * 1.0001


# Kernel ridge regression

RIDGES = {
    "rbf": ({"kernel": "rbf", "gamma": 2.0}, {}, 1),
    "laplacian": ({"kernel": "laplacian", "gamma": 0.5}, {}, 1),
    "two": ({"kernel": "rbf", "gamma": 1.0}, {}, 2),
    "points": ({"kernel": "rbf", "gamma": 0.05}, {"points": POINTS}, 5),
}
each_ridge = pytest.mark.parametrize(
    ("facts", "more", "n_features"), RIDGES.values(), ids=RIDGES
)


def ridge_releaser(facts, more, alpha):
    return GaussianProcessReleaser(
        **COMMON,
        **more,
        estimator=KernelRidge(**facts, alpha=alpha),
        bounds=(-1.0, 1.0),
        y_bounds=(10.0, 30.0),
    )


@pytest.mark.parametrize("alpha", [0.02, 1.0, 20.0])
@each_ridge
def test_no_pair_of_ridge_neighbours_loses_more(facts, more, n_features, alpha):
    rng = np.random.default_rng(3)
    model = ridge_releaser(facts, more, alpha)
    for n in (1, 5, 12):
        spread = rng.choice([0.0, 0.3, 1.0])
        X = rng.uniform(-spread, spread, (n - 1, n_features))
        y = rng.choice([10.0, 30.0], n - 1) if n % 2 else np.full(n - 1, 30.0)
        fits = [
            hidden_by(model, np.vstack([X, place]), np.append(y, target))
            for place in places(n_features, rng)[::3]
            for target in (10.0, 1e308, 21.0)
        ]
        attained = {1: 0.95 if alpha >= 1 else 0.2, 12: 0.1}.get(n, 0.2)
        check_all_pairs_of_ridge(fits, model, attained)


def check_all_pairs_of_ridge(fits, model, attained):
    sensitivity = model.sensitivity_ / 10  # half the range of y
    largest = largest_move(fits)
    assert attained * sensitivity <= largest <= sensitivity
    check_loss(largest, fits[0].sigma, 1.0, DELTA)


def test_one_person_attains_the_ridge_bound():
    model = ridge_releaser({"kernel": "rbf", "gamma": 2.0}, {}, 3.0)
    pair = [hidden_by(model, [[0.1]], [y]) for y in (-1e300, 1e300)]
    assert move(*pair) <= model.sensitivity_ / 10
    check_loss(move(*pair), pair[0].sigma, 1.0, DELTA, at_least=0.999)


# Callables


def mean_of_bumps(X, y):
    kernel = GaussianKernel(0.2)
    return lambda T: kernel(T, X).mean(axis=0 if len(T) == 0 else 1)


def test_callables_lose_what_their_author_states():
    stated = math.sqrt(2) / 3
    model = GaussianProcessReleaser(
        **COMMON,
        estimator=mean_of_bumps,
        kernel=GaussianKernel(0.2),
        sensitivity=stated,
        bounds=(-1.0, 1.0),
    )
    people = places(1, np.random.default_rng(4))
    fits = [hidden_by(model, np.vstack([[[0.3]], [[0.3]], place])) for place in people]
    assert stated <= model.sensitivity_ <= stated * 1.0001
    check_all_pairs(fits, model.sensitivity_ / stated, 0.999)


# Audits: the loss that the drawn noise really has


def worst_pair(kind, epsilon, delta):
    """Two neighbours that attain the sensitivity."""
    facts = {"epsilon": epsilon, "delta": delta, "random_state": 0}
    if kind == "ridge":
        model = ridge_releaser({"kernel": "rbf", "gamma": 2.0}, {}, 3.0)
        model.set_params(**facts)
        return [hidden_by(model, [[0.1]], [y]) for y in (10.0, 30.0)]
    model = GaussianProcessReleaser(
        **facts, estimator=KernelDensity(bandwidth=0.25), bounds=(-1.0, 1.0)
    )
    return [hidden_by(model, [[0.0], [x]]) for x in (-1.0, 1.0)]


def audited(pair, law, epsilon, delta):
    """The empirical bound from the exact likelihood ratio."""
    bits = SeededBits(11)
    points = [hidden.floats for hidden in pair]

    def mechanism(hidden, n_trials):
        rows = np.tile(hidden.value.values, (n_trials, 1))
        integers = law.release(replace(hidden.value, values=rows), hidden.lattice, bits)
        return hidden.lattice.to_float(integers)

    def log_ratio(outputs):
        squares = [np.square(outputs - point).sum(axis=1) for point in points]
        return (squares[1] - squares[0]) / (2 * law.deviations[0] ** 2)

    return audit(
        mechanism,
        *pair,
        n_trials=100_000,
        statistic=log_ratio,
        batch=True,
        delta=delta,
        confidence=1 - 1e-7,
    ).epsilon_lower


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
@pytest.mark.parametrize("kind", ["density", "ridge"])
def test_audit_of_the_worst_pair(kind, epsilon):
    delta = 0.05  # an audit sees events of at least that size only
    pair = worst_pair(kind, epsilon, delta)
    check_loss(move(*pair), pair[0].sigma, epsilon, delta, at_least=0.99)
    bound = audited(pair, pair[0].law, epsilon, delta)
    assert 0.8 * epsilon < bound <= epsilon


@pytest.mark.parametrize("kind", ["density", "ridge"])
def test_noise_wrong_by_root_two_is_noticed(kind):
    pair = worst_pair(kind, 1.0, 0.05)
    law = pair[0].law
    less, more = (
        IndependentGaussian(tuple(s * factor for s in law.deviations))
        for factor in (math.sqrt(0.5), math.sqrt(2))
    )
    assert audited(pair, less, 1.0, 0.05) > 1.0
    for wrong in (less, more):
        with pytest.raises(AssertionError):
            check_loss(move(*pair), wrong.deviations[0], 1.0, 0.05, at_least=0.99)


@pytest.mark.parametrize("calibration", ["analytic", "classic"])
def test_both_calibrations_and_zcdp_hold(calibration):
    facts = {"estimator": KernelDensity(bandwidth=0.1), "bounds": (-1.0, 1.0)}
    people = ([[0.0], [-1.0]], [[0.0], [1.0]])
    model = GaussianProcessReleaser(
        **facts, **COMMON, epsilon=0.5, calibration=calibration
    )
    pair = [hidden_by(model, X) for X in people]
    check_loss(move(*pair), pair[0].sigma, 0.5, DELTA)
    model = GaussianProcessReleaser(**facts, rho=0.3, random_state=0)
    pair = [hidden_by(model, X) for X in people]
    rho = move(*pair) ** 2 / (2 * pair[0].sigma ** 2)
    assert 0.299 < rho <= 0.3
