"""Configurations of PrivateKDE that the tests of this folder go over, and its data."""

from contextlib import contextmanager

import numpy as np
import pytest

from skfuncpriv import PrivateKDE
from skfuncpriv.noise import NoiseLaw
from skfuncpriv.testing import recorded

LOW, HIGH = -2.0, 6.0
MECHANISMS = {
    "laplace": {},
    "gaussian": {"noise": "gaussian", "delta": 1e-6},
    "process": {"mechanism": "gaussian_process", "delta": 1e-6, "bandwidth": 0.8},
    "iclp": {"mechanism": "iclp", "bandwidth": 0.8},
    "bernstein": {"mechanism": "bernstein", "bandwidth": 0.8},
    "iclp-gaussian": {"mechanism": "iclp", "bandwidth": 0.8, "delta": 1e-6},
}
each_mechanism = pytest.mark.parametrize("how", MECHANISMS.values(), ids=MECHANISMS)


def make(**parameters):
    return PrivateKDE(**{"bounds": (LOW, HIGH), "random_state": 0, **parameters})


def mixture(n, seed=0, n_axes=1):
    """Two bumps along the first axis, one along the others."""
    rng = np.random.default_rng(seed)
    points = rng.normal(2, 1, (n, n_axes))
    second = rng.random(n) < 0.4
    points[second, 0] = rng.normal(-0.2, 0.5, second.sum())
    return np.clip(points, LOW, HIGH)


def releases_of(model, X, **parameters):
    """The releases of a fit, with the exact sums that they hide."""
    with recorded() as releases:
        model.fit(X, **parameters)
    return releases


def first_release_of(model, X, **parameters):
    """The first release of a fit, which ends there: nothing is made of it."""
    with recorded() as releases, pytest.MonkeyPatch.context() as patch:
        release = NoiseLaw.release

        def released(*arguments):
            release(*arguments)
            raise _ReleasedError

        patch.setattr(NoiseLaw, "release", released)
        with pytest.raises(_ReleasedError):
            model.fit(X, **parameters)
    (released,) = releases
    return released


class _ReleasedError(Exception):
    """Enough has been seen."""


@contextmanager
def no_release():
    """Nothing may be released."""

    def release(*arguments):
        raise AssertionError("something was released")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NoiseLaw, "release", release)
        yield
