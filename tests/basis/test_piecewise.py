"""PiecewisePolynomialBasis: independent pieces and smooth splines, however uneven."""

import copy
import pickle
from dataclasses import FrozenInstanceError
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.interpolate import BSpline

from skfuncpriv.basis import (
    BSplineBasis,
    LegendreBasis,
    PiecewisePolynomialBasis,
    check_orthonormal,
)
from skfuncpriv.exceptions import PrivacyError

UNEVEN = (-3.0, -2.9, 0.0, 4.5, 5.0, 21.0)
KINDS = [(0, -1), (1, -1), (3, -1), (1, 0), (2, 0), (5, 0), (2, 1), (3, 1), (5, 1)]


def _uneven(n_pieces, ratio, low=0.0):
    """Break points of pieces whose lengths differ by up to `ratio`."""
    length = ratio ** np.random.default_rng(0).random(n_pieces)
    length[[0, -1]] = 1.0, ratio
    return tuple(low + np.concatenate(([0.0], np.cumsum(length / length.sum()))))


def _by_quadrature(basis, function):
    """Inner products by a rule on each piece, nodes inside."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    breaks = np.array(basis.breaks)
    half = 0.5 * np.diff(breaks)[:, np.newaxis]
    t = (breaks[:-1, np.newaxis] + half * (1.0 + nodes)).ravel()
    return basis.evaluate(t).T @ ((half * weights).reshape(-1, 1) * function(t))


@pytest.mark.parametrize(("degree", "continuity"), KINDS)
def test_they_are_orthonormal_under_an_independent_quadrature(degree, continuity):
    basis = PiecewisePolynomialBasis(UNEVEN, degree, continuity)
    gram = _by_quadrature(basis, basis.evaluate)
    assert_allclose(gram, np.eye(basis.n_basis), rtol=0, atol=1e-12)
    assert_allclose(basis.gram(), np.eye(basis.n_basis), rtol=0, atol=1e-14)
    assert basis.orthonormalize() is basis


@pytest.mark.parametrize("ratio", [1.0, 1e3])
@pytest.mark.parametrize(("degree", "continuity"), KINDS)
def test_many_uneven_pieces_are_orthonormal(degree, continuity, ratio):
    basis = PiecewisePolynomialBasis(_uneven(64, ratio), degree, continuity)
    check_orthonormal(basis)
    gram = _by_quadrature(basis, basis.evaluate)
    assert_allclose(gram, np.eye(basis.n_basis), rtol=0, atol=1e-10)


@pytest.mark.parametrize(("degree", "continuity"), KINDS)
def test_the_number_of_functions_is_that_of_the_space(degree, continuity):
    basis = PiecewisePolynomialBasis(UNEVEN, degree, continuity)
    assert basis.n_basis == 5 * (degree + 1) - 4 * (continuity + 1)
    assert basis.domain == (-3.0, 21.0)
    assert basis.evaluate([0.0, 1.0]).shape == (2, basis.n_basis)
    assert len(basis.spectrum) == basis.n_basis


def test_independent_pieces_are_legendre_polynomials_piece_by_piece():
    basis = PiecewisePolynomialBasis((0.0, 1.0, 3.0), degree=3)
    t = np.linspace(1.0, 3.0, 11)
    wanted = LegendreBasis(4, (1.0, 3.0)).evaluate(t)
    assert_allclose(basis.evaluate(t)[:, 4:], wanted, rtol=0, atol=1e-14)
    assert_array_equal(basis.evaluate(t)[:, :4], 0.0)


@pytest.mark.parametrize("continuity", [-1, 0, 1])
def test_one_piece_spans_the_polynomials(continuity):
    basis = PiecewisePolynomialBasis((0.0, 2.0), 4, continuity)
    assert basis.ordered_by_frequency
    legendre = LegendreBasis(5, (0.0, 2.0))
    turn = _by_quadrature(basis, legendre.evaluate)
    assert_allclose(turn.T @ turn, np.eye(5), rtol=0, atol=1e-13)


@pytest.mark.parametrize(("degree", "continuity"), KINDS)
def test_splines_of_scipy_are_recovered(degree, continuity):
    basis = PiecewisePolynomialBasis(UNEVEN, degree, continuity)
    repeats = [degree + 1, *[degree - continuity] * 4, degree + 1]
    knots = np.repeat(UNEVEN, repeats)
    weights = np.random.default_rng(1).normal(size=basis.n_basis)
    spline = BSpline(knots, weights, degree)
    coefficients = _by_quadrature(basis, lambda t: spline(t)[:, np.newaxis])[:, 0]
    t = np.append(np.linspace(-3.0, 21.0, 300), UNEVEN)
    found = basis.evaluate(t) @ coefficients
    assert_allclose(found, spline(t), rtol=0, atol=1e-12)


def test_gram_schmidt_runs_from_left_to_right():
    # As the QR of BSplineBasis does, on its equally spaced knots.
    raw = BSplineBasis(9, (0.0, 4.0), degree=2)
    basis = PiecewisePolynomialBasis(raw._breaks(), degree=2, continuity=1)
    t = np.linspace(0.0, 4.0, 77)
    wanted = raw.orthonormalize().evaluate(t)
    assert_allclose(basis.evaluate(t), wanted, rtol=0, atol=1e-13)


@pytest.mark.parametrize("ratio", [1.0, 1e3])
@pytest.mark.parametrize(("degree", "continuity"), [(1, 0), (3, 0), (2, 1), (5, 1)])
def test_continuous_functions_do_not_jump(degree, continuity, ratio):
    basis = PiecewisePolynomialBasis(_uneven(16, ratio), degree, continuity)
    inner = np.array(basis.breaks[1:-1])
    length = np.diff(basis.breaks)
    shorter = np.minimum(length[1:], length[:-1])[:, np.newaxis]
    gap = 1e-7 * shorter[:, 0]
    before, at, after = (basis.evaluate(inner + s * gap) for s in (-1, 0, 1))
    # Functions of norm one are at most (degree + 1)/sqrt(length) on a piece, and their
    # slopes (degree + 1)^2 times that over half a length. A slope that jumped by its
    # own size would bend a function by 1e-7 of it, rounding of t by 1e-10 at most.
    size = (degree + 1) / np.sqrt(shorter)
    assert np.all(np.abs(at - before) <= 3e-7 * (degree + 1) ** 2 * size)
    if continuity == 1:
        bend = np.abs(after - 2.0 * at + before)
        assert np.all(bend <= 3e-10 * size)


@pytest.mark.parametrize(("degree", "continuity"), KINDS)
def test_functions_are_continuous_from_the_right(degree, continuity):
    basis = PiecewisePolynomialBasis(UNEVEN, degree, continuity)
    left = np.array(UNEVEN[:-1])
    after = basis.evaluate(np.nextafter(left, np.inf))
    assert_allclose(basis.evaluate(left), after, rtol=0, atol=1e-10)
    end = basis.evaluate([np.nextafter(21.0, 0.0)])
    assert_allclose(basis.evaluate([21.0]), end, rtol=0, atol=1e-10)


def test_independent_pieces_jump_at_a_break():
    basis = PiecewisePolynomialBasis((0.0, 1.0, 2.0), degree=0)
    found = basis.evaluate([0.0, 1.0, 2.0])
    assert_allclose(found, [[1, 0], [0, 1], [0, 1]], rtol=0, atol=1e-15)


@pytest.mark.parametrize(("degree", "continuity"), KINDS)
@pytest.mark.parametrize("grid", [(-3.0, 0.0, 1.0, 21.0), (1.0, 4.6), (2.0,)])
def test_projection_meets_quadrature_of_the_curve(degree, continuity, grid):
    basis = PiecewisePolynomialBasis(UNEVEN, degree, continuity)
    values = np.random.default_rng(2).normal(size=len(grid))
    found = values @ basis.projection(grid)
    edges = np.union1d(UNEVEN, grid)
    for k in range(basis.n_basis):
        wanted = sum(
            quad(
                lambda t, k=k: np.interp(t, grid, values) * basis.evaluate([t])[0, k],
                *panel,
            )[0]
            for panel in pairwise(edges)
        )
        assert abs(found[k] - wanted) < 1e-11


@pytest.mark.parametrize("continuity", [-1, 0])
def test_a_piecewise_line_is_recovered(continuity):
    basis = PiecewisePolynomialBasis(UNEVEN, continuity=continuity)
    values = np.random.default_rng(3).normal(size=len(UNEVEN))
    coefficients = values @ basis.projection(UNEVEN)
    t = np.linspace(-3.0, 21.0, 200)
    assert_allclose(
        basis.evaluate(t) @ coefficients, np.interp(t, UNEVEN, values), atol=1e-13
    )


@pytest.mark.parametrize(("degree", "continuity"), KINDS)
def test_nothing_is_lost_far_from_zero(degree, continuity):
    # Seconds of a day in 2023: they are rounded to 2e-7.
    day = 1.7e9
    breaks = np.round(86400.0 * np.array(_uneven(16, 1e3)))
    grid = np.linspace(0.0, 86400.0, 97)
    near = PiecewisePolynomialBasis(tuple(breaks), degree, continuity)
    far = PiecewisePolynomialBasis(tuple(day + breaks), degree, continuity)
    check_orthonormal(far)
    assert_array_equal(far.evaluate(day + grid), near.evaluate(grid))
    assert_allclose(far.projection(day + grid), near.projection(grid), atol=1e-12)


@pytest.mark.parametrize("how", [copy.copy, lambda b: pickle.loads(pickle.dumps(b))])
def test_copies_are_equal_and_hold_the_parameters_only(how):
    basis = PiecewisePolynomialBasis(UNEVEN, 3, 1)
    before = basis.evaluate([0.3])
    twin = how(basis)
    assert twin == basis
    assert hash(twin) == hash(basis)
    assert vars(twin) == {"breaks": UNEVEN, "degree": 3, "continuity": 1}
    assert_array_equal(twin.evaluate([0.3]), before)
    with pytest.raises(FrozenInstanceError):
        basis.degree = 2


def test_breaks_may_be_any_sequence():
    wanted = PiecewisePolynomialBasis((0.0, 1.0, 3.0))
    assert PiecewisePolynomialBasis(np.array([0, 1, 3])) == wanted
    assert PiecewisePolynomialBasis([0, 1, 3]) == wanted


@pytest.mark.parametrize(
    "breaks",
    [(), (1.0,), (0.0, 0.0), (1.0, 0.0), (0.0, np.nan), (0.0, np.inf), 3.0, "ab"],
)
def test_breaks_must_be_increasing_numbers(breaks):
    with pytest.raises(ValueError, match="breaks must be two or more increasing"):
        PiecewisePolynomialBasis(breaks)


@pytest.mark.parametrize("degree", [-1, 1.5, 16, True])
def test_degrees_must_be_small_counts(degree):
    with pytest.raises(ValueError, match="degree must be"):
        PiecewisePolynomialBasis((0.0, 1.0), degree)


@pytest.mark.parametrize(
    ("degree", "continuity"), [(0, 0), (1, 1), (3, 2), (3, -2), (3, 0.5), (3, None)]
)
def test_continuity_must_be_less_than_the_degree(degree, continuity):
    with pytest.raises(ValueError, match="continuity must be"):
        PiecewisePolynomialBasis((0.0, 1.0), degree, continuity)


def test_pieces_that_rounding_would_tear_apart_are_refused():
    breaks = (0.0, 1e-10, 1.0)
    check_orthonormal(PiecewisePolynomialBasis(breaks))
    with pytest.raises(PrivacyError, match="use fewer breaks"):
        PiecewisePolynomialBasis(breaks, continuity=0)


def test_positions_have_no_first():
    basis = PiecewisePolynomialBasis(UNEVEN)
    assert not basis.ordered_by_frequency
    assert basis.first(10) is basis
    with pytest.raises(ValueError, match=r"first\(4\) .* has no meaning"):
        basis.first(4)
