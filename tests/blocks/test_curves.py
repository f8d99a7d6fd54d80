"""Curves in blocks: the sums, and so the releases, are those of the rows in memory."""

import copy
import pickle
from functools import lru_cache, partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skfuncpriv import (
    BernsteinMean,
    Curves,
    FRLMean,
    ICLPCovariance,
    ICLPMean,
    PrivateFPCA,
    PrivateSparseMean,
)
from skfuncpriv.basis import _base as base
from skfuncpriv.blocks import Blocks
from skfuncpriv.blocks import _tasks as tasks
from skfuncpriv.privacy import BudgetLedger
from skfuncpriv.summaries import _grid as grids
from skfuncpriv.testing._recording import replayed, transcribed
from skfuncpriv.testing._tools import fitted_attributes, same

FACTS = {"bounds": (-2, 3), "random_state": 0, "epsilon": 30.0}
SMALL = {**FACTS, "n_basis": 3}
MODELS = {
    "grid": ICLPMean(**SMALL),
    "clipped": ICLPMean(**SMALL, norm_bound=1.0),
    "rounds": ICLPMean(**FACTS, rounds=2),
    "ar": ICLPMean(**FACTS, penalty="ar", n_basis=5, denoise=False),
    "sparse": PrivateSparseMean(**SMALL),
    "covariance": ICLPCovariance(**SMALL),
    "components": PrivateFPCA(**SMALL, n_components=2),
    "frl": FRLMean(**SMALL),
    "bernstein": BernsteinMean(**FACTS, degree=4),
}
N = 30
RNG = np.random.default_rng(0)
WIDE = RNG.normal(size=(N, 8)).cumsum(axis=1)
PEOPLE = np.array([f"p{k}" for k in RNG.integers(0, 10, N)])
GAPS = np.where(RNG.uniform(size=WIDE.shape) < 0.3, np.nan, WIDE)
GAPS[5] = np.nan  # a row without values,
GAPS[np.isin(PEOPLE, PEOPLE[-1])] = np.nan  # and a person without any
CUTS = np.append(0, RNG.integers(0, 6, N).cumsum())
TIMES = np.concatenate([np.sort(RNG.uniform(size=k)) for k in np.diff(CUTS)])
TABLES = {
    "wide": WIDE,
    "gaps": GAPS,
    "vectors": RNG.normal(size=(N, 5, 2)),
    "irregular": Curves(
        np.sin(9 * TIMES), TIMES, CUTS, domain=(0, 1), missing="interpolate"
    ),
}
CASES = [(name, "wide") for name in MODELS]
CASES += [(name, "gaps") for name in ("rounds", "sparse", "covariance", "bernstein")]
CASES += [(name, "vectors") for name in ("grid", "sparse", "covariance", "bernstein")]
CASES += [(name, "irregular") for name in ("clipped", "sparse", "covariance")]
CASES += [("frl", "irregular"), ("bernstein", "irregular")]
ARRAYS = [case for case in CASES if case[1] != "irregular"]

each_model = pytest.mark.parametrize("name", MODELS)
each_case = pytest.mark.parametrize(("name", "data"), CASES)
each_array = pytest.mark.parametrize(("name", "data"), ARRAYS)


def blocks_of(table, size):
    """Consecutive rows; of curves, by functions that a user has written."""
    if isinstance(table, np.ndarray):
        return Blocks.from_array(table, size)
    starts = range(0, len(table), size)
    return Blocks(partial(table.__getitem__, slice(k, k + size)) for k in starts)


def ready(name, data="wide", **parameters):
    """The estimator, with what it needs for these data."""
    if data == "gaps" and name != "sparse":
        parameters["missing"] = "interpolate"
    return clone(MODELS[name]).set_params(**parameters)


def outcome(model, X, groups):
    """What noise was added to, in every round, what was public, and what is left."""
    with transcribed() as transcript:
        model.fit(X, groups=groups)
    hidden = [
        step.exact if hasattr(step, "exact") else step.scores.tolist()
        for step in transcript.steps
    ]
    left = fitted_attributes(model)
    left.pop("feature_names_in_", None)  # of frames
    return hidden, [step.public for step in transcript.steps], left


@lru_cache
def in_memory(name, data, has_groups):
    """The same for all rows in memory."""
    groups = PEOPLE if has_groups else None
    return outcome(ready(name, data), TABLES[data], groups)


def check(name, data, X, groups=None):
    """All bits are those of the rows in memory."""
    hidden, public, left = outcome(ready(name, data), X, groups)
    expected = in_memory(name, data, groups is not None)
    assert hidden == expected[0]
    assert same(public, expected[1])
    assert left.keys() == expected[2].keys()
    differ = [key for key in left if not same(left[key], expected[2][key])]
    assert differ == []


@each_case
def test_each_row_is_a_block(name, data):
    check(name, data, blocks_of(TABLES[data], 1))


@each_model
def test_blocks_of_any_size(name):
    for size in (2, 7, 1000):
        check(name, "wide", blocks_of(WIDE, size))


@pytest.mark.parametrize("name", ["clipped", "rounds", "sparse", "covariance"])
def test_a_bar_for_the_blocks_and_none_within_them(name, capfd):
    model = clone(MODELS[name]).set_params(verbose=True)
    model.fit(TABLES["irregular"])
    assert "curves:" in capfd.readouterr().err
    model.fit(blocks_of(TABLES["irregular"], 13))
    assert "curves:" not in capfd.readouterr().err


@pytest.mark.parametrize("name", ["grid", "clipped", "rounds", "covariance", "frl"])
def test_public_matrices_are_made_once_and_sent(name, monkeypatch):
    """They are work that grows with blocks, and another machine's have other bits."""
    calls = []

    def counted(original):
        def function(*arguments):
            calls.append(original.__name__)
            return original(*arguments)

        return function

    monkeypatch.setattr(base, "_MOST_KEPT", 0)
    kind = type(clone(MODELS[name]).fit(WIDE).basis_)
    monkeypatch.setattr(kind, "projection", counted(kind.projection))
    monkeypatch.setattr(grids, "eigvalsh", counted(grids.eigvalsh))
    made = []
    for size in (3, N):
        calls.clear()
        clone(MODELS[name]).fit(blocks_of(WIDE, size))
        made.append(list(calls))
    assert made[0] == made[1]
    assert "projection" in made[0]


@each_case
def test_people_whose_rows_lie_in_several_blocks(name, data):
    check(name, data, blocks_of(TABLES[data], 13), blocks_of(PEOPLE, 13))


@each_model
def test_memory_maps(name, tmp_path):
    np.save(tmp_path / "rows.npy", WIDE)
    rows = np.load(tmp_path / "rows.npy", mmap_mode="r")
    check(name, "wide", rows)
    check(name, "wide", Blocks.from_array(rows, 17), PEOPLE)


@each_array
def test_arrays_of_dask(name, data):
    array = pytest.importorskip("dask.array")
    table = TABLES[data]
    rows = array.from_array(table, chunks=(17, 3, 2)[: table.ndim])
    check(name, data, rows)
    if data == "wide":
        check(name, data, rows, array.from_array(PEOPLE, chunks=31))


@each_model
def test_frames_of_dask(name):
    frames = pytest.importorskip("dask.dataframe")
    names = [f"at_{k}" for k in range(8)]
    frame = pd.DataFrame(WIDE, columns=names).assign(person=PEOPLE)
    rows = frames.from_pandas(frame, npartitions=2)
    check(name, "wide", rows[names])
    check(name, "wide", rows[names], rows["person"])


BAD = {"nan": np.nan, "infinity": np.inf, "text": "high"}


@each_model
@pytest.mark.parametrize("bad", BAD)
def test_refused_before_the_charge_in_any_block(name, bad, tmp_path):
    if (name, bad) == ("sparse", "nan"):
        bad = "infinity"  # no value is no error there
    table = WIDE.astype(object)
    table[25, 3] = BAD[bad]
    path = tmp_path / "ledger"
    ledger = BudgetLedger(path, epsilon=99.0)
    model = ready(name, ledger=path)
    with pytest.raises((TypeError, ValueError)) as known:
        model.fit(table)
    with pytest.raises(known.type) as refused:
        model.fit(blocks_of(table, 13))
    assert str(refused.value) == str(known.value)
    assert ledger.history() == []
    assert fitted_attributes(model).keys() <= {"feature_names_in_", "n_features_in_"}


@pytest.mark.parametrize("name", ["rounds", "covariance", "bernstein"])
def test_refused_before_the_charge_by_dask(name, tmp_path):
    array = pytest.importorskip("dask.array")
    table = WIDE.copy()
    table[25, 3] = np.nan
    path = tmp_path / "ledger"
    ledger = BudgetLedger(path, epsilon=99.0)
    with pytest.raises(ValueError, match="Input contains NaN: fill the gaps first"):
        ready(name, ledger=path).fit(array.from_array(table, chunks=(13, 8)))
    assert ledger.history() == []


@each_model
def test_blocks_of_another_form_are_refused_before_the_charge(name, tmp_path):
    path = tmp_path / "ledger"
    ledger = BudgetLedger(path, epsilon=99.0)
    parts = [WIDE[:20], WIDE[20:, :5]]
    with pytest.raises(ValueError, match="blocks differ in their form"):
        ready(name, ledger=path).fit(Blocks(partial(np.copy, p) for p in parts))
    assert ledger.history() == []


@each_model
def test_charged_once(name, tmp_path):
    path = tmp_path / "ledger"
    ledger = BudgetLedger(path, epsilon=99.0, unit="person")
    model = ready(name, ledger=path).fit(blocks_of(WIDE, 23), groups=PEOPLE)
    assert len(ledger.history()) == 1
    assert same(model.guarantee_, in_memory(name, "wide", True)[2]["guarantee_"])


@each_model
def test_what_travels_to_blocks_is_public_or_released(name, monkeypatch, tmp_path):
    """Other people's data with the same releases: the same bytes are sent."""
    sent = []
    run = tasks.Task.__call__

    def through_pickle(task, block):
        sent.append(pickle.dumps(task))
        return run(pickle.loads(sent[-1]), block)

    monkeypatch.setattr(tasks.Task, "__call__", through_pickle)
    path = tmp_path / "secret"
    BudgetLedger(path, epsilon=99.0)
    model = ready(name, ledger=path)
    with transcribed() as transcript:
        model.fit(blocks_of(WIDE, 23))
    first, sent[:] = copy.copy(sent), []
    with replayed(transcript):
        ready(name, ledger=path).fit(blocks_of(1 - WIDE[::-1], 23))
    assert sent == first
    assert len(first) == 2 * len(transcript.steps)  # blocks, each read once a round
    text = b"".join(first)
    assert not any(
        word in text for word in (b"secret", b"Bits", type(model).__name__.encode())
    )


def test_scores_are_of_rows_in_memory(tmp_path):
    """Refused before the charge, as the release would be lost."""
    path = tmp_path / "ledger"
    ledger = BudgetLedger(path, epsilon=99.0)
    model = ready("components", ledger=path)
    with pytest.raises(TypeError, match="fit_transform needs all rows in memory"):
        model.fit_transform(blocks_of(WIDE, 13))
    assert ledger.history() == []
    scores = model.fit(blocks_of(WIDE, 13)).transform(WIDE)
    parts = [model.transform(rows) for rows in blocks_of(WIDE, 13)]
    np.testing.assert_array_equal(np.concatenate(parts), scores)
    with pytest.raises(TypeError, match="transform needs all rows in memory"):
        model.transform(blocks_of(WIDE, 13))
