"""Cosines behind a line and a parabola: their span, their order, what they gain."""

import numpy as np
import pytest

from skfuncpriv.basis import CosineBasis, OrthonormalBasis, SmoothCosineBasis

NODES, WEIGHTS = np.polynomial.legendre.leggauss(400)
T, WEIGHTS = (NODES + 1) / 2, WEIGHTS / 2


def gram_schmidt(n_basis):
    """The same functions by QR of what they are made of, at the nodes."""
    cosines = np.cos(np.pi * np.outer(T, np.arange(1, n_basis)))
    raw = np.column_stack([np.ones_like(T), T, T**2, cosines])[:, :n_basis]
    root = np.sqrt(WEIGHTS)[:, None]
    q, r = np.linalg.qr(root * raw)
    return q * np.sign(np.diag(r)) / root


@pytest.mark.parametrize("n_basis", [1, 2, 3, 4, 5, 30])
def test_functions_are_those_of_gram_schmidt(n_basis):
    functions = SmoothCosineBasis(n_basis).evaluate(T)
    np.testing.assert_allclose(functions, gram_schmidt(n_basis), atol=1e-10)


def test_spans_are_nested():
    few, many = SmoothCosineBasis(7, (2, 5)), SmoothCosineBasis(20, (2, 5))
    points = np.linspace(2, 5, 50)
    np.testing.assert_array_equal(
        few.evaluate(points), many.evaluate(points)[:, :7], strict=True
    )
    assert many.first(7) == few


@pytest.mark.parametrize("n_basis", [64, 256])
def test_many_functions_stay_orthonormal(n_basis):
    error = SmoothCosineBasis(n_basis, (-3, 21)).gram() - np.eye(n_basis)
    assert np.abs(error).max() < 1e-11


def missed(basis, values):
    """The squared norm of what a function has beyond the basis."""
    coef = (WEIGHTS * values) @ basis.evaluate(T)
    return WEIGHTS @ np.square(values) - coef @ coef


def test_curves_with_slopes_at_their_ends_need_fewer_functions():
    values = np.exp(-2 * T)
    gains = [
        missed(CosineBasis(n), values) / missed(SmoothCosineBasis(n), values)
        for n in (8, 16)
    ]
    # j^-2 against j^-4 in a coefficient: twice the functions are worth 2^4 in energy
    assert gains[0] > 50
    assert gains[1] > 8 * gains[0]


def test_it_is_orthonormal_as_it_is():
    basis = SmoothCosineBasis(9)
    assert basis.orthonormalize() is basis
    assert not isinstance(basis, OrthonormalBasis)
