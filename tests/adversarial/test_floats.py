"""Attacks on floating point: low bits, layouts, orders, rounding of large numbers."""

import math
import pickle

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from threadpoolctl import threadpool_limits

from skfuncpriv import GaussianProcessReleaser, ICLPClassifier, ICLPRegressor
from skfuncpriv.density import _features, _lattice_bumps
from skfuncpriv.gaussian_process import _expansion, _tensor_expansion
from skfuncpriv.iclp import _lattice_values, _second_moment, _statistics
from skfuncpriv.noise import (
    FixedPoint,
    IndependentLaplace,
    Lattice,
    RandomBits,
    SeededBits,
    SphericalLaplace,
    release_lattice,
)
from skfuncpriv.summaries import _bins, _coefficients, _grid, _people
from skfuncpriv.testing._tools import fitted_attributes
from tests.adversarial.cases import (
    check_path,
    each_estimator,
    path_of,
    people,
    ready,
)

CHUNKS = [
    (_features, "_CHUNK_VALUES"), (_lattice_bumps, "_CHUNK_VALUES"),
    (_lattice_values, "_CHUNK_VALUES"), (_statistics, "_CHUNK_VALUES"),
    (_second_moment, "_CHUNK_VALUES"), (_coefficients, "_CHUNK_VALUES"),
    (_grid, "_CHUNK_VALUES"), (_people, "_BLOCK_VALUES"), (_bins, "_CHUNK_ROWS"),
    (_expansion, "_CHUNK"), (_tensor_expansion, "_CHUNK"),
]  # fmt: skip


def hidden(path):
    """The bits of everything that noise was added to."""
    values = [
        step[1].values if hasattr(step[1], "values") else step[1] for step in path
    ]
    return [(np.asarray(v).dtype.str, np.asarray(v).tolist()) for v in values]


@each_estimator
def test_all_that_is_left_is_a_function_of_the_release(model):
    """Give other people's data the same draws: any bit that differs is a leak."""
    first, other = ready(model), ready(model)
    path = path_of(first, *people(20))
    along = path_of(other, *people(20, seed=1), path=path)
    assert hidden(path) != hidden(along)
    assert pickle.dumps(fitted_attributes(first)) == pickle.dumps(
        fitted_attributes(other)
    )
    for (law, value, lattice, drawn), (law_too, *_) in zip(path, along, strict=True):
        assert repr(law) == repr(law_too)
        if hasattr(value, "lattice"):  # a choice has none
            assert drawn.dtype == np.int64
            fits = lattice.exponent <= math.frexp(law.smallest_scale)[1] - 21
            assert fits or lattice == release_lattice(law.smallest_scale, value)


def pays_for_roundings(model):
    """What is solved for, and matrix products whose roundings the noise covers."""
    solved = (ICLPRegressor, ICLPClassifier, GaussianProcessReleaser)
    kernel = model.get_params().get("mechanism") == "gaussian_process"
    return kernel or isinstance(model, solved)


def check_same(model, X, y, path, fit):
    """The bits of a sum are the same; other roundings are paid for, with a row."""
    if not pays_for_roundings(model):
        assert hidden(path_of(fit, X, y, path)) == hidden(path)
        return
    path_of(fit, X, y, path)
    X = X.copy()
    X[-1] = 1e300
    check_path(fit.guarantee_, path, path_of(fit, X, y, path))


@each_estimator
def test_the_order_of_people_moves_nothing(model):
    """Sort the people by what they hold: a sum that rounds would tell the order."""
    X, y = people(40)
    order = np.argsort(X[:, 0])
    path = path_of(ready(model), X, y)
    check_same(model, X[order], y[order], path, ready(model))


@each_estimator
def test_many_rows_of_one_person_move_nobody_else(model):
    """Own many rows, before all others': theirs lie elsewhere and may round otherwise.

    How many rows a person owns is private, like the rows.
    """
    if isinstance(getattr(model, "estimator", None), KernelRidge):
        pytest.skip("it refuses groups")
    X, y = people(61)
    paths, fit = [], ready(model)
    for count in (1, 37):
        rows = np.concatenate([X[:count] * 1e3, X[-20:]])
        target = np.concatenate([y[:count], y[-20:]])
        groups = np.repeat(np.arange(21), [count] + [1] * 20)
        path = paths[0] if paths else ()
        paths.append(path_of(fit, rows, target, path, groups=groups))
    assert fit.guarantee_.unit == "person"
    for k, path in enumerate(paths):
        check_path(fit.guarantee_, path, paths[k - 1])
    if not pays_for_roundings(model):  # copies of the only row are that row
        rows, target = np.repeat(X[:1], 40, axis=0), np.repeat(y[:1], 40)
        rows, target = (
            np.concatenate([rows, X[-20:]]),
            np.concatenate([target, y[-20:]]),
        )
        groups = np.repeat(np.arange(21), [40] + [1] * 20)
        many = path_of(fit, rows, target, groups=groups)
        alone = path_of(fit, rows[39:], target[39:], many, groups=groups[39:])
        assert hidden(alone) == hidden(many)


LAYOUTS = {
    "float16, by columns": lambda X: np.asfortranarray(X.astype(np.float16)),
    "big-endian float32, strided": lambda X: np.repeat(X.astype(">f4"), 3, 1)[:, ::3],
    "uint64, backwards": lambda X: X.astype(np.uint64)[::-1, ::-1].copy()[::-1, ::-1],
    "int8, read-only": lambda X: np.frombuffer(
        X.astype(np.int8).tobytes(), np.int8
    ).reshape(X.shape),
}


@each_estimator
def test_layouts_and_types_of_the_same_numbers_move_nothing(model):
    """Hand over the same numbers in other types, orders of bytes and strides."""
    X, y = people(12)
    X = np.clip(np.rint(np.abs(X)), 0, 127)  # exact in every type
    path = path_of(ready(model), X, y)
    for layout in LAYOUTS.values():
        assert hidden(path_of(ready(model), layout(X), y, path)) == hidden(path)


@each_estimator
def test_chunks_and_threads_move_nothing(model, monkeypatch):
    """Change how the work is divided: a sum that depends on it would show memory."""
    X, y = people(60)
    with threadpool_limits(1):
        path = path_of(ready(model), X, y)
    for module, name in CHUNKS:
        monkeypatch.setattr(module, name, 16)
    with threadpool_limits(2):
        check_same(model, X, y, path, ready(model))


class Fixed(RandomBits):
    """The same words in every release, with the sign bit of each as it is or not."""

    seeded = True

    def __init__(self, mirrored=False, seed=4):
        self._bits, self._mirrored = SeededBits(seed), np.uint64(mirrored)

    def words(self, count):
        return self._bits.words(count) ^ self._mirrored


N_DRAWS = 3000


@pytest.mark.parametrize("far", [2**30, 2**50, 2**53 + 1, 2**60, 2**61 - 2])
@pytest.mark.parametrize("law", [IndependentLaplace((9.0,)), SphericalLaplace(1, 9.0)])
def test_noise_does_not_drift_far_from_zero(law, far):
    """Push a sum to the end of the range: each draw must be what it is at zero."""
    lattice = Lattice(-3)

    def draws(value):
        values = np.full((N_DRAWS, 1), value)
        return law.release(FixedPoint(values, lattice, 2**61), lattice, Fixed())

    at_zero = draws(0)
    assert len(np.unique(at_zero)) > 100
    for value in (far, far + 1, -far, -far - 1):
        np.testing.assert_array_equal(draws(value) - value, at_zero)


def test_saturation_is_symmetric_and_hides_how_far_beyond():
    """Release floats beyond the range: both ends alike, and all beyond an end alike."""
    law, lattice = IndependentLaplace((1.0,)), Lattice(-20)

    def draws(value, mirrored=False):
        values = np.full((200, 1), value)
        return law.release(values, lattice, Fixed(mirrored))

    high = draws(2.0**41)
    assert (abs(high - 2**61) < 2**26).all()
    for value in (2.0**41 + 1, 1e300, 1e308):
        np.testing.assert_array_equal(draws(value), high)
        mirror = draws(-value, mirrored=True)
        ties = (-mirror - high) != 0
        assert (-mirror - high)[ties].tolist() == []


def test_noise_wider_than_the_lattice_saturates_alike():
    """Give one coordinate noise of 2^80 steps: it ends at 2^62, on either side."""
    law, lattice = IndependentLaplace((2.0**60,)), Lattice(-20)
    zeros = np.zeros((40, 1))
    high = law.release(zeros, lattice, Fixed())
    assert (abs(high) == 2**62).all()
    np.testing.assert_array_equal(law.release(zeros, lattice, Fixed(True)), -high)
