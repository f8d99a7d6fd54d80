"""The norm that value bounds imply is a bound, and it is attained."""

import math

import numpy as np
import pytest

from skfuncpriv.summaries import ValueBounds

DOMAIN = (-1.0, 4.0)


def squared_norm(values, grid, domain=DOMAIN):
    """Squared L2 norm of the piecewise linear curve, constant beyond its grid."""
    edges = np.unique(np.concatenate([domain, grid]))
    total = 0.0
    for column in np.atleast_2d(np.transpose(values)):
        at = np.interp(edges, grid, column)  # Simpson is exact for squares of lines
        middle = (at[1:] + at[:-1]) / 2
        cells = at[1:] ** 2 + 4 * middle**2 + at[:-1] ** 2
        total += (np.diff(edges) * cells).sum() / 6
    return total


GRIDS = {
    "regular": np.linspace(*DOMAIN, 6),
    "inside": np.array([-0.5, 0.0, 0.1, 3.0]),
    "one": np.array([2.0]),
}
each_grid = pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)


@each_grid
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("form", ["middle", "number", "outputs", "points"])
def test_no_curve_is_longer_and_one_is_as_long(grid, n_outputs, form):
    rng = np.random.default_rng(0)
    low = rng.uniform(-3, 0, n_outputs)
    high = low + rng.uniform(1, 2, n_outputs)
    center = {
        "middle": None,
        "number": float(np.max(low)),
        "outputs": low + 0.1,
        "points": rng.uniform(low, high, (len(grid), n_outputs)),
    }[form]
    if form == "number":
        high = np.maximum(high, center + 0.5)
    values = ValueBounds.from_parameters(
        (low, high), domain=DOMAIN, n_outputs=n_outputs, grid=grid, center=center
    )
    middle = np.broadcast_to(values.center, (len(grid), n_outputs))
    bound = values.norm_bound
    assert values.largest_norm == bound
    curves = rng.uniform(low, high, (200, len(grid), n_outputs))
    curves[:100] = np.where(rng.uniform(size=curves[:100].shape) < 0.5, low, high)
    for curve in curves:
        assert math.sqrt(squared_norm(curve - middle, grid)) <= bound * (1 + 1e-12)
    reach = np.maximum(high - middle, middle - low)
    assert math.sqrt(squared_norm(reach, grid)) == pytest.approx(bound, rel=1e-12)


def test_middle_of_the_bounds_is_the_default_center():
    values = ValueBounds.from_parameters((1.0, 5.0), domain=DOMAIN)
    np.testing.assert_array_equal(values.center, [3.0])
    assert values.norm_bound == pytest.approx(2 * math.sqrt(5))


def test_reach_is_the_distance_to_the_farther_bound():
    for center, reach in ((2.0, 3.0), (4.0, 3.0), (3.0, 2.0), (1.0, 4.0)):
        values = ValueBounds.from_parameters((1.0, 5.0), domain=DOMAIN, center=center)
        np.testing.assert_array_equal(values.reach, [reach])
        assert values.norm_bound == pytest.approx(reach * math.sqrt(5))


def test_facts_about_bounds_cannot_be_changed():
    values = ValueBounds.from_parameters((1.0, 5.0), domain=DOMAIN)
    for array in (values.low, values.high, values.center):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def test_tighter_norm_bounds_are_taken():
    for stated, expected in ((1.0, 1.0), (1e9, 2 * math.sqrt(5))):
        values = ValueBounds.from_parameters(
            (1.0, 5.0), domain=DOMAIN, norm_bound=stated
        )
        assert values.norm_bound == pytest.approx(expected)
        assert values.largest_norm == pytest.approx(2 * math.sqrt(5))


def test_units_scale_the_norm_bound():
    grid = GRIDS["inside"]
    center = np.array([0.2, 0.5, 0.9, 0.4])
    plain = ValueBounds.from_parameters(
        (0, 1), domain=DOMAIN, grid=grid, center=center
    ).norm_bound
    for factor in (1e-200, 2.0**30, 1e150):
        scaled = ValueBounds.from_parameters(
            (0, factor), domain=DOMAIN, grid=grid, center=factor * center
        )
        assert scaled.norm_bound == pytest.approx(factor * plain, rel=1e-12)


@pytest.mark.parametrize(
    "bounds",
    [
        (1, 1), (2, 1), (math.nan, 1), (0, math.nan), (0, math.inf), (-math.inf, 0),
        ("0", "1"), "01", None, 3.0, (0,), (0, 1, 2), (False, True), (0, [1, 2]),
        ([0, 0], [1, 1]), (0, None), (0, 1j),
    ],
    ids=repr,
)  # fmt: skip
def test_bad_bounds(bounds):
    with pytest.raises(ValueError, match="bounds must be"):
        ValueBounds.from_parameters(bounds, domain=DOMAIN)


@pytest.mark.parametrize(
    "center",
    [2.0, -0.1, math.nan, [0.5, 0.5], np.full(5, 0.5), np.full((6, 2), 0.5),
     np.append(np.full(5, 0.5), math.nan)],
)  # fmt: skip
def test_bad_centers(center):
    with pytest.raises(ValueError, match="center must"):
        ValueBounds.from_parameters(
            (0, 1), domain=DOMAIN, grid=GRIDS["regular"], center=center
        )


def test_a_center_of_points_needs_a_common_grid():
    with pytest.raises(ValueError, match="on a common grid"):
        ValueBounds.from_parameters((0, 1), domain=DOMAIN, center=[0.5] * 6)


def test_bounds_that_overflow_are_refused():
    with pytest.raises(ValueError, match="norm of a curve overflows"):
        ValueBounds.from_parameters((-1.7e308, 1.7e308), domain=DOMAIN)
    wide = ValueBounds.from_parameters((0, 1.7e308), domain=(0, 1))
    assert math.isfinite(wide.norm_bound)
