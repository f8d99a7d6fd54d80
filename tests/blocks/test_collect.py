"""No estimator collects the rows of an object of dask where it is called.

Whatever comes back to the client passes through the scheduler, so a scheduler that
looks at it sees everything: `compute`, `np.asarray`, `len` and what libraries do.
"""

import tempfile

import dask
import numpy as np
import pytest
from dask import array as da
from sklearn.base import clone

from skfuncpriv import Blocks
from skfuncpriv._tables import as_numbers
from skfuncpriv.blocks import open_rows
from skfuncpriv.blocks._tasks import Counted, Refusal
from skfuncpriv.curves import as_curves
from skfuncpriv.summaries import person_codes
from tests.test_common import CENTRAL, LOCAL, central_case
from tests.testing.private_mean import PrivateNumberMean

MEANT = "blocks|dask|in memory"
QUICK = ("ICLPMean", "FirstColumnKDE")  # the others with the slow tests


def one_of_each(estimators):
    """The first estimator of every class."""
    return {type(each).__name__: each for each in reversed(estimators)}


@pytest.fixture
def returned():
    """All that a scheduler handed to this process."""
    results = []

    def get(graph, keys, **how):
        found = dask.get(graph, keys, **how)
        results.extend(found)
        return found

    with dask.config.set(scheduler=get):
        yield results


def leaves(result):
    """What nested lists of results hold."""
    if type(result) not in (list, tuple):
        return [result]
    return [leaf for part in result for leaf in leaves(part)]


def lazy(table):
    table = np.asarray(table)
    return da.from_array(table, chunks=(7, *table.shape[1:]))


def test_the_scheduler_sees_what_is_collected(returned):
    rows = lazy(np.ones((20, 3)))
    np.asarray(rows)
    rows.sum().compute()
    assert [np.shape(x) for x in returned] == [(20, 3), ()]


@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name in one_of_each(CENTRAL)
    ],
)
def test_fit_collects_nothing(returned, name):
    estimator = one_of_each(CENTRAL)[name]
    case = central_case(estimator)
    y = None if case.y is None else lazy(case.y)
    model = clone(estimator)
    try:
        model.fit(lazy(case.X), y)
    except (TypeError, ValueError) as error:
        assert any(word in str(error) for word in MEANT.split("|"))  # noqa: PT017
        assert not hasattr(model, "guarantee_")
    else:
        assert any(isinstance(result, Counted) for result in returned)
    others = [x for x in leaves(returned) if not isinstance(x, Counted | Refusal)]
    assert sum(map(np.size, others)) <= 6  # lengths, and a helper's one truth


FORMS = {
    "memory": lambda table: table,
    "memory map": lambda table: memory_map(table),
    "blocks": lambda table: Blocks.from_array(table, block_rows=7),
    "dask": lambda table: lazy(table),
}


def memory_map(table):
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, dtype=table.dtype, shape=table.shape)
        mapped[:] = table
        return mapped


@pytest.mark.parametrize("name", ["y", "sample_weight", "groups"])
@pytest.mark.parametrize("second", FORMS)
@pytest.mark.parametrize("first", FORMS)
def test_forms_that_are_mixed_are_refused_or_left_where_they_are(
    returned, first, second, name
):
    X, column = np.arange(60.0).reshape(20, 3), np.arange(20) // 2
    is_mixed = "dask" in (first, second) and not {first, second} <= {"dask", "memory"}
    try:
        rows = open_rows(FORMS[first](X), **{name: FORMS[second](column)})
        rows.read(lambda X, y, weights: X)
        assert rows.people(20)[0] == (10 if name == "groups" else 20)
        assert rows.sum(lambda X, codes: int(X.sum())) == 1770
    except (ValueError, TypeError) as error:
        assert "X is" in str(error)  # noqa: PT017
        assert is_mixed or first == "memory"
    others = [x for x in leaves(returned) if not isinstance(x, Counted | Refusal)]
    assert others == []


@pytest.mark.parametrize("name", one_of_each(LOCAL))
def test_local_estimators_collect_marks_of_partitions_alone(returned, name):
    estimator = one_of_each(LOCAL)[name]
    rows = lazy(np.linspace(0.0, 9.0, 240).reshape(40, 6))
    released = clone(estimator).fit(rows).transform(rows)
    assert all(type(x) is bytes and len(x) == 32 for x in leaves(returned))
    assert isinstance(released, da.Array)
    assert released.compute().shape[0] == 40


def test_readers_of_rows_in_memory_refuse_what_they_would_collect(returned):
    rows, labels = lazy(np.ones((20, 3))), lazy(np.arange(20))
    attempts = [
        lambda: as_numbers(Blocks.from_array(np.ones((20, 3)))),
        lambda: as_curves(rows, domain=(0, 1)),
        lambda: person_codes(labels, 20),
        lambda: as_numbers(rows),
        lambda: PrivateNumberMean(bounds=(0, 1)).fit(rows),  # of the documentation
    ]
    for attempt in attempts:
        with pytest.raises(TypeError, match="would all be collected"):
            attempt()
    assert returned == []
