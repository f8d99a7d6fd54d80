"""What floats add to sensitivities: checked with 40 digits, and paid for."""

import math

import mpmath
import numpy as np
import pytest

from skfuncpriv.gaussian_process import GaussianKernel, ridge_sensitivity
from skfuncpriv.gaussian_process._adapters import (
    DensityFunction,
    RidgeFunction,
    StatedFunction,
)
from skfuncpriv.gaussian_process._nodes import public_expansion

LOW, HIGH = np.zeros(1), np.full(1, 6.0)
KERNEL = GaussianKernel(1.0)
EXPANSION = public_expansion(KERNEL, LOW, HIGH, None, "auto")


def exact_ridge(X, y, alpha):
    """The coordinates with 40 digits, for the stored matrix of the expansion."""
    mp = mpmath.mp.clone()
    mp.dps = 40

    def kernel(one, other):
        return mp.matrix(
            [[mp.exp(-((mp.mpf(a) - mp.mpf(b)) ** 2) / 2) for b in other] for a in one]
        )

    points = X[:, 0].tolist()
    gram = kernel(points, points) + mp.mpf(alpha) * mp.eye(len(points))
    weights = mp.lu_solve(gram, mp.matrix(y.tolist()))
    (axis,) = EXPANSION.axes
    values = kernel(axis.nodes[:, 0].tolist(), points) * weights
    return mp.matrix(axis.matrix.tolist()) * values


@pytest.mark.parametrize("alpha", [1e-9, 1e-4, 1.0])
def test_rounding_errors_of_ridge_are_within_their_bound(alpha):
    """Rows so close that the matrix is nearly singular."""
    rng = np.random.default_rng(0)
    n = 8
    function = RidgeFunction(KERNEL, alpha, -1.0, 1.0)
    bound = function._rounding(n, EXPANSION)
    for spread in (1e-7, 1e-2, 6.0):
        X = 3 + spread * rng.uniform(-0.5, 0.5, (n, 1))
        y = rng.choice([-1.0, 1.0], n)
        value = function.value(X, y, None, n, EXPANSION)
        exact = exact_ridge(X, y, alpha)
        step = mpmath.mpf(2) ** value.lattice.exponent
        wrong = [int(v) * step - e for v, e in zip(value.values, exact, strict=True)]
        error = math.sqrt(sum(float(w) ** 2 for w in wrong))
        rounded = math.sqrt(EXPANSION.size) * value.lattice.step
        assert error <= bound + rounded


def test_rounding_errors_of_ridge_are_paid():
    n, alpha = 2000, 1e-3
    function = RidgeFunction(KERNEL, alpha, -1.0, 1.0)
    exact = ridge_sensitivity(1.0, 1.0, alpha / n, n) * EXPANSION.gain
    wrong = 2 * function._rounding(n, EXPANSION)
    assert function.sensitivity(n, EXPANSION, False) >= exact + wrong
    assert wrong > 1e-6


def test_rounding_to_the_lattice_is_paid():
    """It is coarse for very many people: n T <= 2^62."""
    function = DensityFunction(KERNEL, KERNEL, LOW, HIGH)
    few, many = (function.sensitivity(n, EXPANSION, False) for n in (10, 2**44))
    step = 2.0**-18
    assert few + math.sqrt(EXPANSION.size) * step <= many <= few + 100 * step


def test_errors_of_values_are_paid():
    function = StatedFunction(lambda X, y: None, KERNEL, 0.1)
    bound = function.sensitivity(10, EXPANSION, False)
    wrong = 2 * EXPANSION.amplification * 2.0**-30
    wrong += 2 * EXPANSION.rounding_of_values(2.0**20)
    assert EXPANSION.gain + wrong <= bound <= EXPANSION.gain + 1.01 * wrong


def test_values_with_errors_move_by_no_more_than_was_paid():
    """Each value of two neighbours is wrong by 2^-30 in the worst direction."""
    (axis,) = EXPANSION.axes
    row = axis.matrix[np.argmax(np.linalg.norm(axis.matrix, axis=1))]
    values = 2.0**-30 * np.sign(row)

    def estimator(X, y):
        return lambda T: X[0, 0] * values

    function = StatedFunction(estimator, KERNEL, 1.0)
    plus, minus = (
        function.value(np.array([[x]]), None, None, 1, EXPANSION) for x in (1.0, -1.0)
    )
    paid = function.sensitivity(1, EXPANSION, False) - EXPANSION.gain
    assert 0.2 * paid < np.linalg.norm(plus - minus) <= paid


def test_roundings_of_everybody_are_paid():
    """With rows of many people averaged, the coordinates of each may be off."""
    function, n = DensityFunction(KERNEL, KERNEL, LOW, HIGH), 10**6
    exact = math.sqrt(2) * EXPANSION.gain
    wrong = 2 * EXPANSION.rounding(1.0)
    alone, grouped = (function.sensitivity(n, EXPANSION, g) for g in (False, True))
    assert alone >= function._family.change * EXPANSION.gain + wrong
    assert grouped - alone >= (n - 1) * wrong > 1e-9 * exact
