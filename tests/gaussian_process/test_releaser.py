"""GaussianProcessReleaser: what it releases, from what, and what it refuses."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skfuncpriv import GaussianProcessReleaser, NoiseDominatesWarning, PrivacyError
from skfuncpriv.gaussian_process import ExponentialKernel, GaussianKernel
from skfuncpriv.privacy import BudgetLedger, analytic_gaussian_sigma
from tests.gaussian_process.release import hidden_by

RNG = np.random.default_rng(8)
X1 = RNG.beta(2, 5, (400, 1))
X2 = np.column_stack([X1, RNG.normal(0.5, 0.2, 400)])
Y = np.sin(6 * X1[:, 0]) + RNG.normal(0, 0.2, 400)
T1, T2 = np.linspace(0, 1, 51)[:, None], RNG.uniform(0.1, 0.8, (40, 2))
DENSITY = KernelDensity(bandwidth=0.1)
RIDGE = KernelRidge(kernel="rbf", gamma=5.0, alpha=100.0)
H = ((0.02, 0.01), (0.01, 0.03))


def releaser(estimator=DENSITY, **facts):
    facts = {"bounds": (0.0, 1.0), "delta": 1e-6, "random_state": 0} | facts
    return GaussianProcessReleaser(estimator=estimator, **facts)


def density_of(X, T, bandwidth):
    return np.exp(KernelDensity(bandwidth=bandwidth).fit(X).score_samples(T))


# Agreement at a huge budget


@pytest.mark.parametrize("bandwidth", [0.03, 0.2])
@pytest.mark.parametrize(
    "facts",
    [{}, {"points": T1}, {"kernel": ExponentialKernel(3.0)}],
    ids=["expansion", "points", "sobolev"],
)
def test_density_of_one_feature_is_that_of_sklearn(bandwidth, facts):
    density = density_of(np.clip(X1, 0, 1), T1, bandwidth)
    model = releaser(KernelDensity(bandwidth=bandwidth), epsilon=1e6, **facts).fit(X1)
    rough = 0.01 if "kernel" in facts else 1e-4
    assert np.abs(model.predict(T1) - density).max() <= rough * density.max()


def test_density_of_two_features_is_that_of_sklearn():
    bounds = ([-0.2, 0.1], [0.8, 1.0])
    facts = {"bounds": bounds, "epsilon": 1e6}
    model = releaser(KernelDensity(bandwidth=0.15), **facts).fit(X2)
    density = density_of(np.clip(X2, *bounds), T2, 0.15)
    assert np.abs(model.predict(T2) - density).max() <= 1e-4 * density.max()


@pytest.mark.parametrize("bandwidth", [(0.1, 0.3), H], ids=repr)
def test_density_with_a_matrix_is_a_density_of_transformed_rows(bandwidth):
    model = releaser(GaussianKernel(bandwidth), epsilon=1e6).fit(X2)
    root = np.linalg.cholesky(GaussianKernel(bandwidth).covariance(2))
    rows, T = (np.linalg.solve(root, Z.T).T for Z in (np.clip(X2, 0, 1), T2))
    density = density_of(rows, T, 1.0) / np.linalg.det(root)
    assert np.abs(model.predict(T2) - density).max() <= 1e-4 * density.max()


def test_density_of_many_features_at_points():
    X, points = RNG.uniform(0, 1, (50, 7)), RNG.uniform(0, 1, (20, 7))
    model = releaser(KernelDensity(bandwidth=1.5), epsilon=1e6, points=points).fit(X)
    density = density_of(X, points, 1.5)
    assert np.abs(model.predict(points) - density).max() <= 1e-4 * density.max()


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("facts", [{}, {"points": T1}], ids=["expansion", "points"])
@pytest.mark.parametrize("y_bounds", [(-1.0, 1.0), (0.0, 5.0)])
def test_ridge_is_that_of_sklearn(kernel, facts, y_bounds):
    ridge = clone(RIDGE).set_params(kernel=kernel)
    model = releaser(ridge, y_bounds=y_bounds, epsilon=1e6, **facts).fit(X1, Y)
    middle = sum(y_bounds) / 2
    clone_of_it = clone(ridge).fit(X1, np.clip(Y, *y_bounds) - middle)
    function = clone_of_it.predict(T1) + middle
    exact = kernel == "rbf" or facts
    tolerance = 1e-4 if exact else 0.01
    error = np.abs(model.predict(T1) - function).max()
    assert error <= tolerance * (y_bounds[1] - y_bounds[0])


def test_callables_are_given_clipped_rows():
    seen = []

    def estimator(X, y):
        seen.append((X, y))
        return lambda T: 0.5 * X[0, 0] * GaussianKernel(0.3)(T, [[0.5]])[:, 0]

    facts = {"kernel": GaussianKernel(0.3), "sensitivity": 0.1, "epsilon": 1e8}
    model = releaser(estimator, y_bounds=(0, 1), **facts).fit([[7.0]], [-3.0])
    X, y = seen[0]
    np.testing.assert_array_equal(X, [[1.0]])
    np.testing.assert_array_equal(y, [0.0])
    value = 0.5 * np.exp(-((T1[:, 0] - 0.5) ** 2) / (2 * 0.3**2))
    np.testing.assert_allclose(model.predict(T1), value, atol=1e-5)
    releaser(estimator, **facts).fit([[7.0]], ["a label"])
    assert seen[1][1] == ["a label"]
    releaser(estimator, **facts).fit([[7.0]])
    assert seen[2][1] is None


def test_warnings_of_callables_are_not_shown():
    import warnings

    def estimator(X, y):
        warnings.warn("a private number", UserWarning, stacklevel=2)
        return lambda T: np.exp(-1 / np.zeros(len(T)))

    releaser(estimator, kernel=GaussianKernel(0.3), sensitivity=0.1).fit([[0.5]])


# Attributes and forms


def test_attributes():
    model = releaser(epsilon=2.0).fit(X1)
    assert model.n_people_ == 400
    assert model.n_features_in_ == 1
    assert model.kernel_ == GaussianKernel(0.1)
    ratio = analytic_gaussian_sigma(2.0, 1e-6)
    assert model.noise_std_ == pytest.approx(ratio * model.sensitivity_, rel=1e-9)
    assert model.expansion_error_ <= 1e-6
    assert model.coef_.ndim == 1
    assert model.guarantee_.epsilon == 2.0
    assert model.guarantee_.delta == 1e-6
    assert model.guarantee_.unit == "row"
    groups = np.arange(400) // 4
    model.fit(X1, groups=groups)
    assert model.n_people_ == 100
    assert model.guarantee_.unit == "person"


def test_a_density_may_be_negative():
    with pytest.warns(NoiseDominatesWarning):
        model = releaser(epsilon=1e-3).fit(X1)
    assert model.predict(T1).min() < 0


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(frame):
    table = frame({"age": X2[:, 0], "bmi": X2[:, 1]})
    model = releaser(n_nodes=9).fit(table)
    np.testing.assert_array_equal(model.feature_names_in_, ["age", "bmi"])
    plain = releaser(n_nodes=9).fit(X2)
    query = frame({"age": T2[:, 0], "bmi": T2[:, 1]})
    np.testing.assert_array_equal(model.predict(query), plain.predict(T2))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame({"bmi": T2[:, 1], "age": T2[:, 0]}))


def test_counts_and_integers_are_numbers():
    ages = np.arange(20, 60)[:, None]
    model = releaser(KernelDensity(bandwidth=5), bounds=(0, 100)).fit(ages)
    same = releaser(KernelDensity(bandwidth=5), bounds=(0, 100)).fit(ages * 1.0)
    np.testing.assert_array_equal(model.predict(ages), same.predict(ages))


def test_rows_beyond_the_bounds_count_at_the_bounds():
    outside = np.vstack([X1, [[-3.0], [1e308]]])
    clipped = np.clip(outside, 0, 1)
    one, other = (releaser().fit(X).predict(T1) for X in (outside, clipped))
    np.testing.assert_array_equal(one, other)
    per_axis = releaser(n_nodes=9, bounds=([0.0, 0.2], [0.5, 1.0])).fit(X2)
    clipped = np.clip(X2, [0.0, 0.2], [0.5, 1.0])
    again = releaser(n_nodes=9, bounds=([0.0, 0.2], [0.5, 1.0])).fit(clipped)
    np.testing.assert_array_equal(per_axis.coef_, again.coef_)


def test_order_and_repetitions_of_rows_do_not_matter():
    """Sums are exact; a person's rows are averaged exactly."""
    shuffled = X1[RNG.permutation(400)]
    np.testing.assert_array_equal(
        releaser().fit(shuffled).coef_, releaser().fit(X1).coef_
    )
    groups = np.repeat(np.arange(400), 3)
    thrice = hidden_by(releaser(), np.repeat(X1, 3, axis=0), groups=groups)
    once = hidden_by(releaser(), X1, groups=np.arange(400))
    np.testing.assert_allclose(thrice.floats, once.floats, rtol=0, atol=1e-9)


def test_blocks_of_people_give_the_same_sum(monkeypatch):
    groups = RNG.integers(0, 60, 400)
    whole = [hidden_by(releaser(), X1, groups=g).exact for g in (None, groups)]
    monkeypatch.setattr("skfuncpriv.gaussian_process._adapters._CHUNK", 500)
    parts = [hidden_by(releaser(), X1, groups=g).exact for g in (None, groups)]
    for one, other in zip(whole, parts, strict=True):
        wrong = [float(a - b) for a, b in zip(one, other, strict=True)]
        np.testing.assert_allclose(wrong, 0, rtol=0, atol=1e-9)


def test_what_everybody_s_rounding_may_add_is_paid_for():
    """Where the rows of others stand may change with the rows of one person."""
    n = 100_000
    X = np.zeros((n, 1))
    alone = releaser().fit(X).sensitivity_
    grouped = releaser().fit(X, groups=np.arange(n)).sensitivity_
    assert 1 + 1e-6 < grouped / alone < 1.001


@pytest.mark.parametrize("unit", [1000.0, 0.3048])
def test_units_change_the_density_by_their_factor(unit):
    def released(factor):
        return releaser(
            KernelDensity(bandwidth=0.1 * factor), bounds=(0.0, factor)
        ).fit(X1 * factor)

    one, other = released(1.0), released(unit)
    scale = one.predict(T1).max()
    np.testing.assert_allclose(
        other.predict(T1 * unit) * unit, one.predict(T1), rtol=0, atol=1e-6 * scale
    )
    assert other.noise_std_ * unit == pytest.approx(one.noise_std_, rel=1e-6)


def test_units_of_targets_change_the_ridge_by_their_factor():
    one = releaser(RIDGE, y_bounds=(-1.0, 1.0)).fit(X1, Y)
    other = releaser(RIDGE, y_bounds=(-500.0, 1500.0)).fit(X1, 1000 * Y + 500)
    np.testing.assert_allclose(
        other.predict(T1), 1000 * one.predict(T1) + 500, rtol=0, atol=1e-5
    )


def test_inside_a_pipeline():
    pipeline = make_pipeline(FunctionTransformer(lambda X: X / 10), releaser())
    assert pipeline.fit(10 * X1).predict(10 * T1).shape == (51,)


def test_pickles_are_small_and_equal():
    model = releaser().fit(X1)
    data = pickle.dumps(model)
    assert len(data) < 100_000
    np.testing.assert_array_equal(pickle.loads(data).predict(T1), model.predict(T1))


def test_the_user_s_estimator_stays_as_it_is():
    for estimator in (clone(DENSITY), clone(RIDGE)):
        before = vars(estimator).copy()
        y_bounds = None if isinstance(estimator, KernelDensity) else (-1, 1)
        model = releaser(estimator, y_bounds=y_bounds).fit(X1, Y)
        assert vars(estimator) == before
        assert model.estimator is estimator


def test_parameters_of_the_wrapped_estimator_can_be_searched():
    model = clone(releaser()).set_params(estimator__bandwidth=0.2)
    assert model.fit(X1).kernel_ == GaussianKernel(0.2)


def test_zcdp_is_charged_as_zcdp(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", rho=1.0)
    model = releaser(delta=0.0, rho=0.4, epsilon=None, ledger=str(ledger.path))
    assert model.fit(X1).guarantee_.rho == 0.4
    assert ledger.spent.rho == 0.4


# Refusals, before anything is charged


def refused(model, match, error=ValueError, data=(X1, Y), **more):
    with pytest.raises(error, match=match):
        model.fit(*data, **more)
    assert not hasattr(model, "guarantee_")


@pytest.mark.parametrize("kernel", ["tophat", "epanechnikov", "exponential", "cosine"])
def test_other_kernels_of_densities_are_refused_by_name(kernel):
    refused(
        releaser(KernelDensity(bandwidth=0.1, kernel=kernel)),
        f"kernel='{kernel}' of KernelDensity.*PrivateKDE",
        PrivacyError,
    )


@pytest.mark.parametrize(
    ("estimator", "facts", "match"),
    [
        (KernelDensity(bandwidth="scott"), {}, "computed from the data"),
        (KernelDensity(bandwidth="silverman"), {}, "computed from the data"),
        (KernelDensity(bandwidth=-1.0), {}, "bandwidth must be a finite"),
        (KernelDensity(bandwidth=1.0, metric="manhattan"), {}, "metric='manhattan'"),
        (KernelDensity(metric_params={"p": 1}), {}, "metric_params"),
        (DENSITY, {"y_bounds": (0, 1)}, "y_bounds has no meaning"),
        (DENSITY, {"sensitivity": 1.0}, "sensitivity must be 'auto'"),
        (DENSITY, {"kernel": GaussianKernel(0.5)}, "measured in the RKHS"),
        (GaussianKernel((1.0, 1.0)), {}, "2|axes"),
        (RIDGE, {}, "y_bounds must be stated"),
        (RIDGE, {"y_bounds": (1, 0)}, "y_bounds must be two finite"),
        (RIDGE, {"y_bounds": (0, 1), "sensitivity": 1.0}, "sensitivity must be"),
        (
            RIDGE,
            {"y_bounds": (0, 1), "kernel": ExponentialKernel(1.0)},
            "that of the estimator",
        ),
        (KernelRidge(kernel="rbf"), {"y_bounds": (0, 1)}, "gamma .* must be stated"),
        (KernelRidge(kernel="linear"), {"y_bounds": (0, 1)}, "kernel='linear'"),
        (
            KernelRidge(kernel="rbf", gamma=1.0, alpha=1e-14),
            {"y_bounds": (0, 1)},
            "alpha=1e-14 is too small",
        ),
        (
            KernelRidge(kernel="rbf", gamma=1.0, alpha=[1.0]),
            {"y_bounds": (0, 1)},
            "alpha must be",
        ),
        (lambda X, y: None, {}, "kernel must be the Kernel"),
        (lambda X, y: None, {"kernel": GaussianKernel(1.0)}, "sensitivity must be"),
        (
            lambda X, y: np.zeros_like,
            {"kernel": GaussianKernel(1.0), "sensitivity": 1.0},
            "one value per point",
        ),
        (DENSITY, {"points": [[0.0]], "n_nodes": 3}, "give only one"),
        (DENSITY, {"points": [[0.0, 1.0]]}, "points must have shape"),
        (DENSITY, {"n_nodes": 0}, "n_nodes must be"),
        (DENSITY, {"bounds": (1.0, 0.0)}, "bounds must be"),
        (DENSITY, {"bounds": ([0.0, 0.0], [1.0, 1.0])}, "bounds must be"),
        (DENSITY, {"bounds": (-1e308, 1e308)}, "overflows"),
        (DENSITY, {"delta": 0.0}, "set delta, for example 1e-6, or rho"),
        (DENSITY, {"calibration": "guess"}, "calibration must be one of"),
        (KernelDensity(bandwidth=1e-6), {}, "larger bandwidth"),
    ],
)
def test_wrong_parameters_are_refused(estimator, facts, match):
    refused(releaser(estimator, **facts), match)


@pytest.mark.parametrize("estimator", ["kde", 3, KernelDensity, ExponentialKernel(1.0)])
def test_what_is_no_estimator_is_refused(estimator):
    refused(releaser(estimator), "estimator must be an unfitted", TypeError)


def test_fitted_estimators_are_refused():
    refused(releaser(clone(DENSITY).fit(X1)), "holds private data")
    refused(releaser(clone(RIDGE).fit(X1, Y), y_bounds=(0, 1)), "holds private data")


def test_groups_are_refused_where_no_sensitivity_is_known():
    groups = np.arange(400)
    refused(releaser(RIDGE, y_bounds=(0, 1)), "densities only", groups=groups)
    facts = {"kernel": GaussianKernel(1.0), "sensitivity": 1.0}
    refused(releaser(lambda X, y: None, **facts), "densities only", groups=groups)


@pytest.mark.parametrize(
    ("y", "match"),
    [
        (None, "requires y"),
        (Y[:5], "one finite number per row"),
        (np.append(Y[1:], np.nan), "one finite number per row"),
        (np.append(Y[1:], np.inf), "one finite number per row"),
        (np.stack([Y, Y], axis=1), "one finite number per row"),
        (["secret"] * 400, "strings"),
    ],
)
def test_bad_targets_are_refused(y, match):
    refused(releaser(RIDGE, y_bounds=(0, 1)), match, data=(X1, y))


def test_an_open_ledger_is_refused(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=1.0, delta=1e-3)
    refused(releaser(ledger=ledger), "path of a ledger's file", TypeError)


def test_more_than_three_features_need_points():
    X = RNG.uniform(0, 1, (20, 4))
    refused(releaser(), "pass points=", PrivacyError, (X, None))


def test_noise_that_dominates_is_said_from_public_facts():
    model = releaser(RIDGE, y_bounds=(-1, 1), epsilon=1e-3)
    for y in (Y, np.zeros(400)):
        with pytest.warns(
            NoiseDominatesWarning, match="epsilon or alpha, or more people"
        ):
            model.fit(X1, y)


def test_ridge_regression_of_many_rows_is_refused_before_anything_is_charged(tmp_path):
    path = str(tmp_path / "budget.db")
    ledger = BudgetLedger(path, epsilon=9.0, delta=1e-3)
    model = GaussianProcessReleaser(
        estimator=KernelRidge(kernel="rbf", gamma=1.0, alpha=1e4),
        bounds=(0, 1),
        y_bounds=(0, 1),
        delta=1e-6,
        ledger=path,
    )
    with pytest.raises(PrivacyError, match="PrivateKernelRegressor"):
        model.fit(np.zeros((10_001, 1)), np.zeros(10_001))
    assert ledger.history() == []
