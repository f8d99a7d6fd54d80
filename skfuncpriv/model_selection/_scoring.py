"""Which score a search uses."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier, is_regressor

from ..exceptions import PrivacyError
from ._accuracy import Accuracy
from ._bounded_score import BoundedScore
from ._candidates import final
from ._integrated_error import IntegratedSquaredError, kind_of
from ._squared_error import SquaredError

_NAMES: dict[str, BoundedScore] = {
    "integrated_squared_error": IntegratedSquaredError(),
    "squared_error": SquaredError(),
    "accuracy": Accuracy(),
}


def read_scoring(scoring: Any, estimator: Any) -> BoundedScore:
    """A score with known bounds; None is the natural one of the estimator."""
    if isinstance(scoring, BoundedScore):
        return scoring
    if scoring is not None:
        if isinstance(scoring, str) and scoring in _NAMES:
            return _NAMES[scoring]
        raise PrivacyError(
            f"scoring={scoring!r} is refused: how much one person can change it is "
            f"unknown. Use one of {list(_NAMES)}, LogLikelihood, or a BoundedScore of "
            "your own, which states its bounds"
        )
    if is_classifier(estimator):
        return _NAMES["accuracy"]
    if is_regressor(estimator):
        return _NAMES["squared_error"]
    kind_of(final(estimator))
    return _NAMES["integrated_squared_error"]
