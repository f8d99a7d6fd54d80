"""Gauss-Legendre rules and orthonormal Legendre polynomials on [-1, 1].

An n-point rule integrates polynomials of degree 2n - 1 exactly. Functions whose phase
turns by at most `PANEL_PHASE` radians between two break points are integrated, times a
straight line, to rounding error by `PANEL_NODES` nodes: the Legendre coefficients of
exp(i z x) are spherical Bessel functions j_k(z), and j_19(2.5) is below 1e-15.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import roots_legendre

FloatArray = npt.NDArray[np.float64]

PANEL_PHASE = 5.0
PANEL_NODES = 10
# A product of two basis functions turns twice as fast as one.
PANEL_NODES_SQUARE = 16


@lru_cache(maxsize=32)
def gauss_legendre(n_nodes: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of the rule with `n_nodes` points on [-1, 1], read-only."""
    nodes, _ = roots_legendre(n_nodes)
    # Christoffel's formula: scipy's own weights of long rules are off by 1e-10.
    weights = 1.0 / np.sum(legendre_table(nodes, n_nodes) ** 2, axis=1)
    nodes.flags.writeable = False
    weights.flags.writeable = False
    return nodes, weights


def panel_rule(edges: FloatArray, n_nodes: int) -> tuple[FloatArray, FloatArray]:
    """The rule repeated on every panel between `edges`, as (n_panels, n_nodes)."""
    nodes, weights = gauss_legendre(n_nodes)
    half = 0.5 * np.diff(edges)[:, np.newaxis]
    return edges[:-1, np.newaxis] + half * (1.0 + nodes), half * weights


def n_panels(phase: float) -> int:
    """How many panels resolve a function whose phase turns by `phase` in total."""
    return max(1, int(np.ceil(phase / PANEL_PHASE)))


def polynomial_breaks(degree: int) -> FloatArray:
    """Break points on [-1, 1] between which polynomials of `degree` are resolved.

    A polynomial of degree n is a trigonometric sum of degree n in arccos(x), so equal
    steps of the angle are equal steps of the phase.
    """
    angles = np.linspace(0.0, np.pi, n_panels(np.pi * degree) + 1)
    return -np.cos(angles)


def legendre_table(x: FloatArray, n_functions: int) -> FloatArray:
    """Orthonormal Legendre polynomials of degree 0 to n - 1, as (n_points, n)."""
    table = np.empty((n_functions, len(x)))
    table[0] = np.sqrt(0.5)
    if n_functions > 1:
        np.multiply(x, np.sqrt(1.5), out=table[1])
    # sqrt(k^2 / (4 k^2 - 1)) is the off-diagonal of the Jacobi matrix: x p_k =
    # off[k+1] p_{k+1} + off[k] p_{k-1}. Plain floats keep the loop cheap.
    k = np.arange(n_functions, dtype=float)
    off = k / np.sqrt(np.abs(4.0 * k * k - 1.0))
    scale = (1.0 / off[1:]).tolist()
    ratio = (off[1:-1] / off[2:]).tolist()
    scratch = np.empty(len(x))
    for degree in range(2, n_functions):
        row = table[degree]
        np.multiply(x, table[degree - 1], out=row)
        row *= scale[degree - 1]
        np.multiply(table[degree - 2], ratio[degree - 2], out=scratch)
        row -= scratch
    return table.T
