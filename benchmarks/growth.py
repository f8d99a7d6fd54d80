"""How time grows: slopes of log time over log size, by points, curves and functions.

Run ``python benchmarks/growth.py`` (a minute). Times are processor times with one
thread, the smallest of several repeats, which other work on the machine changes least.
``slope`` is fitted to all sizes of a line, ``last`` to the two largest, where a
constant part of the time counts least: 1 is linear. The table is written to
``growth.csv`` beside this script.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from skfuncpriv import ICLPMean, PrivateKDE
from skfuncpriv.basis import KernelBasis
from skfuncpriv.gaussian_process import ExponentialKernel, GaussianKernel
from skfuncpriv.local import geo_private_pipeline
from skfuncpriv.noise import (
    IndependentGaussian,
    IndependentLaplace,
    SphericalLaplace,
    random_bits,
    release_lattice,
)

sys.path.insert(0, str(Path(__file__).parent))  # asv imports this file elsewhere
from density import points
from local import PUBLIC
from online import release

COLUMNS = ("job", "grows", "sizes", "seconds", "slope", "last")
ENOUGH = 0.3  # seconds that a job is repeated for
Job = Callable[[], object]
Line = tuple[str, str, tuple[int, ...], Callable[[int], Job]]


def seconds_of(job: Job, once: bool = False) -> float:
    """Processor time of a job: the smallest of its repeats."""
    best, total = np.inf, 0.0
    if not once:
        job()
    while True:
        start = time.process_time()
        job()
        taken = time.process_time() - start
        best, total = min(best, taken), total + taken
        if once or total > ENOUGH:
            return best


def density(n: int, n_axes: int = 1) -> Job:
    """A density of n points, and what it is at a thousand."""
    x = points(n, n_axes)
    model = PrivateKDE(bounds=((-5,) * n_axes, (5,) * n_axes))
    queries = np.random.default_rng(1).uniform(-5, 5, (1000, n_axes))
    return lambda: model.fit(x).score_samples(queries)


def mean(n: int, n_points: int = 50, rounds: int = 1) -> Job:
    """The mean of n curves."""
    curves = np.random.default_rng(0).random((n, n_points))
    model = ICLPMean(bounds=(0, 1), rounds=rounds)
    return lambda: model.fit(curves)


def local(n: int, n_basis: int = 16) -> Job:
    """Curves through the pipeline of the local model."""
    curves = 2500 * np.random.default_rng(0).random((n, 200))
    pipeline = geo_private_pipeline(**PUBLIC, n_basis=n_basis)
    pipeline.set_params(release__n_coefficients=None).fit(curves[:1])
    return lambda: pipeline.transform(curves)


def noise(law: Callable[[int], object], size: int) -> Job:
    """As many coordinates for each size, in vectors of that size."""
    drawn = law(size)
    values = np.random.default_rng(0).normal(size=(2**17 // size, size))
    lattice, bits = release_lattice(drawn.smallest_scale), random_bits(None)
    return lambda: drawn.release(values, lattice, bits)


def kernel_functions(count: int) -> Job:
    """Karhunen-Loeve functions; a length that is new each time is not remembered."""
    lengths = (0.1 * (1 + k * 2**-40) for k in range(1 << 20))
    return lambda: KernelBasis("matern32", count, length_scale=next(lengths)).spectrum


def online(kernel: object, n: int) -> Job:
    """All of n online answers, one by one."""
    queries = np.random.default_rng(0).uniform(size=n).tolist()

    def ask():
        model = release(kernel)
        for query in queries:
            model.predict(query)

    return ask


LINES: tuple[Line, ...] = (
    ("density", "points", (10**5, 10**6, 4 * 10**6), density),
    ("density of 1e5 points", "axes", (1, 2, 3), lambda d: density(10**5, d)),
    ("mean, one round", "curves", (10**3, 10**4, 10**5), mean),
    ("mean, two rounds", "curves", (10**3, 10**4, 10**5), lambda n: mean(n, 50, 2)),
    ("mean of 1e4 curves", "points", (25, 100, 400), lambda k: mean(10**4, k)),
    ("local pipeline", "curves", (10**3, 10**4, 5 * 10**4), local),
    ("local, 4000 curves", "functions", (8, 16, 32, 64), lambda m: local(4000, m)),
    (
        *("laplace noise, 2^17 coordinates", "size", (4, 16, 64, 256)),
        lambda m: noise(lambda k: IndependentLaplace((1.0,) * k), m),
    ),
    (
        *("gaussian noise, 2^17 coordinates", "size", (4, 16, 64, 256)),
        lambda m: noise(lambda k: IndependentGaussian((1.0,) * k), m),
    ),
    (
        *("spherical noise, 2^17 coordinates", "size", (4, 16, 64, 256)),
        lambda m: noise(SphericalLaplace, m),
    ),
    ("Karhunen-Loeve", "functions", (50, 100, 200, 400), kernel_functions),
    (
        *("online, exponential kernel", "answers", (10**3, 10**4, 4 * 10**4)),
        lambda n: online(ExponentialKernel(2.0), n),
    ),
    (
        *("online, gaussian kernel", "answers", (125, 250, 500, 1000)),
        lambda n: online(GaussianKernel(0.1), n),
    ),
)


def slopes(only: str) -> Iterator[list[str]]:
    """Lines of the table."""
    for name, grows, sizes, make in LINES:
        if only not in name:
            continue
        once = name.startswith("online")  # an answered point is not drawn again
        taken = [seconds_of(make(size), once) for size in sizes]
        x, y = np.log(sizes), np.log(taken)
        slope = np.polyfit(x, y, 1)[0]
        last = (y[-1] - y[-2]) / (x[-1] - x[-2])
        times = " ".join(f"{second:.3g}" for second in taken)
        ends = " ".join(map(str, sizes))
        yield [name, grows, ends, times, f"{slope:.2f}", f"{last:.2f}"]


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="a part of the names of jobs")
    parser.add_argument("--out", default=str(Path(__file__).with_name("growth.csv")))
    asked = parser.parse_args()
    print("  ".join(COLUMNS))
    lines = []
    with threadpool_limits(1):
        for line in slopes(asked.only):
            lines.append(line)
            print("  ".join(line), flush=True)
    with open(asked.out, "w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *lines])


if __name__ == "__main__":
    main()
