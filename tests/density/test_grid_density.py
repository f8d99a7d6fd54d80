"""Densities on a grid: logarithms, distribution, quantiles and samples agree."""

import numpy as np
import pytest
from scipy import stats

from skfuncpriv.density._grid_density import (
    GridDensity,
    cells_per_axis,
    node_weights,
    positive_density,
)

LOW, HIGH = np.array([-1.0, 2.0]), np.array([3.0, 2.5])


@pytest.fixture(scope="module")
def one():
    rng = np.random.default_rng(0)
    values = positive_density(rng.random(33) ** 3)
    return GridDensity(LOW[:1], HIGH[:1], values)


@pytest.fixture(scope="module")
def two():
    rng = np.random.default_rng(1)
    values = positive_density(rng.random((9, 9)) ** 3)
    return GridDensity(LOW, HIGH, values)


def points_of(density, n, seed=2):
    rng = np.random.default_rng(seed)
    return density.low + rng.random((n, len(density.low))) * (
        density.high - density.low
    )


@pytest.mark.parametrize("mass_one", [True, False])
@pytest.mark.parametrize("shape", [(50,), (12, 7), (5, 6, 4)])
def test_positive_densities_have_mass_one(shape, mass_one):
    values = np.random.default_rng(3).normal(0.5, 2, shape)
    density = positive_density(values, is_mass_one=mass_one)
    assert (density > 0).all()
    assert (node_weights(shape) * density).sum() == pytest.approx(1, abs=1e-12)


def test_the_nearest_density_is_found():
    """No other density is nearer in L2, but for the ten-thousandth that is flat."""
    rng = np.random.default_rng(4)
    values = 1 + rng.normal(size=40)
    weights = node_weights(values.shape)
    values += 1 - (weights * values).sum()
    nearest = positive_density(values)
    distance = (weights * np.square(nearest - values)).sum()
    for _ in range(200):
        other = np.maximum(nearest + 0.1 * rng.normal(size=40), 0)
        other /= (weights * other).sum()
        assert (weights * np.square(other - values)).sum() > distance * (1 - 1e-3)


def test_densities_stay_as_they_are():
    values = np.full(9, 1.0)
    np.testing.assert_allclose(positive_density(values), values, rtol=1e-12)


@pytest.mark.parametrize("worthless", [np.zeros(9), np.full(9, -5.0)])
def test_without_any_mass_a_density_is_flat(worthless):
    density = positive_density(worthless, is_mass_one=False)
    np.testing.assert_allclose(density, 1.0, rtol=1e-12)


def test_log_densities_are_interpolated_and_end_at_the_bounds(one):
    nodes = np.linspace(-1, 3, 33)
    points = np.array([[-1.0], [0.3], [3.0], [-1.0000001], [3.0000001], [1e300]])
    expected = np.interp(points[:3, 0], nodes, one.values) / 4
    with np.errstate(all="raise"):
        found = one.log_density(points)
    np.testing.assert_allclose(found[:3], np.log(expected), rtol=1e-12)
    np.testing.assert_array_equal(found[3:], -np.inf)


def test_on_two_axes_the_mass_is_one(two):
    x, y = np.meshgrid(np.linspace(-1, 3, 801), np.linspace(2, 2.5, 801), indexing="ij")
    grid = np.stack([x.ravel(), y.ravel()], axis=1)
    weights = node_weights((801, 801)).ravel()
    mass = (weights * np.exp(two.log_density(grid))).sum() * two.volume
    assert mass == pytest.approx(1, abs=1e-6)


def test_the_distribution_is_the_integral_of_the_density(one):
    points = np.linspace(-1, 3, 40_001)[:, None]
    density = np.exp(one.log_density(points))
    steps = (density[1:] + density[:-1]) / 2 * 1e-4
    np.testing.assert_allclose(
        one.cdf(points), np.append(0, np.cumsum(steps)), rtol=0, atol=1e-7
    )
    assert one.cdf(np.array([[-9.0], [9.0]])).tolist() == [0, 1]


def test_quantiles_invert_the_distribution(one):
    probability = np.concatenate([[0, 1, 1e-300], np.random.default_rng(5).random(500)])
    found = one.cdf(one.quantile(probability)[:, None])
    np.testing.assert_allclose(found, probability, rtol=0, atol=1e-12)


def test_quantiles_of_flat_and_empty_cells():
    values = np.array([0.0, 0, 0, 4, 0, 0, 0, 4, 0])
    density = GridDensity(np.zeros(1), np.ones(1), values / 1.0)
    at = density.quantile(np.array([0.0, 0.25, 0.5, 0.75, 1.0]))
    assert at[1] == pytest.approx(3 / 8)
    assert at[3] == pytest.approx(7 / 8)
    assert (np.diff(at) > 0).all()
    assert ((at >= 0) & (at <= 1)).all()


def test_samples_have_the_density(one):
    sample = one.sample(200_000, np.random.default_rng(6))[:, 0]
    # Kolmogorov-Smirnov: the limit is passed by chance once in 1e9
    distance = stats.ks_1samp(sample, lambda x: one.cdf(x[:, None])).statistic
    assert distance < stats.kstwo.isf(1e-9, len(sample))


def test_samples_of_two_axes_have_the_density(two):
    sample = two.sample(200_000, np.random.default_rng(7))
    assert ((sample >= LOW) & (sample <= HIGH)).all()
    # probabilities of quadrants, exact at the nodes
    for corner in ([0.0, 2.1875], [2.0, 2.25], [2.5, 2.4375]):
        probability = two.cdf(np.array([corner]))[0]
        share = (sample <= corner).all(axis=1).mean()
        deviation = np.sqrt(probability * (1 - probability) / len(sample))
        assert abs(share - probability) < 6 * deviation


def test_marginals_integrate_the_other_axis(two):
    for axis in (0, 1):
        marginal = two.marginal(axis)
        points = np.linspace(LOW[axis], HIGH[axis], 9)
        far = np.tile(HIGH, (9, 1))
        far[:, axis] = points
        np.testing.assert_allclose(
            marginal.cdf(points[:, None]), two.cdf(far), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize(("n_axes", "n_cells"), [(1, 8192), (2, 256), (3, 64)])
def test_grids_are_public(n_axes, n_cells):
    assert cells_per_axis(n_axes) == n_cells
