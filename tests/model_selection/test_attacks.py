"""Attacks on a search that once succeeded: each must fail from now on."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skfuncpriv import (
    BudgetLedger,
    Curves,
    ICLPMean,
    PrivacyError,
    PrivateGridSearchCV,
    PrivateKDE,
    PrivateKernelClassifier,
    PrivateSparseMean,
    config,
)
from skfuncpriv.model_selection import BoundedScore, IntegratedSquaredError
from skfuncpriv.model_selection._votes import Voters, person_values

RNG = np.random.default_rng(5)
POINTS = RNG.uniform(0.1, 1, (60, 1))
KDE = PrivateKDE(bounds=(0, 1))
BANDWIDTHS = {"bandwidth": [0.1, 0.3]}


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "budget.db", epsilon=100.0)


def irregular(n_first):
    """Twenty curves of five points; the first has n_first of them."""
    counts = np.r_[n_first, np.full(19, 5)]
    times = np.concatenate([np.linspace(0.1, 0.9, count) for count in counts])
    values = 0.5 + 0.4 * np.sin(np.arange(len(times) - n_first))
    values = np.r_[np.full(n_first, 0.8), values]
    offsets = np.r_[0, np.cumsum(counts)]
    return Curves(values, times, offsets, domain=(0, 1), missing="interpolate")


def test_a_person_without_observations_leaves_the_scores_of_others():
    facts = {"bounds": (0, 1), "domain": (0, 1), "grid": np.linspace(0, 1, 9)}
    mean = ICLPMean(**facts, epsilon=500.0, missing="interpolate", random_state=0)
    models = [mean.fit(irregular(5))]
    tables = [
        person_values(
            IntegratedSquaredError(), models, Voters(X, None, np.arange(20), None, 20)
        )
        for X in (irregular(5), irregular(0))
    ]
    np.testing.assert_array_equal(tables[0][1:], tables[1][1:])
    assert tables[1][0] == 0.0
    assert len(np.unique(tables[0])) > 15


def test_irregular_curves_are_scored_one_person_at_a_time(monkeypatch):
    """Were a score to fail for one of them after all, it fails for that one alone."""
    original = IntegratedSquaredError.values

    def failing(score, model, X, y=None):
        if X.all_missing.any():
            raise ValueError
        return original(score, model, X, y)

    facts = {"bounds": (0, 1), "domain": (0, 1), "grid": np.linspace(0, 1, 9)}
    mean = ICLPMean(**facts, epsilon=500.0, missing="interpolate", random_state=0)
    models, X = [mean.fit(irregular(5))], irregular(0)
    voters = Voters(X, None, np.arange(20), None, 20)
    expected = person_values(IntegratedSquaredError(), models, voters)
    monkeypatch.setattr(IntegratedSquaredError, "values", failing)
    found = person_values(IntegratedSquaredError(), models, voters)
    np.testing.assert_array_equal(found[1:], expected[1:])
    assert found[0] == IntegratedSquaredError().bounds(models[0])[0]


def test_classes_are_not_read_off_labels_in_strict_mode(ledger):
    y = (POINTS[:, 0] > 0.5).astype(int)
    y[0] = 7
    model = PrivateKernelClassifier(bounds=(0, 1))
    for classes in ([[0, 1], None], [None, [0, 1]]):
        search = PrivateGridSearchCV(
            model, {"classes": classes}, ledger=str(ledger.path)
        )
        with config(strict=True), pytest.raises(PrivacyError, match="classes"):
            search.fit(POINTS, y)
    assert ledger.history() == []


@pytest.mark.parametrize("odd", [None, "x", float("nan")], ids=repr)
def test_an_odd_label_stops_no_strict_search(odd, ledger):
    y = (POINTS[:, 0] > 0.5).astype(int).tolist()
    y[3] = odd
    model = PrivateKernelClassifier(bounds=(0, 1), classes=[0, 1], n_components=8)
    search = PrivateGridSearchCV(
        model, {"psi": [0.1, 1.0]}, epsilon=20.0, ledger=str(ledger.path)
    )
    with config(strict=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(POINTS, y)
    assert search.best_estimator_.classes_.tolist() == [0, 1]


def test_random_stopping_refuses_before_the_charge(ledger):
    curves = RNG.uniform(size=(40, 6))
    curves[-1, 0] = np.nan  # among those who are not in the first rehearsal
    mean = ICLPMean(bounds=(0, 1), domain=(0, 1))
    search = PrivateGridSearchCV(
        mean,
        {"missing": ["interpolate", "error"]},
        method="random-stopping",
        epsilon=20.0,
        ledger=str(ledger.path),
    )
    with pytest.raises(ValueError, match="contains NaN"):
        search.fit(curves)
    assert ledger.history() == []


FUNCTIONS = {
    "made ufunc": FunctionTransformer(np.frompyfunc(abs, 1, 1)),
    "memory": FunctionTransformer(np.negative, kw_args={"out": np.zeros((60, 1))}),
    "inverse": FunctionTransformer(np.abs, np.positive),
}


@pytest.mark.parametrize("step", FUNCTIONS.values(), ids=FUNCTIONS)
def test_steps_that_could_tell_of_rows_are_refused(step):
    search = PrivateGridSearchCV(
        make_pipeline(step, KDE),
        {f"privatekde__{name}": values for name, values in BANDWIDTHS.items()},
    )
    with pytest.raises(PrivacyError, match="may learn from the rows"):
        search.fit(POINTS)


def test_a_step_says_nothing_of_rows():
    """The logarithm of one negative value: a gap, no warning."""
    curves = RNG.uniform(0.1, 1, (60, 5))
    curves[0, 0] = -1.0
    mean = ICLPMean(bounds=(-3, 0), domain=(0, 1), missing="interpolate")
    search = PrivateGridSearchCV(
        make_pipeline(FunctionTransformer(np.log), mean),
        {"iclpmean__denoise": [True, False]},
        epsilon=50.0,
    )
    search.fit(curves)  # warnings are errors here
    assert search.n_people_ == 60


class Diary(BoundedScore):
    """Writes down what it is shown, and on what it is asked about."""

    def __init__(self):
        self.rows = []

    def values(self, model, X, y=None):
        self.rows.append(X)
        model.diary_ = X
        return np.zeros(len(X))

    def bounds(self, model):
        return -1.0, 1.0


@pytest.mark.parametrize("method", ["exhaustive", "random-stopping"])
def test_what_a_score_writes_down_is_gone(method):
    score = Diary()
    search = PrivateGridSearchCV(
        KDE, BANDWIDTHS, scoring=score, method=method, epsilon=9.0
    )
    search.fit(POINTS)
    assert score.rows == search.scoring.rows == []
    assert not hasattr(search.best_estimator_, "diary_")
    assert not any(row.tobytes() in pickle.dumps(search) for row in POINTS)


def test_a_splitter_that_shares_people_is_refused(ledger):
    everybody = np.arange(60)
    cv = ShuffleSplit(1, test_size=0.5, random_state=0)
    cv.split = lambda X, y=None, groups=None: iter([(everybody, everybody)])
    search = PrivateGridSearchCV(KDE, BANDWIDTHS, cv=cv, ledger=str(ledger.path))
    with pytest.raises(PrivacyError, match="do not overlap"):
        search.fit(POINTS)
    assert ledger.history() == []


def test_means_of_those_seen_have_no_natural_score():
    """Their gaps are no zeros: a score that always fails would choose by nothing."""
    search = PrivateGridSearchCV(
        PrivateSparseMean(bounds=(0, 1), domain=(0, 1)), {"n_basis": [2, 4]}
    )
    with pytest.raises(PrivacyError, match="pass a BoundedScore of your own"):
        search.fit(RNG.uniform(size=(30, 6)))
