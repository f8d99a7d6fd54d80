"""What a projector reads: curves on a grid or irregular, and surfaces on a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._sklearn import check_feature_names
from ..basis import Basis, TensorBasis
from ..curves import Curves, as_curves
from ..summaries import ValueBounds, curve_coefficients
from ._rows import CHUNK_ROWS

_UNIT = 2.0**-53
_DEGREES = {"lon", "lat", "long", "lng", "longitude", "latitude"}
# Points of one irregular curve, beyond which the stated rounding error may not hold.
LARGEST_CURVE = 1 << 20


class Observed(Protocol):
    """Rows of private functions in a public form."""

    n_rows: int
    n_outputs: int
    is_vector: bool
    grid: Any
    volume: float
    n_products: int
    chunk_rows: int

    def coefficients(self, rows: slice, values: ValueBounds) -> np.ndarray:
        """The coefficients of some rows, shape (n, n_functions * n_outputs)."""


@dataclass(frozen=True, eq=False)
class ObservedCurves:
    """Functions of one variable."""

    curves: Curves
    basis: Basis
    matrix: np.ndarray | None

    @classmethod
    def read(cls, owner: Any, X: Any, basis: Basis, reset: bool) -> ObservedCurves:
        """Read data as the projector `owner` was told to."""
        curves = as_curves(
            X, grid=owner.grid, domain=basis.domain, missing=owner.missing
        )
        check_feature_names(owner, X, reset=reset)
        refuse_degrees(curves.output_names)
        if curves.is_regular:
            check_n_features(owner, len(curves.grid), reset)
            return cls(curves, basis, basis.projection(curves.grid))
        if reset:
            vars(owner).pop("n_features_in_", None)
        if np.diff(curves.offsets).max() > LARGEST_CURVE:
            raise ValueError("a curve may have at most 2^20 points")
        return cls(curves, basis, None)

    @property
    def n_rows(self) -> int:
        return self.curves.n_curves

    @property
    def n_outputs(self) -> int:
        return self.curves.n_outputs

    @property
    def is_vector(self) -> bool:
        return self.curves.is_vector

    @property
    def grid(self) -> np.ndarray:
        if self.curves.is_regular:
            return np.array(self.curves.grid)
        return np.linspace(*self.basis.domain, 101)

    @property
    def volume(self) -> float:
        return self.basis.domain[1] - self.basis.domain[0]

    @property
    def n_products(self) -> int:
        return LARGEST_CURVE if self.matrix is None else len(self.matrix)

    @property
    def chunk_rows(self) -> int:
        return 64 if self.matrix is None else CHUNK_ROWS

    def coefficients(self, rows: slice, values: ValueBounds) -> np.ndarray:
        if self.matrix is None:
            part, basis = self.curves[rows], self.basis
            chunks = curve_coefficients(part, basis.projection, basis.domain, values)
            return np.concatenate(list(chunks))
        centred = np.clip(self.curves.values[rows], values.low, values.high)
        centred -= values.center
        centred[self.curves.all_missing[rows]] = 0.0
        outputs = np.tensordot(centred, self.matrix, axes=(1, 0))
        return outputs.swapaxes(1, 2).reshape(len(centred), -1)


@dataclass(frozen=True, eq=False)
class ObservedSurfaces:
    """Functions of several variables on a product grid."""

    values: np.ndarray
    grid: tuple[np.ndarray, ...]
    volume: float
    matrix: np.ndarray

    n_outputs = 1
    is_vector = False
    chunk_rows = CHUNK_ROWS

    @classmethod
    def read(
        cls, owner: Any, X: Any, basis: TensorBasis, reset: bool
    ) -> ObservedSurfaces:
        """Read data as the projector `owner` was told to."""
        surfaces = np.asarray(X, dtype=np.float64)
        if surfaces.ndim != basis.n_variables + 1:
            raise ValueError(
                f"functions of {basis.n_variables} variables are an array with "
                f"{basis.n_variables + 1} axes, the first of which counts them"
            )
        if not np.isfinite(surfaces).all():
            raise ValueError("surfaces must be finite numbers")
        shape = surfaces.shape[1:]
        grid = owner.grid
        if grid is None:
            axes = zip(basis.domain, shape, strict=True)
            grid = tuple(np.linspace(*ends, n) for ends, n in axes)
        grid = tuple(np.asarray(axis, dtype=np.float64) for axis in grid)
        if tuple(map(len, grid)) != shape:
            raise ValueError("grid must have one array of points for each variable")
        check_n_features(owner, math.prod(shape), reset)
        volume = math.prod(high - low for low, high in basis.domain)
        flat = surfaces.reshape(len(surfaces), -1)
        return cls(flat, grid, volume, basis.projection(grid))

    @property
    def n_rows(self) -> int:
        return len(self.values)

    @property
    def n_products(self) -> int:
        return len(self.matrix)

    def coefficients(self, rows: slice, values: ValueBounds) -> np.ndarray:
        centred = np.clip(self.values[rows], values.low, values.high) - values.center
        return centred @ self.matrix


def refuse_degrees(names: tuple[str, ...] | None) -> None:
    """Refuse positions in degrees: their differences are no distances."""
    if names is not None and _DEGREES.intersection(name.lower() for name in names):
        raise ValueError(
            "longitude and latitude are degrees, not distances: convert them with "
            "to_metres(lon, lat, origin=...), about a public origin"
        )


def projection_error(
    gram: np.ndarray, observed: Observed, values: ValueBounds
) -> float:
    """A bound on what floats add to the distance of two functions.

    Twice the error of the coefficients of one: of products and sums, of a basis that is
    orthonormal to rounding only, and of the norms that a later selection computes.
    """
    size = len(gram)
    stretch = np.linalg.norm(gram - np.eye(size), 2) + 64 * size * _UNIT
    reach = np.linalg.norm(values.reach) * np.sqrt(observed.volume)
    products = (observed.n_products + 64) * _UNIT * np.sqrt(size) * reach
    tails = (size * observed.n_outputs + 64) * _UNIT * values.norm_bound
    return float(2 * (products + tails) + stretch * 2 * values.norm_bound)


def check_n_features(owner: Any, n_features: int, reset: bool) -> None:
    """The number of columns, in the words of scikit-learn."""
    if reset:
        owner.n_features_in_ = n_features
    elif n_features != getattr(owner, "n_features_in_", n_features):
        raise ValueError(
            f"X has {n_features} features, but {type(owner).__name__} is expecting "
            f"{owner.n_features_in_} features as input"
        )
