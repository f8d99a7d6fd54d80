"""Bernstein polynomials: known identities, accuracy, and what iteration gains."""

import mpmath
import numpy as np
import pytest

from skfuncpriv.basis._bernstein_operator import BernsteinOperator, bernstein_basis

POINTS = np.array([0.0, 1e-300, 1e-5, 0.3, 0.5, 0.977, 1 - 1e-15, 1.0])


@pytest.mark.parametrize("degree", [1, 2, 17, 100, 400])
def test_basis_has_the_values_of_many_digits(degree):
    basis = bernstein_basis(POINTS, degree)
    for x, row in zip(POINTS.tolist(), basis, strict=True):
        t = mpmath.mpf(x)
        for v in range(degree + 1):
            exact = mpmath.binomial(degree, v) * t**v * (1 - t) ** (degree - v)
            assert row[v] == pytest.approx(float(exact), rel=1e-11, abs=1e-300)
    np.testing.assert_allclose(basis.sum(axis=1), 1.0, rtol=1e-12)
    assert (basis >= 0).all()


def lattice(degree, n_axes=1):
    nodes = np.arange(degree + 1) / degree
    mesh = np.meshgrid(*[nodes] * n_axes, indexing="ij")
    return np.stack(mesh, axis=-1)


def released(function, operator, points):
    """What becomes of a function, by way of its values on the lattice."""
    values = function(lattice(operator.degree, operator.n_axes))
    return operator.evaluate(operator.coefficients(values), points)


@pytest.mark.parametrize("order", [1, 2, 3, 8])
@pytest.mark.parametrize("degree", [1, 2, 9, 200])
@pytest.mark.parametrize("n_axes", [1, 2])
def test_linear_functions_are_reproduced(degree, order, n_axes):
    if n_axes == 2 and degree == 200:
        degree = 30
    points = np.random.default_rng(0).uniform(size=(40, n_axes))
    slopes = np.array([3.0, -2.0])[:n_axes]

    def linear(x):
        return 1.5 + x @ slopes

    found = released(linear, BernsteinOperator(degree, order, n_axes), points)
    np.testing.assert_allclose(found, linear(points), atol=1e-11)


@pytest.mark.parametrize("degree", [2, 9, 60])
def test_squares_have_their_known_error(degree):
    points = np.random.default_rng(1).uniform(size=(30, 1))
    x = points[:, 0]
    found = released(lambda t: t[..., 0] ** 2, BernsteinOperator(degree, 1, 1), points)
    np.testing.assert_allclose(found, x**2 + x * (1 - x) / degree, atol=1e-13)
    # I - (I - B)^h multiplies the error, an eigenfunction of B, by itself.
    found = released(lambda t: t[..., 0] ** 2, BernsteinOperator(degree, 3, 1), points)
    np.testing.assert_allclose(found, x**2 + x * (1 - x) / degree**3, atol=1e-13)


def wavy(x):
    return np.sin(4 * x).sum(axis=-1) + x[..., 0] ** 2 * x[..., -1]


@pytest.mark.parametrize("n_axes", [1, 2, 3])
@pytest.mark.parametrize("order", [1, 2, 4])
def test_iterated_operator_is_its_definition(order, n_axes):
    """I - (I - B)^h, applied as often as it says, each B evaluated at the lattice."""
    degree = 7
    operator = BernsteinOperator(degree, order, n_axes)
    nodes = lattice(degree, n_axes)
    plain = BernsteinOperator(degree, 1, n_axes)
    points = np.random.default_rng(2).uniform(size=(20, n_axes))

    def at(values, where):
        """B of a function that has these values on the lattice."""
        return plain.evaluate(values, where)

    # (I - B)^h f at points: rest holds (I - B)^i f on the lattice and at the points.
    on_lattice, at_points = wavy(nodes), wavy(points)
    for _ in range(order):
        smooth = at(on_lattice, nodes.reshape(-1, n_axes)).reshape(on_lattice.shape)
        at_points = at_points - at(on_lattice, points)
        on_lattice = on_lattice - smooth
    expected = wavy(points) - at_points
    np.testing.assert_allclose(released(wavy, operator, points), expected, atol=1e-12)


def test_higher_orders_and_degrees_are_better():
    points = np.linspace(0, 1, 101)[:, None]

    def error(degree, order):
        operator = BernsteinOperator(degree, order, 1)
        return np.abs(released(wavy, operator, points) - wavy(points)).max()

    for order in (1, 2, 3):
        ratio = error(40, order) / error(160, order)
        assert 0.7 * 4**order <= ratio <= 1.4 * 4**order  # k^-h
        assert error(160, order + 1) < 0.3 * error(160, order)


@pytest.mark.parametrize("order", [1, 2, 5])
@pytest.mark.parametrize(("degree", "n_axes"), [(1, 1), (12, 1), (5, 2), (2, 3)])
def test_noise_square_is_an_integral(degree, order, n_axes):
    operator = BernsteinOperator(degree, order, n_axes)
    nodes, weights = np.polynomial.legendre.leggauss(degree + 2)
    mesh = np.meshgrid(*[(nodes + 1) / 2] * n_axes, indexing="ij")
    points = np.stack(mesh, axis=-1).reshape(-1, n_axes)
    masses = weights / 2
    for _ in range(n_axes - 1):
        masses = np.multiply.outer(masses, weights / 2)
    shape = (degree + 1,) * n_axes
    squares = np.zeros(len(points))
    for unit in np.eye((degree + 1) ** n_axes):
        curve = operator.evaluate(operator.coefficients(unit.reshape(shape)), points)
        squares += curve**2
    np.testing.assert_allclose(operator.noise_squares(points), squares, rtol=1e-9)
    total = masses.ravel() @ squares
    assert operator.noise_square == pytest.approx(total, rel=1e-10)
