"""Targets of a regression in units of their public bound: vectors of the unit ball."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._validation import check_interval
from ..gaussian_process._labels import flat
from ..gaussian_process._rows import TARGETS, read_targets
from ._design_curves import CurvePredictor, CurveRows, cannot_miss
from ._designs import is_curves, public_curves

_SMALLEST, _LARGEST = 1e-100, 1e100
_UNITS = "use other units of y"


@dataclass(frozen=True)
class ScalarTargets:
    """Numbers, centred on the middle of their bounds, in halves of the width.

    Parameters
    ----------
    low, high : float
        *Public.* The bounds.
    """

    low: float
    high: float
    size = 1
    sizes = (1,)
    width = 1

    @property
    def map(self) -> np.ndarray:
        """From units to values of y, shape (1, 1)."""
        return np.array([[self.high / 2 - self.low / 2]])

    @property
    def center(self) -> np.ndarray:
        """What is added, shape (1,)."""
        return np.array([self.low / 2 + self.high / 2])

    def units(self, y: np.ndarray) -> np.ndarray:
        """Clipped targets, shape (n_rows, 1), in [-1, 1]."""
        with np.errstate(all="ignore"):
            return np.clip((y - self.center) / self.map[0, 0], -1.0, 1.0)[:, None]

    def seen(self, y: np.ndarray) -> None:
        """Every row has a target."""

    def shaped(self, values: np.ndarray) -> np.ndarray:
        """Values with an axis of length one at the end, without it."""
        return values[..., 0]

    def clipped(self, values: np.ndarray) -> np.ndarray:
        """Predictions within the bounds."""
        return np.clip(values, self.low, self.high)

    def first(self, size: int) -> ScalarTargets:  # noqa: ARG002
        """Itself: there is one."""
        return self


@dataclass(frozen=True)
class CurveTargets:
    """Coefficients of clipped and centred curves, in units of the norm bound.

    Parameters
    ----------
    predictor : CurvePredictor
        *Public.* How curves are read and projected.
    """

    predictor: CurvePredictor

    @property
    def size(self) -> int:
        """The number q of units."""
        return self.predictor.basis.n_basis * self.predictor.n_outputs

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many units may be taken."""
        most = self.predictor.basis.n_basis
        counts = np.unique(np.geomspace(min(2, most), most, 24).round().astype(int))
        return tuple((counts * self.predictor.n_outputs).tolist())

    @property
    def width(self) -> int:
        """The number of values of a curve on the grid."""
        return len(self.predictor.points) * self.predictor.n_outputs

    @property
    def map(self) -> np.ndarray:
        """From units to values of y on the grid, shape (q, width)."""
        functions = self.predictor.basis.evaluate(self.predictor.points)
        units = self.predictor.values.norm_bound * functions
        return np.kron(units, np.eye(self.predictor.n_outputs)).T

    @property
    def center(self) -> np.ndarray:
        """What is added, shape (width,)."""
        return np.tile(self.predictor.values.center, len(self.predictor.points))

    def units(self, y: CurveRows) -> np.ndarray:
        """Coefficients in the unit ball, shape (n_rows, q)."""
        with np.errstate(all="ignore"):
            return self.predictor.coefficients(y.curves[0])

    def seen(self, y: CurveRows) -> np.ndarray | None:
        """Which rows have values, *private*; None is all of them."""
        return y.seen

    def shaped(self, values: np.ndarray) -> np.ndarray:
        """Values on the grid, with an axis of outputs if the curves had one."""
        if not self.predictor.is_vector:
            return values
        return values.reshape(*values.shape[:-1], -1, self.predictor.n_outputs)

    def clipped(self, values: np.ndarray) -> np.ndarray:
        """Predictions, as `shaped`, within the bounds."""
        bounds = self.predictor.values
        if self.predictor.is_vector:
            return np.clip(values, bounds.low, bounds.high)
        return np.clip(values, bounds.low[0], bounds.high[0])

    def first(self, size: int) -> CurveTargets:
        """The first functions alone."""
        count = size // self.predictor.n_outputs
        basis = self.predictor.basis.first(count)
        return replace(self, predictor=replace(self.predictor, basis=basis))


def public_targets(
    estimator: Any, y: Any, n_rows: int
) -> tuple[ScalarTargets | CurveTargets, Any]:
    """The public map of targets, and what is read of y; *private*.

    `y_bounds`, `y_domain`, `y_grid`, `y_basis` and `missing` are read; whether y holds
    curves is said by `y_domain` or by the type of y.
    """
    if is_curves(estimator.y_domain, y):
        curves, basis, values, points = public_curves(
            y,
            domain=estimator.y_domain,
            grid=estimator.y_grid,
            bounds=estimator.y_bounds,
            basis=estimator.y_basis,
            missing=estimator.missing,
            name="y",
            strict=estimator._is_strict(),
        )
        if curves.n_curves != n_rows:
            raise ValueError(
                "y must hold one curve for each row of X: it has another number of them"
            )
        if not values.norm_bound <= _LARGEST:
            raise ValueError(f"y_bounds must leave norms up to {_LARGEST}: {_UNITS}")
        grid = None if curves.grid is None else points
        predictor = CurvePredictor(
            basis, values, grid, points, estimator.missing, None, curves.is_vector
        )
        rows = CurveRows((curves,), cannot_miss(y, estimator.missing))
        return CurveTargets(predictor), rows
    if estimator.y_grid is not None:
        raise ValueError("y_grid is of curves: state y_domain, or leave it out")
    if not (isinstance(estimator.y_basis, str) and estimator.y_basis == "pss"):
        raise ValueError("y_basis is of curves: state y_domain, or leave it out")
    low, high = check_interval(estimator.y_bounds, "y_bounds")
    if not _SMALLEST <= high / 2 - low / 2 <= _LARGEST:
        raise ValueError(
            f"y_bounds must be between {2 * _SMALLEST} and {2 * _LARGEST} apart, got "
            f"{estimator.y_bounds!r}: {_UNITS}"
        )
    center = low / 2 + high / 2 if estimator._is_strict() else None
    return ScalarTargets(low, high), _numbers(flat(y), n_rows, center)


def _numbers(y: Any, n_rows: int, center: float | None) -> np.ndarray:
    """Targets as numbers; refusals say what is wrong with their form."""
    try:
        return read_targets(y, n_rows, center)
    except ValueError as error:
        text = str(error)
    if y is not None and text == TARGETS:
        shape = np.shape(y)
        remedy = "y holds NaN or infinity: put a public number in, and keep the row"
        if len(shape) > 1:
            remedy = "y has two axes: are they curves? pass y_domain=(A, B)"
        elif len(shape) == 0 or shape[0] != n_rows:
            remedy = "y has another number of rows than X"
        text = f"{text}; {remedy}"
    raise ValueError(text)
