"""Curves: one container for functions observed on a common grid or irregularly.

A curve is a finite set of observations (t, y(t)), y a number or a vector of d numbers;
between two observations it is their straight line, beyond the first and the last it is
constant, or, for `PrivateSparseMean`, not known. On a common grid the values are one
dense array (n_curves, n_points, d); at points of their own, the curves are flat arrays
``values (n_obs, d)`` and ``times (n_obs,)`` cut by ``offsets (n_curves + 1,)``.

What is public is decided by the form, never by the data: the number of curves, the
number of outputs and a common grid are public; the times of irregular curves and their
number are private, so irregular curves stay irregular even if their times coincide.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from skfuncpriv._config import is_strict
from skfuncpriv._grids import check_inside, check_wide_shape, public_grid, too_few
from skfuncpriv._observations import (
    check_flat,
    check_missing,
    interpolate_missing,
    interpolate_rows,
    is_fdata,
    read_fdata,
    read_long,
    read_only,
    rows_of_curves,
)
from skfuncpriv._tables import (
    as_numbers,
    check_finite,
    frame_to_numbers,
    is_frame,
    refuse_no_table,
)
from skfuncpriv._validation import check_interval

__all__ = ["Curves", "as_curves"]

_DEFAULT_DOMAIN = (0.0, 1.0)


class Curves:
    """Private curves, one per person, observed at points of their own.

    The constructor takes flat arrays. Use :meth:`from_long` for a table of
    observations, :meth:`from_wide` for curves that share a grid and
    :meth:`from_fdata` for the objects of scikit-fda.

    Parameters
    ----------
    values : array-like of shape (n_obs,) or (n_obs, n_outputs)
        Private: what was observed, in the unit of the values, curve after curve.
    times : array-like of shape (n_obs,)
        Private: where it was observed, in the unit of the domain, strictly
        increasing within each curve.
    offsets : array-like of int of shape (n_curves + 1,)
        Private: curve ``i`` owns the observations ``offsets[i]:offsets[i + 1]``.
    ids : array-like of shape (n_curves,), default=None
        Public: the name of each curve.
    domain : (float, float), default=None
        Public: the interval on which the curves are defined. Observations outside
        of it are allowed: they only shape the curve between them.
    missing : {"error", "interpolate"}, default="error"
        Public: what to do with NaN values. "interpolate" draws each output linearly
        between its neighbours in the same curve; a curve that has no value in one of
        its outputs is marked in `all_missing`. With "error" they are refused.

    Attributes
    ----------
    values : ndarray of shape (n_curves, n_points, n_outputs) or (n_obs, n_outputs)
        Private: dense on a common grid, flat otherwise.
    times, offsets : ndarray of shape (n_obs,), of shape (n_curves + 1,)
        Private: the other flat arrays; None on a common grid.
    grid : ndarray of shape (n_points,)
        Public: the common points; None if the curves are irregular.
    ids : ndarray of shape (n_curves,)
        Public: the names of the curves; None if they have none.
    domain : (float, float)
        Public: the interval of definition; None if it was not stated.
    is_vector : bool
        Public: whether the values came with an axis of outputs, even of length 1.
    all_missing : ndarray of bool of shape (n_curves,)
        Private: the curves without data, which count with contribution 0.
    output_names : tuple of str
        Public: the names of the columns of values; None if they have none.

    Raises
    ------
    TypeError, ValueError
        If the input is malformed. The texts are constant: they name the rule and the
        remedy, never a row, a count or a value.

    See Also
    --------
    as_curves : Read curves in any of the forms that an estimator accepts.

    Notes
    -----
    Float64 arrays are kept without a copy, as read-only views. In strict mode an
    estimator takes values that are not finite, and gaps beside them, for its centre.

    Examples
    --------
    >>> from skfuncpriv.curves import Curves
    >>> curves = Curves([1.0, 2.0, 4.0], times=[0.0, 0.5, 0.2], offsets=[0, 2, 3])
    >>> curves
    Curves(n_curves=2, n_outputs=1, irregular)
    >>> curves[[1]].values
    array([[4.]])
    """

    values: np.ndarray
    all_missing: np.ndarray
    times: Any
    offsets: Any
    grid: Any
    output_names: tuple[str, ...] | None = None

    def __init__(
        self,
        values: Any,
        times: Any,
        offsets: Any,
        *,
        ids: Any = None,
        domain: Any = None,
        missing: str = "error",
    ) -> None:
        check_missing(missing)
        allow_nan = missing == "interpolate"
        values, times = as_numbers(values), as_numbers(times)
        offsets = check_flat(values, times, offsets, allow_empty=allow_nan)
        all_missing = offsets[1:] == offsets[:-1]
        table = values.reshape(len(times), *values.shape[1:] or (1,))
        if check_finite(values, allow_nan=allow_nan, strict=is_strict()):
            table, all_missing = interpolate_missing(table, times, offsets)
        self._set(table, None, domain, all_missing)
        self.times, self.offsets = read_only(times), read_only(offsets)
        self.is_vector = values.ndim == 2
        self.ids = None if ids is None else np.asarray(ids)
        if self.ids is not None and self.ids.shape != all_missing.shape:
            raise ValueError("ids must have one entry for each curve")

    @classmethod
    def from_wide(
        cls, X: Any, grid: Any = None, domain: Any = None, *, missing: str = "error"
    ) -> Curves:
        """Curves observed on one common grid, a row for each.

        Parameters
        ----------
        X : array-like or frame of shape (n_curves, n_points[, n_outputs])
            Private: the values. Lists, NumPy arrays, pandas and polars frames.
        grid : array-like of shape (n_points,) or "columns", default=None
            Public: the points of observation, strictly increasing. "columns" reads
            them from the names of the columns of a frame: numbers, or one text with
            numbers, as age_1, age_1.25. None means equally spaced, from the first
            end of the domain to the last; names of columns that say otherwise are
            refused, not used.
        domain : (float, float), default=None
            Public: the interval on which the curves are defined. Without a grid it
            is (0, 1).
        missing : {"error", "interpolate"}, default="error"
            Public: what to do with NaN values.

        Returns
        -------
        curves : Curves
            The curves, with `grid` set.
        """
        return cls._from_wide(X, grid, domain, missing, is_strict())

    @classmethod
    def _from_wide(
        cls, X: Any, grid: Any, domain: Any, missing: str, strict: bool
    ) -> Curves:
        check_missing(missing)
        refuse_no_table(X)
        values = frame_to_numbers(X) if is_frame(X) else as_numbers(X)
        check_wide_shape(values)
        names = list(X.columns) if is_frame(X) else None
        if grid is None and domain is None:
            domain = _DEFAULT_DOMAIN
        grid = public_grid(grid, domain, values.shape[1], names)
        dense = values.reshape(*values.shape[:2], -1)
        all_missing = np.zeros(len(values), dtype=bool)
        if check_finite(values, allow_nan=missing == "interpolate", strict=strict):
            dense, all_missing = interpolate_rows(dense, grid)
        curves = cls.__new__(cls)
        curves._set(dense, grid, domain, all_missing)
        curves.times = curves.offsets = curves.ids = None
        curves.is_vector = values.ndim == 3
        return curves

    @classmethod
    def from_long(
        cls,
        frame: Any,
        id: Any,
        t: Any,
        y: Any,
        *,
        domain: Any = None,
        missing: str = "error",
        duplicates: str = "error",
    ) -> Curves:
        """Curves from a table with one observation in each row.

        Most estimators take a curve as constant before its first and after its last
        observation. Where many have no observations, a mean is that of these extended
        curves, not of people seen there, and no band covers the difference: choose a
        domain in which nearly everybody was observed, known from the protocol, or take
        `PrivateSparseMean`, which extends no curve further than its `reach` and
        releases the mean of the people observed.

        Parameters
        ----------
        frame : pandas or polars DataFrame, or dict of arrays
            Private: the observations, in any order.
        id : str
            The column that names the curve of each row. The set of names is public,
            and so is their order: that of first appearance. A person without any
            observation needs one row, with a NaN value.
        t : str
            The column of times, in the unit of the domain.
        y : str or list of str
            The column of values, or one column for each output.
        domain : (float, float), default=None
            Public: the interval on which the curves are defined.
        missing : {"error", "interpolate"}, default="error"
            Public: what to do with NaN values.
        duplicates : {"error", "mean"}, default="error"
            Public: what to do with observations of one curve at the same time.
            "mean" averages what is not NaN, exactly independent of their order.

        Returns
        -------
        curves : Curves
            Irregular curves, with `ids` set.
        """
        check_missing(missing)
        values, times, offsets, ids = read_long(
            frame, id, t, y, allow_nan=missing == "interpolate", duplicates=duplicates
        )
        curves = cls(values, times, offsets, ids=ids, domain=domain, missing=missing)
        curves.output_names = tuple(map(str, y if isinstance(y, list | tuple) else [y]))
        return curves

    @classmethod
    def from_fdata(cls, fd: Any, *, missing: str = "error") -> Curves:
        """Curves from an object of scikit-fda.

        Parameters
        ----------
        fd : FDataGrid or FDataIrregular
            Private: functions of one argument, with any number of outputs. Any
            object with the same attributes will do.
        missing : {"error", "interpolate"}, default="error"
            Public: what to do with NaN values.

        Returns
        -------
        curves : Curves
            The curves, on the domain of `fd`.
        """
        values, points, offsets, domain = read_fdata(fd)
        if offsets is None:
            return cls.from_wide(values, points, domain, missing=missing)
        return cls(values, points, offsets, domain=domain, missing=missing)

    @property
    def n_curves(self) -> int:
        """Number of curves (public)."""
        return len(self.all_missing)

    @property
    def n_outputs(self) -> int:
        """Number d of values at each point (public)."""
        return int(self.values.shape[-1])

    @property
    def is_regular(self) -> bool:
        """Whether all curves share one public grid."""
        return self.grid is not None

    @property
    def shape(self) -> tuple[int, ...]:
        """Public shape: (n_curves, n_points[, n_outputs]), or (n_curves,)."""
        if self.grid is None:
            return (self.n_curves,)
        return self.values.shape if self.is_vector else self.values.shape[:2]

    def __len__(self) -> int:
        return self.n_curves

    def __getitem__(self, key: Any) -> Curves:
        """Some of the curves: an integer, a slice, a mask or an array of integers."""
        if isinstance(key, tuple) and key[1:] == (Ellipsis,):  # scikit-learn's spelling
            key = key[0]
        if isinstance(key, tuple | str) or key is None or np.ndim(key) > 1:
            raise IndexError("Curves are indexed along the first axis only")
        index = np.atleast_1d(np.arange(self.n_curves)[key])
        curves = copy.copy(self)
        curves.all_missing = read_only(self.all_missing[index])
        curves.ids = None if self.ids is None else self.ids[index]
        if self.is_regular:
            curves.values = read_only(self.values[index])
        else:
            rows, offsets = rows_of_curves(self.offsets, index)
            curves.values = read_only(self.values[rows])
            curves.times = read_only(self.times[rows])
            curves.offsets = read_only(offsets)
        return curves

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self.grid is None:
            raise TypeError("Irregular curves have no array form")
        return np.array(self.values.reshape(self.shape), dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        form = "irregular"
        if self.grid is not None:
            form = f"grid of {len(self.grid)} points"
        domain = "" if self.domain is None else f", domain={self.domain}"
        return (
            f"Curves(n_curves={self.n_curves}, n_outputs={self.n_outputs}, "
            f"{form}{domain})"
        )

    def _set(self, values, grid, domain, all_missing) -> None:
        self.values = read_only(values)
        self.grid = read_only(grid)
        self.domain = None if domain is None else check_interval(domain, "domain")
        self.all_missing = read_only(all_missing)


def as_curves(
    X: Any,
    *,
    grid: Any = None,
    domain: Any,
    missing: str = "error",
    strict: bool = False,
) -> Curves:
    """Read curves in any of the forms that an estimator accepts.

    Parameters
    ----------
    X : Curves, array-like, frame, FDataGrid or FDataIrregular
        Private: the curves. Arrays and frames are wide, one row for each curve.
    grid : array-like of shape (n_points,) or "columns", default=None
        Public: where a wide `X` is observed; None means equally spaced on `domain`.
        Curves and functional data bring points of their own.
    domain : (float, float)
        Public: the interval on which the curves are defined.
    missing : {"error", "interpolate"}, default="error"
        Public: what to do with NaN values.
    strict : bool, default=False
        Public: keep values that are not finite, for an estimator in strict mode.

    Returns
    -------
    curves : Curves
        At least one curve; a float64 array is not copied.

    Raises
    ------
    TypeError, ValueError
        If the input is malformed, or stated on another domain. Texts are constant.

    See Also
    --------
    Curves : The container.

    Examples
    --------
    >>> from skfuncpriv.curves import as_curves
    >>> as_curves([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], domain=(0, 24))
    Curves(n_curves=2, n_outputs=1, grid of 3 points, domain=(0.0, 24.0))
    """
    domain = check_interval(domain, "domain")
    if is_fdata(X):
        X = Curves.from_fdata(X, missing=missing)
    if not isinstance(X, Curves):
        return Curves._from_wide(X, grid, domain, missing, strict)
    if not strict:
        check_finite(X.values)
    if X.domain not in (None, domain):
        raise ValueError("The curves are stated on another domain than this one")
    if X.grid is not None:
        check_inside(X.grid, domain)
    if len(X) == 0:
        raise ValueError(too_few("sample", X.shape))
    return X
