"""From released numerator and coverage to the mean: noisy local normal equations.

The mean f of those who are observed satisfies num = den * f. In an orthonormal basis
that is B = A f with B_j = int num phi_j and A_jk = int den phi_j phi_k. Both sides are
noisy, and where few people are observed A says little, so f has a prior: independent
normal coefficients of variance a (1 + k)^(-2 s), averaged over a public grid of (a, s)
by their marginal likelihood. The error of the coverage enters as noise of B whose
covariance is that of int (den_true - den) f phi_j at the current estimate of f. All of
it is post-processing of what was released.

Functions here are psi_k = sqrt(width) phi_k, so that coefficients have no units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.special import log_ndtr

from ..basis import Basis
from ..basis._quadrature import PANEL_NODES_SQUARE, panel_rule
from ._sparse_plan import SparsePlan

_SIZES = np.geomspace(1e-8, 1.0, 17)  # of coverage less one: it may well be one
_MEAN_SIZES = np.geomspace(0.1, 1.0, 5)
_EXPONENTS = (0.75, 1.0, 1.5, 2.0)
_PASSES = 2
_SOFTNESS = 0.25  # of the deviation: coverage often is one, a wide law moves it off
_SMALLEST_STD = 1e-12  # of noise, below which floats ignore it
_ROUNDING = 1e-13  # that keeps a covariance positive definite
_TINY = 1e-150  # coverage that may be divided by
_UNKNOWN = 0.6  # deviation of a mean that may lie anywhere in [-1, 1]


@dataclass(frozen=True, eq=False)
class Posterior:
    """Mean and covariance of coefficients, given what was released."""

    mean: np.ndarray
    covariance: np.ndarray

    @property
    def root(self) -> np.ndarray:
        """A matrix R with R R^T the covariance."""
        variances, axes = np.linalg.eigh(self.covariance)
        return axes * np.sqrt(np.maximum(variances, 0.0))

    def std(self, functions: np.ndarray) -> np.ndarray:
        """The standard deviation of the function, from a table of the basis."""
        square = ((functions @ self.covariance) * functions).sum(axis=1)
        return np.sqrt(np.maximum(square, 0.0))


@dataclass(frozen=True, eq=False)
class Solution:
    """What a release says: coverage less one, and the mean of every output."""

    coverage: Posterior
    outputs: tuple[Posterior, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """Basis functions at the nodes of a quadrature rule whose weights add up to one.

    `exponents` are those of the prior; functions in no order of frequency have none.
    """

    functions: np.ndarray
    weights: np.ndarray
    exponents: tuple[float, ...]

    def products(self, function: np.ndarray, n_rows: int) -> np.ndarray:
        """Averages of function * psi_j * psi_k, shape (n_rows, m)."""
        rows = (self.functions[:, :n_rows] * (self.weights * function)[:, None]).T
        return rows @ self.functions


def solve_release(released: np.ndarray, plan: SparsePlan, basis: Basis) -> Solution:
    """Find coverage and mean, in units of the reach of values, from a released sum."""
    means = released_table(released / plan.n_people, plan).T
    stds = np.maximum(plan.law.std / plan.n_people, _SMALLEST_STD)
    stds = released_table(stds, plan).T
    table, root = quadrature_table(basis), np.sqrt(plan.n_outputs)
    coverage = coverage_posterior(means[0], stds[0], table)
    den = coverage_at(coverage, table.functions)
    pairs = zip(root * means[1:], root * stds[1:], strict=True)
    outputs = [mean_posterior(*pair, coverage, den, table) for pair in pairs]
    return Solution(coverage, tuple(outputs))


def released_table(released: np.ndarray, plan: SparsePlan) -> np.ndarray:
    """Coefficients of the mask beside those of the outputs, shape (m, 1 + d)."""
    mask, curve = np.split(released, [plan.n_functions])
    return np.column_stack([mask, curve.reshape(-1, plan.n_outputs)])


def quadrature_table(basis: Basis) -> Table:
    """The functions where integrals of products of three of them are taken."""
    edges = np.union1d(basis._breaks(), np.linspace(*basis.domain, 65))
    nodes, weights = panel_rule(edges, PANEL_NODES_SQUARE)
    width = basis.domain[1] - basis.domain[0]
    functions = np.sqrt(width) * basis.evaluate(nodes.ravel())
    exponents = _EXPONENTS if basis.ordered_by_frequency else (0.0,)
    return Table(functions, weights.ravel() / width, exponents)


def coverage_posterior(
    released: np.ndarray, std: np.ndarray, table: Table
) -> Posterior:
    """Coefficients of coverage less one; the last ones were not released."""
    design = np.eye(len(released), table.functions.shape[1])
    noise, grid = np.diag(np.square(std)), (_SIZES, table.exponents)
    return smooth_posterior(design, released, noise, grid)


def coverage_at(posterior: Posterior, functions: np.ndarray) -> np.ndarray:
    """The coverage, moved softly into (0, 1): the mean of a normal law cut there."""
    middle = 1.0 + functions @ posterior.mean
    std = _SOFTNESS * np.maximum(posterior.std(functions), _SMALLEST_STD)
    return _truncated_mean(middle, std)


def mean_posterior(
    numerator: np.ndarray,
    std: np.ndarray,
    coverage: Posterior,
    den: np.ndarray,
    table: Table,
) -> Posterior:
    """Coefficients of the mean, of one output, given the coverage at the nodes."""
    n_rows = len(numerator)
    design = table.products(den, n_rows)
    noise, grid = np.diag(np.square(std)), (_MEAN_SIZES, table.exponents)
    moved = den - 1.0 - table.functions @ coverage.mean  # to stay within [0, 1]
    moved = table.functions.T @ (table.weights * moved)
    blur = coverage.covariance + np.outer(moved, moved)
    trust = 1 / (1 + 4 * np.square(coverage.std(table.functions) / den))
    middle, spread = np.zeros(len(den)), np.full(len(den), _UNKNOWN)
    for _ in range(_PASSES):
        total = noise
        for function in (middle, spread):  # E f^2 = middle^2 + spread^2
            blurred = table.products(function, n_rows)
            total = total + blurred @ blur @ blurred.T
        posterior = smooth_posterior(design, numerator, total, grid)
        middle = np.clip(table.functions @ posterior.mean, -1.0, 1.0)
        square = np.square(posterior.std(table.functions))
        spread = np.sqrt(trust * square + (1 - trust) * _UNKNOWN**2)
    return posterior


def smooth_posterior(
    design: np.ndarray,
    values: np.ndarray,
    noise: np.ndarray,
    grid: tuple[np.ndarray, tuple[float, ...]],
) -> Posterior:
    """Coefficients b given values = design @ b + noise, averaged over a grid.

    Given size a and exponent s of the grid, b_k is N(0, a (1 + k)^(-2 s)).
    """
    sizes, exponents = grid
    slack = _ROUNDING * noise.diagonal().max() * np.eye(len(noise))
    root = cholesky(noise + slack, lower=True)
    values = solve_triangular(root, values, lower=True)
    design = solve_triangular(root, design, lower=True)
    size = design.shape[1]
    evidence, means, within = [], [], []
    for exponent in exponents:
        decay = (1.0 + np.arange(size)) ** -exponent
        left, singular, right = np.linalg.svd(design * decay, full_matrices=False)
        square, seen = np.square(singular), left.T @ values
        gain = 1 + sizes[:, None] * square
        likely = -0.5 * np.log(gain) + 0.5 * np.square(seen) * (1 - 1 / gain)
        evidence.append(likely.sum(axis=1))
        means.append((sizes[:, None] / gain * (singular * seen)) @ right * decay)
        shrunk = np.square(sizes)[:, None] * square / gain
        within.append((decay, right, shrunk))
    weights = np.exp(np.array(evidence) - np.max(evidence))
    weights /= weights.sum()
    means, flat = np.concatenate(means), weights.ravel()
    mean = flat @ means
    spread = means - mean
    covariance = (spread.T * flat) @ spread
    for weight, (decay, right, shrunk) in zip(weights, within, strict=True):
        inner = (right.T * (weight @ shrunk)) @ right
        prior = np.diag(np.full(size, weight @ sizes))
        covariance += decay[:, None] * (prior - inner) * decay
    return Posterior(mean, (covariance + covariance.T) / 2)


def _truncated_mean(middle: np.ndarray, std: np.ndarray) -> np.ndarray:
    """E(x | 0 <= x <= 1) for normal x, stable however far outside it lies."""
    flip = middle > 0.5  # so that the nearer end of the interval is the lower one
    below = np.where(flip, 1.0 - middle, middle)
    low, high = -below / std, (1.0 - below) / std
    tail, rest = log_ndtr(-low), log_ndtr(-high)
    peak = -0.5 * np.square(low) - 0.5 * np.log(2 * np.pi)
    drop = 0.5 * (low - high) * (low + high)
    moved = np.exp(peak - tail) * np.expm1(drop) / np.expm1(rest - tail)
    cut = np.clip(below + std * moved, 0.0, 1.0)
    return np.where(flip, 1.0 - cut, np.maximum(cut, _TINY))
