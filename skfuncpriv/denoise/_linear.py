"""Shrinkage by a known spectrum, or block by block without one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..noise import NoiseLaw


def wiener(
    released: np.ndarray, law: NoiseLaw, signal_variance: np.ndarray
) -> np.ndarray:
    """Shrink coefficients by the best linear factors for a known spectrum.

    Parameters
    ----------
    released : ndarray, shape (n, m)
        Signal plus noise; already *released*.
    law : NoiseLaw
        The law of the noise; *public*.
    signal_variance : ndarray, shape (m,)
        The second moment of each coefficient of the signal; *public*.

    Returns
    -------
    ndarray, shape (n, m)
        ``released * v / (v + s^2)``, of the smallest expected squared error among
        linear functions of one coefficient, whatever the shape of the noise.

    Raises
    ------
    ValueError
        If a variance is negative or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.denoise import wiener
    >>> from skfuncpriv.noise import IndependentGaussian
    >>> wiener(np.array([[2.0, 2.0]]), IndependentGaussian((1.0, 1.0)), [3.0, 0.0])
    array([[1.5, 0. ]])
    """
    variance = np.asarray(signal_variance, dtype=np.float64)
    if not (np.isfinite(variance).all() and (variance >= 0).all()):
        raise ValueError("signal_variance must be finite numbers >= 0")
    return np.asarray(released) * (variance / (variance + np.square(law.std)))


def block_james_stein(
    released: np.ndarray, law: NoiseLaw, block_sizes: Sequence[int]
) -> np.ndarray:
    """Shrink blocks of coefficients by positive-part James-Stein factors.

    Parameters
    ----------
    released : ndarray, shape (n, m)
        Signal plus noise; already *released*.
    law : NoiseLaw
        The law of the noise; *public*.
    block_sizes : sequence of int
        The sizes of contiguous blocks, summing to m; *public*.

    Returns
    -------
    ndarray, shape (n, m)
        Every block times ``max(0, 1 - c / norm(block)^2)``, c the expected squared
        norm of its noise (less two coordinates' worth, where it has more than two).

    Raises
    ------
    ValueError
        If the sizes do not sum to m.

    Notes
    -----
    For Gaussian noise with equal deviations this is the estimator of James and Stein
    (1961), which beats the release for every signal in blocks of three or more.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.denoise import block_james_stein
    >>> from skfuncpriv.noise import IndependentGaussian
    >>> noisy, law = np.array([[0.5, 0.5, 4.0, 3.0]]), IndependentGaussian((1.0,) * 4)
    >>> block_james_stein(noisy, law, [2, 2])
    array([[0.  , 0.  , 3.68, 2.76]])
    """
    rows = np.asarray(released, dtype=np.float64)
    if sum(block_sizes) != rows.shape[1]:
        raise ValueError("block_sizes must sum to the number of coefficients")
    variance = np.square(law.std)
    result = np.empty_like(rows)
    start = 0
    for size in block_sizes:
        columns = slice(start, start + size)
        start += size
        spare = (size - 2) / size if size > 2 else 1.0
        limit = variance[columns].sum() * spare
        energy = np.square(rows[:, columns]).sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            factor = np.maximum(0.0, 1.0 - limit / energy)
        result[:, columns] = np.where(energy > 0, factor, 0.0) * rows[:, columns]
    return result
