"""The private mean: time, memory, and the error of the default settings."""

from __future__ import annotations

import numpy as np

from skfuncpriv import Curves, ICLPMean
from skfuncpriv.datasets import make_curves

SHAPES = {"1e4 x 100": (10_000, 100), "1e6 x 50": (1_000_000, 50)}


class Fit:
    """``ICLPMean.fit`` with the default settings, and with a single round."""

    params = (tuple(SHAPES), ("auto", 1))
    param_names = ("curves x points", "rounds")
    timeout = 600

    def setup(self, shape, rounds):
        """Uniform values: the time does not depend on what the curves look like."""
        self.curves = np.random.default_rng(0).random(SHAPES[shape])
        self.model = ICLPMean(bounds=(0, 1), rounds=rounds)
        self.model.fit(self.curves[:100])

    def time_fit(self, shape, rounds):  # noqa: ARG002
        """Seconds."""
        self.model.fit(self.curves)

    def peakmem_fit(self, shape, rounds):  # noqa: ARG002
        """Bytes, the curves and the interpreter included."""
        self.model.fit(self.curves)


class FitIrregular:
    """Curves at points of their own, which are projected one by one."""

    def setup(self):
        """A hundred curves of a hundred points."""
        rng = np.random.default_rng(0)
        times, values = rng.random((100, 100)), rng.random((100, 100))
        rows = np.repeat(np.arange(100), 100)
        frame = {"id": rows, "t": times.ravel(), "y": values.ravel()}
        self.curves = Curves.from_long(frame, id="id", t="t", y="y")
        self.model = ICLPMean(bounds=(0, 1), domain=(0, 1))

    def time_fit(self):
        """Seconds for a hundred curves."""
        self.model.fit(self.curves)


class FitPeople:
    """The same, when ten rows belong to each person."""

    def setup(self):
        """A hundred thousand rows of ten thousand people."""
        rng = np.random.default_rng(0)
        self.curves = rng.random((100_000, 50))
        self.groups = rng.permutation(np.repeat(np.arange(10_000), 10))
        self.model = ICLPMean(bounds=(0, 1))

    def time_fit(self):
        """Seconds."""
        self.model.fit(self.curves, groups=self.groups)

    def peakmem_fit(self):
        """Bytes, the curves and the interpreter included."""
        self.model.fit(self.curves, groups=self.groups)


class Error:
    """Root mean squared distance to the mean of the same curves without noise."""

    params = (0.125, 1.0)
    param_names = ("epsilon",)
    unit = "units of the values, which lie between -2 and 2"

    def setup(self, epsilon):
        """One thousand smooth curves."""
        self.made = make_curves(1000, random_state=0)
        self.model = ICLPMean(bounds=(-2, 2), epsilon=epsilon)

    def track_error(self, epsilon):  # noqa: ARG002
        """The mean over 200 seeded releases, so that only the code changes it."""
        curves, truth = self.made.data, self.made.data.mean(axis=0)
        errors = [
            np.mean(
                (self.model.set_params(random_state=k).fit(curves).mean_ - truth) ** 2
            )
            for k in range(200)
        ]
        return float(np.sqrt(np.mean(errors)))
