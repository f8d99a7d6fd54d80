"""Bases are values: equal, hashable, picklable, immutable, whatever they computed."""

import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.gaussian_process.kernels import RBF

from skfuncpriv.basis import (
    BSplineBasis,
    CosineBasis,
    KernelBasis,
    PiecewisePolynomialBasis,
    SincBasis,
)

COPIES = {
    "pickle": lambda basis: pickle.loads(pickle.dumps(basis)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


@pytest.mark.parametrize("how", COPIES)
def test_copies_are_equal_and_evaluate_the_same(make, how):
    basis = make(6, (0.0, 2.0))
    before = basis.evaluate([0.5, 1.0])
    twin = COPIES[how](basis)
    assert twin == basis
    assert repr(twin) == repr(basis)
    assert_array_equal(twin.evaluate([0.5, 1.0]), before)


def test_what_was_computed_is_not_part_of_the_state(make):
    basis = make(6, (0.0, 2.0))
    before = pickle.dumps(make(6, (0.0, 2.0)))
    basis.evaluate([0.5])
    assert len(basis.spectrum) == 6
    assert pickle.dumps(basis) == before


def test_bases_differ_in_any_parameter(make):
    basis = make(6, (0.0, 2.0))
    assert basis == make(6, (0.0, 2.0))
    assert basis != make(7, (0.0, 2.0))
    assert basis != make(6, (0.0, 2.5))


def test_named_bases_are_hashable():
    assert hash(KernelBasis("gaussian", 5)) == hash(KernelBasis("gaussian", 5))
    assert len({CosineBasis(5), CosineBasis(np.int64(5), [0, 1])}) == 1


def test_bases_are_immutable(make):
    with pytest.raises(FrozenInstanceError):
        make(6, (0.0, 2.0)).n_basis = 7


def test_the_spectrum_belongs_to_the_caller(make):
    basis = make(6, (0.0, 2.0))
    wanted = basis.spectrum
    basis.spectrum[:] = 0.0
    assert_array_equal(basis.spectrum, wanted)


def test_a_kernel_changed_later_changes_no_basis():
    kernel = RBF(0.2)
    basis = KernelBasis(kernel, 5)
    kernel.length_scale = 0.5
    assert_array_equal(basis.spectrum, KernelBasis(RBF(0.2), 5).spectrum)


def test_replace_makes_a_new_basis():
    assert replace(CosineBasis(5), n_basis=6) == CosineBasis(6)


def test_repr_shows_every_parameter():
    assert repr(CosineBasis(5)) == "CosineBasis(n_basis=5, domain=(0.0, 1.0))"


def test_a_flag_tells_positions_from_frequencies(make):
    basis = make(6, (0.0, 2.0))
    underneath = getattr(basis, "basis", basis)
    local = (BSplineBasis, SincBasis, PiecewisePolynomialBasis)
    assert basis.ordered_by_frequency is not isinstance(underneath, local)
