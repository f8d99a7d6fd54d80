"""Functional summaries released with ICLP noise and its improvements."""

from ._bernstein_mean import BernsteinMean
from ._frl_mean import FRLMean
from ._mean import ICLPMean
from ._sparse_mean import PrivateSparseMean

__all__ = ["BernsteinMean", "FRLMean", "ICLPMean", "PrivateSparseMean"]
