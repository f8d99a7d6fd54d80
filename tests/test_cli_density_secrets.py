"""The command ``density`` shows nothing of the rows it read but what is released."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from skfuncpriv import PrivateKDE
from skfuncpriv.privacy import BudgetLedger

from .test_cli import refuse, run, without_numbers, write_rows
from .test_cli_density import AGE, BOTH, PEOPLE, POINTS, write_points


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_no_cell_and_no_person_is_in_any_output(capsys):
    write_points()
    BudgetLedger("b.db", epsilon=3.0, unit="person")
    words = ["density", "data.csv", *BOTH, "--group", "who", "--ledger", "b.db"]
    words += ["--sample", "500", "--plot", "p.png", "--json", "g.json"]
    code, out, err = run(capsys, *words)
    assert code == 0
    written = [out.encode(), err.encode()]
    paths = [path for path in Path().iterdir() if path.name != "data.csv"]
    names = {"b.db", "p.png", "g.json", "private_density.csv", "private_sample.csv"}
    assert {path.name for path in paths} == names
    written += [path.read_bytes() for path in paths]
    secrets = [repr(cell) for cell in POINTS.ravel().tolist()] + PEOPLE
    assert all(len(secret) > 7 for secret in secrets)  # nothing is there by chance
    for text in written:
        assert [secret for secret in secrets if secret.encode() in text] == []


def test_neighbours_print_the_same_but_for_released_numbers(capsys):
    """Also if the person has other rows, and more of them."""
    outputs = []
    for is_neighbour in (False, True):
        points, people = POINTS, PEOPLE
        if is_neighbour:
            points = np.concatenate([np.full((60, 3), 1e300), POINTS[1:]])
            people = ["person-0"] * 60 + PEOPLE[1:]
        write_points("data.csv", points, people)
        words = ["density", "data.csv", *AGE, "--group", "who", "--sample", "7"]
        words += ["--seed", "5", "--force", "--plot", "p.png"]
        code, out, err = run(capsys, *words)
        assert (code, err) == (0, "")
        shapes = [
            without_numbers(Path(name).read_text()).count("\n")
            for name in ("private_density.csv", "private_sample.csv")
        ]
        outputs.append((without_numbers(out), shapes))
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("value", [1e308, -1e308, 5e-324, 120.0])
def test_any_number_is_moved_to_the_bounds_without_a_word(capsys, value):
    points = POINTS.copy()
    points[0] = value
    write_points("data.csv", points)
    for mechanism in ("binned", "iclp", "gaussian_process"):
        words = ["--mechanism", mechanism, "--delta", "1e-6", "--force"]
        code, _, err = run(capsys, "density", "data.csv", *AGE, *words)
        assert (code, err) == (0, "")


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("age\n7.25 mg\n", [], "column 'age' holds text that is no number"),
        ("age\n2024-07-25\n", [], "times as numbers since a public origin"),
        ("age;x\n7,25;1\n", [], "write numbers with a point"),
        ("age\n7.25\nNA\n", [], "keep a row for everybody"),
        ("age\n7.25\ninf\n", [], "keep a row for everybody"),
        ("age,who\n7.25,\n", ["--group", "who"], "'who' must not have missing cells"),
        ("age,x\n1,2\n7.25\n", [], "as many cells as the first line"),
        ("age,age\n7.25,2\n", [], "must be distinct"),
        ("5,7.25\n7.25,1\n", [], "does the file have a header line?"),
        ("7.25,secret\n1,x\n", [], "does the file have a header line?"),
        ("age\n", [], "rows below it"),
        ("", [], "rows below it"),
        ("\n\n", [], "rows below it"),
        ('age\n"7.25\n', [], "is not a CSV table"),
    ],
)
def test_malformed_file_is_refused_without_a_quote(capsys, text, words, expected):
    Path("data.csv").write_text(text)
    unit = "person" if "--group" in words else "row"
    ledger = BudgetLedger("b.db", epsilon=9.0, unit=unit)
    words = ["density", "data.csv", *AGE, *words, "--ledger", "b.db"]
    err = refuse(capsys, *words)
    assert expected in err
    assert "7.25" not in err
    assert "secret" not in err.replace("its columns are 5, 7.25", "")
    assert len(err.splitlines()) == 1
    assert ledger.history() == []


def test_broken_files_are_refused(capsys):
    whole = gzip.compress(b"age\n" + b"7.25\n" * 9000)
    damaged = whole[:40] + bytes(8) + whole[48:]
    for name, content in (
        ("data.csv", b"age\n\xff\xfe,7.25\n"),
        ("data.csv.gz", b"age\n7.25\n"),
        ("data.csv.gz", whole[:-20]),
        ("data.csv.gz", damaged),
    ):
        Path(name).write_bytes(content)
        err = refuse(capsys, "density", name, *AGE)
        assert err == "error: the file is not a CSV table in UTF-8\n"
    err = refuse(capsys, "density", "absent.csv", *AGE)
    assert err == "error: 'absent.csv': No such file or directory\n"
    Path("bad.parquet").write_bytes(b"hidden 7.25")
    err = refuse(capsys, "density", "bad.parquet", *AGE)
    assert err == "error: the file cannot be read as Parquet\n"
    err = refuse(capsys, "density", "data.xlsx", *AGE)
    assert err == "error: Excel files are not read: save the table as CSV\n"


@pytest.mark.parametrize(
    "failure",
    [
        lambda *_, **__: float("hidden 7.25"),
        lambda *_, **__: {}["hidden 7.25"],
        lambda *_, **__: np.zeros(3).reshape(725, 7),
    ],
)
def test_internal_error_shows_no_text(capsys, monkeypatch, failure):
    write_rows("data.csv", ["age"], POINTS[:, :1].tolist())
    monkeypatch.setattr(PrivateKDE, "fit", failure)
    code, out, err = run(capsys, "density", "data.csv", *AGE)
    assert (code, out) == (1, "")
    assert err.startswith("internal error: ")
    assert "hidden" not in err
    assert "725" not in err


def test_only_public_warnings_are_shown(capsys, monkeypatch):
    import warnings

    fit = PrivateKDE.fit

    def noisy_fit(*args, **kwargs):
        warnings.warn("hidden 7.25", RuntimeWarning, stacklevel=1)
        return fit(*args, **kwargs)

    monkeypatch.setattr(PrivateKDE, "fit", noisy_fit)
    write_rows("data.csv", ["age"], POINTS[:, :1].tolist())
    assert run(capsys, "density", "data.csv", *AGE)[::2] == (0, "")
