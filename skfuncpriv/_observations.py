"""Observations of irregular curves: flat arrays, long tables, gaps and duplicates.

Every function treats the observations of a curve as a set: the result does not depend
on the order in which they were written down, to the last bit.
"""

from __future__ import annotations

import copy
import math
from fractions import Fraction
from typing import Any

import numpy as np

from skfuncpriv._config import is_strict
from skfuncpriv._grids import NO_OUTPUTS, too_few
from skfuncpriv._label_kinds import check_kinds
from skfuncpriv._tables import (
    as_numbers,
    check_finite,
    column,
    finite_or,
    is_frame,
    refuse_no_table,
)

_BAD_IDS = "id must name the curve of every row, by a string or a number"


def read_long(
    frame: Any, id: Any, t: Any, y: Any, *, allow_nan: bool, duplicates: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Values, times, offsets and ids of a table with one observation in each row."""
    if duplicates not in ("error", "mean"):
        raise ValueError(f"duplicates must be 'error' or 'mean', got {duplicates!r}")
    is_vector = isinstance(y, list | tuple)
    if is_vector and not y:
        raise ValueError(NO_OUTPUTS)
    refuse_no_table(frame)
    columns = [as_numbers(column(frame, name)) for name in (y if is_vector else [y])]
    times, names = as_numbers(column(frame, t)), column(frame, id)
    if any(part.shape != names.shape for part in (times, *columns)):
        raise ValueError("The columns id, t and y must have the same length")
    values = np.stack(columns, axis=1)
    check_finite(times)
    check_finite(values, allow_nan=allow_nan, strict=is_strict())
    codes, ids = encode_labels(names, _BAD_IDS)

    order = np.lexsort((times, codes))
    codes, times, values = codes[order], times[order], values[order]
    repeated = (codes[1:] == codes[:-1]) & (times[1:] == times[:-1])
    if repeated.any():
        if duplicates == "error":
            raise ValueError(
                "A curve has several observations at the same time: remove them, or "
                "pass duplicates='mean'"
            )
        first = np.flatnonzero(np.append(True, ~repeated))
        values = _average_duplicates(values, first)
        codes, times = codes[first], times[first]
    offsets = np.searchsorted(codes, np.arange(len(ids) + 1))
    return values if is_vector else values[:, 0], times, offsets, ids


def is_fdata(X: Any) -> bool:
    """Whether X looks like functional data of scikit-fda."""
    marks = ("data_matrix", "start_indices", "dim_domain")
    return not is_frame(X) and any(hasattr(X, mark) for mark in marks)


def read_fdata(
    fd: Any,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, tuple[float, float]]:
    """Values, points, offsets (None on a grid) and domain of functional data."""
    is_grid = hasattr(fd, "data_matrix")
    if not is_grid and not hasattr(fd, "start_indices"):
        raise TypeError(
            "from_fdata reads FDataGrid and FDataIrregular: turn an FDataBasis into a "
            "grid first, with to_grid(points)"
        )
    points = fd.grid_points if is_grid else np.transpose(fd.points)
    if len(points) != 1:
        raise ValueError(
            "Surfaces are not supported: fd must be a function of one argument "
            "(dim_domain=1)"
        )
    values = fd.data_matrix if is_grid else fd.values
    values = values[..., 0] if values.shape[-1] == 1 else values
    low, high = fd.domain_range[0]
    domain = (float(low), float(high))
    if is_grid:
        return values, points[0], None, domain
    offsets = np.append(fd.start_indices, len(values))
    codes = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((points[0], codes))
    return values[order], points[0][order], offsets, domain


def check_flat(
    values: np.ndarray, times: np.ndarray, offsets: Any, *, allow_empty: bool
) -> np.ndarray:
    """The offsets as integers, once the three flat arrays fit each other."""
    if values.ndim not in (1, 2) or times.shape != values.shape[:1]:
        raise ValueError(
            "values must have shape (n_obs,) or (n_obs, n_outputs), times (n_obs,)"
        )
    if values.ndim == 2 and values.shape[1] == 0:
        raise ValueError(NO_OUTPUTS)
    cuts = as_numbers(offsets)
    if (
        cuts.ndim != 1
        or cuts.size == 0
        or (cuts != np.floor(cuts)).any()
        or cuts[0] != 0
        or cuts[-1] != len(times)
        or (cuts[1:] < cuts[:-1]).any()
    ):
        raise ValueError(
            "offsets must be integers that start at 0, never decrease and end at the "
            "number of observations"
        )
    if cuts.size == 1:
        raise ValueError(too_few("sample", (0,)))
    cuts = cuts.astype(np.intp)
    if not allow_empty and (cuts[1:] == cuts[:-1]).any():
        raise ValueError(
            "Every curve needs at least one observation: pass missing='interpolate' "
            "to count curves without any"
        )
    check_finite(times)
    later = np.append(times[1:] > times[:-1], True)
    later[cuts[1:] - 1] = True  # the last observation of each curve has no successor
    if not later.all():
        raise ValueError(
            "times must be strictly increasing within each curve: Curves.from_long "
            "sorts them and averages duplicates"
        )
    return cuts


def rows_of_curves(
    offsets: np.ndarray, index: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The rows of some curves in flat arrays, and the offsets among these rows."""
    counts = np.diff(offsets)[index]
    cuts = np.concatenate(([0], np.cumsum(counts)))
    rows = np.arange(cuts[-1]) + np.repeat(offsets[index] - cuts[:-1], counts)
    return rows, cuts


def check_missing(missing: Any) -> None:
    """Refuse what is no rule for missing values."""
    if missing not in ("error", "interpolate"):
        raise ValueError(f"missing must be 'error' or 'interpolate', got {missing!r}")


def filled(curves: Any, center: np.ndarray) -> Any:
    """Curves with the public centre where strict mode let other numbers pass."""
    values = finite_or(curves.values, center)
    if values is curves.values:
        return curves
    curves = copy.copy(curves)
    curves.values = read_only(values)
    return curves


def read_only(array: np.ndarray | None) -> np.ndarray | None:
    """A view that cannot be written to; the array itself stays the caller's."""
    if array is None:
        return None
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def interpolate_missing(
    values: np.ndarray, times: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Fill NaN linearly between neighbours of the same curve and output.

    Beyond the first and the last value that was seen the curve is constant. It is
    total: a curve without any value in one of its outputs becomes 0 and is marked.

    Parameters
    ----------
    values : ndarray of shape (n_obs, n_outputs)
        Numbers and NaN. Gaps beside an infinity become infinite or stay NaN.
    times : ndarray of shape (n_obs,)
        Strictly increasing within each curve.
    offsets : ndarray of int of shape (n_curves + 1,)
        The cuts between the curves.

    Returns
    -------
    filled : ndarray of shape (n_obs, n_outputs)
        Numbers, finite ones if those seen are finite.
    all_missing : ndarray of bool of shape (n_curves,)
        The curves without any value in one of their outputs.
    """
    n_curves = len(offsets) - 1
    curve = np.repeat(np.arange(n_curves), np.diff(offsets))
    filled = np.empty_like(values)
    all_missing = np.zeros(n_curves, dtype=bool)
    for j, output in enumerate(values.T):
        seen = ~np.isnan(output)
        n_seen = np.bincount(curve[seen], minlength=n_curves)
        all_missing |= n_seen == 0
        filled[:, j] = _fill(output, seen, times, curve, n_seen)
    filled[all_missing[curve]] = 0.0
    return filled, all_missing


def interpolate_rows(
    dense: np.ndarray, grid: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same for curves on a common grid, of shape (n_curves, n_points, n_outputs).

    Only the curves with gaps are computed; the array of the caller is left alone.
    """
    gaps = np.flatnonzero(np.isnan(dense).any(axis=(1, 2)))
    all_missing = np.zeros(len(dense), dtype=bool)
    filled, all_missing[gaps] = interpolate_missing(
        dense[gaps].reshape(-1, dense.shape[2]),
        np.tile(grid, len(gaps)),
        np.arange(len(gaps) + 1) * len(grid),
    )
    dense = dense.copy()
    dense[gaps] = filled.reshape(len(gaps), *dense.shape[1:])
    return dense, all_missing


def encode_labels(names: np.ndarray, rule: str) -> tuple[np.ndarray, np.ndarray]:
    """Codes in the order of first appearance, and the names they stand for.

    Labels that are missing or cannot be compared are refused with the text `rule`,
    labels of several kinds in a text of their own.
    """
    if names.dtype.kind == "O":
        found: dict = {}
        try:
            codes = np.array([found.setdefault(name, len(found)) for name in names])
            is_missing = any(map(_is_missing, found))
        except TypeError:
            is_missing = True
        if is_missing:
            raise ValueError(rule)
        check_kinds(names)
        ids = np.empty(len(found), dtype=object)
        ids[:] = list(found)
        return codes.astype(np.intp), ids
    if names.dtype.kind in "fcmM" and (names != names).any():
        raise ValueError(rule)
    check_kinds(names)
    ids, first, codes = np.unique(names, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(ids), dtype=np.intp)
    rank[order] = np.arange(len(ids))
    return rank[codes], ids[order]


def _average_duplicates(values: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Means of groups of rows, NaN left out, exactly independent of their order."""
    last = np.append(first[1:], len(values))
    means = values[first].copy()
    for group in np.flatnonzero(last - first > 1):
        for j in range(values.shape[1]):
            means[group, j] = _mean(values[first[group] : last[group], j])
    return means


def _is_missing(name: object) -> bool:
    return name is None or type(name).__name__ == "NAType" or name != name


def _mean(values: np.ndarray) -> float:
    seen = sorted(values[~np.isnan(values)].tolist())
    if not seen:
        return math.nan
    if math.inf in map(abs, seen):
        return math.inf
    try:
        return math.fsum(seen) / len(seen)
    except OverflowError:  # the same for every order: the values are sorted
        return float(sum(map(Fraction, seen)) / len(seen))


def _fill(output, seen, times, curve, n_seen) -> np.ndarray:
    """One output; rows are seen, lie between two seen rows, or beyond the last one."""
    rows = np.arange(len(output))
    seen_rows = np.flatnonzero(seen)
    if not len(seen_rows):
        return np.zeros(len(output))
    # Step 0: the seen rows around each row, among the seen rows of its own curve.
    stops = np.cumsum(n_seen)[curve]
    starts = stops - n_seen[curve]
    after = np.searchsorted(seen_rows, rows)
    before = np.searchsorted(seen_rows, rows, side="right") - 1
    limit = np.maximum(stops - 1, starts)
    top = len(seen_rows) - 1
    left = seen_rows[np.clip(np.clip(before, starts, limit), 0, top)]
    right = seen_rows[np.clip(np.clip(after, starts, limit), 0, top)]
    # Step 1: the straight line between them; halves, so that nothing can overflow.
    span = times[right] / 2 - times[left] / 2
    weight = np.zeros(len(output))
    np.divide(times / 2 - times[left] / 2, span, out=weight, where=span > 0)
    ends = np.sort([output[left], output[right]], axis=0)
    with np.errstate(all="ignore"):  # beside infinity it is none, too
        line = output[left] * (1 - weight) + output[right] * weight
    return np.where(left == right, output[left], np.clip(line, *ends))
