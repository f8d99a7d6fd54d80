"""KernelBasis: Mercer's theorem, closed forms, and kernels that are none."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
)

from skfuncpriv.basis import KernelBasis, LegendreBasis, check_orthonormal
from skfuncpriv.basis._matern import half_integer_expansion, matern_expansion
from skfuncpriv.basis._nystrom import kernel_expansion

SKLEARN = {
    "exponential": lambda length: Matern(length, nu=0.5),
    "matern12": lambda length: Matern(length, nu=0.5),
    "matern32": lambda length: Matern(length, nu=1.5),
    "matern52": lambda length: Matern(length, nu=2.5),
    "gaussian": RBF,
}
SMOOTH = {
    "rational quadratic": RationalQuadratic(0.3, alpha=0.7),
    "sum": 2.0 * RBF(0.4) + ConstantKernel(0.5),
    "periodic": ExpSineSquared(0.8, 0.7),
    "not stationary": DotProduct(0.3) * RBF(0.5),
    "callable": lambda X, Y: np.exp(X * Y.T),
}
T = np.linspace(0.0, 1.0, 41)
LENGTHS = [0.05, 0.1, 1.0]


@pytest.mark.parametrize("kernel", SMOOTH)
def test_smooth_kernels_are_the_sum_of_their_functions(kernel):
    basis = KernelBasis(SMOOTH[kernel], 45)
    functions = basis.evaluate(T)
    found = (functions * basis.spectrum) @ functions.T
    wanted = SMOOTH[kernel](T[:, None], T[:, None])
    # Functions below the floor of the spectrum enter with the floor for an eigenvalue.
    floor = 1e-12 * basis.spectrum[0]
    atol = 2.0 * floor * np.max(np.sum(functions**2, axis=1))
    assert_allclose(found, wanted, rtol=0, atol=atol)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("kernel", SKLEARN)
def test_the_trace_is_the_integral_of_the_variance(kernel, length):
    basis = KernelBasis(kernel, 150, (0.0, 2.0), length)
    # The eigenvalues left out are below the spectral density at their frequency,
    # 2 a/w^2 for the slowest decay: their sum is below 2 * 2 a * 2/(pi^2 * 149).
    rest = 8.0 / (length * np.pi**2 * 149)
    assert -1e-9 < 2.0 - basis.spectrum.sum() < rest


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("kernel", SKLEARN)
def test_functions_solve_the_eigenvalue_equation(kernel, length):
    basis = KernelBasis(kernel, 20, length_scale=length)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    for t in (0.0, 0.2, 0.77):
        edges = np.unique([0.0, 0.5 * t, t, 0.5 * (1.0 + t), 1.0])
        half = 0.5 * np.diff(edges)[:, np.newaxis]
        points = (edges[:-1, np.newaxis] + half * (1.0 + nodes)).ravel()
        row = SKLEARN[kernel](length)([[t]], points[:, None])[0]
        found = ((half * weights).ravel() * row) @ basis.evaluate(points)
        wanted = basis.spectrum * basis.evaluate([t])[0]
        # The spectrum is raised to its floor, 1e-12 of the first, at most.
        assert_allclose(found, wanted, rtol=0, atol=1e-11 * basis.spectrum[0])


@pytest.mark.parametrize("length", LENGTHS)
def test_the_exponential_meets_the_general_matern_method(length):
    closed = matern_expansion("exponential", length, 60)
    general = half_integer_expansion((1.0,), 1.0 / length, 60)
    x = np.linspace(-1.0, 1.0, 51)
    assert_allclose(general.eigenvalues, closed.eigenvalues, rtol=1e-11)
    assert_allclose(general.evaluate(x), closed.evaluate(x), rtol=0, atol=1e-10)


@pytest.mark.parametrize("kernel", ["exponential", "matern32", "matern52"])
def test_named_kernels_meet_a_dense_matrix(kernel):
    x = (np.arange(1500) + 0.5) / 1500
    dense = np.linalg.eigvalsh(SKLEARN[kernel](0.2)(x[:, None]))[::-1] / 1500
    found = KernelBasis(kernel, 10, length_scale=0.2).spectrum
    # The midpoint rule errs by at most h^2/12 times the jump 2 a = 10 of the slope at
    # the diagonal, and as much at the ends.
    assert_allclose(found, dense[:10], rtol=0, atol=20.0 / 12.0 / 1500**2)


@pytest.mark.parametrize("rate", [1e-6, 0.5, 5.0, 400.0])
def test_exponential_frequencies_are_the_roots_that_mpmath_finds(rate):
    found = matern_expansion("exponential", 1.0 / rate, 8).frequencies
    with mpmath.workdps(40):
        for k, frequency in enumerate(found):
            root = mpmath.findroot(
                lambda w, k=k: 2 * w - k * mpmath.pi - 2 * mpmath.atan(rate / w),
                (mpmath.mpf(frequency) * 0.999, mpmath.mpf(frequency) * 1.001),
                solver="anderson",
            )
            equation = (
                root * mpmath.tan(root) - rate
                if k % 2 == 0
                else root + rate * mpmath.tan(root)
            )
            assert abs(equation) < 1e-20 * (1 + rate)
            assert abs(frequency / root - 1) < 1e-14


@pytest.mark.parametrize("kernel", SKLEARN)
def test_scikit_learn_kernels_agree_with_the_names(kernel):
    named = KernelBasis(kernel, 16, (2.0, 4.0), length_scale=0.4)
    same = KernelBasis(SKLEARN[kernel](0.4), 16, (2.0, 4.0))
    t = np.linspace(2.0, 4.0, 31)
    # Kernels with a kink have settled at 1e-6; rounding is 1e-15 over the eigenvalue.
    rounding = 1e-14 * named.spectrum[0] / named.spectrum
    assert_allclose(same.spectrum, named.spectrum, rtol=0, atol=1e-8)
    error = np.max(np.abs(same.evaluate(t) - named.evaluate(t)), axis=0)
    assert np.all(error <= 1e-6 + rounding)


def test_brownian_motion_has_its_textbook_functions():
    basis = KernelBasis(lambda X, Y: np.minimum(X, Y.T), 10)
    frequency = (np.arange(10) + 0.5) * np.pi
    wanted = np.sqrt(2.0) * np.sin(np.outer(T, frequency))
    assert_allclose(basis.spectrum, frequency**-2, rtol=0, atol=1e-9)
    assert_allclose(basis.evaluate(T), wanted, rtol=0, atol=1e-7)


@pytest.mark.parametrize("n_basis", [60, 200])
def test_gaussian_with_more_functions_than_rounding_resolves(n_basis):
    basis = KernelBasis("gaussian", n_basis)
    check_orthonormal(basis)
    spectrum = basis.spectrum
    resolved = np.count_nonzero(spectrum > 1e-12 * spectrum[0] * (1 + 1e-9))
    assert 20 < resolved < 40
    assert_allclose(spectrum[resolved:], 1e-12 * spectrum[0], rtol=1e-12)
    assert abs(spectrum.sum() - 1.0) < 1e-9


def test_functions_beyond_the_rank_of_a_kernel_are_polynomials():
    # Rank two: lines. What is left is ordered by smoothness: Legendre polynomials.
    basis = KernelBasis(DotProduct(1.0), 5)
    functions = basis.evaluate(T)
    wanted = LegendreBasis(5).evaluate(T)[:, 2:]
    # The first large swing is upward, unlike that of odd Legendre polynomials.
    assert_allclose(functions[:, 2:], wanted * [1, -1, 1], rtol=0, atol=1e-11)


def test_a_prefix_of_the_functions_does_not_depend_on_their_number():
    few, many = KernelBasis("matern32", 8), KernelBasis("matern32", 50)
    assert_allclose(few.spectrum, many.spectrum[:8], rtol=1e-11)
    assert_allclose(few.evaluate(T), many.evaluate(T)[:, :8], rtol=0, atol=1e-10)


@pytest.mark.parametrize("kernel", SKLEARN)
def test_the_first_large_swing_is_upward(kernel):
    values = KernelBasis(kernel, 12).evaluate(np.linspace(0.0, 1.0, 500))
    large = np.abs(values) > 0.6 * np.max(np.abs(values), axis=0)
    first = np.argmax(large, axis=0)
    assert np.all(values[first, np.arange(12)] > 0)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda X, Y: np.exp(X - 2.0 * Y.T), "symmetric"),
        (lambda X, Y: -np.exp(-((X - Y.T) ** 2)), "positive semi-definite"),
        (lambda X, Y: np.cos(9.0 * (X + Y.T)), "positive semi-definite"),
        (lambda X, Y: np.full((len(X), len(Y)), np.nan), "finite and not zero"),
        (lambda X, Y: np.zeros((len(X), len(Y))), "finite and not zero"),
        (lambda X, Y: np.ones(3), r"kernel\(X, Y\) must have shape"),
        (lambda X, Y: 1.0 * (X == Y.T), "did not settle"),
    ],
)
def test_kernels_that_are_no_covariance_are_refused(kernel, message):
    with pytest.raises(ValueError, match=message):
        _ = KernelBasis(kernel, 5).spectrum


@pytest.mark.parametrize("kernel", ["rbf", 3, None])
def test_unknown_kernels_are_refused(kernel):
    with pytest.raises(ValueError, match="kernel must be one of"):
        KernelBasis(kernel, 5)


@pytest.mark.parametrize("length_scale", [0.0, -1.0, np.nan, np.inf, "1", True])
def test_length_scales_must_be_positive(length_scale):
    with pytest.raises(ValueError, match="length_scale must be a finite number > 0"):
        KernelBasis("matern32", 5, length_scale=length_scale)


def test_a_kernel_object_has_its_own_length_scale():
    with pytest.raises(ValueError, match="which has its own"):
        KernelBasis(RBF(0.2), 5, length_scale=0.2)


def test_a_length_scale_that_cannot_be_resolved_is_refused():
    with pytest.raises(ValueError, match="length_scale is too small"):
        _ = KernelBasis("matern32", 5, length_scale=1e-9).spectrum


def test_one_function_of_a_kernel_with_a_kink_settles():
    expansion = kernel_expansion(lambda x, y: np.exp(-np.abs(x - y.T)), 1)
    wanted = matern_expansion("exponential", 1.0, 1)
    assert_allclose(expansion.eigenvalues, wanted.eigenvalues, rtol=1e-12)
