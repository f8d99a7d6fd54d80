"""The private mean: what it agrees with, what changes it, what it says of itself."""

import math
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from skfuncpriv import Curves, ICLPMean, NoiseDominatesWarning
from skfuncpriv.basis import CosineBasis, KernelBasis, LegendreBasis
from skfuncpriv.iclp._parameters import public_plan
from skfuncpriv.noise import (
    BlockSpherical,
    IndependentGaussian,
    IndependentLaplace,
    SeededBits,
    SphericalLaplace,
    release_lattice,
)
from skfuncpriv.testing import recorded, silenced
from tests.iclp import spine
from tests.iclp.spine import private_sum, smooth_cosine

DOMAIN = (-2.0, 4.0)
GRID = np.linspace(*DOMAIN, 25)
N_BASIS = 7
FACTS = {"bounds": (0.0, 10.0), "domain": DOMAIN, "grid": GRID, "random_state": 1}
MECHANISMS = {
    "spherical": {"mechanism": "spherical"},
    "laplace": {"mechanism": "laplace"},
    "kernel": {"mechanism": "laplace", "noise": "kernel"},
    "block-spherical": {"mechanism": "block-spherical"},
    "gaussian": {"mechanism": "gaussian", "delta": 1e-6},
}
each_mechanism = pytest.mark.parametrize("law", MECHANISMS.values(), ids=MECHANISMS)


def curves(n_curves=40, grid=GRID, seed=0):
    """Smooth curves, some of which leave the bounds (0, 10)."""
    rng = np.random.default_rng(seed)
    phase = rng.uniform(0, 6, (n_curves, 1))
    return 5 + rng.normal(0, 3, (n_curves, 1)) + 3 * np.sin(grid + phase)


def projections(X, grid, n_basis):
    """Inner products of curves with the functions of the default basis."""
    return spine.projections(X, grid, n_basis, DOMAIN, smooth_cosine)


def clipped_mean(X, n_basis=N_BASIS, center=5.0):
    """Coefficients of the mean of clipped curves, by another quadrature."""
    centred = np.clip(X, 0, 10) - center
    return projections(centred, GRID, n_basis).mean(axis=0)


def lattice_step(model):
    """The step of `release_`, in its units."""
    step = release_lattice(model.law_.smallest_scale).step
    return step * model.norm_bound_ / model.n_people_


# Agreement with what is not private


@pytest.mark.parametrize("denoise", [False, True])
@each_mechanism
def test_without_noise_it_is_the_projection_of_the_mean(law, denoise):
    X = curves()
    model = ICLPMean(
        **FACTS, **law, epsilon=1e14, n_basis=N_BASIS, psi=0.0, denoise=denoise
    ).fit(X)
    expected = clipped_mean(X)
    noise = 15 * model.noise_std_.max() * math.sqrt(6)
    assert noise < 1e-5
    np.testing.assert_allclose(model.coef_, expected, atol=noise)
    curve = 5 + smooth_cosine(GRID, N_BASIS, DOMAIN) @ expected
    np.testing.assert_allclose(model.mean_, curve, atol=3 * noise)


def test_groups_are_averaged_before_people_are():
    X = curves()
    groups = np.random.default_rng(2).integers(0, 9, 40)
    groups[:9] = np.arange(9)
    model = ICLPMean(**FACTS, epsilon=1e8, n_basis=N_BASIS, psi=0.0)
    model.fit(X, groups=groups)
    rows = projections(np.clip(X, 0, 10) - 5, GRID, N_BASIS)
    people = [rows[groups == person].mean(axis=0) for person in range(9)]
    np.testing.assert_allclose(model.coef_, np.mean(people, axis=0), atol=1e-5)
    assert abs(np.mean(people, axis=0) - rows.mean(axis=0)).max() > 1e-2
    assert model.n_people_ == 9
    assert model.guarantee_.unit == "person"
    with pytest.raises(ValueError, match="one label per row"):
        model.fit(X, groups=groups[1:])


def test_names_of_groups_do_not_matter():
    X, groups = curves(), np.arange(40) % 9
    model = ICLPMean(**FACTS, epsilon=5.0)
    plain = model.fit(X, groups=groups).mean_
    order = np.random.default_rng(0).permutation(40)
    named = [f"person {8 - group}" for group in groups[order]]
    np.testing.assert_array_equal(model.fit(X[order], groups=named).mean_, plain)


def test_groups_change_the_noise_scale():
    X = curves()
    facts = {"n_basis": N_BASIS, "psi": 0.0, "denoise": False}
    model = ICLPMean(**FACTS, **facts, epsilon=9.0)
    rows = model.fit(X).noise_std_
    assert model.guarantee_.unit == "row"
    people = model.fit(X, groups=np.arange(40) % 10).noise_std_
    np.testing.assert_allclose(people, 4 * rows, rtol=1e-12)


def test_norm_bound_shrinks_long_contributions():
    X = curves()
    tau = 6.0
    model = ICLPMean(**FACTS, epsilon=1e8, n_basis=N_BASIS, psi=0.0, norm_bound=tau)
    model.fit(X)
    rows = projections(np.clip(X, 0, 10) - 5, GRID, N_BASIS)
    norms = np.linalg.norm(rows, axis=1)
    assert (norms > tau).any()
    assert (norms < tau).any()
    rows *= np.minimum(1, tau / norms)[:, None]
    np.testing.assert_allclose(model.coef_, rows.mean(axis=0), atol=1e-5)
    assert model.norm_bound_ == tau
    loose = ICLPMean(**FACTS, epsilon=9.0, n_basis=N_BASIS, norm_bound=1e6).fit(X)
    assert loose.norm_bound_ == pytest.approx(5 * math.sqrt(6), rel=1e-12)


@pytest.mark.parametrize("center", [2.0, 5.0 + 3 * np.sin(GRID)], ids=["one", "array"])
def test_center_is_subtracted_and_added_again(center):
    X = curves()
    model = ICLPMean(**FACTS, epsilon=1e8, n_basis=N_BASIS, psi=0.0, center=center)
    model.fit(X)
    expected = clipped_mean(X, center=center)
    np.testing.assert_allclose(model.coef_, expected, atol=1e-5)
    curve = center + smooth_cosine(GRID, N_BASIS, DOMAIN) @ expected
    np.testing.assert_allclose(model.mean_, curve, atol=1e-5)
    np.testing.assert_allclose(model.predict(GRID), model.mean_, atol=1e-12)
    reach = np.broadcast_to(np.maximum(10 - center, center), GRID.shape)
    fine = np.linspace(*DOMAIN, 100_001)
    square = np.interp(fine, GRID, reach) ** 2
    norm = math.sqrt(np.trapezoid(square, fine))
    assert model.norm_bound_ == pytest.approx(norm, rel=1e-6)


@pytest.mark.parametrize("bad", [11.0, math.nan, [5.0, 5.0], np.full(24, 5.0), -1e308])
def test_center_outside_of_bounds_is_refused(bad):
    with pytest.raises(ValueError, match="center must"):
        ICLPMean(**FACTS, center=bad).fit(curves())


# Grids, units and forms of data


@pytest.mark.parametrize("n_basis", [N_BASIS, "pss"])
@each_mechanism
def test_refining_a_grid_does_not_change_the_release(law, n_basis):
    X = np.clip(curves(), 0, 10)
    fine = np.sort(np.concatenate([GRID, (GRID[:-1] + GRID[1:]) / 2, [0.1]]))
    refined = np.stack([np.interp(fine, GRID, x) for x in X])
    facts = {**FACTS, **law, "epsilon": 2.0, "n_basis": n_basis}
    coarse = ICLPMean(**facts).fit(X)
    model = ICLPMean(**{**facts, "grid": fine}).fit(refined)
    assert len(coarse.coef_) < len(GRID)  # or a finer grid would allow more functions
    assert model.law_.loss(np.ones(model.law_.size)) == coarse.law_.loss(
        np.ones(coarse.law_.size)
    )
    np.testing.assert_allclose(
        model.release_, coarse.release_, rtol=1e-12, atol=lattice_step(coarse)
    )
    np.testing.assert_allclose(model.predict(GRID), coarse.mean_, rtol=1e-6)
    assert model.mean_.shape == fine.shape


@pytest.mark.parametrize("parameters", [{}, {"norm_bound": 8.0}, {"center": 4.0}])
@each_mechanism
def test_change_of_units_of_values(law, parameters):
    X = curves()
    facts = {**FACTS, **law, "epsilon": 2.0}
    meters = ICLPMean(**facts, **parameters).fit(X)
    for factor, tolerance in ((100.0, 1e-12), (0.3, 1e-12), (2.0**-9, 0.0)):
        scaled = {name: factor * value for name, value in parameters.items()}
        facts["bounds"] = (0.0, 10.0 * factor)
        model = ICLPMean(**facts, **scaled).fit(factor * X)
        for name in ("mean_", "release_", "coef_", "noise_std_", "norm_bound_"):
            expected = factor * np.asarray(getattr(meters, name))
            np.testing.assert_allclose(
                getattr(model, name), expected, rtol=tolerance, atol=0, err_msg=name
            )


@each_mechanism
def test_change_of_units_of_the_domain(law):
    X = curves()
    facts = {**FACTS, **law, "epsilon": 2.0}
    hours = ICLPMean(**facts).fit(X)
    for factor, tolerance in ((3600.0, 1e-12), (0.25, 1e-12)):
        facts["domain"] = (factor * DOMAIN[0], factor * DOMAIN[1])
        facts["grid"] = factor * GRID
        model = ICLPMean(**facts).fit(X)
        np.testing.assert_allclose(model.mean_, hours.mean_, rtol=tolerance)
        np.testing.assert_allclose(model.noise_std_, hours.noise_std_, rtol=tolerance)
        expected = math.sqrt(factor) * hours.release_
        np.testing.assert_allclose(model.release_, expected, rtol=tolerance)


def test_irregular_curves_equal_the_same_curves_on_a_grid():
    X = curves()
    flat = Curves(X.ravel(), np.tile(GRID, 40), np.arange(41) * 25)
    for parameters in ({}, {"norm_bound": 8.0}):
        facts = {**FACTS, "epsilon": 2.0, "n_basis": N_BASIS, **parameters}
        regular = ICLPMean(**facts).fit(X)
        model = ICLPMean(**facts).fit(flat)
        np.testing.assert_allclose(
            model.release_, regular.release_, rtol=1e-12, atol=lattice_step(regular)
        )
        np.testing.assert_allclose(model.mean_, regular.mean_, rtol=1e-6)
        facts["grid"] = None
        model = ICLPMean(**facts).fit(flat)
        np.testing.assert_array_equal(model.grid_, np.linspace(*DOMAIN, 101))
        np.testing.assert_allclose(model.predict(GRID), regular.mean_, rtol=1e-6)


def test_curves_at_points_of_their_own():
    """Curves that straight lines describe, at random points, some beyond the domain."""
    rng = np.random.default_rng(3)
    slopes, offsets, values, times = rng.uniform(-1, 1, 30), [0], [], []
    for slope in slopes:
        t = np.unique(np.concatenate([[-3.0, 5.0], rng.uniform(-2.5, 4.5, 6)]))
        values.append(5 + slope * t)
        times.append(t)
        offsets.append(offsets[-1] + len(t))
    flat = Curves(np.concatenate(values), np.concatenate(times), offsets)
    model = ICLPMean(**FACTS, epsilon=1e8, n_basis=N_BASIS, psi=0.0).fit(flat)
    line = slopes.mean() * GRID[None]
    expected = projections(line, GRID, N_BASIS)[0]
    np.testing.assert_allclose(model.coef_, expected, atol=1e-5)


@each_mechanism
def test_vector_values(law):
    X = np.stack([curves(seed=1), 20 * curves(seed=2) - 100], axis=2)
    bounds = (np.array([0.0, -100.0]), np.array([10.0, 100.0]))
    facts = {**FACTS, **law, "bounds": bounds, "epsilon": 1e14, "n_basis": N_BASIS}
    model = ICLPMean(**facts, psi=0.0).fit(X)
    assert model.mean_.shape == model.noise_std_.shape == (25, 2)
    assert model.coef_.shape == model.release_.shape == (N_BASIS, 2)
    assert model.sample(3).shape == (3, 25, 2)
    assert model.noise_band()[0].shape == (25, 2)
    assert model.norm_bound_ == pytest.approx(math.hypot(5, 100) * math.sqrt(6))
    np.testing.assert_allclose(model.coef_[:, 0], clipped_mean(X[:, :, 0]), atol=1e-4)
    second = np.clip(X[:, :, 1], -100, 100)
    expected = projections(second, GRID, N_BASIS).mean(axis=0)
    np.testing.assert_allclose(model.coef_[:, 1], expected, atol=1e-4)
    one = ICLPMean(**{**FACTS, **law}, epsilon=5.0).fit(X[:, :, :1])
    flat = ICLPMean(**{**FACTS, **law}, epsilon=5.0).fit(X[:, :, 0])
    assert one.mean_.shape == (25, 1)
    np.testing.assert_array_equal(one.mean_[:, 0], flat.mean_)


def test_grid_from_the_names_of_columns():
    times = np.sort(np.random.default_rng(0).uniform(*DOMAIN, 25))
    X = curves(grid=times)
    frame = pd.DataFrame(X, columns=[str(t) for t in times])
    named = ICLPMean(**{**FACTS, "grid": "columns"}, epsilon=5.0).fit(frame)
    given = ICLPMean(**{**FACTS, "grid": times}, epsilon=5.0).fit(X)
    np.testing.assert_array_equal(named.mean_, given.mean_)
    np.testing.assert_array_equal(named.grid_, times)
    assert list(named.feature_names_in_) == list(frame.columns)
    assert named.n_features_in_ == 25
    with pytest.raises(ValueError, match="needs a frame"):
        ICLPMean(**{**FACTS, "grid": "columns"}, epsilon=5.0).fit(X)


def test_default_grid_is_equally_spaced():
    given = ICLPMean(**FACTS, epsilon=5.0).fit(curves())
    model = ICLPMean(**{**FACTS, "grid": None}, epsilon=5.0).fit(curves())
    np.testing.assert_array_equal(model.mean_, given.mean_)


def test_missing_values_are_interpolated():
    X = np.clip(curves(), 0, 10)
    gaps = X.copy()
    gaps[:, 3:6] = np.nan
    gaps[5, 20:] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        ICLPMean(**FACTS).fit(gaps)
    facts = {**FACTS, "epsilon": 1e8, "n_basis": N_BASIS, "psi": 0.0}
    model = ICLPMean(**facts, missing="interpolate").fit(gaps)
    filled = np.stack([
        np.interp(GRID, GRID[~np.isnan(x)], x[~np.isnan(x)]) for x in gaps
    ])  # fmt: skip
    np.testing.assert_allclose(model.coef_, clipped_mean(filled), atol=1e-5)


@pytest.mark.parametrize("parameters", [{}, {"norm_bound": 9.0}])
@pytest.mark.parametrize("form", ["rows", "people", "irregular"])
def test_a_person_without_values_counts_with_contribution_zero(form, parameters):
    X = curves()
    X[[0, 7]] = np.nan
    facts = {**FACTS, "epsilon": 1e8, "n_basis": N_BASIS, "psi": 0.0, **parameters}
    model = ICLPMean(**facts, missing="interpolate")
    groups = None
    n_people = 40
    if form == "people":  # person 0 owns rows 0 and 7, person 1 rows 1 and 2
        groups = np.array([0, 1, 1, 3, 4, 5, 6, 0, *range(8, 40)])
        n_people = 38
    data = X
    if form == "irregular":
        data = Curves(
            X.ravel(), np.tile(GRID, 40), np.arange(41) * 25, missing="interpolate"
        )
    model.fit(data, groups=groups)
    assert model.n_people_ == n_people
    rows = projections(np.clip(X[1:], 0, 10) - 5, GRID, N_BASIS)
    rows = np.delete(rows, 6, axis=0)
    if form == "people":
        rows = np.vstack([rows[:2].mean(axis=0), rows[2:]])
    if parameters:
        rows *= np.minimum(1, 9 / np.linalg.norm(rows, axis=1))[:, None]
    np.testing.assert_allclose(model.coef_, rows.sum(axis=0) / n_people, atol=1e-5)


@pytest.mark.parametrize("n_curves", [1, 2])
def test_one_or_two_people(n_curves):
    X = curves(n_curves)
    model = ICLPMean(**FACTS, epsilon=1e8, n_basis=N_BASIS, psi=0.0).fit(X)
    np.testing.assert_allclose(model.coef_, clipped_mean(X), atol=1e-4)
    with pytest.warns(NoiseDominatesWarning):
        noisy = ICLPMean(**FACTS, epsilon=0.5).fit(X)
    assert np.isfinite(noisy.mean_).all()


def test_one_point_describes_a_constant_curve():
    facts = {**FACTS, "grid": [1.0], "epsilon": 1e8, "n_basis": 3, "psi": 0.0}
    model = ICLPMean(**facts).fit(np.full((9, 1), 7.0))
    np.testing.assert_allclose(model.predict([-2.0, 0.0, 4.0]), 7.0, atol=1e-5)


# Queries


def test_predict_is_the_curve_everywhere_on_the_domain():
    model = ICLPMean(**FACTS, epsilon=3.0).fit(curves())
    np.testing.assert_allclose(model.predict(model.grid_), model.mean_, rtol=1e-12)
    t = np.random.default_rng(0).uniform(*DOMAIN, (3, 4, 2))
    values = model.predict(t)
    assert values.shape == t.shape
    expected = 5 + smooth_cosine(t.ravel(), len(model.coef_), DOMAIN) @ model.coef_
    np.testing.assert_allclose(values.ravel(), expected, rtol=1e-10)
    assert np.shape(model.predict(0.5)) == ()
    assert model.predict([]).shape == (0,)
    vector = ICLPMean(**FACTS, epsilon=20.0).fit(curves()[:, :, None])
    assert vector.predict(t).shape == (3, 4, 2, 1)
    assert vector.predict(0.5).shape == (1,)


@pytest.mark.parametrize("bad", [-2.1, 4.1, 1e308, math.inf, math.nan, "x", None])
def test_predict_outside_of_the_domain_is_an_error(bad):
    model = ICLPMean(**FACTS, epsilon=3.0).fit(curves())
    with pytest.raises((ValueError, TypeError)):
        model.predict([0.0, bad])


@each_mechanism
def test_noise_std_is_that_of_sampled_noise(law):
    model = ICLPMean(**FACTS, **law, epsilon=2.0, psi=1e-3, denoise=False)
    model.fit(curves())
    draws = model.sample(20_000, random_state=5)
    second = draws**2
    error = second.std(axis=0) / math.sqrt(len(draws))
    gap = abs(second.mean(axis=0) - model.noise_std_**2)
    np.testing.assert_array_less(gap, 6 * error)
    assert abs(draws.mean(axis=0) / model.noise_std_).max() < 6 / math.sqrt(20_000)


@cache
def noises(law):
    """The noise of 400 releases of the same curves, and one model; fits take long."""
    X = curves(20)
    facts = {**FACTS, **dict(law), "epsilon": 3.0, "psi": 1e-2, "denoise": False}
    with silenced():
        quiet = ICLPMean(**facts).fit(X).mean_
    seeds = [{"random_state": seed} for seed in range(400)]
    models = [ICLPMean(**facts | seed).fit(X) for seed in seeds]
    return np.array([model.mean_ - quiet for model in models]), models[0]


@each_mechanism
def test_noise_std_is_that_of_releases(law):
    noise, model = noises(tuple(law.items()))
    second = np.square(noise)
    error = second.std(axis=0) / math.sqrt(len(noise))
    gap = abs(second.mean(axis=0) - model.noise_std_**2)
    np.testing.assert_array_less(gap, 7 * error)
    # A deviation wrong by sqrt(2) would be a gap of half or the whole of the variance.
    assert (7 * error).mean() < 0.9 * (model.noise_std_**2).mean()


@pytest.mark.parametrize("level", [0.5, 0.9])
@each_mechanism
def test_noise_band_covers_the_whole_curve_as_often_as_it_says(law, level):
    noise, model = noises(tuple(law.items()))
    lower, upper = model.noise_band(level)
    np.testing.assert_allclose((lower + upper) / 2, model.mean_, rtol=1e-9)
    half = (upper - lower) / 2  # public: the same for every release
    covered = (abs(noise) <= half).all(axis=1).mean()
    # Both these releases and the 4000 draws behind the band are random.
    error = math.sqrt(level * (1 - level) * (1 / len(noise) + 1 / 4000))
    assert abs(covered - level) < 5.5 * error


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, math.nan, True, "0.9", None])
def test_levels_of_bands(level):
    model = ICLPMean(**FACTS, epsilon=3.0).fit(curves())
    with pytest.raises(ValueError, match="level must be"):
        model.noise_band(level)


def test_samples_are_fresh_noise():
    model = ICLPMean(**FACTS, epsilon=3.0).fit(curves())
    first, second = model.sample(2), model.sample(2)
    assert first.shape == (2, 25)
    assert len({round(float(x), 12) for x in [*first[:, 0], *second[:, 0]]}) == 4
    np.testing.assert_array_equal(
        model.sample(2, random_state=3), model.sample(2, random_state=3)
    )
    with pytest.raises(ValueError, match="n_samples must be an integer"):
        model.sample(0)


# What is known before there are data


@each_mechanism
@pytest.mark.parametrize("denoise", [False, True])
def test_expected_error_is_that_of_the_law(law, denoise):
    facts = {**FACTS, **law, "epsilon": 60.0, "denoise": denoise}
    facts["psi"] = "pss" if denoise else 1e-2
    model = ICLPMean(**facts)
    before = model.expected_error(40)
    assert vars(model) == vars(ICLPMean(**facts))
    model.fit(curves())
    unit = model.norm_bound_ / 40

    def kept(fitted, n_outputs):  # what the denoiser is expected to multiply by
        if not denoise:
            return 1.0
        plan, _ = public_plan(model, 40, n_outputs, DOMAIN, 25)
        return 1 / (1 + (np.arange(len(fitted.coef_)) / plan.knee) ** 2)

    weights = model.weights_ * kept(model, 1)
    after = unit**2 * np.sum((model.law_.std * weights) ** 2)
    assert before == pytest.approx(after, rel=1e-12)
    if denoise:
        assert before < unit**2 * model.law_.expected_square
    # Also the integral of the variance of the curve.
    fine = np.linspace(*DOMAIN, 2001)
    table = smooth_cosine(fine, len(model.coef_), DOMAIN) ** 2
    variance = table @ (unit * model.law_.std * weights) ** 2
    assert before == pytest.approx(np.trapezoid(variance, fine), rel=1e-4)
    vector = ICLPMean(**facts).fit(np.stack([curves()] * 2, axis=2))
    weights = vector.weights_ * kept(vector, 2)
    expected = (vector.norm_bound_ / 40) ** 2 * np.sum(
        (vector.law_.std * np.repeat(weights, 2)) ** 2
    )
    assert model.expected_error(40, n_outputs=2) == pytest.approx(expected, rel=1e-12)


def test_expected_error_is_met_by_releases():
    X = curves()
    facts = {**FACTS, "epsilon": 2.0, "n_basis": N_BASIS, "denoise": False, "psi": 1e-3}
    with silenced():
        quiet = ICLPMean(**facts).fit(X).coef_
    errors = []
    for seed in range(400):
        facts["random_state"] = seed
        errors.append(np.sum((ICLPMean(**facts).fit(X).coef_ - quiet) ** 2))
    gap = abs(np.mean(errors) - ICLPMean(**facts).expected_error(40))
    assert gap < 6 * np.std(errors) / math.sqrt(400)


@pytest.mark.parametrize("bad", [0, -1, 2.5, True, "3", None])
def test_expected_error_of_nobody(bad):
    with pytest.raises(ValueError, match="n_samples must be an integer"):
        ICLPMean(**FACTS).expected_error(bad)


@pytest.mark.parametrize("delta", [0.0, 1e-9, 1e-3])
@pytest.mark.parametrize("psi", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("n_basis", [2, 7, 40])
def test_auto_takes_the_smallest_predicted_error(delta, psi, n_basis):
    facts = {**FACTS, "n_basis": n_basis, "psi": psi, "delta": delta, "denoise": False}
    mechanisms = ["spherical", "block-spherical", "laplace"]
    mechanisms += ["gaussian"] if delta else []
    errors = {}
    for mechanism in mechanisms:
        model = ICLPMean(**facts, mechanism=mechanism, epsilon=20.0)
        errors[mechanism] = model.expected_error(40)
    auto = ICLPMean(**facts, epsilon=20.0)
    assert auto.expected_error(40) == pytest.approx(min(errors.values()), rel=1e-6)
    laws = {auto.fit(curves(seed=seed)).law_.std.tobytes() for seed in range(3)}
    assert len(laws) == 1  # before data are seen


def test_auto_prefers_gaussian_noise_in_many_dimensions_only():
    facts = {**FACTS, "epsilon": 20.0, "psi": 0.0, "delta": 1e-6}
    assert isinstance(ICLPMean(**facts, n_basis=1).fit(curves()).law_, BlockSpherical)
    many = ICLPMean(**facts, n_basis=200).fit(curves())
    assert isinstance(many.law_, IndependentGaussian)
    assert many.guarantee_.delta == 1e-6
    few = ICLPMean(**facts, n_basis=1).fit(curves())
    assert few.guarantee_.definition == "pure-dp"
    assert few.guarantee_.delta == 0


def test_gaussian_release():
    model = ICLPMean(**FACTS, mechanism="gaussian", delta=1e-5, epsilon=2.0)
    model.fit(curves())
    assert isinstance(model.law_, IndependentGaussian)
    guarantee = model.guarantee_
    assert (guarantee.definition, guarantee.epsilon) == ("approx-dp", 2.0)
    assert guarantee.delta == 1e-5
    with pytest.raises(ValueError, match="delta > 0"):
        ICLPMean(**FACTS, mechanism="gaussian").fit(curves())


def test_mechanisms_have_the_laws_of_their_names():
    expected = {
        "spherical": SphericalLaplace,
        "laplace": IndependentLaplace,
        "kernel": IndependentLaplace,
        "block-spherical": BlockSpherical,
        "gaussian": IndependentGaussian,
    }
    for name, law in MECHANISMS.items():
        facts = {**FACTS, **law, "epsilon": 9.0, "psi": 1e-2, "eta": 1.5, "n_basis": 9}
        model = ICLPMean(**facts, denoise=False).fit(curves())
        assert type(model.law_) is expected[name]
        spectrum = CosineBasis(9, DOMAIN).spectrum / 6
        weights = spectrum**1.5 / (spectrum**1.5 + 1e-2)
        if name == "laplace":  # in shrunk coordinates b_j is as sqrt(a_j)
            ratio = np.array(model.law_.scales) * weights / np.sqrt(weights)
            np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
        if name == "kernel":  # as published, b_j is as sqrt(lambda_j)
            ratio = np.array(model.law_.scales) * weights / np.sqrt(spectrum)
            np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)


def test_a_warning_when_public_facts_predict_that_noise_dominates():
    texts = set()
    for seed in range(4):
        with pytest.warns(NoiseDominatesWarning) as caught:
            ICLPMean(**FACTS, epsilon=0.02).fit(curves(seed=seed))
        (warning,) = caught
        texts.add(str(warning.message))
    assert len(texts) == 1
    ICLPMean(**FACTS, epsilon=2.0).fit(curves())  # warnings are errors
    # The limit is that of public facts: noise energy equal to the squared norm bound.
    for epsilon in np.geomspace(0.05, 1.0, 40):
        model = ICLPMean(**FACTS, epsilon=epsilon, n_basis=5)
        share = model.expected_error(40) / (25 * 6)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(curves())
        assert bool(caught) == (share >= 1)


# Penalties, bases


@each_mechanism
def test_quadratic_penalty_multiplies_the_release(law):
    model = ICLPMean(**FACTS, **law, epsilon=3.0, psi=1e-2, eta=2.0, denoise=False)
    model.set_params(n_basis=N_BASIS).fit(curves())
    # Matern 3/2 spectral density, length a tenth of the domain, on a unit domain.
    frequency = np.pi * np.arange(N_BASIS)
    rate = math.sqrt(3) * 10
    spectrum = 4 * rate**3 / (rate**2 + frequency**2) ** 2
    weights = spectrum**2 / (spectrum**2 + 1e-2)
    np.testing.assert_allclose(model.coef_, weights * model.release_, rtol=1e-12)
    curve = 5 + smooth_cosine(GRID, N_BASIS, DOMAIN) @ (weights * model.release_)
    np.testing.assert_allclose(model.mean_, curve, rtol=1e-10)


AR = {"penalty": "ar", "psi": 0.1, "eta": 1.5}


def absolute_thresholds(n_basis, psi=0.1, eta=1.5):
    spectrum = CosineBasis(n_basis, DOMAIN).spectrum / 6
    return psi / (2 * spectrum ** (eta / 2))


@pytest.mark.parametrize("parameters", [{}, {"norm_bound": 8.0}])
def test_absolute_penalty_is_an_exact_soft_threshold(parameters):
    X = curves() + 2.0
    facts = {**FACTS, **parameters, "epsilon": 3.0}
    shrunk = private_sum(ICLPMean(**facts, **AR, n_basis=3, denoise=False), X)
    plain = private_sum(ICLPMean(**facts, n_basis=3, psi=0.0), X)
    thresholds = 40 * absolute_thresholds(3)
    assert thresholds.max() < 40
    step = plain.value.lattice.step
    kept = 0
    for mine, whole, threshold in zip(
        shrunk.value.values, plain.value.values, thresholds, strict=True
    ):
        limit = math.ceil(threshold / step)
        expected = max(abs(int(whole)) - limit, 0) * (1 if whole > 0 else -1)
        assert abs(int(mine) - expected) <= 4e-16 * limit
        kept += expected != 0
    assert 0 < kept < 3  # thresholds were felt, and not everything is gone


@pytest.mark.parametrize(
    "parameters",
    [{}, {"n_basis": 20}, {"basis": CosineBasis(20, DOMAIN)}],
    ids=["pss", "n_basis", "basis"],
)
@each_mechanism
def test_coordinates_that_are_always_zero_are_not_released(law, parameters):
    active = int((absolute_thresholds(20) < 1).sum())
    assert 1 < active < 20
    model = ICLPMean(**FACTS, **AR, **law, **parameters, epsilon=9.0).fit(curves())
    assert model.law_.size == len(model.coef_) == model.basis_.n_basis
    assert model.law_.size == active or (not parameters and model.law_.size < active)
    fewer = ICLPMean(**FACTS, **AR, **law, n_basis=2, epsilon=9.0).fit(curves())
    assert fewer.law_.size == 2


def test_published_rates_are_offered():
    model = ICLPMean(**FACTS, psi="rate", denoise=False, epsilon=5.0).fit(curves())
    assert 0 < model.weights_.min() <= model.weights_.max() < 1
    more = ICLPMean(**FACTS, psi="rate", denoise=False, epsilon=50.0).fit(curves())
    assert more.weights_[0] > model.weights_[0]  # less noise, less shrinking


def test_kernel_is_short_for_its_basis():
    facts = {**FACTS, "epsilon": 5.0, "psi": 1e-2, "denoise": False}
    short = ICLPMean(**facts, kernel="exponential", n_basis=9).fit(curves())
    basis = KernelBasis("exponential", 9, DOMAIN)
    long = ICLPMean(**facts, basis=basis).fit(curves())
    np.testing.assert_array_equal(short.mean_, long.mean_)
    assert isinstance(short.basis_, KernelBasis)
    np.testing.assert_array_equal(short.basis_.spectrum, basis.spectrum)
    cosines = ICLPMean(**facts, n_basis=9).fit(curves())
    assert abs(cosines.mean_ - short.mean_).max() > 1e-3


def test_basis_brings_its_domain():
    basis = LegendreBasis(5, DOMAIN)
    facts = {"bounds": (0, 10), "epsilon": 1e8, "psi": 0.0, "random_state": 0}
    line = 5 + np.linspace(-1, 1, 25)
    model = ICLPMean(**facts, basis=basis).fit(np.tile(line, (30, 1)))
    np.testing.assert_allclose(model.grid_, GRID)
    np.testing.assert_allclose(model.mean_, line, atol=1e-5)
    with pytest.raises(ValueError, match="differs from that of the basis"):
        ICLPMean(**facts, basis=basis, domain=(0, 1)).fit(curves())


def test_denoising_helps_smooth_curves():
    X = curves(200)
    truth = np.clip(X, 0, 10).mean(axis=0)
    errors = []
    for denoise in (True, False):
        facts = {**FACTS, "epsilon": 0.5, "denoise": denoise, "n_basis": 16}
        square = []
        for seed in range(60):
            facts["random_state"] = seed
            mean = ICLPMean(**facts, psi=0.0).fit(X).mean_
            square.append(np.mean((mean - truth) ** 2))
        errors.append((np.mean(square), np.std(square) / math.sqrt(60)))
    (ours, error), (raw, raw_error) = errors
    assert ours + 5 * error < 0.6 * (raw - 5 * raw_error)


# Randomness


def test_a_seeded_release_says_so():
    seeded = ICLPMean(**FACTS, epsilon=5.0).fit(curves())
    assert seeded.guarantee_.seeded
    assert "SEEDED: no privacy" in str(seeded.guarantee_)
    for state in (np.random.RandomState(3), np.random.default_rng(3)):
        other = ICLPMean(**{**FACTS, "random_state": state}, epsilon=5.0).fit(curves())
        assert other.guarantee_.seeded
    secure = ICLPMean(**{**FACTS, "random_state": None}, epsilon=5.0).fit(curves())
    assert not secure.guarantee_.seeded
    assert "SEED" not in str(secure.guarantee_)


def test_seeds_repeat_and_differ():
    model = ICLPMean(**FACTS, epsilon=5.0)
    first = model.fit(curves()).mean_
    np.testing.assert_array_equal(model.fit(curves()).mean_, first)
    other = model.set_params(random_state=2).fit(curves()).mean_
    assert (other != first).all()


def test_global_seeds_change_nothing():
    model = ICLPMean(**{**FACTS, "random_state": None}, epsilon=5.0)
    releases = []
    for _ in range(3):
        np.random.seed(0)
        before = np.random.get_state()[1].copy()
        releases.append(model.fit(curves()).release_)
        model.sample(2)
        model.noise_band()
        np.testing.assert_array_equal(np.random.get_state()[1], before)
    assert (releases[0] != releases[1]).any()
    assert (releases[1] != releases[2]).any()
    seeded = ICLPMean(**FACTS, epsilon=5.0)
    np.random.seed(1)
    first = seeded.fit(curves()).mean_
    np.random.seed(2)
    np.testing.assert_array_equal(seeded.fit(curves()).mean_, first)


# The lattice


@pytest.mark.parametrize("parameters", [{}, {"norm_bound": 8.0}])
@each_mechanism
def test_neighbours_reach_the_same_lattice_and_low_bits_carry_nothing(law, parameters):
    """Released sums are multiples of one public step, with uniform low bits.

    The attack on textbook noise reads the low bits of sum plus noise: which floats can
    be reached depends on the sum (Mironov 2012).
    """
    facts = {**FACTS, **law, **parameters, "epsilon": 3.0, "n_basis": 5}
    one, other = curves(), curves()
    other[0] = 1e-3 * math.pi
    steps = set()
    for seed, X in enumerate((one, other)):
        model = ICLPMean(**facts, denoise=False)
        mine = private_sum(model, X)
        steps.add(mine.lattice.step)
        multiples = model.release_ / (model.norm_bound_ / 40) / mine.lattice.step
        np.testing.assert_allclose(multiples, np.rint(multiples), rtol=4e-16, atol=0)
        # 20000 more releases of the same sum: all eight low parts are equally likely.
        again = replace(mine.value, values=np.tile(mine.value.values, (4000, 1)))
        released = mine.law.release(again, mine.lattice, SeededBits(seed))
        for column in (released & 7).T:
            counts = np.bincount(column, minlength=8)
            assert stats.chisquare(counts).pvalue > 1e-9
    (step,) = steps
    assert step <= 2.0**-20 * model.law_.smallest_scale


def test_the_lattice_of_the_noise_does_not_depend_on_the_seed():
    law = ICLPMean(**FACTS, epsilon=3.0).fit(curves()).law_
    with recorded() as releases:
        for seed in range(3):
            ICLPMean(**{**FACTS, "random_state": seed}, epsilon=3.0).fit(curves())
    assert {released.lattice for released in releases} == {
        release_lattice(law.smallest_scale)
    }
    assert law.sample(2, SeededBits(0)).shape == (2, law.size)
