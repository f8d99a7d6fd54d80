"""Bandwidths from public facts, or from private quantiles that are paid for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._validation import check_positive
from ._grid_density import GridDensity, cells_per_axis
from ._smoothing import largest_bandwidth

RULES = ("pss", "private-iqr", "scott", "silverman")
SPREAD = 1 / 12  # deviation of the normal density of reference, in widths of the box
_CANDIDATES = np.geomspace(0.005, 0.5, 40)
_NORMAL_IQR = 1.34


def read_bandwidth(bandwidth: Any, n_people: int, widths: np.ndarray) -> Any:
    """A rule by name, or bandwidths of the axes in widths of the box."""
    n_axes = len(widths)
    if isinstance(bandwidth, str):
        if bandwidth in ("scott", "silverman"):  # as in scikit-learn: of n and d alone
            factor = 1.0 if bandwidth == "scott" else (n_axes + 2) / 4
            return (n_people * factor) ** (-1 / (n_axes + 4)) / widths
        if bandwidth in RULES:
            return bandwidth
    elif np.ndim(bandwidth) == 0:
        return check_positive(bandwidth, "bandwidth") / widths
    elif np.shape(bandwidth) == (n_axes,):
        numbers = [check_positive(h, "bandwidth") for h in bandwidth]
        return np.array(numbers) / widths
    raise ValueError(
        f"bandwidth must be a number > 0, one for each of {n_axes} features, or one of "
        f"{RULES}, got {bandwidth!r}"
    )


def check_resolved(bandwidth: np.ndarray, widths: np.ndarray, kernel: str) -> None:
    """Refuse bandwidths below what the grid can show, or beyond the box."""
    n_axes = len(widths)
    least, most = 2 / cells_per_axis(n_axes), largest_bandwidth(kernel, n_axes)
    if not ((bandwidth >= least) & (bandwidth <= most)).all():
        ends = least * widths, most * widths
        low, high = (" ".join(f"{h:.3g}" for h in end) for end in ends)
        raise ValueError(
            f"bandwidth must be at least {low}, two cells of the grid, and at most "
            f"{high}, with this kernel and these bounds: state wider or narrower bounds"
        )


def reference_bandwidth(
    n_people: int, n_axes: int, noise: Callable[[np.ndarray], float]
) -> np.ndarray:
    """The bandwidths that minimise a predicted error, in widths of the box.

    The error is that of a normal density of a twelfth of each width: its bias in closed
    form, the sampling variance R(K) / n and the energy of the noise.
    """

    errors = []
    for h in _CANDIDATES:
        bandwidth = np.full(n_axes, h)
        sampling = _overlap(np.square(bandwidth)) / n_people
        errors.append(kernel_bias(bandwidth) + sampling + noise(bandwidth))
    return np.full(n_axes, _CANDIDATES[int(np.argmin(errors))])


def kernel_bias(bandwidth: np.ndarray) -> float:
    """The squared bias of Gaussian kernels for the normal density of reference."""
    s, t = np.full(len(bandwidth), SPREAD**2), np.square(bandwidth)
    return _overlap(s + t) - 2 * _overlap(s + t / 2) + _overlap(s)


def _overlap(variance: np.ndarray) -> float:
    """The integral of the square of a normal density, given variances of the axes."""
    return float(np.prod((4 * np.pi * variance) ** -0.5))


def iqr_bandwidth(
    marginals: list[GridDensity], n_people: int, kernel: str = "gaussian"
) -> np.ndarray:
    """The rule of thumb 0.9 (IQR / 1.34) n^(-1 / (4 + d)), in widths of the box."""
    widths, n_axes = [], len(marginals)
    for marginal in marginals:
        first, third = marginal.quantile(np.array([0.25, 0.75]))
        widths.append(float((third - first) / marginal.volume))
    rate = n_people ** (-1 / (4 + n_axes))
    least = 2 / cells_per_axis(n_axes)
    most = min(0.5, largest_bandwidth(kernel, n_axes))
    return np.clip(0.9 / _NORMAL_IQR * np.array(widths) * rate, least, most)
