"""Every private estimator of the local model charges its ledger before it draws."""

import pickle

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from skfuncpriv.exceptions import BudgetExceededError, PrivacyError
from skfuncpriv.local import _coefficients, _piecewise_release, _selector
from skfuncpriv.noise import OperatingSystemBits, SeededBits
from skfuncpriv.privacy import BudgetLedger
from tests.test_local_estimators import (
    NOTHING,
    PRIVATE,
    budget_of,
    counted_randomness,
    name_of,
    new_ledger,
    private_rows,
    spent,
    usable,
)


@pytest.fixture(params=PRIVATE, ids=name_of)
def model(request):
    return usable(request.param)


@pytest.fixture
def ledger(model, tmp_path):
    return new_ledger(model, tmp_path)


def test_every_transform_is_charged_once_before_the_draw(model, ledger, monkeypatch):
    seen = []
    for source in (SeededBits, OperatingSystemBits):
        original = source.words

        def words(bits, count, original=original):
            seen.append(len(ledger.history()))
            return original(bits, count)

        monkeypatch.setattr(source, "words", words)
    model.set_params(ledger=str(ledger.path)).fit(private_rows())
    assert ledger.history() == []  # nothing is released yet
    for count in (1, 2, 3):
        seen.clear()
        model.transform(private_rows())
        assert set(seen) == {count}
        record = ledger.history()[-1]
        assert record.guarantee == model.guarantee_
        assert record.label == type(model).__name__
        assert record.times == 1
    assert spent(ledger, model) == 1.5
    model.fit_transform(private_rows())
    assert len(ledger.history()) == 4


def test_a_person_with_several_rows_is_charged_for_each(model, ledger):
    model.set_params(ledger=str(ledger.path)).fit(private_rows(n_rows=6))
    for groups, times in (
        ([1, 2, 3, 4, 5, 6], 1),
        (list("aabbbc"), 3),
        ([7] * 6, 6),
    ):
        before = len(ledger.history())
        if times == 6:
            with pytest.raises(BudgetExceededError):
                model.transform(private_rows(n_rows=6), groups=groups)
            assert len(ledger.history()) == before
            continue
        model.transform(private_rows(n_rows=6), groups=groups)
        assert ledger.history()[-1].times == times
    assert spent(ledger, model) == 0.5 * 4


def test_bad_groups_are_refused_for_free(model, ledger):
    model.set_params(ledger=str(ledger.path)).fit(private_rows(n_rows=6))
    for groups in ([1, 2], [[1] * 6], "abcdef"):
        with counted_randomness() as counts, pytest.raises((ValueError, TypeError)):
            model.transform(private_rows(n_rows=6), groups=groups)
        assert counts == NOTHING
    assert ledger.history() == []


def test_an_error_after_the_charge_stays_charged(model, ledger, monkeypatch):
    model.set_params(ledger=str(ledger.path)).fit(private_rows())

    def fail(*arguments):
        raise RuntimeError("no bits")

    monkeypatch.setattr(OperatingSystemBits, "words", fail)
    with pytest.raises(RuntimeError, match="no bits"):
        model.transform(private_rows())
    assert spent(ledger, model) == 0.5


@pytest.mark.parametrize("random_state", [None, 3])
def test_an_exceeded_budget_draws_nothing(model, ledger, random_state):
    model.set_params(ledger=str(ledger.path), random_state=random_state)
    model.set_params(**{budget_of(model): 2.0}).fit(private_rows())
    model.transform(private_rows())
    with (
        counted_randomness() as counts,
        pytest.raises(BudgetExceededError, match="nothing was charged"),
    ):
        model.transform(private_rows())
    assert counts == NOTHING
    assert len(ledger.history()) == 1


def test_a_missing_or_unfit_ledger_draws_nothing(model, tmp_path):
    budget = {budget_of(model): 9.0}
    others = [
        BudgetLedger(tmp_path / "people.db", **budget, metric="L2", unit="person"),
        BudgetLedger(tmp_path / "metric.db", **budget, metric="sup"),
        BudgetLedger(tmp_path / "central.db", **budget),
    ]
    missing = tmp_path / "missing.db"
    for path in (missing, *[other.path for other in others]):
        model.set_params(ledger=str(path)).fit(private_rows())
        with counted_randomness() as counts, pytest.raises(PrivacyError):
            model.transform(private_rows())
        assert counts == NOTHING
    assert not missing.exists()
    assert all(other.history() == [] for other in others)


WORK = {
    "GeoPrivateCoefficients": [(_coefficients, "spectral_average")],
    "GeoPrivateCurve": [(_piecewise_release, "spectral_average")],
    "SVTBasisSelector": [
        (_selector, name)
        for name in ("sparse_vector", "permute_and_flip", "sparse_coefficients")
    ],
}


def test_what_the_work_would_refuse_is_refused_in_fit(model, ledger, monkeypatch):
    """Everything public is tried on no rows at all: nobody pays for a refusal."""

    def refuse(*arguments, **parameters):
        raise ValueError("these public facts are refused")

    for module, name in WORK[type(model).__name__]:
        monkeypatch.setattr(module, name, refuse)
    if hasattr(model, "denoise"):
        model.set_params(denoise=True)
    model.set_params(ledger=str(ledger.path))
    with pytest.raises(ValueError, match="public facts are refused"):
        model.fit(private_rows())
    assert ledger.history() == []


def no_score(estimator, X, y=None):
    estimator.transform(X)
    return 0.0


def test_copies_charge_the_same_file(model, ledger):
    rows = private_rows()
    model.set_params(ledger=str(ledger.path), **{budget_of(model): 0.25})
    clone(model).fit_transform(rows)
    pickle.loads(pickle.dumps(model)).fit_transform(rows)
    pickle.loads(pickle.dumps(model.fit(rows))).transform(rows)
    assert len(ledger.history()) == 3
    search = GridSearchCV(
        model, {budget_of(model): [0.25, 0.5]}, scoring=no_score, cv=2, n_jobs=2
    )
    search.fit(rows)
    assert len(ledger.history()) == 7
    assert spent(ledger, model) == 5 * 0.25 + 2 * 0.5
