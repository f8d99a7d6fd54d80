"""Exact selection probabilities by quadrature, and naive samplers that can be broken.

A gap is what decides a comparison: q_k - t_k for a sparse vector that looks for small
queries, abs(c_j) - t_j for one that looks for large coefficients.
"""

import math
from itertools import combinations, pairwise

import numpy as np
from scipy import stats

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


def laplace_below(z, scale):
    """P(Z <= z) with a small relative error in both tails."""
    tail = 0.5 * np.exp(-np.abs(z) / scale)
    return np.where(z < 0, tail, 1 - tail)


def quadrature(kinks, scale, finest):
    """Nodes and weights for an integral against Lap(scale), smooth between kinks."""
    if scale == 0:
        return np.zeros(1), np.ones(1)
    kinks = np.unique([0.0, *kinks])
    reach = 45 * scale + np.abs(kinks).max()
    ends = np.concatenate([[-reach], kinks, [reach]])
    cuts = [
        np.linspace(low, high, 1 + max(1, math.ceil((high - low) / finest)))[:-1]
        for low, high in pairwise(ends)
    ]
    cuts = np.append(np.concatenate(cuts), reach)
    half = np.diff(cuts)[:, None] / 2
    nodes = (cuts[:-1, None] + half + half * _NODES).ravel()
    density = np.exp(-np.abs(nodes) / scale) / (2 * scale)
    return nodes, (half * _WEIGHTS).ravel() * density


def sparse_vector_law(gaps, a, b):
    """Probabilities of the answers 0..len(gaps); the last one is "none of them"."""
    nodes, weights = quadrature(gaps, a, 1.5 * min(a, b))
    missed, law = weights, []
    for gap in gaps:
        law.append(np.sum(missed * laplace_below(nodes - gap, b)))
        missed = missed * laplace_below(gap - nodes, b)
    return np.array([*law, missed.sum()])


def sparse_coefficients_law(gaps, a, b, n_hits):
    """Probability of every mask with at most n_hits hits, as a dictionary."""
    nodes, weights = quadrature(gaps, a, 1.5 * min(a, b) if a else 1.0)
    hit = [laplace_below(gap - nodes, b) for gap in gaps]
    miss = [laplace_below(nodes - gap, b) for gap in gaps]
    law = {}
    for count in range(n_hits + 1):
        for hits in combinations(range(len(gaps)), count):
            seen = hits[-1] + 1 if count == n_hits else len(gaps)
            product = weights
            for j in range(seen):
                product = product * (hit[j] if j in hits else miss[j])
            law[tuple(j in hits for j in range(len(gaps)))] = product.sum()
    return law


def permute_and_flip_law(scores, scale):
    """The closed form: x_k sum over S of (-1)^|S| / (|S| + 1) prod_{j in S} x_j."""
    x = np.exp((np.array(scores) - np.max(scores)) / scale)
    law = []
    for k in range(len(x)):
        rest = np.delete(x, k)
        law.append(
            x[k]
            * sum(
                (-1) ** size / (size + 1) * math.prod(subset)
                for size in range(len(rest) + 1)
                for subset in combinations(rest, size)
            )
        )
    return np.array(law)


FAULTS = (
    "no threshold noise",
    "threshold noise redrawn",
    "no query noise",
    "query noise re-used",
    "half the query noise",
)


def naive_sparse_vector(gaps, a, b, n, rng, fault=None):
    """The textbook loop on floats, all rows alike, with a fault if one is named."""
    threshold = rng.laplace(scale=a, size=n) * (fault != "no threshold noise")
    first = rng.laplace(scale=b, size=n)
    chosen = np.full(n, len(gaps))
    for k in reversed(range(len(gaps))):
        noise = rng.laplace(scale=b, size=n)
        if fault == "no query noise":
            noise = 0.0
        elif fault == "query noise re-used":
            noise = first
        elif fault == "half the query noise":
            noise = noise / 2
        elif fault == "threshold noise redrawn":
            threshold = rng.laplace(scale=a, size=n)
        chosen[gaps[k] + noise <= threshold] = k
    return chosen


def naive_permute_and_flip(scores, scale, n, rng):
    """Candidates in random order, each accepted with probability x_j."""
    x = np.exp((np.array(scores) - np.max(scores)) / scale)
    order = rng.permuted(np.tile(np.arange(len(x)), (n, 1)), axis=1)
    accepted = rng.random(order.shape) < x[order]
    return order[np.arange(n), accepted.argmax(axis=1)]


def agreement(chosen, law):
    """Smallest p-value of exact binomial tests, times their number (Bonferroni)."""
    counts = np.bincount(chosen, minlength=len(law))
    tests = [
        stats.binomtest(int(count), len(chosen), min(float(p), 1.0)).pvalue
        for count, p in zip(counts, law, strict=True)
    ]
    return min(tests) * len(tests)


def agrees(chosen, law):
    """False with a probability below 1e-8 where the law is right.

    That is beyond 5.7 standard deviations; with fewer than 100 such tests the odds of
    a false alarm stay below 1e-6.
    """
    return agreement(chosen, law) > 1e-8
