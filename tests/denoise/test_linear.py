"""Wiener and James-Stein shrinkage: closed forms, and when they win."""

import math

import numpy as np
import pytest

from skfuncpriv.denoise import block_james_stein, wiener
from skfuncpriv.noise import (
    IndependentGaussian,
    IndependentLaplace,
    SeededBits,
    SphericalLaplace,
)

LAWS = [
    IndependentGaussian((0.5, 1.0, 2.0)),
    IndependentLaplace((0.5, 1.0, 2.0)),
    SphericalLaplace(3, 0.7),
]


@pytest.mark.parametrize("law", LAWS)
def test_wiener_is_the_best_linear_factor(law):
    variance = np.array([2.0, 0.3, 0.0])
    rows = np.random.default_rng(0).normal(size=(5, 3))
    best = variance / (variance + law.std**2)
    np.testing.assert_allclose(wiener(rows, law, variance), best * rows, rtol=1e-12)

    # Expected squared error of a factor a: (1 - a)^2 v + a^2 s^2.
    def error(factor):
        return (1 - factor) ** 2 * variance + factor**2 * law.std**2

    for other in np.linspace(0, 1, 21):
        assert (error(best) <= error(other) + 1e-15).all()


@pytest.mark.parametrize("law", LAWS)
def test_wiener_error_is_met(law):
    variance = np.array([2.0, 0.3, 0.0])
    rng = np.random.default_rng(1)
    signal = rng.normal(size=(100_000, 3)) * np.sqrt(variance)
    noise = law.sample(100_000, SeededBits(2))
    square = (wiener(signal + noise, law, variance) - signal) ** 2
    expected = variance * law.std**2 / (variance + law.std**2)
    error = square.std(axis=0) / math.sqrt(100_000)
    assert (abs(square.mean(axis=0) - expected) <= 6 * error).all()


@pytest.mark.parametrize("bad", [[1.0, -1e-9, 0.0], [math.nan] * 3, [math.inf] * 3])
def test_wiener_refuses_what_is_no_variance(bad):
    with pytest.raises(ValueError, match="signal_variance must be"):
        wiener(np.ones((1, 3)), LAWS[0], bad)


def test_james_stein_in_closed_form():
    law = IndependentGaussian((2.0,) * 7)
    rows = np.random.default_rng(0).normal(0, 4, (50, 7))
    ours = block_james_stein(rows, law, [5, 2])
    first, second = rows[:, :5], rows[:, 5:]
    factor = np.maximum(0, 1 - 3 * 4 / np.sum(first**2, axis=1))
    np.testing.assert_allclose(ours[:, :5], factor[:, None] * first, rtol=1e-12)
    factor = np.maximum(0, 1 - 2 * 4 / np.sum(second**2, axis=1))
    np.testing.assert_allclose(ours[:, 5:], factor[:, None] * second, rtol=1e-12)
    assert (ours[:, 5:] == 0).any()
    np.testing.assert_array_equal(
        block_james_stein(np.zeros((2, 7)), law, [7]), np.zeros((2, 7))
    )


@pytest.mark.parametrize("size", [3, 5, 20])
@pytest.mark.parametrize("norm", [0.0, 1.0, 3.0, 10.0])
def test_james_stein_beats_the_release_for_every_signal(size, norm):
    """For Gaussian noise and three or more coordinates (James and Stein 1961)."""
    law = IndependentGaussian((1.0,) * size)
    signal = np.full(size, norm / math.sqrt(size))
    noise = law.sample(100_000, SeededBits(size))
    rows = signal + noise
    gain = np.sum(noise**2, axis=1) - np.sum(
        (block_james_stein(rows, law, [size]) - signal) ** 2, axis=1
    )
    error = gain.std() / math.sqrt(100_000)
    assert gain.mean() > 5 * error
    # The plain estimator gains (m - 2)^2 E 1 / norm(y)^2, its positive part no less.
    plain = (size - 2) ** 2 / np.sum(rows**2, axis=1)
    assert gain.mean() > plain.mean() - 6 * (error + plain.std() / math.sqrt(100_000))


def test_block_sizes_must_fit():
    with pytest.raises(ValueError, match="block_sizes must sum"):
        block_james_stein(np.ones((1, 3)), LAWS[0], [2, 2])


def test_rows_do_not_depend_on_each_other():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    whole = block_james_stein(rows, LAWS[0], [1, 2])
    for k in range(20):
        alone = block_james_stein(rows[k : k + 1], LAWS[0], [1, 2])[0]
        np.testing.assert_array_equal(alone, whole[k])
