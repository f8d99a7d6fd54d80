"""The split is one of people, and knows no data."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from skfuncpriv import Curves, PrivacyError
from skfuncpriv.model_selection._rows import count_rows, people_by_label, take
from skfuncpriv.model_selection._slots import slot_sizes, split_people
from skfuncpriv.model_selection._task import Task
from skfuncpriv.noise import SeededBits
from tests.model_selection.cases import kde_search, points, without_address

pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)
SPLITTERS = [
    None,
    ShuffleSplit(n_splits=1, test_size=0.3),
    ShuffleSplit(n_splits=1, test_size=0.3, random_state=4),
    GroupShuffleSplit(n_splits=1, test_size=0.3),
]


def slots(X, groups, cv=None):
    """Labels of the people in both slots, as a search makes them."""
    search = kde_search(cv=cv, selection_size=0.3)
    task = Task(search, [{"bandwidth": 1.0}] * 2, (X, None, groups), SeededBits(1))
    (_, _, trainers), voters = task.split()
    labels = np.asarray(groups)
    return set(labels[voters.rows]), set(trainers), voters


def labelled(n_people=20):
    groups = np.repeat([f"p{k:02}" for k in range(n_people)], 3)
    return points(len(groups)), groups


@pytest.mark.parametrize("cv", SPLITTERS, ids=without_address)
def test_slots_are_of_people_and_disjoint(cv):
    X, groups = labelled()
    selection, training, voters = slots(X, groups, cv)
    assert len(selection) == voters.n_people == 6
    assert len(training) == 14
    assert not selection & training
    for k, (person, rows, _) in enumerate(voters.tables(True)):
        assert person.tolist() == [k]
        assert len(rows) == 3
        own = X[groups == sorted(selection)[k]]
        np.testing.assert_array_equal(rows, own)


@pytest.mark.parametrize("cv", SPLITTERS, ids=without_address)
def test_one_person_moves_nobody(cv):
    """Neither with other values, nor with other numbers and places of rows."""
    X, groups = labelled()
    before = slots(X, groups, cv)[:2]
    first = groups == "p00"
    once = np.flatnonzero(first)[0]
    variants = [
        np.r_[np.flatnonzero(~first), once],
        np.r_[once, np.flatnonzero(~first)],
        np.r_[np.flatnonzero(~first), np.repeat(once, 50)],
    ]
    for rows in variants:
        assert slots(X[rows], groups[rows], cv)[:2] == before
    other = X.copy()
    other[first] = 1e9
    assert slots(other, groups, cv)[:2] == before


def test_people_are_numbered_by_label():
    for labels in ([3, 1, 1, 2], ["c", "a", "a", "b"]):
        codes, n_people, unit = people_by_label(labels, np.zeros((4, 1)))
        assert codes.tolist() == [sorted(set(labels)).index(k) for k in labels]
        assert (n_people, unit) == (len(set(labels)), "person")
    with pytest.raises(ValueError, match="one person could look like two"):
        people_by_label(["1", 1, "0", 0], np.zeros((4, 1)))
    with pytest.raises(ValueError, match="labels that can be sorted"):
        people_by_label([object(), object()], np.zeros((2, 1)))


def test_every_person_is_as_likely_to_score():
    bits, n_splits = SeededBits(0), 2000
    counts = np.zeros(10)
    for _ in range(n_splits):
        counts[split_people(None, 0.3, 10, bits)[1]] += 1
    tolerance = 5 * np.sqrt(0.3 * 0.7 / n_splits)
    assert np.abs(counts / n_splits - 0.3).max() < tolerance


def test_both_slots_have_somebody():
    assert slot_sizes(None, 0.01, 2) == slot_sizes(None, 0.99, 2) == (1, 1)
    assert slot_sizes(None, 0.25, 8) == (6, 2)
    assert slot_sizes(ShuffleSplit(1, test_size=2, train_size=3), 0.5, 8) == (3, 2)
    with pytest.raises(ValueError, match="n_samples=1 is too few"):
        slot_sizes(None, 0.5, 1)


@pytest.mark.parametrize(
    "cv",
    [
        5,
        KFold(2),
        GroupKFold(2),
        StratifiedKFold(2),
        StratifiedShuffleSplit(n_splits=1),
        LeaveOneOut(),
        RepeatedKFold(),
        PredefinedSplit([0, 1]),
        ShuffleSplit(n_splits=2),
        ShuffleSplit(),
        [([0], [1])],
        iter([]),
        lambda X, y: None,
    ],
    ids=without_address,
)
def test_other_splits_are_refused(cv):
    with pytest.raises(PrivacyError, match="overlap"):
        kde_search(cv=cv).fit(points())


def test_rows_keep_their_form():
    X, rows = np.arange(12.0).reshape(6, 2), np.array([4, 1])
    frame = pd.DataFrame(X, columns=["a", "b"], index=list("uvwxyz"))
    assert take(frame, rows).index.tolist() == ["y", "v"]
    np.testing.assert_array_equal(take(pl.DataFrame(X), rows).to_numpy(), X[rows])
    np.testing.assert_array_equal(take(X.tolist(), rows), X[rows])
    np.testing.assert_array_equal(take(list(X), rows), X[rows])
    assert take(None, rows) is None
    wide = take({"u": X, "v": frame}, rows)
    assert (count_rows(wide), wide["v"].shape) == (2, (2, 2))
    two = take([X, frame], rows)
    assert (count_rows(two), two[1].shape) == (2, (2, 2))
    curves = Curves.from_wide(X, None, (0, 1))
    np.testing.assert_array_equal(np.asarray(take(curves, rows)), X[rows])
    assert count_rows(curves) == count_rows(X.tolist()) == count_rows(list(X)) == 6
