"""Features of kernels: their norm, whatever the rows, and what they miss."""

from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv.gaussian_process import (
    ExponentialKernel,
    GaussianKernel,
    Kernel,
    ProductKernel,
)
from skfuncpriv.gaussian_process._duality import KAPPA
from skfuncpriv.gaussian_process._features import (
    MAX_FEATURES,
    default_kernel,
    public_features,
)


class Flat(Kernel):
    """A kernel of a user: the same everywhere, and a little too high."""

    n_axes = None

    def _evaluate(self, X, Y):
        return np.full((len(X), len(Y)), 1 + 1e-10)


class Spotty(GaussianKernel):
    """A kernel of a user that is not finite at some rows, but at all nodes."""

    def _evaluate(self, X, Y):
        values = super()._evaluate(X, Y)
        values[(X == 0.123).any(axis=1)] = np.nan
        return values


KERNELS = {
    "gaussian": (GaussianKernel(0.3), 1),
    "two": (GaussianKernel((0.5, 0.9)), 2),
    "wide": (GaussianKernel(50.0), 3),
    "narrow": (GaussianKernel(0.01), 5),
    "exponential": (ExponentialKernel(2.0), 1),
    "product": (ProductKernel([GaussianKernel(0.5), ExponentialKernel(1.0)]), 2),
    "flat": (Flat(), 2),
}
each_kernel = pytest.mark.parametrize(("kernel", "d"), KERNELS.values(), ids=KERNELS)


def features_of(kernel, d, n_components="auto"):
    return public_features(kernel, -np.ones(d), np.ones(d), n_components)


def rows_of(d, rng):
    """Inside, at the corners, and absurd."""
    rows = [rng.uniform(-1, 1, (60, d)), np.ones((1, d)), -np.ones((1, d))]
    rows += [np.full((1, d), x) for x in (1e308, -1e308, 0.0, 5e-324)]
    return np.vstack(rows)


@each_kernel
@pytest.mark.parametrize("n_components", ["auto", 1, 40])
def test_norms_are_at_most_kappa_exactly(kernel, d, n_components):
    features = features_of(kernel, d, n_components)
    nodes = features.expansion.nodes[:40]
    rows = np.vstack([rows_of(d, np.random.default_rng(0)), nodes])
    for z in features.transform(rows):
        assert sum(Fraction(x) ** 2 for x in z) <= Fraction(KAPPA) ** 2


@each_kernel
def test_rows_outside_are_moved_to_the_box(kernel, d):
    features = features_of(kernel, d, 5)
    rows = 1.5 * rows_of(d, np.random.default_rng(1))
    np.testing.assert_array_equal(
        features.transform(rows), features.transform(np.clip(rows, -1, 1))
    )


@pytest.mark.parametrize(("kernel", "d"), list(KERNELS.values())[:3])
def test_products_of_features_are_the_kernel(kernel, d):
    features = features_of(kernel, d)
    rows = np.random.default_rng(2).uniform(-1, 1, (100, d))
    Z = features.transform(rows)
    np.testing.assert_allclose(Z @ Z.T, kernel(rows, rows), rtol=0, atol=2e-3)


@each_kernel
def test_what_is_missed_is_missed(kernel, d):
    features = features_of(kernel, d, 8)
    rows = np.random.default_rng(3).uniform(-1, 1, (4000, d))
    assert (np.diff(features.missed) <= 0).all()
    for m in {1, features.size}:
        Z = features.first(m).transform(rows)
        lost = np.maximum(0, 1 - np.square(Z).sum(axis=1))
        expected, error = lost.mean(), lost.std() / np.sqrt(len(lost))
        # a mean over points at random, against one over evenly spread points
        assert abs(features.missed[m - 1] ** 2 - expected) <= 5 * error + 0.02


@each_kernel
def test_the_first_coordinates_are_those_of_more(kernel, d):
    features = features_of(kernel, d, 8)
    rows = np.random.default_rng(4).uniform(-1, 1, (10, d))
    first = features.first(3)
    assert first.size == min(3, features.size)
    np.testing.assert_allclose(
        first.transform(rows), features.transform(rows)[:, :3], atol=1e-9
    )


def test_rows_where_a_kernel_is_not_finite_are_zero():
    features = features_of(Spotty(0.3), 1, 5)
    Z = features.transform(np.array([[0.123], [0.5]]))
    assert (Z[0] == 0).all()
    assert (Z[1] != 0).all()


def test_rows_far_in_bandwidths_give_no_warning():
    Z = features_of(GaussianKernel(1e-200), 1, 3).transform(np.array([[0.3], [0.1]]))
    assert (Z == 0).all()


def test_features_are_public_and_frozen():
    one, other = (features_of(default_kernel(np.zeros(2), np.ones(2)), 2) for _ in "ab")
    np.testing.assert_array_equal(one.expansion.matrix, other.expansion.matrix)
    for array in (one.low, one.high, one.missed, one.expansion.matrix):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_the_default_kernel_has_the_units_of_the_bounds():
    kernel = default_kernel(np.array([0.0, -10.0]), np.array([1.0, 10.0]))
    np.testing.assert_allclose(kernel.bandwidth, 0.15 * np.sqrt(2) * np.array([1, 20]))


def test_many_features_are_refused():
    for bad in (0, -1, 1.5, True, MAX_FEATURES + 1, "many"):
        with pytest.raises(ValueError, match="n_components must be"):
            features_of(GaussianKernel(0.3), 1, bad)
