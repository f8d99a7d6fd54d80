"""scikit-learn's own tools around private estimators, without strict mode.

Every release that they ask for is charged, or refused: the counts are exact. What they
compute beside the releases is not private, which the documentation says of each.
"""

import os
import pickle
import warnings

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    StackingRegressor,
    VotingRegressor,
)
from sklearn.exceptions import (
    FitFailedWarning,
    NotFittedError,
    UnsetMetadataPassedError,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import (
    RFE,
    RFECV,
    SelectFromModel,
    SequentialFeatureSelector,
)
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
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
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skfuncpriv import (
    BudgetExceededError,
    BudgetLedger,
    ICLPClassifier,
    ICLPRegressor,
    PrivacyError,
    PrivateFPCA,
    PrivateKDE,
    PrivateKernelRegressor,
)
from skfuncpriv.local import geo_private_pipeline

pytestmark = pytest.mark.filterwarnings("ignore::skfuncpriv.NoiseDominatesWarning")

N_ROWS = 60


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "budget.db", epsilon=1e6)


def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 2))
    return X, X @ (1.0, -0.5) + 0.1 * rng.normal(size=N_ROWS)


def density(ledger, **parameters):
    return PrivateKDE(bounds=(-5, 5), ledger=str(ledger.path), **parameters)


def regressor(ledger, **parameters):
    stated = {"X_bounds": (-5, 5), "y_bounds": (-5, 5), "kernel": "linear"}
    return ICLPRegressor(**stated, ledger=str(ledger.path), **parameters)


def classifier(ledger):
    stated = {"X_bounds": (-5, 5), "classes": (0, 1), "kernel": "linear"}
    return ICLPClassifier(**stated, ledger=str(ledger.path))


def components(ledger):
    return PrivateFPCA(bounds=(-5, 5), n_components=1, ledger=str(ledger.path))


# How often each tool charges

PSI = [0.01, 0.1, 1.0]
REGRESSIONS = {  # what is done, and how many releases it takes: 5 folds by default
    "GridSearchCV": (3 * 5 + 1, lambda m: GridSearchCV(m, {"psi": PSI}).fit),
    "GridSearchCV without refit": (
        3 * 5, lambda m: GridSearchCV(m, {"psi": PSI}, refit=False).fit
    ),
    "RandomizedSearchCV": (
        2 * 5 + 1, lambda m: RandomizedSearchCV(m, {"psi": PSI}, n_iter=2).fit
    ),
    "HalvingGridSearchCV": (  # three on a third of the rows, one on all of them
        3 * 2 + 1 * 2 + 1, lambda m: HalvingGridSearchCV(m, {"psi": PSI}, cv=2).fit
    ),
    "cross_val_score": (5, lambda m: lambda X, y: cross_val_score(m, X, y)),
    "cross_validate": (
        5, lambda m: lambda X, y: cross_validate(m, X, y, return_train_score=True)
    ),
    "cross_val_predict": (5, lambda m: lambda X, y: cross_val_predict(m, X, y)),
    "learning_curve": (5 * 5, lambda m: lambda X, y: learning_curve(m, X, y)),
    "validation_curve": (
        3 * 5,
        lambda m: lambda X, y: validation_curve(
            m, X, y, param_name="psi", param_range=PSI
        ),
    ),
    "permutation_test_score": (
        (1 + 3) * 5,
        lambda m: lambda X, y: permutation_test_score(m, X, y, n_permutations=3),
    ),
    "RFE": (2, lambda m: RFE(m, n_features_to_select=1).fit),
    "SelectFromModel": (1, lambda m: SelectFromModel(m).fit),
    "SequentialFeatureSelector": (2 * 5, lambda m: SequentialFeatureSelector(m).fit),
    "StackingRegressor": (1 + 5, lambda m: StackingRegressor([("one", m)]).fit),
    "VotingRegressor": (2, lambda m: VotingRegressor([("one", m), ("two", m)]).fit),
    "AdaBoostRegressor": (  # which seeds its members: noise may make it stop early
        3, lambda m: AdaBoostRegressor(m, n_estimators=3, random_state=0).fit
    ),
    "MultiOutputRegressor": (
        2, lambda m: lambda X, y: MultiOutputRegressor(m).fit(X, np.c_[y, -y])
    ),
    "TransformedTargetRegressor": (1, lambda m: TransformedTargetRegressor(m).fit),
    "Pipeline": (1, lambda m: make_pipeline(FunctionTransformer(), m).fit),
    "clone": (2, lambda m: lambda X, y: clone(m.fit(X, y)).fit(X, y)),
}  # fmt: skip
CLASSIFICATIONS = {
    "CalibratedClassifierCV": (5, lambda m: CalibratedClassifierCV(m).fit),
    "CalibratedClassifierCV of one": (
        5 + 1, lambda m: CalibratedClassifierCV(m, ensemble=False).fit
    ),
    "TunedThresholdClassifierCV": (5 + 1, lambda m: TunedThresholdClassifierCV(m).fit),
    "FixedThresholdClassifier": (1, lambda m: FixedThresholdClassifier(m).fit),
    "OneVsRestClassifier": (
        3,
        lambda m: lambda X, y: OneVsRestClassifier(m).fit(X, np.arange(len(y)) % 3),
    ),
    "OneVsOneClassifier": (
        3, lambda m: lambda X, y: OneVsOneClassifier(m).fit(X, np.arange(len(y)) % 3)
    ),
}  # fmt: skip
TRANSFORMERS = {
    "FeatureUnion": (2, lambda m: FeatureUnion([("one", m), ("two", clone(m))])),
    "ColumnTransformer": (
        2, lambda m: ColumnTransformer([("left", m, [0, 1]), ("right", m, [2, 3])])
    ),
    "Pipeline": (1, lambda m: make_pipeline(FunctionTransformer(), m)),
}  # fmt: skip


def check_charges(ledger, count, label):
    history = ledger.history()
    assert len(history) == count
    assert {(record.label, record.times) for record in history} == {(label, 1)}
    assert ledger.spent.epsilon == count


@pytest.mark.parametrize("tool", REGRESSIONS)
def test_every_release_of_a_regressor_is_charged(tool, ledger):
    count, use = REGRESSIONS[tool]
    use(regressor(ledger))(*data())
    check_charges(ledger, count, "ICLPRegressor")


@pytest.mark.parametrize("tool", CLASSIFICATIONS)
def test_every_release_of_a_classifier_is_charged(tool, ledger):
    count, use = CLASSIFICATIONS[tool]
    X, y = data()
    use(classifier(ledger))(X, (y > 0).astype(int))
    check_charges(ledger, count, "ICLPClassifier")


@pytest.mark.parametrize("tool", TRANSFORMERS)
def test_every_release_of_a_transformer_is_charged(tool, ledger):
    count, use = TRANSFORMERS[tool]
    curves = np.random.default_rng(0).normal(size=(N_ROWS, 4))
    fitted = use(components(ledger)).fit(curves)
    check_charges(ledger, count, "PrivateFPCA")
    for restored in (fitted, pickle.loads(pickle.dumps(fitted))):
        restored.transform(curves)  # a function of the release: free
    check_charges(ledger, count, "PrivateFPCA")


def test_recursive_elimination_charges_for_each_size(ledger):
    """Both sizes in five folds, then down to the size that was chosen, and on it."""
    selector = RFECV(regressor(ledger)).fit(*data())
    refits = 3 if selector.n_features_ == 1 else 2
    check_charges(ledger, 5 * 2 + refits, "ICLPRegressor")


def test_transforms_of_the_local_model_are_charged_one_by_one(tmp_path):
    ledger = BudgetLedger(tmp_path / "geo.db", epsilon=9.0, metric="L2")
    pipeline = geo_private_pipeline(
        epsilon=1.0, bounds=(-5, 5), ledger=str(ledger.path)
    )
    curves = np.random.default_rng(0).normal(size=(8, 6))
    pipeline.fit(curves)
    assert ledger.history() == []
    both = FeatureUnion([("one", pipeline), ("two", clone(pipeline))])
    both.fit_transform(curves)
    both.transform(curves)
    assert ledger.spent.epsilon == 4.0


def test_bootstraps_are_seeded_and_say_so(ledger):
    """Bagging hands seeds to its members; where it can it hands them weights, too."""
    kernel = PrivateKernelRegressor(
        bounds=(-5, 5),
        y_bounds=(-5, 5),
        psi=0.1,
        n_components=4,
        ledger=str(ledger.path),
    )
    for member in (kernel, regressor(ledger, weight_cap=1.0)):
        fitted = BaggingRegressor(member, 2).fit(*data())
        for model in fitted.estimators_:
            assert model.guarantee_.seeded
            assert model.n_people_ == N_ROWS  # though some rows are there twice
    assert len(ledger.history()) == 4
    with pytest.raises(ValueError, match="needs a public weight_cap"):
        BaggingRegressor(regressor(ledger), 2).fit(*data())
    assert len(ledger.history()) == 4


# Processes


def process(model, X, y=None):
    """A score that is the number of the process it is computed in."""
    model.score_samples(X)
    return float(os.getpid())


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_a_search_in_processes_charges_sixteen_times(backend, ledger):
    """Three bandwidths in five folds, and the refit."""
    search = GridSearchCV(
        density(ledger), {"bandwidth": [0.3, 0.6, 1.2]}, scoring=process, n_jobs=2
    )
    with parallel_config(backend=backend):
        search.fit(data()[0][:, :1])
    check_charges(ledger, 16, "PrivateKDE")
    scores = [search.cv_results_[f"split{k}_test_score"] for k in range(5)]
    assert np.size(scores) == 15
    assert (os.getpid() in np.unique(scores)) == (backend == "threading")


# What happens when the budget runs out

ENDS_WITH = ("best_estimator_", "best_params_", "best_score_", "cv_results_")


def results(search):
    return [name for name in ENDS_WITH if hasattr(search, name)]


@pytest.fixture
def small(tmp_path):
    return BudgetLedger(tmp_path / "small.db", epsilon=6.5)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_search_that_raises_leaves_nothing(n_jobs, small):
    search = GridSearchCV(
        regressor(small), {"psi": PSI}, error_score="raise", n_jobs=n_jobs
    )
    with (
        parallel_config(backend="multiprocessing"),
        pytest.raises(BudgetExceededError, match="exceeds what is left"),
    ):
        search.fit(*data())
    assert results(search) == []
    check_charges(small, 6, "ICLPRegressor")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
def test_a_search_of_equal_costs_stops_at_the_refit(small):
    """By default failures are scores of NaN; what did not fit then does not now."""
    search = GridSearchCV(regressor(small), {"psi": PSI})
    with pytest.raises(BudgetExceededError, match="exceeds what is left"):
        search.fit(*data())
    assert "cv_results_" not in results(search)
    assert not hasattr(search.best_estimator_, "guarantee_")
    with pytest.raises(NotFittedError):
        search.predict(data()[0])
    check_charges(small, 6, "ICLPRegressor")


COMPLETED = {
    "no refit": (6, {"psi": PSI}, {"refit": False}),
    "cheap refit": (5 + 2 + 1, {"epsilon": [0.25, 2.0]}, {}),
}


@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
@pytest.mark.parametrize("kind", COMPLETED)
def test_a_search_may_end_although_fits_were_refused(kind, small):
    """Never beyond the budget, and with a warning; error_score="raise" stops it."""
    count, grid, options = COMPLETED[kind]
    search = GridSearchCV(regressor(small), grid, **options)
    with pytest.warns(FitFailedWarning, match="BudgetExceededError"):
        search.fit(*data())
    assert np.isnan(search.cv_results_["mean_test_score"][-1])
    assert len(small.history()) == count
    search = GridSearchCV(regressor(small), grid, error_score="raise", **options)
    with pytest.raises(BudgetExceededError):
        search.fit(*data())
    assert results(search) == []
    assert small.spent.epsilon <= 6.5


def test_scores_stop_where_the_budget_does(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=2.5)
    with pytest.warns(FitFailedWarning, match="BudgetExceededError"):
        scores = cross_val_score(regressor(ledger), *data())
    assert np.isnan(scores).tolist() == [False, False, True, True, True]
    check_charges(ledger, 2, "ICLPRegressor")
    with pytest.raises(ValueError, match=r"(?s)All the 5 fits failed.*BudgetExceeded"):
        cross_val_score(regressor(ledger), *data())
    with pytest.raises(BudgetExceededError):
        cross_val_score(regressor(ledger), *data(), error_score="raise")
    check_charges(ledger, 2, "ICLPRegressor")


def test_workers_together_stay_within_the_budget(small):
    with (
        parallel_config(backend="multiprocessing"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        scores = cross_val_score(regressor(small), *data(), cv=10, n_jobs=2)
    assert np.isfinite(scores).sum() == 6
    check_charges(small, 6, "ICLPRegressor")


# The people behind the rows

GROUPS = np.repeat(np.arange(N_ROWS // 2), 2)


@pytest.fixture
def people(tmp_path):
    return BudgetLedger(tmp_path / "people.db", epsilon=1e6, unit="person")


def test_groups_of_a_search_reach_the_splitter_only(people, ledger):
    """The promise would be one for rows: a ledger of people refuses it."""
    grid, folds = {"psi": [0.1]}, GroupKFold(3)
    search = GridSearchCV(regressor(people), grid, cv=folds, error_score="raise")
    with pytest.raises(PrivacyError, match="different unit"):
        search.fit(*data(), groups=GROUPS)
    search = GridSearchCV(regressor(people), grid, cv=folds)
    with pytest.raises(ValueError, match=r"(?s)All the 3 fits failed.*different unit"):
        search.fit(*data(), groups=GROUPS)
    assert people.history() == []
    assert results(search) == []
    search = GridSearchCV(regressor(ledger), grid, cv=folds)
    search.fit(*data(), groups=GROUPS)
    assert {record.guarantee.unit for record in ledger.history()} == {"row"}


def test_groups_that_are_routed_reach_the_release(people):
    X, y = data()
    with sklearn.config_context(enable_metadata_routing=True):
        model = regressor(people).set_fit_request(groups=True)
        search = GridSearchCV(model, {"psi": [0.1]}, cv=GroupKFold(3))
        search.fit(X, y, groups=GROUPS)
        assert len(people.history()) == 4
        assert search.best_estimator_.guarantee_.unit == "person"
        assert search.best_estimator_.n_people_ == N_ROWS // 2
        params, folds = {"groups": GROUPS}, GroupKFold(3)
        cross_val_score(model, X, y, params=params, cv=folds)
        assert len(people.history()) == 7
        pipeline = make_pipeline(FunctionTransformer(), model)
        pipeline.fit(X, y, groups=GROUPS)
        assert len(people.history()) == 8
        with pytest.raises(UnsetMetadataPassedError, match="groups"):
            make_pipeline(FunctionTransformer(), regressor(people)).fit(
                X, y, groups=GROUPS
            )
    assert {record.guarantee.unit for record in people.history()} == {"person"}


def test_a_pipeline_hands_groups_on_by_name(people):
    make_pipeline(FunctionTransformer(), regressor(people)).fit(
        *data(), iclpregressor__groups=GROUPS
    )
    with pytest.raises(PrivacyError, match="different unit"):
        make_pipeline(FunctionTransformer(), regressor(people)).fit(*data())
    assert len(people.history()) == 1
