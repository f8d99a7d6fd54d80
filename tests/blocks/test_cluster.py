"""Two processes of dask: the release of numpy, and rows that never leave them."""

import io
import logging
import os
import pickle

import dask
import numpy as np
import pytest
from dask import array as da

from skfuncpriv import BudgetLedger, GeoPrivateCoefficients, ICLPMean
from skfuncpriv.blocks._tasks import Counted, Refusal

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
SECRET = 98765.4321
BOUNDS = {"bounds": (-2.0, 3.0), "epsilon": 1.0}
# So a worker that dies is replaced at once, and is waited for.
QUIET = {"distributed.worker.daemon": True, "distributed.scheduler.allowed-failures": 3}


def rows_of(k):
    return np.random.default_rng(k).normal(size=(40, 6))


def people_of(k):
    return np.random.default_rng(k + 99).integers(0, 37, 40)


X = np.concatenate([rows_of(k) for k in range(5)])
PEOPLE = np.concatenate([people_of(k) for k in range(5)])


def made_there(k, client, folder=None):
    """Rows that are made on a worker only, which dies of one of them, once."""
    assert os.getpid() != client
    if folder is not None and k == 2:
        path = os.path.join(folder, "died")
        if not os.path.exists(path):
            open(path, "w").close()
            os._exit(1)
    return rows_of(k)


def lazily(make, *arguments, shape=(40, 6)):
    parts = [dask.delayed(make, pure=True)(k, *arguments) for k in range(5)]
    return da.concatenate([da.from_delayed(part, shape, float) for part in parts])


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set(QUIET),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def computed(monkeypatch):
    """What came back to the client."""
    results, gather = [], distributed.Client.gather

    def noted(client, futures, *arguments, **how):
        found = gather(client, futures, *arguments, **how)
        if not client.asynchronous:
            results.extend(found if isinstance(found, list | tuple) else [found])
        return found

    monkeypatch.setattr(distributed.Client, "gather", noted)
    return results


def release(X, groups=None, **how):
    model = ICLPMean(**BOUNDS, random_state=0, **how).fit(X, groups=groups)
    return model.release_.tobytes(), model.n_people_


@pytest.mark.parametrize("grouped", [False, True])
def test_two_processes_give_the_release_of_numpy(client, computed, grouped):
    here = os.getpid()
    values = lazily(made_there, here)
    groups = lazily(people_of, shape=(40,)) if grouped else None
    assert release(values, groups) == release(X, PEOPLE if grouped else None)
    assert len(computed) == 1 + grouped
    assert all(type(result) is Counted for result in computed)
    assert max(len(pickle.dumps(result)) for result in computed) < X.nbytes / 4


def test_a_worker_that_dies_changes_and_charges_nothing(client, tmp_path):
    ledger = str(tmp_path / "budget.db")
    BudgetLedger(ledger, epsilon=5.0)
    values = lazily(made_there, os.getpid(), str(tmp_path))
    assert release(values, ledger=ledger) == release(X)
    assert (tmp_path / "died").exists()
    assert BudgetLedger(ledger).spent.epsilon == 1.0
    client.wait_for_workers(2)


def test_local_noise_is_the_same_after_a_worker_died(client, tmp_path):
    values = lazily(made_there, os.getpid(), str(tmp_path))
    model = GeoPrivateCoefficients(epsilon=30.0).fit(values)
    released = model.transform(values)
    first = released.compute()
    assert (tmp_path / "died").exists()
    np.testing.assert_array_equal(first, released.compute())
    client.wait_for_workers(2)


def with_a_gap(k):
    rows = np.full((40, 6), SECRET)
    rows[7, 2] = np.nan if k == 3 else SECRET
    return rows


def listen():
    """Note all that a worker logs."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    for name in (None, "distributed", "distributed.worker"):
        logging.getLogger(name).addHandler(handler)
    logging.getLogger("distributed.worker").setLevel(logging.DEBUG)
    logging.getLogger().heard = stream


def heard():
    return logging.getLogger().heard.getvalue()


def failing(rows):
    raise ValueError("on purpose")


def test_a_refusal_leaves_no_rows_in_logs(client, computed, tmp_path):
    """Dask writes down what a function was called with if it raises: ours return."""
    client.run(listen)
    ledger = str(tmp_path / "budget.db")
    BudgetLedger(ledger, epsilon=5.0)
    with pytest.raises(ValueError, match="Input contains NaN"):
        release(lazily(with_a_gap), ledger=ledger)
    assert [type(result) for result in computed] == [Refusal]
    assert BudgetLedger(ledger).spent.epsilon == 0
    logged = "".join(client.run(heard).values())
    assert "98765" not in logged
    assert "Compute Failed" not in logged
    rows = np.full((2, 2), SECRET)
    with pytest.raises(ValueError, match="on purpose"):
        client.submit(failing, rows).result()
    logged = "".join(client.run(heard).values())
    assert "Compute Failed" in logged  # so that the assertion above can fail


def test_strict_mode_reaches_workers_that_run_already(
    client, strictness_restored, tmp_path
):
    from skfuncpriv import config

    ledger = str(tmp_path / "budget.db")
    BudgetLedger(ledger, epsilon=5.0)
    with config(strict=True):
        model = ICLPMean(**BOUNDS, ledger=ledger).fit(lazily(with_a_gap))
    assert model.n_people_ == 200
