"""Strict mode over every estimator: what it refuses, and what can no longer raise.

`test_config.py` has the switch itself. Refused is before data are touched, before noise
is drawn and before a charge; what is not a number is the public centre.
"""

import contextlib
import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, StackingRegressor, VotingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import get_tags

from skfuncpriv import (
    BasisProjector,
    BudgetLedger,
    GeoPrivateCoefficients,
    GeoPrivateCurve,
    ICLPClassifier,
    ICLPMean,
    ICLPRegressor,
    OnlineGaussianProcess,
    PrivacyError,
    PrivateFPCA,
    PrivateKDE,
    PrivateKernelClassifier,
    PrivateKernelRegressor,
    PrivateSparseMean,
    config,
)
from skfuncpriv.basis import CosineBasis, TensorBasis
from skfuncpriv.curves import Curves
from skfuncpriv.gaussian_process import GaussianKernel
from skfuncpriv.local import geo_private_pipeline, reconstruction_score
from skfuncpriv.noise import OperatingSystemBits, SeededBits
from skfuncpriv.testing import recorded, silenced
from tests.test_common import CENTRAL, LOCAL

pytestmark = [
    pytest.mark.filterwarnings("ignore::skfuncpriv.NoiseDominatesWarning"),
    pytest.mark.usefixtures("strictness_restored"),
]

N_PEOPLE = 24
PRIVATE_LOCAL = [model for model in LOCAL if hasattr(model, "ledger")]


def name_of(estimator):
    options = [estimator.get_params().get(k) for k in ("mechanism", "method", "loss")]
    return "-".join([type(estimator).__name__, *filter(None, options)])


@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "budget.db"
    return BudgetLedger(path, epsilon=1e9, delta=0.5)


def geo_ledger(model, folder):
    budget = "epsilon" if model.rho is None else "rho"
    return BudgetLedger(folder / "geo.db", **{budget: 1e9}, metric="L2")


@contextlib.contextmanager
def no_draws():
    """Nothing is drawn from either source of bits."""

    def words(bits, count):
        raise AssertionError("noise was drawn")

    with pytest.MonkeyPatch.context() as patch:
        for source in (OperatingSystemBits, SeededBits):
            patch.setattr(source, "words", words)
        yield


class Untouched:
    """Data at which nobody may look."""

    def _look(self, *_, **__):
        raise AssertionError("data were touched")

    __array__ = __len__ = __iter__ = __getitem__ = _look


def lopsided(estimator):
    """A copy whose bounds have a middle other than zero, and with public classes."""
    model, changed = clone(estimator), {}
    for name in ("bounds", "X_bounds", "y_bounds"):
        if model.get_params().get(name) is not None:
            low, high = getattr(model, name)
            changed[name] = (low, high - (high - low) / 4)
    if "classes" in model.get_params():
        changed["classes"] = ("high", "low")
    if model.get_params().get("radius", 0) is None:
        changed["radius"] = 9e3  # choosing one is random
    return model.set_params(**changed)


def private_data(model, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-450, 450, (N_PEOPLE, 12))
    y = rng.uniform(-1, 1, N_PEOPLE)
    return X, np.where(y > 0, "high", "low") if hasattr(model, "classes") else y


# Seeds and missing ledgers


BAD = {"no ledger": {"ledger": None}, "seed": {"random_state": 0}}


@pytest.mark.parametrize("estimator", CENTRAL, ids=name_of)
@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_central_releases_are_refused_before_anything_happens(
    estimator, change, ledger
):
    model = lopsided(estimator).set_params(ledger=str(ledger.path)).set_params(**change)
    with config(strict=True), no_draws(), pytest.raises(PrivacyError, match="strict"):
        model.fit(Untouched(), Untouched())
    assert ledger.history() == []


@pytest.mark.parametrize("estimator", PRIVATE_LOCAL, ids=name_of)
@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_local_releases_are_refused_before_anything_happens(
    estimator, change, tmp_path
):
    ledger = geo_ledger(estimator, tmp_path)
    X = np.ones((3, 6))
    model = clone(estimator).set_params(**{"ledger": str(ledger.path), **change})
    fitted = clone(model).fit(X)
    methods = [model.fit, fitted.transform]
    methods += [fitted.release] if hasattr(model, "release") else []
    with config(strict=True), no_draws():
        for method in methods:
            with pytest.raises(PrivacyError, match="strict"):
                method(Untouched())
    assert ledger.history() == []


def online(**parameters):
    stated = {"kernel": GaussianKernel(0.5), "sensitivity": 0.1, "delta": 1e-5}
    return OnlineGaussianProcess(**stated | parameters)


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_online_releases_and_pipelines_are_refused(change, ledger, tmp_path):
    traces = BudgetLedger(tmp_path / "geo.db", epsilon=1e9, metric="L2")
    where = {"ledger": str(traces.path), **change}
    pipeline = geo_private_pipeline(epsilon=1.0, bounds=(0, 1), **where)
    with config(strict=True), no_draws():
        with pytest.raises(PrivacyError, match="strict"):
            online(**{"ledger": str(ledger.path), **change}).fit(lambda _: 1 / 0)
        with pytest.raises(PrivacyError, match="strict"):
            pipeline.fit_transform(np.ones((3, 6)))
    assert ledger.history() == traces.history() == []


def test_an_online_release_that_is_seeded_answers_no_more(ledger):
    model = online(ledger=str(ledger.path), epsilon=1.0, random_state=0)
    model.fit(lambda points: np.zeros(len(points)))
    with config(strict=True), no_draws(), pytest.raises(PrivacyError, match="seeds"):
        model.predict([0.5])
    assert np.isfinite(model.predict([0.5])).all()


def test_classes_must_be_stated(ledger):
    known = {"epsilon": 1.0, "ledger": str(ledger.path)}
    for model in (
        PrivateKernelClassifier(bounds=(-5, 5), **known),
        ICLPClassifier(X_bounds=(-5, 5), **known),
    ):
        with config(strict=True), pytest.raises(PrivacyError, match="public classes"):
            model.fit(Untouched(), Untouched())
    assert ledger.history() == []


def test_seeds_of_what_is_free_are_fine(ledger):
    model = ICLPMean(bounds=(0, 1), ledger=str(ledger.path))
    with config(strict=True):
        model.fit(np.full((50, 4), 0.5))
        assert model.sample(2, random_state=0).shape == (2, 4)
        assert np.isfinite(model.noise_band()).all()
        assert np.isfinite(model.predict([0.3])).all()


# Numbers about rows


def test_numbers_about_rows_are_refused(ledger):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 1)), rng.normal(size=60)
    curves, labels = rng.normal(size=(60, 4)), np.where(y > 0, "high", "low")
    shared = {"epsilon": 50.0, "ledger": str(ledger.path)}
    classes = {"classes": ("high", "low")}
    kernel = {"bounds": (-5, 5), "n_components": 4, "psi": 0.01}
    line = {"X_bounds": (-5, 5), "kernel": "linear", "psi": 0.01}
    kde = PrivateKDE(bounds=(-5, 5), **shared).fit(X)
    fpca = PrivateFPCA(bounds=(-5, 5), n_components=1, **shared).fit(curves)
    models = [
        PrivateKernelClassifier(**kernel, **classes, **shared).fit(X, labels),
        ICLPClassifier(**line, **classes, **shared).fit(X, labels),
        PrivateKernelRegressor(**kernel, y_bounds=(-3, 3), **shared).fit(X, y),
        ICLPRegressor(**line, y_bounds=(-3, 3), **shared).fit(X, y),
    ]
    calls = [lambda: kde.score(X), lambda: fpca.transform(curves)]
    calls += [lambda m=m: m.score(X, labels) for m in models[:2]]
    calls += [lambda m=m: m.score(X, y) for m in models[2:]]
    for call in calls:
        assert np.isfinite(call()).all()
    n_charges = len(ledger.history())
    calls += [lambda: clone(fpca).fit_transform(curves)]
    with config(strict=True):
        for call in calls:
            with pytest.raises(PrivacyError, match=r"refuses (score|transform)"):
                call()
        for model in models:
            assert len(model.predict(X)) == len(X)
        assert np.isfinite(kde.score_samples(X)).any()
    assert len(ledger.history()) == n_charges


def test_the_score_of_reconstructions_is_refused():
    pipeline = geo_private_pipeline(epsilon=1e6, bounds=(0, 2)).fit(np.ones((2, 9)))
    with config(strict=True), pytest.raises(PrivacyError, match="reconstruction_score"):
        reconstruction_score(pipeline, np.ones((2, 9)))


# Tools of scikit-learn


def density(ledger, **parameters):
    return PrivateKDE(bounds=(-5, 5), ledger=str(ledger.path), **parameters)


def regressor(ledger, **parameters):
    stated = {"X_bounds": (-5, 5), "y_bounds": (-5, 5), "kernel": "linear"}
    return ICLPRegressor(**stated, ledger=str(ledger.path), **parameters)


def classifier(ledger, **parameters):
    stated = {"X_bounds": (-5, 5), "classes": (0, 1), "kernel": "linear"}
    return ICLPClassifier(**stated, ledger=str(ledger.path), **parameters)


BANDWIDTHS = {"bandwidth": [0.3, 1.0]}
PSI = [0.01, 0.1]
TOOLS = {
    "GridSearchCV": lambda m, n: GridSearchCV(m["density"], BANDWIDTHS, n_jobs=n).fit,
    "GridSearchCV that raises": lambda m, n: (
        GridSearchCV(m["density"], BANDWIDTHS, n_jobs=n, error_score="raise").fit
    ),
    "RandomizedSearchCV": lambda m, n: (
        RandomizedSearchCV(m["density"], BANDWIDTHS, n_iter=2, n_jobs=n).fit
    ),
    "HalvingGridSearchCV": lambda m, n: (
        HalvingGridSearchCV(m["regressor"], {"psi": PSI}, n_jobs=n, cv=2).fit
    ),
    "cross_val_score": lambda m, n: (
        lambda X, y: cross_val_score(m["density"], X, n_jobs=n)
    ),
    "cross_validate": lambda m, n: (
        lambda X, y: cross_validate(m["regressor"], X, y, n_jobs=n)
    ),
    "cross_val_predict": lambda m, n: (
        lambda X, y: cross_val_predict(m["regressor"], X, y, n_jobs=n)
    ),
    "learning_curve": lambda m, n: (
        lambda X, y: learning_curve(m["regressor"], X, y, n_jobs=n)
    ),
    "validation_curve": lambda m, n: (
        lambda X, y: validation_curve(
            m["regressor"], X, y, param_name="psi", param_range=PSI, n_jobs=n
        )
    ),
    "permutation_test_score": lambda m, n: (
        lambda X, y: permutation_test_score(
            m["regressor"], X, y, n_permutations=2, n_jobs=n
        )
    ),
    "RFECV": lambda m, n: RFECV(m["regressor"], n_jobs=n).fit,
    "SequentialFeatureSelector": lambda m, n: (
        SequentialFeatureSelector(m["regressor"], n_jobs=n).fit
    ),
    "StackingRegressor": lambda m, n: (
        StackingRegressor([("private", m["regressor"])], n_jobs=n).fit
    ),
    "VotingRegressor": lambda m, n: (
        VotingRegressor([("private", m["regressor"])], n_jobs=n).fit
    ),
    "BaggingRegressor": lambda m, n: BaggingRegressor(m["regressor"], 2, n_jobs=n).fit,
    "CalibratedClassifierCV": lambda m, n: (
        lambda X, y: CalibratedClassifierCV(m["classifier"], n_jobs=n).fit(X, y > 0)
    ),
    "TunedThresholdClassifierCV": lambda m, n: (
        lambda X, y: TunedThresholdClassifierCV(m["classifier"], n_jobs=n).fit(X, y > 0)
    ),
    "OneVsRestClassifier": lambda m, n: (
        lambda X, y: OneVsRestClassifier(m["classifier"], n_jobs=n).fit(
            X, np.digitize(y, [-0.5, 0.5])
        )
    ),
}


def refused(tool, ledger, n_jobs=None):
    """Whatever error a tool makes of it, nothing is charged and nothing has a score."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    models = {f.__name__: f(ledger) for f in (density, regressor, classifier)}
    with config(strict=True):
        try:
            outcome, text = tool(models, n_jobs)(X, y), ""
        except ValueError as error:
            outcome, text = None, str(error)
    if outcome is not None:  # curves of nothing but NaN
        assert np.isnan(outcome[-1]).all()
        assert np.isnan(outcome[-2]).all()
    else:
        assert "strict mode refuses" in text
    assert ledger.history() == []
    return text


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_tools_that_compute_on_private_rows_are_refused(tool, n_jobs, ledger):
    """In threads, as in other processes, the callers begin at the work to be done."""
    with parallel_config(backend="threading"):
        refused(tool, ledger, n_jobs)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("tool", ["GridSearchCV", "VotingRegressor"])
def test_tools_are_refused_in_other_processes(tool, ledger):
    with parallel_config(backend="loky"):
        text = refused(TOOLS[tool], ledger, n_jobs=2)
    assert "refuses to release inside sklearn" in text


def test_a_search_that_is_refused_has_no_result(ledger):
    X = np.random.default_rng(0).normal(size=(40, 1))
    search = GridSearchCV(density(ledger), BANDWIDTHS, error_score="raise")
    with config(strict=True), pytest.raises(PrivacyError, match="PrivateGridSearchCV"):
        search.fit(X)
    assert not hasattr(search, "cv_results_")
    assert not hasattr(search, "best_params_")


def test_a_refit_alone_is_refused(ledger):
    """Strict mode switched on between the folds and the refit."""
    X = np.random.default_rng(0).normal(size=(40, 1))

    def score(model, X, y=None):
        config(strict=True)
        return 0.0

    search = GridSearchCV(
        density(ledger), {"bandwidth": [0.3]}, scoring=score, cv=[(range(40),) * 2]
    )
    with pytest.raises(PrivacyError, match=r"inside sklearn\.model_selection"):
        search.fit(X)
    assert len(ledger.history()) == 1


PIPELINES = {
    "scaler": lambda m: make_pipeline(StandardScaler(), m),
    "nested": lambda m: make_pipeline(make_pipeline(StandardScaler()), m),
    "outer": lambda m: make_pipeline(StandardScaler(), make_pipeline(m)),
    "columns": lambda m: make_pipeline(
        ColumnTransformer([("scale", StandardScaler(), [0])]), m
    ),
    "union": lambda m: make_pipeline(FeatureUnion([("scale", StandardScaler())]), m),
    "target": lambda m: TransformedTargetRegressor(m, transformer=StandardScaler()),
}


@pytest.mark.parametrize("wrap", PIPELINES.values(), ids=PIPELINES)
def test_steps_that_learn_from_rows_are_refused(wrap, ledger):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    with config(strict=True), pytest.raises(PrivacyError, match="here StandardScaler"):
        wrap(regressor(ledger)).fit(X, y)
    assert ledger.history() == []


def halved(values):
    return values / 2


def doubled(values):
    return values * 2


def test_steps_with_public_numbers_are_fine(ledger, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), rng.normal(size=400)
    public = FunctionTransformer(np.tanh)
    columns = ColumnTransformer([("halves", public, [0])], remainder="passthrough")
    traces = BudgetLedger(tmp_path / "geo.db", epsilon=3.0, metric="L2")
    release = geo_private_pipeline(
        epsilon=1.0, bounds=(0, 1), ledger=str(traces.path), domain=(0, 1)
    )
    with config(strict=True):
        make_pipeline(public, "passthrough", columns, regressor(ledger)).fit(X, y)
        target = TransformedTargetRegressor(
            regressor(ledger),
            func=np.arcsinh,
            inverse_func=np.sinh,
            check_inverse=False,
        )
        target.fit(X, y)
        curves = rng.normal(size=(400, 5))
        release.fit(curves).transform(curves)  # a scaler behind it would be free
        known = FunctionTransformer(np.nan_to_num)
        make_pipeline(release, known, StandardScaler()).fit_transform(curves)
    assert len(ledger.history()) == 2
    assert len(traces.history()) == 2


class Centred(FunctionTransformer):
    """A subclass may do anything."""

    def transform(self, X):
        return X - X.mean(axis=0)


class Stateless(TransformerMixin, BaseEstimator):
    """Says of itself that it learns nothing."""

    steps = ()

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X - X.mean(axis=0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


MIXERS = {
    "function": FunctionTransformer(halved),
    "made ufunc": FunctionTransformer(np.frompyfunc(halved, 1, 1)),
    "memory": FunctionTransformer(np.negative, kw_args={"out": np.zeros((40, 2))}),
    "inverse": FunctionTransformer(np.abs, np.positive),
    "subclass": Centred(np.tanh),
    "own": Stateless(),
    "nested": FeatureUnion([("own", Stateless())]),
}


@pytest.mark.filterwarnings("ignore:The provided functions")
@pytest.mark.parametrize("step", MIXERS.values(), ids=MIXERS)
def test_steps_that_may_mix_rows_are_refused(step, ledger):
    X = np.random.default_rng(0).normal(size=(40, 2))
    with (
        config(strict=True),
        pytest.raises(PrivacyError, match="may learn from rows"),
    ):
        Pipeline([("step", step), ("last", regressor(ledger))]).fit(X, X[:, 0])
    assert ledger.history() == []


def test_a_pipeline_that_caches_rows_is_refused(ledger, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    steps = [("step", FunctionTransformer(np.tanh)), ("last", regressor(ledger))]
    with config(strict=True), pytest.raises(PrivacyError, match="memory"):
        Pipeline(steps, memory=str(tmp_path / "cache")).fit(X, X[:, 0])
    assert ledger.history() == []


@pytest.mark.parametrize("kind", [FeatureUnion, ColumnTransformer])
def test_workers_that_see_no_callers_are_refused(kind, tmp_path):
    """They could not know of a scaler before them, nor of a search around them."""
    ledger = BudgetLedger(tmp_path / "geo.db", epsilon=9.0, metric="L2")
    model = GeoPrivateCoefficients(epsilon=1.0, ledger=str(ledger.path))
    columns = ([0, 1],) if kind is ColumnTransformer else ()
    parts = [(name, clone(model), *columns) for name in "ab"]
    X = np.random.default_rng(0).normal(size=(40, 2))
    with config(strict=True):
        kind(parts).fit_transform(X)
        with (
            parallel_config(backend="threading"),
            pytest.raises(PrivacyError, match="in a worker of scikit-learn"),
        ):
            kind(parts, n_jobs=2).fit_transform(X)
    assert len(ledger.history()) == 2


@pytest.mark.parametrize("model", CENTRAL, ids=name_of)
def test_planning_reads_no_data_and_needs_no_ledger(model):
    with config(strict=True):
        for name in ("expected_error", "_planned_release"):
            if hasattr(model, name):
                getattr(model, name)(100)
        with pytest.raises(PrivacyError, match="strict mode demands"):
            clone(model).fit(*private_data(model))


# What is not finite


def exact_values(model, *data):
    """The private value behind every release of a fit that adds no noise."""
    with silenced(), recorded() as releases, warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        model.fit(*data)
    return [released.exact for released in releases], [str(x.message) for x in w]


def poisoned(X, center):
    """A table with entries that are not finite, and one with the centre there."""
    bad, good = X.copy(), X.copy()
    for row, column, entry in (
        *((1, 0, np.nan), (2, 3, np.inf), (2, 4, -np.inf)),
        *((5, k, (np.nan, np.inf, -np.inf)[k % 3]) for k in range(X.shape[1])),
    ):
        bad[row, column], good[row, column] = entry, center
    return bad, good


def centers(model):
    ends = [getattr(model, name, None) for name in ("bounds", "X_bounds", "y_bounds")]
    return [None if pair is None else pair[0] / 2 + pair[1] / 2 for pair in ends]


@pytest.mark.parametrize("estimator", CENTRAL, ids=name_of)
def test_what_is_not_finite_is_the_public_centre(estimator, ledger):
    model = lopsided(estimator).set_params(ledger=str(ledger.path))
    X, y = private_data(model)
    of_X, other, of_y = centers(model)
    bad, good = poisoned(X, of_X if other is None else other)
    if get_tags(model).input_tags.allow_nan:  # there NaN is no observation
        bad[np.isnan(bad)] = good[np.isnan(bad)]
    bad_y, good_y = y.copy(), y.copy()
    if of_y is not None:
        bad_y[[0, 1, 2]], good_y[[0, 1, 2]] = [np.nan, np.inf, -np.inf], of_y
    with config(strict=True):
        centred = exact_values(model, good, good_y)
        assert exact_values(model, bad, bad_y) == centred
    assert len(ledger.history()) == 2
    with pytest.raises(ValueError):
        model.fit(bad, bad_y)


WEIGHTED = [
    m for m in CENTRAL if "sample_weight" in inspect.signature(m.fit).parameters
]


@pytest.mark.parametrize("estimator", WEIGHTED, ids=name_of)
def test_weights_that_are_none_are_zero(estimator, ledger):
    model = lopsided(estimator).set_params(ledger=str(ledger.path))
    X, y = private_data(model)
    bad, good = np.ones(N_PEOPLE), np.ones(N_PEOPLE)
    bad[:4], good[:4] = [np.nan, np.inf, -np.inf, -1.0], 0.0

    def values(weights):
        with silenced(), recorded() as releases:
            model.fit(X, y, sample_weight=weights)
        return [released.exact for released in releases]

    with config(strict=True):
        assert values(bad) == values(good) != values(None)
    with pytest.raises(ValueError, match="sample_weight must hold"):
        values(bad)


CLASSIFIERS = [m for m in CENTRAL if hasattr(m, "classes")]


@pytest.mark.parametrize("label", [None, np.nan, "other", 3])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name_of)
def test_a_label_of_no_class_has_no_say(estimator, label, ledger):
    model = lopsided(estimator).set_params(ledger=str(ledger.path))
    X, y = private_data(model)
    other = X.copy()
    other[0] = -X[0]
    spoiled = y.astype(object)
    spoiled[0] = label
    with config(strict=True):
        values = exact_values(model, X, spoiled)
        assert exact_values(model, other, spoiled) == values
        assert exact_values(model, X, y) != values
        with pytest.raises(ValueError, match="labels"):  # of another kind altogether
            model.fit(X, np.arange(N_PEOPLE) % 2)
    with pytest.raises(ValueError, match="label"):
        model.fit(X, spoiled)


def test_gaps_stay_gaps(ledger):
    """Interpolated from neighbours; an infinity is the centre, not a gap."""
    model = ICLPMean(
        bounds=(0, 3), missing="interpolate", denoise=False, ledger=str(ledger.path)
    )
    rows = np.random.default_rng(0).uniform(0, 3, (N_PEOPLE, 6))
    gap, line = rows.copy(), rows.copy()
    gap[0, 2], line[0, 2] = np.nan, (rows[0, 1] + rows[0, 3]) / 2
    gap[1, 5], line[1, 5] = np.inf, 1.5
    gap[2, 1:3], line[2, 1:3] = [-np.inf, np.nan], 1.5  # and so is a gap beside it
    with config(strict=True):
        values, expected = exact_values(model, gap)[0], exact_values(model, line)[0]
    unit = float(expected[0][0])
    for one, two in zip(values[0], expected[0], strict=True):
        assert abs(float(one - two)) < 1e-9 * abs(unit)
    assert exact_values(model, rows)[0] != values


def irregular(values, **parameters):
    times = np.tile([0.1, 0.4, 0.9], len(values) // 3)
    return Curves(values, times, np.arange(0, len(values) + 1, 3), **parameters)


@pytest.mark.parametrize("kind", [ICLPMean, PrivateSparseMean])
def test_curves_keep_what_is_not_finite_for_the_estimator(kind, ledger):
    model = kind(bounds=(0, 3), domain=(0, 1), ledger=str(ledger.path))
    good = np.random.default_rng(0).uniform(0, 3, 3 * N_PEOPLE)
    bad = good.copy()
    bad[[0, 4, 10]], good[[0, 4, 10]] = [np.inf, -np.inf, np.inf], 1.5
    frame = pd.DataFrame({"y": bad, "t": np.tile([0.1, 0.4, 0.9], N_PEOPLE)})
    frame["id"] = np.repeat(np.arange(N_PEOPLE), 3)
    with pytest.raises(ValueError, match="infinity"):
        irregular(bad)
    with config(strict=True):
        expected = exact_values(model, irregular(good))
        curves = irregular(bad)
        assert exact_values(model, curves) == expected
        long = Curves.from_long(frame, "id", "t", "y", duplicates="mean")
        assert exact_values(model, long) == expected
    with pytest.raises(ValueError, match="infinity"):  # made in strict mode, used out
        model.fit(curves)


def test_curves_beside_curves(ledger):
    """A regression of curves on curves, in the forms that only it reads."""
    model = ICLPRegressor(
        X_bounds=(0, 3), y_bounds=(0, 9), X_domain=(0, 1), y_domain=(0, 1)
    ).set_params(ledger=str(ledger.path), X_basis=3, y_basis=3, epsilon=50.0)
    rng = np.random.default_rng(0)
    X, y = (
        poisoned(rng.uniform(0, 3, (60, 5)), 1.5),
        poisoned(rng.uniform(0, 9, (60, 5)), 4.5),
    )
    with config(strict=True):
        assert exact_values(model, X[0], y[0]) == exact_values(model, X[1], y[1])


def test_one_observation_is_infinite_twice():
    """Means of duplicates are total."""
    frame = pd.DataFrame({"id": 0, "t": 0.5, "y": [np.inf, -np.inf, 1.0]})
    with config(strict=True):
        curves = Curves.from_long(frame, "id", "t", "y", duplicates="mean")
    assert not np.isfinite(curves.values).any()


# The local model


def test_projections_of_what_is_not_finite_are_those_of_the_centre():
    rows = np.random.default_rng(0).uniform(0, 3, (8, 6))
    bad, good = poisoned(rows, 1.0)
    model = BasisProjector(n_basis=4, bounds=(0, 3), center=1.0, domain=(0, 1))
    surfaces = BasisProjector(
        basis=TensorBasis([CosineBasis(2), CosineBasis(2)]), bounds=(0, 3), center=1.0
    )
    with config(strict=True):
        for form in (np.asarray, lambda x: irregular(x.ravel())):
            np.testing.assert_array_equal(
                clone(model).fit_transform(form(bad)),
                clone(model).fit_transform(form(good)),
            )
        cubes = bad.reshape(8, 2, 3), good.reshape(8, 2, 3)
        projected = [surfaces.fit_transform(cube) for cube in cubes]
        np.testing.assert_array_equal(*projected)
    with pytest.raises(ValueError, match="Input contains"):
        model.fit(bad)


@pytest.mark.parametrize("parameter", ["time", "arc length"])
def test_traces_of_what_is_not_finite_are_those_of_the_centre(parameter, tmp_path):
    ledger = BudgetLedger(tmp_path / "geo.db", epsilon=9.0, metric="L2")
    model = GeoPrivateCurve(
        epsilon=1.0, bounds=(1, 4), parameter=parameter, ledger=str(ledger.path)
    )
    bad, good = poisoned(np.random.default_rng(0).uniform(1, 4, (8, 12)), 2.5)
    values = []
    with config(strict=True):
        for rows in (bad, good):
            traces = rows.reshape(8, 6, 2)
            with recorded() as releases:
                clone(model).fit(traces).transform(traces)
            values.append([released.exact for released in releases])
    assert values[0] == values[1]
    assert len(ledger.history()) == 2


def test_infinite_coefficients_are_those_of_the_centre(tmp_path):
    ledger = BudgetLedger(tmp_path / "geo.db", epsilon=9.0, metric="L2")
    model = GeoPrivateCoefficients(epsilon=1.0, ledger=str(ledger.path))
    rows = np.random.default_rng(0).normal(size=(5, 3))
    bad, good = rows.copy(), rows.copy()
    bad[1, 1], good[1, 1] = -np.inf, 0.0
    bad[2, 0] = good[2, 0] = np.nan  # not released, as ever
    values = []
    with config(strict=True):
        for table in (bad, good):
            with recorded() as releases:
                released = clone(model).fit(table).transform(table)
            values.append([one.exact for one in releases])
            assert np.isnan(released).sum() == 1
    assert values[0] == values[1]
    with pytest.raises(ValueError, match="infinity"):
        model.fit(bad)


def test_points_of_one_trace_are_no_curves_of_many_people(tmp_path):
    """One charge would release a person's points one by one."""
    ledger = BudgetLedger(tmp_path / "geo.db", epsilon=9.0, metric="L2")
    model = GeoPrivateCurve(
        epsilon=1.0, bounds=(-5, 5), domain=(0, 1), ledger=str(ledger.path)
    )
    trace = np.zeros((540, 2))
    with pytest.warns(UserWarning, match="every row that of another person"):
        model.fit(trace)
    with config(strict=True):
        for one in (trace, trace[:, :1], np.zeros((540, 3)), pd.DataFrame(trace)):
            for method in (model.fit, model.fit_transform):
                with pytest.raises(PrivacyError, match="of few columns"):
                    method(one)
        with pytest.raises(PrivacyError, match="of few columns"):
            model.fit(trace[:1]).transform(trace)  # one row is one curve
        model.set_params(grid=[0, 1]).fit(trace)  # who gives a grid knows
        projector = BasisProjector(bounds=(-5, 5)).fit(trace[:1])
        for method in (projector.transform, projector.fit):
            with pytest.raises(PrivacyError, match="of few columns"):
                method(trace)
    assert ledger.history() == []
