"""Iterated Bernstein operators on the unit cube: public maths, stable at every degree.

The Bernstein polynomial of a function f is B f = sum_v f(v / k) b_v with b_v(x) =
binom(k, v) x^v (1 - x)^(k - v), and products of that along several axes. The iterated
operator B^(h) = I - (I - B)^h sees the same values and is better for smooth functions;
B^(1) is B itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np
from scipy.special import xlog1py, xlogy

from skfuncpriv.basis._quadrature import FloatArray

_CHUNK = 1 << 12


def bernstein_basis(x: FloatArray, degree: int) -> FloatArray:
    """The polynomials b_0 .. b_k at points of [0, 1], shape (n_points, k + 1).

    They are the probabilities of a binomial law, computed from their logarithms with
    relative errors of about 1e-14 k^(1/2); no power under- or overflows.
    """
    v = np.arange(degree + 1)
    steps = np.log((degree - v[1:] + 1) / v[1:])
    binomial = np.concatenate([[0.0], np.cumsum(steps)])
    x = np.asarray(x, dtype=np.float64)[:, None]
    logarithm = binomial + xlogy(v, x) + xlog1py(degree - v, -x)
    return np.asarray(np.exp(logarithm))


@dataclass(frozen=True)
class BernsteinOperator:
    """The operator B^(h) of degree k on functions of d axes.

    Parameters
    ----------
    degree, order, n_axes : int
        k, h and d; *public*.

    Notes
    -----
    With M the matrix of b_v(j / k), which maps values of f to values of B f, the
    result B^(h) f has the coefficients c = sum_{i < h} (I - M)^i f in the basis b_v,
    because I - (I - B)^h = B sum_{i < h} (I - B)^i. M has rows that are >= 0 and sum to
    one, so nothing grows by more than a factor 2^h.
    """

    degree: int
    order: int
    n_axes: int

    @property
    def matrix(self) -> FloatArray:
        """The matrix M of one axis, shape (k + 1, k + 1)."""
        return _matrix(self.degree)

    @property
    def powers(self) -> FloatArray:
        """The factors a_i in sum_{i < h} (1 - x)^i = sum_i a_i x^i, shape (h,)."""
        h = self.order
        return np.array([(-1.0) ** i * comb(h, i + 1) for i in range(h)])

    def coefficients(self, values: FloatArray) -> FloatArray:
        """Coefficients in the basis b_v from values, of shape (..., k + 1, .., k + 1).

        The last d axes are those of the lattice.
        """
        result = values
        for _ in range(self.order - 1):
            smooth = result
            for axis in range(-self.n_axes, 0):
                product = np.tensordot(self.matrix, smooth, ([1], [axis]))
                smooth = np.moveaxis(product, 0, axis)
            result = values + result - smooth
        return result

    def evaluate(self, coef: FloatArray, points: FloatArray) -> FloatArray:
        """Polynomials at points of the unit cube, shape (n, d).

        Coefficients of shape (k + 1, .., k + 1) give shape (n,), several of them, shape
        (f, k + 1, .., k + 1), give shape (f, n).
        """
        several = coef.reshape(-1, *coef.shape[coef.ndim - self.n_axes :])
        result = np.empty((len(several), len(points)))
        for start in range(0, len(points), _CHUNK):
            rows = slice(start, start + _CHUNK)
            bases = [bernstein_basis(x, self.degree) for x in points[rows].T]
            part = np.tensordot(bases[0], several, ([1], [1]))
            for basis in bases[1:]:
                part = np.einsum("nv,nfv...->nf...", basis, part)
            result[:, rows] = part.T
        return result.reshape(*coef.shape[: coef.ndim - self.n_axes], len(points))

    @property
    def noise_square(self) -> float:
        """The mean square over the cube of B^(h) of white noise of variance one."""
        traces = _traces(self.degree, self.order) ** self.n_axes
        return float(self.powers @ traces @ self.powers)

    def noise_squares(self, points: FloatArray) -> FloatArray:
        """The same at points of the unit cube, of shape (n, d): shape (n,)."""
        squares = np.empty(len(points))
        for start in range(0, len(points), _CHUNK):
            rows = slice(start, start + _CHUNK)
            overlaps: FloatArray = np.ones((1, 1, 1))
            for x in points[rows].T:
                powers = [bernstein_basis(x, self.degree)]
                for _ in range(1, self.order):
                    powers.append(powers[-1] @ self.matrix)
                stacked = np.stack(powers, axis=1)
                overlaps = overlaps * (stacked @ stacked.swapaxes(1, 2))
            squares[rows] = overlaps @ self.powers @ self.powers
        return squares

    def mean_square(self, functions: list[FloatArray]) -> float:
        """The same for other functions than b_v, given at nodes of each axis.

        They have shape (n_nodes, k + 1), and the mean is that over the nodes.
        """
        traces = np.ones((self.order, self.order))
        for images in functions:
            powers = [images]
            for _ in range(1, self.order):
                powers.append(powers[-1] @ self.matrix)
            flat = np.stack(powers).reshape(self.order, -1)
            traces *= flat @ flat.T / len(images)
        return float(self.powers @ traces @ self.powers)


@lru_cache(maxsize=64)
def _matrix(degree: int) -> FloatArray:
    matrix = bernstein_basis(np.arange(degree + 1) / degree, degree)
    matrix.setflags(write=False)  # it is shared
    return matrix


@lru_cache(maxsize=64)
def _traces(degree: int, order: int) -> FloatArray:
    """Of (M^i)' G M^j, G the integrals of b_v b_w: binom(k, v) binom(k, w) over
    (2 k + 1) binom(2 k, v + w).
    """
    gram = _hypergeometric(degree) / (2 * degree + 1)
    images = [np.eye(degree + 1)]
    for _ in range(1, order):
        images.append(_matrix(degree) @ images[-1])
    return np.array([[np.sum(one * (gram @ two)) for two in images] for one in images])


def _hypergeometric(degree: int) -> FloatArray:
    """binom(k, v) binom(k, w) / binom(2 k, v + w), shape (k + 1, k + 1)."""
    v = np.arange(degree + 1)
    half = np.concatenate([[0.0], np.cumsum(np.log((degree - v[1:] + 1) / v[1:]))])
    u = np.arange(1, 2 * degree + 1)
    full = np.concatenate([[0.0], np.cumsum(np.log((2 * degree - u + 1) / u))])
    return np.asarray(np.exp(half[:, None] + half - full[v[:, None] + v]))
