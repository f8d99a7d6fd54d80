"""Small searches, and a record of the choices that they make."""

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest

from skfuncpriv import PrivateGridSearchCV, PrivateKDE
from skfuncpriv.model_selection import BoundedScore, _votes

BANDWIDTHS = [0.3, 1.0, 3.0]


def kde_search(grid=None, **options):
    grid = {"bandwidth": BANDWIDTHS} if grid is None else grid
    return PrivateGridSearchCV(PrivateKDE(bounds=(-5.0, 5.0)), grid, **options)


def points(n_people=60, seed=0):
    return np.random.default_rng(seed).normal(size=(n_people, 1))


@dataclass
class Choice:
    """One call of `permute_and_flip`."""

    scores: np.ndarray
    epsilon: float
    sensitivity: float

    @property
    def scale(self):
        """Of the exponential noise, written a second time."""
        return 2 * self.sensitivity / self.epsilon


@contextmanager
def recorded_choices(pick=None):
    """Collect the choices; `pick` makes them, if it is given."""
    choices, original = [], _votes.permute_and_flip

    def choose(scores, *, epsilon, bits, sensitivity=1.0):
        choices.append(Choice(np.array(scores)[0], epsilon, sensitivity))
        if pick is not None:
            return np.array([pick])
        return original(scores, epsilon=epsilon, bits=bits, sensitivity=sensitivity)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_votes, "permute_and_flip", choose)
        yield choices


class Favourite(BoundedScore):
    """Rows are numbers: those above zero want the narrowest kernel, others do not."""

    def values(self, model, X, y=None):
        sign = np.where(np.asarray(X)[:, 0] > 0, 1.0, -1.0)
        return sign if model.bandwidth == BANDWIDTHS[0] else -sign

    def bounds(self, model):
        return -1.0, 1.0


def without_address(value):
    """The repr of a parameter of a test, the same in every process."""
    return repr(value).partition(" at 0x")[0]
