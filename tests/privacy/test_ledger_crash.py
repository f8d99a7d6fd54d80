"""A process killed while it charges: nothing is lost, invented or left unreadable."""

import os
import shutil
import subprocess
import sys

import pytest

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.privacy import BudgetLedger, PrivacyGuarantee
from skfuncpriv.privacy import _ledger_file as ledger_file

# Charges, and waits between the write and the commit. With a cache of one page SQLite
# writes its changes into the file at once, as a commit that is under way does.
UNFINISHED_CHARGE = """
import sys, time
from skfuncpriv.privacy import BudgetLedger, PrivacyGuarantee
from skfuncpriv.privacy import _ledger_file as ledger_file

original = ledger_file.append_charge

def append_and_wait(database, *args):
    database.execute("PRAGMA cache_size = 1")
    database.execute("PRAGMA cache_spill = 1")
    original(database, *args)
    database.execute("CREATE TABLE filler (text TEXT)")
    for _ in range(30):
        database.execute("INSERT INTO filler VALUES (?)", ("x" * 3000,))
    print("READY", flush=True)
    time.sleep(600)

ledger_file.append_charge = append_and_wait
guarantee = PrivacyGuarantee(definition="pure-dp", epsilon=0.5)
BudgetLedger(sys.argv[1]).charge(guarantee, "unfinished")
"""


def pure(epsilon):
    return PrivacyGuarantee(definition="pure-dp", epsilon=epsilon)


def labels(ledger):
    return [record.label for record in ledger.history()]


@pytest.fixture(scope="module")
def crashed(tmp_path_factory):
    """A ledger with one charge, and its files after another was cut off by SIGKILL."""
    folder = tmp_path_factory.mktemp("crashed")
    ledger = BudgetLedger(folder / "budget.db", epsilon=1.0)
    ledger.charge(pure(0.25), "finished")
    healthy = ledger.path.read_bytes()
    with subprocess.Popen(
        [sys.executable, "-c", UNFINISHED_CHARGE, str(ledger.path)],
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            assert child.stdout.readline() == "READY\n"
        finally:
            child.kill()
    assert sorted(os.listdir(folder)) == ["budget.db", "budget.db-journal"]
    assert ledger.path.read_bytes() != healthy
    return healthy, folder


@pytest.fixture
def ledger(crashed, tmp_path):
    """An open ledger that has just been cut off: a process for each would take long."""
    healthy, folder = crashed
    (tmp_path / "budget.db").write_bytes(healthy)
    ledger = BudgetLedger(tmp_path / "budget.db")
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    assert sorted(os.listdir(tmp_path)) == ["budget.db", "budget.db-journal"]
    return ledger


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (lambda ledger: BudgetLedger(ledger.path).path, None),
        (lambda ledger: ledger.budget, pure(1.0)),
        (lambda ledger: ledger.spent, pure(0.25)),
        (lambda ledger: ledger.remaining, pure(0.75)),
        (labels, ["finished"]),
    ],
    ids=["open", "budget", "spent", "remaining", "history"],
)
def test_every_way_to_read_comes_back(ledger, read, expected):
    assert read(ledger) == (ledger.path if expected is None else expected)
    assert os.listdir(ledger.path.parent) == ["budget.db"]
    ledger.charge(pure(0.75), "rest")
    assert labels(ledger) == ["finished", "rest"]
    assert ledger.spent == pure(1.0)
    assert BudgetLedger(ledger.path, epsilon=1.0).remaining.epsilon == 0.0


def test_a_charge_comes_first(ledger):
    ledger.charge(pure(0.75), "rest")
    assert labels(ledger) == ["finished", "rest"]
    assert ledger.spent == pure(1.0)


def test_only_an_unfinished_charge_makes_reading_write(ledger, monkeypatch):
    modes = []
    original = ledger_file._connection

    def connection(path, mode):
        modes.append(mode)
        return original(path, mode)

    monkeypatch.setattr(ledger_file, "_connection", connection)
    assert ledger.spent == pure(0.25)
    assert ledger.spent == pure(0.25)
    assert modes == ["ro", "rw", "ro", "ro"]


def test_a_rollback_that_fails_is_an_error(ledger, monkeypatch):
    original = ledger_file._connection
    monkeypatch.setattr(
        ledger_file, "_connection", lambda path, mode: original(path, "ro")
    )
    for attempt in (ledger.history, lambda: ledger.charge(pure(0.1))):
        with pytest.raises(PrivacyError, match="cannot be used"):
            attempt()
    monkeypatch.undo()
    assert labels(ledger) == ["finished"]
