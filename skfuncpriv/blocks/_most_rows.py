"""How many rows one person has, at most: what the local model has to charge for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._dask import dask_engine
from ._tasks import Block, Counted, Refusal, checked, guarded, person_codes_of


def most_rows_of_a_person(X: Any, groups: Any) -> int:
    """Count the rows of the person with most rows of an object of dask.

    Parameters
    ----------
    X : dask array or frame
        *Private*; read for the lengths of its partitions.
    groups : dask array or series, or ndarray of shape (n_rows,)
        *Private* labels of the person of each row.

    Returns
    -------
    int
        The number, *private* until a ledger shows it.

    Raises
    ------
    ValueError
        If a partition has other rows than labels: what is released would not be what
        is counted.
    """
    if isinstance(groups, list | tuple):
        groups = np.array(groups, dtype=object)
    engine = dask_engine((X, None, None, groups))
    checked(engine.total(_well_formed))
    labels = engine.labels().by_person()
    most: _Most = checked(labels.total(_most_rows)).value
    return most.rows


@dataclass(frozen=True, repr=False)
class _Most:
    """A number of rows; of two the larger one counts."""

    rows: int

    def __add__(self, other: _Most) -> _Most:
        return max(self, other, key=lambda most: most.rows)


def _well_formed(block: Block | Refusal) -> Any:
    """Nothing to add up: a block of parts that do not fit each other is a refusal."""
    return guarded(lambda _: Counted(0, 0), block)


def _most_rows(block: Block | Refusal) -> Any:
    return guarded(_count_most, block)


def _count_most(block: Block) -> Counted:
    codes, n_people = person_codes_of(block)
    return Counted(n_people, _Most(int(np.bincount(codes).max(initial=0))))
