"""Noisy sufficient statistics of least squares: sums of x x' and x u' of all people.

A person's contribution is v = (omega * x x', x u'), x a feature vector and u a target
vector of the unit balls; with many rows it is their mean, and a weight in [0, 1] may
multiply each row. Symmetric matrices are written as vectors with off-diagonal entries
times sqrt(2), so that Euclidean norms are those of matrices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from .._validation import check_positive
from ..exceptions import PrivacyError
from ..gaussian_process._duality import KAPPA
from ..noise import (
    BlockSpherical,
    FixedPoint,
    IndependentGaussian,
    IndependentLaplace,
    NoiseLaw,
    SphericalLaplace,
)
from ..noise._scales import root_up
from ..summaries import (
    BallContributions,
    BallSum,
    averages_in_blocks,
    number_of_people,
)
from ._spending import Spending, gaussian_sigma

_CHUNK_VALUES = 1 << 20
_ROUNDING = Fraction(1, 2**45)  # relative, of products and factors in floats
_ROOM = 1.01  # the ball has room around contributions: none is ever shrunk


def regression_sensitivity(omega: float) -> float:
    """How far (omega * x x', x u') moves when one person's data are replaced.

    Parameters
    ----------
    omega : float
        *Public.* The weight of the matrix of second moments, > 0.

    Returns
    -------
    float
        The Euclidean sensitivity of the sum over people, for norm(x) <= 1 and
        norm(u) <= 1, up to a factor 1 + 2^-50.

    Notes
    -----
    For rows (x, u) and (y, w) with a = norm(x)^2, b = norm(y)^2, r = abs(<x, y>),

        norm(x x' - y y')^2 = a^2 + b^2 - 2 r^2,
        norm(x u' - y w')^2 = a norm(u)^2 + b norm(w)^2 - 2 <x, y> <u, w>,

    at most a + b + 2 r. The weighted sum increases in a and b while r is held, so
    a = b = 1 is the worst: 2 omega^2 (1 - r^2) + 2 + 2 r over r in [0, 1]. For
    omega^2 <= 1/2 its maximum is 4, at r = 1 (the same features, opposite targets): the
    matrix rides for free, and the sensitivity is 2, that of x u' alone. For larger
    omega it is (2 omega^2 + 1)^2 / (2 omega^2), at r = 1 / (2 omega^2). Both are
    attained, with u = -w.

    Means of a person's rows with weights in [0, 1] lie in the convex hull of such
    vectors and zero. Its diameter is that of those vectors and zero, and their norm,
    at most sqrt(1 + omega^2), is smaller than the sensitivity.

    Examples
    --------
    >>> from skfuncpriv.iclp import regression_sensitivity
    >>> regression_sensitivity(0.5)
    2.0
    """
    square = check_positive(omega, "omega") ** 2
    if square <= 0.5:
        return 2.0
    return (2 * square + 1) / math.sqrt(2 * square)


@dataclass(frozen=True)
class StatisticsPlan(Spending):
    """Everything about a release of sufficient statistics that is public.

    Parameters
    ----------
    n_people : int
        The number n of people.
    n_features, n_targets : int
        The lengths p of x and q of u.
    epsilon, delta : float
        The budget.
    mechanism : {"spherical", "block-spherical", "gaussian", "laplace"}
        The noise law; blocks are the two statistics.
    omega : float
        The weight of the second moments.
    ratio : float
        The scale of the block of omega x x' over that of x u'.
    constant : float
        The first feature, if it is known to be the same in every row: its mean square
        is public then, and left out; zero otherwise.

    Notes
    -----
    Norms of features and targets are at most `KAPPA` in floats, so products move by at
    most KAPPA^2 times `regression_sensitivity`; a vector of products in floats is
    within 2^-46 of its norm; rounding to the lattice moves each of two contributions by
    at most half a step in every coordinate, and means of a person's rows by a step and
    a half of a lattice that is as fine or finer. All of it is added to `sensitivity`.
    """

    n_people: int
    n_features: int
    n_targets: int
    epsilon: float
    delta: float = 0.0
    mechanism: str = "spherical"
    omega: float = math.sqrt(0.5)
    ratio: float = 1.0
    constant: float = 0.0

    @property
    def sizes(self) -> tuple[int, int]:
        """How many numbers describe x x' and x u'."""
        return statistics_sizes(self.n_features, self.n_targets, self.constant)

    @cached_property
    def ball(self) -> BallContributions:
        """Where contributions lie, with room to spare."""
        radius = _ROOM * math.sqrt(1 + self.omega**2)
        ball = BallContributions(self.n_people, sum(self.sizes), radius)
        if 1024 * math.sqrt(sum(self.sizes)) > ball.steps:
            raise PrivacyError("too many people for so many statistics of each")
        return ball

    @cached_property
    def sensitivity(self) -> float:
        """How far the exact sum of rounded contributions moves, rounded up."""
        exact = Fraction(regression_sensitivity(self.omega)) * Fraction(KAPPA) ** 2
        roots = Fraction(root_up(Fraction(sum(self.sizes))))
        rounding = 4 * roots * Fraction(2) ** self.ball.lattice.exponent
        return root_up((exact * (1 + _ROUNDING) + rounding) ** 2)

    @cached_property
    def law(self) -> NoiseLaw:
        """The law of the noise of the sum."""
        radius, size = self.sensitivity, sum(self.sizes)
        if self.mechanism == "gaussian":
            sigma = gaussian_sigma(self.epsilon, self.delta, radius)
            return IndependentGaussian((sigma,) * size)
        if self.mechanism == "laplace":
            return IndependentLaplace.scale_for(self.epsilon, radius, np.ones(size))
        if self.mechanism == "spherical":
            return SphericalLaplace.scale_for(self.epsilon, radius, size)
        profile = (self.ratio, 1.0)
        return BlockSpherical.scale_for(self.epsilon, radius, self.sizes, profile)

    @property
    def deviations(self) -> tuple[float, float]:
        """Deviations of the noise of the *means* of x x' (diagonal) and x u'.

        Off the diagonal that of x x' is smaller by sqrt(2).
        """
        return mean_deviations(
            (self.mechanism, self.omega, self.ratio),
            self.sizes,
            self.n_people,
            self.epsilon,
            self.delta,
        )

    @property
    def expected_square(self) -> float:
        """The expected squared norm of the noise of the mean of x u'."""
        return self.sizes[1] * self.deviations[1] ** 2

    @property
    def largest_norm(self) -> float:
        """A bound on the norm of the mean of x u'."""
        return 1.0

    def contributions(
        self, features: np.ndarray, targets: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        """The vectors v of rows, shape (n_rows, m); *private*."""
        i, j, scale = self._entries
        if weights is not None:  # the product of floats is within rounding
            targets, scaled = targets * weights[:, None], features * weights[:, None]
        else:
            scaled = features
        second = scaled[:, i] * features[:, j] * scale
        cross = features[:, :, None] * targets[:, None, :]
        return np.hstack([second, cross.reshape(len(features), -1)])

    def value(
        self,
        features: np.ndarray,
        targets: np.ndarray,
        weights: np.ndarray | None = None,
        codes: np.ndarray | None = None,
    ) -> FixedPoint:
        """The exact sum of the contributions of all people.

        Parameters
        ----------
        features, targets : ndarray, shapes (n_rows, p) and (n_rows, q)
            x and u of every row, of norm at most `KAPPA`, each a function of its own
            row; *private*.
        weights : ndarray, shape (n_rows,), default=None
            Numbers of [0, 1]; *private*.
        codes : ndarray of int, shape (n_rows,), default=None
            The person of each row; None makes every row a person; *private*.

        Returns
        -------
        FixedPoint
            The sum, with its public lattice and bound.
        """
        total, size = BallSum(self.ball), sum(self.sizes)

        def part(rows: np.ndarray | slice) -> np.ndarray:
            own = None if weights is None else weights[rows]
            return self.contributions(features[rows], targets[rows], own)

        with np.errstate(all="ignore"):
            if codes is None:
                step = max(1, _CHUNK_VALUES // size)
                for start in range(0, len(features), step):
                    total.add(part(slice(start, start + step)))
            else:
                own_ball = BallContributions(1, size, self.ball.radius)

                def integers(rows: np.ndarray) -> np.ndarray:
                    return own_ball.contributions(part(rows))

                n_here = number_of_people(codes)
                for block in averages_in_blocks(integers, codes, n_here, size):
                    total.add(own_ball.lattice.to_float(block))
        return total.value()

    @property
    def _entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows and columns of the entries of x x' that are summed, and their factors.

        The first entry is that of the constant.
        """
        entries = np.stack(np.triu_indices(self.n_features))
        i, j = entries[:, int(self.constant > 0) :]
        return i, j, np.where(i == j, self.omega, self.omega * math.sqrt(2))

    def moments(self, released: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Released means A of x x' and B of x u', from a released sum."""
        p, size = self.n_features, self.sizes[0]
        i, j, scale = self._entries
        second = np.zeros((p, p))
        second[0, 0] = self.constant**2
        second[i, j] = second[j, i] = released[:size] / (scale * self.n_people)
        cross = released[size:].reshape(p, self.n_targets) / self.n_people
        return second, cross


def statistics_sizes(
    n_features: int, n_targets: int, constant: float
) -> tuple[int, int]:
    """How many numbers describe x x' and x u'."""
    entries = n_features * (n_features + 1) // 2 - int(constant > 0)
    return entries, n_features * n_targets


def mean_deviations(
    law: tuple[str, float, float],
    sizes: tuple[int, int],
    n_people: int,
    epsilon: float,
    delta: float,
) -> tuple[float, float]:
    """The `deviations` of a plan with (mechanism, omega, ratio), without its law."""
    mechanism, omega, ratio = law
    radius, size = regression_sensitivity(omega) / n_people, sum(sizes)
    if mechanism == "gaussian":
        sigma = gaussian_sigma(epsilon, delta, 1.0) * radius
        return sigma / omega, sigma
    unit = radius / epsilon
    if mechanism == "laplace":
        unit *= math.sqrt(2 * size)
    elif mechanism == "spherical":
        unit *= math.sqrt(size + 1)
    else:
        first, second = (math.sqrt(size + 1) for size in sizes)
        unit *= math.hypot(1.0, 1 / ratio)
        return unit * ratio * first / omega, unit * second
    return unit / omega, unit
