"""ICLPClassifier: agreement without noise, forms of data, predictions, plans."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skfuncpriv import (
    Curves,
    ICLPClassifier,
    NoiseDominatesWarning,
    PrivateKernelClassifier,
)
from skfuncpriv.basis import FourierBasis
from skfuncpriv.gaussian_process import GaussianKernel
from skfuncpriv.gaussian_process._duality import KAPPA
from skfuncpriv.gaussian_process._losses import LogisticLoss
from skfuncpriv.iclp._classifier_facts import released_functions
from skfuncpriv.iclp._classifier_plan import classifier_plan
from skfuncpriv.iclp._designs import public_design
from skfuncpriv.testing import recorded, silenced

T = np.linspace(0, 2, 30)
CURVES = {"X_bounds": (-2.0, 2.0), "X_domain": (0.0, 2.0), "X_basis": 5}
LINEAR = {"X_bounds": ([-1.0, 0.0], [1.0, 4.0]), "kernel": "linear"}
KERNEL = {"X_bounds": (-1.0, 1.0), "kernel": GaussianKernel(1.0), "X_basis": 6}
BOTH = {
    "X_bounds": {"a": (-2.0, 2.0), "b": (-1.0, 1.0)},
    "X_domain": {"a": (0.0, 2.0), "b": (5.0, 6.0)},
    "X_basis": 3,
}
FORMS = {"curves": CURVES, "linear": LINEAR, "kernel": KERNEL, "both": BOTH}
each_form = pytest.mark.parametrize("form", FORMS)


def curves(n, rng):
    """Smooth curves within (-2, 2), whose slope says the label."""
    c = rng.uniform(-0.6, 0.6, (n, 3))
    X = c @ np.stack([np.ones(30), np.cos(np.pi * T / 2), np.sin(np.pi * T)])
    return X, c[:, 1] + 0.5 * c[:, 2]


def data(form, n=500, seed=0, n_classes=2):
    """Rows of a form, and labels 0, 1, ... that they say something about."""
    rng = np.random.default_rng(seed)
    if form == "linear":
        X = rng.uniform(-1, 1, (n, 2))
        f = X[:, 0] - X[:, 1]
        X[:, 1] = 2 * X[:, 1] + 2
    elif form == "kernel":
        X = rng.uniform(-1, 1, (n, 2))
        f = X[:, 0] * X[:, 1]
    else:
        X, f = curves(n, rng)
        if form == "both":
            other = rng.uniform(-0.5, 0.5, (n, 1)) * np.cos(
                np.pi * np.linspace(0, 1, 9)
            )
            X, f = {"a": X, "b": other}, f + other[:, 0]
    f = f + 0.2 * f.std() * rng.normal(size=n)
    cuts = np.quantile(f, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(cuts, f)


def model_of(form, **facts):
    facts = {"psi": 0.1, "epsilon": 1e6, "gap": 1e-16, "random_state": 0} | facts
    return ICLPClassifier(**FORMS[form] | facts)


def whitened(model, X):
    """Features in which the penalty is a plain norm, and coefficients of these."""
    design = model.features_
    root = np.sqrt(design.penalty)
    return design.transform(design.read(X)) / root, (model.theta_.T * root)


def reference(Z, y, psi, n_people, weights=None):
    """scikit-learn's minimiser of the same objective."""
    theirs = LogisticRegression(
        C=1 / (2 * psi * n_people), fit_intercept=False, tol=1e-12, solver="newton-cg"
    )
    return theirs.fit(Z, y, sample_weight=weights)


# Agreement


@each_form
def test_without_noise_it_is_logistic_regression(form):
    X, y = data(form)
    model = model_of(form).fit(X, y)
    Z, w = whitened(model, X)
    theirs = reference(Z, y, 0.1, 500)
    error = np.linalg.norm(w - theirs.coef_) / np.linalg.norm(theirs.coef_)
    assert error < 1e-6
    np.testing.assert_allclose(
        model.predict_proba(X), theirs.predict_proba(Z), rtol=1e-5
    )
    np.testing.assert_array_equal(model.predict(X), theirs.predict(Z))
    assert model.score(X, y) > 0.8


@each_form
def test_classes_have_one_function_each_against_the_rest(form):
    X, y = data(form, n_classes=3)
    model = model_of(form, classes=[2, 0, 1]).fit(X, y)
    Z, w = whitened(model, X)
    for k in range(3):
        theirs = reference(Z, y == k, 0.1, 500)
        np.testing.assert_allclose(w[k], theirs.coef_[0], rtol=0, atol=2e-6)
    values = model.decision_function(X)
    assert values.shape == (500, 3)
    np.testing.assert_array_equal(model.predict(X), values.argmax(axis=1))
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), values.argmax(axis=1))
    one = model_of(form).fit(X, y > 0)
    ratio = model.sensitivity_ / one.sensitivity_
    assert ratio == pytest.approx(math.sqrt(3), rel=1e-6)


@each_form
def test_people_and_weights_count_as_stated(form):
    X, y = data(form)
    rng = np.random.default_rng(1)
    groups = np.append(np.arange(100), rng.integers(0, 100, 400))
    sample_weight = rng.uniform(0, 3, 500)
    facts = {"weight_cap": 2.0, "epsilon": 1e8}  # a fifth of the people, more noise
    model = model_of(form, **facts).fit(X, y, groups, sample_weight)
    assert model.n_people_ == 100
    assert model.guarantee_.unit == "person"
    Z, w = whitened(model, X)
    weights = np.minimum(sample_weight, 2) / 2 / np.bincount(groups)[groups]
    theirs = reference(Z, y, 0.1, 100, weights)
    error = np.linalg.norm(w - theirs.coef_) / np.linalg.norm(theirs.coef_)
    assert error < 1e-6


def test_the_penalty_is_that_of_the_quadratic_iclp():
    """(lambda_1 / lambda_j)^eta, and the constant is penalised like the first."""
    X, y = data("curves")
    model = model_of("curves", eta=0.9).fit(X, y)
    spectrum = model.features_.predictors[0].basis.spectrum
    expected = np.append(1, (spectrum[0] / spectrum) ** 0.9)
    np.testing.assert_allclose(model.features_.penalty, expected)
    x = model.features_.transform(model.features_.read(X))
    signs = np.where(y == 1, 1, -1)
    slope = -(signs / (1 + np.exp(signs * (x @ model.theta_[:, 0])))) @ x / 500
    gradient = slope + 2 * 0.1 * expected * model.theta_[:, 0]
    assert abs(gradient).max() < 1e-6


def test_numbers_with_a_kernel_are_the_machine_of_kernels():
    X, y = data("kernel")
    ours = model_of("kernel", epsilon=1.0).fit(X, y)
    theirs = PrivateKernelClassifier(
        bounds=(-1, 1), kernel=GaussianKernel(1.0), n_components=6, psi=0.1, gap=1e-16,
        epsilon=1.0,
    ).fit(X, y)  # fmt: skip
    assert ours.sensitivity_ == theirs.sensitivity_
    assert ours.law_ == theirs.law_
    with silenced():
        one, other = (clone(model).fit(X, y) for model in (ours, theirs))
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6)


# What is released


def test_the_coefficient_function_is_one_of_the_curve():
    """Intercept plus the L2 inner product, with the curve as it was observed."""
    X, y = data("curves")
    model = model_of("curves").fit(X, y)
    assert model.coef_.shape == (1, 30)
    np.testing.assert_array_equal(model.X_grid_, T)
    fine = np.linspace(0, 2, 20_001)
    basis = model.features_.predictors[0].basis
    coef, *_ = np.linalg.lstsq(basis.evaluate(T), model.coef_[0], rcond=None)
    function = basis.evaluate(fine) @ coef
    for row in range(5):
        product = np.trapezoid(function * np.interp(fine, T, X[row]), fine)
        value = model.decision_function(X[row : row + 1])[0]
        assert value == pytest.approx(model.intercept_[0] + product, abs=1e-6)


def test_slopes_of_numbers_are_in_their_units():
    X, y = data("linear", n_classes=3)
    model = model_of("linear").fit(X, y)
    assert model.coef_.shape == (3, 2)
    expected = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-12)
    assert not hasattr(model, "X_grid_")


def test_several_curves_have_a_function_each():
    X, y = data("both")
    model = model_of("both").fit(X, y)
    assert {name: part.shape for name, part in model.coef_.items()} == {
        "a": (1, 30), "b": (1, 9)
    }  # fmt: skip
    assert model.X_grid_["b"][[0, -1]].tolist() == [5, 6]
    stated = {
        "X_bounds": [(-2.0, 2.0), (-1.0, 1.0)], "X_domain": [(0.0, 2.0), (5.0, 6.0)],
    }  # fmt: skip
    listed = model_of("both", **stated).fit([X["a"], X["b"]], y)
    assert isinstance(listed.coef_, list)
    grids = [T, np.linspace(5, 6, 9)]
    table = np.hstack([X["a"], X["b"]])
    wide = model_of("both", **stated, X_grid=grids).fit(table, y)
    for other, rows in ((listed, [X["a"], X["b"]]), (wide, table)):
        np.testing.assert_array_equal(
            other.decision_function(rows), model.decision_function(X)
        )
    assert wide.n_features_in_ == 39
    assert not hasattr(model, "n_features_in_")


@each_form
def test_the_deviation_of_the_noise_is_that_of_the_coefficients(form):
    X, y = data(form)
    model = model_of(form, epsilon=5.0).fit(X, y)
    rng = np.random.default_rng(3)
    s = model.law_.std[0]
    draws = s * rng.normal(size=(model.features_.size, 4000))
    theta = draws / np.sqrt(model.features_.penalty)[:, None]
    _, coefs, _ = released_functions(model.features_, theta, s)
    parts = [(coefs, model.noise_std_)]
    if form == "both":
        parts = [(coefs[name], model.noise_std_[name]) for name in "ab"]
    for coef, stated in parts:
        ratio = coef.std(axis=0) / stated
        assert abs(ratio - 1).max() < 5 / math.sqrt(2 * 4000)


def test_hinge_has_no_probabilities():
    X, y = data("linear")
    model = model_of("linear", loss="hinge", gap=None).fit(X, y)
    assert model.score(X, y) > 0.85
    assert not hasattr(model, "predict_proba")
    assert not hasattr(ICLPClassifier(X_bounds=(0, 1), loss="hinge"), "predict_proba")
    assert hasattr(model_of("linear"), "predict_proba")


def test_everything_is_released_in_one_draw():
    X, y = data("both", n_classes=4)
    with recorded() as releases:
        model = model_of("both").fit(X, y)
    (released,) = releases
    assert released.law.size == 4 * model.features_.size
    assert released.law == model.law_


def test_noise_falls_with_epsilon_and_people():
    X, y = data("curves")
    stds = {
        (epsilon, n): model_of("curves", epsilon=epsilon).fit(X[:n], y[:n]).law_.std[0]
        for epsilon, n in itertools.product((10.0, 20.0), (250, 500))
    }
    assert stds[10.0, 250] == pytest.approx(2 * stds[20.0, 250], rel=1e-9)
    assert stds[10.0, 250] == pytest.approx(2 * stds[10.0, 500], rel=1e-4)


def test_a_release_without_information_is_said_so_from_public_facts():
    X, y = data("linear", n=5)
    with pytest.warns(NoiseDominatesWarning, match="epsilon, or more people"):
        model_of("linear", epsilon=0.1).fit(X, y)


# Forms


def test_frames_curves_and_arrays_are_the_same_data():
    X, y = data("curves", n=60)
    facts = {"X_grid": T}
    wide = model_of("curves", **facts).fit(X, y)
    frame = pd.DataFrame(X, columns=[f"t_{t:.6f}" for t in T])
    named = model_of("curves", **facts).fit(frame, pd.Series(y))
    held = Curves.from_wide(X, T, (0, 2))
    container = model_of("curves").fit(held, y)
    for other, rows in ((named, frame), (container, held)):
        np.testing.assert_array_equal(
            other.decision_function(rows), wide.decision_function(X)
        )
    assert named.feature_names_in_.tolist() == frame.columns.tolist()


def test_irregular_and_vector_curves():
    X, y = data("curves", n=200)
    long = pd.DataFrame({
        "id": np.repeat(np.arange(200), 30), "t": np.tile(T, 200), "y": X.ravel()
    })  # fmt: skip
    kept = long.drop(long.index[7::9])
    irregular = Curves.from_long(kept, "id", "t", "y", domain=(0, 2))
    model = model_of("curves").fit(irregular, y)
    assert model.coef_.shape == (1, 101)
    assert model.score(irregular, y) > 0.8
    pairs = np.stack([X, -X / 2], axis=2)
    vector = model_of("curves").fit(pairs, y)
    assert vector.coef_.shape == (1, 30, 2)
    assert vector.score(pairs, y) > 0.8


def test_another_basis():
    X, y = data("curves")
    model = model_of("curves", X_basis=FourierBasis(5, (0, 2))).fit(X, y)
    assert isinstance(model.features_.predictors[0].basis, FourierBasis)
    assert model.score(X, y) > 0.8


def test_values_outside_of_the_bounds_are_clipped():
    X, y = data("curves")
    far = np.where(X > 0.4, 1e300, X)
    near = np.where(X > 0.4, 2.0, X)
    one, other = (model_of("curves").fit(rows, y) for rows in (far, near))
    np.testing.assert_array_equal(one.theta_, other.theta_)
    np.testing.assert_array_equal(
        one.decision_function(far), one.decision_function(near)
    )


def test_rows_without_data_are_left_out_of_their_person():
    X, y = data("curves", n=60)
    groups = np.arange(60) // 2
    gone = X.copy()
    gone[1::6] = np.nan
    facts = {"missing": "interpolate", "X_grid": T}
    with silenced():
        model = model_of("curves", **facts).fit(gone, y, groups)
        kept = np.setdiff1d(np.arange(60), np.arange(1, 60, 6))
        other = model_of("curves", **facts).fit(gone[kept], y[kept], groups[kept])
        nobody = model_of("curves", **facts).fit(np.full_like(X, np.nan), y, groups)
    np.testing.assert_allclose(model.theta_, other.theta_, atol=1e-12)
    np.testing.assert_array_equal(nobody.theta_, 0)
    assert nobody.n_people_ == 30
    # A curve without values is predicted like the public centre.
    both = np.stack([np.full(30, np.nan), np.zeros(30)])
    first, second = model.decision_function(both)
    assert first == pytest.approx(second, abs=1e-12)


def test_gaps_are_interpolated():
    X, y = data("curves", n=100)
    gaps = X.copy()
    gaps[::3, 4] = np.nan
    model = model_of("curves", missing="interpolate").fit(gaps, y)
    full = model_of("curves").fit(X, y)
    np.testing.assert_allclose(model.theta_, full.theta_, atol=0.01)


# scikit-learn's machinery


def test_group_k_fold_pipeline_and_clone():
    X, y = data("curves")
    groups = np.arange(500) // 5
    model = model_of("curves", X_grid=T, epsilon=1e3, psi=1e-3)
    scores = cross_val_score(
        model, X, y, groups=groups, cv=GroupKFold(4), params={"groups": groups}
    )
    assert scores.mean() > 0.75
    steps = make_pipeline(FunctionTransformer(np.negative), clone(model))
    steps.fit(X, y, iclpclassifier__groups=groups)
    assert steps[-1].n_people_ == 100
    assert steps.score(X, y) > 0.75
    shares = cross_val_predict(model, X, y, method="predict_proba", cv=3)
    assert shares.shape == (500, 2)


def test_stated_classes_need_not_occur():
    X, y = data("linear", n=50)
    names = np.array(["no", "yes"])[y]
    model = model_of("linear", classes=["yes", "no", "maybe"]).fit(X, names)
    assert model.classes_.tolist() == ["maybe", "no", "yes"]
    assert model.coef_.shape == (3, 2)
    assert set(model.predict(X)) <= {"no", "yes"}
    lonely = model_of("linear", classes=[0, 1]).fit(X, np.zeros(50, int))
    assert set(lonely.predict(X)) == {0}


# Plans


def reference_error(design, n, epsilon, psi, m, n_outputs):
    """The error of the reference problem, written a second time."""
    e = design.energy / design.penalty
    first = 1 if design.constant else 0
    signal = [4.0] * first + [4 * x / e[first:].sum() for x in e[first:]]
    total = sum(signal[m:])
    move = LogisticLoss().sensitivity(KAPPA, psi, n, "row") * (1 + 1 / 64)
    s = math.sqrt(n_outputs) * move * math.sqrt(n_outputs * m + 1) / epsilon
    for x, part in zip(e[:m], signal[:m], strict=True):
        g = 0.15 * x / (0.15 * x + 2 * psi)
        total += part * (1 - g) ** 2 + g**2 / (0.15 * n) + s**2 * x
    return total


@pytest.mark.parametrize("form", ["curves", "linear", "kernel"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("epsilon", [0.5, 20.0])
def test_the_plan_is_the_best_of_the_reference_problem(form, n_classes, epsilon):
    open_facts = {"X_basis": "pss", "psi": "pss", "gap": None, "epsilon": epsilon}
    model = model_of(form, **open_facts)
    design, _ = public_design(model, data(form, n=2)[0])
    plan = classifier_plan(model, design, 3000, "row", n_classes)
    q = 1 if n_classes == 2 else n_classes
    facts = (design, 3000, epsilon)
    own = reference_error(*facts, plan.release.psi, plan.release.n_features, q)
    assert own == pytest.approx(plan.bias + plan.sampling + plan.noise, rel=1e-3)
    others = [
        reference_error(*facts, psi, m, q)
        for psi in plan.release.psi * np.geomspace(0.1, 10, 21)
        for m in design.sizes
    ]
    assert own <= min(others) * 1.001


def test_more_people_take_less_regularisation_and_more_features():
    model = model_of("curves", X_basis="pss", psi="pss", gap=None, epsilon=1.0)
    plans = [model._planned_release(n) for n in (50, 1000, 10**5)]
    psis = [plan.psi for plan in plans]
    assert psis == sorted(psis, reverse=True)
    assert len(set(psis)) == 3
    counts = [plan.n_functions for plan in plans]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]
    assert plans[0].risk > plans[1].risk > plans[2].risk


@each_form
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_what_is_planned_is_what_is_released(form, delta):
    n_classes = 3
    facts = {"psi": "pss", "gap": None, "epsilon": 2.0, "delta": delta}
    model = model_of(form, **facts, classes=range(n_classes))
    X, y = data(form, n=400, n_classes=n_classes)
    plan = model._planned_release(400, n_points={"curves": 30, "kernel": 2}.get(form))
    model.fit(X, y)
    assert plan.psi == model.psi_
    assert plan.n_functions == model.features_.size
    assert plan.delta == model.guarantee_.delta
    energy = model.features_.energy / model.features_.penalty
    noise = model.law_.std[0] ** 2 * energy.sum()
    assert plan.noise == pytest.approx(noise, rel=1e-3)
    assert plan.eta == (1.5 if form in ("curves", "both") else None)
    assert plan.bias > 0
    assert plan.sampling > 0


def test_planning_reads_grids_bounds_and_points():
    curve = model_of("curves", X_basis="pss", X_grid=np.linspace(0, 2, 7))
    assert curve._planned_release(10**9).n_functions == 8
    free = model_of("curves", X_basis="pss")
    assert free._planned_release(10**9, n_points=5).n_functions == 6
    assert free._planned_release(10**9, 2, n_points=5).n_functions == 11
    assert model_of("linear")._planned_release(10).n_functions == 3
    wide = ICLPClassifier(X_bounds=(0, 1))._planned_release(10, n_points=9)
    assert wide.n_functions == 10
    for bad in (0, 1.5, True):
        with pytest.raises(ValueError, match="n_samples must be"):
            free._planned_release(bad)
