"""Kernel smoothing of masses on a grid, with a rule for each bound."""

from __future__ import annotations

from functools import reduce

import numpy as np
from scipy import fft

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
_FINE = {1: 16, 2: 8, 3: 4}
_FINE_OF_LONG = {1: 16, 2: 4, 3: 2}


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
    The axis is continued by its mirror image, by itself or by nothing; then the
    convolution is circular. "renormalize" divides by the mass that the kernel around
    a node has within the bounds.
    """
    at_nodes = np.zeros((n_cells + 1,) * masses.ndim)
    at_nodes[tuple(_centres(n_bins, n_cells) for n_bins in masses.shape)] = masses
    spectrum = fft.rfftn(_kernel(kernel, bandwidth, n_cells, boundary))
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


def _kernel(
    kernel: str, bandwidth: np.ndarray, n_cells: int, boundary: tuple[str, ...]
) -> np.ndarray:
    """The kernel of mass one, averaged over cells and folded into one period."""
    profile, reach = KERNELS[kernel]
    fine = (_FINE if reach <= 1 else _FINE_OF_LONG)[len(bandwidth)]
    periods = [n_cells if rule == "periodic" else 2 * n_cells for rule in boundary]
    if kernel == "gaussian":  # a product
        return reduce(
            np.multiply.outer,
            [
                _folded(profile, reach, [h], [period], n_cells, fine)
                for h, period in zip(bandwidth, periods, strict=True)
            ],
        )
    return _folded(profile, reach, list(bandwidth), periods, n_cells, fine)


def _folded(profile, reach, bandwidth, periods, n_cells, fine) -> np.ndarray:
    offsets = []
    for h, period in zip(bandwidth, periods, strict=True):
        far = int(np.ceil(reach * h * n_cells)) + 1
        cells = np.arange(-far, far + 1)
        inner = (np.arange(fine) + 0.5) / fine - 0.5
        offsets.append((cells % period, (cells[:, None] + inner) / (h * n_cells)))
    square = np.zeros((1,) * (2 * len(offsets)))
    for axis, (_, distance) in enumerate(offsets):
        shape = [1] * (2 * len(offsets))
        shape[2 * axis : 2 * axis + 2] = distance.shape
        square = square + np.square(distance).reshape(shape)
    values = profile(np.sqrt(square))
    values = values.mean(axis=tuple(range(1, values.ndim, 2)))
    folded = np.zeros(periods)
    np.add.at(folded, np.ix_(*(place for place, _ in offsets)), values)
    return folded / folded.sum()
