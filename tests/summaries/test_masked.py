"""Where a curve is known, and its heights there, against a slow second writing."""

import itertools

import numpy as np
import pytest

from skfuncpriv.basis import BSplineBasis, CosineBasis, LegendreBasis
from skfuncpriv.summaries import SupportRule

DOMAIN = (-1.0, 3.0)
RULES = {
    "plain": SupportRule(DOMAIN, np.inf, 0.0),
    "reach": SupportRule(DOMAIN, np.inf, 0.3),
    "gap": SupportRule(DOMAIN, 0.8, 0.0),
    "both": SupportRule(DOMAIN, 0.45, 0.25),
    "wide": SupportRule(DOMAIN, 0.1, 9.0),
}
TIMES = {
    "many": np.array([-0.9, -0.5, 0.1, 0.15, 1.4, 2.6, 2.9]),
    "one": np.array([0.4]),
    "ends": np.array([-1.0, 3.0]),
    "beyond": np.array([-4.0, -1.2, 0.0, 2.2, 5.0]),
    "outside": np.array([3.5, 4.0]),
    "none": np.array([]),
}
each_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
each_times = pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)


def slow_height(rule, times, values, t):
    """Mask and height at one point, from the definition."""
    for left, right, before, after in zip(
        times[:-1], times[1:], values[:-1], values[1:], strict=True
    ):
        joined = right - left <= max(rule.max_gap, 2 * rule.reach)
        if joined and left <= t <= right:
            share = (t - left) / (right - left)
            return 1.0, before * (1 - share) + after * share
    distances = np.abs(times - t)
    if (distances <= rule.reach).any():
        return 1.0, values[np.argmin(distances)]
    return 0.0, 0.0


def values_at(times):
    return np.cos(3 * times)[:, None] * np.array([1.0, -0.5])


@each_rule
@each_times
def test_heights_are_those_of_the_definition(rule, times):
    points = np.sort(np.random.default_rng(0).uniform(*DOMAIN, 400))
    values = values_at(times)
    table = rule.heights(times, values, points)
    expected = [slow_height(rule, times, values[:, 0], t) for t in points]
    mask, height = np.transpose(expected)
    np.testing.assert_array_equal(table[:, 0], mask - 1)
    np.testing.assert_allclose(table[:, 1], height, atol=1e-12)
    np.testing.assert_allclose(table[:, 2], -0.5 * height, atol=1e-12)


def by_quadrature(rule, times, basis):
    """Inner products with the basis, stretch by stretch between all ends."""
    ends = [*times, *(times - rule.reach), *(times + rule.reach), *DOMAIN]
    ends = np.unique(np.clip([*ends, *np.linspace(*DOMAIN, 9)], *DOMAIN))
    nodes, weights = np.polynomial.legendre.leggauss(16)
    total = np.zeros((basis.n_basis, 2))
    values = values_at(times)[:, 0]
    for low, high in itertools.pairwise(ends):
        points = (low + high) / 2 + nodes * (high - low) / 2
        pairs = [slow_height(rule, times, values, t) for t in points]
        rows = np.array(pairs) - [1.0, 0.0]
        scaled = rows * (weights * (high - low) / 2)[:, None]
        total += basis.evaluate(points).T @ scaled
    return total


@pytest.mark.parametrize(
    "basis",
    [CosineBasis(9, DOMAIN), LegendreBasis(6, DOMAIN), BSplineBasis(7, DOMAIN)],
    ids=lambda basis: type(basis).__name__,
)
@each_rule
@each_times
def test_projection_on_the_knots_is_exact(rule, times, basis):
    expected = by_quadrature(rule, times, basis)
    knots = rule.knots(times)
    table = rule.heights(times, values_at(times)[:, :1], knots)
    np.testing.assert_allclose(basis.projection(knots).T @ table, expected, atol=3e-13)


@each_rule
def test_knots_of_a_grid_serve_every_curve_on_it(rule):
    grid, basis = np.linspace(-0.8, 2.8, 10), CosineBasis(7, DOMAIN)
    knots = rule.knots(grid)
    for seed in range(8):
        times = grid[np.random.default_rng(seed).uniform(size=10) < 0.2 + 0.1 * seed]
        table = rule.heights(times, values_at(times)[:, :1], knots)
        found = basis.projection(knots).T @ table
        np.testing.assert_allclose(found, by_quadrature(rule, times, basis), atol=3e-13)


@each_times
@each_rule
def test_spans_are_where_the_mask_is_one(rule, times):
    if len(times) == 0:
        return
    starts, stops = rule.spans(times)
    assert (starts <= stops).all()
    assert (stops[:-1] < starts[1:]).all()
    points = np.linspace(*DOMAIN, 997)
    inside = ((points[:, None] >= starts) & (points[:, None] <= stops)).any(axis=1)
    mask = rule.heights(times, values_at(times), points)[:, 0] + 1
    np.testing.assert_array_equal(mask, inside)


@each_rule
def test_absurd_curves_have_bounded_heights(rule):
    times = np.array([-1.7e308, -1e300, -5e-324, 0.0, 5e-324, 1e308, 1.7e308])
    with np.errstate(all="ignore"):
        knots = rule.knots(times)
        table = rule.heights(times, np.tile([[1.0], [-1.0]], (4, 1))[:7], knots)
    assert (np.diff(knots) > 0).all()
    assert (np.abs(table) <= 1).all()


def test_heights_beyond_one_are_clipped_on_both_sides():
    rule, times = RULES["both"], np.array([0.0, 0.1, 0.2, 0.3])
    values = np.array([[-7.0, 0.5], [7.0, -0.5], [-1e308, np.nan], [1e308, 1.0]])
    table = rule.heights(times, values, times)
    expected = [[-1.0, 0.5], [1.0, -0.5], [-1.0, 0.0], [1.0, 1.0]]
    np.testing.assert_array_equal(table[:, 1:], expected)
