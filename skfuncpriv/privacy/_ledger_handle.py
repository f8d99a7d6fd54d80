"""What an open ledger holds: the address of an account, and what it saw of the file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from ..exceptions import PrivacyError
from . import _ledger_file as ledger_file
from ._guarantee import PrivacyGuarantee
from ._ledger_file import Contents
from ._ledger_identity import Mark, check_not_emptied, check_same, forget, remember

_MARKER = "::"  # between the path of a file and the name of a scope


class LedgerHandle:
    """Reads and writes one ledger, and refuses another one at the same path."""

    def __init__(self, address: str | PathLike[str]) -> None:
        text = os.fspath(address)
        file, marker, scope = text.rpartition(_MARKER)
        self.path = Path(file if marker else text).resolve()
        self.scope = scope if marker else ""
        if _MARKER in str(self.path) or (marker and not (file and scope)):
            raise ValueError(
                f"the path of a ledger must not hold {_MARKER!r}, which stands before "
                f"the name of a scope, got {text!r}"
            )
        self._mark: Mark | None = None

    def address(self, scope: str) -> str:
        """What opens the account of a scope."""
        return f"{self.path}{_MARKER}{scope}" if scope else str(self.path)

    @contextmanager
    def read(self) -> Iterator[tuple[sqlite3.Connection, Contents]]:
        """The verified contents, in a snapshot of the file."""
        with ledger_file.reading(self.path) as database:
            contents = self._contents(database)
            yield database, contents
        self._note(contents.mark)

    def write(
        self, change: Callable[[sqlite3.Connection, Contents], Mark | None]
    ) -> None:
        """One transaction that makes a change and says where the chain then ends."""
        with ledger_file.writing(self.path) as database:
            mark = change(database, self._contents(database))
        if mark is not None:
            self._note(mark)

    def create(self, budget: PrivacyGuarantee, name: str | None) -> None:
        """Make the file, or open the one with this budget and name."""
        if self.scope:
            raise ValueError(
                f"{self.address(self.scope)!r} is a scope: create the ledger under the "
                "path of its file, then add_scope"
            )
        existed = self.path.exists()
        with ledger_file.writing(self.path, create=True) as database:
            is_new = ledger_file.is_empty(database)
            if is_new and existed:
                check_not_emptied(self.path)
            if is_new:
                ledger_file.create_tables(database, budget, name or "")
            ledger_file.check_pages(database)
            contents = (
                ledger_file.read_contents(database)
                if is_new
                else self._contents(database)
            )
            if contents.state.budget != budget:
                raise PrivacyError(
                    f"the ledger at {str(self.path)!r} holds another budget: "
                    f"{contents.state.budget}; open it with BudgetLedger(path)"
                )
            self.check_name(contents, name)
        if is_new:
            forget(self.path)
        self._note(contents.mark)

    def check_name(self, contents: Contents, name: str | None) -> None:
        """Refuse a ledger of another name."""
        if name is not None and name != contents.name:
            raise PrivacyError(
                f"the ledger at {str(self.path)!r} has the name {contents.name!r}, not "
                f"{name!r}"
            )

    def _contents(self, database: sqlite3.Connection) -> Contents:
        contents = ledger_file.read_contents(database)
        check_same(database, self.path, contents.mark, self._mark)
        return contents

    def _note(self, mark: Mark) -> None:
        self._mark = mark
        remember(self.path, mark)
