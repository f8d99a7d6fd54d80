"""Labels of people that are spread over blocks: to which bucket each one goes.

Equal labels must meet in one bucket whatever process hashes them, and equal means what
it means for labels in memory, as 1 and 1.0 are. Readers of text decide in every block
anew whether a column holds numbers: a person whose label is 7 in one block and "007" in
another would count as two, and be protected as less than one. So blocks whose types
contradict each other are refused, whoever holds their rows: a piece of a block without
rows still says of which kind the others are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from numbers import Number, Real
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from .._label_kinds import MISSING, MIXED, check_kinds, kinds_of

_UNKNOWN = (
    "groups in blocks must be numbers, strings or dates, one for each row; missing "
    "labels (None or NaN) are refused"
)
_FRACTIONS = (
    "Labels of people in blocks must be integers, text or dates: a number like 0.1 is "
    "another one in float32, and one person would look like two"
)
_PER_SECOND = 10**18  # attoseconds, the finest unit of NumPy


def as_labels(groups: Any) -> np.ndarray:
    """The labels of a block, all of one kind, as a one-dimensional array."""
    is_list = isinstance(groups, list | tuple)
    labels = np.asarray(groups, dtype=object if is_list else None)
    if labels.ndim == 2 and labels.shape[1] == 1 and hasattr(groups, "columns"):
        labels = labels[:, 0]  # a frame of one column
    if labels.ndim != 1:
        raise ValueError(_UNKNOWN)
    if len(labels) == 0:
        return np.empty(0, dtype=object)  # its type says nothing
    check_kinds(labels)
    if _has_fraction(labels):
        raise ValueError(_FRACTIONS)
    return labels


def part_of(labels: np.ndarray, rows: NDArray[np.intp]) -> np.ndarray:
    """Some labels of a block; if there are none, an array that tells their kind."""
    if len(rows):
        return labels[rows]
    return np.empty(0, dtype=[(kind, "?") for kind in sorted(kinds_of(labels))])


def bucket_of(labels: np.ndarray, n_buckets: int) -> NDArray[np.intp]:
    """The bucket of every label, shape (n_rows,): a function of the label alone."""
    if labels.dtype.kind == "O":
        listed = labels.tolist()
        known = {label: _hash(label) % n_buckets for label in set(listed)}
        return np.array([known[label] for label in listed], dtype=np.intp)
    distinct, codes = np.unique(labels, return_inverse=True)
    is_time = labels.dtype.kind in "Mm"
    values = _moments(distinct) if is_time else distinct.tolist()
    buckets = np.array([_hash(x) % n_buckets for x in values], dtype=np.intp)
    return buckets[codes.reshape(-1)]


def joined_labels(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Labels of several blocks, none of which becomes equal to another one.

    Parts without rows may tell of which kind the labels of their block are (`part_of`).
    """
    kinds = {name for part in parts for name in part.dtype.names or ()}
    filled = [part for part in parts if len(part)]
    kinds = kinds.union(*map(kinds_of, filled))
    if len(kinds) > 1:
        raise ValueError(MIXED)
    if not filled:
        return np.empty(0, dtype=object)
    same = len({part.dtype for part in filled}) == 1
    if same or all(part.dtype.kind in "UMm" for part in filled):
        return np.concatenate(filled)
    return np.concatenate([part.astype(object) for part in filled])


def _has_fraction(labels: np.ndarray) -> bool:
    """Whether a number is no integer; NaN, a missing label, does not count."""
    if labels.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return bool(((labels != np.floor(labels)) & (labels == labels)).any())
    if labels.dtype.kind != "O" or "number" not in kinds_of(labels):
        return False
    return any(isinstance(x, Real | Decimal) and x % 1 != 0 and x == x for x in labels)


def _hash(label: Any) -> int:
    """A number that equal labels share in every process."""
    if type(label).__name__ in MISSING:
        return 0  # refused later, as in memory
    if isinstance(label, np.datetime64 | np.timedelta64):
        label = next(_moments(np.array([label])))
    elif isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, str):
        return crc32(label.encode("utf-8", "surrogatepass"))
    if isinstance(label, bytes):
        return crc32(label)
    if isinstance(label, Number):  # equal numbers of all types, without a salt
        return 0 if label != label else _mixed(hash(label))
    if isinstance(label, datetime) and label.tzinfo is not None:
        label = label.astimezone(UTC)  # equal in all zones
    if hasattr(label, "isoformat"):
        return crc32(str(label.isoformat()).encode())
    raise ValueError(_UNKNOWN)


def _mixed(number: int) -> int:
    """Neighbouring numbers in buckets that look independent."""
    return crc32(number.to_bytes(16, "little", signed=True))


def _moments(times: np.ndarray) -> Iterator[int]:
    """Dates or durations in attoseconds, whatever their unit is."""
    unit, step = np.datetime_data(times.dtype)
    if unit in "YMWD":
        unit, step, times = "s", 1, times.astype(f"{times.dtype.kind}8[s]")
    seconds = {"h": 3600, "m": 60, "s": 1}
    finer = {"ms": 3, "us": 6, "ns": 9, "ps": 12, "fs": 15, "as": 18}
    if unit in seconds:
        scale = seconds[unit] * _PER_SECOND
    else:
        scale = _PER_SECOND // 10 ** finer.get(unit, 18)
    yield from (int(tick) * step * scale for tick in times.astype(np.int64).tolist())
