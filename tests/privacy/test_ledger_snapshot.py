"""A reading of the ledger sees one state of the file, whatever is written meanwhile."""

import sqlite3
from contextlib import closing, suppress

from skfuncpriv.privacy import BudgetLedger
from skfuncpriv.privacy._ledger_file import _snapshot


def test_what_is_written_meanwhile_is_not_seen(tmp_path):
    path = tmp_path / "budget.db"
    BudgetLedger(path, epsilon=1.0)
    with (
        _snapshot(path) as reading,
        closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as writer,
    ):

        def n_tables():
            return reading.execute("SELECT count(*) FROM sqlite_schema").fetchone()

        before = n_tables()
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("CREATE TABLE another (number)")
        with suppress(sqlite3.OperationalError):  # it may have to wait
            writer.execute("COMMIT")
        assert n_tables() == before
