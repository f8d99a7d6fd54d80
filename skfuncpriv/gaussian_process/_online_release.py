"""The working part of an online release: its public facts, and how it answers."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from scipy.stats import chi2

from .._tables import as_numbers
from .._validation import check_count, check_positive, check_real
from ..exceptions import PrivacyError
from ..noise import Lattice, RandomBits, release_lattice
from ._answers import ONE_AT_A_TIME, Answers, Point
from ._calibration import GaussianBudget
from ._conditioning import (
    SLACK,
    CholeskyConditioning,
    Conditioning,
    MarkovConditioning,
    coordinates,
)
from ._kernels import ExponentialKernel, GaussianKernel, Kernel, ProductKernel
from ._memory_answers import MemoryAnswers
from ._scalar_normal import Reserve, release_normal

LARGEST_VALUE = 2.0**20  # of the function, and
_VALUE_ERROR = 2.0**-30  # how wrong it may be, in units of the sensitivity
_LARGEST_NOISE = 64.0  # in deviations; none is ever drawn that is as large
_MOST_BITS = 61  # of an answer in lattice steps, beyond which it would be clipped
_LARGEST_CONDITION = 2.0**20
_MOST_POINTS = {MarkovConditioning: 1_000_000, CholeskyConditioning: 2_000}
_LARGEST_NUGGET = 2.0**-6
_SMALLEST = 1e-200
_FALSE_ALARM = 1e-15
_READ_AHEAD = 256


class OnlineRelease:
    """One private function and the answers that were given for it.

    Parameters
    ----------
    function : callable
        *Private.* From points, shape (n, d), to values, shape (n,).
    kernel : Kernel
        *Public.* The covariance of the noise.
    answers : Answers or MemoryAnswers
        The answers, with the facts of `public_facts`.
    bits : RandomBits
        The source of noise.
    """

    def __init__(
        self,
        function: Any,
        kernel: Kernel,
        answers: Answers | MemoryAnswers,
        bits: RandomBits,
    ) -> None:
        self._function = function
        self._answers = answers
        self._bits = bits
        self._deviation = answers.facts["deviation"]
        self._largest = LARGEST_VALUE * answers.facts["stated"]["sensitivity"]
        self._most_points = answers.facts["stated"]["max_points"]
        self._lattice = Lattice(answers.facts["exponent"])
        self._conditioning = _kind(kernel)(kernel, answers.facts["nugget"])
        self._values: dict[Point, float] = {}

    @property
    def facts(self) -> dict[str, Any]:
        """What is public of the release."""
        return self._answers.facts

    def answer(self, points: list[Point]) -> np.ndarray:
        """The answers at points, in their order, all or none of them."""
        return self._lattice.to_float(np.array(self._steps(points), dtype=np.int64))

    def answer_one(self, point: Point) -> float:
        """The answer at one point, the same as `answer` gives."""
        (step,) = self._steps([point])
        return math.ldexp(step, self._lattice.exponent)

    def _steps(self, points: list[Point]) -> list[int]:
        """The answers in lattice steps."""
        self._evaluate(points)
        with ONE_AT_A_TIME:
            try:
                with self._answers.writing():
                    self._check_room(points)
                    bits = self._bits
                    if len(points) > 1:  # read ahead for this call, not for the next
                        bits = Reserve(bits, 2 * min(len(points), _READ_AHEAD))
                    return [self._answer(point, bits) for point in points]
            except BaseException:  # what was not stored must not be remembered
                self._conditioning.forget()
                raise

    def check_function(self) -> None:
        """Refuse a function that the answers in the file can hardly be those of."""
        with self._answers.writing(), np.errstate(all="ignore"):
            count = self._answers.count
            square = self._conditioning.white_square(self._answers, self._noise)
        limit = chi2.isf(_FALSE_ALARM, max(count, 1)) * self._deviation**2
        if not square <= limit:
            raise PrivacyError(
                "the answers in the file are too far from this function: they were "
                "given for another one"
            )

    def _answer(self, point: Point, bits: RandomBits) -> int:
        """The answer that was given, or a new one; inside a transaction."""
        step = self._conditioning.step(point, self._answers, self._noise)
        if isinstance(step, int):
            return step
        answer = release_normal(
            self._values[point] + step.mean,
            self._deviation * step.deviation,
            self._lattice,
            bits,
        )
        self._answers.add(point, answer, step.factor)
        return answer

    def _noise(self, points: list[Point], steps: list[int]) -> list[float]:
        """The noise of earlier answers."""
        unit, values = self._lattice.step, self._values
        if any(point not in values for point in points):
            self._evaluate(points)
        return [
            step * unit - values[point]
            for point, step in zip(points, steps, strict=True)
        ]

    def _evaluate(self, points: list[Point]) -> None:
        """Ask the function for values that it has not given yet."""
        new = [point for point in points if point not in self._values]
        if not new:
            return
        n_new = len(new)
        table = coordinates(new[0])
        if n_new > 1:
            table = np.concatenate([coordinates(point) for point in new])
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # a warning would tell of private numbers
            values = self._function(table)
            if type(values) is not np.ndarray or values.dtype != np.float64:
                values = as_numbers(values)
        if values.shape not in ((n_new,), (n_new, 1)):
            raise ValueError(
                "function must return one number per point: an array of shape "
                "(n_points,) for points of shape (n_points, n_axes)"
            )
        is_one = n_new == 1  # for which arrays are slow
        largest = abs(values.item()) if is_one else np.abs(values).max()
        if not largest <= self._largest:  # nor where one is NaN
            raise ValueError(
                "every value of the function must be a finite number, at most 2^20 "
                "times the sensitivity in absolute value; nothing is answered: a "
                "release with a larger sensitivity can answer"
            )
        self._values.update(zip(new, values.ravel().tolist(), strict=True))

    def _check_room(self, points: list[Point]) -> None:
        """Refuse more points than were planned for."""
        count = self._answers.count
        if count + len(points) > self._most_points:
            new = {point for point in points if self._answers.find(point) is None}
            if count + len(new) > self._most_points:
                raise PrivacyError(
                    f"this release answers at most {self._most_points} points: only "
                    "those that were answered can be asked again; a new fit with a "
                    "larger max_points is a new release"
                )


def public_facts(estimator: Any, seeded: bool) -> dict[str, Any]:
    """What is stated and what follows from it, checked; no data is seen.

    Raised before anything is charged or drawn.
    """
    kernel = estimator.kernel
    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel must be a Kernel object, got {kernel!r}")
    budget = GaussianBudget(
        estimator.epsilon, estimator.delta, estimator.rho, estimator.calibration
    )
    sensitivity = check_positive(estimator.sensitivity, "sensitivity")
    if not _SMALLEST <= sensitivity <= 1 / _SMALLEST:
        raise ValueError(
            f"sensitivity must lie between {_SMALLEST} and {1 / _SMALLEST}, got "
            f"{sensitivity!r}: use other units"
        )
    kind = _kind(kernel)
    most_points = _MOST_POINTS[kind]
    if estimator.max_points is not None:
        most_points = check_count(estimator.max_points, "max_points")
    value_error = _VALUE_ERROR * sensitivity
    if estimator.value_error is not None:
        value_error = check_real(estimator.value_error, "value_error")
        if value_error < 0:
            raise ValueError(f"value_error must be >= 0, got {value_error!r}")
    deviation = budget.deviation(sensitivity * (1 + SLACK))
    # A sum with a value is rounded to half a unit in the last place of the value; and
    # the nugget pays for points that are rounded once, at a stretch of one.
    error = value_error / sensitivity + LARGEST_VALUE * 2.0**-53
    error += (_stretch(kernel) - 1) * 2.0**-32
    nugget = kind.nugget_for(most_points, error, deviation / sensitivity)
    if nugget > _LARGEST_NUGGET:
        raise PrivacyError(
            f"{most_points} points with values that are wrong by up to {value_error:g} "
            "need much more noise than the process has: choose a smaller max_points "
            "or value_error, or a larger budget"
        )
    guarantee = budget.guarantee(estimator.unit, seeded)
    stated = {
        "kernel": repr(kernel),
        "sensitivity": sensitivity,
        "calibration": estimator.calibration,
        "max_points": most_points,
        "value_error": value_error,
        "guarantee": guarantee.to_dict(),
    }
    return {
        "stated": stated,
        "deviation": deviation,
        "nugget": nugget,
        "exponent": max(
            release_lattice(deviation * nugget**0.5).exponent,
            _smallest_exponent(sensitivity, deviation),
        ),
    }


def _smallest_exponent(sensitivity: float, deviation: float) -> int:
    """Of a lattice on which no answer is ever clipped."""
    largest = LARGEST_VALUE * sensitivity + _LARGEST_NOISE * deviation
    return math.frexp(largest)[1] - _MOST_BITS


def _stretch(kernel: Kernel) -> float:
    """By how much a kernel magnifies the rounding errors of points.

    A matrix H maps points to A x with A' A = H^-1. Terms of A x are up to
    d sqrt(cond(H)) times as large as the sum. What is lost of A itself changes entries
    of the kernel by d^2 cond(H) 2^-53, less than 1/300 of the nugget for the points.
    """
    if isinstance(kernel, ProductKernel):
        return max(map(_stretch, kernel.kernels))
    if not isinstance(kernel, GaussianKernel) or np.ndim(kernel.bandwidth) < 2:
        return 1.0
    eigenvalues = np.linalg.eigvalsh(np.array(kernel.bandwidth))
    condition = eigenvalues[-1] / eigenvalues[0]
    if not condition <= _LARGEST_CONDITION:
        raise PrivacyError(
            f"the bandwidth matrix of {kernel!r} is nearly singular (its condition "
            "number is above 2^20), which magnifies rounding errors of points: rotate "
            "and scale the axes, or take a rounder matrix"
        )
    return len(eigenvalues) * math.sqrt(condition)


def _kind(kernel: Kernel) -> type[Conditioning]:
    # A subclass may have other values, which need not be Markov.
    is_markov = type(kernel) is ExponentialKernel and (kernel.n_axes or 1) == 1
    return MarkovConditioning if is_markov else CholeskyConditioning
