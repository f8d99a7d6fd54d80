"""Sparse vector: the first query below a threshold, the large coefficients.

All comparisons are those of exact values plus exact real noise, so the proofs in the
Notes hold on a real computer as they stand. They write P(x, o) for the probability of
output o on input x, and move every noise by an amount that makes x' give what x gave:
if noise z_i with density exp(-abs(z_i) / s_i) / (2 s_i) moves by d_i, then
P(x, o) <= exp(sum_i abs(d_i) / s_i) P(x', o). Scales are verified between fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._validation import check_count
from ..noise import NoisyValues, RandomBits, RealDraws, at_most
from ._exact import claim_at_least, smallest_passing
from ._selection import Floats, Indices, check_numbers, loss_rate

Queries: TypeAlias = Callable[[int, Indices], ArrayLike] | Iterable[ArrayLike]

# Query scale over threshold scale, where the sum of their variances is smallest.
_RATIO = 2 ** (1 / 3)  # minimises (r + 2)^2 (1 + 1/r^2): the shares 1 : 2^(2/3)
_ALIGNED_RATIO = 1.1366  # minimises ((r + 1)^2 + 1) (1 + 1/r^2)


def sparse_vector(
    queries: Queries,
    *,
    epsilon: float,
    thresholds: ArrayLike,
    max_queries: int,
    bits: RandomBits,
    n_rows: int | None = None,
    sensitivity: float = 1.0,
    aligned: bool = False,
) -> Indices:
    """Choose, row by row, the first query that is noisily below its threshold.

    With one noise R ~ Lap(a) per row and one noise Z_k ~ Lap(b) per query, the answer
    is the first k < max_queries - 1 with q_k + Z_k <= t_k + R, or else the last index,
    max_queries - 1. Rows are different people: they share no noise.

    Parameters
    ----------
    queries : callable or iterable
        ``queries(k, rows)`` returns query k of the rows that are still undecided, as
        float64 numbers of shape (len(rows),); or an iterable of columns, each of shape
        (n_rows,). Asked in order and only while needed; the last one never is.
        *Private*; infinite values are allowed, NaN is refused.
    epsilon : float
        The budget of a row, per unit of distance; *public*.
    thresholds : float or array-like, shape (max_queries,)
        The thresholds t_k, finite numbers of any sign; *public*.
    max_queries : int
        The number of possible answers; *public*.
    bits : RandomBits
        The source of randomness.
    n_rows : int, optional
        The number of rows; required if `queries` is a callable; *public*.
    sensitivity : float, default=1.0
        The Lipschitz constant D: no query moves by more than D times the distance of
        two inputs; *public*.
    aligned : bool, default=False
        Whether the metric is Euclidean and the gradients of any two queries have an
        inner product >= 0, as those of the distances to growing subspaces have: this
        needs a quarter less noise. *Public*.

    Returns
    -------
    ndarray of int, shape (n_rows,)
        The chosen index of each row, private.

    Raises
    ------
    ValueError
        If a public parameter is out of range, or queries have the wrong shape or are
        NaN: the text tells no row and no value, and that query has drawn no noise.
    PrivacyError
        If a noise scale overflows.

    Notes
    -----
    *Theorem*: P(x, o) <= exp(epsilon * dist(x, x')) P(x', o), that is epsilon-GP in the
    metric of the Lipschitz constant; epsilon-DP if D bounds the change of every query
    between neighbours.

    *Proof*. Let h_j = q_j(x) - q_j(x'), o = k and s = max(0, max_{j<k} h_j). Move R by
    -s: a query j < k with q_j(x) + Z_j > t_j + R has q_j(x') + Z_j > t_j + R - s. Move
    Z_k by -max(0, s - h_k): query k hits again. The thresholds t_j are public and
    cancel, however they differ. Hence the loss is at most s/a + max(0, s - h_k)/b
    <= (1/a + 2/b) D dist. The last index is the union of a hit of the last query and
    of none at all, so it needs no comparison and loses s/a only. The scales satisfy
    1/a + 2/b <= epsilon/D with shares 1 : 2^(2/3) [2]_; the mechanism is that of [1]_.

    If gradients are aligned, integrate along the segment from x' to x: (1/a + 1/b) h_j
    - h_k/b is at most dist times the norm of (1/a + 1/b) grad q_j - grad q_k / b, so
    D sqrt((1/a + 1/b)^2 + 1/b^2) <= epsilon suffices. For the distances r_k of x to
    growing subspaces, <grad r_j, grad r_k> = r_k / r_j >= 0.

    All this concerns the numbers that are compared. If they are only within e of
    queries with these properties, each h errs by 2 e at most, which adds 2 e / D to the
    distance, and sqrt(2) times that if aligned.

    References
    ----------
    .. [1] C. Dwork and A. Roth, "The algorithmic foundations of differential privacy",
       2014, section 3.6.
    .. [2] M. Lyu, D. Su and N. Li, "Understanding the sparse vector technique for
       differential privacy", PVLDB 10, 2017.

    Examples
    --------
    >>> from skfuncpriv.noise import random_bits
    >>> from skfuncpriv.privacy import sparse_vector
    >>> columns = [[9.0, 8.0], [7.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
    >>> budget = dict(epsilon=100.0, thresholds=4.0, max_queries=4)
    >>> sparse_vector(columns, **budget, bits=random_bits(0))
    array([2, 1])
    """
    max_queries = check_count(max_queries, "max_queries")
    limits = _check_thresholds(thresholds, max_queries, "max_queries")
    scales = sparse_vector_scales(epsilon, sensitivity, aligned=aligned)
    ask, n_rows = _lazily(queries, n_rows)
    active = np.arange(n_rows)
    chosen = np.full(n_rows, max_queries - 1, dtype=np.intp)
    threshold_noise = RealDraws("laplace", scales[0], n_rows, bits)
    for k in range(max_queries - 1):
        if not active.size:
            break
        values = check_numbers(ask(k, active), (active.size,))
        noise = RealDraws("laplace", scales[1], active.size, bits)
        hit = at_most(
            NoisyValues(values, noise, np.arange(active.size)),
            NoisyValues(np.full(active.size, limits[k]), threshold_noise, active),
        )
        chosen[active[hit]] = k
        active = active[~hit]
    return chosen


def sparse_coefficients(
    values: ArrayLike,
    *,
    epsilon: float,
    thresholds: ArrayLike,
    n_hits: int,
    bits: RandomBits,
) -> NDArray[np.bool_]:
    """Choose, row by row, the first coefficients that are noisily large.

    With one noise R ~ Lap(a) per row and one noise Z_j ~ Lap(b) per coefficient, those
    with abs(c_j) + Z_j > t_j + R are chosen, in the order of the columns, until n_hits
    are. Rows are different people: they share no noise.

    Parameters
    ----------
    values : array-like of float64, shape (n, m)
        Coefficients in an orthonormal basis; *private*. Infinite ones are chosen while
        there is room, NaN is refused.
    epsilon : float
        The budget of a row, per unit of Euclidean distance between rows; *public*.
    thresholds : float or array-like, shape (m,)
        The thresholds t_j, finite numbers; *public*.
    n_hits : int
        The largest number of coefficients that a row may choose; *public*.
    bits : RandomBits
        The source of randomness.

    Returns
    -------
    ndarray of bool, shape (n, m)
        Which coefficients were chosen, private.

    Raises
    ------
    ValueError
        If a public parameter is out of range, or values have the wrong shape or are
        NaN: the text tells no row and no value, and no noise has been drawn.
    PrivacyError
        If a noise scale overflows.

    Notes
    -----
    *Theorem*: P(x, o) <= exp(epsilon * norm(x - x')) P(x', o).

    *Proof*. Let h_j = abs(x'_j) - abs(x_j), so norm(h) <= norm(x - x'); let o have hits
    H, at most c, and misses N before the last hit that is allowed. For any s >= 0 move
    R by s, misses with h_j > s down by h_j - s, hits with h_j < s up by s - h_j: x'
    then gives o. With g = b/a the loss is at most 1/b times

        (g + c) s + sum_N max(0, h_j - s) + sum_H abs(h_j).

    At the best s the first two terms are the sum of the g + c largest of max(0, h_j),
    j in N, if g is an integer (linear programming duality), so by Cauchy-Schwarz the
    loss is at most sqrt(2c + g)/b * norm(h). With s fixed to the largest h_j the sum
    would be sqrt((g + c)^2 + c), and sqrt((c + 1)^2 + c - 1) + g if the coordinate
    that moves most could be a hit as well: here it cannot, as a hit needs no help from
    R where h_j > 0. Hence b = sqrt(2c + g)/epsilon and a = b/g, with the g >= 1 of the
    smallest a^2 + b^2. Where 2c + g >= m no threshold noise is needed, for s = 0 gives
    sqrt(m)/b whatever is chosen: a = 0, b = sqrt(m)/epsilon.

    References
    ----------
    .. [1] M. Lyu, D. Su and N. Li, "Understanding the sparse vector technique for
       differential privacy", PVLDB 10, 2017.

    Examples
    --------
    >>> from skfuncpriv.noise import random_bits
    >>> from skfuncpriv.privacy import sparse_coefficients
    >>> budget = dict(epsilon=100.0, thresholds=4.0, n_hits=2)
    >>> sparse_coefficients([[9.0, 1.0, -8.0, 7.0]], **budget, bits=random_bits(0))
    array([[ True, False,  True, False]])
    """
    n_hits = check_count(n_hits, "n_hits")
    sizes = np.abs(check_numbers(values, (None, None)))
    n_rows, n_columns = sizes.shape
    if not n_columns:
        raise ValueError("values must have at least one column")
    limits = _check_thresholds(thresholds, n_columns, "m")
    scales = sparse_coefficients_scales(epsilon, n_columns, n_hits)
    threshold_noise = RealDraws("laplace", scales[0], n_rows, bits)
    chosen = np.zeros(sizes.shape, dtype=np.bool_)
    room = np.full(n_rows, n_hits)
    for column in range(n_columns):
        active = np.flatnonzero(room)
        noise = RealDraws("laplace", scales[1], active.size, bits)
        hit = ~at_most(
            NoisyValues(sizes[active, column], noise, np.arange(active.size)),
            NoisyValues(np.full(active.size, limits[column]), threshold_noise, active),
        )
        chosen[active, column] = hit
        room[active[hit]] -= 1
    return chosen


def sparse_vector_scales(
    epsilon: float, sensitivity: float, *, aligned: bool
) -> tuple[float, float]:
    """Scales (a, b) of the threshold and query noise of `sparse_vector`."""
    rate = loss_rate(epsilon, sensitivity)
    ratio = Fraction(_ALIGNED_RATIO if aligned else _RATIO)

    def is_safe(b: float) -> bool:
        first, second = 1 / Fraction(a), 1 / Fraction(b)
        if aligned:
            return (first + second) ** 2 + second**2 <= rate**2
        return first + 2 * second <= rate

    factor = Fraction(math.hypot(ratio + 1, 1)) if aligned else ratio + 2
    a = claim_at_least(factor / (ratio * rate))
    return a, smallest_passing(is_safe, claim_at_least(factor / rate))


def sparse_coefficients_scales(
    epsilon: float, n_columns: int, n_hits: int
) -> tuple[float, float]:
    """Scales (a, b) of the threshold and query noise of `sparse_coefficients`."""
    hits = min(n_hits, n_columns)
    best = min(
        range(1, n_columns - 2 * hits),  # those with 2c + g < m
        key=lambda g: (2 * hits + g) * (1 + 1 / g**2),
        default=None,
    )
    if best is not None and (2 * hits + best) * (1 + 1 / best**2) >= n_columns:
        best = None
    count = n_columns if best is None else 2 * hits + best
    rate = loss_rate(epsilon, 1.0)
    b = smallest_passing(
        lambda b: count <= (rate * Fraction(b)) ** 2,
        claim_at_least(Fraction(math.sqrt(count)) / rate),
    )
    if best is None:
        return 0.0, b
    share = Fraction(b) / best
    return smallest_passing(lambda a: Fraction(a) >= share, claim_at_least(share)), b


def _lazily(queries: Queries, n_rows: int | None) -> tuple[Callable[..., Any], int]:
    """Queries as a function of index and rows, and the number of rows."""
    if callable(queries):
        return queries, check_count(n_rows, "n_rows", minimum=0)
    columns = iter(queries)
    first = np.asarray(next(columns, ()))
    every = chain([first], columns)
    if first.ndim != 1 or n_rows not in (None, first.size):
        raise ValueError("queries must be columns of shape (n_rows,)")

    def ask(k: int, rows: Indices) -> Any:  # noqa: ARG001
        column = np.asarray(next(every, ()))
        if column.shape != first.shape:
            raise ValueError("queries must give max_queries - 1 columns of one shape")
        return column[rows]

    return ask, first.size


def _check_thresholds(thresholds: Any, size: int, name: str) -> Floats:
    array = np.asarray(thresholds, dtype=np.float64)
    if array.shape not in ((), (size,)) or not np.isfinite(array).all():
        raise ValueError(
            f"thresholds must be one finite number or {name} = {size} of them, "
            f"got shape {array.shape}"
        )
    return np.broadcast_to(array, (size,))
