"""Errors and warnings of skfuncpriv.

Their texts are constant or hold public facts only: an error that quotes private
data would be a release without noise.
"""


class PrivacyError(ValueError):
    """A requested guarantee cannot be kept; raised before any data is touched."""


class BudgetExceededError(PrivacyError):
    """A charge does not fit what is left of the budget in the ledger."""


class NoiseDominatesWarning(UserWarning):
    """Public facts alone predict that the noise is larger than the signal can be."""
