"""The command ``mean --sparse``: what it releases, and that nothing else is shown."""

from pathlib import Path

import numpy as np
import pytest

from skfuncpriv import Curves, PrivateSparseMean
from skfuncpriv.privacy import BudgetLedger

from .test_cli import read_csv, refuse, run, without_numbers, write_rows

N = 120
RNG = np.random.default_rng(3)
TIMES = np.sort(RNG.uniform(0, 1, (N, 6)), axis=1) * RNG.uniform(0.3, 0.8, (N, 1))
VALUES = 1 + TIMES + RNG.normal(0, 0.1, TIMES.shape)
PEOPLE = [f"person-{i}" for i in range(N)]
PUBLIC = ["--bounds", "0", "3", "--domain", "0", "1", "--epsilon", "8"]
LONG = ["--id", "who", "--t", "when", "--y", "size"]
MEAN = ["mean", "data.csv", *PUBLIC]


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write_long(times=TIMES, values=VALUES):
    rows = [
        [person, t, y]
        for person, own, curve in zip(PEOPLE, times, values, strict=True)
        for t, y in zip(own.tolist(), curve.tolist(), strict=True)
    ]
    write_rows("data.csv", ["who", "when", "size"], rows)


def write_wide():
    X = np.tile(1 + np.linspace(0, 1, 9), (N, 1)) + RNG.normal(0, 0.1, (N, 9))
    X[N // 4 :, 6:] = np.nan
    cells = [["" if np.isnan(y) else y for y in row] for row in X.tolist()]
    write_rows("data.csv", [f"p{j}" for j in range(9)], cells)
    return X


def sparse(**facts):
    return PrivateSparseMean(bounds=(0, 3), domain=(0, 1), epsilon=8.0, **facts)


def released(model):
    columns = [model.grid_, model.coverage_, model.mean_, model.noise_std_]
    return np.stack([*columns, *model.noise_band()], axis=1)


def test_long_table_gives_what_the_estimator_gives(capsys):
    write_long()
    words = [*LONG, "--group", "who", "--sparse", "--seed", "4", "--plot", "p.png"]
    code, out, err = run(capsys, *MEAN, *words)
    assert (code, err) == (0, "")
    table = {
        "who": np.repeat(PEOPLE, 6),
        "when": TIMES.ravel(),
        "size": VALUES.ravel(),
    }
    curves = Curves.from_long(table, "who", "when", "size", domain=(0, 1))
    model = sparse(random_state=4).fit(curves, groups=np.array(PEOPLE))
    names, rows = read_csv("private_mean.csv")
    parts = ["t", "coverage", "mean", "noise_std", "lower", "upper", "seeded"]
    assert names == parts
    np.testing.assert_array_equal(rows[:, :6].astype(float), released(model))
    assert f"Private mean of {N} people" in out
    assert f"{model.law_.size} coefficients" in out
    assert "coverage their released share" in out
    assert "constant" not in out
    assert Path("p.png").stat().st_size > 1000


def test_wide_table_reads_empty_cells_as_not_observed(capsys):
    X = write_wide()
    code, _, err = run(capsys, *MEAN, "--sparse", "--seed", "4")
    assert (code, err) == (0, "")
    model = sparse(random_state=4).fit(X)
    _, rows = read_csv("private_mean.csv")
    np.testing.assert_array_equal(rows[:, :6].astype(float), released(model))
    assert model.coverage_[-1] < 0.5 < model.coverage_[0]


def test_mean_of_extended_curves_says_what_it_is(capsys):
    write_long()
    code, out, _ = run(capsys, *MEAN, *LONG)
    assert code == 0
    assert "that flattens the mean. --sparse gives" in out
    assert "per curve (neighbours: replace one curve)" in out
    assert "Protected is one curve (all rows with the same id)" in out


@pytest.mark.parametrize(
    "words", [["--norm-bound", "1"], ["--no-denoise"], ["--missing", "interpolate"]]
)
def test_options_of_whole_curves_are_refused(capsys, words):
    write_long()
    ledger = BudgetLedger("b.db", epsilon=9.0)
    err = refuse(capsys, *MEAN, *LONG, "--sparse", *words, "--ledger", "b.db")
    assert f"{words[0]} does not go with --sparse" in err
    assert ledger.history() == []


def test_no_cell_and_no_person_is_in_any_output(capsys):
    write_long()
    BudgetLedger("b.db", epsilon=9.0, unit="person")
    words = [*LONG, "--group", "who", "--sparse", "--ledger", "b.db"]
    code, out, err = run(capsys, *MEAN, *words, "--plot", "p.png", "--json", "g.json")
    assert code == 0
    paths = [path for path in Path().iterdir() if path.name != "data.csv"]
    assert {path.name for path in paths} == {
        "b.db", "p.png", "g.json", "private_mean.csv"
    }  # fmt: skip
    written = [out.encode(), err.encode(), *(path.read_bytes() for path in paths)]
    secrets = [
        repr(cell) for cell in [*TIMES.ravel().tolist(), *VALUES.ravel().tolist()]
    ]
    secrets += PEOPLE
    assert all(len(secret) > 7 for secret in secrets)  # nothing is there by chance
    for text in written:
        assert [secret for secret in secrets if secret.encode() in text] == []


def test_neighbours_print_the_same_but_for_released_numbers(capsys):
    """Also if one person is observed elsewhere, and of another size."""
    outputs = []
    for is_neighbour in (False, True):
        times, values = TIMES.copy(), VALUES.copy()
        if is_neighbour:
            times[0], values[0] = 0.95 + np.arange(6) / 1000, 1e300
        write_long(times, values)
        words = [*LONG, "--sparse", "--seed", "5", "--force"]
        code, out, err = run(capsys, *MEAN, *words)
        assert (code, err) == (0, "")
        outputs.append(without_numbers(out))
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("7.25 mg", "text that is no number"), ("inf", ""), ("NA", "")],
)
def test_malformed_cell_is_refused_without_a_quote(capsys, cell, expected):
    write_rows(
        "data.csv", ["who", "when", "size"], [["ann", 0.5, cell], ["bob", 0.7, 1]]
    )
    ledger = BudgetLedger("b.db", epsilon=9.0)
    err = refuse(capsys, *MEAN, *LONG, "--sparse", "--ledger", "b.db")
    assert expected in err
    assert "7.25" not in err
    assert "ann" not in err
    assert ledger.history() == []
