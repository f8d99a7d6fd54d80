"""MonomialBasis: powers, the Gram matrix that leaks, and Legendre in its place."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import hilbert

from skfuncpriv.basis import (
    LegendreBasis,
    MonomialBasis,
    OrthonormalBasis,
    check_orthonormal,
)
from skfuncpriv.exceptions import PrivacyError

DOMAINS = [(0.0, 1.0), (-3.0, 21.0), (-1.0, 1.0), (1e3, 1e3 + 0.5)]


def _exact_gram(n_basis, domain):
    with mpmath.workdps(60):
        low, high = (mpmath.mpf(end) for end in domain)
        gram = [
            [
                (high ** (k + 1) - low ** (k + 1)) / (k + 1)
                for k in range(i, i + n_basis)
            ]
            for i in range(n_basis)
        ]
        return np.array(gram, dtype=float)


@pytest.mark.parametrize("domain", DOMAINS)
def test_functions_are_powers_in_the_units_of_the_user(domain):
    t = np.linspace(*domain, 13)
    wanted = np.polynomial.polynomial.polyvander(t, 9)
    assert_allclose(MonomialBasis(10, domain).evaluate(t), wanted, rtol=1e-14)


@pytest.mark.parametrize("n_basis", [1, 2, 10, 30])
@pytest.mark.parametrize("domain", DOMAINS)
def test_the_gram_matrix_is_its_closed_form(n_basis, domain):
    wanted = _exact_gram(n_basis, domain)
    size = np.sqrt(np.diag(wanted))
    error = (MonomialBasis(n_basis, domain).gram() - wanted) / np.outer(size, size)
    # t^(2n) of a point that is rounded to t*(1 + 2^-53).
    assert np.max(np.abs(error)) < 4 * n_basis * 2.0**-52


def test_on_the_unit_interval_it_is_the_hilbert_matrix():
    assert_allclose(MonomialBasis(12).gram(), hilbert(12), rtol=0, atol=1e-15)
    assert np.linalg.cond(hilbert(12)) > 1e16


@pytest.mark.parametrize("n_basis", [2, 12, 22, 60])
def test_it_is_refused_as_an_orthonormal_basis(n_basis):
    with pytest.raises(PrivacyError, match=f"MonomialBasis with {n_basis} functions"):
        check_orthonormal(MonomialBasis(n_basis))


@pytest.mark.parametrize("domain", DOMAINS)
def test_gram_schmidt_gives_legendre_polynomials_with_their_signs(domain):
    # Gram-Schmidt in exact arithmetic: column j of the inverse of the transposed
    # Cholesky factor holds the coefficients of function j.
    t = np.linspace(*domain, 7)
    with mpmath.workdps(80):
        low, high = (mpmath.mpf(end) for end in domain)
        gram = mpmath.matrix(8)
        for i in range(8):
            for j in range(8):
                gram[i, j] = (high ** (i + j + 1) - low ** (i + j + 1)) / (i + j + 1)
        inverse = mpmath.inverse(mpmath.cholesky(gram))
        powers = mpmath.matrix([[mpmath.mpf(x) ** j for j in range(8)] for x in t])
        wanted = np.array((powers * inverse.T).tolist(), dtype=float)
    basis = MonomialBasis(8, domain).orthonormalize()
    assert basis == LegendreBasis(8, domain)
    size = np.sqrt(1.0 / (domain[1] - domain[0]))
    assert_allclose(basis.evaluate(t), wanted, rtol=0, atol=1e-13 * size)


def test_qr_meets_legendre_where_qr_still_works():
    t = np.linspace(-3.0, 21.0, 40)
    raw = MonomialBasis(6, (-3.0, 21.0))
    found = OrthonormalBasis(raw).evaluate(t)
    assert_allclose(found, raw.orthonormalize().evaluate(t), rtol=0, atol=1e-9)


def test_any_degree_orthonormalizes():
    check_orthonormal(MonomialBasis(300, (0.0, 1440.0)).orthonormalize())


def test_a_polynomial_is_recovered():
    coefficients = np.array([0.3, -2.0, 1.0, 0.7])
    raw = MonomialBasis(4, (-1.0, 2.0))
    nodes, weights = np.polynomial.legendre.leggauss(8)
    t = 0.5 + 1.5 * nodes
    values = np.polynomial.polynomial.polyval(t, coefficients)
    inner_products = (1.5 * weights * values) @ raw.evaluate(t)
    found = np.linalg.solve(raw.gram(), inner_products)
    assert_allclose(found, coefficients, rtol=0, atol=1e-12)


def test_projection_of_a_line_is_a_row_of_the_gram_matrix():
    basis = MonomialBasis(6, (-1.0, 3.0))
    grid = np.array([-1.0, 0.25, 1.0, 3.0])
    assert_allclose(grid @ basis.projection(grid), basis.gram()[1], rtol=1e-13)


@pytest.mark.parametrize(
    "call",
    [
        lambda basis: basis.evaluate([1.0]),
        lambda basis: basis.gram(),
        lambda basis: basis.projection([1.0, 2.0]),
    ],
)
def test_powers_that_overflow_are_refused(call):
    basis = MonomialBasis(60, (0.0, 1440.0))
    with pytest.raises(ValueError, match="overflow on the domain"):
        call(basis)


def test_fewer_monomials_are_the_first():
    t = np.linspace(0.0, 1.0, 5)
    basis = MonomialBasis(5)
    assert_array_equal(basis.first(3).evaluate(t), basis.evaluate(t)[:, :3])
