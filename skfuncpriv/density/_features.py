"""The exact sum of features of points, each in a ball."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..noise import FixedPoint
from ..summaries import BallContributions, BallSum, person_averages

_CHUNK_VALUES = 1 << 20


def sum_in_ball(
    features: Callable[[np.ndarray], np.ndarray],
    ball: BallContributions,
    points: np.ndarray,
    codes: np.ndarray | None,
    shares: np.ndarray | None,
) -> FixedPoint:
    """Sum the features of people's points, or averages over the points of each.

    Parameters
    ----------
    features : callable
        From points, shape (n, d), to features, shape (n, m); row by row.
    ball : BallContributions
        The ball that holds them.
    points, codes, shares
        Rows, who owns them, and the share of its features that each gives.

    Returns
    -------
    FixedPoint
        Shape (m,).
    """
    if shares is None:
        shares = np.ones(len(points))
    total = BallSum(ball)
    if codes is not None:
        rows = features(points) * shares[:, None]
        total.add(person_averages(rows, codes, ball.n_people, ball.radius))
        return total.value()
    step = max(1, _CHUNK_VALUES // ball.n_coefficients)
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        total.add(features(points[rows]) * shares[rows, None])
    return total.value()
