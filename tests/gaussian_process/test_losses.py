"""Losses: constants, slopes, envelopes and conjugates, by brute force on grids."""

import math

import numpy as np
import pytest

from skfuncpriv.gaussian_process._duality import KAPPA
from skfuncpriv.gaussian_process._losses import EpsilonInsensitiveLoss, HuberLoss
from tests.gaussian_process.machines import (
    ALL_LOSSES,
    is_classifier,
    problem,
    reference,
)

each_loss = pytest.mark.parametrize("loss", ALL_LOSSES.values(), ids=ALL_LOSSES)
PIECEWISE = {name: loss for name, loss in ALL_LOSSES.items() if loss.is_piecewise}
each_piecewise_loss = pytest.mark.parametrize("loss", PIECEWISE.values(), ids=PIECEWISE)
F = np.linspace(-6, 6, 4801)  # in steps of 1/400, so that kinks lie on the grid


def targets(loss):
    return (-1.0, 1.0) if is_classifier(loss) else (-1.0, -0.4, 0.0, 1.0)


@each_loss
def test_slopes_are_derivatives_and_curvatures_theirs(loss):
    step = 2.0**-20
    points = F + 1e-3  # off the kinks
    for y in targets(loss):
        y = np.full(F.shape, y)
        rise = loss.value(points + step, y) - loss.value(points - step, y)
        np.testing.assert_allclose(
            loss.slope(points, y), rise / (2 * step), rtol=0, atol=1e-8
        )
        bend = loss.slope(points + step, y) - loss.slope(points - step, y)
        np.testing.assert_allclose(
            loss.curvature(points, y), bend / (2 * step), rtol=0, atol=1e-5
        )


@each_loss
def test_constants_are_the_smallest(loss):
    slopes = np.array([loss.slope(F, np.full(F.shape, y)) for y in targets(loss)])
    assert np.abs(slopes).max() <= loss.steepest
    if math.isfinite(loss.steepest):
        assert np.abs(slopes).max() >= 0.99 * loss.steepest
    bends = np.abs(np.diff(slopes, axis=1)).max() / (F[1] - F[0])
    assert bends <= loss.curvature_bound * (1 + 1e-9)
    assert loss.has_kinks == (bends > 100)
    if not loss.has_kinks:
        assert bends >= 0.99 * loss.curvature_bound
    pulls = [-loss.slope(F, np.full(F.shape, y)) * F for y in targets(loss)]
    assert 0.99 * loss.largest_pull <= np.max(pulls) <= loss.largest_pull * (1 + 1e-12)


@each_loss
@pytest.mark.parametrize("psi", [1e-3, 0.03, 0.3, 10.0])
def test_lipschitz_between_the_values_of_minimisers(loss, psi):
    reach = KAPPA * loss.norm_bound(KAPPA, psi)
    f = np.linspace(-reach, reach, 1001)
    slopes = [np.abs(loss.slope(f, np.full(f.shape, y))).max() for y in targets(loss)]
    assert max(slopes) <= loss.lipschitz(KAPPA, psi)
    if reach < 6 and not isinstance(loss, HuberLoss):
        assert max(slopes) >= 0.95 * loss.lipschitz(KAPPA, psi)


@each_piecewise_loss
@pytest.mark.parametrize("smoothing", [2.0, 0.1])
def test_envelopes_are_least_values(loss, smoothing):
    """The slope is (f - g) / smoothing at the best g, and a subgradient there."""
    places = np.linspace(-2, 2, 41) + 1e-3
    for y in targets(loss):
        y = np.full(F.shape, y)
        costs = loss.value(F, y) + np.square(places[:, None] - F) / (2 * smoothing)
        nearest = F[costs.argmin(axis=1)]
        np.testing.assert_allclose(
            loss.slope(places, y[0], smoothing),
            (places - nearest) / smoothing,
            rtol=0,
            atol=2 * (F[1] - F[0]) / smoothing,
        )
        step = 2.0**-20
        bend = loss.slope(places + step, y[0], smoothing)
        bend -= loss.slope(places - step, y[0], smoothing)
        np.testing.assert_allclose(
            loss.curvature(places, y[0], smoothing), bend / (2 * step), atol=1e-5
        )


@each_loss
def test_disagreement_is_that_of_fenchel_and_young(loss):
    if not loss.has_kinks:
        f = np.linspace(-1, 1, 5)
        assert (loss.disagreement(f, f, loss.slope(f, f)) == 0).all()
        return
    shares = np.linspace(0, 1, 21) if is_classifier(loss) else np.linspace(-1, 1, 41)
    for y in targets(loss):
        slopes = -y * shares if is_classifier(loss) else shares
        y = np.full(F.shape, y)
        inside = np.abs(F) < 3
        for slope in slopes:
            # conjugate(slope) = sup slope * g - loss(g), on the grid and so far inside
            # that the supremum is where the loss has its kinks
            conjugate = (slope * F - loss.value(F, y)).max()
            expected = loss.value(F, y) + conjugate - slope * F
            found = loss.disagreement(F, y, np.full(F.shape, slope))
            assert (found >= 0).all()
            np.testing.assert_allclose(found[inside], expected[inside], atol=1e-12)


@each_loss
@pytest.mark.parametrize("psi", [1e-3, 0.1, 10.0])
def test_minimisers_lie_in_the_stated_ball(loss, psi):
    """Everyone has the feature 1; the bound is met where the pull is the largest."""
    bound = loss.norm_bound(KAPPA, psi)
    norms = []
    for y in np.linspace(0, 1, 5)[4 if is_classifier(loss) else 0 :]:
        line = np.linspace(0, min(2.0 * bound, 8.0), 20_001)
        cost = loss.value(line, np.full(line.shape, y)) + psi * np.square(line)
        norms.append(line[cost.argmin()])
    assert max(norms) <= bound
    if psi == 10.0:  # where the slope is that at 0 and the bound is L / (2 psi)
        assert max(norms) >= 0.5 * bound


@each_loss
@pytest.mark.parametrize("psi", [1e-3, 0.1])
def test_mean_squared_slopes_at_minimisers(loss, psi):
    objective = problem(loss, n=40, m=3, psi=psi)
    objective.targets[:] = np.where(objective.targets > 0, 1.0, -1.0)
    w = reference(objective)
    slopes = loss.slope(objective.features @ w, objective.targets)
    assert np.mean(slopes**2) <= loss.mean_square_slope


def test_thresholds_are_checked():
    for bad in (0.0, -1.0, 2.0, math.nan):
        with pytest.raises(ValueError, match="threshold must"):
            HuberLoss(bad)
    for bad in (-0.1, 1.0, math.inf):
        with pytest.raises(ValueError, match="threshold must"):
            EpsilonInsensitiveLoss(bad)
    assert EpsilonInsensitiveLoss(0).threshold == 0
