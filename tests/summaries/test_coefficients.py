"""Coefficients of clipped and centred curves, each from its own curve alone."""

import numpy as np
import pytest

from skfuncpriv.basis import CosineBasis, LegendreBasis
from skfuncpriv.curves import Curves
from skfuncpriv.summaries import ValueBounds, _coefficients, curve_coefficients

DOMAIN = (0.0, 2.0)
GRID = np.array([0.0, 0.3, 0.5, 1.1, 1.2, 2.0])
BASIS = CosineBasis(5, DOMAIN)


def table(seed=0, n_curves=20, n_outputs=None):
    shape = (n_curves, 6) if n_outputs is None else (n_curves, 6, n_outputs)
    return np.random.default_rng(seed).uniform(-2, 4, shape)


def coefficients(curves, basis=BASIS, bounds=(-1.0, 3.0), **parameters):
    values = ValueBounds.from_parameters(
        bounds,
        domain=DOMAIN,
        n_outputs=curves.n_outputs,
        grid=curves.grid,
        **parameters,
    )
    chunks = curve_coefficients(curves, basis.projection, DOMAIN, values)
    return np.concatenate(list(chunks))


def by_quadrature(values, times, basis=BASIS):
    """Inner products with the straight lines between points, by Gauss-Legendre."""
    edges = np.unique(np.clip(np.concatenate([times, DOMAIN]), *DOMAIN))
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges)[:, None] / 2
    points = (edges[:-1, None] + half * (1 + nodes)).ravel()
    heights = np.interp(points, times, values) * (half * weights).ravel()
    return heights @ basis.evaluate(points)


def irregular(rows, times=None):
    times = [GRID] * len(rows) if times is None else times
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return Curves(np.concatenate(rows), np.concatenate(times), offsets)


@pytest.mark.parametrize("basis", [BASIS, LegendreBasis(4, DOMAIN)])
@pytest.mark.parametrize("center", [None, 0.0, np.linspace(-1, 3, 6)])
def test_curves_on_a_grid(basis, center):
    X = table()
    ours = coefficients(Curves.from_wide(X, GRID, DOMAIN), basis, center=center)
    middle = 1.0 if center is None else center
    for row, x in zip(ours, X, strict=True):
        expected = by_quadrature(np.clip(x, -1, 3) - middle, GRID, basis)
        np.testing.assert_allclose(row, expected, atol=1e-12)


def test_outputs_of_one_function_lie_beside_each_other():
    X = table(n_outputs=2)
    bounds = (np.array([-1.0, 0.0]), np.array([3.0, 1.0]))
    ours = coefficients(Curves.from_wide(X, GRID, DOMAIN), bounds=bounds)
    assert ours.shape == (20, 10)
    for k, (low, high) in enumerate(zip(*bounds, strict=True)):
        clipped = np.clip(X[0, :, k], low, high) - (low + high) / 2
        expected = by_quadrature(clipped, GRID)
        np.testing.assert_allclose(ours[0, k::2], expected, atol=1e-12)
    flat = irregular(list(X))
    np.testing.assert_allclose(coefficients(flat, bounds=bounds), ours, atol=1e-12)


def test_irregular_curves_that_leave_the_domain():
    rng = np.random.default_rng(1)
    rows, times = [], []
    for k in range(30):
        t = np.sort(rng.uniform(-1.5, 3.5, 1 + k % 7))
        rows.append(rng.uniform(-2, 4, len(t)))
        times.append(t)
    times[0] = np.array([-3.0])  # one point, before the domain
    rows[1], times[1] = np.array([0.0, 2.0]), np.array([2.5, 9.0])
    ours = coefficients(irregular(rows, times))
    for row, values, t in zip(ours, rows, times, strict=True):
        expected = by_quadrature(np.clip(values, -1, 3) - 1, t)
        np.testing.assert_allclose(row, expected, atol=1e-10)


def test_points_at_both_ends_of_the_domain_and_beyond():
    rng = np.random.default_rng(6)
    times = [
        np.array([-1.0, 0.0, 0.7, 2.0, 3.0]),
        np.array([-1.0, 0.0]),
        np.array([2.0, 2.5]),
        np.array([0.0, 2.0, 2.5]),
        np.array([-0.5, 0.0, 2.0]),
    ]
    rows = [rng.uniform(-1, 3, len(t)) for t in times]
    ours = coefficients(irregular(rows, times))
    for row, values, t in zip(ours, rows, times, strict=True):
        np.testing.assert_allclose(row, by_quadrature(values - 1, t), atol=1e-12)


def test_regular_and_irregular_forms_agree():
    X = table()
    ours = coefficients(Curves.from_wide(X, GRID, DOMAIN))
    np.testing.assert_allclose(coefficients(irregular(list(X))), ours, atol=1e-12)


@pytest.mark.parametrize("form", ["grid", "irregular"])
def test_a_row_depends_on_its_own_curve_alone(form, monkeypatch):
    def read(rows):
        if form == "grid":
            return Curves.from_wide(rows, GRID, DOMAIN)
        return irregular(list(rows))

    X = table()
    whole = coefficients(read(X))
    other = X.copy()
    other[1:] = 1e308
    np.testing.assert_array_equal(coefficients(read(other))[0], whole[0])
    order = np.random.default_rng(0).permutation(20)
    np.testing.assert_array_equal(coefficients(read(X[order])), whole[order])
    for k in range(20):
        np.testing.assert_array_equal(coefficients(read(X[k : k + 1]))[0], whole[k])
    monkeypatch.setattr(_coefficients, "_CHUNK_VALUES", 13)
    np.testing.assert_array_equal(coefficients(read(X)), whole)


@pytest.mark.parametrize("form", ["grid", "irregular"])
def test_curves_without_values_have_coefficients_zero(form):
    X = table()
    X[[0, 5]] = np.nan
    if form == "grid":
        curves = Curves.from_wide(X, GRID, DOMAIN, missing="interpolate")
    else:
        curves = Curves(
            X.ravel(), np.tile(GRID, 20), np.arange(21) * 6, missing="interpolate"
        )
    ours = coefficients(curves, center=2.0)
    assert not ours[[0, 5]].any()
    assert ours[np.delete(np.arange(20), [0, 5])].any(axis=1).all()


def test_clipping_comes_first():
    X = np.array([[1e308, -1e308] * 3, [np.finfo(float).max] * 6])
    near = np.array([[3.0, -1.0] * 3, [3.0] * 6])
    for read in (lambda X: Curves.from_wide(X, GRID, DOMAIN), lambda X: irregular(X)):
        np.testing.assert_array_equal(
            coefficients(read(list(X))), coefficients(read(list(near)))
        )


def test_data_are_left_alone():
    X = table()
    copy = X.copy()
    coefficients(Curves.from_wide(X, GRID, DOMAIN))
    np.testing.assert_array_equal(X, copy)


@pytest.mark.parametrize("block", [1, 2, 5, 16, 100])
def test_projections_in_blocks_are_those_of_the_whole(block, monkeypatch):
    monkeypatch.setattr(_coefficients, "_BLOCK_POINTS", block)
    rng = np.random.default_rng(8)
    times = np.sort(rng.uniform(*DOMAIN, 17))
    values = rng.normal(size=(17, 2))
    found = _coefficients.project_in_blocks(BASIS.projection, times, values)
    expected = [by_quadrature(column, times) for column in values.T]
    np.testing.assert_allclose(found, np.transpose(expected), atol=1e-12)


@pytest.mark.parametrize("unit", [1.0, 1e-300, 2.0**1023])
def test_heights_between_two_times_are_those_of_the_line(unit):
    """Also where the distance of the two overflows."""
    times = np.array([-1.5, -1.25, 1.25, 1.75]) * unit
    values = np.array([[1.0], [2.0], [-4.0], [3.0]])
    for t in (-1.75, -1.25, -0.5, 0.0, 1.0, 1.25, 1.5, 1.75, 1.9):
        with np.errstate(over="ignore"):
            height = _coefficients._on_the_line(t * unit, times, values)
        expected = np.interp(t, times / unit, values[:, 0])
        np.testing.assert_allclose(height, [expected], atol=1e-14)
    alone = _coefficients._on_the_line(0.25 * unit, times[:1], values[:1])
    np.testing.assert_array_equal(alone, [1.0])
