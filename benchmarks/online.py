"""Online answers of a private function: how the time of a query grows."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from skfuncpriv import OnlineGaussianProcess
from skfuncpriv.gaussian_process import ExponentialKernel, GaussianKernel


def wave(points):
    """The private function; it takes next to no time."""
    return np.sin(points[:, 0])


def release(kernel, path=None):
    """A release that has answered nothing yet."""
    gp = OnlineGaussianProcess(kernel=kernel, sensitivity=0.01, delta=1e-6, path=path)
    return gp.fit(wave)


class Markov:
    """The exponential kernel in memory, where query i takes O(log i)."""

    params = (1_000, 10_000, 100_000)
    param_names = ("queries",)
    number = 1  # an answered point is not drawn again
    timeout = 600

    def setup(self, n_queries):
        """Points in no order."""
        self.points = np.random.default_rng(0).uniform(size=n_queries)
        self.gp = release(ExponentialKernel(2.0))

    def time_one_call(self, n_queries):  # noqa: ARG002
        """Seconds for all points in one call."""
        self.gp.predict(self.points)

    def time_single_calls(self, n_queries):  # noqa: ARG002
        """Seconds for one call per point."""
        for point in self.points.tolist():
            self.gp.predict(point)

    def peakmem_one_call(self, n_queries):  # noqa: ARG002
        """Bytes, the interpreter included."""
        self.gp.predict(self.points)


class Cholesky:
    """Another kernel, where query i takes O(i^2)."""

    params = (100, 1_000)
    param_names = ("queries",)
    number = 1
    timeout = 600

    def setup(self, n_queries):
        """Points in no order."""
        self.points = np.random.default_rng(0).uniform(size=n_queries)
        self.gp = release(GaussianKernel(0.1))

    def time_one_call(self, n_queries):  # noqa: ARG002
        """Seconds for all points in one call."""
        self.gp.predict(self.points)


class File:
    """The exponential kernel with answers in a file: mostly the disk."""

    number = 1

    def setup(self):
        """A new file."""
        self.folder = tempfile.TemporaryDirectory()
        path = str(Path(self.folder.name) / "answers.db")
        self.gp = release(ExponentialKernel(2.0), path)
        self.points = np.random.default_rng(0).uniform(size=1000)

    def teardown(self):
        """Remove the file."""
        self.folder.cleanup()

    def time_thousand_points_in_one_call(self):
        """Seconds; one commit."""
        self.gp.predict(self.points)

    def time_twenty_single_calls(self):
        """Seconds; twenty commits."""
        for point in self.points[:20].tolist():
            self.gp.predict(point)
