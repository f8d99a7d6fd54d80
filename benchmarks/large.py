"""Data that need not fit memory: time and peak memory of streamed releases.

Files are made first (not timed), then every release runs in a process of its own, so
that its peak memory is that of the release: what importing the library takes is given
beside it. A release costs something to start, and then so much for each row; the last
line of a job takes that slope from the two largest sizes and extrapolates it. Not so
where rows are divided by person: there are as many parts as blocks, so each row costs
more the more there are, up to 1,024 blocks, and memory grows with them after that.

    python benchmarks/large.py                   # 1e8 points, 1e7 curves; two gigabytes
    python benchmarks/large.py --quick           # a hundredth of that
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HOURS = 24
CHUNK = 1 << 20
FAR = 1e10  # what times are extrapolated to, where every row costs the same


def make_points(path: Path, n: int) -> None:
    """Ages in years of n people, written in chunks."""
    table = np.lib.format.open_memmap(path, "w+", np.float64, (n, 1))
    rng = np.random.default_rng(0)
    for start in range(0, n, CHUNK):
        block = table[start : start + CHUNK]
        block[:, 0] = 100 * rng.beta(2, 3, len(block))


def make_curves(path: Path, n: int) -> None:
    """Days of demand in kW of n people, hour by hour, written in chunks."""
    table = np.lib.format.open_memmap(path, "w+", np.float32, (n, HOURS))
    rng = np.random.default_rng(1)
    hours = np.arange(HOURS)
    shape = 0.4 + 0.6 * np.exp(-(((hours - 19) / 3) ** 2))
    for start in range(0, n, CHUNK):
        block = table[start : start + CHUNK]
        block[:] = shape * rng.gamma(4, 0.25, (len(block), 1))
        block += rng.normal(0, 0.1, block.shape)


def make_parquet(path: Path, n: int) -> None:
    """The curves as a table with a person per ten rows, a row group per 2^17 rows."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [f"h{k}" for k in range(HOURS)]
    rng = np.random.default_rng(2)
    schema = pa.schema([*((x, pa.float32()) for x in names), ("person", pa.int64())])
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, n, CHUNK // 8):
            rows = min(CHUNK // 8, n - start)
            days = rng.gamma(4, 0.25, (rows, HOURS)).astype(np.float32)
            columns = [pa.array(days[:, k]) for k in range(HOURS)]
            people = pa.array(rng.integers(0, max(1, n // 10), rows))
            writer.write_table(pa.Table.from_arrays([*columns, people], schema=schema))


def release(job: str, path: str, workers: int) -> dict[str, float]:
    """One release from a file, in this process."""
    from joblib import parallel_config

    from skfuncpriv import Blocks, ICLPMean, PrivateKDE

    before = peak_memory()
    with parallel_config(backend="threading", n_jobs=workers):
        start = time.perf_counter()
        if job == "density":
            model = PrivateKDE(bounds=(0, 100), epsilon=1.0)
            model.fit(np.load(path, mmap_mode="r"))
        elif job == "mean":
            model = ICLPMean(bounds=(0, 8), domain=(0, 24), epsilon=1.0, rounds=1)
            model.fit(np.load(path, mmap_mode="r"))
        else:
            rows = Blocks.from_files(path)
            model = ICLPMean(bounds=(0, 8), domain=(0, 24), epsilon=1.0, rounds=1)
            names = [f"h{k}" for k in range(HOURS)]
            model.fit(rows[names], groups=rows["person"])
        seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "peak_mb": peak_memory(),
        "import_mb": before,
        "people": model.n_people_,
    }


def peak_memory() -> float:
    """The most memory this process has held, in megabytes, as Linux counts it.

    What `resource` tells includes what the process held before it became this program.
    """
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


JOBS = {"density": make_points, "mean": make_curves, "people": make_parquet}
SIZES = {"density": 1e8, "mean": 1e7, "people": 1e6}
UNITS = {"density": "points", "mean": "curves", "people": "rows"}


def measure(job: str, path: Path, workers: int) -> dict[str, float]:
    """The same in a fresh process."""
    command = [sys.executable, __file__, "--run", job, str(path), str(workers)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(answer.stdout))


def main() -> None:
    """Print the table, and write it to large.csv."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a hundredth of the sizes")
    parser.add_argument("--jobs", nargs="+", choices=list(JOBS), default=list(JOBS))
    parser.add_argument("--workers", type=int, default=2, help="threads of joblib")
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        job, path, workers = arguments.run
        print(json.dumps(release(job, path, int(workers))))
        return
    lines = []
    for job in arguments.jobs:
        largest = SIZES[job] / (100 if arguments.quick else 1)
        for size in (largest / 100, largest / 10, largest):
            with tempfile.TemporaryDirectory() as folder:
                ending = "parquet" if job == "people" else "npy"
                path = Path(folder) / f"rows.{ending}"
                JOBS[job](path, int(size))
                found = measure(job, path, arguments.workers)
                megabytes = path.stat().st_size / 2**20
            nanoseconds = 1e9 * found["seconds"] / size
            lines.append([job, int(size), megabytes, *found.values(), nanoseconds])
            print(
                f"{job:8s} {size:9.0e} {UNITS[job]}: {megabytes:7.0f} MB of file, "
                f"{found['seconds']:7.2f} s ({nanoseconds:6.0f} ns each), peak memory "
                f"{found['peak_mb']:5.0f} MB ({found['import_mb']:.0f} at the start)",
                flush=True,
            )
        if job == "people":
            continue
        (_, few, *_), (_, many, *_) = lines[-2:]
        slope = (lines[-1][3] - lines[-2][3]) / (many - few)
        print(
            f"{job:8s} {FAR:9.0e} {UNITS[job]}: {1e9 * slope:.0f} ns for each further "
            f"one, so about {FAR * slope / 60:.0f} minutes"
        )
    names = ["job", "rows", "file_mb", "seconds", "peak_mb", "import_mb", "people"]
    with open(Path(__file__).with_suffix(".csv"), "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*names, "nanoseconds_per_row"])
        writer.writerows(lines)


if __name__ == "__main__":
    main()
