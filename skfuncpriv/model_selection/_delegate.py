"""What a fitted search does by its best estimator."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._base import PrivateEstimator

_NO_SCORES = (
    "a private search has no {}: the scores of candidates are private and are not "
    "released; see best_params_ for the choice, and costs_ for what was spent on it"
)


def _delegates(name: str) -> Callable[[Any], bool]:
    """Whether the best estimator has a method, or will have it."""

    def has(search: Any) -> bool:
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return has


class Delegate(PrivateEstimator):
    """Base of a search: queries are those of `best_estimator_`, where it has them."""

    @available_if(_delegates("predict"))
    def predict(self, X: Any) -> np.ndarray:
        """Predict with the chosen estimator.

        Parameters
        ----------
        X : array-like
            Whatever its `predict` takes.

        Returns
        -------
        ndarray
            Its predictions.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @available_if(_delegates("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict probabilities of classes with the chosen estimator.

        Parameters
        ----------
        X : array-like
            Rows.

        Returns
        -------
        ndarray
            Probabilities, one column for each class.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    @available_if(_delegates("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Evaluate the decision function of the chosen estimator.

        Parameters
        ----------
        X : array-like
            Rows.

        Returns
        -------
        ndarray
            Its values.
        """
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    @available_if(_delegates("transform"))
    def transform(self, X: Any) -> np.ndarray:
        """Transform with the chosen estimator.

        Parameters
        ----------
        X : array-like
            Rows, in a form that it fits.

        Returns
        -------
        ndarray
            What its `transform` returns: of private rows it is *not* private.
        """
        check_is_fitted(self)
        return self.best_estimator_.transform(X)

    @available_if(_delegates("inverse_transform"))
    def inverse_transform(self, X: Any) -> np.ndarray:
        """Invert the transform of the chosen estimator.

        Parameters
        ----------
        X : array-like
            What its `transform` returns.

        Returns
        -------
        ndarray
            Rows.
        """
        check_is_fitted(self)
        return self.best_estimator_.inverse_transform(X)

    @available_if(_delegates("score_samples"))
    def score_samples(self, X: Any) -> np.ndarray:
        """Compute log densities under the chosen estimator.

        Parameters
        ----------
        X : array-like
            Points.

        Returns
        -------
        ndarray
            Log densities.
        """
        check_is_fitted(self)
        return self.best_estimator_.score_samples(X)

    @available_if(_delegates("score"))
    def score(self, X: Any, y: Any = None) -> float:
        """Score rows by the chosen estimator.

        It is a number about the rows: of private ones it is not private. Refused in
        strict mode.

        Parameters
        ----------
        X : array-like
            Rows.
        y : array-like, default=None
            Their targets.

        Returns
        -------
        float
            Its `score`.
        """
        check_is_fitted(self)
        return self.best_estimator_.score(X, y)

    @available_if(_delegates("sample"))
    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw from what the chosen estimator released, which is free.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : int, RandomState or None, default=None
            The source; None is the operating system.

        Returns
        -------
        ndarray
            What its `sample` returns.
        """
        check_is_fitted(self)
        return self.best_estimator_.sample(n_samples, random_state)

    @available_if(_delegates("noise_band"))
    def noise_band(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the band of the noise of the chosen estimator.

        It knows nothing of the choice.

        Parameters
        ----------
        level : float, default=0.95
            The probability, in (0, 1).

        Returns
        -------
        lower, upper : ndarray
            The ends of the band.
        """
        check_is_fitted(self)
        return self.best_estimator_.noise_band(level)

    @property
    def n_features_in_(self) -> int:
        """Number of columns that were fitted."""
        return self._fitted("n_features_in_")

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the columns that were fitted."""
        return self._fitted("feature_names_in_")

    @property
    def classes_(self) -> np.ndarray:
        """Labels of a classifier."""
        return self._fitted("classes_")

    @property
    def cv_results_(self) -> Any:
        """Missing: scores are private."""
        raise AttributeError(_NO_SCORES.format("cv_results_"))

    @property
    def best_score_(self) -> Any:
        """Missing: scores are private."""
        raise AttributeError(_NO_SCORES.format("best_score_"))

    def __sklearn_tags__(self) -> Tags:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        for name in (
            "estimator_type",
            "input_tags",
            "target_tags",
            "classifier_tags",
            "regressor_tags",
            "transformer_tags",
        ):
            setattr(tags, name, copy.deepcopy(getattr(inner, name)))
        return tags

    def _fitted(self, name: str) -> Any:
        if "best_estimator_" not in vars(self):
            raise AttributeError(f"{name} is known after fit")
        return getattr(self.best_estimator_, name)
