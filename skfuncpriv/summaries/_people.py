"""From rows to people: exact averages of the rows that one person owns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._observations import encode_labels
from .._tables import refuse_collecting
from ..noise._lattice import FloatArray, IntArray
from ._ball import BallContributions

_SPLIT_BITS = 26
_BLOCK_VALUES = 1 << 20
_BAD_LABELS = (
    "groups must name the person of every row by a string or a number; missing labels "
    "(None or NaN) are refused"
)


def person_codes(groups: Any, n_rows: int) -> tuple[NDArray[np.intp], int]:
    """Number the people that own the rows.

    Parameters
    ----------
    groups : array-like, shape (n_rows,)
        A label per row; *private*, except for the number of distinct ones.
    n_rows : int
        The number of rows; *private*.

    Returns
    -------
    codes : ndarray of int, shape (n_rows,)
        The number of each row's person.
    n_people : int
        How many people there are; *public*.

    Raises
    ------
    ValueError
        If the labels are not one per row, if one is missing (None or NaN), if numbers
        stand beside text, or floats are too large to be exact integers.

    Examples
    --------
    >>> from skfuncpriv.summaries import person_codes
    >>> person_codes(["ann", "bob", "ann"], 3)[1]
    2
    """
    refuse_collecting(groups)
    if isinstance(groups, np.ma.MaskedArray):
        raise ValueError(_BAD_LABELS)
    is_list = isinstance(groups, list | tuple)  # NumPy would make 1 a text
    labels = np.asarray(groups, dtype=object if is_list else None)
    if labels.shape != (n_rows,):  # both lengths may be private
        found = "" if labels.ndim == 1 else f" (got {labels.ndim} dimensions)"
        raise ValueError(
            f"groups must be one-dimensional{found}, with one label per row: pass the "
            "labels, as in groups=frame['person']"
        )
    codes, people = encode_labels(labels, _BAD_LABELS)
    return codes, len(people)


def number_of_people(codes: NDArray[np.intp]) -> int:
    """How many people own these rows, who may be a part of all people.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,)
        The person of each row, from 0, each of whom owns a row; *private*.

    Returns
    -------
    int
        The number; *private* if the rows are some of all.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.summaries import number_of_people
    >>> number_of_people(np.array([0, 1, 1]))
    2
    """
    return int(codes.max(initial=-1)) + 1


def person_averages(
    coefficients: FloatArray, codes: NDArray[np.intp], n_people: int, radius: float
) -> FloatArray:
    """Average the coefficient vectors of each person, exactly.

    Parameters
    ----------
    coefficients : ndarray, shape (n_rows, m)
        One vector per row, in orthonormal coordinates; *private*.
    codes : ndarray of int, shape (n_rows,)
        The person of each row, 0 .. n_people - 1; *private*.
    n_people : int
        How many people there are; *public*.
    radius : float
        A bound on the norm of a row, at which rows are clipped; *public*.

    Returns
    -------
    ndarray, shape (n_people, m)
        The averages, still to be clipped; zero for a person without rows.

    Notes
    -----
    Rows are rounded to a lattice of 2^-52 of the radius and summed as integers, in two
    words so that no number of rows can overflow (that number is private and must not
    show); the sum is divided by the count with integer arithmetic. The result depends
    neither on the order of the rows nor on the rows of other people.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.summaries import person_averages
    >>> rows, codes = np.array([[1.0], [3.0], [5.0]]), np.array([0, 0, 1])
    >>> person_averages(rows, codes, n_people=2, radius=8.0)
    array([[2.],
           [5.]])
    """
    ball = BallContributions(1, coefficients.shape[1], radius)
    rows = ball.contributions(coefficients)
    return ball.lattice.to_float(integer_averages(rows, codes, n_people))


def integer_averages(
    rows: IntArray, codes: NDArray[np.intp], n_people: int
) -> IntArray:
    """Average integer rows of each person, rounded down; see `person_averages`.

    No absolute value may exceed 2^53. A person without rows has average zero.
    """
    if len(codes) and not 0 <= codes.min() <= codes.max() < n_people:
        raise ValueError(f"codes of people must lie in 0, ..., {n_people - 1}")
    result = np.zeros((n_people, rows.shape[1]), dtype=np.int64)
    if len(rows) == 0:
        return result
    order = np.argsort(codes, kind="stable")
    people, starts, counts = np.unique(
        codes[order], return_index=True, return_counts=True
    )
    rows = rows[order]
    high = rows >> _SPLIT_BITS
    low = rows - (high << _SPLIT_BITS)
    high_sum = np.add.reduceat(high, starts, axis=0)
    low_sum = np.add.reduceat(low, starts, axis=0)
    result[people] = _divide(high_sum, low_sum, counts[:, None])
    return result


def _divide(high: IntArray, low: IntArray, counts: IntArray) -> IntArray:
    """Return floor((high * 2^26 + low) / counts) without overflow."""
    quotient = high // counts
    rest = (high - quotient * counts << _SPLIT_BITS) + low
    return (quotient << _SPLIT_BITS) + rest // counts


def averages_in_blocks(
    rows: Callable[[NDArray[np.intp]], IntArray],
    codes: NDArray[np.intp],
    n_people: int,
    size: int,
) -> Iterator[IntArray]:
    """Average integer rows of each person in bounded memory, rounded down.

    The rows of few people are made and added up at a time, however many one person
    owns: memory that grows with that number would tell of it.

    Parameters
    ----------
    rows : callable
        From the indices of rows, shape (k,), to integers of shape (k, size), none
        above 2^53 in absolute value; *private*.
    codes : ndarray of int, shape (n_rows,)
        The person of each row, 0 .. n_people - 1; *private*.
    n_people : int
        How many people there are; *public*.
    size : int
        The length of a row; *public*.

    Yields
    ------
    ndarray of int64, shape (n_block, size)
        The averages of consecutive people; see `person_averages`.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.summaries import averages_in_blocks
    >>> table, codes = np.array([[2], [8], [4]]), np.array([0, 1, 0])
    >>> list(averages_in_blocks(table.__getitem__, codes, n_people=2, size=1))
    [array([[3],
           [8]])]
    """
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(n_people + 1))
    step = max(1, _BLOCK_VALUES // size)
    for start in range(0, n_people, step):
        stop = min(start + step, n_people)
        high = np.zeros((stop - start, size), dtype=np.int64)
        low = np.zeros_like(high)
        for begin in range(starts[start], starts[stop], step):
            chunk = order[begin : min(begin + step, starts[stop])]
            values, own = rows(chunk), codes[chunk] - start
            first = np.flatnonzero(np.append(True, np.diff(own) != 0))
            upper = values >> _SPLIT_BITS
            high[own[first]] += np.add.reduceat(upper, first, axis=0)
            values = values - (upper << _SPLIT_BITS)
            low[own[first]] += np.add.reduceat(values, first, axis=0)
        counts = np.maximum(np.diff(starts[start : stop + 1]), 1)
        yield _divide(high, low, counts[:, None])
