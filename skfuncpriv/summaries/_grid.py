"""Curves on a common grid whose value bounds alone bound their norm.

Nobody's coefficients need be computed one by one then: integers are summed on the grid
and the exact sum is projected once, with integers too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh, solveh_banded

from ..curves import Curves
from ..noise import FixedPoint, Lattice
from ..noise._lattice import FloatArray, IntArray
from ._people import integer_averages, number_of_people
from ._value_bounds import ValueBounds

_SUM_BITS = 62
_FLOAT_BITS = 52
_SMALL = 2.0**-960  # units of values from here on can be divided by 2^52
_CHUNK_VALUES = 1 << 15  # that stay in the cache of a core
SLACK = 2.0**-30  # of the norm bound, far above every rounding error below


@dataclass(frozen=True, eq=False)
class GridContributions:
    """Contributions that are exact linear images of integers in a public box.

    Parameters
    ----------
    n_people : int
        The number n of people; *public*.
    grid : ndarray, shape (k,)
        The common grid; *public*.
    domain : tuple of two floats
        The interval of the argument; *public*.
    projection : ndarray, shape (k, m)
        Inner products of hat functions with the basis functions; *public*.
    values : ValueBounds
        Their `norm_bound` must be what the bounds imply; *public*.

    Notes
    -----
    A curve is clipped, centred and rounded to integers x with abs(x_t) <= B_t, in
    2^-b of the largest reach. Its contribution is A' x for a public integer matrix A,
    the projection in 2^-a of its largest entry over the norm bound. Integers are
    summed exactly and A is applied to their sum, in Python integers; by linearity that
    is the exact sum of the contributions, and sums of parts of the people add up. A is
    made once, and is part of pickles: parts on other machines use the same one.

    The norm of a contribution is at most 1 + 2^-30: x' M x is the squared norm of the
    piecewise linear curve through x, M the tridiagonal matrix of hat functions, so
    norm(A' x)^2 <= x' M x * (largest eigenvalue of A' M^-1 A), a number that would be
    one in exact arithmetic (the projection is orthogonal) and is computed;
    `is_certified` is False if it exceeds its bound by more than the slack.

    Examples
    --------
    >>> from skfuncpriv.basis import CosineBasis
    >>> from skfuncpriv.summaries import GridContributions, ValueBounds
    >>> basis, grid = CosineBasis(2), np.array([0.0, 1.0])
    >>> values = ValueBounds.from_parameters((-1.0, 1.0), domain=basis.domain)
    >>> matrix = basis.projection(grid)
    >>> GridContributions(3, grid, (0.0, 1.0), matrix, values).is_certified
    True
    """

    n_people: int
    grid: FloatArray
    domain: tuple[float, float]
    projection: FloatArray
    values: ValueBounds

    @cached_property
    def is_certified(self) -> bool:
        """Whether the bound of the norm is proved for this grid and basis."""
        if self.values.norm_bound < self.values.largest_norm:
            return False
        square = self._box_square * self._largest_eigenvalue
        return bool(square <= (1 + SLACK / 2) ** 2)

    def sum(self, curves: Curves, codes: NDArray[np.intp] | None) -> FixedPoint:
        """Return the exact sum of the contributions of all people.

        Parameters
        ----------
        curves : Curves
            Curves on the common grid; *private*.
        codes : ndarray of int, shape (n_rows,), or None
            The person of each row; None makes every row a person; *private*.

        Returns
        -------
        FixedPoint
            Shape (m * n_outputs,), in units of the norm bound.
        """
        shape = curves.values.shape[1:]
        if codes is None:
            if curves.n_curves > self.n_people:
                raise ValueError("more curves than n_people: the sum could overflow")
            total = np.zeros(shape, dtype=np.int64)
            for rows in self._integers(curves):
                total += rows.sum(axis=0)
        else:
            rows = np.concatenate(list(self._integers(curves)))
            seen = ~curves.all_missing
            flat = rows[seen].reshape(-1, math.prod(shape))
            n_people = number_of_people(codes)
            if n_people > self.n_people:
                raise ValueError("more people than n_people: the sum could overflow")
            averages = integer_averages(flat, codes[seen], n_people)
            total = averages.sum(axis=0).reshape(shape)
        image = self._matrix.T.dot(total.astype(object)).ravel()
        return FixedPoint(
            image, Lattice(-self._value_bits - self._matrix_bits), self._bound
        )

    def _integers(self, curves: Curves) -> Iterator[IntArray]:
        """Clip, centre and round chunks of curves; those without data are zero."""
        low, high, center = self.values.low, self.values.high, self.values.center
        unit, scale = self._reach.max(), 2.0**self._value_bits
        if unit > _SMALL:  # the same quotients, and one pass less over the data
            unit, scale = unit / scale, 1.0
        box = self._box.astype(np.int64)
        step = max(1, _CHUNK_VALUES // math.prod(curves.values.shape[1:]))
        for start in range(0, curves.n_curves, step):
            rows = slice(start, start + step)
            chunk = np.clip(curves.values[rows], low, high)
            chunk -= center
            chunk /= unit  # its inverse could overflow
            if scale != 1:
                chunk *= scale
            with np.errstate(invalid="ignore"):  # the box below holds any integer
                integers = np.rint(chunk, out=chunk).astype(np.int64)
            integers = np.clip(integers, -box, box, out=integers)
            integers[curves.all_missing[rows]] = 0
            yield integers

    @property
    def _value_bits(self) -> int:
        return min(_FLOAT_BITS, _SUM_BITS - 1 - (self.n_people - 1).bit_length())

    @property
    def _reach(self) -> FloatArray:
        """How far a centred value can lie from zero, shape (k or 1, n_outputs)."""
        return np.atleast_2d(self.values.reach)

    @property
    def _box(self) -> FloatArray:
        """The bounds B_t of the integers."""
        reach = self._reach
        return np.asarray(np.ceil(reach / reach.max() * 2.0**self._value_bits))

    @property
    def _scaled(self) -> FloatArray:
        """The projection from units of the reach to units of the norm bound."""
        return np.asarray(
            self.projection * (self._reach.max() / self.values.norm_bound)
        )

    @cached_property
    def _matrix_bits(self) -> int:
        return _FLOAT_BITS - math.frexp(float(np.abs(self._scaled).max()))[1]

    @cached_property
    def _entries(self) -> IntArray:
        """The entries of A, below 2^53."""
        return np.rint(np.ldexp(self._scaled, self._matrix_bits)).astype(np.int64)

    @property
    def _matrix(self) -> NDArray[np.object_]:
        """The integer matrix A, of Python integers."""
        return self._entries.astype(object)

    @cached_property
    def _bound(self) -> int:
        entries = np.abs(self._matrix).sum(axis=0).max()
        return int(entries) * self.n_people * int(self._box.max())

    @property
    def _box_square(self) -> float:
        """The largest x' M x over the box, in squared units of the reach."""
        box = self._box * 2.0**-self._value_bits
        diagonal, beside = self._mass
        box = np.broadcast_to(box, (len(self.grid), box.shape[1]))
        square = (diagonal[:, None] * box * box).sum()
        return float(square + 2 * (beside[:, None] * box[:-1] * box[1:]).sum())

    @property
    def _largest_eigenvalue(self) -> float:
        """The largest eigenvalue of A' M^-1 A."""
        matrix = np.ldexp(self._entries.astype(float), -self._matrix_bits)
        diagonal, beside = self._mass
        banded = np.stack([np.append(0.0, beside), diagonal])
        banded = banded[-len(self.grid) :]  # a single point has no second diagonal
        gram = matrix.T @ solveh_banded(banded, matrix)
        return float(eigvalsh(gram)[-1])

    @property
    def _mass(self) -> tuple[FloatArray, FloatArray]:
        """Diagonal and second diagonal of M, with constant ends of the curve."""
        cells = np.diff(self.grid)
        diagonal = (np.append(cells, 0.0) + np.append(0.0, cells)) / 3
        diagonal[0] += self.grid[0] - self.domain[0]
        diagonal[-1] += self.domain[1] - self.grid[-1]
        return diagonal, cells / 6
