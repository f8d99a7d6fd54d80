"""Eigenvalues of noise: false alarms, power, and the warning from public facts."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from skfuncpriv import ICLPCovariance, NoiseDominatesWarning, PrivateFPCA
from skfuncpriv.basis import CosineBasis
from skfuncpriv.datasets import make_curves
from skfuncpriv.iclp import _covariance_noise as module
from skfuncpriv.iclp._covariance_noise import CovarianceNoise, noise_of
from skfuncpriv.iclp._covariance_plan import plan_covariance
from skfuncpriv.noise import SeededBits

GRID = np.linspace(0, 1, 20)
LAWS = ("spherical", "laplace", "gaussian")


def plan_of(mechanism, n_people=508, epsilon=1.0, n_functions=None):
    return plan_covariance(
        n_people=n_people,
        n_outputs=1,
        spectrum=CosineBasis(64).spectrum,
        epsilon=epsilon,
        delta=1e-6,
        mechanisms=(mechanism,),
        n_functions=n_functions,
        fewest=1,
        public_radius=False,
    )


def most_alarms(n_trials):
    """So many are seen once in a million runs, if the rate is 0.05."""
    return binom.isf(1e-6, n_trials, 0.05)


# False alarms


SETTINGS = [
    (508, 1.0, "auto"),
    (508, 4.0, "auto"),
    (100, 1.0, "auto"),
    (2000, 0.25, "auto"),
    (508, 1.0, "laplace"),
    (508, 1.0, "gaussian"),
]


@pytest.mark.filterwarnings("ignore::skfuncpriv.NoiseDominatesWarning")
@pytest.mark.parametrize("mean", [0.4 * np.sin(5 * GRID), 0.9 + 0 * GRID])
def test_identical_curves_have_no_components(mean):
    """Whatever they are: an edge for residuals of mean zero alarms in 40 % of fits."""
    alarms = 0
    for n_people, epsilon, mechanism in SETTINGS:
        model = ICLPCovariance(bounds=(-1, 1), epsilon=epsilon, mechanism=mechanism)
        model.set_params(delta=1e-6 if mechanism == "gaussian" else 0.0, denoise=False)
        X = np.tile(mean, (n_people, 1))
        for model.random_state in range(15):
            alarms += model.fit(X).n_detectable_ > 0
    assert alarms <= most_alarms(15 * len(SETTINGS))


def alarms_of(plan, length, rank, n_trials):
    """Releases with more eigenvalues above the edge than the covariance has."""
    noise, moment = CovarianceNoise(plan.moment, plan.law), plan.moment
    p, n_people = moment.n_coordinates, moment.n_people
    delta = np.full(p, length / np.sqrt(p))
    truth = np.diag(np.where(np.arange(p) < rank, 1 - length**2, 0.0))
    draws = plan.law.sample(n_trials, SeededBits(9)) / n_people
    found = 0
    for draw in draws:
        mean = delta + moment.first(draw)
        second = truth + np.outer(delta, delta) + moment.matrix(draw[p:])
        values = np.linalg.eigvalsh(second - np.outer(mean, mean))
        found += np.sum(values > noise.edge(mean)) > rank
    return found


@pytest.mark.parametrize("mechanism", LAWS)
@pytest.mark.parametrize("length", [0.0, 0.3, 1.0])
def test_the_level_whatever_the_mean_of_the_residuals(mechanism, length, monkeypatch):
    monkeypatch.setattr(module, "_MOST_DRAWS", 200)
    for rank, facts in ((0, {}), (0, {"n_functions": 1}), (1, {"epsilon": 4.0})):
        found = alarms_of(plan_of(mechanism, **facts), length, rank, 200)
        assert found <= most_alarms(200)


@pytest.mark.parametrize("mechanism", LAWS)
def test_the_edge_is_no_further_than_it_has_to_be(mechanism):
    """It is exceeded in one of twenty draws given the mean, or one of thirty."""
    plan = plan_of(mechanism)
    moment = plan.moment
    mean = np.linspace(-0.2, 0.5, moment.n_coordinates)
    edge, n_draws = noise_of(plan).edge(mean), 4000
    draws = plan.law.sample(n_draws, SeededBits(3)) / moment.n_people
    cross = mean[:, None] * moment.first(draws)[:, None, :]
    first = moment.first(draws)
    noise = moment.matrix(draws[:, moment.n_coordinates :])
    noise += first[:, :, None] * first[:, None, :] - cross - np.swapaxes(cross, 1, 2)
    rate = np.mean(np.linalg.eigvalsh(noise)[:, -1] > edge)
    error = 5 * np.sqrt(0.05 * 0.95 * (1 / n_draws + 1 / 2000))
    assert 0.04 - error < rate < 0.05 + error


def test_draws_are_those_of_the_public_facts():
    """Shared by fits with the same facts, and by no others."""
    noise = noise_of(plan_of("gaussian"))
    assert noise_of(plan_of("gaussian")) is noise
    for facts in (("laplace",), ("gaussian", 507), ("gaussian", 508, 2.0)):
        plan = plan_of(*facts)
        mean = np.zeros(plan.moment.n_coordinates)
        fresh = CovarianceNoise(plan.moment, plan.law)
        assert noise_of(plan).edge(mean) == fresh.edge(mean)
        assert noise_of(plan).edge(mean) != noise.edge(np.zeros(len(noise._std)))


def test_the_edge_grows_with_the_mean_and_not_with_its_direction():
    plan = plan_of("spherical")
    noise, p = noise_of(plan), plan.moment.n_coordinates
    edges = [noise.edge(np.eye(p)[0] * length) for length in (0.0, 0.5, 1.0)]
    assert edges[0] < edges[1] < edges[2]
    assert edges[2] > 1.5 * edges[0]
    others = [noise.edge(np.eye(p)[k]) for k in range(1, p)]
    np.testing.assert_allclose(others, edges[2], rtol=0.1)


def test_the_edge_follows_from_the_release_and_its_units():
    made = make_curves(300, n_points=20, random_state=0).data
    model = ICLPCovariance(bounds=(-2, 2), epsilon=4.0, random_state=0)
    edge = model.fit(made).noise_edge_
    assert model.fit(made).noise_edge_ == edge > 0
    model.set_params(bounds=(-2000, 2000)).fit(1000 * made)
    assert model.noise_edge_ == pytest.approx(1e6 * edge, rel=1e-6)


def test_many_functions_have_fewer_draws():
    noise = noise_of(plan_of("spherical", 10**6, 8.0, 120))
    assert len(noise._means) == 145
    assert 0 < noise.edge(np.zeros(120)) < 1


@pytest.mark.parametrize("epsilon", [1e-110, 1e-150])
def test_noise_near_the_end_of_floats_has_an_edge(epsilon):
    with np.errstate(all="ignore"):
        edge = noise_of(plan_of("spherical", epsilon=epsilon)).expected_edge
    assert edge > 1e200


# Power


def detected(model, X, n_fits):
    return [model.fit(X).n_detectable_ for model.random_state in range(n_fits)]


@pytest.mark.parametrize(("epsilon", "fewest"), [(1.0, 7), (4.0, 8)])
def test_demand_varies(epsilon, fewest, shared_data):
    frame = pd.read_csv(shared_data / "mondaydemand.csv.gz")
    X = frame.drop(columns="week").to_numpy(dtype=float)
    model = ICLPCovariance(bounds=(500, 3000), domain=(0, 24), epsilon=epsilon)
    assert np.sum(np.array(detected(model, X, 8)) > 0) >= fewest


def test_two_waves_of_many_people_are_two():
    made = make_curves(10_000, n_points=20, random_state=0).data
    model = ICLPCovariance(bounds=(-2, 2), epsilon=2.0)
    assert detected(model, made, 3) == [2, 2, 2]


# Few people


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_eleven_people_are_noise(epsilon):
    """Before the fit by public facts, and after it by the release."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (88, 1)) + 0.1 * rng.normal(size=(88, 20))
    model = PrivateFPCA(bounds=(-1, 1), epsilon=epsilon)
    groups, found = np.arange(88) // 8, []
    for model.random_state in range(8):
        with pytest.warns(NoiseDominatesWarning, match="more people"):
            found.append(model.fit(X, groups=groups).n_detectable_)
    assert found == [0] * 8


def test_the_warning_is_about_what_can_be_told_from_noise():
    def warns(n_people, epsilon, **facts):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = ICLPCovariance(bounds=(-1, 1), epsilon=epsilon, random_state=0)
            model.set_params(**facts).fit(np.zeros((n_people, 20)))
        return [type(entry.message) for entry in caught] == [NoiseDominatesWarning]

    both = partial(map, lambda facts: warns(*facts))
    assert list(both([(11, 8.0), (30, 1.0), (60, 1.0)])) == [True] * 3
    assert list(both([(11, 20.0), (30, 4.0), (100, 1.0), (508, 0.3)])) == [False] * 4
    # Who states a radius saves a share, and can reach all of it.
    assert not warns(11, 8.0, radius=1.0)
    assert warns(11, 1.0, radius=1.0)
