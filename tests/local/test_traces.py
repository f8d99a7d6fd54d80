"""Positions in metres and back, and traces of points without times."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfuncpriv import BasisProjector
from skfuncpriv.local import arc_length_curves, to_degrees, to_metres

RADIUS = 6371008.8


def haversine(lon, lat, other_lon, other_lat):
    lon, lat, other_lon, other_lat = map(np.radians, (lon, lat, other_lon, other_lat))
    half = np.sin((other_lat - lat) / 2) ** 2
    half += np.cos(lat) * np.cos(other_lat) * np.sin((other_lon - lon) / 2) ** 2
    return 2 * RADIUS * np.arcsin(np.sqrt(half))


ORIGINS = [(13.4, 52.5), (-179.9, -17.0), (179.95, 66.0), (0.0, 0.0), (250.0, -80.0)]


@pytest.mark.parametrize("origin", ORIGINS, ids=str)
def test_there_and_back(origin):
    xy = np.random.default_rng(0).uniform(-2e5, 2e5, size=(50, 3, 2))
    lon, lat = to_degrees(xy, origin=origin)
    assert ((lon >= -180) & (lon < 180) & (abs(lat) <= 90)).all()
    found = to_metres(lon, lat, origin=origin)
    assert found.shape == xy.shape
    assert_allclose(found, xy, rtol=0, atol=1e-6)  # a micrometre
    again = to_degrees(found, origin=origin)
    assert_allclose(again[1], lat, rtol=0, atol=1e-12)


@pytest.mark.parametrize("origin", ORIGINS, ids=str)
def test_distances_are_those_of_a_sphere_within_the_stated_error(origin):
    """East-west off by tan(lat) times the angle to the origin; north-south exact."""
    rng = np.random.default_rng(1)
    xy = rng.uniform(-5e4, 5e4, size=(200, 2))
    lon, lat = to_degrees(xy, origin=origin)
    angle = abs(xy[:, 1]).max() / RADIUS
    lean = np.tan(np.radians(abs(origin[1]))) * angle
    flat = np.linalg.norm(xy[1:] - xy[:-1], axis=1)
    wanted = haversine(lon[1:], lat[1:], lon[:-1], lat[:-1])
    # second order: the width of a meridian strip, and the chord of a great circle
    slack = 2 * angle**2 * (1 + np.tan(np.radians(abs(origin[1]))) ** 2)
    assert (abs(flat - wanted) <= (lean + slack) * wanted).all()
    north = to_metres([origin[0]] * 2, [origin[1], origin[1] + 0.3], origin=origin)
    assert_allclose(north[1] - north[0], [0, np.radians(0.3) * RADIUS], atol=1e-6)


def test_nine_permille_at_fifty_degrees_and_fifty_kilometres():
    """The number in the docstring."""
    lon, lat = to_degrees([[0.0, 5e4], [1000.0, 5e4]], origin=(10.0, 50.0))
    found = haversine(lon[0], lat[0], lon[1], lat[1])
    assert abs(found - 1000.0) / found == pytest.approx(0.009, abs=0.001)


def test_the_map_is_linear():
    """The metric is L2 in metres: a fixed linear map of degrees near the origin."""
    rng = np.random.default_rng(2)
    lon, lat = 10 + rng.normal(size=20), 50 + rng.normal(size=20)
    xy = to_metres(lon, lat, origin=(10.0, 50.0))
    middle = to_metres(
        (lon[0] + lon[1]) / 2, (lat[0] + lat[1]) / 2, origin=(10.0, 50.0)
    )
    assert_allclose(middle, (xy[0] + xy[1]) / 2, atol=1e-6)


def test_across_the_date_line():
    origin = (180.0, 0.0)
    xy = to_metres([179.9, -179.9, 180.1, 540.1 - 360], [0.0] * 4, origin=origin)
    step = np.radians(0.1) * RADIUS
    assert_allclose(xy[:, 0], [-step, step, step, step], atol=1e-6)
    for east in (-180.0, 180.0):
        found = to_metres([-179.9], [0.0], origin=(east, 0.0))
        assert_allclose(found, [[step, 0.0]], atol=1e-6)


def test_numbers_alone():
    assert to_metres(13.4, 52.5, origin=(13.4, 52.5)).tolist() == [0.0, 0.0]
    lon, lat = to_degrees([0.0, 0.0], origin=(13.4, 52.5))
    assert (float(lon), float(lat)) == (pytest.approx(13.4), 52.5)


def test_beyond_the_pole_is_the_pole():
    _, lat = to_degrees([[0.0, 1e8], [0.0, -1e8]], origin=(0.0, 80.0))
    assert lat.tolist() == [90.0, -90.0]


@pytest.mark.parametrize(
    ("lon", "lat"),
    [
        ([361.0], [0.0]),
        ([77.25], [90.5]),
        ([500_000.0], [5_800_000.0]),
        ([np.nan], [0.0]),
        ([0.0], [np.inf]),
        (["secret"], [0.0]),
        ([77.25j], [0.0]),
        ([10**400], [0.0]),
    ],
)
def test_what_are_no_degrees_is_refused_without_a_value(lon, lat):
    with pytest.raises(ValueError, match=r"lon must be degrees|Input|Complex") as error:
        to_metres(lon, lat, origin=(0.0, 0.0))
    for number in (*lon, *lat):
        assert number == 0 or str(number) not in str(error.value)


@pytest.mark.parametrize(
    "origin",
    [
        None,
        3.0,
        (1.0,),
        (0.0, 86.0),
        (400.0, 0.0),
        (np.nan, 0.0),
        ("0", "0"),
        (0, 1, 2),
    ],
    ids=repr,
)
def test_bad_origins_are_refused(origin):
    for call in (
        lambda: to_metres([0.0], [0.0], origin=origin),
        lambda: to_degrees([[0.0, 0.0]], origin=origin),
    ):
        with pytest.raises(ValueError, match="origin must be"):
            call()


# Arc length


def test_times_are_shares_of_the_length():
    traces = [[[0, 0], [3, 4], [3, 4], [3, 9]], [[1, 1], [1, 2], [1, 4]]]
    curves = arc_length_curves(traces, domain=(10, 20))
    assert_array_equal(curves.offsets, [0, 3, 6])
    assert_allclose(curves.times, [10, 15, 20, 10, 10 + 10 / 3, 20])
    assert_array_equal(curves.values[:3], [[0, 0], [3, 4], [3, 9]])
    assert curves.domain == (10.0, 20.0)
    assert curves.is_vector


def test_speed_is_constant():
    rng = np.random.default_rng(3)
    trace = np.cumsum(rng.normal(size=(50, 3)), axis=0)
    curves = arc_length_curves([trace])
    steps = np.linalg.norm(np.diff(curves.values, axis=0), axis=1)
    speed = steps / np.diff(curves.times)
    assert_allclose(speed, steps.sum(), rtol=1e-9)
    assert curves.times[[0, -1]].tolist() == [0.0, 1.0]


def test_points_on_a_line_change_nothing():
    """How densely a trace was recorded does not show."""
    trace = np.array([[0.0, 0.0], [30.0, 40.0], [30.0, 90.0]])
    share = np.linspace(0, 1, 6)[:-1, None]
    dense = np.concatenate([
        trace[0] + share * (trace[1] - trace[0]),
        trace[1] + share * (trace[2] - trace[1]), trace[2:],
    ])  # fmt: skip
    projector = BasisProjector(n_basis=5).fit(arc_length_curves([trace]))
    few, many = (projector.transform(arc_length_curves([x])) for x in (trace, dense))
    assert_allclose(few, many, atol=1e-12)
    shifted = trace * 7.0  # the length itself is normalised away
    assert_allclose(projector.transform(arc_length_curves([shifted])), 7 * few)


def test_a_trace_of_one_place_is_constant():
    curves = arc_length_curves([[[5.0, 6.0]] * 4, [[1.0, 2.0]]])
    assert_array_equal(curves.values, [[5.0, 6.0], [1.0, 2.0]])
    assert_array_equal(curves.times, [0.0, 0.0])


def test_extreme_sizes_are_fine():
    line = np.stack([np.linspace(-1, 1, 5), np.zeros(5)], axis=1)
    for scale in (1e-300, 1e150, 1.7e308):
        curves = arc_length_curves([scale * line])
        assert_allclose(curves.times, [0, 0.25, 0.5, 0.75, 1.0])
    mixed = np.array([[0.0], [1e-200], [1.0], [1e300]])
    times = arc_length_curves([mixed]).times
    assert (np.diff(times) > 0).all()
    assert times[-1] == 1.0


@pytest.mark.parametrize(
    "traces",
    [
        [[1.0, 2.0]],
        [np.zeros((0, 2))],
        [[[77.25, np.nan]]],
        [[[77.25, np.inf]]],
        [[["secret", "77.25"]]],
        [[[77.25, 1.0], [1.0]]],
        [[[77.25, None]]],
        [[[77.25, 10**400]]],
        [np.full((2, 2), 77.25j)],
        [np.ones((2, 2), dtype=bool)],
        [np.ones((2, 2)).astype("datetime64[s]")],
    ],
)
def test_bad_traces_are_refused_without_a_value(traces):
    with pytest.raises((ValueError, TypeError)) as error:
        arc_length_curves(traces)
    assert "77.25" not in str(error.value)
    assert "secret" not in str(error.value)
    assert error.value.__cause__ is None


def test_no_traces_and_other_shapes_are_refused():
    with pytest.raises(ValueError, match="at least one trace"):
        arc_length_curves([])
    with pytest.raises(ValueError, match="as many outputs"):
        arc_length_curves([np.zeros((2, 2)), np.zeros((2, 3))])
    with pytest.raises(ValueError, match="domain must be two finite numbers"):
        arc_length_curves([np.zeros((2, 2))], domain=(1, 1))


def test_the_input_is_left_alone():
    trace = np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]])
    before = trace.copy()
    arc_length_curves([trace])
    assert_array_equal(trace, before)
