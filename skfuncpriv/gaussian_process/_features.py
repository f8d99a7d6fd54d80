"""Features of a kernel: finitely many public coordinates z(x), of norm at most one.

K restricted to kernels at evenly spread public nodes: z(x) are the coordinates of the
projection of K_x on their span, in the orthonormal basis in which the nodes have their
principal directions, the largest first. So f(x) = w'z(x) has RKHS norm norm(w), and
norm(z(x))^2 <= K(x, x) = 1 is what kappa bounds. One scheme serves every kernel and any
number of axes; what a cut after m coordinates misses is measured at other points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from .._threads import one_blas_thread
from .._validation import check_count
from ._expansion import PointExpansion
from ._kernels import ExponentialKernel, GaussianKernel, Kernel
from ._nodes import spread

MAX_FEATURES = 1024
_NODES_PER_AXIS, _MOST_AXES = 128, 4
_AUTO_FEATURES = 256
_BANDWIDTH = 0.15  # of the widths of the bounds, times sqrt(d); see `default_kernel`
_CHUNK = 1 << 12


@dataclass(frozen=True, eq=False)
class KernelFeatures:
    """The map x -> z(x), for points of a public box.

    Parameters
    ----------
    expansion : PointExpansion
        Projections on kernels at the nodes.
    low, high : ndarray, shape (d,)
        The box; points outside are moved to it.
    missed : ndarray, shape (m,)
        Entry k: the root mean square, over test points of the box, of the norm of what
        the first k + 1 coordinates miss of K_x; decreasing.
    """

    expansion: PointExpansion
    low: np.ndarray
    high: np.ndarray
    missed: np.ndarray

    def first(self, n_components: int) -> KernelFeatures:
        """The first coordinates alone."""
        matrix, missed = (
            self.expansion.matrix[:n_components],
            self.missed[:n_components],
        )
        expansion = replace(self.expansion, matrix=_frozen(matrix))
        return replace(self, expansion=expansion, missed=_frozen(missed))

    @property
    def size(self) -> int:
        """The number m of coordinates."""
        return self.expansion.size

    def transform(self, X: np.ndarray, alike: bool = False) -> np.ndarray:
        """z(x) of every row, shape (n, m); clipped last.

        `alike` rounds each row as if it stood alone, see `product_alike`.

        The norm of every row of floats is at most 1 + 2^-40. Where a kernel is not
        finite, z is zero.
        """
        Z, expansion = np.empty((len(X), self.size)), self.expansion
        place = expansion.coordinates_alike if alike else expansion.coordinates
        with np.errstate(all="ignore"):  # a warning about rows would tell of them
            for start in range(0, len(X), _CHUNK):
                rows = slice(start, start + _CHUNK)
                inside = np.clip(X[rows], self.low, self.high)
                part = place(inside)
                part[~np.isfinite(part).all(axis=1)] = 0.0
                norms = np.sqrt(np.square(part).sum(axis=1, keepdims=True))
                Z[rows] = part / np.maximum(norms, 1.0)
        return Z


def public_features(
    kernel: Kernel, low: np.ndarray, high: np.ndarray, n_components: Any
) -> KernelFeatures:
    """All coordinates that may be used; those of our own kernels are kept."""
    count, most = _NODES_PER_AXIS * min(len(low), _MOST_AXES), _AUTO_FEATURES
    if not is_auto(n_components):
        most = check_count(n_components, "n_components")
        if most > MAX_FEATURES:
            raise ValueError(
                f"n_components must be 'auto' or at most {MAX_FEATURES}, got "
                f"{n_components!r}"
            )
        count = max(count, 2 * most)
    known = isinstance(kernel, ExponentialKernel | GaussianKernel)
    build = _features if known else _features.__wrapped__
    features = build(kernel, tuple(low.tolist()), tuple(high.tolist()), count)
    return features.first(most)


def default_kernel(low: np.ndarray, high: np.ndarray) -> GaussianKernel:
    """A Gaussian kernel whose bandwidths follow from the bounds.

    Points of the box at random are sqrt(d / 6) widths apart in mean square; with
    bandwidths proportional to sqrt(d) they are as alike in every dimension.
    """
    scale = _BANDWIDTH * np.sqrt(len(low))
    return GaussianKernel(tuple((scale * (high - low)).tolist()))


def is_auto(value: Any) -> bool:
    """Whether a parameter is the text "auto"."""
    return isinstance(value, str) and value == "auto"


@lru_cache(maxsize=16)
def _features(
    kernel: Kernel, low: tuple[float, ...], high: tuple[float, ...], count: int
) -> KernelFeatures:
    box = _frozen(low), _frozen(high)
    points = spread(2 * count, *box)  # every other one is a node, the others are tests
    with one_blas_thread(), np.errstate(all="ignore"):
        expansion = PointExpansion.at(kernel, points[::2].copy(), points[1::2])
        energy = np.square(expansion.coordinates(points[1::2])).mean(axis=0)
    missed = np.sqrt(np.maximum(0.0, 1.0 - np.cumsum(energy)))
    return KernelFeatures(expansion, *box, _frozen(missed))


def _frozen(values: Any) -> np.ndarray:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array
