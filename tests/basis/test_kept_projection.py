"""Projections of public grids are kept; those of one person's points never are."""

import numpy as np
import pytest

from skfuncpriv import Curves, ICLPMean
from skfuncpriv.basis import CosineBasis, KernelBasis
from skfuncpriv.basis import _base as module
from skfuncpriv.basis._base import grid_projection


def test_a_kept_projection_is_the_projection():
    grid = np.linspace(0, 1, 7)
    for basis in (CosineBasis(3), CosineBasis(4), KernelBasis("gaussian", 3)):
        for _ in range(2):
            found = grid_projection(basis, grid)
            np.testing.assert_array_equal(found, basis.projection(grid))
    kept = grid_projection(CosineBasis(3), grid)
    assert kept is grid_projection(CosineBasis(3), grid.copy())
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 0.0
    other = grid + 0.001 * (grid == grid[3])
    assert (grid_projection(CosineBasis(3), other) != kept).any()


def test_what_is_kept_is_small_and_described_by_numbers(monkeypatch):
    monkeypatch.setattr(module, "_MOST_KEPT", 20)
    module._kept_projection.cache_clear()
    grid_projection(CosineBasis(3), np.linspace(0, 1, 7))
    grid_projection(KernelBasis("gaussian", 2), np.linspace(0, 1, 5))
    assert module._kept_projection.cache_info().currsize == 0


@pytest.mark.parametrize("is_irregular", [True, False])
def test_private_points_are_never_kept(is_irregular):
    module._kept_projection.cache_clear()
    curves = np.ones((2, 2))
    if is_irregular:
        t = np.array([0.1, 0.4, 0.2, 0.9])
        frame = {"id": np.array([0, 0, 1, 1]), "t": t, "y": np.ones(4)}
        curves = Curves.from_long(frame, id="id", t="t", y="y")
    for rounds in (1, 2):
        model = ICLPMean(bounds=(0, 2), domain=(0, 1), rounds=rounds, epsilon=1e4)
        model.fit(curves)
    assert (module._kept_projection.cache_info().currsize == 0) is is_irregular
