"""`projection_error_` bounds what floats do, checked against exact coefficients."""

import mpmath
import numpy as np
import pytest

from skfuncpriv import BasisProjector, Curves, GeoPrivateCurve
from skfuncpriv.basis import (
    BSplineBasis,
    CosineBasis,
    LegendreBasis,
    MonomialBasis,
    SincBasis,
    TensorBasis,
)
from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.local._pieces import EMBEDDING_ERROR
from tests.local.functions import distance, exact_cosines, exact_legendre

# Far from zero, points are rounded coarsely; beyond, the basis itself is refused.
DOMAINS = [(0.0, 1.0), (-3.0, 21.0), (0.0, 1e-6), (1e4, 1e4 + 1), (5e4, 5e4 + 1)]
EXACT = {
    "cosine": (CosineBasis, exact_cosines),
    "legendre": (LegendreBasis, exact_legendre),
}


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(60):
        yield


def error_of(found, exact):
    gaps = [(mpmath.mpf(float(x)) - y) ** 2 for x, y in zip(found, exact, strict=True)]
    return float(mpmath.sqrt(sum(gaps)))


def worst_signs(projector, exact, grid, size, domain):
    """Values at the bounds, with the signs that add up what the matrix is off by."""
    matrix = projector.basis_.projection(grid)
    off = np.empty(matrix.shape)
    for i, unit in enumerate(np.eye(len(grid))):
        wanted = exact(grid, unit, size, domain)
        off[i] = [
            float(mpmath.mpf(float(x)) - y)
            for x, y in zip(matrix[i], wanted, strict=True)
        ]
    left = np.linalg.svd(off)[0]
    return np.where(left[:, :2] < 0, -1.0, 1.0).T


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize(("make", "exact"), EXACT.values(), ids=EXACT)
@pytest.mark.parametrize(("size", "n_points"), [(1, 2), (3, 2), (8, 6), (12, 3)])
def test_coefficients_err_by_half_of_it_at_most(domain, make, exact, size, n_points):
    rng = np.random.default_rng(size)
    width = domain[1] - domain[0]
    inner = domain[0] + width * np.sort(rng.random(n_points - 2))
    grid = np.concatenate([domain[:1], inner, domain[1:]])
    projector = BasisProjector(
        basis=make(size, domain), grid=grid, bounds=(-3.0, 7.0), center=1.0 / 3
    ).fit(np.zeros((1, n_points)))
    signs = worst_signs(projector, exact, grid, size, domain)
    rows = np.where(signs > 0, 7.0, -3.0)
    others = [np.full(n_points, 7.0), rng.uniform(-3, 7, n_points)]
    rows = np.concatenate([rows, others])
    for row, found in zip(rows, projector.transform(rows), strict=True):
        wanted = exact(grid, row, size, domain)
        shift = exact(grid, np.full(n_points, 1.0 / 3), size, domain)
        wanted = [a - b for a, b in zip(wanted, shift, strict=True)]
        assert error_of(found, wanted) <= projector.projection_error_ / 2


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_irregular_curves_err_by_half_of_it_at_most(domain):
    rng = np.random.default_rng(0)
    width = domain[1] - domain[0]
    times = domain[0] + width * np.array([0.0, 0.1, 0.1 + 1e-9, 0.5, 0.9])
    times = np.concatenate([np.unique(times), [domain[1] + width]])  # one outside
    values = rng.choice([-1.0, 1.0], size=len(times))
    values[-1] = values[-2]  # constant, so that it may be cut anywhere
    projector = BasisProjector(basis=CosineBasis(12, domain), bounds=(-1, 1))
    found = projector.fit_transform(Curves(values, times, [0, len(times)]))[0]
    wanted = exact_cosines(times[:-1], values[:-1], 12, domain)
    assert error_of(found, wanted) <= projector.projection_error_ / 2


def test_surfaces_err_by_half_of_it_at_most():
    rng = np.random.default_rng(1)
    domains = ((0.0, 1.0), (1e4, 1e4 + 2))
    grids = [np.linspace(*domain, n) for domain, n in zip(domains, (3, 4), strict=True)]
    basis = TensorBasis([CosineBasis(3, domain) for domain in domains])
    projector = BasisProjector(basis=basis, bounds=(-1, 1)).fit(np.zeros((1, 3, 4)))
    hats = [
        [exact_cosines(grid, unit, 3, domain) for unit in np.eye(len(grid))]
        for grid, domain in zip(grids, domains, strict=True)
    ]
    for _ in range(5):
        surface = rng.choice([-1.0, 1.0], size=(3, 4))
        wanted = [
            sum(
                float(surface[a, b]) * hats[0][a][j] * hats[1][b][k]
                for a in range(3) for b in range(4)
            )
            for j, k in basis.indices
        ]  # fmt: skip
        found = projector.transform(surface[None])[0]
        assert error_of(found, wanted) <= projector.projection_error_ / 2


@pytest.mark.parametrize(
    "basis",
    [
        CosineBasis(40, (0, 10)),
        BSplineBasis(9, (0, 10)),
        MonomialBasis(32, (0, 10)),
        SincBasis(20, (0, 10)),
        SincBasis(20, (0, 10), whole_line=True),
    ],
    ids=lambda basis: type(basis).__name__,
)
def test_it_is_small(basis):
    """It must not blur what it is added to: a billionth of the largest norm."""
    wide = BasisProjector(basis=basis, bounds=(0, 100)).fit(np.zeros((1, 101)))
    assert 0 < wide.projection_error_ < 1e-9 * wide.norm_bound_
    curves = Curves(np.zeros(3), [0.0, 1.0, 2.0], [0, 3])
    long = BasisProjector(basis=basis, bounds=(0, 100)).fit(curves)
    assert wide.projection_error_ < long.projection_error_ < 1e-6 * long.norm_bound_


def test_without_bounds_there_is_none():
    projector = BasisProjector().fit(np.zeros((1, 5)))
    assert projector.projection_error_ is None
    assert projector.norm_bound_ is None


def test_norm_bound_holds_and_is_attained():
    projector = BasisProjector(bounds=(-2, 1), domain=(0, 9)).fit(np.zeros((1, 5)))
    corner = projector.transform(np.full((1, 5), -2.0))
    assert np.linalg.norm(corner) == pytest.approx(projector.norm_bound_, rel=1e-12)
    assert projector.norm_bound_ == pytest.approx(2 * 3.0, rel=1e-12)
    rows = np.random.default_rng(3).uniform(-9, 9, size=(200, 5))
    norms = np.linalg.norm(projector.transform(rows), axis=1)
    assert norms.max() <= projector.norm_bound_ + projector.projection_error_
    grid = np.linspace(0, 9, 5)
    free = [distance((grid, row), (grid, 0 * row)) for row in np.clip(rows, -2, 1)]
    assert max(free) > 0.5 * projector.norm_bound_


@pytest.mark.parametrize("n_points", [20, 500])
def test_it_is_the_sum_of_what_the_notes_list(n_points):
    """Written out for one constant function, 1 / sqrt(W), in units of the norm bound.

    The bound is not attained, so that no comparison with exact coefficients shows what
    is missing from it.
    """
    unit, width, bound = 2.0**-53, 4.0, 3.0
    projector = BasisProjector(
        basis=CosineBasis(1, (0.0, width)), bounds=(-bound, bound)
    ).fit(np.zeros((1, n_points)))
    products = n_points + 64
    places = 4 * 2 * n_points  # 4 W times 2 n max abs(phi), over sqrt(W)
    norms, stretch = 65, 64
    total = unit * (2 * (products + places) + 3 * norms + 2 * stretch)
    total *= projector.norm_bound_
    assert projector.norm_bound_ == bound * np.sqrt(width)
    digit = 10 ** (np.floor(np.log10(total)) - 1)
    expected = np.ceil(total / digit) * digit
    assert projector.projection_error_ == pytest.approx(expected, rel=1e-9, abs=0)


@pytest.mark.parametrize("pieces", [4, "svt"])
def test_that_of_pieces_pays_for_their_embeddings(pieces):
    """Both curves may be stretched by twice EMBEDDING_ERROR; the rest is tiny."""
    model = GeoPrivateCurve(epsilon=1.0, bounds=(-3, 3), pieces=pieces)
    model.fit(np.zeros((1, 9)))
    promised = model.guarantee_.distance_error
    embeddings = 2 * 2 * EMBEDDING_ERROR * model.norm_bound_
    assert embeddings < promised < 1.1 * embeddings


def test_domains_where_floats_are_too_coarse_are_refused():
    """Irregular curves of up to 2^20 points: their error would be that of the noise."""
    start = 1e6
    curves = Curves([0.0, 1.0], [start, start + 1], [0, 2])
    projector = BasisProjector(basis=CosineBasis(2, (start, start + 1)), bounds=(-1, 1))
    projector.fit(np.zeros((1, 2)))  # a grid of two points is fine
    with pytest.raises(PrivacyError, match="let it start at 0"):
        projector.fit(curves)


def test_curves_of_more_points_than_it_was_stated_for_are_refused():
    most = 1 << 20
    times = np.linspace(0, 1, most + 1)
    longest = Curves(np.zeros(most), times[:-1], [0, most])
    projector = BasisProjector(n_basis=1, domain=(0, 1), bounds=(0, 1)).fit(longest)
    longer = Curves(np.zeros(most + 1), times, [0, most + 1])
    for call in (projector.transform, projector.fit):
        with pytest.raises(ValueError, match=r"at most 2\^20 points"):
            call(longer)
