"""What a plan spends: the budget as its noise law uses it, and the promise."""

from __future__ import annotations

from functools import lru_cache

from ..privacy import PrivacyGuarantee, analytic_gaussian_sigma


class Spending:
    """Base of plans with one noise law; all laws but the Gaussian one are pure."""

    mechanism: str
    epsilon: float
    delta: float

    @property
    def spent_delta(self) -> float:
        """What the law uses of delta."""
        return self.delta if self.mechanism == "gaussian" else 0.0

    def guarantee(self, unit: str, seeded: bool) -> PrivacyGuarantee:
        """What a release by this plan promises."""
        return PrivacyGuarantee(
            definition="approx-dp" if self.mechanism == "gaussian" else "pure-dp",
            epsilon=self.epsilon,
            delta=self.spent_delta,
            unit=unit,
            seeded=seeded,
        )


@lru_cache(maxsize=64)
def gaussian_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """The calibration, kept because it takes much longer than a fit."""
    return analytic_gaussian_sigma(epsilon, delta, sensitivity)
