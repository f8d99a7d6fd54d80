"""Convex losses of one value, with what solving and certifying need of them.

A loss compares a value f with a target: a label -1 or 1, or a number of [-1, 1], to
which the estimators scale y. Losses with a kink are smoothed while they are minimised:
the Moreau envelope min_g loss(g) + (f - g)^2 / (2 s), s the smoothing, has a Lipschitz
slope, which is at the same time a subgradient of the loss itself, near by.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from .._validation import check_real
from ._erm import erm_sensitivity, ridge_sensitivity, squared_loss_lipschitz

_UP = 1 + 2.0**-40


class Loss(ABC):
    """A convex loss, L-Lipschitz between the values that minimisers take.

    `curvature_bound` is the Lipschitz constant of the slope, infinite at a kink;
    `is_piecewise` says that the curvature jumps, and `slope` has an envelope.
    `typical_norm` is the norm of functions that the choice of psi has in mind.
    """

    curvature_bound: float = math.inf
    is_piecewise: bool = True
    typical_norm: float = 1.0

    @property
    def has_kinks(self) -> bool:
        """Whether the slope jumps."""
        return math.isinf(self.curvature_bound)

    @property
    @abstractmethod
    def steepest(self) -> float:
        """The supremum of the size of slopes; infinite for the squared loss."""

    @property
    def mean_square_slope(self) -> float:
        """A bound on the mean squared slope at a minimiser."""
        return self.steepest**2

    def lipschitz(self, kappa: float, psi: float) -> float:  # noqa: ARG002
        """L, between the values of minimisers with features of norm at most kappa."""
        return self.steepest

    @property
    @abstractmethod
    def largest_pull(self) -> float:
        """The supremum of -slope(f) * f over all values and targets."""

    def sensitivity(self, kappa: float, psi: float, n: int, unit: str) -> float:  # noqa: ARG002
        """How far the minimiser moves in norm when one of n people is replaced.

        L kappa / (psi n), and never more than the diameter of all minimisers.
        """
        move = erm_sensitivity(self.lipschitz(kappa, psi), kappa, psi, n)
        return min(move, 2 * self.norm_bound(kappa, psi))

    def norm_bound(self, kappa: float, psi: float) -> float:
        """A bound on the norm of every minimiser w.

        At the minimum 2 psi w = -mean slope_i z_i. So norm(w) <= L kappa / (2 psi),
        and the inner product with w gives 2 psi norm(w)^2 = -mean slope_i f_i.
        """
        steep = self.lipschitz(kappa, psi) * kappa / (2 * psi)
        return min(steep, math.sqrt(self.largest_pull / (2 * psi))) * _UP

    @abstractmethod
    def value(self, f: np.ndarray, target: np.ndarray) -> np.ndarray:
        """The loss."""

    @abstractmethod
    def slope(
        self, f: np.ndarray, target: np.ndarray, smoothing: float = 0.0
    ) -> np.ndarray:
        """The derivative in f of the envelope; with smoothing 0 of the loss."""

    @abstractmethod
    def curvature(
        self, f: np.ndarray, target: np.ndarray, smoothing: float = 0.0
    ) -> np.ndarray:
        """The derivative of the slope."""

    def disagreement(
        self,
        f: np.ndarray,
        target: np.ndarray,  # noqa: ARG002
        slope: np.ndarray,  # noqa: ARG002
    ) -> np.ndarray:
        """loss(f) + conjugate(slope) - slope * f >= 0: how far slope is from one of f.

        Zero without kinks: there the slope meant is the very derivative at f.
        """
        return np.zeros_like(f)


@dataclass(frozen=True)
class LogisticLoss(Loss):
    """log(1 + exp(-target * f)), for labels -1 and 1."""

    curvature_bound = 0.25
    is_piecewise = False
    typical_norm = 2.0
    steepest = 1.0
    largest_pull = 0.27846455  # sup f / (1 + exp(f)) = W(1 / e) of Lambert, rounded up

    def lipschitz(self, kappa: float, psi: float) -> float:
        """The slope at the least value -kappa R of a minimiser, target 1.

        Each bound on R gives an L, and each L a bound on R, see `norm_bound`.
        """
        largest = kappa * math.sqrt(self.largest_pull / (2 * psi))
        slope = 1.0
        for _ in range(4):
            largest = min(largest, slope * kappa * kappa / (2 * psi))
            slope = _UP / (1.0 + math.exp(-largest))
        return min(slope, 1.0)

    def value(self, f, target):
        return np.logaddexp(0.0, -target * f)

    def slope(self, f, target, smoothing=0.0):  # noqa: ARG002
        return -target * _sigmoid(-target * f)

    def curvature(self, f, target, smoothing=0.0):  # noqa: ARG002
        return _sigmoid(f) * _sigmoid(-f)


@dataclass(frozen=True)
class HingeLoss(Loss):
    """max(0, 1 - target * f), for labels -1 and 1."""

    typical_norm = 2.0
    steepest = 1.0
    largest_pull = 1.0

    def value(self, f, target):
        return np.maximum(0.0, 1.0 - target * f)

    def slope(self, f, target, smoothing=0.0):
        return -target * _ramp(1.0 - target * f, smoothing)

    def curvature(self, f, target, smoothing=0.0):
        return _ramp_slope(1.0 - target * f, smoothing)

    def disagreement(self, f, target, slope):
        missing, share = 1.0 - target * f, -target * slope
        return np.where(missing > 0, (1.0 - share) * missing, -share * missing)


@dataclass(frozen=True)
class HuberLoss(Loss):
    """r^2 / 2 for abs(r) <= t, else t (abs(r) - t / 2), of the residual r = f - target.

    Parameters
    ----------
    threshold : float
        *Public.* t, in (0, 2).
    """

    threshold: float

    curvature_bound = 1.0

    def __post_init__(self) -> None:
        _check_threshold(self.threshold, 0.0, 2.0)

    @property
    def steepest(self) -> float:
        """The slope beyond the threshold."""
        return self.threshold

    @property
    def largest_pull(self) -> float:
        """sup of min(t, 1 - f) f."""
        t = self.threshold
        return 0.25 if t >= 0.5 else t * (1 - t)

    def value(self, f, target):
        size = np.abs(f - target)
        near = np.minimum(size, self.threshold)
        return near * (size - near / 2)

    def slope(self, f, target, smoothing=0.0):
        slope = (f - target) / (1.0 + smoothing)
        return np.clip(slope, -self.threshold, self.threshold)

    def curvature(self, f, target, smoothing=0.0):
        flat = np.abs(f - target) >= self.threshold * (1.0 + smoothing)
        return np.where(flat, 0.0, 1.0 / (1.0 + smoothing))


@dataclass(frozen=True)
class EpsilonInsensitiveLoss(Loss):
    """max(0, abs(f - target) - t): errors below t cost nothing.

    Parameters
    ----------
    threshold : float
        *Public.* t, in [0, 1).
    """

    threshold: float

    steepest = 1.0

    def __post_init__(self) -> None:
        if self.threshold != 0:
            _check_threshold(self.threshold, 0.0, 1.0)

    @property
    def largest_pull(self) -> float:
        """sup of f below the kink at 1 - t."""
        return (1.0 - self.threshold) * _UP

    def value(self, f, target):
        return np.maximum(0.0, np.abs(f - target) - self.threshold)

    def slope(self, f, target, smoothing=0.0):
        residual = f - target
        excess = np.abs(residual) - self.threshold
        return np.copysign(_ramp(excess, smoothing), residual)

    def curvature(self, f, target, smoothing=0.0):
        return _ramp_slope(np.abs(f - target) - self.threshold, smoothing)

    def disagreement(self, f, target, slope):
        size = np.abs(f - target)
        share = slope * np.where(f >= target, 1.0, -1.0)
        excess = size - self.threshold
        same = np.where(excess > 0, (1.0 - share) * excess, -share * excess)
        wrong = np.maximum(excess, 0.0) - share * (size + self.threshold)
        return np.where(share >= 0, same, wrong)


@dataclass(frozen=True)
class SquaredLoss(Loss):
    """(f - target)^2, Lipschitz between the values that minimisers take."""

    curvature_bound = 2.0
    is_piecewise = False
    steepest = math.inf
    largest_pull = 0.5  # sup 2 (1 - f) f
    mean_square_slope = 4.0  # 4 mean (f - target)^2 <= 4 J(0)

    def lipschitz(self, kappa: float, psi: float) -> float:
        return squared_loss_lipschitz(1.0, kappa, psi)

    def sensitivity(self, kappa: float, psi: float, n: int, unit: str) -> float:
        # Ridge regression has a bound of its own, proved for one row per person.
        if unit == "row":
            return ridge_sensitivity(1.0, kappa, psi, n)
        return super().sensitivity(kappa, psi, n, unit)

    def value(self, f, target):
        return np.square(f - target)

    def slope(self, f, target, smoothing=0.0):  # noqa: ARG002
        return 2.0 * (f - target)

    def curvature(self, f, target, smoothing=0.0):  # noqa: ARG002
        return np.full(f.shape, 2.0)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)) to a few units in the last place, of both tails."""
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, e) / (1.0 + e)


def _ramp(excess: np.ndarray, smoothing: float) -> np.ndarray:
    """The slope of max(0, excess), rising from 0 to 1 between 0 and the smoothing."""
    if smoothing == 0:
        return (excess > 0).astype(np.float64)
    return np.clip(excess / smoothing, 0.0, 1.0)


def _ramp_slope(excess: np.ndarray, smoothing: float) -> np.ndarray:
    if smoothing == 0:
        return np.zeros(excess.shape)
    return np.where((excess > 0) & (excess < smoothing), 1.0 / smoothing, 0.0)


def _check_threshold(value: float, low: float, high: float) -> None:
    if not low < check_real(value, "threshold") < high:
        raise ValueError(
            f"threshold must lie between {low} and {high} of half the width of "
            f"y_bounds, got {value!r}"
        )
