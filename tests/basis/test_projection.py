"""Projection: exact L2 inner products with the piecewise linear interpolant."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfuncpriv.basis import BSplineBasis, CosineBasis, LegendreBasis

# Grids as fractions of the domain.
GRIDS = {
    "equal": np.linspace(0.0, 1.0, 21),
    "unequal": np.sort(np.random.default_rng(0).random(17)),
    "short of both ends": np.linspace(0.3, 0.6, 5),
    "two points": np.array([0.25, 0.5]),
    "one point": np.array([0.4]),
    "nearly equal points": np.array([0.1, 0.5, 0.5 + 1e-9, 0.9]),
}


@pytest.fixture(params=GRIDS)
def fractions(request):
    return GRIDS[request.param]


def _place(fractions, domain):
    return domain[0] + fractions * (domain[1] - domain[0])


def _relative_error(found, wanted):
    return np.max(np.abs(found - wanted)) / np.max(np.abs(wanted))


def test_points_inserted_on_the_interpolant_change_nothing(make, fractions):
    basis = make(20, (-3.0, 21.0))
    grid = _place(fractions, basis.domain)
    values = np.random.default_rng(1).normal(size=len(grid))
    fine = np.union1d(grid, np.linspace(*basis.domain, 200))
    refined = np.interp(fine, grid, values) @ basis.projection(fine)
    assert _relative_error(values @ basis.projection(grid), refined) < 1e-12


def test_projection_meets_a_fine_quadrature(make, fractions):
    basis = make(20, (-3.0, 21.0))
    grid = _place(fractions, basis.domain)
    values = np.random.default_rng(2).normal(size=len(grid))
    # The pieces of splines with 20 functions, and the kinks of the curve.
    pieces = [np.linspace(*basis.domain, n + 1) for n in (17, 18, 19, 20)]
    edges = np.union1d(grid, np.concatenate(pieces))
    edges = np.union1d(edges, np.linspace(*basis.domain, 60))
    nodes, weights = np.polynomial.legendre.leggauss(30)
    half = 0.5 * np.diff(edges)[:, np.newaxis]
    points = (edges[:-1, np.newaxis] + half * (1.0 + nodes)).ravel()
    curve = (half * weights).ravel() * np.interp(points, grid, values)
    wanted = curve @ basis.evaluate(points)
    assert _relative_error(values @ basis.projection(grid), wanted) < 1e-12


def test_constants_are_reproduced_from_any_grid(fractions, domain):
    basis = CosineBasis(9, domain)
    coefficients = basis.projection(_place(fractions, domain)).sum(axis=0)
    wanted = np.zeros(9)
    wanted[0] = np.sqrt(domain[1] - domain[0])
    # A domain far from zero holds its own ends to 1e-16 * 1000 / 0.5 only.
    assert_allclose(coefficients, wanted, rtol=0, atol=1e-11 * wanted[0])


def test_lines_are_legendre_polynomials():
    basis = LegendreBasis(5)
    grid = np.array([0.0, 0.1, 1.0])
    wanted = [0.5, np.sqrt(1.0 / 12.0), 0.0, 0.0, 0.0]
    assert_allclose(grid @ basis.projection(grid), wanted, rtol=0, atol=1e-15)


def test_cosine_coefficients_of_a_hat_in_closed_form():
    # The integral of cos(pi j t) against the hat on [0, 1] with its top at 1/2.
    j = np.arange(1, 64)
    hat = (2.0 * np.cos(np.pi * j / 2) - 1.0 - np.cos(np.pi * j)) * 2.0
    wanted = np.sqrt(2.0) * hat / (np.pi * j) ** 2
    found = CosineBasis(64).projection([0.0, 0.5, 1.0])[1, 1:]
    assert_allclose(found, wanted, rtol=0, atol=1e-15)


def test_splines_of_degree_one_give_the_mass_matrix():
    basis = BSplineBasis(6, degree=1)
    found = basis.projection(np.linspace(0.0, 1.0, 6))
    assert_allclose(found, basis.gram(), rtol=0, atol=1e-15)


def test_projection_onto_splines_inverts_evaluation_on_their_knots():
    basis = BSplineBasis(8, (0.0, 2.0), degree=1).orthonormalize()
    grid = np.linspace(0.0, 2.0, 8)
    assert_allclose(
        basis.projection(grid).T @ basis.evaluate(grid), np.eye(8), atol=1e-14
    )


def test_one_point_is_a_constant_curve(make):
    basis = make(8, (0.0, 1.0))
    whole = basis.projection(np.linspace(0.0, 1.0, 50)).sum(axis=0, keepdims=True)
    assert_allclose(basis.projection([0.7]), whole, rtol=0, atol=1e-14)
