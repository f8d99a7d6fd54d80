"""Private densities beside histograms, kernel estimates and other releases.

Run ``python benchmarks/utility/density.py``. Densities live on [0, 1]: mixtures of
Marron and Wand on [-4, 4], mapped, six of which the targets name and nine of which they
do not, and eight others. The error is the integrated squared error on 8193 points, a
mean over data sets (20 by default) with its standard error. ``--seed`` draws others.

Columns:

``ours``          ``PrivateKDE(bounds=(0, 1), epsilon=...)``, all other settings default
``Gaussian``      the same with ``noise="gaussian", delta=1e-6``; without the former a
                  delta changes nothing, as Laplace noise is smaller
``histogram``     counts with Laplace noise of scale 2 / epsilon, negative ones cut off,
                  with the number of bins out of 8, 16, ..., 256 that is best on average
``Silverman``     a kernel estimate without privacy, reflected at the bounds; bandwidth
                  0.9 min(s, IQR / 1.34) n^(-1/5)
``KDE oracle``    the same with the bandwidth that is best on average
``Bernstein``     ``mechanism="bernstein"``, for the six and five data sets: it is slow
``diffprivlib``   its histogram with the best number of bins, at half of epsilon: its
                  neighbours add or remove a row, ours replace one. It runs in an
                  environment of its own: ``--diffprivlib PATH/bin/python``

Oracles know the truth; nobody has them. The targets, by n times epsilon: 10^4 and more,
at most a third of the histogram and at most Silverman; 10^3, half of the histogram;
10^2, 1.05 times the histogram. The last column is what the kernel estimate with the
oracle's bandwidth, and no noise, makes of the histogram's error.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import fft
from scipy.stats import beta, norm, triang

from skfuncpriv import NoiseDominatesWarning, PrivateKDE

T = np.linspace(0, 1, 8193)
SETTINGS = ((10_000, 1.0), (100_000, 0.1), (10_000, 0.1), (1000, 1.0), (1000, 0.1))
BINS = (8, 16, 32, 64, 128, 256)
BANDWIDTHS = np.geomspace(5e-4, 0.3, 80)
GAUSSIAN = {"noise": "gaussian", "delta": 1e-6}
LISTED = ("gauss", "skewed", "bimodal", "claw", "kurtotic", "trimodal")
_K = np.arange(6)

# Weights, centres and deviations on [-4, 4].
MIXTURES = {
    "gauss": ([1], [0], [1]),
    "skewed": ([0.2, 0.2, 0.6], [0, 1 / 2, 13 / 12], [1, 2 / 3, 5 / 9]),
    "bimodal": ([0.5, 0.5], [-1, 1], [2 / 3, 2 / 3]),
    "claw": ([0.5] + 5 * [0.1], [0, -1, -0.5, 0, 0.5, 1], [1] + 5 * [0.1]),
    "kurtotic": ([2 / 3, 1 / 3], [0, 0], [1, 0.1]),
    "trimodal": ([0.45, 0.45, 0.1], [-1.2, 1.2, 0], [0.6, 0.6, 0.25]),
    "strongly skewed": (
        np.full(8, 1 / 8),
        3 * ((2 / 3) ** np.arange(8) - 1),
        (2 / 3) ** np.arange(8),
    ),
    "outlier": ([0.1, 0.9], [0, 0], [1, 0.1]),
    "separated": ([0.5, 0.5], [-1.5, 1.5], [0.5, 0.5]),
    "skewed bimodal": ([0.75, 0.25], [0, 1.5], [1, 1 / 3]),
    "double claw": (
        [0.49, 0.49] + 7 * [1 / 350],
        [-1, 1, *(np.arange(7) - 3) / 2],
        [2 / 3, 2 / 3] + 7 * [0.01],
    ),
    "asymmetric claw": (
        [0.5, *(2.0 ** (1 - np.arange(-2, 3)) / 31)],
        [0, *(np.arange(-2, 3) + 0.5)],
        [1, *(2.0 ** -np.arange(-2, 3) / 10)],
    ),
    "asymmetric double claw": (
        [0.46, 0.46] + 3 * [1 / 300] + 3 * [7 / 300],
        [-1, 1, -0.5, -1, -1.5, 0.5, 1, 1.5],
        [2 / 3, 2 / 3] + 3 * [0.01] + 3 * [0.07],
    ),
    "smooth comb": (
        2.0 ** (5 - _K) / 63,
        (65 - 96 * 0.5**_K) / 21,
        (32 / 63) / 2.0**_K,
    ),
    "discrete comb": (
        3 * [2 / 7] + 3 * [1 / 21],
        [-15 / 7, -3 / 7, 9 / 7, 16 / 7, 18 / 7, 20 / 7],
        3 * [2 / 7] + 3 * [1 / 21],
    ),
}
# Distributions on [0, 1]; some do not vanish at the bounds.
OTHERS = {
    "uniform": beta(1, 1),
    "beta(2, 5)": beta(2, 5),
    "beta(20, 60)": beta(20, 60),
    "beta(1.5, 1.5)": beta(1.5, 1.5),
    "triangle": triang(0.3),
}
RATES = {"exponential, 5": 5.0, "exponential, 20": 20.0}
BOX, BOX_ENDS, BOX_MASS = "box", (0.3, 0.77), 0.9  # mass within the ends; flat outside


class Density(NamedTuple):
    """The density on `T`, and a function of n and a generator that draws points."""

    values: np.ndarray
    draw: object


def mixture(weights, centres, deviations):
    weights = np.array(weights) / np.sum(weights)
    centres, deviations = np.array(centres, float), np.array(deviations, float)
    x = 8 * T - 4
    values = 8 * norm.pdf(x[:, None], centres, deviations) @ weights

    def draw(n, rng):
        which = rng.choice(len(weights), n, p=weights)
        return (rng.normal(centres[which], deviations[which]) + 4) / 8

    return Density(values, draw)


def densities():
    """All of them, by name."""
    found = {name: mixture(*parts) for name, parts in MIXTURES.items()}
    for name, law in OTHERS.items():
        found[name] = Density(
            law.pdf(T), lambda n, rng, law=law: law.ppf(rng.random(n))
        )
    for name, rate in RATES.items():
        mass = -np.expm1(-rate)

        def draw(n, rng, rate=rate, mass=mass):
            return -np.log1p(-mass * rng.random(n)) / rate

        found[name] = Density(rate * np.exp(-rate * T) / mass, draw)
    low, high = BOX_ENDS
    width = high - low
    inside = (low <= T) & (high >= T)
    values = np.where(inside, BOX_MASS / width, (1 - BOX_MASS) / (1 - width))

    def draw_box(n, rng):
        outside = (1 - width) * rng.random(n)
        outside += width * (outside > low)
        is_inside = rng.random(n) < BOX_MASS
        return np.where(is_inside, low + width * rng.random(n), outside)

    found[BOX] = Density(values, draw_box)
    return found


def squared_error(estimate, truth):
    """The integral of the squared difference, one for each row of estimates."""
    return np.trapezoid(np.square(estimate - truth), T, axis=-1)


def private(points, epsilon, **parameters):
    model = PrivateKDE(bounds=(0, 1), epsilon=epsilon, **parameters)
    return np.exp(model.fit(points[:, None]).score_samples(T[:, None]))


def histogram_values(counts):
    """The density of each count's bin at the points `T`."""
    counts = np.maximum(counts, 0)
    heights = counts / max(counts.sum(), 1e-300) * len(counts)
    return heights[np.minimum((T * len(counts)).astype(int), len(counts) - 1)]


def counts_of(points, n_bins):
    return np.histogram(np.clip(points, 0, 1), n_bins, (0, 1))[0]


def kernel_estimates(points, bandwidths):
    """Reflected Gaussian kernel estimates on `T`, shape (n_bandwidths, len(T))."""
    at = np.clip(points, 0, 1) * (len(T) - 1)
    left = np.minimum(at.astype(int), len(T) - 2)
    share = at - left
    masses = np.bincount(left, 1 - share, len(T)) + np.bincount(left + 1, share, len(T))
    masses[[0, -1]] *= 2  # a node at an end stands for half a cell
    spectrum = fft.dct(masses, type=1)
    damping = np.exp(-0.5 * np.square(np.pi * np.outer(bandwidths, np.arange(len(T)))))
    smooth = fft.idct(spectrum * damping, type=1)
    return smooth * (len(T) - 1) / len(points)


def silverman(points):
    first, third = np.quantile(points, [0.25, 0.75])
    spread = min(points.std(ddof=1), (third - first) / 1.34)
    return 0.9 * spread * len(points) ** -0.2


_WORKER = """
import sys, numpy as np
from diffprivlib.tools import histogram
print("ready", flush=True)
for line in sys.stdin:
    source, target, epsilon, *bins = line.split()
    with np.load(source) as data:
        found = {
            f"{key}_{b}": histogram(data[key], float(epsilon), int(b), (0, 1))[0]
            for key in data.files
            for b in bins
        }
    np.savez(target, **found)
    print("done", flush=True)
"""


@contextmanager
def diffprivlib(python):
    """Its histograms, from a process of its own; None, with a reason, without it."""
    if python is None or shutil.which(python) is None:
        print("diffprivlib not run: say --diffprivlib PATH/bin/python")
        yield None
        return
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    words = [python, "-W", "ignore", "-c", _WORKER]
    with (
        tempfile.TemporaryDirectory() as folder,
        Path(folder, "log").open("w+") as log,
        subprocess.Popen(words, stderr=log, **pipes) as process,
    ):
        names = [str(Path(folder, f"{name}.npz")) for name in ("data", "counts")]

        def counts(data, epsilon):
            """Counts by data set and number of bins."""
            np.savez(names[0], **{str(k): np.clip(x, 0, 1) for k, x in enumerate(data)})
            print(*names, epsilon, *BINS, file=process.stdin, flush=True)
            process.stdout.readline()
            with np.load(names[1]) as found:
                return dict(found)

        if process.stdout.readline() == "ready\n":
            yield counts
        else:
            log.seek(0)
            print(f"diffprivlib not run: {log.read().strip().splitlines()[-1]}")
            yield None


class Row(NamedTuple):
    """Errors of one density in one setting, and what they should be."""

    errors: dict[str, tuple[float, float]]
    ratio: float
    target: float

    @property
    def kernel_ratio(self) -> float:
        return self.errors["KDE oracle"][0] / self.errors["histogram"][0]

    @property
    def is_met(self) -> bool:
        ours = self.errors["ours"][0]
        below = self.target > 1 / 3 or ours <= self.errors["Silverman"][0]
        return self.ratio <= self.target and below


def best(errors):
    """Mean and standard error of the column with the smallest mean."""
    errors = np.array(errors)
    column = errors[:, int(np.argmin(errors.mean(axis=0)))]
    return summary(column)


def summary(errors):
    return float(np.mean(errors)), float(np.std(errors, ddof=1) / np.sqrt(len(errors)))


def compare(density, n, epsilon, seeds, counts_there, n_bernstein):
    """One row of the table."""
    truth, draw = density
    data = [draw(n, np.random.default_rng(seed)) for seed in seeds]
    errors = {
        "ours": summary([squared_error(private(x, epsilon), truth) for x in data]),
        "Gaussian": summary(
            [squared_error(private(x, epsilon, **GAUSSIAN), truth) for x in data]
        ),
    }
    noisy = []
    for x, seed in zip(data, seeds, strict=True):
        rng = np.random.default_rng([*seed, 1])
        noisy.append([])
        for n_bins in BINS:
            counts = counts_of(x, n_bins) + rng.laplace(0, 2 / epsilon, n_bins)
            noisy[-1].append(squared_error(histogram_values(counts), truth))
    errors["histogram"] = best(noisy)
    rule = [kernel_estimates(x, [silverman(x)])[0] for x in data]
    errors["Silverman"] = summary([squared_error(f, truth) for f in rule])
    errors["KDE oracle"] = best(
        [squared_error(kernel_estimates(x, BANDWIDTHS), truth) for x in data]
    )
    if n_bernstein:
        errors["Bernstein"] = summary(
            [
                squared_error(private(x, epsilon, mechanism="bernstein"), truth)
                for x in data[:n_bernstein]
            ]
        )
    if counts_there is not None:
        counts = counts_there(data, epsilon / 2)
        errors["diffprivlib"] = best(
            [
                [
                    squared_error(histogram_values(counts[f"{k}_{b}"]), truth)
                    for b in BINS
                ]
                for k in range(len(data))
            ]
        )
    ratio = errors["ours"][0] / errors["histogram"][0]
    targets = {4: 1 / 3, 3: 1 / 2, 2: 1.05}
    return Row(errors, ratio, targets[min(4, round(np.log10(n * epsilon)))])


def print_table(n, epsilon, rows):
    columns = list(dict.fromkeys(c for row in rows.values() for c in row.errors))
    print(f"\nn = {n}, epsilon = {epsilon:g}: integrated squared error +- its error")
    head = "".join(f"{column:>17s}" for column in columns)
    print(f"{'':22s}{head}   ours / histogram   KDE / histogram")
    for name, row in rows.items():
        cells = ""
        for column in columns:
            mean, error = row.errors.get(column, (np.nan, np.nan))
            cell = f"{mean:.4f} +- {error:.4f}" if column in row.errors else "-"
            cells += f"{cell:>17s}"
        verdict = "met" if row.is_met else "not met"
        print(
            f"{name:22s}{cells}   {row.ratio:.2f} <= {row.target:.2f} {verdict:7s}"
            f"{row.kernel_ratio:14.2f}"
        )
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--listed", action="store_true", help="only the six named")
    parser.add_argument("--settings", type=int, nargs="+", default=range(len(SETTINGS)))
    parser.add_argument("--bernstein", type=int, default=5, help="data sets for it")
    parser.add_argument("--diffprivlib", metavar="PYTHON")
    arguments = parser.parse_args()
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", NoiseDominatesWarning)
    shown = densities()
    if arguments.listed:
        shown = {name: shown[name] for name in LISTED}
    with diffprivlib(arguments.diffprivlib) as counts_there:
        for n, epsilon in (SETTINGS[k] for k in arguments.settings):
            rows = {}
            for name, density in shown.items():
                seeds = [(arguments.seed, k) for k in range(arguments.datasets)]
                n_bernstein = arguments.bernstein if name in LISTED else 0
                facts = (n, epsilon, seeds, counts_there, n_bernstein)
                rows[name] = compare(density, *facts)
            print_table(n, epsilon, rows)


if __name__ == "__main__":
    main()
