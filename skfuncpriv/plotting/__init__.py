"""Displays of releases; they need the extra ``plot`` (matplotlib)."""

from skfuncpriv.plotting._mean_curve import MeanCurveDisplay

__all__ = ["MeanCurveDisplay"]
