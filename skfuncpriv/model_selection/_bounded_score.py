"""Scores of released functions whose change with one person's data is known."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np


class BoundedScore(ABC):
    """A score of rows under a released estimator, within bounds that are public.

    Once the candidates of a search are released, a score is a function of one row each,
    and its range is a fact that everybody may know. Subclasses give both; what leaves
    the range is clipped into it.

    Notes
    -----
    An exception, or NaN, would tell of a row: a search takes the lower bound of that
    person instead, silently. So test a score of your own on public rows first.

    A search asks for the rows of one person at a time, averages their values, and adds
    up people; see `PrivateGridSearchCV` for what one person can change.
    """

    @abstractmethod
    def values(self, model: Any, X: Any, y: Any = None) -> np.ndarray:
        """Score each row; higher is better.

        Parameters
        ----------
        model : estimator
            A fitted estimator: *released*.
        X : array-like or frame
            *Private* rows, in a form that the estimator fits.
        y : array-like, default=None
            *Private* targets of the rows.

        Returns
        -------
        ndarray, shape (n_rows,)
            One number for each row, a function of that row alone.
        """

    @abstractmethod
    def bounds(self, model: Any) -> tuple[float, float]:
        """Bound the values of all rows that there could be.

        Parameters
        ----------
        model : estimator
            A fitted estimator.

        Returns
        -------
        low, high : float
            Finite, from the released estimator and public facts alone.
        """

    def differences(self, models: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        """Bound the difference of the values of one row under two estimators.

        Only differences matter for a choice. A subclass that knows closer bounds than
        those that follow from `bounds` has less noise.

        Parameters
        ----------
        models : sequence of estimators
            K fitted estimators.

        Returns
        -------
        low, high : ndarray, shape (K, K)
            In row j and column k, bounds of the value under k minus that under j.
        """
        low, high = np.array([self.bounds(model) for model in models]).T
        return low[None, :] - high[:, None], high[None, :] - low[:, None]
