"""Norms of functions in the RKHS of a kernel, from which sensitivities follow.

A function that is private with a Gaussian process of kernel K has its differences
between neighbours measured in the RKHS of K, and in no other norm.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import erf

from ._kernels import Kernel, positive_numbers

_CUT = 2.0**-44  # of the trace: smaller eigenvalues of a Gram matrix are rounding


def gram_norm(values: Any, points: Any, kernel: Kernel) -> float:
    """Norm of a function's projection on the span of kernels at points.

    Parameters
    ----------
    values : array-like, shape (n,)
        The function at the points.
    points : array-like, shape (n, d)
        The points, in the units of the kernel.
    kernel : Kernel
        The kernel K of the RKHS.

    Returns
    -------
    float
        The number sqrt(v' G^-1 v), with G the matrix of K at pairs of points.

    Notes
    -----
    The orthogonal projection of f on the span of the K_x, x a point, is the only member
    of the span that agrees with f at the points, and its squared norm is v' G^-1 v
    (Proposition 3.4 of [1]_). So the result never exceeds the norm of f, grows with
    more points, and meets it in the limit of dense ones. It shows that a sensitivity
    is too small, never that one is large enough. Directions in which G is singular in
    floating point are left out, which is a smaller projection.

    References
    ----------
    .. [1] R. Hall, A. Rinaldo and L. Wasserman, "Differential privacy for functions
       and functional data", Journal of Machine Learning Research 14, 2013.

    Examples
    --------
    >>> from skfuncpriv.gaussian_process import GaussianKernel, gram_norm
    >>> kernel, points = GaussianKernel(1.0), [[0.0], [0.5], [2.0]]
    >>> round(gram_norm(kernel(points, [[0.5]])[:, 0], points, kernel), 9)
    1.0
    """
    values = np.asarray(values, dtype=np.float64)
    gram = kernel(points, points)
    if values.shape != (len(gram),):
        raise ValueError(
            f"values must be one number for each of {len(gram)} points, got shape "
            f"{values.shape}"
        )
    eigenvalues, vectors = np.linalg.eigh(gram)
    keep = eigenvalues >= _CUT * len(gram)
    along = vectors[:, keep].T @ values
    return float(np.linalg.norm(along / np.sqrt(eigenvalues[keep])))


def sobolev_norm(values: Any, grid: Any, gamma: Any) -> float:
    """Norm of a (multi)linear interpolant in the Sobolev space H1.

    Parameters
    ----------
    values : array-like, shape (k_1, ..., k_d)
        The function on the grid.
    grid : array-like, shape (k,), or d of them
        Increasing points along each axis; the first and the last are the domain.
    gamma : float or tuple of d floats
        The rates of :class:`ExponentialKernel`, in inverse units of the points.

    Returns
    -------
    float
        The norm, exact up to rounding.

    Raises
    ------
    ValueError
        If shapes do not fit, or points do not increase.

    Notes
    -----
    The RKHS of exp(-gamma abs(x - y)) on [a, b] has the squared norm (f(a)^2 + f(b)^2)
    / 2 + (1 / (2 gamma)) integral (f'^2 + gamma^2 f^2) [1]_. Integrating by parts
    against K_y, which solves K'' = gamma^2 K apart from a jump of -2 gamma of its
    derivative at y, gives f(y): the boundary terms cancel what is left at the ends.
    With d axes the squared norm is the tensor product of these quadratic forms. On a
    cell of width h between values u and v they are those of (v - u)^2 (1 / (2 gamma h)
    + gamma h / 24) + gamma h (u + v)^2 / 8: sums of squares, nothing cancels.

    A smooth function is met in the limit of fine grids. For a function that is not its
    own interpolant neither value bounds the other.

    References
    ----------
    .. [1] A. Berlinet and C. Thomas-Agnan, "Reproducing kernel Hilbert spaces in
       probability and statistics", Springer, 2004.

    Examples
    --------
    >>> from skfuncpriv.gaussian_process import sobolev_norm
    >>> round(sobolev_norm([1.0, 1.0], grid=[0.0, 2.0], gamma=3.0), 9)
    2.0
    """
    array = np.asarray(values, dtype=np.float64)
    axes = [grid] if array.ndim == 1 and np.ndim(grid[0]) == 0 else list(grid)
    axes = [np.asarray(axis, dtype=np.float64) for axis in axes]
    rates = positive_numbers(gamma, "gamma")
    if array.shape != tuple(map(len, axes)) or np.size(rates) not in (1, len(axes)):
        raise ValueError(
            "values must have one axis for each axis of grid (and rate of gamma) and "
            f"as many entries along it as it has points, got shape {array.shape}"
        )
    for axis, rate in zip(axes, np.broadcast_to(rates, len(axes)), strict=True):
        if len(axis) < 2 or not (np.diff(axis) > 0).all():
            raise ValueError(
                "each axis of grid must have two or more increasing points"
            )
        array = _square_root_form(np.moveaxis(array, 0, -1), axis, rate)
    return float(np.linalg.norm(array))


def gaussian_sobolev_norm(
    bandwidth: Any, gamma: Any, center: Any = 0.0, bounds: Any = None
) -> float:
    """Norm of exp(-sum_k (x_k - c_k)^2 / (2 h_k^2)) in the Sobolev space H1.

    Parameters
    ----------
    bandwidth : float or tuple of d floats
        The bandwidths h of the bump.
    gamma : float or tuple of d floats
        The rates of :class:`ExponentialKernel`, in inverse units of the points.
    center : float or tuple of d floats, default=0.0
        The place c of the bump.
    bounds : tuple of two floats, or of two tuples of d floats, default=None
        The ends of the domain; None is all of R^d, with the largest norm.

    Returns
    -------
    float
        The norm; in d dimensions a product over axes.

    Raises
    ------
    ValueError
        If shapes or signs do not fit.

    Notes
    -----
    With g = gamma h, u = (a - c) / h, v = (b - c) / h and E = erf(v) - erf(u), the
    squared norm of :func:`sobolev_norm` on [a, b] is

        (exp(-u^2) + exp(-v^2)) / 2 + (u exp(-u^2) - v exp(-v^2)) / (4 g)
        + sqrt(pi) E (1/2 + g^2) / (4 g).

    Its derivative in v > 0 is exp(-v^2) (v - g)^2 / (2 g) >= 0, as it must be: a
    restriction to less never increases the norm of an RKHS. So its supremum over
    centres and domains is the limit sqrt(pi) (1/2 + g^2) / (2 g).

    Examples
    --------
    >>> from skfuncpriv.gaussian_process import gaussian_sobolev_norm
    >>> round(gaussian_sobolev_norm(bandwidth=2.0, gamma=0.5) ** 2, 6)
    1.32934
    """
    widths = positive_numbers(bandwidth, "bandwidth")
    rates = positive_numbers(gamma, "gamma")
    low, high = (-np.inf, np.inf) if bounds is None else bounds
    try:
        h, rate, c, a, b = np.broadcast_arrays(widths, rates, center, low, high)
    except ValueError:
        raise ValueError(
            "bandwidth, gamma, center and bounds must be numbers, or have one number "
            "for each axis"
        ) from None
    if h.ndim > 1 or not np.isfinite(c).all() or not (a < b).all():
        raise ValueError("center must be finite, and bounds (low, high), low < high")
    axes = zip(*(np.atleast_1d(part) for part in (h, rate, c, a, b)), strict=True)
    return math.sqrt(math.prod(_bump_square(*axis) for axis in axes))


def _bump_square(h: float, rate: float, c: float, a: float, b: float) -> float:
    g = rate * h
    u, v = max((a - c) / h, -40.0), min((b - c) / h, 40.0)  # exp(-1600) is zero
    left, right = math.exp(-u * u), math.exp(-v * v)
    ends = (left + right) / 2 + (u * left - v * right) / (4 * g)
    inside = math.sqrt(math.pi) * (erf(v) - erf(u)) * (0.5 + g * g) / (4 * g)
    return ends + inside


def _square_root_form(array: np.ndarray, axis: np.ndarray, rate: float) -> np.ndarray:
    """The last axis through B, with norm(B f)^2 the squared norm along that axis."""
    cells = np.diff(axis)
    slopes = np.diff(array) * np.sqrt(1 / (2 * rate * cells) + rate * cells / 24)
    sums = (array[..., 1:] + array[..., :-1]) * np.sqrt(rate * cells / 8)
    ends = array[..., [0, -1]] * math.sqrt(0.5)
    return np.concatenate([slopes, sums, ends], axis=-1)
