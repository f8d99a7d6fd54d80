"""The exact product agrees with rational arithmetic and ignores other rows."""

from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv.summaries import ExactProduct


@pytest.mark.parametrize("n_points", [1, 2, 48, 101, 1000])
def test_accuracy(n_points):
    rng = np.random.default_rng(n_points)
    matrix = rng.normal(size=(n_points, 3)) * [1.0, 1e-6, 1e6]
    values = rng.uniform(-7, 7, (4, n_points))
    values[0] = 7.0
    result = ExactProduct(matrix, 7.0)(values.copy())
    for row in range(4):
        for column in range(3):
            exact = sum(
                Fraction(x) * Fraction(p)
                for x, p in zip(values[row], matrix[:, column], strict=True)
            )
            scale = 7.0 * abs(matrix[:, column]).max() * n_points
            assert abs(float(exact - Fraction(result[row, column]))) < 1e-12 * scale


def test_rows_do_not_depend_on_each_other():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(101, 30))
    values = rng.uniform(-1, 1, (777, 101))
    product = ExactProduct(matrix, 1.0)
    together = product(values.copy())
    for size in (1, 2, 3, 50, 600):
        part = product(values[100 : 100 + size].copy())
        np.testing.assert_array_equal(part, together[100 : 100 + size])
    reversed_rows = product(values[::-1].copy())
    np.testing.assert_array_equal(reversed_rows[::-1], together)


def test_zero_column_and_zero_values():
    product = ExactProduct(np.array([[0.0, 1.0], [0.0, 2.0]]), 3.0)
    np.testing.assert_array_equal(product(np.zeros((2, 2))), np.zeros((2, 2)))
    np.testing.assert_array_equal(product(np.array([[3.0, -1.0]])), [[0.0, 1.0]])


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e9])
def test_the_order_of_points_does_not_matter(sign, unit):
    """Every partial sum is an integer that a float holds, whatever the signs."""
    rng = np.random.default_rng(3)
    matrix = sign * unit * rng.uniform(0, 1, (200, 4))
    values = rng.uniform(-2, 2, (9, 200))
    order = rng.permutation(200)
    whole = ExactProduct(matrix, 2.0)(values.copy())
    np.testing.assert_array_equal(
        ExactProduct(matrix[order], 2.0)(values[:, order].copy()), whole
    )
    np.testing.assert_allclose(whole, values @ matrix, atol=1e-12 * unit)
