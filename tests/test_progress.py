"""Bars of progress: for whoever waits and looks, and for nobody else."""

import sys

import pytest

from skfuncpriv import _progress
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


def test_terminals_and_notebooks_are_watched(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert not is_watched()
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    assert is_watched()
