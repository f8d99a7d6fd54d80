"""Second moments of bounded vectors: what one person can change, and exact sums.

A person contributes ``(w c, svec(c c'))`` for a vector c of the unit ball about a
public centre. svec lists the upper triangle with off-diagonal entries times sqrt(2), so
that Euclidean norms are Frobenius norms. The first moment comes along with a small
weight, because it is nearly free: both together move by (2 + w^2) / sqrt(2), the second
alone by sqrt(2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._validation import check_count, check_positive, check_real
from ..exceptions import PrivacyError
from ..noise import FixedPoint
from ..summaries import (
    BallContributions,
    BallSum,
    averages_in_blocks,
    number_of_people,
)

WEIGHT = 0.5  # of the first moment
SLACK = 2.0**-24  # of sensitivity and loss, for what rounding moves
_CHUNK_VALUES = 1 << 18
_ROOT_TWO = math.sqrt(2.0)


def second_moment_sensitivity(weight: float = 0.0, radius: float = 1.0) -> float:
    """How far one person can move a sum of first and second moments.

    Parameters
    ----------
    weight : float, default=0.0
        The weight w >= 0 of the first moment; *public*.
    radius : float, default=1.0
        The bound r on the norm of a person's vector c about a public centre; *public*.

    Returns
    -------
    float
        The supremum of the Euclidean norm of the difference of ``(w r c, svec(c c'))``
        between two vectors of the ball, or two averages of such terms.

    Notes
    -----
    Let r = 1, x = norm(c)^2, y = norm(d)^2 and z = c'd. The squared difference is

        f = w^2 (x + y - 2 z) + x^2 + y^2 - 2 z^2.

    It increases in x and in y, so x = y = 1 and f = 2 w^2 (1 - z) + 2 (1 - z^2), which
    is largest at z = -w^2 / 2: f = (2 + w^2)^2 / 2. If w^2 > 2 that is out of reach,
    and z = -1 gives f = 4 w^2. In two dimensions or more the supremum is attained. An
    average over a person's rows lies in the convex hull of single terms, which has the
    same diameter.

    The second moment alone moves by sqrt(2) r^2, less than the 2 r^2 of an arbitrary
    vector of the same norm: c c' and d d' are positive, so their inner product is.

    Examples
    --------
    >>> from skfuncpriv.iclp import second_moment_sensitivity
    >>> second_moment_sensitivity(weight=1.0, radius=2.0) / 4 * 2**0.5
    3.0
    """
    weight, radius = check_real(weight, "weight"), check_positive(radius, "radius")
    if weight < 0:
        raise ValueError(f"weight must be a finite number >= 0, got {weight!r}")
    square = weight * weight
    unit = (2 + square) / _ROOT_TWO if square <= 2 else 2 * weight
    return unit * radius * radius


def centred_moment_sensitivity(n_people: int, radius: float = 1.0) -> float:
    """How far one person can move a sample covariance, divided by n.

    Parameters
    ----------
    n_people : int
        The number n of people; *public*.
    radius : float, default=1.0
        The bound r on the norm of everybody's vector; *public*.

    Returns
    -------
    float
        The supremum of the Frobenius norm of the difference, 4 r^2 (n - 1) / n^2.

    Notes
    -----
    With m the mean of the others, the sample covariance is a term without person c plus
    (n - 1) / n^2 (c - m)(c - m)'. For c replaced by d the difference in brackets is

        F = c c' - d d' - (c - d) m' - m (c - d)'.

    Let r = 1. F is affine in m, so its norm is largest for norm(m) = 1. For given c
    and m, write d - m = a e + v with e along c - m and v orthogonal to it; the squared
    norm of F grows with norm(v) at constant a, until norm(d) = 1; likewise
    norm(c) = 1. Now c - d = 2 cos(t) e_1 and c + d = 2 sin(t) e_2, and with
    m = -(m_1, m_2, m_3) in a third orthogonal direction, too, and s = sin(t)

        norm(F)^2 = 2 (1 - s^2) (8 m_1^2 + 4 (s + m_2)^2 + 4 m_3^2) <= 16 (1 - s^4),

    with equality at m_3 = 0, m_2 = s. So the supremum is 4, at c = -d and m = d:
    everybody else at one end of a diameter and the person at either end of it.

    That is nearly 2 sqrt(2) times what a second moment about a *public* centre moves
    by, sqrt(2) r^2 / n, and the ball about the middle of the bounds is far larger than
    the one about a mean that has been released. So contributions are centred at
    something public, and the small difference of means is corrected afterwards.

    Examples
    --------
    >>> from skfuncpriv.iclp import centred_moment_sensitivity
    >>> centred_moment_sensitivity(n_people=2)
    1.0
    """
    n_people = check_count(n_people, "n_people")
    radius = check_positive(radius, "radius")
    return 4.0 * radius * radius * ((n_people - 1) / n_people / n_people)


def block_loss(weight: float, scales: tuple[float, float]) -> float:
    """The loss of one person under spherical noise of both moments.

    Parameters
    ----------
    weight : float
        The weight w of the first moment; *public*.
    scales : tuple of two floats
        The scales b of the spherical Laplace laws of first and second moments;
        *public*.

    Returns
    -------
    float
        The supremum of w norm(c - d) / b_1 + norm(c c' - d d') / b_2 in the unit ball,
        up to rounding of floats.

    Notes
    -----
    As in `second_moment_sensitivity` both terms increase in the norms, so both are 1.
    With t = -c'd, s = sqrt(1 - t), A = w / b_1 and B = 1 / b_2 the sum is
    sqrt(2) sqrt(2 - s^2) (A + B s); its derivative vanishes at the positive root of
    2 B s^2 + A s - 2 B = 0. The Cauchy-Schwarz bound of a whole ball would be a few
    hundredths larger.
    """
    first, second = weight / scales[0], 1 / scales[1]
    root = math.hypot(first, 4 * second)
    s = 4 * second / (root + first)
    return _ROOT_TWO * math.sqrt(2 - s * s) * (first + second * s)


@dataclass(frozen=True)
class SecondMoment:
    """Exact sums of weighted first moments and second moments in the unit ball.

    Parameters
    ----------
    n_people : int
        The number n of people; *public*.
    n_functions : int
        The number m of basis functions; *public*.
    n_outputs : int
        The number of values of a curve at each point; *public*.

    Notes
    -----
    Every integer contribution lies within eta of the convex hull K of the points
    ``(w u, svec(u u'))``, norm(u) <= 1, and zero: a product of floats is right to 2^-50
    of itself, a vector that is too long by rounding is shrunk towards zero, which is in
    K, and rounding moves every coordinate by at most half a step, or two and a half
    where the rows of a person are averaged. So two contributions are at most
    diameter(K) + 2 eta apart, and 2 eta (1 / b_1 + 1 / b_2) is added to their loss.
    `sensitivity` and the loss that is calibrated are 1 + 2^-24 times those of K; too
    many people, for whom 2 eta is not below a quarter of that, are refused.
    """

    n_people: int
    n_functions: int
    n_outputs: int = 1

    def __post_init__(self) -> None:
        step = self.ball.lattice.step
        error = 2.5 * math.sqrt(self.size) * step + (self.size + 64) * 2.0**-48
        if 8 * error > SLACK * second_moment_sensitivity(WEIGHT):
            raise PrivacyError(
                f"{self.n_people} people leave too few bits for {self.size} moments "
                "each"
            )

    @property
    def n_coordinates(self) -> int:
        """The length p of a vector."""
        return self.n_functions * self.n_outputs

    @property
    def n_entries(self) -> int:
        """The number p (p + 1) / 2 of entries of a symmetric matrix."""
        return self.n_coordinates * (self.n_coordinates + 1) // 2

    @property
    def size(self) -> int:
        """The length of a contribution."""
        return self.n_coordinates + self.n_entries

    @cached_property
    def ball(self) -> BallContributions:
        """The ball of all contributions: norm(w u)^2 + norm(u u')^2 <= w^2 + 1."""
        radius = math.nextafter(math.sqrt(1 + WEIGHT * WEIGHT), 2.0)
        return BallContributions(self.n_people, self.size, radius)

    @property
    def sensitivity(self) -> float:
        """By how much one person moves the sum, at most."""
        return second_moment_sensitivity(WEIGHT) * (1 + SLACK)

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the entries, from low frequencies to high ones."""
        rows, columns = np.triu_indices(self.n_coordinates)
        first, second = rows // self.n_outputs, columns // self.n_outputs
        order = np.lexsort((first + second, np.maximum(first, second)))
        return rows[order], columns[order]

    def sum(
        self, vectors: np.ndarray, codes: np.ndarray | None, radius: float
    ) -> FixedPoint:
        """The exact sum of what people contribute, who may be a part of all n.

        Parameters
        ----------
        vectors : ndarray, shape (n_rows, p)
            Vectors about a public centre; *private*.
        codes : ndarray of int, shape (n_rows,), or None
            The person of each row; the terms of a person's rows are averaged. None
            makes every row a person; *private*.
        radius : float
            Vectors are shrunk to this norm and divided by it; *public*.

        Returns
        -------
        FixedPoint
            The weighted first moment, then the entries of the second; shape (size,).
        """
        total = BallSum(self.ball)
        if codes is None:
            step = max(1, _CHUNK_VALUES // self.size)
            for start in range(0, len(vectors), step):
                total.add(self._terms(vectors[start : start + step], radius))
            return total.value()
        alone = BallContributions(1, self.size, self.ball.radius)

        def integers(rows: np.ndarray) -> np.ndarray:
            return alone.contributions(self._terms(vectors[rows], radius))

        n_people = number_of_people(codes)
        for block in averages_in_blocks(integers, codes, n_people, self.size):
            total.add(alone.lattice.to_float(block))
        return total.value()

    def first(self, values: np.ndarray) -> np.ndarray:
        """The first moment, from released values of shape (..., size)."""
        return values[..., : self.n_coordinates] / WEIGHT

    def matrix(self, entries: np.ndarray) -> np.ndarray:
        """The symmetric matrices of entries of shape (..., n_entries)."""
        rows, columns = self.pairs
        shape = (*entries.shape[:-1], self.n_coordinates, self.n_coordinates)
        result = np.empty(shape)
        values = entries / self._scale
        result[..., rows, columns] = result[..., columns, rows] = values
        return result

    @cached_property
    def _scale(self) -> np.ndarray:
        rows, columns = self.pairs
        return np.where(rows == columns, 1.0, _ROOT_TWO)

    def _terms(self, vectors: np.ndarray, radius: float) -> np.ndarray:
        rows, columns = self.pairs
        norm = np.sqrt(np.square(vectors).sum(axis=1))
        unit = vectors / np.maximum(norm, radius)[:, None]
        products = unit[:, rows] * unit[:, columns] * self._scale
        return np.concatenate([WEIGHT * unit, products], axis=1)
