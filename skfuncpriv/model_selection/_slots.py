"""The public split of people into those who train and those who score."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit

from .._validation import check_positive
from ..exceptions import PrivacyError
from ..noise import RandomBits

_SPLITTERS = (ShuffleSplit, GroupShuffleSplit)


def check_splitter(cv: Any, selection_size: float) -> None:
    """Refuse splits whose people could overlap, or that could know the data."""
    size = check_positive(selection_size, "selection_size")
    if size >= 1:
        raise ValueError(f"selection_size must be in (0, 1), got {selection_size!r}")
    if cv is None:
        return
    name = cv if isinstance(cv, int) else type(cv).__name__
    if type(cv) not in _SPLITTERS:
        raise PrivacyError(
            f"cv={name} is refused: training sets of several folds overlap, so that "
            "their costs add up; stratified splits and those by numbers of rows know "
            "private data, and what a callable or an iterable knows is unknown. Leave "
            "cv=None, or pass ShuffleSplit(n_splits=1) or GroupShuffleSplit(n_splits=1)"
        )
    if cv.n_splits != 1:
        raise PrivacyError(
            f"cv={name}(n_splits={cv.n_splits!r}) is refused: the training people of "
            "several splits overlap, so that their costs add up; pass n_splits=1"
        )


def slot_sizes(cv: Any, selection_size: float, n_people: int) -> tuple[int, int]:
    """How many people train, and how many score."""
    if n_people < 2:
        raise ValueError(
            f"n_samples={n_people} is too few: a search needs a person who trains and "
            "another one who scores"
        )
    if cv is not None:
        train, selection = _split_by(cv, n_people, 0)
        return len(train), len(selection)
    wanted = round(float(selection_size) * n_people)
    n_selection = min(max(wanted, 1), n_people - 1)
    return n_people - n_selection, n_selection


def split_people(
    cv: Any, selection_size: float, n_people: int, bits: RandomBits
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the people who train, and of those who score.

    Random bits and the number of people are all that it knows: replacing the data of a
    person leaves everybody where they are.
    """
    words = bits.words(n_people)
    if cv is not None:
        return _split_by(cv, n_people, int(words[0] >> np.uint64(32)))
    n_train, _ = slot_sizes(cv, selection_size, n_people)
    order = np.argsort(words, kind="stable")
    return np.sort(order[:n_train]), np.sort(order[n_train:])


def _split_by(cv: Any, n_people: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """As a splitter says, of people without any data."""
    if cv.random_state is None:  # never NumPy's global state
        sizes = {"test_size": cv.test_size, "train_size": cv.train_size}
        cv = type(cv)(n_splits=1, random_state=seed, **sizes)
    people = np.arange(n_people)
    groups = people if type(cv) is GroupShuffleSplit else None
    ((train, selection),) = cv.split(people[:, None], groups=groups)
    if not (set(train) | set(selection) <= set(people)) or set(train) & set(selection):
        raise PrivacyError("cv must split people into two groups that do not overlap")
    return np.sort(train), np.sort(selection)
