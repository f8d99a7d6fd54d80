"""Random bits: the operating system's by default, seeded ones for tests and teaching.

A source hands out 64-bit words. Which source was used is a public fact that follows
the release: a seeded source marks the guarantee of everything it touches.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]


class RandomBits(ABC):
    """A source of independent, uniform 64-bit words."""

    seeded: bool

    @abstractmethod
    def words(self, count: int) -> Words:
        """Return fresh words; a word is never handed out twice.

        Parameters
        ----------
        count : int
            How many.

        Returns
        -------
        ndarray of uint64, shape (count,)
            Independent and uniform.
        """

    def spawn(self, index: int) -> RandomBits:  # noqa: ARG002
        """Return the source of one of many parallel tasks.

        Parameters
        ----------
        index : int
            The number of the task, from 0; *public*.

        Returns
        -------
        RandomBits
            Independent of those of other tasks. A source that may be shared by
            threads serves them all.
        """
        return self


class OperatingSystemBits(RandomBits):
    """Words from the operating system's cryptographic generator.

    Nothing is buffered between calls, so there is no state to be shared by threads,
    inherited by a forked child or pickled; releases ask for many words at once, which
    makes the cost of the system call vanish.

    Examples
    --------
    >>> from skfuncpriv.noise import OperatingSystemBits
    >>> OperatingSystemBits().words(3).shape
    (3,)
    """

    seeded = False

    def words(self, count: int) -> Words:
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


class SeededBits(RandomBits):
    """Reproducible words from a seed: for tests and teaching, never for releases.

    Whoever knows the seed can subtract the noise, and so can whoever sees two releases
    of one seed; a guarantee made with this source says that it is seeded.

    Parameters
    ----------
    seed : int
        A non-negative integer, *public*.
    purpose : int, default=0
        Streams of one seed for different purposes are independent; *public*.

    Examples
    --------
    >>> from skfuncpriv.noise import SeededBits
    >>> bool((SeededBits(0).words(2) == SeededBits(0).words(2)).all())
    True
    """

    seeded = True

    def __init__(self, seed: int, purpose: int = 0) -> None:
        self._seed = (seed, purpose)
        sequence = np.random.SeedSequence(seed, spawn_key=(purpose,))
        self._generator = np.random.Philox(sequence)

    def words(self, count: int) -> Words:
        return np.asarray(self._generator.random_raw(count), dtype=np.uint64)

    def spawn(self, index: int) -> SeededBits:
        child = SeededBits(*self._seed)
        child._generator = child._generator.jumped(index + 1)  # by 2^128 words each
        return child

    def __reduce__(self) -> Any:
        raise TypeError("a source of random bits cannot be pickled or copied")


def random_bits(random_state: Any = None, purpose: int = 0) -> RandomBits:
    """Choose the source that a `random_state` parameter asks for.

    Parameters
    ----------
    random_state : None, int or numpy.random.RandomState
        *Public.* ``None`` is the operating system, never numpy's global state. An
        integer or a generator (from which one seed is drawn) gives a seeded source.
    purpose : int, default=0
        Which of the independent streams of a seed; the operating system has no need
        of it; *public*.

    Returns
    -------
    RandomBits
        The source; its `seeded` attribute says which kind it is.

    Raises
    ------
    ValueError
        If `random_state` is anything else, or a negative integer.

    Examples
    --------
    >>> from skfuncpriv.noise import random_bits
    >>> random_bits(None).seeded, random_bits(7).seeded
    (False, True)
    """
    if random_state is None:
        return OperatingSystemBits()
    if isinstance(random_state, np.random.RandomState):
        seed = random_state.bytes(16)
        return SeededBits(int.from_bytes(seed, "little"), purpose)
    if isinstance(random_state, np.random.Generator):
        return SeededBits(int.from_bytes(random_state.bytes(16), "little"), purpose)
    if (
        isinstance(random_state, Integral)
        and not isinstance(random_state, bool)
        and int(random_state) >= 0
    ):
        return SeededBits(int(random_state), purpose)
    raise ValueError(
        "random_state must be None (secure), a non-negative integer or a numpy "
        f"generator, got {random_state!r}"
    )
