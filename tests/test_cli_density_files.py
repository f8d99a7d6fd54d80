"""Which tables the command ``density`` reads."""

import gzip
from pathlib import Path

import pytest

from skfuncpriv._cli import _density_table

from .test_cli import refuse, run
from .test_cli_density import AGE, BOTH, NAMES, PEOPLE, POINTS, write_points


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "form", ["gzip", "semicolons", "tabs", "bom", "crlf", "blank", "pieces", "parquet"]
)
def test_forms_of_tables(capsys, form, monkeypatch):
    file = write_points()
    text = Path(file).read_text().replace("\r\n", "\n")
    lines = text.splitlines()
    path = {"gzip": "other.csv.gz", "parquet": "other.parquet"}.get(form, "other.csv")
    encoded = {
        "gzip": gzip.compress(text.encode()),
        "semicolons": text.replace(",", ";").encode(),
        "tabs": text.replace(",", "\t").encode(),
        "bom": text.encode("utf-8-sig"),
        "crlf": text.replace("\n", "\r\n").encode(),
        "blank": ("\n\n" + "\n\n".join(lines).replace(",", " , ")).encode(),
        "pieces": text.encode(),
        "parquet": b"",
    }
    Path(path).write_bytes(encoded[form])
    if form == "parquet":
        pd = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        pd.DataFrame(POINTS, columns=NAMES).assign(who=PEOPLE).to_parquet(path)
    tables = []
    for name in (file, path):
        words = ["density", name, *BOTH, "--group", "who", "--force", "--seed", "0"]
        assert run(capsys, *words)[0] == 0
        tables.append(Path("private_density.csv").read_text())
        if form in ("pieces", "blank"):
            monkeypatch.setattr(_density_table, "_CHUNK_ROWS", 2)
    assert tables[0] == tables[1]


def test_columns_that_are_not_chosen_may_hold_anything(capsys):
    Path("data.csv").write_text("note,age\nx,20\n,30\n7 mg,40\n")
    assert run(capsys, "density", "data.csv", *AGE)[0] == 0


def test_blanks_do_not_split_a_person(capsys):
    Path("data.csv").write_text("who,age\nann,20\n ann , 30\nbob,40\nNA ,50\n")
    err = refuse(capsys, "density", "data.csv", *AGE, "--group", "who")
    assert "column 'who' must not have missing cells" in err
    Path("data.csv").write_text("who,age\nann,20\n ann , 30\nbob,40\n")
    _, out, _ = run(capsys, "density", "data.csv", *AGE, "--group", "who")
    assert "Private density of 2 people" in out
