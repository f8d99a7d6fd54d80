"""Piecewise spaces and the private choices between them: exact sizes, laws and losses.

Tolerances of statistical tests are exact binomial limits at 1e-8 (`agrees`); everything
else is deterministic.
"""

import contextlib
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.local._budget import GeoBudget
from skfuncpriv.local._pieces import (
    EMBEDDING_ERROR,
    PieceSpaces,
    _pair_misses,
    choose_pieces,
    merge_pieces,
)
from skfuncpriv.local._piecewise_release import Budgets
from skfuncpriv.noise import IndependentLaplace, NoiseLaw, SeededBits
from skfuncpriv.privacy._sparse_vector import sparse_vector_scales
from tests.privacy.selection_laws import agrees, sparse_vector_law

FORMS = [(p, k) for p in range(6) for k in (-1, 0, 1) if k < p or k == -1]
UNEVEN = (0, 1, 4, 6, 8)  # edges of merged pieces among eight


def spaces_of(degree, continuity, n_finest=8, domain=(-1.0, 3.0)):
    return PieceSpaces(domain, degree, continuity, n_finest)


def random_coefficients(spaces, n=5, d=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, spaces.finest.n_basis, d))


def budget_of(kind, amount=1.0):
    return GeoBudget(amount, None) if kind == "GP" else GeoBudget(None, amount)


@contextlib.contextmanager
def recorded_laws():
    """The laws that noise is drawn from."""
    laws, original = [], NoiseLaw.release

    def release(law, *arguments):
        laws.append(law)
        return original(law, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NoiseLaw, "release", release)
        yield laws


# Spaces


@pytest.mark.parametrize(("degree", "continuity"), FORMS)
def test_embeddings_are_orthonormal_and_agree_with_evaluation(degree, continuity):
    spaces = spaces_of(degree, continuity)
    points = np.random.default_rng(0).uniform(-1, 3, 200)
    for edges in [*spaces.uniform, UNEVEN]:
        for matrix, basis in (
            (spaces.embedding(edges), spaces.basis(edges)),
            (spaces.local_embedding(edges), spaces._basis(edges, -1)),
        ):
            deviation = matrix.T @ matrix - np.eye(basis.n_basis)
            assert np.linalg.norm(deviation, 2) < 1e-13
            fine = spaces.finest.evaluate(points) @ matrix
            np.testing.assert_allclose(fine, basis.evaluate(points), atol=1e-12)


@pytest.mark.parametrize(("degree", "continuity"), FORMS)
def test_spaces_are_nested(degree, continuity):
    spaces = spaces_of(degree, continuity)
    coefficients = random_coefficients(spaces)
    tails = np.array([spaces.tails(coefficients, edges) for edges in spaces.uniform])
    assert (np.diff(tails, axis=0) < 0).all()
    chain = [*spaces.uniform, UNEVEN, spaces.all_edges]
    for small, large in pairwise(chain):
        if set(small) <= set(large):
            inner, outer = spaces.embedding(small), spaces.embedding(large)
            np.testing.assert_allclose(outer @ (outer.T @ inner), inner, atol=1e-13)
    if continuity == -1:
        assert tails[-1].max() < 1e-13


@pytest.mark.parametrize(("degree", "continuity"), [(1, 0), (3, 1), (2, -1)])
def test_tails_are_l2_distances_by_quadrature(degree, continuity):
    """norm(q - P q) from a least-squares fit to values at many Gauss nodes."""
    spaces = spaces_of(degree, continuity)
    coefficients = random_coefficients(spaces)
    nodes, weights = np.polynomial.legendre.leggauss(12)
    breaks = np.array(spaces.finest.breaks)
    half = np.diff(breaks)[:, None] / 2
    points = (breaks[:-1, None] + half * (1 + nodes)).ravel()
    root = np.sqrt(half * weights).ravel()[:, None]
    q = np.einsum("ti,nid->ntd", spaces.finest.evaluate(points) * root, coefficients)
    for edges in [*spaces.uniform, UNEVEN]:
        table = spaces.basis(edges).evaluate(points) * root
        for curve, tail in zip(q, spaces.tails(coefficients, edges), strict=True):
            fit = np.linalg.lstsq(table, curve, rcond=None)[0]
            assert tail == pytest.approx(np.linalg.norm(curve - table @ fit), abs=1e-11)


@pytest.mark.parametrize(("degree", "continuity"), FORMS)
def test_smooth_first_is_a_rotation_that_starts_smooth(degree, continuity):
    spaces = spaces_of(degree, continuity)
    points = np.linspace(-1, 3, 401)
    for edges in [*spaces.uniform, UNEVEN]:
        rotation = spaces.smooth_first(edges)
        np.testing.assert_allclose(
            rotation.T @ rotation, np.eye(len(rotation)), atol=1e-13
        )
        first = spaces.basis(edges).evaluate(points) @ rotation[:, 0]
        np.testing.assert_allclose(np.abs(first), 0.5, atol=1e-12)  # 1 / sqrt(4)
    # The first functions hold the projections of the slow cosines.
    rotation = spaces.smooth_first(spaces.all_edges)
    table = spaces.embedding(spaces.all_edges).T @ spaces._cosines
    for k in range(1, 5):
        slow, first = table[:, :k], rotation[:, :k]
        np.testing.assert_allclose(first @ (first.T @ slow), slow, atol=1e-12)


@pytest.mark.parametrize("domain", [(1.7e9, 1.7e9 + 3600), (-1e-9, 1e-9), (0, 1e12)])
@pytest.mark.parametrize(("degree", "continuity"), [(1, 0), (5, 1), (15, 1)])
def test_spaces_are_exact_on_any_domain(domain, degree, continuity):
    """Nodes far from zero are rounded, embeddings are not."""
    spaces = spaces_of(degree, continuity, 8, domain)
    chain = [spaces.embedding(edges) for edges in spaces.uniform]
    for inner, outer in pairwise(chain):
        error = np.linalg.norm(outer @ (outer.T @ inner) - inner, 2)
        assert error < EMBEDDING_ERROR / 10
        stretch = outer.T @ outer - np.eye(outer.shape[1])
        assert np.linalg.norm(stretch, 2) < EMBEDDING_ERROR / 10


def test_pieces_below_rounding_are_refused():
    spaces = spaces_of(5, -1, 8, (1e16, 1e16 + 32))
    with pytest.raises(PrivacyError, match="pieces are too small"):
        spaces.embedding(spaces.uniform[1])


# Sensitivity


def pairs_of_functions(spaces, n=200, seed=1):
    """Functions near a subspace and far from it, and what they are moved by."""
    rng = np.random.default_rng(seed)
    base = random_coefficients(spaces, n, 2, seed)
    for i in range(n):  # some lie nearly in a coarse space, where tails have kinks
        matrix = spaces.local_embedding(spaces.uniform[i % len(spaces.uniform)])
        inside = np.einsum("ij,kj,kd->id", matrix, matrix, base[i])
        base[i] = inside + rng.choice([0.0, 1e-6, 1e-2, 1.0]) * base[i]
    step = rng.normal(size=base.shape) * rng.choice([1e-3, 1.0, 30.0], size=(n, 1, 1))
    toward = base / np.linalg.norm(base, axis=(1, 2), keepdims=True)
    step[::3] = -rng.uniform(0, 2, (len(step[::3]), 1, 1)) * toward[::3]
    return base, base + step, np.linalg.norm(step, axis=(1, 2))


@pytest.mark.parametrize(("degree", "continuity"), FORMS)
def test_every_query_is_1_lipschitz(degree, continuity):
    spaces = spaces_of(degree, continuity)
    one, two, distance = pairs_of_functions(spaces)
    for edges in spaces.uniform:
        change = np.abs(spaces.tails(one, edges) - spaces.tails(two, edges))
        assert (change <= distance * (1 + 1e-12) + 1e-13).all()
    for edges in spaces.uniform[1:]:
        change = _pair_misses(spaces, one, edges) - _pair_misses(spaces, two, edges)
        joint = np.linalg.norm(change, axis=1)
        assert (joint <= distance * (1 + 1e-12) + 1e-13).all()


@pytest.mark.parametrize(("degree", "continuity"), FORMS)
def test_pair_misses_by_quadrature(degree, continuity):
    """On each pair: the norm of the halves less the best single polynomial."""
    spaces = spaces_of(degree, continuity)
    coefficients = random_coefficients(spaces)
    edges = spaces.uniform[2]  # four pieces, two pairs
    misses = _pair_misses(spaces, coefficients, edges)
    nodes, weights = np.polynomial.legendre.leggauss(12)
    halves = spaces.local_embedding(edges)
    halves = np.einsum("ij,kj,nkd->nid", halves, halves, coefficients)
    for pair in range(2):
        low, high = -1 + 2 * pair, 1 + 2 * pair
        points = np.concatenate([low + (1 + nodes) / 2, low + 1 + (1 + nodes) / 2])
        root = np.sqrt(np.tile(weights, 2) / 2)[:, None]
        table = np.vander((points - low) / (high - low), degree + 1) * root
        values = np.einsum("ti,nid->ntd", spaces.finest.evaluate(points) * root, halves)
        for curve, miss in zip(values, misses[:, pair], strict=True):
            fit = np.linalg.lstsq(table, curve, rcond=None)[0]
            assert miss == pytest.approx(np.linalg.norm(curve - table @ fit), abs=1e-9)


@pytest.mark.parametrize(("degree", "continuity"), [(1, 0), (3, 1), (2, -1)])
def test_gradients_of_tails_are_aligned(degree, continuity):
    """What the cheaper scales of the sparse vector need, by finite differences."""
    spaces = spaces_of(degree, continuity, 8)
    base = random_coefficients(spaces, 1, 1)
    step = 1e-6 * np.eye(base.size).reshape(base.size, -1, 1)
    gradients = []
    for edges in spaces.uniform:
        ahead, behind = (spaces.tails(base + s * step, edges) for s in (1, -1))
        gradients.append((ahead - behind) / 2e-6)
        if spaces.tails(base, edges)[0] > 1e-3:
            assert np.linalg.norm(gradients[-1]) == pytest.approx(1, abs=1e-6)
    for j, first in enumerate(gradients):
        for second in gradients[j:]:
            assert first @ second > -1e-6


# Budgets


@pytest.mark.parametrize("kind", ["GP", "CGP"])
@pytest.mark.parametrize("merge", [False, True])
def test_steps_cost_the_budget_and_never_more(kind, merge):
    """Exact worst-case losses of all steps, in decimals, for random budgets."""
    rng = np.random.default_rng(0)
    for amount in [*(10 ** rng.uniform(-8, 8, 40)), 0.1, 0.3, 1 / 3, 1.0]:
        budget = budget_of(kind, float(amount))
        choosing, merging, rest = Budgets.split(budget, choose=True, merge=merge)
        stated = Fraction(repr(float(amount)))
        parts = [Fraction(repr(part.amount)) for part in (choosing, merging, rest)
                 if part is not None]  # fmt: skip
        assert len(parts) == 2 + merge
        assert sum(parts) <= stated

        # Step 0: the choice. Exact numbers are squared losses under GP, rhos under CGP.
        epsilon = choosing.selection_epsilon
        a, b = map(Fraction, sparse_vector_scales(epsilon, 1.0, aligned=True))
        square = (1 / a + 1 / b) ** 2 + 1 / b**2
        exact = [square if kind == "GP" else square / 2]
        # Step 1: merging four pairs.
        if merge:
            law = merge_law(merging, n_pairs=4)
            if kind == "GP":
                exact.append(sum(1 / Fraction(scale) ** 2 for scale in law.scales))
            else:
                exact.append(max(1 / Fraction(s) ** 2 for s in law.deviations) / 2)
        # Step 2: the release.
        scale = Fraction(rest.law(9).smallest_scale)
        exact.append(1 / scale**2 if kind == "GP" else 1 / scale**2 / 2)
        power = 2 if kind == "GP" else 1
        assert all(e <= p**power for e, p in zip(exact, parts, strict=True))
        total = sum(float(e) ** (1 / power) for e in exact)
        assert 0.99 * amount <= total <= amount * (1 + 1e-12)


def merge_law(cost, n_pairs, n_rows=1):
    """The law that `merge_pieces` really draws from."""
    spaces = spaces_of(1, 0, 2 * n_pairs)
    coefficients = random_coefficients(spaces, n_rows)
    edges = [spaces.all_edges] * n_rows
    with recorded_laws() as laws:
        merge_pieces(spaces, coefficients, edges, cost, cost, SeededBits(0))
    [law] = laws
    assert law.size == n_pairs
    return law


@pytest.mark.parametrize("kind", ["GP", "CGP"])
@pytest.mark.parametrize("n_pairs", [1, 4, 16])
def test_merging_composes_over_pairs(kind, n_pairs):
    """In quadrature under GP, as a maximum under CGP; whole budgets for each lose."""
    spaces = spaces_of(1, 0, 2 * n_pairs)
    budget = budget_of(kind, 0.7)
    law = merge_law(budget, n_pairs)
    one = random_coefficients(spaces, 1, 1)
    edges = spaces.all_edges
    fine = np.kron(np.eye(n_pairs), np.ones((4, 4)))  # which functions a pair holds
    coarse = spaces.local_embedding(edges[::2])
    missed = one - np.einsum("ij,kj,nkd->nid", coarse, coarse, one)
    norms = np.sqrt(np.einsum("ij,njd->nid", fine, missed**2))
    worst = 0.0
    for pairs in (slice(None), slice(0, 1)):  # all of the pairs, or only one
        step = (missed / norms).reshape(n_pairs, -1)
        keep = np.zeros((n_pairs, 1))
        keep[pairs] = 1
        step = (step * keep).reshape(one.shape)
        step /= np.linalg.norm(step)
        change = _pair_misses(spaces, one + step, edges)
        change -= _pair_misses(spaces, one, edges)
        assert np.linalg.norm(change) == pytest.approx(1, rel=1e-12)
        worst = max(worst, law.loss(change[0]))
        naive = IndependentLaplace((1 / 0.7,) * n_pairs).loss(change[0])
        if kind == "GP" and pairs == slice(None) and n_pairs > 1:
            assert naive > 1.9 * 0.7
    assert 0.99 * 0.7 <= worst <= 0.7 * (1 + 1e-12)


# Choices


@pytest.mark.parametrize("kind", ["GP", "CGP"])
@pytest.mark.parametrize("n_finest", [2, 4])
def test_choices_follow_the_exact_law(kind, n_finest):
    spaces = spaces_of(1, 0, n_finest, (0.0, 1.0))
    cost, release = budget_of(kind, 0.8), budget_of(kind, 3.0)
    one = random_coefficients(spaces, 1, 2, seed=4)
    near = spaces.embedding(spaces.uniform[0])
    missed = one - np.einsum("ij,kj,nkd->nid", near, near, one)
    two = one + 1.5 * missed / np.linalg.norm(missed)
    laws = []
    for seed, base in enumerate((one, two)):
        rows = np.repeat(base, 50_000, axis=0)
        edges = choose_pieces(spaces, rows, cost, release, SeededBits(seed))
        chosen = np.array([spaces.uniform.index(own) for own in edges])
        sizes = [2 * spaces.basis(e).n_basis for e in spaces.uniform[:-1]]
        limits = [release.expected_norm(size) for size in sizes]
        tails = [spaces.tails(base, edges)[0] for edges in spaces.uniform[:-1]]
        gaps = np.subtract(tails, limits)
        scales = sparse_vector_scales(cost.selection_epsilon, 1.0, aligned=True)
        laws.append(sparse_vector_law(gaps, *scales))
        assert agrees(chosen, laws[-1])
    ratio = np.abs(np.log(laws[0] / laws[1])).max()
    assert 0.2 < ratio <= 1.5 * cost.selection_epsilon


def test_neighbouring_choices_differ_by_at_most_the_budget():
    """Exact laws of the choice over many pairs of functions; some come close."""
    spaces = spaces_of(1, 0, 8, (0.0, 1.0))
    scales = sparse_vector_scales(1.0, 1.0, aligned=True)
    one, two, distance = pairs_of_functions(spaces, 150)
    rng = np.random.default_rng(0)
    worst = 0.0
    for first, second, far in zip(one, two, distance, strict=True):
        if far == 0:
            continue
        tails = [
            np.array([spaces.tails(part[None], e)[0] for e in spaces.uniform[:-1]])
            for part in (first, second)
        ]
        limits = tails[0] + rng.choice([-40.0, 0.0, 40.0], size=len(tails[0]))
        laws = [sparse_vector_law(part - limits, *scales) for part in tails]
        worst = max(worst, np.abs(np.log(laws[0] / laws[1])).max() / far)
    assert 0.4 < worst <= 1 + 1e-9


@pytest.mark.parametrize("kind", ["GP", "CGP"])
def test_merging_follows_the_exact_law(kind):
    """One pair: the probability that its miss is noisily below the threshold."""
    spaces = spaces_of(1, 0, 2, (0.0, 1.0))
    cost, release = budget_of(kind, 0.8), budget_of(kind, 0.5)
    base = random_coefficients(spaces, 1, 2, seed=3)
    rows = np.repeat(base, 50_000, axis=0)
    edges = [spaces.all_edges] * len(rows)
    merged = merge_pieces(spaces, rows, edges, cost, release, SeededBits(0))
    joined = np.array([len(own) == 2 for own in merged])
    assert set(merged) == {(0, 1, 2), (0, 2)}
    # Three continuous functions become two, for each of two outputs.
    gain = release.expected_square(6) - release.expected_square(4)
    gap = np.sqrt(gain) - _pair_misses(spaces, base, spaces.all_edges)[0, 0]
    law = cost.law(1)
    share = _cdf(law, gap)
    assert 0.1 < share < 0.999
    assert agrees(joined.astype(int), [1 - share, share])


def _cdf(law, x):
    if hasattr(law, "dimension"):  # on a line, spherical Laplace is Laplace
        return stats.laplace.cdf(x, scale=law.scale)
    return stats.norm.cdf(x, scale=law.std[0])


def test_one_piece_has_nothing_to_merge():
    spaces = spaces_of(1, 0, 4)
    rows = random_coefficients(spaces, 3)
    edges = [spaces.uniform[0]] * 3
    with recorded_laws() as laws:
        merged = merge_pieces(
            spaces, rows, edges, GeoBudget(1.0, None), GeoBudget(1.0, None), None
        )
    assert merged == edges
    assert laws == []


def test_merged_breaks_are_the_joined_middles():
    """At a huge budget: what is one polynomial is merged, what is not is kept."""
    spaces = spaces_of(1, -1, 4, (0.0, 1.0))
    rows = np.zeros((1, 8, 1))
    rows[0, :4, 0] = [1.0, 0.0, 9.0, 0.0]  # a jump within the first pair
    budget = GeoBudget(1e6, None)
    edges = [spaces.all_edges]
    merged = merge_pieces(spaces, rows, edges, budget, budget, SeededBits(0))
    assert merged == [(0, 1, 2, 4)]
