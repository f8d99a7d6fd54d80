"""What is known of a mean after denoising: a band that is approximate, and measured."""

import math

import numpy as np
import pytest

from skfuncpriv import ICLPMean
from tests.iclp.spine import smooth_cosine

DOMAIN = (-2.0, 4.0)
GRID = np.linspace(*DOMAIN, 81)
N_PEOPLE, N_BASIS, N_RELEASES = 40, 8, 60
FACTS = {"bounds": (0, 10), "domain": DOMAIN, "grid": GRID, "n_basis": N_BASIS}
FINE = 0.02  # more than what curves differ from their projections
# Kinds of curves, by their coefficients, and the least coverage that is promised.
KINDS = {
    "nothing": (lambda k: 0.0 * k, 0.97),
    "level": (lambda k: 1.0 * (k == 0), 0.97),
    "line": (lambda k: 1.0 * (k <= 1), 0.97),
    "smooth": (lambda k: np.cos(k) / (1 + k) ** 2.5, 0.88),
    "rough": (lambda k: np.cos(3 * k) / (1 + k), 0.82),
}


def equal_curves(kind):
    """Curves with the given coefficients, within the bounds."""
    curve = smooth_cosine(GRID, N_BASIS, DOMAIN) @ KINDS[kind][0](np.arange(N_BASIS))
    return np.tile(5 + 3 * curve / max(abs(curve).max(), 1e-9), (N_PEOPLE, 1))


def fits(X, n_releases, **parameters):
    for seed in range(n_releases):
        yield ICLPMean(**FACTS, **parameters, random_state=seed).fit(X)


@pytest.mark.parametrize("n_epsilon", [100.0, 1500.0])
@pytest.mark.parametrize("kind", KINDS)
def test_band_holds_the_mean_without_noise_as_often_as_promised(kind, n_epsilon):
    X, least, held = equal_curves(kind), KINDS[kind][1], 0
    for model in fits(X, N_RELEASES, epsilon=n_epsilon / N_PEOPLE):
        lower, upper = model.noise_band(0.95)
        held += bool(((lower <= X[0] + FINE) & (X[0] - FINE <= upper)).all())
    error = math.sqrt(least * (1 - least) / N_RELEASES)
    assert held / N_RELEASES > least - 5 * error


@pytest.mark.parametrize("kind", ["nothing", "level"])
def test_band_is_narrower_than_one_that_holds_for_every_curve(kind):
    X, facts = equal_curves(kind), {"epsilon": 10.0}
    exact = ICLPMean(**FACTS, **facts, psi=0.0, denoise=False).fit(X)
    lower, upper = exact.noise_band()
    widths = []
    for model in fits(X, 20, **facts):
        low, high = model.noise_band()
        widths.append(np.mean(high - low) / np.mean(upper - lower))
    assert np.mean(widths) + 5 * np.std(widths) / math.sqrt(20) < 0.9


def test_band_is_around_the_mean_and_follows_the_deviation():
    (model,) = fits(equal_curves("smooth"), 1, epsilon=3.0)
    lower, upper = model.noise_band()
    np.testing.assert_allclose((lower + upper) / 2, model.mean_, rtol=1e-9)
    width = (upper - lower) / model.noise_std_
    np.testing.assert_allclose(width, width[0], rtol=1e-9)
    assert 2 * 1.96 < width[0] < 2 * 4.5  # of one point, and of all by Bonferroni
    assert (np.subtract(*model.noise_band(0.99)[::-1]) > upper - lower).all()


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_deviations_count_the_prior_and_the_doubts_about_it(n_outputs):
    X = np.stack([equal_curves("smooth")] * n_outputs, axis=2)
    (model,) = fits(X, 1, epsilon=3.0)
    assert model.coef_std_.shape == model.coef_.shape
    unit = model.norm_bound_ / N_PEOPLE
    noise = (model.law_.std * unit).reshape(model.coef_.shape)
    kept = model.coef_ / model.release_
    assert ((kept > 0) & (kept < 1)).all()
    least = np.sqrt((1 - kept) * (kept + 0.1)) * noise
    assert (model.coef_std_ > least).all()
    variance = np.square(model.basis_.evaluate(GRID)) @ np.square(model.coef_std_)
    np.testing.assert_allclose(model.noise_std_, np.sqrt(variance))


def test_without_denoising_deviations_are_those_of_the_law():
    X = equal_curves("smooth")
    models = list(fits(X, 2, epsilon=3.0, denoise=False, psi=1e-3))
    for model in models:
        std = model.weights_ * model.law_.std * model.norm_bound_ / N_PEOPLE
        np.testing.assert_allclose(model.coef_std_, std)
    np.testing.assert_array_equal(models[0].noise_std_, models[1].noise_std_)


def test_parameters_that_change_after_a_fit_do_not_change_its_band():
    (model,) = fits(equal_curves("line"), 1, epsilon=3.0)
    before = model.noise_band()
    model.set_params(denoise=False, epsilon=1.0)
    np.testing.assert_array_equal(model.noise_band(), before)
