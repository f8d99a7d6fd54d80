"""A density on a public grid, evaluated, integrated and sampled for free."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

_N_CELLS = {1: 8192, 2: 256, 3: 64}
_FLOOR = 1e-4  # part of the mass that is spread evenly


class Estimate(NamedTuple):
    """What is made of a release: on the unit cube, in widths of the box.

    `values` at the nodes, the root mean square `noise` that is left in them, and the
    `bandwidth` of each axis.
    """

    values: np.ndarray
    noise: float
    bandwidth: np.ndarray


def cells_per_axis(n_axes: int) -> int:
    """How many cells an axis has: public, the same for equal numbers of axes."""
    return _N_CELLS[n_axes]


def positive_density(values: np.ndarray, *, is_mass_one: bool = True) -> np.ndarray:
    """The nearest density on the nodes of the unit cube, mixed with a little of one.

    Parameters
    ----------
    values : ndarray, shape (G + 1, ..., G + 1)
        What was estimated, perhaps negative somewhere.
    is_mass_one : bool, default=True
        Whether the estimate should have mass one as it stands; otherwise what is
        negative is cut off, and the rest divided by its mass.

    Returns
    -------
    ndarray, shape of `values`
        Nowhere negative, of mass one.

    Notes
    -----
    The nearest density in L2 is max(values - c, 0) with c such that the mass is one.
    A ten-thousandth of the mass is spread evenly, so that logarithms are finite.
    """
    weights = node_weights(values.shape)
    if is_mass_one:
        low, high = values.min() - 1.0, values.max()
        for _ in range(60):
            middle = low / 2 + high / 2
            if (weights * np.maximum(values - middle, 0.0)).sum() > 1:
                low = middle
            else:
                high = middle
        values = values - low
    values = np.maximum(values, 0.0)
    mass = (weights * values).sum()
    flat = np.ones_like(values)
    values = values / mass if mass > 0 else flat
    return (1 - _FLOOR) * values + _FLOOR * flat


def node_weights(shape: tuple[int, ...]) -> np.ndarray:
    """Trapezoidal weights on the unit cube, exact for multilinear functions."""

    def one_axis(n_nodes: int) -> np.ndarray:
        weights = np.full(n_nodes, 1.0 / (n_nodes - 1))
        weights[[0, -1]] /= 2
        return weights

    return reduce(np.multiply.outer, map(one_axis, shape), np.ones(()))


@dataclass(frozen=True, eq=False)
class GridDensity:
    """A density that is multilinear between the nodes of a grid on a box.

    Parameters
    ----------
    low, high : ndarray, shape (d,)
        The corners of the box, in the units of the points.
    values : ndarray, shape (G + 1, ..., G + 1)
        The density of the unit cube at the nodes, positive and of mass one.
    """

    low: np.ndarray
    high: np.ndarray
    values: np.ndarray

    @classmethod
    def on_unit_cube(cls, values: np.ndarray) -> GridDensity:
        """The density whose box is the unit cube."""
        return cls(np.zeros(values.ndim), np.ones(values.ndim), values)

    @property
    def volume(self) -> float:
        """The volume of the box."""
        return float(np.prod(self.high - self.low))

    def log_density(self, points: np.ndarray) -> np.ndarray:
        """Logarithms at points of shape (n, d); minus infinity outside of the box."""
        inside = ((points >= self.low) & (points <= self.high)).all(axis=1)
        logarithm = np.full(len(points), -np.inf)
        values = self._interpolate(self.values, points[inside])
        logarithm[inside] = np.log(values) - np.log(self.high - self.low).sum()
        return logarithm

    def cdf(self, points: np.ndarray) -> np.ndarray:
        """The probability of the box below each point, shape (n,).

        Exact at the nodes and on one axis; multilinear between nodes on several.
        """
        clipped = np.clip(points, self.low, self.high)
        if self.values.ndim == 1:
            cell, rest = self._cells(clipped, axis=0)
            left, right = self.values[cell], self.values[cell + 1]
            inside = rest * (left + rest * (right - left) / 2)
            probability = self._cumulated[cell] + inside / self._n_cells
        else:
            probability = self._interpolate(self._cumulated, clipped)
        return np.clip(probability, 0.0, 1.0)

    def quantile(self, probability: np.ndarray) -> np.ndarray:
        """The inverse of `cdf` on one axis."""
        cumulated = self._cumulated
        cell = np.searchsorted(cumulated, probability, side="right") - 1
        cell = np.clip(cell, 0, self._n_cells - 1)
        rest = np.clip(probability - cumulated[cell], 0.0, None) * self._n_cells
        left, right = self.values[cell], self.values[cell + 1]
        # left * s + (right - left) * s^2 / 2 = rest, without cancellation
        root = np.sqrt(np.maximum(left**2 + 2 * (right - left) * rest, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.nan_to_num(2 * rest / (left + root))
        unit = (cell + np.clip(step, 0.0, 1.0)) / self._n_cells
        return self._to_user(unit[:, None])[:, 0]

    def sample(self, n_samples: int, rng: np.random.Generator) -> np.ndarray:
        """Independent points of the density, shape (n_samples, d).

        A node is drawn by its mass, then each coordinate from the hat around it.
        """
        shape = self.values.shape
        masses = (node_weights(shape) * self.values).ravel()
        cumulated = np.cumsum(masses)
        at = np.searchsorted(cumulated, rng.random(n_samples) * cumulated[-1], "right")
        nodes = np.stack(np.unravel_index(at, shape), axis=1).astype(np.float64)
        hat = rng.random(nodes.shape) - rng.random(nodes.shape)
        nodes = np.abs(nodes + hat)  # a half hat at either end
        nodes = self._n_cells - np.abs(self._n_cells - nodes)
        return self._to_user(nodes / self._n_cells)

    def marginal(self, axis: int) -> GridDensity:
        """The density of one coordinate."""
        others = tuple(k for k in range(self.values.ndim) if k != axis)
        weights = node_weights(tuple(self.values.shape[k] for k in others))
        values = np.moveaxis(self.values, axis, 0)
        values = np.tensordot(values, weights, axes=len(others))
        ends = slice(axis, axis + 1)
        return GridDensity(self.low[ends], self.high[ends], values)

    @property
    def _n_cells(self) -> int:
        return self.values.shape[0] - 1

    @property
    def _cumulated(self) -> np.ndarray:
        """The distribution function at the nodes."""
        total = self.values
        for axis in range(total.ndim):
            total = np.moveaxis(total, axis, -1)
            cells = (total[..., 1:] + total[..., :-1]) / (2 * self._n_cells)
            total = np.concatenate(
                [np.zeros_like(cells[..., :1]), np.cumsum(cells, axis=-1)], axis=-1
            )
            total = np.moveaxis(total, -1, axis)
        return total / total.max()

    def _to_user(self, unit: np.ndarray) -> np.ndarray:
        points = self.low * (1 - unit) + self.high * unit
        return np.clip(points, self.low, self.high)

    def _cells(self, points: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
        """The cell of each point along an axis, and where it lies within."""
        width = self.high[axis] / 2 - self.low[axis] / 2
        unit = (points[:, axis] / 2 - self.low[axis] / 2) / width
        unit *= self._n_cells
        cell = np.minimum(unit.astype(np.intp), self._n_cells - 1)
        return cell, unit - cell

    def _interpolate(self, values: np.ndarray, points: np.ndarray) -> np.ndarray:
        axes = [self._cells(points, axis) for axis in range(values.ndim)]
        total = np.zeros(len(points))
        for corner in np.ndindex(*(2,) * values.ndim):
            weight = np.ones(len(points))
            for (_, rest), end in zip(axes, corner, strict=True):
                weight *= rest if end else 1 - rest
            index = tuple(
                cell + end for (cell, _), end in zip(axes, corner, strict=True)
            )
            total += weight * values[index]
        return total
