"""Functional summaries released with ICLP noise and its improvements."""

from ._mean import ICLPMean

__all__ = ["ICLPMean"]
