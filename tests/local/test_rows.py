"""Norms of private rows: right at every size, and silent about it."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfuncpriv.local._rows import scaled_norms

ROWS = np.array([[3.0, -4.0, 0.0], [1.0, 2.0, -2.0], [0.0, 0.0, 0.0]])


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1.0, 1e160, 3e307])
def test_norms_neither_overflow_nor_vanish(size):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_allclose(scaled_norms(size * ROWS), size * np.array([5, 3, 0.0]))
        both = np.stack([size * ROWS, ROWS])
        assert_allclose(scaled_norms(both), [size * np.array([5, 3, 0]), [5, 3, 0]])


def test_norms_at_the_ends_of_the_floats():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_array_equal(scaled_norms(np.full((1, 9), np.finfo(float).max)), np.inf)
        assert_allclose(scaled_norms(np.full((1, 4), 5e-324)), 1e-323)
        assert_array_equal(scaled_norms(np.empty((2, 0))), 0.0)
