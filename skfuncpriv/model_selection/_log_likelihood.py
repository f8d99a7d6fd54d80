"""The log likelihood of points under a released density, between stated bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import check_interval
from ._bounded_score import BoundedScore


@dataclass(frozen=True)
class LogLikelihood(BoundedScore):
    """The logarithm of a released density at a point, clipped.

    Parameters
    ----------
    low, high : float
        *Public.* The smallest and the largest logarithm that counts, in units of the
        points to the power of minus the number of features. The noise of the choice is
        in proportion to their distance.

    Raises
    ------
    ValueError
        If they are not finite numbers with low < high.

    Examples
    --------
    >>> from skfuncpriv.model_selection import LogLikelihood
    >>> LogLikelihood(low=-8.0, high=-2.0).bounds(None)
    (-8.0, -2.0)
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        low, high = check_interval((self.low, self.high), "low and high")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def values(self, model: Any, X: Any, y: Any = None) -> np.ndarray:  # noqa: ARG002
        return np.asarray(model.score_samples(X))

    def bounds(self, model: Any) -> tuple[float, float]:  # noqa: ARG002
        return self.low, self.high
