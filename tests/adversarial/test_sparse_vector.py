"""The published wrong sparse vectors are caught by `audit` on their counter-examples.

Five variants that were published as private and are not (catalogued by Lyu, Su and Li,
"Understanding the sparse vector technique", PVLDB 2017), written as published, for
queries of sensitivity one and a threshold of zero. Ours passes on the same pairs.
"""

import numpy as np
import pytest

from skfuncpriv.noise import SeededBits
from skfuncpriv.privacy import audit, sparse_vector

EPSILON = 1.0
N_TRIALS = 200_000
N_OURS = 20_000
CONFIDENCE = 1 - 1e-7


def first_hits(hits):
    """Masks with everything behind the first hit of each row removed."""
    return hits & (np.cumsum(hits, axis=1) == 1)


def no_query_noise(queries, size, rng):
    """Noise on the threshold alone, as many positives as there are."""
    threshold = rng.laplace(scale=1 / EPSILON, size=(size, 1))
    return (queries >= threshold).astype(float)


def unlimited_positives(queries, size, rng):
    """One noisy threshold for all, and noise that counts no positives."""
    threshold = rng.laplace(scale=2 / EPSILON, size=(size, 1))
    noise = rng.laplace(scale=2 / EPSILON, size=(size, len(queries)))
    return (queries + noise >= threshold).astype(float)


def no_threshold_noise(queries, size, rng):
    """Noise on the queries alone, scaled as if only the hit cost something."""
    noise = rng.laplace(scale=2 / EPSILON, size=(size, len(queries)))
    return first_hits(queries + noise >= 0).astype(float)


def too_little_query_noise(queries, size, rng):
    """A quarter for the threshold, the rest for the queries without a factor of two."""
    threshold = rng.laplace(scale=4 / EPSILON, size=(size, 1))
    noise = rng.laplace(scale=4 / (3 * EPSILON), size=(size, len(queries)))
    return first_hits(queries + noise >= threshold).astype(float)


def answers_with_the_noise_of_the_comparison(queries, size, rng):
    """The noisy answer that was compared is released: it bounds the threshold."""
    threshold = rng.laplace(scale=2 / EPSILON, size=(size, 1))
    noisy = queries + rng.laplace(scale=2 / EPSILON, size=(size, len(queries)))
    return np.where(first_hits(noisy >= threshold), noisy, -np.inf)


def ours(queries, size, rng):
    bits = SeededBits(int(rng.integers(2**31)))
    columns = np.tile(queries, (size, 1)).T
    chosen = sparse_vector(
        columns,
        epsilon=EPSILON,
        thresholds=0.0,
        max_queries=len(queries) + 1,
        bits=bits,
    )
    return (np.arange(len(queries)) == chosen[:, None]).astype(float)


def later_against_earlier(outputs):
    """How many positives the second half has beyond those of the first."""
    half = outputs.shape[1] // 2
    return outputs[:, half:].sum(axis=1) - outputs[:, :half].sum(axis=1)


def hit_at_the_end(outputs):
    return outputs[:, -1]


def low_answer_at_the_end(outputs):
    """Misses first; then the lower the answer the lower the threshold must be."""
    last = outputs[:, -1]
    return np.where(np.isfinite(last), -last, -1e9)


MANY = np.ones(12)
RISING = (np.zeros(24), np.concatenate([MANY, -MANY]))
LAST = (np.append(np.zeros(5), 1.0), np.append(np.ones(5), 0.0))
LONG = (np.append(np.zeros(8), 1.0) - 1, np.append(np.ones(8), 0.0) - 1)
PUBLISHED = {
    "no query noise": (no_query_noise, (np.array([0.0, 1.0]), np.array([1.0, 0.0]))),
    "unlimited positives": (unlimited_positives, RISING),
    "no threshold noise": (no_threshold_noise, LAST),
    "too little query noise": (too_little_query_noise, LAST),
    "answers": (answers_with_the_noise_of_the_comparison, LONG),
}
STATISTICS = {
    "no query noise": later_against_earlier,
    "unlimited positives": later_against_earlier,
    "answers": low_answer_at_the_end,
}


def lower_bound(mechanism, pair, statistic, n_trials=N_TRIALS):
    rng = np.random.default_rng(5)
    return audit(
        lambda queries, size: mechanism(queries, size, rng),
        *pair,
        n_trials=n_trials,
        statistic=statistic,
        batch=True,
        confidence=CONFIDENCE,
    ).epsilon_lower


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_variants_are_caught_and_ours_is_not(name):
    """Run each variant on the neighbours on which it was shown to fail."""
    mechanism, pair = PUBLISHED[name]
    statistic = STATISTICS.get(name, hit_at_the_end)
    assert lower_bound(mechanism, pair, statistic) > 1.02 * EPSILON
    statistic = later_against_earlier if name in STATISTICS else hit_at_the_end
    assert lower_bound(ours, pair, statistic, N_OURS) <= EPSILON
