"""Release functions under differential privacy, as scikit-learn estimators."""

from ._base import PrivateEstimator
from ._config import config, is_strict
from ._privacy_safe import ParameterTable, privacy_safe_parameters
from .blocks import Blocks
from .curves import Curves
from .density import BernsteinReleaser, PrivateKDE
from .exceptions import (
    BudgetExceededError,
    LargeDeltaWarning,
    NoiseDominatesWarning,
    PrivacyError,
)
from .gaussian_process import (
    GaussianProcessReleaser,
    OnlineGaussianProcess,
    PrivateKernelClassifier,
    PrivateKernelRegressor,
)
from .iclp import (
    BernsteinMean,
    FRLMean,
    ICLPClassifier,
    ICLPCovariance,
    ICLPMean,
    ICLPRegressor,
    PrivateFPCA,
    PrivateSparseMean,
)
from .local import (
    BasisProjector,
    GeoPrivateCoefficients,
    GeoPrivateCurve,
    SVTBasisSelector,
)
from .model_selection import PrivateGridSearchCV
from .plotting import (
    BudgetDisplay,
    CoefficientDisplay,
    ComponentsDisplay,
    CovarianceDisplay,
    DensityDisplay,
    FunctionDisplay,
    MeanCurveDisplay,
    TraceDisplay,
)
from .privacy import BudgetLedger, PrivacyGuarantee, audit

__version__ = "0.1.dev0"

__all__ = [
    "BasisProjector",
    "BernsteinMean",
    "BernsteinReleaser",
    "Blocks",
    "BudgetDisplay",
    "BudgetExceededError",
    "BudgetLedger",
    "CoefficientDisplay",
    "ComponentsDisplay",
    "CovarianceDisplay",
    "Curves",
    "DensityDisplay",
    "FRLMean",
    "FunctionDisplay",
    "GaussianProcessReleaser",
    "GeoPrivateCoefficients",
    "GeoPrivateCurve",
    "ICLPClassifier",
    "ICLPCovariance",
    "ICLPMean",
    "ICLPRegressor",
    "LargeDeltaWarning",
    "MeanCurveDisplay",
    "NoiseDominatesWarning",
    "OnlineGaussianProcess",
    "ParameterTable",
    "PrivacyError",
    "PrivacyGuarantee",
    "PrivateEstimator",
    "PrivateFPCA",
    "PrivateGridSearchCV",
    "PrivateKDE",
    "PrivateKernelClassifier",
    "PrivateKernelRegressor",
    "PrivateSparseMean",
    "SVTBasisSelector",
    "TraceDisplay",
    "audit",
    "config",
    "is_strict",
    "privacy_safe_parameters",
]
