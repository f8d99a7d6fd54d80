"""The choice of an expansion, from public facts alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._tables import as_numbers, check_finite
from .._validation import check_count
from ..exceptions import PrivacyError
from ._expansion import PointExpansion
from ._kernels import Kernel
from ._tensor_expansion import TensorExpansion

MOST_AXES = 3
MOST_POINTS = 4096
_N_TESTS = 1000


def public_expansion(
    kernel: Kernel,
    low: np.ndarray,
    high: np.ndarray,
    points: Any,
    n_nodes: Any,
    origin: np.ndarray | float = 0.0,
) -> PointExpansion | TensorExpansion:
    """The expansion at given points, at a number of points, or as fine as needed.

    It is one of functions of x - origin.
    """
    n_axes = len(low)
    low, high = low - origin, high - origin
    if points is not None:
        nodes = _public_points(points, n_axes) - origin
        return PointExpansion.at(kernel, nodes, spread(_N_TESTS, low, high))
    if not isinstance(n_nodes, str) or n_nodes != "auto":
        nodes = spread(check_count(n_nodes, "n_nodes"), low, high)
        if len(nodes) > MOST_POINTS:
            raise ValueError(f"n_nodes must be at most {MOST_POINTS}, got {n_nodes!r}")
        return PointExpansion.at(kernel, nodes, spread(_N_TESTS, low, high))
    if n_axes > MOST_AXES:
        raise PrivacyError(
            f"a function of {n_axes} arguments has no expansion that is accurate "
            f"everywhere (at most {MOST_AXES} have one): pass points= for the values "
            "at given points, or n_nodes= for a coarse expansion"
        )
    return TensorExpansion.on_box(kernel, low, high)


def spread(count: int, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Evenly spread points of a box; on one axis equally spaced, with both ends.

    Otherwise the additive recurrence of powers of 1/g mod 1, where g^(d+1) = g + 1, the
    generalised golden ratio.
    """
    n_axes = len(low)
    if n_axes == 1:
        turns = np.linspace(0, 1, count)[:, None] if count > 1 else np.full((1, 1), 0.5)
    else:
        ratio = 2.0
        for _ in range(64):
            ratio = (1 + ratio) ** (1 / (n_axes + 1))
        steps = ratio ** -np.arange(1.0, n_axes + 1)
        turns = (0.5 + np.outer(np.arange(1, count + 1), steps)) % 1
    return low + (high - low) * turns


def _public_points(points: Any, n_axes: int) -> np.ndarray:
    nodes = np.array(as_numbers(points))
    if nodes.ndim != 2 or nodes.shape[1] != n_axes or len(nodes) == 0:
        raise ValueError(
            f"points must have shape (n_points, {n_axes}), one row per point, got "
            f"shape {nodes.shape}"
        )
    check_finite(nodes)
    if len(nodes) > MOST_POINTS:
        raise ValueError(
            f"points may be at most {MOST_POINTS}, got {len(nodes)}: release an "
            "expansion (points=None), or fewer of them"
        )
    return nodes
