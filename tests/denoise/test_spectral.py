"""Averaging over spectra: the exact posterior mean, and risks below stated levels."""

import math

import numpy as np
import pytest
from scipy import stats

from skfuncpriv.denoise import _spectral, spectral_average
from skfuncpriv.denoise._mixture import normal_mixtures
from skfuncpriv.noise import (
    BlockSpherical,
    IndependentGaussian,
    IndependentLaplace,
    SeededBits,
    ShapedNoise,
    SphericalLaplace,
)

LAWS = {
    "gaussian": lambda m, scale: IndependentGaussian((scale,) * m),
    "spherical": lambda m, scale: SphericalLaplace(m, scale / math.sqrt(m + 1)),
}
each_law = pytest.mark.parametrize("make", LAWS.values(), ids=LAWS)


def components(law, bound, ranks):
    """Pairs (prior probability, variances), from the table of spectra."""
    noise = float(min(law.std)) ** 2
    limit = None if bound is None else bound / noise
    nothing, *spectra = noise * _spectral._spectra(limit, np.array(ranks))
    assert not nothing.any()
    share = _spectral._NOTHING[0]
    if bound is not None:
        share = np.clip((_spectral._RISE * noise / bound) ** 0.6, *_spectral._NOTHING)
    yield share, nothing
    for spectrum in spectra:
        yield (1 - share) / len(spectra), spectrum


def nodes(law):
    """Pairs (log weight, variances) of the noise, but for the least likely ones."""
    (block,) = normal_mixtures(law)
    least = max(block.log_weights) + math.log(_spectral._UNLIKELY)
    pairs = zip(block.log_weights, block.variances, strict=True)
    return [(weight, variances) for weight, variances in pairs if weight > least]


def direct(row, law, bound, ranks):
    """The posterior mean by a loop over components and nodes, one after the other."""
    row, logs, means = np.array(row), [], []
    for prior, signal in components(law, bound, ranks):
        for weight, variances in nodes(law):
            sizes = np.array(signal) + variances
            density = np.sum(stats.norm.logpdf(row / np.sqrt(sizes)))
            density -= 0.5 * np.sum(np.log(sizes))
            logs.append(math.log(prior) + weight + density)
            means.append(signal / sizes * row)
    posterior = np.exp(np.array(logs) - max(logs))
    return posterior @ np.array(means) / posterior.sum()


@each_law
@pytest.mark.parametrize("ranks", [None, [0, 0, 1, 1], [0, 0, 0, 0], [3, 1, 0, 2]])
@pytest.mark.parametrize("bound", [None, 1e-3, 30.0, 1e30])
def test_agrees_with_a_direct_evaluation(make, ranks, bound):
    law = make(4, 1.3)
    rows = [[30.0, -8.0, 1.0, 0.5], [0.0, 0.1, -0.2, -4e3]]
    ours = spectral_average(np.array(rows), law, energy_bound=bound, ranks=ranks)
    order = range(4) if ranks is None else ranks
    for row, answer in zip(rows, ours, strict=True):
        wanted = direct(row, law, bound, order)
        np.testing.assert_allclose(answer, wanted, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("bound", [None, 1e-3, 30.0, 1e6, 1e30])
def test_spectra_are_a_grid_of_sizes_and_shapes(bound):
    """In units of the noise: from far below it to the bound, dense, falling in rank."""
    spectra = _spectral._spectra(bound, np.array([0, 1, 1, 7]))
    assert not spectra[0].any()
    rest = spectra[1:]
    assert (rest[:, 0] > 0).all()
    assert (np.diff(rest, axis=1) <= 0).all()
    np.testing.assert_array_equal(rest[:, 1], rest[:, 2])
    sizes = np.unique(rest[:, 0].round(12))
    assert sizes[0] <= 0.1 + 1e-12
    assert (sizes[1:] / sizes[:-1] <= 4 + 1e-9).all()
    if bound is None or bound > 1:
        assert sizes[-1] == pytest.approx(min(bound or 1e12, 1e12))
    equal = _spectral._spectra(bound, np.zeros(3, dtype=int))
    assert (equal == equal[:, :1]).all()
    np.testing.assert_allclose(np.unique(equal[1:, 0].round(12)), sizes)


def noise_of(law, n_draws, seed):
    return law.sample(n_draws, SeededBits(seed))


def risk(signal, law, n_draws=2000, seed=0, **options):
    """Mean squared error of the denoised release of one signal, and 6 errors of it."""
    ours = spectral_average(signal + noise_of(law, n_draws, seed), law, **options)
    errors = np.sum((ours - signal) ** 2, axis=1)
    return errors.mean(), 6 * errors.std() / math.sqrt(n_draws)


@each_law
@pytest.mark.parametrize(
    ("size", "share"), [(1, 0.33), (4, 0.1), (16, 0.025), (40, 0.01)]
)
@pytest.mark.parametrize("bound", [None, 0.1, 10.0, 1e6])
def test_no_signal_is_seen_as_little(make, size, share, bound):
    """A share of the noise energy that falls with the number of coefficients."""
    law = make(size, 1.0)
    mean, error = risk(np.zeros(size), law, seed=size, energy_bound=bound)
    assert mean - error <= share * law.expected_square
    assert error < share * law.expected_square


@each_law
@pytest.mark.parametrize("norm", [0.5, 3.0, 10.0, 100.0])
def test_smooth_signals_gain(make, norm):
    """Never much worse than the release itself, and better where there is noise."""
    size = 24
    signal = (1.0 + np.arange(size)) ** -2.0
    signal *= norm / np.linalg.norm(signal)
    law = make(size, 1.0)
    mean, error = risk(signal, law, energy_bound=100.0**2)
    assert mean - error <= 0.5 * law.expected_square
    flat = np.full(size, norm / math.sqrt(size))
    mean, error = risk(flat, law, energy_bound=100.0**2)
    assert mean - error <= min(1.2 * law.expected_square, 4 * norm**2 + 0.2 * size)


@each_law
def test_huge_signals_are_left_alone(make):
    law = make(6, 1.0)
    signs = np.array([[1.0, -1.0, 1.0, 1.0, -1.0, 1.0]])
    for size in (1e3, 1e6):
        ours = spectral_average(size * signs, law)
        np.testing.assert_allclose(ours, size * signs, rtol=100 / size**2 + 1e-9)
    for size in (1e9, 1e100, 1e160, 1e308):
        ours = spectral_average(size * signs, law)
        assert np.isfinite(ours).all()
        np.testing.assert_allclose(ours, size * signs, rtol=1e-6)


@each_law
@pytest.mark.parametrize("power", [-139, -60, 60, 139])
def test_scales_with_the_unit(make, power):
    rows = np.random.default_rng(0).normal(size=(5, 7)) * 3
    factor = 2.0**power
    for bound in (None, 9.0):
        plain = spectral_average(rows, make(7, 0.5), energy_bound=bound)
        law = make(7, 0.5 * factor)
        scaled = spectral_average(
            factor * rows, law, energy_bound=bound and bound * factor**2
        )
        np.testing.assert_allclose(scaled, factor * plain, rtol=1e-9)


@each_law
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_noise_beyond_what_floats_can_square_changes_nothing(make, scale):
    rows = scale * np.array([[3.0, -1.0, 0.0]])
    ours = spectral_average(rows, make(3, scale))
    np.testing.assert_array_equal(ours, rows)
    assert ours is not rows


@each_law
def test_it_shrinks_towards_zero(make):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, 9)) * 10.0 ** rng.uniform(-12, 12, (300, 9))
    rows[0] = 0.0
    for bound in (None, 1e-12, 1.0, 1e40):
        ours = spectral_average(rows, make(9, 1.0), energy_bound=bound)
        assert np.isfinite(ours).all()
        assert (abs(ours) <= abs(rows) * (1 + 1e-12)).all()
        assert (ours * rows >= 0).all()


@each_law
def test_order_of_rows_and_signs_do_not_matter(make):
    rows = np.random.default_rng(2).normal(size=(300, 5)) * 2
    law = make(5, 0.7)
    ours = spectral_average(rows, law)
    order = np.random.default_rng(3).permutation(300)
    flips = np.array([1.0, -1, -1, 1, -1])
    for given, wanted in (
        (rows[order], ours[order]),
        (flips * rows, flips * ours),
        (rows[:1], ours[:1]),
    ):
        np.testing.assert_allclose(spectral_average(given, law), wanted, rtol=1e-12)


@each_law
def test_coefficients_of_equal_rank_may_be_permuted(make):
    rows = np.random.default_rng(4).normal(size=(20, 6)) * 2
    law = make(6, 0.7)
    for ranks in ([0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1]):
        ours = spectral_average(rows, law, ranks=ranks)
        swap = [2, 0, 1, 5, 3, 4]
        np.testing.assert_allclose(
            spectral_average(rows[:, swap], law, ranks=ranks), ours[:, swap], rtol=1e-12
        )


def test_without_an_order_all_coefficients_are_shrunk_alike():
    rows = np.array([[1.0, 1.0, 1.0, 1.0]])
    law = SphericalLaplace(4)
    equal = spectral_average(rows, law, ranks=[0] * 4)[0]
    np.testing.assert_allclose(equal, equal[0], rtol=1e-12)
    falling = spectral_average(rows, law)[0]
    assert falling[0] > falling[-1]


def test_rows_are_left_alone():
    rows = np.ones((2, 3))
    spectral_average(rows, SphericalLaplace(3))
    np.testing.assert_array_equal(rows, 1.0)
    assert spectral_average(rows[:0], SphericalLaplace(3)).shape == (0, 3)


def test_a_shape_along_the_axes_is_known():
    law = ShapedNoise(IndependentGaussian((1.0, 1.0)), [1.0, 2.0])
    row = [3.0, 4.0]
    ours = spectral_average(np.array([row]), law)
    np.testing.assert_allclose(ours[0], direct(row, law, None, range(2)), rtol=1e-9)


@pytest.mark.parametrize(
    ("law", "text"),
    [
        (BlockSpherical((1, 2), (1.0, 1.0)), "BlockSpherical has several mixing"),
        (IndependentLaplace((1.0, 1.0)), "IndependentLaplace has several mixing"),
        (ShapedNoise(SphericalLaplace(2), [[1.0, 0], [0.5, 1]]), "whitened"),
    ],
)
def test_laws_with_several_mixing_variables_are_refused(law, text):
    with pytest.raises(TypeError, match=text):
        spectral_average(np.ones((1, law.size)), law)


@pytest.mark.parametrize("bad", [0, -1.0, math.nan, math.inf, True, "1"])
def test_bad_bounds_are_refused(bad):
    with pytest.raises(ValueError, match="bound must be a finite number > 0"):
        spectral_average(np.ones((1, 2)), SphericalLaplace(2), energy_bound=bad)
