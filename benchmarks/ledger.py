"""The ledger: a charge is a transaction that is on the disk before it returns."""

from __future__ import annotations

import tempfile
from pathlib import Path

from skfuncpriv.privacy import BudgetLedger, PrivacyGuarantee


class Charge:
    """Charges to a ledger that already holds some."""

    params = (0, 1000)
    param_names = ("charges before",)
    number = 20
    warmup_time = 0

    def setup(self, n_before):
        """A ledger with a budget that is never used up."""
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "budget.db"
        self.ledger = BudgetLedger(path, epsilon=1e6)
        self.guarantee = PrivacyGuarantee(definition="pure-dp", epsilon=0.001)
        for _ in range(n_before):
            self.ledger.charge(self.guarantee, "before")

    def teardown(self, n_before):  # noqa: ARG002
        """Remove the file."""
        self.folder.cleanup()

    def time_charge(self, n_before):  # noqa: ARG002
        """Seconds; mostly the disk."""
        self.ledger.charge(self.guarantee, "benchmark")

    def time_remaining(self, n_before):  # noqa: ARG002
        """Seconds for reading what is left, which writes nothing."""
        return self.ledger.remaining
