"""Regularised means of losses, and how far from the minimum a point is at most.

J(w) = mean over people of (mean over their rows of loss(y_i, w'z_i)) + psi norm(w)^2,
norm(z_i) <= kappa. Any slopes a_i at which the conjugates of the losses are finite make
a dual point: J(w) - min J is at most the *duality gap*

    mean [loss(f_i) + conjugate(a_i) - a_i f_i] + psi norm(w - w(a))^2,   f_i = w'z_i,
    w(a) = -mean a_i z_i / (2 psi),

a sum of terms >= 0 without cancellation. It is computed in floats and a bound on their
errors is added, so what is certified holds of the exact minimum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ._losses import Loss

# Features have norm 1 up to rounding, weights of a person sum to 1 up to rounding.
KAPPA = 1 + 2.0**-40
_UNIT = 2.0**-52
_BLOCK = 1 << 15
_SUM_ERROR = 2.0**-35  # relative, of sums over up to 2^30 rows in blocks
_SLOPE_ERROR = 2.0**-46  # relative to L: an exponential and a few roundings


@dataclass(frozen=True, eq=False)
class Objective:
    """J for one set of rows.

    Parameters
    ----------
    loss : Loss
        *Public.*
    psi : float
        *Public.* The factor of norm(w)^2, > 0.
    n_people : int
        *Public.* The number of people.
    features : ndarray, shape (n_rows, m)
        *Private.* z_i, of norm at most `KAPPA`.
    targets : ndarray, shape (n_rows,)
        *Private.* Labels -1 and 1, or numbers of [-1, 1].
    weights : ndarray, shape (n_rows,)
        *Private.* One over the number of rows of the person.

    Notes
    -----
    Errors of floats, to first order in u = 2^-52 (twice the unit roundoff) and with
    room to spare. Values f = w'z of m terms: (m + 8) u (1 + kappa R), R the bound on
    norm(w); the 1 covers f - target. Sums over rows are made in blocks of 2^15, which
    bounds their relative error by 2^16 u / 2 < 2^-35 for up to 2^30 rows. Without kinks
    slopes are those at the *exact* values, so their error is that of the formula plus
    curvature times that of f, and the first term of the gap vanishes; with kinks the
    slopes are exact as given, and the first term, convex in f, is at most the larger
    of its values at both ends of the interval of f.
    """

    loss: Loss
    psi: float
    n_people: int
    features: np.ndarray
    targets: np.ndarray
    weights: np.ndarray

    def values(self, w: np.ndarray) -> np.ndarray:
        """w'z_i of every row."""
        return self.features @ w

    def dual_point(self, slopes: np.ndarray) -> np.ndarray:
        """w(a), with the error bound of the notes."""
        weighted = slopes * self.weights
        total = np.zeros(self.features.shape[1])
        for start in range(0, len(weighted), _BLOCK):
            rows = slice(start, start + _BLOCK)
            total += weighted[rows] @ self.features[rows]
        return total / (-2.0 * self.psi * self.n_people)

    def duality_gap(self, w: np.ndarray, slopes: np.ndarray | None = None) -> float:
        """A bound on J(w) - min J, for w in the ball of minimisers.

        Without kinks the slopes are those at w, and need not be given.
        """
        bounds = RoundingErrors(self.loss, self.psi, self.features.shape[1])
        f = self.values(w)
        if slopes is None:
            slopes = self.loss.slope(f, self.targets)
        ends = [
            self.loss.disagreement(f + error, self.targets, slopes)
            for error in (-bounds.value, bounds.value)
        ]
        first = float(self.weights @ np.maximum(*ends)) / self.n_people
        distance = float(np.linalg.norm(w - self.dual_point(slopes))) + bounds.point
        return (first + self.psi * distance * distance) * (1 + 2.0**-20)


@dataclass(frozen=True)
class RoundingErrors:
    """What floats may add to the parts of a duality gap; public.

    Parameters
    ----------
    loss : Loss
        *Public.*
    psi : float
        *Public.*
    n_features : int
        *Public.* m.
    """

    loss: Loss
    psi: float
    n_features: int

    @cached_property
    def value(self) -> float:
        """Of f - target."""
        radius = self.loss.norm_bound(KAPPA, self.psi)
        return (self.n_features + 8) * _UNIT * (1 + KAPPA * radius)

    @cached_property
    def point(self) -> float:
        """Of w - w(a), in norm."""
        slope = self.loss.lipschitz(KAPPA, self.psi)
        error = slope * (_SUM_ERROR + _SLOPE_ERROR)
        if not self.loss.has_kinks:
            error += self.loss.curvature_bound * self.value
        radius = self.loss.norm_bound(KAPPA, self.psi)
        return error * KAPPA / (2 * self.psi) + 8 * self.n_features * _UNIT * radius

    @property
    def smallest_gap(self) -> float:
        """A gap that can be certified of what is a minimiser up to rounding."""
        kinks = 0.0
        if self.loss.has_kinks:
            kinks = 4 * self.loss.lipschitz(KAPPA, self.psi) * self.value
        distance = 2 * self.point
        return 4 * (kinks + self.psi * distance * distance)


def distance_bound(gap: float, psi: float) -> float:
    """How far from the minimiser a point with that gap is: J is 2 psi-convex."""
    return math.sqrt(gap / psi)
