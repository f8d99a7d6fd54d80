"""Blocks of files hold the rows of the files, in order, whatever the format."""

import gzip
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config

from skfuncpriv import Blocks, ICLPMean
from skfuncpriv._progress import progress_bar
from skfuncpriv.blocks import open_rows
from skfuncpriv.blocks._csv import CsvRows
from skfuncpriv.blocks._reading import block_reader

N = 101
X = np.random.default_rng(0).normal(size=(N, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).round(6)
FRAME["who"] = [f"{k:03d}" if k < 60 else f"A{k % 7}" for k in range(N)]
VALUES = ["a", "b", "c"]


def whole(blocks):
    return np.concatenate([np.asarray(block) for block in blocks])


def lengths(blocks):
    return [blocks.n_rows(k) for k in range(blocks.n_blocks)]


def total(X, groups=None):
    """The number of people, and an exact sum, as an estimator asks for it."""
    rows = open_rows(X, groups=groups)
    rows.read(lambda X, y, weights: np.asarray(X))
    n_people, _ = rows.people(len(X) if rows.in_memory else 1)
    return n_people, rows.sum(lambda X, codes: np.rint(X * 1e6).astype(int).sum(axis=0))


def same(first, second):
    return first[0] == second[0] and np.array_equal(first[1], second[1])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "spill"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "spill").mkdir()
    return tmp_path


def write(folder, kind):
    """FRAME in two files."""
    for name, part in (("0", FRAME[:40]), ("1", FRAME[40:])):
        path = folder / f"part{name}.{kind}"
        if kind == "parquet":
            part.to_parquet(path, row_group_size=17)
        else:
            part.to_csv(path, index=False)
    return str(folder / f"part*.{kind}")


@pytest.mark.parametrize("kind", ["parquet", "csv", "csv.gz"])
def test_files_give_the_sums_of_their_rows(folder, kind):
    pattern = write(folder, kind)
    blocks = Blocks.from_files(pattern, text=["who"] * kind.startswith("csv"))
    more = Blocks.from_files(pattern, VALUES, block_bytes=300)
    assert blocks.n_blocks == {"parquet": 7}.get(kind, 2)
    assert more.n_blocks == {"parquet": 7, "csv": 11, "csv.gz": 2}[kind]
    unread = [None] * more.n_blocks
    rows = [len(block) for block in more]
    assert lengths(more) == (rows if kind == "parquet" else unread)
    np.testing.assert_array_equal(whole(more), FRAME[VALUES])
    expected = total(FRAME[VALUES].to_numpy(), FRAME["who"])
    assert expected[0] == 67
    assert same(total(blocks[VALUES], blocks["who"]), expected)
    assert same(total(blocks[VALUES], FRAME["who"]), expected)
    assert same(total(more), total(FRAME[VALUES].to_numpy()))
    assert not list((folder / "spill").iterdir())


def test_a_file_is_read_once_for_values_and_labels(folder, monkeypatch):
    from pyarrow import parquet

    blocks = Blocks.from_files(write(folder, "parquet"))
    read, asked = parquet.ParquetFile.read_row_group, []

    def counted(file, k, columns=None):
        asked.append(columns)
        return read(file, k, columns=columns)

    monkeypatch.setattr(parquet.ParquetFile, "read_row_group", counted)
    total(blocks[VALUES], blocks["who"])
    assert asked == [[*VALUES, "who"]] * 8  # one for the form, then each block once
    asked.clear()
    assert open_rows(blocks[["a"]]).people(1) == (N, "row")  # the file knows
    assert asked == [["a"]]


def test_labels_in_csv_are_those_that_are_written(folder):
    """Types are guessed for each block; "007" in the first would be another person."""
    frame = pd.DataFrame({"x": range(40), "who": ["007"] * 30 + ["7"] * 9 + ["A"]})
    frame.to_csv(folder / "f.csv", index=False)
    blocks = Blocks.from_files(folder / "f.csv", block_bytes=100)
    assert blocks.n_blocks > 2
    assert total(blocks[["x"]], blocks["who"])[0] == 3
    assert total(blocks[["x"]], blocks[["who"]])[0] == 3
    frame[["who"]].to_csv(folder / "who.csv", index=False)
    labels = Blocks.from_files([folder / "who.csv"])
    assert total(Blocks([lambda: frame[["x"]]]), labels)[0] == 3
    with pytest.raises(TypeError, match="list of columns"):
        Blocks.from_files(folder / "f.csv", text="who")
    frame.loc[25, "who"] = None
    frame.to_csv(folder / "f.csv", index=False)
    blocks = Blocks.from_files(folder / "f.csv", block_bytes=100)
    with pytest.raises(ValueError, match="missing labels"):
        total(blocks[["x"]], blocks["who"])
    assert not list((folder / "spill").iterdir())


def test_a_person_is_one_in_all_parts_of_a_large_piece(folder):
    """pandas guesses types for parts of what it reads: 7 at first and "7" later."""
    rest = ",1" * 100  # the wider, the fewer rows are read at a time
    lines = [f"{who}{rest}" for who in ["7"] * 9000 + ["A", "7"] * 1500]
    lines.insert(0, ",".join(["who", "x", *(f"x{k}" for k in range(99))]))
    for k in range(2):
        (folder / f"{k}.csv").write_text("\n".join(lines))
    blocks = Blocks.from_files(str(folder / "*.csv"))
    assert blocks.n_blocks == 2
    assert total(blocks[["x"]], blocks["who"])[0] == 2
    assert set(blocks["who"].read(0)) == {"7", "A"}  # as classes, too


def test_a_column_may_be_labels_and_numbers(folder):
    frame = pd.DataFrame({"x": range(40), "who": np.arange(40) % 3})
    frame.to_csv(folder / "f.csv", index=False)
    blocks = Blocks.from_files(folder / "f.csv", block_bytes=100)
    expected = total(frame.to_numpy(), frame["who"])
    assert same(total(blocks, blocks["who"]), expected)
    assert same(total(blocks[["x", "who"]], blocks["who"]), expected)
    assert same(total({"a": blocks[["x"]]}["a"], blocks["who"]), (3, [780 * 10**6]))


def reads(monkeypatch):
    """The columns and the threads of what is read of CSV files."""
    read, asked = CsvRows.read, []

    def noted(rows, k, columns):
        asked.append((columns, threading.get_ident()))
        return read(rows, k, columns)

    monkeypatch.setattr(CsvRows, "read", noted)
    return asked


def test_a_csv_file_is_read_once_for_values_and_labels(folder, monkeypatch):
    blocks = Blocks.from_files(write(folder, "csv"))
    asked = reads(monkeypatch)
    total(blocks[VALUES], blocks["who"])
    assert [columns for columns, _ in asked] == [[*VALUES, "who"]] * 3


def test_workers_count_rows_and_a_bar_shows_it(folder, monkeypatch):
    """Labels in memory are cut where blocks of files begin, which must be counted."""
    blocks = Blocks.from_files(write(folder, "csv"), VALUES, block_bytes=300)
    asked, bars = reads(monkeypatch), []

    def noted(**words):
        bars.append(words["total"])
        return progress_bar(**words)

    monkeypatch.setattr("skfuncpriv.blocks._engines.progress_bar", noted)
    with parallel_config("threading", n_jobs=2):
        block_reader((blocks, None, None, np.arange(N)))
    assert len(asked) == 11
    assert threading.get_ident() not in {thread for _, thread in asked}
    assert bars == [11]
    assert open_rows(blocks).people(1) == (N, "row")
    assert bars == [11, 11]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["whole", "slice", "strided", "changed", "file"])
def test_arrays_in_files(tmp_path, order, kind):
    np.save(tmp_path / "x.npy", np.array(X, order=order))
    mode = "c" if kind == "changed" else "r+"
    mapped, expected = np.load(tmp_path / "x.npy", mmap_mode=mode), X.copy()
    mapped[3] = expected[3] = 5.0
    if kind == "slice":
        mapped, expected = mapped[10:90], expected[10:90]
    if kind == "strided":
        mapped, expected = mapped[::2], expected[::2]
    mapped = tmp_path / "x.npy" if kind == "file" else mapped
    make = Blocks.from_files if kind == "file" else Blocks.from_array
    how = {"block_bytes": 24 * 7} if kind == "file" else {"block_rows": 7}
    if kind == "file":
        np.save(mapped, np.array(expected, order=order))
    blocks = make(mapped, **how)
    assert blocks.n_blocks == -(-len(expected) // 7)
    np.testing.assert_array_equal(whole(blocks), expected)
    np.testing.assert_array_equal(whole(blocks[[2, 0]]), expected[:, [2, 0]])
    np.testing.assert_array_equal(whole(blocks[1]), expected[:, 1])


def test_arrays_are_cut_where_others_are(folder):
    codes = np.arange(N) % 13
    np.save(folder / "x0.npy", X[:33])
    np.save(folder / "x1.npy", X[33:])
    np.save(folder / "g.npy", codes)
    values = Blocks.from_files(str(folder / "x*.npy"), block_bytes=24 * 10)
    labels = Blocks.from_files(folder / "g.npy", block_bytes=8 * 90)
    assert (values.n_blocks, labels.n_blocks) == (11, 2)
    expected = total(X, codes)
    parquet = Blocks.from_files(write(folder, "parquet"))[VALUES]
    assert same(total(values, labels), expected)
    assert same(total(values, codes), expected)
    assert same(total(values, np.load(folder / "g.npy", mmap_mode="r")), expected)
    assert same(total(X, np.load(folder / "g.npy", mmap_mode="r")), expected)
    assert same(total(parquet, labels), total(FRAME[VALUES].to_numpy(), codes))
    labels = pd.Series(codes)
    assert same(total(parquet, labels), total(FRAME[VALUES].to_numpy(), codes))
    with pytest.raises(ValueError, match="an index is not compared"):
        total(parquet, labels[::-1])
    with pytest.raises(ValueError, match="same number of rows"):
        total(values, codes[1:])
    with pytest.raises(ValueError, match="same number of rows"):
        total(values, Blocks.from_array(codes[1:]))
    with pytest.raises(ValueError, match="same number of blocks"):
        total(parquet, Blocks([lambda: codes]))


@pytest.mark.parametrize(
    ("text", "columns", "match"),
    [
        ('a,b\n1,"2\n2"\n3,4\n', None, "ends within quotes"),
        ("a,b\n1,2\n3,4,5\n6,7\n", None, "cannot be read as CSV"),
        ("a,c\n1,2\n", ["a", "b"], "cannot be read as CSV"),
        ("a,b\n1,\xe9\n", None, "cannot be read as CSV"),
    ],
)
def test_errors_of_files_quote_no_line(tmp_path, text, columns, match):
    (tmp_path / "f.csv").write_bytes(text.encode("latin-1"))
    size = 3 if "quotes" in match else 100
    with pytest.raises(ValueError, match=match) as caught:
        whole(Blocks.from_files(tmp_path / "f.csv", columns, block_bytes=size))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("columns", [None, ["a"], ["a", "b"]])
@pytest.mark.parametrize("size", [1, 100])
@pytest.mark.parametrize(
    "lines",
    [
        ["0,2,3", "1,5,6"],  # the first field would be an index, as 0, 1, ... looks
        ["1,2,", "1,2,"],
        ["1,2,3,4"],
        ["1,2", "3,4,5"],
        ["1,2", "3,4", "5,6,7", "8,9,10"],
    ],
)
def test_lines_with_more_fields_than_the_header_are_refused(
    tmp_path, lines, size, columns
):
    """They would shift columns, for all rows or for some."""
    (tmp_path / "f.csv").write_text("\n".join(["a,b", *lines, ""]))
    with pytest.raises(ValueError, match="as many fields as the header"):
        whole(Blocks.from_files(tmp_path / "f.csv", columns, block_bytes=size))


def test_quotes_within_lines_are_read(tmp_path):
    rows = [f'"p, ""{k}""",{k}' for k in range(30)]
    (tmp_path / "f.csv").write_text("\n".join(["who,x", *rows]))
    blocks = Blocks.from_files(tmp_path / "f.csv", block_bytes=50)
    assert blocks.n_blocks > 5
    assert [row[0] for row in whole(blocks)] == [f'p, "{k}"' for k in range(30)]


def test_a_stored_index_is_a_label_and_no_value(tmp_path):
    FRAME.set_index("who").to_parquet(tmp_path / "f.parquet")
    blocks = Blocks.from_files(tmp_path / "f.parquet")
    assert list(blocks.read(0).columns) == VALUES
    assert list(blocks["who"].read(0)) == list(FRAME["who"])
    with pytest.raises(ValueError, match="does not have the chosen columns"):
        blocks[["a", "z"]].read(0)


def test_what_is_no_file_of_rows(tmp_path):
    np.save(tmp_path / "o.npy", np.array([None]), allow_pickle=True)
    np.save(tmp_path / "a.npy", X)
    np.save(tmp_path / "b.npy", X[:, :2])
    (tmp_path / "f.csv").write_text("a,b\n")
    with gzip.open(tmp_path / "z.csv.gz", "wt") as file:
        file.write("a\n1\n")
    with pytest.raises(ValueError, match="must hold numbers"):
        Blocks.from_files(tmp_path / "o.npy")
    with pytest.raises(ValueError, match="arrays of one shape"):
        Blocks.from_files([tmp_path / "a.npy", tmp_path / "b.npy"])
    np.save(tmp_path / "i.npy", X.astype(int))
    with pytest.raises(ValueError, match="of one kind: all integers"):
        Blocks.from_files([tmp_path / "a.npy", tmp_path / "i.npy"])
    with pytest.raises(ValueError, match="all be of one kind"):
        Blocks.from_files([tmp_path / "a.npy", tmp_path / "z.csv.gz"])
    with pytest.raises(ValueError, match="at least one block with rows"):
        Blocks.from_files(tmp_path / "f.csv")
    with pytest.raises(FileNotFoundError, match="no file matches"):
        Blocks.from_files(str(tmp_path / "*.parquet"))
    with pytest.raises(FileNotFoundError):
        Blocks.from_files(tmp_path / "none.parquet")


def test_workers_of_joblib_read_blocks(tmp_path):
    np.save(tmp_path / "x.npy", X)
    model = ICLPMean(bounds=(-3, 3), random_state=0).fit(X)
    with parallel_config("threading", n_jobs=2):
        again = ICLPMean(bounds=(-3, 3), random_state=0)
        again.fit(Blocks.from_files(tmp_path / "x.npy", block_bytes=240))
    np.testing.assert_array_equal(again.release_, model.release_)


@pytest.mark.parametrize(
    ("name", "library", "words"),
    [
        ("f.parquet", "pyarrow", "reading Parquet needs pandas with pyarrow: pip inst"),
        ("f.parquet", "pandas", "reading Parquet needs pandas with pyarrow: pip inst"),
        ("f.csv", "pandas", "reading CSV files in blocks needs pandas: pip install p"),
    ],
)
def test_errors_say_which_library_is_needed(folder, monkeypatch, name, library, words):
    (folder / name).write_text("a\n1\n")
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=words) as caught:
        Blocks.from_files(folder / name)
    assert caught.value.__cause__ is None
