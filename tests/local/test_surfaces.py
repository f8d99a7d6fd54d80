"""Functions of several variables: what is clipped, what is subtracted, what returns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfuncpriv import BasisProjector
from skfuncpriv.basis import CosineBasis, TensorBasis

BASIS = TensorBasis((CosineBasis(3, (0.0, 4.0)), CosineBasis(4)))


@pytest.mark.parametrize("center", [None, 2.5])
def test_values_are_clipped_and_centred(center):
    X = np.random.default_rng(0).uniform(-9, 9, size=(3, 6, 5))
    projector = BasisProjector(basis=BASIS, bounds=(1.0, 5.0), center=center).fit(X)
    coefficients = projector.transform(X)
    assert_array_equal(projector.transform(np.clip(X, 1, 5)), coefficients)
    middle = 3.0 if center is None else center
    assert_allclose(projector.center_, middle)
    free = BasisProjector(basis=BASIS).fit(X)
    assert_allclose(coefficients, free.transform(np.clip(X, 1, 5) - middle), atol=1e-12)
    at_rest = projector.transform(np.full((1, 6, 5), middle))
    assert_allclose(at_rest, 0.0, atol=1e-12)
    assert_allclose(projector.inverse_transform(at_rest), middle)
    norms = np.linalg.norm(coefficients, axis=1)
    assert (norms <= projector.norm_bound_ + projector.projection_error_).all()
