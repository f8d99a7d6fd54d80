"""One ledger is one ledger: a file that was swapped or rolled back is noticed.

Each file holds a random id, and a chain of digests with a place for every entry. Who
has seen a place of the chain, an open ledger or this process, knows that the file at
the same path must hold it for ever.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from ..exceptions import PrivacyError


@dataclass(frozen=True)
class Mark:
    """A place in the chain of one ledger: all entries up to the one numbered here."""

    ledger: str
    number: int
    digest: str


_SEEN: dict[Path, Mark] = {}  # by this process


def check_same(
    database: sqlite3.Connection, path: Path, now: Mark, own: Mark | None
) -> None:
    """Refuse a file that is not the one seen before, or that forgot an entry."""
    for seen in (own, _SEEN.get(path)):
        if seen is None:
            continue
        if seen.ledger != now.ledger:
            raise PrivacyError(
                f"the file at {str(path)!r} is not the ledger that was open: another "
                "one took its place. Give each ledger a path of its own; if this was "
                "meant, open it in a new process"
            )
        if _digest_at(database, seen.number, now) != seen.digest:
            raise PrivacyError(
                f"the ledger at {str(path)!r} has lost charges that were made: it was "
                "replaced by an older copy. Bring back the newest one"
            )


def check_not_emptied(path: Path) -> None:
    """Refuse to create a ledger in the empty file that is left of one that was open."""
    if path in _SEEN:
        raise PrivacyError(
            f"the ledger at {str(path)!r} was emptied; bring back the newest copy"
        )


def remember(path: Path, mark: Mark) -> None:
    """Note what this process has seen."""
    seen = _SEEN.get(path)
    if seen is None or (seen.ledger == mark.ledger and seen.number < mark.number):
        _SEEN[path] = mark


def forget(path: Path) -> None:
    """A new ledger was created at the path."""
    _SEEN.pop(path, None)


def _digest_at(database: sqlite3.Connection, number: int, now: Mark) -> str | None:
    """The digest at a place of the chain, None if the chain does not reach it."""
    if number == now.number:
        return now.digest
    if number == 0:
        rows = database.execute("SELECT digest FROM budget")
    else:
        rows = database.execute("SELECT digest FROM entries WHERE id = ?", (number,))
    row = rows.fetchone()
    return None if row is None else row[0]
