"""Labels that are equal in memory meet in one bucket, and others stay apart."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skfuncpriv.blocks._labels import (
    as_labels,
    bucket_of,
    joined_labels,
    part_of,
)
from skfuncpriv.summaries import person_codes

N = 97  # buckets: two different labels meet rarely
NOON = datetime.datetime(2024, 5, 1, 12)
ZONE = datetime.timezone(datetime.timedelta(hours=3))
EQUAL = [
    [1, 1.0, True, np.int8(1), np.float32(1), np.bool_(True), decimal.Decimal(1)],
    [0, -0.0, False],
    [2**52, float(2**52)],
    ["é", np.str_("é")],
    [NOON, pd.Timestamp(NOON)],
    [NOON.replace(tzinfo=datetime.UTC), NOON.replace(hour=15, tzinfo=ZONE)],
]
DATES = ["M8[D]", "M8[h]", "M8[s]", "M8[ms]", "M8[us]", "M8[ns]", "M8[M]"]


def one(label):
    return np.array([label], dtype=object)


def n_people(*parts):
    labels = joined_labels([as_labels(part) for part in parts])
    return person_codes(labels, len(labels))[1]


@pytest.mark.parametrize("labels", EQUAL, ids=lambda labels: str(labels[0]))
def test_equal_labels_meet_and_are_one_person(labels):
    assert len({bucket_of(one(label), N)[0] for label in labels}) == 1
    assert n_people(*map(one, labels)) == 1


def test_dates_meet_whatever_their_unit():
    days = [np.array(["2024-05-01", "1969-02-01"], dtype=unit) for unit in DATES]
    assert len({tuple(bucket_of(part, N)) for part in days}) == 1
    assert n_people(*days) == 2
    waits = [np.array([7200], "m8[s]"), np.array([2], "m8[h]")]
    assert bucket_of(waits[0], N) == bucket_of(waits[1], N)
    assert n_people(*waits) == 1


@pytest.mark.parametrize("dtype", ["i8", "u1", "f8", "f4", "U", "T", "S", object])
def test_types_of_one_kind_agree_with_python(dtype):
    plain = [f"p{k}" for k in range(50)] if dtype in ("U", "T") else list(range(50))
    plain = [str(k).encode() for k in plain] if dtype == "S" else plain
    dtype = np.dtypes.StringDType() if dtype == "T" else dtype
    buckets = bucket_of(np.array(plain, dtype=dtype), N)
    expected = [bucket_of(one(label), N)[0] for label in plain]
    assert buckets.tolist() == expected
    assert len(set(expected)) > 25  # spread


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.array([7]), np.array(["007"])),
        (np.array([7]), one("007")),
        (np.array([7.0]), one("A")),
        (np.array([True]), one("yes")),
        (np.array(["7"]), one(7)),
        (np.array(["2024-05-01"], "M8[s]"), one("2024-05-01")),
        (np.array(["2024-05-01"], "M8[s]"), one(NOON)),
        (np.array([b"7"]), np.array(["7"])),
        (one("7"), one(7)),
        (one("7"), one(b"7")),
        (one("7"), one(decimal.Decimal(7))),
        (one(NOON), one(NOON.date())),
    ],
)
def test_types_that_contradict_each_other_are_refused(first, second):
    """A piece without rows says so, too: the types are those of whole blocks."""
    nobody = np.arange(0)
    emptied = (part_of(first, nobody), second)
    for parts in [(first, second), (second, first), emptied, emptied[::-1]]:
        with pytest.raises(ValueError, match="numbers in one place and text in"):
            joined_labels(parts)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array(["7", 7], dtype=object), "numbers in one place and text in"),
        (np.array([1.0, 0.1], dtype=np.float32), "must be integers, text or dates"),
        (pd.Series([1.5, None]), "must be integers, text or dates"),
        (one(decimal.Decimal("0.1")), "must be integers, text or dates"),
        (np.array([2.0**53]), "two people could look like one"),
    ],
)
def test_labels_that_split_or_merge_people_are_refused_in_any_block(labels, message):
    with pytest.raises(ValueError, match=message):
        as_labels(labels)


def test_a_block_without_rows_has_no_type():
    assert n_people(np.array([], dtype=float), one("A")) == 1


def test_large_integers_stay_apart():
    assert n_people(np.array([2**53 + 1]), np.array([2**53])) == 2
    with pytest.raises(ValueError, match="two people could look like one"):
        n_people(np.array([2**53 + 1]), np.array([float(2**53)]))
    assert n_people(np.array([2**63], "u8"), np.array([-(2**63)])) == 2


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(["a", "b"], dtype="category"),
        pd.Series(["a", "b"], dtype="string[pyarrow]"),
        pd.Series(["a", "b"]),
        pl.Series(["a", "b"]),
        pl.Series(["a", "b"], dtype=pl.Categorical),
        pd.DataFrame({"who": ["a", "b"]}),
        ["a", "b"],
    ],
)
def test_columns_of_frames_are_texts(labels):
    labels = as_labels(labels)
    expected = [bucket_of(one(x), N)[0] for x in ("a", "b")]
    assert bucket_of(labels, N).tolist() == expected


def test_nullable_numbers_are_numbers():
    labels = as_labels(pd.Series([1, 2], dtype="Int64"))
    assert n_people(labels, np.array([2.0, 3.0])) == 3


@pytest.mark.parametrize("label", [None, np.nan, pd.NA, pd.NaT, np.datetime64("NaT")])
def test_missing_labels_are_refused_later(label):
    assert 0 <= bucket_of(one(label), N)[0] < N
    with pytest.raises(ValueError, match="missing labels"):
        n_people(one("a"), one(label))


def test_labels_of_no_kind_are_refused():
    for label in (("a", 1), object()):
        with pytest.raises(ValueError, match="groups in blocks must be"):
            bucket_of(np.array([label, None], dtype=object)[:1], N)


def test_every_process_finds_the_same_buckets():
    """Python salts its own hashes of texts anew in every process."""
    labels = np.array(["ann", 3, 2.5, b"x"], dtype=object)
    assert bucket_of(labels, N).tolist() == [77, 0, 51, 31]
