"""Displays of releases; they need the extra ``plot`` (matplotlib)."""

from skfuncpriv.plotting._budget import BudgetDisplay
from skfuncpriv.plotting._coefficients import CoefficientDisplay
from skfuncpriv.plotting._components import ComponentsDisplay
from skfuncpriv.plotting._covariance import CovarianceDisplay
from skfuncpriv.plotting._density import DensityDisplay
from skfuncpriv.plotting._function import FunctionDisplay
from skfuncpriv.plotting._mean_curve import MeanCurveDisplay
from skfuncpriv.plotting._trace import TraceDisplay

__all__ = [
    "BudgetDisplay",
    "CoefficientDisplay",
    "ComponentsDisplay",
    "CovarianceDisplay",
    "DensityDisplay",
    "FunctionDisplay",
    "MeanCurveDisplay",
    "TraceDisplay",
]
