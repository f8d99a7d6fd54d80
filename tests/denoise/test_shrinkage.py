"""Shrinkage of the coefficients of densities."""

import numpy as np
import pytest

from skfuncpriv.denoise import average_shrinkage


def signal(size, corner):
    return np.append(1.0, np.exp(-np.arange(1, size) / corner))


def test_without_noise_nothing_is_shrunk():
    coef = signal(40, 8.0)
    factors = average_shrinkage(coef, [np.arange(40)], variance=1e-16)
    np.testing.assert_allclose(factors, 1.0, rtol=0, atol=1e-6)


def test_noise_alone_is_shrunk_to_nothing():
    rng = np.random.default_rng(0)
    coef = np.append(1.0, rng.normal(size=199))
    factors = average_shrinkage(coef, [np.arange(200)], variance=1.0)
    assert factors[0] == 1
    assert np.square(factors[1:] * coef[1:]).sum() < 0.05 * 199


@pytest.mark.parametrize("corner", [1.0, 3.0, 10.0])
def test_error_is_near_that_of_the_best_factors(corner):
    """Averaged over draws, at most half more than what the known signal allows."""
    rng = np.random.default_rng(1)
    truth, deviation = signal(128, corner), 0.05
    ideal = truth**2 / (truth**2 + deviation**2)
    errors = np.zeros(2)
    for _ in range(200):
        coef = truth + deviation * rng.normal(size=128)
        coef[0] = 1.0
        factors = average_shrinkage(coef, [np.arange(128)], deviation**2)
        errors += [np.square((f * coef - truth)[1:]).sum() for f in (factors, ideal)]
    assert errors[0] < 1.5 * errors[1]


def test_axes_are_told_apart():
    """Noise along an axis on which the signal is constant is removed."""
    rng = np.random.default_rng(2)
    truth = np.zeros((32, 32))
    truth[:, 0] = signal(32, 4.0)
    noisy = truth + 0.02 * rng.normal(size=truth.shape)
    noisy[0, 0] = 1.0
    factors = average_shrinkage(noisy, [np.arange(32)] * 2, 0.02**2)
    assert factors[1:6, 0].min() > 0.8
    assert factors[0, 4:].max() < 0.2
    assert (
        np.square(factors * noisy - truth).sum() < 0.1 * np.square(noisy - truth).sum()
    )


def test_order_of_frequencies_is_what_ranks_say():
    coef, ranks = signal(20, 2.0), np.arange(20)
    order = np.append(0, 1 + np.random.default_rng(3).permutation(19))
    straight = average_shrinkage(coef, [ranks], 1e-4)
    shuffled = average_shrinkage(coef[order], [ranks[order]], 1e-4)
    np.testing.assert_allclose(shuffled, straight[order], rtol=1e-9)


@pytest.mark.parametrize("variance", [0.0, -1.0, np.nan, np.inf])
def test_bad_variances_are_refused(variance):
    with pytest.raises(ValueError, match="variance must be a finite number > 0"):
        average_shrinkage(np.ones(3), [np.arange(3)], variance)
