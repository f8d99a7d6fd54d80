"""The private radius: sensitivity by brute force, its law, and its limits."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv.iclp import _radius
from skfuncpriv.iclp._radius import candidate_radii as affordable_radii
from skfuncpriv.iclp._radius import choose_radius, price_of_a_step
from skfuncpriv.noise import SeededBits


def candidate_radii(largest):
    """All of them."""
    return largest * 2.0 ** (-np.arange(25) / 2)


@pytest.fixture
def scores(monkeypatch):
    """Read what is chosen from, and the sensitivity and budget that are stated."""
    seen = []

    def read(table, *, epsilon, bits, sensitivity=1.0):
        seen.append((table[0].copy(), epsilon, sensitivity))
        return np.array([0])

    monkeypatch.setattr(_radius, "permute_and_flip", read)
    return seen


POSITIONS = [0.0, 1e-9, 0.3, 0.5, 1.0, 7.9, 8.0, math.inf, math.nan]


@pytest.mark.parametrize("epsilon", [1e-12, 1e-3, 0.1, 0.7, 1e3, 1e12])
@pytest.mark.parametrize("n_people", [1, 2, 3])
def test_scores_move_by_one_in_one_direction(scores, n_people, epsilon):
    """Exactly: that is what a sensitivity of 1/2 for `permute_and_flip` rests on."""
    others = np.linspace(0.2, 6.0, n_people - 1)
    for position in POSITIONS:
        choose_radius(np.append(others, position), 8.0, epsilon, None)
    assert {(budget, half) for _, budget, half in scores} == {(epsilon, 0.5)}
    pairs = itertools.combinations([table for table, *_ in scores], 2)
    moves = {
        frozenset(Fraction(a) - Fraction(b) for a, b in zip(*pair, strict=True))
        for pair in pairs
    }
    assert all(move <= {0, 1} or move <= {0, -1} for move in moves)
    assert len(moves) > 1 or len(scores[0][0]) == 1


def test_few_people_have_few_candidates():
    """As many as half of the people pay for, at least the largest and at most 25."""
    for n_people, epsilon in ((1, 1e-9), (3, 0.1), (30, 1.0), (10**6, 1.0), (1, 1e6)):
        radii = affordable_radii(8.0, n_people, epsilon)
        count = min(max(1, int(n_people * epsilon / 6)), 25)
        np.testing.assert_array_equal(radii, candidate_radii(8.0)[:count])


def law_of(table, scale):
    """Probabilities that each score plus exponential noise is the largest.

    P(k) = x_k * integral_0^1 prod_{j != k} (1 - u x_j) du, a polynomial in u.
    """
    x = np.exp((table - table.max()) / scale)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    factors = 1 - (nodes[:, None] + 1) / 2 * x
    return np.array(
        [x[k] * weights @ np.delete(factors, k, 1).prod(1) / 2 for k in range(len(x))]
    )


def loss(one, other, scale):
    """The exact loss of two neighbours, larger way round."""
    return np.abs(np.log(law_of(one, scale) / law_of(other, scale))).max()


@pytest.mark.parametrize(
    ("n_people", "epsilon"), [(1, 30.0), (2, 30.0), (3, 8.0), (40, 1.0), (400, 0.1)]
)
def test_no_pair_loses_more_than_epsilon_and_one_loses_it(scores, n_people, epsilon):
    """With noise of scale 1/epsilon; with that of twice the budget a pair is caught."""
    others = np.linspace(0.2, 6.0, n_people - 1)
    radii = candidate_radii(8.0)
    for position in [*POSITIONS, *radii, *(radii * (1 + 1e-9))]:
        choose_radius(np.append(others, position), 8.0, epsilon, None)
    tables = np.unique([table for table, *_ in scores], axis=0)
    pairs = list(itertools.combinations(tables, 2))
    worst = max(loss(*pair, 1 / epsilon) for pair in pairs)
    assert 0.9 * epsilon < worst <= epsilon * (1 + 1e-12)
    assert max(loss(*pair, 1 / (2 * epsilon)) for pair in pairs) > 1.5 * epsilon


def test_the_choice_has_that_law(scores, monkeypatch):
    distances, epsilon, n_draws = np.linspace(0, 1, 200), 0.8, 1500
    choose_radius(distances, 4.0, epsilon, None)
    ((table, *_),) = scores
    monkeypatch.undo()
    bits, radii = SeededBits(3), candidate_radii(4.0)
    drawn = [choose_radius(distances, 4.0, epsilon, bits) for _ in range(n_draws)]
    law = law_of(table, 1 / epsilon)
    assert law.sum() == pytest.approx(1, abs=1e-12)
    for radius, chance in zip(radii, law, strict=True):
        if n_draws * chance > 30:
            error = 5 * math.sqrt(chance * (1 - chance) / n_draws)
            assert abs(np.mean(np.array(drawn) == radius) - chance) < error
    assert np.isin(drawn, radii).all()


@pytest.mark.parametrize("epsilon", [1e-12, 0.37, 1e12])
def test_scores_are_exact_for_two_billion_people(epsilon):
    price = price_of_a_step(epsilon)
    for steps in range(25):
        for beyond in (2**31, 2**31 - 1):
            exact = -beyond - Fraction(price) * steps
            assert Fraction(-beyond - price * steps) == exact


def test_scores_are_people_beyond_and_a_price(scores):
    choose_radius(np.array([0.5, 0.5, 0.75, 8.0]), 8.0, 48.0, None)
    ((table, *_),) = scores
    beyond = [sum(d > r for d in (0.5, 0.5, 0.75, 8.0)) for r in candidate_radii(8.0)]
    np.testing.assert_allclose(table, -np.array(beyond) - np.arange(25)[::-1] / 16)


def test_the_limit_is_the_smallest_radius_that_clips_nobody():
    rng = np.random.default_rng(0)
    bits = SeededBits(0)
    for largest in (1.0, 3e7, 1e-200):
        radii = candidate_radii(largest)
        assert radii[0] == largest
        assert radii[-1] == pytest.approx(largest / 2**12)
        for _ in range(10):
            distances = largest * rng.uniform(size=30) ** 3
            fitting = radii[radii >= distances.max()].min()
            assert choose_radius(distances, largest, 1e6, bits) == fitting
            # A candidate itself is no distance beyond it.
            assert choose_radius(fitting * np.ones(3), largest, 1e6, bits) == fitting
