"""The command line, as its users call it."""

import csv
import gzip
import json
import re
import subprocess
import sys
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from skfuncpriv import config
from skfuncpriv.__main__ import main
from skfuncpriv.datasets import make_curves
from skfuncpriv.iclp import ICLPMean
from skfuncpriv.privacy import BudgetLedger, PrivacyGuarantee

PUBLIC = ["--bounds", "-2", "2", "--domain", "0", "1"]
N_PEOPLE, N_POINTS = 40, 8


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def data():
    return make_curves(N_PEOPLE, n_points=N_POINTS, random_state=0).data


def write_rows(path, names, rows):
    with Path(path).open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    return path


def write_wide(path, data, names=None, **labels):
    """Curves in rows, with columns of labels before them."""
    names = names or [f"p{j}" for j in range(data.shape[1])]
    rows = [
        [*(column[i] for column in labels.values()), *curve]
        for i, curve in enumerate(data.tolist())
    ]
    return write_rows(path, [*labels, *names], rows)


def write_long(path, data, owners=None):
    """Observations in rows, at times of each curve's own."""
    rows = [
        [f"c{i}", f"a{owners[i] if owners else i}", (j + i / 100) / 10, y, -y]
        for i, curve in enumerate(data.tolist())
        for j, y in enumerate(curve)
    ]
    return write_rows(path, ["curve", "person", "when", "x", "y"], rows)


def read_csv(path):
    with Path(path).open(newline="") as file:
        names, *rows = list(csv.reader(file))
    return names, np.array(rows)


def run(capsys, *words):
    """Exit code, stdout, stderr."""
    code = main([str(word) for word in words])
    output = capsys.readouterr()
    return code, output.out, output.err


def refuse(capsys, *words):
    """The error of a request that must be refused with nothing written."""
    before = set(Path().rglob("*"))
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert set(Path().rglob("*")) == before
    assert err.startswith("error: ")
    assert "Traceback" not in err
    return err


def without_numbers(text):
    """A text without released numbers and the blanks that align them."""
    return re.sub(r" +", " ", re.sub(r"-?\d+\.\d+(e-?\d+)?", "#", text))


# --- mean: what is released ---------------------------------------------------------


def test_wide_table_gives_what_the_estimator_gives(capsys, data):
    write_wide("data.csv", data)
    words = ["mean", "data.csv", *PUBLIC, "--seed", "3", "--epsilon", "2"]
    code, out, err = run(capsys, *words, "--out", "mean.csv", "--level", "0.8")
    model = ICLPMean(bounds=(-2, 2), domain=(0, 1), epsilon=2.0, random_state=3)
    model.fit(data)
    names, rows = read_csv("mean.csv")
    assert (code, err) == (0, "")
    assert names == ["t", "mean", "noise_std", "lower", "upper", "seeded"]
    assert set(rows[:, 5]) == {"SEEDED"}
    released = [model.grid_, model.mean_, model.noise_std_, *model.noise_band(0.8)]
    np.testing.assert_array_equal(rows[:, :5].astype(float), np.transpose(released))
    assert str(model.guarantee_) in out
    assert "SEEDED" in out
    assert f"Private mean of {N_PEOPLE} curves" in out
    assert "Wrote mean.csv" in out


def test_default_is_secure_and_writes_the_default_file(capsys, data):
    write_wide("data.csv", data)
    tables = []
    for _ in range(2):
        code, out, _ = run(capsys, "mean", "data.csv", *PUBLIC, "--force")
        assert code == 0
        assert "SEEDED" not in out
        assert "Wrote private_mean.csv" in out
        tables.append(read_csv("private_mean.csv"))
    assert tables[0][0] == ["t", "mean", "noise_std", "lower", "upper"]
    assert (tables[0][1][:, 1] != tables[1][1][:, 1]).any()


@pytest.mark.parametrize(
    ("words", "parameters"),
    [
        (["--delta", "1e-6", "--mechanism", "gaussian"], {"mechanism": "gaussian"}),
        (["--mechanism", "laplace"], {"mechanism": "laplace"}),
        (["--norm-bound", "1.5"], {"norm_bound": 1.5}),
        (["--no-denoise"], {"denoise": False}),
        (["--grid", "0,.1,.2,.3,.4,.5,.6,1"], {"grid": [*np.arange(7) / 10, 1.0]}),
    ],
)
def test_options_reach_the_estimator(capsys, data, words, parameters):
    write_wide("data.csv", data)
    code, _, _ = run(capsys, "mean", "data.csv", *PUBLIC, "--seed", "0", *words)
    delta = 1e-6 if "--delta" in words else 0.0
    model = ICLPMean(
        bounds=(-2, 2), domain=(0, 1), delta=delta, random_state=0, **parameters
    ).fit(data)
    _, rows = read_csv("private_mean.csv")
    assert code == 0
    np.testing.assert_allclose(rows[:, 0].astype(float), model.grid_)
    np.testing.assert_allclose(rows[:, 1].astype(float), model.mean_)


def test_columns_drop_and_group_choose_the_curve(capsys, data):
    people = [f"a{i // 2}" for i in range(N_PEOPLE)]
    notes = ["text"] * N_PEOPLE
    write_wide("data.csv", data, who=people, note=notes, age=notes)
    expected = ICLPMean(bounds=(-2, 2), domain=(0, 1), random_state=0)
    expected.fit(data, groups=people)
    for choice in (
        ["--drop", "note,age"],
        ["--columns", "p0:p7"],
        ["--columns", "p0,p1,p2:p6,p7"],
        ["--columns", "note:p7", "--drop", "note, age"],
    ):
        words = [
            "mean",
            "data.csv",
            *PUBLIC,
            "--force",
            "--group",
            "who",
            "--seed",
            "0",
            *choice,
        ]
        code, out, _ = run(capsys, *words)
        _, rows = read_csv("private_mean.csv")
        assert code == 0
        assert f"Private mean of {N_PEOPLE // 2} people" in out
        assert "per person" in out
        np.testing.assert_array_equal(rows[:, 1].astype(float), expected.mean_)


def test_grid_from_the_names_of_columns_or_a_file(capsys, data):
    grid = [0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1]
    write_wide("data.csv", data, names=[str(point) for point in grid])
    Path("grid.txt").write_text("0\n0.05\n0.1, 0.2 0.4\n0.6\n0.8\n1\n")
    for choice in ("columns", "grid.txt"):
        code, _, _ = run(
            capsys, "mean", "data.csv", *PUBLIC, "--force", "--grid", choice
        )
        assert code == 0
        np.testing.assert_array_equal(
            read_csv("private_mean.csv")[1][:, 0].astype(float), grid
        )
    err = refuse(capsys, "mean", "data.csv", *PUBLIC, "--force", "--out", "x.csv")
    assert "pass --grid columns to use them" in err


def test_negative_numbers_are_no_options(capsys, data):
    write_wide("data.csv", data[:, :3])
    words = ["--bounds", "-2e0", "2e0", "--domain", "-1", "1", "--grid", "-1,0,1"]
    assert run(capsys, "mean", "data.csv", *words)[0] == 0
    assert read_csv("private_mean.csv")[1][0, 0] == "-1.0"


def test_missing_values(capsys, data):
    data[0, 2] = data[1] = np.nan
    write_wide("data.csv", data)
    Path("data.csv").write_text(Path("data.csv").read_text().replace("nan", "NA"))
    err = refuse(capsys, "mean", "data.csv", *PUBLIC)
    assert "pass --missing interpolate" in err
    words = ["mean", "data.csv", *PUBLIC, "--missing", "interpolate"]
    code, out, _ = run(capsys, *words)
    assert code == 0
    assert f"mean of {N_PEOPLE} curves" in out  # a curve without values counts


def test_long_table(capsys, data):
    write_long("long.csv", data, owners=[i // 2 for i in range(N_PEOPLE)])
    words = [
        "mean",
        "long.csv",
        "--id",
        "curve",
        "--t",
        "when",
        "--y",
        "x",
        *PUBLIC,
        "--force",
    ]
    assert run(capsys, *words)[0] == 0
    assert len(read_csv("private_mean.csv")[1]) == 101
    code, out, _ = run(capsys, *words, "--group", "person", "--grid", "0,0.5,1")
    assert code == 0
    assert f"Private mean of {N_PEOPLE // 2} people" in out
    assert read_csv("private_mean.csv")[1][:, 0].tolist() == ["0.0", "0.5", "1.0"]


def test_long_table_of_vectors(capsys, data):
    write_long("long.csv", data)
    words = ["mean", "long.csv", "--id", "curve", "--t", "when", "--y", "x,y", *PUBLIC]
    code, out, _ = run(capsys, *words, "--grid", "0,0.5,1", "--plot", "plot.png")
    assert code == 0
    names, rows = read_csv("private_mean.csv")
    assert names == [
        "t",
        *("mean_x", "noise_std_x", "lower_x", "upper_x"),
        *("mean_y", "noise_std_y", "lower_y", "upper_y"),
    ]
    assert rows.shape == (3, 9)
    assert "mean_y" in out
    assert Path("plot.png").read_bytes().startswith(b"\x89PNG")


def test_duplicates_in_a_long_table(capsys):
    write_rows("long.csv", ["id", "t", "y"], [["a", 0, 1], ["a", 0, 2], ["b", 1, 0]])
    words = ["mean", "long.csv", "--id", "id", "--t", "t", "--y", "y", *PUBLIC]
    assert "--duplicates mean" in refuse(capsys, *words)
    assert run(capsys, *words, "--duplicates", "mean")[0] == 0


@pytest.mark.parametrize("form", ["gzip", "semicolons", "tabs", "bom", "crlf", "blank"])
def test_forms_of_csv(capsys, data, form):
    write_wide("data.csv", data)
    text = Path("data.csv").read_text().replace("\r\n", "\n")
    path = Path("other.csv.gz" if form == "gzip" else "other.csv")
    encoded = {
        "gzip": gzip.compress(text.encode()),
        "semicolons": text.replace(",", ";").encode(),
        "tabs": text.replace(",", "\t").encode(),
        "bom": text.encode("utf-8-sig"),
        "crlf": text.replace("\n", "\r\n").encode(),
        "blank": (text.replace(",", " , ") + "\n").encode(),
    }
    path.write_bytes(encoded[form])
    tables = []
    for name in ("data.csv", path):
        assert run(capsys, "mean", name, *PUBLIC, "--force", "--seed", "0")[0] == 0
        tables.append(Path("private_mean.csv").read_text())
    assert tables[0] == tables[1]


def test_blanks_do_not_split_a_person(capsys):
    Path("data.csv").write_text("who,p0,p1\nann,0,1\n ann ,1,1\nbob,0,0\n")
    _, out, _ = run(capsys, "mean", "data.csv", *PUBLIC, "--group", "who")
    assert "Private mean of 2 people" in out


def test_parquet(capsys, data):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(data, columns=[f"p{j}" for j in range(N_POINTS)])
    frame.insert(0, "who", [i // 2 for i in range(N_PEOPLE)])
    frame.to_parquet("data.parquet")
    write_wide("data.csv", data, who=frame["who"].tolist())
    tables = []
    for name in ("data.csv", "data.parquet"):
        words = ["mean", name, *PUBLIC, "--force", "--group", "who", "--seed", "0"]
        assert run(capsys, *words)[0] == 0
        tables.append(Path("private_mean.csv").read_text())
    assert tables[0] == tables[1]
    Path("bad.parquet").write_bytes(b"secret 7.25")
    err = refuse(capsys, "mean", "bad.parquet", *PUBLIC, "--force")
    assert err == "error: the file cannot be read as Parquet\n"


def test_json_is_the_guarantee(capsys, data):
    write_wide("data.csv", data)
    words = ["mean", "data.csv", *PUBLIC, "--force", "--seed", "1", "--json"]
    _, out, _ = run(capsys, *words, "guarantee.json")
    written = PrivacyGuarantee.from_dict(json.loads(Path("guarantee.json").read_text()))
    assert written == PrivacyGuarantee(definition="pure-dp", epsilon=1.0, seeded=True)
    assert "Wrote guarantee.json" in out
    _, out, err = run(capsys, *words, "-")
    assert PrivacyGuarantee.from_dict(json.loads(out)) == written
    assert "Wrote private_mean.csv" in err


def test_plot_names_the_columns_of_a_long_table(capsys, data, monkeypatch):
    from matplotlib.figure import Figure

    figures = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: figures.append(self))
    write_long("long.csv", data)
    words = ["mean", "long.csv", "--id", "curve", "--t", "when", "--y", "x", *PUBLIC]
    assert run(capsys, *words, "--plot", "plot.png", "--seed", "0")[0] == 0
    (axes,) = figures[0].axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("when", "x")
    title = axes.get_title(loc="left").replace("\n", " ")
    assert "per curve (neighbours: replace one curve)" in " ".join(title.split())
    assert "SEEDED" in title
    words = [*words, "--force", "--plot", "plot.png"]
    words += ["--xlabel", "hours", "--ylabel", "kW"]
    assert run(capsys, *words)[0] == 0
    (axes,) = figures[1].axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("hours", "kW")
    words[words.index("x")] = "x,y"
    assert run(capsys, *words)[0] == 0
    upper, lower = figures[2].axes
    assert (upper.get_ylabel(), lower.get_ylabel()) == ("x", "y")
    assert (upper.get_xlabel(), lower.get_xlabel()) == ("", "hours")
    assert figures[2].get_supylabel() == "kW"


def test_noise_that_dominates_is_said(capsys, data):
    write_wide("data.csv", data[:2])
    code, _, err = run(capsys, "mean", "data.csv", *PUBLIC, "--epsilon", "0.01")
    assert code == 0
    assert err.startswith("warning: ")
    assert len(err.splitlines()) == 1


# --- mean: which columns are the curve ----------------------------------------------


@pytest.mark.parametrize(
    "names",
    [
        ["hh1", "hh2", "hh10"],
        ["0.5", "1", "1.5"],
        ["00:30", "01:00", "01:30"],
        ["JAN", "FEB", "MAR"],
        ["Monday", "Tuesday", "Wednesday"],
        ["2024-01-01", "2024-01-02", "2024-01-03"],
    ],
)
def test_family_of_columns_is_a_curve_and_is_named(capsys, data, names):
    write_wide("data.csv", data[:, :3], names=names)
    words = ["--grid", "0,0.5,1"]
    code, out, _ = run(capsys, "mean", "data.csv", *PUBLIC, *words)
    assert code == 0
    line = f"  curve      {names[0]} ... {names[2]} (3 points, t = 0 to 1)\n"
    assert line in out.partition("noise_std")[0]


@pytest.mark.parametrize(
    "names",
    [
        ["id", "agedays", "weightkg"],
        ["week", "hh1", "hh2"],
        ["JAN", "FEB", "TOTAL"],
        ["mon", "feb", "wed"],
        ["x1", "x2", "y3"],
        ["id", "1", "2"],
    ],
)
def test_columns_that_are_no_family_must_be_chosen(capsys, data, names):
    write_wide("data.csv", data[:, :3], names=names)
    err = refuse(capsys, "mean", "data.csv", *PUBLIC)
    assert f"the columns {', '.join(names)} do not look like one curve" in err
    assert "with --columns first:last" in err
    assert "use --id, --t and --y" in err
    words = ["--columns", f"{names[0]}:{names[-1]}"]
    assert run(capsys, "mean", "data.csv", *PUBLIC, *words)[0] == 0


def test_names_that_share_a_text_give_the_grid_only_on_request(capsys, data):
    names = ["age_0", "age_0.25", "age_1"]
    write_wide("data.csv", data[:, :3], names=names)
    err = refuse(capsys, "mean", "data.csv", *PUBLIC)
    assert "not equally spaced: pass --grid columns" in err
    assert run(capsys, "mean", "data.csv", *PUBLIC, "--grid", "columns")[0] == 0
    assert read_csv("private_mean.csv")[1][:, 0].tolist() == ["0.0", "0.25", "1.0"]
    write_wide("data.csv", data[:, :3], names=["JAN", "FEB", "MAR"])
    words = ["mean", "data.csv", *PUBLIC, "--grid", "columns", "--out", "new.csv"]
    err = refuse(capsys, *words)
    assert "the names JAN, FEB, MAR cannot be read as numbers" in err
    assert "--grid 1,1.25,1.5,... or --grid points.txt" in err


def test_long_table_says_what_a_curve_is(capsys, data):
    write_long("long.csv", data)
    words = ["mean", "long.csv", "--id", "curve", "--t", "when", "--y", "x", *PUBLIC]
    _, out, _ = run(capsys, *words)
    assert "curve      x over when, a curve for each curve" in out
    assert "epsilon = 1 per curve (neighbours: replace one curve)" in out
    assert "per row" not in out
    assert "Protected is one curve (all rows with the same id)" in out
    assert "the curve is taken as\nconstant" in out
    _, out, _ = run(capsys, *words, "--group", "person", "--force")
    assert "per person" in out
    assert "Protected" not in out


def test_each_output_may_have_bounds_of_its_own(capsys, data):
    write_long("long.csv", data)
    words = ["mean", "long.csv", "--id", "curve", "--t", "when", "--y", "x,y"]
    words += ["--domain", "0", "1", "--grid", "0,1", "--epsilon", "1e9", "--force"]
    released = []
    for bounds in (["-1", "1"], ["-1", "1", "-3", "0.5"]):
        assert run(capsys, *words, "--bounds", *bounds, "--seed", "0")[0] == 0
        released.append(read_csv("private_mean.csv")[1][:, :-1].astype(float))
    assert not np.allclose(released[0], released[1])
    err = refuse(capsys, *words, "--bounds", "-1", "1", "3", "-3")
    assert "--bounds must be two finite numbers" in err


def test_text_times_and_excel_are_refused_with_the_remedy(capsys):
    Path("long.csv").write_text("id,t,y\na,2024-07-25,1\n")
    words = ["--id", "id", "--t", "t", "--y", "y", *PUBLIC]
    err = refuse(capsys, "mean", "long.csv", *words)
    assert "convert times to hours or days since a public origin" in err
    err = refuse(capsys, "mean", "long.xlsx", *PUBLIC)
    assert err == "error: Excel files are not read: save the table as CSV\n"


@pytest.mark.parametrize("option", ["--out", "--plot", "--json"])
def test_existing_files_are_kept_unless_forced(capsys, data, option):
    write_wide("data.csv", data)
    name = {"--out": "old.csv", "--plot": "old.png", "--json": "old.json"}[option]
    Path(name).write_text("paid for")
    BudgetLedger("b.db", epsilon=3.0)
    words = ["mean", "data.csv", *PUBLIC, "--ledger", "b.db", option, name]
    assert "replace it with --force" in refuse(capsys, *words)
    assert Path(name).read_text() == "paid for"
    assert BudgetLedger("b.db").spent.epsilon == 0
    assert run(capsys, *words, "--force")[0] == 0
    assert Path(name).read_bytes() != b"paid for"


# --- mean: nothing private is shown -------------------------------------------------


@pytest.mark.parametrize("long", [False, True])
def test_neighbours_print_the_same(capsys, data, long):
    """Only released numbers differ, also when a person has other gaps and times."""
    outputs = []
    for neighbour in (False, True):
        if neighbour:
            data[3] = 1e6
            data[3, 2:] = np.nan
        if long:
            kept = [
                [i // 2, f"c{i}", j / 10 + neighbour / 100 * (i == 3), y]
                for i, curve in enumerate(data.tolist())
                for j, y in enumerate(curve)
                if y == y
            ]
            write_rows("data.csv", ["who", "id", "t", "y"], kept)
            words = ["--id", "id", "--t", "t", "--y", "y"]
        else:
            write_wide("data.csv", data, who=[i // 2 for i in range(N_PEOPLE)])
            words = []
        code, out, err = run(
            *(
                capsys,
                "mean",
                "data.csv",
                *PUBLIC,
                "--force",
                "--group",
                "who",
                "--seed",
                "5",
            ),
            *("--missing", "interpolate", "--json", "-", *words),
        )
        assert code == 0
        outputs.append((out, without_numbers(err), len(read_csv("private_mean.csv"))))
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p0,p1\n1,7.25 mg\n", "column 'p1' holds text that is no number"),
        ("p0;p1\n1;7,25\n", "write numbers with a point"),
        ("p0,p1\n1,<7.25\n", "a code for missing, leave the cell empty or write NA"),
        ("1,2,5\n1,7.25,5\n", "does the file have no header line?"),
        ("1,1,5\n1,7.25,5\n", "does the file have a header line?"),
        ("ann,2,5\nbob,7.25,5\n", "does the file have a header line?"),
        ("p0,p1\n1,inf\n", "Input contains infinity"),
        ("p0,p1\n1,2\n7.25\n", "as many cells as the first line"),
        ("p0,p0\n7.25,2\n", "must be distinct"),
        ("p0,p1\n", "rows below it"),
        ("", "rows below it"),
        (",p0\n0,7.25\n", "as when pandas writes its index"),
        ('p0,p1\n1,"7.25\n', "is not a CSV table"),
    ],
)
def test_malformed_file_is_refused_without_a_quote(capsys, text, expected):
    Path("data.csv").write_text(text)
    err = refuse(capsys, "mean", "data.csv", *PUBLIC)
    assert expected in err
    assert "7.25" not in err
    assert len(err.splitlines()) == 1


def test_binary_file_is_refused(capsys):
    for name in ("data.csv", "data.csv.gz"):
        Path(name).write_bytes(b"a,b\n\xff\xfe,7.25\n")
        err = refuse(capsys, "mean", name, *PUBLIC)
        assert err == "error: the file is not a CSV table in UTF-8\n"


def test_index_column_without_name_can_be_left_out(capsys):
    Path("data.csv").write_text(",p0,p1\n0,0.5,1\n1,0.5,1\n")
    assert run(capsys, "mean", "data.csv", *PUBLIC, "--columns", "p0:p1")[0] == 0


@pytest.mark.parametrize(
    "failure",
    [
        lambda *_, **__: float("secret 7.25"),
        lambda *_, **__: {}["secret 7.25"],
        lambda *_, **__: np.zeros(3).reshape(725, 7),
    ],
)
def test_internal_error_shows_no_text(capsys, data, monkeypatch, failure):
    write_wide("data.csv", data)
    monkeypatch.setattr(ICLPMean, "fit", failure)
    code, out, err = run(capsys, "mean", "data.csv", *PUBLIC)
    assert (code, out) == (1, "")
    assert err.startswith("internal error: ")
    assert "secret" not in err
    assert "725" not in err
    assert len(err.splitlines()) == 1


def test_only_public_warnings_are_shown(capsys, data, monkeypatch):
    import warnings

    fit = ICLPMean.fit

    def noisy_fit(*args, **kwargs):
        warnings.warn("secret 7.25", RuntimeWarning, stacklevel=1)
        return fit(*args, **kwargs)

    monkeypatch.setattr(ICLPMean, "fit", noisy_fit)
    write_wide("data.csv", data)
    assert run(capsys, "mean", "data.csv", *PUBLIC)[::2] == (0, "")


def test_interrupt(capsys, data, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    write_wide("data.csv", data)
    monkeypatch.setattr(ICLPMean, "fit", interrupt)
    assert run(capsys, "mean", "data.csv", *PUBLIC) == (130, "", "interrupted\n")


# --- mean: refused requests ---------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "missing", "example"),
    [
        ([], ["--bounds", "--domain"], "--bounds 0 100 --domain 0 24"),
        (["--bounds", "-5", "40"], ["--domain"], "--bounds -5 40 --domain 0 24"),
        (["--domain", "0", "2.5"], ["--bounds"], "--bounds 0 100 --domain 0 2.5"),
    ],
)
@pytest.mark.parametrize("command", ["mean data.csv", "plan"])
def test_missing_intervals_are_explained(capsys, command, given, missing, example):
    err = refuse(capsys, *command.split(), *given)
    for option in ("--bounds", "--domain"):
        assert (re.search(f"{option} . *.* is missing", err) is not None) == (
            option in missing
        )
    for word in ("public knowledge", "physical limits", "instrument", "earlier study"):
        assert word in err
    assert "Never take the smallest" in err
    assert f"example: python -m skfuncpriv {command} {example}" in err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--bounds", "2", "-2"], "--bounds must be two finite numbers"),
        (["--bounds", "0", "nan"], "--bounds must be two finite numbers"),
        (["--domain", "0", "0"], "--domain must be two finite numbers"),
        (["--bounds", "0"], "needs pairs of numbers"),
        (["--bounds", "0", "1", "2", "3"], "or one for each name of --y"),
        (["--bounds", "500,3500"], "two numbers with a space, --bounds 500 3500"),
        (["--domain", "0,24"], "two numbers with a space"),
        (["--epsilon", "0"], "epsilon must be a finite number > 0"),
        (["--epsilon", "nan"], "epsilon must be a finite number > 0"),
        (["--epsilon", "one"], "invalid float value: 'one'"),
        (["--delta", "1"], "delta must be a number in [0, 1)"),
        (["--mechanism", "gaussian"], "--mechanism gaussian needs delta > 0"),
        (["--mechanism", "magic"], "invalid choice: 'magic'"),
        (["--norm-bound", "-1"], "norm_bound must be a finite number > 0"),
        (["--level", "1"], "must be between 0 and 1"),
        (["--missing", "drop"], "invalid choice: 'drop'"),
        (["--grid", "0,x"], "--grid must be numbers like 0,0.5,1"),
        (["--grid", "0,1"], "it has shape (2,), the curves have 8 points"),
        (["--grid", "data.csv"], "'data.csv' must hold numbers"),
        (["--grid", "columns"], "grid must lie inside domain"),
        (["--columns", "p0,p2,p3"], "not equally spaced: pass --grid columns"),
        (["--group", "nobody"], "no column 'nobody'; its columns are p0, p1"),
        (["--drop", "p9"], "no column 'p9'"),
        (["--columns", "p0:p9"], "has no column 'p9'"),
        (["--columns", "p7:p0"], "'p0' comes before 'p7'"),
        (["--columns", "p0,p0"], "each one once"),
        (["--drop", "p0,p1,p2,p3,p4,p5,p6,p7"], "at least one column"),
        (["--id", "p0"], "needs all three of --id, --t and --y"),
        (["--id", "p0", "--t", "p1", "--y", "p2", "--drop", "p3"], "wide tables"),
        (["--id", "p0", "--t", "p1", "--y", "p2", "--grid", "columns"], "wide tables"),
        (["--id", "p0", "--t", "p1", "--y", "p2", "--grid", "0,3"], "inside domain"),
        (["--id", "p0", "--t", "p1", "--y", "z"], "no column 'z'"),
        (["--out", "nowhere/mean.csv"], "there is no folder 'nowhere'"),
        (["--out", "."], "is a folder"),
        (["--out", "mean.xlsx"], "'mean.xlsx' must end in .csv"),
        (["--plot", "mean.pdf"], "'mean.pdf' must end in .png"),
        (["--out", "data.csv"], "is the file of the curves already"),
        (["--out", "a.csv", "--plot", "./a.csv"], "is --out already"),
        (["--ledger", "budget.db"], "ledger create budget.db --epsilon 3"),
        (["--eps", "1"], "unrecognized arguments: --eps 1 (see python"),
        (["--drop", "p0", "p1"], "by commas: --drop id,sex (see python -m skfuncpriv"),
    ],
)
def test_wrong_option_is_refused_in_one_line(capsys, data, words, expected):
    write_wide("data.csv", data)
    err = refuse(capsys, "mean", "data.csv", *PUBLIC, *words)
    assert expected in err
    assert len(err.splitlines()) == 1


def test_absent_file(capsys):
    err = refuse(capsys, "mean", "nothing.csv", *PUBLIC)
    assert err == "error: 'nothing.csv': No such file or directory\n"


def test_labels_must_not_be_missing(capsys):
    Path("data.csv").write_text("who,p0\nann,1\n,0\n")
    err = refuse(capsys, "mean", "data.csv", *PUBLIC, "--group", "who")
    assert "column 'who' must not have missing cells" in err


def test_a_curve_has_one_owner(capsys):
    rows = [["a", "ann", 0, 1], ["a", "bob", 1, 1]]
    write_rows("long.csv", ["id", "who", "t", "y"], rows)
    words = ["mean", "long.csv", "--id", "id", "--t", "t", "--y", "y", *PUBLIC]
    assert "must name the same --group" in refuse(capsys, *words, "--group", "who")


def test_plot_without_matplotlib_is_refused_before_any_charge(
    capsys, data, monkeypatch
):
    write_wide("data.csv", data)
    monkeypatch.setattr("skfuncpriv._cli._report.find_spec", lambda name: None)
    err = refuse(capsys, "mean", "data.csv", *PUBLIC, "--plot", "mean.png")
    assert "pip install 'skfuncpriv[plot]'" in err


# --- ledger -------------------------------------------------------------------------


def test_ledger_is_charged_until_it_refuses(capsys, data):
    write_wide("data.csv", data, who=range(N_PEOPLE))
    create = ["ledger", "create", "b.db", "--epsilon", "1", "--unit", "person"]
    code, out, _ = run(capsys, *create)
    assert code == 0
    assert "epsilon = 1 per person" in out
    words = ["mean", "data.csv", *PUBLIC, "--group", "who", "--ledger", "b.db"]
    code, out, _ = run(capsys, *words, "--epsilon", "0.75")
    assert code == 0
    assert "Left in b.db: pure DP: epsilon = 0.25 per person" in out
    Path("private_mean.csv").unlink()
    err = refuse(capsys, *words, "--epsilon", "0.5", "--plot", "mean.png")
    assert "asked epsilon = 0.5; left epsilon = 0.25, of epsilon = 1, in b.db" in err
    assert "nothing was drawn or charged" in err
    assert BudgetLedger("b.db").spent.epsilon == 0.75


def test_ledger_of_another_unit_is_refused(capsys, data):
    write_wide("data.csv", data)
    BudgetLedger("b.db", epsilon=3.0, unit="person")
    err = refuse(capsys, "mean", "data.csv", *PUBLIC, "--ledger", "b.db")
    assert err == "error: this budget is per person: add --group COLUMN\n"
    BudgetLedger("rows.db", epsilon=3.0)
    words = ["--group", "p0", "--ledger", "rows.db"]
    err = refuse(capsys, "mean", "data.csv", *PUBLIC, *words)
    assert "this budget is per row: leave out --group" in err
    BudgetLedger("traces.db", epsilon=3.0, metric="L2")
    err = refuse(capsys, "mean", "data.csv", *PUBLIC, "--ledger", "traces.db")
    assert "'traces.db' is a budget for traces" in err
    for name in ("b.db", "rows.db"):
        assert BudgetLedger(name).spent.epsilon == 0


@pytest.mark.parametrize("words", [["--out", "b.db"], ["--json", "b.db"]])
def test_ledger_is_never_overwritten(capsys, data, words):
    write_wide("data.csv", data)
    BudgetLedger("b.db", epsilon=3.0)
    err = refuse(capsys, "mean", "data.csv", *PUBLIC, "--ledger", "b.db", *words)
    assert "is the ledger already" in err


def test_ledger_show_reads_only(capsys):
    run(capsys, "ledger", "create", "b.db", "--epsilon", "3", "--delta", "1e-6")
    _, out, _ = run(capsys, "ledger", "show", "b.db")
    assert "no charge yet" in out
    gaussian = PrivacyGuarantee(definition="approx-dp", epsilon=0.5, delta=1e-7)
    BudgetLedger("b.db").charge(gaussian, "mean of May", times=2)
    before = Path("b.db").read_bytes()
    code, out, err = run(capsys, "ledger", "show", "b.db")
    assert (code, err) == (0, "")
    assert Path("b.db").read_bytes() == before
    assert re.search(r"budget +approximate DP: epsilon = 3, delta = 1e-06", out)
    assert re.search(r"spent +approximate DP: epsilon = 1, delta = 2e-07", out)
    assert re.search(r"remaining +approximate DP: epsilon = 2, delta = 8e-07", out)
    assert re.search(r"UTC +mean of May +2 x approximate DP: epsilon = 0.5", out)


def test_ledger_errors(capsys):
    assert "there is no ledger" in refuse(capsys, "ledger", "show", "b.db")
    Path("text.db").write_text("no ledger")
    for words in (["show", "text.db"], ["add-scope", "text.db", "a", "--rho", "1"]):
        err = refuse(capsys, "ledger", *words)
        assert err == "error: 'text.db' is no ledger: file is not a database\n"
    words = ["ledger", "create", "text.db", "--epsilon", "1"]
    assert "exists already and was not changed" in refuse(capsys, *words)
    assert Path("text.db").read_text() == "no ledger"
    words = ["ledger", "create", "b.db", "--epsilon", "0"]
    assert "epsilon must be" in refuse(capsys, *words)
    assert "--epsilon" in refuse(capsys, "ledger", "create", "b.db")


def test_ledger_scopes_and_partitions(capsys):
    create = ["ledger", "create", "b.db", "--epsilon", "3", "--name", "study of May"]
    run(capsys, *create)
    words = ["ledger", "add-scope", "b.db", "income", "--epsilon", "1"]
    code, out, _ = run(capsys, *words)
    assert code == 0
    assert "skfuncpriv mean FILE ... --ledger b.db::income\n" in out
    address = re.search(r"in Python ledger='(.*)'", out).group(1)
    BudgetLedger(address).charge(PrivacyGuarantee(definition="pure-dp", epsilon=0.25))
    words = ["ledger", "add-partition", "b.db", "region", "north=120", "south=80"]
    code, out, _ = run(capsys, *words, "--epsilon", "0.5")
    assert code == 0
    assert out.count("ledger='") == 2
    assert "Charge them with:" in out
    north = BudgetLedger(BudgetLedger("b.db").scope("region/north"))
    north.charge(PrivacyGuarantee(definition="pure-dp", epsilon=0.5), "mean")
    _, out, _ = run(capsys, "ledger", "show", "b.db")
    assert "name       study of May" in out
    assert "income: spent epsilon = 0.25; remaining epsilon = 0.75" in out
    assert "north (120 people): spent epsilon = 0.5; remaining epsilon = 0\n" in out
    assert "south (80 people): spent epsilon = 0; remaining epsilon = 0.5\n" in out
    assert re.search(r"UTC +mean +\[region/north\] +pure DP: epsilon = 0.5", out)
    code, out, _ = run(capsys, "ledger", "export", "b.db", "h.csv")
    assert (code, out) == (0, "Wrote h.csv\n")
    assert "region/north" in Path("h.csv").read_text()


def test_a_scope_is_charged_and_its_file_kept(capsys, data):
    write_wide("data.csv", data)
    BudgetLedger("b.db", epsilon=3.0).add_scope("income", epsilon=0.5)
    words = ["mean", "data.csv", *PUBLIC, "--ledger", "b.db::income"]
    words += ["--epsilon", "0.4"]
    err = refuse(capsys, *words, "--out", "b.db", "--force")
    assert "'b.db' is the ledger already" in err
    code, out, _ = run(capsys, *words)
    assert code == 0
    assert "Left in b.db::income: pure DP: epsilon = 0.1" in out
    assert BudgetLedger("b.db").spent.epsilon == 0.4
    err = refuse(capsys, *words)  # the ledger comes before the file that exists
    assert "left epsilon = 0.1, of epsilon = 0.5, in b.db::income" in err
    err = refuse(capsys, *words, "--ledger", "b.db")
    assert "--ledger is given twice" in err


def test_no_scope_is_charged_that_is_not_there(capsys, data):
    write_wide("data.csv", data)
    BudgetLedger("b.db", epsilon=3.0).add_partition("region", ["north", "south"])
    words = ["mean", "data.csv", *PUBLIC, "--ledger"]
    err = refuse(capsys, *words, "b.db::age")
    assert "'b.db' has no scope 'age': add it with:" in err
    [command] = re.findall(r"skfuncpriv (ledger add-scope .*);", err)
    assert run(capsys, *command.split())[0] == 0
    err = refuse(capsys, *words, "b.db::region/east")
    assert "ledger add-partition b.db region east ..." in err
    err = refuse(capsys, *words, "b.db::region")
    assert "charge one of its parts, as in --ledger b.db::region/north" in err


def test_address_where_a_ledger_is_asked_for(capsys):
    BudgetLedger("b.db", epsilon=3.0).add_scope("anna", epsilon=1.0)
    parts = BudgetLedger("b.db").add_partition("region", ["north", "south"])
    BudgetLedger(parts["south"]).charge(
        PrivacyGuarantee(definition="pure-dp", epsilon=0.5)
    )
    _, out, _ = run(capsys, "ledger", "show", "b.db::anna")
    assert re.search(r"budget +pure DP: epsilon = 1 per row", out)
    assert "region" not in out
    line = "region (disjoint people): costs the total epsilon = 0.5, the largest of"
    for name in ("b.db", "b.db::region"):
        _, out, _ = run(capsys, "ledger", "show", name)
        assert out.count(line) == 1
        assert ("anna" in out) == (name == "b.db")
    for words in (["add-scope", "x", "--epsilon", "1"], ["add-partition", "x", "y"]):
        words.insert(1, "b.db::anna")
        err = refuse(capsys, "ledger", *words)
        assert "'b.db::anna' is a scope of b.db: scopes are added to the led" in err
    assert "has no scope 'bob'" in refuse(capsys, "ledger", "show", "b.db::bob")


def test_default_output_is_called_so(capsys, data):
    write_wide("data.csv", data)
    Path("private_mean.csv").write_text("paid for")
    err = refuse(capsys, "mean", "data.csv", *PUBLIC)
    assert err.startswith("error: the default output 'private_mean.csv' exists")
    Path("a.csv").write_text("paid for")
    err = refuse(capsys, "mean", "data.csv", *PUBLIC, "--out", "a.csv")
    assert err.startswith("error: --out: 'a.csv' exists")


def test_strict_mode_is_explained_in_options(capsys, data):
    write_wide("data.csv", data)
    write_rows("walk.csv", ["time", "x", "y"], [[0, 1, 1], [1, 2, 2]])
    trace = ["--area", "9", "--domain", "0", "1", "--hide", "2", "--odds", "3"]
    with config(strict=True):
        for words in (
            ["mean", "data.csv", *PUBLIC],
            ["density", "data.csv", "--column", "p0", "--bounds", "-2", "2"],
            ["trace", "walk.csv", *trace],
        ):
            err = refuse(capsys, *words)
            assert re.search("ledger create FILE .* --ledger FILE$", err)
        for words in (
            ["demo"],
            ["audit"],
            ["trace", "--plan", *trace[:5]],
        ):
            err = refuse(capsys, *words)
            assert f"{words[0]} " in err
            assert "does not run in strict mode: " in err
        run(capsys, "ledger", "create", "b.db", "--epsilon", "1")
        words = ["mean", "data.csv", *PUBLIC, "--ledger", "b.db"]
        assert run(capsys, *words)[0] == 0
        assert run(capsys, "plan", *PUBLIC)[0] == 0  # it reads no data


def test_ledger_refuses_what_does_not_fit(capsys):
    run(capsys, "ledger", "create", "b.db", "--rho", "1")
    scope = ["ledger", "add-scope", "b.db", "income"]
    assert "exceeds the budget" in refuse(capsys, *scope, "--rho", "2")
    err = refuse(capsys, *scope, "--epsilon", "1")
    assert err == "error: the cap of a scope in this ledger is given by rho\n"
    assert "--rho" in refuse(capsys, *scope)
    parts = ["ledger", "add-partition", "b.db", "region"]
    assert "number of people" in refuse(capsys, *parts, "a=0")
    assert "or of none" in refuse(capsys, *parts, "a=1", "b")
    assert "must differ" in refuse(capsys, *parts, "a", "a")
    run(capsys, *parts, "a", "b")
    assert BudgetLedger("b.db").scopes == {"region/a": None, "region/b": None}
    Path("h.json").write_text("mine")
    export = ["ledger", "export", "b.db"]
    assert "exists and is kept" in refuse(capsys, *export, "h.json")
    assert Path("h.json").read_text() == "mine"
    assert "must end in" in refuse(capsys, *export, "h.txt")
    assert "cannot be written" in refuse(capsys, *export, "nowhere/h.csv")
    assert "there is no ledger" in refuse(capsys, "ledger", "export", "c.db", "h.csv")


# --- plan ---------------------------------------------------------------------------


def test_plan_shows_the_expected_error(capsys):
    words = ["plan", "--bounds", "0", "4", "--domain", "0", "9", "--n", "50", "70"]
    code, out, err = run(capsys, *words, "--epsilon", "1", "2", "--points", "12")
    assert (code, err) == (0, "")
    for n_people in (50, 70):
        for epsilon in (1.0, 2.0):
            model = ICLPMean(
                bounds=(0, 4),
                domain=(0, 9),
                epsilon=epsilon,
                grid=np.linspace(0, 9, 12),
            )
            root = np.sqrt(model.expected_error(n_people) / 9)
            assert f"{root:.3g}" in out
            model.fit(np.zeros((n_people, 12)))
            assert f" {model.coef_.size}" in out.partition("Mechanism")[2]
    assert "!" not in out


def test_plan_marks_what_is_hopeless(capsys):
    words = ["plan", "--bounds", "0", "4", "--domain", "0", "9", "--n", "1"]
    _, out, _ = run(capsys, *words, "--epsilon", "0.5", "--mechanism", "laplace")
    assert "!" in out
    assert "laplace" in out
    assert "n" in refuse(capsys, *words, "--epsilon", "-1")
    assert "must be an integer >= 1" in refuse(capsys, *words, "--n", "0")
    assert "written as 1000" in refuse(capsys, *words, "--n", "1,000")


def test_plan_knows_delta(capsys):
    words = ["plan", *PUBLIC, "--n", "100", "--epsilon", "0.5", "--delta", "1e-5"]
    _, out, _ = run(capsys, *words, "--mechanism", "gaussian")
    assert "delta = 1e-05" in out
    assert "gaussian" in out


# --- demo, audit and the rest -------------------------------------------------------


def test_demo_as_a_newcomer_runs_it():
    command = [sys.executable, "-W", "error", "-m", "skfuncpriv", "demo"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "pure DP: epsilon = 4 per row" in done.stdout
    assert "SEEDED" not in done.stdout
    assert "curve      JAN ... DEC (12 points, t = 0.5 to 11.5)" in done.stdout
    assert "Wrote demo_mean.csv" in done.stdout
    assert "Wrote demo_mean.png" in done.stdout
    names, rows = read_csv("demo_mean.csv")
    assert names == ["t", "mean", "noise_std", "lower", "upper"]
    assert rows[:, 0].astype(float).tolist() == (np.arange(12) + 0.5).tolist()
    assert Path("demo_mean.png").read_bytes().startswith(b"\x89PNG")


def test_demo_elsewhere_and_without_matplotlib(capsys, monkeypatch):
    Path("there").mkdir()
    monkeypatch.setattr("skfuncpriv._cli._report.find_spec", lambda name: None)
    code, out, _ = run(capsys, "demo", "--out-dir", "there", "--epsilon", "2")
    assert code == 0
    assert "epsilon = 2" in out
    assert "pip install 'skfuncpriv[plot]'" in out
    assert [path.name for path in Path("there").iterdir()] == ["demo_mean.csv"]
    assert "no folder" in refuse(capsys, "demo", "--out-dir", "nowhere")


@pytest.mark.parametrize(
    "words",
    [
        ["--trials", "200"],
        ["--trials", "20", "--mechanism", "gaussian", "--delta", "1e-3"],
        ["--trials", "50", "--mechanism", "spherical", "--people", "2", "--verbose"],
    ],
)
def test_audit_stays_below_the_promise(capsys, monkeypatch, words):
    fit, seeds = ICLPMean.fit, count()

    def seeded_fit(self, *args):
        return fit(self.set_params(random_state=next(seeds)), *args)

    monkeypatch.setattr(ICLPMean, "fit", seeded_fit)
    code, out, err = run(capsys, "audit", "--epsilon", "3", *words)
    found = float(re.search(r"found +epsilon >= ([\d.]+)", out)[1])
    assert code == 0
    assert "epsilon = 3" in out
    assert "no leak" in out
    assert 0 <= found <= 3
    assert err == ""  # no bar without a terminal
    assert out.startswith("no leak: the attack reaches ")
    assert ("statistic" in out) == ("--verbose" in words)


def test_audit_finds_a_leak(capsys, monkeypatch):
    """A mechanism that spends 20 times the epsilon it promises."""
    guarantee = PrivacyGuarantee(definition="pure-dp", epsilon=0.1)
    fit = ICLPMean.fit

    def careless_fit(self, *args):
        self.epsilon = 2.0
        fit(self, *args).guarantee_ = guarantee
        return self

    monkeypatch.setattr(ICLPMean, "fit", careless_fit)
    code, out, _ = run(capsys, "audit", "--trials", "400", "--epsilon", "0.1")
    assert code == 1
    assert "LEAK" in out


def test_audit_refuses_bad_requests(capsys):
    err = refuse(capsys, "audit", "--mechanism", "gaussian")
    assert "--mechanism gaussian needs delta > 0" in err
    assert "must be an integer >= 2" in refuse(capsys, "audit", "--trials", "1")


@pytest.mark.parametrize(
    "words",
    [
        "",
        "mean",
        "trace",
        "plan",
        "demo",
        "audit",
        "ledger",
        "ledger show",
        "ledger create",
        "ledger add-scope",
        "ledger add-partition",
        "ledger export",
    ],
)
def test_help_names_the_command(capsys, words):
    with pytest.raises(SystemExit) as stop:
        main([*words.split(), "--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert f"python -m skfuncpriv {words}".strip() in out
    assert max(map(len, out.splitlines())) <= 88


def test_no_command_shows_the_help(capsys):
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    assert "first steps" in out


def test_unknown_command_is_refused(capsys):
    assert "invalid choice: 'median'" in refuse(capsys, "median")
