"""Bases on one domain, piecewise linear curves, and their exact integrals."""

from itertools import pairwise

import mpmath
import numpy as np

from skfuncpriv.basis import (
    BSplineBasis,
    CosineBasis,
    FourierBasis,
    KernelBasis,
    LegendreBasis,
    MonomialBasis,
    PiecewisePolynomialBasis,
    SincBasis,
)

DOMAIN = (-1.0, 3.0)
WIDTH = DOMAIN[1] - DOMAIN[0]
_BREAKS = (-1.0, -0.5, 1.0, 1.5, 3.0)

BASES = {
    "cosine": CosineBasis(7, DOMAIN),
    "fourier": FourierBasis(7, DOMAIN),
    "legendre": LegendreBasis(6, DOMAIN),
    "monomial": MonomialBasis(5, DOMAIN),
    "spline": BSplineBasis(8, DOMAIN),
    "line spline": BSplineBasis(5, DOMAIN, degree=1),
    "sinc": SincBasis(6, DOMAIN),
    "whole line": SincBasis(6, DOMAIN, whole_line=True),
    "constants": PiecewisePolynomialBasis(_BREAKS, 0, -1),
    "parabolas": PiecewisePolynomialBasis(_BREAKS, 2, 1),
    "kernel": KernelBasis("matern32", 7, DOMAIN),
}


def integrate(f, edges, n_nodes=30):
    """The integral of a function that is smooth between the edges."""
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    half = np.diff(edges)[:, None] / 2
    points = (edges[:-1, None] + half * (1 + nodes)).ravel()
    return (half * weights).ravel() @ f(points)


def kinks(*grids):
    """All points where a curve or a basis of this module may have a kink."""
    ends = [np.array(DOMAIN), np.array(_BREAKS), np.linspace(*DOMAIN, 61)]
    return np.unique(np.concatenate([*ends, *grids]))


def distance(one, two):
    """The L2 distance of two piecewise linear curves (grid, values)."""
    places = np.unique(np.concatenate([DOMAIN, one[0], two[0]]))
    gap = np.interp(places, *one) - np.interp(places, *two)
    left, right = gap[:-1], gap[1:]
    return np.sqrt(np.diff(places) @ (left**2 + left * right + right**2) / 3)


def curve(rng, n_points, scale=1.0):
    """A random curve that reaches both ends of the domain."""
    inner = rng.uniform(*DOMAIN, n_points - 2)
    grid = np.unique(np.concatenate([DOMAIN, inner]))
    return grid, scale * rng.normal(size=len(grid))


def _pieces(grid, values, domain):
    """The lines of a curve as exact (start, end, value there, value there)."""
    points = [(mpmath.mpf(float(t)), mpmath.mpf(float(y))) for t, y in
              zip(grid, values, strict=True)]  # fmt: skip
    low, high = (mpmath.mpf(end) for end in domain)
    points = [(low, points[0][1]), *points, (high, points[-1][1])]
    for (t0, y0), (t1, y1) in pairwise(points):
        if t1 > t0:
            yield t0, t1, y0, y1


def exact_cosines(grid, values, n_basis, domain):
    """Coefficients of a curve in cosines, to 60 digits."""
    low, high = (mpmath.mpf(end) for end in domain)
    width, total = high - low, [mpmath.mpf(0)] * n_basis
    for t0, t1, y0, y1 in _pieces(grid, values, domain):
        slope = (y1 - y0) / (t1 - t0)
        total[0] += (t1 - t0) * (y0 + y1) / 2 / mpmath.sqrt(width)
        for j in range(1, n_basis):
            k = mpmath.pi * j / width
            ends = [
                y * mpmath.sin(k * (t - low)) / k
                + slope * mpmath.cos(k * (t - low)) / k**2
                for t, y in ((t0, y0), (t1, y1))
            ]
            total[j] += mpmath.sqrt(2 / width) * (ends[1] - ends[0])
    return total


def exact_legendre(grid, values, n_basis, domain):
    """Coefficients of a curve in Legendre polynomials, to 60 digits.

    A rule of n_basis nodes is exact for a polynomial times a line.
    """
    low, high = (mpmath.mpf(end) for end in domain)
    width, total = high - low, [mpmath.mpf(0)] * n_basis
    rule = _legendre_rule(n_basis)
    for t0, t1, y0, y1 in _pieces(grid, values, domain):
        for node, weight in rule:
            share = (1 + node) / 2
            t, y = t0 + share * (t1 - t0), y0 + share * (y1 - y0)
            x = (2 * t - low - high) / width
            last, this = mpmath.mpf(0), mpmath.mpf(1)
            for j in range(n_basis):
                size = mpmath.sqrt((2 * j + 1) / width)
                total[j] += weight * (t1 - t0) / 2 * y * this * size
                last, this = this, ((2 * j + 1) * x * this - j * last) / (j + 1)
    return total


def _legendre_rule(n_nodes):
    """Gauss-Legendre nodes and weights, refined by Newton from those of floats."""
    rule = []
    for start in np.polynomial.legendre.leggauss(n_nodes)[0]:
        x = mpmath.mpf(float(start))
        for _ in range(4):
            value, slope = _legendre(n_nodes, x)
            x -= value / slope
        rule.append((x, 2 / ((1 - x**2) * _legendre(n_nodes, x)[1] ** 2)))
    return rule


def _legendre(n, x):
    """P_n(x) and its derivative."""
    last, this = mpmath.mpf(1), x
    for j in range(1, n):
        last, this = this, ((2 * j + 1) * x * this - j * last) / (j + 1)
    return this, n * (x * this - last) / (x**2 - 1)
