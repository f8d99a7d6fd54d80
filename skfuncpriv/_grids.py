"""The public side of curves on a common grid: shapes, points, names of columns."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from skfuncpriv._tables import as_numbers, check_finite
from skfuncpriv._validation import check_interval

NO_OUTPUTS = "values must have at least 1 output"

# Columns of a long table: one observation in each row, not one curve.
_OF_LONG = {"t", "time", "timestamp", "date", "id", "person", "user", "x", "y", "z"}
_OF_LONG |= {"lon", "long", "lng", "longitude", "lat", "latitude", "alt", "altitude"}
_OF_LONG |= {"ele", "elevation"}
_LONG = (
    "The columns are named like times and coordinates, but every row is read as the "
    "curve of another person: make Curves.from_long(frame, id=..., t=..., y=[...]) of "
    "observations, or X[None] of the array of a single trace"
)

# What stands before a number, the number, and what stands after it: age_1.25, 30min.
_NUMBERED = re.compile(r"(.*?)(-?\d+(?:\.\d+)?)(\D*)")


def check_wide_shape(values: np.ndarray) -> None:
    if values.ndim in (0, 1):
        raise ValueError(
            "Expected 2D array, got scalar or 1D array instead. Reshape your data "
            "either using array.reshape(-1, 1) if each curve has a single point or "
            "array.reshape(1, -1) if it contains a single curve."
        )
    if values.ndim > 3:
        raise ValueError("Expected an array (n_curves, n_points) or 3D with outputs")
    if values.shape[0] == 0:
        raise ValueError(too_few("sample", values.shape))
    if values.shape[1] == 0:
        raise ValueError(too_few("feature", values.shape))
    if values.shape[-1] == 0:
        raise ValueError(NO_OUTPUTS)


def too_few(what: str, shape: tuple[int, ...]) -> str:
    """The words of scikit-learn; the shape is that of a common grid, hence public."""
    return (
        f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is "
        "required."
    )


def public_grid(
    grid: Any, domain: Any, n_points: int, names: list | None
) -> np.ndarray:
    _refuse_long(names)
    if isinstance(grid, str):
        if grid != "columns":
            raise ValueError(f"grid must be numbers or 'columns', got {grid!r}")
        grid = points_of_names(names)
        if grid is None:
            raise ValueError(
                "grid='columns' needs a frame whose column names are numbers, or one "
                "text with numbers, as age_1, age_1.25, ...: give the points instead"
            )
    if grid is None:
        points = points_of_names(names)
        if points is not None and not _equally_spaced(points):
            raise ValueError(
                "The names of the columns hold numbers that are not equally spaced: "
                "pass grid='columns' to use them, or give the points of the curves (or "
                "does the file have no header line?)"
            )
        return np.linspace(*check_interval(domain, "domain"), n_points)
    grid = as_numbers(grid)
    if _is_data(names):
        raise ValueError(
            "The names of the columns are numbers in no order: does the table have a "
            "header line?"
        )
    if grid.shape != (n_points,):
        raise ValueError(
            "grid must have one entry for each point of the curves: it has shape "
            f"{grid.shape}, the curves have {n_points} points"
        )
    check_finite(grid)
    if not (grid[1:] > grid[:-1]).all():
        raise ValueError("grid must be strictly increasing")
    if domain is not None:
        check_inside(grid, check_interval(domain, "domain"))
    return grid.copy()


def _refuse_long(names: list | None) -> None:
    """Refuse a long table: a person's points would be protected one by one."""
    known = [str(name).strip().lower() in _OF_LONG for name in names or ()]
    if len(known) > 1 and all(known):
        raise ValueError(_LONG)


def check_inside(grid: np.ndarray, domain: tuple[float, float]) -> None:
    if grid[0] < domain[0] or grid[-1] > domain[1]:
        raise ValueError("grid must lie inside domain, in the same unit")


def points_of_names(names: list | None) -> np.ndarray | None:
    """Numbers that are names of columns, or stand in one text that all names share."""
    try:
        points = np.array([float(name) for name in names or ()])
    except (TypeError, ValueError):
        points = _numbered_points(names or [])
    return points if len(points) and np.isfinite(points).all() else None


def _numbered_points(names: list) -> np.ndarray:
    parts = [_NUMBERED.fullmatch(name) for name in names if isinstance(name, str)]
    found = [part.groups() for part in parts if part is not None]
    texts = {(before, after) for before, _, after in found}
    if len(found) < len(names) or len(texts) > 1:
        return np.empty(0)
    points = np.array([float(number) for _, number, _ in found])
    # In day-1, day-2, ... the minus is a dash.
    is_dash = (points < 0).all() and (np.diff(points) < 0).all()
    return -points if is_dash else points


def _is_data(names: list | None) -> bool:
    """Whether texts that name the columns look like the first row of the data.

    A table without a header line would lose that row, and publish it as names.
    """
    texts = [name for name in names or () if isinstance(name, str)]
    try:
        points = np.array([float(name) for name in texts])
    except ValueError:
        return False
    return bool((np.diff(points) <= 0).any())


def _equally_spaced(points: np.ndarray) -> bool:
    steps = np.diff(points)
    return bool((steps > 0).all() and np.allclose(steps, steps[:1], rtol=1e-6, atol=0))
