"""Densities: time and memory beside sklearn, scipy and KDEpy, and the error.

The others are not private; they are what a user has today. KDEpy is no dependency of
this package: without it its benchmarks are skipped.
"""

from __future__ import annotations

import tracemalloc

import numpy as np

from skfuncpriv import PrivateKDE

BOUNDS = (-5.0, 5.0)
N_QUERIES, N_PLANE = 10_000, 128
SETTINGS = {"1e3, 1": (1000, 1.0), "1e4, 0.1": (10_000, 0.1), "1e4, 1": (10_000, 1.0)}


def points(n, n_axes=1):
    """Two normal groups, far from the bounds."""
    rng = np.random.default_rng(0)
    return np.concatenate(
        [
            rng.normal(-1, 0.6, (n // 2, n_axes)),
            rng.normal(1, 0.4, (n - n // 2, n_axes)),
        ]
    )


def grid_of_plane():
    """Queries on a grid of 128 x 128."""
    axis = np.linspace(*BOUNDS, N_PLANE)
    return np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)


def kdepy():
    """KDEpy's estimator by convolution, or the reason for which it is left out."""
    try:
        from KDEpy import FFTKDE
    except ImportError:
        raise NotImplementedError("KDEpy is not installed") from None
    return FFTKDE


class Private:
    """``PrivateKDE``: fit, and log density at ten thousand points."""

    params = (100_000, 1_000_000, 10_000_000)
    param_names = ("points",)
    timeout = 600

    def setup(self, n):
        """Data, queries and a first release, which loads what is loaded late."""
        self.points, self.queries = points(n), np.linspace(*BOUNDS, N_QUERIES)[:, None]
        self.model = PrivateKDE(bounds=BOUNDS)
        self.model.fit(self.points[:100]).score_samples(self.queries)

    def time_fit_and_score(self, n):  # noqa: ARG002
        """Seconds."""
        self.model.fit(self.points).score_samples(self.queries)

    def track_memory(self, n):  # noqa: ARG002
        """The points, and what is allocated beside them at most."""
        tracemalloc.start()
        self.model.fit(self.points).score_samples(self.queries)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return 1 + peak / self.points.nbytes

    track_memory.unit = "times the points"


class PrivatePeople(Private):
    """The same, when ten rows belong to each person."""

    params = (100_000, 1_000_000)

    def setup(self, n):
        """Shuffled owners."""
        super().setup(n)
        rng = np.random.default_rng(0)
        self.groups = rng.permutation(np.arange(n) // 10)

    def time_fit_and_score(self, n):  # noqa: ARG002
        """Seconds."""
        self.model.fit(self.points, groups=self.groups).score_samples(self.queries)

    track_memory = None


class Exact:
    """Estimates without privacy that visit all points, on 100,000 of them."""

    params = ("sklearn", "scipy")
    param_names = ("library",)
    number, repeat, warmup_time, rounds = 1, (1, 3, 60), 0, 1
    timeout = 900

    def setup(self, library):
        """Silverman's bandwidth for both."""
        self.points, self.queries = points(100_000), np.linspace(*BOUNDS, N_QUERIES)
        width = 1.06 * self.points.std() * len(self.points) ** -0.2
        if library == "sklearn":
            from sklearn.neighbors import KernelDensity

            model = KernelDensity(bandwidth=width)
            self.run = lambda: model.fit(self.points).score_samples(
                self.queries[:, None]
            )
        else:
            from scipy.stats import gaussian_kde

            factor = width / self.points.std(ddof=1)
            self.run = lambda: gaussian_kde(self.points[:, 0], factor).logpdf(
                self.queries
            )

    def time_fit_and_score(self, library):  # noqa: ARG002
        """Seconds."""
        self.run()


class Convolution:
    """KDEpy's estimate by convolution, on the same points."""

    params = (100_000, 1_000_000, 10_000_000)
    param_names = ("points",)
    timeout = 600

    def setup(self, n):
        """It evaluates on an equally spaced grid around all points."""
        self.model, self.points = kdepy(), points(n)[:, 0]
        self.queries = np.linspace(-6, 6, N_QUERIES)

    def time_fit_and_score(self, n):  # noqa: ARG002
        """Seconds."""
        self.model(bw="silverman").fit(self.points).evaluate(self.queries)


class Plane:
    """A million points in the plane, density on a grid of 128 x 128."""

    params = ("private", "KDEpy")
    param_names = ("library",)

    def setup(self, library):
        """KDEpy needs one bandwidth for both axes."""
        self.points = points(1_000_000, 2)
        if library == "KDEpy":
            model = kdepy()
            self.run = lambda: model(bw=0.05).fit(self.points).evaluate(N_PLANE)
        else:
            model = PrivateKDE(bounds=((BOUNDS[0],) * 2, (BOUNDS[1],) * 2))
            queries = grid_of_plane()
            self.run = lambda: model.fit(self.points).score_samples(queries)
            self.run()

    def time_fit_and_score(self, library):  # noqa: ARG002
        """Seconds."""
        self.run()


class Query:
    """What is free after a release: a million queries, a million synthetic points."""

    def setup(self):
        """One release."""
        self.queries = np.linspace(*BOUNDS, 1_000_000)[:, None]
        self.model = PrivateKDE(bounds=BOUNDS).fit(points(10_000))

    def time_score_samples(self):
        """Seconds."""
        self.model.score_samples(self.queries)

    def time_sample(self):
        """Seconds."""
        self.model.sample(1_000_000)


class Error:
    """Integrated squared error of the default release, with three groups of points."""

    params = tuple(SETTINGS)
    param_names = ("points, epsilon",)
    unit = "in widths of the bounds"

    def track_error(self, setting):
        """The mean over 100 seeded releases, so that only the code changes it."""
        n, epsilon = SETTINGS[setting]
        t = np.linspace(0, 1, 2001)
        centres, width = np.array([0.3, 0.45, 0.7]), 0.05
        truth = np.exp(-0.5 * np.square((t[:, None] - centres) / width)).mean(axis=1)
        truth /= width * np.sqrt(2 * np.pi)
        errors = []
        for seed in range(100):
            rng = np.random.default_rng(seed)
            x = rng.normal(centres[rng.integers(3, size=n)], width)[:, None]
            model = PrivateKDE(bounds=(0, 1), epsilon=epsilon, random_state=seed)
            found = np.exp(model.fit(x).score_samples(t[:, None]))
            errors.append(np.trapezoid(np.square(found - truth), t))
        return float(np.mean(errors))
