"""What a projector reads: curves on a grid or irregular, and surfaces on a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any, Protocol

import numpy as np

from .._grids import check_inside
from .._observations import filled
from .._sklearn import check_feature_names
from .._tables import as_numbers, check_finite, finite_or
from ..basis import Basis, PiecewisePolynomialBasis, TensorBasis
from ..curves import Curves, as_curves
from ..exceptions import PrivacyError
from ..summaries import ValueBounds, curve_coefficients
from ._rows import CHUNK_ROWS, check_n_features
from ._traces import refuse_degrees

_UNIT = 2.0**-53
_LARGEST_ERROR = 2.0**-10  # that may be stated, as a share of the norm bound
_FEW_POINTS = 3
FEW_COLUMNS = (
    "up to three columns are read as curves of so many points, every row that of "
    "another person; a single trace has shape (1, n_points, n_outputs), as in "
    "trace[None], or comes from Curves.from_long; where rows are curves, give a grid"
)
_TWO_DIGITS_UP = Context(prec=2, rounding=ROUND_CEILING)
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

    def place_error(self, basis: Any) -> float:
        """What rounded points change in the coefficients, per unit of value."""


@dataclass(frozen=True, eq=False)
class ObservedCurves:
    """Functions of one variable."""

    curves: Curves
    basis: Basis
    matrix: np.ndarray | None
    stated_grid: Any = None

    @classmethod
    def read(cls, owner: Any, X: Any, basis: Basis, reset: bool) -> ObservedCurves:
        """Read data as the projector `owner` was told to."""
        grid, missing = owner._reading
        curves = as_curves(
            X,
            grid=grid,
            domain=basis.domain,
            missing=missing,
            strict=owner._is_strict(),
        )
        check_feature_names(owner, X, reset=reset)
        refuse_degrees(curves.output_names)
        if curves.is_regular:
            check_n_features(owner, len(curves.grid), reset)
            return cls(curves, basis, basis.projection(curves.grid))
        if reset:
            vars(owner).pop("n_features_in_", None)
        elif hasattr(owner, "n_features_in_"):
            raise ValueError(
                "irregular curves, after fit saw a common grid: fit to irregular ones, "
                "whose rounding errors are larger"
            )
        if np.diff(curves.offsets).max() > LARGEST_CURVE:
            raise ValueError("a curve may have at most 2^20 points")
        return cls(curves, basis, None, grid)

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
        if self.stated_grid is None:
            return np.linspace(*self.basis.domain, 101)
        return np.array(self.stated_grid, dtype=np.float64)

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
            part, domain = filled(self.curves[rows], values.center), self.basis.domain
            chunks = curve_coefficients(part, self.basis.projection, domain, values)
            return np.concatenate(list(chunks))
        part = finite_or(self.curves.values[rows], values.center)
        centred = np.clip(part, values.low, values.high)
        centred -= values.center
        centred[self.curves.all_missing[rows]] = 0.0
        outputs = np.tensordot(centred, self.matrix, axes=(1, 0))
        return outputs.swapaxes(1, 2).reshape(len(centred), -1)

    def place_error(self, basis: Basis) -> float:
        return float(np.linalg.norm(_place_errors(basis, self.n_products)))


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
        surfaces = as_numbers(X)
        if surfaces.ndim != basis.n_variables + 1:
            raise ValueError(
                f"functions of {basis.n_variables} variables are an array with "
                f"{basis.n_variables + 1} axes, the first of which counts them"
            )
        check_finite(surfaces, strict=owner._is_strict())
        if 0 in surfaces.shape:
            raise ValueError("there must be at least one surface, of one point or more")
        grid, missing = owner._reading
        if missing != "error":
            raise ValueError(
                "functions of several variables may have no missing values"
            )
        shape = surfaces.shape[1:]
        if grid is None:
            axes = zip(basis.domain, shape, strict=True)
            grid = tuple(np.linspace(*ends, n) for ends, n in axes)
        grid = tuple(np.asarray(axis, dtype=np.float64) for axis in grid)
        if tuple(map(len, grid)) != shape:
            raise ValueError("grid must have one array of points for each variable")
        for axis, ends in zip(grid, basis.domain, strict=True):
            check_inside(axis, ends)
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
        part = finite_or(self.values[rows], values.center)
        centred = np.clip(part, values.low, values.high) - values.center
        return centred @ self.matrix

    def place_error(self, basis: TensorBasis) -> float:
        axes = zip(basis.bases, self.grid, basis.indices.T, strict=True)
        moved = sum(
            _place_errors(one, len(axis))[index]
            * np.sqrt(self.volume / np.ptp(one.domain))
            for one, axis, index in axes
        )
        return float(np.linalg.norm(moved))


def looks_like_one_trace(owner: Any, X: Any, n_points: int) -> bool:
    """Whether rows of arrays are few numbers, like the points of a single trace.

    A trace of shape (n_points, n_outputs) has few columns and many rows, each of which
    would be released as if it were all that its person has. Whoever gives `Curves` or a
    grid has said what the columns are.

    Raises
    ------
    PrivacyError
        In strict mode, where a warning would come too late.
    """
    n_rows = len(X) if hasattr(type(X), "__len__") else math.inf  # of dask: not known
    if isinstance(X, Curves) or owner.grid is not None:
        return False
    if n_points > _FEW_POINTS or n_rows <= n_points:
        return False
    if owner._is_strict():
        raise PrivacyError(f"strict mode refuses arrays of few columns: {FEW_COLUMNS}")
    return True


def check_form(
    observed: Observed, n_outputs: int, is_vector: bool, n_products: int
) -> None:
    """Refuse curves of another form than those that `fit` saw."""
    if (observed.n_outputs, observed.is_vector) != (n_outputs, is_vector):
        raise ValueError(
            f"curves must have as many outputs as in fit, {n_outputs}, with an axis "
            "for them or without, as there"
        )
    if observed.n_products > n_products:
        raise ValueError(
            "curves have more points than in fit, hence larger rounding errors: fit "
            "to curves like these"
        )


def projection_error(
    basis: Any, observed: Observed, values: ValueBounds, stretch: float = 0.0
) -> float:
    """A bound on what floats add to the distance of two functions, to two digits.

    Twice the error of the coefficients of one: of products and sums, of points that are
    rounded, of a basis that is orthonormal to rounding only, and of the norms that a
    later selection computes.
    """
    gram = basis.gram()
    size = len(gram)
    stretch += np.linalg.norm(gram - np.eye(size), 2) + 64 * size * _UNIT
    reach = np.linalg.norm(values.reach)
    products = (observed.n_products + 64) * _UNIT * np.sqrt(size * observed.volume)
    products = (products + observed.place_error(basis)) * reach
    tails = (size * observed.n_outputs + 64) * _UNIT * values.norm_bound
    error = 2 * products + 3 * tails + stretch * 2 * values.norm_bound
    if not error <= _LARGEST_ERROR * values.norm_bound:
        raise PrivacyError(
            "floating point numbers are too coarse for distances on this domain: let "
            "it start at 0, with arguments counted from there"
        )
    return float(Decimal(float(error)).normalize(_TWO_DIGITS_UP))


def _place_errors(basis: Basis, n_points: int) -> np.ndarray:
    """What rounded points of a quadrature change in inner products, per unit of value.

    Moving the argument of a product q phi by e changes its integral by at most e times
    the integral of abs((q phi)'): the variation of phi, and at most 2 max abs(phi) for
    each of the n_points - 1 lines of a q between -1 and 1. Far from zero, points are
    rounded coarsely.
    """
    low, high = basis.domain
    far = abs(low) + abs(high)
    if isinstance(basis, PiecewisePolynomialBasis):  # counts from its breaks
        far = high - low
    functions = basis.evaluate(np.linspace(low, high, 16 * basis.n_basis + 1))
    variation = np.abs(np.diff(functions, axis=0)).sum(axis=0)
    variation += 2 * n_points * np.abs(functions).max(axis=0)
    return 4 * _UNIT * far * variation
