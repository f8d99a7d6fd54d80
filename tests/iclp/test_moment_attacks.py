"""Attacks on covariances and on means in two rounds: what data could show beside noise.

Each test is one way that was tried to learn something about a person.
"""

import itertools
import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skfuncpriv import (
    BudgetLedger,
    Curves,
    FRLMean,
    ICLPCovariance,
    ICLPMean,
    PrivacyError,
    PrivateFPCA,
)
from skfuncpriv.basis import CosineBasis, SincBasis
from skfuncpriv.iclp import _radius
from skfuncpriv.iclp._covariance_plan import plan_covariance
from skfuncpriv.iclp._plan import SENSITIVITY
from skfuncpriv.iclp._rounds import Shares
from skfuncpriv.noise import NoiseLaw, exact_epsilon, smaller_reading
from skfuncpriv.privacy import gaussian_delta
from skfuncpriv.summaries import project_in_blocks
from skfuncpriv.testing import recorded

pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)


def irregular(*curves):
    times, values = (np.concatenate(part) for part in zip(*curves, strict=True))
    offsets = np.cumsum([0, *(len(t) for t, _ in curves)])
    return Curves(values, times, offsets)


# Composition


def test_rounds_keep_to_the_decimal_that_is_printed():
    """An epsilon of 0.1 is promised as 1/10, of which the float is a little more."""
    rng = np.random.default_rng(0)
    numbers = [0.1, 0.3, 0.041736989438672475, *10 ** rng.uniform(-3, 3, 300)]
    for epsilon, n_people in itertools.product(
        map(float, numbers), (1, 3, 1000, 10**6)
    ):
        shares = Shares.of(epsilon, n_people)
        parts = (shares.rough, shares.radius, shares.fine)
        assert sum(map(smaller_reading, parts)) <= exact_epsilon(epsilon)


@pytest.mark.parametrize("mechanism", ["spherical", "gaussian"])
def test_three_steps_spend_the_decimal_that_is_printed(mechanism):
    rng, spectrum = np.random.default_rng(5), CosineBasis(8).spectrum
    for k, epsilon in enumerate([0.1, 0.3, *10 ** rng.uniform(-3, 3, 12)]):
        plan = plan_covariance(
            n_people=int(10 ** rng.uniform(0, 6)),
            n_outputs=1,
            spectrum=spectrum,
            epsilon=float(epsilon),
            delta=1e-5 * (mechanism == "gaussian"),
            mechanisms=(mechanism,),
            n_functions=3,
            fewest=1,
            public_radius=k % 3 == 0,
        )
        left = exact_epsilon(float(epsilon)) - Fraction(plan.epsilon_radius or 0.0)
        if mechanism == "spherical":
            spent = Fraction(plan.mean.epsilon) + Fraction(plan._epsilon_moment)
            assert left * Fraction(1 - 1e-12) <= spent <= left
            continue
        deviations = plan.mean.law.deviations[0], plan.law.deviations[0]
        moves = SENSITIVITY, plan.moment.sensitivity
        mu = math.hypot(*np.divide(moves, deviations))
        assert gaussian_delta(float(left), 1.0, mu) <= 1e-5 * (1 + 1e-9)
        assert gaussian_delta(0.99 * float(left), 1.0, mu) > 1e-5


@pytest.mark.parametrize("estimator", [ICLPCovariance, PrivateFPCA])
@pytest.mark.parametrize(
    "facts", [{"epsilon": 1e-10}, {"epsilon": 1e-8, "radius": 1e149}]
)
def test_noise_beyond_floats_is_refused_before_it_is_charged(
    estimator, facts, tmp_path
):
    path, scale = str(tmp_path / "budget.db"), 1e149
    BudgetLedger(path, epsilon=5.0)
    model = estimator(bounds=(-scale, scale), ledger=path, **facts)
    for person in (0.0, 1e308):
        with pytest.raises(PrivacyError, match="range of floating point"):
            model.fit([[0.0, 1.0], [person, 0.0]])
    assert BudgetLedger(path).spent.epsilon == 0
    model.set_params(bounds=(-1e130, 1e130), ledger=None, radius=None).fit(np.eye(3))
    for name, value in vars(model).items():
        if isinstance(value, np.ndarray):
            assert np.isfinite(value).all(), name


# A failure between the draws


@pytest.mark.parametrize("n_draws", [0, 1])
@pytest.mark.parametrize(
    ("estimator", "facts"),
    [(ICLPCovariance, {}), (PrivateFPCA, {}), (ICLPMean, {"rounds": 2})],
)
def test_a_failure_between_draws_leaves_nothing_fitted(
    estimator, facts, n_draws, tmp_path, monkeypatch
):
    path = str(tmp_path / "budget.db")
    BudgetLedger(path, epsilon=5.0)
    X = np.random.default_rng(6).uniform(-1, 1, (50, 8))
    model = estimator(bounds=(-1, 1), random_state=0, **facts).fit(X)
    older = {name: value for name, value in vars(model).items() if name[-1] == "_"}
    original, done = NoiseLaw.release, []

    def release(*args):
        if len(done) == n_draws:
            raise MemoryError
        done.append(1)
        return original(*args)

    monkeypatch.setattr(NoiseLaw, "release", release)
    model.set_params(ledger=path)
    with pytest.raises(MemoryError):
        model.fit(-X)
    assert BudgetLedger(path).spent.epsilon == 1.0
    assert not hasattr(model, "guarantee_")
    with pytest.raises(NotFittedError):
        model.sample() if hasattr(model, "sample") else model.predict(0.5)
    for name, value in older.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(model, name), value)


# The radius: half of the usual noise is enough as all scores move in one direction


def law_of_the_choice(distances, epsilon, monkeypatch):
    """Probabilities of all radii, by quadrature of what permute-and-flip states."""
    seen = []

    def choose(scores, *, epsilon, bits, sensitivity):
        seen.append((scores[0], 2 * sensitivity / epsilon))
        return [0]

    with monkeypatch.context() as patch:
        patch.setattr(_radius, "permute_and_flip", choose)
        _radius.choose_radius(np.array(distances), 1.0, epsilon, None)
    ((scores, scale),) = seen
    odds = np.exp((scores - scores.max()) / scale)
    nodes, weights = np.polynomial.legendre.leggauss(100)
    factors = 1 - np.outer((nodes + 1) / 2, odds)
    others = [np.delete(factors, k, axis=1).prod(axis=1) for k in range(len(odds))]
    return odds * np.array([weights @ other / 2 for other in others])


@pytest.mark.parametrize("epsilon", [0.02, 0.5, 3.0, 20.0])
@pytest.mark.parametrize("n_people", [1, 2, 9, 60])
def test_the_choice_of_a_radius_loses_no_more_than_it_costs(
    epsilon, n_people, monkeypatch
):
    radii = _radius.candidate_radii(1.0, n_people, epsilon)
    places = [0.0, *radii[:3], *radii[:3] * 0.99, radii[-1], radii[-1] * 1.01, 9.0]
    rng, largest = np.random.default_rng(1), 0.0
    for others in ([radii[-1]] * (n_people - 1), rng.choice(places, n_people - 1)):
        laws = [
            law_of_the_choice([*others, place], epsilon, monkeypatch)
            for place in [*places, np.nan]
        ]
        np.testing.assert_allclose(np.sum(laws, axis=1), 1.0, rtol=1e-9)
        for one, other in itertools.permutations(laws, 2):
            seen = (one > 1e-250) & (other > 1e-250)
            largest = max(largest, np.log(one[seen] / other[seen]).max())
    assert largest <= epsilon * (1 + 1e-9)
    if len(radii) > 1:  # and not much less: half of the noise would be too little
        assert largest > 0.9 * min(epsilon, 3.0)


# Bits: what others contribute does not depend on a person


def person(rng, n_points, scale=1.0):
    return np.sort(rng.uniform(0, 1, n_points)), rng.normal(0, scale, n_points)


@pytest.mark.parametrize("form", ["irregular", "grid", "people"])
@pytest.mark.parametrize("estimator", [ICLPCovariance, ICLPMean])
def test_what_a_person_changes_does_not_depend_on_others(estimator, form, monkeypatch):
    """Exactly, in every step, though rows of others are more, longer and larger."""
    monkeypatch.setattr(
        ICLPCovariance, "_mean_from", lambda model, released, plan: np.full(9, 0.1)
    )
    rng, exact = np.random.default_rng(2), {}
    extra = {"radius": 1.0} if estimator is ICLPCovariance else {}
    model = estimator(bounds=(-1, 2), domain=(0, 1), n_basis=9, random_state=0, **extra)

    def curves(n_rows, scale):
        sizes = rng.integers(1, 50, n_rows) if form == "irregular" else [8] * n_rows
        return [person(rng, int(k), scale) for k in sizes]

    own = {name: curves(5 if form == "people" else 1, 10.0) for name in "ab"}
    for kind, n_rows in (("few", 1), ("many", 700)):
        n_others = 2 * n_rows if form == "people" else 40
        others = curves(n_others, n_rows)
        labels = [1 + k % 2 for k in range(n_others)]
        for name, rows in own.items():
            groups = [0] * len(rows) + labels if form == "people" else None
            data = irregular(*rows, *others)
            if form != "irregular":
                data = np.array([values for _, values in [*rows, *others]])
            with recorded() as releases:
                model.fit(data, groups=groups)
            exact[kind, name] = [np.array(r.exact) for r in releases]
    for step in range(len(exact["few", "a"])):
        few = exact["few", "a"][step] - exact["few", "b"][step]
        many = exact["many", "a"][step] - exact["many", "b"][step]
        assert (few == many).all()
        assert (few != 0).any()


# What raises, warns or grows with one person's observations


@pytest.mark.parametrize("estimator", [ICLPCovariance, PrivateFPCA, ICLPMean, FRLMean])
def test_a_curve_of_one_point_raises_nothing_on_the_whole_line(estimator):
    basis = SincBasis(4, (0.0, 1.0), whole_line=True)
    model = estimator(bounds=(0, 4), basis=basis, random_state=0)
    for own in (([0.5], [1.0]), ([0.5, 0.6], [1.0, 1.0])):
        model.fit(irregular(own, ([0.2, 0.3], [1.0, 2.0])))


@pytest.mark.parametrize("estimator", [ICLPCovariance, ICLPMean])
def test_memory_does_not_grow_with_the_observations_of_a_person(estimator):
    peaks = []
    for n_points in (10, 30_000):
        times = np.linspace(0, 1, n_points)
        curves = irregular((times, np.sin(times)), ([0.0, 1.0], [0.0, 0.5]))
        model = estimator(bounds=(-1, 1), domain=(0, 1), n_basis=60, random_state=0)
        tracemalloc.start()
        model.fit(curves)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 48e6


@pytest.mark.parametrize("whole_line", [True, False])
@pytest.mark.parametrize("n_points", [1, 2, 2047, 2048, 2049, 2050, 4096, 4097, 9000])
def test_blocks_of_a_curve_are_the_whole_curve(n_points, whole_line):
    rng = np.random.default_rng(3)
    basis = CosineBasis(7, (-1.0, 2.0))
    if whole_line:
        basis = SincBasis(7, (-1.0, 2.0), whole_line=True)
    times, values = (
        np.sort(rng.uniform(-1, 2, n_points)),
        rng.normal(size=(n_points, 2)),
    )
    found = project_in_blocks(basis.projection, times, values)
    expected = basis.projection(times).T @ values
    if n_points <= 2048:
        np.testing.assert_array_equal(found, expected)
    assert math.isclose(np.abs(found - expected).max(), 0, abs_tol=1e-13)
