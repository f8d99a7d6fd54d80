"""Private mean curves beside the published figures.

Run ``python benchmarks/utility/mean.py``. The first part simulates the published
setting: 101 points of [0, 1], a Matern 3/2 kernel of length 0.1, n = 1000 curves
mu + sum_j sqrt(lambda_j) U(-4, 4) phi_j, the norm bound public and 1.0 times the
largest norm. The second part needs the folder ``../shared/data`` and is left out where
that is absent: standardised DTI and Monday demand curves, one row one unit.

Every line gives the mean squared error of the default settings, its standard error,
and the anchors: the published QR and the prototype this package was planned with (both
as stated there, not re-run), and our own QR as published (``noise="kernel"``, no
denoising) at the true epsilon.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import norm

from skfuncpriv import ICLPMean, NoiseDominatesWarning

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
GRID = np.linspace(0, 1, 101)
EPSILONS = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0)
PUBLISHED = {  # QR as published, and the prototype, by curve and epsilon
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


def eigenpairs():
    """Eigenpairs of the kernel matrix divided by the number of points."""
    distance = np.abs(GRID[:, None] - GRID) * np.sqrt(3) / 0.1
    values, vectors = np.linalg.eigh((1 + distance) * np.exp(-distance) / len(GRID))
    return np.maximum(values[::-1], 0), vectors[:, ::-1] * np.sqrt(len(GRID))


def mean_functions(rng):
    """The four published means and four more; the fourth is random."""
    values, functions = eigenpairs()
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


def simulated_error(name, epsilon, seed, **parameters):
    """One draw of curves, one release, its error against the mean function."""
    rng = np.random.default_rng(seed)
    values, functions = eigenpairs()
    mean = mean_functions(rng)[name]
    scores = np.sqrt(values) * rng.uniform(-4, 4, (1000, len(values)))
    curves = mean + scores @ functions.T
    bound = float(np.sqrt(np.mean(curves**2, axis=1)).max())
    model = ICLPMean(
        bounds=(-50, 50), norm_bound=bound, epsilon=epsilon, **parameters
    ).fit(curves)
    return np.mean((model.mean_ - mean) ** 2)


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


def real_error(curves, epsilon, **parameters):
    """One release, its error against the sample mean."""
    model = ICLPMean(bounds=(-8, 8), norm_bound=1.0, epsilon=epsilon, **parameters)
    return np.mean((model.fit(curves).mean_ - curves.mean(axis=0)) ** 2)


def report(name, epsilon, draw, n_draws, anchors):
    """Print one line: ours, its standard error, and the anchors."""
    ours = np.array([draw(k) for k in range(n_draws)])
    kernel = np.array([draw(k, **anchors) for k in range(max(2, n_draws // 4))])
    published, prototype = PUBLISHED.get((name, epsilon), (np.nan, np.nan))
    error = ours.std(ddof=1) / np.sqrt(n_draws)
    print(
        f"{name:9s} {epsilon:7.4f} {ours.mean():9.5f} {error:9.5f} {published:9.4f} "
        f"{prototype:9.5f} {kernel.mean():9.4f}",
        flush=True,
    )


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--names", nargs="*")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", NoiseDominatesWarning)
    as_published = {"noise": "kernel", "mechanism": "laplace", "kernel": "matern32"}
    as_published |= {"denoise": False, "psi": "rate"}
    print("curve     epsilon      ours   std.err  published prototype  QR kernel")
    simulated = [*mean_functions(np.random.default_rng(0))]
    for name in [k for k in simulated if not arguments.names or k in arguments.names]:
        for epsilon in EPSILONS:

            def draw(seed, name=name, epsilon=epsilon, **parameters):
                return simulated_error(name, epsilon, seed, **parameters)

            report(name, epsilon, draw, arguments.draws, as_published)
    if not DATA.is_dir():
        print("real curves are left out: ../shared/data is absent")
        return
    for name in ("DTI", "demand"):
        if arguments.names and name not in arguments.names:
            continue
        curves = standardised(name)
        for epsilon in EPSILONS:

            def draw(seed, curves=curves, epsilon=epsilon, **parameters):  # noqa: ARG001
                return real_error(curves, epsilon, **parameters)

            report(name, epsilon, draw, arguments.draws, as_published)


if __name__ == "__main__":
    main()
