"""The ledger: exact, atomic, shared by threads and processes, closed when in doubt."""

import dataclasses
import multiprocessing
import os
import pickle
import re
import sqlite3
import stat
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv.__main__ import main
from skfuncpriv.exceptions import BudgetExceededError, PrivacyError
from skfuncpriv.iclp import ICLPMean
from skfuncpriv.privacy import BudgetLedger, PrivacyGuarantee
from skfuncpriv.privacy import _ledger_file as ledger_file
from skfuncpriv.privacy._amount import Amount
from skfuncpriv.privacy._ledger_handle import LedgerHandle


def pure(epsilon, **rest):
    return PrivacyGuarantee(definition="pure-dp", epsilon=epsilon, **rest)


def approx(epsilon, delta):
    return PrivacyGuarantee(definition="approx-dp", epsilon=epsilon, delta=delta)


def zcdp(rho):
    return PrivacyGuarantee(definition="zcdp", rho=rho)


def geo(epsilon, metric="L2"):
    return PrivacyGuarantee(definition="geo", epsilon=epsilon, metric=metric)


def try_charge(path, epsilon=0.1):
    """One charge by a worker: whether it was accepted."""
    try:
        BudgetLedger(path).charge(pure(epsilon))
    except BudgetExceededError:
        return False
    return True


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "budget.db")


def test_repr_shows_what_is_left_and_never_fails(path, tmp_path):
    ledger = BudgetLedger(path, epsilon=3.0, delta=1e-5)
    ledger.charge(pure(0.1))
    name = f"<BudgetLedger({path!r}): "
    shown = "spent epsilon=0.1 delta=0.0, remaining epsilon=2.9 delta=1e-05>"
    assert repr(ledger) == name + shown
    concentrated = BudgetLedger(tmp_path / "rho.db", rho=1.0)
    concentrated.charge(zcdp(0.25))
    assert repr(concentrated).endswith("spent rho=0.25, remaining rho=0.75>")
    per_distance = BudgetLedger(tmp_path / "geo.db", epsilon=2e-4, metric="L2")
    assert repr(per_distance).endswith("spent epsilon=0.0, remaining epsilon=0.0002>")
    with open(path, "r+b") as file:
        file.seek(4000)
        file.write(b"damaged" * 200)
    assert repr(ledger) == name + "cannot be read>"
    os.remove(path)
    assert repr(ledger) == name + "cannot be read>"
    assert not os.path.exists(path)


def test_a_new_ledger_has_spent_nothing(path):
    ledger = BudgetLedger(path, epsilon=3.0)
    assert ledger.budget == pure(3.0)
    assert ledger.spent.epsilon == 0.0
    assert ledger.remaining == pure(3.0)
    assert ledger.history() == []
    assert ledger.spent + pure(0.5) == pure(0.5)
    assert pickle.loads(pickle.dumps(ledger.spent)) == ledger.spent


def test_thirty_tenths_fill_three(path):
    ledger = BudgetLedger(path, epsilon=3.0)
    for _ in range(29):
        ledger.charge(pure(0.1))
    assert ledger.spent == pure(2.9)
    assert ledger.remaining == pure(0.1)
    ledger.charge(ledger.remaining)
    assert ledger.spent == pure(3.0)
    assert ledger.remaining.epsilon == 0.0
    with pytest.raises(BudgetExceededError, match="nothing was charged"):
        ledger.charge(pure(1e-300))


def test_a_sum_below_float_resolution_is_not_lost(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    ledger.charge(pure(1e-20))
    with pytest.raises(BudgetExceededError):
        ledger.charge(pure(1.0))
    assert Fraction(repr(ledger.spent.epsilon)) == Fraction("1e-20")
    assert ledger.remaining.epsilon < 1.0
    ledger.charge(ledger.remaining)


def test_a_refused_charge_writes_nothing(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    ledger.charge(pure(0.9), "first")
    before = ledger.path.read_bytes()
    for refused in (pure(0.2), pure(0.01, unit="person"), approx(0.01, 1e-9)):
        with pytest.raises(PrivacyError):
            ledger.charge(refused)
    assert ledger.path.read_bytes() == before


def test_times_is_all_or_nothing(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    ledger.charge(pure(0.1), times=9)
    assert ledger.spent == pure(0.9)
    with pytest.raises(BudgetExceededError):
        ledger.charge(pure(0.1), times=2)
    assert ledger.spent == pure(0.9)
    assert [record.times for record in ledger.history()] == [9]
    with pytest.raises(ValueError, match="times must be an integer >= 1"):
        ledger.charge(pure(0.1), times=0)


def test_history(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    start = ledger_file.today()
    ledger.charge(pure(0.1), "mean")
    ledger.charge(pure(0.2, seeded=True), "density")
    first, second = ledger.history()
    assert (first.label, first.guarantee, first.times) == ("mean", pure(0.1), 1)
    assert (second.label, second.guarantee) == ("density", pure(0.2, seeded=True))
    assert start <= first.day <= second.day <= ledger_file.today()
    assert type(first.day) is date


def test_the_file_is_no_stopwatch(tmp_path, monkeypatch, capsys):
    """Whatever readers are given is the same whenever in a day the charges were made.

    Ids are random, and so are digests, which have the id in them.
    """

    class Clock:
        def __init__(self, *times):
            self.times = list(times)

        def now(self, zone):
            hour, minute, second, microsecond = self.times.pop(0)
            return datetime(2024, 5, 1, hour, minute, second, microsecond, zone)

    def seen(folder, clock):
        folder.mkdir()
        monkeypatch.chdir(folder)
        monkeypatch.setattr(ledger_file, "datetime", clock)
        ledger = BudgetLedger("budget.db", epsilon=1.0, name="survey")
        parts = ledger.add_partition("region", ["north", "south"])
        address = ledger.add_scope("income", epsilon=0.5)
        BudgetLedger(address).charge(pure(0.1), "mean")
        BudgetLedger(parts["north"]).charge(pure(0.2), "density", times=2)
        ledger.charge(pure(0.3))
        assert clock.times == []
        ledger.export("history.csv")
        ledger.export("history.json")
        assert main(["ledger", "show", "budget.db"]) == 0
        records = repr(ledger.history())
        texts = [file.read_bytes() for file in sorted(folder.iterdir())]
        texts += [capsys.readouterr().out.encode(), records.encode()]
        assert b"2024-05-01" in texts[0]
        return [re.sub(b"[0-9a-f]{32,}", b"id or digest", text) for text in texts]

    slow = [(hour, 5 * hour, 59, 7 * hour) for hour in range(5)]
    first = seen(tmp_path / "quick", Clock(*[(23, 59, 59, 999_999)] * 5))
    second = seen(tmp_path / "slow", Clock(*slow))
    assert len(first) == 5
    assert first == second
    for text in first:
        assert not re.search(rb"[0-9]{2}:[0-9]{2}", text)


def test_a_seeded_charge_counts_and_shows(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    ledger.charge(pure(0.1, seeded=True))
    ledger.charge(pure(0.1))
    assert ledger.spent == pure(0.2, seeded=True)
    assert not ledger.remaining.seeded


def test_approx_ledger(path):
    ledger = BudgetLedger(path, epsilon=1.0, delta=1e-6)
    ledger.charge(pure(0.1))
    assert ledger.spent == pure(0.1)
    ledger.charge(approx(0.2, 1e-7))
    assert ledger.spent == approx(0.3, 1e-7)
    assert ledger.remaining == approx(0.7, 9e-7)
    with pytest.raises(BudgetExceededError):
        ledger.charge(approx(0.1, 9.1e-7))
    with pytest.raises(PrivacyError, match="do not compose"):
        ledger.charge(zcdp(0.1))


def test_zcdp_ledger(path):
    ledger = BudgetLedger(path, rho=1.0)
    ledger.charge(zcdp(0.3))
    ledger.charge(pure(0.2))
    assert ledger.spent == zcdp(0.32)
    with pytest.raises(PrivacyError, match="do not compose"):
        ledger.charge(approx(0.1, 1e-7))


def test_geo_ledger(path):
    ledger = BudgetLedger(path, epsilon=1.0, metric="L2")
    ledger.charge(geo(0.3))
    assert ledger.remaining == geo(0.7)
    with pytest.raises(PrivacyError, match="different metric"):
        ledger.charge(geo(0.1, metric="sup"))
    with pytest.raises(PrivacyError, match="do not compose"):
        ledger.charge(pure(0.1))


@pytest.mark.parametrize(
    ("charge", "text"),
    [
        (pure(0.1, unit="person"), "different unit.*is per row: leave out groups"),
        (pure(0.1, neighbours="add-remove"), "different neighbours"),
        (approx(0.1, 1e-7), "a ledger for pure-dp cannot be charged with approx-dp"),
        (zcdp(0.1), "a ledger for pure-dp cannot be charged with zcdp"),
        (geo(0.1), "per unit of L2 distance"),
    ],
)
def test_what_does_not_match_is_refused(path, charge, text):
    ledger = BudgetLedger(path, epsilon=1.0)
    with pytest.raises(PrivacyError, match=text):
        ledger.charge(charge)
    assert ledger.history() == []


def test_only_guarantees_and_plain_labels_are_charged(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    with pytest.raises(TypeError, match="must be a PrivacyGuarantee"):
        ledger.charge(0.1)
    for label in (1, "a\nb", "\ud800"):
        with pytest.raises(ValueError, match="label must be text"):
            ledger.charge(pure(0.1), label)
    assert ledger.spent.epsilon == 0.0


@pytest.mark.parametrize(
    "budget",
    [{"epsilon": 1.0}, {"rho": 0.5}, {"epsilon": 1.0, "metric": "L2"}],
    ids=["pure-dp", "zcdp", "geo"],
)
def test_what_is_left_of_an_empty_ledger_cannot_be_charged(path, budget):
    ledger = BudgetLedger(path, **budget)
    with pytest.raises(PrivacyError, match="must be a finite number > 0"):
        ledger.charge(ledger.spent)
    ledger.charge(ledger.budget, "all")
    before = ledger.path.read_bytes()
    for times in (1, 5):
        with pytest.raises(PrivacyError, match="must be a finite number > 0"):
            ledger.charge(ledger.remaining, times=times)
    assert ledger.path.read_bytes() == before
    assert [record.label for record in ledger.history()] == ["all"]


def test_an_amount_of_nothing_with_a_delta_cannot_be_charged(path):
    ledger = BudgetLedger(path, epsilon=1.0, delta=1e-6)
    ledger.charge(approx(1.0, 1e-7))
    assert (ledger.remaining.epsilon, ledger.remaining.delta) == (0.0, 9e-7)
    with pytest.raises(PrivacyError, match="cannot be charged"):
        ledger.charge(ledger.remaining)
    assert ledger.history()[0].guarantee == approx(1.0, 1e-7)


@pytest.mark.parametrize("amount", [-1.0, 1.0, 5e-324, -5e-324, float("nan")])
def test_an_amount_of_nothing_is_zero(path, amount):
    ledger = BudgetLedger(path, epsilon=1.0)
    with pytest.raises(ValueError, match="epsilon must be"):
        dataclasses.replace(ledger.spent, epsilon=amount)
    assert str(dataclasses.replace(ledger.spent, epsilon=-0.0).epsilon) == "0.0"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("epsilon", -1.0),
        ("epsilon", 0.0),
        ("epsilon", float("nan")),
        ("epsilon", "0.1"),
        ("epsilon", Fraction(1, 10)),
        ("delta", -1e-6),
        ("rho", 0.1),
        ("neighbours", ""),
        ("seeded", 1),
    ],
)
@pytest.mark.parametrize("empty", [False, True])
def test_a_charge_that_could_not_be_read_back_is_refused(path, field, value, empty):
    """A guarantee out of a pickle never went through its constructor."""
    ledger = BudgetLedger(path, epsilon=1.0)
    ledger.charge(pure(0.5))
    guarantee = pure(0.1)
    if empty:
        guarantee = dataclasses.replace(BudgetLedger(path + "2", epsilon=1.0).spent)
    object.__setattr__(guarantee, field, value)
    with pytest.raises(PrivacyError, match="cannot be charged"):
        ledger.charge(guarantee)
    assert ledger.spent == pure(0.5)
    assert len(ledger.history()) == 1


def test_another_kind_of_guarantee_is_refused(path):
    class Cheaper(PrivacyGuarantee):
        pass

    ledger = BudgetLedger(path, epsilon=1.0)
    with pytest.raises(PrivacyError, match="this Cheaper cannot be charged"):
        ledger.charge(Cheaper(definition="pure-dp", epsilon=0.1))
    assert ledger.history() == []


@pytest.mark.parametrize("cost", ["0", "-0.1"])
def test_a_charge_must_cost_something(path, monkeypatch, cost):
    ledger = BudgetLedger(path, epsilon=1.0)
    ledger.charge(pure(0.5))
    amount = Amount(epsilon=Decimal(cost))
    monkeypatch.setattr("skfuncpriv.privacy._ledger_state.amount_in", lambda *_: amount)
    with pytest.raises(PrivacyError, match="must cost something"):
        ledger.charge(pure(0.1))
    assert len(ledger.history()) == 1


def test_times_is_bounded_by_what_the_file_can_hold(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    for times in (2**63, 10**5000):
        with pytest.raises(ValueError, match=r"times must be at most 2\*\*63 - 1"):
            ledger.charge(pure(1e-300), times=times)
    assert ledger.history() == []
    ledger.charge(pure(1e-300), times=2**63 - 1)
    assert ledger.history()[0].times == 2**63 - 1


def test_opening(path):
    BudgetLedger(path, epsilon=1.0, unit="person").charge(pure(0.4, unit="person"))
    assert BudgetLedger(path).spent.epsilon == 0.4
    assert BudgetLedger(path, epsilon=1, unit="person").spent.epsilon == 0.4
    for other in ({"epsilon": 1.0}, {"epsilon": 2.0, "unit": "person"}, {"rho": 1.0}):
        with pytest.raises(PrivacyError, match="holds another budget"):
            BudgetLedger(path, **other)
    assert BudgetLedger(path).spent.epsilon == 0.4


def test_a_missing_file_is_not_created(path):
    with pytest.raises(PrivacyError, match="there is no ledger at"):
        BudgetLedger(path)
    assert not os.path.exists(path)


def test_a_deleted_file_is_not_recreated(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    os.remove(path)
    with pytest.raises(PrivacyError, match="there is no ledger at"):
        ledger.charge(pure(0.1))
    assert not os.path.exists(path)


def test_constructor_refuses_half_a_budget(path):
    with pytest.raises(ValueError, match="give epsilon or rho as well"):
        BudgetLedger(path, delta=1e-6)
    with pytest.raises(ValueError, match="epsilon must be"):
        BudgetLedger(path, epsilon=-1)
    with pytest.raises(ValueError, match="epsilon must be None"):
        BudgetLedger(path, epsilon=1, rho=1)
    assert not os.path.exists(path)


def test_reading_never_writes(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    ledger.charge(pure(0.1))
    before = (ledger.path.read_bytes(), os.stat(path).st_mtime_ns)
    opened = BudgetLedger(path)
    _ = opened.budget, opened.spent, opened.remaining, opened.history(), repr(opened)
    assert (ledger.path.read_bytes(), os.stat(path).st_mtime_ns) == before
    assert os.listdir(ledger.path.parent) == ["budget.db"]
    with (
        pytest.raises(PrivacyError, match="readonly"),
        ledger_file.reading(ledger.path) as database,
    ):
        database.execute("DELETE FROM entries")


def test_a_charge_is_synced_under_the_write_lock(path, monkeypatch):
    ledger = BudgetLedger(path, epsilon=1.0)
    seen = {}

    def read_contents(database):
        (seen["synchronous"],) = database.execute("PRAGMA synchronous").fetchone()
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
            try:
                other.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                seen["other writer"] = str(error)
        return original(database)

    original = ledger_file.read_contents
    monkeypatch.setattr(ledger_file, "read_contents", read_contents)
    ledger.charge(pure(0.1))
    assert seen == {"synchronous": 3, "other writer": "database is locked"}


def test_an_error_after_the_write_rolls_back(path, monkeypatch):
    ledger = BudgetLedger(path, epsilon=1.0)
    original = ledger_file.append_charge

    def fail(*args):
        original(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(ledger_file, "append_charge", fail)
    with pytest.raises(KeyboardInterrupt):
        ledger.charge(pure(0.1))
    monkeypatch.undo()
    assert ledger.history() == []
    assert os.listdir(ledger.path.parent) == ["budget.db"]
    ledger.charge(pure(1.0))


def test_a_hundred_threads_do_not_overspend(path):
    ledger = BudgetLedger(path, epsilon=3.0)
    with ThreadPoolExecutor(100) as pool:
        accepted = list(pool.map(try_charge, [path] * 100))
    assert sum(accepted) == 30
    assert ledger.spent == pure(3.0)
    assert len(ledger.history()) == 30


START_METHODS = {"fork", "spawn"}.intersection(multiprocessing.get_all_start_methods())


@pytest.fixture(scope="module")
def spawned():
    """Four processes that share nothing; they take long to start."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(4, mp_context=context) as pool:
        yield pool


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
@pytest.mark.parametrize("method", sorted(START_METHODS))
def test_processes_do_not_overspend(path, method, request):
    ledger = BudgetLedger(path, epsilon=2.0)
    if method == "spawn":
        pool = request.getfixturevalue("spawned")
        accepted = list(pool.map(try_charge, [path] * 40))
    else:
        context = multiprocessing.get_context(method)
        with ProcessPoolExecutor(4, mp_context=context) as pool:
            accepted = list(pool.map(try_charge, [path] * 40))
    assert sum(accepted) == 20
    assert ledger.spent == pure(2.0)


def test_processes_create_one_ledger(path, spawned):
    list(spawned.map(create_and_charge, [path] * 8))
    assert BudgetLedger(path).spent == pure(0.8)


def create_and_charge(path):
    BudgetLedger(path, epsilon=1.0).charge(pure(0.1))


def test_the_lock_of_one_process_holds_in_another(path, spawned):
    """While someone else writes, a charge waits, and then sees what was written."""
    ledger = BudgetLedger(path, epsilon=1.0)
    assert spawned.submit(os.getpid).result() != os.getpid()  # a worker has started
    with ledger_file.writing(ledger.path) as database:
        waiting = spawned.submit(try_charge, path, 0.6)
        before = ledger_file.read_contents(database)
        record = ledger_file.LedgerRecord(ledger_file.today(), "", pure(0.6), 1)
        after = before.state.charged("", pure(0.6), 1, "")
        ledger_file.append_charge(database, before, record, after)
    assert waiting.result() is False


def test_pickle_holds_no_numbers(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    ledger.charge(pure(0.25))
    clone = pickle.loads(pickle.dumps(ledger))
    assert b"epsilon" not in pickle.dumps(ledger)
    assert (clone.path, clone.scope_name) == (ledger.path, "")
    clone.charge(pure(0.25))
    assert ledger.spent == pure(0.5)


def test_a_relative_path_is_resolved_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledger = BudgetLedger("budget.db", epsilon=1.0)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    ledger.charge(pure(0.5))
    assert os.listdir(tmp_path / "elsewhere") == []


def test_a_symbolic_link_is_the_same_ledger(tmp_path, path):
    BudgetLedger(path, epsilon=1.0)
    os.symlink(path, tmp_path / "link.db")
    BudgetLedger(tmp_path / "link.db").charge(pure(0.7))
    assert BudgetLedger(path).spent == pure(0.7)


@pytest.mark.parametrize("name", ["a b?mode=rw#%20.db", "ö.db", ":memory:"])
def test_odd_names(tmp_path, name):
    ledger = BudgetLedger(tmp_path / name, epsilon=1.0)
    ledger.charge(pure(0.5))
    assert os.listdir(tmp_path) == [name]
    assert BudgetLedger(tmp_path / name).spent == pure(0.5)


def assert_closed(path):
    """The file can be neither read nor charged nor created over."""
    ledger = BudgetLedger.__new__(BudgetLedger)
    ledger._handle = LedgerHandle(path)
    ledger.path, ledger.scope_name = ledger._handle.path, ""
    for attempt in (
        lambda: BudgetLedger(path),
        lambda: BudgetLedger(path, epsilon=1.0),
        lambda: ledger.charge(pure(0.001)),
        lambda: ledger.spent,
        lambda: ledger.remaining,
        lambda: ledger.history(),
    ):
        with pytest.raises(PrivacyError, match="cannot be used"):
            attempt()


def test_a_file_that_is_no_database_fails_closed(path):
    with open(path, "w") as file:
        file.write("budget: 3\n" * 500)
    assert_closed(path)
    with open(path) as file:
        assert file.read() == "budget: 3\n" * 500


def test_another_database_fails_closed(path):
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE people (name TEXT)")
    assert_closed(path)


def test_a_folder_fails_closed(tmp_path):
    assert_closed(str(tmp_path))


def test_an_empty_file_is_no_ledger_but_can_become_one(path):
    open(path, "w").close()
    with pytest.raises(PrivacyError, match="not a ledger"):
        BudgetLedger(path)
    assert BudgetLedger(path, epsilon=1.0).remaining == pure(1.0)


def test_a_truncated_file_fails_closed(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    for _ in range(40):
        ledger.charge(pure(0.001), "x" * 200)
    size = os.path.getsize(path)
    os.truncate(path, size // 2)
    assert_closed(path)


def test_a_damaged_page_of_old_charges_is_found_on_opening(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    for _ in range(40):
        ledger.charge(pure(0.001), "x" * 200)
    with closing(sqlite3.connect(path)) as database:
        (page,) = database.execute("PRAGMA page_size").fetchone()
    with open(path, "r+b") as file:
        file.seek(4 * page)  # after the schema and the roots of the three tables
        file.write(b"\xff" * page)
    assert ledger.spent == pure(0.04)  # the newest charges are elsewhere
    with pytest.raises(PrivacyError, match="its pages are damaged"):
        BudgetLedger(path)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE entries SET content = replace(content, '0.9', '0.1')",
        "UPDATE entries SET content = NULL",
        "UPDATE entries SET state = ''",
        "UPDATE entries SET kind = 'scope'",
        "UPDATE entries SET digest = ''",
        "UPDATE entries SET id = 7",
        "DELETE FROM entries",
        "UPDATE state SET content = replace(content, '0.9', '0.1')",
        "UPDATE state SET content = 'null'",
        "DELETE FROM state",
        "INSERT INTO state SELECT * FROM state",
        "UPDATE budget SET guarantee = replace(guarantee, '1.0', '9.0')",
        "UPDATE budget SET name = 'other'",
        "UPDATE budget SET ledger = '00'",
        "DELETE FROM budget",
        "INSERT INTO budget SELECT * FROM budget",
        "DROP TABLE entries",
        "DROP TABLE state",
        "PRAGMA user_version = 99",
    ],
)
def test_damaged_content_fails_closed(path, damage):
    ledger = BudgetLedger(path, epsilon=1.0)
    ledger.charge(pure(0.9))
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(damage)
    assert_closed(path)


def test_damage_deep_in_the_history_is_found(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    for _ in range(5):
        ledger.charge(pure(0.1))
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(
            "UPDATE entries SET content = replace(content, 'epsilon', 'x') WHERE id = 2"
        )
    with pytest.raises(PrivacyError, match="damaged"):
        ledger.history()


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0,
    reason="permissions do not bind the superuser",
)
def test_a_read_only_file_can_be_read_but_not_charged(path):
    ledger = BudgetLedger(path, epsilon=1.0)
    os.chmod(path, stat.S_IRUSR)
    with pytest.raises(PrivacyError, match="cannot be used"):
        ledger.charge(pure(0.1))
    assert ledger.spent.epsilon == 0.0


def test_a_ledger_per_person_asks_for_groups(path):
    BudgetLedger(path, epsilon=1.0, unit="person")
    model = ICLPMean(bounds=(0, 1), domain=(0, 1), ledger=str(path))
    with pytest.raises(PrivacyError, match=r"per person: pass groups= to fit$"):
        model.fit(np.zeros((400, 3)))


@pytest.mark.parametrize(
    ("budget", "charge", "times", "text"),
    [
        ({"epsilon": 1.0}, pure(1.5), 1, "asked epsilon = 1.5, left epsilon = 1: "),
        ({"epsilon": 1.0}, pure(0.4), 3, "asked epsilon = 1.2, left epsilon = 1: "),
        ({"rho": 1.0}, zcdp(2.0), 1, "asked rho = 2, left rho = 1: "),
        (
            {"epsilon": 1.0, "delta": 1e-6},
            approx(0.5, 0.5),
            2,
            "asked epsilon = 1 and delta = 1, left epsilon = 1 and delta = 1e-06: ",
        ),
    ],
)
def test_what_is_asked_and_left_is_said_first(path, budget, charge, times, text):
    ledger = BudgetLedger(path, **budget)
    with pytest.raises(BudgetExceededError) as caught:
        ledger.charge(charge, times=times)
    assert str(caught.value).startswith(text)
    assert (f"{times} x" in str(caught.value)) == (times > 1)


def test_notebooks_show_a_table_of_the_last_charges(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=3.0, name="<survey>")
    for k in range(14):
        ledger.charge(PrivacyGuarantee(definition="pure-dp", epsilon=0.1), f"<{k}>")
    shown = ledger._repr_html_()
    assert "(&lt;survey&gt;), per row: spent" in shown
    assert "spent epsilon=1.4, remaining epsilon=1.6" in shown
    assert "The last 12; 2 earlier charges." in shown
    assert "&lt;13&gt;" in shown
    assert "<13>" not in shown
    assert "&lt;1&gt;" not in shown
    (tmp_path / "budget.db").unlink()
    assert "cannot be read" in ledger._repr_html_()
