"""Bad input to ICLPClassifier: refused by name and for free, in constant texts."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict

from skfuncpriv import ICLPClassifier, PrivacyError
from skfuncpriv.basis import CosineBasis
from skfuncpriv.gaussian_process import GaussianKernel
from skfuncpriv.privacy import BudgetLedger

CURVES = {"X_bounds": (-1.0, 1.0), "X_domain": (0.0, 1.0), "epsilon": 5.0}
NUMBERS = {"X_bounds": (-1.0, 1.0), "epsilon": 5.0}


def data(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 3))
    return X, (X[:, 0] > 0).astype(int)


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "budget.db", epsilon=1e6, delta=0.5)


def refusal(model, X, y, **fit_parameters):
    """The type and text of the error of a fit; nothing else may be seen."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises((ValueError, TypeError, PrivacyError)) as error:
            model.fit(X, y, **fit_parameters)
    assert caught == []
    assert error.value.__cause__ is None
    assert not hasattr(model, "guarantee_")
    return type(error.value), str(error.value)


BAD_EVERYWHERE = [
    ({"epsilon": 0}, ValueError, "epsilon must be a finite number > 0"),
    ({"epsilon": math.nan}, ValueError, "epsilon must be a finite number > 0"),
    ({"epsilon": True}, ValueError, "epsilon must be a finite number > 0"),
    ({"delta": 1.0}, ValueError, "delta must be a number in"),
    ({"loss": "squared"}, ValueError, "loss must be one of"),
    ({"loss": ["logistic"]}, ValueError, "loss must be one of"),
    ({"missing": "drop"}, ValueError, "missing must be one of"),
    ({"psi": "rate"}, ValueError, "psi must be"),
    ({"psi": 0}, ValueError, "psi must be"),
    ({"psi": 1e-30}, ValueError, "psi must be 'pss' or lie between"),
    ({"psi": math.inf}, ValueError, "psi must be"),
    ({"gap": 0}, ValueError, "gap must be"),
    ({"gap": 1e-60}, ValueError, "gap must be None or at least"),
    ({"gap": 1e-60, "psi": 0.1}, ValueError, "gap must be None or at least"),
    ({"eta": 0.5}, ValueError, "eta must be 'pss' or > 1/2"),
    ({"eta": "best"}, ValueError, "eta must be"),
    ({"weight_cap": 0}, ValueError, "weight_cap must be"),
    ({"weight_cap": "1"}, ValueError, "weight_cap must be"),
    ({"mechanism": "laplace"}, ValueError, "mechanism must be 'auto' or one of"),
    ({"mechanism": None}, ValueError, "mechanism must be 'auto' or one of"),
    ({"mechanism": "gaussian"}, PrivacyError, "needs delta > 0"),
    ({"classes": [1]}, ValueError, "classes must be None or at least two"),
    ({"classes": [[0, 1]]}, ValueError, "classes must be None or at least two"),
    ({"classes": [0, math.nan]}, ValueError, "classes must be None or at least two"),
    ({"classes": 7}, ValueError, "classes must be None or at least two"),
    ({"X_bounds": (1, 0)}, ValueError, "X_bounds must be"),
    ({"X_bounds": (0, math.inf)}, ValueError, "bounds must be"),
    ({"X_bounds": None}, (ValueError, TypeError), "bounds must be"),
    ({"X_basis": 0}, ValueError, "X_basis must be|X_basis is of"),
    ({"ledger": 3}, TypeError, "ledger must be the path"),
    ({"random_state": -1}, ValueError, "random_state must be None"),
    ({"random_state": "secure"}, ValueError, "random_state must be None"),
    ({"epsilon": 1e-200}, PrivacyError, "noise leaves the range"),
]
BAD_CURVES = [
    ({"X_domain": (1, 0)}, ValueError, "X_domain must be"),
    ({"X_domain": "unit"}, ValueError, "X_domain must be"),
    ({"X_grid": [0, 1]}, ValueError, "grid"),
    ({"X_grid": [0, 0.5, 2]}, ValueError, "grid|domain"),
    ({"X_basis": CosineBasis(3, (0, 2))}, ValueError, "X_basis has the domain"),
    ({"kernel": GaussianKernel(1.0)}, ValueError, "kernel is of rows of numbers"),
]
BAD_NUMBERS = [
    ({"kernel": "rbf"}, TypeError, "kernel must be a Kernel"),
    ({"kernel": GaussianKernel((1.0, 1.0))}, ValueError, "axes"),
    ({"kernel": "linear", "X_basis": 3}, ValueError, "X_basis is of curves"),
    ({"X_basis": 5000}, ValueError, "X_basis must be"),
    ({"X_bounds": ([0, 0], [1, 1])}, ValueError, "X_bounds must be"),
    ({"X_grid": [0, 1, 2]}, ValueError, "X_grid is of curves"),
]
CASES = [(CURVES, *case) for case in BAD_EVERYWHERE + BAD_CURVES]
CASES += [(NUMBERS, *case) for case in BAD_EVERYWHERE + BAD_NUMBERS]


def test_labels_that_were_numbered_are_refused_in_words():
    X, y = data()
    names = np.array(["no", "yes"])
    model = ICLPClassifier(**NUMBERS | {"classes": names})
    _, text = refusal(model, X, y)
    assert "cross_val_predict numbers the labels" in text
    model.fit(X, names[y])
    assert model.classes_.tolist() == ["no", "yes"]
    free = model.set_params(classes=None, epsilon=1e5)
    values = cross_val_predict(free, X, names[y], method="decision_function", cv=2)
    assert roc_auc_score(y, values) > 0.9


@pytest.mark.parametrize(("facts", "bad", "kind", "text"), CASES, ids=repr)
def test_bad_parameters_are_refused_by_name(facts, bad, kind, text, ledger):
    texts = set()
    for seed in range(2):
        model = ICLPClassifier(**{"ledger": str(ledger.path)} | facts | bad)
        X, y = data(seed)
        with pytest.raises(kind, match=text) as caught:
            model.fit(X, y)
        texts.add(str(caught.value))
    assert len(texts) == 1
    assert ledger.history() == []


def with_label(y, label):
    labels = y.astype(object)
    labels[5] = label
    return labels


BAD_LABELS = {
    "none": lambda y: None,
    "short": lambda y: y[:-1],
    "deep": lambda y: np.stack([y, y], axis=1),
    "nan": lambda y: with_label(y, math.nan),
    "missing": lambda y: with_label(y, None),
    "strange": lambda y: np.where(np.arange(len(y)) == 5, 77, y),
    "text": lambda y: with_label(y, "secret"),
    "one": lambda y: 1,
}


@pytest.mark.parametrize("facts", [CURVES, NUMBERS], ids=["curves", "numbers"])
@pytest.mark.parametrize("spoil", BAD_LABELS.values(), ids=BAD_LABELS)
def test_bad_labels_are_refused_in_constant_texts(facts, spoil, ledger):
    texts = set()
    for seed in range(2):
        model = ICLPClassifier(classes=[0, 1], ledger=str(ledger.path), **facts)
        X, y = data(seed)
        texts.add(refusal(model, X, spoil(y)))
    assert len(texts) == 1
    assert "secret" not in texts.pop()[1]
    assert ledger.history() == []


def test_one_class_only_asks_for_the_public_ones():
    X, y = data()
    _, text = refusal(ICLPClassifier(**NUMBERS), X, np.zeros_like(y))
    assert "state the public classes=" in text


BAD_WEIGHTS = {
    "short": [1.0], "negative": [-1.0] * 60, "nan": [math.nan] * 60,
    "infinite": [math.inf] * 60, "text": ["1"] * 60, "deep": [[1.0]] * 60,
}  # fmt: skip


@pytest.mark.parametrize("weights", BAD_WEIGHTS.values(), ids=BAD_WEIGHTS)
def test_bad_weights_are_refused_in_constant_texts(weights, ledger):
    texts = set()
    for seed in range(2):
        model = ICLPClassifier(weight_cap=1.0, ledger=str(ledger.path), **NUMBERS)
        texts.add(refusal(model, *data(seed), sample_weight=weights))
    assert len(texts) == 1
    assert ledger.history() == []


def test_weights_need_a_cap_and_the_index_of_the_rows():
    X, y = data()
    model = ICLPClassifier(**NUMBERS)
    assert "public weight_cap" in refusal(model, X, y, sample_weight=np.ones(60))[1]
    frame, shifted = pd.DataFrame(X), pd.Series(np.ones(60), index=range(1, 61))
    model = ICLPClassifier(**NUMBERS, weight_cap=1.0)
    assert "another index" in refusal(model, frame, y, sample_weight=shifted)[1]
    assert "another index" in refusal(model, frame, y, groups=shifted)[1]


@pytest.mark.parametrize("groups", [[1], [None] * 60, [[1]] * 60, np.full(60, np.nan)])
def test_bad_groups_are_refused(groups, ledger):
    model = ICLPClassifier(ledger=str(ledger.path), **CURVES)
    assert "groups must" in refusal(model, *data(), groups=groups)[1]
    assert ledger.history() == []


def test_queries_have_the_form_that_was_fitted():
    X, y = data()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for facts in (CURVES, NUMBERS):
        model = ICLPClassifier(**facts).fit(X, y)
        with pytest.raises(ValueError, match="X has 2 features, but ICLPClassifier is"):
            model.predict(X[:, :2])
        for bad in ([["a"] * 3], [[np.nan] * 3], X[0]):
            with pytest.raises((ValueError, TypeError)):
                model.predict(bad)
        named = ICLPClassifier(**facts).fit(frame, y)
        with pytest.raises(ValueError, match="feature names"):
            named.predict(frame[["b", "a", "c"]])


def test_predictors_must_agree():
    X, y = data()
    both = {
        "X_bounds": (-1.0, 1.0), "X_domain": {"a": (0, 1), "b": (0, 1)},
        "X_basis": 3, "epsilon": 1e3,
    }  # fmt: skip
    model = ICLPClassifier(**both)
    assert "one curve for each row" in refusal(model, {"a": X, "b": X[1:]}, y)[1]
    assert "dict with the keys" in refusal(model, {"a": X}, y)[1]
    for wrong in ({"X_bounds": {"a": (-1, 1)}}, {"X_grid": {"a": [0, 0.5, 1]}}):
        text = refusal(ICLPClassifier(**both | wrong), {"a": X, "b": X}, y)[1]
        assert "entry for each key of X_domain" in text


# Real curves


def test_tracts_of_patients_and_controls(shared_data):
    """Multiple sclerosis from scans, with all scans of a person in one fold."""
    frame = pd.read_csv(shared_data / "dti_cca.csv.gz")
    tracts, people, sick = frame.filter(regex="^cca"), frame["ID"], frame["case"]
    assert tracts.isna().to_numpy().any()
    public = {"X_bounds": (0, 1), "X_domain": (0, 1), "classes": [0, 1]}
    curves = {}
    for epsilon in (1.0, 1e6):
        model = ICLPClassifier(
            **public, missing="interpolate", epsilon=epsilon, random_state=0
        )
        scores = cross_val_predict(
            model, tracts, sick, groups=people, cv=GroupKFold(5),
            method="decision_function", params={"groups": people},
        )  # fmt: skip
        curves[epsilon] = roc_auc_score(sick, scores)
        model.fit(tracts, sick, groups=people)
        assert model.n_people_ == 142
        assert model.guarantee_.unit == "person"
        assert model.coef_.shape == (1, 93)
    assert curves[1e6] > 0.8  # scikit-learn's logistic regression has 0.83 to 0.85
    assert curves[1.0] < curves[1e6]
