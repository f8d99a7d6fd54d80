"""The answers that an online release has given, in one SQLite table of a file.

The ordered index of SQLite finds the neighbours of a point in O(log i). Every
transaction takes the write lock before it reads and is on the disk before it returns,
so that a process which is killed, and two that ask at once, never draw a second noise
for one point. `MemoryAnswers` does the same without a file.

The file holds points and answers, both of which are known to those who asked, and
public facts. It holds no value of the private function, and no noise. One fact is the
place where it was made: two copies would draw two noises for one point.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ..exceptions import PrivacyError
from ._memory_answers import MemoryAnswers

_APPLICATION = 0x736B6661  # "skfa"
_VERSION = 1
_BUSY_SECONDS = 120.0

# Threads take turns, and none is at work while the process forks, which would copy
# locks of SQLite.
ONE_AT_A_TIME = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=ONE_AT_A_TIME.acquire,
        after_in_parent=ONE_AT_A_TIME.release,
        after_in_child=ONE_AT_A_TIME.release,
    )

Point = float | bytes


class Answers:
    """The table of one fit, in a file.

    Parameters
    ----------
    path : Path
        The file.
    facts : dict
        What was stated when the table was made, and the identifier of the fit.
    """

    def __init__(self, path: Path, facts: dict[str, Any]) -> None:
        self.path = path
        self.facts = facts
        self.count = 0
        self._text = json.dumps(facts)
        self._cursor: Any = None

    @classmethod
    def create(
        cls, path: Path | None, facts: dict[str, Any]
    ) -> Answers | MemoryAnswers:
        """Make a new table, in a file that only its owner may read, and sync it.

        Without a path the answers are kept in the memory of this process.
        """
        place = None if path is None else str(path)
        facts = {**facts, "fit": os.urandom(16).hex(), "path": place}
        if path is None:
            return MemoryAnswers(facts)
        try:  # O_EXCL: of two fits at once only one can make the file
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except OSError as error:
            raise PrivacyError(
                f"the file {str(path)!r} could not be made: {error.strerror}; the "
                "charge for this fit stays, give another path and fit again"
            ) from None
        answers = cls(path, facts)
        with answers._transaction() as cursor:
            cursor.execute("CREATE TABLE facts (text TEXT, count INTEGER)")
            # The table is its own ordered index.
            cursor.execute(
                "CREATE TABLE answers (point PRIMARY KEY, answer INTEGER NOT NULL) "
                "WITHOUT ROWID"
            )
            cursor.execute(
                "CREATE TABLE factors (id INTEGER PRIMARY KEY, point, factor BLOB)"
            )
            cursor.execute("INSERT INTO facts VALUES (?, 0)", (answers._text,))
            cursor.execute(f"PRAGMA application_id = {_APPLICATION}")
            cursor.execute(f"PRAGMA user_version = {_VERSION}")
        return answers

    @classmethod
    def open(cls, path: Path) -> Answers:
        """Open the file that an earlier fit made."""
        if not path.exists():
            raise PrivacyError(
                f"there are no answers at {str(path)!r}; start a release with fit"
            )
        answers = cls(path, {})
        with answers._transaction() as cursor:
            numbers = [
                cursor.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("application_id", "user_version")
            ]
            if numbers != [_APPLICATION, _VERSION]:
                raise sqlite3.DatabaseError("it is no file of this version")
            if cursor.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise sqlite3.DatabaseError("its pages are damaged")
            answers._text, answers.count = answers._read_facts(cursor)
            answers.facts = json.loads(answers._text)
        place = answers.facts.get("path")
        if place != str(path):
            raise PrivacyError(
                f"the answers at {str(path)!r} were made at {place!r}: a copy could "
                "answer one point twice, so a file that was moved must be moved back"
            )
        return answers

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction of the only writer; on the disk when it ends well."""
        with self._transaction() as cursor:
            text, before = self._read_facts(cursor)
            if text != self._text:
                raise sqlite3.DatabaseError("it holds the answers of another fit now")
            self._cursor, self.count = cursor, before
            try:
                yield
            finally:
                self._cursor = None
            if self.count != before:
                cursor.execute("UPDATE facts SET count = ?", (self.count,))

    def find(self, point: Point) -> int | None:
        """The answer at a point, in lattice steps, if it was given before."""
        row = self._cursor.execute(
            "SELECT answer FROM answers WHERE point = ?", (point,)
        ).fetchone()
        return None if row is None else row[0]

    def around(self, point: float) -> tuple[Any, Any]:
        """(point, answer) of the next points below, and at or above; None at an end."""
        rows = self._cursor.execute(
            "SELECT point, answer FROM answers WHERE point >= coalesce("
            "(SELECT max(point) FROM answers WHERE point < ?1), ?1) "
            "ORDER BY point LIMIT 2",
            (point,),
        ).fetchall()
        if rows and rows[0][0] < point:
            return rows[0], (rows[1] if len(rows) == 2 else None)
        return None, (rows[0] if rows else None)

    def in_order(self) -> list[tuple[Any, int]]:
        """(point, answer) of all answers, by points."""
        return self._cursor.execute(
            "SELECT point, answer FROM answers ORDER BY point"
        ).fetchall()

    def after(self, count: int) -> list[tuple[Any, int, bytes]]:
        """(point, answer, factor) of all but the first answers, oldest first."""
        return self._cursor.execute(
            "SELECT point, answer, factor FROM factors JOIN answers USING (point) "
            "WHERE id > ? ORDER BY id",
            (count,),
        ).fetchall()

    def add(self, point: Point, answer: int, factor: bytes | None) -> None:
        """Write the answer at a new point."""
        execute = self._cursor.execute
        execute("INSERT INTO answers VALUES (?, ?)", (point, answer))
        if factor is not None:
            execute(
                "INSERT INTO factors (point, factor) VALUES (?, ?)", (point, factor)
            )
        self.count += 1

    @staticmethod
    def _read_facts(cursor: sqlite3.Cursor) -> tuple[str, int]:
        """The facts as text, and how many points were answered."""
        ((text, count),) = cursor.execute("SELECT text, count FROM facts")
        return text, count

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Cursor]:
        with ONE_AT_A_TIME, self._connection() as database:
            cursor = database.cursor()
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:
                if database.in_transaction:
                    cursor.execute("ROLLBACK")
                raise

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A connection of this transaction alone.

        Nothing is kept open that a fork could share. The rollback journal leaves one
        file between transactions, so that a copy or a move cannot part what belongs
        together; EXTRA is FULL that also syncs the folder once the journal is gone,
        without which a power cut could undo an answer that was given.
        """
        try:
            if not self.path.exists():
                raise sqlite3.OperationalError("it is gone")
            with closing(_connect(f"{self.path.as_uri()}?mode=rw")) as database:
                database.execute("PRAGMA journal_mode = DELETE")
                database.execute("PRAGMA synchronous = EXTRA")
                yield database
        except (sqlite3.Error, json.JSONDecodeError) as error:
            raise PrivacyError(
                f"the answers at {str(self.path)!r} cannot be used, so nothing is "
                f"answered: {error}"
            ) from error


def _connect(name: str) -> sqlite3.Connection:
    return sqlite3.connect(
        name,
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
