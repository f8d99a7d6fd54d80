"""ICLPRegressor: agreement with answers that are not private, units, forms, choices."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn import config_context
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skfuncpriv import (
    Curves,
    ICLPClassifier,
    ICLPRegressor,
    NoiseDominatesWarning,
)
from skfuncpriv.basis import CosineBasis
from skfuncpriv.gaussian_process import GaussianKernel
from skfuncpriv.iclp._designs import public_design
from skfuncpriv.iclp._regressor_fit import public_question
from skfuncpriv.iclp._targets import public_targets
from skfuncpriv.testing import silenced
from tests.iclp.spine import projections

T = np.linspace(0, 1, 15)
METHODS = ["statistics", "minimiser"]
each_method = pytest.mark.parametrize("method", METHODS)


def numbers(n=4000, seed=0):
    """Three columns of [0, 2], scalar targets and target curves of [-3, 5]."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 2, (n, 3))
    y = 1 + X @ [1.0, -0.5, 0.2] + 0.1 * rng.normal(size=n)
    Y = 1 + X[:, :1] * np.sin(3 * T) - X[:, 1:2] * T + 0.1 * rng.normal(size=(n, 15))
    return X, y, Y


def curves(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 4)) @ CosineBasis(4).evaluate(T).T / 2
    y = X @ np.cos(2 * T) / 15 + 0.1 * rng.normal(size=n)
    return X, y


NUMBERS = {"X_bounds": (0.0, 2.0), "y_bounds": (-3.0, 5.0)}
CURVES = {"X_bounds": (-2.7, 2.7), "y_bounds": (-1.5, 1.5), "X_domain": (0.0, 1.0)}
LARGE = {"epsilon": 1e6, "denoise": False, "random_state": 0}


def relative(answer, wanted):
    return np.abs(answer - wanted).max() / np.abs(wanted).max()


def solved(x, u, psi, weights, free=True):
    """The minimiser of the mean of (u - theta'x)^2 + psi sum W theta^2."""
    weights = np.array(weights, dtype=float)
    weights[0] *= not free
    normal = x.T @ x / len(x) + psi * np.diag(weights)
    return np.linalg.solve(normal, x.T @ u / len(x))


# Agreement with what is not private


def test_linear_regression_is_ridge():
    X, y, _ = numbers()
    model = ICLPRegressor(**NUMBERS, **LARGE, kernel="linear", psi=1e-3)
    model.set_params(method="statistics").fit(X, y)
    # Features are (X - 1) / 2 here: four of them, of which one is the constant.
    ridge = Ridge(alpha=1e-3 * len(X)).fit((X - 1) / 2, y)
    assert relative(model.predict(X), ridge.predict((X - 1) / 2)) < 1e-6
    assert relative(model.coef_, ridge.coef_ / 2) < 1e-6
    assert model.intercept_ == pytest.approx(
        ridge.intercept_ - ridge.coef_.sum() / 2, rel=1e-6
    )


@each_method
def test_curves_on_numbers_agree(method):
    X, _, Y = numbers(20_000)
    model = ICLPRegressor(**NUMBERS, **LARGE, y_domain=(0, 1), y_basis=5, psi=0.05)
    model.set_params(method=method).fit(X, Y)
    x = np.column_stack([np.ones(len(X)), X - 1]) / 2
    u = projections(Y - 1, T, 5, (0, 1))
    theta = solved(x, u, 0.05, np.ones(4), free=method == "statistics")
    functions = CosineBasis(5).evaluate(T)
    assert relative(model.predict(X), 1 + x @ theta @ functions.T) < 1e-6
    assert model.coef_.shape == (3, 15)
    assert relative(model.coef_, theta[1:] @ functions.T / 2) < 1e-6
    predicted = model.intercept_ + X @ model.coef_
    np.testing.assert_allclose(model.predict(X), predicted, atol=1e-12)
    np.testing.assert_array_equal(model.y_grid_, T)


@each_method
def test_scalars_on_curves_agree(method):
    X, y = curves(20_000)
    model = ICLPRegressor(**CURVES, **LARGE, X_basis=3, psi=0.02, eta=1.2)
    model.set_params(method=method).fit(X, y)
    spectrum = CosineBasis(3).spectrum
    x = projections(X, T, 3, (0, 1)) / 2.7
    x = np.column_stack([np.ones(len(X)), x]) / np.sqrt(2)
    weights = [1, *(spectrum[0] / spectrum) ** 1.2]
    theta = solved(x, y, 0.02, weights, free=method == "statistics")
    assert relative(model.predict(X), x @ theta) < 1e-6
    beta = CosineBasis(3).evaluate(T) @ theta[1:] / np.sqrt(2) / 2.7
    assert relative(model.coef_, beta) < 1e-6
    np.testing.assert_array_equal(model.X_grid_, T)


def test_a_coefficient_curve_predicts_by_its_inner_product():
    X, y = curves()
    fine = np.linspace(0, 1, 2001)
    X = np.stack([np.interp(fine, T, row) for row in X[:500]])
    model = ICLPRegressor(**{**CURVES, "X_bounds": (-1.0, 3.0)}, epsilon=1e4)
    model.fit(X, y[:500])
    inner = np.trapezoid(model.coef_ * np.clip(X, -1, 3), fine, axis=1)
    expected = np.clip(inner + model.intercept_, -1.5, 1.5)
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-5)


@each_method
def test_curves_on_curves_agree(method):
    X, _ = curves(20_000)
    Y = X[:, ::-1] / 2
    model = ICLPRegressor(**CURVES, **LARGE, X_basis=3, y_domain=(0, 1), y_basis=3)
    model.set_params(method=method, psi=0.1).fit(X, Y)
    spectrum = CosineBasis(3).spectrum
    x = projections(X, T, 3, (0, 1)) / 2.7
    x = np.column_stack([np.ones(len(X)), x]) / np.sqrt(2)
    weights = [1, *(spectrum[0] / spectrum) ** 1.5]
    u = projections(Y, T, 3, (0, 1))
    theta = solved(x, u, 0.1, weights, free=method == "statistics")
    functions = CosineBasis(3).evaluate(T)
    assert relative(model.predict(X), x @ theta @ functions.T) < 1e-6
    assert model.coef_.shape == (15, 15)


@each_method
def test_kernels_agree_with_kernel_ridge(method):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (2500, 1))
    y = np.sin(6 * X[:, 0])
    kernel, points = GaussianKernel(0.3), np.linspace(0, 1, 50)[:, None]
    model = ICLPRegressor(X_bounds=(0, 1), y_bounds=(-2, 2), kernel=kernel, **LARGE)
    model.set_params(method=method, X_basis=40, psi=0.05).fit(X, y)
    ridge = KernelRidge(kernel="rbf", gamma=1 / 0.18, alpha=0.05 * 2500).fit(X, y)
    assert relative(model.predict(points), ridge.predict(points)) < 1e-6
    np.testing.assert_array_equal(model.coef_, 2 * model.theta_[:, 0])
    assert model.intercept_ == 0


def test_the_absolute_penalty_is_the_lasso():
    X, y, _ = numbers()
    model = ICLPRegressor(**NUMBERS, **LARGE, kernel="linear", penalty="ar", psi=0.01)
    model.fit(X, y)
    # Slopes are 2 theta and squares 16 times as large; Lasso takes half the squares.
    lasso = Lasso(alpha=0.01 * 16 / 2 / 2, tol=1e-12).fit(X - 1, y)
    assert relative(model.coef_, lasso.coef_) < 1e-6
    assert (model.coef_[2] == 0) == (lasso.coef_[2] == 0)
    assert model.psi_ == 0.01
    assert model.noise_std_ is None


@pytest.mark.parametrize("loss", ["huber", "epsilon_insensitive"])
def test_robust_losses_are_minimised(loss):
    X, y, _ = numbers(300)
    model = ICLPRegressor(**NUMBERS, epsilon=1e9, kernel="linear", loss=loss, psi=0.1)
    model.set_params(threshold=0.4).fit(X, y)
    x, u = np.column_stack([np.ones(300), X - 1]) / 2, (y - 1) / 4

    def objective(theta):
        size = np.abs(u - x @ theta)
        if loss == "huber":
            near = np.minimum(size, 0.1)
            return (near * (size - near / 2)).mean() + 0.1 * theta @ theta
        return np.maximum(size - 0.1, 0).mean() + 0.1 * theta @ theta

    best = minimize(objective, np.zeros(4), method="Powell", options={"xtol": 1e-9})
    theta = model.theta_[:, 0]
    gap = model.law_.std[0] ** 2 + 1e-5
    assert objective(theta) <= best.fun + gap
    assert model.method_ == "minimiser"


# People, weights, gaps


def without_noise(model, *data, **options):
    with silenced():
        return clone(model).fit(*data, **options)


@each_method
def test_rows_of_a_person_are_averaged(method):
    X, y, _ = numbers(30)
    model = ICLPRegressor(**NUMBERS, kernel="linear", method=method, psi=0.1)
    model.set_params(epsilon=100.0)
    groups = np.arange(30)
    once = without_noise(model, X, y, groups=groups)
    repeated = np.concatenate([groups, [3] * 7, [4] * 2])
    many = without_noise(model, X[repeated], y[repeated], groups=repeated)
    np.testing.assert_allclose(many.theta_, once.theta_, atol=1e-9)
    assert many.n_people_ == 30
    assert many.guarantee_.unit == "person"


@each_method
def test_weights_are_relative_to_the_public_cap(method):
    X, y, _ = numbers(30)
    model = ICLPRegressor(**NUMBERS, kernel="linear", method=method, psi=0.1)
    model.set_params(weight_cap=2.0, epsilon=100.0)
    weights = np.where(np.arange(30) < 20, 2.0, 0.0)
    weighted = without_noise(model, X, y, sample_weight=weights)
    capped = without_noise(model, X, y, sample_weight=1e300 * weights)
    np.testing.assert_allclose(capped.theta_, weighted.theta_, atol=1e-12)
    x, u = np.column_stack([np.ones(30), X - 1])[:20] / 2, (y[:20] - 1) / 4
    penalty = 30 * 0.1 * np.diag([method != "statistics", 1, 1, 1])
    theta = np.linalg.solve(x.T @ x + penalty, x.T @ u)
    np.testing.assert_allclose(weighted.theta_[:, 0], theta, atol=1e-8)


@each_method
def test_curves_without_data_do_not_count(method):
    X, y = curves(40)
    model = ICLPRegressor(**CURVES, method=method, psi=0.1, X_basis=3, epsilon=100.0)
    model.set_params(missing="interpolate")
    X[7] = np.nan
    X[8, 3:6] = np.nan
    groups = np.arange(40)
    groups[7] = 6
    fit = without_noise(model, X, y, groups=groups)
    assert fit.n_people_ == 39
    kept = np.delete(np.arange(40), 7)
    same = without_noise(model, X[kept], y[kept], groups=groups[kept])
    np.testing.assert_allclose(fit.theta_, same.theta_, atol=1e-9)
    assert fit.predict(X[7:8]).shape == (1,)
    assert np.isfinite(fit.predict(X)).all()


def test_values_outside_of_bounds_are_moved_to_them():
    X, y, _ = numbers(50)
    model = ICLPRegressor(**NUMBERS, kernel="linear", epsilon=100.0)
    wild, far = 10 * X - 5, 100 * y
    fit = without_noise(model, wild, far)
    same = without_noise(model, np.clip(wild, 0, 2), np.clip(far, -3, 5))
    np.testing.assert_array_equal(fit.theta_, same.theta_)
    answer = fit.predict(wild)
    np.testing.assert_array_equal(answer, fit.predict(np.clip(wild, 0, 2)))
    assert answer.min() >= -3
    assert answer.max() <= 5
    free = without_noise(model.set_params(clip=False), X, 1 + 4 * X[:, 0])
    assert free.predict([[2.0, 1.0, 1.0]])[0] > 5.3


# Units and forms


@each_method
@pytest.mark.parametrize("kind", ["numbers", "curves"])
def test_other_units_change_nothing(kind, method):
    X, y, _ = numbers(200)
    facts = dict(NUMBERS, kernel="linear")
    if kind == "curves":
        (X, y), facts = curves(200), dict(CURVES)
    model = ICLPRegressor(**facts, method=method, random_state=0, epsilon=20.0)
    fit = model.fit(X, y)
    scaled = clone(model).set_params(
        X_bounds=tuple(1e6 * b for b in facts["X_bounds"]),
        y_bounds=tuple(1e-3 * b for b in facts["y_bounds"]),
    )
    if kind == "curves":
        scaled.set_params(X_domain=(0.0, 60.0))
    other = scaled.fit(1e6 * X, 1e-3 * y)
    np.testing.assert_allclose(other.predict(1e6 * X), 1e-3 * fit.predict(X), rtol=1e-6)
    unit = 1e-9 if kind == "numbers" else 1e-9 / 60
    np.testing.assert_allclose(other.coef_, unit * fit.coef_, rtol=1e-6)
    np.testing.assert_allclose(other.noise_std_, unit * fit.noise_std_, rtol=1e-6)


def test_several_curve_predictors():
    X, y = curves(300)
    both = {
        "X_domain": {"fa": (0.0, 1.0), "md": (0.0, 2.0)},
        "X_bounds": {"fa": (-4.0, 4.0), "md": (-1.0, 1.0)},
    }
    data = {"fa": X, "md": X[:, ::2]}
    model = ICLPRegressor(**{**CURVES, **both}, epsilon=50.0, X_basis=3)
    fit = model.fit(data, y)
    assert {name: len(c) for name, c in fit.coef_.items()} == {"fa": 15, "md": 8}
    assert set(fit.noise_std_) == set(fit.X_grid_) == {"fa", "md"}
    assert fit.theta_.shape == (7, 1)
    assert fit.predict(data).shape == (300,)
    assert not hasattr(fit, "n_features_in_")
    grids = {"fa": T, "md": np.linspace(0, 2, 8)}
    wide = np.hstack([X, X[:, ::2]])
    table = clone(model).set_params(X_grid=grids, random_state=0).fit(wide, y)
    assert table.n_features_in_ == 23
    scores = cross_validate(table, wide, y, cv=3)["test_score"]
    assert np.isfinite(scores).all()


def test_containers_and_vector_curves():
    X, _ = curves(100)
    Y = np.stack([X, X + 1], axis=2)
    model = ICLPRegressor(
        X_bounds=(-4, 4), y_bounds=(-4, 5), y_domain=(0, 1), X_domain=(0, 1)
    )
    fit = model.set_params(epsilon=1e4).fit(Curves.from_wide(X, T, (0, 1)), Y)
    assert fit.predict(X).shape == (100, 15, 2)
    assert fit.intercept_.shape == (15, 2)
    assert fit.coef_.shape == (15, 15, 2)
    long = Curves(X.ravel(), np.tile(T, 100), np.arange(101) * 15, domain=(0, 1))
    irregular = clone(model).set_params(X_domain=None).fit(long, Y)
    assert irregular.X_grid_.shape == (101,)
    assert irregular.predict(long).shape == (100, 15, 2)


# Tools of scikit-learn


def test_pipeline_search_and_groups():
    X, y, _ = numbers(120)
    groups = np.repeat(np.arange(40), 3)
    model = ICLPRegressor(**NUMBERS, weight_cap=2.0, kernel="linear", epsilon=50.0)
    with config_context(enable_metadata_routing=True):
        model.set_fit_request(groups=True, sample_weight=True)
        model.set_score_request(sample_weight=True)
        steps = make_pipeline(FunctionTransformer(), model)
        search = GridSearchCV(
            steps, {"iclpregressor__psi": [1e-3, 1e-2]}, cv=GroupKFold(2)
        )
        search.fit(X, y, groups=groups, sample_weight=np.ones(120))
        best = search.best_estimator_[-1]
        assert best.n_people_ == 40
        result = cross_validate(
            steps, X, y, cv=GroupKFold(4), params={"groups": groups},
            return_estimator=True,
        )  # fmt: skip
        units = {fit[-1].guarantee_.unit for fit in result["estimator"]}
        assert units == {"person"}
        assert {fit[-1].n_people_ for fit in result["estimator"]} == {30}


# Choices from public facts


def test_the_routes_win_where_the_notes_say():
    X, y, Y = numbers(2000)
    few = ICLPRegressor(**NUMBERS, y_domain=(0, 1)).fit(X, Y)
    assert few.method_ == "statistics"
    kernel = GaussianKernel(0.3)
    many = ICLPRegressor(**NUMBERS, kernel=kernel, X_basis=128, epsilon=1.0)
    assert many.fit(X, y).method_ == "minimiser"


def test_few_people_do_not_lose_the_constant():
    """Curves far from the middle of their bounds, on one column: n epsilon = 93."""
    model = ICLPRegressor(X_bounds=(0, 1), y_bounds=(50, 220), y_domain=(1, 18))
    X = np.arange(93.0)[:, None] % 2
    t = np.linspace(0, 1, 31)
    truth = 80 + 100 * t + 10 * X[:2] * t
    Y, errors = truth[X[:, 0].astype(int)], {}
    for method in ("auto", "minimiser"):
        model.set_params(method=method)
        with pytest.warns(NoiseDominatesWarning, match="worse than the mean of y"):
            fits = [
                clone(model).set_params(random_state=k).fit(X, Y) for k in range(20)
            ]
        squares = [np.square(fit.predict(X[:2]) - truth).mean() for fit in fits]
        errors[method] = np.mean(squares)
    assert fits[0].method_ == "minimiser"
    assert errors["auto"] < 0.8 * errors["minimiser"]


@pytest.mark.parametrize("n_people", [30, 93, 400, 3000])
def test_the_constant_of_the_reference_problem_has_its_own_energy(n_people):
    for facts in ({"y_domain": (0, 1)}, {"kernel": "linear"}, {"X_domain": (0, 1)}):
        model = ICLPRegressor(X_bounds=(0, 1), y_bounds=(-1, 1), **facts)
        design, _ = public_design(model, np.zeros((1, 15)), smooth=False)
        signal = question_of(model, design, n_people).signal
        parts = design.energy * signal
        assert parts[0] == pytest.approx(1 / 3)
        assert parts[1:].sum() == pytest.approx(1 / 9)
        # Little is known at a small budget: the answer is the middle of the bounds.
        silent = clone(model).set_params(epsilon=0.4 / n_people)
        silent = silent._planned_release(n_people)
        assert silent.risk == pytest.approx(4 / 9, rel=0.05)


def question_of(model, design, n_people):
    y = np.zeros((1, 15)) if model.y_domain else np.zeros(1)
    targets, _ = public_targets(model, y, 1)
    return public_question(model, design, targets, n_people, "row", True)


def test_a_warning_comes_when_privacy_costs_more_than_the_mean_of_targets():
    X, y, _ = numbers(60)
    model = ICLPRegressor(**NUMBERS, kernel="linear", epsilon=0.1)
    with pytest.warns(NoiseDominatesWarning) as caught:
        model.fit(X, y)
    assert [w.filename for w in caught] == [__file__]
    # A strong penalty is no noise, and enough people are no reason to warn.
    clone(model).set_params(epsilon=1e5, psi=100.0).fit(X, y)
    clone(model).set_params(epsilon=10.0).fit(X, y)


def test_many_columns_may_be_forgotten_curves():
    X, y = curves(400)
    X = np.hstack([X, X[:, :1]])
    model = ICLPRegressor(X_bounds=(-3, 3), y_bounds=(-1.5, 1.5), epsilon=1e4)
    rule = "X has 16 columns and X_domain is None"
    with pytest.warns(UserWarning, match=rule) as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    clone(model).set_params(kernel="linear").fit(X, y)
    clone(model).set_params(X_domain=(0, 1)).fit(X, y)
    clone(model).fit(X[:, :15], y)
    label = ICLPClassifier(X_bounds=(-3, 3), epsilon=1e4)
    with pytest.warns(UserWarning, match=rule):
        label.fit(X, y > 0)


def test_arrays_of_bounds_count_the_columns_of_a_plan():
    facts = {"y_bounds": (0, 1), "y_domain": (0, 1)}
    model = ICLPRegressor(X_bounds=([0.0] * 4, [1.0] * 4), **facts)
    assert model._planned_release(500).n_functions == 5
    assert model._planned_release(500, n_points=31).n_functions == 5
    one = ICLPRegressor(X_bounds=(0.0, 1.0), **facts)
    assert one._planned_release(500).n_functions == 2
    assert one._planned_release(500, n_points=4).n_functions == 5


def test_public_facts_alone_decide():
    X, _, Y = numbers(60)
    model = ICLPRegressor(**NUMBERS, y_domain=(0, 1), epsilon=30.0)
    fits = [clone(model).fit(*data) for data in ((X, Y), (0 * X, 1e300 * Y))]
    for name in ("psi_", "method_", "law_", "eta_"):
        assert getattr(fits[0], name) == getattr(fits[1], name)
    assert fits[0].theta_.shape == fits[1].theta_.shape


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_planned_errors_fall_with_people_and_budget(delta):
    for facts in (
        {**NUMBERS, "kernel": "linear"},
        {**NUMBERS, "y_domain": (0, 1)},
        CURVES,
        NUMBERS,
    ):
        model = ICLPRegressor(**facts, delta=delta)
        plans = [model._planned_release(n, n_points=3) for n in (100, 1000, 10**5)]
        noise = [plan.noise + plan.bias for plan in plans]
        assert noise[0] > noise[1] > noise[2]
        loud = clone(model).set_params(epsilon=0.1)._planned_release(1000, n_points=3)
        assert loud.risk > plans[1].risk
        assert plans[0].mechanism in ("spherical", "block-spherical", "gaussian")


def test_a_plan_is_what_a_fit_uses():
    X, y = curves(500)
    model = ICLPRegressor(**CURVES, psi="pss")
    planned = model._planned_release(500, n_points=15)
    fit = model.fit(X, y)
    assert fit.psi_ == planned.psi
    assert fit.eta_ == planned.eta
    assert len(fit.theta_) == planned.n_functions


def test_coefficients_scatter_as_stated():
    X, _, Y = numbers(2000)
    model = ICLPRegressor(**NUMBERS, y_domain=(0, 1), y_basis=4, denoise=False)
    model.set_params(epsilon=20.0, psi=0.01, mechanism="spherical")
    for method in METHODS:
        model.set_params(method=method)
        fits = [clone(model).fit(X, Y) for _ in range(60)]
        spread = np.var([fit.coef_ for fit in fits], axis=0)
        ratio = np.mean(spread / np.square(fits[0].noise_std_))
        # Twelve coefficients share a mixing variable Gamma((m + 1) / 2), m >= 12: the
        # variance of their mean square is at most 2 / 12 + 2 / 13 and a product.
        assert abs(ratio - 1) < 5 * np.sqrt(0.4 / 60)
        # Four coordinates of the intercept: 2 / 4 + 2 / 13 and a product, likewise.
        spread = np.var([fit.intercept_ for fit in fits], axis=0)
        ratio = np.mean(spread / np.square(fits[0].intercept_std_))
        assert abs(ratio - 1) < 5 * np.sqrt(0.8 / 60)


def test_the_deviation_of_an_intercept_has_its_form():
    X, y, Y = numbers(300)
    model = ICLPRegressor(**NUMBERS, kernel="linear", epsilon=50.0)
    fit = model.fit(X, y)
    assert isinstance(fit.intercept_std_, float)
    assert fit.intercept_std_ > 0
    curve = clone(model).set_params(y_domain=(0, 1)).fit(X, Y)
    assert curve.intercept_std_.shape == curve.intercept_.shape == (15,)
    assert clone(model).set_params(penalty="ar").fit(X, y).intercept_std_ is None
    smooth = clone(model).set_params(kernel=GaussianKernel(1.0)).fit(X, y)
    assert smooth.intercept_std_ == 0


def test_denoising_helps_smooth_curves_and_is_free():
    X, _, Y = numbers(400)
    model = ICLPRegressor(**NUMBERS, y_domain=(0, 1), y_basis=12, epsilon=3.0)
    errors = {}
    for denoise in (True, False):
        model.set_params(denoise=denoise)
        errors[denoise] = [
            np.mean(
                np.square(
                    clone(model).set_params(random_state=k).fit(X, Y).coef_
                    - np.stack([np.sin(3 * T), -T, 0 * T])
                )
            )
            for k in range(20)
        ]
    assert np.mean(errors[True]) < 0.5 * np.mean(errors[False])
