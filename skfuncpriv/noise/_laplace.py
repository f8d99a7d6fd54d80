"""Independent Laplace noise: density prod_j exp(-|z_j| / b_j) / (2 b_j)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._validation import check_positive
from ._bits import Words
from ._draws import Measured, Refinable, exponentials, signs
from ._exact import exact_epsilon, larger_reading, smallest_safe, squared_loss
from ._lattice import FloatArray
from ._law import NoiseLaw
from ._scales import as_scales, round_up


@dataclass(frozen=True)
class IndependentLaplace(NoiseLaw):
    """Laplace noise, independent over coordinates, with scales of their own.

    Parameters
    ----------
    scales : tuple of float, length m
        The scales b_j > 0, in the units of the coordinates; *public*.

    Notes
    -----
    Moving the centre by h changes the log density by at most sum_j abs(h_j) / b_j,
    the privacy loss of h. Over a ball norm(h) <= r the Cauchy-Schwarz inequality gives
    the supremum r * sqrt(sum_j 1 / b_j^2), attained at h_j proportional to 1 / b_j.

    A draw is a random sign times b_j * E with E = -log U [1]_.

    References
    ----------
    .. [1] Dwork, McSherry, Nissim and Smith (2006), "Calibrating noise to sensitivity
       in private data analysis".

    Examples
    --------
    >>> from skfuncpriv.noise import IndependentLaplace
    >>> law = IndependentLaplace((1.0, 2.0))
    >>> law.loss([1.0, 1.0])
    1.5
    """

    scales: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "scales", as_scales(self.scales, "scales"))

    @classmethod
    def scale_for(
        cls, epsilon: float, sensitivity: float, profile: ArrayLike
    ) -> IndependentLaplace:
        """Return the smallest law of a profile whose loss on a ball fits epsilon.

        Parameters
        ----------
        epsilon : float
            The budget; *public*.
        sensitivity : float
            The radius of the ball of differences between neighbours; *public*.
        profile : array-like of float, shape (m,)
            The scales are proportional to it; *public*.

        Returns
        -------
        IndependentLaplace
            Its loss is proved in exact arithmetic to be at most epsilon.
        """
        weights = np.array(as_scales(profile, "profile"))
        budget = exact_epsilon(epsilon)
        radius = larger_reading(check_positive(sensitivity, "sensitivity"))

        factor = smallest_safe(
            float(sensitivity * np.sqrt(np.sum(weights**-2.0)) / epsilon),
            lambda f: squared_loss(radius, f * weights) <= budget**2,
        )
        return cls(tuple((factor * weights).tolist()))

    @property
    def size(self) -> int:
        """The number m of coordinates of one draw."""
        return len(self.scales)

    @property
    def std(self) -> FloatArray:
        """The standard deviation of each coordinate, sqrt(2) * b_j."""
        return np.asarray(np.sqrt(2.0) * np.array(self.scales))

    @property
    def smallest_scale(self) -> float:
        """The smallest b_j."""
        return min(self.scales)

    def loss(self, shift: ArrayLike) -> float:
        steps = np.asarray(shift, dtype=np.float64)
        terms = zip(steps, self.scales, strict=True)
        return round_up(
            sum((abs(Fraction(h)) / Fraction(b) for h, b in terms), Fraction(0))
        )

    @property
    def _n_words(self) -> int:
        return self.size

    def _read(self, words: Words, exponent: int) -> Measured:
        scales = np.ldexp(np.array(self.scales), -exponent)
        draw = exponentials(words)
        return Measured(signs(words) * draw.value * scales, draw.error * scales)

    def _read_exactly(self, row: Refinable, column: int) -> Any:
        draw = row.exponential(column)
        if draw is None:
            return None
        return row.sign(column) * row.context.mpf(self.scales[column]) * draw
