"""From the estimator that a user wraps to the function that is released.

Parameters are read, nothing is fitted: scikit-learn's object stays as it is, and no
fitted one is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import check_interval, check_positive, if_loaded
from ..exceptions import PrivacyError
from ._adapters import (
    DensityFunction,
    RidgeFunction,
    StatedFunction,
    stated_function,
)
from ._kernels import ExponentialKernel, GaussianKernel, Kernel

Function = DensityFunction | RidgeFunction | StatedFunction


def wrapped_function(owner: Any, low: np.ndarray, high: np.ndarray) -> Function:
    """The function that the parameters of a releaser describe, on a box of points."""
    estimator = owner.estimator
    if is_sklearns_density(estimator) or is_ridge(estimator):
        _check_unfitted(estimator)
    if is_density(estimator):
        _check_derived(owner)
        if owner.y_bounds is not None:
            raise ValueError("y_bounds has no meaning for a density: leave it out")
        bump = _bump(estimator)
        kernel = bump if owner.kernel is None else owner.kernel
        return DensityFunction(bump, kernel, low, high)
    if is_ridge(estimator):
        _check_derived(owner)
        return _ridge(estimator, owner, low)
    if isinstance(estimator, Kernel | type) or not callable(estimator):
        raise TypeError(
            "estimator must be an unfitted KernelDensity or KernelRidge, a "
            "GaussianKernel (the density with that kernel), or a callable (X, y) -> "
            f"function of points; got {estimator!r}"
        )
    return stated_function(estimator, owner.kernel, owner.sensitivity)


def is_density(estimator: Any) -> bool:
    """Whether it stands for a kernel density estimate."""
    return is_sklearns_density(estimator) or isinstance(estimator, GaussianKernel)


def is_sklearns_density(estimator: Any) -> bool:
    """Whether it is a KernelDensity of scikit-learn."""
    return isinstance(estimator, if_loaded("sklearn.neighbors", "KernelDensity"))


def is_ridge(estimator: Any) -> bool:
    """Whether it is a KernelRidge of scikit-learn."""
    return isinstance(estimator, if_loaded("sklearn.kernel_ridge", "KernelRidge"))


def _check_unfitted(estimator: Any) -> None:
    if any(name.endswith("_") for name in vars(estimator)):
        raise ValueError(
            "estimator is fitted, so it holds private data: pass "
            "sklearn.base.clone(estimator), or one that was never fitted"
        )


def _check_derived(owner: Any) -> None:
    if not (isinstance(owner.sensitivity, str) and owner.sensitivity == "auto"):
        raise ValueError(
            "sensitivity must be 'auto' for this estimator, where it is derived; got "
            f"{owner.sensitivity!r}"
        )


def _bump(estimator: Any) -> GaussianKernel:
    if isinstance(estimator, GaussianKernel):
        return estimator
    facts = estimator.get_params(deep=False)
    if facts["kernel"] != "gaussian":
        raise PrivacyError(
            f"kernel={facts['kernel']!r} of KernelDensity is not released with a "
            "Gaussian process (tophat, epanechnikov and cosine are no covariances: "
            "they are not positive definite): use kernel='gaussian', or PrivateKDE"
        )
    if isinstance(facts["bandwidth"], str):
        raise PrivacyError(
            f"bandwidth={facts['bandwidth']!r} is computed from the data without "
            "privacy: state a number, or use PrivateKDE"
        )
    if facts["metric"] != "euclidean" or facts["metric_params"] is not None:
        raise ValueError(
            f"metric={facts['metric']!r} of KernelDensity is not supported: use "
            "metric='euclidean' without metric_params"
        )
    return GaussianKernel(check_positive(facts["bandwidth"], "bandwidth"))


def _ridge(estimator: Any, owner: Any, origin: np.ndarray) -> RidgeFunction:
    facts = estimator.get_params(deep=False)
    name, gamma = facts["kernel"], facts["gamma"]
    if name not in ("rbf", "laplacian") or facts["kernel_params"] is not None:
        raise PrivacyError(
            f"kernel={name!r} of KernelRidge is not supported: use kernel='rbf' or "
            "'laplacian' with a number for gamma"
        )
    if gamma is None:
        raise ValueError("gamma of KernelRidge must be stated as a number > 0")
    gamma = check_positive(gamma, "gamma")
    kernel = ExponentialKernel(gamma)
    if name == "rbf":  # exp(-gamma norm(x - y)^2)
        kernel = GaussianKernel((2 * gamma) ** -0.5)
    if owner.kernel not in (None, kernel):
        raise ValueError(
            f"kernel must be None or that of the estimator, {kernel!r}; got "
            f"{owner.kernel!r}"
        )
    if owner.y_bounds is None:
        raise ValueError(
            "y_bounds must be stated for KernelRidge: the public ends (low, high) at "
            "which y is clipped"
        )
    low, high = check_interval(owner.y_bounds, "y_bounds")
    if not np.isfinite(high - low):
        raise ValueError("y_bounds are so far apart that their distance overflows")
    alpha = check_positive(facts["alpha"], "alpha")
    return RidgeFunction(kernel, alpha, low, high, origin)
