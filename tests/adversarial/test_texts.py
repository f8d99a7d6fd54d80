"""Words and labels: what texts, tracebacks and pickles say of rows, people and names.

Out of scope: the frames of a traceback hold the rows, as the curator's memory does. An
exception is the curator's; whoever passes on more than its text, such as a debugger, a
crash reporter that collects local variables, or a core dump, passes on the data.
"""

import logging
import pickle
import re
import traceback
import warnings

import numpy as np
import pandas as pd
import pytest

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.noise import NoiseLaw, OperatingSystemBits
from skfuncpriv.privacy import BudgetLedger
from tests.adversarial.cases import each_estimator, path_of, people, ready


def digits_of(*arrays):
    """The first six digits of each private number, wherever the point may be."""
    numbers = np.concatenate([np.ravel(array) for array in arrays])
    texts = [f"{abs(x):.9e}" for x in numbers if x]
    six = {text[0] + text[2:7] for text in texts}
    return {digits for digits in six if digits.rstrip("0") == digits}


def check_text(text, digits):
    """No private digits, but for addresses and paths, which have digits by chance."""
    plain = re.sub(r"\b0x[0-9a-f]+|(?<=['\" ])/\S+", "", text)
    plain = plain.replace(".", "").replace(",", "").replace("_", "")
    assert not any(number in plain for number in digits)


def told(error):
    """All that an exception says, with those that it came from."""
    lines, seen = [], []
    while error is not None and error not in seen:
        seen.append(error)
        lines += [str(error), repr(error), repr(getattr(error, "__notes__", ""))]
        error = error.__cause__ or error.__context__
    return "\n".join([*lines, *traceback.format_exception(seen[0])])


def fail(kind, *words):
    def raising(*arguments, **parameters):
        raise kind(*words)

    return raising


@each_estimator
def test_a_failure_after_the_charge_says_nothing(model, tmp_path, monkeypatch, caplog):
    """Make the noise fail once the budget is spent, and read all that is reported."""
    caplog.set_level(logging.NOTSET)
    X, y = people(6)
    X, y = X * np.pi / 3.3, y / np.e
    path = path_of(ready(model), X, y)
    hidden = [np.asarray(getattr(step[1], "values", 0), float) for step in path]
    digits = digits_of(X, y, X.sum(axis=0), X.mean(axis=0), *hidden)
    path = tmp_path / "budget.db"
    ledger = BudgetLedger(path, epsilon=100.0, delta=0.1)
    patches = [
        (OperatingSystemBits, "words", fail(OSError, 5, "Input/output error")),
        (NoiseLaw, "release", fail(ArithmeticError, "overflow")),
    ]
    for count, (owner, name, broken) in enumerate(patches, 1):
        fit = ready(model, random_state=None, ledger=str(path))
        with (
            monkeypatch.context() as patch,
            warnings.catch_warnings(record=True) as said,
        ):
            warnings.simplefilter("always")
            patch.setattr(owner, name, broken)
            with pytest.raises((OSError, ArithmeticError)) as caught:
                fit.fit(X, y)
        assert len(ledger.history()) == count  # it stays charged
        assert not hasattr(fit, "guarantee_")
        check_text(told(caught.value), digits)
        check_text("\n".join(str(w.message) for w in said), digits)
        charges = [(entry.label, entry.guarantee) for entry in ledger.history()]
        check_text(repr(charges) + repr(fit) + repr(vars(fit)), digits)
    assert caplog.records == []


@each_estimator
def test_spoiled_data_and_overdrawn_budgets_say_nothing(model, tmp_path):
    """Spoil one entry, or run out of budget: the chain of exceptions is searched."""
    X, y = people(6)
    X, y = X * np.pi / 3.3, y / np.e
    digits = digits_of(X, y)
    path = tmp_path / "budget.db"
    BudgetLedger(path, epsilon=1e-3, delta=0.1)
    texts = []
    for table in (
        X,
        [*X[:-1].tolist(), ["secret", *X[-1, 1:].tolist()]],
        X[:, None, None],
    ):
        with pytest.raises((ValueError, TypeError, PrivacyError)) as caught:
            ready(model, ledger=str(path)).fit(table, y)
        texts.append(told(caught.value))
    for text in texts:
        check_text(text, digits)
        assert "secret" not in text.split("Traceback")[0]
    check_text("0.5772156", digits_of(X))
    with pytest.raises(AssertionError):  # the search itself
        check_text(f"in row 3: {X[3, 2]}", digits)


@each_estimator
def test_labels_of_rows_and_people_are_not_kept(model):
    """Name rows, people and columns: only the columns' names are public."""
    X, y = people(8)
    index = pd.Index([f"ROW{k}" for k in range(8)], name="PATIENT")
    frame = pd.DataFrame(
        X, index=index, columns=[f"c{k:02}" for k in range(X.shape[1])]
    )
    frame.attrs["source"] = "WARD"
    owners = pd.Categorical(
        [f"WHO{k // 2}" for k in range(8)], [f"WHO{k}" for k in range(9)]
    )
    groups = pd.Series(owners, index=index, name="OWNER")
    target = pd.Series(y, index=index, name="TARGET")
    secrets = [b"ROW", b"PATIENT", b"WARD", b"WHO", b"OWNER", b"TARGET"]
    for parameters in ({}, {"groups": groups}):
        fit = ready(model)
        try:
            fit.fit(frame, target.to_numpy(), **parameters)
        except PrivacyError as error:  # kernel ridge regression has no groups
            assert "groups" in str(error)  # noqa: PT017
            continue
        for protocol in (0, 2, pickle.HIGHEST_PROTOCOL):
            dump = pickle.dumps(fit, protocol)
            assert not any(secret in dump for secret in secrets)
        if "groups" in parameters:
            assert getattr(fit, "n_people_", 4) == 4  # not the nine categories


@each_estimator
def test_labels_of_other_rows_are_refused_without_a_name(model, tmp_path):
    """Pass people in another order than the rows: the text may not name a row."""
    path = tmp_path / "budget.db"
    ledger = BudgetLedger(path, epsilon=100.0, delta=0.1)
    X, y = people(4)
    frame = pd.DataFrame(X, index=[f"ROW{k}" for k in range(4)])
    frame.columns = [f"c{k:02}" for k in range(X.shape[1])]
    groups = pd.Series(list("abcd"), index=frame.index[::-1])
    with pytest.raises((ValueError, TypeError)) as caught:
        ready(model, ledger=str(path)).fit(frame, y, groups=groups)
    assert "ROW" not in told(caught.value).split("Traceback")[0]
    assert ledger.history() == []
