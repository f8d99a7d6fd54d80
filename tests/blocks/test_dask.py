"""Objects of dask: the release of numpy, and nothing but sums on the client."""

import pickle
from functools import partial

import dask
import numpy as np
import pandas as pd
import pytest
from dask import array as da
from dask import dataframe as dd

from skfuncpriv import Blocks, BudgetLedger, GeoPrivateCoefficients, ICLPMean
from skfuncpriv.blocks import _tasks, open_rows
from skfuncpriv.blocks._dask import dask_engine
from skfuncpriv.blocks._tasks import Counted, Refusal

rng = np.random.default_rng(0)
X = rng.normal(size=(203, 9)).cumsum(axis=1) / 4
PEOPLE = rng.integers(0, 31, 203)
NAMES = [f"x{k}" for k in range(9)]
FRAME = pd.DataFrame(X, columns=NAMES).assign(who=[f"p{k}" for k in PEOPLE])
SECRET = 98765.4321
NAMED = ["1", "SECRETNAME"]


def release(X, groups=None, **how):
    model = ICLPMean(bounds=(-2, 3), random_state=0, **how).fit(X, groups=groups)
    return model.release_.tobytes(), model.n_people_, str(model.guarantee_)


@pytest.fixture(autouse=True)
def _one_thread():
    """Threads have a test of their own; a pool would only slow the others down."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def computed(monkeypatch):
    """What came back to the client."""
    results, compute = [], dask.compute

    def noted(*arguments, **how):
        found = compute(*arguments, **how)
        results.extend(found)
        return found

    monkeypatch.setattr(dask, "compute", noted)
    return results


def lazy(kind):
    """X and labels; partitions of odd sizes, some of them empty."""
    if kind == "array":
        return da.from_array(X, chunks=((80, 1, 0, 122), 4)), da.from_array(PEOPLE, 50)
    if kind == "numpy labels":
        return da.from_array(X, chunks=(60, 4)), PEOPLE
    frame = dd.from_pandas(FRAME, npartitions=5)
    if kind == "unknown":
        return frame[NAMES].to_dask_array(), (frame["x0"] * 1e6).round().to_dask_array()
    if kind == "empty":
        parts = [FRAME[:0], FRAME[:90], FRAME[:0], FRAME[90:]]
        frame = dd.from_map(lambda k: parts[k], range(4), meta=FRAME[:0])
    if kind == "category":
        return frame[NAMES], frame["who"].astype("category")
    if kind == "list":
        return frame[NAMES], FRAME["who"].tolist()
    return frame[NAMES], frame["who"]


KINDS = ["array", "numpy labels", "unknown", "empty", "category", "list"]


@pytest.mark.parametrize("kind", KINDS)
def test_release_is_that_of_numpy(kind, computed):
    values, groups = lazy(kind)
    people = (X[:, 0] * 1e6).round() if kind == "unknown" else PEOPLE
    assert release(values, groups) == release(X, people)
    assert release(values) == release(X)
    sums = [result for result in computed if isinstance(result, Counted)]
    others = [result for result in computed if not isinstance(result, Counted)]
    assert len(sums) >= 2
    assert all(np.size(x) <= 5 and np.max(x) <= 203 for x in others)  # lengths
    assert max(len(pickle.dumps(result)) for result in sums) < 8 * X.size / 5


def test_two_rounds_and_threads():
    values, groups = lazy("array")
    how = {"rounds": 2, "epsilon": 9.0}
    with dask.config.set(scheduler="threads", num_workers=2):
        assert release(values, groups, **how) == release(X, PEOPLE, **how)


def test_partitions_of_files(tmp_path):
    FRAME.to_parquet(tmp_path / "f.parquet", row_group_size=40)
    frame = dd.read_parquet(tmp_path, split_row_groups=True)
    assert frame.npartitions == 6
    assert release(frame[NAMES], frame["who"]) == release(X, PEOPLE)


MOVES = {
    "set_index": lambda frame: frame.set_index("key"),
    "merge": lambda frame: frame.merge(dd.from_pandas(OTHERS, npartitions=3), on="who"),
}
KNOWN = pd.DataFrame(np.outer(PEOPLE, np.arange(9)) / 99, columns=NAMES)  # of labels
KNOWN = KNOWN.assign(who=PEOPLE, key=np.arange(203) // 20)
OTHERS = pd.DataFrame({"who": np.arange(31), "z": 0})


@pytest.fixture(params=MOVES)
def shuffled(request):
    """A frame whose partitions have another order of rows in each computation."""
    with dask.config.set({"dataframe.shuffle.method": "disk"}):
        yield MOVES[request.param](
            dd.from_pandas(KNOWN.sample(frac=1, random_state=0), npartitions=5)
        )


def test_labels_stay_with_their_values_in_a_shuffle(shuffled):
    known = release(KNOWN[NAMES], KNOWN["who"])
    assert release(shuffled[NAMES], shuffled["who"]) == known
    kept = shuffled.persist()
    arrays = [kept[columns].to_dask_array() for columns in (NAMES, "who")]
    assert release(*arrays) == known


def test_two_shuffles_are_refused(shuffled):
    values = shuffled[NAMES].to_dask_array()
    for labels in (shuffled["who"].to_dask_array(), PEOPLE):
        with pytest.raises(ValueError, match="no fixed order of rows"):
            release(values, labels)


def test_a_shuffle_that_was_kept_has_an_order():
    with dask.config.set({"dataframe.shuffle.method": "disk"}):
        kept = dd.from_pandas(KNOWN, npartitions=3).shuffle("who").persist()
    labels = kept["who"].compute().to_numpy()
    rows = open_rows(kept["who"], kept[NAMES].to_dask_array(), groups=labels)
    rows.read(lambda X, y, weights: (X, y))
    assert rows.people(1) == (31, "person")
    ninth = PEOPLE.sum() * 8 / 99
    assert rows.sum(lambda data, codes: data[1][:, 8].sum()) == pytest.approx(ninth)


def test_the_number_of_tasks_is_linear_in_that_of_partitions():
    def tasks(n):
        engine = dask_engine((da.ones((n, 1), chunks=1), None, None, np.arange(n)))
        return len(dict(engine.by_person()._blocks[0].dask))

    many, few = tasks(120), tasks(60)
    assert many - few == 60 * (32 + 3)  # pieces; and values, block, cut
    assert tasks(3) < 3 * 9


def test_a_label_reads_no_values():
    """Rows of a person are counted from labels alone, before any value is read."""
    reads = []

    def read(block):
        reads.append(1)
        return block

    values = da.from_array(X, chunks=(60, 9)).map_blocks(read, meta=np.empty((0, 0)))
    release(values, PEOPLE)
    assert len(reads) == values.npartitions


def with_gap(k, j=4):
    broken = np.full((3, 9), SECRET)
    broken[1, j] = np.nan
    return broken if k == 1 else np.zeros((3, 9))


def test_a_refusal_comes_back_before_the_charge(tmp_path, computed):
    ledger = str(tmp_path / "budget.db")
    BudgetLedger(ledger, epsilon=1.0)
    parts = [dask.delayed(with_gap)(k) for k in range(4)]
    values = da.concatenate([da.from_delayed(p, (3, 9), float) for p in parts])
    with pytest.raises(ValueError, match="Input contains NaN") as caught:
        release(values, ledger=ledger)
    (refusal,) = computed
    assert type(refusal) is Refusal
    assert BudgetLedger(ledger).spent.epsilon == 0
    text = str(caught.getrepr(showlocals=True, style="long"))
    assert "98765" not in text


def test_an_error_of_a_graph_quotes_no_row():
    """A reader that fails on a label would show it."""
    meta = pd.DataFrame({"x": [0.0], "w": [0.0]})
    frame = dd.from_map(lambda k: meta + float(NAMED[k]), range(2), meta=meta)
    local = GeoPrivateCoefficients(epsilon=1.0).fit(frame)
    for run in (partial(release, frame), partial(local.transform, frame)):
        with pytest.raises(RuntimeError, match="could not be read or summed") as caught:
            run()
        text = str(caught.getrepr(showlocals=True, style="long", chain=True))
        assert NAMED[1] not in text


def test_an_error_of_the_scheduler_is_shown():
    killed = type("Killed", (Exception,), {"__module__": "distributed.scheduler"})()
    for error in (killed, KeyboardInterrupt()):
        with pytest.raises(type(error)) as caught:
            _tasks.unquoted(partial(raised, error))
        assert caught.value is error
    with pytest.raises(MemoryError, match="fit into memory"):
        _tasks.unquoted(partial(raised, MemoryError("98765 rows")))


def raised(error):
    raise error


@pytest.mark.parametrize("dtype", [None, object])
def test_labels_of_two_types_are_refused(dtype):
    labels = [pd.Series([1] * 100, dtype=dtype), pd.Series(["1"] * 103, dtype=dtype)]
    with dask.config.set({"dataframe.convert-string": False}):
        meta = pd.Series([], dtype=object)
        mixed = dd.from_map(lambda k: labels[k], range(2), meta=meta)
        with pytest.raises(ValueError, match="numbers in one place and text in ano"):
            release(da.from_array(X, chunks=((100, 103), 9)), mixed)


def test_mistakes_are_named():
    values, groups = lazy("frame")
    with pytest.raises(ValueError, match="an index is not compared"):
        release(values, FRAME["who"])
    with pytest.raises(ValueError, match="the same partitions"):
        release(values, dd.from_pandas(FRAME["who"], npartitions=2))
    with pytest.raises(ValueError, match="the same partitions"):
        release(values, PEOPLE[1:])
    with pytest.raises(ValueError, match="X is in memory"):
        release(X, groups)
    with pytest.raises(ValueError, match="an index is not compared"):
        release(values, Blocks.from_array(PEOPLE))
    with pytest.raises(TypeError, match="would all be collected"):
        release(dask.delayed(X))
    with pytest.raises(ValueError, match="would all be collected"):
        release(Blocks.from_array(X), dask.delayed(PEOPLE))
    with pytest.raises(ValueError, match="different indexes in a block"):
        release(values, groups.map_partitions(lambda part: part[::-1]))
