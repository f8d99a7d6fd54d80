"""Kinds of labels: numbers, text, dates. A person whose labels are of two counts twice.

The label 7 in one row and "7" in another would be two people, each of whom is protected
at the price of one, while the one person pays for both without being told. Readers of
text files give columns of both kinds when they decide piece by piece what holds
numbers. A large id that became a float is merged with its neighbours instead.
"""

from __future__ import annotations

import datetime
from numbers import Number
from typing import Any

import numpy as np

MIXED = (
    "Labels of people or curves are numbers in one place and text in another, or of "
    "other types that contradict each other, so one person could look like two: give "
    "all of them one type, the same in every file, as with dtype={'person': str} of "
    "pandas.read_csv"
)
ROUNDED = (
    "Labels of people or curves are floats too large for exact integers, so that two "
    "people could look like one: read them as integers or as text"
)
MISSING = ("NoneType", "NAType", "NaTType")
_WITH_NAN = (float, np.floating, np.datetime64, np.timedelta64)
_OF_ARRAYS = dict.fromkeys("biufc", "number") | dict.fromkeys("UT", "text")
_OF_ARRAYS |= {"S": "bytes", "M": "moment", "m": "span"}
_OF_TYPES: tuple[tuple[str, Any], ...] = (
    ("text", str),
    ("bytes", bytes),
    ("moment", np.datetime64),
    ("span", np.timedelta64),
    ("number", Number | np.bool_),
    ("datetime", datetime.datetime),
)


def kinds_of(labels: np.ndarray) -> set[str]:
    """The kinds of labels, shape (n,), those left out that are missing."""
    if labels.dtype.kind != "O":
        return {_OF_ARRAYS.get(labels.dtype.kind, "other")}
    entries = labels.tolist()
    types = {each for each in set(map(type, entries)) if each.__name__ not in MISSING}
    empty = tuple(each for each in types if issubclass(each, _WITH_NAN))
    if empty:  # NaN, or no date, is a missing label
        found = {type(x) for x in entries if isinstance(x, empty) and x == x}
        types = types.difference(empty) | found
    return set(map(_kind, types))


def check_kinds(labels: np.ndarray) -> None:
    """Refuse labels of several kinds, and floats that stand for several integers."""
    floats = [labels] if labels.dtype.kind == "f" else []
    if labels.dtype.kind == "O":
        kinds, entries = kinds_of(labels), labels.tolist()
        if len(kinds) > 1:
            raise ValueError(MIXED)
        types = set(map(type, entries)) if "number" in kinds else set()
        widths = [each for each in types if issubclass(each, float | np.floating)]
        floats = [np.array([x for x in entries if type(x) is each]) for each in widths]
    with np.errstate(all="ignore"):
        if any(
            (np.abs(x) >= 2.0 ** (np.finfo(x.dtype).nmant + 1)).any() for x in floats
        ):
            raise ValueError(ROUNDED)


def _kind(each: type) -> str:
    for name, types in _OF_TYPES:
        if issubclass(each, types):
            return name
    return each.__name__
