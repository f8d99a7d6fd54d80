"""Observations of curves of which parts are missing, and what a person contributes.

A contribution is the vector-valued curve (mask - 1, mask * height) in orthonormal
coordinates: see `PrivateSparseMean` for why the mask takes no room of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import numpy as np

from .._grids import check_inside, check_wide_shape, public_grid, too_few
from .._observations import is_fdata, read_fdata
from .._tables import (
    as_numbers,
    check_finite,
    finite_or,
    frame_to_numbers,
    is_frame,
    refuse_no_table,
)
from ..basis import Basis
from ..curves import Curves
from ..noise import FixedPoint
from ..summaries import (
    BallContributions,
    BallSum,
    ExactProduct,
    SupportRule,
    ValueBounds,
    averages_in_blocks,
    number_of_people,
    project_in_blocks,
)
from ._contributions import in_tenths
from ._sparse_plan import SparsePlan

_OTHER_DOMAIN = "The curves are stated on another domain than this one"


@dataclass(frozen=True, eq=False)
class Observations:
    """Private observations; a NaN in any output is none.

    `values` has shape (n_curves, n_points, n_outputs) on a common `grid`, otherwise
    (n_obs, n_outputs) with `times` and `offsets`.
    """

    values: np.ndarray
    is_vector: bool
    grid: np.ndarray | None = None
    times: np.ndarray | None = None
    offsets: np.ndarray | None = None

    @property
    def n_curves(self) -> int:
        """How many curves there are."""
        return len(self.values) if self.offsets is None else len(self.offsets) - 1

    @property
    def n_outputs(self) -> int:
        """How many values there are at each point."""
        return self.values.shape[-1]

    def curve(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Times and values of the observations of one curve."""
        if self.offsets is None:
            times, values = self.grid, self.values[i]
        else:
            rows = slice(self.offsets[i], self.offsets[i + 1])
            times, values = self.times[rows], self.values[rows]
        seen = ~np.isnan(values).any(axis=1)
        return times[seen], values[seen]


def read_observations(
    X: Any, *_: Any, grid: Any, domain: tuple[float, float], strict: bool = False
) -> Observations:
    """Read curves in any of the forms that an estimator accepts; NaN is no value.

    Infinities are refused; in strict mode `sum_masked` takes them for the centre. What
    follows X, y and weights of rows, belongs to others.
    """
    if isinstance(X, Curves):
        return _of_curves(X, domain, strict)
    if is_fdata(X):
        values, points, offsets, own = read_fdata(X)
        if own != domain:
            raise ValueError(_OTHER_DOMAIN)
        if offsets is not None:
            is_vector = values.ndim == 2
            check_finite(values, allow_nan=True, strict=strict)
            Curves(np.nan_to_num(values), points, offsets, missing="interpolate")
            flat = values.reshape(len(points), -1)
            return Observations(flat, is_vector, times=points, offsets=offsets)
        X, grid = values, points
    refuse_no_table(X)
    values = frame_to_numbers(X) if is_frame(X) else as_numbers(X)
    check_wide_shape(values)
    names = list(X.columns) if is_frame(X) else None
    points = public_grid(grid, domain, values.shape[1], names)
    check_finite(values, allow_nan=True, strict=strict)
    dense = values.reshape(*values.shape[:2], -1)
    return Observations(dense, values.ndim == 3, grid=points)


def _of_curves(
    curves: Curves, domain: tuple[float, float], strict: bool
) -> Observations:
    if curves.domain not in (None, domain):
        raise ValueError(_OTHER_DOMAIN)
    if len(curves) == 0:
        raise ValueError(too_few("sample", curves.shape))
    check_finite(curves.values, strict=strict)
    values = np.array(curves.values)
    if curves.grid is not None:
        check_inside(curves.grid, domain)
        values[curves.all_missing] = np.nan
        return Observations(values, curves.is_vector, grid=curves.grid)
    lengths = np.diff(curves.offsets)
    values[np.repeat(curves.all_missing, lengths)] = np.nan
    return Observations(
        values, curves.is_vector, times=curves.times, offsets=curves.offsets
    )


def sum_masked(
    data: Observations,
    codes: np.ndarray | None,
    plan: SparsePlan,
    basis: Basis,
    values: ValueBounds,
    rule: SupportRule,
    verbose: bool | None = False,
) -> FixedPoint:
    """The exact sum of what each person contributes, in units of the norm bound.

    Every row is held in the unit ball; the rows of a person are averaged, exactly. The
    people may be a part of those that the plan is for: such sums add up.
    """
    project = _projector(data, basis, rule)
    width = basis.domain[1] - basis.domain[0]
    row_ball = BallContributions(1, plan.size, 1.0)
    n_curves = data.n_curves
    ticks = chain(in_tenths(repeat(None, n_curves), n_curves, verbose), repeat(None))

    def rows(index: Iterable[int]) -> np.ndarray:
        table = np.empty((len(index), plan.size))
        for row, i, _ in zip(table, index, ticks, strict=False):
            times, heights = data.curve(i)
            heights = finite_or(heights, values.center)
            heights = np.clip(heights, values.low, values.high) - values.center
            coef = project(times, heights / values.reach)
            row[: plan.n_functions] = coef[:, 0]
            row[plan.n_functions :] = coef[:, 1:].ravel() / np.sqrt(data.n_outputs)
        return row_ball.contributions(table / np.sqrt(width))

    if codes is None:
        codes = np.arange(data.n_curves)
    n_people, total = number_of_people(codes), BallSum(plan.ball)
    for averages in averages_in_blocks(rows, codes, n_people, plan.size):
        total.add(row_ball.lattice.to_float(averages))
    next(ticks)  # the last tenth
    return total.value()


def _projector(
    data: Observations, basis: Basis, rule: SupportRule
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """From one curve to its (m, 1 + n_outputs) inner products.

    On a common grid one public matrix serves all curves; a row depends on its own
    curve alone, to the last bit.
    """
    if data.grid is None:

        def project(times: np.ndarray, values: np.ndarray) -> np.ndarray:
            knots = rule.knots(times)
            heights = rule.heights(times, values, knots)
            return project_in_blocks(basis.projection, knots, heights)

        return project
    knots = rule.knots(data.grid)
    product = ExactProduct(basis.projection(knots), 1.0)

    def project_on_grid(times: np.ndarray, values: np.ndarray) -> np.ndarray:
        return product(np.ascontiguousarray(rule.heights(times, values, knots).T)).T

    return project_on_grid
