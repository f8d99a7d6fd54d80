"""Shrinkage that knows the noise: free post-processing of what was released."""

from ._averaging import SpectrumPrior, bayesian_average

__all__ = ["SpectrumPrior", "bayesian_average"]
