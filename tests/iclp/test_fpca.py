"""Private components: geometry, agreement with scikit-learn, scores, samples."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from skfuncpriv import Curves, ICLPCovariance, PrivateFPCA
from skfuncpriv.basis import FourierBasis
from skfuncpriv.testing import recorded
from tests.iclp.spine import cosine
from tests.iclp.test_covariance import DOMAIN, curves, relative

GRID = np.linspace(*DOMAIN, 120)
FACTS = {"bounds": (-9.0, 7.0), "domain": DOMAIN, "grid": GRID, "random_state": 0}
EXACT = {**FACTS, "epsilon": 1e8, "n_basis": 6}


def separated(n_rows=400, seed=0):
    """Curves whose components are cosines of variances 1, 1/9 and 1/81."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n_rows, 3))
    scores -= scores.mean(axis=0)
    scores = np.linalg.qr(scores)[0] * np.sqrt(n_rows) * [1.0, 1 / 3, 1 / 9]
    return 1 + scores @ cosine(GRID, 4, DOMAIN)[:, [2, 1, 3]].T, scores


def test_components_are_those_of_the_curves():
    X, scores = separated()
    model = PrivateFPCA(**EXACT, n_components=3).fit(X)
    truth = cosine(GRID, 4, DOMAIN)[:, [2, 1, 3]].T
    # The piecewise linear interpolant of a cosine is a little shorter than it.
    np.testing.assert_allclose(np.abs(model.components_), np.abs(truth), atol=2e-3)
    np.testing.assert_allclose(model.explained_variance_, [1, 1 / 9, 1 / 81], rtol=3e-3)
    ratio = np.array([81, 9, 1]) / 91
    np.testing.assert_allclose(model.explained_variance_ratio_, ratio, rtol=3e-3)
    found = model.transform(X)
    sign = np.sign(np.sum(found * scores, axis=0))
    np.testing.assert_allclose(found * sign, scores, atol=5e-3)
    np.testing.assert_allclose(model.inverse_transform(found), X, atol=1e-2)


def test_scikit_learn_finds_the_same():
    X = curves(500, grid=GRID)
    model = PrivateFPCA(**{**EXACT, "n_basis": 20}, n_components=3).fit(X)
    plain = PCA(3).fit(X)
    step = GRID[1] - GRID[0]
    overlap = step * np.sum(model.components_ * plain.components_, axis=1)
    np.testing.assert_allclose(np.abs(overlap) / np.sqrt(step), 1, atol=2e-2)
    ratio = model.explained_variance_ratio_
    np.testing.assert_allclose(ratio, plain.explained_variance_ratio_, atol=1e-2)


@pytest.mark.parametrize("epsilon", [2.0, 1e6])
def test_components_are_orthonormal_functions_with_a_sign(epsilon):
    model = PrivateFPCA(**{**FACTS, "epsilon": epsilon}, n_components=4)
    model.fit(curves(300, grid=GRID))
    gram = model.component_coef_ @ model.component_coef_.T
    np.testing.assert_allclose(gram, np.eye(4), atol=1e-12)
    functions = model.component_coef_ @ model.basis_.evaluate(GRID).T
    np.testing.assert_allclose(model.components_, functions, atol=1e-12)
    peaks = np.abs(model.component_coef_).argmax(axis=1)
    assert (model.component_coef_[range(4), peaks] > 0).all()
    assert (np.diff(model.explained_variance_) <= 0).all()
    assert (np.diff(model.explained_variance_ratio_) <= 0).all()
    total = np.trace(model.coef_)
    expected = model.explained_variance_ / total
    np.testing.assert_allclose(model.explained_variance_ratio_, expected)
    # All of them together are the covariance.
    vectors, values = model.component_coef_, model.explained_variance_
    rest = model.coef_ - (vectors.T * values) @ vectors
    assert np.linalg.norm(rest, 2) <= values[-1] + 1e-12 * total


def test_one_release_serves_both():
    """The same bits give the same covariance: components are free."""
    X = curves(200, grid=GRID)
    with recorded() as releases:
        components = PrivateFPCA(**FACTS).fit(X)
        covariance = ICLPCovariance(**FACTS).fit(X)
    assert len(releases) == 4
    np.testing.assert_array_equal(components.covariance_, covariance.covariance_)
    np.testing.assert_array_equal(components.mean_, covariance.mean_)
    assert components.guarantee_ == covariance.guarantee_


def test_the_number_of_components():
    X, _ = separated()
    model = PrivateFPCA(**{**EXACT, "epsilon": 1e4}).fit(X)
    assert len(model.components_) == model.n_detectable_ == 3
    noise = PrivateFPCA(**{**FACTS, "epsilon": 1.0}).fit(np.full((300, 120), -1.0))
    assert len(noise.components_) == max(1, noise.n_detectable_)
    many = PrivateFPCA(**FACTS, n_components=30, epsilon=9.0).fit(X)
    assert many.components_.shape == (30, 120)
    assert many.basis_.n_basis == 30
    with pytest.raises(ValueError, match="n_components must be at most 6"):
        PrivateFPCA(**EXACT, n_components=7).fit(X)
    few = {**FACTS, "grid": GRID[:3]}
    with pytest.raises(ValueError, match="n_components must be at most 3"):
        PrivateFPCA(**few, n_components=4).fit(X[:, :3])


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "2"])
def test_bad_numbers_of_components(bad):
    with pytest.raises(ValueError, match="n_components must be an integer >= 1"):
        PrivateFPCA(**FACTS, n_components=bad).fit(curves(20, grid=GRID))


# Scores


def test_scores_of_other_forms():
    X, _ = separated(60)
    model = PrivateFPCA(**EXACT, n_components=2).fit(X)
    scores = model.transform(X)
    np.testing.assert_array_equal(model.transform(X[7:9]), scores[7:9])
    long = Curves(X.ravel(), np.tile(GRID, 60), 120 * np.arange(61))
    np.testing.assert_allclose(model.transform(long), scores, atol=1e-9)
    every_other = Curves.from_wide(X[:, ::2][:, :60], GRID[::2][:60])
    np.testing.assert_allclose(model.transform(every_other), scores, atol=0.05)
    at_mean = model.transform(model.mean_[None])
    np.testing.assert_allclose(at_mean, 0, atol=2e-3)
    beyond = np.where(X > 0, 1e300, X)
    np.testing.assert_array_equal(
        model.transform(beyond), model.transform(np.where(X > 0, 7.0, X))
    )


def test_a_curve_without_values_is_at_the_mean():
    X, _ = separated(60)
    model = PrivateFPCA(**EXACT, n_components=2, missing="interpolate").fit(X)
    gone = np.vstack([X[:2], np.full((1, 120), np.nan)])
    np.testing.assert_array_equal(model.transform(gone)[2], 0.0)


def test_scores_are_of_the_fitted_columns():
    model = PrivateFPCA(**{**FACTS, "grid": None}, n_components=2, epsilon=4.0)
    model.fit(curves(50, grid=GRID))
    with pytest.raises(ValueError, match="X has 60 features, but PrivateFPCA is"):
        model.transform(np.ones((3, 60)))
    with pytest.raises(ValueError, match="1 outputs, got 2"):
        model.transform(np.ones((3, 120, 2)))
    with pytest.raises(ValueError, match="one column for each of 2 components"):
        model.inverse_transform(np.ones((3, 4)))


def test_a_center_on_the_grid_is_part_of_the_mean():
    X, _ = separated(100)
    center = 1 + cosine(GRID, 4, DOMAIN)[:, 3]
    plain = PrivateFPCA(**EXACT, n_components=2).fit(X)
    other = PrivateFPCA(**EXACT, n_components=2, center=center).fit(X)
    np.testing.assert_allclose(other.transform(X), plain.transform(X), atol=1e-4)
    assert relative(other.mean_, plain.mean_) < 1e-3


def test_frames_pipelines_and_names():
    X = pd.DataFrame(curves(80, grid=GRID), columns=[f"t{k}" for k in range(120)])
    model = PrivateFPCA(**FACTS, n_components=2, epsilon=4.0)
    model.set_output(transform="pandas")
    scores = model.fit(X).transform(X)
    names = ["privatefpca0", "privatefpca1"]
    assert list(scores.columns) == names == list(model.get_feature_names_out())
    assert list(model.feature_names_in_) == list(X.columns)
    y = X.to_numpy().mean(axis=1)
    chain = make_pipeline(PrivateFPCA(**EXACT, n_components=6), LinearRegression())
    assert chain.fit(X, y).score(X, y) > 0.9
    with pytest.raises(ValueError, match="feature names"):
        model.transform(X[X.columns[::-1]])


def test_vector_curves(shared_data):
    table = pd.read_csv(shared_data / "gait_long.csv")
    wide = [
        table.pivot(index="boy", columns="t", values=name).to_numpy()
        for name in ("hip_deg", "knee_deg")
    ]
    X, grid = np.stack(wide, axis=2), np.sort(table["t"].unique())
    facts = {"bounds": ([-30.0, -20.0], [80.0, 100.0]), "grid": grid}
    basis = FourierBasis(9)
    model = PrivateFPCA(
        **facts, basis=basis, n_components=5, epsilon=1e8, random_state=0
    ).fit(X)
    assert model.components_.shape == (5, 20, 2)
    assert model.component_coef_.shape == (5, 9, 2)
    flat = model.component_coef_.reshape(5, -1)
    np.testing.assert_allclose(flat @ flat.T, np.eye(5), atol=1e-12)
    scores = model.transform(X)
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-3)
    second = scores.T @ scores / len(X)
    np.testing.assert_allclose(second, np.diag(model.explained_variance_), atol=1e-3)
    left = model.inverse_transform(scores) - X
    assert np.sum(left**2) < 0.2 * np.sum((X - X.mean(axis=0)) ** 2)
    assert model.sample(3, random_state=0).shape == (3, 20, 2)


# Synthetic curves


def test_samples_have_the_released_moments():
    model = PrivateFPCA(**EXACT, n_components=2).fit(separated()[0])
    n_samples = 20_000
    drawn = model.sample(n_samples, random_state=1)
    scores = model.transform(np.clip(drawn, -9, 7))
    expected = model.explained_variance_
    error = 5 * np.sqrt(2 / n_samples)
    np.testing.assert_allclose(scores.var(axis=0) / expected, 1, atol=error + 5e-3)
    correlation = np.corrcoef(scores.T)[0, 1]
    assert abs(correlation) < 5 / np.sqrt(n_samples)
    middle = drawn.mean(axis=0) - model.mean_
    spread = np.sqrt((model.components_**2 * expected[:, None]).sum(axis=0))
    assert (np.abs(middle) < 5.5 * spread / np.sqrt(n_samples)).all()


def test_samples_are_fresh():
    model = PrivateFPCA(**FACTS, n_components=2, epsilon=4.0)
    model.fit(curves(90, grid=GRID))
    one, other = model.sample(2), model.sample(2)
    assert (one != other).any()
    again = [model.sample(4, random_state=5) for _ in range(2)]
    np.testing.assert_array_equal(*again)
    for bad in (0, -1, 1.5, None):
        with pytest.raises(ValueError, match="n_samples must be an integer"):
            model.sample(bad)
