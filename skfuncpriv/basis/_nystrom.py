"""Karhunen-Loeve expansions of an arbitrary kernel on [-1, 1].

Smooth kernels: with Gauss-Legendre nodes x_i and weights w_i the Nystrom matrix
sqrt(w_i) K(x_i, x_j) sqrt(w_j), rotated by the orthogonal matrix sqrt(w_i) p_k(x_i), is
the matrix of the operator in orthonormal Legendre polynomials p_k, exact once its last
rows vanish. Kernels with a kink on the diagonal never get there: their inner integral
is split at the diagonal, where both halves are smooth.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skfuncpriv.basis._expansion import LegendreExpansion, expand, tail
from skfuncpriv.basis._quadrature import FloatArray, gauss_legendre, legendre_table

# (n, 1), (m, 1) -> (n, m), on [-1, 1].
ReferenceKernel = Callable[[FloatArray, FloatArray], FloatArray]

_RESOLVED = 1e-13
_MAX_SMOOTH = 1100
_MAX_SPLIT = 256
# Rounding may make a kernel this asymmetric or indefinite, relative to its size.
_KERNEL_ERROR = 1e-9
# Where a kernel with a kink has settled: the last Legendre coefficients, and the change
# of the eigenvalues from the size before, relative to the first.
_SPLIT_SETTLED = 1e-6


def kernel_expansion(kernel: ReferenceKernel, n_functions: int) -> LegendreExpansion:
    """The leading eigenpairs of a symmetric positive semi-definite kernel."""
    degree = max(64, n_functions + 32)
    _check_kernel(kernel, degree)
    size = degree
    while size <= max(_MAX_SMOOTH, 2 * degree):
        matrix = _smooth_matrix(kernel, size)
        if np.max(tail(matrix)) <= _RESOLVED * np.max(np.abs(matrix)):
            return expand(matrix, n_functions)
        size *= 2
    size = degree
    previous = np.zeros(n_functions)
    while size <= max(_MAX_SPLIT, 2 * degree):
        matrix = _split_matrix(kernel, size)
        if not np.any(matrix):  # white noise: nothing off the diagonal
            break
        expansion = expand(matrix, n_functions)
        eigenvalues = expansion.eigenvalues
        change = np.max(np.abs(eigenvalues - previous)) / eigenvalues[0]
        if max(expansion.truncation, change) <= _SPLIT_SETTLED:
            return expansion
        previous = eigenvalues
        size += size // 2
    raise ValueError(
        "the Karhunen-Loeve functions of the kernel did not settle: it is too rough, "
        "or its length scale too small for the domain; use a smoother kernel"
    )


def _check_kernel(kernel: ReferenceKernel, n_nodes: int) -> None:
    """Refuse what is no covariance; any nodes show it, so these are a fair test."""
    nodes, weights = gauss_legendre(n_nodes)
    values = kernel(nodes[:, np.newaxis], nodes[:, np.newaxis])
    size = float(np.max(np.abs(values)))
    if not (np.all(np.isfinite(values)) and size > 0):
        raise ValueError("kernel must be finite and not zero on the domain")
    if np.max(np.abs(values - values.T)) > _KERNEL_ERROR * size:
        raise ValueError("kernel must be symmetric: kernel(X, Y) == kernel(Y, X).T")
    root = np.sqrt(weights)
    spectrum = np.linalg.eigvalsh(root[:, np.newaxis] * values * root)
    if spectrum[0] < -_KERNEL_ERROR * spectrum[-1]:
        raise ValueError(
            "kernel must be positive semi-definite, but its smallest eigenvalue is "
            f"{spectrum[0] / spectrum[-1]:.1e} of its largest"
        )


def _smooth_matrix(kernel: ReferenceKernel, n_nodes: int) -> FloatArray:
    nodes, weights = gauss_legendre(n_nodes)
    values = kernel(nodes[:, np.newaxis], nodes[:, np.newaxis])
    rotation = weights[:, np.newaxis] * legendre_table(nodes, n_nodes)
    matrix = rotation.T @ (0.5 * (values + values.T)) @ rotation
    return 0.5 * (matrix + matrix.T)


def _split_matrix(kernel: ReferenceKernel, n_nodes: int) -> FloatArray:
    nodes, weights = gauss_legendre(n_nodes)
    inner, inner_weights = gauss_legendre(n_nodes)
    applied = np.empty((n_nodes, n_nodes))
    for i, x in enumerate(nodes):
        # Both sides of the diagonal: [-1, x] and [x, 1].
        left, right = 0.5 * (x + 1.0), 0.5 * (1.0 - x)
        y = np.concatenate((-1.0 + left * (1.0 + inner), x + right * (1.0 + inner)))
        weight = np.concatenate((left * inner_weights, right * inner_weights))
        row = kernel(np.array([[x]]), y[:, np.newaxis])[0]
        applied[i] = (weight * row) @ legendre_table(y, n_nodes)
    matrix = (weights[:, np.newaxis] * legendre_table(nodes, n_nodes)).T @ applied
    return 0.5 * (matrix + matrix.T)
