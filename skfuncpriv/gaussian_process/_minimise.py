"""Minimisers of regularised means of losses, to a certified duality gap.

Newton's method on a strongly convex function with a Lipschitz gradient; where the loss
has kinks, on the Moreau envelopes of the proximal point algorithm for the dual problem
(the method of multipliers). scikit-learn's linear solvers find the same minimisers, but
stop by criteria of their own, warn and count iterations where the data are hard, and
for these losses without an intercept they are no shorter than this.
"""

from __future__ import annotations

import math
from itertools import chain

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..exceptions import PrivacyError
from ..noise import FixedPoint, Lattice
from ._duality import KAPPA, Objective

NOT_CERTIFIED = (
    "the minimiser could not be certified to the public gap; nothing was charged or "
    "drawn. Whether this happens may depend on the data, so keep it to yourself, and "
    "pass a larger gap or a larger psi"
)
_BITS = 51  # of coordinates, relative to the ball that holds every minimiser
_BLOCK = 1 << 14
_OUTER, _INNER, _HALVINGS = 200, 100, 60
_NARROWEST, _RATIO = 2.0**-44, 0.25


def public_lattice(radius: float) -> tuple[Lattice, int]:
    """The lattice of minimisers in a ball, and a bound on coordinates in its steps."""
    exponent = math.frexp(radius)[1] - _BITS
    return Lattice(exponent), 1 << _BITS


def certified_minimiser(
    objective: Objective, gap: float, start: np.ndarray | None = None
) -> FixedPoint:
    """A point of the public lattice whose duality gap is at most `gap`.

    `start`, a guess, is tried first; only for losses without kinks.

    Raises
    ------
    PrivacyError
        If none was found, in a constant text.

    Notes
    -----
    *Why it is found.* Without kinks: the line search of `_newton_step` makes Newton's
    method converge from everywhere on a function whose curvature lies between 2 psi
    and 2 psi + kappa^2 times that of the loss. With kinks: step k minimises the smooth
    J_k(w) = mean envelope(f_i + s a_i) + psi norm(w)^2, s the smoothing and a_i the
    slopes of step k - 1. Its own slopes are the maximiser of the dual objective minus
    s / 2 times the mean squared change of slopes: the proximal point algorithm, which
    converges for every s > 0 (Rockafellar 1976), here on a concave quadratic over a
    box, at a linear rate (Luque 1984). Both end at the rounding errors of floats, for
    which `RoundingErrors.smallest_gap` leaves room.

    *Why there is no fallback.* A point that is released instead of the minimiser, for
    some data sets and not for their neighbours, would be further from it than the
    sensitivity covers. So there is none: what is released has been certified.
    """
    radius = objective.loss.norm_bound(KAPPA, objective.psi)
    lattice, bound = public_lattice(radius)

    def rounded(w: np.ndarray) -> np.ndarray:
        # The minimiser lies in the ball, so projection brings w no further from it.
        shrink = min(1.0, radius / max(float(np.linalg.norm(w)), 1e-300))
        return np.rint(np.ldexp(w * shrink, -lattice.exponent))

    def is_certified(multiples: np.ndarray, slopes: np.ndarray | None = None) -> bool:
        w = np.ldexp(multiples, lattice.exponent)
        return objective.duality_gap(w, slopes) <= gap

    search = _proximal_points if objective.loss.is_piecewise else _newton_points
    guess = [] if start is None else [(start, None)]
    try:
        for w, slopes in chain(guess, search(objective, gap)):
            multiples = rounded(w)
            if is_certified(multiples, slopes):
                return FixedPoint(multiples.astype(np.int64), lattice, bound)
    except LinAlgError:
        pass
    raise PrivacyError(NOT_CERTIFIED)


def weighted_gram(Z: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The sum of weight * z z' over the rows whose weights are not zero."""
    total = np.zeros((Z.shape[1], Z.shape[1]))
    present = np.flatnonzero(weights)
    for start in range(0, len(present), _BLOCK):  # so that copies of rows stay small
        part = present[start : start + _BLOCK]
        rows = Z[part]
        total += (rows * weights[part, None]).T @ rows
    return total


def _newton_points(objective: Objective, gap: float):  # noqa: ARG001
    """Newton's iterates, from zero."""
    w = np.zeros(objective.features.shape[1])
    shift = np.zeros(len(objective.features))
    for _ in range(_INNER):
        yield w, None
        w, _ = _newton_step(objective, w, shift, 0.0)


def _proximal_points(objective: Objective, gap: float):
    """The iterates of the proximal point algorithm, with their slopes."""
    w = np.zeros(objective.features.shape[1])
    slopes = np.zeros(len(objective.features))
    # At first so wide that every row is curved: a Hessian of 2 psi alone leads astray.
    loss = objective.loss
    smoothing = 1.0 + loss.norm_bound(KAPPA, objective.psi)
    smoothing /= min(1.0, loss.lipschitz(KAPPA, objective.psi))
    for _ in range(_OUTER):
        shift = smoothing * slopes
        for _ in range(_INNER):
            w, steepness = _newton_step(objective, w, shift, smoothing)
            if steepness * steepness <= objective.psi * gap:  # gap of J_k below gap / 4
                break
        f = objective.values(w) + shift
        slopes = loss.slope(f, objective.targets, smoothing)
        if loss.has_kinks:
            yield objective.dual_point(slopes), slopes
        yield w, slopes if loss.has_kinks else None
        smoothing = max(_RATIO * smoothing, _NARROWEST)


def _newton_step(
    objective: Objective, w: np.ndarray, shift: np.ndarray, smoothing: float
) -> tuple[np.ndarray, float]:
    """One step on mean envelope(f_i + shift_i) + psi norm(w)^2; the old steepness."""
    loss, Z, targets = objective.loss, objective.features, objective.targets
    weights, psi = objective.weights / objective.n_people, objective.psi
    f = Z @ w + shift
    gradient = Z.T @ (weights * loss.slope(f, targets, smoothing)) + 2 * psi * w
    curvature = weights * loss.curvature(f, targets, smoothing)
    hessian = 2 * psi * np.eye(Z.shape[1]) + weighted_gram(Z, curvature)
    direction = -cho_solve(cho_factor(hessian), gradient)
    along = Z @ direction
    square = 2 * psi * float(direction @ direction)

    def steepness(t: float) -> float:
        """The derivative along the direction, which increases with t."""
        slopes = loss.slope(f + t * along, targets, smoothing)
        penalty = 2 * psi * float(w @ direction) + t * square
        return float((weights * slopes) @ along) + penalty

    # A step is good if the function still falls at its end, or has begun to rise by
    # no more than half of how it fell: both take off a fixed share of what is possible.
    t, low, high, first = 1.0, 0.0, math.inf, abs(steepness(0.0))
    for _ in range(_HALVINGS):
        here = steepness(t)
        if here > 0.5 * first:
            high = t
        elif here < -0.5 * first and math.isfinite(high):
            low = t
        else:
            break
        t = (low + high) / 2
    return w + t * direction, float(np.linalg.norm(gradient))
