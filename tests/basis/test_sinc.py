"""SincBasis: sampling on the whole line, and the same functions on an interval."""

from itertools import pairwise

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad

from skfuncpriv.basis import OrthonormalBasis, SincBasis, check_orthonormal
from skfuncpriv.exceptions import PrivacyError

DOMAIN = (2.0, 4.0)
GRIDS = {
    "fine": np.linspace(1.0, 6.0, 40),
    "inside": np.array([2.2, 2.9, 3.1, 3.7]),
    "coarse": np.array([-1e3, 0.0, 1.0, 2.0, 50.0, 60.0, 3e3]),
    "two points far away": np.array([-1e6, 1e6]),
    "up to infinity, nearly": np.array([-1e300, -1e200, 3.0, 1e300]),
    "nearly equal points": np.array([1.0, 3.0, 3.0 + 1e-9, 5.0]),
    "at the centres": np.array([2.2, 2.6, 3.0, 3.4, 3.8]),
    "elsewhere": np.array([900.0, 900.1, 950.0]),
}


def _exact_projection(basis, grid):
    """Integrals of hats times sinc by their antiderivatives, of which 300 digits cancel
    where a grid reaches 1e300.
    """
    with mpmath.workdps(400):
        low, high = (mpmath.mpf(end) for end in basis.domain)
        h = (high - low) / basis.n_basis
        points = [(mpmath.mpf(t) - low) / h for t in grid]
        matrix = np.zeros((len(grid), basis.n_basis))
        for k in range(basis.n_basis):
            x = [point - k - mpmath.mpf(1) / 2 for point in points]
            mass = [mpmath.si(mpmath.pi * y) / mpmath.pi for y in x]
            moment = [-mpmath.cos(mpmath.pi * y) / mpmath.pi**2 for y in x]
            for i in range(len(grid) - 1):
                total = mass[i + 1] - mass[i]
                right = (moment[i + 1] - moment[i] - x[i] * total) / (x[i + 1] - x[i])
                matrix[i, k] += float(mpmath.sqrt(h) * (total - right))
                matrix[i + 1, k] += float(mpmath.sqrt(h) * right)
        return matrix


@pytest.mark.parametrize("whole_line", [False, True])
def test_functions_are_those_of_mpmath(whole_line):
    basis = SincBasis(5, DOMAIN, whole_line)
    t = np.append(np.linspace(2.0, 4.0, 23), basis.centres)
    with mpmath.workdps(30):
        centres = [mpmath.mpf(2) + mpmath.mpf(2 * k + 1) / 5 for k in range(5)]
        wanted = [
            [mpmath.sincpi((x - c) / 0.4) / mpmath.sqrt(0.4) for c in centres]
            for x in t
        ]
    assert_allclose(basis.evaluate(t), np.array(wanted, float), rtol=0, atol=1e-14)


def test_functions_are_one_at_their_centre_and_zero_at_the_others():
    basis = SincBasis(8, (-3.0, 21.0), whole_line=True)
    wanted = np.eye(8) / np.sqrt(3.0)
    assert_array_equal(basis.centres, -3.0 + 3.0 * (np.arange(8) + 0.5))
    assert_allclose(basis.evaluate(basis.centres), wanted, rtol=0, atol=1e-15)


def test_any_finite_point_of_the_line_is_evaluated():
    basis = SincBasis(4, whole_line=True)
    values = basis.evaluate([-2.0, 0.1, 7.3, 1e12, 1e308, -1e308])
    x = 4.0 * np.array([[-2.0], [0.1], [7.3]]) - (np.arange(4) + 0.5)
    assert_allclose(values[:3], 2.0 * np.sinc(x), rtol=0, atol=1e-15)
    assert np.all(np.abs(values[3:]) < 1e-12)


@pytest.mark.parametrize("t", [[np.inf], [0.5, np.nan]])
def test_other_points_are_refused(t):
    basis = SincBasis(4, whole_line=True)
    with pytest.raises(ValueError, match="t must be finite numbers"):
        basis.evaluate(t)
    with pytest.raises(ValueError, match="grid must be finite numbers"):
        basis.projection(t)


def test_they_are_orthonormal_on_the_line():
    basis = SincBasis(4, DOMAIN, whole_line=True)
    assert_array_equal(basis.gram(), np.eye(4))
    check_orthonormal(basis)
    assert basis.orthonormalize() is basis
    # A sum over steps of h/2 is exact for products of functions without frequencies
    # above pi/h, up to its tails: products are below h/(pi^2 t^2) at a distance t.
    reach = 20_000
    t = 3.0 + 0.25 * np.arange(-reach, reach + 1)
    values = basis.evaluate(t)
    tails = 2.0 * 0.5 / np.pi**2 / (0.25 * reach - 1.0)
    assert_allclose(0.25 * values.T @ values, np.eye(4), rtol=0, atol=tails)


@pytest.mark.parametrize("grid", GRIDS)
def test_projection_meets_mpmath(grid):
    basis = SincBasis(5, DOMAIN, whole_line=True)
    found = basis.projection(GRIDS[grid])
    wanted = _exact_projection(basis, GRIDS[grid])
    assert_allclose(found, wanted, rtol=0, atol=2e-15)


def test_projection_is_exact_far_from_zero():
    basis = SincBasis(20, (1e3, 1e3 + 0.5), whole_line=True)
    grid = np.array([1e3 - 5.0, 1e3 + 0.2, 1e3 + 0.2001, 1e3 + 0.3, 1e3 + 3.0])
    wanted = _exact_projection(basis, grid)
    assert_allclose(basis.projection(grid), wanted, rtol=0, atol=1e-15)


def test_projection_meets_quadrature_of_the_curve():
    basis = SincBasis(3, DOMAIN, whole_line=True)
    grid = np.array([1.0, 2.5, 3.0, 4.5])
    values = np.array([0.3, -1.0, 2.0, 0.7])
    wanted = [
        sum(
            quad(
                lambda t, k=k: np.interp(t, grid, values) * basis.evaluate([t])[0, k],
                *cell,
                epsabs=1e-13,
            )[0]
            for cell in pairwise(grid)
        )
        for k in range(3)
    ]
    assert_allclose(values @ basis.projection(grid), wanted, rtol=0, atol=1e-12)


def test_points_inserted_on_the_interpolant_change_nothing():
    basis = SincBasis(20, DOMAIN, whole_line=True)
    grid = np.array([-5.0, 2.1, 3.0, 9.0])
    values = np.array([1.0, -2.0, 0.5, 3.0])
    fine = np.union1d(grid, np.linspace(-5.0, 9.0, 701))
    refined = np.interp(fine, grid, values) @ basis.projection(fine)
    assert_allclose(values @ basis.projection(grid), refined, rtol=0, atol=1e-13)


def test_the_curve_is_zero_beyond_the_grid():
    basis = SincBasis(6, whole_line=True)
    steep = np.array([0.2 - 1e-12, 0.2, 0.7, 0.7 + 1e-12])
    found = np.array([0.0, 1.0, 1.0, 0.0]) @ basis.projection(steep)
    assert_allclose(found, basis.projection([0.2, 0.7]).sum(axis=0), rtol=0, atol=1e-11)


def test_a_function_of_the_span_is_recovered():
    basis = SincBasis(6, whole_line=True)
    coefficients = np.random.default_rng(0).normal(size=6)
    # Interpolation errs by at most step^2/8 norm(f''), norm(f'') <= (pi/h)^2 norm(f);
    # beyond the grid each function is below sqrt(h)/(pi t) at a distance t.
    grid = np.linspace(-40.0, 41.0, 16_201)
    values = basis.evaluate(grid) @ coefficients
    size = np.linalg.norm(coefficients)
    tail = size * np.sqrt(6 * 2 * (1.0 / 6.0) / (np.pi**2 * 40.0))
    error = np.linalg.norm(values @ basis.projection(grid) - coefficients)
    assert error < size * 0.005**2 / 8.0 * (6.0 * np.pi) ** 2 + tail


@pytest.mark.parametrize("grid", [[], [3.0, 3.0], [3.0, 2.0]])
def test_grids_of_the_line_must_increase(grid):
    with pytest.raises(ValueError, match="strictly increase"):
        SincBasis(4, whole_line=True).projection(grid)


def test_the_interpolant_of_one_point_of_the_line_is_nothing():
    """How many points a curve has is private, so one may not be refused."""
    found = SincBasis(4, whole_line=True).projection([3.0])
    np.testing.assert_array_equal(found, np.zeros((1, 4)))


def test_grids_beyond_floating_point_are_refused():
    with pytest.raises(ValueError, match="finite in spacings"):
        SincBasis(4, whole_line=True).projection([-1e308, 1e308])


@pytest.mark.parametrize("t", [0.5, [[0.5]]])
def test_points_of_the_line_must_form_a_vector(t):
    with pytest.raises(ValueError, match="t must be 1-D"):
        SincBasis(4, whole_line=True).evaluate(t)


@pytest.mark.parametrize("n_basis", [1, 2, 3, 16, 64, 100])
def test_those_of_the_domain_orthonormalize(n_basis):
    raw = SincBasis(n_basis, (-3.0, 21.0))
    basis = raw.orthonormalize()
    assert isinstance(basis, OrthonormalBasis)
    assert_allclose(basis.gram(), np.eye(n_basis), rtol=0, atol=1e-14)
    assert np.linalg.eigvalsh(raw.gram())[0] > 0.6
    with pytest.raises(PrivacyError, match="SincBasis with"):
        check_orthonormal(raw)


def test_those_of_the_domain_are_the_same_functions():
    t = np.linspace(2.0, 4.0, 50)
    line, domain = SincBasis(9, DOMAIN, whole_line=True), SincBasis(9, DOMAIN)
    assert_array_equal(line.evaluate(t), domain.evaluate(t))


def test_functions_of_the_line_have_no_qr():
    with pytest.raises(ValueError, match="orthonormal as they are"):
        OrthonormalBasis(SincBasis(4, whole_line=True))


@pytest.mark.parametrize("whole_line", [False, True])
def test_positions_have_no_first(whole_line):
    basis = SincBasis(6, whole_line=whole_line)
    assert basis.first(6) is basis
    with pytest.raises(ValueError, match=r"first\(3\) of SincBasis has no meaning"):
        basis.first(3)
    nested = SincBasis(6).orthonormalize()
    t = np.linspace(0.0, 1.0, 7)
    assert_array_equal(nested.first(3).evaluate(t), nested.evaluate(t)[:, :3])


@pytest.mark.parametrize("whole_line", [0, 1, None, "yes"])
def test_whole_line_must_be_a_bool(whole_line):
    with pytest.raises(ValueError, match="whole_line must be a bool"):
        SincBasis(4, whole_line=whole_line)
