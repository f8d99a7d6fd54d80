"""Values against closed forms, and the refusal of points outside the domain."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import BSpline
from scipy.special import eval_legendre

from skfuncpriv.basis import BSplineBasis, CosineBasis, FourierBasis, LegendreBasis

T = np.linspace(-3.0, 21.0, 37)
U = (T + 3.0) / 24.0


def test_cosines():
    j = np.arange(70)
    wanted = np.sqrt(2.0 / 24.0) * np.cos(np.pi * np.outer(U, j))
    wanted[:, 0] = np.sqrt(1.0 / 24.0)
    found = CosineBasis(70, (-3.0, 21.0)).evaluate(T)
    # The angle itself is rounded: 70 * pi * 2^-53.
    assert_allclose(found, wanted, rtol=0, atol=1e-13)


@pytest.mark.parametrize("n_basis", [1, 2, 8, 9])
def test_fourier_functions(n_basis):
    columns = [np.full(len(T), np.sqrt(1.0 / 24.0))]
    for k in range(1, 5):
        columns.append(np.sqrt(2.0 / 24.0) * np.sin(2.0 * np.pi * k * U))
        columns.append(np.sqrt(2.0 / 24.0) * np.cos(2.0 * np.pi * k * U))
    found = FourierBasis(n_basis, (-3.0, 21.0)).evaluate(T)
    assert_allclose(found, np.array(columns[:n_basis]).T, rtol=0, atol=1e-14)


def test_legendre_polynomials():
    j = np.arange(60)
    wanted = np.sqrt((2 * j + 1) / 24.0) * eval_legendre(j, 2.0 * U[:, None] - 1.0)
    found = LegendreBasis(60, (-3.0, 21.0)).evaluate(T)
    assert_allclose(found, wanted, rtol=0, atol=1e-13)


@pytest.mark.parametrize("degree", [0, 1, 3])
def test_splines_sum_to_one_and_are_those_of_scipy(degree):
    basis = BSplineBasis(degree + 4, (-3.0, 21.0), degree)
    inner = [3.0, 9.0, 15.0]
    knots = [-3.0] * (degree + 1) + inner + [21.0] * (degree + 1)
    wanted = BSpline.design_matrix(T, knots, degree).toarray()
    assert_allclose(basis.evaluate(T), wanted, rtol=0, atol=1e-15)
    assert_allclose(basis.evaluate(T).sum(axis=1), 1.0, rtol=0, atol=1e-15)


def test_any_one_dimensional_array_like_is_evaluated(make):
    basis = make(5, (0.0, 1.0))
    assert basis.evaluate([0, 1]).shape == (2, 5)
    assert basis.evaluate(range(2)).shape == (2, 5)
    assert basis.evaluate([]).shape == (0, 5)
    assert basis.evaluate(np.float32([0.5])).dtype == float


@pytest.mark.parametrize("t", [[-0.01], [1.01], [0.5, np.nan], [np.inf]])
@pytest.mark.parametrize("method", ["evaluate", "projection"])
def test_points_outside_the_domain_are_refused(make, method, t):
    with pytest.raises(ValueError, match="must be finite numbers of the domain"):
        getattr(make(5, (0.0, 1.0)), method)(t)


def test_a_rounding_error_beyond_the_end_is_the_end(make):
    basis = make(5, (0.0, 0.3))
    assert 0.1 * 3 > 0.3
    assert_allclose(basis.evaluate([0.1 * 3]), basis.evaluate([0.3]), rtol=0, atol=0)


@pytest.mark.parametrize("t", [0.5, [[0.5]]])
def test_points_must_form_a_vector(make, t):
    with pytest.raises(ValueError, match="t must be 1-D"):
        make(5, (0.0, 1.0)).evaluate(t)


@pytest.mark.parametrize("grid", [[], [0.1, 0.1], [0.2, 0.1]])
def test_grids_must_increase(make, grid):
    with pytest.raises(ValueError, match="strictly increase"):
        make(5, (0.0, 1.0)).projection(grid)


@pytest.mark.parametrize("n_basis", [0, -1, 2.5, True, "3", None])
def test_sizes_must_be_counts(make_sized, n_basis):
    with pytest.raises(ValueError, match="n_basis must be an integer >= 1"):
        make_sized(n_basis, (0.0, 1.0))


@pytest.mark.parametrize("domain", [(1.0, 0.0), (0.0, 0.0), (0.0, np.inf), 3.0, "ab"])
def test_domains_must_be_intervals(make_sized, domain):
    with pytest.raises(ValueError, match="domain must be two finite numbers"):
        make_sized(5, domain)


@pytest.mark.parametrize("degree", [-1, 1.5, 16])
def test_degrees_must_be_small_counts(degree):
    with pytest.raises(ValueError, match="degree must be"):
        BSplineBasis(40, degree=degree)


def test_splines_need_more_functions_than_their_degree():
    with pytest.raises(ValueError, match="n_basis must be > degree = 3, got 3"):
        BSplineBasis(3)
