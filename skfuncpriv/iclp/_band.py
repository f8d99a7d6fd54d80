"""The factor of a simultaneous band: how far noise strays in units of its deviation."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..noise import RandomBits, SeededBits

_N_DRAWS = 4000
_CHUNK_VALUES = 1 << 20


def band_factor(
    sample: Callable[[int, RandomBits], np.ndarray], std: np.ndarray, level: float
) -> float:
    """The level-quantile of the largest ratio of a noise curve to its deviation.

    Simulated from a fixed public stream, so that equal laws have equal bands; the
    order statistic is the one that makes the level exact on average.
    """
    bits = SeededBits(0, purpose=2)
    step = max(1, _CHUNK_VALUES // std.size)
    peaks = []
    for start in range(0, _N_DRAWS, step):
        draws = np.abs(sample(min(step, _N_DRAWS - start), bits))
        ratio = np.divide(draws, std, out=np.zeros_like(draws), where=std > 0)
        peaks.append(ratio.reshape(len(draws), -1).max(axis=1))
    rank = min(_N_DRAWS, math.ceil((_N_DRAWS + 1) * level))
    return float(np.sort(np.concatenate(peaks))[rank - 1])
