"""The command ``plan``: tables from public facts, for means, covariances, densities."""

import math
import subprocess
import sys

import numpy as np
import pytest

from skfuncpriv import (
    ICLPCovariance,
    ICLPMean,
    PrivateKDE,
    privacy_safe_parameters,
)
from skfuncpriv.__main__ import main

CURVES = ["--bounds", "-2", "4", "--domain", "0", "9"]
SIZES = ["--n", "50", "700", "--epsilon", "1", "2"]


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(capsys, *words):
    code = main(["plan", *words])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def refuse(capsys, *words):
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    return err


KINDS = {
    "mean": (CURVES, ICLPMean(bounds=(-2, 4), domain=(0, 9)), 9.0),
    "covariance": (CURVES, ICLPCovariance(bounds=(-2, 4), domain=(0, 9)), 81.0),
    "density": (["--bounds", "-2", "4"], PrivateKDE(bounds=(-2, 4)), 6.0),
}


@pytest.mark.parametrize("kind", KINDS)
def test_tables_are_those_of_the_estimator(capsys, kind):
    words, model, size = KINDS[kind]
    words = [*words, *SIZES, "--estimator", kind]
    table = privacy_safe_parameters(model, [50, 700], epsilon=[1.0, 2.0])
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    assert "Noise per point (root mean square)" in out
    assert "values from -2 to 4" in out
    noise = [f"{math.sqrt(row.noise / size):.3g}" for row in table]
    lines = [line.replace("!", " ").split() for line in out.splitlines()]
    assert ["50", *noise[:2]] in lines
    assert ["700", *noise[2:]] in lines
    laws = [[row.mechanism, str(row.n_functions)] for row in table]
    assert ["50", *laws[0], *laws[1]] in lines
    assert ["700", *laws[2], *laws[3]] in lines

    code, out, err = run(capsys, *words, "--parameters")
    assert (code, err) == (0, "")
    assert ["50", *noise[:2]] in [
        line.replace("!", " ").split() for line in out.splitlines()
    ]
    assert table.to_text(size) in out
    assert str(table) in out  # the estimator knows its domain
    assert "Mechanism and number" not in out


def test_options_reach_the_estimator(capsys):
    _, out, _ = run(
        capsys, *CURVES, *SIZES, "--parameters", "--points", "5", "--mechanism",
        "gaussian", "--delta", "1e-5",
    )  # fmt: skip
    grid = np.linspace(0, 9, 5)
    facts = {"bounds": (-2, 4), "domain": (0, 9), "grid": grid, "delta": 1e-5}
    model = ICLPMean(**facts, mechanism="gaussian")
    table = privacy_safe_parameters(model, [50, 700], epsilon=[1.0, 2.0])
    assert table.to_text(9.0) in out
    assert all(row.n_functions <= 5 for row in table)
    assert "delta = 1e-05" in out
    words = ["--estimator", "density", "--bounds", "0", "1", "--delta", "0.4"]
    _, out, _ = run(capsys, *words, "--n", "500", "--epsilon", "1", "--parameters")
    assert "gaussian" in out
    assert "0.4" in out


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("mean", "the curves can be"),
        ("covariance", "covariances can be"),
        ("density", "a uniform density"),
    ],
)
def test_hopeless_plans_are_marked(capsys, kind, text):
    words = [*KINDS[kind][0], "--estimator", kind, "--n", "1", "1000000"]
    _, out, _ = run(capsys, *words, "--epsilon", "0.5")
    assert f"! The noise is as large as {text}: nothing would be seen." in out
    cells = [line for line in out.splitlines() if line.strip().startswith("1")][:2]
    assert cells[0].endswith("!")
    assert "!" not in cells[1]


def test_bad_requests_are_one_line(capsys):
    density = ["--estimator", "density"]
    err = refuse(capsys, *density)
    assert "--bounds LO HI is missing" in err
    err = refuse(capsys, *density, *CURVES)
    assert "--domain is no part of a density" in err
    err = refuse(capsys, *density, "--bounds", "0", "1", "--points", "9")
    assert "--points is no part of a density" in err
    err = refuse(capsys, *density, "--bounds", "0", "1", "--mechanism", "laplace")
    assert "--mechanism is a law for curves" in err
    err = refuse(capsys, *density, "--bounds", "1", "0")
    assert "--bounds must be two finite numbers" in err
    err = refuse(capsys, "--estimator", "median", *CURVES)
    assert "invalid choice: 'median'" in err
    for kind in ("mean", "covariance"):
        err = refuse(capsys, "--estimator", kind, "--bounds", "0", "1")
        assert "--domain A B is missing" in err
        err = refuse(capsys, "--estimator", kind, *CURVES, "--epsilon", "0")
        assert "epsilon must be" in err
        err = refuse(capsys, "--estimator", kind, *CURVES, "--delta", "2")
        assert "delta must be" in err


def test_example_of_the_help_runs():
    words = ["plan", "--bounds", "500", "3500", "--domain", "0", "24", "--parameters"]
    command = [sys.executable, "-W", "error", "-m", "skfuncpriv", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Parameters that public facts choose" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 88
