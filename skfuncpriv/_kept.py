"""Files of rows that a fit keeps while it runs, so that who refuses can remove them.

An exception holds the frames of ``fit``, and they what `fit` has opened, for as long as
somebody holds the exception: in a notebook that is until the next one.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol
from weakref import WeakSet


class Kept(Protocol):
    """What can be closed, more than once."""

    def close(self) -> None:
        """Remove what is kept."""


# Of this thread: another one may be in the middle of a fit of its own.
_KEPT: ContextVar[WeakSet[Kept] | None] = ContextVar("kept", default=None)


def keep(item: Kept) -> None:
    """Note what is to be closed if the fit that opened it is refused."""
    kept = _KEPT.get()
    if kept is None:
        kept = WeakSet()
        _KEPT.set(kept)
    kept.add(item)


def close_kept() -> None:
    """Close all that this thread has open."""
    for item in list(_KEPT.get() or ()):
        item.close()
