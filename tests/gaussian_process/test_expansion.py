"""Finite expansions: the kernel they stand for, and bounds of every rounding error."""

import math
from dataclasses import dataclass

import mpmath
import numpy as np
import pytest

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.gaussian_process import (
    ExponentialKernel,
    GaussianKernel,
    Kernel,
    ProductKernel,
    gram_norm,
)
from skfuncpriv.gaussian_process._nodes import public_expansion, spread

H = ((1.0, 0.8), (0.8, 1.0))
LOW, HIGH = np.array([-1.0, 0.0, 2.0]), np.array([1.0, 3.0, 2.5])
SMOOTH = {
    "one": (GaussianKernel(0.05), 1),
    "flat": (GaussianKernel(30.0), 1),
    "two": (GaussianKernel((0.3, 0.2)), 2),
    "matrix": (GaussianKernel(H), 2),
    "three": (GaussianKernel((0.5, 0.5, 1.0)), 3),
    "product": (ProductKernel([GaussianKernel(0.5), GaussianKernel(0.4)]), 2),
}
ROUGH = {
    "exponential": (ExponentialKernel(2.0), 1),
    "exponential-two": (ExponentialKernel((0.5, 0.2)), 2),
    "mixed": (ProductKernel([GaussianKernel(0.5), ExponentialKernel(0.3)]), 2),
}
each_kernel = pytest.mark.parametrize(
    ("kernel", "n_axes"), (SMOOTH | ROUGH).values(), ids=SMOOTH | ROUGH
)


def expansion_of(kernel, n_axes, points=None, n_nodes="auto"):
    return public_expansion(kernel, LOW[:n_axes], HIGH[:n_axes], points, n_nodes)


def somewhere(n_axes, count=300, seed=0):
    rng = np.random.default_rng(seed)
    inside = rng.uniform(LOW[:n_axes], HIGH[:n_axes], (count, n_axes))
    return np.vstack([LOW[:n_axes], HIGH[:n_axes], inside])


@each_kernel
def test_inner_products_of_coordinates_are_the_kernel(kernel, n_axes):
    """So the noise has covariance K anywhere, up to the stated error."""
    expansion = expansion_of(kernel, n_axes)
    T = somewhere(n_axes)
    coordinates = expansion.coordinates(T)
    assert coordinates.shape == (len(T), expansion.size)
    lost = np.abs(coordinates @ coordinates.T - kernel(T, T))
    assert lost.max() <= 1.05 * expansion.error + 1e-9


@pytest.mark.parametrize(("kernel", "n_axes"), SMOOTH.values(), ids=SMOOTH)
def test_smooth_kernels_lose_a_millionth(kernel, n_axes):
    assert expansion_of(kernel, n_axes).error <= 1e-6


@pytest.mark.parametrize(("kernel", "n_axes"), ROUGH.values(), ids=ROUGH)
def test_rough_kernels_lose_a_hundredth(kernel, n_axes):
    assert 1e-3 < expansion_of(kernel, n_axes).error <= 0.0101


@each_kernel
def test_no_coordinates_exceed_the_norm_times_the_gain(kernel, n_axes):
    """f = sum a_i K_{x_i} has norm sqrt(a' K a): coordinates are a projection."""
    expansion = expansion_of(kernel, n_axes)
    assert 1 <= expansion.gain <= 1 + 1e-4
    rng = np.random.default_rng(1)
    for count in (1, 2, 10, 60):
        X, a = somewhere(n_axes, count, seed=count), rng.normal(size=count + 2)
        norm = math.sqrt(a @ kernel(X, X) @ a)
        projected = np.linalg.norm(a @ expansion.coordinates(X))
        assert projected <= expansion.gain * norm + 1e-9
        assert projected >= norm * (1 - 0.6 * (expansion.error > 1e-5)) - 1e-2


@each_kernel
def test_coordinates_of_values_are_those_of_the_function(kernel, n_axes):
    expansion = expansion_of(kernel, n_axes)
    X, a = somewhere(n_axes, 5), np.random.default_rng(2).normal(size=7)
    direct = a @ expansion.coordinates(X)
    by_values = expansion.of_values(kernel(expansion.nodes, X) @ a)
    np.testing.assert_allclose(by_values, direct, rtol=0, atol=1e-8)
    T = somewhere(n_axes, 20, seed=3)
    values = expansion.evaluate(np.stack([direct, 2 * direct]), T)
    np.testing.assert_allclose(values[1], 2 * values[0], rtol=1e-12)
    lost = np.abs(values[0] - kernel(T, X) @ a)
    assert lost.max() <= np.abs(a).sum() * expansion.error + 1e-9


def test_expansions_do_not_depend_on_units():
    """Same coordinates, signs included, in other units of the points."""
    kernel, T = GaussianKernel((0.3, 0.2)), somewhere(2)
    one = expansion_of(kernel, 2).coordinates(T)
    for unit in (1000.0, 0.3048):
        scaled = GaussianKernel((0.3 * unit, 0.2 * unit))
        other = public_expansion(scaled, LOW[:2] * unit, HIGH[:2] * unit, None, "auto")
        np.testing.assert_allclose(other.coordinates(T * unit), one, rtol=0, atol=1e-7)


def test_signs_of_eigenvectors_are_a_convention(monkeypatch):
    """Another linear algebra library may flip them, which must not flip the noise."""
    points, T = np.linspace(-1, 1, 15)[:, None], somewhere(1)
    one = expansion_of(GaussianKernel(0.2), 1, points).coordinates(T)
    original = np.linalg.eigh

    def flipped(matrix):
        eigenvalues, vectors = original(matrix)
        return eigenvalues, vectors * np.resize([1, -1, -1], len(matrix))

    monkeypatch.setattr(np.linalg, "eigh", flipped)
    other = expansion_of(GaussianKernel(0.2), 1, points).coordinates(T)
    np.testing.assert_array_equal(one, other)


# Rounding errors


def exact_coordinates(expansion, x, points):
    """W k(points, x) with 40 digits, for the stored W and a Gaussian of width one."""
    mp = mpmath.mp.clone()
    mp.dps = 40
    values = [mp.exp(-((mp.mpf(float(p)) - mp.mpf(x)) ** 2) / 2) for p in points]
    return [mp.fdot(map(mp.mpf, row.tolist()), values) for row in expansion.matrix]


@pytest.mark.parametrize("width", [3.0, 20.0])
def test_rounding_errors_are_within_their_bound(width):
    low, high = np.zeros(1), np.full(1, width)
    tensor = public_expansion(GaussianKernel(1.0), low, high, None, "auto")
    (axis,) = tensor.axes
    worst = 0.0
    for x in (0.0, 0.37 * width, width):
        exact = exact_coordinates(axis, x, axis.nodes[:, 0])
        computed = axis.coordinates(np.array([[x]]))[0]
        wrong = [float(c - e) for c, e in zip(computed, exact, strict=True)]
        worst = max(worst, np.linalg.norm(wrong))
    assert 0 < worst <= axis.rounding(1.0)
    assert axis.rounding(1.0) <= tensor.rounding(1.0) < 1e-8


def test_the_gain_bounds_the_exact_norm():
    """W G W' with 40 digits, for the stored W."""
    low, high = np.zeros(1), np.full(1, 8.0)
    (axis,) = public_expansion(GaussianKernel(1.0), low, high, None, "auto").axes
    mp = mpmath.mp.clone()
    mp.dps = 40
    points = [mp.mpf(float(p)) for p in axis.nodes[:, 0]]
    gram = mp.matrix([[mp.exp(-((p - q) ** 2) / 2) for q in points] for p in points])
    matrix = mp.matrix(axis.matrix.tolist())
    product = matrix * gram * matrix.T
    norm = np.linalg.eigvalsh(np.array(product.tolist(), dtype=float))[-1]
    assert norm <= axis.gain**2 <= norm * (1 + 1e-4)


@each_kernel
def test_errors_of_values_grow_by_the_amplification_at_most(kernel, n_axes):
    expansion = expansion_of(kernel, n_axes)
    norms = [np.linalg.norm(axis.matrix, axis=1) for axis in expansion.axes]
    parts = [norm[row] for norm, row in zip(norms, expansion.index, strict=True)]
    worst = expansion.index[:, np.argmax(np.prod(parts, axis=0))]
    error = np.ones(1)
    for axis, row in zip(expansion.axes, worst, strict=True):
        error = np.outer(error, np.sign(axis.matrix[row])).ravel()
    change = np.linalg.norm(expansion.of_values(error))
    assert 0.3 * expansion.amplification <= change <= expansion.amplification
    assert expansion.rounding_of_values(1.0) <= 1e-9 * expansion.amplification
    for axis, norm in zip(expansion.axes, norms, strict=True):
        change = axis.of_values(np.sign(axis.matrix[np.argmax(norm)]))
        bound = axis.amplification
        assert 0.2 * bound <= np.linalg.norm(change) <= bound


# Points


def test_points_have_the_exact_joint_law():
    """The finite-dimensional law of a Gaussian process, in any dimension."""
    rng = np.random.default_rng(5)
    low, high = np.full(6, -1.0), np.full(6, 1.0)
    points = rng.uniform(-1, 1, (30, 6))
    kernel = GaussianKernel(1.3)
    expansion = public_expansion(kernel, low, high, points, "auto")
    assert expansion.size == 30
    inner = expansion.coordinates(points) @ expansion.coordinates(points).T
    np.testing.assert_allclose(inner, kernel(points, points), rtol=0, atol=1e-9)
    # Elsewhere it is what the values at the points say: K(t, P) K(P, P)^-1 K(P, t).
    T = rng.uniform(-1, 1, (10, 6))
    cross = kernel(T, points)
    kriged = cross @ np.linalg.solve(kernel(points, points), cross.T)
    inner = expansion.coordinates(T) @ expansion.coordinates(T).T
    np.testing.assert_allclose(inner, kriged, rtol=0, atol=1e-7)


@pytest.mark.parametrize("gap", [0.0, 1e-300, 1e-12, 1e-5])
def test_points_that_nearly_coincide_are_one(gap):
    """No direction is left in which a signal would stand without noise."""
    points = np.array([[0.0], [gap], [1.0], [1.0 - gap]])
    expansion = public_expansion(
        GaussianKernel(0.5), np.zeros(1), np.ones(1), points, "auto"
    )
    assert expansion.size == 2
    assert 1 <= expansion.gain <= 1 + 1e-6
    deviations = np.linalg.norm(expansion.coordinates(points), axis=1)
    np.testing.assert_allclose(deviations, 1, rtol=0, atol=1e-7)


def test_a_gram_matrix_of_low_rank_is_cut():
    """200 points where a smooth kernel knows only a few directions."""
    points = np.linspace(0, 1, 200)[:, None]
    kernel = GaussianKernel(1.0)
    expansion = public_expansion(kernel, np.zeros(1), np.ones(1), points, "auto")
    assert expansion.size < 12
    assert expansion.gain <= 1 + 1e-3
    assert expansion.error < 1e-7
    f = kernel(points, [[0.3]])[:, 0]
    norm = gram_norm(f, points, kernel)
    coordinates = expansion.of_values(f)
    assert np.linalg.norm(coordinates) == pytest.approx(norm, rel=1e-4)


@pytest.mark.parametrize("n_axes", [1, 2, 5])
@pytest.mark.parametrize("count", [1, 50])
def test_spread_points_lie_evenly_in_the_box(n_axes, count):
    low, high = np.arange(n_axes) - 5.0, np.arange(n_axes) + 2.0
    points = spread(count, low, high)
    assert points.shape == (count, n_axes)
    assert ((points >= low) & (points <= high)).all()
    if count == 50:
        halves = (points < (low + high) / 2).mean(axis=0)
        np.testing.assert_allclose(halves, 0.5, atol=0.1)


@pytest.mark.parametrize("n_axes", [1, 2, 12])
def test_a_number_of_nodes(n_axes):
    low, high = np.zeros(n_axes), np.ones(n_axes)
    expansion = public_expansion(GaussianKernel(2.0), low, high, None, 20)
    assert len(expansion.nodes) == 20
    assert 0 <= expansion.error < 1
    assert expansion.gain <= 1 + 1e-3


# Kernels of somebody else, and refusals


@dataclass(frozen=True)
class Cauchy(Kernel):
    scale: float = 1.0
    n_axes = None

    def _evaluate(self, X, Y):
        return 1 / (1 + np.square(X - Y.T) / self.scale**2)


class Broken(Cauchy):
    def __init__(self, broken):
        object.__setattr__(self, "broken", broken)

    def _evaluate(self, X, Y):
        return self.broken(X, Y)


def test_a_kernel_of_somebody_else():
    expansion = expansion_of(Cauchy(0.5), 1)
    T = somewhere(1)
    coordinates = expansion.coordinates(T)
    lost = np.abs(coordinates @ coordinates.T - Cauchy(0.5)(T, T)).max()
    assert lost <= 1.05 * expansion.error < 1e-5
    pair = ProductKernel([Cauchy(1.0), GaussianKernel(0.4)])
    assert expansion_of(pair, 2).error < 1e-5


def test_a_kernel_that_changes_is_built_anew():
    scale = [1.0]

    def changing(X, Y):
        return np.exp(-0.5 * np.square((X - Y.T) / scale[0]))

    kernel = Broken(changing)
    first = expansion_of(kernel, 1)
    scale[0] = 0.1
    assert expansion_of(kernel, 1).size > first.size


@pytest.mark.parametrize(
    ("broken", "match"),
    [
        (lambda X, Y: 2.0 * (X == Y.T), "K\\(x, x\\) = 1"),
        (lambda X, Y: np.full((len(X), len(Y)), np.nan), "finite"),
        (lambda X, Y: (X == Y.T) + 0.1 * (X < Y.T), "symmetric"),
        (lambda X, Y: 1.0 * (np.abs(X - Y.T) < 0.5), "not positive definite"),
    ],
)
def test_what_is_no_covariance_is_refused(broken, match):
    with pytest.raises(ValueError, match=match):
        expansion_of(Broken(broken), 1)
    points = np.linspace(-1, 1, 30)[:, None]
    with pytest.raises(ValueError, match=match):
        expansion_of(Broken(broken), 1, points=points)


@pytest.mark.parametrize(
    ("kernel", "n_axes"),
    [
        (GaussianKernel(1e-4), 1),
        (GaussianKernel(0.02), 2),
        (GaussianKernel(0.1), 3),
        (ExponentialKernel(20.0), 2),
        (ExponentialKernel(2.0), 3),
    ],
)
def test_what_would_be_inaccurate_is_refused_with_the_remedy(kernel, n_axes):
    with pytest.raises(PrivacyError, match=r"larger bandwidth .* points= .* n_nodes="):
        expansion_of(kernel, n_axes)
    assert expansion_of(kernel, n_axes, n_nodes=30).size <= 30


def test_other_refusals():
    kernel, low, high = GaussianKernel(1.0), np.zeros(4), np.ones(4)
    with pytest.raises(PrivacyError, match=r"at most 3 have one.*points="):
        public_expansion(kernel, low, high, None, "auto")
    with pytest.raises(PrivacyError, match="too far apart"):
        public_expansion(
            GaussianKernel(1e-300), np.zeros(1), np.full(1, 1e300), None, "auto"
        )
    for bad in ([[0.0]], [0.0] * 4, np.zeros((0, 4))):
        with pytest.raises(ValueError, match="points must have shape"):
            public_expansion(kernel, low, high, bad, "auto")
    with pytest.raises(ValueError, match="NaN"):
        public_expansion(kernel, low, high, [[np.nan] * 4], "auto")
    with pytest.raises(ValueError, match="at most 4096"):
        public_expansion(kernel, low, high, np.zeros((5000, 4)), "auto")
    for bad in (0, 1.5, "many", True, None):
        with pytest.raises(ValueError, match="n_nodes must be"):
            public_expansion(kernel, low, high, None, bad)
    with pytest.raises(ValueError, match="n_nodes must be at most"):
        public_expansion(kernel, low, high, None, 10**6)
