"""Bayesian model averaging of released coefficients.

The noise law of a release is known exactly, so its coefficients can be averaged over
prior laws of the signal. That is post-processing of the release: it costs no privacy.

The prior is a Markov chain of variance levels along frequency. Coefficients come in
groups, 0, 1, 2, 3, 4-5, 6-7, 8-11, ...; those of a group are N(0, v) with one level v;
from group to group levels tend to fall and seldom rise. The lowest level is zero, and
the chain never leaves it. Compared with a grid of power laws A (1 + j)^(-2 s), which is
the special case of straight paths, spectra with a plateau, a gap or a slow tail are
not shrunk to a shape they do not have.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.special import expit

from .._validation import check_count, check_positive
from ..noise import NoiseLaw, SeededBits
from ._chain import Chain
from ._mixture import NormalMixture, normal_mixtures

_CHUNK_ROWS = 64
_ZERO_RISK = 0.045  # of a zero signal, as a share of the noise energy or of the bound
_MOST_DRAWS = 512  # of each kind, public, that the odds of "nothing" are set by
_FEWEST_ODDS, _MOST_ODDS = -7.0, 7.0  # their logarithms
_NEGLIGIBLE = 2.0**-106  # noise variance, as a share of the bound, that floats ignore


def bayesian_average(
    released: np.ndarray, law: NoiseLaw, energy_bound: float, n_outputs: int = 1
) -> np.ndarray:
    """Return the posterior mean of the signals behind released coefficients.

    Parameters
    ----------
    released : ndarray, shape (n, m)
        Signal plus noise, one row each, in the order of frequency; already *released*,
        hence public.
    law : NoiseLaw
        The law of the noise; *public*.
    energy_bound : float
        A bound on the squared norm of a signal, in squared units of the coefficients;
        *public*.
    n_outputs : int, default=1
        How many consecutive coefficients share a frequency; *public*.

    Returns
    -------
    ndarray, shape (n, m)
        The denoised coefficients, row by row.

    Raises
    ------
    TypeError
        If the law is not a mixture of independent normal laws.

    Notes
    -----
    Given the level v of its group and the mixing node w of its block of noise (variance
    s_w), a coefficient y is N(0, v + s_w) and the posterior mean of its signal is
    v / (v + s_w) * y. The forward-backward recursion computes the posterior law of
    (level, node) for every group exactly; a node is shared by the groups of one block
    of noise. Nothing is sampled: the result is a fixed function of the release.

    The prior odds that there is no signal at all are as small as a rule allows: the
    risk of a zero signal is 0.045 times the noise energy, or the bound where that is
    smaller, whatever the law and the number of coefficients. See `log_odds_of_nothing`.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.denoise import bayesian_average
    >>> from skfuncpriv.noise import SphericalLaplace
    >>> noisy = np.array([[30.0, 1.0, -1.0]])
    >>> bayesian_average(noisy, SphericalLaplace(3), energy_bound=1e4).round(1)
    array([[29.8,  0.5, -0.3]])
    """
    rows = np.asarray(released, dtype=np.float64)
    chain = _chain_of(law, *_facts(energy_bound, n_outputs))
    if chain is None:
        return rows.copy()
    return _in_chunks(rows, lambda chunk: chain.posterior(chunk)[1] * chunk)


def posterior_deviation(
    released: np.ndarray, law: NoiseLaw, energy_bound: float, n_outputs: int = 1
) -> np.ndarray:
    """Return how far signals may be from their posterior means.

    Parameters
    ----------
    released : ndarray, shape (n, m)
        Signal plus noise, one row each, in the order of frequency; already *released*,
        hence public.
    law : NoiseLaw
        The law of the noise; *public*.
    energy_bound : float
        A bound on the squared norm of a signal, in squared units of the coefficients;
        *public*.
    n_outputs : int, default=1
        How many consecutive coefficients share a frequency; *public*.

    Returns
    -------
    ndarray, shape (n, m)
        The standard deviation of the signal behind each coefficient, given its row.

    Raises
    ------
    TypeError
        If the law is not a mixture of independent normal laws.

    Notes
    -----
    With f = v / (v + s_w), as in `bayesian_average`, the signal behind y is
    N(f y, f s_w) given level and node, so that its variance is
    E[f s_w] + y^2 (E[f^2] - E[f]^2), the expectation over the posterior law of both.
    That of the prior is not that of any one signal: how often intervals hold a signal
    has to be measured for the signals that one has in mind.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.denoise import posterior_deviation
    >>> from skfuncpriv.noise import SphericalLaplace
    >>> noisy = np.array([[30.0, 1.0, -1.0]])
    >>> posterior_deviation(noisy, SphericalLaplace(3), energy_bound=1e4).round(1)
    array([[1.8, 1.3, 1. ]])
    """
    rows = np.asarray(released, dtype=np.float64)
    chain = _chain_of(law, *_facts(energy_bound, n_outputs))
    if chain is None:
        return np.broadcast_to(law.std, rows.shape).copy()
    return _in_chunks(rows, lambda chunk: np.sqrt(chain.variances(chunk)))


def _facts(energy_bound: float, n_outputs: int) -> tuple[float, int]:
    return (
        check_positive(energy_bound, "energy_bound"),
        check_count(n_outputs, "n_outputs"),
    )


@lru_cache(maxsize=8)
def _chain_of(law: NoiseLaw, energy_bound: float, n_outputs: int) -> Chain | None:
    """The prior that goes with public facts; None where noise is negligible."""
    if np.square(law.std).max() <= _NEGLIGIBLE * energy_bound:
        normal_mixtures(law)  # laws that no denoiser knows are refused all the same
        return None
    log_odds = log_odds_of_nothing(law, energy_bound, n_outputs)
    return Chain(law, energy_bound, n_outputs, log_odds)


def _in_chunks(
    rows: np.ndarray, answer: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Answer for few rows at a time: tables over levels and nodes are large."""
    result = np.empty_like(rows)
    for start in range(0, len(rows), _CHUNK_ROWS):
        chunk = rows[start : start + _CHUNK_ROWS]
        result[start : start + len(chunk)] = answer(chunk)
    return result


@lru_cache(maxsize=256)
def log_odds_of_nothing(law: NoiseLaw, energy_bound: float, n_outputs: int) -> float:
    """The logarithm of the prior odds that there is no signal at all.

    With posterior odds L / o of a signal to nothing, L the ratio of the densities of a
    release, the estimate is L / (L + o) times m, the estimate of who is sure of a
    signal. So the risk of a zero signal is E (L / (L + o))^2 norm(m)^2, which falls in
    o; o is where it meets the rule. The expectation is over noise alone, and so often
    decided by rare releases: draws are taken from noise alone and, as many, from
    signals of the prior with noise, and have the weight 2 / (1 + L). They are public
    and fixed.
    """
    chain = Chain(law, energy_bound, n_outputs, -np.inf)
    n_draws = min(_MOST_DRAWS, 64 + 8 * _MOST_DRAWS // law.size)
    rows = law.sample(2 * n_draws, SeededBits(0, purpose=3))
    rows[n_draws:] += chain.sample(n_draws)
    starts = range(0, len(rows), _CHUNK_ROWS)  # tables that fit in a cache
    parts = [chain.posterior(rows[start : start + _CHUNK_ROWS]) for start in starts]
    density, factors = (np.concatenate(part) for part in zip(*parts, strict=True))
    likely = density - _log_density(rows, normal_mixtures(law))
    square = np.sum((factors * rows) ** 2, axis=1)
    cost = 2 * expit(-likely) * square
    limit = _ZERO_RISK * min(law.expected_square, energy_bound)
    low, high = _FEWEST_ODDS, _MOST_ODDS
    for _ in range(50):
        middle = (low + high) / 2
        if np.mean(cost * expit(likely - middle) ** 2) > limit:
            low = middle
        else:
            high = middle
    return high


def _log_density(rows: np.ndarray, blocks: list[NormalMixture]) -> np.ndarray:
    """Log densities of noise alone, up to the constant of `_Tied.log_evidence`."""
    total = np.zeros(len(rows))
    for block in blocks:
        square = (
            np.square(rows[:, block.start : block.stop]) @ (0.5 / block.variances).T
        )
        constant = block.log_weights - 0.5 * np.log(block.variances).sum(axis=1)
        total += np.logaddexp.reduce(constant - square, axis=1)
    return total
