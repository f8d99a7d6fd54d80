"""Gaussian bumps seen on a lattice: what one person can change there, and exact sums.

The lattice has the points j / k, j = 0 .. k, along each axis of the unit cube.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from .._validation import check_count, check_positive
from ..exceptions import PrivacyError
from ..gaussian_process._rows import read_box
from ..noise import FixedPoint, Lattice
from ..summaries import averages_in_blocks, number_of_people

_SUM_BITS = 62
_VALUE_BITS = 40
_CHUNK_VALUES = 1 << 20
_MOST_POINTS = 1 << 20
_SLACK = 1 + 2.0**-40  # for a few hundred roundings without cancellation
_NARROW = 1 / 16  # bandwidth up to which the box is as good as infinite
_PER_BANDWIDTH = 256


def kde_sup_sensitivity(n: int, bandwidth: Any, n_axes: int = 1) -> float:
    """Sensitivity of a Gaussian kernel density estimate in the supremum norm.

    Parameters
    ----------
    n : int
        *Public.* The number of people.
    bandwidth : float or sequence of d floats
        *Public.* The bandwidth, one for all axes or one per axis.
    n_axes : int, default=1
        *Public.* The number d of axes.

    Returns
    -------
    float
        A bound on abs(f(t) - f'(t)) over points t and neighbours, rounded up.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Notes
    -----
    A person adds a bump between 0 and its height (2 pi)^(-d/2) / prod h_k over n, or
    the average of several, so replacing the person moves no value by more.

    Examples
    --------
    >>> from skfuncpriv.density import kde_sup_sensitivity
    >>> round(kde_sup_sensitivity(n=100, bandwidth=0.5), 6)
    0.007979
    """
    n = check_count(n, "n")
    widths = read_bandwidths(bandwidth, check_count(n_axes, "n_axes"))
    return bump_height(widths) / n * _SLACK


def kde_lattice_sensitivity(n: int, bandwidth: Any, degree: int, bounds: Any) -> float:
    """L1 sensitivity of a Gaussian kernel density estimate on a lattice.

    Parameters
    ----------
    n : int
        *Public.* The number of people.
    bandwidth : float or sequence of d floats
        *Public.* The bandwidth, in the units of the points.
    degree : int
        *Public.* k: the lattice has (k + 1)^d points.
    bounds : tuple of two floats, or of two sequences of d floats
        *Public.* The box (low, high) that people are clipped to; the lattice includes
        its corners.

    Returns
    -------
    float
        A bound on the sum over the lattice of abs(f - f'), rounded up.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Notes
    -----
    A person adds c b_x, where b_x is a bump of height one and c the bound of
    `kde_sup_sensitivity`, or an average of such functions. Let s be the smallest value
    of a bump at each lattice point, whoever it belongs to. The sum of absolute values
    of b_x - b_y is at most the sums of b_x - s >= 0 and of b_y - s, and at most that of
    1 - s. The smaller bound is returned; both are below the published (k + 1)^d c.

    The largest sum of a bump over the lattice is a product over axes. Along an axis
    with a narrow bump the sum over all multiples of 1 / k is the largest where the bump
    lies on one of them (by Poisson's formula, in which every coefficient is positive);
    otherwise it is computed on a fine grid of x, and at its maximum it exceeds the
    nearest grid point by at most an eighth of the squared spacing times the largest
    second derivative.

    References
    ----------
    .. [1] F. Alda and B. Rubinstein, "The Bernstein mechanism: function release under
       differential privacy", AAAI 2017.

    Examples
    --------
    >>> from skfuncpriv.density import kde_lattice_sensitivity
    >>> change = kde_lattice_sensitivity(100, 0.5, degree=20, bounds=(0, 10))
    >>> round(change, 6)
    0.04
    """
    n = check_count(n, "n")
    n_axes = max(map(np.size, (*bounds, bandwidth)))
    low, high = read_box(bounds, n_axes)
    widths = read_bandwidths(bandwidth, n_axes)
    unit = tuple((widths / (high - low)).tolist())
    bumps = LatticeBumps(n, unit, degree)
    change = bumps.sensitivity / bumps.top
    return change * kde_sup_sensitivity(n, widths, n_axes) * _SLACK


def bump_height(bandwidth: Iterable[float]) -> float:
    """The height of a Gaussian bump of mass one."""
    return math.prod(1 / (math.sqrt(2 * math.pi) * float(h)) for h in bandwidth)


def read_bandwidths(bandwidth: Any, n_axes: int) -> np.ndarray:
    """One bandwidth > 0 per axis."""
    numbers = np.atleast_1d(np.asarray(bandwidth, dtype=object))
    if numbers.shape not in ((1,), (n_axes,)):
        raise ValueError(
            f"bandwidth must be one number, or one for each of {n_axes} axes, got "
            f"{bandwidth!r}"
        )
    checked = [check_positive(number, "bandwidth") for number in numbers.tolist()]
    return np.array(checked * n_axes)[:n_axes]


@dataclass(frozen=True)
class LatticeBumps:
    """Bumps of height one of n people on a lattice, in integers, and their sum.

    Parameters
    ----------
    n_people : int
        The number n of people; *public*.
    bandwidth : tuple of d floats
        Bandwidths in widths of the box; *public*.
    degree : int
        The lattice has degree + 1 points along each axis; *public*.
    is_weighted : bool, default=False
        Whether rows may give a share of their bump only; *public*.

    Notes
    -----
    A bump is the product of a factor of the first axis and one of all others. Each is
    rounded down to integers with entries from s_f (zero with weights) to 2^b and a sum
    of at most T_f, which is checked in integers: a factor that failed would count as
    s_f. So a row is a vector of integers with entries from s = s_1 s_2 to 2^(2 b) and a
    sum of at most T = T_1 T_2, and averages over the rows of a person keep these
    bounds. Matrix products sum at most 2^53 at a time, so that floats hold every
    partial sum exactly.
    """

    n_people: int
    bandwidth: tuple[float, ...]
    degree: int
    is_weighted: bool = False

    def __post_init__(self) -> None:
        check_count(self.n_people, "the number of people")
        check_count(self.degree, "degree")
        if self.size > _MOST_POINTS:
            raise PrivacyError(
                f"a lattice of degree {self.degree} on {len(self.bandwidth)} axes has "
                f"{self.size} points, more than {_MOST_POINTS}: choose a smaller degree"
            )

    @property
    def size(self) -> int:
        """The number of lattice points."""
        return int((self.degree + 1) ** len(self.bandwidth))

    @property
    def lattice(self) -> Lattice:
        """The public lattice of values, on which the height of a bump is `top`."""
        return Lattice(-self._bits * len(self._parts))

    @property
    def top(self) -> int:
        """The height of a bump in lattice steps."""
        return int(2 ** (self._bits * len(self._parts)))

    @property
    def steps(self) -> int:
        """The largest sum T of a row, in lattice steps."""
        return math.prod(self._largest_sums)

    @property
    def sensitivity(self) -> int:
        """The L1 sensitivity of the exact sum, in lattice steps."""
        smallest = math.prod(int(values.sum()) for values in self._smallest)
        return min(2 * (self.steps - smallest), self.size * self.top - smallest)

    def sum(
        self,
        points: np.ndarray,
        codes: np.ndarray | None = None,
        shares: np.ndarray | None = None,
    ) -> FixedPoint:
        """Return the exact sum of the rows, or of the averages of each person.

        Parameters
        ----------
        points : ndarray, shape (n_rows, d)
            *Private*, in the unit cube.
        codes : ndarray of int, shape (n_rows,), default=None
            The person of each row, 0 .. n_people - 1; *private*.
        shares : ndarray, shape (n_rows,), default=None
            The share of its bump that a row gives, in [0, 1]; *private*. Only if
            `is_weighted`.

        Returns
        -------
        FixedPoint
            Shape (size,), with its public lattice and bound.
        """
        if shares is not None and not self.is_weighted:
            raise ValueError("shares need is_weighted=True")
        if codes is None and len(points) > self.n_people:
            raise ValueError("more contributions than n_people")
        total = np.zeros(self.size, dtype=np.int64)
        if codes is not None:
            for averages in averages_in_blocks(
                lambda rows: self._integers(points, shares, rows),
                codes,
                number_of_people(codes),
                self.size,
            ):
                total += averages.sum(axis=0)
            return FixedPoint(total, self.lattice, self.n_people * self.top)
        # few enough rows to add up exactly
        widest = max(self.degree + 1, self.size // (self.degree + 1))
        step = max(1, min(2**53 // self.top, _CHUNK_VALUES // widest))
        for start in range(0, len(points), step):
            first, rest = self._tables(points, shares, slice(start, start + step))
            total += (first.T @ rest).ravel().astype(np.int64)
        return FixedPoint(total, self.lattice, self.n_people * self.top)

    @property
    def _parts(self) -> list[slice]:
        """The axes of each factor."""
        others = [slice(1, None)] if len(self.bandwidth) > 1 else []
        return [slice(0, 1), *others]

    @property
    def _bits(self) -> int:
        """The bits b of a factor."""
        free = _SUM_BITS - (self.n_people - 1).bit_length()
        return min(_VALUE_BITS, free) // len(self._parts)

    @cached_property
    def _largest_sums(self) -> list[int]:
        """The bounds T_f."""
        sums = [largest_sum(h, self.degree) for h in self.bandwidth]
        height = 2.0**self._bits * _SLACK
        return [math.ceil(height * math.prod(sums[part])) for part in self._parts]

    @cached_property
    def _smallest(self) -> list[np.ndarray]:
        """The vectors s_f: a bump is the smallest where it is the farthest away."""
        nodes = np.arange(self.degree + 1) / self.degree
        farthest = np.maximum(nodes, 1 - nodes)
        height = 0.0 if self.is_weighted else 2.0**self._bits / _SLACK
        with np.errstate(all="ignore"):
            axes = [
                np.exp(-0.5 * np.square(farthest / h))[None] for h in self.bandwidth
            ]
            return [np.floor(height * _products(axes[part]))[0] for part in self._parts]

    def _factors(
        self, points: np.ndarray, shares: np.ndarray | None
    ) -> list[np.ndarray]:
        """Rows of integers of every factor, held in floats."""
        nodes = np.arange(self.degree + 1) / self.degree
        axes = [
            np.exp(-0.5 * np.square((x[:, None] - nodes) / h))
            for x, h in zip(points.T, self.bandwidth, strict=True)
        ]
        if shares is not None:
            axes[0] *= shares[:, None]
        height = 2.0**self._bits
        factors = []
        for part, smallest, total in zip(
            self._parts, self._smallest, self._largest_sums, strict=True
        ):
            factor = np.floor(height * _products(axes[part]))
            is_good = (factor >= smallest).all(axis=1) & (factor <= height).all(axis=1)
            factor[~(is_good & (factor.sum(axis=1) <= total))] = smallest
            factors.append(factor)
        return factors

    def _tables(
        self, points: np.ndarray, shares: np.ndarray | None, rows: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Two factors whose products are the bumps, with ones if there is but one."""
        weights = None if shares is None else shares[rows]
        first, *others = self._factors(points[rows], weights)
        return first, others[0] if others else np.ones((len(first), 1))

    def _integers(
        self, points: np.ndarray, shares: np.ndarray | None, rows: Any
    ) -> np.ndarray:
        """The bumps of rows, shape (n, size)."""
        return _products(list(self._tables(points, shares, rows))).astype(np.int64)


def _products(axes: list[np.ndarray]) -> np.ndarray:
    """Row by row the outer product of tables with one row per point, flattened."""
    result = axes[0]
    for axis in axes[1:]:
        size = result.shape[1] * axis.shape[1]
        result = (result[:, :, None] * axis[:, None, :]).reshape(len(axis), size)
    return result


def largest_sum(bandwidth: float, degree: int) -> float:
    """A bound on sup_x sum_j exp(-(j / k - x)^2 / (2 h^2)) over x in [0, 1]."""
    bandwidth = float(bandwidth)
    nodes = np.arange(degree + 1) / degree
    if bandwidth <= _NARROW:
        with np.errstate(all="ignore"):  # a bump that is narrower than any float is one
            tail = np.exp(-0.5 * np.square(nodes[1:] / bandwidth)).sum()
        return min(1 + 2 * float(tail) + 2.0**-60, degree + 1.0) * _SLACK
    spacing = 1 / math.ceil(_PER_BANDWIDTH / min(bandwidth, 1.0))
    x = np.arange(round(1 / spacing) + 1) * spacing
    sums = reduce(
        np.add, (np.exp(-0.5 * np.square((x - node) / bandwidth)) for node in nodes)
    )
    # abs(z^2 - 1) exp(-z^2 / 2) <= 1 bounds each second derivative by 1 / h^2.
    excess = (spacing / bandwidth) ** 2 / 8 * (degree + 1)
    return min(float(sums.max()) + excess, degree + 1.0) * _SLACK
