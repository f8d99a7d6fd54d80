"""A private choice of the radius within which nearly everybody lies.

Bounds of values allow for far larger curves than people have. Once a centre has been
released, the distances of people from it tell how much of the ball is needed; one
private choice among few public radii says so, and noise in proportion to the chosen
radius follows.
"""

from __future__ import annotations

import math

import numpy as np

from ..noise import RandomBits
from ..privacy import permute_and_flip

_MOST = 25  # candidates, half an octave from each other: down to 2^-12 of the largest
_PRICE = 3.0  # people per step of radius, in units of 1 / epsilon
_CHEAPEST, _DEAREST = 2.0**-12, 2.0**20
_PRICE_BITS = 8
_HALF = 0.5  # the sensitivity of scores that all move in one direction


def choose_radius(
    distances: np.ndarray, largest: float, epsilon: float, bits: RandomBits
) -> float:
    """Choose a radius that clips few people, privately.

    Parameters
    ----------
    distances : ndarray, shape (n_people,)
        How far each person is from a public centre: a function of that person's data
        and of public facts, the largest over the rows of a person; *private*. What is
        not a number counts as far away.
    largest : float
        The largest candidate, > 0: no distance is above it; *public*.
    epsilon : float
        The budget of the choice, pure; *public*.
    bits : RandomBits
        The source of randomness.

    Returns
    -------
    float
        One of at most 25 radii ``largest * 2^(-k/2)``, k = 0, 1, ...; *released*.

    Notes
    -----
    The score of a radius is minus the number of people beyond it, minus a public price
    of 3 / epsilon people for each step by which it is larger than the smallest one.

    *Theorem*: with independent exponential noise of scale 1 / epsilon on every score,
    half of what scores of sensitivity 1 need in general, the choice of the largest is
    epsilon-DP. *Proof*: replacing one person's data moves one distance, from d to d',
    so the scores of all radii between the two move by 1, in the same direction, and no
    other score moves. Radius k wins if its noise is at least
    m = max_{j != k}(s_j + E_j) - s_k. All s_j move by 0 or 1 in one direction, s_k too,
    so m moves by at most 1 (not 2), and P(E >= m + 1) >= exp(-epsilon) P(E >= m).
    That is `permute_and_flip` with a sensitivity of 1/2.

    Prices are rounded to 8 significant bits, at least 2^-12 and at most 2^20, so that
    for up to 2^31 people the scores are exact as floats: rounded scores could move by
    more than 1.

    So few people that the prices of 25 steps would be above half of them have fewer
    candidates, by that public number: they cannot tell a small radius from none.

    A radius one step above the smallest that clips nobody wins about exp(-3) times as
    often; for large epsilon all prices together are below one person and far above the
    noise, and the choice is the smallest candidate that clips nobody.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.iclp._radius import choose_radius
    >>> from skfuncpriv.noise import random_bits
    >>> choose_radius(np.array([0.1, 0.2, 0.9]), 8.0, 1e6, random_bits(0))
    1.0
    """
    radii = candidate_radii(largest, len(distances), epsilon)
    return choose_among(radii, people_beyond(distances, radii), epsilon, bits)


def people_beyond(distances: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """How many people are farther away than each radius; *private*, and it adds up."""
    ordered = np.sort(np.where(np.isnan(distances), np.inf, distances))
    return len(ordered) - np.searchsorted(ordered, radii, side="right")


def choose_among(
    radii: np.ndarray, beyond: np.ndarray, epsilon: float, bits: RandomBits
) -> float:
    """Choose one of `candidate_radii` from the number of people beyond each."""
    steps = np.arange(len(radii))[::-1]
    scores = -beyond - price_of_a_step(epsilon) * steps
    (choice,) = permute_and_flip(
        scores[None], epsilon=epsilon, bits=bits, sensitivity=_HALF
    )
    return float(radii[choice])


def candidate_radii(largest: float, n_people: int, epsilon: float) -> np.ndarray:
    """The public radii to choose from, from the largest down."""
    affordable = n_people / (2 * price_of_a_step(epsilon))
    count = int(min(max(1.0, affordable), _MOST))
    return largest * np.exp2(-np.arange(count) / 2)


def price_of_a_step(epsilon: float) -> float:
    """How many people a step of radius must save, in few significant bits."""
    price = min(max(_PRICE / epsilon, _CHEAPEST), _DEAREST)
    mantissa, exponent = math.frexp(price)
    return math.ldexp(round(mantissa * 2**_PRICE_BITS), exponent - _PRICE_BITS)
