"""Scopes and partitions: every account is checked, in one transaction."""

import csv
import json
import multiprocessing
import os
import pickle
import random
import subprocess
import sys
from fractions import Fraction

import pytest

from skfuncpriv.exceptions import BudgetExceededError, PrivacyError
from skfuncpriv.privacy import (
    BudgetLedger,
    PeoplePartition,
    PrivacyGuarantee,
    parallel,
)


def pure(epsilon, **rest):
    return PrivacyGuarantee(definition="pure-dp", epsilon=epsilon, **rest)


def approx(epsilon, delta):
    return PrivacyGuarantee(definition="approx-dp", epsilon=epsilon, delta=delta)


def zcdp(rho):
    return PrivacyGuarantee(definition="zcdp", rho=rho)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "budget.db")


@pytest.fixture
def ledger(path):
    """A total of 3, a scope capped at 1, three parts of which one is capped."""
    ledger = BudgetLedger(path, epsilon=3.0)
    ledger.add_scope("income", epsilon=1.0)
    ledger.add_partition("region", {"north": 120, "south": 80, "west": 5})
    ledger.add_scope("region/west", epsilon=0.5)
    return ledger


def account(ledger, name):
    return BudgetLedger(ledger.scope(name))


# --- scopes -------------------------------------------------------------------------


def test_a_charge_counts_in_the_scope_and_in_the_total(ledger):
    income = account(ledger, "income")
    income.charge(pure(0.4), "mean")
    ledger.charge(pure(0.1), "density")
    assert (income.spent, income.remaining) == (pure(0.4), pure(0.6))
    assert (ledger.spent, ledger.remaining) == (pure(0.5), pure(2.5))
    assert income.budget == pure(1.0)
    assert [(r.label, r.scope) for r in ledger.history()] == [
        ("mean", "income"),
        ("density", ""),
    ]
    assert [r.label for r in income.history()] == ["mean"]
    assert repr(income).endswith(
        "::income'): spent epsilon=0.4, remaining epsilon=0.6>"
    )


def test_the_cap_of_a_scope_holds(ledger):
    income = account(ledger, "income")
    income.charge(pure(0.9))
    before = ledger.path.read_bytes()
    with pytest.raises(BudgetExceededError, match=r"epsilon = 0.1.*the scope 'income'"):
        income.charge(pure(0.2))
    assert ledger.path.read_bytes() == before
    income.charge(income.remaining)
    assert income.remaining.epsilon == 0
    assert ledger.remaining == pure(2.0)


def test_the_total_limits_a_scope(ledger):
    income = account(ledger, "income")
    ledger.charge(pure(2.7))
    assert income.remaining == pure(0.3)
    with pytest.raises(BudgetExceededError, match=r"\[pure DP: epsilon = 0.3"):
        income.charge(pure(0.4))
    assert income.spent.epsilon == 0
    income.charge(pure(0.1), times=3)
    assert ledger.remaining.epsilon == 0


def test_an_address_is_a_string_that_survives(ledger, tmp_path, monkeypatch):
    address = ledger.scope("income")
    assert address == f"{ledger.path}::income"
    assert ledger.add_scope("income", epsilon=1.0) == address  # as it was: no change
    monkeypatch.chdir(tmp_path)
    BudgetLedger("budget.db::income").charge(pure(0.5))
    clone = pickle.loads(pickle.dumps(BudgetLedger(address)))
    assert (clone.spent, clone.scope_name) == (pure(0.5), "income")
    assert clone.path == ledger.path


def test_deltas_and_rhos_have_caps(tmp_path):
    both = BudgetLedger(tmp_path / "both.db", epsilon=1.0, delta=1e-6)
    noisy = BudgetLedger(both.add_scope("noisy", epsilon=1.0, delta=1e-7))
    clean = BudgetLedger(both.add_scope("clean", epsilon=0.5))
    with pytest.raises(BudgetExceededError):
        noisy.charge(approx(0.1, 2e-7))
    with pytest.raises(BudgetExceededError):
        clean.charge(approx(0.1, 1e-9))
    noisy.charge(approx(0.1, 1e-7))
    clean.charge(pure(0.5))
    assert both.spent == approx(0.6, 1e-7)
    assert clean.budget == pure(0.5)
    concentrated = BudgetLedger(tmp_path / "rho.db", rho=1.0)
    scope = BudgetLedger(concentrated.add_scope("a", rho=0.02))
    scope.charge(pure(0.2))
    assert scope.remaining.rho == 0
    assert concentrated.spent == zcdp(0.02)
    with pytest.raises(ValueError, match="given by rho"):
        concentrated.add_scope("b", epsilon=0.1)
    with pytest.raises(ValueError, match="given by epsilon"):
        both.add_scope("b", rho=0.1)


def test_a_seed_shows_where_it_was_charged(ledger):
    account(ledger, "region/north").charge(pure(0.1, seeded=True))
    assert account(ledger, "region/north").spent.seeded
    assert account(ledger, "region").spent.seeded
    assert ledger.spent.seeded
    assert not account(ledger, "region/south").spent.seeded
    assert not account(ledger, "income").spent.seeded


# --- partitions ---------------------------------------------------------------------


def test_a_partition_costs_the_largest_part(ledger):
    north, south = account(ledger, "region/north"), account(ledger, "region/south")
    north.charge(pure(0.7))
    south.charge(pure(0.9))
    assert ledger.spent == parallel(north.spent, south.spent) == pure(0.9)
    assert account(ledger, "region").spent == pure(0.9)
    ledger.charge(pure(2.0))
    assert ledger.remaining == pure(0.1)
    assert north.remaining == pure(0.3)  # up to the costliest part, and 0.1 more
    with pytest.raises(BudgetExceededError):
        north.charge(pure(0.31))
    north.charge(pure(0.3))
    assert ledger.spent == pure(3.0)
    assert south.remaining == pure(0.1)
    south.charge(pure(0.1))
    assert ledger.spent == pure(3.0)
    assert account(ledger, "region").remaining.epsilon == 0


def test_parts_are_largest_in_each_number(tmp_path):
    ledger = BudgetLedger(tmp_path / "b.db", epsilon=1.0, delta=1e-6)
    parts = ledger.add_partition("half", ["a", "b"])
    BudgetLedger(parts["a"]).charge(approx(0.9, 1e-8))
    BudgetLedger(parts["b"]).charge(approx(0.1, 1e-6))
    assert ledger.spent == approx(0.9, 1e-6)
    with pytest.raises(BudgetExceededError):
        BudgetLedger(parts["b"]).charge(approx(0.1, 1e-9))


def test_the_cap_of_a_part_holds(ledger):
    west = account(ledger, "region/west")
    with pytest.raises(BudgetExceededError, match="'region/west'"):
        west.charge(pure(0.6))
    west.charge(pure(0.5))
    assert west.remaining.epsilon == 0
    assert account(ledger, "region/north").remaining == pure(3.0)
    assert account(ledger, "region").remaining.epsilon == 0  # west has no more


def test_a_cap_for_every_part(tmp_path):
    people = PeoplePartition.split(11, ["train", "select"])
    ledger = BudgetLedger(tmp_path / "b.db", epsilon=3.0)
    slots = ledger.add_partition("slots", people.sizes, epsilon=0.4)
    assert ledger.scopes == {"slots/train": 6, "slots/select": 5}
    for address in slots.values():
        BudgetLedger(address).charge(pure(0.4))
        with pytest.raises(BudgetExceededError):
            BudgetLedger(address).charge(pure(1e-9))
    assert ledger.spent == pure(0.4)


def test_a_partition_itself_is_not_charged(ledger):
    with pytest.raises(PrivacyError, match="charge one of its parts"):
        account(ledger, "region").charge(pure(0.1))
    assert ledger.history() == []


def test_neighbours_must_stay_in_their_part(tmp_path):
    ledger = BudgetLedger(tmp_path / "b.db", epsilon=3.0, neighbours="add-remove")
    with pytest.raises(PrivacyError, match="add-remove"):
        ledger.add_partition("region", ["a", "b"])
    ledger.add_scope("income", epsilon=1.0)
    assert list(ledger.scopes) == ["income"]


@pytest.mark.parametrize("seed", range(3))
def test_random_charges_against_a_plain_sum(tmp_path, seed):
    """Every account, after each of many charges, from the history alone."""
    rng = random.Random(seed)
    caps = {"a": 3, "b": 5, "p/x": 4, "p/y": 100, "q/x": 6, "q/y": 2}
    ledger = BudgetLedger(tmp_path / "b.db", epsilon=10.0)
    ledger.add_partition("p", ["x", "y"])
    ledger.add_partition("q", ["x", "y"])
    for name, cap in caps.items():
        if cap < 100:
            ledger.add_scope(name, epsilon=float(cap))
    spent = dict.fromkeys([*caps, ""], Fraction(0))

    def total(spent):
        parts = [max(spent[f"{p}/x"], spent[f"{p}/y"]) for p in "pq"]
        return sum(spent[name] for name in ("", "a", "b")) + sum(parts)

    refused = 0
    for _ in range(60):
        name, cost = rng.choice(list(spent)), round(rng.uniform(0.01, 1.2), 2)
        after = {**spent, name: spent[name] + Fraction(repr(cost))}
        fits = after[name] <= caps.get(name, 100) and total(after) <= 10
        one = account(ledger, name)
        try:
            one.charge(pure(cost))
        except BudgetExceededError:
            assert not fits
            refused += 1
        else:
            assert fits
            spent = after
        if name:
            assert Fraction(repr(one.spent.epsilon)) == spent[name]
        assert Fraction(repr(ledger.spent.epsilon)) == total(spent)
    assert 5 < refused < 55
    sums = dict.fromkeys(spent, Fraction(0))
    for record in ledger.history():
        sums[record.scope] += Fraction(repr(record.guarantee.epsilon))
    assert sums == spent


# --- what is refused ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("add", "text"),
    [
        (lambda b: b.add_scope("income", epsilon=2.0), "another cap"),
        (lambda b: b.add_scope("region", epsilon=2.0), "is a partition"),
        (lambda b: b.add_scope("region/east", epsilon=2.0), "no part"),
        (lambda b: b.add_scope("region/west", epsilon=0.4), "another cap"),
        (lambda b: b.add_scope("age", epsilon=3.1), "exceeds the budget"),
        (lambda b: b.add_partition("age", ["a"], epsilon=3.1), "exceeds the budget"),
        (lambda b: b.add_partition("income", ["a", "b"]), "is taken"),
        (lambda b: b.add_partition("region", ["north", "south"]), "is taken"),
        (lambda b: b.add_scope("region/north", epsilon=0.1), "spent more"),
        (lambda b: b.scope("age"), "no scope 'age'"),
        (lambda b: BudgetLedger(f"{b.path}::age"), "no scope 'age'"),
        (lambda b: BudgetLedger(f"{b.path}::region/east"), "no scope"),
    ],
)
def test_what_contradicts_is_refused(ledger, add, text):
    account(ledger, "region/north").charge(pure(0.2))
    before = ledger.path.read_bytes()
    with pytest.raises(PrivacyError, match=text):
        add(ledger)
    assert ledger.path.read_bytes() == before


@pytest.mark.parametrize(
    "add",
    [
        lambda b: b.add_scope("", epsilon=1.0),
        lambda b: b.add_scope("a::b", epsilon=1.0),
        lambda b: b.add_scope("a:", epsilon=1.0),
        lambda b: b.add_scope("a/b/c", epsilon=1.0),
        lambda b: b.add_scope(" a", epsilon=1.0),
        lambda b: b.add_scope("a\nb", epsilon=1.0),
        lambda b: b.add_scope(1, epsilon=1.0),
        lambda b: b.add_scope("a"),
        lambda b: b.add_scope("a", epsilon=0.0),
        lambda b: b.add_scope("a", rho=0.1),
        lambda b: b.add_partition("a/b", ["x"]),
        lambda b: b.add_partition("a", []),
        lambda b: b.add_partition("a", ["x", "x"]),
        lambda b: b.add_partition("a", ["x/y"]),
        lambda b: b.add_partition("a", {"x": 0}),
        lambda b: b.add_partition("a", ["x"], delta=1e-6),
        lambda b: BudgetLedger(b.scope("income")).add_scope("a", epsilon=0.1),
        lambda b: BudgetLedger(b.scope("income")).add_partition("a", ["x"]),
        lambda b: BudgetLedger(b.scope("income"), epsilon=3.0),
        lambda b: BudgetLedger(f"{b.path}::"),
        lambda b: BudgetLedger("::income"),
    ],
)
def test_names_and_numbers(ledger, add):
    before = ledger.path.read_bytes()
    with pytest.raises(ValueError, match=r"must|text|part|cap|scope"):
        add(ledger)
    assert ledger.path.read_bytes() == before


@pytest.mark.parametrize("name", ["a::b.db", "folder::x/b.db"])
def test_no_file_has_the_marker_in_its_path(tmp_path, name):
    with pytest.raises(ValueError, match="scope"):
        BudgetLedger(tmp_path / name, epsilon=1.0)
    assert os.listdir(tmp_path) == []


def test_scopes_survive_odd_paths(tmp_path):
    ledger = BudgetLedger(tmp_path / ":memory:", epsilon=1.0)
    BudgetLedger(ledger.add_scope("a", epsilon=0.5)).charge(pure(0.5))
    assert ledger.spent == pure(0.5)


def test_repeating_what_is_there_changes_nothing(ledger):
    before = ledger.path.read_bytes()
    ledger.add_scope("income", epsilon=1.0)
    ledger.add_partition("region", {"north": 120, "south": 80, "west": 5})
    ledger.add_scope("region/west", epsilon=0.5)
    assert ledger.path.read_bytes() == before


# --- export -------------------------------------------------------------------------


def test_export(ledger, tmp_path):
    account(ledger, "region/north").charge(pure(0.2), 'mean, "of May"', times=2)
    ledger.charge(pure(0.1, seeded=True))
    ledger.export(tmp_path / "history.csv")
    with open(tmp_path / "history.csv", newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["label"], first["scope"]) == ('mean, "of May"', "region/north")
    assert (first["epsilon"], first["times"], first["rho"]) == ("0.2", "2", "")
    assert (second["scope"], second["seeded"]) == ("", "True")
    ledger.export(tmp_path / "history.json")
    document = json.loads((tmp_path / "history.json").read_text())
    assert PrivacyGuarantee.from_dict(document["budget"]) == ledger.budget
    assert PrivacyGuarantee.from_dict(document["spent"]) == ledger.spent
    assert document["scopes"]["region/north"]["people"] == 120
    assert document["scopes"]["region/west"]["cap"]["epsilon"] == 0.5
    assert [charge["times"] for charge in document["history"]] == [2, 1]
    account(ledger, "region").export(tmp_path / "part.csv")
    assert len((tmp_path / "part.csv").read_text().splitlines()) == 2


def test_an_export_overwrites_nothing(ledger, tmp_path):
    before = ledger.path.read_bytes()
    for path in (ledger.path, tmp_path / "history.txt"):
        with pytest.raises(ValueError, match=r"must end in \.csv or \.json"):
            ledger.export(path)
    (tmp_path / "history.csv").write_text("mine")
    with pytest.raises(FileExistsError):
        ledger.export(tmp_path / "history.csv")
    assert (tmp_path / "history.csv").read_text() == "mine"
    assert ledger.path.read_bytes() == before


# --- processes ----------------------------------------------------------------------

CHARGES = """
import sys
from skfuncpriv.exceptions import BudgetExceededError
from skfuncpriv.privacy import BudgetLedger, PrivacyGuarantee

small = PrivacyGuarantee(definition="pure-dp", epsilon=0.1)
path, *names = sys.argv[1:]
accounts = [BudgetLedger(f"{path}::{name}" if name else path) for name in names]
print("READY", flush=True)
sys.stdin.readline()
for account in accounts * 12:
    try:
        account.charge(small)
    except BudgetExceededError:
        pass
"""


def test_two_processes_at_once_exceed_nothing(ledger):
    """Both start at a barrier and charge all accounts far beyond their caps."""
    names = ["income", "region/north", "region/south", "region/west", ""]
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHARGES, str(ledger.path), *order],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for order in (names, names[::-1])
    ]
    try:
        for child in children:
            assert child.stdout.readline() == "READY\n"
        for child in children:
            child.stdin.write("go\n")
            child.stdin.flush()
        assert [child.wait() for child in children] == [0, 0]
    finally:
        for child in children:
            child.kill()
            child.stdin.close()
            child.stdout.close()
    counts = dict.fromkeys(names, 0)
    for record in ledger.history():
        counts[record.scope] += 1
    assert counts["income"] == 10
    assert counts["region/west"] == 5
    largest = max(counts[name] for name in names[1:4])
    assert counts["income"] + largest + counts[""] == 30
    assert ledger.spent == pure(3.0)


def charge_parts(address):
    BudgetLedger(address).charge(pure(0.1))


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="no fork here"
)
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_forked_workers_charge_parts(ledger):
    addresses = [ledger.scope(f"region/{name}") for name in ("north", "south")] * 5
    with multiprocessing.get_context("fork").Pool(3) as pool:
        pool.map(charge_parts, addresses)
    assert account(ledger, "region/north").spent == pure(0.5)
    assert ledger.spent == pure(0.5)
