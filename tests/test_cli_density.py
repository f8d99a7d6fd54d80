"""The command ``density``, as its users call it."""

import json
from pathlib import Path

import numpy as np
import pytest

from skfuncpriv import PrivateKDE
from skfuncpriv.__main__ import main
from skfuncpriv.privacy import BudgetLedger, PrivacyGuarantee

from .test_cli import read_csv, refuse, run, write_rows

N = 300
RNG = np.random.default_rng(5)
POINTS = np.stack([RNG.normal(40, 12, N), RNG.normal(25, 4, N), RNG.random(N)], axis=1)
PEOPLE = [f"person-{i // 3}" for i in range(N)]
BOX = [(0, 120), (10, 60), (0, 1)]
NAMES = ["age", "bmi", "share"]
AGE = ["--column", "age", "--bounds", "0", "120"]
BOTH = ["--column", "age", "bmi", "--bounds", "0", "120", "10", "60"]


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def file():
    return write_points()


def write_points(path="data.csv", points=POINTS, people=PEOPLE):
    rows = [[who, *row] for who, row in zip(people, points.tolist(), strict=True)]
    return write_rows(path, ["who", *NAMES], rows)


def fitted(n_axes=1, groups=None, **parameters):
    bounds = tuple(zip(*BOX[:n_axes], strict=True))
    model = PrivateKDE(bounds=bounds, **{"random_state": 3, **parameters})
    return model.fit(POINTS[:, :n_axes], groups=groups)


def thin(model, n_points=257):
    """The density at every so many nodes."""
    step = (len(model.density_) - 1) // (n_points - 1)
    return model.density_[(slice(None, None, step),) * model.density_.ndim]


# --- what is released ---------------------------------------------------------------


def test_one_column_gives_what_the_estimator_gives(capsys, file):
    words = ["density", file, *AGE, "--seed", "3", "--epsilon", "2", "--out", "out.csv"]
    code, out, err = run(capsys, *words)
    model = fitted(epsilon=2.0)
    names, rows = read_csv("out.csv")
    assert (code, err) == (0, "")
    assert names == ["age", "density", "cdf", "seeded"]
    assert set(rows[:, 3]) == {"SEEDED"}
    age, density, cdf = rows[:, :3].astype(float).T
    np.testing.assert_allclose(age, np.linspace(0, 120, 257))
    np.testing.assert_allclose(density, thin(model), rtol=1e-12)
    np.testing.assert_array_equal(cdf, model.cdf(age[:, None]))
    assert str(model.guarantee_) in out
    assert f"Private density of {N} rows" in out
    assert "columns    age (0 to 120)" in out
    assert f"release    noisy bins of width {model.bandwidth_:.3g}, denoised" in out
    assert f"{model.noise_std_:.2g} at a point" in out
    for share in (0.05, 0.25, 0.5, 0.75, 0.95):
        assert f"{share:.0%}   {model.quantile(share):.4g}".split() in [
            line.split() for line in out.splitlines()
        ]
    assert "Wrote out.csv: 257 public points" in out
    assert "Protected is one row; --group COLUMN protects people" in out


def test_default_is_secure_and_writes_the_default_file(capsys, file):
    tables = []
    for _ in range(2):
        code, out, _ = run(capsys, "density", file, *AGE, "--force")
        assert code == 0
        assert "SEEDED" not in out
        tables.append(read_csv("private_density.csv"))
    assert tables[0][0] == ["age", "density", "cdf"]
    assert (tables[0][1][:, 1] != tables[1][1][:, 1]).any()


@pytest.mark.parametrize(
    ("words", "parameters"),
    [
        (["--delta", "1e-6"], {"delta": 1e-6}),
        (["--bandwidth", "5"], {"bandwidth": 5.0}),
        (
            ["--bandwidth", "9", "--kernel", "linear"],
            {"bandwidth": 9.0, "kernel": "linear"},
        ),
        (["--bandwidth", "private-iqr"], {"bandwidth": "private-iqr"}),
        (["--boundary", "periodic"], {"boundary": "periodic"}),
        (["--no-denoise"], {"denoise": False}),
        (["--mechanism", "iclp"], {"mechanism": "iclp"}),
        (["--mechanism", "bernstein"], {"mechanism": "bernstein"}),
        (
            ["--mechanism", "gaussian_process", "--delta", "1e-6"],
            {"mechanism": "gaussian_process", "delta": 1e-6},
        ),
    ],
)
def test_options_reach_the_estimator(capsys, file, words, parameters):
    code, out, err = run(capsys, "density", file, *AGE, "--seed", "3", *words)
    model = fitted(**parameters)
    _, rows = read_csv("private_density.csv")
    assert (code, err) == (0, "")
    np.testing.assert_allclose(rows[:, 1].astype(float), thin(model))
    assert (
        f"{model.bandwidth_:.3g}" in out.partition("release")[2].partition("noise")[0]
    )


@pytest.mark.parametrize(("n_axes", "n_points"), [(2, 65), (3, 17)])
def test_several_columns(capsys, file, n_axes, n_points):
    bounds = [str(end) for pair in BOX[:n_axes] for end in pair]
    words = ["--column", *NAMES[:n_axes], "--bounds", *bounds, "--seed", "3"]
    code, out, _ = run(capsys, "density", file, *words)
    model = fitted(n_axes)
    names, rows = read_csv("private_density.csv")
    assert code == 0
    assert names == [*NAMES[:n_axes], "density", "seeded"]
    assert len(rows) == n_points**n_axes
    np.testing.assert_allclose(
        rows[:, n_axes].astype(float), thin(model, n_points).ravel(), rtol=1e-12
    )
    line = next(line for line in out.splitlines() if line.split()[:1] == ["50%"])
    medians = [float(word) for word in line.split()[1:]]
    sample = model.sample(100_000, random_state=0)
    far = 5 * 0.5 / np.sqrt(len(sample))  # of the share below the median
    shares = (sample < medians).mean(axis=0)
    assert len(medians) == n_axes
    assert np.abs(shares - 0.5).max() < far + 0.005  # the cells of the grid


def test_commas_and_one_pair_for_all(capsys, file):
    tables = []
    for words in (
        ["--column", "age", "bmi", "--bounds", "0", "120", "0", "120"],
        ["--columns", "age,bmi", "--bounds", "0", "120"],
    ):
        assert run(capsys, "density", file, *words, "--force", "--seed", "0")[0] == 0
        tables.append(Path("private_density.csv").read_text())
    assert tables[0] == tables[1]


def test_points_and_equal_grids_of_two_files(capsys, file):
    write_points("other.csv", POINTS[:50] / 2, PEOPLE[:50])
    grids = []
    for name in (file, "other.csv"):
        words = ["density", name, *AGE, "--points", "13", "--force"]
        assert run(capsys, *words)[0] == 0
        grids.append(read_csv("private_density.csv")[1][:, 0].tolist())
    assert grids[0] == grids[1] == [str(10.0 * k) for k in range(13)]


def test_synthetic_rows_come_from_the_same_release(capsys, file):
    ledger = BudgetLedger("b.db", epsilon=1.0)
    words = ["density", file, *BOTH, "--sample", "400", "--ledger", "b.db"]
    code, out, _ = run(capsys, *words, "--seed", "3")
    names, rows = read_csv("private_sample.csv")
    assert code == 0
    assert ledger.remaining.epsilon == 0
    assert names == ["age", "bmi", "seeded"]
    expected = fitted(2).sample(400, random_state=3)
    np.testing.assert_array_equal(rows[:, :2].astype(float), expected)
    assert "Wrote private_density.csv: 4225 public points" in out
    assert "Wrote private_sample.csv: 400 synthetic rows" in out
    words = ["density", file, *AGE, "--sample", "2", "--sample-out", "s.csv", "--force"]
    run(capsys, *words)
    samples = [read_csv("s.csv")[1].tolist()]
    run(capsys, *words)
    assert samples[0] != read_csv("s.csv")[1].tolist()


def test_group_protects_people(capsys, file):
    words = ["density", file, *AGE, "--group", "who", "--seed", "3"]
    code, out, _ = run(capsys, *words)
    _, rows = read_csv("private_density.csv")
    model = fitted(groups=PEOPLE)
    assert code == 0
    assert f"Private density of {N // 3} people" in out
    assert "per person" in out
    assert "if all rows of one person were replaced" in out
    assert "Protected" not in out
    np.testing.assert_allclose(rows[:, 1].astype(float), thin(model))


def test_noise_that_dominates_is_said(capsys):
    write_rows("data.csv", ["age"], POINTS[:2, :1].tolist())
    code, _, err = run(capsys, "density", "data.csv", *AGE, "--epsilon", "0.01")
    assert code == 0
    assert err.startswith("warning: the noise is expected to exceed the largest")
    assert len(err.splitlines()) == 1


def test_a_column_may_be_called_density(capsys):
    write_rows("bones.csv", ["density"], POINTS[:, :1].tolist())
    words = ["density", "bones.csv", "--column", "density", "--bounds", "0", "120"]
    assert run(capsys, *words)[0] == 0
    names, rows = read_csv("private_density.csv")
    assert names == ["density", "private_density", "cdf"]
    assert rows[-1, 0] == "120.0"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], "at most 2.72 times as likely, or as unlikely. Every run is another"),
        (["--epsilon", "0.1"], "at most 1.11 times as likely"),
        (
            ["--delta", "1e-6", "--mechanism", "gaussian_process"],
            "or as unlikely, but for a chance of 1e-06. Every run",
        ),
        (["--epsilon", "50"], "an epsilon this large protects nobody"),
        (["--epsilon", "1e4"], "an epsilon this large protects nobody"),
        (["--seed", "1"], "SEEDED: none of this holds for who knows the seed"),
    ],
)
def test_guarantee_in_words(capsys, file, words, text):
    _, out, _ = run(capsys, "density", file, *AGE, *words)
    assert "In words: if one row was replaced by anything else" in out
    assert text in " ".join(out.split())


def test_json_and_pictures(capsys, file, monkeypatch):
    from matplotlib.figure import Figure

    figures, save = [], Figure.savefig

    def saved(self, *args, **kwargs):
        figures.append(self)
        save(self, *args, **kwargs)

    monkeypatch.setattr(Figure, "savefig", saved)
    words = ["density", file, "--force", "--seed", "1", "--plot", "plot.png"]
    _, out, err = run(capsys, *words, *AGE, "--json", "-", "--level", "0.8")
    guarantee = PrivacyGuarantee.from_dict(json.loads(out))
    assert guarantee == PrivacyGuarantee(definition="pure-dp", epsilon=1.0, seeded=True)
    assert "Wrote plot.png" in err
    assert Path("plot.png").read_bytes().startswith(b"\x89PNG")
    (axes,) = figures[0].axes
    assert axes.get_xlabel() == "age"
    assert "SEEDED" in axes.get_title(loc="left")
    assert "80% band" in axes.get_legend().get_texts()[1].get_text()
    _, out, _ = run(capsys, *words, *BOTH, "--json", "guarantee.json")
    assert "Wrote guarantee.json" in out
    axes = figures[1].axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("age", "bmi")


# --- refused requests ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "missing", "example"),
    [
        ([], ["--column", "--bounds"], "--column age --bounds 0 120"),
        (["--column", "bmi"], ["--bounds"], "--column bmi --bounds 0 120"),
        (["--bounds", "1", "2"], ["--column"], "--column age --bounds 1 2"),
    ],
)
def test_missing_public_facts_are_explained(capsys, words, missing, example):
    err = refuse(capsys, "density", "absent.csv", *words)
    for option in ("--column NAME", "--bounds LO HI"):
        is_missing = option.split()[0] in missing
        assert (f"{option} is missing" in err) == is_missing
    for word in ("public knowledge", "physical limits", "instrument", "earlier study"):
        assert word in err
    assert "Never take the smallest" in err.replace("\n", " ")
    assert f"example: python -m skfuncpriv density absent.csv {example}\n" in err
    assert max(map(len, err.splitlines())) <= 88


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--bounds", "9", "1"], "--bounds must be two finite numbers"),
        (["--bounds", "0", "inf"], "--bounds must be two finite numbers"),
        (["--bounds", "0"], "needs pairs of numbers"),
        (
            ["--bounds", "0", "1", "2", "3"],
            "--bounds must be one pair, or one for each",
        ),
        (["--boundary", "reflect", "reflect"], "--boundary must be one value"),
        (["--boundary", "mirror"], "invalid choice: 'mirror'"),
        (["--bandwidth", "1", "2"], "--bandwidth must be one value, or one for each"),
        (["--bandwidth", "wide"], "bandwidth must be a number > 0"),
        (["--bandwidth", "-1"], "bandwidth must be a finite number > 0"),
        (["--bandwidth", "1e-3"], "two cells of the grid"),
        (
            [*BOTH, "--bandwidth", "1", "pss"],
            "must be numbers, or the name of one rule",
        ),
        (["--kernel", "biweight"], "invalid choice: 'biweight'"),
        (["--mechanism", "gaussian_process"], "delta > 0"),
        (["--mechanism", "iclp", "--kernel", "linear"], "needs kernel='gaussian'"),
        (["--epsilon", "0"], "epsilon must be a finite number > 0"),
        (["--delta", "1"], "delta must be a number in [0, 1)"),
        (["--column", "age", "age"], "one to three columns, each one once"),
        (["--column", "who,age,bmi,share"], "one to three columns, each one once"),
        (["--column", "weight"], "no column 'weight'; its columns are who, age, bmi"),
        (["--group", "nobody"], "no column 'nobody'"),
        (["--column", *NAMES, "--plot", "p.png"], "--plot shows one or two columns"),
        (["--points", "1"], "--points must be at least 2"),
        (["--column", *NAMES, "--points", "500"], "have at most 4194304 rows"),
        (["--sample", "0"], "must be an integer >= 1"),
        (["--sample-out", "s.csv"], "--sample-out needs --sample N"),
        (["--sample", "9", "--sample-out", "s.txt"], "'s.txt' must end in .csv"),
        (["--sample", "9", "--out", "private_sample.csv"], "is --out already"),
        (["--out", "data.csv"], "is the file of the data already"),
        (["--plot", "density.pdf"], "'density.pdf' must end in .png"),
        (["--ledger", "budget.db"], "ledger create budget.db --epsilon 3"),
        (["--metric", "L2"], "unrecognized arguments: --metric L2"),
    ],
)
def test_wrong_option_is_refused_in_one_line(capsys, file, words, expected):
    err = refuse(capsys, "density", file, *AGE, *words)
    assert expected in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("option", ["--out", "--sample-out", "--plot", "--json"])
def test_existing_files_are_kept_unless_forced(capsys, file, option):
    name = "old" + {"--plot": ".png", "--json": ".json"}.get(option, ".csv")
    Path(name).write_text("paid for")
    BudgetLedger("b.db", epsilon=3.0)
    words = ["density", file, *AGE, "--ledger", "b.db", "--sample", "3", option, name]
    assert "replace it with --force" in refuse(capsys, *words)
    assert BudgetLedger("b.db").spent.epsilon == 0
    assert run(capsys, *words, "--force")[0] == 0
    assert Path(name).read_bytes() != b"paid for"


def test_ledger_is_charged_until_it_refuses(capsys, file):
    run(capsys, "ledger", "create", "b.db", "--epsilon", "1", "--unit", "person")
    words = ["density", file, *AGE, "--ledger", "b.db"]
    err = refuse(capsys, *words)
    assert err == "error: this budget is per person: add --group COLUMN\n"
    words += ["--group", "who"]
    code, out, _ = run(capsys, *words, "--epsilon", "0.75")
    assert code == 0
    assert "Left in b.db: pure DP: epsilon = 0.25 per person" in out
    Path("private_density.csv").unlink()
    err = refuse(capsys, *words, "--epsilon", "0.5")
    assert "asked epsilon = 0.5; left epsilon = 0.25, of epsilon = 1, in b.db" in err
    assert BudgetLedger("b.db").spent.epsilon == 0.75


def test_help_names_the_command(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["density", "--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert "python -m skfuncpriv density FILE" in out
    assert max(map(len, out.splitlines())) <= 88
