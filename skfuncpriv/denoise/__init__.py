"""Shrinkage that knows the noise: free post-processing of what was released."""

from ._averaging import bayesian_average, posterior_deviation
from ._linear import block_james_stein, wiener
from ._shrinkage import average_shrinkage
from ._spectral import spectral_average

__all__ = [
    "average_shrinkage",
    "bayesian_average",
    "block_james_stein",
    "posterior_deviation",
    "spectral_average",
    "wiener",
]
