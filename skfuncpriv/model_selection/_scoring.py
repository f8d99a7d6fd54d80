"""Which score a search uses."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier, is_regressor

from ..exceptions import PrivacyError
from ._accuracy import Accuracy
from ._bounded_score import BoundedScore
from ._candidates import final
from ._integrated_error import IntegratedSquaredError, kind_of
from ._log_likelihood import LogLikelihood
from ._squared_error import SquaredError

_NAMES: dict[str, BoundedScore] = {
    "integrated_squared_error": IntegratedSquaredError(),
    "squared_error": SquaredError(),
    "accuracy": Accuracy(),
}


def read_scoring(scoring: Any, estimator: Any) -> BoundedScore:
    """A score with known bounds; None is the natural one of the estimator."""
    last = final(estimator)
    score = _natural(last) if scoring is None else scoring
    if isinstance(scoring, str) and scoring in _NAMES:
        score = _NAMES[scoring]
    if not isinstance(score, BoundedScore):
        raise PrivacyError(
            f"scoring={scoring!r} is refused: how much one person can change it is "
            f"unknown. Use one of {list(_NAMES)}, LogLikelihood, or a BoundedScore of "
            "your own, which states its bounds"
        )
    if isinstance(score, IntegratedSquaredError):
        kind_of(last)
    elif isinstance(score, SquaredError):
        score.bounds(last)
    elif isinstance(score, Accuracy) and not is_classifier(last):
        raise PrivacyError(
            f"scoring='accuracy' needs a classifier, got {type(last).__name__}: leave "
            "scoring=None for the score that belongs to the estimator"
        )
    elif isinstance(score, LogLikelihood) and not hasattr(last, "score_samples"):
        raise PrivacyError(
            f"LogLikelihood needs score_samples, and {type(last).__name__} has none: "
            "leave scoring=None for the score that belongs to the estimator"
        )
    return score


def _natural(estimator: Any) -> BoundedScore:
    if is_classifier(estimator):
        return _NAMES["accuracy"]
    if is_regressor(estimator):
        return _NAMES["squared_error"]
    return _NAMES["integrated_squared_error"]
