"""Moments, shapes of distribution, losses and calibration of the noise laws."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from skfuncpriv.noise import (
    BlockSpherical,
    IndependentGaussian,
    IndependentLaplace,
    Lattice,
    SeededBits,
    ShapedNoise,
    SphericalLaplace,
)
from skfuncpriv.noise._draws import Measured
from tests.noise.laws import LAWS

N_DRAWS = 100_000
P_MIN = 1e-8  # with fewer than 100 such tests a false alarm has odds below 1e-6


def draws(law, seed=0):
    lattice = Lattice(-24)
    zeros = np.zeros((N_DRAWS, law.size))
    return lattice.to_float(law.release(zeros, lattice, SeededBits(seed)))


def test_moments(law):
    noise = draws(law)
    second = noise**2
    error = second.std(axis=0) / math.sqrt(N_DRAWS)
    np.testing.assert_array_less(abs(second.mean(axis=0) - law.std**2), 6 * error)
    assert law.expected_square == pytest.approx(np.sum(law.std**2), rel=1e-12)
    np.testing.assert_array_less(
        abs(noise.mean(axis=0)), 6 * law.std / math.sqrt(N_DRAWS)
    )


def test_laplace_distribution():
    law = IndependentLaplace((0.5, 2.0))
    for column, scale in zip(draws(law).T, law.scales, strict=True):
        assert stats.kstest(column, stats.laplace(scale=scale).cdf).pvalue > P_MIN


def test_gaussian_distribution():
    law = IndependentGaussian((0.5, 2.0, 1.0))
    noise = draws(law)
    for column, deviation in zip(noise.T, law.deviations, strict=True):
        assert stats.kstest(column, stats.norm(scale=deviation).cdf).pvalue > P_MIN
    correlation = np.corrcoef(noise.T)[np.triu_indices(3, 1)]
    assert abs(correlation).max() < 6 / math.sqrt(N_DRAWS)


@pytest.mark.parametrize("size", [1, 2, 3, 8, 31, 40])
def test_spherical_radius_is_gamma_and_direction_uniform(size):
    noise = draws(SphericalLaplace(size, 1.5), seed=size)
    radius = np.linalg.norm(noise, axis=1)
    assert stats.kstest(radius, stats.gamma(size, scale=1.5).cdf).pvalue > P_MIN
    cosine = noise[:, 0] / radius
    if size > 1:  # (1 + cosine) / 2 is Beta((m - 1) / 2, (m - 1) / 2)
        half = stats.beta((size - 1) / 2, (size - 1) / 2)
        assert stats.kstest((1 + cosine) / 2, half.cdf).pvalue > P_MIN
        rank = stats.spearmanr(radius, abs(cosine)).statistic
        assert abs(rank) < 6 / math.sqrt(N_DRAWS)


def test_laplace_agrees_with_opendp():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = (
        dp.vector_domain(dp.atom_domain(T=float, nan=False)),
        dp.l1_distance(T=float),
    )
    oracle = dp.m.make_laplace(*space, scale=2.0)([0.0] * 20_000)
    ours = draws(IndependentLaplace((2.0,)))[:, 0]
    assert stats.ks_2samp(ours, oracle).pvalue > P_MIN


def test_shaped_noise_has_the_covariance_of_its_shape():
    matrix = np.array([[2.0, 0, 0], [1.0, 0.5, 0], [0.3, -1.0, 1.5]])
    law = ShapedNoise(SphericalLaplace(3), matrix)
    noise = draws(law)
    expected = 4.0 * matrix @ matrix.T
    products = noise[:, :, None] * noise[:, None, :]
    error = products.std(axis=0) / math.sqrt(N_DRAWS)
    np.testing.assert_array_less(abs(products.mean(axis=0) - expected), 6 * error)


ROOT = math.sqrt((5.25 - math.sqrt(5.25**2 - 4)) / 2)
SMALLEST = [0.7, 0.7, 0.9, 0.9, 1.3, 0.5, ROOT, 0.5]


@pytest.mark.parametrize(("law", "smallest"), [*zip(LAWS, SMALLEST, strict=True)])
def test_lattices_resolve_the_quietest_direction(law, smallest):
    """Of [[2, 0], [1, 0.5]] that is the smaller root of x^4 - 5.25 x^2 + 1 = 0."""
    assert law.smallest_scale == pytest.approx(smallest, rel=1e-12)


def test_losses_of_shifts():
    assert IndependentLaplace((1.0, 0.5)).loss([0.5, -1.0]) == 2.5
    assert IndependentGaussian((1.0, 0.5)).loss([1.0, 1.0]) == 2.5
    assert SphericalLaplace(2, 0.5).loss([3.0, 4.0]) == 10.0
    assert BlockSpherical((2, 1), (0.5, 2.0)).loss([3.0, 4.0, 1.0]) == 10.5
    shaped = ShapedNoise(IndependentGaussian((1.0, 1.0)), [[1.0, 0.0], [1.0, 1.0]])
    assert shaped.loss([1.0, 1.0]) == 0.5


def test_losses_are_rounded_up():
    third = IndependentLaplace((3.0,)).loss([1.0])
    assert Fraction(third) >= Fraction(1, 3) > Fraction(math.nextafter(third, 0))
    root = SphericalLaplace(2, 1.0).loss([1.0, 1.0])
    assert Fraction(root) ** 2 >= 2 > Fraction(math.nextafter(root, 0)) ** 2


EPSILONS = [1e-3, 0.1, 0.3, 1.0, 1 / 3, 50.0, 1e6]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", [1e-9, 0.1, 2.0 / 3.0, 1e12])
def test_calibration_is_safe_and_tight(epsilon, sensitivity):
    radius = Fraction(sensitivity)
    budget = min(Fraction(epsilon), Fraction(repr(epsilon)))
    profile = np.geomspace(1, 1e-3, 40)
    laplace = IndependentLaplace.scale_for(epsilon, sensitivity, profile)
    square = sum((radius / Fraction(b)) ** 2 for b in laplace.scales)
    blocks = BlockSpherical.scale_for(epsilon, sensitivity, (5,) * 40, profile)
    block_square = sum((radius / Fraction(b)) ** 2 for b in blocks.scales)
    spherical = SphericalLaplace.scale_for(epsilon, sensitivity, 7)
    gaussian = IndependentGaussian.scale_for(epsilon, sensitivity, 3)
    sphere_square = (radius / Fraction(spherical.scale)) ** 2
    for loss in (square, block_square, sphere_square):
        assert budget**2 * (1 - Fraction(1, 10**12)) <= loss <= budget**2
    loss = (radius / Fraction(gaussian.deviations[0])) ** 2 / 2
    assert budget * (1 - Fraction(1, 10**12)) <= loss <= budget


def test_budgets_that_are_met_exactly_cost_nothing_more():
    """Powers of two: the textbook's scale is a float, and no larger one is taken."""
    assert IndependentLaplace.scale_for(0.5, 2.0, [1.0]).scales == (4.0,)
    assert IndependentLaplace.scale_for(0.5, 2.0, [1.0] * 4).scales == (8.0,) * 4
    assert BlockSpherical.scale_for(0.5, 2.0, [3] * 4, [2.0] * 4).scales == (8.0,) * 4
    assert SphericalLaplace.scale_for(0.5, 2.0, 7).scale == 4.0
    assert IndependentGaussian.scale_for(0.125, 2.0, 3).deviations == (4.0,) * 3


@pytest.mark.parametrize("epsilon", [0.1, 1 / 3, 50.0])
@pytest.mark.parametrize("shape", [[2.0, 0.5], [[2.0, 0.0], [1.0, 0.5]]])
def test_shaped_laws_are_calibrated_in_their_own_norm(shape, epsilon):
    law = ShapedNoise.scale_for(epsilon, 0.75, shape)
    assert law.size == 2
    assert Fraction(0.75) / Fraction(law.law.scale) <= Fraction(repr(epsilon))
    for angle in np.linspace(0, 6, 20):
        shift = law.shape @ [0.75 * math.cos(angle), 0.75 * math.sin(angle)]
        assert law.loss(shift) == pytest.approx(epsilon, rel=1e-12)


def test_worst_case_shift_attains_the_ball_loss():
    profile = np.array([1.0, 0.3, 0.05])
    law = IndependentLaplace.scale_for(1.0, 2.0, profile)
    worst = 1 / np.array(law.scales)
    worst *= 2.0 / np.linalg.norm(worst)
    assert law.loss(worst) == pytest.approx(1.0, rel=1e-12)
    blocks = BlockSpherical.scale_for(1.0, 2.0, (2, 1, 3), profile)
    worst = np.repeat(1 / np.array(blocks.scales) / np.sqrt([2, 1, 3]), [2, 1, 3])
    worst *= 2.0 / np.linalg.norm(worst)
    assert blocks.loss(worst) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, True, "1", None])
def test_bad_budgets_and_scales_are_refused(bad):
    with pytest.raises(ValueError, match="finite number > 0"):
        SphericalLaplace.scale_for(bad, 1.0, 2)
    for refuse in (
        lambda: IndependentLaplace((1.0, bad)),
        lambda: IndependentGaussian((1.0, bad)),
        lambda: BlockSpherical((1, 2), (1.0, bad)),
        lambda: SphericalLaplace(2, bad),
    ):
        with pytest.raises(ValueError, match="finite number > 0"):
            refuse()


def test_laws_without_scales_or_with_odd_ones_out_are_refused():
    for refuse in (lambda: IndependentLaplace(()), lambda: IndependentGaussian(())):
        with pytest.raises(ValueError, match="must hold at least one number > 0"):
            refuse()
    for sizes, scales in (((1, 2), (1.0,)), ((1,), (1.0, 2.0))):
        with pytest.raises(ValueError, match="same length, got"):
            BlockSpherical(sizes, scales)
    for law in (IndependentLaplace((1.0,)), IndependentGaussian((1.0,))):
        with pytest.raises(ValueError, match="zip"):
            law.loss([1.0, 1.0])


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "2", None])
def test_dimensions_that_are_not_counts_are_refused(bad):
    for refuse in (
        lambda: SphericalLaplace(bad),
        lambda: BlockSpherical((1, bad), (1.0, 1.0)),
    ):
        with pytest.raises(ValueError, match="must be an integer"):
            refuse()


def test_scales_out_of_range_are_refused():
    with pytest.raises(ValueError, match="range of floating point"):
        SphericalLaplace.scale_for(5e-324, 1.0, 2)


@pytest.mark.parametrize(
    "shape",
    [
        [[1.0, 1.0], [0.0, 1.0]],
        [1.0, 0.0],
        [1.0, math.nan],
        [1.0, 1.0, 1.0],
        [1.0, 1e-14],
    ],
)
def test_shapes_that_switch_noise_off_are_refused(shape):
    with pytest.raises(ValueError, match="shape"):
        ShapedNoise(SphericalLaplace(2), shape)


def test_a_product_with_a_shape_has_an_error_of_its_own():
    """1 + 64 halves of a unit in the last place: the float sum leaves many out."""

    class Plain:
        size = 65

        def _read(self, words, exponent):
            value = np.array([[1.0, *[2.0**-54] * 64]])
            return Measured(value, np.zeros_like(value))

    law = ShapedNoise(Plain(), np.tril(np.ones((65, 65))))
    value, error = law._read(None, 0)
    lost = [
        abs(Fraction(float(v)) - 1 - k * Fraction(2) ** -54)
        for k, v in enumerate(value[0])
    ]
    assert max(lost) > 2.0**-52
    assert all(x <= Fraction(float(e)) for x, e in zip(lost, error[0], strict=True))


def test_shapes_down_to_the_stated_ratio_are_taken():
    law = SphericalLaplace(2)
    assert ShapedNoise(law, [1.0, 2.0**-40]).smallest_scale == 2.0**-40
    with pytest.raises(ValueError, match="singular in floating point"):
        ShapedNoise(law, [1.0, 2.0**-41])


def test_a_shape_is_a_matrix_that_nobody_can_change():
    diagonal = np.array([1.0, 3.0])
    law = ShapedNoise(SphericalLaplace(2), diagonal)
    diagonal[:] = 0.0
    np.testing.assert_array_equal(law.shape, [[1.0, 0.0], [0.0, 3.0]])
    with pytest.raises(ValueError, match="read-only"):
        law.shape[0, 0] = 0.0


@pytest.mark.parametrize("bad", [0, -1.0, math.nan, math.inf, True, None])
def test_bad_sensitivities_are_refused(bad):
    for refuse in (
        lambda: SphericalLaplace.scale_for(1.0, bad, 2),
        lambda: IndependentLaplace.scale_for(1.0, bad, [1.0]),
        lambda: BlockSpherical.scale_for(1.0, bad, [1], [1.0]),
        lambda: IndependentGaussian.scale_for(1.0, bad, 2),
    ):
        with pytest.raises(ValueError, match="sensitivity must be a finite number > 0"):
            refuse()


@pytest.mark.parametrize("sensitivity", [0.1, 0.3, 0.7, 1.1, 1e-3, 2.0 / 3.0])
def test_one_coordinate_meets_the_scalar_calibrations(sensitivity):
    from skfuncpriv.privacy import laplace_scale, zcdp_sigma

    scale = laplace_scale(0.9, sensitivity)
    for law in (
        IndependentLaplace.scale_for(0.9, sensitivity, [1.0]),
        BlockSpherical.scale_for(0.9, sensitivity, [1], [1.0]),
    ):
        assert scale <= law.scales[0] <= scale * (1 + 2.0**-50)
    spherical = SphericalLaplace.scale_for(0.9, sensitivity, 1)
    assert scale <= spherical.scale <= scale * (1 + 2.0**-50)
    sigma = zcdp_sigma(0.9, sensitivity)
    gaussian = IndependentGaussian.scale_for(0.9, sensitivity, 1)
    assert sigma <= gaussian.deviations[0] <= sigma * (1 + 2.0**-50)
