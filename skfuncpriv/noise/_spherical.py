"""Spherical Laplace noise and its blockwise form (K-norm mechanism on an ellipsoid)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._validation import check_count, check_positive
from ._bits import Words
from ._draws import (
    ROUNDOFF,
    Measured,
    Refinable,
    directions,
    exponential_sums,
    exponentials,
)
from ._exact import exact_epsilon, larger_reading, smallest_safe
from ._gaussian import pairs
from ._lattice import FloatArray
from ._law import NoiseLaw
from ._scales import root_up


@dataclass(frozen=True)
class SphericalLaplace(NoiseLaw):
    """Noise with density proportional to exp(-norm(z) / scale) on R^m.

    Parameters
    ----------
    dimension : int
        The number m of coordinates; *public*.
    scale : float
        The length over which the density falls by a factor e; *public*.

    Notes
    -----
    Moving the centre by h changes the log density by at most norm(h) / scale, the pure
    privacy loss (K-norm mechanism [1]_ with a Euclidean ball). The radius is Gamma(m),
    so E norm(Z)^2 = m (m + 1) scale^2.

    The law is a normal variance mixture: with W ~ Gamma((m + 1) / 2, 1) shared by the
    vector, Z = scale * sqrt(2 W) * N(0, I). Indeed the characteristic function of that
    mixture is E exp(-scale^2 t^2 W) = (1 + scale^2 t^2)^(-(m + 1) / 2), the Fourier
    transform of the normalised density. W is a sum of exponential draws, plus half a
    squared normal for even m: no draw is rejected and no norm divided by.

    References
    ----------
    .. [1] Hardt and Talwar (2010), "On the geometry of differential privacy".

    Examples
    --------
    >>> from skfuncpriv.noise import SphericalLaplace
    >>> SphericalLaplace(3, scale=2.0).expected_square
    48.0
    """

    dimension: int
    scale: float = 1.0

    def __post_init__(self) -> None:
        check_count(self.dimension, "dimension")
        object.__setattr__(self, "scale", check_positive(self.scale, "scale"))

    @classmethod
    def scale_for(
        cls, epsilon: float, sensitivity: float, size: int
    ) -> SphericalLaplace:
        """Return the smallest law whose loss on a ball fits epsilon.

        Parameters
        ----------
        epsilon : float
            The budget; *public*.
        sensitivity : float
            The radius of the ball of differences between neighbours; *public*.
        size : int
            The number of coordinates; *public*.

        Returns
        -------
        SphericalLaplace
            Its loss is proved in exact arithmetic to be at most epsilon.
        """
        budget = exact_epsilon(epsilon)
        radius = larger_reading(check_positive(sensitivity, "sensitivity"))
        scale = smallest_safe(
            float(sensitivity) / float(epsilon),
            lambda s: radius <= budget * Fraction(s),
        )
        return cls(size, scale)

    @property
    def size(self) -> int:
        """The number m of coordinates of one draw."""
        return self.dimension

    @property
    def std(self) -> FloatArray:
        """The standard deviation of each coordinate, sqrt(m + 1) * scale."""
        return np.full(self.size, np.sqrt(self.size + 1.0) * self.scale)

    @property
    def expected_square(self) -> float:
        """The expected squared norm of a draw, m (m + 1) * scale^2."""
        return self.size * (self.size + 1) * self.scale**2

    @property
    def smallest_scale(self) -> float:
        """The scale."""
        return self.scale

    def loss(self, shift: ArrayLike) -> float:
        steps = [Fraction(float(h)) for h in np.asarray(shift, dtype=np.float64)]
        square = sum((h**2 for h in steps), Fraction(0))
        return root_up(square / Fraction(self.scale) ** 2)

    @property
    def _n_pairs(self) -> int:
        return (self.size + 1) // 2

    @property
    def _n_sums(self) -> int:
        """Exponential draws in W: (m + 1) // 2, and for even m one more by halves."""
        return (self.size + 1) // 2

    @property
    def _n_words(self) -> int:
        return 2 * self._n_pairs + self._n_sums + 2 * (self.size % 2 == 0)

    def _read(self, words: Words, exponent: int) -> Measured:
        scale = np.ldexp(self.scale, -exponent)
        square = exponentials(words[:, : self._n_pairs])
        mixing = self._read_mixing(words[:, 2 * self._n_pairs :])
        radius = 2 * scale * np.sqrt(mixing.value[:, None] * square.value)
        relative = 16 * ROUNDOFF + square.error / square.value
        relative += (mixing.error / mixing.value)[:, None]
        directed = words[:, self._n_pairs : 2 * self._n_pairs]
        error = np.repeat(radius * relative, 2, axis=1)[:, : self.size]
        return Measured(pairs(radius, directed, self.size), error)

    def _read_mixing(self, words: Words) -> Measured:
        """Read W ~ Gamma((m + 1) / 2) from the last words of each row."""
        value, error = exponential_sums(words[:, : self._n_sums])
        if self.size % 2 == 0:
            square = exponentials(words[:, self._n_sums])
            cos, _ = directions(words[:, self._n_sums + 1])
            half = square.value * cos**2
            value = value + half
            error = error + square.error + 32 * ROUNDOFF * (square.value + value)
        return Measured(value, error)

    def _read_exactly(self, row: Refinable, column: int) -> Any:
        pair, part = divmod(column, 2)
        first = 2 * self._n_pairs
        square = row.exponential(pair)
        mixing = row.exponential_sum(first, first + self._n_sums)
        if square is None or mixing is None:
            return None
        if self.size % 2 == 0:
            half = row.exponential(first + self._n_sums)
            if half is None:
                return None
            mixing += half * row.direction(first + self._n_sums + 1)[0] ** 2
        radius = 2 * row.context.mpf(self.scale) * row.context.sqrt(square * mixing)
        return radius * row.direction(self._n_pairs + pair)[part]
