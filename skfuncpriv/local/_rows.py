"""Many independent rows: how they are read, and work on them in parallel chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from .._grids import check_wide_shape
from .._progress import progress_bar
from .._sklearn import check_feature_names
from .._tables import (
    INFINITE,
    as_numbers,
    frame_to_numbers,
    is_frame,
    refuse_no_table,
)

CHUNK_ROWS = 1 << 13


def as_rows(X: Any, strict: bool = False) -> np.ndarray:
    """Rows of coefficients, NaN where one is missing; refusals quote no value.

    In strict mode an infinity is no error, but zero: the coefficient of the centre.
    scikit-learn's own checks would print the private rows in some of their texts.
    """
    refuse_no_table(X)
    rows = frame_to_numbers(X) if is_frame(X) else as_numbers(X)
    check_wide_shape(rows)
    if rows.ndim != 2:
        raise ValueError("coefficients must be an array of shape (n, m)")
    if np.isinf(rows).any():
        if not strict:
            raise ValueError(INFINITE)
        rows = np.where(np.isinf(rows), 0.0, rows)
    return rows


def read_rows(owner: Any, X: Any, reset: bool) -> np.ndarray:
    """The same, with the names and the number of columns that `owner` knows."""
    rows = as_rows(X, owner._is_strict())
    check_feature_names(owner, X, reset=reset)
    check_n_features(owner, rows.shape[1], reset)
    return rows


def check_n_features(owner: Any, n_features: int, reset: bool) -> None:
    """The number of columns, in the words of scikit-learn."""
    if reset:
        owner.n_features_in_ = n_features
    elif n_features != getattr(owner, "n_features_in_", n_features):
        raise ValueError(
            f"X has {n_features} features, but {type(owner).__name__} is expecting "
            f"{owner.n_features_in_} features as input"
        )


def map_rows(
    work: Callable[[slice, int], np.ndarray],
    out: np.ndarray,
    *,
    n_jobs: int | None = None,
    verbose: bool | None = False,
    chunk_rows: int = CHUNK_ROWS,
) -> np.ndarray:
    """Fill ``out[rows] = work(rows, index)`` chunk by chunk; index counts the chunks.

    The chunks do not depend on `n_jobs`. Threads suffice: the work is numpy's, and the
    rows are neither copied nor pickled. Matrices are small, so that BLAS with threads
    of its own is slower, and many times slower on a busy machine.
    """
    n_rows = len(out)
    starts = range(0, n_rows, chunk_rows)

    def fill(index: int, start: int) -> None:
        rows = slice(start, min(start + chunk_rows, n_rows))
        out[rows] = work(rows, index)

    if len(starts) == 1 and not verbose:  # one curve should not pay for a pool
        fill(0, 0)
        return out
    # Other processes would fill copies of `out`, and leave here what was in it before;
    # a named backend is kept whatever the user's context prefers.
    parallel = Parallel(n_jobs=n_jobs, backend="threading", return_as="generator")
    with threadpool_limits(1), parallel, _progress(len(starts), verbose) as advance:
        tasks = (delayed(fill)(*task) for task in enumerate(starts))
        for _ in parallel(tasks):
            advance()
    return out


@contextmanager
def _progress(total: int, verbose: bool | None) -> Iterator[Callable[[], Any]]:
    """A progress bar, which must not stop a release that is paid for."""
    with ExitStack() as stack:
        bar = None
        with suppress(OSError, ValueError):  # a closed or broken output
            bar = progress_bar(verbose, total=total)
            stack.callback(_closed, bar)

        def advance() -> None:
            with suppress(OSError, ValueError):
                if bar is not None:
                    bar.update()

        yield advance


def _closed(bar: Any) -> None:
    with suppress(OSError, ValueError):
        bar.close()


def check_jobs(n_jobs: Any) -> None:
    """Refuse what joblib would refuse, before anything is charged."""
    if n_jobs is not None and (
        isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0
    ):
        raise ValueError(
            f"n_jobs must be None or an integer other than 0, got {n_jobs!r}"
        )


def scaled_norms(rows: np.ndarray) -> np.ndarray:
    """Norms along the last axis; squares neither overflow nor vanish.

    Nor does anything warn: that would show how large private numbers are.
    """
    scale = np.abs(rows).max(axis=-1, initial=0.0)
    scale[scale == 0] = 1.0
    with np.errstate(all="ignore"):
        return np.asarray(scale * np.linalg.norm(rows / scale[..., None], axis=-1))
