"""What is released: functions of private rows, with their sensitivity in an RKHS.

Each kind knows its kernel, how far the coordinates of its function move between
neighbours (floats included), the unit of these coordinates, and how to compute them.

Rows are given less a public `origin`, the lower ends of their bounds where the kernel
depends on differences alone: what is rounded later is then small beside the bandwidth
or the width of the bounds, however far from zero the rows lie.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .._validation import check_positive
from ..exceptions import PrivacyError
from ..noise import FixedPoint
from ..summaries import (
    BallContributions,
    BallSum,
    averages_in_blocks,
    number_of_people,
)
from ._density_sensitivity import BumpFamily
from ._erm import ridge_sensitivity
from ._expansion import PointExpansion
from ._kernels import GaussianKernel, Kernel
from ._tensor_expansion import TensorExpansion

Expansion = PointExpansion | TensorExpansion

_CHUNK = 1 << 21
_MOST_ROWS = 10_000  # of an exact ridge regression
_ROUNDOFF = 2.0**-52
_ROOM = 1 + 2.0**-20  # between the norm of a vector and the ball that holds it
_SLACK = 1 + 2.0**-40
_LARGEST_VALUE = 2.0**20  # of a callable, and
_VALUE_ERROR = 2.0**-30  # how wrong it may be, in units of the stated sensitivity


class DensityFunction:
    """The mean of bumps at people's points, times a public height.

    Coordinates are those of the *sum* of bumps of height one.
    """

    center = 0.0
    remedy = "epsilon, or more people,"

    def __init__(
        self, bump: GaussianKernel, kernel: Kernel, low: np.ndarray, high: np.ndarray
    ) -> None:
        self.kernel, self.origin = kernel, low
        self._bump = None if bump == kernel else bump
        self._family = BumpFamily(bump, kernel, len(low), high - low)

    def unit(self, n: int) -> float:
        """What a coordinate of the sum is worth in the density."""
        return self._family.height / n

    def signal(self, n: int) -> float:
        """The largest value that a sum of bumps can have."""
        return float(n)

    def sensitivity(self, n: int, expansion: Expansion, grouped: bool) -> float:
        """By how much the rounded sum moves.

        A person's vector, or average of vectors, is in norm within `change` times the
        gain of any other, up to the errors of both; being rounded to the lattice moves
        a vector by half a root of m of its steps, and averaging by twice that.

        With groups neighbours have different numbers of rows, so everybody's rows may
        stand elsewhere in a matrix product, which may round them otherwise.
        """
        exact = self._family.change * expansion.gain
        wrong = 2 * expansion.rounding(self._family.largest)
        wrong += _steps(self._ball(n, expansion))
        return (exact + wrong * (n if grouped else 1)) * _SLACK

    def value(
        self,
        X: np.ndarray,
        y: np.ndarray | None,  # noqa: ARG002
        codes: np.ndarray | None,
        n: int,
        expansion: Expansion,
    ) -> FixedPoint:
        """The exact sum of people's rounded vectors."""
        ball = self._ball(n, expansion)
        total = BallSum(ball)

        def vectors(rows: slice | np.ndarray) -> np.ndarray:
            return expansion.coordinates_alike(X[rows], self._bump)

        if codes is None:
            for rows in _chunks(len(X), expansion):
                total.add(vectors(rows))
            return total.value()
        own = BallContributions(1, ball.n_coefficients, ball.radius)
        for averages in averages_in_blocks(
            lambda rows: own.contributions(vectors(rows)),
            codes,
            number_of_people(codes),
            expansion.size,
        ):
            total.add(own.lattice.to_float(averages))
        return total.value()

    def _ball(self, n: int, expansion: Expansion) -> BallContributions:
        largest = self._family.largest
        radius = largest * expansion.gain + expansion.rounding(largest)
        return BallContributions(n, expansion.size, radius * _ROOM)


class RidgeFunction:
    """Kernel ridge regression of y on X, in units of half the range of y.

    The function is centred on the middle of the bounds of y.
    """

    remedy = "epsilon or alpha, or more people,"

    def __init__(
        self,
        kernel: Kernel,
        alpha: float,
        low: float,
        high: float,
        origin: np.ndarray | float = 0.0,
    ) -> None:
        self.kernel, self.origin = kernel, origin
        self.center = low / 2 + high / 2
        self._alpha, self._half = alpha, high / 2 - low / 2

    def unit(self, n: int) -> float:  # noqa: ARG002
        """Half the range of y."""
        return self._half

    def signal(self, n: int) -> float:
        """The largest value of the function that matters: nobody's y is beyond one."""
        return min(1.0, self._largest(n))

    def sensitivity(
        self,
        n: int,
        expansion: Expansion,
        grouped: bool,  # noqa: ARG002
    ) -> float:
        """By how much the rounded coordinates move, in units of half the range of y."""
        if n > _MOST_ROWS:
            raise PrivacyError(
                f"KernelRidge is solved with an n x n matrix, for at most {_MOST_ROWS} "
                f"rows, got {n}: use PrivateKernelRegressor"
            )
        exact = ridge_sensitivity(1.0, 1.0, self._alpha / n, n)
        wrong = 2 * self._rounding(n, expansion)
        if not wrong <= 2.0**-10 * exact:
            raise PrivacyError(
                f"alpha={self._alpha!r} is too small for {n} rows: rounding errors of "
                "the solver could show; take a larger alpha"
            )
        exact *= expansion.gain
        return (exact + wrong + _steps(self._ball(n, expansion))) * _SLACK

    def value(
        self,
        X: np.ndarray,
        y: np.ndarray,
        codes: np.ndarray | None,  # noqa: ARG002
        n: int,
        expansion: Expansion,
    ) -> FixedPoint:
        """The coordinates of sum_i a_i K_{x_i}, where (K + alpha) a = y."""
        targets = np.clip((y - self.center) / self._half, -1.0, 1.0)
        gram = self.kernel(X, X)
        gram[np.diag_indices(n)] += self._alpha
        factor = cho_factor(gram, overwrite_a=True, check_finite=False)
        weights = cho_solve(factor, targets, check_finite=False)
        total = np.zeros(expansion.size)
        for rows in _chunks(n, expansion):
            total += weights[rows] @ expansion.coordinates(X[rows])
        return self._ball(n, expansion).sum(total[None])

    def _largest(self, n: int) -> float:
        """A bound on the norm of the function, half of a root of n / alpha."""
        return math.sqrt(n / self._alpha) / 2

    def _ball(self, n: int, expansion: Expansion) -> BallContributions:
        radius = self._largest(n) * expansion.gain + self._rounding(n, expansion)
        return BallContributions(1, expansion.size, radius * _ROOM)

    def _rounding(self, n: int, expansion: Expansion) -> float:
        """A bound on the error of the coordinates, for every data set.

        The computed weights solve (K + alpha + E) a = y exactly, with norm(E) at most
        (3 n + 1) roundoffs of the trace of K + alpha for the Cholesky factorisation,
        and four of n for the entries of K. They are off by (K + alpha)^-1 E a, which
        is at most norm(E) norm(a) / (2 sqrt(alpha)) in the RKHS, and norm(a) is at most
        sqrt(n) / (alpha - norm(E)). In the sum sum_i a_i c(x_i) vectors have an error,
        and terms n roundoffs.
        """
        error = (3 * n + 10) * n * (1 + self._alpha) * _ROUNDOFF
        if not error < self._alpha / 16:
            return math.inf
        norm = math.sqrt(n) / (self._alpha - error)
        solving = error * norm / (2 * math.sqrt(self._alpha))
        adding = expansion.rounding(1.0) + (2 * n + 8) * _ROUNDOFF * expansion.gain
        return solving * expansion.gain + math.sqrt(n) * norm * adding


class StatedFunction:
    """Values of a callable, in units of the sensitivity that its author states."""

    center = 0.0
    origin = 0.0  # the kernel need not be stationary
    remedy = "epsilon"

    def __init__(
        self, function: Callable[..., Any], kernel: Kernel, sensitivity: float
    ) -> None:
        self.kernel = kernel
        self._function, self._sensitivity = function, sensitivity

    def unit(self, n: int) -> float:  # noqa: ARG002
        """The stated sensitivity."""
        return self._sensitivity

    def signal(self, n: int) -> float:  # noqa: ARG002
        """Nothing is known of how large the values are."""
        return math.inf

    def sensitivity(
        self,
        n: int,  # noqa: ARG002
        expansion: Expansion,
        grouped: bool,  # noqa: ARG002
    ) -> float:
        """One in these units, and what floats add."""
        wrong = expansion.amplification * _VALUE_ERROR
        wrong += expansion.rounding_of_values(_LARGEST_VALUE)
        return (expansion.gain + 2 * wrong) * _SLACK

    def value(
        self,
        X: np.ndarray,
        y: np.ndarray | None,
        codes: np.ndarray | None,  # noqa: ARG002
        n: int,  # noqa: ARG002
        expansion: Expansion,
    ) -> np.ndarray:
        """The coordinates of the function, whose values must be within the limit.

        To clip values is no contraction in the RKHS, so nothing is clipped. What is
        refused here has not been charged yet.
        """
        nodes = expansion.nodes
        with warnings.catch_warnings():  # a warning about data would tell of them
            warnings.simplefilter("ignore")
            values = self._function(X, y)(nodes.copy())
        values = np.asarray(values, dtype=np.float64)
        if values.shape != (len(nodes),):
            raise ValueError(
                "estimator(X, y) must return a function of points, shape (n, d), with "
                "one value per point, shape (n,)"
            )
        values = values / self._sensitivity
        if not (np.abs(values) <= _LARGEST_VALUE).all():  # nor where one is NaN
            raise ValueError(
                "every value of estimator(X, y) must be a finite number, at most 2^20 "
                "times the sensitivity in absolute value: state a larger sensitivity; "
                "KernelDensity and KernelRidge have no such limit"
            )
        return expansion.of_values(values)


def stated_function(
    function: Callable[..., Any], kernel: Any, sensitivity: Any
) -> StatedFunction:
    """A callable with the two facts that only its author knows."""
    if not isinstance(kernel, Kernel):
        raise ValueError(
            "kernel must be the Kernel in whose RKHS the function lies, for example "
            f"GaussianKernel(0.1); got {kernel!r}"
        )
    if isinstance(sensitivity, str):
        raise PrivacyError(
            "sensitivity must be stated for a callable: a bound on the norm, in the "
            f"RKHS of kernel, of the change between neighbours; got {sensitivity!r}"
        )
    return StatedFunction(function, kernel, check_positive(sensitivity, "sensitivity"))


def _steps(ball: BallContributions) -> float:
    """What rounding to the lattice adds to a sensitivity, generously."""
    return 4 * math.sqrt(ball.n_coefficients) * ball.lattice.step


def _chunks(n_rows: int, expansion: Expansion) -> Iterator[slice]:
    """Rows few enough for their vectors to fit in memory."""
    step = max(1, _CHUNK // expansion.size)
    for start in range(0, n_rows, step):
        yield slice(start, start + step)
