"""Axes of a grid: orthonormal transforms, functions and nodes agree."""

from dataclasses import replace

import numpy as np
import pytest

from skfuncpriv.density._axes import CosineAxis, FourierAxis, make_axis

AXES = [kind(size) for kind in (CosineAxis, FourierAxis) for size in (2, 5, 8, 33)]


@pytest.fixture(params=AXES, ids=repr)
def axis(request):
    return request.param


def test_the_transform_is_orthonormal(axis):
    identity = np.eye(axis.n_bins)
    matrix = axis.transform(identity, 1)
    np.testing.assert_allclose(matrix @ matrix.T, identity, rtol=0, atol=1e-12)
    np.testing.assert_allclose(axis.inverse(matrix, 1), identity, rtol=0, atol=1e-12)


def test_the_transform_holds_the_functions_at_the_centres(axis):
    centres = (np.arange(axis.n_bins) + 0.5) / axis.n_bins
    expected = axis.functions(centres) / np.sqrt(axis.n_bins)
    found = axis.transform(np.eye(axis.n_bins), 1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_functions_are_orthonormal_on_the_unit_interval(axis):
    points = (np.arange(5000) + 0.5) / 5000
    functions = axis.functions(points)
    gram = functions.T @ functions / len(points)
    np.testing.assert_allclose(gram, np.eye(axis.n_bins), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(functions[:, 0], 1.0)
    assert axis.ranks[0] == 0


def test_nodes_are_the_functions_there(axis):
    coef = np.random.default_rng(0).normal(size=(axis.n_bins, 3))
    nodes = np.linspace(0, 1, 41)
    found = axis.at_nodes(coef, 40, axis=0)
    np.testing.assert_allclose(found, axis.functions(nodes) @ coef, rtol=0, atol=1e-11)


def test_damping_is_that_of_linear_binning(axis):
    """The first coefficient of many points, where it is far from its aliases."""
    if axis.n_bins < 33:
        axis = replace(axis, n_bins=axis.n_bins + 31)
    points = (np.arange(200_000) + 0.5) / 200_000
    at = points * axis.n_bins - 0.5
    if isinstance(axis, CosineAxis):
        at = np.clip(at, 0, axis.n_bins - 1)
    left = np.floor(at).astype(int)
    k = 1
    weights = 1 + 0.5 * axis.functions(points)[:, k]
    masses = np.zeros(axis.n_bins)
    for end, share in ((left, 1 - (at - left)), (left + 1, at - left)):
        masses += np.bincount(end % axis.n_bins, share * weights, axis.n_bins)
    coef = axis.transform(masses / len(points), 0) * np.sqrt(axis.n_bins)
    assert 0.5 * axis.damping[k] == pytest.approx(coef[k], rel=1e-4)


def test_periodic_axes_are_told_by_the_boundary():
    assert make_axis(4, "periodic") == FourierAxis(4)
    assert make_axis(4, "reflect") == make_axis(4, "renormalize") == CosineAxis(4)
