"""Labels of people that are spread over blocks: to which bucket each one goes.

Equal labels must meet in one bucket whatever process hashes them, and equal means what
it means for labels in memory: 1 and 1.0 are one person, 1 and "1" are two.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

_UNKNOWN = (
    "groups in blocks must be numbers, strings or dates, one for each row; missing "
    "labels (None or NaN) are refused"
)


def as_labels(groups: Any) -> np.ndarray:
    """The labels of a block as a one-dimensional array."""
    is_list = isinstance(groups, list | tuple)
    labels = np.asarray(groups, dtype=object if is_list else None)
    if labels.ndim == 2 and labels.shape[1] == 1 and hasattr(groups, "columns"):
        labels = labels[:, 0]  # a frame of one column
    if labels.ndim != 1:
        raise ValueError(_UNKNOWN)
    return labels


def bucket_of(labels: np.ndarray, n_buckets: int) -> NDArray[np.intp]:
    """The bucket of every label, shape (n_rows,): a function of the label alone."""
    if labels.dtype.kind == "O":
        known = {label: _hash(label) for label in labels.tolist()}
        hashes = np.array([known[label] for label in labels.tolist()], dtype=object)
    else:
        distinct, codes = np.unique(labels, return_inverse=True)
        hashes = np.array([_hash(x) for x in distinct.tolist()], dtype=object)[codes]
    return np.asarray(hashes % n_buckets, dtype=np.intp).reshape(len(labels))


def joined_labels(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Labels of several blocks, none of which becomes equal to another one."""
    if len({part.dtype for part in parts}) == 1 or {
        part.dtype.kind for part in parts
    } <= {"U"}:
        return np.concatenate(parts)
    return np.concatenate([np.array(part, dtype=object) for part in parts])


def _hash(label: Any) -> int:
    """A number that equal labels share in every process."""
    if isinstance(label, str):
        return crc32(label.encode("utf-8", "surrogatepass"))
    if isinstance(label, bytes):
        return crc32(label)
    if isinstance(label, Number):  # equal numbers of all types, without a salt
        return 0 if label != label else _mixed(hash(label))
    if hasattr(label, "isoformat"):
        return crc32(str(label.isoformat()).encode())
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return 0  # refused later, as in memory
    raise ValueError(_UNKNOWN)


def _mixed(number: int) -> int:
    """Neighbouring numbers in buckets that look independent."""
    return crc32(number.to_bytes(16, "little", signed=True))
