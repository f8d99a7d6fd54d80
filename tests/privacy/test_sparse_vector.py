"""Sparse vector: exact laws, exact losses, sharp constants, and every fault found."""

import math
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.noise import SeededBits
from skfuncpriv.privacy import audit, sparse_coefficients, sparse_vector
from skfuncpriv.privacy._sparse_vector import (
    sparse_coefficients_scales,
    sparse_vector_scales,
)
from tests.privacy.selection_laws import (
    FAULTS,
    agreement,
    agrees,
    naive_sparse_vector,
    sparse_coefficients_law,
    sparse_vector_law,
)

N_ROWS = 100_000
BUDGET = {"epsilon": 1.0, "thresholds": 0.0, "max_queries": 3}

# Queries and thresholds, up to four comparisons.
CASES = {
    "one": ([1.0], [0.5]),
    "ties": ([2.0, 2.0, 2.0], [2.0, 2.0, 2.0]),
    "negative thresholds": ([1.0, 0.5, 0.0], [-3.0, -3.0, -3.0]),
    "thresholds that differ": ([9.0, 4.0, 2.0, 1.0], [5.0, 6.0, -1.0, 0.5]),
    "rising": ([3.0, 1.0, 5.0, -2.0], [0.0, -1.0, 2.0, 1.0]),
}


def chosen_by(queries, thresholds, seed=0, n=N_ROWS, epsilon=1.0, **options):
    """The choices of n equal rows; the last query is infinite, for nobody asks it."""
    columns = [np.full(n, query) for query in queries]
    return sparse_vector(
        columns,
        epsilon=epsilon,
        thresholds=[*thresholds, 0.0],
        max_queries=len(queries) + 1,
        bits=SeededBits(seed),
        **options,
    )


# The exact law


def test_quadrature_agrees_with_scipy_and_mpmath():
    gaps, a, b = np.array([1.0, -2.0, 0.3]), 2.6, 3.3
    law = sparse_vector_law(gaps, a, b)
    assert math.fsum(law) == pytest.approx(1, abs=1e-13)
    threshold, noise = stats.laplace(scale=a), stats.laplace(scale=b)

    def density(r):
        first, second, third = r - gaps
        return threshold.pdf(r) * noise.sf(first) * noise.sf(second) * noise.cdf(third)

    kinks = [-np.inf, -2.0, 0.0, 0.3, 1.0, np.inf]
    pieces = [
        integrate.quad(density, *ends, epsabs=1e-13)[0] for ends in pairwise(kinks)
    ]
    assert law[2] == pytest.approx(math.fsum(pieces), abs=1e-11)

    def cdf(z):
        tail = mpmath.exp(-abs(z) / b) / 2
        return tail if z < 0 else 1 - tail

    exact = mpmath.quad(
        lambda r: mpmath.exp(-abs(r) / a) / (2 * a) * cdf(1 - r) * cdf(r + 2),
        [-300, -100, -30, -10, -2, 0, 1, 10, 30, 100, 300],
    )
    assert law[1] == pytest.approx(float(exact), abs=1e-13)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("aligned", [False, True])
def test_frequencies_match_the_exact_law(case, aligned):
    queries, thresholds = CASES[case]
    gaps = np.subtract(queries, thresholds)
    law = sparse_vector_law(gaps, *sparse_vector_scales(2.0, 0.7, aligned=aligned))
    chosen = chosen_by(
        queries, thresholds, epsilon=2.0, sensitivity=0.7, aligned=aligned
    )
    assert agrees(chosen, law)


@pytest.mark.parametrize("fault", [None, *FAULTS])
def test_every_fault_turns_the_statistic_red(fault):
    gaps = [2.0, 0.0, 1.0, -1.0]
    a, b = sparse_vector_scales(1.0, 1.0, aligned=False)
    rng = np.random.default_rng(0)
    chosen = naive_sparse_vector(gaps, a, b, N_ROWS, rng, fault)
    law = sparse_vector_law(gaps, a, b)
    assert agrees(chosen, law) == (fault is None)
    if fault is None:
        other = sparse_vector_law(gaps, 1.08 * a, 1.08 * b)
        assert agreement(chosen, other) < 1e-8


def test_rows_share_no_noise():
    """The choices of two rows of one call, neighbours or far apart, are independent."""
    chosen = chosen_by([0.5, 0.0], [0.0, 0.0])
    law = sparse_vector_law([0.5, 0.0], *sparse_vector_scales(1, 1, aligned=False))
    for first, second in (chosen.reshape(2, -1), chosen.reshape(-1, 2).T):
        assert agrees(3 * first + second, np.outer(law, law).ravel())


# The loss


def losses(gaps, shift, a, b):
    one, two = (sparse_vector_law(g, a, b) for g in (gaps, gaps + shift))
    return np.abs(np.log(one / two))


@pytest.mark.parametrize("spread", [0.1, 3.0, 30.0])
def test_loss_is_at_most_epsilon(spread):
    a, b = sparse_vector_scales(1.0, 1.0, aligned=False)
    rng = np.random.default_rng(0)
    for size in (1, 2, 3, 4):
        for _ in range(4):
            gaps = rng.normal(scale=spread, size=size)
            corners = [np.array(s) for s in product((-1.0, 1.0), repeat=size)]
            for shift in (*corners, rng.uniform(-1, 1, size), 2.5 * corners[1]):
                bound = np.abs(shift).max()
                assert losses(gaps, shift, a, b).max() <= bound * (1 + 1e-9)


def test_loss_comes_close_to_epsilon():
    """Misses that only the threshold noise explains, then an unlikely hit."""
    a, b = sparse_vector_scales(1.0, 1.0, aligned=False)
    gaps = np.array([-60.0, -60.0, -60.0, 60.0])
    worst = losses(gaps, np.array([-1.0, -1.0, -1.0, 1.0]), a, b).max()
    assert 0.98 < worst <= 1 + 1e-9


def test_less_noise_would_lose_more_than_epsilon():
    a, b = sparse_vector_scales(1.0, 1.0, aligned=False)
    gaps, shift = np.array([-60.0, -60.0, -60.0, 60.0]), np.array([-1.0, -1, -1, 1])
    for factors in ((0.9, 1.0), (1.0, 0.9)):
        assert losses(gaps, shift, a * factors[0], b * factors[1]).max() > 1.01


def tails(x, n_queries):
    """Distances of a vector to the spans of its first k coordinates."""
    return np.array([np.linalg.norm(x[k:]) for k in range(n_queries)])


def test_aligned_loss_is_at_most_epsilon_on_nested_projections():
    a, b = sparse_vector_scales(1.0, 1.0, aligned=True)
    rng = np.random.default_rng(2)
    worst = 0.0
    for trial in range(400):
        scales = rng.choice([0.01, 1.0, 20.0], size=5)
        x = scales * rng.normal(size=5)
        step = rng.normal(size=5) * rng.choice([0.0, 1.0], p=[0.4, 0.6], size=5)
        step *= rng.choice([0.5, 2.0, 10.0]) / max(np.linalg.norm(step), 1e-9)
        if trial % 2:  # along one direction in which one query falls, another rises
            step = np.zeros(5)
            step[[1, 3]] = np.array([1.0, -1.0]) * rng.uniform(0, 5)
        queries, others = tails(x, 4), tails(x + step, 4)
        thresholds = queries + rng.choice([-40.0, 0.0, 40.0], size=4)
        ratio = losses(queries - thresholds, others - queries, a, b).max()
        distance = np.linalg.norm(step)
        if distance:
            worst = max(worst, ratio / distance)
    assert 0.5 < worst <= 1 + 1e-9


def test_aligned_constant_is_the_supremum_and_attained():
    """(1/a + 1/b) s - h_k / b over pairs of inputs, by search, against its bound."""
    a, b = sparse_vector_scales(1.0, 1.0, aligned=True)
    rng = np.random.default_rng(3)
    worst = 0.0
    for _ in range(20_000):
        x = rng.choice([0.001, 1.0, 30.0], size=3) * rng.normal(size=3)
        other = x + rng.choice([0.01, 1.0], size=3) * rng.normal(size=3)
        change = tails(x, 3) - tails(other, 3)
        shift = max(0.0, change[0], change[1])
        cost = shift / a + max(0.0, shift - change[2]) / b
        worst = max(worst, cost / np.linalg.norm(x - other))
    assert 0.9 < worst <= 1 + 1e-9


def test_aligned_loss_comes_close_to_epsilon():
    """A large coordinate grows while the small ones behind it shrink."""
    a, b = sparse_vector_scales(1.0, 1.0, aligned=True)
    x, other = np.array([0.0, 0.0, 1e6, 2.0]), np.array([0.0, 0.0, 1e6, 2.0])
    other[2:] += [1 / a + 1 / b, -1 / b]
    queries = tails(x, 4)  # three nearly equal ones, then a small one
    gaps = np.array([-60.0, -60.0, -60.0, 60.0])
    worst = losses(gaps, tails(other, 4) - queries, a, b).max()
    assert 0.99 < worst / np.linalg.norm(x - other) <= 1 + 1e-9


def test_aligned_scales_on_queries_that_are_not_aligned_lose_more():
    a, b = sparse_vector_scales(1.0, 1.0, aligned=True)
    gaps, shift = np.array([-60.0, -60.0, -60.0, 60.0]), np.array([-1.0, -1, -1, 1])
    assert losses(gaps, shift, a, b).max() > 1.2


EPSILONS = [1e-3, 0.1, 0.3, 1.0, 1 / 3, 50.0, 1e6]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", [1e-9, 0.1, 2.0 / 3.0, 1e12])
def test_scales_are_safe_and_tight(epsilon, sensitivity):
    budget = min(Fraction(epsilon), Fraction(repr(epsilon)))
    change = max(Fraction(sensitivity), Fraction(repr(sensitivity)))
    least = 1 - Fraction(1, 10**12)
    a, b = map(Fraction, sparse_vector_scales(epsilon, sensitivity, aligned=False))
    assert budget * least <= change * (1 / a + 2 / b) <= budget
    assert float(b / a) == pytest.approx(2 ** (1 / 3), rel=1e-12)
    a, b = map(Fraction, sparse_vector_scales(epsilon, sensitivity, aligned=True))
    square = (1 / a + 1 / b) ** 2 + 1 / b**2
    assert (budget * least) ** 2 <= change**2 * square <= budget**2


@pytest.mark.parametrize("aligned", [False, True])
def test_shares_have_the_smallest_variance(aligned):
    def variance(ratio):
        loss = math.hypot(ratio + 1, 1) if aligned else ratio + 2
        return loss**2 * (1 + 1 / ratio**2)

    a, b = sparse_vector_scales(1.0, 1.0, aligned=aligned)
    assert a**2 + b**2 == pytest.approx(variance(b / a), rel=1e-12)
    assert variance(b / a) <= min(map(variance, np.linspace(0.5, 3, 1001))) * (1 + 1e-6)


def test_scales_beyond_float64_are_refused():
    with pytest.raises(PrivacyError, match="too large"):
        sparse_vector_scales(1e-300, 1e300, aligned=False)


def test_audit_stays_below_epsilon():
    bits = SeededBits(4)
    gaps, shift = np.zeros(5), np.array([-1.0, -1.0, -1.0, -1.0, 1.0])

    def mechanism(queries, size):
        columns = np.tile(queries, (size, 1)).T
        return sparse_vector(
            columns, epsilon=1.0, thresholds=0.0, max_queries=6, bits=bits
        )

    scales = sparse_vector_scales(1.0, 1.0, aligned=False)
    laws = [sparse_vector_law(g, *scales) for g in (gaps, gaps + shift)]
    ratio = np.log(laws[0] / laws[1])
    result = audit(
        mechanism,
        gaps,
        gaps + shift,
        n_trials=500_000,
        statistic=lambda chosen: ratio[chosen],
        batch=True,
    )
    exact = np.abs(ratio).max()
    assert 0.75 < 0.85 * exact < result.epsilon_lower <= exact <= 1.0


# Laziness, halting, refusals


@pytest.mark.parametrize("max_queries", [1, 2, 7])
def test_it_halts_at_the_last_query_without_asking_it(max_queries):
    asked = []

    def queries(k, rows):
        asked.append((k, rows.size))
        return np.full(rows.size, np.inf)

    chosen = sparse_vector(
        queries,
        epsilon=1.0,
        thresholds=0.0,
        max_queries=max_queries,
        n_rows=5,
        bits=SeededBits(0),
    )
    np.testing.assert_array_equal(chosen, np.full(5, max_queries - 1))
    assert asked == [(k, 5) for k in range(max_queries - 1)]


def test_only_undecided_rows_are_asked():
    table = np.where(np.arange(6) < np.arange(6)[:, None], np.inf, -np.inf)
    seen = []

    def queries(k, rows):
        seen.append(rows.tolist())
        return table[rows, k]

    chosen = sparse_vector(
        queries,
        epsilon=1.0,
        thresholds=-5.0,
        max_queries=99,
        n_rows=6,
        bits=SeededBits(0),
    )
    np.testing.assert_array_equal(chosen, np.arange(6))
    assert seen == [list(range(k, 6)) for k in range(6)]  # then nobody is left


def test_callables_arrays_and_generators_agree():
    table = np.random.default_rng(0).normal(scale=3, size=(40, 4))
    sources = [
        table.T,
        (column for column in table.T),
        [column.tolist() for column in table.T],
        lambda k, rows: table[rows, k],
    ]
    answers = [
        sparse_vector(
            source,
            epsilon=1.0,
            thresholds=[-1.0, 0.0, 1.0, 2.0, 9.0],
            max_queries=5,
            n_rows=40,
            bits=SeededBits(8),
        )
        for source in sources
    ]
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer, answers[0])


def test_no_rows_are_fine():
    chosen = sparse_vector([[], []], **BUDGET, bits=SeededBits(0))
    assert chosen.shape == (0,)
    mask = sparse_coefficients(
        np.empty((0, 3)), epsilon=1.0, thresholds=0.0, n_hits=1, bits=SeededBits(0)
    )
    assert mask.shape == (0, 3)


class CountedBits(SeededBits):
    def __init__(self):
        super().__init__(0)
        self.counts = []

    def words(self, count):
        self.counts.append(count)
        return super().words(count)


@pytest.mark.parametrize("bad", [math.nan, "secret", None, [1.0, 2.0]])
def test_malformed_queries_are_refused_before_their_draw(bad):
    bits = CountedBits()

    def queries(k, rows):
        return [bad] * rows.size if k else np.full(rows.size, np.inf)

    with pytest.raises(ValueError, match="private values must") as error:
        sparse_vector(queries, **BUDGET, n_rows=7, bits=bits)
    assert "secret" not in str(error.value)
    assert bits.counts == [7, 7]  # the threshold noise and the first query


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"queries": lambda k, rows: rows}, "n_rows must be an integer >= 0, got None"),
        ({"queries": [[1.0]]}, "queries must give max_queries - 1 columns"),
        ({"queries": [[1.0], [1.0, 2.0]]}, "queries must give max_queries - 1"),
        ({"queries": [1.0, 2.0]}, "queries must be columns of shape"),
        ({"n_rows": 3}, "queries must be columns of shape"),
        ({"max_queries": 0}, "max_queries must be an integer >= 1, got 0"),
        ({"thresholds": [1.0, 2.0]}, "thresholds must be one finite number or max_q"),
        ({"thresholds": math.inf}, "thresholds must be one finite number"),
        ({"epsilon": 0}, "epsilon must be a finite number > 0, got 0"),
        ({"sensitivity": -1}, "sensitivity must be a finite number > 0, got -1"),
    ],
)
def test_bad_parameters_are_refused(fields, text):
    with pytest.raises(ValueError, match=text):
        sparse_vector(
            **{
                "queries": [[math.inf], [math.inf]],
                "bits": SeededBits(0),
                **BUDGET,
                **fields,
            }
        )


# Coefficients

COEFFICIENTS = [
    ([1.0, -2.0, 0.0], 1.0, 1),
    ([1.0, -1.0, 1.0, 1.0], [1.0, 2.0, -3.0, 0.0], 2),
    ([3.0, 0.0, -1.0, 2.0, 2.0, 0.5], 2.0, 1),
    ([3.0, 0.0, -1.0, 2.0, 2.0, 0.5, 1.0], [0.0, 1, 2, 3, -2, 1, 0], 2),
]


@pytest.mark.parametrize(("values", "thresholds", "n_hits"), COEFFICIENTS)
def test_masks_match_the_exact_law(values, thresholds, n_hits):
    mask = sparse_coefficients(
        np.tile(values, (N_ROWS, 1)),
        epsilon=1.0,
        thresholds=thresholds,
        n_hits=n_hits,
        bits=SeededBits(1),
    )
    a, b = sparse_coefficients_scales(1.0, len(values), n_hits)
    law = sparse_coefficients_law(np.abs(values) - thresholds, a, b, n_hits)
    assert math.fsum(law.values()) == pytest.approx(1, abs=1e-12)
    place = {key: index for index, key in enumerate(law)}
    chosen = np.array([place[tuple(row)] for row in mask.tolist()])
    assert agrees(chosen, np.array(list(law.values())))


def coefficient_loss(one, two, thresholds, n_hits):
    scales = sparse_coefficients_scales(1.0, len(one), n_hits)
    laws = [
        sparse_coefficients_law(np.abs(x) - thresholds, *scales, n_hits)
        for x in (one, two)
    ]
    return max(abs(math.log(laws[0][mask] / laws[1][mask])) for mask in laws[0])


@pytest.mark.parametrize(("size", "n_hits"), [(3, 1), (6, 1), (7, 2), (8, 1)])
def test_coefficient_loss_is_at_most_epsilon(size, n_hits):
    rng = np.random.default_rng(size)
    for _ in range(40):
        one = rng.choice([0.0, 1.0, 30.0], size=size) * rng.normal(size=size)
        thresholds = np.abs(one) + rng.choice([-40.0, 0.0, 40.0], size=size)
        step = rng.choice([-1.0, 0.0, 1.0, rng.normal()], size=size)
        two = one + step * rng.uniform(0.1, 2.0)
        distance = np.linalg.norm(one - two)
        if distance:
            loss = coefficient_loss(one, two, thresholds, n_hits)
            assert loss <= distance * (1 + 1e-9)


def test_coefficient_loss_comes_close_to_epsilon():
    """c = 1, g = 2: three unlikely misses and one unlikely hit, all moved alike."""
    assert sparse_coefficients_scales(1.0, 6, 1) == (1.0, 2.0)
    one = np.full(6, 500.0)
    thresholds = one + np.array([-60.0, -60.0, -60.0, 60.0, 0.0, 0.0])
    two = one + np.array([0.5, 0.5, 0.5, -0.5, 0.0, 0.0])
    assert 0.95 < coefficient_loss(one, two, thresholds, 1) <= 1 + 1e-9


@pytest.mark.parametrize(("n_hits", "ratio"), [(1, 1), (1, 2), (3, 2), (4, 3)])
def test_coefficient_constant_is_the_supremum(n_hits, ratio):
    """The best s against every h: brute force never exceeds sqrt(2c + g)."""
    rng = np.random.default_rng(0)
    bound = math.sqrt(2 * n_hits + ratio)

    def cost(misses, hits):
        candidates = [0.0, *misses[misses > 0]]
        return min(
            ratio * s + np.maximum(misses - s, 0).sum() + np.maximum(s - hits, 0).sum()
            for s in candidates
        )

    for _ in range(2000):
        n_misses = rng.integers(1, 3 * (n_hits + ratio))
        h = rng.normal(size=n_misses + n_hits) * rng.choice([0.1, 1], n_misses + n_hits)
        h[n_misses:] -= rng.choice([0, 1])
        h /= np.linalg.norm(h)
        assert cost(h[:n_misses], h[n_misses:]) <= bound * (1 + 1e-12)
    equal = np.ones(2 * n_hits + ratio) / bound
    attained = cost(equal[: n_hits + ratio], -equal[n_hits + ratio :])
    assert attained == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize("n_hits", [1, 2, 5, 40])
@pytest.mark.parametrize("size", [1, 4, 12, 300])
def test_coefficient_scales_are_safe_tight_and_best(size, n_hits):
    for epsilon in EPSILONS:
        budget = min(Fraction(epsilon), Fraction(repr(epsilon)))
        a, b = map(Fraction, sparse_coefficients_scales(epsilon, size, n_hits))
        ratio = math.ceil(b / a) if a else size
        count = min(2 * min(n_hits, size) + ratio, size)
        square = count / b**2
        assert budget**2 * (1 - Fraction(1, 10**12)) <= square <= budget**2
    others = [
        (2 * n_hits + g) * (1 + 1 / g**2)
        for g in range(1, size)
        if 2 * n_hits + g < size
    ]
    a, b = sparse_coefficients_scales(1.0, size, n_hits)
    assert a**2 + b**2 == pytest.approx(min([size, *others]), rel=1e-12)


def test_at_most_n_hits_are_chosen_in_order():
    values = np.random.default_rng(0).normal(scale=5, size=(2000, 12))
    values[:, 3] = np.inf
    for n_hits in (1, 3, 12, 99):
        mask = sparse_coefficients(
            values, epsilon=1.0, thresholds=0.0, n_hits=n_hits, bits=SeededBits(0)
        )
        assert mask.dtype == bool
        assert mask.sum(axis=1).max() <= n_hits
        full = mask[:, :3].sum(axis=1) == n_hits
        np.testing.assert_array_equal(mask[:, 3], ~full)


def test_large_coefficients_are_found_when_the_budget_is_large():
    values = np.array([[0.0, -9.0, 1.0, 8.0, 0.5, 7.0, 0.0, 0.0, 0.0, 0.0]])
    mask = sparse_coefficients(
        values, epsilon=1e4, thresholds=5.0, n_hits=2, bits=SeededBits(0)
    )
    np.testing.assert_array_equal(np.flatnonzero(mask), [1, 3])


@pytest.mark.parametrize("values", [[[0.0, np.nan]], [0.0, 1.0], [[]], [["secret"]]])
def test_malformed_coefficients_are_refused_before_any_draw(values):
    bits = CountedBits()
    with pytest.raises(ValueError, match="values must") as error:
        sparse_coefficients(values, epsilon=1.0, thresholds=0.0, n_hits=1, bits=bits)
    assert "secret" not in str(error.value)
    assert bits.counts == []


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"n_hits": 0}, "n_hits must be an integer >= 1, got 0"),
        ({"thresholds": [1.0]}, "thresholds must be one finite number or m = 2"),
        ({"epsilon": math.nan}, "epsilon must be a finite number > 0"),
    ],
)
def test_bad_parameters_of_coefficients_are_refused(fields, text):
    defaults = {"epsilon": 1.0, "thresholds": 0.0, "n_hits": 1, "bits": SeededBits(0)}
    with pytest.raises(ValueError, match=text):
        sparse_coefficients([[1.0, 2.0]], **{**defaults, **fields})
