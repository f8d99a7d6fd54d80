"""The Bernstein mechanism as a plan of PrivateKDE."""

import itertools

import numpy as np
import pytest

from skfuncpriv.density._bernstein_plan import BernsteinPlan
from skfuncpriv.density._grid_density import GridDensity
from skfuncpriv.noise import SeededBits

BOX = ((-1.0, 3.0),)


def plan(boundary="reflect", n=400, epsilon=1.0, bandwidth=0.1, n_axes=1, **facts):
    return BernsteinPlan(
        *(n, BOX * n_axes, (boundary,) * n_axes, epsilon, 0.0),
        bandwidth=np.full(n_axes, bandwidth),
        **facts,
    )


def exact_density(plan, points, **rows):
    """The density that would be released without noise."""
    total = plan.sum(points, **rows)
    return plan.density(total.lattice.to_float(total.values)).values


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("boundary", ["reflect", "periodic", "renormalize"])
def test_no_pair_of_neighbours_loses_more_than_epsilon(boundary, is_weighted):
    facts = plan(boundary, n=1, epsilon=1.5, bandwidth=0.05, is_weighted=is_weighted)
    shares = [1.0, 0.0] if is_weighted else [None]
    rows = []
    for x in np.concatenate([np.linspace(-1, 3, 21), [1e300, -1e300]]):
        for share in shares:
            given = None if share is None else np.array([share])
            total = facts.sum(np.array([[x]]), shares=given)
            rows.append(total.lattice.to_float(total.values))
    losses = [facts.law.loss(a - b) for a, b in itertools.combinations(rows, 2)]
    assert 0.99 * 1.5 <= max(losses) <= 1.5
    guarantee = facts.guarantee("person", seeded=False)
    assert (guarantee.definition, guarantee.epsilon) == ("pure-dp", 1.5)


@pytest.mark.parametrize("n_axes", [1, 2])
@pytest.mark.parametrize("boundary", ["reflect", "periodic", "renormalize"])
def test_uniform_points_have_a_flat_density_up_to_the_bounds(boundary, n_axes):
    side = (np.arange(60) + 0.5) / 60 * 4 - 1
    mesh = np.meshgrid(*[side] * n_axes)
    points = np.stack(mesh, axis=-1).reshape(-1, n_axes)
    facts = plan(boundary, n=len(points), epsilon=1e4, n_axes=n_axes)
    values = exact_density(facts, points)
    np.testing.assert_allclose(values, 1.0, atol=0.06)
    assert GridDensity.on_unit_cube(values).cdf(np.ones((1, n_axes))) == pytest.approx(
        1.0
    )


def test_hours_are_continuous_across_midnight():
    points = np.array([[-0.9], [-0.95], [2.9], [2.97]])
    values = exact_density(plan("periodic", n=4, epsilon=1e4), points)
    assert values[0] == pytest.approx(values[-1], rel=1e-9)
    assert values[0] > 2


def test_people_and_weights():
    points = np.array([[0.0], [1.0], [1.0], [1.0]])
    people = exact_density(plan(n=2, epsilon=1e4), points, codes=np.array([0, 1, 1, 1]))
    rows = exact_density(plan(n=2, epsilon=1e4), points[:2])
    np.testing.assert_allclose(people, rows, atol=1e-6)
    weighted = plan(n=2, epsilon=1e4, is_weighted=True)
    half = exact_density(weighted, points[:2], shares=np.array([0.5, 0.5]))
    np.testing.assert_allclose(half, rows, atol=1e-3)


@pytest.mark.parametrize("boundary", ["reflect", "periodic", "renormalize"])
@pytest.mark.parametrize("n_axes", [1, 2])
def test_expected_noise_is_that_of_releases(n_axes, boundary):
    facts = plan(boundary, n=400, bandwidth=0.2, n_axes=n_axes, epsilon=5.0)
    draws = facts.law.sample(400, SeededBits(0))
    shape = (facts.operator.degree + 1,) * n_axes
    curves = facts.operator.coefficients(draws.reshape(-1, *shape))
    functions = facts._functions((np.arange(65) + 0.5) / 65, 0)
    for _ in range(n_axes):
        curves = np.tensordot(curves, functions, ([1], [1]))
    squares = np.mean((facts.height * curves.reshape(400, -1)) ** 2, axis=1)
    error = squares.std() / np.sqrt(400)
    # Means over 65 and over 257 nodes differ by less than two per cent.
    gap = abs(squares.mean() / facts.expected_square - 1)
    assert gap < 5 * error / squares.mean() + 0.02
    assert facts.largest_norm > 1
