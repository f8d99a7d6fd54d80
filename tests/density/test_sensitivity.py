"""How far one person moves what is released, and that the noise fits it exactly."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from skfuncpriv.noise import (
    BlockSpherical,
    IndependentGaussian,
    IndependentLaplace,
    SeededBits,
)
from skfuncpriv.privacy import audit
from tests.density.cases import HIGH, LOW, MECHANISMS, each_mechanism, make, releases_of
from tests.iclp.test_sensitivity import check_loss, difference, gaussian_delta

pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)
N = 4
EPSILONS = [0.5, 3.0]


def others(n_axes):
    return np.random.default_rng(0).uniform(LOW, HIGH, (N - 1, n_axes))


def rows_of_one_person(n_axes):
    """What one person may hold: a row, several rows, extremes; and weights."""
    rng = np.random.default_rng(1)
    yield np.full((1, n_axes), LOW)
    yield np.full((1, n_axes), HIGH)
    yield np.full((1, n_axes), 1e308)
    yield np.where(np.arange(n_axes) % 2, LOW, HIGH)[None, :]
    for _ in range(12):
        yield rng.uniform(LOW - 1, HIGH + 1, (1, n_axes))
    for n_rows in (2, 3, 9):
        yield rng.uniform(LOW, HIGH, (n_rows, n_axes))
        yield np.repeat([np.full(n_axes, LOW), np.full(n_axes, HIGH)], n_rows, axis=0)


def sums_of_neighbours(how, epsilon, n_axes, grouped, weighted):
    """The one release of fits whose data differ in one person."""
    rest, rng = others(n_axes), np.random.default_rng(2)
    model = make(epsilon=epsilon, weight_cap=2.0, **how)
    for rows in rows_of_one_person(n_axes):
        if len(rows) > 1 and not grouped:
            continue
        X = np.concatenate([rest, rows])
        parameters = {}
        if grouped:
            parameters["groups"] = np.append(np.arange(N - 1), [N] * len(rows))
        if weighted:
            mine = rng.choice([0.0, 0.7, 2.0, 1e9], len(rows))
            parameters["sample_weight"] = np.append(np.ones(N - 1), mine)
        (released,) = releases_of(model, X, **parameters)
        yield released


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weights"])
@pytest.mark.parametrize("grouped", [False, True], ids=["rows", "groups"])
@pytest.mark.parametrize("n_axes", [1, 2])
@each_mechanism
def test_no_neighbours_lose_more_than_promised(how, n_axes, grouped, weighted):
    epsilon = 0.5
    if n_axes == 2 and "bandwidth" in how:
        how = {**how, "bandwidth": 2.0}  # few coefficients
    found = list(sums_of_neighbours(how, epsilon, n_axes, grouped, weighted))
    assert len(found) >= 16
    law = found[0].law
    assert all(released.law == law for released in found)
    # of all pairs, those that are farthest apart in absolute sum and in square
    pairs = list(combinations(found, 2))
    for size in (np.abs, np.square):
        steps = [(a.value.values - b.value.values).astype(float) for a, b in pairs]
        farthest = int(np.argmax([size(step).sum() for step in steps]))
        check_loss(law, difference(*pairs[farthest]), how, epsilon)


def worst_pair(how, epsilon, points=((LOW,), (HIGH,))):
    """The releases of two neighbours that are as far apart as the law allows."""
    pair = []
    for point in points:
        X = np.concatenate([others(1), [point]])
        (released,) = releases_of(make(epsilon=epsilon, **how), X)
        pair.append(released)
    return pair[0].law, pair


BINNED = {name: MECHANISMS[name] for name in ("laplace", "gaussian")}
SHARP = {**BINNED, "process": {**MECHANISMS["process"], "bandwidth": 0.8}}
each_sharp = pytest.mark.parametrize("how", SHARP.values(), ids=SHARP)


@pytest.mark.parametrize("epsilon", EPSILONS)
@each_sharp
def test_the_worst_pair_loses_what_is_promised(how, epsilon):
    law, pair = worst_pair(how, epsilon)
    check_loss(law, difference(*pair), how, epsilon, at_least=0.99)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("factor", [math.sqrt(2), 1 / math.sqrt(2)])
@each_sharp
def test_scales_wrong_by_root_two_are_noticed(how, epsilon, factor):
    law, pair = worst_pair(how, epsilon)
    if isinstance(law, IndependentLaplace):
        wrong = IndependentLaplace(tuple(factor * s for s in law.scales))
    else:
        wrong = IndependentGaussian(tuple(factor * s for s in law.deviations))
    with pytest.raises(AssertionError):
        check_loss(wrong, difference(*pair), how, epsilon, at_least=0.99)


@pytest.mark.parametrize("how", ["iclp", "iclp-gaussian"])
def test_the_noise_of_coefficients_fits_their_ball(how):
    """The functions at a point fill the ball only where all of them peak."""
    how = MECHANISMS[how]
    law, pair = worst_pair(how, 1.0, points=((LOW,), ((LOW + HIGH) / 2,)))
    change = difference(*pair)
    if isinstance(law, BlockSpherical):
        starts = np.cumsum([0, *law.sizes[:-1]])
        square = sum((2 / s) ** 2 for s in law.scales)  # sup over the ball of radius 2
        assert 0.99 < math.sqrt(square) <= 1.0
        assert len(starts) > 1
    else:
        (sigma,) = {Fraction(s) for s in law.deviations}
        assert gaussian_delta(Fraction(4) / sigma**2, 1.0) <= how["delta"]
        assert gaussian_delta(Fraction(4) / sigma**2, 0.99) > how["delta"]
    assert 0 < sum(x * x for x in change) <= 4


def log_density(law, z):
    if isinstance(law, IndependentLaplace):
        return -np.abs(z / np.array(law.scales)).sum(axis=1)
    return -0.5 * np.square(z / np.array(law.deviations)).sum(axis=1)


@pytest.mark.parametrize("how", BINNED.values(), ids=BINNED)
def test_audit_of_the_worst_pair(how):
    """Both sides: below epsilon, and above 0.8 epsilon, with the likelihood ratio."""
    epsilon = 1.0
    how = {**how, "delta": 0.05} if "delta" in how else how
    law, pair = worst_pair(how, epsilon)
    points = [np.array(list(map(float, released.exact))) for released in pair]
    used = points[0] != points[1]
    law = (
        IndependentLaplace((law.scales[0],) * 2)
        if isinstance(law, IndependentLaplace)
        else IndependentGaussian((law.deviations[0],) * 2)
    )
    points = [point[used] for point in points]
    assert [len(point) for point in points] == [2, 2]
    bits = SeededBits(5)

    def mechanism(released, n_trials):
        values = released.value.values[used].astype(np.int64)
        rows = np.tile(values, (n_trials, 1))
        value = replace(released.value, values=rows)
        integers = law.release(value, released.lattice, bits)
        return released.lattice.to_float(integers)

    result = audit(
        mechanism,
        *pair,
        n_trials=400_000,
        statistic=lambda out: (
            log_density(law, out - points[0]) - log_density(law, out - points[1])
        ),
        batch=True,
        delta=how.get("delta", 0.0),
        confidence=1 - 1e-7,
    )
    assert 0.8 * epsilon < result.epsilon_lower <= epsilon


def test_a_bandwidth_from_private_quartiles_is_paid_for():
    """Elsewhere than with bins: a fifth of epsilon, and the rest for the estimate."""
    model = make(mechanism="iclp", bandwidth="private-iqr", epsilon=2.0)
    first, second = releases_of(model, others(1))
    assert set(first.law.scales) == {2 / 0.4}
    square = sum((2 / s) ** 2 for s in second.law.scales)
    assert 0.99 * 1.6 < math.sqrt(square) <= 1.6
    assert model.guarantee_.epsilon == 2.0
    with_delta = make(
        mechanism="gaussian_process", bandwidth="private-iqr", delta=1e-6
    ).fit(others(1))
    assert (with_delta.guarantee_.epsilon, with_delta.guarantee_.delta) == (1.0, 1e-6)
    assert with_delta.guarantee_.definition == "approx-dp"


def test_quartiles_from_bins_cost_nothing_more():
    (released,) = releases_of(make(bandwidth="private-iqr", epsilon=2.0), others(1))
    assert set(released.law.scales) == {1.0}


@pytest.mark.parametrize("mechanism", ["binned", "gaussian_process", "iclp"])
def test_a_person_with_many_rows_weighs_as_one(mechanism):
    """The mass of a person is one, however many rows."""
    how = {"mechanism": mechanism, "delta": 1e-6, "bandwidth": 0.8}
    few = np.array([[LOW], [1.0], [3.0]])
    many = np.concatenate([few, np.full((500, 1), 3.0)])
    codes = np.append([0, 1, 2], [2] * 500)
    sums = [
        np.array(list(map(float, releases_of(make(**how), X, groups=g)[0].exact)))
        for X, g in ((few, [0, 1, 2]), (many, codes))
    ]
    np.testing.assert_allclose(*sums, rtol=0, atol=1e-6)
