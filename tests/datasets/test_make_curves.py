"""The generator of random curves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfuncpriv.datasets import make_curves


@pytest.mark.parametrize(("n_outputs", "tail"), [(None, ()), (1, (1,)), (3, (3,))])
def test_shapes(n_outputs, tail):
    made = make_curves(5, n_points=11, n_outputs=n_outputs, domain=(2, 4))
    assert made.data.shape == (5, 11, *tail)
    assert made.mean.shape == (11, *tail)
    assert made.domain == (2.0, 4.0)
    assert_allclose(made.grid, np.linspace(2, 4, 11))


def test_seed_decides_everything():
    made = [make_curves(4, random_state=seed).data for seed in (0, 0, 1)]
    assert_array_equal(made[0], made[1])
    assert (made[0] != made[2]).any()


def test_numpy_global_state_is_left_alone():
    state = np.random.get_state()[1].copy()
    make_curves(4, random_state=0)
    assert_array_equal(np.random.get_state()[1], state)


def test_mean_is_the_mean():
    n_curves, scale = 4000, 0.5
    made = make_curves(n_curves, scale=scale, random_state=0)
    deviations = scale * np.sqrt(2) * np.arange(1, 31) ** -2.0
    standard_error = np.sqrt(np.sum(deviations**2) / n_curves)
    assert_allclose(made.data.mean(axis=0), made.mean, rtol=0, atol=5 * standard_error)
    assert np.abs(made.mean).max() <= 1


def test_spread_follows_the_scale():
    small, large = (make_curves(9, scale=s, random_state=0) for s in (0.1, 0.2))
    assert_allclose(2 * (small.data - small.mean), large.data - large.mean)


@pytest.mark.parametrize(
    "options",
    [
        {"n_curves": 0},
        {"n_curves": 2.5},
        {"n_points": 0},
        {"n_outputs": 0},
        {"domain": (1, 0)},
        {"scale": 0.0},
        {"smoothness": -1.0},
    ],
    ids=str,
)
def test_malformed_parameters_are_refused(options):
    with pytest.raises(ValueError, match="must be"):
        make_curves(**options)
