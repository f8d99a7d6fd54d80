"""Rows in blocks: one release whatever the blocks, and nothing of rows elsewhere."""

import os
import pickle
import stat
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from skfuncpriv import Blocks, BudgetLedger, Curves, ICLPMean, PrivacyError
from skfuncpriv.blocks import open_rows
from skfuncpriv.blocks._spill import Spill
from skfuncpriv.blocks._tasks import Block, Counted, Refusal, Task, guarded
from skfuncpriv.exceptions import BudgetExceededError

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 9)).cumsum(axis=1) / 4
PEOPLE = rng.integers(0, 17, 60)
SECRET = 987654.125


def release(X, groups=None, **how):
    model = ICLPMean(bounds=(-2, 3), random_state=0, **how).fit(X, groups=groups)
    return model.release_.tobytes(), model.n_people_, str(model.guarantee_)


@pytest.fixture
def spill(tmp_path, monkeypatch):
    """The folder for temporary files, at first and at last empty."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield tmp_path
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("rows", [1, 7, 60])
def test_release_is_that_of_rows_in_memory(spill, rows, rounds):
    for groups in (None, PEOPLE)[: min(rows, 2)]:
        blocks = None if groups is None else Blocks.from_array(groups, rows)
        expected = release(X, groups, rounds=rounds, epsilon=9.0)
        values = Blocks.from_array(X, rows)
        assert release(values, blocks, rounds=rounds, epsilon=9.0) == expected
        listed = None if groups is None else groups.tolist()
        assert release(values, listed, rounds=rounds, epsilon=9.0) == expected


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "polars", "curves", "empty"])
def test_blocks_of_frames_and_curves(spill, library):
    names = [f"x{k}" for k in range(9)]
    frame = pd.DataFrame(X, columns=names).assign(who=[f"p{k}" for k in PEOPLE])
    parts = [frame[:25], frame[25:41], frame[41:]]
    if library == "pyarrow":
        parts = [part.astype({"who": "string[pyarrow]"}) for part in parts]
        parts[1] = parts[1].astype({"who": "category"})
    if library == "polars":
        parts = [pl.from_pandas(part) for part in parts]
    if library == "empty":
        parts = [frame[:0], *parts, frame[:0]]
    table = Blocks([lambda part=part: part for part in parts])
    values, labels = table[names], table["who"]
    if library == "curves":
        make = [lambda part=part: Curves.from_wide(part[names]) for part in parts]
        values, labels = Blocks(make), frame["who"].to_numpy()
    assert release(values, labels) == release(X, PEOPLE)


def test_a_folder_of_this_user_holds_rows_until_the_end(spill):
    rows = open_rows(Blocks.from_array(X, 7), groups=Blocks.from_array(PEOPLE, 7))
    rows.read(lambda X, y, weights: X)
    rows.people(1)
    (folder,) = spill.iterdir()
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    largest = max(file.stat().st_size for file in folder.glob("*[0-9]"))
    assert largest < 0.6 * sum(f.stat().st_size for f in folder.glob("*[0-9]"))
    first = rows.sum(lambda X, codes: len(X))
    assert first == 60


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("when", [14, 40])
def test_nothing_is_left_after_an_error(spill, error, when):
    """Neither where rows are divided by person, nor where they are summed."""
    left = [when]

    def load(k):
        left[0] -= 1
        if not left[0]:
            raise error
        return X[7 * k : 7 * k + 7]

    blocks = Blocks([lambda k=k: load(k) for k in range(9)])
    rows = open_rows(blocks, groups=PEOPLE)
    rows.read(lambda X, y, weights: X)
    expected = RuntimeError if error is not KeyboardInterrupt else error

    def fail(X, codes):
        raise error

    def use():
        rows.people(1)
        assert when == 40
        rows.sum(fail)

    with pytest.raises(expected) as caught:
        use()
    assert not list(spill.iterdir())  # though the traceback is still there
    assert caught.traceback


@pytest.mark.parametrize(
    ("table", "error"),
    [
        (np.ma.masked_array(X, X > 0), TypeError),
        (sparse.csr_array(X), TypeError),
        (X.view(np.matrix), TypeError),
        (X.tolist(), TypeError),
        (np.where(X > 1, np.nan, X), ValueError),
        (X.astype(str), ValueError),
        (X[:, :8], ValueError),
    ],
)
def test_a_later_block_is_refused_before_the_charge(tmp_path, table, error):
    ledger = str(tmp_path / "budget.db")
    BudgetLedger(ledger, epsilon=1.0)
    blocks = Blocks([lambda: X, lambda: table])
    with pytest.raises(error) as caught:
        release(blocks, ledger=ledger)
    assert type(caught.value) is error
    assert BudgetLedger(ledger).spent.epsilon == 0


def test_errors_of_loaders_are_not_shown():
    """Neither of the first block, nor where blocks are counted, nor later."""

    def fail():
        raise ValueError("Alice 123")

    def use(*loaders, **how):
        open_rows(Blocks(loaders), **how).people(1)

    labels = np.arange(120)
    for call in (
        partial(use, fail),
        partial(use, lambda: X, fail, groups=labels),
        partial(use, lambda: X, fail),
    ):
        with pytest.raises(RuntimeError, match="A block could not be read") as caught:
            call()
        assert "Alice" not in str(caught.value)
        assert caught.value.__context__ is None


def test_columns_stay_chosen_where_arrays_are_cut_again(spill):
    loaders = [lambda k=k: X[20 * k : 20 * k + 20] for k in range(3)]
    labels = Blocks.from_array(np.column_stack([PEOPLE, PEOPLE % 2]), 11)
    expected = release(X, PEOPLE)
    assert release(Blocks(loaders), labels[0]) == expected
    wide = Blocks.from_array(np.hstack([-X, X]), 11)[list(range(9, 18))]
    people = Blocks([lambda k=k: PEOPLE[20 * k : 20 * k + 20] for k in range(3)])
    assert release(wide, people) == expected


def test_a_refused_charge_leaves_no_rows_behind(tmp_path, monkeypatch):
    """Whoever holds the error, as a notebook does, holds the frames of fit, too."""
    ledger = str(tmp_path / "budget.db")
    BudgetLedger(ledger, epsilon=1.0, unit="person")
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with pytest.raises(BudgetExceededError) as caught:
        release(Blocks.from_array(X, 20), PEOPLE, epsilon=2.0, ledger=ledger)
    assert caught.tb  # held
    assert not list(folder.iterdir())


def test_another_process_leaves_the_rows_to_their_owner(tmp_path, monkeypatch):
    """One that was forked holds the same object, and would remove it at its end."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    forked, own = Spill(1), Spill(1)
    own.close()
    with monkeypatch.context() as patch:
        patch.setattr("skfuncpriv.blocks._spill.os.getpid", lambda: -1)
        forked.close()
    assert len(list(tmp_path.iterdir())) == 1


def test_rows_that_change_are_noticed_before_the_charge(tmp_path):
    ledger = str(tmp_path / "budget.db")
    BudgetLedger(ledger, epsilon=1.0)
    reads = []

    def shrinks():
        reads.append(1)
        return X[len(reads) :]

    with pytest.raises(ValueError, match="changed while blocks were read"):
        release(Blocks([shrinks]), ledger=ledger)
    assert BudgetLedger(ledger).spent.epsilon == 0


def test_refusals_hold_constant_texts():
    def foreign():
        return float(f"{SECRET}?")

    def chained():
        try:
            foreign()
        except ValueError:
            Block((X, X[1:]))

    for function in (foreign, lambda: {}[SECRET], lambda: 1 / (SECRET - SECRET)):
        refusal = guarded(function)
        assert type(refusal.error) is RuntimeError
        assert str(SECRET) not in str(vars(refusal))
    refusal = guarded(chained)
    assert str(refusal.error).endswith("must have the same number of rows")
    assert refusal.error.__context__ is refusal.error.__traceback__ is None
    missing = guarded(open, "no/such/file")
    assert missing.error.filename == "no/such/file"
    assert guarded(len, Refusal(missing.error)).error is missing.error
    assert str(SECRET) not in str(pickle.dumps(guarded(foreign)))


def test_texts_of_private_objects_hold_no_rows():
    table = np.full((2, 2), SECRET)
    for thing in (Block((table,)), Counted(2, SECRET), Task((table,), (), len)):
        assert "987654" not in repr(thing)
    assert repr(Blocks.from_array(table)) == "<Blocks: 1 of ArrayRows>"


def test_indexes_of_a_block_are_compared():
    frame = pd.DataFrame(X)
    groups = pd.Series(PEOPLE)[::-1]
    with pytest.raises(ValueError, match="different indexes in a block"):
        release(Blocks([lambda: frame]), Blocks([lambda: groups]))


def test_mistakes_are_named():
    blocks = Blocks.from_array(X, 7)
    with pytest.raises(ValueError, match="X is in memory"):
        release(X, Blocks.from_array(PEOPLE, 7))
    with pytest.raises(TypeError, match="functions without arguments"):
        Blocks([X])
    with pytest.raises(IndexError, match="no columns"):
        blocks[1][0]
    for source in (Blocks([lambda: X]), Blocks([lambda: pd.DataFrame(X)])):
        with pytest.raises(TypeError, match=r"a block is blocks\.read"):
            source[0]
    with pytest.raises(KeyError, match="chosen before"):
        blocks[[1, 2]][[3]]
    with pytest.raises(ValueError, match="X has no rows"):
        release(Blocks([lambda: X[:0]]))
    with pytest.raises(TypeError, match="Masked"):
        Blocks.from_array(np.ma.masked_array(X))


def test_strict_mode_goes_with_the_blocks(strictness_restored, tmp_path):
    from skfuncpriv import config

    ledger = str(tmp_path / "budget.db")
    BudgetLedger(ledger, epsilon=2.0)
    broken = X.copy()
    broken[50, 2] = np.nan
    with config(strict=True):
        model = ICLPMean(bounds=(-2, 3), ledger=ledger)
        model.fit(Blocks.from_array(broken, 7))
        assert model.n_people_ == 60
        with pytest.raises(PrivacyError, match="refuses seeds"):
            release(Blocks.from_array(X, 7), ledger=ledger)
