"""Noise with a shape: Z = S Y for a public matrix S and a plain law of Y."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._bits import Words
from ._draws import ROUNDOFF, Measured, Refinable
from ._gaussian import IndependentGaussian
from ._lattice import FloatArray
from ._law import NoiseLaw
from ._scales import round_up
from ._spherical import SphericalLaplace


@dataclass(frozen=True, eq=False)
class ShapedNoise(NoiseLaw):
    """Noise Z = S Y, S diagonal or lower triangular, Y spherical or Gaussian.

    Parameters
    ----------
    law : SphericalLaplace or IndependentGaussian
        The law of Y; *public*.
    shape : array-like, shape (m,) or (m, m)
        The diagonal of S, or S as a lower triangular (Cholesky) matrix with a
        positive diagonal; *public*.

    Raises
    ------
    ValueError
        If S is not of that form, or so close to singular that some direction would
        get less than 2^-40 of the noise of another: such a matrix switches the noise
        off instead of shaping it.

    Notes
    -----
    The loss of moving the centre by h is the loss of Y for S^-1 h. A spherical law so
    shaped has density proportional to exp(-norm(S^-1 z) / scale).

    Examples
    --------
    >>> from skfuncpriv.noise import ShapedNoise, SphericalLaplace
    >>> law = ShapedNoise(SphericalLaplace(2), [[2.0, 0.0], [1.0, 1.0]])
    >>> law.loss([2.0, 1.0])
    1.0
    """

    law: SphericalLaplace | IndependentGaussian
    shape: Any

    def __post_init__(self) -> None:
        matrix = np.array(self.shape, dtype=np.float64)
        matrix = np.diag(matrix) if matrix.ndim == 1 else matrix
        size = self.law.size
        lower = matrix.shape == (size, size) and not np.triu(matrix, 1).any()
        if not (lower and np.isfinite(matrix).all() and (np.diag(matrix) > 0).all()):
            raise ValueError(
                f"shape must be {size} positive numbers or a {size} x {size} lower "
                "triangular matrix with a positive diagonal"
            )
        singular = np.linalg.svd(matrix, compute_uv=False)
        if singular[-1] < 2.0**-40 * singular[0]:
            raise ValueError("shape is singular in floating point: refused")
        matrix.flags.writeable = False
        object.__setattr__(self, "shape", matrix)

    @classmethod
    def scale_for(
        cls, epsilon: float, sensitivity: float, shape: ArrayLike
    ) -> ShapedNoise:
        """Return the smallest spherical law of a shape whose loss fits epsilon.

        Parameters
        ----------
        epsilon : float
            The budget; *public*.
        sensitivity : float
            A bound on norm(S^-1 h) over the differences h of neighbours; *public*.
        shape : array-like, shape (m,) or (m, m)
            The matrix S; *public*.

        Returns
        -------
        ShapedNoise
            Its loss is proved in exact arithmetic to be at most epsilon.
        """
        size = len(np.asarray(shape))
        return cls(SphericalLaplace.scale_for(epsilon, sensitivity, size), shape)

    @property
    def size(self) -> int:
        """The number m of coordinates of one draw."""
        return self.law.size

    @property
    def std(self) -> FloatArray:
        """The standard deviation of each coordinate."""
        return np.asarray(np.linalg.norm(self.shape * self.law.std, axis=1))

    @property
    def smallest_scale(self) -> float:
        """The scale of Y times the smallest singular value of S."""
        singular = np.linalg.svd(self.shape, compute_uv=False)
        return float(singular[-1]) * self.law.smallest_scale

    def loss(self, shift: ArrayLike) -> float:
        # S^-1 h is solved for in rational arithmetic, then rounded away from zero
        solved: list[Fraction] = []
        for row, target in zip(self.shape, np.asarray(shift, np.float64), strict=True):
            known = zip(solved, row, strict=False)
            solved_part = sum((x * Fraction(s) for x, s in known), Fraction(0))
            rest = Fraction(target) - solved_part
            solved.append(rest / Fraction(row[len(solved)]))
        return self.law.loss([round_up(abs(x)) for x in solved])

    @property
    def _n_words(self) -> int:
        return self.law._n_words

    def _read(self, words: Words, exponent: int) -> Measured:
        plain = self.law._read(words, exponent)
        spread = np.abs(self.shape).T
        slack = 4 * self.size * ROUNDOFF * np.abs(plain.value)
        return Measured(plain.value @ self.shape.T, (plain.error + slack) @ spread)

    def _read_exactly(self, row: Refinable, column: int) -> Any:
        total = row.context.mpf(0)
        for j in range(column + 1):
            part = self.law._read_exactly(row, j)
            if part is None:
                return None
            total += row.context.mpf(float(self.shape[column, j])) * part
        return total
