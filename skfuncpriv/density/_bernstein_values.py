"""What a Bernstein release is made of: values on the lattice, and the degree for them.

Each kind of function knows by how much its values move between neighbours, in units of
its own, how to compute them, and what a degree costs: bias plus noise.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from ..basis._bernstein_operator import BernsteinOperator, bernstein_basis
from ..exceptions import PrivacyError
from ..gaussian_process._rows import PrivateRows
from ..noise import FixedPoint
from ..noise._scales import round_up
from ._lattice_bumps import LatticeBumps, bump_height

MOST_POINTS = 1 << 16  # of a lattice that "pss" may choose
DEGREES = (1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256)
_CENTERS = np.linspace(0, 0.5, 9)  # the other half is a mirror image
_FINE = 201
_LARGEST_VALUE = 2.0**20  # in units of the stated sensitivity
_VALUE_ERROR = 2.0**-30  # of a callable's values, in the same units


@dataclass(frozen=True)
class DensityValues:
    """A Gaussian kernel density on the unit cube, in units of a bump over n.

    Parameters
    ----------
    n_people : int
        *Public.* The number n of people.
    bandwidth : tuple of d floats
        *Public.* Bandwidths in widths of the box.
    is_weighted : bool, default=False
        *Public.* Whether rows have weights.
    """

    n_people: int
    bandwidth: tuple[float, ...]
    is_weighted: bool = False

    def sensitivity(self, degree: int) -> float:
        """By how much the values move in absolute sum, rounded up."""
        bumps = self._bumps(degree)
        return round_up(Fraction(bumps.sensitivity, bumps.top))

    def value(
        self,
        degree: int,
        points: np.ndarray,
        codes: np.ndarray | None,
        shares: np.ndarray | None = None,
    ) -> FixedPoint:
        """The exact sum of bumps on the lattice; points lie in the unit cube."""
        return self._bumps(degree).sum(points, codes, shares)

    def unit(self, volume: float) -> float:
        """The height of a bump over n, in inverse units of a box of this volume."""
        return bump_height(self.bandwidth) / self.n_people / volume

    def bias_square(self, operator: BernsteinOperator) -> float:
        """The largest mean square that the operator loses of a bump, times n^2.

        The density is a mean of bumps, so by the triangle inequality it loses no more.
        Centres are those of a public grid on the diagonal of the cube.
        """
        x = np.linspace(0, 1, _FINE)[:, None]
        nodes = (np.arange(operator.degree + 1) / operator.degree)[:, None]
        basis = _fine_basis(operator.degree)
        overlaps: Any = 1.0
        for h in self.bandwidth:
            image = _bump(nodes, _CENTERS, h)
            curves = [_bump(x, _CENTERS, h)]
            for _ in range(operator.order):
                curves.append(basis @ image)
                image = operator.matrix @ image
            table = np.stack(curves)
            overlaps = overlaps * np.einsum("ixc,jxc->cij", table, table) / _FINE
        factors = np.append(1.0, -operator.powers)
        worst = float((overlaps @ factors @ factors).max())
        return max(worst, 0.0) * self.n_people**2

    def signal(self) -> float:
        """The largest root mean square that the values can have."""
        x = np.linspace(0, 1, _FINE)
        squares = [
            math.prod(np.mean(_bump(x, center, h) ** 2) for h in self.bandwidth)
            for center in _CENTERS
        ]
        return self.n_people * math.sqrt(max(squares))

    def _bumps(self, degree: int) -> LatticeBumps:
        return LatticeBumps(self.n_people, self.bandwidth, degree, self.is_weighted)


@dataclass(frozen=True)
class StatedValues:
    """Values of a callable, in units of the sensitivity that its author states.

    Parameters
    ----------
    function : callable
        *Public* ``(X, y) -> function of points``.
    n_axes : int
        *Public.* d.
    sensitivity : float
        *Public.* A bound on the change of every value.
    reach : float or None
        *Public.* How large the function and its derivatives in widths of the box are
        assumed to be, in units of the sensitivity; None where nothing is known.
    """

    function: Callable[..., Any]
    n_axes: int
    stated: float
    reach: float | None

    def sensitivity(self, degree: int) -> float:
        """By how much the values move in absolute sum, floats included, rounded up."""
        size = (degree + 1) ** self.n_axes
        return size * (1 + 4 * _VALUE_ERROR)

    def value(
        self, degree: int, rows: np.ndarray, y: Any, low: np.ndarray, high: np.ndarray
    ) -> np.ndarray:
        """Values on the lattice; what is no finite number counts as zero."""
        weights = np.arange(degree + 1) / degree
        axes = [a * (1 - weights) + b * weights for a, b in zip(low, high, strict=True)]
        points = np.array(list(product(*axes)))
        with warnings.catch_warnings():  # a warning about data would tell of them
            warnings.simplefilter("ignore")
            values = self.function(rows, y)(points)
        values = np.asarray(values, dtype=np.float64)
        if values.shape != (len(points),):
            raise ValueError(
                "estimator(X, y) must return a function of points, shape (n, d), with "
                "one value per point, shape (n,)"
            )
        values = np.where(np.isfinite(values), values, 0.0) / self.stated
        return np.clip(values, -_LARGEST_VALUE, _LARGEST_VALUE)

    def unit(self, volume: float) -> float:  # noqa: ARG002
        """The stated sensitivity."""
        return self.stated

    def bias_square(self, operator: BernsteinOperator) -> float:
        """The published rate: derivatives up to order 2 h at most `reach`."""
        if self.reach is None:
            raise PrivacyError(
                "degree='pss' needs to know how large the values of a callable are: "
                "state y_bounds, or a number as degree"
            )
        return (self.reach * operator.degree**-operator.order) ** 2

    def signal(self) -> float:
        """How large the values are, if that is stated."""
        return math.inf if self.reach is None else self.reach


Values = DensityValues | StatedValues


def choose_degree(values: Values, n_axes: int, order: int, epsilon: float) -> int:
    """The degree with the smallest bound on bias plus noise, from public facts."""
    if isinstance(values, DensityValues):  # kept, as it takes much longer than a fit
        return _degree_of_density(values, n_axes, order, epsilon)
    return _best_degree(values, n_axes, order, epsilon)


@lru_cache(maxsize=64)
def _degree_of_density(
    values: DensityValues, n_axes: int, order: int, epsilon: float
) -> int:
    return _best_degree(values, n_axes, order, epsilon)


def density_values(
    values: DensityValues,
    degree: int,
    used: slice,
    low: np.ndarray,
    high: np.ndarray,
    data: PrivateRows,
    codes: np.ndarray | None,
) -> FixedPoint:
    """The exact sum of the bumps of the people of these rows."""
    return values.value(degree, in_cube(data.points[:, used], low, high), codes)


def stated_values(
    values: StatedValues,
    degree: int,
    used: slice,
    low: np.ndarray,
    high: np.ndarray,
    data: PrivateRows,
    codes: np.ndarray | None,  # noqa: ARG001
) -> np.ndarray:
    """The values of a callable, which needs all rows."""
    clipped = np.clip(data.points[:, used], low, high)
    return values.value(degree, clipped, data.targets, low, high)


def in_cube(points: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Points of a box in the unit cube, those outside moved to it."""
    return (np.clip(points, low, high) / 2 - low / 2) / (high / 2 - low / 2)


def _best_degree(values: Values, n_axes: int, order: int, epsilon: float) -> int:
    best, smallest = 1, math.inf
    for degree in DEGREES:
        if (degree + 1) ** n_axes > MOST_POINTS and degree > 1:
            break
        noise = _noise_square(values, n_axes, order, epsilon, degree)
        if noise >= smallest:
            break  # noise grows with the degree
        risk = noise + values.bias_square(BernsteinOperator(degree, order, n_axes))
        if risk < smallest:
            best, smallest = degree, risk
    return best


def _noise_square(
    values: Values, n_axes: int, order: int, epsilon: float, degree: int
) -> float:
    """The mean square of the noise of the released function, over the cube."""
    scale = values.sensitivity(degree) / epsilon
    return 2 * scale**2 * BernsteinOperator(degree, order, n_axes).noise_square


@lru_cache(maxsize=len(DEGREES))
def _fine_basis(degree: int) -> np.ndarray:
    basis = bernstein_basis(np.linspace(0, 1, _FINE), degree)
    basis.setflags(write=False)  # it is shared
    return basis


def _bump(x: np.ndarray, center: float, bandwidth: float) -> np.ndarray:
    return np.exp(-0.5 * np.square((x - center) / bandwidth))
