"""The best cut of coefficients into blocks of spherical Laplace noise.

On a Euclidean ball, blocks with budgets eps_i compose in quadrature. A block of m_i
coefficients that is later multiplied by a_j costs (m_i + 1) * sum a_j^2 / eps_i^2, so
under sum eps_i^2 = eps^2 the best eps_i^2 is proportional to the square root of
(m_i + 1) * sum a_j^2, and the total is the square of the sum of those roots. The cut
that minimises it is found by dynamic programming, from public weights alone.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

_SMALLEST = 1e-300  # squared weight, of the largest one, that still counts


def best_partition(weights: np.ndarray) -> tuple[tuple[int, ...], np.ndarray]:
    """Cut weighted coefficients into contiguous blocks.

    Parameters
    ----------
    weights : ndarray, shape (m,)
        The factors a_j that multiply the released coefficients; *public*.

    Returns
    -------
    sizes : tuple of int
        The block sizes.
    profile : ndarray, shape (n_blocks,)
        The scale of each block, up to a common factor.
    """
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    return _best_partition(weights.tobytes())


@lru_cache(maxsize=64)  # rounds of one fit, and fits of one plan, ask for the same
def _best_partition(key: bytes) -> tuple[tuple[int, ...], np.ndarray]:
    weights = np.frombuffer(key)
    size, unit = len(weights), weights.max()
    square = np.maximum(np.square(weights / unit), _SMALLEST)
    cost = np.full(size + 1, np.inf)
    cost[0] = 0.0
    previous = np.zeros(size + 1, dtype=np.intp)
    for end in range(1, size + 1):
        # sums of the last 1, 2, ... squares: differences of sums would cancel
        energy = np.cumsum(square[:end][::-1])
        roots = np.sqrt(np.arange(2, end + 2) * energy)[::-1]
        total = cost[:end] + roots
        previous[end] = np.argmin(total)
        cost[end] = total[previous[end]]
    ends = [size]
    while ends[-1]:
        ends.append(int(previous[ends[-1]]))
    edges = np.array(ends[::-1])
    sizes = np.diff(edges)
    roots = np.sqrt((sizes + 1) * np.add.reduceat(square, edges[:-1]))
    profile = 1 / np.sqrt(roots * unit)
    profile.flags.writeable = False
    return tuple(sizes.tolist()), profile
