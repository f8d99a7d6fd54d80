"""Functions whose answers are private, and what passes where their noise is added."""

import math
from contextlib import contextmanager

import numpy as np
import pytest

from skfuncpriv import OnlineGaussianProcess
from skfuncpriv.gaussian_process import (
    ExponentialKernel,
    GaussianKernel,
    ProductKernel,
    _online_release,
)

BANDWIDTH = 0.2
KERNELS = {
    "exponential": ExponentialKernel(3.0),
    "gaussian": GaussianKernel(BANDWIDTH),
    "product": ProductKernel([ExponentialKernel(3.0), GaussianKernel(BANDWIDTH)]),
}


def density(data):
    """A kernel density estimate with the Gaussian kernel, as a function of points."""
    data = np.array(data, dtype=float)

    def evaluate(points):
        gap = (points[:, :1] - data) / BANDWIDTH
        scale = len(data) * BANDWIDTH * math.sqrt(2 * math.pi)
        return np.exp(-0.5 * gap**2).sum(axis=1) / scale

    return evaluate


def wave(points):
    """A smooth function of the first axis."""
    return np.sin(3 * points[:, 0])


def online(kernel, function=wave, **parameters):
    """A release in memory, with a generous budget."""
    facts = {"sensitivity": 0.1, "delta": 1e-6, "epsilon": 1.0} | parameters
    if "rho" in facts:
        facts.pop("delta")
    return OnlineGaussianProcess(kernel=kernel, **facts).fit(function)


def points_for(kernel, n_points, seed=0):
    """Points of the unit square, or of the unit interval."""
    table = np.random.default_rng(seed).uniform(size=(n_points, kernel.n_axes or 1))
    return table[:, 0] if table.shape[1] == 1 else table


@contextmanager
def recorded(transcript=None):
    """Collect (centre, deviation) of every draw; answer from a transcript if given."""
    draws, original = [], _online_release.release_normal

    def release(value, deviation, lattice, bits):
        draws.append((value, deviation))
        if transcript is None:
            return original(value, deviation, lattice, bits)
        return round(transcript[len(draws) - 1] / lattice.step)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_online_release, "release_normal", release)
        yield draws
