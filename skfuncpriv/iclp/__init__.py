"""Functional summaries released with ICLP noise and its improvements."""

from ._bernstein_mean import BernsteinMean
from ._classifier import ICLPClassifier
from ._covariance import ICLPCovariance
from ._fpca import PrivateFPCA
from ._frl_mean import FRLMean
from ._mean import ICLPMean
from ._regressor import ICLPRegressor
from ._second_moment import centred_moment_sensitivity, second_moment_sensitivity
from ._sparse_mean import PrivateSparseMean
from ._statistics import regression_sensitivity

__all__ = [
    "BernsteinMean",
    "FRLMean",
    "ICLPClassifier",
    "ICLPCovariance",
    "ICLPMean",
    "ICLPRegressor",
    "PrivateFPCA",
    "PrivateSparseMean",
    "centred_moment_sensitivity",
    "regression_sensitivity",
    "second_moment_sensitivity",
]
