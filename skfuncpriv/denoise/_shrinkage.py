"""Shrinkage of the coefficients of a density, on one axis or several.

The prior of a coefficient of frequency r is N(0, A s(r)) with a size A and a spectrum
s that falls slowly or fast beyond a corner frequency, one per axis. Few shapes serve
thousands of coefficients, on grids of any dimension, in milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product

import numpy as np

from .._validation import check_positive

_N_SIZES = 8
_SMALLEST = 0.02  # sizes A; a point mass has coefficients of square 2^d
_LARGEST = 1.5
_CORNERS = {1: 11, 2: 6}  # corner frequencies per axis
_FEW_CORNERS = 4
_UNLIKELY = 1e-5  # of the largest weight: shapes with less are left out
_SPECTRA = (
    lambda q: np.exp(-0.5 * q),
    lambda q: 1 / (1 + q),
    lambda q: (1 + q) ** -2,
)


def average_shrinkage(
    coef: np.ndarray, ranks: Sequence[np.ndarray], variance: float
) -> np.ndarray:
    """Return the factors that turn noisy coefficients into posterior means.

    Parameters
    ----------
    coef : ndarray, shape (m_1, ..., m_d)
        Coefficients of a density on the unit cube in an orthonormal product basis,
        plus independent noise; already *released*, hence public. The first is known.
    ranks : sequence of d ndarrays, shapes (m_1,), ..., (m_d,)
        The frequency of each function along each axis, 0 for the constant; *public*.
    variance : float
        The variance of the noise of a coefficient; *public*.

    Returns
    -------
    ndarray, shape of `coef`
        Factors in [0, 1], one for the constant.

    Notes
    -----
    Spectra are exp(-q / 2), 1 / (1 + q) and 1 / (1 + q)^2 with
    q = sum_k (r_k / c_k)^2. Given one, coefficients are independent N(0, A s + t), t
    the variance, and the posterior mean has the factor A s / (A s + t); factors are
    averaged over the posterior law of (A, s, c), low corners being likelier a priori,
    in inverse proportion to their geometric mean.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.denoise import average_shrinkage
    >>> coef = np.array([1.0, 0.8, -0.4, 0.01, -0.02, 0.01])
    >>> average_shrinkage(coef, [np.arange(6)], variance=1e-3).round(1)
    array([1. , 1. , 1. , 0.9, 0.5, 0.2])
    """
    variance = check_positive(variance, "variance")
    coef = np.asarray(coef, dtype=np.float64)
    square = np.square(coef).ravel()[1:]
    sizes = np.geomspace(_SMALLEST, _LARGEST * 2.0**coef.ndim, _N_SIZES)[:, None]
    shapes = [(s, c) for c in product(*_corners(ranks)) for s in _SPECTRA]
    evidence = np.empty((len(shapes), _N_SIZES))
    for row, (spectrum, corners) in zip(evidence, shapes, strict=True):
        total = sizes * spectrum(_distance(ranks, corners)[1:]) + variance
        fit = (square / total).sum(axis=1) + np.log(total).sum(axis=1)
        row[:] = -0.5 * fit - np.mean(np.log(corners))
    weights = np.exp(evidence - evidence.max())
    weights[weights < _UNLIKELY] = 0.0
    weights /= weights.sum()
    factors = np.zeros(coef.size)
    for k, i in np.argwhere(weights):
        spectrum, corners = shapes[k]
        signal = sizes[i] * spectrum(_distance(ranks, corners))
        factors += weights[k, i] * signal / (signal + variance)
    factors[0] = 1.0
    return factors.reshape(coef.shape)


def _corners(ranks: Sequence[np.ndarray]) -> list[list[float]]:
    """Corner frequencies to choose from, along each axis."""
    count = _CORNERS.get(len(ranks), _FEW_CORNERS)
    return [np.geomspace(1.0, rank.max() + 1.0, count).tolist() for rank in ranks]


def _distance(ranks: Sequence[np.ndarray], corners: Sequence[float]) -> np.ndarray:
    """The squared distance of frequencies from zero in units of the corners."""
    parts = [np.square(r / c) for r, c in zip(ranks, corners, strict=True)]
    return reduce(np.add.outer, parts).ravel()
