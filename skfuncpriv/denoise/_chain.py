"""The prior of `bayesian_average`: a Markov chain of variance levels along frequency.

The forward-backward recursion computes the posterior law of the level and of the mixing
node of the noise for every group of coefficients, and with it the moments of signals.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.special import expit, ndtr

from ..noise import IndependentGaussian, NoiseLaw, SeededBits
from ._mixture import NormalMixture, normal_mixtures

_STOP = 0.05  # that a spectrum ends after a group
_START = 0.01  # smallest level of the first group, as a share of the bound
_FALL, _RISE = 0.35, 1.5  # odds of a step down or up: exp(-rate * |log ratio|)
_RATIO = 2.5  # between neighbouring levels
_LOWEST = 0.1  # lowest positive level, as a share of the noise variance

Moments = list[np.ndarray]


class Chain:
    """The hidden Markov chain of levels for one law of noise."""

    def __init__(
        self, law: NoiseLaw, energy_bound: float, n_outputs: int, log_odds: float
    ) -> None:
        noise = float(np.square(law.std).min())
        self._levels = _levels(noise, energy_bound)
        self._step = _steps(self._levels)
        with np.errstate(divide="ignore"):
            self._log_first = np.log(_first(self._levels, energy_bound, log_odds))
        blocks = normal_mixtures(law)
        if all(block.stop - block.start == 1 for block in blocks):
            self._edges = _group_edges(law.size, n_outputs, [])
            self._groups = [
                _Free(blocks[start:stop], self._levels)
                for start, stop in pairwise(self._edges)
            ]
        else:
            ends = [block.stop for block in blocks]
            self._edges = _group_edges(law.size, n_outputs, ends)
            self._groups = [
                _Tied(_block_of(blocks, start), start, stop, self._levels)
                for start, stop in pairwise(self._edges)
            ]

    def sample(self, n_rows: int) -> np.ndarray:
        """Signals of the prior, from a fixed public stream, shape (n_rows, size)."""
        n_groups, size = len(self._groups), self._edges[-1]
        normal = IndependentGaussian((1.0,) * (size + n_groups))
        draws = normal.sample(n_rows, SeededBits(0, purpose=4))
        signals, choices = draws[:, :size], ndtr(draws[:, size:])
        law = np.broadcast_to(np.exp(self._log_first), (n_rows, len(self._levels)))
        for k, (start, stop) in enumerate(pairwise(self._edges)):
            below = np.cumsum(law, axis=1) < choices[:, k : k + 1]
            level = np.minimum(below.sum(axis=1), len(self._levels) - 1)
            signals[:, start:stop] *= np.sqrt(self._levels[level])[:, None]
            law = self._step[level]
        return signals

    def posterior(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log densities of releases, up to a constant, and posterior mean factors."""
        density, (factors,) = self._moments(rows, "factors")
        return density, factors

    def variances(self, rows: np.ndarray) -> np.ndarray:
        """The posterior variance of every signal, shape of `rows`."""
        mean, square, within = self._moments(rows, "variances")[1]
        return within + np.square(rows) * np.maximum(square - mean**2, 0.0)

    def _moments(self, rows: np.ndarray, kind: str) -> tuple[np.ndarray, Moments]:
        """Log densities of releases, and posterior means, each of the shape of rows."""
        pairs = [group.read(rows, kind) for group in self._groups]
        evidence, tables = zip(*pairs, strict=True)
        density, laws = self._laws(evidence)
        triples = zip(self._groups, laws, tables, strict=True)
        means = [group.average(law, given) for group, law, given in triples]
        wholes = zip(*means, strict=True)
        return density, [np.concatenate(parts, axis=1) for parts in wholes]

    def _laws(self, evidence: Sequence[np.ndarray]) -> tuple[np.ndarray, Moments]:
        """Log densities of releases, and the posterior laws of (level, node)."""
        forward = self._forward(evidence)
        laws = [np.empty(0)] * len(evidence)
        after = np.zeros_like(forward[-1])
        for k in reversed(range(len(evidence))):
            laws[k] = _normalised(forward[k] + after)
            if k:
                after = self._before(after + evidence[k], k)
        return np.logaddexp.reduce(forward[-1], axis=(1, 2)), laws

    def _forward(self, evidence: Sequence[np.ndarray]) -> Moments:
        """Log laws of (level, node) given the groups so far, (n, levels, nodes)."""
        laws: list[np.ndarray] = []
        for k, likely in enumerate(evidence):
            weights = np.log(self._groups[k].weights)
            if k == 0:
                prior = self._log_first[:, None] + weights
            elif self._groups[k].continues:
                prior = _step_on(self._step, laws[-1])
            else:
                level = np.logaddexp.reduce(laws[-1], axis=2, keepdims=True)
                prior = _step_on(self._step, level) + weights
            laws.append(prior + likely)
        return laws

    def _before(self, after: np.ndarray, k: int) -> np.ndarray:
        """Carry a backward log message across the step into group k."""
        if not self._groups[k].continues:
            weights = np.log(self._groups[k].weights)
            after = np.logaddexp.reduce(after + weights, axis=2, keepdims=True)
        return _step_back(self._step, after)


def _step_on(step: np.ndarray, law: np.ndarray) -> np.ndarray:
    """Carry a log law of shape (n, levels, nodes) one group on.

    Positive levels are summed beside their largest: no step between them is so rare
    that a level which underflows there could matter. Zero, which is never left, may be
    any number of orders away and has its logarithm added.
    """
    peak = law[:, 1:].max(axis=1, keepdims=True)
    result = np.log(step[1:].T @ np.exp(law[:, 1:] - peak))
    result += peak
    result[:, 0] = np.logaddexp(result[:, 0], law[:, 0])
    return result


def _step_back(step: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Carry a log message of shape (n, levels, nodes) one group back.

    Zero comes from zero alone; every positive level may end there, so that what
    underflows beside the largest message cannot matter.
    """
    peak = after.max(axis=1, keepdims=True)
    result = np.empty_like(after)
    result[:, 1:] = np.log(step[1:] @ np.exp(after - peak)) + peak
    result[:, 0] = after[:, 0]
    return result


def _normalised(law: np.ndarray) -> np.ndarray:
    law = np.exp(law - law.max(axis=(1, 2), keepdims=True))
    return law / law.sum(axis=(1, 2), keepdims=True)


class _Tied:
    """A group whose coefficients share the mixing node of one block of noise."""

    def __init__(
        self, block: NormalMixture, start: int, stop: int, levels: np.ndarray
    ) -> None:
        self._columns = slice(start, stop)
        self.continues = start > block.start
        self.weights = np.exp(block.log_weights)
        inside = slice(start - block.start, stop - block.start)
        noise = block.variances[:, inside]
        total = levels[:, None, None] + noise
        self._shape = total.shape[:2]
        self._precision = (0.5 / total).reshape(-1, stop - start).T
        self._constant = 0.5 * np.log(total).sum(axis=2)
        # One less the factor: the factor itself loses digits where it is near one.
        factors, missing = levels[:, None, None] / total, noise / total
        tables = {
            "factors": [factors],
            "variances": [missing, missing**2, factors * noise],
        }
        self._tables = {
            kind: [table.reshape(-1, stop - start) for table in of_kind]
            for kind, of_kind in tables.items()
        }

    def read(self, rows: np.ndarray, kind: str) -> tuple[np.ndarray, Moments]:
        """Log densities given level and node, up to a constant; moments given them."""
        distance = np.square(rows[:, self._columns]) @ self._precision
        evidence = -self._constant - distance.reshape(-1, *self._shape)
        return evidence, self._tables[kind]

    def by_level(self, rows: np.ndarray, kind: str) -> tuple[np.ndarray, Moments]:
        """Log densities and moments of one coefficient given the level alone.

        Levels are kept apart: next to the likeliest one, others underflow together.
        """
        logarithm, tables = self.read(rows, kind)
        peak = logarithm.max(axis=2, keepdims=True)
        odds = np.exp(logarithm - peak)
        total = odds @ self.weights
        weighted = [table.reshape(self._shape) * self.weights for table in tables]
        means = [np.einsum("nlk,lk->nl", odds, table) / total for table in weighted]
        return np.log(total) + peak[:, :, 0], means

    @staticmethod
    def average(law: np.ndarray, tables: Moments) -> Moments:
        """Posterior means, each of shape (n, group size)."""
        return [law.reshape(len(law), -1) @ table for table in tables]


class _Free:
    """A group of coefficients each of which has a mixing node of its own."""

    continues = False
    weights = np.ones(1)

    def __init__(self, blocks: list[NormalMixture], levels: np.ndarray) -> None:
        self._members = [_Tied(b, b.start, b.stop, levels) for b in blocks]

    def read(self, rows: np.ndarray, kind: str) -> tuple[np.ndarray, Moments]:
        """Log densities given the level, and moments given it, nodes averaged out."""
        pairs = [member.by_level(rows, kind) for member in self._members]
        evidence, means = zip(*pairs, strict=True)
        tables = [np.stack(table, axis=2) for table in zip(*means, strict=True)]
        return np.sum(evidence, axis=0)[:, :, None], tables

    @staticmethod
    def average(law: np.ndarray, tables: Moments) -> Moments:
        """Posterior means, each of shape (n, group size)."""
        return [np.einsum("nl,nls->ns", law[:, :, 0], table) for table in tables]


def _levels(noise: float, energy_bound: float) -> np.ndarray:
    """Zero, and variances from below the noise to the bound."""
    lowest = min(_LOWEST * noise, 0.05 * energy_bound)
    count = int(np.ceil(np.log(energy_bound / lowest) / np.log(_RATIO))) + 1
    return np.concatenate([[0.0], np.geomspace(lowest, energy_bound, min(count, 40))])


def _steps(levels: np.ndarray) -> np.ndarray:
    """The matrix of the chain's steps, from rows to columns."""
    logarithm = np.log(levels[1:])
    change = logarithm[None, :] - logarithm[:, None]
    odds = np.exp(np.where(change <= 0, _FALL * change, -_RISE * change))
    step = np.zeros((len(levels), len(levels)))
    step[0, 0] = 1.0
    step[1:, 0] = _STOP
    step[1:, 1:] = (1 - _STOP) * odds / odds.sum(axis=1, keepdims=True)
    return step


def _first(levels: np.ndarray, energy_bound: float, log_odds: float) -> np.ndarray:
    """The law of the first level; zero there means no signal at all."""
    first = np.where(levels >= _START * energy_bound, 1.0, 0.0)
    first *= expit(-log_odds) / first.sum()
    first[0] = expit(log_odds)
    return first


def _group_edges(size: int, n_outputs: int, block_ends: list[int]) -> list[int]:
    """Where groups begin and end: at 1, 2, 3, 4, 6, 8, 12, ... and at block ends."""
    ranks, k = [0, 1, 2, 3], 4
    while k * n_outputs < size:
        ranks += [k, k + k // 2]
        k *= 2
    edges = {rank * n_outputs for rank in ranks if rank * n_outputs < size}
    return sorted(edges | set(block_ends) | {size})


def _block_of(blocks: list[NormalMixture], column: int) -> NormalMixture:
    return next(block for block in blocks if block.start <= column < block.stop)
