"""One ledger is one ledger: swapped, restored or emptied files are refused."""

import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.privacy import BudgetLedger, PrivacyGuarantee
from skfuncpriv.privacy import _ledger_file as ledger_file


def pure(epsilon):
    return PrivacyGuarantee(definition="pure-dp", epsilon=epsilon)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "budget.db")


@pytest.fixture
def new_process(monkeypatch):
    """Let this process forget what it has seen."""

    def forget():
        monkeypatch.setattr("skfuncpriv.privacy._ledger_identity._SEEN", {})

    return forget


def uses(ledger):
    """Every way to use an open ledger."""
    return [
        lambda: ledger.charge(pure(0.001)),
        lambda: ledger.spent,
        lambda: ledger.remaining,
        lambda: ledger.budget,
        lambda: ledger.history(),
        lambda: ledger.add_scope("a", epsilon=0.1),
        lambda: ledger.export(f"{ledger.path}.csv"),
    ]


def assert_refused(ledger, text):
    before = ledger.path.read_bytes()
    for use in uses(ledger):
        with pytest.raises(PrivacyError, match=text):
            use()
    assert repr(ledger).endswith("cannot be read>")
    assert ledger.path.read_bytes() == before


def another(path):
    """The bytes of another ledger with the same budget."""
    BudgetLedger(f"{path}2", epsilon=1.0)
    return f"{path}2"


def test_another_ledger_at_the_path_is_refused(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    os.replace(another(path), path)
    assert_refused(ledger, "another one took its place")
    for arguments in ({}, {"epsilon": 1.0}):
        with pytest.raises(PrivacyError, match="another one took its place"):
            BudgetLedger(path, **arguments)


def test_an_open_ledger_remembers_in_another_process(path, new_process):
    ledger = BudgetLedger(path, epsilon=1.0)
    clone = pickle.dumps(ledger)
    os.replace(another(path), path)
    new_process()
    BudgetLedger(path)  # a new process cannot know
    assert_refused(pickle.loads(clone), "another one took its place")


def test_a_restored_backup_is_refused(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    ledger.charge(pure(0.1))
    shutil.copy(path, f"{path}.backup")
    ledger.charge(pure(0.2))
    shutil.copy(f"{path}.backup", path)
    assert_refused(ledger, "has lost charges")
    for arguments in ({}, {"epsilon": 1.0}):
        with pytest.raises(PrivacyError, match="has lost charges"):
            BudgetLedger(path, **arguments)


@pytest.mark.parametrize("charges", [1, 2, 3])
def test_a_backup_that_went_its_own_way_is_refused(path, new_process, charges):
    """As many charges as were seen, or more, but other ones."""
    ledger = BudgetLedger(path, epsilon=1.0)
    shutil.copy(path, f"{path}.backup")
    ledger.charge(pure(0.2), "seen")
    ledger.charge(pure(0.2), "seen")
    shutil.copy(f"{path}.backup", path)
    own = pickle.dumps(ledger)
    new_process()
    for _ in range(charges):
        BudgetLedger(path).charge(pure(0.01))
    assert_refused(pickle.loads(own), "has lost charges")


def test_scopes_are_not_forgotten(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    shutil.copy(path, f"{path}.backup")
    ledger.add_scope("income", epsilon=0.5)
    shutil.copy(f"{path}.backup", path)
    assert_refused(ledger, "has lost charges")


def test_charges_of_other_processes_are_no_surprise(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    code = (
        "import sys; from skfuncpriv.privacy import BudgetLedger as L; "
        "from skfuncpriv.privacy import PrivacyGuarantee as G; "
        "L(sys.argv[1]).charge(G(definition='pure-dp', epsilon=0.5))"
    )
    subprocess.run([sys.executable, "-c", code, path], check=True)
    ledger.charge(pure(0.25))
    assert ledger.spent == pure(0.75)


def test_a_new_ledger_may_be_created_at_the_path(path):
    old = BudgetLedger(path, epsilon=1.0)
    old.charge(pure(0.5))
    os.remove(path)
    new = BudgetLedger(path, epsilon=2.0)
    new.charge(pure(0.25))
    assert BudgetLedger(path).spent == pure(0.25)
    assert_refused(old, "another one took its place")


def test_an_emptied_file_is_not_a_new_one(path):
    BudgetLedger(path, epsilon=1.0).charge(pure(0.5))
    os.truncate(path, 0)
    for arguments in ({}, {"epsilon": 1.0}):
        with pytest.raises(PrivacyError, match=r"was emptied|not a ledger"):
            BudgetLedger(path, **arguments)
    assert os.path.getsize(path) == 0


def test_a_file_without_its_tables_is_not_a_new_one(path):
    BudgetLedger(path, epsilon=1.0).charge(pure(0.5))
    with closing(sqlite3.connect(path)) as database:
        tables = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        for (name,) in tables.fetchall():
            database.execute(f"DROP TABLE {name}")
        database.commit()
    assert os.path.getsize(path) > 0
    with pytest.raises(PrivacyError, match="was emptied"):
        BudgetLedger(path, epsilon=1.0)


def test_ids_differ(tmp_path):
    found = set()
    for name in ("a", "b"):
        ledger = BudgetLedger(tmp_path / name, epsilon=1.0)
        with ledger_file.reading(ledger.path) as database:
            found.add(ledger_file.read_contents(database).mark.ledger)
    assert len(found) == 2
    assert all(len(key) == 32 for key in found)


def test_names(path):
    ledger = BudgetLedger(path, epsilon=1.0, name="study of May")
    assert ledger.name == BudgetLedger(path, name="study of May").name == "study of May"
    assert BudgetLedger(path).name == "study of May"
    assert BudgetLedger(path, epsilon=1.0).name == "study of May"
    for arguments in ({}, {"epsilon": 1.0}):
        with pytest.raises(PrivacyError, match="has the name 'study of May'"):
            BudgetLedger(path, name="study of June", **arguments)
    assert BudgetLedger(another(path)).name == ""
    with pytest.raises(PrivacyError, match="has the name ''"):
        BudgetLedger(another(path), name="study of May")
    with pytest.raises(ValueError, match="name must be text"):
        BudgetLedger(path, name=3)


def test_a_locked_file_fails_closed(path, monkeypatch):
    ledger = BudgetLedger(path, epsilon=1.0)
    monkeypatch.setattr(ledger_file, "_BUSY_SECONDS", 0.01)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for use in uses(ledger):
            with pytest.raises(PrivacyError, match=r"cannot be used.*locked"):
                use()
    assert ledger.spent.epsilon == 0
    assert ledger.scopes == {}


def test_a_disk_that_is_full_fails_closed(path, monkeypatch):
    ledger = BudgetLedger(path, epsilon=1.0)
    original = ledger_file.read_contents

    def full(database):
        contents = original(database)
        (pages,) = database.execute("PRAGMA page_count").fetchone()
        database.execute(f"PRAGMA max_page_count = {pages}")
        return contents

    monkeypatch.setattr(ledger_file, "read_contents", full)
    with pytest.raises(PrivacyError, match="cannot be used"):
        ledger.charge(pure(0.1), "x" * 100_000)
    monkeypatch.undo()
    assert ledger.spent.epsilon == 0
    ledger.charge(pure(0.1))


def test_the_state_of_another_ledger_is_damage(path):
    """Parts of two healthy files do not make a healthy one."""
    ledger = BudgetLedger(path, epsilon=1.0)
    ledger.charge(pure(0.9))
    other = BudgetLedger(f"{path}2", epsilon=1.0)
    other.charge(pure(0.1))
    for table in ("entries", "state"):
        shutil.copy(path, f"{path}3")
        with closing(sqlite3.connect(f"{path}3", isolation_level=None)) as database:
            database.execute("ATTACH ? AS other", (str(other.path),))
            database.execute(f"DELETE FROM {table}")
            database.execute(f"INSERT INTO {table} SELECT * FROM other.{table}")
        with pytest.raises(PrivacyError, match="damaged"):
            BudgetLedger(f"{path}3")


def test_to_read_is_to_have_seen(path, new_process):
    BudgetLedger(path, epsilon=1.0)
    shutil.copy(path, f"{path}.backup")
    BudgetLedger(path).charge(pure(0.5))
    new_process()
    opened = BudgetLedger(path)
    shutil.copy(f"{path}.backup", path)
    assert_refused(opened, "has lost charges")
    with pytest.raises(PrivacyError, match="has lost charges"):
        BudgetLedger(path)
