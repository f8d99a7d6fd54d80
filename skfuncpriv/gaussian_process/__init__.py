"""Functions of a reproducing kernel Hilbert space, released with Gaussian processes."""

from ._erm import erm_sensitivity, ridge_sensitivity, squared_loss_lipschitz
from ._kernels import ExponentialKernel, GaussianKernel, Kernel, ProductKernel

__all__ = [
    "ExponentialKernel",
    "GaussianKernel",
    "Kernel",
    "ProductKernel",
    "erm_sensitivity",
    "ridge_sensitivity",
    "squared_loss_lipschitz",
]
