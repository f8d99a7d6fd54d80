"""Private mean curves: published methods, the defaults of this package, no privacy.

Run ``python benchmarks/utility/iclp.py --quick`` for a minute's look, without
``--quick`` for all tables (half an hour on one core), with ``--plot PATH`` for the
picture "privacy for free" alone.

The simulation is the published one: 101 points of [0, 1], n curves
mu + sum_j sqrt(lambda_j) U(-4, 4) phi_j, lambda_j and phi_j of a Matern 3/2 or an
exponential kernel of length 0.1. The norm bound is public, 1.0 times the largest
norm (for Bernstein, whose bound is of values, the largest value). Real curves have mean
0 and norm 1, one row is one unit, and the error is the distance to the sample mean;
they need the folder ``../shared/data``.

Errors are mean squared distances over the grid. Every method spends the stated epsilon,
but for the column "published", which repeats the published figures of QR: that code
spends sqrt(2) times epsilon (its unit-variance Laplace noise loses the factor).
"""

from __future__ import annotations

import argparse
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.stats import norm

from skfuncpriv import BernsteinMean, FRLMean, ICLPMean, NoiseDominatesWarning

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
GRID = np.linspace(0, 1, 101)
EPSILONS = tuple(2.0**k for k in range(-5, 4))
FEW = (1 / 8, 1.0, 4.0)
PUBLISHED = {  # QR as published, and the target, by curve and epsilon
    ("mu1", 1.0): (0.053, 0.043),
    ("mu2", 1.0): (0.074, 0.047),
    ("mu3", 1.0): (0.088, 0.043),
    ("mu4", 1.0): (0.579, 0.041),
    ("mu1", 0.125): (2.86, 0.914),
    ("mu2", 0.125): (3.28, 0.708),
    ("mu3", 0.125): (3.14, 0.560),
    ("mu4", 0.125): (4.58, 1.43),
    ("DTI", 0.125): (3.17, 0.206),
    ("DTI", 1.0): (0.0558, 0.0166),
    ("DTI", 4.0): (0.0094, 0.00285),
    ("demand", 0.125): (1.39, 0.114),
    ("demand", 1.0): (0.0242, 0.0072),
    ("demand", 4.0): (0.0039, 0.00207),
}
COLUMNS = ("FRL", "AR", "QR", "Bernstein", "ours", "ours, kernel", "sample mean")


@lru_cache
def eigenpairs(kernel="matern32"):
    """Eigenpairs of the kernel matrix divided by the number of points."""
    distance = np.abs(GRID[:, None] - GRID) / 0.1
    matrix = np.exp(-distance)
    if kernel == "matern32":
        matrix = (1 + np.sqrt(3) * distance) * np.exp(-np.sqrt(3) * distance)
    values, vectors = np.linalg.eigh(matrix / len(GRID))
    return np.maximum(values[::-1], 0), vectors[:, ::-1] * np.sqrt(len(GRID))


def mean_functions(rng, kernel="matern32"):
    """The four published means and five more; two of them are random."""
    values, functions = eigenpairs(kernel)
    t = GRID

    def bump(center, width):
        return norm.pdf(t, center, width)

    peaks = bump(0, 0.03) + bump(0.2, 0.05) + bump(0.5, 0.05)
    return {
        "mu1": 10 * t * np.exp(-t),
        "mu2": 0.3 * bump(0.3, 0.05) + 0.7 * bump(0.8, 0.05),
        "mu3": 0.2 * (peaks - bump(0.75, 0.03) + bump(1, 0.03)),
        "mu4": functions[:, :25] @ rng.uniform(-0.5, 0.5, 25),
        "step": np.where(t < 0.4, 1.0, 3.0),
        "chirp": 2 * np.sin(2 * np.pi * (1 + 4 * t) * t),
        "constant": np.full_like(t, 2.0),
        "path": functions @ (np.sqrt(values) * rng.normal(size=len(values))),
        "zero": np.zeros_like(t),
    }


def simulated(name, kernel, n_curves, seed):
    """A mean function and curves around it."""
    rng = np.random.default_rng(seed)
    values, functions = eigenpairs(kernel)
    mean = mean_functions(rng, kernel)[name]
    scores = np.sqrt(values) * rng.uniform(-4, 4, (n_curves, len(values)))
    return mean, mean + scores @ functions.T


def standardised(name):
    """Rows of a real data set with mean 0 and norm 1 over the domain."""
    import pandas as pd

    if name == "DTI":
        frame = pd.read_csv(DATA / "dti_cca.csv.gz")
        curves = frame.filter(regex=r"^cca").to_numpy(dtype=float)
        curves = curves[~np.isnan(curves).any(axis=1)]
    else:
        frame = pd.read_csv(DATA / "mondaydemand.csv.gz")
        curves = frame.iloc[:, 1:].to_numpy(dtype=float)
    curves = curves - curves.mean(axis=1, keepdims=True)
    return curves / np.sqrt(np.mean(curves**2, axis=1, keepdims=True))


def models(epsilon, bound, largest, kernel):
    """One estimator for each column but the last."""
    wide = {"bounds": (-largest, largest), "epsilon": epsilon}
    ball = {**wide, "norm_bound": bound}
    published = {"kernel": kernel, "mechanism": "laplace", "denoise": False}
    published |= {"noise": "kernel", **ball}
    return {
        "FRL": FRLMean(kernel=kernel, **ball),
        "AR": ICLPMean(penalty="ar", **published),
        "QR": ICLPMean(psi="rate", **published),
        "Bernstein": BernsteinMean(**wide),
        "ours": ICLPMean(**ball),
        "ours, kernel": ICLPMean(kernel=kernel, **ball),
    }


def errors(draws, epsilon, kernel):
    """Squared errors of every column, one row for each draw (mean, curves, bounds)."""
    rows = []
    for mean, curves, bound, largest in draws:
        fitted = models(epsilon, bound, largest, kernel)
        row = [np.mean((m.fit(curves).mean_ - mean) ** 2) for m in fitted.values()]
        rows.append([*row, np.mean((curves.mean(axis=0) - mean) ** 2)])
    return np.array(rows)


def report(name, setting, epsilon, found):
    """Print one line: means, and in brackets standard errors."""
    stated = "exponential" not in setting and setting.split()[-1] in ("1000", "rows")
    published, target = PUBLISHED.get((name, epsilon), ("", "")) if stated else ("", "")
    mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(found))
    cells = [f"{m:.3g} ({e:.1g})".ljust(16) for m, e in zip(mean, error, strict=True)]
    print(
        f"{name:9}{setting:17}{epsilon:8.5g}  {published!s:10}{target!s:8}",
        *cells,
        flush=True,
    )


def simulation(names, kernels, sizes, epsilons, n_draws):
    """Tables of the simulation."""
    for kernel in kernels:
        for n_curves in sizes:
            wanted = epsilons if n_curves == 1000 else FEW
            for name in names:
                draws = []
                for seed in range(n_draws):
                    mean, curves = simulated(name, kernel, n_curves, seed)
                    bound = float(np.sqrt(np.mean(curves**2, axis=1)).max())
                    draws.append((mean, curves, bound, float(np.abs(curves).max())))
                for epsilon in wanted:
                    found = errors(draws, epsilon, kernel)
                    report(name, f"{kernel} {n_curves}", epsilon, found)


def real(epsilons, n_draws):
    """Tables of real curves; the kernel is Matern 3/2."""
    if not DATA.is_dir():
        print("real curves are left out: ../shared/data is absent")
        return
    for name in ("DTI", "demand"):
        curves = standardised(name)
        draw = (curves.mean(axis=0), curves, 1.0, float(np.abs(curves).max()))
        for epsilon in epsilons:
            found = errors([draw] * n_draws, epsilon, "matern32")
            report(name, f"{len(curves)} rows", epsilon, found)


def excess(n_curves, n_draws, epsilon=1.0):
    """Errors beyond that of the sample mean, of three methods, one row per draw.

    The mean is smooth: a sum of the first six eigenfunctions. Estimates are compared
    at 101 points; bounds are those of every curve that the law of the scores allows.
    """
    values, functions = eigenpairs()
    mean = functions[:, :6] @ np.array([1.0, -1.0, 0.8, 0.6, -0.5, 0.4])
    bound = 2.0 + 4 * float(np.sqrt(values.sum()))
    facts = {"bounds": (-60, 60), "norm_bound": bound, "epsilon": epsilon}
    facts["kernel"] = "matern32"
    qr = {**facts, "denoise": False, "psi": "rate"}
    fitted = ICLPMean(eta=0.55, **qr), ICLPMean(eta=2.0, **qr), ICLPMean(**facts)
    rows = []
    for seed in range(n_draws):
        rng = np.random.default_rng(1000 + seed)
        scores = np.sqrt(values) * rng.uniform(-4, 4, (n_curves, len(values)))
        curves = mean + scores @ functions.T
        sample = np.mean((curves.mean(axis=0) - mean) ** 2)
        row = [np.mean((m.fit(curves).mean_ - mean) ** 2) for m in fitted]
        rows.append([error - sample for error in row])
    return np.array(rows)


def plot(path, n_draws):
    """Draw n times the excess error against n."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    sizes = np.array([100, 300, 1000, 3000, 10_000, 30_000, 100_000])
    found = [excess(n, n_draws if n < 10_000 else max(6, n_draws // 2)) for n in sizes]
    mean = np.array([n * e.mean(axis=0) for n, e in zip(sizes, found, strict=True)])
    spread = np.array([
        n * e.std(axis=0, ddof=1) / np.sqrt(len(e))
        for n, e in zip(sizes, found, strict=True)
    ])  # fmt: skip
    labels = (
        "QR, eta = 0.55: hardly smoother than needed",
        "QR, eta = 2: oversmoothed",
        "defaults: denoised",
    )
    figure, axes = plt.subplots(figsize=(7.2, 4.8), layout="constrained")
    for k, (label, mark) in enumerate(zip(labels, "sov", strict=True)):
        axes.errorbar(
            sizes, mean[:, k], spread[:, k], marker=mark, capsize=3, label=label
        )
    slope = 1 - 2 / (1 + (1 + 1 / 4) / 2)  # of n psi at the plug-in rate, lambda ~ j^-4
    line = 2 * mean[3, 1] * (sizes / sizes[3]) ** slope
    axes.plot(sizes, line, ":", color="C1", label=f"slope {slope:.2f}: theory, eta = 2")
    sampling = float(16 / 3 * eigenpairs()[0].sum())
    axes.axhline(sampling, color="0.4", linestyle="--", label="slope 0: sampling error")
    axes.set(
        xscale="log", yscale="log", xlabel="number of people n",
        ylabel="n (error - error of the sample mean)",
        title="Privacy for free: its cost beside sampling, epsilon = 1",
    )  # fmt: skip
    axes.grid(alpha=0.3)
    axes.legend(fontsize=9)
    figure.savefig(path, dpi=150)
    for n, row, error in zip(sizes, mean, spread, strict=True):
        cells = zip(row, error, strict=True)
        print(f"{n:7d}", *(f"{m:9.3g} ({e:.1g})" for m, e in cells))


def main():
    """Print the tables, or draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="about a minute")
    parser.add_argument("--draws", type=int, help="releases for each line")
    parser.add_argument("--names", nargs="*", help="means to simulate, or none")
    parser.add_argument("--plot", metavar="PATH", help="draw the picture there, only")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", NoiseDominatesWarning)
    quick = arguments.quick
    n_draws = arguments.draws or (6 if quick or arguments.plot else 20)
    if arguments.plot:
        plot(arguments.plot, n_draws)
        return
    names = arguments.names
    if names is None:
        names = list(mean_functions(np.random.default_rng(0)))
    head = "".join(column.ljust(17) for column in COLUMNS)
    print(f"{'mean':9}{'curves':17}{'epsilon':>8}  {'published':10}{'target':8} {head}")
    if quick:
        simulation(names, ["matern32"], [1000], FEW, n_draws)
        real(FEW, n_draws)
        return
    simulation(
        names, ["matern32", "exponential"], [1000, 100, 10_000], EPSILONS, n_draws
    )
    real(EPSILONS, n_draws)


if __name__ == "__main__":
    main()
