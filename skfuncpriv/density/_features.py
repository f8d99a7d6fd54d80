"""The exact sum of features of points, each in a ball."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..noise import FixedPoint
from ..summaries import (
    BallContributions,
    BallSum,
    averages_in_blocks,
    number_of_people,
)

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

    def vectors(rows: slice | np.ndarray) -> np.ndarray:
        return features(points[rows]) * shares[rows, None]

    total = BallSum(ball)
    if codes is None:
        step = max(1, _CHUNK_VALUES // ball.n_coefficients)
        for start in range(0, len(points), step):
            total.add(vectors(slice(start, start + step)))
        return total.value()
    own = BallContributions(1, ball.n_coefficients, ball.radius)
    for averages in averages_in_blocks(
        lambda rows: own.contributions(vectors(rows)),
        codes,
        number_of_people(codes),
        ball.n_coefficients,
    ):
        total.add(own.lattice.to_float(averages))
    return total.value()
