"""Every basis, on domains of other units, for the tests of one property each."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RationalQuadratic

from skfuncpriv.basis import (
    BSplineBasis,
    CosineBasis,
    FourierBasis,
    KernelBasis,
    LegendreBasis,
    MonomialBasis,
    PiecewisePolynomialBasis,
    SincBasis,
    SmoothCosineBasis,
)

DOMAINS = [(0.0, 1.0), (-3.0, 21.0), (1e3, 1e3 + 0.5)]


def _pieces(n_basis, domain, degree, continuity):
    """Pieces of equal length that have `n_basis` functions in all."""
    pieces = (n_basis - continuity - 1) // (degree - continuity)
    breaks = tuple(np.linspace(*domain, pieces + 1))
    return PiecewisePolynomialBasis(breaks, degree, continuity)


# Constructors (n_basis, domain) -> basis that check both.
SIZED = {
    "cosine": CosineBasis,
    "smooth cosine": SmoothCosineBasis,
    "fourier": FourierBasis,
    "legendre": LegendreBasis,
    "spline": BSplineBasis,
    "orthonormal spline": lambda *args: BSplineBasis(*args).orthonormalize(),
    "exponential": lambda *args: KernelBasis("exponential", *args),
    "matern32": lambda *args: KernelBasis("matern32", *args),
    "matern52": lambda *args: KernelBasis("matern52", *args),
    "gaussian": lambda *args: KernelBasis("gaussian", *args),
    "object": lambda *args: KernelBasis(RationalQuadratic(3.0), *args),
    "monomial": MonomialBasis,
    "sinc": SincBasis,
    "orthonormal sinc": lambda *args: SincBasis(*args).orthonormalize(),
}
# The breaks of these settle both.
PIECEWISE = {
    "constant pieces": lambda *args: _pieces(*args, 0, -1),
    "continuous pieces": lambda *args: _pieces(*args, 1, 0),
    "smooth pieces": lambda *args: _pieces(*args, 2, 1),
}
MAKERS = SIZED | PIECEWISE
RAW = ("spline", "monomial", "sinc")
ORTHONORMAL = [name for name in MAKERS if name not in RAW]


@pytest.fixture(params=MAKERS)
def make(request):
    """A constructor (n_basis, domain) -> basis, one for each kind."""
    return MAKERS[request.param]


@pytest.fixture(params=SIZED)
def make_sized(request):
    """As `make`, for the kinds that are given a size and a domain."""
    return SIZED[request.param]


@pytest.fixture(params=ORTHONORMAL)
def make_orthonormal(request):
    """As `make`, for the orthonormal kinds."""
    return MAKERS[request.param]


@pytest.fixture(params=DOMAINS, ids=str)
def domain(request):
    return request.param
