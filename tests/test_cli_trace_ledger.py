"""The command ``trace`` and its budgets."""

import re
from pathlib import Path

import pytest

from skfuncpriv import BudgetLedger

from .cli_traces import (
    HIDE,
    PUBLIC,
    write_plain,
    write_several,
)
from .test_cli import refuse, run


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_ledger_is_charged_for_all_traces_of_a_person(capsys):
    write_several()
    create = ["ledger", "create", "b.db", "--epsilon", "0.1", "--metric", "L2"]
    code, out, _ = run(capsys, *create)
    assert code == 0
    assert "trace FILE ... --ledger b.db" in out
    words = ["trace", "tours.csv", *PUBLIC, "--epsilon", "0.02", "--id", "name"]
    words += ["--ledger", "b.db", "--force"]
    _, out, _ = run(capsys, *words)
    assert "Left in b.db: geo-privacy: epsilon = 0.08" in out
    run(capsys, *words, "--group", "owner", "--plot", "three.png")
    assert BudgetLedger("b.db").spent.epsilon == 0.06
    before = Path("private_trace.csv").read_bytes()
    words[words.index("0.02")] = "0.05"
    assert refuse(capsys, *words) == (
        "error: this release costs 0.05, 0.04 is left in b.db; nothing was charged or "
        "released\n"
    )
    words += ["--group", "owner"]
    assert "costs 0.05 for each of one's traces, 0.04 is" in refuse(capsys, *words)
    assert Path("private_trace.csv").read_bytes() == before
    assert [r.times for r in BudgetLedger("b.db").history()] == [1, 2]


def test_concentrated_ledger(capsys):
    write_plain()
    words = ["trace", "walk.csv", *PUBLIC, "--rho", "1e-4", "--ledger", "b.db"]
    assert "ledger create b.db --rho 0.00031 --metric L2" in refuse(capsys, *words)
    run(capsys, "ledger", "create", "b.db", "--rho", "1e-3", "--metric", "L2")
    _, out, _ = run(capsys, *words)
    assert "Left in b.db: concentrated geo-privacy: rho = 0.0009" in out


def test_proposed_ledger_is_enough_for_three_releases(capsys):
    write_plain()
    words = ["trace", "walk.csv", *PUBLIC, *HIDE, "--force"]
    err = refuse(capsys, *words, "--ledger", "b.db")
    plan = run(capsys, *words, "--plan")[1]
    [create] = re.findall(r"ledger create b.db (.*)\n", err)
    assert re.findall(r"ledger create traces.db (.*)\n", plan) == [create]
    run(capsys, "ledger", "create", "b.db", *create.split())
    for _ in range(3):
        assert run(capsys, *words, "--ledger", "b.db")[0] == 0
    err = refuse(capsys, *words, "--ledger", "b.db")
    cost, left = map(float, re.search(r"costs (\S+), (\S+) is left", err).groups())
    assert cost > left >= 0


def test_a_row_of_a_ledger_of_traces_is_called_a_trace(capsys):
    write_plain()
    create = ["ledger", "create", "b.db", "--epsilon", "1", "--metric", "L2"]
    shown = run(capsys, *create)[1]
    shown += run(capsys, "trace", "walk.csv", *PUBLIC, *HIDE, "--ledger", "b.db")[1]
    shown += run(capsys, "ledger", "show", "b.db")[1]
    assert shown.count("per trace (neighbours: replace one trace)") == 7
    assert "row" not in shown
    words = ["ledger", "create", "c.db", "--epsilon", "1", "--metric", "L2"]
    assert "a trace is one" in refuse(capsys, *words, "--unit", "person")


def test_ledger_of_means_is_refused(capsys):
    write_plain()
    run(capsys, "ledger", "create", "b.db", "--epsilon", "1")
    err = refuse(capsys, "trace", "walk.csv", *PUBLIC, *HIDE, "--ledger", "b.db")
    assert "ledger create traces.db --epsilon 0.0068 --metric L2" in err


def test_help_says_how_to_create_a_ledger_for_traces(capsys):
    for words in (["trace"], ["ledger"], ["ledger", "create"]):
        with pytest.raises(SystemExit):
            run(capsys, *words, "--help")
        text = capsys.readouterr().out
        assert "ledger create traces.db --epsilon 2e-4 --metric L2" in text
