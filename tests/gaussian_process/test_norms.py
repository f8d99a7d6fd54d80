"""Norms: closed forms, quadratures and Gram matrices meet each other."""

import math

import numpy as np
import pytest

from skfuncpriv.gaussian_process import (
    ExponentialKernel,
    GaussianKernel,
    ProductKernel,
    gaussian_sobolev_norm,
    gram_norm,
    sobolev_norm,
)

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("gamma", [0.2, 1.0, 7.0])
def test_sections_of_the_exponential_kernel_have_norm_one(gamma):
    """K_y belongs to its own RKHS, wherever y lies, and is a limit of interpolants."""
    grid = np.linspace(-1.0, 3.0, 4001)
    for y in (-1.0, 0.25, 3.0):
        section = np.exp(-gamma * np.abs(grid - y))
        assert sobolev_norm(section, grid, gamma) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("gamma", [0.2, 1.0, 7.0])
def test_sobolev_norm_is_that_of_the_reproducing_kernel(gamma):
    """The quadratic form of interpolants on a grid is the inverse of a Gram matrix.

    On points that include the ends, the smallest norm among all functions with given
    values is reached by a function that is not linear between them; on a fine grid
    the two agree.
    """
    grid = np.linspace(0.0, 2.0, 400)
    for _ in range(3):
        coarse = RNG.normal(size=7)
        values = np.interp(grid, np.linspace(0.0, 2.0, 7), coarse)
        norm = sobolev_norm(values, grid, gamma)
        projected = gram_norm(values, grid[:, None], ExponentialKernel(gamma))
        assert projected <= norm * (1 + 1e-9)
        assert projected == pytest.approx(norm, rel=1e-4)
        knots = sobolev_norm(coarse, np.linspace(0.0, 2.0, 7), gamma)
        assert knots == pytest.approx(norm, rel=1e-2)


def test_sobolev_norm_is_exact_for_linear_pieces():
    """f = t on [0, 1]: (0 + 1) / 2 + (1 + gamma^2 / 3) / (2 gamma)."""
    gamma = 2.5
    square = 0.5 + (1 + gamma**2 / 3) / (2 * gamma)
    for grid in ([0.0, 1.0], [0.0, 0.1, 0.7, 1.0]):
        norm = sobolev_norm(grid, grid, gamma)
        assert norm == pytest.approx(math.sqrt(square), rel=1e-14)


def test_products_have_products_of_norms():
    axes = [np.sort(RNG.uniform(-1, 2, size)) for size in (5, 9, 4)]
    parts = [RNG.normal(size=len(axis)) for axis in axes]
    rates = (0.5, 2.0, 1.0)
    norms = [sobolev_norm(*each) for each in zip(parts, axes, rates, strict=True)]
    values = np.einsum("i,j,k->ijk", *parts)
    assert sobolev_norm(values, axes, rates) == pytest.approx(math.prod(norms))
    other = RNG.normal(size=values.shape)  # and it is a norm of all functions
    plus, minus = (sobolev_norm(values + s * other, axes, rates) for s in (1, -1))
    alone = sobolev_norm(other, axes, rates)
    assert plus**2 + minus**2 == pytest.approx(2 * math.prod(norms) ** 2 + 2 * alone**2)


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-3.0, 8.0)])
@pytest.mark.parametrize("bandwidth", [0.2, 1.5])
@pytest.mark.parametrize("gamma", [0.3, 4.0])
def test_norms_of_bumps(bounds, bandwidth, gamma):
    grid = np.linspace(*bounds, 12001)
    norms = []
    for center in (bounds[0], 0.3, bounds[1], bounds[1] + bandwidth):
        bump = np.exp(-(((grid - center) / bandwidth) ** 2) / 2)
        norms.append(gaussian_sobolev_norm(bandwidth, gamma, center, bounds))
        assert norms[-1] == pytest.approx(sobolev_norm(bump, grid, gamma), rel=1e-5)
    assert max(norms) <= gaussian_sobolev_norm(bandwidth, gamma) * (1 + 1e-14)


def test_the_norm_of_a_bump_on_the_whole_line_is_the_limit():
    wide = gaussian_sobolev_norm(0.5, 2.0, 0.0, (-50.0, 50.0))
    assert wide == pytest.approx(gaussian_sobolev_norm(0.5, 2.0), rel=1e-14)
    h, gamma = 0.5, 2.0
    square = math.sqrt(math.pi) * (0.5 + (h * gamma) ** 2) / (2 * h * gamma)
    assert wide == pytest.approx(math.sqrt(square), rel=1e-14)


def test_norms_of_bumps_in_two_dimensions():
    axes = [np.linspace(-1, 1, 201), np.linspace(0, 5, 301)]
    x, y = np.meshgrid(*axes, indexing="ij")
    bump = np.exp(-(((x - 0.5) / 0.4) ** 2) / 2 - ((y - 1) / 0.9) ** 2 / 2)
    norm = gaussian_sobolev_norm((0.4, 0.9), (1.0, 2.0), (0.5, 1.0), ((-1, 0), (1, 5)))
    assert norm == pytest.approx(sobolev_norm(bump, axes, (1.0, 2.0)), rel=1e-3)


@pytest.mark.parametrize(
    "kernel",
    [
        GaussianKernel(0.7),
        GaussianKernel(((1.0, 0.3), (0.3, 0.5))),
        ExponentialKernel((1.0, 0.2)),
        ProductKernel([GaussianKernel(1.0), ExponentialKernel(1.0)]),
    ],
    ids=repr,
)
def test_projections_never_exceed_the_norm_and_reach_it(kernel):
    """f = sum a_i K_{x_i} has norm sqrt(a' K a) (Proposition 3.4)."""
    centers = RNG.uniform(-1, 1, (4, 2))
    weights = RNG.normal(size=4)
    norm = math.sqrt(weights @ kernel(centers, centers) @ weights)
    points = RNG.uniform(-1, 1, (60, 2))
    norms = []
    for size in (1, 5, 20, 60):
        values = kernel(points[:size], centers) @ weights
        norms.append(gram_norm(values, points[:size], kernel))
    assert norms == sorted(norms)
    assert norms[-1] <= norm * (1 + 1e-9)
    points[:4] = centers
    values = kernel(points, centers) @ weights
    assert gram_norm(values, points, kernel) == pytest.approx(norm, rel=1e-6)


def test_equal_points_are_no_obstacle():
    points = np.array([[0.0], [0.0], [1.0]])
    norm = gram_norm([1.0, 1.0, 0.0], points, GaussianKernel(0.1))
    assert norm == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: sobolev_norm([1.0, 2.0], [0.0, 1.0, 2.0], 1.0),
        lambda: sobolev_norm([1.0, 2.0], [1.0, 0.0], 1.0),
        lambda: sobolev_norm([1.0], [1.0], 1.0),
        lambda: sobolev_norm(np.ones((2, 2)), [[0, 1], [0, 1]], (1.0, 1.0, 1.0)),
        lambda: sobolev_norm([1.0, 2.0], [0.0, 1.0], -1.0),
        lambda: gaussian_sobolev_norm(-1.0, 1.0),
        lambda: gaussian_sobolev_norm(1.0, 0.0),
        lambda: gaussian_sobolev_norm((1.0, 2.0), (1.0, 1.0, 1.0)),
        lambda: gaussian_sobolev_norm(1.0, 1.0, np.nan),
        lambda: gaussian_sobolev_norm(1.0, 1.0, 0.0, (1.0, 0.0)),
        lambda: gram_norm([1.0], [[0.0], [1.0]], GaussianKernel(1.0)),
        lambda: gram_norm([1.0], [0.0], GaussianKernel(1.0)),
    ],
)
def test_what_does_not_fit_is_refused(refused):
    with pytest.raises(ValueError, match=r"must|needs|axes"):
        refused()
