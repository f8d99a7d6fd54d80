"""Random bits that can be made again by whoever holds a secret: for lost partitions."""

from __future__ import annotations

import hashlib
import os
from typing import Any

import numpy as np

from ._bits import RandomBits, SeededBits, Words, random_bits

_SECRET_BYTES = 32
_DOMAIN = b"skfuncpriv keyed bits 1\0"


class KeyedBits(RandomBits):
    """Words that depend on a secret, on a place and on the data at that place.

    A scheduler may compute a partition twice. Fresh noise would then be a second
    release that nobody paid for, and its mean with the first one has less noise. These
    bits are the same again for the same place and the same data.

    Parameters
    ----------
    secret : bytes
        Of 32 bytes or more, *private*: whoever holds it can subtract the noise.
    seeded : bool, default=False
        *Public.* Whether the secret comes from a seed; `fresh` draws it from the
        operating system.

    Notes
    -----
    *Stream.* Call number i of `words` returns the first bytes of
    SHAKE-256(domain, secret, path, i), each part of fixed length or with its length
    before it, so that no two inputs are alike. SHAKE-256 with a secret in front is a
    pseudorandom function: nobody who lacks the secret tells its outputs from
    independent uniform words with less than about 2^128 work. The noise is as private
    as that, a computational assumption where the operating system's generator makes the
    same one.

    *Data.* `bound_to` puts a digest of the data into the path. If data changed between
    two computations of a partition, equal noise on both would reveal their exact
    difference; independent noise makes them two releases, of which one is not paid for.
    `mark` tells whether data are those that were paid for.

    The secret is part of pickles, which have to carry it to other processes: they are
    as private as the rows. It is in no `repr`.

    References
    ----------
    .. [1] NIST FIPS 202, "SHA-3 standard: permutation-based hash and
       extendable-output functions" (2015).

    Examples
    --------
    >>> from skfuncpriv.noise import KeyedBits
    >>> bits = KeyedBits.fresh()
    >>> first, again, other = bits.spawn(3), bits.spawn(3), bits.spawn(4)
    >>> bool((first.words(4) == again.words(4)).all())
    True
    """

    def __init__(self, secret: bytes, seeded: bool = False) -> None:
        if not isinstance(secret, bytes) or len(secret) < _SECRET_BYTES:
            raise ValueError("secret must be at least 32 bytes")  # and is never quoted
        self.seeded = seeded
        self._prefix = _DOMAIN + _framed(secret)
        self._calls = 0

    @classmethod
    def fresh(cls, random_state: Any = None, purpose: int = 0) -> KeyedBits:
        """Draw a secret.

        Parameters
        ----------
        random_state : None, int or numpy.random.RandomState
            *Public.* None takes the secret from the operating system; of anything else
            it is a function, and the bits are seeded.
        purpose : int, default=0
            *Public.* Secrets of one seed for different purposes are independent.

        Returns
        -------
        KeyedBits
            The source.
        """
        source = random_bits(random_state, purpose)
        if isinstance(source, SeededBits):
            return cls(source.words(_SECRET_BYTES // 8).tobytes(), seeded=True)
        return cls(os.urandom(_SECRET_BYTES))

    def words(self, count: int) -> Words:
        call = self._calls.to_bytes(8, "little")
        self._calls += 1
        digest = hashlib.shake_256(self._prefix + call).digest(8 * count)
        return np.frombuffer(digest, dtype=np.uint64)

    def spawn(self, index: int) -> KeyedBits:
        """Return the source of one place; equal places have equal words."""
        return self._child(b"place", int(index).to_bytes(8, "little"))

    def bound_to(self, data: Any) -> KeyedBits:
        """Return the source for these data at this place.

        Parameters
        ----------
        data : array-like
            *Private* numbers.

        Returns
        -------
        KeyedBits
            Equal words for equal data, bit by bit, of equal shape.
        """
        array = np.ascontiguousarray(data)
        digest = hashlib.blake2b(digest_size=32)
        digest.update(_framed(repr((array.shape, array.dtype.str)).encode()))
        if array.size:
            digest.update(array.reshape(-1).data.cast("B"))
        return self._child(b"data", digest.digest())

    def mark(self) -> bytes:
        """Return what tells this place and its data from all others.

        Returns
        -------
        bytes
            32 of them, independent of all words; without the secret they say nothing of
            the data, but whether they are the same again.
        """
        prefix = self._child(b"mark", b"")._prefix
        return hashlib.shake_256(prefix).digest(_SECRET_BYTES)

    def _child(self, kind: bytes, name: bytes) -> KeyedBits:
        child = object.__new__(type(self))
        child.seeded = self.seeded
        child._prefix = self._prefix + _framed(kind) + _framed(name)
        child._calls = 0
        return child

    def __repr__(self) -> str:
        return f"{type(self).__name__}(secret=<hidden>, seeded={self.seeded})"


def _framed(part: bytes) -> bytes:
    return len(part).to_bytes(8, "little") + part
