"""What every private estimator shares: the charge, the source of noise, the people."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from os import PathLike
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from ._config import check_callers, is_strict
from ._kept import close_kept
from ._tables import indexed
from .exceptions import LargeDeltaWarning, NoiseDominatesWarning, PrivacyError
from .privacy import BudgetLedger, PrivacyGuarantee
from .summaries import person_codes


class StrictEstimator(BaseEstimator):
    """Base of whatever reads private data, and carries strict mode where it goes."""

    def _is_strict(self) -> bool:
        return is_strict() or vars(self).get("_strict", False)

    def __sklearn_clone__(self) -> StrictEstimator:
        """A copy of the parameters, and of the strictness that came with a pickle."""
        copy = super().__sklearn_clone__()
        if "_strict" in vars(self):
            copy._strict = True
        return copy

    def __getstate__(self) -> Any:
        """The state, which carries strict mode to processes that run already."""
        state = super().__getstate__()
        return {**state, "_strict": True} if self._is_strict() else state


_PLANNING: ContextVar[bool] = ContextVar("planning", default=False)


def plans(method: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a method that reads no data: strict mode demands nothing of it."""

    @wraps(method)
    def planned(*arguments: Any, **named: Any) -> Any:
        token = _PLANNING.set(True)
        try:
            return method(*arguments, **named)
        finally:
            _PLANNING.reset(token)

    return planned


class PrivateEstimator(StrictEstimator):
    """Base of estimators that release something private.

    A central one computes its bounded contributions, then calls `_open_release` once;
    a local one charges in every `transform`. Only after that is noise drawn. An error
    later on leaves the charge in the ledger.

    Notes
    -----
    For subclasses, which have the parameters `ledger` and `random_state`, in the order
    in which `fit` goes through them:

    - ``_check_ledger()``, first of all: refuses what is no ledger, and in strict mode
      what is forbidden then;
    - ``_open_release(guarantee, n_people)``: warns of a large delta, charges the
      ledger, and forgets an older release; noise is drawn after it;
    - ``guarantee_``, last of all: without it the estimator counts as not fitted.

    Examples
    --------
    >>> from skfuncpriv import ICLPMean, PrivateEstimator
    >>> issubclass(ICLPMean, PrivateEstimator)
    True
    """

    def _open_release(
        self, guarantee: PrivacyGuarantee, n_people: int | None = None
    ) -> None:
        """Charge the ledger, if there is one, after a word on a delta that is large.

        From here on until the subclass sets `guarantee_`, last of all, nothing is
        fitted: if drawing fails, no older release may stand beside a newer guarantee.
        """
        if n_people is not None:
            warn_if_delta_is_large(guarantee.delta, n_people)
        is_refused = False
        try:
            self._charge(guarantee)
        except BaseException as error:
            # Nothing was charged, so an older release still counts: not so if this is
            # an interrupt.
            is_refused = isinstance(error, Exception)
            close_kept()
            raise
        finally:  # after an interrupt, too
            if not is_refused:
                self._forget()
        vars(self).pop("_paid", None)  # for one release

    def _forget(self) -> None:
        """From here on nothing is fitted."""
        vars(self).pop("guarantee_", None)

    def _check_ledger(self) -> None:
        """Refuse what is no path, before anything is computed."""
        if self.ledger is not None and not isinstance(self.ledger, str | PathLike):
            raise TypeError(
                f"ledger must be the path of a ledger's file, got {self.ledger!r}: for "
                "an open BudgetLedger pass its path attribute, or ledger.scope(name)"
            )
        if self._is_strict() and not _PLANNING.get():
            self._check_strictly()

    def _check_strictly(self) -> None:
        """Refuse what strict mode forbids, from parameters alone."""
        if self.random_state is not None:
            raise PrivacyError(
                "strict mode refuses seeds: leave random_state=None, so that the noise "
                "comes from the operating system"
            )
        if vars(self).get("_paid", False):
            return
        if self.ledger is None:
            raise PrivacyError(
                "strict mode demands a ledger: create one with BudgetLedger(path, "
                "epsilon=...) and pass ledger=path"
            )
        check_callers(self)

    def _charge(self, guarantee: PrivacyGuarantee, times: int = 1) -> None:
        self._check_ledger()  # again, for those that forgot
        if self.ledger is not None:
            ledger = BudgetLedger(self.ledger)
            ledger.charge(guarantee, label=type(self).__name__, times=times)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "guarantee_")

    def _html_repr(self) -> str:
        """What notebooks show: scikit-learn's diagram, and below it what is promised.

        The name is scikit-learn's, for subclasses of its `ReprHTMLMixin`.
        """
        diagram = super()._html_repr()
        if not hasattr(self, "guarantee_"):
            return diagram
        # Not below it: a diagram may be wider than its place, and scrolls at its foot.
        return f"<div><div>{self.guarantee_._repr_html_()}</div>{diagram}</div>"


class CurveReader(StrictEstimator):
    """Mixin of estimators whose data are curves, with `missing` values or without."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = self.missing == "interpolate"
        return tags


class ScoredOnData:
    """Mixin, left of scikit-learn's, of estimators whose score is of the rows given."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute scikit-learn's score of predictions; refused in strict mode.

        It is a number about the rows: computed on private ones it is not private.

        Parameters
        ----------
        X : array-like
            Rows in the form that was fitted.
        y : array-like
            What is true of them.
        sample_weight : array-like, shape (n_rows,), default=None
            Weights of rows.

        Returns
        -------
        float
            Accuracy of a classifier, R^2 of a regressor.
        """
        refuse_in_strict_mode(self, "score")
        return super().score(X, y, sample_weight)


def refuse_in_strict_mode(estimator: Any, name: str) -> None:
    """Refuse to compute numbers about rows to which no noise is added."""
    if estimator._is_strict():
        raise PrivacyError(
            f"strict mode refuses {name}: its numbers are those of the rows given, "
            "without noise, so they are private if the rows are"
        )


def paid(estimator: PrivateEstimator) -> PrivateEstimator:
    """Mark the next release of an estimator as paid for by the one that asks for it."""
    estimator._paid = True
    return estimator


def warn_if_noise_dominates(
    expected_square: float, largest_norm: float, remedy: str, stacklevel: int = 3
) -> None:
    """Warn if public facts alone say that a release cannot be informative."""
    if math.sqrt(expected_square) >= largest_norm:
        warnings.warn(
            "the noise is expected to exceed the largest possible signal: a larger "
            f"{remedy} would make the release informative",
            NoiseDominatesWarning,
            stacklevel=stacklevel,
        )


def warn_if_delta_is_large(delta: float, n_people: int) -> None:
    """Warn if a release spends a delta of 1/n or more, before it is charged."""
    if delta * n_people >= 1:
        warnings.warn(
            f"delta={delta:g} is not below 1/n with n={n_people}: delta is a chance to "
            "see a person's data, and some person's are then expected to be seen; "
            "choose a much smaller delta",
            LargeDeltaWarning,
            stacklevel=4,
        )


def people_of(groups: Any, X: Any, n_rows: int) -> tuple[np.ndarray | None, int, str]:
    """Codes of the people who own the rows, their number, and the unit of privacy."""
    if groups is None:
        return None, n_rows, "row"
    table = indexed(X)
    both_pandas = hasattr(groups, "iloc") and hasattr(table, "iloc")
    if both_pandas and not table.index.equals(groups.index):
        raise ValueError(
            "groups has another index than X: align them, as in groups.loc[X.index]"
        )
    codes, n_people = person_codes(groups, n_rows)
    return codes, n_people, "person"
