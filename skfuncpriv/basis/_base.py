"""What every basis can do: evaluate, integrate, project, orthonormalise.

A concrete basis is a frozen dataclass that states its functions (`_evaluate`) and the
break points between which they are smooth (`_breaks`); integrals are composite
Gauss-Legendre sums over the panels between those points.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from skfuncpriv._validation import check_count, check_interval
from skfuncpriv.basis._quadrature import (
    PANEL_NODES,
    PANEL_NODES_SQUARE,
    FloatArray,
    panel_rule,
)
from skfuncpriv.exceptions import PrivacyError

if TYPE_CHECKING:
    from skfuncpriv.basis._tensor import TensorBasis

# Largest entry of Gram - identity at which a basis counts as orthonormal.
ORTHONORMAL_TOLERANCE = 1e-10
# Entries of a projection that is kept.
_MOST_KEPT = 1 << 18
# Points this many rounding units outside the domain are moved onto its end.
_SLACK = 8 * np.finfo(float).eps


class Basis(ABC):
    """A finite family of public functions on an interval.

    Attributes
    ----------
    n_basis : int
        Number of functions, public.
    domain : tuple of two floats
        Ends of the interval, public, in the user's units.

    Notes
    -----
    A basis holds public facts only. Bases are immutable, comparable and picklable;
    what they compute once is not part of their state. Inner products are those of L2
    over the domain in the user's units, so orthonormal functions carry the unit
    ``1/sqrt(unit of the argument)``.
    """

    n_basis: int
    domain: tuple[float, float]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __post_init__(self) -> None:
        self._set("n_basis", check_count(self.n_basis, "n_basis"))
        self._set("domain", check_interval(self.domain, "domain"))

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @abstractmethod
    def _evaluate(self, t: FloatArray) -> FloatArray:
        """The functions at points known to lie in the domain, (n_points, n_basis)."""

    @abstractmethod
    def _breaks(self) -> FloatArray:
        """Increasing points from end to end of the domain that bound the panels."""

    @property
    def spectrum(self) -> FloatArray:
        """Public decreasing weights of the functions, positive, shape (n_basis,).

        Notes
        -----
        Karhunen-Loeve eigenvalues for `KernelBasis`. Here a stand-in of the same size
        and unit: the spectral density of the Matern 3/2 kernel whose length scale is a
        tenth of the domain, 4 a^3/(a^2 + w_j^2)^2 with a = sqrt(3)/length, at the
        frequency w_j = pi*j/width of a function with j sign changes.
        """
        return matern_density(np.pi * np.arange(self.n_basis, dtype=float), self._width)

    @property
    def ordered_by_frequency(self) -> bool:
        """Whether later functions are rougher, so that coefficients tend to fall.

        Notes
        -----
        False for local functions, which are ordered by position: what holds for the
        first coefficients then says nothing about the last.
        """
        return True

    def evaluate(self, t: npt.ArrayLike) -> FloatArray:
        """Values of the functions.

        Parameters
        ----------
        t : array-like of shape (n_points,)
            Public points of the domain, in the user's units.

        Returns
        -------
        ndarray of shape (n_points, n_basis)
            One column per function.

        Raises
        ------
        ValueError
            If a point is not a finite number of the domain.
        """
        return self._evaluate(self._check_points(t, "t"))

    def gram(self) -> FloatArray:
        """Inner products of the functions over the domain.

        Returns
        -------
        ndarray of shape (n_basis, n_basis)
            Symmetric; the identity, up to rounding, if the basis is orthonormal.
        """
        rows = self._weighted_table()
        return rows.T @ rows

    def projection(self, grid: npt.ArrayLike) -> FloatArray:
        """Matrix that turns values on a grid into L2 inner products.

        Parameters
        ----------
        grid : array-like of shape (n_points,)
            Public, strictly increasing points of the domain, in the user's units.

        Returns
        -------
        ndarray of shape (n_points, n_basis)
            ``values @ projection(grid)`` are the inner products of the functions with
            the piecewise linear interpolant of the values.

        Raises
        ------
        ValueError
            If the grid is empty, not strictly increasing, or leaves the domain.

        Notes
        -----
        The interpolant is constant between an end of the grid and the end of the
        domain, so a grid that does not reach the ends, even one point, still describes
        a curve on the whole domain. Row i integrates the hat function of point i; the
        quadrature is exact to rounding, so points inserted on the interpolant change
        nothing. For an orthonormal basis the inner products are the coefficients.
        """
        points = self._check_points(grid, "grid")
        if len(points) == 0 or not np.all(np.diff(points) > 0):
            raise ValueError("grid must hold at least one point and strictly increase")
        edges = np.unique(np.concatenate((points, self._breaks())))
        nodes, weights = panel_rule(edges, PANEL_NODES)
        functions = self._evaluate(nodes.ravel()).reshape(*nodes.shape, self.n_basis)
        if len(points) == 1:
            total: FloatArray = np.einsum("pq,pqm->m", weights, functions)
            return total[np.newaxis]

        # Step 0: the grid cell of each panel and the height of its right hat.
        cell = np.searchsorted(points, edges[:-1], side="right") - 1
        cell = np.clip(cell, 0, len(points) - 2)
        left = points[cell, np.newaxis]
        step = np.diff(points)[cell, np.newaxis]
        height = np.clip((nodes - left) / step, 0.0, 1.0)
        # Step 1: integrals of both hats over each panel, then over each cell.
        hats = np.stack((weights * (1.0 - height), weights * height), axis=1)
        first_panel = np.searchsorted(cell, np.arange(len(points) - 1))
        moments = np.add.reduceat(hats @ functions, first_panel, axis=0)
        # Step 2: a grid point owns the left hat of one cell, the right of another.
        matrix = np.zeros((len(points), self.n_basis))
        matrix[:-1] = moments[:, 0]
        matrix[1:] += moments[:, 1]
        return matrix

    def orthonormalize(self) -> Basis:
        """An orthonormal basis of the same span.

        Returns
        -------
        Basis
            The basis itself, as it is orthonormal already.

        Raises
        ------
        PrivacyError
            If the result is not orthonormal in floating point.
        """
        check_orthonormal(self)
        return self

    def first(self, n_basis: int) -> Basis:
        """The first functions of the family, as a basis of its own.

        Parameters
        ----------
        n_basis : int
            How many functions to keep, public.

        Returns
        -------
        Basis
            The same functions, fewer of them.
        """
        return replace(self, n_basis=n_basis)

    @property
    def _width(self) -> float:
        return self.domain[1] - self.domain[0]

    def _set(self, name: str, value: Any) -> None:
        """Normalise a field of a frozen instance that is being built."""
        object.__setattr__(self, name, value)

    def _reference(self, t: FloatArray) -> FloatArray:
        """Points of the domain mapped to [-1, 1]."""
        low, high = self.domain
        position: FloatArray = ((t - low) - (high - t)) / self._width
        return position

    def _from_reference(self, x: FloatArray) -> FloatArray:
        """Points of [-1, 1] mapped to the domain, ends onto ends."""
        low, high = self.domain
        points = low + 0.5 * self._width * (1.0 + x)
        return np.clip(points, low, high)

    def _weighted_table(self) -> FloatArray:
        """Rows whose dot products over columns are the inner products."""
        nodes, weights = panel_rule(self._breaks(), PANEL_NODES_SQUARE)
        return np.sqrt(weights.ravel())[:, np.newaxis] * self._evaluate(nodes.ravel())

    def _check_points(self, values: npt.ArrayLike, name: str) -> FloatArray:
        points = np.asarray(values, dtype=float)
        if points.ndim != 1:
            raise ValueError(f"{name} must be 1-D, got {points.ndim} dimensions")
        low, high = self.domain
        slack = _SLACK * max(abs(low), abs(high))
        if not np.all((points >= low - slack) & (points <= high + slack)):
            raise ValueError(
                f"{name} must be finite numbers of the domain {low, high}: arguments "
                "of the function, not values"
            )
        clipped: FloatArray = np.clip(points, low, high)
        return clipped


def check_orthonormal(basis: Basis | TensorBasis) -> None:
    """Refuse a basis that is not orthonormal in floating point.

    Parameters
    ----------
    basis : Basis or TensorBasis
        The public basis to check.

    Raises
    ------
    PrivacyError
        If an entry of the Gram matrix differs from the identity by more than 1e-10.

    Notes
    -----
    Noise with independent coordinates hides a function only if the coordinates are
    orthonormal. A Gram matrix that is singular in floating point removes the noise in
    some directions, so such a basis is refused, never pseudo-inverted.

    Examples
    --------
    >>> from skfuncpriv.basis import CosineBasis, check_orthonormal
    >>> check_orthonormal(CosineBasis(8))
    """
    error = float(np.max(np.abs(basis.gram() - np.eye(basis.n_basis))))
    if not error <= ORTHONORMAL_TOLERANCE:
        raise PrivacyError(
            f"{type(basis).__name__} with {basis.n_basis} functions is not orthonormal "
            f"(Gram matrix off by {error:.1e}, at most {ORTHONORMAL_TOLERANCE:.0e} is "
            "accepted); use orthonormalize(), fewer functions or an orthonormal basis"
        )


def grid_projection(basis: Basis, grid: FloatArray) -> FloatArray:
    """Return ``basis.projection(grid)`` of a public grid, read-only, and keep it.

    Fits and parts of one fit ask for the same matrix. It is kept for families that
    numbers describe, and never for points of one person: they are private.
    """
    is_described = [field.name for field in fields(basis)] == ["n_basis", "domain"]
    if not is_described or len(grid) * basis.n_basis > _MOST_KEPT:
        return basis.projection(grid)
    return _kept_projection(basis, grid.tobytes())


@lru_cache(maxsize=8)
def _kept_projection(basis: Basis, grid: bytes) -> FloatArray:
    matrix = basis.projection(np.frombuffer(grid))
    matrix.flags.writeable = False
    return matrix


def matern_density(phase: FloatArray, width: float) -> FloatArray:
    """Spectral density of Matern 3/2, length width/10, at frequencies phase/width."""
    rate = np.sqrt(3.0) * 10.0
    density: FloatArray = width * 4.0 * rate**3 / (rate**2 + phase**2) ** 2
    return density
