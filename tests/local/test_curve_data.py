"""GeoPrivateCurve: what a release may depend on, every kind of data, and refusals.

Statistical limits are 6 standard errors; everything else is exact or seeded.
"""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from skfuncpriv import Curves, GeoPrivateCurve
from skfuncpriv.curves import as_curves
from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.privacy import BudgetLedger
from skfuncpriv.testing._secrets import reachable

GRID = np.linspace(0.0, 1.0, 41)
WALK = np.stack([np.sin(6 * GRID) * 3, np.cos(4 * GRID) + GRID], axis=-1)
BOUNDS = (-5.0, 5.0)


# What the output may depend on


@pytest.mark.parametrize("options", [{}, {"pieces": "svt"}, {"pieces": 5}], ids=str)
def test_number_and_times_of_points_are_not_visible(options):
    """One curve, sampled sparsely or densely on its own straight lines."""
    knots = np.array([0.0, 0.11, 0.4, 0.45, 0.8, 1.0])
    values = np.array([[0, 1], [2, 2], [-3, 1], [1, 0], [1, -4.0], [2, 3]])
    rng = np.random.default_rng(0)
    releases = []
    for extra in (0, 1, 500):
        t = np.unique(np.concatenate([knots, rng.uniform(0, 1, extra)]))
        y = np.stack([np.interp(t, knots, column) for column in values.T], axis=1)
        curves = Curves(y, t, [0, len(t)])
        model = GeoPrivateCurve(
            epsilon=5.0, bounds=BOUNDS, domain=(0, 1), random_state=3, **options
        )
        releases.append(model.fit(curves).transform(curves))
        assert releases[-1].shape == (1, 101, 2)
    for other in releases[1:]:
        np.testing.assert_allclose(other, releases[0], atol=1e-5)


def test_only_the_grid_of_the_caller_is_seen():
    curves = Curves([1.0, 2.0, 4.0], [0.1, 0.7, 0.3], [0, 2, 3])
    model = GeoPrivateCurve(
        epsilon=1.0, bounds=BOUNDS, domain=(0, 1), random_state=0
    ).fit(curves)
    np.testing.assert_array_equal(model.grid_, np.linspace(0, 1, 101))
    assert model.transform(curves).shape == (2, 101)
    fine = model.transform(curves, grid=GRID)
    released = model.release(curves)
    np.testing.assert_array_equal(fine[0], released[0].evaluate(GRID))
    wide = GeoPrivateCurve(epsilon=1.0, bounds=BOUNDS, domain=(0, 1), grid=GRID**2).fit(
        WALK[None]
    )
    np.testing.assert_array_equal(wide.grid_, GRID**2)
    assert wide.transform(WALK[None]).shape == (1, 41, 2)


@pytest.mark.parametrize(
    "options", [{"pieces": 8}, {"pieces": "svt", "merge": True, "max_pieces": 8}],
    ids=str,
)  # fmt: skip
def test_released_curves_hold_nothing_private(options):
    """Neither values, nor coefficients without noise, nor those of another curve."""
    X = np.random.default_rng(0).uniform(-4, 4, (300, 41))
    options = {"epsilon": 9.0, "domain": (0, 1), "random_state": 0, **options}
    model = GeoPrivateCurve(bounds=BOUNDS, **options)
    curves = model.fit(X).release(X)
    names = {"basis", "coefficients", "low", "center", "high", "is_vector"}
    spaces = model._release.spaces
    fine = np.einsum("ti,nt->ni", spaces.finest.projection(GRID), X)
    for i in (0, 299):
        assert set(vars(curves[i])) == names
        edges = tuple(round(8 * share) for share in curves[i].breaks)
        own = spaces.within(fine[i, None, :, None], edges).ravel()
        private = np.concatenate([X.ravel(), fine.ravel(), own])
        assert not np.isin(reachable(curves[i])[0], private).any()
        assert np.abs(curves[i].coefficients.ravel() - own).min() > 1e-6


@pytest.mark.parametrize("options", [{}, {"pieces": "svt", "merge": True}], ids=str)
def test_releases_do_not_depend_on_n_jobs(options):
    X = np.random.default_rng(0).uniform(-4, 4, (600, 41))
    model = GeoPrivateCurve(
        epsilon=9.0, bounds=BOUNDS, domain=(0, 1), random_state=0, **options
    )
    one = model.fit(X).transform(X)
    two = model.set_params(n_jobs=2).transform(X)
    np.testing.assert_array_equal(one, two)
    assert len(np.unique(one[:, 0])) > 500  # fresh noise for every row
    other = model.set_params(random_state=1).transform(X)
    assert (one != other).mean() > 0.9


def test_denoising_is_free_and_helps():
    X = np.repeat(1 + GRID[None], 200, axis=0)
    errors, guarantees = [], []
    for denoise in (True, False):
        model = GeoPrivateCurve(
            epsilon=5.0,
            bounds=BOUNDS,
            domain=(0, 1),
            random_state=0,
            denoise=denoise,
            pieces=8,
        )
        errors.append(np.square(model.fit_transform(X) - X).mean(axis=1))
        guarantees.append(model.guarantee_)
    assert guarantees[0] == guarantees[1]
    assert guarantees[0].epsilon == 5.0
    gain = errors[1] - errors[0]  # the same noise, so paired
    assert gain.mean() > 6 * gain.std() / np.sqrt(len(X))


# Data of every kind


def released(X, **options):
    """The shape and the values of one seeded release."""
    options = {"domain": (0, 1), **options}
    model = GeoPrivateCurve(epsilon=1e6, random_state=0, **options)
    return model.fit(X).transform(X)


def test_spikes_are_clipped_before_anything():
    spiked, clipped = WALK.copy(), WALK.copy()
    spiked[[3, 9]], clipped[[3, 9]] = [1e308, -1e308], [5.0, -5.0]
    options = {"bounds": BOUNDS, "pieces": 8}
    same = released(clipped[None], **options)
    np.testing.assert_array_equal(released(spiked[None], **options), same)
    times = Curves(spiked, GRID, [0, 41])
    np.testing.assert_allclose(released(times, grid=GRID, **options).max(), same.max())
    arcs = {**options, "parameter": "arc length"}
    same = released([clipped], **arcs)
    np.testing.assert_array_equal(released([spiked], **arcs), same)
    assert np.ptp(same) > 3  # a spike is no infinitely long way


def test_holes_and_missing_values():
    gaps = WALK.copy()
    gaps[5:12, 0] = np.nan
    filled = WALK.copy()
    filled[5:12, 0] = np.interp(GRID[5:12], GRID[[4, 12]], WALK[[4, 12], 0])
    options = {"bounds": BOUNDS, "pieces": 8}
    np.testing.assert_allclose(
        released(gaps[None], missing="interpolate", **options),
        released(filled[None], **options),
        atol=1e-4,
    )
    with pytest.raises(ValueError, match="missing='interpolate'"):
        released(gaps[None], **options)
    nothing = np.full((1, 41, 2), np.nan)
    away = {"bounds": (1.0, 5.0), "center": 2.0, "pieces": 2}
    empty = released(nothing, missing="interpolate", **away)
    np.testing.assert_allclose(empty, 2.0, atol=1e-3)  # the public centre
    keep = np.r_[0:10, 30:41]  # a hole is a straight line
    holes = released(Curves(WALK[keep], GRID[keep], [0, 21]), **options)
    line = np.stack([np.interp(GRID, GRID[keep], y) for y in WALK[keep].T], axis=1)
    lined = released(line[None], **options)
    assert holes.shape == (1, 101, 2)
    points = np.linspace(0, 1, 101)[::5]
    for k in range(2):
        one = np.interp(points, np.linspace(0, 1, 101), holes[0, :, k])
        two = np.interp(points, GRID, lined[0, :, k])
        assert np.abs(one - two).max() < 0.1


def test_duplicate_stamps_are_averaged():
    frame = pd.DataFrame({"id": 1, "t": [0, 0.5, 0.5, 1], "y": [0.0, 1, 3, 1]})
    options = {"duplicates": "mean"}
    curves = Curves.from_long(frame, "id", "t", "y", **options)
    plain = Curves([0.0, 2.0, 1.0], [0, 0.5, 1], [0, 3])
    np.testing.assert_array_equal(
        released(curves, bounds=BOUNDS, domain=(0, 1)),
        released(plain, bounds=BOUNDS, domain=(0, 1)),
    )


def test_curves_outside_the_domain_are_cut():
    whole = Curves([0.0, 4.0, -4.0], [-1.0, 1.0, 5.0], [0, 3])
    cut = Curves([2.0, 4.0, 2.0], [0.0, 1.0, 2.0], [0, 3])
    options = {"bounds": BOUNDS, "domain": (0.0, 2.0)}
    np.testing.assert_allclose(
        released(whole, **options), released(cut, **options), atol=1e-9
    )


@pytest.mark.parametrize(
    "X",
    [
        np.full((1, 41), 1.5),
        np.full((1, 1), 1.5),
        Curves([1.5], [0.3], [0, 1]),
        Curves([1.5, 1.5], [-3.0, 7.0], [0, 2]),
    ],
    ids=["constant", "one column", "one point", "outside"],
)
@pytest.mark.parametrize("pieces", [4, "svt", "auto"])
def test_constant_and_one_point_curves(X, pieces):
    answer = released(X, bounds=BOUNDS, domain=(0, 1), pieces=pieces)
    np.testing.assert_allclose(answer, 1.5, atol=1e-3)
    assert answer.ndim == 2


def test_arc_length_needs_no_times():
    line = np.array([[0.0, 0], [1, 1], [4, 4]])
    options = {"bounds": BOUNDS, "parameter": "arc length", "domain": (0, 10)}
    expected = np.stack([np.linspace(0, 4, 101)] * 2, axis=-1)[None]
    frame = pd.DataFrame(line, columns=["x", "y"])
    timed = Curves(line, [0.0, 0.1, 7.0], [0, 3])
    for X in ([line], [line.tolist()], [frame], timed, line[None]):
        np.testing.assert_allclose(released(X, **options), expected, atol=0.01)
    place = [np.full((5, 2), 3.0)]  # never moves
    np.testing.assert_allclose(released(place, **options), 3.0, atol=0.01)
    for bad in ([line[:0]], [line[:, 0]], [line + np.nan], [], [line.astype(str)]):
        with pytest.raises(ValueError) as caught:
            released(bad, **options)
        assert "4.0" not in str(caught.value)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_outputs_have_their_own_bounds(d):
    low, high = -np.arange(1.0, d + 1), 2 * np.arange(1.0, d + 1)
    curve = np.linspace(-9, 9, 41)[:, None] * np.ones(d)
    answer = released(curve[None], bounds=(low, high), pieces=16)
    assert answer.shape == (1, 41, d)
    np.testing.assert_allclose(answer[0, 0], low, atol=0.3)
    np.testing.assert_allclose(answer[0, -1], high, atol=0.3)
    noisy = GeoPrivateCurve(epsilon=1e-3, bounds=(low, high), random_state=0)
    noisy = noisy.set_params(denoise=False).fit_transform(curve[None])
    assert ((noisy >= low) & (noisy <= high)).all()
    model = GeoPrivateCurve(epsilon=1.0, bounds=(low, high)).fit(curve[None])
    square = np.square(np.maximum(-low, high)).sum()
    assert model.norm_bound_ == pytest.approx(np.sqrt(square))
    with pytest.raises(ValueError, match="as many outputs as in fit"):
        model.transform(np.zeros((1, 41, d + 1)))


def test_center_is_where_noise_shrinks_to():
    X = np.full((50, 41), 30.0)
    for center, expected in ((None, 25.0), (21.0, 21.0)):
        model = GeoPrivateCurve(
            epsilon=1e-4, bounds=(20, 30), center=center, random_state=0
        )
        np.testing.assert_allclose(model.fit_transform(X).mean(), expected, atol=1)
    with pytest.raises(ValueError, match="center must lie within bounds"):
        GeoPrivateCurve(epsilon=1.0, bounds=(20, 30), center=0.0).fit(X)


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("amount", [1e-12, 1e12])
@pytest.mark.parametrize("pieces", [3, "auto", "svt"])
def test_extreme_budgets_work(kind, amount, pieces):
    model = GeoPrivateCurve(
        **{kind: amount},
        bounds=BOUNDS,
        domain=(0, 1),
        pieces=pieces,
        merge=pieces == "svt",
    )
    answer = model.fit(WALK[None]).transform(WALK[None])
    assert np.isfinite(answer).all()
    assert np.abs(answer).max() <= 5


# Charges and refusals


@pytest.fixture
def ledger(tmp_path):
    path = str(tmp_path / "budget.db")
    return BudgetLedger(path, epsilon=10.0, unit="row", definition="geo", metric="L2")


def test_refusals_come_before_the_charge(ledger):
    X = np.zeros((2, 41))
    model = GeoPrivateCurve(
        epsilon=2.0, bounds=BOUNDS, domain=(0, 1), ledger=str(ledger.path)
    ).fit(X)
    for grid in ([0.5, 1.01], [-0.01], [np.nan], [[0.5]], "columns", 0.5):
        with pytest.raises(ValueError):
            model.transform(X, grid=grid)
    texts = set()
    for value in (0.123, 7.89):
        for bad in (np.full((2, 41), value) + [np.nan] * 41, np.full((2, 40), value)):
            with pytest.raises(ValueError) as caught:
                model.transform(bad)
            texts.add(str(caught.value))
    assert len(texts) == 2
    assert not any("0.123" in text or "7.89" in text for text in texts)
    model.set_params(random_state=0)
    with pytest.raises(PrivacyError, match="fit again"):
        model.transform(X)
    assert ledger.history() == []


@pytest.mark.parametrize("pieces", [4, "svt"])
def test_spaces_are_checked_in_fit(pieces):
    model = GeoPrivateCurve(epsilon=1.0, bounds=BOUNDS, domain=(0, 1), pieces=pieces)
    fitted = model.set_params(domain=(1.7e9, 1.7e9 + 60)).fit(WALK[None])
    assert fitted.guarantee_.distance_error < 1e-3 * fitted.norm_bound_
    assert fitted.transform(WALK[None]).shape == (1, 41, 2)
    model.set_params(domain=(1e16, 1e16 + 64), degree=5, max_pieces=16, pieces=16)
    with pytest.raises(PrivacyError, match="pieces are too small"):
        model.fit(np.zeros((1, 5)))


BAD = {
    "degree": [-1, 1.5, "1", 16],
    "continuity": [1, 2, -2, "0"],
    "projection": ["later", None],
    "pieces": [0, "all", True, 1.5],
    "max_pieces": [0, 2.5],
    "merge": [True, "yes"],
    "denoise": ["no", None],
    "parameter": ["arc"],
    "bounds": [(1, 0), (0, np.inf), 3],
    "domain": [(1, 0)],
    "rho": [1.0],
    "epsilon": [0, -1, np.nan, True, "1", None],
}


@pytest.mark.parametrize("name", BAD)
def test_bad_parameters_are_refused_in_fit(name):
    for value in BAD[name]:
        model = GeoPrivateCurve(
            **{"epsilon": 1.0, "bounds": BOUNDS, "domain": (0, 1), name: value}
        )
        with pytest.raises(ValueError, match=name):
            model.fit(np.zeros((1, 41)))
    with pytest.raises(ValueError, match="continuity"):
        GeoPrivateCurve(
            epsilon=1.0, bounds=BOUNDS, domain=(0, 1), degree=0, projection="after"
        ).fit(np.zeros((1, 41)))


def test_degrees_are_refused():
    frame = pd.DataFrame({"id": 1, "t": [0, 1.0], "Lon": [2.0, 3], "lat": [1.0, 2]})
    curves = Curves.from_long(frame, "id", "t", ["Lon", "lat"])
    for parameter in ("time", "arc length"):
        model = GeoPrivateCurve(
            epsilon=1.0, bounds=BOUNDS, domain=(0, 1), parameter=parameter
        )
        with pytest.raises(ValueError, match="to_metres"):
            model.fit(curves)
    with pytest.raises(ValueError, match="to_metres"):
        model.fit([frame[["Lon", "lat"]]])


@pytest.mark.parametrize(
    "names", [["t", "x", "y"], ["Lon", "lat"], ["longitude", "LATITUDE", "elevation"]]
)
def test_long_tables_are_no_curves_of_many_people(names):
    frame = pd.DataFrame(np.zeros((54, len(names))), columns=names)
    model = GeoPrivateCurve(epsilon=1.0, bounds=BOUNDS, domain=(0, 1))
    for read in (model.fit, partial(as_curves, domain=(0, 1))):
        with pytest.raises(ValueError, match="named like times and coordinates"):
            read(frame)
    names = [*names[:-1], "w"]  # not all of them
    model.set_params(grid=np.linspace(0, 1, len(names))).fit(
        frame.set_axis(names, axis=1)
    )
