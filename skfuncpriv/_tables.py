"""Reading of a user's numbers: arrays, lists and the columns of frames, as float64.

Whatever is not a table of finite numbers is refused before anything is computed. The
texts are constant: they name the rule and the remedy, never a row, a count or a value,
and no exception is chained to one of NumPy's that would quote the data.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

NAN = (
    "Input contains NaN: fill the gaps first, or pass missing='interpolate' for gaps "
    "in the values"
)
INFINITE = (
    "Input contains infinity or a value too large for float64: curves must be finite "
    "numbers"
)
STRINGS = (
    "Input contains strings: convert text to numbers first, for example with "
    "astype(float), and leave columns of labels out"
)
DATETIMES = (
    "Input contains dates or durations: convert them to numbers with a public origin "
    "and unit first, for example "
    "(t - np.datetime64('2024-01-01')) / np.timedelta64(1, 'h')"
)
BOOLEANS = "Input contains booleans: say astype(float) if they are meant as 0 and 1"
COMPLEX = "Complex data not supported: pass the real and imaginary parts as 2 outputs"
OBJECTS = (
    "argument must be numeric: turn every string and object into a real number first"
)
RAGGED = (
    "The rows must have the same number of points: use Curves.from_long for curves "
    "observed at points of their own"
)
SPARSE = (
    "Sparse data was passed, but dense data is required. "
    "Use '.toarray()' to convert to a dense numpy array."
)
MATRIX = "np.matrix is not supported: convert it with np.asarray"
MASKED = "Masked arrays are not supported: convert them with .filled(np.nan)"
COLUMN = "Each of id, t and y must name one column of the frame"
SERIES = (
    "Reshape your data: a series is one curve or one column; pass a frame with one "
    "curve in each row (one curve: s.to_frame().T)"
)
LAZY = "A lazy frame holds no data yet: call .collect() first"
IN_BLOCKS = (
    "Rows in blocks, or an object of dask, would all be collected here: call .compute()"
    " first, where that is meant"
)

_MISSING_TYPES = ("NoneType", "NAType")


def as_numbers(values: Any) -> np.ndarray:
    """The values as a float64 array, which may hold NaN and infinities.

    A float64 array is returned as it is, without a copy.
    """
    refuse_collecting(values)
    if sparse.issparse(values):
        raise TypeError(SPARSE)
    if isinstance(values, np.matrix):
        raise TypeError(MATRIX)
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(MASKED)
    array = _attempt(lambda: np.asarray(values))
    if array is None:
        raise ValueError(RAGGED)
    kind = array.dtype.kind
    if kind in "fiu":
        with np.errstate(over="ignore"):
            return array.astype(np.float64, copy=False)
    if kind == "O":
        return _objects_to_numbers(array)
    raise _refusal(kind)


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars DataFrame, without importing either."""
    return hasattr(type(X), "columns") and hasattr(type(X), "to_numpy")


def indexed(X: Any) -> Any:
    """X, or the first table with an index of a dict or list of them."""
    parts = list(X.values()) if isinstance(X, dict) else X
    frames = []
    if isinstance(parts, list | tuple):
        frames = [part for part in parts if is_frame(part) and hasattr(part, "iloc")]
    return frames[0] if frames else X


def refuse_collecting(X: Any) -> None:
    """Refuse what NumPy would collect without a word."""
    if hasattr(type(X), "__dask_graph__") or hasattr(type(X), "n_blocks"):
        raise TypeError(IN_BLOCKS)


def refuse_no_table(X: Any) -> None:
    """Refuse a series and a lazy frame by name; other forms are for later checks."""
    refuse_collecting(X)
    if hasattr(type(X), "collect"):
        raise TypeError(LAZY)
    if hasattr(type(X), "to_frame") and not is_frame(X):
        raise ValueError(SERIES)


def frame_to_numbers(frame: Any) -> np.ndarray:
    """All columns of a frame as one float64 matrix; no copy if it is one already."""
    if all(str(dtype).lower() == "float64" for dtype in frame.dtypes):
        return as_numbers(frame.to_numpy())
    columns = [as_numbers(column) for column in _columns(frame)]
    return np.stack(columns, axis=1) if columns else np.empty((len(frame), 0))


def column(frame: Any, name: Any) -> np.ndarray:
    """One column of a frame, or one entry of a dict of arrays, as a 1-D array."""
    known = frame if isinstance(frame, dict) else getattr(frame, "columns", ())
    try:
        found = name in list(known)
    except TypeError:
        found = False
    if not found:
        raise ValueError(COLUMN)
    is_list = isinstance(frame[name], list | tuple)  # NumPy would make NaN a text
    dtype = object if is_list else None
    values = _attempt(lambda: np.asarray(frame[name], dtype=dtype))
    if values is None or values.ndim != 1:
        raise ValueError(COLUMN)
    return values


def check_finite(
    values: np.ndarray, *, allow_nan: bool = False, strict: bool = False
) -> bool:
    """Refuse what is not finite; return whether there is a NaN that is allowed.

    In strict mode nothing is refused: `finite_or` has a number for it.
    """
    if _is_finite(values):
        return False
    has_nan = bool(np.isnan(values).any())
    if strict:
        return has_nan and allow_nan
    if np.isinf(values).any():
        raise ValueError(INFINITE)
    if has_nan and not allow_nan:
        raise ValueError(NAN)
    return has_nan


def finite_or(values: np.ndarray, center: Any) -> np.ndarray:
    """The values, and the public centre where one is not finite; no copy without."""
    if _is_finite(values):
        return values
    return np.where(np.isfinite(values), values, center)


def _is_finite(values: np.ndarray) -> bool:
    """Whether it is certain; a finite sum proves it, in one pass and without a mask."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum()))


def _columns(frame: Any) -> Iterator[Any]:
    if hasattr(frame, "iter_columns"):
        return frame.iter_columns()
    return (series for _, series in frame.items())


def _attempt(convert: Callable[[], np.ndarray]) -> np.ndarray | None:
    """The result, or None: the caller raises outside of the handler, unchained."""
    try:
        return convert()
    except Exception:
        return None


def _refusal(kind: str) -> Exception:
    text = {
        "U": STRINGS,
        "S": STRINGS,
        "T": STRINGS,
        "M": DATETIMES,
        "m": DATETIMES,
        "b": BOOLEANS,
        "c": COMPLEX,
    }.get(kind)
    return TypeError(OBJECTS) if text is None else ValueError(text)


def _objects_to_numbers(array: np.ndarray) -> np.ndarray:
    entries = array.ravel().tolist()
    types = set(map(type, entries))
    for kind in map(_kind_of_type, types):
        if kind == "ragged":
            raise ValueError(RAGGED)
        if kind != "f":
            raise _refusal(kind)
    numbers = [
        np.nan if type(entry).__name__ in _MISSING_TYPES else entry for entry in entries
    ]
    converted = _attempt(lambda: np.array(list(map(_float, numbers))))
    if converted is None:
        raise TypeError(OBJECTS)
    return converted.reshape(array.shape)


def _float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:  # an integer beyond the range of float64
        return math.inf if number > 0 else -math.inf


def _kind_of_type(entry: type) -> str:
    if issubclass(entry, bool | np.bool_):
        return "b"
    if issubclass(entry, str | bytes):
        return "U"
    times = (datetime.date, datetime.time, datetime.timedelta)
    if issubclass(entry, (*times, np.datetime64, np.timedelta64)):
        return "M"
    if issubclass(entry, complex | np.complexfloating):
        return "c"
    if issubclass(entry, np.ndarray | list | tuple):
        return "ragged"
    is_number = hasattr(entry, "__float__") or entry.__name__ in _MISSING_TYPES
    return "f" if is_number else "O"
