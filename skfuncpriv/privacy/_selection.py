"""Private choices: the best score, and what a pure choice costs in zCDP.

All comparisons are those of exact values plus exact real noise, so the proof in the
Notes holds on a real computer as it stands. The scale is verified between fractions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._validation import check_positive
from ..noise import (
    NoisyValues,
    RandomBits,
    RealDraws,
    at_most,
    exact_epsilon,
    larger_reading,
    smaller_reading,
)
from ._exact import claim_at_least, smallest_passing

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]


def permute_and_flip(
    scores: ArrayLike, *, epsilon: float, bits: RandomBits, sensitivity: float = 1.0
) -> Indices:
    """Choose, row by row, a column with a high score.

    The answer is the column with the largest score plus noise, the noise exponential
    with scale 2 D / epsilon. Rows are different people: they share no noise.

    Parameters
    ----------
    scores : array-like of float64, shape (n, K)
        Higher is better; *private*. Infinite scores are limits of finite ones: equal
        infinities are tied. NaN is refused.
    epsilon : float
        The budget of a row, per unit of distance; *public*.
    bits : RandomBits
        The source of randomness.
    sensitivity : float, default=1.0
        The Lipschitz constant D of every score; *public*.

    Returns
    -------
    ndarray of int, shape (n,)
        The chosen column of each row, private.

    Raises
    ------
    ValueError
        If a public parameter is out of range, or scores have the wrong shape or are
        NaN: the text tells no row and no value, and no noise has been drawn.
    PrivacyError
        If the noise scale overflows.

    Notes
    -----
    *Theorem*: P(x, o) <= exp(epsilon * dist(x, x')) P(x', o). *Proof*: let column k win
    by E_k >= m, where m = max_{j != k}(s_j + E_j) - s_k. From x to x' the number m
    grows by at most 2 D dist, and P(E >= m + c) >= exp(-c / scale) P(E >= m) for c >= 0
    and all m of both signs.

    The law is that of permute-and-flip [1]_, as [2]_ show: with
    x_j = exp((s_j - max s) / scale),

        P(k) = x_k * integral_0^1 prod_{j != k} (1 - u x_j) du,

    u being the time at which column k comes up. Its expected error is never above that
    of the exponential mechanism, and at best half of it.

    References
    ----------
    .. [1] R. McKenna and D. Sheldon, "Permute-and-flip: a new mechanism for
       differentially private selection", NeurIPS 2020.
    .. [2] Z. Ding, D. Kifer et al., "The permute-and-flip mechanism is identical to
       report-noisy-max with exponential noise", arXiv 2105.07260, 2021.

    Examples
    --------
    >>> from skfuncpriv.noise import random_bits
    >>> from skfuncpriv.privacy import permute_and_flip
    >>> scores = [[0.0, 3.0, 1.0], [5.0, 0.0, 0.0]]
    >>> permute_and_flip(scores, epsilon=50.0, bits=random_bits(0))
    array([1, 0])
    """
    rate = loss_rate(epsilon, sensitivity)
    scale = smallest_passing(
        lambda scale: rate * Fraction(scale) >= 2, claim_at_least(2 / rate)
    )
    values = check_numbers(scores, (None, None))
    n_rows, n_columns = values.shape
    if not n_columns:
        raise ValueError("scores must have at least one column")
    noise = RealDraws("exponential", scale, values.size, bits)
    rows = np.arange(n_rows)

    def noisy(column: Any) -> NoisyValues:
        return NoisyValues(values[rows, column], noise, rows * n_columns + column)

    best = np.zeros(n_rows, dtype=np.intp)
    for column in range(1, n_columns):
        best[at_most(noisy(best), noisy(column))] = column
    return best


def selection_epsilon(rho: float) -> float:
    """Epsilon of a pure choice that costs at most rho of a concentrated budget.

    Parameters
    ----------
    rho : float
        Public budget of zCDP or of concentrated geo-privacy, finite and > 0.

    Returns
    -------
    float
        The largest float64 with epsilon^2 / 2 <= rho.

    Raises
    ------
    ValueError
        If rho is not a finite number > 0.

    Notes
    -----
    If the log ratio of two laws is at most e, their Renyi divergence of order alpha is
    at most alpha e^2 / 2 (Proposition 3.3 of [1]_). At distance d, e = epsilon d, so an
    epsilon-GP choice is (epsilon^2 / 2)-CGP; an epsilon-DP one is (epsilon^2 / 2)-zCDP.
    Checked between fractions: the larger reading of epsilon, the smaller one of rho.

    References
    ----------
    .. [1] M. Bun and T. Steinke, "Concentrated differential privacy: simplifications,
       extensions, and lower bounds", TCC 2016.

    Examples
    --------
    >>> from skfuncpriv.privacy import selection_epsilon
    >>> selection_epsilon(0.5)
    1.0
    """
    budget = smaller_reading(check_positive(rho, "rho"))
    start = math.sqrt(2) * math.sqrt(rho)
    above = smallest_passing(
        lambda epsilon: larger_reading(epsilon) ** 2 > 2 * budget, start
    )
    return math.nextafter(above, 0.0)


def loss_rate(epsilon: float, sensitivity: float) -> Fraction:
    """The loss that is allowed for each unit by which a query moves."""
    return exact_epsilon(epsilon) / larger_reading(
        check_positive(sensitivity, "sensitivity")
    )


def check_numbers(values: Any, shape: tuple[int | None, ...]) -> Floats:
    """An array of float64 numbers, none of them NaN; the errors tell nothing."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("private values must be an array of numbers") from None
    if array.ndim != len(shape) or any(
        want not in (None, size) for want, size in zip(shape, array.shape, strict=True)
    ):
        raise ValueError(
            "private values must have one row per person, and one column per choice "
            "unless they come column by column"
        )
    if np.isnan(array).any():
        raise ValueError("private values must be numbers, NaN is refused")
    return array
