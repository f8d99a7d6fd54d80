"""Lattices: the public grids on which sums are exact and releases are rounded."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

_MAX_BITS = 62


@dataclass(frozen=True)
class Lattice:
    """The multiples of a power of two.

    Parameters
    ----------
    exponent : int
        The step is ``2**exponent``; *public*.

    Examples
    --------
    >>> from skfuncpriv.noise import Lattice
    >>> Lattice(-3).step
    0.125
    """

    exponent: int

    @property
    def step(self) -> float:
        """The distance between neighbouring points."""
        return math.ldexp(1.0, self.exponent)

    def to_float(self, multiples: IntArray) -> FloatArray:
        """Return ``multiples * step``, each correctly rounded to a float.

        Parameters
        ----------
        multiples : ndarray of int64
            Points of the lattice in steps.

        Returns
        -------
        ndarray of float64, shape of `multiples`
            The points.
        """
        return np.ldexp(multiples.astype(np.float64), self.exponent)


@dataclass(frozen=True)
class FixedPoint:
    """Integers on a lattice, with a public bound on their size.

    Parameters
    ----------
    values : ndarray of int64 or of Python integers, shape (..., m)
        Multiples of the lattice step; *private*.
    lattice : Lattice
        The lattice; *public*.
    bound : int
        No absolute value exceeds it, for any data set; *public*.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.noise import FixedPoint, Lattice
    >>> FixedPoint(np.array([3]), Lattice(-1), bound=4).lattice.step
    0.5
    """

    values: IntArray | NDArray[np.object_]
    lattice: Lattice
    bound: int


def release_lattice(smallest_scale: float, value: FixedPoint | None = None) -> Lattice:
    """Choose the lattice of a release from public facts.

    Parameters
    ----------
    smallest_scale : float
        The smallest scale of the noise law; *public*.
    value : FixedPoint, optional
        What will be released; only its public lattice and bound are read.

    Returns
    -------
    Lattice
        The step is at most 2^-20 of the smallest scale, unless the integers of the
        release would not fit 62 bits; a coarser step is as private (rounding is
        post-processing) and then still far below the resolution of float64.

    Examples
    --------
    >>> from skfuncpriv.noise import release_lattice
    >>> release_lattice(1.0)
    Lattice(exponent=-20)
    """
    exponent = math.frexp(smallest_scale)[1] - 21
    if value is not None:
        top = value.lattice.exponent + value.bound.bit_length()
        exponent = max(exponent, top - _MAX_BITS + 1)
    return Lattice(exponent)


@dataclass(frozen=True)
class SplitValue:
    """Exactly known numbers as integer plus fraction of a lattice step.

    `fraction` is a float in [-1, 1] with an absolute error of at most 2^-53; `exact`
    returns the same fraction without error, for the few draws that need it.
    """

    integer: IntArray
    fraction: FloatArray
    source: FixedPoint | FloatArray
    lattice: Lattice

    def exact(self, row: int, column: int) -> Fraction:
        """The fraction at one place as a rational number."""
        if isinstance(self.source, FixedPoint):
            unit = Fraction(2) ** self.source.lattice.exponent
            value = int(self.source.values[row, column]) * unit
        else:
            value = Fraction(float(self.source[row, column]))
        limit = Fraction(1 << (_MAX_BITS - 1))
        multiple = value / Fraction(2) ** self.lattice.exponent
        clipped = min(max(multiple, -limit), limit)
        return clipped - int(self.integer[row, column])


def split(value: FixedPoint | FloatArray, lattice: Lattice, size: int) -> SplitValue:
    """Write rows of `size` exactly known numbers as multiples of a lattice step.

    Floats beyond 2^61 steps are clipped there, coordinate by coordinate, which is a
    public map that brings no two inputs further apart.
    """
    if isinstance(value, FixedPoint):
        value = replace(value, values=value.values.reshape(-1, size))
        integer, fraction = _split_integers(value, lattice)
    else:
        value = np.asarray(value, dtype=np.float64).reshape(-1, size)
        integer, fraction = _split_floats(value, lattice)
    return SplitValue(integer, fraction, value, lattice)


def _split_integers(value: FixedPoint, lattice: Lattice) -> tuple[IntArray, FloatArray]:
    shift = lattice.exponent - value.lattice.exponent
    if shift <= 0:
        if value.bound.bit_length() - shift > _MAX_BITS:
            raise ValueError("the lattice of the release is too fine for its values")
        integer = value.values << -shift
        return integer.astype(np.int64), np.zeros(integer.shape)
    values = value.values.astype(object) if shift > _MAX_BITS else value.values
    integer = values >> shift
    remainder = values - (integer << shift)
    if shift > _MAX_BITS:  # of negative numbers it may exceed every float
        fraction = (remainder / (1 << shift)).astype(np.float64)
    else:
        fraction = np.ldexp(remainder.astype(np.float64), -shift)
    return integer.astype(np.int64), fraction


def _split_floats(value: FloatArray, lattice: Lattice) -> tuple[IntArray, FloatArray]:
    limit = float(1 << (_MAX_BITS - 1))
    with np.errstate(over="ignore", under="ignore"):
        multiple = np.clip(np.ldexp(value, -lattice.exponent), -limit, limit)
    floor = np.floor(multiple)
    return floor.astype(np.int64), multiple - floor
