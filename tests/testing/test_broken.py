"""Every check finds something: a sound mechanism passes, broken copies of it do not.

A copy is the source of `PrivateNumberMean` with a line that is replaced. It must fail
exactly the checks that are named, and pass all others.
"""

import inspect
import warnings

import numpy as np
import pytest

from skfuncpriv.testing import PrivateCase, check_private_estimator
from skfuncpriv.testing._run import CHECKS
from tests.testing import private_mean
from tests.testing.broken import BROKEN, COPIES
from tests.testing.private_mean import PrivateNumberMean

BOUNDS = (-500.0, 900.0)
SOURCE = inspect.getsource(private_mean)


def case_of(estimator):
    """A table of 40 rows; the last person moves from one end to the other."""
    X = np.random.default_rng(0).uniform(-450, 850, (40, 3))
    other = X.copy()
    X[-1], other[-1] = -1e300, 1e300
    return PrivateCase(
        X=X,
        neighbour=other,
        queries={"predict": (X[:3],)},
        units={"bounds": 1, "mean_": 1, "predict": 1},
        is_worst=True,
    )


def failures(estimator, only=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes = check_private_estimator(
            estimator, case_of(estimator), only=only, on_fail=None
        )
    return {found.name: found.text for found in outcomes if found.status == "failed"}


def broken(changes):
    source = SOURCE
    for old, new in changes:
        assert source.count(old) == 1
        source = source.replace(old, new)
    space = {"__name__": private_mean.__name__}
    exec(compile(source, "<broken>", "exec"), space)
    return space["PrivateNumberMean"](bounds=BOUNDS)


def test_a_sound_mechanism_passes_everything():
    only = [name for name in CHECKS if name != COPIES]  # the page runs that one
    assert failures(PrivateNumberMean(bounds=BOUNDS), only) == {}


@pytest.mark.parametrize(("changes", "expected"), BROKEN.values(), ids=BROKEN)
def test_what_is_broken_is_found(changes, expected, monkeypatch):
    model = broken(changes)
    monkeypatch.setattr(private_mean, "PrivateNumberMean", type(model))  # for pickles
    only = [name for name in CHECKS if name != COPIES or COPIES in expected]
    found = failures(model, only)
    assert sorted(found) == sorted(expected), found


def test_every_check_finds_something():
    assert {name for _, expected in BROKEN.values() for name in expected} == set(CHECKS)
