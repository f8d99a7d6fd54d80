"""Rows of dask: each partition is worked on where it is, when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import get_config

from .._tables import as_numbers, frame_to_numbers, is_frame
from ..blocks._dask import computed
from ..blocks._partitions import is_dask, lazy_form, partitions_of
from ..blocks._tables import take
from ..exceptions import PrivacyError
from ..noise import KeyedBits

_NUMBERS = (
    "Columns of dask must have a numeric type, which is known before they are read: "
    "say astype(float)"
)
_CONTAINER = (
    "The output for objects of dask is an array of dask: set_output(transform=...) "
    "would have to collect its rows"
)
_CHANGED = (
    "The rows of a partition are not those that were there when transform was called "
    "and charged, or equal ones are in another order: a release of them would be "
    "another one. Call persist() before transform if a graph is random or its shuffle "
    "has no fixed order"
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
    work: Callable[[Any], np.ndarray], X: Any, shape: tuple[int, ...]
) -> Any:
    """An array of dask with rows of a public `shape`, one block for each partition.

    `work` is called with the rows of a partition, if there are any.
    """
    from dask import delayed

    shared = delayed(_Work(work, shape), pure=False, traverse=False)
    run = delayed(_run, pure=False)
    return _in_one([run(shared, part) for part in partitions_of(X)], X, shape)


class PromisedRows:
    """Rows of dask that will be released later, and have to be the same then.

    Each partition is read once, when this object is made, and marked (`KeyedBits`).

    Parameters
    ----------
    X : dask array or frame
        *Private.*
    bits : KeyedBits
        The source of the noise; *private*.

    Notes
    -----
    A partition is computed whenever somebody asks for it. For the same rows its noise
    is the same. For other rows it would have to be other noise, or two results would
    show their exact difference; but then rows that did not change, or that are only
    in another place, are released twice for one charge. So other rows are refused.

    Rows that are all different may come in another order, as from a shuffle: they are
    sorted before noise is drawn, and go back to their places. Among equal rows the
    order decides whose noise is whose, and a result that changes places with another
    one shows that their rows are equal; so where rows are equal, their partition has to
    come in one order.
    """

    def __init__(self, X: Any, bits: KeyedBits) -> None:
        from dask import delayed

        self._table, self._bits, self._parts = X, bits, partitions_of(X)
        shared = delayed(_Marker(bits), pure=False, traverse=False)
        run = delayed(_run, pure=False)
        marks = [run(shared, part, k) for k, part in enumerate(self._parts)]
        self._marks: list[bytes] = computed(delayed(list)(marks))

    def release(self, work: Callable[..., np.ndarray], shape: tuple[int, ...]) -> Any:
        """An array of dask with what `work` makes of rows and the bits of their place.

        Parameters
        ----------
        work : callable
            From rows of a partition, and bits of its own, to as many rows.
        shape : tuple of int
            The public shape of a row of the result.

        Returns
        -------
        dask array
            One block for each partition.
        """
        from dask import delayed

        task = _Release(work, shape, _Marker(self._bits))
        shared = delayed(task, pure=False, traverse=False)
        run = delayed(_run, pure=False)
        blocks = [
            run(shared, part, k, mark)
            for k, (part, mark) in enumerate(zip(self._parts, self._marks, strict=True))
        ]
        return _in_one(blocks, self._table, shape)


def _in_one(blocks: list[Any], X: Any, shape: tuple[int, ...]) -> Any:
    from dask import array

    lengths = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * len(blocks)
    arrays = [
        array.from_delayed(block, (length, *shape), np.float64)
        for block, length in zip(blocks, lengths, strict=True)
    ]
    return array.concatenate(arrays, allow_unknown_chunksizes=True)


class _Work:
    """What is done with the rows of a partition."""

    def __init__(self, work: Callable[[Any], np.ndarray], shape: tuple[int, ...]):
        self._work, self._shape = work, shape

    def __call__(self, rows: Any) -> np.ndarray:
        return self._work(rows) if len(rows) else np.empty((0, *self._shape))


class _Marker:
    """The order of the rows of a partition, and the bits of that place and of them."""

    def __init__(self, bits: KeyedBits) -> None:
        self._bits = bits

    def bound(self, rows: Any, number: int) -> tuple[np.ndarray, KeyedBits]:
        bits = self._bits.spawn(number)
        if len(rows) == 0:
            return np.arange(0), bits.bound_to(np.empty(0))
        numbers = frame_to_numbers(rows) if is_frame(rows) else as_numbers(rows)
        order = _order(numbers)
        return order, bits.bound_to(numbers[order])

    def __call__(self, rows: Any, number: int) -> bytes:
        return self.bound(rows, number)[1].mark()


class _Release:
    """What is done with rows that were promised; its `repr` shows no secret."""

    def __init__(
        self, work: Callable[..., np.ndarray], shape: tuple[int, ...], marker: _Marker
    ) -> None:
        self._work, self._shape, self._marker = work, shape, marker

    def __call__(self, rows: Any, number: int, mark: bytes) -> np.ndarray:
        order, bits = self._marker.bound(rows, number)
        if bits.mark() != mark:
            raise PrivacyError(_CHANGED)
        if len(rows) == 0:
            return np.empty((0, *self._shape))
        sorted_ = self._work(take(rows, order), bits)
        released = np.empty_like(sorted_)
        released[order] = sorted_
        return released


def _order(numbers: np.ndarray) -> np.ndarray:
    """How rows are sorted, bytes by bytes; as they come if some of them are equal."""
    flat = np.ascontiguousarray(numbers).reshape(len(numbers), -1)
    whole = flat.view(f"V{flat.itemsize * flat.shape[1]}").ravel()
    order = np.argsort(whole)
    if (whole[order[1:]] == whole[order[:-1]]).any():
        return np.arange(len(order))
    return order


def _run(task: Callable[..., Any], *arguments: Any) -> Any:
    return task(*arguments)
