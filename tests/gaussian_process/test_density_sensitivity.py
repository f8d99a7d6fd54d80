"""How far densities move, by brute force over neighbours in the RKHS."""

import itertools
import math

import numpy as np
import pytest

from skfuncpriv.gaussian_process import (
    ExponentialKernel,
    GaussianKernel,
    kde_sensitivity,
    sobolev_norm,
)

H = ((0.5, 0.3), (0.3, 0.4))


def span_norm(kernel, centers, weights):
    """The norm of sum_i a_i K_{x_i}."""
    return math.sqrt(max(weights @ kernel(centers, centers) @ weights, 0.0))


@pytest.mark.parametrize(
    ("bandwidth", "n_axes", "volume"),
    [
        (0.3, 1, 0.3),
        (0.3, 2, 0.09),
        ((0.3, 1.0), 2, 0.3),
        (H, 2, math.sqrt(0.11)),
        (2.0, 7, 2.0**7),
    ],
    ids=repr,
)
def test_bumps_far_apart_attain_the_published_bound(bandwidth, n_axes, volume):
    n = 40
    stated = kde_sensitivity(n, bandwidth, n_axes)
    published = math.sqrt(2) / (n * (2 * math.pi) ** (n_axes / 2) * volume)
    assert published <= stated <= published * (1 + 1e-11)
    kernel, far = GaussianKernel(bandwidth), np.full((2, n_axes), 50.0)
    far[0] = 0.0
    height = published / math.sqrt(2)
    change = height * span_norm(kernel, far, np.array([1.0, -1.0]))
    assert change == pytest.approx(stated, rel=1e-9)


@pytest.mark.parametrize("bandwidth", [0.8, (0.3, 2.0), H], ids=repr)
def test_averages_of_bumps_within_bounds(bandwidth):
    """Any two people, each with up to five rows; opposite corners are the worst."""
    rng = np.random.default_rng(4)
    low, high = np.array([-1.0, 0.0]), np.array([1.0, 0.7])
    kernel = GaussianKernel(bandwidth)
    stated = kde_sensitivity(1, bandwidth, 2, bounds=(low, high))
    height = 1 / (2 * math.pi * math.sqrt(np.linalg.det(kernel.covariance(2))))
    corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
    sharpest = 0.0
    for trial in range(500):
        counts = rng.integers(1, 6, 2) if trial % 2 else (1, 1)
        rows = rng.uniform(low, high, (sum(counts), 2))
        if trial % 3 == 0:
            rows = corners[rng.integers(0, 4, sum(counts))]
        weights = np.repeat([1 / counts[0], -1 / counts[1]], counts)
        sharpest = max(sharpest, height * span_norm(kernel, rows, weights) / stated)
    assert 1 - 1e-9 < sharpest <= 1


@pytest.mark.parametrize("gamma", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("width", [0.2, 1.0, 6.0])
def test_densities_in_the_sobolev_space(gamma, width):
    """Pairs of bumps, measured on a domain so wide that it is all of R."""
    h, bounds = 0.5, (1.0, 1.0 + width)
    stated = kde_sensitivity(1, h, kernel=ExponentialKernel(gamma), bounds=bounds)
    grid = np.linspace(1 - 8 * h, bounds[1] + 8 * h, 6001)
    norms = []
    for apart in np.linspace(0, width, 81):
        bumps = [np.exp(-(((grid - c) / h) ** 2) / 2) for c in (1.0, 1.0 + apart)]
        change = np.subtract(*bumps) / (h * math.sqrt(2 * math.pi))
        norms.append(sobolev_norm(change, grid, gamma))
        inside = (grid >= bounds[0]) & (grid <= bounds[1])  # never more on less
        part = sobolev_norm(change[inside], grid[inside], gamma)
        assert part <= norms[-1] * (1 + 1e-12)
    assert 0.995 * stated <= max(norms) <= stated * (1 + 1e-6)


@pytest.mark.parametrize("widths", [(0.3, 0.3), (6.0, 0.3), (6.0, 6.0)])
def test_densities_in_the_sobolev_space_of_two_axes(widths):
    h, gamma = np.array([0.5, 0.8]), np.array([1.0, 0.4])
    ends = (np.zeros(2), np.array(widths))
    kernel = ExponentialKernel(tuple(gamma))
    stated = kde_sensitivity(1, tuple(h), 2, kernel=kernel, bounds=ends)

    def inner(axis, apart):
        """Of two bumps on the line, from the norms of their sum and difference."""
        grid = np.linspace(-8 * h[axis], apart + 8 * h[axis], 1500)
        bumps = [np.exp(-(((grid - c) / h[axis]) ** 2) / 2) for c in (0.0, apart)]
        plus = sobolev_norm(bumps[0] + bumps[1], grid, gamma[axis])
        minus = sobolev_norm(bumps[0] - bumps[1], grid, gamma[axis])
        return (plus**2 - minus**2) / 4

    tables = [
        np.array([inner(axis, apart) for apart in np.linspace(0, width, 31)])
        for axis, width in enumerate(widths)
    ]
    square = 2 * tables[0][0] * tables[1][0] - 2 * np.outer(*tables)
    sharpest = math.sqrt(square.max()) / (2 * math.pi * h.prod())
    assert 0.99 * stated <= sharpest <= stated * (1 + 1e-6)


def test_averages_of_bumps_in_the_sobolev_space():
    rng = np.random.default_rng(5)
    stated = kde_sensitivity(1, 0.5, kernel=ExponentialKernel(1.0), bounds=(0.0, 3.0))
    grid = np.linspace(-4, 7, 3001)
    for _ in range(200):
        people = [rng.uniform(0, 3, rng.integers(1, 5)) for _ in range(2)]
        means = [
            np.exp(-(((grid - rows[:, None]) / 0.5) ** 2) / 2).mean(axis=0)
            for rows in people
        ]
        change = np.subtract(*means) / (0.5 * math.sqrt(2 * math.pi))
        assert sobolev_norm(change, grid, 1.0) <= stated


def test_units():
    one = kde_sensitivity(10, 0.3, bounds=(0.0, 1.0))
    other = kde_sensitivity(10, 300.0, bounds=(0.0, 1000.0))
    assert other == pytest.approx(one / 1000)
    sobolev = ExponentialKernel(2.0), ExponentialKernel(0.002)
    one = kde_sensitivity(10, 0.3, kernel=sobolev[0], bounds=(0.0, 1.0))
    other = kde_sensitivity(10, 300.0, kernel=sobolev[1], bounds=(0.0, 1000.0))
    assert other == pytest.approx(one / 1000)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"n": 0}, "n must be an integer"),
        ({"bandwidth": 0.0}, "bandwidth must be"),
        ({"bandwidth": (1.0, 2.0)}, "n_axes is 1"),
        ({"n_axes": 0}, "n_axes must be an integer"),
        ({"kernel": GaussianKernel(2.0)}, "measured in the RKHS"),
        ({"bandwidth": H, "n_axes": 2, "kernel": ExponentialKernel(1.0)}, "matrix"),
        ({"bounds": (1.0, 0.0)}, "low < high"),
        ({"bounds": 3.0}, "bounds must be"),
        ({"bounds": ((0.0, 0.0), (1.0, 1.0))}, "bounds must be"),
        ({"bandwidth": 1e-300}, "range of floats"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, match):
    with pytest.raises(ValueError, match=match):
        kde_sensitivity(**{"n": 5, "bandwidth": 1.0} | arguments)
