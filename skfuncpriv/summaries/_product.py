"""Matrix products whose every entry depends on its own row alone, to the last bit.

A BLAS product rounds, and how it rounds may depend on where a row lies and on how
many rows there are. A person's contribution must not depend on other people, so both
factors are cut into integers short enough for every partial sum to be exact; then the
order of summation cannot matter (Ozaki, Ogita, Oishi and Rump 2012 use the same cut).
"""

from __future__ import annotations

import math

import numpy as np

from ..noise._lattice import FloatArray, IntArray


class ExactProduct:
    """The linear map ``values @ matrix`` for values of bounded size.

    Parameters
    ----------
    matrix : ndarray, shape (k, m)
        The map; *public*.
    bound : float
        No absolute value of the data exceeds it; *public*. Larger ones would break
        exactness, so the caller clips first.

    Notes
    -----
    Entries of both factors keep 2 b bits, b = floor((53 - log2 k) / 2), relative to
    the bound and to the largest entry of the matrix column; the result is accurate to
    about k * 2^(1 - 2 b) of their product (1e-12 for k = 100).

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.summaries import ExactProduct
    >>> ExactProduct(np.array([[0.5], [2.0]]), bound=4.0)(np.array([[1.0, 3.0]]))
    array([[6.5]])
    """

    def __init__(self, matrix: FloatArray, bound: float) -> None:
        n_rows, self._n_columns = matrix.shape
        self._bits = (53 - math.ceil(math.log2(max(n_rows, 2)))) // 2
        largest = np.abs(matrix).max(axis=0)
        self._column_exponents = np.frexp(np.where(largest > 0, largest, 1.0))[1]
        self._exponent = math.frexp(bound)[1]
        exponents = self._exponent + self._column_exponents - 2 * self._bits
        self._unit = _powers_of_two(exponents)
        high, low = self._cut(np.ldexp(matrix, self._bits - self._column_exponents))
        self._high, self._both = high, np.hstack([high, low])

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return ``values @ matrix`` for values of shape (n, k), as shape (n, m)."""
        m = self._n_columns
        high, low = self._cut(np.ldexp(values, self._bits - self._exponent))
        leading = high @ self._both
        trailing = low @ self._high
        trailing += leading[:, m:]
        trailing *= 2.0**-self._bits
        trailing += leading[:, :m]
        if self._unit is None:
            exponents = self._exponent + self._column_exponents - 2 * self._bits
            return np.asarray(np.ldexp(trailing, exponents))
        trailing *= self._unit
        return trailing

    def _cut(self, scaled: FloatArray) -> tuple[FloatArray, FloatArray]:
        high = np.rint(scaled)
        scaled -= high
        scaled *= 2.0**self._bits
        return high, np.rint(scaled, out=scaled)


def _powers_of_two(exponents: IntArray) -> FloatArray | None:
    """Factors that scale as `ldexp` does, and much faster; None if one is no float."""
    if not ((exponents >= -1022) & (exponents <= 1023)).all():
        return None
    return np.ldexp(1.0, exponents)
