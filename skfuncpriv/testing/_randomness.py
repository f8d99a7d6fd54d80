"""How much randomness was taken, and which words."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from ..noise import OperatingSystemBits, SeededBits

PUBLIC_STREAMS = (2, 3, 4, 5)  # bands, denoisers, their priors, noise of covariances
NOTHING = {"system": 0, "seeded": 0}


@contextmanager
def counted_randomness() -> Iterator[dict[str, int]]:
    """How many bytes are taken from the operating system, how many seeded words.

    Those of the fixed streams by which public laws are simulated are no randomness.
    """
    counts = dict(NOTHING)
    urandom, words = os.urandom, SeededBits.words

    def system(size: int) -> bytes:
        counts["system"] += size
        return urandom(size)

    def seeded(bits: SeededBits, count: int) -> Any:
        seed, purpose = bits._seed
        if seed or purpose not in PUBLIC_STREAMS:
            counts["seeded"] += count
        return words(bits, count)

    with (
        mock.patch.object(os, "urandom", system),
        mock.patch.object(SeededBits, "words", seeded),
    ):
        yield counts


@contextmanager
def noted_words() -> Iterator[list[Any]]:
    """Collect the random words that are drawn in this context."""
    drawn: list[Any] = []

    def noted(original: Any) -> Any:
        def words(bits: Any, count: int) -> Any:
            fresh = original(bits, count)
            drawn.append(np.array(fresh))
            return fresh

        return words

    with (
        mock.patch.object(SeededBits, "words", noted(SeededBits.words)),
        mock.patch.object(
            OperatingSystemBits, "words", noted(OperatingSystemBits.words)
        ),
    ):
        yield drawn
