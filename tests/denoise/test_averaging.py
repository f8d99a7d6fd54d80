"""The chain of levels: the exact posterior mean, and risks that stay bounded."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from skfuncpriv import ICLPMean
from skfuncpriv.denoise import _averaging, bayesian_average, posterior_deviation
from skfuncpriv.denoise._averaging import log_odds_of_nothing
from skfuncpriv.denoise._chain import _first, _group_edges, _levels, _steps
from skfuncpriv.denoise._mixture import normal_mixtures
from skfuncpriv.iclp._parameters import public_plan
from skfuncpriv.noise import (
    BlockSpherical,
    IndependentGaussian,
    IndependentLaplace,
    NoiseLaw,
    SeededBits,
    ShapedNoise,
    SphericalLaplace,
)

# Laws whose posterior is enumerated below: (law, coefficients of one frequency)
TINY = {
    "gaussian-1": (IndependentGaussian((1.3,)), 1),
    "gaussian-4": (IndependentGaussian((1.3, 0.7, 1.0, 2.0)), 1),
    "gaussian-outputs": (IndependentGaussian((1.0,) * 5), 2),
    "laplace-1": (IndependentLaplace((0.8,)), 1),
    "laplace-3": (IndependentLaplace((0.8, 1.0, 0.5)), 1),
    "laplace-outputs": (IndependentLaplace((0.8, 1.0, 0.5)), 2),
    "spherical-1": (SphericalLaplace(1, 0.9), 1),
    "spherical-4": (SphericalLaplace(4, 0.6), 1),
    "spherical-6": (SphericalLaplace(6, 0.5), 1),
    "spherical-outputs": (SphericalLaplace(4, 0.6), 2),
    "blocks-1-2": (BlockSpherical((1, 2), (0.8, 0.5)), 1),
    "blocks-3-1": (BlockSpherical((3, 1), (0.5, 0.8)), 1),
    "blocks-1-1": (BlockSpherical((1, 1), (0.5, 0.8)), 1),
    "shaped": (ShapedNoise(SphericalLaplace(3), [1.0, 0.5, 0.7]), 1),
}


def enumerated(row, law, energy_bound, n_outputs):
    """Posterior mean and deviation, summed over all paths of levels, nodes of noise."""
    noise = float(np.square(law.std).min())
    levels = _levels(noise, energy_bound)
    log_odds = log_odds_of_nothing(law, energy_bound, n_outputs)
    first, step = _first(levels, energy_bound, log_odds), _steps(levels)
    blocks = normal_mixtures(law)
    tied = any(block.stop - block.start > 1 for block in blocks)
    ends = [block.stop for block in blocks] if tied else []
    edges = _group_edges(law.size, n_outputs, ends)
    group = np.searchsorted(edges, np.arange(law.size), side="right") - 1

    paths = np.array(list(itertools.product(range(len(levels)), repeat=group[-1] + 1)))
    weight = first[paths[:, 0]]
    for k in range(1, paths.shape[1]):
        weight = weight * step[paths[:, k - 1], paths[:, k]]
    paths, weight = paths[weight > 0], weight[weight > 0]
    total, mean, square = 0.0, np.zeros(law.size), np.zeros(law.size)
    for nodes in itertools.product(*(range(len(b.log_weights)) for b in blocks)):
        variances = np.concatenate(
            [block.variances[node] for block, node in zip(blocks, nodes, strict=True)]
        )
        prior = math.exp(
            sum(b.log_weights[node] for b, node in zip(blocks, nodes, strict=True))
        )
        signal = levels[paths[:, group]]  # of every path and coefficient
        sizes = signal + variances
        density = np.prod(stats.norm.pdf(row, scale=np.sqrt(sizes)), axis=1)
        joint = prior * weight * density
        total += joint.sum()
        given = signal / sizes * row
        mean += joint @ given
        square += joint @ (given**2 + signal * variances / sizes)
    mean /= total
    return mean, np.sqrt(square / total - mean**2)


@pytest.mark.parametrize(("law", "n_outputs"), TINY.values(), ids=TINY)
def test_chain_agrees_with_enumeration_of_all_paths(law, n_outputs):
    rng = np.random.default_rng(0)
    bound = 2.5 * float(np.square(law.std).min())
    rows = rng.normal(size=(4, law.size)) * [[0.1], [1.0], [3.0], [10.0]]
    rows = rows[[1, 3]] if law.size > 3 or isinstance(law, IndependentLaplace) else rows
    means = bayesian_average(rows, law, bound, n_outputs)
    deviations = posterior_deviation(rows, law, bound, n_outputs)
    for row, mean, deviation in zip(rows, means, deviations, strict=True):
        expected = enumerated(row, law, bound, n_outputs)
        np.testing.assert_allclose(mean, expected[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(deviation, expected[1], rtol=1e-7)


def test_posterior_deviation_is_met_by_signals_of_the_prior():
    law, bound, n_rows = SphericalLaplace(6, 0.5), 200.0, 4000
    chain = _averaging._chain_of(law, bound, 1)
    signals = chain.sample(n_rows)
    rows = signals + law.sample(n_rows, SeededBits(0, purpose=5))
    gap = signals - bayesian_average(rows, law, bound)
    deviation = posterior_deviation(rows, law, bound)
    assert (deviation > 0).all()
    excess = gap**2 - deviation**2
    error = excess.std(axis=0) / math.sqrt(n_rows)
    np.testing.assert_array_less(abs(excess.mean(axis=0)), 5.5 * error)
    np.testing.assert_array_less(5.5 * error, 0.5 * np.mean(deviation**2, axis=0))


def test_deviations_of_large_signals_are_those_of_the_noise():
    law = IndependentGaussian((1.0, 2.0, 0.5))
    for size in (1e5, 1e9, 1e12):
        rows = size * np.array([[1.0, -1.0, 1.0]])
        deviation = posterior_deviation(rows, law, 1e2 * size**2)
        np.testing.assert_allclose(deviation[0], law.std, rtol=1e-6)
    rows = np.ones((2, 3))
    deviation = posterior_deviation(rows, law, 1e40)  # noise that floats ignore
    np.testing.assert_array_equal(deviation, [law.std] * 2)


def test_levels_steps_and_first_level_are_laws():
    for noise, bound in ((1.0, 1.0), (1.0, 1e6), (1e6, 1.0), (1e-20, 1.0)):
        levels = _levels(noise, bound)
        assert levels[0] == 0
        assert levels[-1] == pytest.approx(bound)
        assert levels[1] <= max(0.1 * noise, 0.05 * bound)
        assert (np.diff(levels) > 0).all()
        np.testing.assert_allclose(_steps(levels).sum(axis=1), 1)
        for log_odds in (-math.inf, -7.0, 0.0, 7.0):
            first = _first(levels, bound, log_odds)
            assert first.sum() == pytest.approx(1)
            assert first[0] == pytest.approx(
                1 / (1 + math.exp(-log_odds)) if log_odds > -9 else 0
            )


def test_one_gaussian_group_in_closed_form():
    s, bound = 1.7, 50.0
    levels = _levels(s**2, bound)
    log_odds = log_odds_of_nothing(IndependentGaussian((s,)), bound, 1)
    prior = _first(levels, bound, log_odds)
    y = np.linspace(-30, 30, 13)
    density = prior[:, None] * stats.norm.pdf(y, scale=np.sqrt(levels + s**2)[:, None])
    factor = (levels / (levels + s**2)) @ density / density.sum(axis=0)
    ours = bayesian_average(y[:, None], IndependentGaussian((s,)), bound)
    np.testing.assert_allclose(ours[:, 0], factor * y, rtol=1e-10)


LAWS = {
    "gaussian": lambda m, scale: IndependentGaussian((scale,) * m),
    "laplace": lambda m, scale: IndependentLaplace((scale / math.sqrt(2),) * m),
    "spherical": lambda m, scale: SphericalLaplace(m, scale / math.sqrt(m + 1)),
    "blocks": lambda m, scale: BlockSpherical(
        (2, m - 2), (scale / math.sqrt(3), scale / math.sqrt(m - 1))
    ),
}
each_law = pytest.mark.parametrize("make", LAWS.values(), ids=LAWS)


@each_law
def test_mixtures_have_the_moments_of_their_laws(make):
    law = make(5, 1.3)
    blocks = normal_mixtures(law)
    assert [b.start for b in blocks] == [0, *[b.stop for b in blocks[:-1]]]
    assert blocks[-1].stop == 5
    variance = np.concatenate([np.exp(b.log_weights) @ b.variances for b in blocks])
    np.testing.assert_allclose(variance, law.std**2, rtol=1e-9)
    fourth = np.concatenate(
        [3 * np.exp(b.log_weights) @ b.variances**2 for b in blocks]
    )
    noise = law.sample(200_000, SeededBits(0)) ** 4
    error = noise.std(axis=0) / math.sqrt(200_000)
    np.testing.assert_array_less(abs(noise.mean(axis=0) - fourth), 6 * error)


@each_law
def test_huge_signals_are_left_alone(make):
    law = make(6, 1.0)
    for size in (1e3, 1e6, 1e9):
        rows = size * np.array([[1.0, -1.0, 1.0, 1.0, -1.0, 1.0]])
        ours = bayesian_average(rows, law, 36 * size**2)
        np.testing.assert_allclose(ours, rows, rtol=30 / size**2 + 1e-12)


@each_law
def test_far_apart_magnitudes_are_numbers(make):
    rng = np.random.default_rng(1)
    law = make(9, 1.0)
    rows = rng.normal(size=(200, 9)) * 10.0 ** rng.uniform(-12, 12, (200, 9))
    rows[0] = 0.0
    for bound in (1e-12, 1.0, 1e12, 1e31, 1e40):
        ours = bayesian_average(rows, law, bound)
        assert np.isfinite(ours).all()
        assert (abs(ours) <= abs(rows) * (1 + 1e-9)).all()
        assert (ours * rows >= 0).all()


@each_law
def test_noise_below_the_resolution_of_floats_changes_nothing(make):
    rows = np.random.default_rng(0).normal(size=(3, 6))
    np.testing.assert_array_equal(bayesian_average(rows, make(6, 1e-17), 4.0), rows)
    near = bayesian_average(rows, make(6, 1e-15), 4.0)
    np.testing.assert_allclose(near, rows, rtol=1e-9)


def risk(signal, law, bound, n_draws, seed):
    """Mean squared error of the denoised release of one signal, and its error."""
    noise = law.sample(n_draws, SeededBits(seed))
    errors = np.sum(
        (bayesian_average(signal + noise, law, bound) - signal) ** 2, axis=1
    )
    return errors.mean(), errors.std() / math.sqrt(n_draws)


@pytest.mark.parametrize("n_people", [2, 10, 20, 50, 200, 1000])
@pytest.mark.parametrize("mechanism", ["auto", "spherical", "laplace", "gaussian"])
def test_a_zero_signal_is_seen_as_nothing(mechanism, n_people):
    """Risk below a twentieth of the noise energy, or of the bound if that is less.

    For as many coefficients as privacy-safe selection takes at that noise.
    """
    model = ICLPMean(bounds=(-1, 1), mechanism=mechanism, delta=1e-6)
    plan, _ = public_plan(model, n_people, 1, (0.0, 1.0), 101)
    bound = float(n_people) ** 2
    limit = 0.05 * min(plan.law.expected_square, bound)
    mean, error = risk(np.zeros(plan.size), plan.law, bound, 4000, seed=n_people)
    assert mean <= limit + 5 * error
    assert 5 * error < limit  # twice the limit would be noticed


@pytest.mark.parametrize("size", [3, 6, 8, 20, 60, 120])
@each_law
def test_a_zero_signal_is_seen_as_little_at_any_size(make, size):
    """Near a twentieth, also for numbers of coefficients that nobody would select."""
    for scale in (0.03, 0.3, 0.6, 1.0, 5.0):
        law = make(size, scale)
        limit = 0.06 * min(law.expected_square, 1.0)
        mean, error = risk(np.zeros(size), law, 1.0, 1000, seed=size)
        assert mean <= limit + 5 * error


SIGNALS = {
    "first": lambda j: (j == 0) * 1.0,
    "last": lambda j: (j == j[-1]) * 1.0,
    "flat": lambda j: np.ones(len(j)),
    "smooth": lambda j: (1.0 + j) ** -2,
}


@pytest.mark.parametrize("shape", SIGNALS.values(), ids=SIGNALS)
@each_law
def test_hardly_ever_worse_than_releasing_nothing(make, shape):
    """Risk at most norm^2 + min(noise energy, bound) / 20, whatever the signal."""
    size = 10
    direction = shape(np.arange(size))
    direction = direction / np.linalg.norm(direction)
    for scale in (0.05, 0.3, 1.5):
        law = make(size, scale)
        for norm in (0.05, 0.3, 1.0):
            limit = norm**2 + 0.05 * min(law.expected_square, 1.0)
            mean, error = risk(norm * direction, law, 1.0, 1000, seed=5)
            assert mean <= limit + 5 * error


@each_law
def test_strong_smooth_signals_gain_a_lot(make):
    size = 20
    signal = 0.5 * (1.0 + np.arange(size)) ** -2
    law = make(size, 0.05)
    mean, error = risk(signal, law, 1.0, 3000, seed=2)
    assert mean + 5 * error < 0.5 * law.expected_square


@each_law
def test_scales_with_the_unit(make):
    rows = np.random.default_rng(0).normal(size=(5, 7))
    ours = bayesian_average(rows, make(7, 0.4), 9.0)
    for factor, tolerance in ((100.0, 1e-9), (1e-6, 1e-9), (2.0**-20, 1e-9)):
        scaled = bayesian_average(factor * rows, make(7, 0.4 * factor), 9.0 * factor**2)
        np.testing.assert_allclose(scaled, factor * ours, rtol=tolerance)


@each_law
def test_signs_do_not_matter(make):
    rows = np.random.default_rng(0).normal(size=(5, 7))
    law = make(7, 0.4)
    flips = np.where(np.arange(7) % 3, 1.0, -1.0)
    np.testing.assert_allclose(
        bayesian_average(flips * rows, law, 9.0),
        flips * bayesian_average(rows, law, 9.0),
        rtol=1e-12,
    )


@each_law
def test_rows_do_not_depend_on_each_other_or_on_chunks(make, monkeypatch):
    law = make(7, 0.4)
    rows = np.random.default_rng(0).normal(size=(600, 7))
    whole = bayesian_average(rows, law, 9.0)
    for chunk in (1, 7, 1000):
        monkeypatch.setattr(_averaging, "_CHUNK_ROWS", chunk)
        np.testing.assert_allclose(bayesian_average(rows, law, 9.0), whole, rtol=1e-12)
    monkeypatch.undo()
    others = rows.copy()
    others[1:] *= 1e6
    np.testing.assert_allclose(
        bayesian_average(others, law, 9.0)[0], whole[0], rtol=1e-12
    )


def test_input_is_left_alone():
    rows = np.ones((2, 3))
    result = bayesian_average(rows, SphericalLaplace(3), 1.0)
    assert result is not rows
    np.testing.assert_array_equal(rows, 1.0)


def test_a_signal_that_ends_is_cut_and_a_plateau_is_kept():
    rng = np.random.default_rng(4)
    law = IndependentGaussian((0.1,) * 32)
    signal = np.where(np.arange(32) < 8, 1.0, 0.0)
    ours = bayesian_average(signal + rng.normal(0, 0.1, (200, 32)), law, 32.0)
    factors = ours / (signal + 1e-300)
    np.testing.assert_allclose(factors[:, :8].mean(axis=0), 1.0, atol=0.05)
    assert np.mean(ours[:, 16:] ** 2) < 0.1 * 0.1**2


class Unknown(NoiseLaw):
    """A law that is no mixture of normal laws."""

    size, std, smallest_scale, _n_words = 2, np.ones(2), 1.0, 2

    def loss(self, shift):
        return 0.0

    def _read(self, words, exponent):
        raise NotImplementedError

    def _read_exactly(self, row, column):
        raise NotImplementedError


@pytest.mark.parametrize("bound", [1.0, 1e40])
def test_unknown_laws_are_refused(bound):
    with pytest.raises(TypeError, match="no denoiser knows Unknown"):
        bayesian_average(np.ones((1, 2)), Unknown(), bound)
    correlated = ShapedNoise(SphericalLaplace(2), [[1.0, 0.0], [0.5, 1.0]])
    with pytest.raises(TypeError, match="whitened"):
        bayesian_average(np.ones((1, 2)), correlated, bound)


@pytest.mark.parametrize("bad", [0, -1.0, math.nan, math.inf, True, "1", None])
def test_bad_bounds_are_refused(bad):
    with pytest.raises(ValueError, match="energy_bound must be"):
        bayesian_average(np.ones((1, 2)), SphericalLaplace(2), bad)
    with pytest.raises(ValueError, match="n_outputs must be"):
        bayesian_average(np.ones((1, 2)), SphericalLaplace(2), 1.0, n_outputs=bad)
