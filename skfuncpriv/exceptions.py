"""Errors and warnings of skfuncpriv.

Their texts are constant or hold public facts only: an error that quotes private
data would be a release without noise.
"""


class PrivacyError(ValueError):
    """A requested guarantee cannot be kept; nothing was charged or drawn.

    Examples
    --------
    >>> from skfuncpriv import PrivacyError
    >>> issubclass(PrivacyError, ValueError)
    True
    """


class BudgetExceededError(PrivacyError):
    """A charge does not fit what is left of the budget in the ledger.

    Nothing was charged and no noise was drawn.

    Examples
    --------
    >>> from skfuncpriv import BudgetExceededError, PrivacyError
    >>> issubclass(BudgetExceededError, PrivacyError)
    True
    """


class NoiseDominatesWarning(UserWarning):
    """Public facts alone predict that the noise is larger than the signal can be.

    Examples
    --------
    >>> from skfuncpriv import NoiseDominatesWarning
    >>> issubclass(NoiseDominatesWarning, UserWarning)
    True
    """


class LargeDeltaWarning(UserWarning):
    """The delta of a release is not below one over the number of people.

    Such a promise allows to publish all data of a person who is picked at random.

    Examples
    --------
    >>> from skfuncpriv import LargeDeltaWarning
    >>> issubclass(LargeDeltaWarning, UserWarning)
    True
    """
