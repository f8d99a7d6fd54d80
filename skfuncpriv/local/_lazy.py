"""Rows of dask: each partition is worked on where it is, when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import get_config

from .._tables import as_numbers, frame_to_numbers, is_frame
from ..blocks._dask import is_dask, lazy_form, partitions_of
from ..noise import KeyedBits

_NUMBERS = (
    "Columns of dask must have a numeric type, which is known before they are read: "
    "say astype(float)"
)
_CONTAINER = (
    "The output for objects of dask is an array of dask: set_output(transform=...) "
    "would have to collect its rows"
)


def in_form(X: Any) -> Any:
    """X, or a row of zeros in the form of an object of dask: all that `fit` needs."""
    if not is_dask(X):
        return X
    check_numeric(X)
    return lazy_form(X)


def check_numeric(X: Any) -> None:
    """Refuse types that are no numbers, before partitions are read one by one."""
    dtypes = list(X.dtypes) if hasattr(X, "dtypes") else [X.dtype]
    if any(getattr(dtype, "kind", "O") not in "fiu" for dtype in dtypes):
        raise TypeError(_NUMBERS)
    if isinstance(X._meta, np.ma.MaskedArray):
        as_numbers(X._meta)


def check_lazily(X: Any, read: Callable[[Any], Any]) -> None:
    """Refuse rows of another form than that of `fit`, before anything is charged."""
    read(in_form(X))


def refuse_containers(owner: Any) -> None:
    """Refuse an output in frames that would be filled here."""
    own = getattr(owner, "_sklearn_output_config", {}).get("transform")
    if (own or get_config()["transform_output"]) not in (None, "default"):
        raise ValueError(_CONTAINER)


def apply_lazily(
    work: Callable[..., np.ndarray],
    X: Any,
    shape: tuple[int, ...],
    bits: KeyedBits | None = None,
) -> Any:
    """An array of dask with rows of a public `shape`, one block for each partition.

    `work` is called with the rows of a partition, if there are any, and with `bits` of
    its own, if there are any.
    """
    from dask import array, delayed

    parts = partitions_of(X)
    lengths = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * len(parts)
    shared = delayed(_Work(work, shape, bits), pure=False, traverse=False)
    run = delayed(_run, pure=False)
    blocks = [
        array.from_delayed(run(shared, part, k), (length, *shape), np.float64)
        for k, (part, length) in enumerate(zip(parts, lengths, strict=True))
    ]
    return array.concatenate(blocks, allow_unknown_chunksizes=True)


class _Work:
    """What is done with a partition; its `repr` shows no secret.

    Noise is that of the place and of the rows: computed again, it is the same.
    """

    def __init__(
        self,
        work: Callable[..., np.ndarray],
        shape: tuple[int, ...],
        bits: KeyedBits | None,
    ) -> None:
        self._work, self._shape, self._bits = work, shape, bits

    def __call__(self, rows: Any, number: int) -> np.ndarray:
        if len(rows) == 0:
            return np.empty((0, *self._shape))
        if self._bits is None:
            return self._work(rows)
        numbers = frame_to_numbers(rows) if is_frame(rows) else as_numbers(rows)
        return self._work(rows, self._bits.spawn(number).bound_to(numbers))


def _run(work: _Work, rows: Any, number: int) -> np.ndarray:
    return work(rows, number)
