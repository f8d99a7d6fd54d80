"""Gram matrices, orthonormalize and the refusal of what is not orthonormal."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfuncpriv.basis import (
    BSplineBasis,
    LegendreBasis,
    MonomialBasis,
    OrthonormalBasis,
    check_orthonormal,
)
from skfuncpriv.exceptions import PrivacyError


@pytest.mark.parametrize("n_basis", [4, 5, 30, 100])
def test_orthonormal_bases_have_the_identity_as_gram_matrix(make_orthonormal, n_basis):
    basis = make_orthonormal(n_basis, (-3.0, 21.0))
    assert_allclose(basis.gram(), np.eye(basis.n_basis), rtol=0, atol=1e-12)


def test_orthonormality_holds_under_an_independent_quadrature(make_orthonormal):
    basis = make_orthonormal(12, (0.0, 1.0))
    nodes, weights = np.polynomial.legendre.leggauss(20)
    # The pieces of splines with 12 functions; smooth bases do not mind them.
    edges = np.unique([k / n for n in (9, 10, 11, 12) for k in range(n + 1)])
    half = 0.5 * np.diff(edges)[:, np.newaxis]
    points = (edges[:-1, np.newaxis] + half * (1.0 + nodes)).ravel()
    values = basis.evaluate(points)
    gram = values.T @ ((half * weights).reshape(-1, 1) * values)
    assert_allclose(gram, np.eye(12), rtol=0, atol=1e-12)


def test_an_orthonormal_basis_orthonormalizes_to_itself(make_orthonormal, domain):
    basis = make_orthonormal(8, domain)
    check_orthonormal(basis)
    if not isinstance(basis, OrthonormalBasis):
        assert basis.orthonormalize() is basis


@pytest.mark.parametrize("degree", [0, 1, 3, 5])
def test_orthonormal_splines_span_the_splines(degree):
    raw = BSplineBasis(15, (0.0, 10.0), degree)
    basis = raw.orthonormalize()
    t = np.linspace(0.0, 10.0, 400)
    inner = basis.evaluate(t)
    fitted = inner @ np.linalg.lstsq(inner, raw.evaluate(t), rcond=None)[0]
    assert_allclose(fitted, raw.evaluate(t), rtol=0, atol=1e-12)


def test_raw_splines_are_refused_by_name():
    with pytest.raises(PrivacyError, match="BSplineBasis with 10 functions"):
        check_orthonormal(BSplineBasis(10))


def test_monomials_by_qr_are_legendre_polynomials():
    t = np.linspace(0.0, 1.0, 30)
    ours = OrthonormalBasis(MonomialBasis(6)).evaluate(t)
    assert_allclose(ours, LegendreBasis(6).evaluate(t), rtol=0, atol=1e-9)


@pytest.mark.parametrize("n_basis", [22, 40])
def test_monomials_that_leak_are_refused(n_basis):
    with pytest.raises(PrivacyError, match=f"{n_basis} functions"):
        OrthonormalBasis(MonomialBasis(n_basis))


def test_dependent_functions_are_refused():
    @dataclass(frozen=True)
    class Twice(MonomialBasis):
        def _evaluate(self, t):
            return np.ones((len(t), self.n_basis))

    with pytest.raises(PrivacyError):
        OrthonormalBasis(Twice(2))


def test_only_a_basis_can_be_orthonormalized():
    with pytest.raises(TypeError, match="basis must be a Basis"):
        OrthonormalBasis("cosine")
