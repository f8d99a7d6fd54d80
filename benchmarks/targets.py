"""The table of jobs and the times they should take, beside what others need for them.

Run ``python benchmarks/targets.py`` (three minutes), or with ``--quick`` (one minute);
on a busy machine with ``--threads 1``, as threads that wait for a core count as work.
A job is repeated and medians are shown: of time on the clock, and of the processor time
of all threads, which other work on the machine hardly changes. A target is met by the
clock ("yes"), or but for other work ("cpu"). Others are measured in the same run, where
they are installed: scikit-learn, scipy, KDEpy, scikit-fda, diffprivlib and OpenDP; of
these only the last two are private. ``floor_s`` is the processor time of the part that
cannot be left out, and ``times_floor`` how many times that the job took. The table is
written to ``targets.csv`` beside this script.

Sums over all points for all queries take minutes and are linear in the queries, so
sklearn and scipy get a part of the queries and the time is multiplied: ``x20``.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import subprocess
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from threadpoolctl import threadpool_limits

from skfuncpriv import ICLPMean, PrivateKDE
from skfuncpriv.basis import KernelBasis
from skfuncpriv.gaussian_process import ExponentialKernel
from skfuncpriv.local import geo_private_pipeline
from skfuncpriv.noise import random_bits, release_lattice

sys.path.insert(0, str(Path(__file__).parent))  # asv imports this file elsewhere
from density import BOUNDS, N_PLANE, N_QUERIES, grid_of_plane, points
from local import PUBLIC
from noise import LAWS, SIZE
from online import release, wave

COLUMNS = (
    *("job", "wall_s", "cpu_s", "other", "other_s", "ratio", "target_s", "met"),
    *("floor", "floor_s", "times_floor"),
)
Job = Callable[[], object]


@dataclass
class Timed:
    """Medians of a job over its repeats, in seconds."""

    wall: float
    cpu: float

    @classmethod
    def of(cls, job: Job, repeats: int) -> Timed:
        """Run it once, so that nothing is loaded late, and then as often as asked."""
        if repeats > 1:
            job()
        wall, cpu = [], []
        for _ in range(repeats):
            start, used = time.perf_counter(), time.process_time()
            job()
            wall.append(time.perf_counter() - start)
            cpu.append(time.process_time() - used)
        return cls(median(wall), median(cpu))


def row(
    job: str,
    ours: Timed,
    target: float | None,
    other: tuple[str, float | None] = ("", None),
    floor: tuple[str, float | None] = ("", None),
) -> dict[str, object]:
    """One line of the table."""
    name, seconds = other
    what, least = floor
    met = ""
    if target is not None:
        met = "yes" if ours.wall <= target else "no"
        if met == "no" and ours.cpu <= target:
            met = "cpu"  # but for other work on the machine
    return {
        "job": job,
        "wall_s": ours.wall,
        "cpu_s": ours.cpu,
        "other": name,
        "other_s": seconds,
        "ratio": None if seconds is None else seconds / ours.wall,
        "target_s": target,
        "met": met,
        "floor": what,
        "floor_s": least,
        "times_floor": None if least is None else ours.cpu / least,
    }


def found(make: Callable[[], Job], repeats: int, times: float = 1.0) -> float | None:
    """The time of another library; None where it cannot be loaded here."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Timed.of(make(), repeats).wall * times
    except ImportError:
        return None


def copy_of(array: np.ndarray) -> float:
    """Seconds for reading an array and writing one, which memory allows."""
    target = np.empty_like(array)
    return Timed.of(lambda: np.copyto(target, array), 5).cpu


def words_of(count: int) -> float:
    """Seconds for random words of the operating system, in large buffers."""
    chunk = min(count, 1 << 14)
    times = count / chunk
    return times * Timed.of(lambda: os.urandom(8 * chunk), 20).cpu


# The jobs, in the order of the table.


def densities(quick: bool) -> Iterator[dict[str, object]]:
    """Fit and ten thousand queries, by numbers of points; and the plane."""
    queries = np.linspace(*BOUNDS, N_QUERIES)
    sizes = ((100_000, 0.03), (1_000_000, 0.06), (10_000_000, 0.5))
    for n, target in sizes[: 2 if quick else 3]:
        x, model = points(n), PrivateKDE(bounds=BOUNDS)

        def ours(x=x, model=model):
            return model.fit(x).score_samples(queries[:, None])

        def kdepy(x=x):
            from KDEpy import FFTKDE

            grid = np.linspace(-6, 6, N_QUERIES)
            return lambda: FFTKDE(bw="silverman").fit(x[:, 0]).evaluate(grid)

        timed = Timed.of(ours, 3 if n > 10**6 else 9)
        floor = ("copy of the points", copy_of(x))
        job = f"density of {n:,} points, {N_QUERIES:,} queries"
        if n == 100_000:
            part = queries[:: 100 if quick else 20]
            times = len(queries) / len(part)
            for name, make in (("sklearn", _sklearn), ("scipy", _scipy)):
                other = found(lambda make=make, x=x, part=part: make(x, part), 1, times)
                yield row(job, timed, target, (f"{name} x{times:.0f}", other), floor)
        yield row(job, timed, target, ("KDEpy FFT", found(kdepy, 3)), floor)

    x, model = points(1_000_000, 2), PrivateKDE(bounds=((BOUNDS[0],) * 2, (5.0,) * 2))
    plane = grid_of_plane()

    def kdepy_plane():
        from KDEpy import FFTKDE

        return lambda: FFTKDE(bw=0.05).fit(x).evaluate(N_PLANE)

    timed = Timed.of(lambda: model.fit(x).score_samples(plane), 3)
    other = ("KDEpy FFT", found(kdepy_plane, 3))
    floor = ("copy of the points", copy_of(x))
    yield row("density in the plane, 1e6 points, 128 x 128", timed, 0.3, other, floor)


def means(quick: bool) -> Iterator[dict[str, object]]:
    """The mean of curves by default, and with a single round."""
    curves = np.random.default_rng(0).random((10_000, 100))
    projected = ("scikit-fda projection + mean", found(lambda: _fda(curves), 5))
    ones = ICLPMean(bounds=(0, 1), rounds=1)
    exact = ("copy of the curves", copy_of(curves))
    timed = Timed.of(lambda: ones.fit(curves), 15)
    yield row("mean of 1e4 x 100 curves, one round", timed, 0.015, projected, exact)

    model = ICLPMean(bounds=(0, 1)).fit(curves)
    left = np.random.default_rng(1).random((100, 3 * len(model.coef_)))
    product = Timed.of(lambda: curves @ left, 9).cpu
    floor = ("exact matrix product alone", product)
    timed = Timed.of(lambda: model.fit(curves), 15)
    yield row("mean of 1e4 x 100 curves, two rounds", timed, 0.015, projected, floor)

    curves = np.random.default_rng(0).random((1_000_000, 50))
    other = found(lambda: _diffprivlib(curves), 1 if quick else 3)
    model = ICLPMean(bounds=(0, 1))
    model.fit(curves[:100])
    timed = Timed.of(lambda: model.fit(curves), 1 if quick else 5)
    floor = ("copy of the curves", copy_of(curves))
    yield row("mean of 1e6 x 50 curves", timed, 0.5, ("diffprivlib", other), floor)


def locals_(quick: bool) -> Iterator[dict[str, object]]:
    """Curves through the pipeline of the local model."""
    n = 100_000 if quick else 1_000_000
    curves = 2500 * np.random.default_rng(0).random((n, 100))
    pipeline = geo_private_pipeline(**PUBLIC, n_basis=16)
    pipeline.set_params(release__n_coefficients=None).fit(curves[:1])
    pipeline.transform(curves[:1000])
    timed = Timed.of(lambda: pipeline.transform(curves), 1)
    floor = ("random words", words_of(n * 27))
    yield row(f"privatise {n:,} curves, 16 coefficients", timed, n / 5e4, floor=floor)
    one = Timed.of(lambda: pipeline.transform(curves[:1]), 50)
    yield row("privatise one curve", one, 0.005)


def noises(quick: bool) -> Iterator[dict[str, object]]:
    """A million correctly rounded coordinates of every law, one thread."""
    n = 100_000 if quick else 1_000_000
    values = np.random.default_rng(0).normal(size=(n // SIZE, SIZE))
    bits = random_bits(None)
    opendp = {
        name: found(lambda name=name: _opendp(name), 3, n / 2000)
        for name in ("laplace", "gaussian")
    }
    for name, law in LAWS.items():
        lattice = release_lattice(law.smallest_scale)

        def ours(law=law, lattice=lattice):
            return law.release(values, lattice, bits)

        other = opendp["laplace" if name == "laplace" else "gaussian"]
        floor = ("random words", words_of(law._n_words * len(values)))
        job = f"{n:,} coordinates of {name} noise"
        timed = Timed.of(ours, 5)
        yield row(job, timed, n * 0.15e-6, ("OpenDP", other), floor)


def bases(quick: bool) -> Iterator[dict[str, object]]:
    """A hundred Karhunen-Loeve functions; others take the matrix of a data grid."""
    lengths = (0.1 * (1 + k * 2**-40) for k in itertools.count())
    grid = np.linspace(0, 1, 1001)
    dense = np.exp(-np.square((grid[:, None] - grid) / 0.1) / 2) / 1001
    other = found(lambda: lambda: np.linalg.eigh(dense), 1 if quick else 3)
    for kernel in ("exponential", "matern32", "matern52", "gaussian"):

        def ours(kernel=kernel):
            basis = KernelBasis(kernel, 100, length_scale=next(lengths))
            return basis.evaluate(grid[::10]), basis.spectrum

        dense_grid = ("numpy eigh, 1001 points", other)
        timed = Timed.of(ours, 9)
        yield row(f"100 functions of the {kernel} kernel", timed, 0.02, dense_grid)


def answers(quick: bool) -> Iterator[dict[str, object]]:
    """Answers of an online release in memory, in one call and one by one."""
    n = 20_000 if quick else 100_000
    queries = np.random.default_rng(0).uniform(size=n)
    points_, several = queries.tolist(), release(ExponentialKernel(2.0))
    single = release(ExponentialKernel(2.0))

    def one_by_one():
        for point in points_:
            single.predict(point)

    def function_only():
        for point in points_:
            wave(np.array([[point]]))

    words = ("random words", words_of(2 * n))
    asked = Timed.of(lambda: several.predict(queries), 1)
    yield row(f"{n:,} online answers in one call", asked, n * 2e-5, floor=words)
    floor = ("the function alone", Timed.of(function_only, 1).cpu)
    asked = Timed.of(one_by_one, 1)
    yield row(f"{n:,} online answers in single calls", asked, n * 2e-5, floor=floor)


def imports(quick: bool) -> Iterator[dict[str, object]]:
    """The import beyond scikit-learn's, and the first fit of a process."""
    first = "import sklearn.base"
    fit = "ICLPMean(bounds=(0, 1)).fit(numpy.zeros((100, 50)))"
    ready = "import numpy; from skfuncpriv import ICLPMean"
    repeats = 3 if quick else 9
    beyond = _in_processes(first, "import skfuncpriv", repeats)
    sklearns = ("import of sklearn", _in_processes("", first, repeats).wall)
    yield row("import beyond sklearn", beyond, 0.3, sklearns)
    yield row("first fit of a process", _in_processes(ready, fit, repeats), None)


# What others offer for these jobs.


def _sklearn(x: np.ndarray, queries: np.ndarray) -> Job:
    from sklearn.neighbors import KernelDensity

    width = 1.06 * x.std() * len(x) ** -0.2
    model = KernelDensity(bandwidth=width).fit(x)
    return lambda: model.score_samples(queries[:, None])


def _scipy(x: np.ndarray, queries: np.ndarray) -> Job:
    from scipy.stats import gaussian_kde

    factor = 1.06 * len(x) ** -0.2
    return lambda: gaussian_kde(x[:, 0], factor).logpdf(queries)


def _fda(curves: np.ndarray) -> Job:
    from skfda import FDataGrid
    from skfda.representation.basis import FourierBasis

    basis = FourierBasis((0, 1), n_basis=11)
    data = FDataGrid(curves, np.linspace(0, 1, curves.shape[1]))
    return lambda: data.to_basis(basis).mean()


def _diffprivlib(curves: np.ndarray) -> Job:
    # Its models do not import beside a new scikit-learn; its means need none of them.
    sys.modules.setdefault("diffprivlib.models", types.ModuleType("models"))
    try:
        from diffprivlib.tools import mean
    except (AttributeError, TypeError) as error:  # nor do all of its versions
        raise ImportError("diffprivlib does not load here") from error

    return lambda: mean(curves, epsilon=1.0, bounds=(0, 1), axis=0)


def _opendp(name: str) -> Job:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    if name == "laplace":
        make = dp.m.make_laplace(domain, dp.l1_distance(T=float), scale=1.0)
    else:
        make = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=1.0)
    return lambda: make([0.0] * 2000)


def _in_processes(before: str, code: str, repeats: int) -> Timed:
    """Medians of what a line takes in new interpreters, with compiled modules."""
    cache = Path(__file__).parent / "__pycache__" / "compiled"
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    text = (
        f"import time; {before or 'pass'}\nw, c = time.perf_counter(), "
        f"time.process_time()\n{code}\n"
        "print(time.perf_counter() - w, time.process_time() - c)"
    )
    command = [sys.executable, "-c", text]
    taken = []
    for _ in range(repeats + 1):  # the first one compiles
        done = subprocess.run(command, check=True, env=environment, stdout=-1)
        taken.append([float(number) for number in done.stdout.split()])
    wall, cpu = zip(*taken[1:], strict=True)
    return Timed(median(wall), median(cpu))


GROUPS = {
    "density": densities,
    "mean": means,
    "local": locals_,
    "noise": noises,
    "basis": bases,
    "online": answers,
    "import": imports,
}


def text(value: object) -> str:
    """A number in three digits, anything else as it is."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer and smaller jobs")
    parser.add_argument("--threads", type=int, help="of products of matrices")
    parser.add_argument("--only", nargs="*", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--out", default=str(Path(__file__).with_name("targets.csv")))
    asked = parser.parse_args()
    lines = []
    print("  ".join(COLUMNS))
    with threadpool_limits(asked.threads):
        for name in asked.only:
            for line in GROUPS[name](asked.quick):
                lines.append([text(line[column]) for column in COLUMNS])
                print("  ".join(cell or "-" for cell in lines[-1]), flush=True)
    with open(asked.out, "w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *lines])


if __name__ == "__main__":
    main()
