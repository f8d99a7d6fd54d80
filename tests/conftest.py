"""Fixtures of all tests: a backend without a screen, and the shared data."""

import gc
import os
from pathlib import Path

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("SCIPY_ARRAY_API", "1")  # read when scipy is first imported
if "PYTEST_XDIST_WORKER" in os.environ:  # each has a core: more threads would wait
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")

_SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_collection_finish():
    """Fifteen thousand tests are never garbage: tests that collect it skip them."""
    gc.freeze()


@pytest.fixture(scope="session")
def shared_data():
    """Directory of the shared data sets; the test is skipped where it is absent."""
    if not _SHARED_DATA.is_dir():
        pytest.skip("../shared/data, which is not part of the repository, is absent")
    return _SHARED_DATA


@pytest.fixture(autouse=True)
def _close_figures():
    """Close the figures of each test, if it made any."""
    yield
    import sys

    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def strictness_restored(monkeypatch):
    """Leave strict mode off, here and in the processes that are started later."""
    from skfuncpriv import config

    monkeypatch.setenv("SKFUNCPRIV_STRICT", "0")
    yield
    config(strict=False)
