"""An attack by likelihood ratio on neighbours whose exact sums are known."""

import math
from dataclasses import replace

import numpy as np

from skfuncpriv.noise import SeededBits
from skfuncpriv.privacy import audit
from tests.iclp.test_sensitivity import log_density

N_TRIALS = 100_000


def attack(law, pair, *, seed=11, n_trials=N_TRIALS):
    """A lower bound of the epsilon that noise of this law has on a pair.

    It is wrong with a probability of 1e-7.
    """
    points = [np.array(list(map(float, released.exact))) for released in pair]
    bits = SeededBits(seed)

    def mechanism(released, count):
        value = released.value
        rows = np.tile(value.values.astype(np.int64), (count, 1))
        integers = law.release(replace(value, values=rows), released.lattice, bits)
        return released.lattice.to_float(integers)

    def log_ratio(outputs):
        return log_density(law, outputs - points[0]) - log_density(
            law, outputs - points[1]
        )

    found = audit(
        mechanism,
        *pair,
        n_trials=n_trials,
        statistic=log_ratio,
        batch=True,
        confidence=1 - 1e-7,
    )
    return found.epsilon_lower


def is_sharp(law, pair, epsilon):
    """Whether a pair loses nearly all of epsilon, and no more."""
    change = [float(a - b) for a, b in zip(pair[0].exact, pair[1].exact, strict=True)]
    return 0.99 * epsilon <= law.loss(change) <= epsilon


def wrong_by_root_two(law):
    """The same law with scales that are too small, and too large, by sqrt(2)."""
    for factor in (math.sqrt(0.5), math.sqrt(2)):
        if hasattr(law, "scales"):
            scales = tuple(factor * scale for scale in law.scales)
            yield replace(law, scales=scales)
        else:
            yield replace(law, scale=factor * law.scale)
