"""This package beside diffprivlib, OpenDP, scikit-fda and KDEpy, at equal guarantees.

Run ``python benchmarks/comparison.py --diffprivlib PATH/bin/python``: a few minutes.
Packages that are not installed are left out. diffprivlib 0.6.6 cannot be imported
beside scikit-learn 1.9, so it runs in an environment of its own, with 1.5, say.

Neighbours replace one row, n is public, bounds are the same for all. Everybody but
scikit-fda and KDEpy keeps the stated budget; these two are not private, and show what
privacy costs. Figures are medians of ``--repeats`` releases (21 by default; densities
with as many data sets), with the quartiles of the errors, and the processor's time.

*Mean of 10,000 smooth curves of 100 points, values within (-2, 2).* The error is the
root mean squared distance to the mean of the same curves without noise. "By hand" is
what somebody builds who knows the geometry: cosines, a ball, noise on coefficients, and
the number out of 4, 6, ..., 64 that is best on average, which nobody knows.

*Density of 10,000 points of [0, 1].* The error is the integrated squared error.
Histograms have 32 bins, or the number out of 8, 16, ..., 256 that is best on average,
which nobody knows. Their neighbours add or remove a row: they get half of epsilon.

*Floats.* A Laplace draw of scale one is added to 0 and to 1. Of the answers within 1/8
of zero the share that are multiples of 2^-54 is printed. If the shares differ, one
answer can prove that the value was not 1, whatever epsilon says.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import norm

from skfuncpriv import ICLPMean, PrivateKDE
from skfuncpriv.basis import CosineBasis
from skfuncpriv.datasets import make_curves
from skfuncpriv.noise import (
    FixedPoint,
    IndependentLaplace,
    Lattice,
    random_bits,
    release_lattice,
)

LOW, HIGH, DELTA = -2.0, 2.0, 1e-6
SIZES = (4, 6, 8, 12, 16, 24, 32, 64)
BINS = (8, 16, 32, 64, 128, 256)
BANDWIDTHS = np.geomspace(0.002, 0.08, 12).tolist()
T = np.linspace(0, 1, 4097)
DRAWS = 20_000
# Weights, centres and deviations on [-4, 4], mapped to [0, 1].
MIXTURES = {
    "gauss": ([1.0], [0.0], [1.0]),
    "claw": ([0.5] + 5 * [0.1], [0, -1, -0.5, 0, 0.5, 1], [1] + 5 * [0.1]),
}

THERE = """
import sys, time, warnings
import numpy as np
from diffprivlib.mechanisms import Laplace
from diffprivlib.tools import histogram, mean
warnings.simplefilter("ignore")
asked = np.load(sys.argv[1])
job, epsilon, bins = str(asked["job"]), float(asked["epsilon"]), int(asked["bins"])
low, high = asked["bounds"]
jobs = {
    "mean": lambda rows: mean(rows, epsilon=epsilon, bounds=(low, high), axis=0),
    "counts": lambda x: histogram(x, epsilon=epsilon, bins=bins, range=(0, 1))[0],
    "floats": lambda x: Laplace(epsilon=epsilon, sensitivity=1).randomise(float(x)),
}
answers, seconds = [], []
for data in asked["data"]:
    for _ in range(int(asked["repeats"])):
        start = time.process_time()
        answers.append(jobs[job](data))
        seconds.append(time.process_time() - start)
np.savez(sys.argv[2], answers=np.array(answers, float), seconds=seconds)
"""


class Diffprivlib:
    """diffprivlib in an environment of its own."""

    def __init__(self, python):
        self.python = python

    def __call__(self, job, data, epsilon, repeats=1, bins=0):
        with tempfile.TemporaryDirectory() as folder:
            asked, told = Path(folder) / "asked.npz", Path(folder) / "told.npz"
            facts = {"epsilon": epsilon, "repeats": repeats, "bins": bins}
            np.savez(asked, job=job, data=data, bounds=(LOW, HIGH), **facts)
            command = [self.python, "-c", THERE, str(asked), str(told)]
            subprocess.run(command, check=True)
            with np.load(told) as answer:
                return answer["answers"], answer["seconds"]


def imported(name):
    """A package, or None where it is not installed."""
    try:
        return __import__(name, fromlist=["_"])
    except ImportError as error:
        print(f"{name} is left out: {error}")
        return None


def timed(release, repeats):
    """What `release` gives, and the seconds it took, `repeats` times."""
    answers, seconds = [], []
    for _ in range(repeats):
        start = time.process_time()
        answers.append(release())
        seconds.append(time.process_time() - start)
    return answers, seconds


def show(name, errors, seconds):
    """One line of a table."""
    first, middle, third = np.percentile(errors, [25, 50, 75])
    error = f"{middle:.4g} ({first:.4g} to {third:.4g})"
    print(f"    {name:<34}{error:<34}{1000 * np.median(seconds):10.1f} ms")


def opendp_mean(dp, rows, changes, epsilon, delta):
    """Noise on the mean of rows, by OpenDP's own calibration.

    `changes` says how far one row moves the mean, in L1 and in L2.
    """
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    if delta:
        space, change = (domain, dp.l2_distance(T=float)), changes[1]
        make = lambda scale: dp.c.make_fix_delta(  # noqa: E731
            dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=scale)), delta
        )
        scale = dp.binary_search_param(make, change, (epsilon, delta), T=float)
    else:
        space, change = (domain, dp.l1_distance(T=float)), changes[0]
        make = lambda scale: dp.m.make_laplace(*space, scale=scale)  # noqa: E731
        scale = dp.binary_search_param(make, change, epsilon, T=float)
    measure = make(scale)
    return lambda: measure(rows().mean(axis=0).tolist())


def in_ball(curves, grid, basis):
    """Coefficients of clipped curves, shrunk to the norm that the bounds imply."""
    coefficients = np.clip(curves, LOW, HIGH) @ basis.projection(grid)
    norms = np.linalg.norm(coefficients, axis=1, keepdims=True)
    return coefficients * np.minimum(1, HIGH / np.maximum(norms, HIGH))


def compare_means(there, dp, skfda, repeats):
    """The mean curve."""
    made = make_curves(10_000, n_points=100, random_state=0)
    curves = np.ascontiguousarray(made.data)
    truth = np.clip(curves, LOW, HIGH).mean(axis=0)

    def errors(answers):
        return [np.sqrt(np.mean((np.asarray(a) - truth) ** 2)) for a in answers]

    for epsilon, delta in ((0.1, 0.0), (1.0, 0.0), (0.1, DELTA), (1.0, DELTA)):
        print(f"\nMean of 10,000 curves, epsilon = {epsilon}, delta = {delta}")
        facts = {"bounds": (LOW, HIGH), "domain": (0, 1), "epsilon": epsilon}
        if delta:
            facts |= {"delta": delta, "mechanism": "gaussian"}
        answers, seconds = timed(lambda f=facts: ICLPMean(**f).fit(curves), repeats)
        show("ICLPMean", errors([model.mean_ for model in answers]), seconds)
        if dp:
            step = (HIGH - LOW) / len(curves)
            clipped, changes = (
                partial(np.clip, curves, LOW, HIGH),
                (100 * step, 10 * step),
            )
            release = opendp_mean(dp, clipped, changes, epsilon, delta)
            answers, seconds = timed(release, repeats)
            show("OpenDP, noise on each point", errors(answers), seconds)
            tables = {}
            for size in SIZES:
                basis = CosineBasis(size)
                rows = partial(in_ball, curves, made.grid, basis)
                changes = size**0.5 * step, step
                release = opendp_mean(dp, rows, changes, epsilon, delta)
                answers, seconds = timed(release, repeats)
                functions = basis.evaluate(made.grid)
                tables[size] = errors([functions @ a for a in answers]), seconds
            best = min(SIZES, key=lambda m, t=tables: np.mean(t[m][0]))
            show(f"OpenDP by hand, best ({best} cosines)", *tables[best])
        if there and not delta:
            answers, seconds = there("mean", curves[None], epsilon, repeats)
            show("diffprivlib, tools.mean", errors(answers), seconds)
    if skfda:
        data = skfda.FDataGrid(curves, made.grid)
        answers, seconds = timed(data.mean, repeats)
        answers = [answer.data_matrix.ravel() for answer in answers]
        show("scikit-fda, not private", errors(answers), seconds)


def opendp_counts(dp, samples, epsilon, n_bins):
    """Bins and counts by OpenDP; a row that is replaced is two of its steps."""
    numbers = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    edges = np.linspace(0, 1, n_bins + 1)[1:-1].tolist()
    chain = dp.t.make_find_bin(numbers, dp.symmetric_distance(), edges=edges)
    chain = chain >> dp.t.then_count_by_categories(
        categories=list(range(n_bins)), null_category=False
    )
    chain = chain >> dp.m.then_laplace(scale=2 / epsilon)
    lists = [sample.tolist() for sample in samples]
    pairs = [timed(lambda rows=rows: chain(rows), 1) for rows in lists]
    return [told for (told,), _ in pairs], [took for _, (took,) in pairs]


def density_of(counts):
    """A histogram from noisy counts, on T."""
    counts = np.maximum(np.asarray(counts, dtype=float), 0) + 1e-9
    place = np.minimum((T * len(counts)).astype(int), len(counts) - 1)
    return counts[place] / counts.mean()


def draw(mixture, n, seed):
    """Points of [0, 1]."""
    weights, centres, deviations = mixture
    rng = np.random.default_rng(seed)
    part = rng.choice(len(weights), n, p=weights)
    return np.clip(rng.normal(centres[part], deviations[part]), 0, 1)


def private_kde(samples, epsilon):
    """The default settings."""
    found, seconds = [], []
    for sample in samples:
        kde = PrivateKDE(bounds=(0, 1), epsilon=epsilon)
        (kde,), took = timed(lambda m=kde, x=sample: m.fit(x[:, None]), 1)
        found.append(np.exp(kde.score_samples(T[:, None])))
        seconds += took
    return found, seconds


def kernel_estimates(kdepy, samples, bandwidth):
    """Kernel estimates by fast Fourier transforms, not reflected at the bounds."""
    wide = np.linspace(-0.5, 1.5, 2**13 + 1)
    found, seconds = [], []
    for sample in samples:
        kde = kdepy.FFTKDE(bw=bandwidth)
        (values,), took = timed(lambda k=kde, x=sample: k.fit(x).evaluate(wide), 1)
        found.append(np.interp(T, wide, values))
        seconds += took
    return found, seconds


def compare_densities(there, dp, kdepy, repeats):
    """Two densities, one smooth and one with narrow peaks."""
    for name, mixture in MIXTURES.items():
        mixture = [np.array(part, dtype=float) for part in mixture]
        mixture[1:] = mixture[1] / 8 + 0.5, mixture[2] / 8
        truth = norm.pdf(T[:, None], *mixture[1:]) @ mixture[0]
        samples = np.array([draw(mixture, 10_000, seed) for seed in range(repeats)])

        def errors(found, truth=truth):
            return [np.trapezoid((values - truth) ** 2, T) for values in found]

        def histograms(label, counts_of, errors=errors):
            tables, times = [], []
            for n_bins in BINS:
                told, seconds = counts_of(n_bins)
                tables.append(errors(map(density_of, told)))
                times.append(seconds)
            best = int(np.argmin(np.mean(tables, axis=1)))
            show(f"{label}, 32 bins", tables[2], times[2])
            show(f"{label}, best ({BINS[best]})", tables[best], times[best])

        for epsilon in (0.1, 1.0):
            print(f"\nDensity '{name}' of 10,000 points, epsilon = {epsilon}")
            found, seconds = private_kde(samples, epsilon)
            show("PrivateKDE", errors(found), seconds)
            if dp:
                facts = dp, samples, epsilon
                histograms("OpenDP", partial(opendp_counts, *facts))
            if there:
                facts = "counts", samples, epsilon / 2, 1
                histograms("diffprivlib", partial(there, *facts))
        if kdepy:
            tables = {}
            for bandwidth in ("silverman", "ISJ", *BANDWIDTHS):
                found, seconds = kernel_estimates(kdepy, samples, bandwidth)
                tables[bandwidth] = errors(found), seconds
            best = min(BANDWIDTHS, key=lambda h, t=tables: np.mean(t[h][0]))
            print(f"\nDensity '{name}' of 10,000 points, without privacy")
            show("KDEpy, Silverman", *tables["silverman"])
            show("KDEpy, ISJ", *tables["ISJ"])
            show(f"KDEpy, best ({best:.2g})", *tables[best])


def compare_floats(there, dp):
    """What the last bits of an answer tell."""
    print("\nShare of answers near zero on the lattice 2^-54, of the values 0 and 1")

    def share(answers):
        near = np.ldexp(answers[np.abs(answers) < 1 / 8], 54)
        return float(np.mean(near == np.rint(near)))

    def ours(value):
        law = IndependentLaplace((1.0,))
        lattice = release_lattice(law.smallest_scale)
        held = FixedPoint(np.full((DRAWS, 1), int(value)), Lattice(0), 1)
        return lattice.to_float(law.release(held, lattice, random_bits(0))).ravel()

    def plain(value):
        return value + np.random.default_rng(int(value)).laplace(size=DRAWS)

    ways = {"skfuncpriv": ours, "numpy, plain sum": plain}
    if dp:
        space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
        laplace = dp.m.make_laplace(*space, scale=1.0)
        ways["OpenDP"] = lambda v: np.array([laplace(v) for _ in range(DRAWS)])
    if there:
        ways["diffprivlib"] = lambda v: there("floats", [v], 1.0, DRAWS)[0]
    for name, draw in ways.items():
        shares = [share(draw(value)) for value in (0.0, 1.0)]
        print(f"    {name:<34}{shares[0]:10.3f}{shares[1]:10.3f}")


def main():
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--diffprivlib", metavar="PYTHON")
    parser.add_argument("--repeats", type=int, default=21)
    arguments = parser.parse_args()
    there = Diffprivlib(arguments.diffprivlib) if arguments.diffprivlib else None
    dp, skfda, kdepy = map(imported, ("opendp.prelude", "skfda", "KDEpy"))
    if dp:
        dp.enable_features("contrib")
    compare_floats(there, dp)
    compare_means(there, dp, skfda, arguments.repeats)
    compare_densities(there, dp, kdepy, arguments.repeats)


if __name__ == "__main__":
    main()
