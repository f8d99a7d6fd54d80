"""The private covariance: agreement without noise, invariances, noise, warnings."""

import warnings

import numpy as np
import pandas as pd
import pytest

from skfuncpriv import Curves, ICLPCovariance, NoiseDominatesWarning
from skfuncpriv.basis import CosineBasis
from skfuncpriv.iclp import _covariance_base as module
from skfuncpriv.testing import recorded
from tests.iclp.spine import cosine, projections

DOMAIN = (2.0, 6.0)
GRID = np.linspace(2.1, 6.0, 40)
FACTS = {"bounds": (-9.0, 7.0), "domain": DOMAIN, "grid": GRID, "random_state": 0}


def curves(n_rows=600, seed=0, n_functions=5, grid=GRID):
    """Smooth curves around 1 + t / 10 with correlated coefficients."""
    rng = np.random.default_rng(seed)
    mixing = np.tril(rng.normal(size=(n_functions, n_functions))) * 0.4
    mixing /= (1 + np.arange(n_functions))[:, None]
    scores = rng.uniform(-1, 1, (n_rows, n_functions)) @ mixing.T
    return 1 + grid / 10 + scores @ cosine(grid, n_functions, DOMAIN).T


def moments(coef, codes=None):
    """Mean and covariance of a random row of a random person, dividing by n."""
    codes = np.arange(len(coef)) if codes is None else codes
    owned = [coef[codes == k] for k in np.unique(codes)]
    mean = np.mean([rows.mean(axis=0) for rows in owned], axis=0)
    second = np.mean([rows.T @ rows / len(rows) for rows in owned], axis=0)
    return mean, second - np.outer(mean, mean)


def relative(matrix, truth):
    return np.linalg.norm(matrix - truth) / np.linalg.norm(truth)


# Agreement where there is nearly no noise


@pytest.mark.parametrize("facts", [{}, {"radius": 0.8}, {"denoise": False}], ids=str)
def test_without_noise_it_is_the_sample_covariance(facts):
    X = curves()
    model = ICLPCovariance(**FACTS, **facts, epsilon=1e6, n_basis=5).fit(X)
    coef = projections(X, GRID, 5, DOMAIN)
    mean, covariance = moments(coef)
    assert relative(model.coef_, covariance) < 1e-6
    functions = cosine(GRID, 5, DOMAIN)
    assert relative(model.covariance_, functions @ covariance @ functions.T) < 1e-6
    np.testing.assert_allclose(model.mean_coef_, mean, atol=1e-5)
    n_minus_one = covariance * 600 / 599
    assert relative(model.coef_, n_minus_one) > 1e-3


def test_a_rich_basis_reaches_the_covariance_on_the_grid():
    grid = np.linspace(*DOMAIN, 120)
    X = curves(grid=grid)
    truth = np.cov(X, rowvar=False, bias=True)
    for n_basis in (25, "pss"):
        facts = {**FACTS, "grid": grid, "n_basis": n_basis, "epsilon": 1e8}
        model = ICLPCovariance(**facts).fit(X)
        assert relative(model.covariance_, truth) < 2e-3
        np.testing.assert_allclose(model.mean_, X.mean(axis=0), atol=4e-3)
    assert model.basis_.n_basis == 64


@pytest.mark.parametrize("mechanism", ["spherical", "laplace", "gaussian"])
def test_every_law_agrees(mechanism):
    X = curves()
    model = ICLPCovariance(
        **FACTS, mechanism=mechanism, delta=1e-3, epsilon=1e10, n_basis=4
    ).fit(X)
    _, covariance = moments(projections(X, GRID, 4, DOMAIN))
    assert relative(model.coef_, covariance) < (
        1e-3 if mechanism == "gaussian" else 1e-8
    )
    assert (model.guarantee_.definition == "approx-dp") == (mechanism == "gaussian")


def test_rows_of_people_are_averaged():
    X, rng = curves(300), np.random.default_rng(1)
    codes = rng.integers(40, size=300) ** 2 // 40
    model = ICLPCovariance(**FACTS, epsilon=1e6, n_basis=4).fit(X, groups=codes)
    _, covariance = moments(projections(X, GRID, 4, DOMAIN), codes)
    assert relative(model.coef_, covariance) < 1e-5
    assert model.n_people_ == len(np.unique(codes)) < 40
    assert model.guarantee_.unit == "person"


def test_people_without_values_are_at_the_mean():
    X = curves(50)
    with_gaps = np.vstack([X, np.full((2, 40), np.nan)])
    model = ICLPCovariance(**FACTS, missing="interpolate", epsilon=1e7, n_basis=3)
    fits = [
        model.set_params(radius=4.0).fit(with_gaps).coef_.copy(),
        model.fit(with_gaps, groups=[*range(50), 98, 99]).coef_.copy(),
    ]
    assert relative(*fits) < 1e-5


def test_rows_without_values_are_no_part_of_the_mean_of_a_person():
    X, codes = curves(60), np.arange(60) // 2
    with_gaps = np.vstack([X, np.full((30, 40), np.nan)])
    model = ICLPCovariance(**FACTS, missing="interpolate", epsilon=1e7, n_basis=3)
    whole = model.fit(X, groups=codes).coef_.copy()
    owners = np.append(codes, np.zeros(30, dtype=int))
    assert relative(model.fit(with_gaps, groups=owners).coef_, whole) < 1e-5


def test_vector_curves(shared_data):
    table = pd.read_csv(shared_data / "gait_long.csv")
    wide = [
        table.pivot(index="boy", columns="t", values=name).to_numpy()
        for name in ("hip_deg", "knee_deg")
    ]
    X, grid = np.stack(wide, axis=2), np.sort(table["t"].unique())
    facts = {"bounds": ([-30.0, -20.0], [80.0, 100.0]), "grid": grid, "n_basis": 3}
    model = ICLPCovariance(**facts, epsilon=1e7, random_state=0).fit(X)
    coef = np.stack([projections(w, grid, 3, (0.0, 1.0)) for w in wide], axis=2)
    mean, covariance = moments(coef.reshape(39, -1))
    assert relative(model.coef_, covariance.reshape(3, 2, 3, 2)) < 1e-6
    np.testing.assert_allclose(model.mean_coef_, mean.reshape(3, 2), atol=1e-4)
    functions = cosine(grid, 3, (0.0, 1.0))
    truth = np.einsum(
        "sj,jakb,tk->satb", functions, covariance.reshape(3, 2, 3, 2), functions
    )
    assert model.covariance_.shape == (20, 2, 20, 2)
    assert relative(model.covariance_, truth) < 1e-6
    assert model.mean_.shape == (20, 2)
    np.testing.assert_allclose(
        model.predict(grid[:, None], grid), model.covariance_.transpose(0, 2, 1, 3)
    )
    assert model.predict(grid).shape == (20, 2, 2)


def test_irregular_curves_are_those_of_a_grid():
    X = curves(80)
    long = Curves(X.ravel(), np.tile(GRID, 80), 40 * np.arange(81))
    facts = {**FACTS, "epsilon": 5.0, "radius": 3.0, "n_basis": 4}
    wide = ICLPCovariance(**facts).fit(X)
    free = ICLPCovariance(**facts).fit(long)
    np.testing.assert_allclose(free.coef_, wide.coef_, atol=1e-6)
    assert not hasattr(free, "n_features_in_")
    default = ICLPCovariance(**{**facts, "grid": None}).fit(long)
    assert default.covariance_.shape == (101, 101)


# What does not matter


def test_order_and_chunks_do_not_matter(monkeypatch):
    X, rng = curves(200), np.random.default_rng(2)
    codes, order = rng.integers(50, size=200), rng.permutation(200)
    for groups in (None, codes):
        model = ICLPCovariance(**FACTS, epsilon=3.0).fit(X, groups=groups)
        first = model.coef_.copy()
        again = None if groups is None else groups[order]
        np.testing.assert_array_equal(model.fit(X[order], groups=again).coef_, first)
        frame = pd.DataFrame(X)
        np.testing.assert_array_equal(model.fit(frame, groups=groups).coef_, first)
    with monkeypatch.context() as patch:
        patch.setattr("skfuncpriv.iclp._second_moment._CHUNK_VALUES", 100)
        patch.setattr("skfuncpriv.summaries._coefficients._CHUNK_VALUES", 100)
        np.testing.assert_array_equal(model.fit(X, groups=codes).coef_, first)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e9])
def test_units_do_not_matter(scale):
    X = curves(100)
    facts = {"domain": DOMAIN, "grid": GRID, "random_state": 0, "epsilon": 5.0}
    plain = ICLPCovariance(bounds=(-9.0, 7.0), **facts).fit(X)
    bounds = (-9.0 * scale, 7.0 * scale)
    other = ICLPCovariance(bounds=bounds, **facts).fit(scale * X)
    np.testing.assert_allclose(
        other.coef_ / scale**2, plain.coef_, rtol=1e-6, atol=1e-9
    )
    np.testing.assert_allclose(other.radius_ / scale, plain.radius_, rtol=1e-9)


def test_values_outside_of_the_bounds_are_clipped():
    X = curves(100)
    wild, tame = X.copy(), X.copy()
    wild[:3, 4:9], tame[:3, 4:9] = 1e308, 7.0
    model = ICLPCovariance(**FACTS)
    np.testing.assert_array_equal(model.fit(wild).coef_, model.fit(tame).coef_)


# The release


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 50.0])
def test_it_is_symmetric_and_positive(epsilon):
    model = ICLPCovariance(**FACTS, epsilon=epsilon)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoiseDominatesWarning)
        model.fit(curves(100))
    for matrix in (model.covariance_, model.coef_):
        np.testing.assert_array_equal(matrix, matrix.T)
        values = np.linalg.eigvalsh(matrix)
        assert values.min() >= -1e-12 * max(values.max(), 1e-300)
    np.testing.assert_array_equal(model.release_, model.release_.T)
    assert np.linalg.eigvalsh(model.release_).min() < 0 or epsilon > 1
    assert (np.diff(model.eigenvalues_) <= 0).all()
    assert (model.eigenvalues_ >= 0).all()
    assert model.eigenvalues_.sum() == pytest.approx(np.trace(model.coef_))


def test_negative_eigenvalues_become_zero():
    model = ICLPCovariance(**FACTS, denoise=False, epsilon=1.0, n_basis=6)
    model.fit(curves(200))
    values, vectors = np.linalg.eigh(model.release_)
    assert values[0] < -0.1 * values[-1]
    positive = (vectors * np.maximum(values, 0)) @ vectors.T
    np.testing.assert_allclose(model.coef_, positive, atol=1e-12)


def test_predict_evaluates_the_function():
    model = ICLPCovariance(**FACTS, epsilon=20.0).fit(curves(200))
    np.testing.assert_allclose(
        model.predict(GRID[:, None], GRID), model.covariance_, atol=1e-12
    )
    np.testing.assert_allclose(
        model.predict(GRID), np.diag(model.covariance_), atol=1e-12
    )
    assert model.predict(3.0).shape == ()
    assert model.predict(np.full((2, 1, 3), 3.0), np.full((4, 1), 2.5)).shape == (
        2,
        4,
        3,
    )
    for bad in (1.9, np.nan, "x", [6.1]):
        with pytest.raises(ValueError):
            model.predict(bad)
        with pytest.raises(ValueError):
            model.predict(3.0, bad)


@pytest.mark.parametrize("n_people", [1, 2, 3])
@pytest.mark.parametrize("mechanism", ["spherical", "gaussian"])
def test_few_people_release_numbers(n_people, mechanism):
    model = ICLPCovariance(
        **FACTS, epsilon=1e3, delta=1e-6, mechanism=mechanism, n_basis=3
    ).fit(curves(n_people))
    for name in ("mean_", "covariance_", "release_", "noise_std_"):
        assert np.isfinite(getattr(model, name)).all()


def test_other_bases_and_centers():
    X = curves(300)
    _, truth = moments(X)
    center = 1 + GRID / 10
    for facts in (
        {"kernel": "matern32", "n_basis": 20},
        {"basis": CosineBasis(20, DOMAIN)},
        {"n_basis": 20, "center": center},
        {"n_basis": 20, "center": -3.0, "norm_bound": 16.0},
    ):
        model = ICLPCovariance(**FACTS, **facts, epsilon=1e8).fit(X)
        assert relative(model.covariance_, truth) < 0.02
        assert relative(model.mean_, X.mean(axis=0)) < 0.03


# Noise


def zeros_fitted(n_fits, **facts):
    model = ICLPCovariance(**{**FACTS, "n_basis": 4, "radius": 2.0, **facts})
    X = np.full((400, 40), -1.0)  # the middle of the bounds
    for model.random_state in range(n_fits):
        yield model.fit(X)


@pytest.mark.parametrize("mechanism", ["spherical", "laplace", "gaussian"])
def test_the_noise_has_the_stated_size(mechanism):
    """Of people who do not differ the release is noise, to the first order."""
    facts = {"mechanism": mechanism, "delta": 1e-3, "denoise": False, "epsilon": 9.0}
    fits = [(fit.release_.copy(), fit.noise_std_) for fit in zeros_fitted(100, **facts)]
    releases = np.array([release for release, _ in fits])
    ((std),) = {std for _, std in fits}
    rows, columns = np.triu_indices(4)
    shares = releases[:, rows, columns] / std * np.where(rows == columns, 1, 2**0.5)
    squares = np.mean(shares**2, axis=1)
    error = 5 * squares.std() / np.sqrt(len(squares))
    assert abs(squares.mean() - 1) < error < 0.5
    model = ICLPCovariance(**FACTS, **facts, n_basis=4, radius=2.0)
    assert model.expected_error(400, n_points=40) == pytest.approx(10 * std**2)


def test_denoising_helps():
    X = curves(200)
    _, truth = moments(projections(X, GRID, 6, DOMAIN))
    errors = {}
    for denoise in (True, False):
        model = ICLPCovariance(**FACTS, n_basis=6, denoise=denoise, epsilon=2.0)
        fits = [model.fit(X).coef_ for model.random_state in range(15)]
        errors[denoise] = np.array([relative(fit, truth) for fit in fits])
    gain = errors[False] - errors[True]
    assert gain.mean() > 5 * gain.std() / np.sqrt(len(gain))


def test_pure_noise_is_said_to_be_noise():
    found = [fit.n_detectable_ for fit in zeros_fitted(40)]
    assert np.mean(found) < 0.6
    X = curves(600, n_functions=2)
    model = ICLPCovariance(**FACTS, epsilon=1e5, n_basis=5).fit(X)
    assert model.n_detectable_ == 2


def test_public_facts_alone_warn():
    for X in (curves(20), np.zeros((20, 40)), np.full((20, 40), 1e300)):
        with pytest.warns(NoiseDominatesWarning, match="more people or a smaller"):
            ICLPCovariance(**FACTS, epsilon=0.1).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ICLPCovariance(**FACTS, epsilon=2.0).fit(curves(400))


def test_a_refused_refit_changes_nothing():
    model = ICLPCovariance(**FACTS).fit(curves(100))
    before = {name: id(value) for name, value in vars(model).items()}
    for bad in ({"bounds": (1, 0)}, {"radius": -1}):
        kept = {name: getattr(model, name) for name in bad}
        with pytest.raises(ValueError):
            model.set_params(**bad).fit(curves(100))
        model.set_params(**kept)
    with pytest.raises(ValueError):
        model.fit(np.full((100, 40), np.nan))
    after = {name: id(value) for name, value in vars(model).items()}
    assert {name for name in before if before[name] != after[name]} == set()


def test_an_error_between_the_draws_leaves_nothing_fitted(monkeypatch):
    model = ICLPCovariance(**FACTS).fit(curves(100))

    def fail(*arguments):
        raise RuntimeError("no bits")

    monkeypatch.setattr(module, "choose_radius_around", fail)
    with recorded() as releases, pytest.raises(RuntimeError, match="no bits"):
        model.fit(curves(100))
    assert len(releases) == 1
    assert not hasattr(model, "guarantee_")
