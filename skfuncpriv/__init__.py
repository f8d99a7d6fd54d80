"""Release functions under differential privacy, as scikit-learn estimators."""

from .curves import Curves
from .density import BernsteinReleaser, PrivateKDE
from .exceptions import BudgetExceededError, NoiseDominatesWarning, PrivacyError
from .gaussian_process import (
    GaussianProcessReleaser,
    OnlineGaussianProcess,
    PrivateKernelClassifier,
    PrivateKernelRegressor,
)
from .iclp import ICLPMean
from .local import (
    BasisProjector,
    GeoPrivateCoefficients,
    GeoPrivateCurve,
    SVTBasisSelector,
)
from .plotting import DensityDisplay, MeanCurveDisplay, TraceDisplay
from .privacy import BudgetLedger, PrivacyGuarantee, audit

__version__ = "0.1.dev0"

__all__ = [
    "BasisProjector",
    "BernsteinReleaser",
    "BudgetExceededError",
    "BudgetLedger",
    "Curves",
    "DensityDisplay",
    "GaussianProcessReleaser",
    "GeoPrivateCoefficients",
    "GeoPrivateCurve",
    "ICLPMean",
    "MeanCurveDisplay",
    "NoiseDominatesWarning",
    "OnlineGaussianProcess",
    "PrivacyError",
    "PrivacyGuarantee",
    "PrivateKDE",
    "PrivateKernelClassifier",
    "PrivateKernelRegressor",
    "SVTBasisSelector",
    "TraceDisplay",
    "audit",
]
