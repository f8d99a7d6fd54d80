"""Expansions of kernels that are products over axes: one decomposition per axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce

import numpy as np

from ..exceptions import PrivacyError
from ._expansion import PointExpansion, product_alike
from ._kernels import (
    ExponentialKernel,
    GaussianKernel,
    Kernel,
    ProductKernel,
    transformed,
)

Product = Callable[[np.ndarray, np.ndarray], np.ndarray]

MAX_NODES = 1024  # along one axis
MAX_DIRECTIONS = 1 << 14
_MAX_PRODUCTS = 1 << 24
_EXACT = 1e-6  # of the height of K_x: what an expansion of a smooth kernel may lose
_ROUGH = 0.01  # what one of a rough kernel aims at,
_TOO_ROUGH = 0.1  # and what is refused
_COUNTS = (24, 36, 54, 81, 121, 181, 271, 406, 609, 913, MAX_NODES)
_CHUNK = 1 << 21


@dataclass(frozen=True, eq=False)
class TensorExpansion:
    """Functions projected on products of functions of one axis each.

    Parameters
    ----------
    transform : ndarray, shape (d, d)
        The linear map to the axes on which the kernel is a product.
    axes : tuple of d PointExpansion
        The expansion along each of them.
    index : ndarray of int, shape (d, m)
        The functions whose product is coordinate j.
    error : float
        A bound on how much of the height of K_x is lost, as measured.
    """

    transform: np.ndarray
    axes: tuple[PointExpansion, ...]
    index: np.ndarray
    error: float

    @classmethod
    def on_box(
        cls, kernel: Kernel, low: np.ndarray, high: np.ndarray
    ) -> TensorExpansion:
        """Choose nodes and directions from public facts: the kernel and its box."""
        build = _on_box if _is_value(kernel) else _on_box.__wrapped__
        return build(kernel, tuple(low.tolist()), tuple(high.tolist()))

    @property
    def size(self) -> int:
        """The number m of coordinates."""
        return self.index.shape[1]

    @property
    def nodes(self) -> np.ndarray:
        """All nodes, shape (k, d), in the units of the points."""
        grid = np.meshgrid(*(axis.nodes[:, 0] for axis in self.axes), indexing="ij")
        inside = np.stack([part.ravel() for part in grid], axis=1)
        return np.linalg.solve(self.transform, inside.T).T

    def coordinates(self, X: np.ndarray, section: Kernel | None = None) -> np.ndarray:
        """The coordinates of K_x, or of another product of two points, at each row."""
        transform, _ = self._separated(section)
        return self._products(X @ transform.T, section, np.matmul)

    def coordinates_alike(
        self, X: np.ndarray, section: Kernel | None = None
    ) -> np.ndarray:
        """The same, but for roundings that are those of a row alone: `product_alike`.

        For kernels of this package; another one may round as it likes.
        """
        transform, _ = self._separated(section)
        return self._products(transformed(X, transform), section, product_alike)

    def _products(
        self, X: np.ndarray, section: Kernel | None, product: Product
    ) -> np.ndarray:
        transform, factors = self._separated(section)
        scale = np.diag(transform) / np.diag(self.transform)
        parts = [
            product(factor(X[:, [j]], axis.nodes * scale[j]), axis.matrix.T)[:, columns]
            for j, (factor, axis, columns) in enumerate(
                zip(factors, self.axes, self.index, strict=True)
            )
        ]
        return reduce(np.multiply, parts)

    def _separated(self, section: Kernel | None) -> tuple[np.ndarray, Sequence[Kernel]]:
        if section is not None:
            return section.separated(len(self.axes))
        return self.transform, [axis.kernel for axis in self.axes]

    def of_values(self, values: np.ndarray) -> np.ndarray:
        """The coordinates of a function with these values at the nodes."""
        matrices = [axis.matrix.astype(np.longdouble) for axis in self.axes]
        return self._contracted(values.astype(np.longdouble), matrices)

    def rounding_of_values(self, largest: float) -> float:
        """A bound on the error of `of_values`, for values of at most this size."""
        count = [len(axis.nodes) for axis in self.axes]
        sizes = [np.abs(axis.matrix) for axis in self.axes]
        sums = np.linalg.norm(self._contracted(np.ones(math.prod(count)), sizes))
        roundoff = (sum(count) + 8) * float(np.finfo(np.longdouble).eps)
        return largest * float(sums) * (roundoff + 2.0**-52)

    def _contracted(self, values: np.ndarray, matrices: list) -> np.ndarray:
        table = values.reshape([len(axis.nodes) for axis in self.axes])
        for matrix in matrices:
            table = np.tensordot(table, matrix, ([0], [1]))
        return table[tuple(self.index)].astype(np.float64)

    def evaluate(self, coefficients: np.ndarray, T: np.ndarray) -> np.ndarray:
        """Functions at each row of T; coefficients of shape (m,) or (n, m)."""
        step = max(1, _CHUNK // max(self.size, MAX_NODES))
        values = [
            coefficients @ self.coordinates(T[start : start + step]).T
            for start in range(0, len(T), step)
        ]
        return np.concatenate(values, axis=-1)

    @cached_property
    def gain(self) -> float:
        """A bound on the norm of the coordinates of functions of norm one."""
        return math.prod(axis.gain for axis in self.axes) * (1 + 2.0**-48)

    def rounding(self, largest: float) -> float:
        """A bound on the error of coordinates of sections of height at most one.

        A section is a product of sections of norm at least one along each axis, so
        `largest`, which bounds its norm, bounds theirs. What is computed along an axis
        is off by the error there; the product of d such vectors errs by the difference
        of two products of norms, and by d roundings.
        """
        exact = [axis.gain * largest for axis in self.axes]
        wrong = [
            norm + axis.rounding(largest)
            for norm, axis in zip(exact, self.axes, strict=True)
        ]
        difference = math.prod(wrong) * (1 + 2.0**-48) - math.prod(exact)
        return difference * (1 + 2.0**-20)

    @cached_property
    def amplification(self) -> float:
        """By how much errors of values can grow in coordinates."""
        norms = [
            np.linalg.norm(axis.matrix, axis=1)[self.index[j]]
            for j, axis in enumerate(self.axes)
        ]
        count = math.prod(len(axis.nodes) for axis in self.axes)
        return float(math.sqrt(count) * math.prod(norms).max() * (1 + 2.0**-20))


def _is_value(kernel: Kernel) -> bool:
    """Whether it is one of ours: frozen, so that results may be kept."""
    if isinstance(kernel, ProductKernel):
        return all(map(_is_value, kernel.kernels))
    return type(kernel) in (ExponentialKernel, GaussianKernel)


@lru_cache(maxsize=16)
def _on_box(
    kernel: Kernel, low: tuple[float, ...], high: tuple[float, ...]
) -> TensorExpansion:
    n_axes = len(low)
    transform, kernels = kernel.separated(n_axes)
    with np.errstate(over="ignore", invalid="ignore"):
        ends = np.sort([transform * low, transform * high], axis=0).sum(axis=2)
        if not np.isfinite(ends[1] - ends[0]).all():
            raise PrivacyError("bounds are too far apart in units of the bandwidth")
    most = min(MAX_NODES, int(MAX_DIRECTIONS ** (1 / n_axes) + 1e-9))
    axes = tuple(
        _axis(factor, float(a), float(b), n_axes, most)
        for factor, a, b in zip(kernels, *ends, strict=True)
    )
    index, dropped = _largest_products(axes)
    error = sum(axis.error for axis in axes) + dropped
    if index.shape[1] > MAX_DIRECTIONS or error > _TOO_ROUGH:
        raise PrivacyError(
            f"{kernel!r} varies too fast for these bounds: an expansion with at most "
            f"{most if error > _TOO_ROUGH else MAX_NODES} points along an axis and "
            f"{MAX_DIRECTIONS} functions is not accurate. Use a larger bandwidth "
            "(smaller gamma), tighter bounds, points= for the values at given points, "
            "or n_nodes= to take a coarser expansion"
        )
    transform.setflags(write=False)
    index.setflags(write=False)
    return TensorExpansion(transform, axes, index, error)


def _axis(
    kernel: Kernel, low: float, high: float, n_axes: int, most: int
) -> PointExpansion:
    """The expansion of a kernel of one axis on an interval."""
    if isinstance(kernel, ExponentialKernel):
        # Between neighbours at distance D the kernel loses tanh(gamma D / 2).
        spacing = 2 * math.atanh(_ROUGH / n_axes) / kernel.gamma
        count = 2 + int(min((high - low) / spacing, most - 2))
        return _expanded(kernel, np.linspace(low, high, count))
    goal = _EXACT / (4 * n_axes)
    before = 1.0
    for count in _COUNTS:
        # Fewer are never enough. The odd factor is met by no round number of
        # bandwidths, where rounding in other units could change the choice.
        is_hopeless = isinstance(kernel, GaussianKernel) and (
            count < 1.9371 * (high - low) / kernel.bandwidth and count < MAX_NODES
        )
        if is_hopeless:
            continue
        # Chebyshev points: an expansion is least accurate near the ends.
        turns = (1 - np.cos(np.pi * np.linspace(0, 1, count))) / 2
        axis = _expanded(kernel, low + (high - low) * turns, goal)
        is_settled = before < 1e-3 and axis.error > before / 2
        if axis.error <= 2 * goal or is_settled:
            break
        before = axis.error
    return axis


def _expanded(kernel: Kernel, nodes: np.ndarray, loss: float = 0.0) -> PointExpansion:
    """The expansion at increasing nodes, each with the weight of its surroundings."""
    cells = np.diff(nodes)
    weights = (np.append(cells, 0) + np.append(0, cells)) / 2
    return PointExpansion.at(kernel, nodes[:, None], _between(nodes), weights, loss)


def _between(nodes: np.ndarray) -> np.ndarray:
    """The nodes and three points in each gap, shape (n, 1)."""
    inside = np.linspace(nodes[:-1], nodes[1:], 5)[1:]
    return np.append(nodes[0], inside.T.ravel())[:, None]


def _largest_products(axes: tuple[PointExpansion, ...]) -> tuple[np.ndarray, float]:
    """The products that matter, in lexicographic order, and what the others lose."""
    if math.prod(axis.size for axis in axes) > _MAX_PRODUCTS:
        return np.zeros((len(axes), MAX_DIRECTIONS + 1), dtype=np.intp), 1.0
    peaks = []
    for axis in axes:
        tests = _between(axis.nodes[:, 0])
        peaks.append(np.square(axis.coordinates(tests)).max(axis=0))
    energy = reduce(np.multiply.outer, peaks)
    order = np.argsort(energy, axis=None)
    lost = np.cumsum(energy.ravel()[order])
    n_dropped = int(np.searchsorted(lost, _EXACT / 2)) if len(axes) > 1 else 0
    keep = np.ones(energy.size, dtype=bool)
    keep[order[:n_dropped]] = False
    index = np.array(np.unravel_index(np.flatnonzero(keep), energy.shape))
    return index, float(lost[n_dropped - 1]) if n_dropped else 0.0
