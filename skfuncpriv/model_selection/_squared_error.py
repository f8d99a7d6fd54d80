"""The squared error of predictions, within the public bounds of the targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import check_interval
from ..exceptions import PrivacyError
from ._bounded_score import BoundedScore


@dataclass(frozen=True)
class SquaredError(BoundedScore):
    """Minus the squared error of a prediction, both within the bounds of the targets.

    It lies between minus the squared distance of the bounds, the `y_bounds` of the
    estimator, and zero. Targets are numbers, one for each row.

    Examples
    --------
    >>> from skfuncpriv import PrivateKernelRegressor
    >>> from skfuncpriv.model_selection import SquaredError
    >>> SquaredError().bounds(PrivateKernelRegressor(bounds=(0, 1), y_bounds=(-1, 2)))
    (-9.0, 0.0)
    """

    def values(self, model: Any, X: Any, y: Any = None) -> np.ndarray:
        low, high = _target_bounds(model)
        targets = np.asarray(y, dtype=np.float64).reshape(-1)
        predicted = np.asarray(model.predict(X)).reshape(-1)
        error = np.clip(targets, low, high) - np.clip(predicted, low, high)
        return -np.square(error)

    def bounds(self, model: Any) -> tuple[float, float]:
        low, high = _target_bounds(model)
        return -((high - low) ** 2), 0.0


def _target_bounds(model: Any) -> tuple[float, float]:
    bounds = getattr(model, "y_bounds", None)
    is_scalar = bounds is not None and all(np.size(end) == 1 for end in bounds)
    if not is_scalar or getattr(model, "y_domain", None) is not None:
        raise PrivacyError(
            "the squared error needs an estimator with y_bounds for targets that are "
            "numbers: pass a BoundedScore of your own as scoring"
        )
    return check_interval(tuple(float(np.ravel(end)[0]) for end in bounds), "y_bounds")
