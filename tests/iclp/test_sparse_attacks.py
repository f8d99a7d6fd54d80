"""Attacks on means of sparse curves: what times and gaps could show beside noise.

Each test is one way that was tried to learn something about a person.
"""

import pickle
import tracemalloc

import numpy as np
import pytest

from skfuncpriv import Curves, PrivateSparseMean
from skfuncpriv.basis import BSplineBasis, SincBasis
from tests.iclp.spine import private_sum

pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)

FACTS = {"bounds": (-1.0, 2.0), "n_basis": 6, "random_state": 0}
RULES = [
    {},
    {"reach": 0.0},
    {"reach": 1e308},
    {"reach": 5e-324, "max_gap": 5e-324},
]


def irregular(*curves):
    times, values = (np.concatenate(part) for part in zip(*curves, strict=True))
    offsets = np.cumsum([0, *(len(t) for t, _ in curves)])
    return Curves(values, times, offsets)


def nasty_times(low, high):
    """Times that jumps, reaches and cuts at the domain might trip over."""
    width = high - low
    before, after = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    yield from ([low], [high], [before], [after], [-1e308], [1e308], [-1e308, 1e308])
    yield from ([before, low, np.nextafter(low, np.inf)], [low - width / 50])
    yield from ([low + width / 50], [low + width / 25, low + width / 2])
    yield from ([0.0, 5e-324], [-5e-324, 0.0], [5e-324, 1e-320, 1e-300])
    yield from ([before - width, after + width], [low, high], [-1e308, low + width / 3])
    yield np.linspace(low, high, 60)


@pytest.mark.parametrize("rule", RULES, ids=["default", "none", "huge", "least"])
@pytest.mark.parametrize(
    "domain",
    [(0.0, 1.0), (-1.0, 1.0), (0.0, 1e-279), (-1e279, 1e279), (1e5, 1e5 + 1.0)],
)
def test_no_times_raise_or_leave_the_ball(domain, rule):
    """pytest turns a warning into an error; releases are finite whatever came in."""
    model = PrivateSparseMean(**FACTS, **rule, domain=domain)
    other, sizes = ([domain[0], domain[1]], [0.0, 1.0]), set()
    for times in nasty_times(*domain):
        for value in (1e308, -5e-324):
            own = (np.unique(times), np.full(len(set(times)), value))
            released = private_sum(model, irregular(other, own))
            assert max(map(abs, released.exact)) <= 2
            assert np.isfinite(model.mean_).all()
            assert np.isfinite(model.noise_std_).all()
            sizes.add(len(pickle.dumps(model)))
    assert len(sizes) == 1


@pytest.mark.parametrize(
    "basis",
    [
        SincBasis(4, (0.0, 1.0), whole_line=True),
        SincBasis(4, (0.0, 1.0)),
        BSplineBasis(6, (0.0, 1.0)),
    ],
    ids=["line", "sinc", "splines"],
)
def test_a_single_observation_is_like_any_other(basis):
    model = PrivateSparseMean(bounds=(0, 4), domain=None, basis=basis, random_state=0)
    for own in (([0.5], [1.0]), ([0.5, 0.6], [1.0, 1.0]), ([7.0], [1.0])):
        model.fit(irregular(own, ([0.2, 0.3], [1.0, 2.0])))
        assert np.isfinite(model.mean_).all()
        assert model.n_people_ == 2


def test_memory_does_not_grow_with_the_observations_of_a_person():
    peaks = []
    for n_points in (10, 20_000):
        times = np.linspace(0, 1, n_points)
        curves = irregular((times, np.sin(times)), ([0.0, 1.0], [0.0, 0.5]))
        model = PrivateSparseMean(**{**FACTS, "n_basis": 40}, domain=(0, 1))
        tracemalloc.start()
        model.fit(curves)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 48e6


@pytest.mark.parametrize("form", ["irregular", "grid", "people"])
def test_what_a_person_changes_does_not_depend_on_others(form):
    """Exactly, though rows of others are more, longer and larger."""
    rng, exact = np.random.default_rng(4), {}
    model = PrivateSparseMean(**FACTS, domain=(0, 1), max_gap=0.3)

    def person(scale):
        size = 8 if form == "grid" else int(rng.integers(1, 50))
        return np.sort(rng.uniform(0, 1, size)), rng.normal(0, scale, size)

    own = {name: [person(9.0) for _ in range(3)] for name in "ab"}
    for kind, n_rows in (("few", 2), ("many", 400)):
        others = [person(float(n_rows)) for _ in range(n_rows)]
        if form != "people":
            others = others[:2] * 20
        groups = [0] * 3 + [1 + k % 2 for k in range(len(others))]
        for name, rows in own.items():
            data = irregular(*rows, *others)
            if form == "grid":
                data = np.array([values for _, values in [*rows, *others]])
                data[data > 1.8] = np.nan
            released = private_sum(model, data, groups if form == "people" else None)
            exact[kind, name] = np.array(released.exact)
    few, many = (exact[kind, "a"] - exact[kind, "b"] for kind in ("few", "many"))
    assert (few == many).all()
    assert (few != 0).any()
