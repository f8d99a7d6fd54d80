"""Cases of all kinds: few columns, round data, no queries, noise of another source."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from skfuncpriv.testing import (
    PrivateCase,
    check_private_estimator,
    parametrize_with_private_checks,
)
from skfuncpriv.testing._run import CHECKS
from tests.testing import broken as ways
from tests.testing import private_mean
from tests.testing.private_mean import PrivateNumberMean
from tests.testing.test_broken import broken, case_of

UNSEEN = {  # without sums and noise
    ways.DECIDED,
    ways.ERRORS,
    ways.LATTICE,
    ways.LOSS,
    ways.BRUTE,
    ways.AUDIT,
}
MOST = [name for name in CHECKS if name != ways.COPIES]  # it starts processes
RNG = np.random.default_rng(0)
HALF = RNG.integers(1, 2**20, 20) / 2**20


class Unasked(PrivateNumberMean):  # its docstring is the same
    predict = property()


def found(model, case, only=MOST):
    """The statuses of checks, and the texts of those that did not pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes = check_private_estimator(model, case, only=only, on_fail=None)
    texts = {one.name: one.text for one in outcomes if one.status == "failed"}
    return texts, {one.name for one in outcomes if one.status == "skipped"}


def one_column(numbers):
    X = np.array(numbers, dtype=float)[:, None]
    neighbour = X.copy()
    neighbour[-1] = 1e300
    return PrivateCase(X=X, neighbour=neighbour)


@pytest.mark.parametrize(
    "numbers",
    [np.concatenate([HALF, -HALF]), RNG.integers(0, 3, 40)],
    ids=["a sum of zero", "zeros, ones and bounds"],
)
@pytest.mark.parametrize("queries", [{}, {"mean_": ()}], ids=["unasked", "read"])
def test_one_round_column_without_a_query_is_enough(numbers, queries):
    case = replace(one_column(numbers), queries=queries)
    assert found(Unasked(bounds=(-2, 2)), case)[0] == {}


def test_answers_are_what_is_released():
    case = one_column(HALF)
    model = Unasked(bounds=(-1, 1)).fit(case.X)
    assert case.ask(model) == {"mean_": model.mean_}
    for queries in ({"mean_": ()}, {"predict": (case.X[:1],)}):
        asked = PrivateNumberMean(bounds=(-1, 1), random_state=0).fit(case.X)
        (answer,) = replace(case, queries=queries).ask(asked).values()
        assert answer == asked.mean_


@pytest.mark.parametrize(
    ("way", "names"),
    [
        ("keeps its rows", [ways.HELD, ways.KEPT, ways.PUBLIC, ways.DECIDED]),
        ("bounds from data", [ways.DECIDED]),
        ("forgets to forget", [ways.ERRORS]),
        ("quotes a value", [ways.REFUSED]),
    ],
)
def test_what_is_broken_is_found_in_one_column_without_a_query(way, names):
    model = broken(ways.BROKEN[way][0])
    case = replace(one_column(HALF), queries={"mean_": ()})
    texts, _ = found(model, case, names)
    assert sorted(texts) == sorted(names)


def test_data_without_a_number_to_look_for_are_refused():
    case = one_column(np.zeros(40))
    texts, _ = found(Unasked(bounds=(-1, 1)), case, [ways.HELD])
    assert "take other data" in texts[ways.HELD]


def test_a_class_is_no_estimator():
    with pytest.raises(TypeError, match=r"pass an instance, Unasked\(\.\.\.\)"):
        check_private_estimator(Unasked)
    with pytest.raises(TypeError, match=r"pass an instance, Unasked\(\.\.\.\)"):
        parametrize_with_private_checks([Unasked])


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        (None, []),
        ("keeps its rows", [ways.HELD, ways.KEPT, ways.PUBLIC]),
        ("keeps a row in a closure", [ways.HELD]),
        ("never charges", [ways.CHARGED, ways.EXCEEDED, ways.UNFIT, ways.STRICT]),
    ],
)
def test_noise_from_elsewhere_is_checked_without_its_sums(way, expected, monkeypatch):
    own = ways.BROKEN["noise of its own"][0]
    model = broken(own + (ways.BROKEN[way][0] if way else []))
    monkeypatch.setattr(private_mean, "PrivateNumberMean", type(model))  # for pickles
    case = replace(case_of(model), own_noise="words are added", units={})
    texts, skipped = found(model, case)
    assert sorted(texts) == sorted(expected), texts
    assert skipped == UNSEEN | {ways.SCALED, ways.DELTAS, ways.LARGE}
