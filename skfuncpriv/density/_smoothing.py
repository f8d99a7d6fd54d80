"""Kernel smoothing of masses on a grid, with a rule for each bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce

import numpy as np
from scipy import fft

from ._grid_density import cells_per_axis

# Profiles of the distance in bandwidths, up to a factor, and where they end.
KERNELS = {
    "gaussian": (lambda u: np.exp(-0.5 * u * u), 7.0),
    "tophat": (lambda u: np.where(u < 1, 1.0, 0.0), 1.0),
    "epanechnikov": (lambda u: np.maximum(1 - u * u, 0.0), 1.0),
    "exponential": (lambda u: np.exp(-u), 14.0),
    "linear": (lambda u: np.maximum(1 - u, 0.0), 1.0),
    "cosine": (lambda u: np.where(u < 1, np.cos(0.5 * np.pi * u), 0.0), 1.0),
}
# Points per cell and axis at which a kernel is averaged: compact ones have edges.
_FINEST = {1: 16, 2: 8, 3: 4}
_MOST_POINTS = 1 << 25  # at which a kernel is evaluated,
_SLAB_POINTS = 1 << 20  # so many at once


def largest_bandwidth(kernel: str, n_axes: int) -> float:
    """The largest bandwidth, in widths of the domain, that is quick to smooth with."""
    if kernel == "gaussian" or n_axes == 1:
        return 1.0
    reach, n_cells = KERNELS[kernel][1], cells_per_axis(n_axes)
    return min(1.0, (_MOST_POINTS ** (1 / n_axes) - 4) / (2 * reach * n_cells))


def smooth(
    masses: np.ndarray,
    n_cells: int,
    kernel: str,
    bandwidth: np.ndarray,
    boundary: tuple[str, ...],
) -> np.ndarray:
    """Return the kernel density of masses, at the nodes of the unit cube.

    Parameters
    ----------
    masses : ndarray, shape (B_1, ..., B_d)
        Masses at centres of bins; 2 B divides the number of cells.
    n_cells : int
        The number G of cells along each axis.
    kernel : str
        A name of `KERNELS`; radial in units of the bandwidths.
    bandwidth : ndarray, shape (d,)
        One bandwidth per axis, in widths of the domain.
    boundary : tuple of d str
        "reflect", "periodic" or "renormalize".

    Returns
    -------
    ndarray, shape (G + 1, ..., G + 1)
        The density.

    Notes
    -----
    Masses are interpolated linearly between centres: as points they would show a comb
    where a kernel ends abruptly. The axis is continued by its mirror image, by itself
    or by nothing; then the convolution is circular. "renormalize" divides by the mass
    that the kernel around a node has within the bounds.
    """
    at_nodes = np.zeros((n_cells + 1,) * masses.ndim)
    at_nodes[tuple(_centres(n_bins, n_cells) for n_bins in masses.shape)] = masses
    spectrum = fft.rfftn(_kernel(kernel, bandwidth, n_cells, boundary))
    spectrum *= fft.rfftn(_hats(masses.shape, n_cells, boundary))
    density = _convolve(at_nodes, spectrum, n_cells, boundary)
    if "renormalize" in boundary:
        inside = np.ones_like(at_nodes)
        for axis, rule in enumerate(boundary):
            if rule == "renormalize":  # trapezoidal weights
                np.moveaxis(inside, axis, 0)[[0, -1]] /= 2
        density = density / _convolve(inside, spectrum, n_cells, boundary)
    return density * float(n_cells) ** masses.ndim


def _centres(n_bins: int, n_cells: int) -> slice:
    step = n_cells // n_bins
    return slice(step // 2, None, step)


def _convolve(
    values: np.ndarray, spectrum: np.ndarray, n_cells: int, boundary: tuple[str, ...]
) -> np.ndarray:
    for axis, rule in enumerate(boundary):
        values = _continued(np.moveaxis(values, axis, 0), rule)
        values = np.moveaxis(values, 0, axis)
    shape = values.shape
    smoothed = fft.irfftn(fft.rfftn(values) * spectrum, s=shape)
    for axis, rule in enumerate(boundary):
        smoothed = np.moveaxis(smoothed, axis, 0)
        last = smoothed[:1] if rule == "periodic" else smoothed[n_cells : n_cells + 1]
        smoothed = np.concatenate([smoothed[:n_cells], last])
        smoothed = np.moveaxis(smoothed, 0, axis)
    return smoothed


def _continued(values: np.ndarray, rule: str) -> np.ndarray:
    """One period along the first axis: G nodes, or 2 G with a mirror or nothing."""
    if rule == "periodic":
        return values[:-1]
    beyond = values[-2:0:-1] if rule == "reflect" else np.zeros_like(values[-2:0:-1])
    return np.concatenate([values, beyond])


def _periods(n_cells: int, boundary: tuple[str, ...]) -> list[int]:
    """The number of nodes after which each continued axis repeats itself."""
    return [n_cells if rule == "periodic" else 2 * n_cells for rule in boundary]


def _hats(
    shape: tuple[int, ...], n_cells: int, boundary: tuple[str, ...]
) -> np.ndarray:
    """The hat of mass one that interpolates between centres of bins."""
    hats = []
    for n_bins, period in zip(shape, _periods(n_cells, boundary), strict=True):
        step = n_cells // n_bins
        cells, hat = np.arange(1 - step, step), np.zeros(period)
        np.add.at(hat, cells % period, (step - abs(cells)) / step**2)
        hats.append(hat)
    return reduce(np.multiply.outer, hats)


def _kernel(
    kernel: str, bandwidth: np.ndarray, n_cells: int, boundary: tuple[str, ...]
) -> np.ndarray:
    """The kernel of mass one, averaged over cells and folded into one period."""
    profile, reach = KERNELS[kernel]
    periods = _periods(n_cells, boundary)
    if kernel == "gaussian":  # a product
        return reduce(
            np.multiply.outer,
            [
                _folded(profile, reach, [h], [period], n_cells)
                for h, period in zip(bandwidth, periods, strict=True)
            ],
        )
    return _folded(profile, reach, list(bandwidth), periods, n_cells)


def _folded(
    profile: Callable[[np.ndarray], np.ndarray],
    reach: float,
    bandwidth: list[float],
    periods: list[int],
    n_cells: int,
) -> np.ndarray:
    """The profile over its reach, slab by slab along the first axis."""
    far = [math.ceil(reach * h * n_cells) + 1 for h in bandwidth]
    fine, n_points = _FINEST[len(far)], math.prod(2 * k + 1 for k in far)
    while fine > 1 and n_points * fine ** len(far) > _MOST_POINTS:
        fine //= 2
    inner = (np.arange(fine) + 0.5) / fine - 0.5
    places, distances = [], []
    for k, h, period in zip(far, bandwidth, periods, strict=True):
        cells = np.arange(-k, k + 1)
        places.append(cells % period)
        distances.append(np.square((cells[:, None] + inner) / (h * n_cells)))
    n_slab = max(1, _SLAB_POINTS // (n_points * fine ** len(far) // (2 * far[0] + 1)))
    folded = np.zeros(periods)
    for start in range(0, len(places[0]), n_slab):
        slab = slice(start, start + n_slab)
        # axes of cells and of points within, in turns
        square = reduce(np.add.outer, [distances[0][slab], *distances[1:]])
        values = profile(np.sqrt(square)).mean(axis=tuple(range(1, square.ndim, 2)))
        np.add.at(folded, np.ix_(places[0][slab], *places[1:]), values)
    return folded / folded.sum()
