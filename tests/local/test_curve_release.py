"""GeoPrivateCurve: how many pieces leave, how they are denoised, whose they are."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from skfuncpriv import GeoPrivateCoefficients, GeoPrivateCurve
from skfuncpriv.denoise import spectral_average
from skfuncpriv.exceptions import NoiseDominatesWarning
from skfuncpriv.local._pieces import PieceSpaces, _pair_misses
from skfuncpriv.noise import IndependentGaussian, SphericalLaplace
from skfuncpriv.privacy._sparse_vector import sparse_vector_scales
from tests.privacy.selection_laws import agrees, sparse_vector_law

GRID = np.linspace(0.0, 1.0, 41)
BOUNDS = (-5.0, 5.0)
both_budgets = pytest.mark.parametrize("budget", [{"epsilon": 2.0}, {"rho": 2.0}])


def law_of(budget, size):
    """What each budget of `both_budgets` buys: scale 1/2, deviation 1/2."""
    return SphericalLaplace(size, 0.5) if "epsilon" in budget else IndependentGaussian(
        (0.5,) * size
    )  # fmt: skip


@pytest.mark.parametrize(
    ("pieces", "most", "wanted"),
    [(5, 32, 5), ("auto", 7, 7), *(("svt", n, k) for n, k in
     [(1, 1), (2, 2), (3, 4), (8, 8), (9, 16)])],
)  # fmt: skip
def test_number_of_pieces(pieces, most, wanted):
    model = GeoPrivateCurve(epsilon=1.0, bounds=BOUNDS, pieces=pieces, max_pieces=most)
    assert model.fit(np.zeros((1, 9))).n_pieces_ == wanted


@pytest.mark.parametrize("d", [1, 3])
def test_auto_releases_as_many_smooth_combinations_as_are_worth_it(d):
    """Where their noise equals the tail (0.13 tau)^2 / m^2; nothing else has noise."""
    X = np.zeros((60, 41, d))
    model = GeoPrivateCurve(epsilon=20.0, bounds=BOUNDS, random_state=0, denoise=False)
    curves = model.fit(X).release(X)
    wanted = round(np.sqrt(0.13 * 20 * 5 * np.sqrt(d) / d))
    assert 2 < wanted < 10
    assert model.n_coefficients_ == wanted
    table = np.stack([curve.coefficients[:, 0] for curve in curves])
    assert table.shape == (60, 33)
    assert np.linalg.matrix_rank(table, tol=1e-9) == wanted
    slow = np.cos(np.pi * GRID[:, None] * np.arange(3))
    values = np.stack([curve.evaluate(GRID)[:, 0] for curve in curves]).T
    missed = slow - values @ np.linalg.lstsq(values, slow, rcond=1e-9)[0]
    assert np.abs(missed).max() < 0.05  # slow cosines are among the combinations
    everything = clone(model).set_params(epsilon=None, rho=1e-3, bounds=(-1e3, 1e3))
    assert everything.fit(X).n_coefficients_ == 33


@both_budgets
def test_denoising_of_curves_knows_the_law_the_bound_and_the_frequencies(budget):
    options = {"bounds": (-1.0, 1.0), "pieces": 4, "random_state": 0, **budget}
    X = np.stack([np.cos(3 * GRID), 0.5 - GRID], axis=-1)[None].repeat(20, axis=0)
    noisy = GeoPrivateCurve(**options, denoise=False).fit(X).release(X)
    ours = GeoPrivateCurve(**options).fit(X).release(X)
    spaces = PieceSpaces((0.0, 1.0), 1, 0, 4)
    rotation = spaces.smooth_first(spaces.all_edges)
    rows = np.stack([(rotation.T @ curve.coefficients).ravel() for curve in noisy])
    ranks = np.arange(5).repeat(2)
    wanted = spectral_average(rows, law_of(budget, 10), energy_bound=2.0, ranks=ranks)
    found = np.stack([(rotation.T @ curve.coefficients).ravel() for curve in ours])
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)


@both_budgets
def test_denoising_of_coefficients_knows_the_law_the_bound_and_the_frequencies(budget):
    rows = np.array([[2.0, 1.0, 0.5, -0.5, 0.1, 0.0]]).repeat(20, axis=0)
    options = {"n_outputs": 2, "n_coefficients": None, "random_state": 0, **budget}
    noisy = GeoPrivateCoefficients(**options, denoise=False).fit_transform(rows)
    ours = GeoPrivateCoefficients(**options, norm_bound=3.0).fit_transform(rows)
    ranks = np.arange(3).repeat(2)
    wanted = spectral_average(noisy, law_of(budget, 6), energy_bound=9.0, ranks=ranks)
    np.testing.assert_allclose(ours, wanted, rtol=1e-9)


@pytest.mark.parametrize(
    "options",
    [{"pieces": 8}, {"pieces": "svt"}, {"pieces": "svt", "merge": True}],
    ids=str,
)
def test_every_row_is_the_curve_of_its_own_person(options):
    """Rows of different pieces are released together, and go back where they were."""
    steps = np.arange(600)[:, None]
    X = 4 * np.where(steps % 2, np.cos(steps + 9 * GRID), np.sin(steps) + 0 * GRID)
    model = GeoPrivateCurve(
        epsilon=300.0, bounds=BOUNDS, random_state=0, max_pieces=8, **options
    )
    curves = model.fit(X).release(X)
    if options["pieces"] == "svt":
        assert len({len(curve.breaks) for curve in curves}) > 1
    error = np.stack([curve.evaluate(GRID) for curve in curves]) - X
    assert np.sqrt(np.square(error).mean(axis=1)).max() < 1.0


def test_noise_that_dominates_a_curve_is_warned_of_from_public_facts():
    for X in (np.zeros((2, 9)), np.full((2, 9), 1e9)):
        with pytest.warns(NoiseDominatesWarning, match="budget or tighter bounds"):
            GeoPrivateCurve(epsilon=0.1, bounds=(-1, 1)).fit(X)


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("merge", [False, True])
def test_choosing_and_merging_get_no_more_than_their_shares(kind, merge):
    """A fifth of the budget together, merging a third of it: by the exact law."""
    n, budget = 20_000, 6.0
    X = np.where(GRID < 0.5, 2.0, 8.0 - 12 * GRID)[None].repeat(n, axis=0)
    model = GeoPrivateCurve(
        **{kind: budget}, bounds=BOUNDS, pieces="svt", max_pieces=2, merge=merge,
        random_state=0,
    )  # fmt: skip
    curves = model.fit(X).release(X)
    chosen = np.array([len(curve.breaks) - 2 for curve in curves])
    spaces = PieceSpaces((0.0, 1.0), 1, 0, 2)
    fine = (spaces.finest.projection(GRID).T @ X[0])[None, :, None]
    shares = [0.2 * budget * (2 / 3 if merge else 1), 0.2 * budget / 3, 0.8 * budget]
    if kind == "epsilon":
        epsilon, limit, gain = shares[0], 2 / shares[2], np.sqrt(6) / shares[2]
        joins = stats.laplace(scale=1 / shares[1])
    else:
        deviations = np.sqrt(0.5 / np.array(shares))
        epsilon = np.sqrt(2 * shares[0])
        limit, gain = np.sqrt(2) * deviations[2], deviations[2]
        joins = stats.norm(scale=deviations[1])
    scales = sparse_vector_scales(epsilon, 1.0, aligned=True)
    one, two = sparse_vector_law(spaces.tails(fine, (0, 2)) - limit, *scales)
    if merge:
        joined = joins.cdf(gain - _pair_misses(spaces, fine, (0, 1, 2))[0, 0])
        one, two = one + two * joined, two * (1 - joined)
    assert 0.02 < one < 0.98
    assert agrees(chosen, np.array([one, two]))
