"""Gaussian bumps seen on a lattice: what one person can change there, and exact sums.

The lattice has the points j / k, j = 0 .. k, along each axis of the unit cube.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from .._validation import check_count, check_positive
from ..exceptions import PrivacyError
from ..noise import FixedPoint, Lattice
from ..summaries._people import integer_averages
from ._points import read_box

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
    height = math.prod(1 / (math.sqrt(2 * math.pi) * h) for h in widths)
    return math.nextafter(height / n * _SLACK, math.inf)


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
    A person adds c b_x >= 0, where b_x is a bump of height one and c the bound of
    `kde_sup_sensitivity`, or an average of such functions. The sum of absolute values
    of a difference of two functions >= 0 is at most the sum of both, hence at most
    2 c times the largest sum of a bump over the lattice. That sum is a product over
    axes. Along an axis with a narrow bump the sum over all multiples of 1 / k is the
    largest where the bump lies on one of them (by Poisson's formula, in which every
    coefficient is positive); otherwise it is computed on a fine grid of x, and at its
    maximum it exceeds the nearest grid point by at most an eighth of the squared
    spacing times the largest second derivative.

    The smaller of this and (k + 1)^d c is returned: the latter, which is the published
    bound, is the smaller one for bumps that are as wide as the box.

    References
    ----------
    .. [1] F. Alda and B. Rubinstein, "The Bernstein mechanism: function release under
       differential privacy", AAAI 2017.

    Examples
    --------
    >>> from skfuncpriv.density import kde_lattice_sensitivity
    >>> round(kde_lattice_sensitivity(n=100, bandwidth=0.5, degree=20, bounds=(0, 10)), 6)
    0.039999
    """
    n = check_count(n, "n")
    n_axes = max(np.size(end) for end in (*bounds, bandwidth))
    low, high = np.array(read_box(bounds, n_axes)).T
    widths = read_bandwidths(bandwidth, n_axes)
    unit = tuple((widths / (high - low)).tolist())
    bumps = LatticeBumps(n, unit, degree)
    change = bumps.sensitivity * bumps.lattice.step
    return change * kde_sup_sensitivity(n, widths, n_axes) * _SLACK


def read_bandwidths(bandwidth: Any, n_axes: int) -> np.ndarray:
    """One bandwidth > 0 per axis."""
    numbers = np.atleast_1d(np.asarray(bandwidth, dtype=object))
    if numbers.shape not in ((1,), (n_axes,)):
        raise ValueError(
            f"bandwidth must be one number, or one for each of {n_axes} axes, got "
            f"{bandwidth!r}"
        )
    checked = [check_positive(number, "bandwidth") for number in numbers.tolist()]
    return np.broadcast_to(np.array(checked), n_axes)


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

    Notes
    -----
    Values are rounded down to integers, so that a row is a vector of integers >= 0 with
    sum at most T and entries at most 2^b; both are checked in integers, and a row that
    failed would count as zero. Averages over the rows of a person keep both bounds.
    """

    n_people: int
    bandwidth: tuple[float, ...]
    degree: int

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
        """The public lattice of values, on which the height of a bump is 2^b."""
        free = _SUM_BITS - (self.n_people - 1).bit_length()
        return Lattice(-min(_VALUE_BITS, free))

    @cached_property
    def steps(self) -> int:
        """The largest sum T of a row, in lattice steps."""
        sums = [largest_sum(h, self.degree) for h in self.bandwidth]
        return math.ceil(math.prod(sums) * _SLACK / self.lattice.step)

    @property
    def sensitivity(self) -> int:
        """The L1 sensitivity of the exact sum, in lattice steps."""
        height = round(1 / self.lattice.step)
        return min(2 * self.steps, self.size * height)

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
            The share of its bump that a row gives, in [0, 1]; *private*.

        Returns
        -------
        FixedPoint
            Shape (size,), with its public lattice and bound.
        """
        if codes is None and len(points) > self.n_people:
            raise ValueError("more contributions than n_people")
        total = np.zeros(self.size, dtype=np.int64)
        for rows, people in self._blocks(len(points), codes):
            weights = None if shares is None else shares[rows]
            integers = self._integers(points[rows], weights)
            if codes is not None:
                own = codes[rows] - people.start
                integers = integer_averages(integers, own, people.stop - people.start)
            total += integers.sum(axis=0)
        bound = self.n_people * round(1 / self.lattice.step)
        return FixedPoint(total, self.lattice, bound)

    def _integers(self, points: np.ndarray, shares: np.ndarray | None) -> np.ndarray:
        """Rows of integers within both bounds, shape (n, size)."""
        nodes = np.arange(self.degree + 1) / self.degree
        values = np.ones((len(points), 1))
        for x, h in zip(points.T, self.bandwidth, strict=True):
            factor = np.exp(-0.5 * np.square((x[:, None] - nodes) / h))
            values = (values[:, :, None] * factor[:, None, :]).reshape(len(points), -1)
        if shares is not None:
            values *= shares[:, None]
        integers = np.floor(np.ldexp(values, -self.lattice.exponent)).astype(np.int64)
        top = round(1 / self.lattice.step)
        is_bad = (integers < 0).any(axis=1) | (integers > top).any(axis=1)
        integers[is_bad | (integers.sum(axis=1) > self.steps)] = 0
        return integers

    def _blocks(
        self, n_rows: int, codes: np.ndarray | None
    ) -> Iterator[tuple[Any, slice]]:
        """Rows of consecutive people, few enough for their values to fit in memory."""
        n_blocks = max(1, math.ceil(n_rows * self.size / _CHUNK_VALUES))
        step = math.ceil(self.n_people / n_blocks)
        if codes is not None:
            order = np.argsort(codes, kind="stable")
            starts = np.searchsorted(codes[order], np.arange(self.n_people + 1))
        for start in range(0, self.n_people, step):
            people = slice(start, min(start + step, self.n_people))
            if codes is None:
                yield people, people
            else:
                yield order[starts[people.start] : starts[people.stop]], people


def largest_sum(bandwidth: float, degree: int) -> float:
    """A bound on sup_x sum_j exp(-(j / k - x)^2 / (2 h^2)) over x in [0, 1]."""
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
