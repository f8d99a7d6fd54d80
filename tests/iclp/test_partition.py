"""The partition into blocks is the best of all."""

import math

import numpy as np
import pytest

from skfuncpriv.iclp._partition import best_partition
from skfuncpriv.noise import BlockSpherical


def compositions(size):
    """All ways to cut `size` coordinates into contiguous blocks."""
    for cuts in range(2 ** (size - 1)):
        ends = [k + 1 for k in range(size - 1) if cuts >> k & 1] + [size]
        yield tuple(np.diff([0, *ends]).tolist())


def noise_energy(weights, sizes, profile):
    """Expected squared error after the weights, from the law itself."""
    law = BlockSpherical.scale_for(1.0, 2.0, sizes, profile)
    return float(np.sum((law.std * weights) ** 2))


def best_profile(weights, sizes):
    """Scales that minimise the energy: budgets eps_i^2 as sqrt((m_i + 1) sum a^2)."""
    blocks = np.split(weights, np.cumsum(sizes)[:-1])
    roots = [math.sqrt((len(a) + 1) * np.sum(a**2)) for a in blocks]
    return 1 / np.sqrt(roots)


@pytest.mark.parametrize("size", range(1, 11))
def test_no_composition_is_better(size):
    rng = np.random.default_rng(size)
    for decay in (0.0, 0.5, 2.0, 4.0):
        for weights in (
            (1.0 + np.arange(size)) ** -decay,
            np.sort(rng.uniform(size=size) ** (1 + decay))[::-1],
            rng.uniform(0.01, 1, size),
        ):
            sizes, profile = best_partition(weights)
            assert sum(sizes) == size
            ours = noise_energy(weights, sizes, profile)
            others = [
                noise_energy(weights, cut, best_profile(weights, cut))
                for cut in (compositions(size) if size < 8 else [sizes])
            ]
            assert ours <= min(others) * (1 + 1e-12)
            # The same by the formula, over all compositions of up to ten coordinates.
            totals = [
                np.sum(best_profile(weights, cut) ** -2.0) for cut in compositions(size)
            ]
            assert np.sum(profile**-2.0) <= min(totals) * (1 + 1e-12)


def test_profile_is_the_best_of_its_partition():
    weights = (1.0 + np.arange(9)) ** -2.0
    sizes, profile = best_partition(weights)
    assert len(sizes) > 1
    best = noise_energy(weights, sizes, profile)
    rng = np.random.default_rng(0)
    for _ in range(50):
        other = profile * np.exp(rng.normal(0, 0.1, len(profile)))
        assert noise_energy(weights, sizes, other) >= best * (1 - 1e-12)


def test_equal_weights_make_one_block():
    for size in (1, 2, 5, 40):
        sizes, _ = best_partition(np.ones(size))
        assert sizes == (size,)


def test_partition_does_not_depend_on_the_unit_of_weights():
    weights = np.exp(-0.4 * np.arange(30))
    sizes, profile = best_partition(weights)
    for factor in (1e-30, 3.0, 2.0**40):
        other, scaled = best_partition(factor * weights)
        assert other == sizes
        np.testing.assert_allclose(scaled / scaled[0], profile / profile[0], rtol=1e-9)
