"""Every basis, on domains of other units, for the tests of one property each."""

import pytest
from sklearn.gaussian_process.kernels import RationalQuadratic

from skfuncpriv.basis import (
    BSplineBasis,
    CosineBasis,
    FourierBasis,
    KernelBasis,
    LegendreBasis,
)

DOMAINS = [(0.0, 1.0), (-3.0, 21.0), (1e3, 1e3 + 0.5)]

MAKERS = {
    "cosine": CosineBasis,
    "fourier": FourierBasis,
    "legendre": LegendreBasis,
    "spline": BSplineBasis,
    "orthonormal spline": lambda *args: BSplineBasis(*args).orthonormalize(),
    "exponential": lambda *args: KernelBasis("exponential", *args),
    "matern32": lambda *args: KernelBasis("matern32", *args),
    "matern52": lambda *args: KernelBasis("matern52", *args),
    "gaussian": lambda *args: KernelBasis("gaussian", *args),
    "object": lambda *args: KernelBasis(RationalQuadratic(3.0), *args),
}
ORTHONORMAL = [name for name in MAKERS if name != "spline"]


@pytest.fixture(params=MAKERS)
def make(request):
    """A constructor (n_basis, domain) -> basis, one for each kind."""
    return MAKERS[request.param]


@pytest.fixture(params=ORTHONORMAL)
def make_orthonormal(request):
    """As `make`, for the orthonormal kinds."""
    return MAKERS[request.param]


@pytest.fixture(params=DOMAINS, ids=str)
def domain(request):
    return request.param
