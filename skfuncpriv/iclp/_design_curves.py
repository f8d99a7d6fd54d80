"""The design of rows that hold one curve, or several on domains of their own."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..basis import Basis
from ..curves import Curves, as_curves
from ..summaries import ValueBounds, curve_coefficients
from ._design_base import Design
from ._design_numbers import TYPICAL
from ._minimiser import in_unit_ball

_N_SIZES = 16


@dataclass(frozen=True, eq=False)
class CurvePredictor:
    """How one curve of a row is read, clipped and projected; all of it is public.

    Parameters
    ----------
    basis : Basis
        Orthonormal functions on the domain.
    values : ValueBounds
        At what values are clipped, and the norm that follows.
    grid : ndarray, shape (n_points,), or None
        Where wide data are observed.
    points : ndarray, shape (n_points,)
        Where coefficient functions are given.
    missing : {"error", "interpolate"}
        What to do with NaN values.
    name : str or None
        Its name, where there are several.
    is_vector : bool
        Whether curves come with an axis of outputs.
    """

    basis: Basis
    values: ValueBounds
    grid: np.ndarray | None
    points: np.ndarray
    missing: str
    name: Any = None
    is_vector: bool = False

    @property
    def n_outputs(self) -> int:
        """The number of values of a curve at each point."""
        return len(self.values.low)

    def read(self, X: Any) -> Curves:
        """Curves in the same form."""
        curves = as_curves(
            X, grid=self.grid, domain=self.basis.domain, missing=self.missing
        )
        if curves.n_outputs != self.n_outputs:
            raise ValueError(f"curves must have {self.n_outputs} values at each point")
        return curves

    def coefficients(self, curves: Curves) -> np.ndarray:
        """In units of the norm bound, clipped to the unit ball, shape (n, m d)."""
        basis = self.basis
        parts = curve_coefficients(curves, basis.projection, basis.domain, self.values)
        return in_unit_ball(np.concatenate(list(parts)) / self.values.norm_bound)


@dataclass(frozen=True, eq=False)
class CurveDesign(Design):
    """x = (1, c_1, ..., c_K) / sqrt(1 + K), c_k the coefficients of predictor k.

    Coefficients are those of the clipped and centred curve, in units of its norm
    bound. After the constant they come by frequency. The penalty of a coefficient is
    (lambda_1 / lambda_j)^eta, that of the quadratic ICLP penalty, relative to the
    first function.

    Parameters
    ----------
    predictors : tuple of CurvePredictor
        What a row holds.
    eta : float
        The exponent.
    count : int or None
        How many features are taken; None is all.
    """

    predictors: tuple[CurvePredictor, ...]
    eta: float
    count: int | None = None

    def __post_init__(self) -> None:
        unit = 1 + len(self.predictors)
        penalty, energy = [np.ones(1)], [np.ones(1)]
        for predictor in self.predictors:
            spectrum = np.repeat(predictor.basis.spectrum, predictor.n_outputs)
            with np.errstate(over="ignore", divide="ignore"):
                weights = (spectrum[0] / spectrum) ** self.eta
            penalty.append(np.clip(weights, 1.0, 1e100))
            energy.append(TYPICAL * spectrum / spectrum.sum())
        columns = self._columns
        self._set(
            np.concatenate(penalty)[columns],
            np.concatenate(energy)[columns] / unit,
            1 / math.sqrt(unit),
        )

    @cached_property
    def _columns(self) -> np.ndarray:
        """The features that are taken, as columns of (1, c_1, ..., c_K)."""
        frequency = [np.array([-1])]
        for predictor in self.predictors:
            rank = np.arange(predictor.basis.n_basis)
            frequency.append(np.repeat(rank, predictor.n_outputs))
        return np.argsort(np.concatenate(frequency), kind="stable")[: self.count]

    @property
    def sizes(self) -> tuple[int, ...]:
        each = sum(predictor.n_outputs for predictor in self.predictors)
        most = max(1, (self.size - 1) // each)
        counts = np.unique(np.geomspace(1, most, _N_SIZES).round().astype(int))
        return tuple(sorted({*(1 + each * counts[:-1]).tolist(), self.size}))

    @property
    def n_columns(self) -> int | None:
        grids = [predictor.grid for predictor in self.predictors]
        if any(grid is None for grid in grids):
            return None
        return sum(len(grid) for grid in grids)

    @property
    def points(self) -> list[np.ndarray]:
        return [predictor.points for predictor in self.predictors]

    def named(self, parts: list) -> Any:
        names = [predictor.name for predictor in self.predictors]
        if names == [None]:
            return parts[0]
        if names == list(range(len(names))):
            return parts
        return dict(zip(names, parts, strict=True))

    def first(self, size: int) -> CurveDesign:
        return replace(self, count=size)

    def read(self, X: Any) -> CurveRows:
        parts = parts_of(X, [(p.name, p.grid) for p in self.predictors])
        pairs = list(zip(self.predictors, parts, strict=True))
        complete = all(cannot_miss(part, p.missing) for p, part in pairs)
        return CurveRows(tuple(p.read(part) for p, part in pairs), complete)

    def seen(self, rows: CurveRows) -> np.ndarray | None:
        return rows.seen

    def transform(self, rows: CurveRows, codes: Any = None) -> np.ndarray:  # noqa: ARG002
        with np.errstate(all="ignore"):
            pairs = zip(self.predictors, rows.curves, strict=True)
            parts = [predictor.coefficients(curves) for predictor, curves in pairs]
            table = np.hstack([np.ones((len(rows), 1)), *parts]) * self.constant
            if rows.seen is not None:
                table[~rows.seen] = 0.0
            return in_unit_ball(table[:, self._columns])

    def slopes(self, theta: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        total = 1 + sum(p.basis.n_basis * p.n_outputs for p in self.predictors)
        full = np.zeros((total, theta.shape[1]))
        full[self._columns] = self.constant * theta
        intercept, functions, start = full[0].copy(), [], 1
        for predictor in self.predictors:
            basis, values = predictor.basis, predictor.values
            stop = start + basis.n_basis * predictor.n_outputs
            part = full[start:stop].reshape(basis.n_basis, predictor.n_outputs, -1)
            part = part / values.norm_bound
            functions.append(np.tensordot(basis.evaluate(predictor.points), part, 1))
            integrals = basis.projection(predictor.points[:1])[0]
            center = np.broadcast_to(values.center, (predictor.n_outputs,))
            intercept -= np.einsum("j,jdq,d->q", integrals, part, center)
            start = stop
        return intercept, functions


@dataclass(frozen=True, eq=False)
class CurveRows:
    """The curves of all rows, predictor by predictor; *private*.

    `complete` says that no curve can lack all its values, from the form of the data.
    """

    curves: tuple[Curves, ...]
    complete: bool

    def __post_init__(self) -> None:
        if len({curves.n_curves for curves in self.curves}) > 1:
            raise ValueError("every predictor must have one curve for each row")
        check_same_people(self)

    def __len__(self) -> int:
        return self.curves[0].n_curves

    @property
    def seen(self) -> np.ndarray | None:
        """Rows in which every curve has a value, *private*; None is all of them."""
        if self.complete:
            return None
        return ~np.any([curves.all_missing for curves in self.curves], axis=0)


def _aligned(parts: list[Any]) -> list[Any]:
    """The tables of several predictors, whose rows must have the same index."""
    frames = [part for part in parts if hasattr(part, "iloc")]
    if not all(frames[0].index.equals(frame.index) for frame in frames):
        raise ValueError(
            "the frames of X have other indexes than each other: align them, as in "
            "second.loc[first.index]"
        )
    return parts


def check_same_people(*parts: Any) -> None:
    """Refuse curves that are named, and in another order than others of the same rows.

    A person would own parts of several rows then, and count more than once.
    """
    curves = [one for part in parts for one in getattr(part, "curves", ())]
    named = [one.ids for one in curves if one.ids is not None]
    if not all(np.array_equal(named[0], ids) for ids in named):
        raise ValueError(
            "curves of the same rows have other ids, or another order of them: align "
            "them, as in curves[order]"
        )


def cannot_miss(part: Any, missing: str) -> bool:
    """Whether curves in this form have values for sure, which is public."""
    return missing == "error" and not isinstance(part, Curves)


def parts_of(X: Any, facts: list[tuple[Any, np.ndarray | None]]) -> list[Any]:
    """What X holds for each predictor, given its (name, grid).

    X is the curves themselves for a single one; otherwise a dict by name, a list, or
    one wide table whose columns are cut by the grids.
    """
    if len(facts) == 1 and facts[0][0] is None:
        return [X]
    names = [name for name, _ in facts]
    if isinstance(X, dict):
        if set(X) != set(names):
            raise ValueError(f"X must be a dict with the keys {names}")
        return _aligned([X[name] for name in names])
    if isinstance(X, list | tuple):
        if len(X) != len(names):
            raise ValueError(f"X must hold the curves of {len(names)} predictors")
        return _aligned(list(X))
    lengths = [None if grid is None else len(grid) for _, grid in facts]
    rule = (
        "X must be a dict or a list with the curves of each predictor, or one wide "
        "table with as many columns as the grids of X_grid have points together"
    )
    if None in lengths or len(getattr(X, "shape", ())) != 2:
        raise ValueError(rule)
    cuts = np.cumsum([0, *lengths])
    if X.shape[1] != cuts[-1]:
        raise ValueError(rule)
    table = X.to_numpy() if hasattr(X, "to_numpy") else X
    return [table[:, a:b] for a, b in pairwise(cuts)]
