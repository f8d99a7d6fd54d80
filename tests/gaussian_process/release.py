"""What a fit hides: the exact private coordinates, and the law that hides them."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import log_ndtr

from skfuncpriv.noise import FixedPoint, IndependentGaussian, Lattice, NoiseLaw


@dataclass
class Hidden:
    """The one call of `NoiseLaw.release` of a fit."""

    law: IndependentGaussian
    value: object
    lattice: Lattice

    @property
    def sigma(self):
        (sigma,) = set(self.law.deviations)
        return sigma

    @property
    def exact(self):
        """The private coordinates, exactly."""
        if isinstance(self.value, FixedPoint):
            step = Fraction(2) ** self.value.lattice.exponent
            return [int(k) * step for k in self.value.values]
        return [Fraction(x) for x in self.value]

    @property
    def floats(self):
        return np.array([float(x) for x in self.exact])


def hidden_by(model, X, y=None, groups=None):
    """Fit, and return what was hidden."""
    calls, original = [], NoiseLaw.release

    def release(law, value, lattice, bits):
        calls.append(Hidden(law, value, lattice))
        return original(law, value, lattice, bits)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NoiseLaw, "release", release)
        model.fit(X, y, groups=groups)
    (hidden,) = calls
    return hidden


def move(one, other):
    """The Euclidean distance of two hidden vectors, exact until the last root."""
    square = sum((a - b) ** 2 for a, b in zip(one.exact, other.exact, strict=True))
    return math.sqrt(square)


def largest_move(fits):
    """Of all pairs; found with floats, and then exact."""
    points = np.array([hidden.floats for hidden in fits])
    squares = np.square(points).sum(axis=1)
    distances = squares[:, None] + squares - 2 * points @ points.T
    i, j = np.unravel_index(np.argmax(distances), distances.shape)
    return move(fits[i], fits[j])


def gaussian_delta(distance, sigma, epsilon):
    """Delta of N(0, sigma^2) moved by a distance (Balle and Wang), in logarithms."""
    if distance == 0:
        return 0.0
    m = distance / sigma
    first, second = log_ndtr(m / 2 - epsilon / m), log_ndtr(-m / 2 - epsilon / m)
    return math.exp(first) - math.exp(epsilon + second)


def check_loss(distance, sigma, epsilon, delta, *, at_least=0.0):
    """The exact loss is at most epsilon at delta, and at least a share of it."""
    assert gaussian_delta(distance, sigma, epsilon) <= delta * (1 + 1e-9)
    if at_least:
        assert gaussian_delta(distance, sigma, at_least * epsilon) > delta
