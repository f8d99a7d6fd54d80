"""One axis of a density on a grid: bins, frequencies and nodes of the unit interval.

Bins have centres (k + 1/2) / B. An orthonormal transform takes the vector of B masses
to B coefficients, so that independent noise of one variance stays such; times sqrt(B)
they are, but for aliases, inner products of the density with functions that are
orthonormal on [0, 1]. Linear binning damps frequency r (in half-waves) by
sinc(r / (2 B))^2, which `damping` gives. Nodes are the multiples of 1 / G.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy import fft

BOUNDARIES = ("reflect", "periodic", "renormalize")


@dataclass(frozen=True)
class Axis(ABC):
    """Bins of one axis and the orthonormal functions that resolve them."""

    n_bins: int

    @property
    @abstractmethod
    def ranks(self) -> np.ndarray:
        """The number of half-waves of each function, shape (n_bins,)."""

    @property
    def damping(self) -> np.ndarray:
        """By what factor linear binning damps each function, shape (n_bins,)."""
        return np.sinc(self.ranks / (2 * self.n_bins)) ** 2

    @abstractmethod
    def transform(self, masses: np.ndarray, axis: int) -> np.ndarray:
        """The orthonormal transform of masses along one axis of an array."""

    @abstractmethod
    def inverse(self, coef: np.ndarray, axis: int) -> np.ndarray:
        """The masses that have these transforms."""

    @abstractmethod
    def functions(self, t: np.ndarray) -> np.ndarray:
        """The functions at points of [0, 1], shape (n_points, n_bins)."""

    @abstractmethod
    def at_nodes(self, coef: np.ndarray, n_cells: int, axis: int) -> np.ndarray:
        """Sums of the functions at the ``n_cells + 1`` nodes, n_cells >= n_bins."""


class CosineAxis(Axis):
    """Cosines: the density is reflected at both ends.

    Linear binning with constant ends interpolates the reflected cosines, so that
    nothing special happens near a bound.
    """

    @property
    def ranks(self) -> np.ndarray:
        return np.arange(self.n_bins)

    def transform(self, masses: np.ndarray, axis: int) -> np.ndarray:
        return fft.dct(masses, axis=axis, norm="ortho")

    def inverse(self, coef: np.ndarray, axis: int) -> np.ndarray:
        return fft.idct(coef, axis=axis, norm="ortho")

    def functions(self, t: np.ndarray) -> np.ndarray:
        waves = np.sqrt(2) * np.cos(np.pi * np.outer(t, self.ranks))
        waves[:, 0] = 1.0
        return waves

    def at_nodes(self, coef: np.ndarray, n_cells: int, axis: int) -> np.ndarray:
        coef = np.moveaxis(coef, axis, -1)
        padded = np.zeros((*coef.shape[:-1], n_cells + 1))
        padded[..., : self.n_bins] = coef / np.sqrt(2)
        padded[..., 0] = coef[..., 0]
        return np.moveaxis(fft.dct(padded, type=1), -1, axis)


class FourierAxis(Axis):
    """Sines and cosines: the ends of the interval are one point.

    The functions are cos(w) + sin(w) for w = 2 pi k (t - 1 / (2 B)) and whole numbers
    k of both signs (the Hartley transform), which is real and its own inverse.
    """

    @property
    def _waves(self) -> np.ndarray:
        return np.rint(fft.fftfreq(self.n_bins) * self.n_bins)

    @property
    def ranks(self) -> np.ndarray:
        return 2 * np.abs(self._waves).astype(int)

    def transform(self, masses: np.ndarray, axis: int) -> np.ndarray:
        spectrum = fft.fft(masses, axis=axis, norm="ortho")
        return spectrum.real - spectrum.imag

    def inverse(self, coef: np.ndarray, axis: int) -> np.ndarray:
        return self.transform(coef, axis)

    def functions(self, t: np.ndarray) -> np.ndarray:
        angle = 2 * np.pi * np.outer(t - 0.5 / self.n_bins, self._waves)
        return np.cos(angle) + np.sin(angle)

    def at_nodes(self, coef: np.ndarray, n_cells: int, axis: int) -> np.ndarray:
        coef = np.moveaxis(coef, axis, -1)
        # cos(w) + sin(w) is the real part of (1 - i) exp(i w)
        phase = np.exp(-1j * np.pi * self._waves / self.n_bins)
        padded = np.zeros((*coef.shape[:-1], n_cells), dtype=complex)
        padded[..., self._waves.astype(int) % n_cells] = coef * phase
        values = fft.ifft(padded, norm="forward")
        values = values.real + values.imag
        values = np.concatenate([values, values[..., :1]], axis=-1)
        return np.moveaxis(values, -1, axis)


def make_axis(n_bins: int, boundary: str) -> Axis:
    """The axis of a boundary rule."""
    return FourierAxis(n_bins) if boundary == "periodic" else CosineAxis(n_bins)
