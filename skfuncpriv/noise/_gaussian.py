"""Independent Gaussian noise with a standard deviation per coordinate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._validation import check_positive
from ._bits import Words
from ._draws import ROUNDOFF, Measured, Refinable, directions, exponentials
from ._exact import larger_reading, smaller_reading, smallest_safe
from ._lattice import FloatArray
from ._law import NoiseLaw
from ._scales import as_scales, round_up


@dataclass(frozen=True)
class IndependentGaussian(NoiseLaw):
    """Gaussian noise, independent over coordinates.

    Parameters
    ----------
    deviations : tuple of float, length m
        The standard deviations s_j > 0, in the units of the coordinates; *public*.

    Notes
    -----
    Moving the centre by h gives a Renyi divergence of order alpha equal to
    alpha * rho with rho = sum_j h_j^2 / s_j^2 / 2, hence rho-zCDP [1]_; `loss` is that
    rho. Over a ball norm(h) <= r the supremum is r^2 / (2 min_j s_j^2).

    Pairs of draws come from Box and Muller: sqrt(2 E) * (cos, sin), E = -log U.

    References
    ----------
    .. [1] Bun and Steinke (2016), "Concentrated differential privacy: simplifications,
       extensions, and lower bounds".

    Examples
    --------
    >>> from skfuncpriv.noise import IndependentGaussian
    >>> IndependentGaussian((1.0, 2.0)).loss([1.0, 2.0])
    1.0
    """

    deviations: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "deviations", as_scales(self.deviations, "deviations"))

    @classmethod
    def scale_for(
        cls, rho: float, sensitivity: float, size: int
    ) -> IndependentGaussian:
        """Return the smallest isotropic law whose loss on a ball fits rho.

        Parameters
        ----------
        rho : float
            The zCDP budget; *public*.
        sensitivity : float
            The radius of the ball of differences between neighbours; *public*.
        size : int
            The number of coordinates; *public*.

        Returns
        -------
        IndependentGaussian
            Its loss is proved in exact arithmetic to be at most rho.
        """
        budget = smaller_reading(check_positive(rho, "rho"))
        radius = larger_reading(check_positive(sensitivity, "sensitivity"))
        deviation = smallest_safe(
            float(sensitivity) / math.sqrt(2 * rho),
            lambda s: (radius / Fraction(s)) ** 2 <= 2 * budget,
        )
        return cls((deviation,) * size)

    @property
    def size(self) -> int:
        """The number m of coordinates of one draw."""
        return len(self.deviations)

    @property
    def std(self) -> FloatArray:
        """The standard deviation of each coordinate."""
        return np.array(self.deviations)

    @property
    def smallest_scale(self) -> float:
        """The smallest deviation."""
        return min(self.deviations)

    def loss(self, shift: ArrayLike) -> float:
        steps = np.asarray(shift, dtype=np.float64)
        terms = zip(steps, self.deviations, strict=True)
        total = sum(((Fraction(h) / Fraction(s)) ** 2 for h, s in terms), Fraction(0))
        return round_up(total / 2)

    @property
    def _n_words(self) -> int:
        return 2 * self._n_pairs

    @property
    def _n_pairs(self) -> int:
        return (self.size + 1) // 2

    def _read(self, words: Words, exponent: int) -> Measured:
        scales = np.ldexp(self.std, -exponent)
        square = exponentials(words[:, : self._n_pairs])
        radius = np.sqrt(2 * square.value)
        relative = 16 * ROUNDOFF + square.error / square.value
        draw = pairs(radius, words[:, self._n_pairs :], self.size)
        error = np.repeat(radius * relative, 2, axis=1)[:, : self.size]
        return Measured(draw * scales, error * scales)

    def _read_exactly(self, row: Refinable, column: int) -> Any:
        pair, part = divmod(column, 2)
        square = row.exponential(pair)
        if square is None:
            return None
        radius = row.context.sqrt(2 * square) * row.context.mpf(self.deviations[column])
        return radius * row.direction(self._n_pairs + pair)[part]


def pairs(radius: FloatArray, words: Words, size: int) -> FloatArray:
    """Return radius * (cos, sin) of each direction word, interleaved, cut to size."""
    cos, sin = directions(words)
    draw = np.empty((len(words), 2 * words.shape[1]))
    np.multiply(radius, cos, out=draw[:, 0::2])
    np.multiply(radius, sin, out=draw[:, 1::2])
    return draw[:, :size]
