"""How labels and column vectors of targets are read; no text quotes a private value."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from ..blocks._rows import is_in_blocks
from ..exceptions import PrivacyError

_REQUIRED = "this estimator requires y to be passed, but the target y is None"
_ONE_PER_ROW = "y must hold one label per row of X"
_NOT_FINITE = "Input y contains NaN, None or infinity: labels must be known"
_COLUMN = (
    "A column-vector y was passed when a 1d array was expected: use y.ravel(), or one "
    "column of the frame"
)
_STRANGE = (
    "y must hold labels of the public classes only: change the classes, or leave the "
    "rows of others out by a rule that does not look at other rows"
)
_TWO = (
    "classes must be None or at least two different labels of one kind (numbers or "
    "strings)"
)
_STATE_THEM = (
    "strict mode demands the public classes= that labels may have: which of them occur "
    "is private"
)
_STATE_THEM_IN_BLOCKS = (
    "rows in blocks demand the public classes= that labels may have: state them"
)
_ONE_CLASS = "y holds one class only: state the public classes= that labels may have"


def check_stated(classes: np.ndarray | None, X: Any) -> None:
    """Refuse rows in blocks without public classes: nobody has seen all labels."""
    if classes is None and is_in_blocks(X):
        raise ValueError(_STATE_THEM_IN_BLOCKS)


def flat(y: Any) -> Any:
    """One column as a vector, with scikit-learn's warning; not of rows in blocks."""
    if is_in_blocks(y):
        return y
    shape = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] == 1:
        warnings.warn(_COLUMN, DataConversionWarning, stacklevel=3)
        return np.asarray(y)[:, 0]
    return y


def read_classes(classes: Any, strict: bool = False) -> np.ndarray | None:
    """The public labels, sorted; None if those that occur are public."""
    if classes is None:
        if strict:
            raise PrivacyError(_STATE_THEM)
        return None
    known = _attempt(lambda: np.unique(np.asarray(classes)))
    if known is None or np.ndim(classes) != 1 or len(known) < 2 or not _is_known(known):
        raise ValueError(f"{_TWO}, got {classes!r}")
    return known


def read_labels(
    y: Any, n_rows: int, known: np.ndarray | None, strict: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The number of each row's class, and the classes in order.

    Labels of no class are refused; in strict mode their number is -1.
    """
    if y is None:
        raise ValueError(_REQUIRED)
    if getattr(y, "shape", ()) == (n_rows, 1):  # of rows in blocks
        y = np.asarray(y)[:, 0]
    is_list = strict and isinstance(y, list | tuple)  # NumPy would make 0 a text
    labels = _attempt(lambda: np.asarray(y, dtype=object if is_list else None))
    if labels is None or labels.shape != (n_rows,):
        raise ValueError(_ONE_PER_ROW)
    if strict and known is not None:
        return _known_codes(labels, known), known
    if not _is_known(labels):
        raise ValueError(_NOT_FINITE)
    if known is None:
        check_classification_targets(labels)
        known = _attempt(lambda: np.unique(labels))
        if known is None:
            raise ValueError(_TWO)
        if len(known) < 2:
            raise ValueError(_ONE_CLASS)
    place = _attempt(lambda: np.searchsorted(known, labels))
    if place is None:
        raise ValueError(_STRANGE)
    codes = np.minimum(place, len(known) - 1)
    if not np.all(known[codes] == labels):
        raise ValueError(_STRANGE)
    return codes, known


def _known_codes(labels: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The place of each label among the known ones, or -1."""
    texts = [array.dtype.kind in "UST" for array in (labels, known)]
    if "O" not in (labels.dtype.kind, known.dtype.kind) and texts[0] != texts[1]:
        raise ValueError(_STRANGE)
    if labels.dtype.kind == "O":  # one by one: a missing label compares to no answer
        equal = [[_is_same(label, name) for label in labels] for name in known]
        same = np.array(equal, dtype=bool)
    else:
        same = np.stack([labels == name for name in known])
    return np.where(same.any(axis=0), same.argmax(axis=0), -1)


def _is_same(label: Any, name: Any) -> bool:
    answer = _attempt(lambda: bool(label == name))
    return bool(answer)


def _is_known(labels: np.ndarray) -> bool:
    """Whether no label is missing."""
    if labels.dtype.kind == "f":
        return bool(np.isfinite(labels).all())
    if labels.dtype.kind == "O":
        known = _attempt(lambda: all(x is not None and x == x for x in labels.ravel()))
        return bool(known)  # what cannot be compared with itself is no label
    return labels.dtype.kind in "biuUST"


def _attempt(compute: Any) -> Any:
    """The result, or None: the caller raises outside of the handler, unchained."""
    try:
        return compute()
    except (TypeError, ValueError):
        return None
