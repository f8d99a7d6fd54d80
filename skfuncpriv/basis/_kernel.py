"""The Karhunen-Loeve basis of a covariance kernel.

Mercer: K(s, t) = sum_j lambda_j phi_j(s) phi_j(t), where phi_j are orthonormal in L2
and the integral of K(s, t) phi_j(t) over the domain is lambda_j phi_j(s).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from skfuncpriv._validation import check_positive
from skfuncpriv.basis._base import Basis
from skfuncpriv.basis._expansion import Expansion
from skfuncpriv.basis._matern import matern_expansion
from skfuncpriv.basis._nystrom import kernel_expansion
from skfuncpriv.basis._quadrature import FloatArray

KERNELS = ("exponential", "matern12", "matern32", "matern52", "gaussian")
# The length scale that stands for None, as a fraction of the width of the domain.
DEFAULT_LENGTH = 0.1


@dataclass(frozen=True)
class KernelBasis(Basis):
    """Eigenfunctions of a covariance kernel, the largest eigenvalue first.

    Parameters
    ----------
    kernel : str or callable, default="matern32"
        "exponential" (also called "matern12"), "matern32", "matern52", "gaussian", a
        scikit-learn kernel object, or any ``kernel(X, Y) -> (n, m)`` on columns of
        points (n, 1) and (m, 1) in the user's units; public, symmetric and positive
        semi-definite.
    n_basis : int, default=32
        Number of functions, public.
    domain : tuple of two floats, default=(0.0, 1.0)
        Ends of the interval, public, in the user's units.
    length_scale : float or None, default=None
        Length scale of a named kernel, public, in the user's units; None is a tenth of
        the width of the domain. A kernel object has its own.

    Attributes
    ----------
    spectrum : ndarray of shape (n_basis,)
        Karhunen-Loeve eigenvalues, decreasing and positive, public, in units of the
        kernel times the argument.

    Raises
    ------
    ValueError
        If a parameter breaks its rule; on first use, if the kernel is not symmetric or
        not positive semi-definite, or too rough to be resolved.

    Notes
    -----
    Named kernels are those of `sklearn.gaussian_process.kernels` with variance one:
    Matern with nu = 1/2, 3/2, 5/2 and RBF. The exponential has a closed form, the other
    Matern kernels a spectrally accurate matrix, smooth kernels Gauss-Legendre Nystrom;
    kernels with a kink on the diagonal are integrated on either side of it. In each
    case the functions are orthonormal to rounding.

    Eigenvalues below 1e-12 of the first cannot be told from rounding errors (a Gaussian
    kernel has only a few dozen above; a function is known to about 1e-15 over its part
    of the first eigenvalue). `spectrum` shows them as that floor, and their functions
    are the smoothest ones orthogonal to those before, so that every `n_basis` gives an
    orthonormal basis. Signs are fixed: the first large swing from the left is upward.
    Functions of equal eigenvalues (periodic kernels) may be any orthonormal basis of
    their span.

    References
    ----------
    .. [1] Rasmussen and Williams (2006), Gaussian Processes for Machine Learning, 4.3.

    Examples
    --------
    >>> from skfuncpriv.basis import KernelBasis
    >>> basis = KernelBasis("exponential", n_basis=3, domain=(0.0, 24.0))
    >>> basis.spectrum.round(3)
    array([4.49 , 3.745, 2.908])
    """

    kernel: str | Callable[[Any, Any], Any] = "matern32"
    n_basis: int = 32
    domain: tuple[float, float] = (0.0, 1.0)
    length_scale: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.kernel, str):
            if self.kernel not in KERNELS:
                raise ValueError(
                    f"kernel must be one of {KERNELS} or callable, got {self.kernel!r}"
                )
        elif not callable(self.kernel):
            raise ValueError(
                f"kernel must be one of {KERNELS} or callable, got {self.kernel!r}"
            )
        elif self.length_scale is not None:
            raise ValueError(
                "length_scale must be None with a kernel object, which has its own"
            )
        if self.length_scale is not None:
            self._set("length_scale", check_positive(self.length_scale, "length_scale"))
        # Kernel objects are mutable; this basis is not.
        self._set("kernel", copy.deepcopy(self.kernel))

    @property
    def spectrum(self) -> FloatArray:
        """Karhunen-Loeve eigenvalues, decreasing and positive."""
        return 0.5 * self._width * self._expansion.eigenvalues

    @cached_property
    def _expansion(self) -> Expansion:
        """Eigenpairs on [-1, 1]; equal named kernels share them."""
        kernel = self.kernel
        if isinstance(kernel, str):
            length = self.length_scale or DEFAULT_LENGTH * self._width
            return _named_expansion(kernel, 2.0 * length / self._width, self.n_basis)

        def on_reference(x: FloatArray, y: FloatArray) -> FloatArray:
            values = kernel(self._from_reference(x), self._from_reference(y))
            table = np.asarray(values, dtype=float)
            if table.shape != (len(x), len(y)):
                raise ValueError(
                    f"kernel(X, Y) must have shape {(len(x), len(y))}, "
                    f"got {table.shape}"
                )
            return table

        return kernel_expansion(on_reference, self.n_basis)

    def _evaluate(self, t: FloatArray) -> FloatArray:
        functions = self._expansion.evaluate(self._reference(t))
        functions *= np.sqrt(2.0 / self._width)
        return functions

    def _breaks(self) -> FloatArray:
        return self._from_reference(self._expansion.breaks())


@lru_cache(maxsize=64)
def _named_expansion(kernel: str, length: float, n_functions: int) -> Expansion:
    """Eigenpairs of a named kernel with `length` on [-1, 1]."""
    if kernel != "gaussian":
        name = "exponential" if kernel == "matern12" else kernel
        return matern_expansion(name, length, n_functions)

    def gaussian(x: FloatArray, y: FloatArray) -> FloatArray:
        values: FloatArray = np.exp(-0.5 * ((x - y.T) / length) ** 2)
        return values

    return kernel_expansion(gaussian, n_functions)
