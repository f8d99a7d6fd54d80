"""The command ``trace``: its report is true, and warns of slips."""

import re
import subprocess
import sys

import numpy as np
import pytest

from skfuncpriv import GeoPrivateCurve

from .cli_traces import (
    HIDE,
    PLACE,
    PUBLIC,
    START,
    write_degrees,
    write_plain,
    write_track,
)
from .test_cli import run


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_noise_that_dominates_is_said(capsys):
    write_plain()
    words = ["trace", "walk.csv", *PUBLIC, "--hide", "800", "--odds", "2"]
    code, out, err = run(capsys, *words)
    assert code == 0
    assert err.startswith("warning: the noise, ")
    assert len(err.splitlines()) == 1
    assert "(1 coefficient: a place, not a track)" in out


@pytest.mark.filterwarnings("ignore::skfuncpriv.exceptions.NoiseDominatesWarning")
@pytest.mark.parametrize("budget", [["--epsilon", "0.003"], ["--rho", "2e-6"]])
def test_words_are_true_of_the_budget(capsys, budget):
    """The radius in words is not above what gives a factor of three."""
    write_plain()
    _, out, _ = run(capsys, "trace", "walk.csv", *PUBLIC, *budget)
    metres = float(re.search(r"apart than ([\d.]+) m", out.replace("\n", " "))[1])
    distance = metres * np.sqrt(600)
    if "--epsilon" in budget:
        loss = 0.003 * distance
        assert 0.99 * np.log(3) < loss <= np.log(3)
    else:
        model = GeoPrivateCurve(rho=2e-6, bounds=(0, 1)).fit([[0.0, 1, 1]])
        guarantee = model.guarantee_
        loss = guarantee.to_approx_dp(1e-6, radius=distance).epsilon
        assert 0.98 * np.log(3) < loss <= np.log(3)


def test_asked_odds_hold_with_what_floats_add(capsys):
    write_plain()
    _, out, _ = run(capsys, "trace", "walk.csv", *PUBLIC, *HIDE)
    epsilon, error = map(
        float,
        re.search(
            r"epsilon = (\S+) per unit of \(L2 distance \+ (\S+)\)", out
        ).groups(),
    )
    loss = epsilon * (20 * np.sqrt(600) + error)
    digits = 1 + 1e-4  # five of them are printed, rounded up
    assert 0.999 * np.log(3) < loss <= digits * np.log(3)


@pytest.mark.filterwarnings("ignore::skfuncpriv.exceptions.NoiseDominatesWarning")
def test_words_of_a_rho_hold_at_the_delta_that_was_stated(capsys):
    write_plain()
    words = ["trace", "walk.csv", *PUBLIC, "--rho", "2e-6", "--delta", "1e-3"]
    text = run(capsys, *words)[1].replace("\n", " ")
    metres = float(re.search(r"apart than ([\d.]+) m", text)[1])
    guarantee = GeoPrivateCurve(rho=2e-6, bounds=(0, 1)).fit([[0.0, 1, 1]]).guarantee_
    loss = guarantee.to_approx_dp(1e-3, radius=metres * np.sqrt(600)).epsilon
    assert 0.98 * np.log(3) < loss <= np.log(3)
    assert "a chance of 0.001; another --delta, another distance" in text


def test_numbers_in_words_are_never_better_than_what_holds(capsys):
    write_plain()
    words = ["trace", "walk.csv", *PUBLIC, "--hide", "20.07", "--odds", "3.00001"]
    text = run(capsys, *words)[1].replace("\n", " ")
    assert "apart than 20 m, changes the odds by at most a factor 3.001." in text


def test_public_request_is_said_back(capsys):
    write_degrees()
    words = ["trace", "walk.csv", "--origin", "13.4", "-52.5", "--area", "1000"]
    words += ["--start", "2024-05-01T12:00+02:00", "--domain", "0", "7200", *HIDE]
    lines = run(capsys, *words)[1].splitlines()
    assert lines[1:4] == [
        "  window     2024-05-01 10:00:00 to 2024-05-01 12:00:00 UTC (7200 s)",
        "  area       2 km x 2 km about 52.5 S, 13.4 E",
        "  hidden     20 m, at odds 3",
    ]
    words[3:5] = "-52.5", "13.4"  # swapped
    assert "about 13.4 N, 52.5 W" in run(capsys, *words, "--force")[1]


def test_every_run_is_said_to_be_another_release(capsys):
    write_plain()
    write_track()
    for words in (["walk.csv"], ["walk.gpx", *PLACE, *START]):
        out = run(capsys, "trace", *words, *PUBLIC, *HIDE, "--force")[1]
        assert "Every run is another release of the same trace, and they add up" in out
        assert "ask --plan instead" in out


def test_noise_and_lost_detail_are_said_together(capsys):
    write_plain()
    words = ["trace", "walk.csv", *PUBLIC, "--hide", "40", "--odds", "3"]
    assert re.search(
        r"noise +\d+ m before denoising, plus the detail that is lost "
        r"\(2 coefficients: nearly a straight line\)",
        run(capsys, *words)[1],
    )


def test_distance_error_is_explained(capsys):
    write_plain()
    words = ["trace", "walk.csv", *PUBLIC, "--force"]
    text = run(capsys, *words, *HIDE)[1].replace("\n", " ")
    distance = 20 * np.sqrt(600)
    assert (
        f"in m * sqrt(s): traces that are 20 m apart all the time are {distance:.3g}"
        in text
    )
    error, share = re.search(
        r"The (\S+) beside it .* at most (\S+) % of", text
    ).groups()
    assert 100 * float(error) / distance <= float(share)
    text = run(capsys, *words, "--epsilon", "1e6")[1].replace("\n", " ")
    assert "which matters here: the budget is large" in text


@pytest.mark.parametrize(
    ("words", "warnings"),
    [
        (["--area", "40"], ["the area is only 80 m wide: are these metres?"]),
        (["--domain", "0", "2"], ["the domain is only 2 s long: are these seconds?"]),
        (["--hide", "1000", "--odds", "1e9"], ["at least half the width of the area"]),
        (["--hide", "990", "--odds", "1e9"], []),
        (["--no-times"], []),
    ],
)
def test_slips_in_public_facts_are_warned_of(capsys, words, warnings):
    write_plain()
    words = [*PUBLIC, "--hide", "1", "--odds", "20", *words]
    if "--no-times" in words:
        words = [*words[:2], *words[5:]]
    err = run(capsys, "trace", "walk.csv", *words)[2]
    planned = run(capsys, "trace", *words, "--plan")[2]
    for text in (err, planned):
        lines = [line for line in text.splitlines() if "the noise" not in line]
        assert len(lines) == len(warnings)
        for line, warning in zip(lines, warnings, strict=True):
            assert line.startswith("warning: ")
            assert warning in line


def test_reader_who_leaves_is_no_error():
    """As ``head`` does; the exit code is that of a tool that SIGPIPE ended."""
    words = ["trace", "--plan", *PUBLIC]
    process = subprocess.Popen(
        [sys.executable, "-m", "skfuncpriv", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 141
