"""What a search says while it works: facts that are public before it starts."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel
from tqdm import tqdm

from .._progress import progress_bar
from ._stopping import _RUNS as RUNS
from ._stopping import RandomStopping


def say(text: str) -> None:
    """One line beside the bars."""
    tqdm.write(text, file=sys.stderr)


def results(calls: Sequence[Any], n_jobs: int | None, *, verbose: bool) -> list[Any]:
    """Those of calls, in their order; a bar counts the ones that are done."""
    backend, _ = get_active_backend()
    # What cannot tell when a call is done must not fail, now that all is paid for.
    kind = "generator" if backend.supports_return_generator else "list"
    workers = Parallel(n_jobs=n_jobs if len(calls) > 1 else 1, return_as=kind)
    found = []
    with progress_bar(verbose, total=len(calls), desc="fits to train") as bar:
        for result in workers(calls):
            found.append(result)
            bar.update()
    return found


def average_runs(stopping: RandomStopping, n_candidates: int) -> float:
    """The mean of the secret number of runs."""
    gamma, eta = stopping.gamma, float(stopping.eta)
    most = (RUNS * n_candidates if gamma is None else 1 / gamma) - 1
    if eta == 0:
        return most / math.log1p(most)
    return eta * most / -math.expm1(-eta * math.log1p(most))
