"""The exact sum behind the one release of a fit, and oracles of the mean."""

import numpy as np

from skfuncpriv.testing import recorded


def private_sum(estimator, X, groups=None):
    """The one release of a fit, with the exact sum that it hides."""
    with recorded() as releases:
        estimator.fit(X, groups=groups)
    (released,) = releases
    return released


def cosine(t, n_basis, domain):
    """The cosine functions, written a second time: shape (n_points, n_basis)."""
    low, high = domain
    width = high - low
    table = [np.full(len(t), 1 / np.sqrt(width))]
    for j in range(1, n_basis):
        table.append(np.sqrt(2 / width) * np.cos(np.pi * j * (t - low) / width))
    return np.stack(table, axis=1)


def smooth_cosine(t, n_basis, domain):
    """1, t, t^2 and cosines made orthonormal, written a second time."""
    nodes, weights = np.polynomial.legendre.leggauss(400)

    def raw(x):
        cosines = np.cos(np.pi * np.outer(x, np.arange(1, n_basis)))
        return np.column_stack([np.ones_like(x), x, x**2, cosines])[:, :n_basis]

    root = np.sqrt(weights / 2)[:, None]
    factor = np.linalg.qr(root * raw((nodes + 1) / 2), mode="r")
    factor *= np.sign(np.diag(factor))[:, None]
    low, high = domain
    table = raw((t - low) / (high - low)) @ np.linalg.inv(factor)
    return table / np.sqrt(high - low)


def projections(curves, grid, n_basis, domain, functions=cosine):
    """Inner products of piecewise linear curves with functions, (n, n_basis)."""
    edges = np.unique(np.concatenate([domain, grid]))
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges)[:, None] / 2
    points = (edges[:-1, None] + half * (1 + nodes)).ravel()
    heights = np.stack([np.interp(points, grid, curve) for curve in curves])
    return (heights * (half * weights).ravel()) @ functions(points, n_basis, domain)
