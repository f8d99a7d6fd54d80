"""Whether a released classifier is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._bounded_score import BoundedScore


@dataclass(frozen=True)
class Accuracy(BoundedScore):
    """One for a label that a released classifier predicts, zero for another one.

    Examples
    --------
    >>> from skfuncpriv.model_selection import Accuracy
    >>> Accuracy().bounds(None)
    (0.0, 1.0)
    """

    def values(self, model: Any, X: Any, y: Any = None) -> np.ndarray:
        labels = np.asarray(y).reshape(-1)
        return (np.asarray(model.predict(X)) == labels).astype(np.float64)

    def bounds(self, model: Any) -> tuple[float, float]:  # noqa: ARG002
        return 0.0, 1.0
