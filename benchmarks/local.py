"""The local model: time, memory, and the error of the default settings."""

from __future__ import annotations

import numpy as np

from skfuncpriv import GeoPrivateCurve, SVTBasisSelector
from skfuncpriv.local import geo_private_pipeline, reconstruction_score

PUBLIC = {"epsilon": 0.02, "bounds": (0, 2500), "domain": (0, 100)}


class Pipeline:
    """Curves of 100 points, 16 coefficients, by numbers of curves."""

    params = (1, 10_000, 1_000_000)
    param_names = ("curves",)
    timeout = 600

    def setup(self, n_curves):
        """Uniform values: the time does not depend on what the curves look like."""
        self.curves = 2500 * np.random.default_rng(0).random((n_curves, 100))
        self.pipeline = geo_private_pipeline(**PUBLIC, n_basis=16)
        self.pipeline.set_params(release__n_coefficients=None)
        self.pipeline.fit(self.curves[:1])

    def time_transform(self, n_curves):  # noqa: ARG002
        """Seconds."""
        self.pipeline.transform(self.curves)

    def peakmem_transform(self, n_curves):  # noqa: ARG002
        """Bytes, the curves and the interpreter included."""
        self.pipeline.transform(self.curves)


class Selection:
    """A private choice for each of ten thousand rows of 64 coefficients."""

    params = ("svt", "permute-and-flip", "coefficients")
    param_names = ("method",)

    def setup(self, method):
        """Coefficients that fall."""
        draws = np.random.default_rng(0).normal(size=(10_000, 64))
        self.rows = 50 * draws / (1 + np.arange(64))
        self.model = SVTBasisSelector(epsilon=0.05, method=method).fit(self.rows)

    def time_transform(self, method):  # noqa: ARG002
        """Seconds."""
        self.model.transform(self.rows)


class Traces:
    """A thousand traces in the plane, 100 points each."""

    params = ("auto", "svt")
    param_names = ("pieces",)

    def setup(self, pieces):
        """Random walks."""
        steps = np.random.default_rng(0).normal(0, 20, (1000, 100, 2))
        self.traces = steps.cumsum(axis=1)
        self.model = GeoPrivateCurve(
            epsilon=0.01, bounds=(-1000, 1000), pieces=pieces
        ).fit(self.traces)

    def time_transform(self, pieces):  # noqa: ARG002
        """Seconds."""
        self.model.transform(self.traces)


class Error:
    """Mean relative error of one release of a smooth curve."""

    params = (0.001, 0.01, 0.1)
    param_names = ("epsilon",)
    unit = "share of the norm"

    def track_error(self, epsilon):
        """Mean over 200 bumps of height 400, seeded."""
        t = np.linspace(0, 100, 101)
        centers = np.linspace(10, 90, 200)[:, None]
        curves = 400 * np.exp(-((t - centers) ** 2) / (2 * 8**2))
        pipeline = geo_private_pipeline(**{**PUBLIC, "epsilon": epsilon})
        pipeline.set_params(release__random_state=0)
        return -reconstruction_score(pipeline.fit(curves), curves)
