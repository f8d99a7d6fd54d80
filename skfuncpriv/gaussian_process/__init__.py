"""Functions of a reproducing kernel Hilbert space, released with Gaussian processes."""

from ._kernels import ExponentialKernel, GaussianKernel, Kernel, ProductKernel

__all__ = [
    "ExponentialKernel",
    "GaussianKernel",
    "Kernel",
    "ProductKernel",
]
