"""Log densities of the noise laws, written a second time, and what releases lose."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..noise import (
    BlockSpherical,
    FixedPoint,
    IndependentGaussian,
    IndependentLaplace,
    NoiseLaw,
    SeededBits,
    ShapedNoise,
    SphericalLaplace,
)
from ..privacy import PrivacyGuarantee, gaussian_delta
from ._recording import Chosen, Released, Transcript


def log_density(law: NoiseLaw, z: Any) -> Any:
    """Log density of rows of z, up to a constant that makes it 0 at 0."""
    if isinstance(law, IndependentLaplace):
        return -(np.abs(z) / np.array(law.scales)).sum(axis=1)
    if isinstance(law, IndependentGaussian):
        return -0.5 * np.square(z / np.array(law.deviations)).sum(axis=1)
    if isinstance(law, SphericalLaplace):
        return -np.linalg.norm(z, axis=1) / law.scale
    if isinstance(law, BlockSpherical):
        blocks = np.split(z, np.cumsum(law.sizes)[:-1], axis=1)
        norms = [np.linalg.norm(block, axis=1) for block in blocks]
        return -sum(norm / scale for norm, scale in zip(norms, law.scales, strict=True))
    if isinstance(law, ShapedNoise):
        return log_density(law.law, np.linalg.solve(np.array(law.shape), z.T).T)
    return None


def change(one: Released, other: Released) -> Any:
    """By how much two neighbours' exact values differ: one row for each draw."""
    if isinstance(one.value, FixedPoint):  # of one lattice: replays see to that
        first, second = (np.ravel(x.value.values).tolist() for x in (one, other))
        whole = [float(a - b) for a, b in zip(first, second, strict=True)]
        moved = np.ldexp(whole, one.value.lattice.exponent)
    else:
        exact = [a - b for a, b in zip(one.exact, other.exact, strict=True)]
        moved = np.array(list(map(float, exact)))
    return moved.reshape(-1, one.law.size)


def losses(
    one: Transcript, other: Transcript, *, exactly: bool = False
) -> tuple[float, float]:
    """The privacy loss of two neighbours with one transcript: epsilon and rho.

    All laws are those of one history of releases, so the losses add.
    """
    epsilon = rho = 0.0
    for step, twin in zip(one.steps, other.steps, strict=True):
        if isinstance(step, Chosen):
            epsilon += _loss_of_choice(step, twin)
            continue
        moved = change(step, twin)  # type: ignore[arg-type]
        found = None if exactly else log_density(step.law, moved)
        if found is None:
            loss = float(sum(step.law.loss(row) for row in moved))
        else:
            loss = -float(found.sum())
        if isinstance(step.law, IndependentGaussian):
            rho += loss
        else:
            epsilon += loss
    return epsilon, rho


def share_of(promise: PrivacyGuarantee, loss: tuple[float, float]) -> float:
    """How much of a promise a loss uses up; more than 1 breaks it."""
    epsilon, rho = loss
    if promise.definition == "zcdp":
        return (rho + epsilon**2 / 2) / float(promise.rho or 0.0)
    if rho > 0:
        if promise.delta == 0:
            return math.inf
        epsilon += _gaussian_epsilon(rho, promise.delta)
    return epsilon / float(promise.epsilon or 0.0)


def draw_again(transcript: Transcript, n_trials: int, seed: int) -> list[Any]:
    """Independent releases of the same exact values, one array for each step."""
    bits, drawn = SeededBits(seed), []
    for step in transcript.releases:
        exact = step.value
        numbers = exact.values if isinstance(exact, FixedPoint) else exact
        rows = np.tile(np.ravel(numbers), n_trials).reshape(-1, step.law.size)
        value = replace(exact, values=rows) if isinstance(exact, FixedPoint) else rows
        integers = step.law.release(value, step.lattice, bits)
        floats = step.lattice.to_float(integers)
        drawn.append(floats.reshape(n_trials, -1, step.law.size))
    return drawn


def log_ratio(one: Transcript, other: Transcript, drawn: list[Any]) -> Any:
    """How much likelier one neighbour makes what was drawn, on a log scale.

    For a law that is not known here, the direction of the change stands in.
    """
    total = np.zeros(len(drawn[0]))
    for step, twin, outputs in zip(one.releases, other.releases, drawn, strict=True):
        centres = [
            np.array([float(x) for x in side.exact]).reshape(-1, side.law.size)
            for side in (step, twin)
        ]
        moved = change(step, twin)
        for row in range(outputs.shape[1]):
            z = outputs[:, row]
            near = log_density(step.law, z - centres[0][row])
            if near is None:
                total += (z - centres[0][row]) @ (moved[row] / step.law.std**2)
            else:
                total += near - log_density(step.law, z - centres[1][row])
    return total


def _loss_of_choice(step: Chosen, twin: Any) -> float:
    """Noise of scale 2 D / epsilon on scores: at most their relative change over it."""
    with np.errstate(invalid="ignore"):
        moved = np.where(step.scores == twin.scores, 0.0, step.scores - twin.scores)
    spread = float((moved.max(axis=1) - moved.min(axis=1)).sum())
    return spread * float(step.epsilon) / (2 * float(step.sensitivity))


def _gaussian_epsilon(rho: float, delta: float) -> float:
    """The epsilon of Gaussian noise at a delta, from above."""
    sensitivity = math.sqrt(2 * rho)
    low, high = 0.0, 1.0
    while gaussian_delta(high, 1.0, sensitivity) > delta:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        if gaussian_delta(middle, 1.0, sensitivity) > delta:
            low = middle
        else:
            high = middle
    return high
