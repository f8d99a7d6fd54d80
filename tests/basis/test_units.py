"""A change of units changes functions by its square root and nothing else."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import RBF

from skfuncpriv.basis import KernelBasis

from .conftest import MAKERS

# Functions that are numbers or powers, and a kernel with a length of its own.
OTHERS = ("spline", "monomial", "object")
IN_UNITS = [name for name in MAKERS if name not in OTHERS]
T = np.linspace(0.0, 2.0, 23)


@pytest.mark.parametrize("name", IN_UNITS)
def test_metres_and_centimetres(name):
    metres = MAKERS[name](9, (0.0, 2.0))
    centimetres = MAKERS[name](9, (0.0, 200.0))
    assert_allclose(
        centimetres.evaluate(100.0 * T), 0.1 * metres.evaluate(T), rtol=0, atol=1e-13
    )
    assert_allclose(centimetres.spectrum, 100.0 * metres.spectrum, rtol=1e-13)
    assert_allclose(
        centimetres.projection(100.0 * T),
        10.0 * metres.projection(T),
        rtol=0,
        atol=1e-13,
    )


def test_length_scales_are_in_the_units_of_the_domain():
    metres = KernelBasis("matern52", 6, (1.0, 3.0), length_scale=0.3)
    centimetres = KernelBasis("matern52", 6, (100.0, 300.0), length_scale=30.0)
    assert_allclose(centimetres.spectrum, 100.0 * metres.spectrum, rtol=1e-12)


def test_the_default_length_scale_is_a_tenth_of_the_width():
    wanted = KernelBasis("matern32", 6, (1.0, 3.0), length_scale=0.2)
    found = KernelBasis("matern32", 6, (1.0, 3.0))
    assert_allclose(found.spectrum, wanted.spectrum, rtol=1e-14)


def test_kernel_objects_see_the_points_in_the_units_of_the_domain():
    found = KernelBasis(RBF(30.0), 6, (100.0, 300.0))
    wanted = KernelBasis("gaussian", 6, (100.0, 300.0), length_scale=30.0)
    assert_allclose(found.spectrum, wanted.spectrum, rtol=1e-12)


def test_spectra_are_positive_and_do_not_increase(make, domain):
    spectrum = make(40, domain).spectrum
    assert spectrum.shape == (40,)
    assert np.all(spectrum > 0)
    assert np.all(np.diff(spectrum) <= 0)
