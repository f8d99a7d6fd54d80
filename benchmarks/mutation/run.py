"""Mutation tests: is there a test that fails for every small change of the code?

Run ``python benchmarks/mutation/run.py --package noise --sample 150 --seed 0``, or
``--handmade`` for the list of sensitivities, clips and charges in ``handmade.py``. A
temporary copy of the tree is changed, never the checkout. Every mutant gets a forked
process, in which numpy, scipy and pytest are loaded already, and the tests of its
package that run the changed line, the fast ones first; the first failure ends it.

The sample is systematic: every k-th mutant in the order of modules and lines, from a
random start, so that the share of killed ones is an unbiased estimate; the standard
error, that of a simple random sample, is a little too large. Mutants that do the same
as the code are listed in ``equivalent.txt`` with a reason each, and do not count.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import csv
import importlib.util
import json
import math
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from handmade import MUTANTS
from mutants import mutants
from swap import swap

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{name}_NUM_THREADS"] = "1"
os.environ |= {"SCIPY_ARRAY_API": "1", "MPLBACKEND": "Agg"}
PRELOADED = (
    *("numpy", "scipy.stats", "scipy.integrate", "scipy.optimize", "mpmath", "joblib"),
    *("sklearn.base", "sklearn.kernel_ridge", "sklearn.gaussian_process", "sqlite3"),
    *("pytest", "coverage", "pandas", "opendp.prelude", "dp_accounting"),
    *("dp_accounting.rdp.rdp_privacy_accountant", "dp_accounting.pld.common"),
)
MEMORY = 6 << 30
TIMED_OUT = "timeout"


class Watch:
    """A pytest plugin: chooses and orders tests, notes times, lines and a failure."""

    def __init__(self, order: Any = None, usual: Any = None, lines: Any = None):
        self.order, self.usual, self.lines = order, usual, lines
        self.seconds: Counter[str] = Counter()
        self.failed: list[str] = []

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self.order is not None:
            items[:] = [test for test in items if self.order(test.nodeid) is not None]
            items.sort(key=lambda test: self.order(test.nodeid))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if self.lines is not None:
            self.lines.switch_context(nodeid)
        elif self.usual is not None:
            processor_limit(5 + 5 * self.usual.get(nodeid, 1.0))

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed.append(report.nodeid)


def processor_limit(seconds: float) -> None:
    """End this process after so much processor time from now: a mutant that hangs."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def forked(task: Callable[[], Any], timeout: float) -> Any:
    """Run a task in a silent child with a time limit and return its answer."""
    with tempfile.NamedTemporaryFile() as answer:
        child = os.fork()
        if child == 0:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            silence = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(silence, stream)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            try:
                Path(answer.name).write_text(json.dumps(task()))
            finally:
                os._exit(0)
        end = time.monotonic() + timeout
        try:
            while (done := os.waitpid(child, os.WNOHANG)) == (0, 0):
                if time.monotonic() > end:
                    os.kill(child, signal.SIGPROF)
                time.sleep(0.01)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)  # with what its tests have started
        if os.WIFSIGNALED(done[1]):
            return TIMED_OUT
        return json.loads(Path(answer.name).read_text() or "null")


def run_tests(tests: list[str], watch: Watch, *options: str) -> int:
    """Run pytest in this process."""
    import pytest

    fixed = ("-q", "-n0", "-p", "no:cacheprovider", "-p", "no:randomly", "--tb=no")
    return int(pytest.main([*fixed, *options, *tests], plugins=[watch]))


def is_asked(test: str, tests: list[str]) -> bool:
    """Whether a test is among those of ``path`` or ``path::part of its name``."""
    pairs = (asked.partition("::")[::2] for asked in tests)
    return any(test.startswith(path) and part in test for path, part in pairs)


def paths(tests: list[str]) -> list[str]:
    """The files and folders of tests."""
    return sorted({asked.split("::")[0] for asked in tests})


def measure(tests: list[str]) -> dict[str, Any]:
    """Seconds of each test, and for each file which tests run which line."""
    import coverage

    lines = coverage.Coverage(
        data_file=None, source=["skfuncpriv"], config_file=False, branch=False
    )
    lines.start()
    watch = Watch(order=lambda test: 0 if is_asked(test, tests) else None, lines=lines)
    run_tests(paths(tests), watch)
    lines.stop()
    data = lines.get_data()
    ran = {
        str(Path(name).relative_to(Path.cwd())): data.contexts_by_lineno(name)
        for name in data.measured_files()
    }
    return {"failed": watch.failed, "seconds": watch.seconds, "ran": ran}


def judge(
    path: str, source: str, tests: list[str], lines: range, base: dict[str, Any]
) -> str:
    """Put a source in the place of a module and return what the tests say."""
    seconds, ran = base["seconds"], base["ran"].get(path, {})
    first = {test for line in lines for test in ran.get(str(line), [])}

    def order(test: str) -> Any:
        chosen = is_asked(test, tests) and (not first or test in first)
        return seconds.get(test, 0.0) if chosen and test not in base["failed"] else None

    original = Path(path).read_text()
    # the change may keep second and size, so that a compiled file would be believed
    Path(importlib.util.cache_from_source(path)).unlink(missing_ok=True)

    def task() -> list[Any]:
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        if not swap(path, original, source):
            for name in list(sys.modules):
                if name.split(".")[0] in ("skfuncpriv", "tests"):
                    del sys.modules[name]
        processor_limit(60)
        watch = Watch(order, seconds)
        return [run_tests(paths(tests), watch, "-x"), watch.failed]

    try:
        Path(path).write_text(source)
        answer = forked(task, 900)
    finally:
        Path(path).write_text(original)
    if answer == TIMED_OUT:
        return TIMED_OUT
    code, failed = answer or (2, [])
    return "survived" if code == 0 else f"killed by {[*failed, 'an import'][0]}"


def sample(package: str, size: int, seed: int) -> list[Any]:
    """Every k-th mutant of a package, from a random start."""
    paths = sorted(Path("skfuncpriv", package).glob("_[a-z]*.py"))
    every = [m for path in paths for m in mutants(str(path), path.read_text())]
    step = max(1.0, len(every) / size)
    start = random.Random(seed).uniform(0, step)
    chosen = [int(start + i * step) for i in range(math.ceil(len(every) / step))]
    print(f"{package}: {len(every)} mutants", flush=True)
    return [every[i] for i in chosen if i < len(every)], len(every)


def judge_package(package: str, size: int, seed: int, only: str) -> None:
    """Judge a sample of the mutants of a package; write what survived and the score."""
    chosen, total = sample(package, size, seed)
    tests = [f"tests/{package}"]
    base, reasons, rows = baseline(tests), equivalents(), []
    for mutant in chosen:
        if only not in mutant.name:
            continue
        outcome = "equivalent"
        if mutant.name not in reasons:
            lines = range(mutant.line, mutant.end + 1)
            outcome = judge(mutant.path, mutant.source, tests, lines, base)
        rows.append((package, mutant.line, mutant.name, outcome))
        print(f"{outcome[:40]:40s} {mutant.line:4d} {mutant.name}", flush=True)
    if not only:
        write(package, rows, total, seed)


def baseline(tests: list[str]) -> dict[str, Any]:
    """What `measure` says; then the tests are collected in this process, too."""
    base = forked(lambda: measure(tests), 3600)
    if base == TIMED_OUT or not base or not base["seconds"]:
        raise SystemExit("the tests do not run without a mutant")
    for test in base["failed"]:
        print(f"left out, as it fails without a mutant: {test}")
    with open(os.devnull, "w") as silence, contextlib.redirect_stdout(silence):
        run_tests(paths(tests), Watch(), "--collect-only")
    return base


def write(package: str, rows: list[Any], total: int, seed: int) -> None:
    """Replace the lines of a package in the tables of scores and of survivors."""
    kinds = Counter(row[3].split()[0] for row in rows)
    killed = kinds["killed"] + kinds[TIMED_OUT]
    counted = killed + kinds["survived"]
    score = killed / counted
    share = (killed + 1) / (counted + 2)  # where all are killed one is not certain
    error = math.sqrt(share * (1 - share) / counted * max(0, 1 - len(rows) / total))
    line = (
        package,
        total,
        len(rows),
        seed,
        killed,
        kinds[TIMED_OUT],
        kinds["survived"],
        kinds["equivalent"],
        f"{100 * score:.1f}",
        f"{100 * error:.1f}",
    )
    print(f"{package}: {100 * score:.1f} +- {100 * error:.1f} percent", kinds)
    header = (
        "package",
        "mutants",
        "sampled",
        "seed",
        "killed",
        "of them by time",
        "survived",
        "equivalent",
        "score in percent",
        "standard error",
    )
    replace(HERE / "scores.csv", header, package, [line])
    left = [row for row in rows if not row[3].startswith("killed")]
    replace(
        HERE / "survivors.csv", ("package", "line", "mutant", "outcome"), package, left
    )


def replace(path: Path, header: tuple[str, ...], key: str, new: list[Any]) -> None:
    """Replace the rows of a table that start with a key."""
    old = list(csv.reader(path.open()))[1:] if path.exists() else []
    kept = [row for row in old if row[0] != key]
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(sorted([*kept, *new], key=lambda row: str(row[0])))


def equivalents() -> set[str]:
    """Names of mutants that are explained: the lines that are not indented."""
    text = (HERE / "equivalent.txt").read_text().splitlines()
    return {line for line in text if line and not line.startswith((" ", "#"))}


def judge_handmade(only: str) -> None:
    """Judge the mutants that were written by hand: all of them must be killed."""
    rows = []
    chosen = [
        mutant
        for mutant in MUTANTS
        if any(text in ": ".join(mutant[:3]) for text in only.split("|"))
    ]
    base = baseline(sorted({test for m in chosen for test in m[4].split()}))
    for kind, path, old, new, tests in chosen:
        name = " ".join(f"{kind}: {path}: {old} -> {new}".split())
        source = Path(path).read_text()
        if source.count(old) != 1:
            raise SystemExit(f"found {source.count(old)} times: {name}")
        line = source[: source.index(old)].count("\n") + 1
        lines = range(line, line + old.count("\n") + 1)
        changed = source.replace(old, new)
        outcome = judge(path, changed, tests.split(), lines, base)
        rows.append((name, outcome))
        print(f"{outcome[:60]:60s} {name}", flush=True)
    print(Counter(row[-1].split()[0] for row in rows))
    for row in rows:
        replace(HERE / "handmade.csv", ("mutant", "outcome"), row[0], [row])


def main() -> None:
    """Copy the tree, load what is slow to load, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--package", nargs="*", default=())
    parser.add_argument("--sample", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--handmade", action="store_true")
    parser.add_argument(
        "--only",
        default="",
        help="mutants with this text in the name; of the list also A|B",
    )
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "main")
        skip = shutil.ignore_patterns("__pycache__")
        for part in ("skfuncpriv", "tests"):
            shutil.copytree(ROOT / part, tree / part, ignore=skip)
        shutil.copy(ROOT / "pyproject.toml", tree)
        Path(folder, "shared").symlink_to(ROOT.parent / "shared")
        os.chdir(tree)
        os.environ["PYTHONPATH"] = str(tree)  # for processes that tests start
        sys.path.insert(0, str(tree))
        for module in PRELOADED:
            with contextlib.suppress(ImportError):
                __import__(module)
        compileall.compile_dir("skfuncpriv", quiet=1)
        for package in asked.package:
            judge_package(package, asked.sample, asked.seed, asked.only)
        if asked.handmade:
            judge_handmade(asked.only)


if __name__ == "__main__":
    main()
