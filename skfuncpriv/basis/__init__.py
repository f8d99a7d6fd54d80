"""Public orthonormal bases of functions on an interval."""

from skfuncpriv.basis._base import Basis, check_orthonormal
from skfuncpriv.basis._bspline import BSplineBasis
from skfuncpriv.basis._cosine import CosineBasis
from skfuncpriv.basis._fourier import FourierBasis
from skfuncpriv.basis._kernel import KernelBasis
from skfuncpriv.basis._legendre import LegendreBasis
from skfuncpriv.basis._monomial import MonomialBasis
from skfuncpriv.basis._orthonormal import OrthonormalBasis
from skfuncpriv.basis._piecewise import PiecewisePolynomialBasis
from skfuncpriv.basis._sinc import SincBasis
from skfuncpriv.basis._smooth_cosine import SmoothCosineBasis
from skfuncpriv.basis._tensor import TensorBasis

__all__ = [
    "BSplineBasis",
    "Basis",
    "CosineBasis",
    "FourierBasis",
    "KernelBasis",
    "LegendreBasis",
    "MonomialBasis",
    "OrthonormalBasis",
    "PiecewisePolynomialBasis",
    "SincBasis",
    "SmoothCosineBasis",
    "TensorBasis",
    "check_orthonormal",
]
