"""Sensitivities of regularised minimisers, by brute force over neighbours.

A function is a vector of weights on features, its RKHS norm their Euclidean norm.
"""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from skfuncpriv.gaussian_process import (
    erm_sensitivity,
    ridge_sensitivity,
    squared_loss_lipschitz,
)


def ridge(features, y, psi):
    """The minimiser of the mean of (y - f)^2 plus psi norm(f)^2."""
    n, size = features.shape
    gram = features.T @ features / n + psi * np.eye(size)
    return np.linalg.solve(gram, features.T @ y / n)


def neighbours(rng, n, psi):
    """Features and targets of n - 1 people and of two versions of the last one.

    The first people may share a direction e with the last one, by the share that makes
    the bound sharp; the versions may be equal, opposite or unrelated.
    """
    size = rng.integers(1, 5)
    directions = rng.normal(size=(n + 1, size))
    if rng.uniform() < 0.7:
        share = min(1.0, psi * rng.uniform(0.1, 3))
        e = rng.normal(size=size)
        directions[:-2] += e * math.sqrt(share * size) / np.linalg.norm(e)
        directions[-2:] = e, rng.choice([-1, 1]) * e
    features = directions / np.linalg.norm(directions, axis=1)[:, None]
    y = rng.choice([-1.0, 1.0], n + 1)
    if rng.uniform() < 0.5:
        y[:-2] = 1
    one, other = np.arange(n), np.append(np.arange(n - 1), n)
    return (features[one], y[one]), (features[other], y[other])


@pytest.mark.parametrize("psi", [1e-3, 0.03, 0.3, 1.0, 10.0])
def test_ridge_moves_by_at_most_its_sensitivity(psi):
    rng = np.random.default_rng(5)
    sharpest = 0.0
    for _ in range(3000):
        n = int(rng.integers(1, 12))
        moves = np.subtract(*(ridge(*data, psi) for data in neighbours(rng, n, psi)))
        share = np.linalg.norm(moves) / ridge_sensitivity(1.0, 1.0, psi, n)
        sharpest = max(sharpest, share)
    assert 0.4 < sharpest <= 1


def test_ridge_sensitivity_is_attained_by_one_person():
    for psi in (1.0, 3.0, 100.0):
        change = 2 * np.linalg.norm(ridge(np.ones((1, 1)), np.ones(1), psi))
        assert 0 <= ridge_sensitivity(1.0, 1.0, psi, 1) - change < 1e-11


@pytest.mark.parametrize("psi", [1e-5, 1e-3, 0.1, 10.0])
@pytest.mark.parametrize("n", [2, 30, 10_000])
def test_ridge_bounds_what_was_derived_and_not_much_more(psi, n):
    """Twice the largest norm(f - g) of the Notes, by a search over m and w."""
    k = 1 / psi
    m = np.append(np.geomspace(1e-7, 0.1, 400), np.linspace(0.1, 1, 1000))[:, None]
    w = m**2 + (m - m**2) * np.linspace(0, 1, 301)
    others = np.sqrt(k * np.maximum(m - w, 0) * (n - 1) / n)
    norms = np.sqrt(k * w / psi) * (1 + others) / (n + k * m)
    derived = min(2 * norms.max(), 1 / math.sqrt(psi))
    assert derived <= ridge_sensitivity(1.0, 1.0, psi, n) <= 1.25 * derived


@pytest.mark.parametrize("psi", [1e-4, 0.01, 1.0])
@pytest.mark.parametrize("n", [1, 30, 10_000])
def test_ridge_is_sharper_than_any_lipschitz_loss(psi, n):
    general = erm_sensitivity(squared_loss_lipschitz(3.0, 2.0, psi), 2.0, psi, n)
    assert ridge_sensitivity(3.0, 2.0, psi, n) < general


def test_minimisers_stay_where_the_lipschitz_constant_holds():
    """A value of half of B / sqrt(psi) is attained: n people on orthogonal features."""
    n = 100
    f = ridge(np.eye(n), np.ones(n), psi=1 / n)
    along = f @ np.ones(n) / math.sqrt(n)  # the value at a unit feature
    slope = squared_loss_lipschitz(1.0, 1.0, 1 / n)
    assert 2 * (1 + along) == pytest.approx(slope, rel=1e-9)
    rng = np.random.default_rng(6)
    for _ in range(300):
        (features, y), _ = neighbours(rng, 5, 1 / n)
        value = 2 * (1 + np.linalg.norm(ridge(features, y, 1 / n)))
        assert value <= slope


def test_a_linear_loss_attains_the_general_bound():
    """loss = -y f(x) is 1-Lipschitz, with minimiser mean(y K_x) / (2 psi)."""
    psi, n = 0.3, 7
    move = 2 / (2 * psi * n)
    assert erm_sensitivity(1.0, 1.0, psi, n) == pytest.approx(move, rel=1e-15)


def huber(f, features, y, psi):
    """A smooth 1-Lipschitz loss, with its gradient."""
    rest = features @ f - y
    small = np.clip(rest, -1, 1)
    loss = np.where(np.abs(rest) < 1, rest**2 / 2, np.abs(rest) - 0.5)
    return (
        loss.mean() + psi * f @ f,
        features.T @ small / len(y) + 2 * psi * f,
    )


def test_huber_regression_and_its_gap():
    """Minimisers, and points whose objective is a gap above, on neighbours."""
    rng = np.random.default_rng(7)
    psi, gap = 0.05, 1e-2
    sharpest = np.zeros(2)
    for _ in range(60):
        n = int(rng.integers(1, 5))
        pair = neighbours(rng, n, psi)
        found = []
        for features, y in pair:
            arguments = (features, 5 * y, psi)
            start = np.zeros(features.shape[1])
            best = minimize(huber, start, arguments, jac=True, tol=1e-12)
            found.append((best.x, best.fun, arguments))
        exact = found[0][0] - found[1][0]
        bound = erm_sensitivity(1.0, 1.0, psi, n)
        assert np.linalg.norm(exact) <= bound * (1 + 1e-6)
        # The farthest points along the line through both minimisers.
        far = exact / max(np.linalg.norm(exact), 1e-12)
        moved = [
            np.linalg.norm(step * far)
            for (x, value, arguments), sign in zip(found, (1, -1), strict=True)
            for step in [largest_step(x, sign * far, value + gap, arguments)]
        ]
        total = np.linalg.norm(exact) + sum(moved)
        wide = erm_sensitivity(1.0, 1.0, psi, n, gap)
        assert total <= wide * (1 + 1e-6)
        sharpest = np.maximum(sharpest, [np.linalg.norm(exact) / bound, total / wide])
    assert (sharpest > [0.99, 0.9]).all()


def largest_step(x, direction, level, arguments):
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        inside = huber(x + middle * direction, *arguments)[0] <= level
        low, high = (middle, high) if inside else (low, middle)
    return low


def test_units():
    """All bounds have the units that their definitions say."""
    a, b = erm_sensitivity(2.0, 1.0, 0.5, 10, 0.1), erm_sensitivity(2.0, 1.0, 0.5, 10)
    assert a - b == pytest.approx(2 * math.sqrt(0.2), rel=1e-14)
    for scale in (1e-3, 1e5):
        for function in (squared_loss_lipschitz, ridge_sensitivity):
            rest = (10,) if function is ridge_sensitivity else ()
            one = function(1.0, 1.0, 0.2, *rest)
            assert function(scale, 1.0, 0.2, *rest) == pytest.approx(scale * one)
            other = function(1.0, scale, 0.2 * scale**2, *rest)
            power = -1 if function is ridge_sensitivity else 0
            assert other == pytest.approx(scale**power * one)


@pytest.mark.parametrize("bad", [0, -1.0, np.nan, np.inf, True, "1", 1e200])
def test_bad_numbers_are_refused(bad):
    for arguments in ((bad, 1.0, 1.0, 1), (1.0, bad, 1.0, 1), (1.0, 1.0, bad, 1)):
        for function in (erm_sensitivity, ridge_sensitivity):
            with pytest.raises(ValueError, match="must"):
                function(*arguments)
        with pytest.raises(ValueError, match="must"):
            squared_loss_lipschitz(*arguments[:3])
    if bad != 0:
        with pytest.raises((ValueError, TypeError), match=r"gap must|finite"):
            erm_sensitivity(1.0, 1.0, 1.0, 1, bad)


def test_bad_counts_are_refused():
    for n in (0, 1.5, True):
        with pytest.raises(ValueError, match="n must be an integer"):
            erm_sensitivity(1.0, 1.0, 1.0, n)
        with pytest.raises(ValueError, match="n must be an integer"):
            ridge_sensitivity(1.0, 1.0, 1.0, n)


def test_extreme_numbers_stay_finite():
    for arguments in ((1e-60, 1e60, 1e-60, 1), (1e60, 1e-60, 1e60, 10**9)):
        assert 0 < ridge_sensitivity(*arguments) < math.inf
        assert 0 < erm_sensitivity(*arguments, 1e60) < math.inf
