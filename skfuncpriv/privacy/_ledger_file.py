"""The SQLite file behind a budget ledger.

One table holds the budget, one the charges with the exact total after each. Every row
carries the SHA-256 of its content and of the row before it, so that a damaged total is
noticed before it is trusted. Connections are opened per call and closed at once:
nothing is kept that a pickle, a fork or another thread could share.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from ..exceptions import PrivacyError
from ._amount import Amount
from ._guarantee import PrivacyGuarantee

_APPLICATION = 0x736B6670  # "skfp"
_VERSION = 2
_BUSY_SECONDS = 120.0
_LARGEST_INTEGER = 2**63 - 1

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
    time : datetime
        When it was charged by the clock of the machine, in UTC.
    label : str
        The public label given to ``charge``.
    guarantee : PrivacyGuarantee
        What was charged, each time.
    times : int
        How often it was charged at once.

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

    time: datetime
    label: str
    guarantee: PrivacyGuarantee
    times: int


@dataclass(frozen=True)
class LedgerState:
    """The budget, what is spent of it, and the digest the next charge builds on."""

    budget: PrivacyGuarantee
    digest: str
    spent: Amount = field(default_factory=Amount)
    seeded: bool = False
    distance_error: float = 0.0


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


def create_tables(database: sqlite3.Connection, budget: PrivacyGuarantee) -> None:
    """Write the budget into an empty file."""
    database.execute(f"PRAGMA application_id = {_APPLICATION}")
    database.execute(f"PRAGMA user_version = {_VERSION}")
    database.execute("CREATE TABLE budget (guarantee TEXT, digest TEXT)")
    database.execute(
        "CREATE TABLE charges (id INTEGER PRIMARY KEY, time TEXT, label TEXT, "
        "times INTEGER, guarantee TEXT, spent TEXT, digest TEXT)"
    )
    text = guarantee_text(budget)
    database.execute("INSERT INTO budget VALUES (?, ?)", (text, _digest("", text)))


def check_pages(database: sqlite3.Connection) -> None:
    """Refuse a file whose pages SQLite finds inconsistent."""
    (answer,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if answer != "ok":
        raise sqlite3.DatabaseError("its pages are damaged")


def read_state(database: sqlite3.Connection) -> LedgerState:
    """The budget and the total after the last charge, verified."""
    budget_text, digest = _read_budget(database)
    budget = parse_guarantee(budget_text)
    last_two = database.execute(
        "SELECT time, label, times, guarantee, spent, digest FROM charges "
        "ORDER BY id DESC LIMIT 2"
    ).fetchall()
    if not last_two:
        return LedgerState(budget, digest)
    before = last_two[1][-1] if len(last_two) == 2 else digest
    *content, digest = last_two[0]
    _verify(before, content, digest)
    return LedgerState(budget, digest, *_parse_spent(content[-1]))


def append_charge(
    database: sqlite3.Connection,
    before: LedgerState,
    record: LedgerRecord,
    spent: Amount,
) -> None:
    """Write one charge and the total after it."""
    content = [
        record.time.isoformat(),
        record.label,
        record.times,
        guarantee_text(record.guarantee),
        json.dumps(
            {
                "epsilon": str(spent.epsilon),
                "delta": str(spent.delta),
                "rho": str(spent.rho),
                "seeded": before.seeded or record.guarantee.seeded,
                "distance_error": max(
                    before.distance_error, record.guarantee.distance_error
                ),
            }
        ),
    ]
    database.execute(
        "INSERT INTO charges (time, label, times, guarantee, spent, digest) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (*content, _digest(before.digest, *content)),
    )


def read_records(database: sqlite3.Connection) -> list[LedgerRecord]:
    """Every charge, oldest first, the whole chain verified."""
    _, before = _read_budget(database)
    records = []
    for *content, digest in database.execute(
        "SELECT time, label, times, guarantee, spent, digest FROM charges ORDER BY id"
    ):
        _verify(before, content, digest)
        time, label, times, guarantee, _ = content
        records.append(
            LedgerRecord(
                datetime.fromisoformat(time),
                label,
                parse_guarantee(guarantee),
                times,
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


def now() -> datetime:
    """The clock of the machine, in UTC."""
    return datetime.now(UTC)


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
    except (sqlite3.Error, ArithmeticError, ValueError, TypeError, KeyError) as error:
        raise PrivacyError(
            f"the ledger at {str(path)!r} cannot be used, so nothing may be released: "
            f"{error}"
        ) from error


def _read_budget(database: sqlite3.Connection) -> tuple[str, str]:
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if (application, version) != (_APPLICATION, _VERSION):
        raise sqlite3.DatabaseError("it is not a ledger of this version of skfuncpriv")
    ((text, digest),) = database.execute("SELECT guarantee, digest FROM budget")
    _verify("", [text], digest)
    return text, digest


def _parse_spent(text: str) -> tuple[Amount, bool, float]:
    fields = json.loads(text)
    amount = Amount(*(Decimal(fields[name]) for name in ("epsilon", "delta", "rho")))
    return amount, fields["seeded"], fields["distance_error"]


def _verify(before: str, content: list[object], digest: str) -> None:
    if _digest(before, *content) != digest:
        raise sqlite3.DatabaseError("its content is damaged")


def _digest(before: str, *content: object) -> str:
    text = json.dumps([before, *content])
    return hashlib.sha256(text.encode()).hexdigest()
