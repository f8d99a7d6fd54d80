"""Covariance kernels of Gaussian processes whose sample paths are the noise.

A kernel implements two sets of points, ``kernel(X, Y) -> (n, k)``, and has variance
one: K(x, x) = 1. The function that is released lies in its reproducing kernel Hilbert
space (RKHS), where norms and sensitivities are measured.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from .._validation import check_positive


class Kernel(ABC):
    """A positive semi-definite function of two points, one on the diagonal."""

    @property
    @abstractmethod
    def n_axes(self) -> int | None:
        """The number of axes of a point; None where any number will do."""

    def __call__(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Evaluate the kernel at every pair.

        Parameters
        ----------
        X : array-like, shape (n, d)
            Points, one per row.
        Y : array-like, shape (k, d)
            Points, one per row.

        Returns
        -------
        ndarray, shape (n, k)
            The values K(x, y).
        """
        X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
        expected = self.n_axes or X.shape[-1]
        if X.ndim != 2 or Y.ndim != 2 or {X.shape[1], Y.shape[1]} != {expected}:
            raise ValueError(
                f"points of this kernel have {expected} axes, one row per point; got "
                f"shapes {X.shape} and {Y.shape}"
            )
        return self._evaluate(X, Y)

    def separated(self, n_axes: int) -> tuple[np.ndarray, tuple[Kernel, ...]]:
        """Write the kernel as a product of kernels of one axis each.

        Parameters
        ----------
        n_axes : int
            The number d of axes of a point.

        Returns
        -------
        matrix : ndarray, shape (d, d)
            The linear map A to the axes on which the kernel is a product.
        kernels : tuple of d kernels
            K(x, y) is the product of k_j((A x)_j, (A y)_j).

        Raises
        ------
        ValueError
            If the kernel is no such product.
        """
        if n_axes != 1:
            raise ValueError(
                f"{type(self).__name__} is no product of kernels of one axis each: "
                "write it as a ProductKernel"
            )
        return np.eye(1), (self,)

    @abstractmethod
    def _evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class GaussianKernel(Kernel):
    """K(x, y) = exp(-(x - y)' H^-1 (x - y) / 2), smooth and isotropic or not.

    Parameters
    ----------
    bandwidth : float, tuple of d floats, or (d, d) tuple of tuples
        *Public.* One standard deviation for all axes, one per axis, or the positive
        definite matrix H in squared units; numbers have the units of the points.

    Examples
    --------
    >>> from skfuncpriv.gaussian_process import GaussianKernel
    >>> GaussianKernel(2.0)([[0.0]], [[2.0]]).round(3)
    array([[0.607]])
    """

    bandwidth: Any

    def __post_init__(self) -> None:
        bandwidth = np.asarray(self.bandwidth, dtype=object)
        if bandwidth.ndim == 2:
            matrix = _positive_definite(self.bandwidth)
            frozen: Any = tuple(map(tuple, matrix.tolist()))
        else:
            frozen = positive_numbers(self.bandwidth, "bandwidth")
        object.__setattr__(self, "bandwidth", frozen)

    @property
    def n_axes(self) -> int | None:
        """The number of axes of a point; None where any number will do."""
        return len(self.bandwidth) if isinstance(self.bandwidth, tuple) else None

    def covariance(self, n_axes: int) -> np.ndarray:
        """Return the matrix H for points with `n_axes` axes.

        Parameters
        ----------
        n_axes : int
            The number d of axes.

        Returns
        -------
        ndarray, shape (d, d)
            H, in squared units of the points.
        """
        bandwidth = np.asarray(self.bandwidth, dtype=np.float64)
        if bandwidth.ndim == 2:
            return bandwidth
        return np.diag(np.broadcast_to(np.square(bandwidth), n_axes))

    def separated(self, n_axes: int) -> tuple[np.ndarray, tuple[Kernel, ...]]:
        bandwidth = np.asarray(self.bandwidth, dtype=np.float64)
        if bandwidth.ndim == 2:
            inverse = np.linalg.inv(np.linalg.cholesky(bandwidth))
        else:
            inverse = np.diag(np.broadcast_to(1 / bandwidth, n_axes))
        return inverse, (GaussianKernel(1.0),) * n_axes

    def _evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        # In whitened coordinates differences are formed before they are squared:
        # norm(x)^2 + norm(y)^2 - 2 x'y would cancel far from the origin.
        inverse, _ = self.separated(X.shape[1])
        X, Y = transformed(X, inverse), transformed(Y, inverse)
        square = np.zeros((len(X), len(Y)))
        for x, y in zip(X.T, Y.T, strict=True):
            square += np.square(x[:, None] - y)
        return np.exp(-0.5 * square)


@dataclass(frozen=True)
class ExponentialKernel(Kernel):
    """K(x, y) = exp(-sum_k gamma_k abs(x_k - y_k)), of the Sobolev space H1.

    In one dimension its RKHS is H1, in d dimensions the tensor product of H1 along the
    axes. Its sample paths are continuous, Markov in one dimension, and rough.

    Parameters
    ----------
    gamma : float or tuple of d floats
        *Public.* The rates, one for all axes or one per axis, in inverse units of the
        points.

    Examples
    --------
    >>> from skfuncpriv.gaussian_process import ExponentialKernel
    >>> ExponentialKernel(1.0)([[0.0]], [[1.0]]).round(3)
    array([[0.368]])
    """

    gamma: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive_numbers(self.gamma, "gamma"))

    @property
    def n_axes(self) -> int | None:
        """The number of axes of a point; None where any number will do."""
        return len(self.gamma) if isinstance(self.gamma, tuple) else None

    def separated(self, n_axes: int) -> tuple[np.ndarray, tuple[Kernel, ...]]:
        rates = np.broadcast_to(np.asarray(self.gamma, dtype=np.float64), n_axes)
        return np.diag(rates), (ExponentialKernel(1.0),) * n_axes

    def _evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        distance = np.zeros((len(X), len(Y)))
        rates = np.broadcast_to(np.asarray(self.gamma, dtype=np.float64), X.shape[1])
        for rate, x, y in zip(rates, X.T, Y.T, strict=True):
            distance += rate * np.abs(x[:, None] - y)
        return np.exp(-distance)


@dataclass(frozen=True)
class ProductKernel(Kernel):
    """The tensor product of kernels on consecutive axes.

    K(x, y) = K_1(x_1, y_1) K_2(x_2, y_2) ..., where x_1, x_2, ... are the parts of x.
    Its RKHS is the tensor product of theirs: norms of products are products of norms.

    Parameters
    ----------
    kernels : sequence of Kernel
        *Public.* The factors; one that takes any number of axes here takes one.

    Examples
    --------
    >>> from skfuncpriv.gaussian_process import ExponentialKernel, GaussianKernel
    >>> from skfuncpriv.gaussian_process import ProductKernel
    >>> ProductKernel([GaussianKernel(1.0), ExponentialKernel(1.0)]).n_axes
    2
    """

    kernels: Sequence[Kernel]

    def __post_init__(self) -> None:
        kernels = tuple(self.kernels)
        if not kernels or not all(isinstance(k, Kernel) for k in kernels):
            raise ValueError("kernels must be a sequence of kernels, at least one")
        object.__setattr__(self, "kernels", kernels)

    @property
    def n_axes(self) -> int:
        """The number of axes of a point."""
        return sum(kernel.n_axes or 1 for kernel in self.kernels)

    def separated(self, n_axes: int) -> tuple[np.ndarray, tuple[Kernel, ...]]:
        if n_axes != self.n_axes:
            raise ValueError(f"this kernel has {self.n_axes} axes, not {n_axes}")
        parts = [kernel.separated(kernel.n_axes or 1) for kernel in self.kernels]
        matrix = block_diag(*(part[0] for part in parts))
        return matrix, tuple(kernel for part in parts for kernel in part[1])

    def _evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        values = np.ones((len(X), len(Y)))
        start = 0
        for kernel in self.kernels:
            axes = slice(start, start + (kernel.n_axes or 1))
            values *= kernel(X[:, axes], Y[:, axes])
            start = axes.stop
        return values


def transformed(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """The rows A x, each computed alike, whatever rows stand beside it."""
    total = np.zeros((len(points), len(matrix)))
    for axis, column in zip(points.T, matrix.T, strict=True):
        total += np.multiply.outer(axis, column)
    return total


def positive_numbers(value: Any, name: str) -> Any:
    """One number > 0, or a tuple of them."""
    if np.ndim(value) == 0:
        return check_positive(value, name)
    numbers = value.tolist() if isinstance(value, np.ndarray) else value
    return tuple(check_positive(number, name) for number in numbers)


def _positive_definite(value: Any) -> np.ndarray:
    matrix = np.array(value, dtype=np.float64)
    rule = "a bandwidth matrix must be symmetric and positive definite"
    if matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise ValueError(rule)
    if not np.array_equal(matrix, matrix.T):
        raise ValueError(rule)
    eigenvalues = np.linalg.eigvalsh(matrix)
    if not eigenvalues[0] > 2.0**-40 * eigenvalues[-1]:
        raise ValueError(f"{rule}, and not singular in floating point")
    return matrix
