"""The local model on dask: one charge, one noise, whatever is computed again."""

import pickle

import dask
import numpy as np
import pandas as pd
import pytest
from dask import array as da
from dask import dataframe as dd
from scipy import stats
from sklearn.pipeline import make_union

from skfuncpriv import (
    BasisProjector,
    BudgetLedger,
    GeoPrivateCoefficients,
    GeoPrivateCurve,
    SVTBasisSelector,
)
from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.local import geo_private_pipeline, reconstruction_score
from skfuncpriv.noise import KeyedBits

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 20)).cumsum(axis=1)
ROWS = da.from_array(X, chunks=((13, 0, 30, 7), 6))
BOUNDS = {"bounds": (-9.0, 9.0)}
PRIVATE = [
    GeoPrivateCoefficients(epsilon=30.0),
    GeoPrivateCoefficients(rho=9.0, denoise=False),
    SVTBasisSelector(epsilon=3.0),
    GeoPrivateCurve(epsilon=30.0, **BOUNDS),
]


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def ledger(tmp_path):
    path = str(tmp_path / "budget.db")
    BudgetLedger(path, epsilon=1000.0, metric="L2", definition="geo")
    return path


def spent(ledger):
    return BudgetLedger(ledger).spent.epsilon


def same(first, second):
    return np.array_equal(first, second, equal_nan=True)


@pytest.mark.parametrize("model", PRIVATE, ids=lambda model: type(model).__name__)
def test_what_is_computed_again_has_the_same_noise(model):
    """Else the mean of many computations would have no noise."""
    released = model.fit(ROWS).transform(ROWS)
    first = released.compute()
    assert first.shape == (50, 20)
    assert same(first, released.compute(scheduler="threads"))
    assert same(first, pickle.loads(pickle.dumps(released)).compute())
    assert same(first[13:43], released.blocks[1].compute())
    assert same(first[20:30], released[20:30].compute())
    other = model.transform(ROWS).compute()
    assert not same(first, other)


def test_no_two_rows_or_partitions_share_noise():
    rows = da.zeros((40, 8), chunks=(10, 8))
    model = GeoPrivateCoefficients(rho=9.0, denoise=False).fit(rows)
    noise = np.concatenate([model.transform(rows).compute() for _ in range(2)])
    # 640 draws from about 10^7 points of a lattice: more than 5 pairs in 10^-12 of runs
    assert len(np.unique(noise)) >= noise.size - 5


def each_time(*tables):
    """An array of dask whose one partition is another table whenever it is computed."""
    changes = iter(tables)
    part = dask.delayed(lambda: next(changes))()
    return da.from_delayed(part, tables[0].shape, float)


@pytest.mark.parametrize(
    "change",
    [lambda x: x + np.eye(10, 8), lambda x: x[:9], lambda x: x[:0], np.negative],
    ids=["one value", "a row less", "no rows", "signs"],
)
def test_rows_that_changed_since_the_charge_are_refused(change):
    """Old noise would show the difference; new noise the unchanged rows once more."""
    before = rng.normal(size=(10, 8))
    rows = each_time(before, before, change(before), before)
    released = GeoPrivateCoefficients(rho=9.0).fit(rows).transform(rows)
    first = released.compute()
    with pytest.raises(PrivacyError, match="persist") as caught:
        released.compute()
    assert not any(character.isdigit() for character in str(caught.value))
    assert same(released.compute(), first)


def test_rows_cannot_move_to_another_partition():
    before = rng.normal(size=(10, 8))
    rows = da.concatenate([each_time(before, -before), each_time(-before, before)])
    released = GeoPrivateCoefficients(rho=9.0).fit(rows).transform(rows)
    with pytest.raises(PrivacyError):
        released.compute()


def test_rows_in_another_order_keep_their_noise():
    """A shuffle that writes to files returns rows in another order each time."""
    before, order = rng.normal(size=(600, 8)), rng.permutation(600)
    rows = each_time(before[order[::-1]], before, before[order])
    released = GeoPrivateCoefficients(rho=9.0, denoise=False).fit(rows).transform(rows)
    first, second = released.compute(), released.compute()
    assert same(first[order], second)
    noise = first - before
    assert np.abs(noise).min() > 0
    assert np.abs(np.corrcoef(noise.T) - np.eye(8)).max() < 5.5 / np.sqrt(600)


def test_equal_rows_cannot_change_places():
    """Their results would, too, which shows that they are equal."""
    before = rng.normal(size=(10, 8))
    before[7] = before[2]
    rows = each_time(before, before, before[::-1])
    released = GeoPrivateCoefficients(rho=9.0).fit(rows).transform(rows)
    assert len(np.unique(released.compute(), axis=0)) == 10
    with pytest.raises(PrivacyError):
        released.compute()


def test_a_shuffle_on_disk_is_released_once(ledger):
    frame = pd.DataFrame(X).assign(person=rng.permutation(50) % 23)
    lazy = dd.from_pandas(frame, npartitions=5)
    with dask.config.set({"dataframe.shuffle.method": "disk"}):
        rows = lazy.set_index("person", npartitions=3)
        model = GeoPrivateCoefficients(epsilon=3.0, ledger=ledger).fit(rows)
        released = model.transform(rows)
        first, second = (released.compute(scheduler="threads") for _ in range(2))
    assert spent(ledger) == 3.0
    assert len(np.unique(np.concatenate([first, second]), axis=0)) == 50


def test_noise_has_the_law_of_rows_in_memory():
    rows = np.tile([3.0, -1.0], (3000, 1))
    model = GeoPrivateCoefficients(epsilon=2.0, denoise=False).fit(rows)
    lazy = model.transform(da.from_array(rows, chunks=500)).compute()
    memory = model.transform(rows)
    for j in range(2):
        assert stats.ks_2samp(lazy[:, j], memory[:, j]).pvalue > 1e-7
    sd = model.noise_std_[0] / np.sqrt(len(rows))
    assert np.abs(lazy.mean(axis=0) - [3.0, -1.0]).max() < 6 * sd


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_each_transform_is_charged_once_before_it_is_computed(
    ledger, kind, monkeypatch
):
    order, fresh = [], KeyedBits.words
    monkeypatch.setattr(
        KeyedBits, "words", lambda *a: (order.append(spent(ledger)), fresh(*a))[1]
    )
    rows = ROWS if kind == "array" else dd.from_pandas(pd.DataFrame(X), npartitions=3)
    model = GeoPrivateCoefficients(epsilon=3.0, ledger=ledger).fit(rows)
    released = model.transform(rows)
    assert (spent(ledger), order) == (3.0, [])
    released.compute()
    released.compute()
    assert set(order) == {3.0}
    model.transform(rows)
    assert spent(ledger) == 6.0


def test_workers_get_neither_the_ledger_nor_the_seed(ledger):
    """Workers may be other machines, and whoever knows a seed subtracts the noise."""
    model = GeoPrivateCoefficients(epsilon=3.0, ledger=ledger, random_state=76543217)
    graph = pickle.dumps(dict(model.fit(ROWS).transform(ROWS).__dask_graph__()))
    assert ledger.encode() not in graph
    assert pickle.dumps(76543217)[-5:-1] not in graph
    assert model.ledger == ledger


def test_one_seed_has_other_noise_for_another_purpose(monkeypatch):
    """Else the noise of a choice would be that of the release that follows."""
    secrets, make = [], KeyedBits.__init__

    def remembered(self, secret, seeded=False):
        secrets.append(secret)
        make(self, secret, seeded)

    monkeypatch.setattr(KeyedBits, "__init__", remembered)
    for kind in (SVTBasisSelector, GeoPrivateCoefficients, GeoPrivateCoefficients):
        kind(epsilon=3.0, random_state=5).fit(ROWS).transform(ROWS)
    assert secrets[0] != secrets[1] == secrets[2]


@pytest.mark.parametrize("rows", [X, ROWS], ids=["memory", "dask"])
@pytest.mark.parametrize("states", [(None, 5), (5, None)])
def test_a_seed_cannot_change_after_fit(ledger, rows, states):
    """The ledger would hold, and the user read, a guarantee that is not that."""
    model = GeoPrivateCoefficients(epsilon=3.0, ledger=ledger, random_state=states[0])
    model.fit(rows).set_params(random_state=states[1])
    with pytest.raises(PrivacyError, match="random_state was changed"):
        model.transform(rows)
    assert spent(ledger) == 0


def test_labels_of_other_rows_are_refused(ledger):
    """They would be counted instead of the rows that are released."""
    model = GeoPrivateCoefficients(epsilon=1.0, ledger=ledger)
    rows = dd.from_pandas(pd.DataFrame(X), npartitions=2)
    few = [pd.Series([1, 2]), pd.Series([3, 4])]
    groups = dd.from_map(lambda k: few[k], range(2), meta=few[0][:0])
    model.fit(rows)
    for labels in (groups, groups.to_dask_array()):
        with pytest.raises(ValueError, match="the same number of rows"):
            model.transform(rows, groups=labels)
    assert spent(ledger) == 0


def test_a_person_with_many_rows_is_charged_for_each(ledger):
    people = np.arange(50) % 20
    model = GeoPrivateCoefficients(epsilon=3.0, ledger=ledger).fit(ROWS)
    for groups in (people, people.tolist(), da.from_array(people, chunks=9)):
        before = spent(ledger)
        model.transform(ROWS, groups=groups)
        assert spent(ledger) == before + 9.0


def test_refused_before_the_charge(ledger):
    model = GeoPrivateCoefficients(epsilon=3.0, ledger=ledger).fit(ROWS)
    texts = dd.from_pandas(pd.DataFrame({"a": ["x"], "b": ["y"]}), npartitions=1)
    for wrong in (texts, ROWS.astype(bool), ROWS.astype("M8[s]"), ROWS.astype(complex)):
        with pytest.raises(TypeError, match="numeric type"):
            model.transform(wrong)
    with pytest.raises(ValueError, match="expecting 20 features"):
        model.transform(ROWS[:, :9])
    with pytest.raises(ValueError, match="set_output"):
        GeoPrivateCoefficients(epsilon=1.0).set_output(transform="pandas").fit(
            ROWS
        ).transform(ROWS)
    with pytest.raises(TypeError, match="call transform"):
        PRIVATE[3].fit(ROWS).release(ROWS)
    with pytest.raises(TypeError, match="in memory"):
        reconstruction_score(BasisProjector().fit(ROWS), ROWS)
    assert spent(ledger) == 0


def test_values_that_are_not_finite_are_no_error():
    broken = X.copy()
    broken[3, 5], broken[14, 1] = np.inf, np.nan
    rows = da.from_array(broken, chunks=(9, 20))
    cleaned = np.where(np.isfinite(broken), broken, 0.0)
    projector = BasisProjector(**BOUNDS).fit(rows)
    assert same(projector.transform(rows).compute(), projector.transform(cleaned))
    for model in PRIVATE:
        assert not np.isinf(model.fit(rows).transform(rows).compute()).any()


def test_nothing_of_the_secret_is_in_keys_and_texts(monkeypatch):
    secrets, make = [], KeyedBits.__init__
    monkeypatch.setattr(
        KeyedBits,
        "__init__",
        lambda self, secret, seeded=False: (
            secrets.append(secret),
            make(self, secret, seeded),
        )[1],
    )
    released = PRIVATE[0].fit(ROWS).transform(ROWS)
    graph = dict(released.__dask_graph__())
    (secret,) = secrets
    for text in (repr(graph), str(released), repr(PRIVATE[0]), str(list(graph))):
        assert secret.hex() not in text
        assert repr(secret)[2:10] not in text
    assert secret in pickle.dumps(graph)  # it is there, for workers: keep graphs
    assert secret not in pickle.dumps(PRIVATE[0])


@pytest.mark.parametrize("selection", [None, "svt"])
def test_pipelines_go_there_and_back(selection):
    pipeline = geo_private_pipeline(epsilon=30.0, selection=selection, **BOUNDS)
    released = pipeline.fit(ROWS).transform(ROWS)
    back = pipeline.inverse_transform(released)
    known = released.compute()
    assert same(back.compute(), pipeline.inverse_transform(known))
    assert same(pipeline[0].transform(ROWS).compute(), pipeline[0].transform(X))


def test_unions_and_frames_stay_lazy():
    union = make_union(BasisProjector(n_basis=3), BasisProjector(n_basis=4))
    both = union.fit(ROWS).transform(ROWS)
    assert isinstance(both, da.Array)
    np.testing.assert_allclose(both.compute(), union.transform(X))
    surfaces = da.from_array(rng.normal(size=(9, 12, 2)), chunks=(4, 5, 1))
    walk = GeoPrivateCurve(epsilon=30.0, **BOUNDS)
    assert walk.fit_transform(surfaces).compute().shape == (9, 12, 2)


def test_seeded_is_the_same_again_and_says_so():
    model = GeoPrivateCoefficients(epsilon=3.0, random_state=5).fit(ROWS)
    first, second = (model.transform(ROWS).compute() for _ in range(2))
    assert model.guarantee_.seeded
    assert same(first, second)
