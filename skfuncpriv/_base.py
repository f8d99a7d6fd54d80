"""What every private estimator shares: the charge, the source of noise, the people."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from .exceptions import PrivacyError
from .noise import RandomBits, random_bits
from .privacy import BudgetLedger, PrivacyGuarantee
from .summaries import person_codes


class PrivateEstimator(BaseEstimator):
    """Base of estimators that release something private.

    A central one computes its bounded contributions, then calls `_open_release` once; a
    local one calls `_open_transform` in every `transform`. Only after that is noise
    drawn. An error later on leaves the charge in the ledger.
    """

    def _open_release(self, guarantee: PrivacyGuarantee) -> None:
        """Charge the ledger, if there is one.

        From here on until the subclass sets `guarantee_`, last of all, nothing is
        fitted: if drawing fails, no older release may stand beside a newer guarantee.
        """
        self._charge(guarantee)
        vars(self).pop("guarantee_", None)

    def _open_transform(self, times: int, purpose: int = 0) -> RandomBits:
        """Charge what `fit` has promised, and return the source of the noise.

        For estimators of the local model, which draw in `transform`; `times` is how
        many rows the person with most rows has.
        """
        bits = random_bits(self.random_state, purpose=purpose)
        if bits.seeded != self.guarantee_.seeded:
            raise PrivacyError(
                "random_state was changed after fit, so the guarantee no longer says "
                "whether releases are seeded: fit again"
            )
        self._charge(self.guarantee_, times)
        return bits

    def _charge(self, guarantee: PrivacyGuarantee, times: int = 1) -> None:
        if self.ledger is not None:
            ledger = BudgetLedger(self.ledger)
            ledger.charge(guarantee, label=type(self).__name__, times=times)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = getattr(self, "missing", None) != "error"
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "guarantee_")


def people_of(groups: Any, X: Any, n_rows: int) -> tuple[np.ndarray | None, int, str]:
    """Codes of the people who own the rows, their number, and the unit of privacy."""
    if groups is None:
        return None, n_rows, "row"
    both_pandas = hasattr(groups, "iloc") and hasattr(X, "iloc")
    if both_pandas and not X.index.equals(groups.index):
        raise ValueError(
            "groups has another index than X: align them, as in groups.loc[X.index]"
        )
    codes, n_people = person_codes(groups, n_rows)
    return codes, n_people, "person"
