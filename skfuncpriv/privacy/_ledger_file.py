"""The SQLite file behind a budget ledger.

One table holds the budget, one the entries: charges with the exact total after each,
and scopes. Every entry carries the SHA-256 of its content, of the entry before it and
of what is then spent by scope, which a third table holds as of the last one; so damage
is noticed before a number is trusted. Connections are opened per call and closed at
once: nothing is kept that a pickle, a fork or another thread could share.

Readers are given this file, so it must not be a stopwatch: how long the work between
two entries took depends on private counts. An entry has its day and nothing finer.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from ..exceptions import PrivacyError
from ._guarantee import PrivacyGuarantee
from ._ledger_identity import Mark
from ._ledger_state import LedgerState, amount_fields, parse_state, state_text

_APPLICATION = 0x736B6670  # "skfp"
_VERSION = 4
_BUSY_SECONDS = 120.0
_LARGEST_INTEGER = 2**63 - 1

# What reading a file can raise that is no ledger, or no longer.
_DAMAGE = (
    sqlite3.Error,
    ArithmeticError,
    AttributeError,
    KeyError,
    TypeError,
    ValueError,
)

# SQLite must not be in use while a process forks (its locks would be copied), and
# threads that wait here take turns instead of polling the file.
_ONE_AT_A_TIME = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_ONE_AT_A_TIME.acquire,
        after_in_parent=_ONE_AT_A_TIME.release,
        after_in_child=_ONE_AT_A_TIME.release,
    )


@dataclass(frozen=True)
class LedgerRecord:
    """One charge in the history of a :class:`BudgetLedger`.

    Parameters
    ----------
    day : date
        When it was charged by the clock of the machine, in UTC. Nothing finer is kept:
        the time between two charges would tell how long the private work took.
    label : str
        The public label given to ``charge``.
    guarantee : PrivacyGuarantee
        What was charged, each time.
    times : int
        How often it was charged at once.
    scope : str, default=""
        The scope or part that was charged with the total; empty for the total alone.

    Examples
    --------
    >>> import tempfile
    >>> from skfuncpriv.privacy import BudgetLedger, PrivacyGuarantee
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = BudgetLedger(f"{folder}/budget.db", epsilon=1.0)
    ...     ledger.charge(PrivacyGuarantee(definition="pure-dp", epsilon=0.5), "mean")
    ...     print(ledger.history()[0].label)
    mean
    """

    day: date
    label: str
    guarantee: PrivacyGuarantee
    times: int
    scope: str = ""


@dataclass(frozen=True)
class Contents:
    """The state of a ledger, its public name, and where its chain of entries ends."""

    state: LedgerState
    name: str
    mark: Mark


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write, inside one snapshot.

    A process killed while it charged leaves a journal that must be rolled back before
    anyone can read, which takes a connection that can write. No other file is changed.
    """
    with ExitStack() as stack:
        try:
            database = stack.enter_context(_snapshot(path))
        except PrivacyError as error:
            if not _is_interrupted(error.__cause__):
                raise
            _roll_back(path)
            database = stack.enter_context(_snapshot(path))
        yield database


@contextmanager
def writing(path: Path, *, create: bool = False) -> Iterator[sqlite3.Connection]:
    """A transaction of the only writer; committed and on the disk when it ends well."""
    with _connection(path, "rwc" if create else "rw") as database:
        # EXTRA is FULL that also syncs the folder once the journal is gone: otherwise a
        # power cut just after a charge could bring the journal back and undo it.
        database.execute("PRAGMA synchronous = EXTRA")
        database.execute("BEGIN IMMEDIATE")
        try:
            yield database
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise


def is_empty(database: sqlite3.Connection) -> bool:
    """Whether the file holds nothing yet."""
    (tables,) = database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return bool(tables == 0)


def create_tables(
    database: sqlite3.Connection, budget: PrivacyGuarantee, name: str
) -> None:
    """Write the budget into an empty file, under an id of its own."""
    database.execute(f"PRAGMA application_id = {_APPLICATION}")
    database.execute(f"PRAGMA user_version = {_VERSION}")
    database.execute(
        "CREATE TABLE budget (ledger TEXT, name TEXT, guarantee TEXT, digest TEXT)"
    )
    database.execute(
        "CREATE TABLE entries (id INTEGER PRIMARY KEY, kind TEXT, content TEXT, "
        "state TEXT, digest TEXT)"
    )
    database.execute("CREATE TABLE state (content TEXT)")
    content = [secrets.token_hex(16), name, guarantee_text(budget)]
    row = (*content, _digest("", *content))
    database.execute("INSERT INTO budget VALUES (?, ?, ?, ?)", row)
    database.execute("INSERT INTO state VALUES (?)", (state_text(LedgerState(budget)),))


def check_pages(database: sqlite3.Connection) -> None:
    """Refuse a file whose pages SQLite finds inconsistent."""
    (answer,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if answer != "ok":
        raise sqlite3.DatabaseError("its pages are damaged")


def read_contents(database: sqlite3.Connection) -> Contents:
    """The state after the last entry, verified."""
    ledger, name, budget_text, digest = _read_budget(database)
    budget = parse_guarantee(budget_text)
    ((text,),) = database.execute("SELECT content FROM state")
    last_two = database.execute(
        "SELECT id, kind, content, state, digest FROM entries ORDER BY id DESC LIMIT 2"
    ).fetchall()
    if not last_two:
        if text != state_text(LedgerState(budget)):
            raise sqlite3.DatabaseError("its content is damaged")
        return Contents(LedgerState(budget), name, Mark(ledger, 0, digest))
    before = last_two[1][-1] if len(last_two) == 2 else digest
    *content, digest = last_two[0]
    _verify(before, content, digest)
    if content[-1] != _digest("", text):
        raise sqlite3.DatabaseError("its content is damaged")
    mark = Mark(ledger, content[0], digest)
    return Contents(parse_state(budget, text), name, mark)


def append_charge(
    database: sqlite3.Connection,
    before: Contents,
    record: LedgerRecord,
    after: LedgerState,
) -> Mark:
    """Write one charge and the exact total after it."""
    fields = {
        "day": record.day.isoformat(),
        "label": record.label,
        "times": record.times,
        "guarantee": record.guarantee.to_dict(),
        "scope": record.scope,
        "spent": amount_fields(after.total.spent),
    }
    return _append(database, before, "charge", fields, after)


def append_scope(
    database: sqlite3.Connection, before: Contents, name: str, after: LedgerState
) -> Mark:
    """Write that a scope or a partition was added."""
    fields = {"day": today().isoformat(), "scope": name}
    return _append(database, before, "scope", fields, after)


def read_records(database: sqlite3.Connection) -> list[LedgerRecord]:
    """Every charge, oldest first, the whole chain verified."""
    *_, before = _read_budget(database)
    records = []
    for *content, digest in database.execute(
        "SELECT id, kind, content, state, digest FROM entries ORDER BY id"
    ):
        _verify(before, content, digest)
        _, kind, text, _ = content
        if kind == "charge":
            fields = json.loads(text)
            records.append(
                LedgerRecord(
                    date.fromisoformat(fields["day"]),
                    fields["label"],
                    PrivacyGuarantee.from_dict(fields["guarantee"]),
                    fields["times"],
                    fields["scope"],
                )
            )
        before = digest
    return records


def check_times(times: int) -> None:
    """Refuse a number of charges that the file cannot hold."""
    if times > _LARGEST_INTEGER:
        raise ValueError("times must be at most 2**63 - 1: the file holds no more")


def guarantee_text(guarantee: PrivacyGuarantee) -> str:
    """A guarantee as the file holds it."""
    return json.dumps(guarantee.to_dict())


def parse_guarantee(text: str) -> PrivacyGuarantee:
    """The guarantee that the file holds, with every check of its constructor."""
    return PrivacyGuarantee.from_dict(json.loads(text))


def today() -> date:
    """The day by the clock of the machine, in UTC; a time would be a stopwatch."""
    return datetime.now(UTC).date()


@contextmanager
def _snapshot(path: Path) -> Iterator[sqlite3.Connection]:
    with _connection(path, "ro") as database:
        database.execute("BEGIN")
        # The snapshot, and any trouble with a journal, begins with the first read.
        database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        yield database


def _is_interrupted(error: BaseException | None) -> bool:
    """Whether reading failed because a killed writer left its journal."""
    return (
        isinstance(error, sqlite3.Error)
        and getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY_ROLLBACK
    )


def _roll_back(path: Path) -> None:
    """Undo the unfinished transaction of a killed writer: SQLite does it on locking."""
    with _connection(path, "rw") as database:
        database.execute("PRAGMA synchronous = EXTRA")
        database.execute("BEGIN IMMEDIATE")
        database.execute("ROLLBACK")


@contextmanager
def _connection(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    if mode != "rwc" and not path.exists():
        raise PrivacyError(
            f"there is no ledger at {str(path)!r}; create it with "
            "BudgetLedger(path, epsilon=...)"
        )
    try:
        with (
            _ONE_AT_A_TIME,
            closing(
                sqlite3.connect(
                    f"{path.as_uri()}?mode={mode}",
                    uri=True,
                    timeout=_BUSY_SECONDS,
                    isolation_level=None,
                )
            ) as database,
        ):
            yield database
    except PrivacyError:
        raise
    except _DAMAGE as error:
        raise PrivacyError(
            f"the ledger at {str(path)!r} cannot be used, so nothing may be released: "
            f"{error}"
        ) from error


def _read_budget(database: sqlite3.Connection) -> tuple[str, str, str, str]:
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if (application, version) != (_APPLICATION, _VERSION):
        raise sqlite3.DatabaseError("it is not a ledger of this version of skfuncpriv")
    ((*content, digest),) = database.execute(
        "SELECT ledger, name, guarantee, digest FROM budget"
    )
    _verify("", content, digest)
    return content[0], content[1], content[2], digest


def _append(
    database: sqlite3.Connection,
    before: Contents,
    kind: str,
    fields: dict[str, Any],
    after: LedgerState,
) -> Mark:
    """Write an entry and the state after it."""
    text = state_text(after)
    number = before.mark.number + 1
    content = [number, kind, json.dumps(fields), _digest("", text)]
    digest = _digest(before.mark.digest, *content)
    database.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", (*content, digest))
    database.execute("UPDATE state SET content = ?", (text,))
    return Mark(before.mark.ledger, number, digest)


def _verify(before: str, content: list[object], digest: str) -> None:
    if _digest(before, *content) != digest:
        raise sqlite3.DatabaseError("its content is damaged")


def _digest(before: str, *content: object) -> str:
    text = json.dumps([before, *content])
    return hashlib.sha256(text.encode()).hexdigest()
