"""The command ``trace --plan``: what a release would be, before it is paid for."""

import re
from pathlib import Path

import numpy as np
import pytest

from skfuncpriv import BudgetLedger

from .cli_traces import HIDE, PLACE, PUBLIC, START, write_plain
from .test_cli import refuse, run

CELL = r"([\d.,]+) (k?m) \((\d+)\)"


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def cells_of(out):
    """Noise in metres and number of coefficients, in the order of the table."""
    return [
        (float(noise) * (1000 if unit == "km" else 1), int(count))
        for noise, unit, count in re.findall(CELL, out)
    ]


@pytest.mark.parametrize(
    "words",
    [
        PUBLIC,
        ["--bounds", "-9", "900", "--domain", "0", "600"],
        [*PUBLIC[:2], "--no-times"],
    ],
)
def test_table_of_radii_and_odds(capsys, words):
    code, out, err = run(capsys, "trace", "--plan", *words)
    assert (code, err) == (0, "")
    assert re.search(r"\n  radius +odds = 3 +odds = 10 +odds = 30\n", out)
    lines = [line.split() for line in out.splitlines()]
    radii = [line[0] for line in lines if line[1:2] == ["m"]]
    assert radii == ["10", "20", "50", "100", "200", "500"]
    cells = cells_of(out)
    assert len(cells) == 18
    for (noise, count), (radius, odds) in zip(
        cells, [(r, k) for r in map(float, radii) for k in (3, 10, 30)], strict=True
    ):
        m = 2 * count
        assert noise == pytest.approx(
            radius * np.sqrt(m * (m + 1)) / np.log(odds), rel=5e-3
        )
    for words in (
        "what is finer than they are is lost as well",
        "radius * sqrt(m (m + 1)) / log(odds)",
        "5 to 15 times the radius at odds 3",
        "Every run without --plan is another release of the same trace",
    ):
        assert words in out.replace("\n", " ")


@pytest.mark.parametrize("delta", [[], ["--delta", "1e-6"]])
def test_plan_of_a_command_is_what_its_report_says(capsys, delta):
    write_plain()
    words = ["trace", "walk.csv", *PUBLIC, *HIDE, *delta]
    [(noise, count)] = cells_of(run(capsys, *words, "--plan")[1])
    out = run(capsys, *words)[1]
    assert f"noise      {noise:g} m before denoising" in out
    assert f"({count} coefficients" in out


def test_plan_reads_charges_and_writes_nothing(capsys):
    ledger = BudgetLedger("b.db", epsilon=1.0, metric="L2")
    before = ledger.path.read_bytes()
    words = [*PUBLIC, *PLACE, *START, *HIDE, "--ledger", "b.db", "--plot", "p.png"]
    assert run(capsys, "trace", "absent.gpx", *words, "--plan")[0] == 0
    assert [path.name for path in Path().iterdir()] == ["b.db"]
    assert ledger.path.read_bytes() == before


def test_plan_needs_area_and_domain_only(capsys):
    err = refuse(capsys, "trace", "--plan")
    assert [
        bool(re.search(f"--{name} .*is missing", err))
        for name in ("area", "domain", "hide")
    ] == [True, True, False]
    words = err.rpartition("skfuncpriv ")[2].split()
    assert run(capsys, *words)[0] == 0


def test_noise_as_large_as_the_area_is_marked(capsys):
    out = run(capsys, "trace", "--plan", *PUBLIC)[1]
    assert re.search(r"500 m +1.11 km \(1\)! ", out)
    assert "! The noise is as large as the area" in out
    assert "!" not in run(capsys, "trace", "--plan", *PUBLIC, "--hide", "10")[1]
