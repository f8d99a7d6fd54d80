"""What is done with one block: texts of errors, kinds of values, numbers of people."""

import urllib.error
from datetime import date

import numpy as np
import pytest

from skfuncpriv import Blocks
from skfuncpriv._tables import as_numbers
from skfuncpriv.blocks import open_rows
from skfuncpriv.blocks._tables import joined
from skfuncpriv.blocks._tasks import guarded

SECRET = "98765.4321 of Ann"


def read_ours():
    return as_numbers([[1.0, SECRET]])


def read_in_c():
    """A function of this package that calls one in C, which quotes what it got."""
    return OURS(SECRET)


def read_elsewhere():
    raise ValueError(SECRET)


def read_from_a_server():
    raise urllib.error.HTTPError("https://a.b", 404, SECRET, {}, None)


OURS = eval(  # its frame is one of ours, and the error comes from C
    "lambda text: float(text)", {"__name__": "skfuncpriv.blocks._tasks"}
)


def test_only_texts_that_this_package_raises_are_told():
    assert "contains strings" in str(guarded(read_ours).error)
    for read in (read_in_c, read_elsewhere, read_from_a_server):
        error = guarded(read).error
        assert type(error) is RuntimeError
        assert "A block could not be read or summed: " in str(error)
        assert "Ann" not in repr(error)


def test_a_file_is_named():
    error = guarded(open, "no/such/file").error
    assert type(error) is FileNotFoundError
    assert error.filename == "no/such/file"


PARTS = [
    np.array([1.0, 2.0]),
    np.array([1, 2]),
    np.array([True]),
    np.array(["1"]),
    np.array([date(2026, 1, 1)]),
    np.array(["2026-01-01"], dtype="M8[ns]"),  # whose objects would be integers
    np.array([3], dtype="m8[s]"),
    np.array([b"1"]),
]


def test_blocks_of_all_kinds_are_joined_without_a_change_of_values():
    for first in PARTS:
        for second in PARTS:
            whole = joined([first, second])
            for value, found in zip([*first, *second], whole, strict=True):
                assert found == value
                kinds = (str, bytes, np.datetime64, np.timedelta64)
                assert all(isinstance(found, k) == isinstance(value, k) for k in kinds)


def test_numbers_and_dates_are_refused_in_the_usual_words():
    y = Blocks([lambda: np.arange(4), lambda: np.full(4, "2026-01-01", dtype="M8[ns]")])
    rows = open_rows(Blocks.from_array(np.ones((8, 2)), 4), y, groups=np.arange(8))
    rows.read(lambda X, y, weights: as_numbers(y))
    rows.people(1)
    for compute in (rows.sum, rows.alone):
        with pytest.raises((TypeError, ValueError), match="Input contains dates"):
            compute(lambda y, codes: int(y.sum()))


def test_a_person_who_came_in_between_is_noticed_by_all_that_is_computed():
    people = np.arange(8) // 2
    rows = open_rows(Blocks.from_array(np.ones((8, 2)), 4), groups=people)
    rows.read(lambda X, y, weights: X)
    rows.people(1)
    people[0] = 9
    with pytest.raises(ValueError, match="rows or people changed"):
        rows.alone(lambda X, codes: X.sum())


def test_buckets_hold_parts_of_the_people():
    rows = open_rows(Blocks.from_array(np.ones((400, 2)), 40), groups=np.arange(400))
    rows.read(lambda X, y, weights: np.ones(len(X)))
    rows.people(1)
    sizes = rows.sum(lambda ones, codes: (ones.sum() ** 2, ones.sum()))
    assert sizes[1] == 400
    assert sizes[0] < 400**2 / 5  # ten buckets: about a tenth
