"""Bars of progress: for whoever waits and looks, and for nobody else."""

import io
import sys

import numpy as np
import pytest

from skfuncpriv import Curves, GeoPrivateCoefficients, PrivateSparseMean, _progress
from skfuncpriv._progress import is_watched, progress_bar


@pytest.fixture
def bars(monkeypatch):
    made = []
    monkeypatch.setattr(_progress, "tqdm", lambda **words: made.append(words))
    return made


@pytest.mark.parametrize("looks", [False, True])
def test_a_bar_waits_two_seconds_and_needs_a_reader(bars, looks, monkeypatch):
    monkeypatch.setattr(_progress, "is_watched", lambda: looks)
    progress_bar(total=3)
    expected = {"total": 3, "delay": 2.0, "disable": not looks, "leave": False}
    assert bars == [expected]


def test_a_bar_that_is_asked_for_is_shown_at_once(bars):
    progress_bar(True, total=3)
    assert bars == [{"total": 3}]


def test_a_bar_within_a_bar_is_never_shown(bars, monkeypatch):
    monkeypatch.setattr(_progress, "is_watched", lambda: True)
    progress_bar(None, total=3)
    assert bars[0]["disable"]


@pytest.mark.parametrize("verbose", [False, None])
def test_whoever_looks_sees_how_far_sparse_curves_and_rows_are(
    verbose, monkeypatch, capfd
):
    monkeypatch.setattr(_progress, "is_watched", lambda: True)
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    times = np.tile([0.2, 0.7], 30)
    curves = Curves(np.ones(60), times, np.arange(0, 61, 2), domain=(0, 1))
    facts = {"bounds": (-2, 2), "domain": (0, 1), "epsilon": 50.0, "verbose": verbose}
    PrivateSparseMean(**facts).fit(curves)
    assert ("curves:" in capfd.readouterr().err) == (verbose is False)
    rows = np.zeros((9000, 2))  # two chunks
    GeoPrivateCoefficients(epsilon=1.0, verbose=verbose).fit_transform(rows)
    assert ("0/2" in capfd.readouterr().err) == (verbose is False)


def test_terminals_and_notebooks_are_watched(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert not is_watched()
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    assert not is_watched()
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    assert is_watched()
