"""The command ``trace``: what it refuses, and how it says so."""

import re
from pathlib import Path

import pytest

from .cli_traces import (
    HIDE,
    PUBLIC,
    START,
    write_plain,
    write_track,
)
from .test_cli import refuse, run, write_rows


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ([], ["--area", "--domain", "--hide"]),
        (["--area", "5"], ["--domain", "--hide"]),
        (["--no-times"], ["--area", "--hide"]),
        (["--domain", "0", "1", "--rho", "1"], ["--area"]),
    ],
)
def test_missing_public_facts_are_explained_at_once(capsys, given, missing):
    err = refuse(capsys, "trace", "walk.csv", *given)
    for option in ("--area", "--domain", "--hide"):
        assert bool(re.search(f"{option} .*is missing", err)) == (option in missing)
    assert "Never take them from the trace" in err
    assert "example: python -m skfuncpriv trace walk.csv --area 5000" in err


def test_all_that_a_gpx_needs_is_listed_with_an_example_that_works(capsys):
    options = ["--origin", "--area", "--start", "--domain", "--hide", "--odds"]
    err = refuse(capsys, "trace", "walk.gpx")
    *lines, example = err.splitlines()
    for option in options:
        assert any(re.search(f"{option} .*is missing", line) for line in lines)
    words = example.partition("skfuncpriv ")[2].split()
    write_track()
    code, out, _ = run(capsys, *words)
    assert code == 0
    assert "Wrote private_trace.csv" in out
    err = refuse(capsys, "trace", "walk.gpx", "--no-times", "--force")
    assert "--start" not in err
    assert run(capsys, *err.rpartition("skfuncpriv ")[2].split(), "--force")[0] == 0


@pytest.mark.parametrize(("given", "missing"), [("--hide", "odds"), ("--odds", "hide")])
def test_half_of_a_budget_names_the_other_half(capsys, given, missing):
    err = refuse(capsys, "trace", "walk.csv", *PUBLIC, given, "20")
    assert err.startswith(f"error: --{missing} ")
    assert "is missing" in err


def test_file_is_missing_unless_it_is_a_plan(capsys):
    assert "FILE is missing" in refuse(capsys, "trace", *PUBLIC, *HIDE)


@pytest.mark.parametrize(
    ("start", "zone", "refused"),
    [
        ("2024-05-01T10:00", "Z", True),
        ("2024-05-01T10:00", "+02:00", True),
        ("2024-05-01T10:00", "", False),
        ("2024-05-01T10:00Z", "", False),
        ("2024-05-01T12:00+02:00", "Z", False),
        ("2024-05-01", "Z", False),
        ("2024-05-01", "+02:00", True),
    ],
)
def test_start_without_a_zone(capsys, start, zone, refused):
    """It could be meant in another zone than the stamps; midnight UTC is a day."""
    rows = [[f"2024-05-01T10:0{i}:00{zone}", i, i] for i in range(3)]
    write_rows("walk.csv", ["time", "x", "y"], rows)
    words = ["trace", "walk.csv", "--area", "1000", "--domain", "0", "86400", *HIDE]
    if refused:
        err = refuse(capsys, *words, "--start", start)
        assert f"--start {start} names no zone, but the stamps of the file do" in err
        assert "2024-05-01T" in err.partition("write")[2]
        return
    code, out, _ = run(capsys, *words, "--start", start)
    assert code == 0
    assert ("names no zone and is read as UTC" in out) == (
        not start.endswith(("Z", "+02:00"))
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--epsilon", "1", "--odds", "3"], "--odds belongs to --hide, and --epsilon"),
        (["--epsilon", "1", "--delta", "0.1"], "--delta belongs to --hide or --rho"),
        ([*HIDE, "--delta", "1"], "delta must be"),
        (["--hide", "20", "--odds", "1"], "odds must be > 1"),
        (["--hide", "-1", "--odds", "3"], "--hide must be a finite number > 0"),
        (["--hide", "20", "--epsilon", "3"], "not allowed with argument"),
        (["--epsilon", "0"], "epsilon must be a finite number > 0"),
        ([*HIDE, "--area", "0"], "--area must be a finite number > 0"),
        ([*HIDE, "--domain", "5", "5"], "--domain must be two finite numbers"),
        ([*HIDE, "--no-times"], "has no --domain and no --start"),
        ([*HIDE, "--origin", "13", "99"], "origin must be (longitude, latitude)"),
        ([*HIDE, "--out", "a.txt"], "must end in .csv or .gpx"),
        ([*HIDE, "--out", "walk.csv"], "is the file of the trace already"),
        ([*HIDE, "--out", "old.csv"], "replace it with --force"),
        ([*HIDE, "--out", "a.gpx"], "GPX holds degrees"),
        ([*HIDE, "--plot", "a.pdf"], "must end in .png"),
        ([*HIDE, "--points", "0"], "must be an integer >= 1"),
        ([*HIDE, "--group", "x"], "--group needs --id"),
        ([*HIDE, "--ledger", "b.db"], "ledger create b.db --epsilon 0.0068 --"),
        (["--epsilon", "1", "--plan"], "leave out --epsilon"),
        ([*HIDE, "--domain", "5"], "as in --domain 0 7200"),
        ([*HIDE, "--origin", "5"], "as in --origin 13.40 52.52"),
        ([*START, *HIDE, "--domain", "0", "1e12"], "beyond the calendar"),
    ],
)
def test_wrong_option_is_refused_in_one_line(capsys, words, message):
    write_plain()
    Path("old.csv").write_text("paid for")
    err = refuse(capsys, "trace", "walk.csv", *PUBLIC, *words)
    assert message in err
    assert len(err.splitlines()) == 1


def test_bounds_come_in_pairs(capsys):
    write_plain()
    words = ["trace", "walk.csv", "--domain", "0", "600", *HIDE, "--bounds"]
    assert "needs pairs" in refuse(capsys, *words, "0", "1", "2")
    assert "one pair, or one for each" in refuse(capsys, *words, *map(str, range(6)))


def test_pictures_of_many_traces_are_refused(capsys):
    rows = [[k, t, 0, 0] for k in range(7) for t in (0, 1)]
    write_rows("tours.csv", ["id", "t", "x", "y"], rows)
    words = ["trace", "tours.csv", *PUBLIC, *HIDE, "--id", "id"]
    err = refuse(capsys, *words, "--plot", "p.png")
    assert "at most 6 traces" in err
    assert run(capsys, *words)[0] == 0
