"""The law of the next noise given the noise of all earlier answers.

Noise has covariance sigma^2 K. At a new point it is normal; its mean is a weighted sum
of earlier noise, its variance sigma^2 s^2, and both weights and s depend on points
alone. What is released moves by d_i = <h, K_i - sum_j w_ij K_j> / (sigma s_i) between
neighbours that differ by h, and the functions in the bracket are orthogonal with norms
s_i, so that sum d_i^2 <= norm(h)^2 / sigma^2, whatever is asked and in whatever order.

Floats disturb that. An error e of a value counts as e / (sigma s_i), hence s_i must not
vanish where points nearly coincide: a public nugget keeps it up, at which i answers,
each wrong by r sensitivities, cost no more than `SLACK` of the sensitivity.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..exceptions import PrivacyError
from ._answers import Answers, Point
from ._kernels import Kernel

SLACK = 2.0**-7
_NEARBY = 1 + 2.0**-22
_DIAGONAL, _SYMMETRY = 1e-9, 1e-12  # how wrong a kernel may be, at most
_SHORTEST = 2.0**-500  # two distances of this size can still be added and divided

Noise = Callable[[list[Point], list[int]], list[float]]


class Step(NamedTuple):
    """The law of the noise at a new point, and what is to be stored with the answer."""

    mean: float
    deviation: float
    factor: bytes | None = None


class Conditioning(ABC):
    """How noise at a new point follows from the noise at earlier ones.

    Parameters
    ----------
    kernel : Kernel
        *Public.* The covariance K of the noise, divided by its variance sigma^2.
    nugget : float
        *Public.* What is added to a variance, in units of sigma^2.
    """

    def __init__(self, kernel: Kernel, nugget: float) -> None:
        self.kernel = kernel
        self.nugget = nugget

    @staticmethod
    @abstractmethod
    def nugget_for(max_points: int, error: float, deviation: float) -> float:
        """The nugget for values that are wrong by at most `error`.

        The error and the deviation sigma of the noise are in units of the sensitivity.
        """

    @abstractmethod
    def step(self, point: Point, answers: Answers, noise: Noise) -> Step | int:
        """The conditional law at a new point, or the answer that was given there."""

    @abstractmethod
    def white_square(self, answers: Answers, noise: Noise) -> float:
        """The sum of squares of all noise so far, each over its s.

        Over sigma^2 it has a chi-squared law, unless the noise is that of answers which
        another function gave.
        """

    def forget(self) -> None:  # noqa: B027
        """Drop what was remembered of answers that may not have been stored."""


class MarkovConditioning(Conditioning):
    """The exponential kernel in one dimension: two neighbours say it all.

    Notes
    -----
    For p and q the distances to the neighbours below and above, in units of 1/gamma,
    the weights are sinh(q) / sinh(p + q) and sinh(p) / sinh(p + q), and s^2 =
    2 sinh(p) sinh(q) / sinh(p + q); beyond the outermost point the weight is exp(-p)
    and s^2 = 1 - exp(-2p) [1]_. Written with expm1 each is right to a few units in the
    last place at every distance.

    s^2 is raised to the nugget where it is smaller: nearby points get a little more
    noise than the process has. With weights that sum to at most one an error of r
    sensitivities in every value moves the centre of an answer by at most 4 r, so i
    answers by at most 4 r sqrt(i / nugget) together, which is `SLACK`.

    References
    ----------
    .. [1] R. Hall, A. Rinaldo and L. Wasserman, "Differential privacy for functions and
       functional data", Journal of Machine Learning Research 14, 2013.
    """

    def __init__(self, kernel: Kernel, nugget: float) -> None:
        super().__init__(kernel, nugget)
        self._gamma = float(np.ravel(kernel.gamma)[0])
        self._smallest = math.sqrt(nugget)

    @staticmethod
    def nugget_for(max_points: int, error: float, deviation: float) -> float:
        error += 2.0**-40 + 2.0**-44 * deviation  # of weights, and of three products
        return max_points * (4 * error / SLACK) ** 2

    def step(self, point: Point, answers: Answers, noise: Noise) -> Step | int:
        below, above = answers.around(point)
        if above is not None and above[0] == point:
            return above[1]
        if below is None and above is None:
            return Step(0.0, 1.0)
        if below is None or above is None:
            other, answer = below or above
            p = self._distance(point, other)
            mean = math.exp(-p) * noise([other], [answer])[0]
            return Step(mean, self._deviation(-math.expm1(-2 * p)))
        p = self._distance(point, below[0])
        q = self._distance(point, above[0])
        left, right = noise([below[0], above[0]], [below[1], above[1]])
        on_left, on_right = -math.expm1(-2 * p), -math.expm1(-2 * q)
        both = -math.expm1(-2 * (p + q))
        mean = (math.exp(-p) * on_right * left + math.exp(-q) * on_left * right) / both
        return Step(mean, self._deviation(on_left * (on_right / both)))

    def white_square(self, answers: Answers, noise: Noise) -> float:
        rows = answers.in_order()
        if not rows:
            return 0.0
        points, given = zip(*rows, strict=True)
        values = np.array(noise(list(points), list(given)))
        distance = self._gamma * np.diff(np.array(points))
        steps = np.append(values[:1], values[1:] - np.exp(-distance) * values[:-1])
        square = np.append(1.0, -np.expm1(-2 * distance))
        return float(np.sum(steps**2 / (square + 4 * self.nugget)))

    def _distance(self, point: float, other: float) -> float:
        return max(self._gamma * abs(point - other), _SHORTEST)

    def _deviation(self, square: float) -> float:
        return max(math.sqrt(square), self._smallest)


class CholeskyConditioning(Conditioning):
    """Any kernel: the Cholesky factor of the covariance grows by one row per answer.

    Notes
    -----
    With l the new row of L and z = L^-1 noise, the conditional mean is l'z and s the
    last entry of the row. For the very floats of L, stored with the answers, the moves
    d of all answers are L^-1 h / sigma at the points, so that norm(d)^2 =
    h'(L L')^-1 h / sigma^2 exactly. L is computed from K + nugget * I, with a backward
    error of at most i^2 2^-51 in norm, half of the nugget; hence L L' >= K, and
    norm(d) <= norm(h) / sigma: the noise is the process plus a little white noise that
    more than covers what floats have lost, and never vanishes.

    An error of r sensitivities in every value adds at most 9 r sqrt(i / nugget), which
    is `SLACK`: sqrt(2 / nugget) bounds L^-1 and 1 / s, the errors of z enter once with
    factor 2 and those of the centres with factor 4. r includes i^(3/2) 2^-49 sigma for
    the rounding errors of sums over noise within 16 deviations, and 2^-32 because
    points are rounded inside the kernel (they lie within 2^19 of its bandwidths of
    zero, which is checked).

    The kernel may be a user's own, so every new point is checked: values are finite,
    symmetric, and one at equal points, up to an eighth of the nugget in the norm of K.
    A positive semi-definite K leaves at least half of the nugget to every s^2, and what
    leaves less is no covariance; then nothing is answered.
    """

    def __init__(self, kernel: Kernel, nugget: float) -> None:
        super().__init__(kernel, nugget)
        self.forget()

    @staticmethod
    def nugget_for(max_points: int, error: float, deviation: float) -> float:
        error += 2.0**-32 + max_points**1.5 * 2.0**-49 * deviation
        return max_points * (9 * error / SLACK) ** 2 + max_points**2 * 2.0**-50

    def forget(self) -> None:
        self._size = 0
        self._points = np.empty((0, 0))
        self._factor = np.empty((0, 0))
        self._white = np.empty(0)

    def step(self, point: Point, answers: Answers, noise: Noise) -> Step | int:
        found = answers.find(point)
        if found is not None:
            return found
        self._catch_up(answers, noise)
        place = coordinates(point)
        column = self._checked_column(place)
        if not self.kernel(place, place * _NEARBY)[0, 0] > 1 - 2.0**-7:
            raise PrivacyError(
                "a point lies too far from zero for this kernel in floating point: "
                "subtract a public origin from all points"
            )
        row = np.empty(self._size + 1)
        row[:-1] = self._solve(column)
        square = 1.0 + self.nugget - row[:-1] @ row[:-1]
        # The error of the square is below half of the nugget, see Notes.
        if not square >= self.nugget / 2:
            raise PrivacyError(
                "kernel is not positive definite, so there is no Gaussian process"
            )
        row[-1] = math.sqrt(square)
        mean = float(row[:-1] @ self._white[: self._size])
        return Step(mean, float(row[-1]), row.astype("<f8").tobytes())

    def white_square(self, answers: Answers, noise: Noise) -> float:
        self._catch_up(answers, noise)
        return float(np.sum(self._white[: self._size] ** 2))

    def _catch_up(self, answers: Answers, noise: Noise) -> None:
        """Read the rows of answers that this process has not seen yet."""
        rows = answers.after(self._size)
        if not rows:
            return
        fresh = noise([row[0] for row in rows], [row[1] for row in rows])
        self._reserve(self._size + len(rows), len(coordinates(rows[0][0])[0]))
        for (point, _, factor), value in zip(rows, fresh, strict=True):
            i = self._size
            row = np.frombuffer(factor, "<f8")
            self._points[i] = coordinates(point)
            self._factor[i, : i + 1] = row
            self._white[i] = (value - row[:-1] @ self._white[:i]) / row[-1]
            self._size = i + 1

    def _checked_column(self, place: np.ndarray) -> np.ndarray:
        """The covariances of earlier points and a new one."""
        n = self._size
        points = np.concatenate([self._points[:n].reshape(n, place.shape[1]), place])
        with np.errstate(all="ignore"):  # of points that are too far away
            column = np.asarray(self.kernel(points, place), dtype=np.float64)
            row = np.asarray(self.kernel(place, points), dtype=np.float64)
        if column.shape != (n + 1, 1) or row.shape != (1, n + 1):
            raise PrivacyError("kernel must return an array of shape (n, k)")
        column, row = column[:, 0], row[0]
        small = self.nugget / 8
        is_one = abs(column[-1] - 1) <= min(_DIAGONAL, small)
        if not (np.isfinite(column).all() and np.isfinite(row).all() and is_one):
            raise PrivacyError("kernel must have finite values and K(x, x) = 1")
        if not (np.abs(column - row) <= min(_SYMMETRY, small / (n + 1))).all():
            raise PrivacyError("kernel must be symmetric: K(x, y) = K(y, x)")
        return column[:-1]

    def _solve(self, column: np.ndarray) -> np.ndarray:
        """L^-1 times the covariances of earlier points and a new one."""
        n = self._size
        if n == 0:
            return np.empty(0)
        factor = self._factor[:n, :n]
        return solve_triangular(factor, column, lower=True, check_finite=False)

    def _reserve(self, size: int, n_axes: int) -> None:
        """Make room for `size` rows, and for half as many again."""
        if size <= len(self._white):
            return
        old, room = self._size, size + size // 2 + 16
        points, factor = np.zeros((room, n_axes)), np.zeros((room, room))
        white = np.zeros(room)
        points[:old] = self._points[:old].reshape(old, n_axes)
        factor[:old, :old] = self._factor[:old, :old]
        white[:old] = self._white[:old]
        self._points, self._factor, self._white = points, factor, white


def coordinates(point: Point) -> np.ndarray:
    """A point as a row, shape (1, d)."""
    if isinstance(point, float):
        return np.array([[point]])
    return np.frombuffer(point, "<f8")[None, :]


def keys_of(points: np.ndarray) -> list[Any]:
    """Rows of coordinates as they are stored: numbers, or the bytes of several."""
    if points.shape[1] == 1:
        return points[:, 0].tolist()
    return [row.tobytes() for row in points.astype("<f8")]
