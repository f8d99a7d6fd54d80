"""Kernels: values, positive definiteness, units, and products over axes."""

import math

import numpy as np
import pytest

from skfuncpriv.gaussian_process import (
    ExponentialKernel,
    GaussianKernel,
    Kernel,
    ProductKernel,
)

H = ((2.0, 0.5, 0.0), (0.5, 1.0, 0.2), (0.0, 0.2, 0.3))
KERNELS = [
    GaussianKernel(0.7),
    GaussianKernel((0.5, 2.0, 1.0)),
    GaussianKernel(H),
    ExponentialKernel(0.7),
    ExponentialKernel((0.5, 2.0, 1.0)),
    ProductKernel([GaussianKernel(((1.0, 0.4), (0.4, 0.5))), ExponentialKernel(3.0)]),
    ProductKernel([ExponentialKernel((1.0, 2.0)), GaussianKernel(3.0)]),
]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(9, 3)), RNG.normal(size=(6, 3))


@each_kernel
def test_variance_one_and_positive_definite(kernel):
    gram = kernel(X, X)
    np.testing.assert_allclose(np.diag(gram), 1, rtol=0, atol=1e-15)
    np.testing.assert_allclose(gram, gram.T, rtol=1e-14)
    assert np.linalg.eigvalsh(gram)[0] > 0
    assert kernel(X, Y).shape == (9, 6)


def test_gaussian_values():
    for x, y in zip(X, Y, strict=False):
        change = x - y
        square = change @ np.linalg.solve(np.array(H), change)
        value = GaussianKernel(H)([x], [y])[0, 0]
        assert value == pytest.approx(math.exp(-square / 2), rel=1e-12)
        square = np.sum((change / [0.5, 2.0, 1.0]) ** 2)
        value = GaussianKernel((0.5, 2.0, 1.0))([x], [y])[0, 0]
        assert value == pytest.approx(math.exp(-square / 2), rel=1e-13)


def test_exponential_values():
    for x, y in zip(X, Y, strict=False):
        distance = np.abs(x - y) @ [0.5, 2.0, 1.0]
        value = ExponentialKernel((0.5, 2.0, 1.0))([x], [y])[0, 0]
        assert value == pytest.approx(math.exp(-distance), rel=1e-13)


@each_kernel
def test_separated_is_the_same_kernel(kernel):
    matrix, factors = kernel.separated(3)
    product = np.ones((9, 6))
    for j, factor in enumerate(factors):
        product *= factor((X @ matrix.T)[:, [j]], (Y @ matrix.T)[:, [j]])
    np.testing.assert_allclose(product, kernel(X, Y), rtol=1e-12)


def test_one_bandwidth_per_axis_is_a_diagonal_matrix():
    per_axis, matrix = GaussianKernel((0.5, 2.0)), GaussianKernel(((0.25, 0), (0, 4)))
    np.testing.assert_array_equal(per_axis.covariance(2), matrix.covariance(2))
    np.testing.assert_allclose(per_axis(X[:, :2], Y[:, :2]), matrix(X[:, :2], Y[:, :2]))
    np.testing.assert_array_equal(GaussianKernel(3.0).covariance(2), 9 * np.eye(2))


def test_far_from_the_origin_no_digit_is_lost():
    far = 2.0**30  # half a digit of float64 is left for the square of a difference
    for kernel in (GaussianKernel(0.5), ExponentialKernel(0.5)):
        assert kernel([[far]], [[far + 0.5]]) == kernel([[0.0]], [[0.5]])


@each_kernel
def test_kernels_are_values(kernel):
    assert hash(kernel) == hash(kernel)
    assert eval(repr(kernel)) == kernel
    assert kernel.n_axes in (None, 3)
    if kernel.n_axes == 3:
        with pytest.raises(ValueError, match="have 3 axes"):
            kernel(X[:, :2], Y[:, :2])


class Linear(Kernel):
    """A kernel of somebody else."""

    n_axes = None

    def _evaluate(self, X, Y):
        return X @ Y.T


def test_a_kernel_of_somebody_else_is_separated_on_one_axis_only():
    matrix, (factor,) = Linear().separated(1)
    assert isinstance(factor, Linear)
    np.testing.assert_array_equal(matrix, [[1.0]])
    with pytest.raises(ValueError, match="ProductKernel"):
        Linear().separated(2)


@pytest.mark.parametrize(
    ("build", "match"),
    [
        (lambda: GaussianKernel(0), "bandwidth must be a finite number > 0"),
        (lambda: GaussianKernel((1.0, -1.0)), "bandwidth must be a finite number > 0"),
        (lambda: GaussianKernel("scott"), "bandwidth must be a finite number > 0"),
        (lambda: GaussianKernel(((1, 2), (2, 1))), "positive definite"),
        (lambda: GaussianKernel(((1, 0.5), (0.4, 1))), "symmetric"),
        (lambda: GaussianKernel(((1, 0, 0), (0, 1, 0))), "symmetric"),
        (lambda: GaussianKernel(((1, 1), (1, 1 + 1e-13))), "singular"),
        (lambda: ExponentialKernel(np.nan), "gamma must be a finite number > 0"),
        (lambda: ProductKernel([]), "at least one"),
        (lambda: ProductKernel([1.0]), "sequence of kernels"),
        (lambda: KERNELS[-1].separated(2), "has 3 axes"),
        (lambda: GaussianKernel(1.0)([0.0], [1.0]), "one row per point"),
    ],
)
def test_what_is_no_kernel_is_refused(build, match):
    with pytest.raises(ValueError, match=match):
        build()
