"""What is made of released moments: averages over priors, beside ridge regression."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from skfuncpriv import ICLPRegressor
from skfuncpriv.basis import CosineBasis
from skfuncpriv.iclp._ridge import _SIZES, _VAGUE, NoisyMoments

NOISE, SAMPLING, SIZE = (0.02, 0.03), 1e-3, 2.0
WEIGHTS = np.array([0.0, 1.0, 4.0, 9.0])


def moments(seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, 4)) * [0.5, 0.5, 0.2, 0.02]
    second = rows.T @ rows / 30
    return NoisyMoments(second, scale * rng.normal(size=(4, 1)) / 10, WEIGHTS)


def test_the_average_is_that_of_normal_laws():
    """Matrices that are written out, without a common system of axes."""
    known = moments()
    second, cross = known.second, known.cross[:, 0]
    found, shares = [], []
    for t in SIZE * _SIZES:
        prior = np.diag([_VAGUE, *(t / WEIGHTS[1:])])
        energy = (cross[0] / second[0, 0]) ** 2 + np.trace(prior[1:, 1:])
        spread = NOISE[1] ** 2 + NOISE[0] ** 2 / 2 * energy
        total = second @ prior @ second + spread * np.eye(4) + SAMPLING * second
        found.append(prior @ second @ np.linalg.solve(total, cross))
        shares.append(multivariate_normal(np.zeros(4), total).pdf(cross))
    wanted = np.array(shares) @ found / np.sum(shares)
    assert_allclose(known.averaged(NOISE, SAMPLING, SIZE)[:, 0], wanted, rtol=1e-9)


def test_without_noise_the_average_is_least_squares():
    known = moments()
    wanted = np.linalg.solve(known.second, known.cross)
    found = known.averaged((1e-9, 1e-9), 1e-15, SIZE)
    assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("noise", [1e3, 1e12])
def test_noise_alone_leaves_nothing(noise):
    found = moments(scale=noise).averaged((noise, noise), SAMPLING, SIZE)
    assert np.abs(found[1:]).max() < 0.1 * np.sqrt(SIZE)


def test_directions_that_hardly_vary_are_not_trusted():
    """Coefficients there were noise; predictions are no worse.

    Curves have nine tenths of their variance in one direction.
    """
    t, n = np.linspace(0, 1, 21), 4000
    basis = CosineBasis(6).evaluate(t).T
    slope = np.cos(np.pi * t)
    errors = {True: [], False: []}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = 0.3 * (rng.normal(size=(n, 6)) * [1, 0.3, 0.1, 0.05, 0.03, 0.02]) @ basis
        signal = 2 * np.trapezoid(X * slope, t, axis=1)
        y = signal + rng.normal(0, 0.1, n)
        for denoise, found in errors.items():
            model = ICLPRegressor(
                X_bounds=(-1, 1),
                X_domain=(0, 1),
                y_bounds=(-1, 1),
                epsilon=5.0,
                denoise=denoise,
                method="statistics",
                random_state=seed,
            ).fit(X, y)
            off = np.interp(t, model.X_grid_, model.coef_) - 2 * slope
            missed = np.square(model.predict(X) - signal).mean()
            found.append((np.square(off).mean(), missed))
    averaged, ridge = (np.mean(errors[key], axis=0) for key in (True, False))
    assert averaged[0] < 0.7 * ridge[0]
    assert averaged[1] < 1.05 * ridge[1]
