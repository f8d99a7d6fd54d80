"""Real traces through GeoPrivateCurve and the pipeline: storms, gait, a lap, growth.

Storms are part of the package; the other tables are skipped where they are absent.
Errors are root mean squared L2 errors over rows, seeds fixed. The bounds, domains and
origins below are public facts: of an ocean, a protocol, a map, never of these data.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from skfuncpriv import Curves, GeoPrivateCurve
from skfuncpriv.basis import PiecewisePolynomialBasis
from skfuncpriv.datasets import load_storms
from skfuncpriv.local import (
    arc_length_curves,
    geo_private_pipeline,
    pipeline_guarantee,
    to_metres,
)

# A storm is followed for ten days from its first advisory (a constant before the first
# and after the last position), in kilometres about the middle of the Atlantic hurricane
# basin; what lies beyond 6,000 km is clipped.
DAYS, ATLANTIC = (0.0, 10.0), (-55.0, 25.0)


@cache
def storms():
    frame = load_storms(as_frame=True).data
    metres = to_metres(frame["lon"], frame["lat"], origin=ATLANTIC)
    table = frame[["storm"]].assign(
        t=frame["hours"] / 24, x=metres[:, 0] / 1000, y=metres[:, 1] / 1000
    )
    assert table.duplicated(["storm", "t"]).any()
    with pytest.raises(ValueError, match="duplicates='mean'"):
        Curves.from_long(table, "storm", "t", ["x", "y"])
    curves = Curves.from_long(table, "storm", "t", ["x", "y"], duplicates="mean")
    return curves[:200], {"bounds": (-6000.0, 6000.0), "domain": DAYS}


@cache
def gait(folder):
    """Hip and knee angles in degrees of an angle, over one cycle."""
    frame = pd.read_csv(folder / "gait_long.csv")
    curves = Curves.from_long(frame, "boy", "t", ["hip_deg", "knee_deg"])
    return curves, {"bounds": ([-30.0, -10.0], [90.0, 100.0]), "domain": (0.0, 1.0)}


@cache
def lap(folder):
    """A course without times, in metres about a village; repeated, as one curve."""
    frame = pd.read_csv(folder / "obiszow_mtb_course.csv")
    metres = to_metres(frame["lon"], frame["lat"], origin=(16.1, 51.57))
    curves = arc_length_curves([metres] * 30, domain=(0.0, 1.0))
    return curves, {"bounds": (-5000.0, 5000.0), "domain": (0.0, 1.0)}


@cache
def growth(folder):
    """Weights in kilograms over two years, no age common to all."""
    frame = pd.read_csv(folder / "content_growth_long.csv.gz")
    curves = Curves.from_long(frame, "id", "agedays", "weightkg")
    return curves, {"bounds": (1.0, 20.0), "domain": (0.0, 730.0)}


SHARED = {"gait": gait, "lap": lap, "growth": growth}


@pytest.fixture(params=["storms", *SHARED])
def source(request):
    if request.param == "storms":
        return storms()
    return SHARED[request.param](request.getfixturevalue("shared_data"))


def interpolated(curves, grid):
    """The curves themselves on a grid, shape (n, n_points, d)."""
    rows = []
    for i in range(len(curves)):
        one = curves[i]
        rows.append([np.interp(grid, one.times, column) for column in one.values.T])
    return np.array(rows).swapaxes(1, 2)


def grid_of(public, n=201):
    return np.linspace(*public["domain"], n)


def truth_of(curves, public):
    return np.clip(interpolated(curves, grid_of(public)), *public["bounds"])


def error(answer, truth, public):
    """Root of the mean squared L2 distance."""
    low, high = public["domain"]
    square = np.square(answer.reshape(truth.shape) - truth).sum(axis=2).mean()
    return float(np.sqrt(square * (high - low)))


def by_curve(curves, public, seed=0, **options):
    model = GeoPrivateCurve(**public, **options, random_state=seed).fit(curves)
    return model.transform(curves, grid_of(public))


def by_pipeline(curves, public, seed=0, **options):
    pipeline = geo_private_pipeline(
        **public, **options, n_outputs=curves.n_outputs, grid=None
    )
    pipeline.set_params(release__random_state=seed)
    coefficients = pipeline.fit_transform(curves)
    assert pipeline_guarantee(pipeline).seeded
    project = pipeline.named_steps["project"]
    return project.inverse_transform(coefficients, grid=grid_of(public))


WAYS = {
    "curve": by_curve,
    "curve-svt": lambda *a, **k: by_curve(*a, pieces="svt", **k),
    "pipeline": by_pipeline,
}
each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def scale_of(truth, public):
    """The error of releasing the public centre: 0 where allowed, else the middle."""
    low, high = (np.broadcast_to(end, truth.shape[2]) for end in public["bounds"])
    center = np.where((low <= 0) & (high >= 0), 0.0, (low + high) / 2)
    return error(np.broadcast_to(center, truth.shape), truth, public)


def budgets(scale):
    """Budgets per unit of distance from useless to generous, in both definitions."""
    amounts = scale**-1.0 * np.array([1e-4, 1.0, 10.0, 100.0, 1e3, 1e5])
    return [("epsilon", amounts), ("rho", amounts**2 / 2)]


@each_way
def test_error_falls_with_the_budget(source, way):
    curves, public = source
    truth = truth_of(curves, public)
    scale = scale_of(truth, public)
    few = -(-360 // len(curves))  # traces enough to average over: a lap is one of 30
    for kind, amounts in budgets(scale):
        errors = [
            np.mean(
                [
                    error(way(curves, public, seed, **{kind: amount}), truth, public)
                    for seed in range(repeats)
                ]
            )
            / scale
            for amount, repeats in zip(amounts, [few, few, 1, 1, 1, 1], strict=True)
        ]
        # Hardly worse than releasing nothing, on average: a lap is a single trace.
        assert max(errors[:2]) <= 1.25
        assert (np.diff(errors[1:]) < 0).all()


@pytest.mark.parametrize(("degree", "continuity"), [(1, 0), (3, 1), (0, -1)])
def test_generous_budgets_leave_the_approximation_error(source, degree, continuity):
    """The noise is small against what 32 pieces miss, or against the curve."""
    curves, public = source
    truth, grid = truth_of(curves, public), grid_of(public)
    basis = PiecewisePolynomialBasis(
        tuple(np.linspace(*public["domain"], 33)), degree, continuity
    )
    near = np.einsum("tm,nmd->ntd", basis.evaluate(grid), np.stack([
        basis.projection(one.times).T @ np.clip(one.values, *public["bounds"])
        for one in (inside(curves[i], public["domain"]) for i in range(len(curves)))
    ]))  # fmt: skip
    scale = scale_of(truth, public)
    options = {"degree": degree, "continuity": continuity, "pieces": 32}
    answer = by_curve(curves, public, epsilon=1e7 / scale, **options)
    near = np.clip(near, *public["bounds"])
    assert error(answer, near, public) < 1e-3 * scale
    missed = error(near, truth, public)
    assert missed < 0.12 * scale
    assert error(answer, truth, public) < missed + 1e-3 * scale


def inside(curve, domain):
    """The curve with knots in the domain only."""
    ends = np.array(domain)
    at = np.array([np.interp(ends, curve.times, y) for y in curve.values.T]).T
    keep = (curve.times > ends[0]) & (curve.times < ends[1])
    times = np.concatenate([ends[:1], curve.times[keep], ends[1:]])
    values = np.concatenate([at[:1], curve.values[keep], at[1:]])
    return Curves(values, times, [0, len(times)])


def test_a_lap_needs_no_times(shared_data):
    """Points go in as they are; arc length is found on the way."""
    frame = pd.read_csv(shared_data / "obiszow_mtb_course.csv")
    degrees = frame[["lon", "lat"]]
    model = GeoPrivateCurve(
        epsilon=1.0, bounds=(-5000.0, 5000.0), parameter="arc length", random_state=0
    )
    with pytest.raises(ValueError, match="to_metres"):
        model.fit([degrees])
    metres = to_metres(frame["lon"], frame["lat"], origin=(16.1, 51.57))
    assert (np.abs(metres) < 5000).all()
    answer = model.fit([metres]).transform([metres])
    curves, public = lap(shared_data)
    assert answer.shape == (1, 101, 2)
    with_times = by_curve(curves[:1], public, epsilon=1.0)[:, ::2]
    np.testing.assert_allclose(answer, with_times, atol=1e-6)


def test_storms_say_nothing_of_their_length():
    """The shape of a release is the caller's, whether a storm lasts hours or weeks."""
    curves, public = storms()
    lengths = np.diff(curves.offsets)
    order = np.argsort(lengths)[[0, -1]]
    assert lengths[order[1]] > 10 * lengths[order[0]]
    model = GeoPrivateCurve(**public, epsilon=1e-3, pieces="svt").fit(curves)
    short, long = (model.transform(curves[[k]], grid=DAYS) for k in order)
    assert short.shape == long.shape == (1, 2, 2)
