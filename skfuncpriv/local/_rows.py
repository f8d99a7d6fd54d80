"""Work on many independent rows: in chunks, in parallel, with a progress bar."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from tqdm.auto import tqdm

from .._base import people_of

CHUNK_ROWS = 1 << 13


def map_rows(
    work: Callable[[slice, int], np.ndarray],
    out: np.ndarray,
    *,
    n_jobs: int | None = None,
    verbose: bool = False,
    chunk_rows: int = CHUNK_ROWS,
) -> np.ndarray:
    """Fill ``out[rows] = work(rows, index)`` chunk by chunk; index counts the chunks.

    The chunks do not depend on `n_jobs`. Threads suffice: the work is numpy's, and the
    rows are neither copied nor pickled.
    """
    n_rows = len(out)
    starts = range(0, n_rows, chunk_rows)

    def fill(index: int, start: int) -> None:
        rows = slice(start, min(start + chunk_rows, n_rows))
        out[rows] = work(rows, index)

    if len(starts) == 1 and not verbose:  # one curve should not pay for a pool
        fill(0, 0)
        return out
    with Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator") as parallel:
        tasks = (delayed(fill)(*task) for task in enumerate(starts))
        for _ in tqdm(parallel(tasks), total=len(starts), disable=not verbose):
            pass
    return out


def largest_share(groups: Any, n_rows: int, X: Any) -> int:
    """The largest number of rows that one person owns: how often a call is charged."""
    codes, _, _ = people_of(groups, X, n_rows)
    return 1 if codes is None else int(np.bincount(codes).max())
