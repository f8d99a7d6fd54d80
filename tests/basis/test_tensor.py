"""TensorBasis: products of functions, Gram matrices and projections."""

import copy
import itertools
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import dblquad

from skfuncpriv.basis import (
    BSplineBasis,
    CosineBasis,
    FourierBasis,
    KernelBasis,
    LegendreBasis,
    MonomialBasis,
    PiecewisePolynomialBasis,
    SincBasis,
    TensorBasis,
    check_orthonormal,
)
from skfuncpriv.exceptions import PrivacyError

FACTORS = {
    "one": (CosineBasis(7, (-3.0, 21.0)),),
    "two": (LegendreBasis(4, (0.0, 2.0)), CosineBasis(6)),
    "equal": (CosineBasis(5),) * 3,
    "three": (FourierBasis(5), KernelBasis("gaussian", 4), LegendreBasis(3)),
    "pieces": (PiecewisePolynomialBasis((0.0, 0.5, 2.0), 1, 0), CosineBasis(4)),
    "line": (SincBasis(4, whole_line=True), CosineBasis(4)),
    "raw": (MonomialBasis(4, (0.0, 2.0)), BSplineBasis(5, degree=2)),
    "raw sinc": (SincBasis(5), MonomialBasis(3)),
}
ORTHONORMAL = [name for name in FACTORS if not name.startswith("raw")]


@pytest.fixture(params=FACTORS)
def factors(request):
    return FACTORS[request.param]


def _every_index(factors):
    return list(itertools.product(*(range(basis.n_basis) for basis in factors)))


def _all_products(tables, indices):
    return np.prod([t[:, i] for t, i in zip(tables, indices.T, strict=True)], axis=0)


@pytest.mark.parametrize("n_basis", [1, 5, 12, None])
def test_the_kept_products_are_the_largest(factors, n_basis):
    count = len(_every_index(factors))
    basis = TensorBasis(factors, None if n_basis is None else min(n_basis, count))
    ratio = [factor.spectrum / factor.spectrum[0] for factor in factors]

    def rank(index):
        weights = sorted(r[i] for r, i in zip(ratio, index, strict=True))
        return -np.prod(weights), index

    wanted = sorted(_every_index(factors), key=rank)[: basis.n_basis]
    assert basis.n_variables == len(factors)
    assert basis.n_basis == len(wanted)
    assert_array_equal(basis.indices, wanted)


def test_spectra_are_products_and_do_not_increase(factors):
    basis = TensorBasis(factors)
    spectra = [factor.spectrum[np.newaxis] for factor in factors]
    wanted = _all_products(spectra, basis.indices)[0]
    assert_allclose(basis.spectrum, wanted, rtol=1e-13)
    assert np.all(np.diff(basis.spectrum) <= 0)
    assert np.all(basis.spectrum > 0)


def test_few_of_many_variables_are_found_without_forming_all():
    basis = TensorBasis((CosineBasis(1000),) * 6, n_basis=50)
    assert basis.indices.max() < 50
    assert_array_equal(basis.indices[0], 0)
    assert_array_equal(basis.indices[1:7], np.eye(6)[::-1])


def test_values_are_products_of_values():
    basis = TensorBasis(FACTORS["three"], n_basis=20)
    points = np.random.default_rng(0).random((9, 3))
    tables = [f.evaluate(x) for f, x in zip(basis.bases, points.T, strict=True)]
    assert_allclose(
        basis.evaluate(points), _all_products(tables, basis.indices), rtol=1e-14
    )


def test_values_in_closed_form():
    basis = TensorBasis((CosineBasis(3), LegendreBasis(3, (0.0, 4.0))))
    x, y = 0.3, 2.5
    first = np.sqrt([1.0, 2.0, 2.0]) * np.cos(np.pi * x * np.arange(3))
    u = (y - 2.0) / 2.0
    second = np.sqrt([0.25, 0.75, 1.25]) * np.array([1.0, u, 1.5 * u * u - 0.5])
    i, j = basis.indices.T
    assert_allclose(basis.evaluate([[x, y]])[0], first[i] * second[j], atol=1e-15)


@pytest.mark.parametrize("name", ORTHONORMAL)
def test_products_of_orthonormal_functions_are_orthonormal(name):
    basis = TensorBasis(FACTORS[name])
    assert_allclose(basis.gram(), np.eye(basis.n_basis), rtol=0, atol=1e-12)
    check_orthonormal(basis)
    assert basis.orthonormalize() == basis


def test_the_gram_matrix_is_that_of_kronecker(factors):
    basis = TensorBasis(factors)
    wanted = np.ones((1, 1))
    for factor in factors:
        wanted = np.kron(wanted, factor.gram())
    shape = [factor.n_basis for factor in factors]
    flat = np.ravel_multi_index(basis.indices.T, shape)
    assert_allclose(basis.gram(), wanted[np.ix_(flat, flat)], rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", ["raw", "raw sinc"])
@pytest.mark.parametrize("n_basis", [7, None])
def test_what_is_not_orthonormal_is_refused_and_orthonormalizes(name, n_basis):
    raw = TensorBasis(FACTORS[name], n_basis)
    with pytest.raises(PrivacyError, match=f"TensorBasis with {raw.n_basis}"):
        check_orthonormal(raw)
    basis = raw.orthonormalize()
    check_orthonormal(basis)
    assert_array_equal(basis.indices, raw.indices)
    # The same span, also of some of the products.
    points = np.random.default_rng(1).random((200, 2))
    inner, wanted = basis.evaluate(points), raw.evaluate(points)
    fitted = inner @ np.linalg.lstsq(inner, wanted, rcond=None)[0]
    assert_allclose(fitted, wanted, rtol=0, atol=1e-11)


def test_projection_is_that_of_kronecker(factors):
    basis = TensorBasis(factors)
    grids = [
        np.linspace(*factor.domain, 3 + k)[: 2 + k] for k, factor in enumerate(factors)
    ]
    wanted = np.ones((1, 1))
    for factor, grid in zip(factors, grids, strict=True):
        wanted = np.kron(wanted, factor.projection(grid))
    shape = [factor.n_basis for factor in factors]
    flat = np.ravel_multi_index(basis.indices.T, shape)
    assert_allclose(basis.projection(grids), wanted[:, flat], rtol=0, atol=1e-11)


def test_projection_meets_quadrature_of_the_surface():
    basis = TensorBasis((CosineBasis(3), LegendreBasis(2, (0.0, 2.0))))
    values = np.array([[0.3, 1.0, -2.0], [0.7, 0.1, 0.4]])
    grids = [[0.0, 1.0], [0.0, 0.5, 2.0]]

    def surface(x, y):
        rows = [np.interp(y, grids[1], row) for row in values]
        return (1.0 - x) * rows[0] + x * rows[1]

    found = values.ravel() @ basis.projection(grids)
    for k in range(basis.n_basis):
        wanted = sum(
            dblquad(
                lambda x, y, k=k: surface(x, y) * basis.evaluate([[x, y]])[0, k],
                *cell,
                0.0,
                1.0,
            )[0]
            for cell in ((0.0, 0.5), (0.5, 2.0))
        )
        assert abs(found[k] - wanted) < 1e-10


def test_a_multilinear_surface_is_recovered():
    pieces = PiecewisePolynomialBasis((0.0, 0.3, 1.0), 1, 0)
    basis = TensorBasis((LegendreBasis(2), pieces))
    grids = [[0.0, 1.0], [0.0, 0.3, 1.0]]
    values = np.random.default_rng(2).normal(size=6)
    coefficients = values @ basis.projection(grids)
    points = np.array(list(itertools.product(*grids)))
    assert_allclose(basis.evaluate(points) @ coefficients, values, atol=1e-13)


def test_fewer_products_are_the_first(factors):
    basis = TensorBasis(factors)
    few = basis.first(4)
    assert few == TensorBasis(factors, 4)
    assert_array_equal(few.indices, basis.indices[:4])
    assert_allclose(few.spectrum, basis.spectrum[:4], rtol=1e-15)


def test_domain_and_order_are_those_of_the_factors():
    basis = TensorBasis(FACTORS["two"])
    assert basis.domain == ((0.0, 2.0), (0.0, 1.0))
    assert basis.ordered_by_frequency
    assert not TensorBasis(FACTORS["pieces"]).ordered_by_frequency


@pytest.mark.parametrize("how", [copy.copy, lambda b: pickle.loads(pickle.dumps(b))])
def test_copies_are_equal_and_hold_the_parameters_only(how):
    basis = TensorBasis(list(FACTORS["two"]), 5)
    assert len(basis.spectrum) == 5
    twin = how(basis)
    assert twin == basis == TensorBasis(FACTORS["two"], np.int64(5))
    assert hash(twin) == hash(basis)
    assert vars(twin) == {"bases": FACTORS["two"], "n_basis": 5}
    with pytest.raises(FrozenInstanceError):
        basis.n_basis = 4


def test_what_is_returned_belongs_to_the_caller():
    basis = TensorBasis(FACTORS["two"], 5)
    wanted, weights = basis.indices, basis.spectrum
    basis.indices[:] = 3
    basis.spectrum[:] = 0.0
    assert_array_equal(basis.indices, wanted)
    assert_array_equal(basis.spectrum, weights)


@pytest.mark.parametrize("bases", [CosineBasis(3), 3, ["cosine"], "ab", None])
def test_bases_must_be_a_sequence_of_bases(bases):
    with pytest.raises(TypeError, match="bases must be a sequence of Basis objects"):
        TensorBasis(bases)


def test_at_least_one_basis_is_needed():
    with pytest.raises(ValueError, match="at least one"):
        TensorBasis(())


@pytest.mark.parametrize("n_basis", [0, -1, 2.5, True, "3", 25])
def test_sizes_must_be_counts_of_products(n_basis):
    with pytest.raises(ValueError, match="n_basis must be"):
        TensorBasis(FACTORS["two"], n_basis)


@pytest.mark.parametrize("points", [[0.5, 0.5], [[0.5]], [[0.1, 0.2, 0.3]], 0.5])
def test_points_must_have_one_column_per_variable(points):
    with pytest.raises(ValueError, match="points must have shape"):
        TensorBasis(FACTORS["two"]).evaluate(points)


def test_points_must_lie_in_the_domain():
    with pytest.raises(ValueError, match=r"numbers of the domain \(0.0, 1.0\)"):
        TensorBasis(FACTORS["two"]).evaluate([[1.5, 1.5]])


def test_there_is_one_grid_per_variable():
    with pytest.raises(ValueError, match="one for each of 2 variables, got 1"):
        TensorBasis(FACTORS["two"]).projection([[0.0, 1.0]])
