"""A private search over public hyperparameters, with one budget for everything."""

from ._accuracy import Accuracy
from ._bounded_score import BoundedScore
from ._integrated_error import IntegratedSquaredError
from ._log_likelihood import LogLikelihood
from ._search import PrivateGridSearchCV
from ._squared_error import SquaredError
from ._stopping import RandomStopping

__all__ = [
    "Accuracy",
    "BoundedScore",
    "IntegratedSquaredError",
    "LogLikelihood",
    "PrivateGridSearchCV",
    "RandomStopping",
    "SquaredError",
]
