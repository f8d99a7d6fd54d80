"""One thread of BLAS for many small products: several would wait for each other."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS works in the thread that calls it.

    Returns
    -------
    context manager
        Leaves the number of threads as it was before.
    """
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    """Those that are loaded: numpy's and scipy's are, and to look takes a while."""
    return ThreadpoolController()
