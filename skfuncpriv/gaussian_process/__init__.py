"""Functions of a reproducing kernel Hilbert space, released with Gaussian processes."""

from ._classifier import PrivateKernelClassifier
from ._density_sensitivity import kde_sensitivity
from ._erm import erm_sensitivity, ridge_sensitivity, squared_loss_lipschitz
from ._kernels import ExponentialKernel, GaussianKernel, Kernel, ProductKernel
from ._norms import gaussian_sobolev_norm, gram_norm, sobolev_norm
from ._online import OnlineGaussianProcess
from ._regressor import PrivateKernelRegressor
from ._releaser import GaussianProcessReleaser

__all__ = [
    "ExponentialKernel",
    "GaussianKernel",
    "GaussianProcessReleaser",
    "Kernel",
    "OnlineGaussianProcess",
    "PrivateKernelClassifier",
    "PrivateKernelRegressor",
    "ProductKernel",
    "erm_sensitivity",
    "gaussian_sobolev_norm",
    "gram_norm",
    "kde_sensitivity",
    "ridge_sensitivity",
    "sobolev_norm",
    "squared_loss_lipschitz",
]
