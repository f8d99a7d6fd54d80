"""Attacks on the budget: races, crashes and failures in every order."""

import multiprocessing
import os
import resource
import signal
import sqlite3
import threading

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone

from skfuncpriv import (
    BudgetExceededError,
    BudgetLedger,
    ICLPMean,
    PrivacyError,
    PrivateKDE,
)
from skfuncpriv.noise import NoiseLaw, OperatingSystemBits
from skfuncpriv.privacy import _ledger_file

CURVES = np.linspace(0, 1, 60).reshape(20, 3)
FORK = multiprocessing.get_context("fork")
pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "budget.db", epsilon=5.0)


@pytest.fixture
def mean(ledger):
    """Five of its releases fit the ledger."""
    return ICLPMean(bounds=(0, 1), ledger=str(ledger.path))


def outcome(model):
    """What a fit comes to: its release, or that the budget was exceeded."""
    try:
        return clone(model).fit(CURVES).mean_.tobytes()
    except BudgetExceededError:
        return None


def in_child(function, *arguments):
    """Run in a forked child; its exit code, or minus the signal that ended it."""
    child = FORK.Process(target=function, args=arguments)
    child.start()
    child.join()
    return child.exitcode


def test_sixteen_threads_share_a_budget_for_five(mean, ledger):
    """Let threads fit one estimator's copies at once: exactly five have an answer."""
    results, barrier = [], threading.Barrier(16)

    def fit():
        barrier.wait()
        results.append(outcome(mean))

    threads = [threading.Thread(target=fit) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    released = [result for result in results if result is not None]
    assert len(results) == 16
    assert len(released) == len(set(released)) == 5  # and no two the same noise
    assert len(ledger.history()) == 5


@pytest.mark.parametrize("backend", ["multiprocessing", "threading"])
def test_forked_workers_share_a_budget_for_five(mean, ledger, backend):
    """Spread the fits over workers of joblib: no worker has a budget of its own."""
    results = Parallel(n_jobs=4, backend=backend)(
        delayed(outcome)(mean) for _ in range(8)
    )
    released = [result for result in results if result is not None]
    assert len(released) == len(set(released)) == 5
    assert len(ledger.history()) == 5


def test_a_fork_inside_a_fit_neither_shares_noise_nor_doubles_it(
    mean, ledger, monkeypatch
):
    """Fork between the charge and the draw: one charge, and two answers would average.

    Both processes hold the data; that the child draws for free is the curator's own
    doing. What must not happen is that both publish the same noise.
    """
    reader, writer = FORK.Pipe(duplex=False)
    original = ICLPMean._open_release
    parent = os.getpid()

    def fork(self, *arguments):
        original(self, *arguments)
        if (child := os.fork()) != 0:
            self.child_ = child

    monkeypatch.setattr(ICLPMean, "_open_release", fork)
    fit = mean.fit(CURVES)
    if os.getpid() != parent:  # in the child
        writer.send_bytes(fit.mean_.tobytes())
        os._exit(0)
    assert reader.poll(60)
    other = np.frombuffer(reader.recv_bytes())
    assert os.waitpid(fit.child_, 0)[1] == 0
    assert (other != fit.mean_).all()
    assert len(ledger.history()) == 1


def killed_between_charge_and_draw(model):
    def kill(*arguments):
        os.kill(os.getpid(), signal.SIGKILL)

    NoiseLaw.release = kill
    model.fit(CURVES)


def test_a_process_killed_before_the_draw_stays_charged(mean, ledger):
    """Kill a fit with the charge made and no answer given: nothing is refunded."""
    assert in_child(killed_between_charge_and_draw, mean) == -signal.SIGKILL
    assert len(ledger.history()) == 1
    assert ledger.remaining.epsilon == 4.0
    mean.fit(CURVES)  # the file is not left locked
    assert len(ledger.history()) == 2


def with_a_full_disk(model, path):
    """Exit code 0 if a fit fails without a draw when the file may not grow."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    drawn = []
    NoiseLaw.release = lambda *arguments: drawn.append(1)
    OperatingSystemBits.words = lambda *arguments: drawn.append(1)
    try:
        model.fit(CURVES)
    except (PrivacyError, OSError, sqlite3.Error) as error:
        quiet = not any(f"{x:.6g}" in str(error) for x in CURVES.ravel()[1:-1])
        os._exit(0 if quiet and not drawn and not hasattr(model, "guarantee_") else 3)
    os._exit(4)


def test_a_full_disk_draws_nothing(mean, ledger):
    """Fill the disk: a charge that cannot be written is no charge, and no answer."""
    mean.fit(CURVES)
    assert in_child(with_a_full_disk, clone(mean), str(ledger.path)) == 0
    assert len(BudgetLedger(ledger.path).history()) == 1
    mean.fit(CURVES)
    assert len(ledger.history()) == 2


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_charge_that_fails_draws_nothing(mean, ledger, monkeypatch, when):
    """Break the ledger before or after it writes a charge: no bit may be drawn."""
    original = _ledger_file.append_charge

    def broken(*arguments):
        if when == "after":
            original(*arguments)
        raise sqlite3.OperationalError("disk I/O error")

    def draw(*arguments):
        raise AssertionError("a draw without a charge")

    monkeypatch.setattr(_ledger_file, "append_charge", broken)
    monkeypatch.setattr(OperatingSystemBits, "words", draw)
    with pytest.raises((PrivacyError, sqlite3.Error)):
        mean.fit(CURVES)
    assert not hasattr(mean, "guarantee_")
    monkeypatch.undo()
    assert ledger.history() == []


def test_two_draws_of_one_release_are_charged_before_the_first(ledger, monkeypatch):
    """Break the source between the two draws of a bandwidth and a density."""
    drawn, original = [], OperatingSystemBits.words

    def words(bits, count):
        drawn.append(len(ledger.history()))
        if len(drawn) > 1:
            raise OSError("no more bits")
        return original(bits, count)

    monkeypatch.setattr(OperatingSystemBits, "words", words)
    model = PrivateKDE(
        bounds=(0, 1), bandwidth="private-iqr", mechanism="iclp", epsilon=2.0,
        ledger=str(ledger.path),
    )  # fmt: skip
    with pytest.raises(OSError, match="no more bits"):
        model.fit(CURVES[:, :1])
    assert drawn == [1, 1]
    assert ledger.spent.epsilon == 2.0
    assert not hasattr(model, "density_")
