"""GeoPrivateCurve: the law of its noise, its spaces, and audits on neighbours.

Statistical limits are 1e-9 or 6 standard errors each, of about 60 comparisons.
"""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from skfuncpriv import GeoPrivateCurve
from skfuncpriv.local._pieces import PieceSpaces
from skfuncpriv.privacy import audit
from skfuncpriv.privacy._sparse_vector import sparse_vector_scales
from tests.privacy.selection_laws import sparse_vector_law

P_VALUE = 1e-9
GRID = np.linspace(0.0, 1.0, 41)
WALK = np.stack([np.sin(6 * GRID) * 3, np.cos(4 * GRID) + GRID], axis=-1)
BOUNDS = (-5.0, 5.0)
PLAIN = {"bounds": BOUNDS, "domain": (0, 1), "denoise": False, "random_state": 0}


def coefficients(model, X):
    """Released coefficients of fixed pieces, shape (n, m * d)."""
    return np.stack([curve.coefficients.ravel() for curve in model.release(X)])


def best(curve, basis):
    """Coefficients of the best approximation in the space, flat."""
    values = curve.reshape(len(GRID), -1)
    return (basis.projection(GRID).T @ values).ravel()


def basis_of(model):
    spaces = PieceSpaces(model.domain, model.degree, model.continuity, model.n_pieces_)
    return spaces.basis(spaces.all_edges)


def test_one_call_fits_and_releases_on_another_grid():
    model = GeoPrivateCurve(**PLAIN, epsilon=2.0, pieces=4)
    few = np.array([0.0, 0.3, 0.9])
    [found] = model.fit_transform(WALK[None], grid=few)
    [expected] = clone(model).fit(WALK[None]).transform(WALK[None], grid=few)
    np.testing.assert_array_equal(found, expected)
    assert found.shape == (3, 2)


# The law


@pytest.mark.parametrize("budget", [{"epsilon": 2.0}, {"rho": 2.0}], ids=str)
@pytest.mark.parametrize("curve", [WALK, WALK[:, 0]], ids=["vector", "scalar"])
def test_noise_has_the_stated_law(budget, curve):
    model = GeoPrivateCurve(**PLAIN, **budget, pieces=4)
    X = np.repeat(curve[None], 20_000, axis=0)
    noise = coefficients(model.fit(X), X) - best(curve, basis_of(model))
    m = 5 * (curve.size // len(GRID))
    assert noise.shape[1] == m == model.n_coefficients_ * (curve.size // len(GRID))
    radius = np.linalg.norm(noise, axis=1)
    if "rho" in budget:
        law, square = stats.chi(m, scale=0.5), m / 4  # deviations 1 / sqrt(2 rho)
    else:
        law, square = stats.gamma(m, scale=0.5), m * (m + 1) / 4
    assert model.expected_error() == pytest.approx(square, rel=1e-12)
    assert stats.kstest(radius, law.cdf).pvalue > P_VALUE
    error = np.std(radius**2) / np.sqrt(len(X))
    assert abs(np.mean(radius**2) - square) < 6 * error
    direction = (noise / radius[:, None]) ** 2
    for column in direction.T:
        beta = stats.beta(0.5, (m - 1) / 2)
        assert stats.kstest(column, beta.cdf).pvalue > P_VALUE
    for column in noise.T:
        assert stats.binomtest(int((column > 0).sum()), len(X)).pvalue > P_VALUE
    assert abs(stats.spearmanr(radius, direction[:, 0])[0]) < 6 / np.sqrt(len(X))


@pytest.mark.parametrize("budget", [{"epsilon": 2.0}, {"rho": 2.0}], ids=str)
@pytest.mark.parametrize(("degree", "continuity"), [(1, 0), (3, 1)])
def test_projection_after_is_the_published_one(budget, degree, continuity):
    """Noise on independent pieces, then the nearest continuous function."""
    options = {**PLAIN, **budget, "pieces": 4, "degree": degree}
    loose = GeoPrivateCurve(**options, continuity=-1)
    after = GeoPrivateCurve(**options, continuity=continuity, projection="after")
    before = clone(after).set_params(projection="before")
    X = np.repeat(WALK[None], 3000, axis=0)
    free, joined, first = (m.fit(X).release(X) for m in (loose, after, before))
    spaces = PieceSpaces((0.0, 1.0), degree, continuity, 4)
    matrix = spaces.embedding(spaces.all_edges)
    for one, two in zip(free[:20], joined[:20], strict=True):
        expected = matrix.T @ one.coefficients
        np.testing.assert_allclose(two.coefficients, expected, atol=1e-10)
    size = matrix.shape[1]
    assert first[0].coefficients.shape == joined[0].coefficients.shape == (size, 2)
    assert before.n_coefficients_ == size < after.n_coefficients_ == len(matrix)
    truth = best(WALK, basis_of(before))
    noise = [
        np.square([c.coefficients.ravel() - truth for c in part]).sum(axis=1)
        for part in (first, joined)
    ]
    # E norm^2 of the share of 2 size coordinates, of a law on more of them.
    budgets = [model._release.budgets.release for model in (before, after)]
    laws = (budgets[0].law(2 * size), budgets[1].law(2 * len(matrix)))
    for part, law in zip(noise, laws, strict=True):
        expected = 2 * size * law.std[0] ** 2
        assert abs(part.mean() - expected) < 6 * part.std() / np.sqrt(len(X))
    if "epsilon" in budget:  # a Gaussian loses nothing by what is thrown away
        assert laws[0].std[0] < 0.95 * laws[1].std[0]


def test_best_approximation_at_a_huge_budget():
    for pieces in (1, 5, "svt"):
        for degree, continuity in ((1, 0), (2, -1), (3, 1)):
            model = GeoPrivateCurve(
                epsilon=1e9, bounds=BOUNDS, pieces=pieces, degree=degree,
                continuity=continuity, max_pieces=8, random_state=1,
            )  # fmt: skip
            [curve] = model.fit(WALK[None]).release(WALK[None])
            near = best(WALK, curve.basis)
            error = np.linalg.norm(curve.coefficients.ravel() - near)
            assert error < 1e-6 * np.linalg.norm(near)
            if pieces == "svt":
                assert len(curve.breaks) == 9


def test_ends_are_protected_like_the_middle():
    """Pointwise variance of the noise, by the space and by simulation."""
    model = GeoPrivateCurve(**PLAIN, rho=0.5, pieces=8)
    zeros = np.zeros((4000, 5))
    released = model.set_params(bounds=(-1e3, 1e3)).fit(zeros).transform(zeros, GRID)
    exact = np.square(basis_of(model).evaluate(GRID)).sum(axis=1)
    spread = released.var(axis=0)  # of normal values: 6 * sqrt(2 / n) is 13 %
    np.testing.assert_allclose(spread, exact, rtol=6 * np.sqrt(2 / 4000))
    assert exact[[0, -1]].min() >= np.median(exact)
    assert exact.max() < 4 * np.median(exact)  # (degree + 1)^2 at the ends at most


@pytest.mark.parametrize(("degree", "continuity"), [(1, 0), (2, 0), (3, 1), (2, -1)])
@pytest.mark.parametrize("projection", ["before", "after"])
def test_released_curves_are_continuous_as_asked(degree, continuity, projection):
    model = GeoPrivateCurve(
        epsilon=1.0, bounds=(-1e9, 1e9), pieces=8, degree=degree, random_state=0,
        continuity=continuity, projection=projection, denoise=False,
    )  # fmt: skip
    [curve] = model.fit(WALK[None]).release(WALK[None])
    breaks, h = np.array(curve.breaks[1:-1]), 1e-5
    left, left2 = curve.evaluate(breaks - h), curve.evaluate(breaks - 2 * h)
    right, right2 = curve.evaluate(breaks + h), curve.evaluate(breaks + 2 * h)
    size = np.abs(curve.evaluate(GRID)).max()
    jump, bend = right - left, (right2 - right) - (left - left2)
    if continuity == -1:
        assert np.abs(jump).min() > 0.001 * size
        return
    assert np.abs(jump).max() < 1e4 * h * size
    if continuity == 1:  # slopes agree to second order
        assert np.abs(bend).max() / h < 1e6 * h * size
    else:
        assert np.abs(bend).max() / h > size / 10


# Audits


def likelihood_ratio(model, one, two):
    """log P(y | one) / P(y | two) of rows of released coefficients."""
    law = model._release.budgets.release.law(one.size)

    def statistic(rows):
        a, b = (np.linalg.norm(rows - center, axis=1) for center in (one, two))
        if model.rho is None:
            return (b - a) / law.scale
        return (b**2 - a**2) / (2 * law.std[0] ** 2)

    return statistic


MIDDLE, HALF = np.array([0.65, 0.1, 0.7]), np.array([0.35, 0.3, 0.2])
# Pieces, degree, continuity: two or three coefficients.
SMALL = [(1, 1, 0), (2, 0, -1), (2, 1, 0)]


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("form", SMALL, ids=str)
def test_audit_of_fixed_pieces(kind, form):
    """At most the promise, at least 0.8 of it: a factor sqrt(2) would show."""
    pieces, degree, continuity = form
    model = GeoPrivateCurve(**PLAIN, **{kind: 3.0}, pieces=pieces, degree=degree,
                            continuity=continuity).fit(np.zeros((1, 3)))  # fmt: skip
    basis, seeds = basis_of(model), iter(range(1, 9))
    project = basis.projection(np.linspace(0, 1, 3)).T
    # Two curves as far apart as their projections, nearly.
    half = HALF * (2 if kind == "epsilon" else 1)
    near = (MIDDLE - half, MIDDLE + half)
    one, two = (project @ curve for curve in near)
    distance = np.linalg.norm(one - two)
    if kind == "epsilon":
        promised, delta = 3.0 * distance, 0.0
    else:  # the curve of Gaussian noise: exact, any epsilon
        mean = np.sqrt(2 * 3.0) * distance
        promised = 1.0
        delta = stats.norm.cdf(mean / 2 - promised / mean)
        delta -= np.exp(promised) * stats.norm.cdf(-mean / 2 - promised / mean)

    def mechanism(curve, n):
        model.set_params(random_state=next(seeds))
        return coefficients(model, np.repeat(curve[None], n, axis=0))

    result = audit(
        mechanism, *near, n_trials=80_000, batch=True, delta=delta,
        statistic=likelihood_ratio(model, one, two), confidence=1 - 1e-9,
    )  # fmt: skip
    assert 0.8 * promised < result.epsilon_lower <= promised


def test_audit_of_chosen_pieces():
    """The exact likelihood ratio of choice and release together."""
    epsilon = 6.0
    model = GeoPrivateCurve(**PLAIN, epsilon=epsilon, pieces="svt", max_pieces=2)
    model.fit(np.zeros((1, 3)))
    choosing, _, rest = model._release.budgets
    spaces, grid = PieceSpaces((0.0, 1.0), 1, 0, 2), np.linspace(0, 1, 3)
    curves = (np.array([1.0, -0.4, 1.0]), np.array([1.0, 0.4, 1.0]))
    scales = sparse_vector_scales(choosing.selection_epsilon, 1.0, aligned=True)
    fine = [spaces.finest.projection(grid).T @ curve for curve in curves]
    tails = [spaces.tails(c[None, :, None], (0, 2))[0] for c in fine]
    laws = [sparse_vector_law([t - rest.expected_norm(2)], *scales) for t in tails]
    distance = np.linalg.norm(fine[0] - fine[1])
    choice = np.log(laws[0] / laws[1])
    bases = [spaces.basis((0, 2)), spaces.basis((0, 1, 2))]
    centers = [[b.projection(grid).T @ curve for curve in curves] for b in bases]
    ratios = [
        choice[k] + s * np.linalg.norm(one - two) * rest.epsilon
        for k, (one, two) in enumerate(centers)
        for s in (-1, 1)
    ]
    assert np.abs(ratios).max() <= epsilon * distance
    seeds = iter(range(1, 9))

    def mechanism(curve, n):
        model.set_params(random_state=next(seeds))
        released = model.release(np.repeat(curve[None], n, axis=0))
        answer = np.full((n, 4), np.nan)
        for row, one in zip(answer, released, strict=True):
            k = len(one.breaks) - 2
            row[0], row[1 : 3 + k] = k, one.coefficients[:, 0]
        return answer

    def statistic(answer):
        result = np.empty(len(answer))
        for k, (one, two) in enumerate(centers):
            rows = answer[:, 0] == k
            part = answer[rows, 1 : 3 + k]
            ratio = likelihood_ratio(model, one, two)(part)
            result[rows] = choice[k] + ratio
        return result

    result = audit(
        mechanism, *curves, n_trials=100_000, batch=True, statistic=statistic,
        confidence=1 - 1e-9,
    )  # fmt: skip
    assert np.abs(ratios).max() > 0.8 * epsilon * distance
    assert 0.72 * np.abs(ratios).max() < result.epsilon_lower <= epsilon * distance
