"""The noise of released functions is a Gaussian process with the stated kernel."""

import numpy as np
import pytest
from sklearn.neighbors import KernelDensity

from skfuncpriv import GaussianProcessReleaser
from skfuncpriv.gaussian_process import ExponentialKernel, GaussianKernel

H = ((0.3, 0.2), (0.2, 0.4))
POINTS = np.random.default_rng(0).uniform(-1, 1, (12, 5))
MODELS = {
    "one": ({"estimator": KernelDensity(bandwidth=0.2)}, 1),
    "matrix": ({"estimator": GaussianKernel(H)}, 2),
    "sobolev": (
        {"estimator": KernelDensity(bandwidth=0.2), "kernel": ExponentialKernel(0.5)},
        1,
    ),
    "points": ({"estimator": KernelDensity(bandwidth=1.0), "points": POINTS}, 5),
}
each_model = pytest.mark.parametrize(
    ("facts", "n_features"), MODELS.values(), ids=MODELS
)


def fitted(facts, n_features, seed=0):
    model = GaussianProcessReleaser(
        **facts, bounds=(-1.0, 1.0), delta=1e-6, random_state=seed
    )
    return model.fit(np.full((50, n_features), 0.3))


def check_covariance(draws, expected, slack=0.0):
    """The empirical second moments of (n, k) draws, within 5 standard errors."""
    n = len(draws)
    moments = draws.T @ draws / n
    variance = np.outer(np.diag(expected), np.diag(expected)) + np.square(expected)
    assert (np.abs(moments - expected) <= 5 * np.sqrt(variance / n) + slack).all()
    means = draws.mean(axis=0)
    assert (np.abs(means) <= 5 * np.sqrt(np.diag(expected) / n)).all()


@each_model
def test_noise_functions_have_the_covariance_of_the_kernel(facts, n_features):
    model = fitted(facts, n_features)
    T = POINTS[:7, :n_features]
    draws = model.sample(40_000, T, random_state=1)
    assert draws.shape == (40_000, 7)
    expected = model.noise_std_**2 * model.kernel_(T, T)
    slack = model.noise_std_**2 * (0.01 if "kernel" in facts else 1e-6)
    check_covariance(draws, expected, slack)


@each_model
def test_the_noise_that_fit_adds_has_it_too(facts, n_features):
    """Over many fits to the same rows, at points that were asked for later."""
    T = POINTS[:4, :n_features]
    fits = [fitted(facts, n_features, seed) for seed in range(400)]
    huge = GaussianProcessReleaser(
        **facts, bounds=(-1.0, 1.0), delta=1e-6, epsilon=1e10, random_state=0
    )
    signal = huge.fit(np.full((50, n_features), 0.3)).predict(T)
    draws = np.array([model.predict(T) for model in fits]) - signal
    square = fits[0].noise_std_ ** 2
    slack = square * (0.01 if "kernel" in facts else 1e-6)
    check_covariance(draws, square * fits[0].kernel_(T, T), slack)


def test_the_check_of_covariances_notices_a_wrong_scale():
    model = fitted(*MODELS["one"])
    T = POINTS[:7, :1]
    draws = model.sample(40_000, T, random_state=1)
    expected = model.noise_std_**2 * model.kernel_(T, T)
    for wrong in (0.95 * expected, model.noise_std_**2 * np.eye(7)):
        with pytest.raises(AssertionError):
            check_covariance(draws, wrong)


def test_points_and_an_expansion_agree_on_the_law_at_the_points():
    """The batch mode and later queries of a function have one covariance."""
    density, T = KernelDensity(bandwidth=0.4), POINTS[:6, :1]
    later = fitted({"estimator": density}, 1)
    batch = fitted({"estimator": density, "points": T}, 1)
    assert later.noise_std_ == pytest.approx(batch.noise_std_, rel=1e-4)
    # The covariance of linear functions of the same independent coordinates.
    laws = []
    for model in (later, batch):
        rows = model._expansion.evaluate(np.eye(len(model.coef_)), T - model._origin)
        laws.append(rows.T @ rows)
    np.testing.assert_allclose(*laws, rtol=0, atol=1e-6)


def test_points_that_nearly_coincide_keep_their_noise():
    points = np.array([[0.3], [0.3], [0.3 + 1e-9], [0.9]])
    facts = {"estimator": KernelDensity(bandwidth=0.4), "points": points}
    draws = np.array([fitted(facts, 1, seed).predict(points) for seed in range(300)])
    model = fitted(facts, 1)
    assert len(model.coef_) == 2
    spread = draws.std(axis=0) / model.noise_std_
    assert (np.abs(spread - 1) <= 5 / np.sqrt(2 * 300)).all()
    np.testing.assert_allclose(draws[:, :1] - draws[:, 1:3], 0, atol=1e-5)


def test_samples_are_fresh_and_never_the_noise_of_the_release():
    model, T = fitted(*MODELS["one"]), POINTS[:5, :1]
    huge = GaussianProcessReleaser(
        **MODELS["one"][0], bounds=(-1, 1), delta=1e-6, epsilon=1e10, random_state=0
    )
    noise = model.predict(T) - huge.fit(np.full((50, 1), 0.3)).predict(T)
    same = model.sample(1, T, random_state=0)[0]  # the seed of the release
    assert np.abs(np.corrcoef(noise, same)[0, 1]) < 0.999
    np.testing.assert_array_equal(same, model.sample(1, T, random_state=0)[0])
    assert (model.sample(1, T) != model.sample(1, T)).any()
    for bad in (0, 1.5, True):
        with pytest.raises(ValueError, match="n_samples must be"):
            model.sample(bad, T)
