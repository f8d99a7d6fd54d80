"""Strict mode: what it refuses before anything happens, and how far it reaches."""

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone

import skfuncpriv
from skfuncpriv import BudgetLedger, GeoPrivateCoefficients, ICLPMean, PrivacyError
from skfuncpriv._base import paid
from skfuncpriv._config import is_strict

CURVES = np.linspace(0, 1, 60).reshape(20, 3)


pytestmark = pytest.mark.usefixtures("strictness_restored")


@pytest.fixture
def mean(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=100.0)
    return ICLPMean(bounds=(0, 1), ledger=str(ledger.path))


def charges(model):
    return len(BudgetLedger(model.ledger).history())


def test_it_acts_at_once_and_ends_with_the_block():
    skfuncpriv.config(strict=True)
    assert is_strict()
    with skfuncpriv.config(strict=False):
        assert not is_strict()
    assert is_strict()
    with pytest.raises(RuntimeError), skfuncpriv.config(strict=False):
        raise RuntimeError
    assert is_strict()


def test_blocks_of_threads_overlap():
    """The end of one block, or a laxer one, ends no other thread's strictness."""
    first, second = skfuncpriv.config(strict=True), skfuncpriv.config(strict=True)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert is_strict()
    with skfuncpriv.config(strict=False) as lax:
        assert is_strict()
        assert repr(lax) == "<strict mode is on>"
    second.__exit__(None, None, None)
    assert not is_strict()


@pytest.mark.parametrize("strict", [1, None, "yes"])
def test_only_true_and_false_are_taken(strict):
    with pytest.raises(ValueError, match="strict must be True or False"):
        skfuncpriv.config(strict=strict)


def test_what_it_demands_is_enough(mean):
    with skfuncpriv.config(strict=True):
        mean.fit(CURVES)
    assert charges(mean) == 1


def test_no_ledger_and_no_seed(mean):
    with skfuncpriv.config(strict=True):
        with pytest.raises(PrivacyError, match="demands a ledger"):
            clone(mean).set_params(ledger=None).fit(CURVES)
        for state in (0, np.random.RandomState(0)):
            with pytest.raises(PrivacyError, match="refuses seeds"):
                clone(mean).set_params(random_state=state).fit(CURVES)
    assert charges(mean) == 0


def test_a_local_release_that_was_fitted_before(tmp_path):
    model = GeoPrivateCoefficients(epsilon=1.0).fit(CURVES)
    with (
        skfuncpriv.config(strict=True),
        pytest.raises(PrivacyError, match="demands a ledger"),
    ):
        model.transform(CURVES)


def test_threads_are_strict(mean):
    errors = []

    def release():
        try:
            clone(mean).set_params(ledger=None).fit(CURVES)
        except PrivacyError as error:
            errors.append(error)

    with skfuncpriv.config(strict=True):
        thread = threading.Thread(target=release)
        thread.start()
        thread.join()
    assert len(errors) == 1


def attempt(model):
    try:
        clone(model).fit(CURVES)
    except PrivacyError:
        return os.getpid(), "refused"
    return os.getpid(), "released"


def test_workers_that_run_already_are_strict():
    """The workers were started before, so they cannot know it from the environment."""
    model = ICLPMean(bounds=(0, 1))
    with Parallel(n_jobs=2, backend="loky") as parallel:
        before = parallel(delayed(attempt)(model) for _ in range(2))
        with skfuncpriv.config(strict=True):
            after = parallel(delayed(attempt)(model) for _ in range(2))
    assert {outcome for _, outcome in before} == {"released"}
    assert {outcome for _, outcome in after} == {"refused"}
    assert os.getpid() not in {process for process, _ in before + after}


def test_processes_started_in_it_are_strict():
    code = "from skfuncpriv._config import is_strict; print(is_strict())"
    command = [sys.executable, "-c", code]
    with skfuncpriv.config(strict=True):
        inside = subprocess.run(command, capture_output=True, text=True, check=True)
    outside = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (inside.stdout, outside.stdout) == ("True\n", "False\n")


def test_a_pickle_made_in_it_stays_strict(mean):
    mean.set_params(ledger=None)
    with skfuncpriv.config(strict=True):
        pickled = pickle.dumps(mean)
    for model in (pickle.loads(pickled), clone(pickle.loads(pickled))):
        with pytest.raises(PrivacyError, match="demands a ledger"):
            model.fit(CURVES)
    assert "_strict" not in vars(mean)


def test_a_release_that_was_paid_for_needs_no_ledger_once(mean):
    mean.set_params(ledger=None)
    with skfuncpriv.config(strict=True):
        paid(mean).fit(CURVES)
        with pytest.raises(PrivacyError, match="demands a ledger"):
            mean.fit(CURVES)
        with pytest.raises(PrivacyError, match="demands a ledger"):
            clone(paid(mean)).fit(CURVES)
