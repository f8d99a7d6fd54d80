"""Finite expansions: functions of an RKHS projected on kernels at public points.

G is the matrix of the kernel at the points and D that of square roots of weights of the
points. D G D = U diag(l) U' and W = diag(l)^(-1/2) U' D, with the eigenvalues above a
public cut. A function f has the coordinates W f(points) in an orthonormal basis of a
space of functions, evaluated at t by c(t) = W k(points, t). The coordinates of K_x are
c(x). A projection never increases a norm, so a sensitivity in the RKHS is one of the
coordinates; directions below the cut are not released.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ._kernels import Kernel

# Of the trace of D G D. Coordinates amplify the rounding errors of values by one over
# its root, and what is dropped is 2^-30 of the height of a kernel, times a few.
_CUT = 2.0**-30
_ROUNDOFF = 2.0**-52
_CHUNK = 1 << 21
_SERIAL = 1 << 18  # multiplications of a product that is left to one thread


@dataclass(frozen=True, eq=False)
class PointExpansion:
    """Functions projected on the span of kernels at public points.

    Parameters
    ----------
    kernel : Kernel
        The kernel, of variance one.
    nodes : ndarray, shape (k, d)
        The points.
    matrix : ndarray, shape (m, k)
        The matrix W.
    error : float
        The largest 1 - norm(c(t))^2 that was measured: how much of the height of K_t is
        lost at t, and a bound of what K_x loses anywhere.
    """

    kernel: Kernel
    nodes: np.ndarray
    matrix: np.ndarray
    error: float

    @classmethod
    def at(
        cls,
        kernel: Kernel,
        nodes: np.ndarray,
        tests: np.ndarray,
        weights: np.ndarray | None = None,
        loss: float = 0.0,
    ) -> PointExpansion:
        """Build W, without directions that matter less than `loss` at the tests."""
        gram = _checked_gram(kernel, nodes)
        if weights is None:
            weights = np.ones(len(nodes))
        roots = np.sqrt(weights / weights.sum())
        eigenvalues, vectors = np.linalg.eigh(roots[:, None] * gram * roots)
        if eigenvalues[0] < -_CUT:
            raise ValueError(
                "kernel is not positive definite, so there is no Gaussian process"
            )
        keep = eigenvalues >= _CUT
        vectors = _with_signs(vectors[:, keep]) * roots[:, None]
        matrix = (vectors / np.sqrt(eigenvalues[keep])).T[::-1]
        energy = np.square(kernel(tests, nodes) @ matrix.T)
        if loss > 0:
            peaks = energy.max(axis=0)
            smallest_first = np.argsort(peaks)
            dropped = np.cumsum(peaks[smallest_first]) <= loss
            used = np.sort(smallest_first[~dropped])
            matrix, energy = matrix[used], energy[:, used]
        matrix = np.ascontiguousarray(matrix)
        matrix.setflags(write=False)
        nodes.setflags(write=False)
        return cls(kernel, nodes, matrix, max(float(1 - energy.sum(axis=1).min()), 0.0))

    @property
    def size(self) -> int:
        """The number m of coordinates."""
        return len(self.matrix)

    def coordinates(self, X: np.ndarray, section: Kernel | None = None) -> np.ndarray:
        """The coordinates of K_x, or of another section of two points, at each row."""
        section = self.kernel if section is None else section
        return section(X, self.nodes) @ self.matrix.T

    def coordinates_alike(
        self, X: np.ndarray, section: Kernel | None = None
    ) -> np.ndarray:
        """The same, but for roundings that are those of a row alone: `product_alike`.

        For kernels of this package; another one may round as it likes.
        """
        section = self.kernel if section is None else section
        return product_alike(section(X, self.nodes), self.matrix.T)

    def of_values(self, values: np.ndarray) -> np.ndarray:
        """The coordinates of a function with these values at the nodes."""
        longer = self.matrix.astype(np.longdouble) @ values.astype(np.longdouble)
        return longer.astype(np.float64)

    def rounding_of_values(self, largest: float) -> float:
        """A bound on the error of `of_values`, for values of at most this size."""
        sums = np.abs(self.matrix).sum(axis=1)
        roundoff = (len(self.nodes) + 4) * float(np.finfo(np.longdouble).eps)
        return largest * float(np.linalg.norm(sums)) * (roundoff + _ROUNDOFF)

    def evaluate(self, coefficients: np.ndarray, T: np.ndarray) -> np.ndarray:
        """Functions at each row of T; coefficients of shape (m,) or (n, m)."""
        step = max(1, _CHUNK // max(self.size, len(self.nodes)))
        values = [
            coefficients @ self.coordinates(T[start : start + step]).T
            for start in range(0, len(T), step)
        ]
        return np.concatenate(values, axis=-1)

    @cached_property
    def gain(self) -> float:
        """A bound on norm(W f(points)) over functions f of norm one.

        Its square is the norm of W G W', one in exact arithmetic. It is computed. An
        entry of G is right to three roundoffs of an exponent below 745, a product of k
        terms to k roundoffs of that of absolute values, and the norm of what is so left
        is at most the largest row sum.
        """
        gram = self.kernel(self.nodes, self.nodes)
        product = self.matrix @ gram @ self.matrix.T
        sizes = np.abs(self.matrix) @ np.abs(gram) @ np.abs(self.matrix.T)
        error = (2 * len(gram) + 2300) * _ROUNDOFF * sizes.sum(axis=1).max()
        error += 16 * self.size * _ROUNDOFF  # of the eigenvalues of a matrix near one
        return float(np.sqrt(np.linalg.eigvalsh(product)[-1] + error))

    def rounding(self, largest: float) -> float:  # noqa: ARG002
        """A bound on the error of coordinates of sections of height at most one.

        `largest` bounds the norm of a section.
        """
        count = len(self.nodes)
        return float((count + 16) * _ROUNDOFF * np.sqrt(count * self._square))

    @cached_property
    def amplification(self) -> float:
        """By how much errors of values can grow in coordinates: sqrt(k) norm(W)."""
        norm = np.linalg.norm(self.matrix, 2)
        return float(np.sqrt(len(self.nodes)) * norm * (1 + 2.0**-40))

    @property
    def _square(self) -> float:
        return float(np.square(self.matrix).sum())


def product_alike(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """``rows @ matrix``, each row rounded alike wherever it stands.

    How a product rounds depends on its shape, so all have one shape, few enough rows
    for one thread: rows that are divided otherwise have the same sums. That is what
    libraries do, not what they promise, so nothing private depends on it.
    """
    (n, k), m = rows.shape, matrix.shape[1]
    height = min(max(_SERIAL // (k * m) // 16, 1), 4) * 16
    whole = n - n % height
    result = np.empty((n, m))
    if whole:
        parts = rows[:whole].reshape(-1, height, k)
        np.matmul(parts, matrix, out=result[:whole].reshape(-1, height, m))
    if whole < n:
        last = np.zeros((height, k))
        last[: n - whole] = rows[whole:]
        result[whole:] = (last @ matrix)[: n - whole]
    return result


def _checked_gram(kernel: Kernel, nodes: np.ndarray) -> np.ndarray:
    """The matrix G of a kernel of variance one, which may be a user's own."""
    gram = np.asarray(kernel(nodes, nodes), dtype=np.float64)
    regular = gram.shape == 2 * (len(nodes),) and np.isfinite(gram).all()
    if not (regular and np.allclose(np.diag(gram), 1, rtol=0, atol=1e-9)):
        raise ValueError("kernel must have finite values and K(x, x) = 1")
    if not np.allclose(gram, gram.T, rtol=0, atol=1e-12):
        raise ValueError("kernel must be symmetric: K(x, y) = K(y, x)")
    return gram


def _with_signs(vectors: np.ndarray) -> np.ndarray:
    """Eigenvectors whose largest entry, of equal ones the last, is positive."""
    count = len(vectors)
    weights = 1 + np.arange(count) / (64 * count)
    peaks = np.argmax(np.abs(vectors) * weights[:, None], axis=0)
    return vectors * np.sign(vectors[peaks, np.arange(vectors.shape[1])])
