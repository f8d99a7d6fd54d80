"""The command ``trace``: what it releases."""

import csv
import gzip
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from skfuncpriv import GeoPrivateCurve
from skfuncpriv.local import to_metres
from skfuncpriv.privacy import epsilon_for_radius, rho_for_radius

from .cli_traces import (
    GPX,
    HIDE,
    ORIGIN,
    PLACE,
    PUBLIC,
    SECONDS,
    START,
    WALK,
    curves_of,
    write_degrees,
    write_plain,
    write_several,
    write_track,
)
from .test_cli import read_csv, refuse, run, write_rows


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def expected(grid, X, **parameters):
    """What the estimator releases with the seed 0 and the budget of HIDE.

    The command hides a little more, for what floats add to a distance: a centimetre.
    """
    domain = (0, 1) if isinstance(X, list) else (0, 600)
    parameter = "arc length" if isinstance(X, list) else "time"
    model = GeoPrivateCurve(
        bounds=((-1000, -1000), (1000, 1000)),
        domain=domain,
        epsilon=parameters.pop("epsilon", epsilon_for_radius(20, 3, domain=domain)),
        parameter=parameter,
        random_state=0,
        **parameters,
    )
    return model.fit(X).transform(X, grid=grid)


def test_plain_table_gives_what_the_estimator_gives(capsys):
    write_plain()
    words = ["trace", "walk.csv", *PUBLIC, *HIDE, "--seed", "0", "--points", "11"]
    code, out, err = run(capsys, *words)
    names, rows = read_csv("private_trace.csv")
    grid = np.linspace(0, 600, 11)
    assert (code, err) == (0, "")
    assert names == ["time", "x", "y", "seeded"]
    assert rows[:, 0].astype(float).tolist() == grid.tolist()
    released = expected(grid, curves_of())[0]
    np.testing.assert_allclose(rows[:, 1:3].astype(float), released, atol=1e-2)
    assert "SEEDED: no privacy" in out
    assert (
        "nowhere\nfurther apart than 20 m, changes the odds by at most a factor 3"
        in out
    )
    assert "Wrote private_trace.csv: 11 public points" in out


def test_default_is_secure(capsys):
    write_plain()
    tables = []
    for _ in range(2):
        _, out, _ = run(capsys, "trace", "walk.csv", *PUBLIC, *HIDE, "--force")
        assert "SEEDED" not in out
        tables.append(read_csv("private_trace.csv"))
    assert tables[0][0] == ["time", "x", "y"]
    assert (tables[0][1][:, 0] == tables[1][1][:, 0]).all()
    assert (tables[0][1][:, 1] != tables[1][1][:, 1]).any()


def test_degrees_and_stamps_come_back_as_degrees_and_stamps(capsys):
    write_degrees()
    words = ["trace", "walk.csv", *PUBLIC, *PLACE, *START, *HIDE, "--seed", "0"]
    code, _, _ = run(capsys, *words, "--points", "7")
    names, rows = read_csv("private_trace.csv")
    assert code == 0
    assert names[:3] == ["timestamp", "lon", "lat"]
    ends = ["00:00", "01:40", "03:20", "05:00", "06:40", "08:20", "10:00"]
    assert rows[:, 0].tolist() == [f"2024-05-01T10:{end}Z" for end in ends]
    lon, lat = rows[:, 1].astype(float), rows[:, 2].astype(float)
    released = expected(np.linspace(0, 600, 7), curves_of())[0]
    np.testing.assert_allclose(
        # Written to 1e-6 degrees, which are 0.11 metres.
        to_metres(lon, lat, origin=ORIGIN),
        released,
        rtol=1e-5,
        atol=0.07,
    )


def test_gpx_and_csv_of_one_walk_give_the_same(capsys):
    write_track()
    write_degrees()
    places = []
    for name, end in (("walk.gpx", "gpx"), ("walk.csv", "csv")):
        words = ["trace", name, *PUBLIC, *PLACE, *START, *HIDE, "--seed", "0"]
        code, _, _ = run(capsys, *words, "--out", f"out.{end}", "--points", "13")
        assert code == 0
    points = list(ET.parse("out.gpx").getroot().iter(f"{GPX}trkpt"))
    places = [[float(p.get("lon")), float(p.get("lat"))] for p in points]
    _, rows = read_csv("out.csv")
    np.testing.assert_array_equal(places, rows[:, 1:3].astype(float))
    assert [p.find(f"{GPX}time").text for p in points] == rows[:, 0].tolist()
    note = ET.parse("out.gpx").getroot().find(f"{GPX}metadata/{GPX}desc").text
    assert "SEEDED" in note
    assert "geo-privacy: epsilon" in note


def test_released_gpx_can_be_read_again(capsys):
    write_track(times=False, version="1/0")
    words = [*PLACE, "--area", "1000", "--no-times", *HIDE]
    assert run(capsys, "trace", "walk.gpx", *words, "--out", "a.gpx")[0] == 0
    assert "<time>" not in Path("a.gpx").read_text()
    assert run(capsys, "trace", "a.gpx", *words, "--out", "b.gpx")[0] == 0
    assert Path("b.gpx").read_text().count("<trkpt") == 101


def test_points_without_times(capsys):
    write_rows("course.csv", ["x", "y", "alt"], [[*xy, 7] for xy in WALK.tolist()])
    words = ["trace", "course.csv", "--area", "1000", "--no-times", *HIDE]
    code, out, _ = run(capsys, *words, "--seed", "0", "--points", "5")
    names, rows = read_csv("private_trace.csv")
    assert code == 0
    assert names[:3] == ["share", "x", "y"]
    assert rows[:, 0].astype(float).tolist() == [0, 0.25, 0.5, 0.75, 1]
    np.testing.assert_allclose(
        rows[:, 1:3].astype(float), expected(np.linspace(0, 1, 5), [WALK])[0], atol=1e-2
    )
    assert "at equal shares of their length" in out


@pytest.mark.parametrize(
    ("words", "parameters"),
    [
        (["--epsilon", "0.01"], {"epsilon": 0.01}),
        (["--rho", "1e-4"], {"epsilon": None, "rho": 1e-4}),
        ([*HIDE, "--no-denoise"], {"denoise": False}),
    ],
)
def test_options_reach_the_estimator(capsys, words, parameters):
    write_plain()
    code, out, _ = run(capsys, "trace", "walk.csv", *PUBLIC, *words, "--seed", "0")
    _, rows = read_csv("private_trace.csv")
    released = expected(np.linspace(0, 600, 101), curves_of(), **parameters)[0]
    assert code == 0
    np.testing.assert_allclose(rows[:, 1:3].astype(float), released, atol=1e-2)
    assert ("not denoised" in out) == ("--no-denoise" in words)


@pytest.mark.parametrize(
    ("bounds", "low", "high"),
    [
        (["--radius-of-area", "300"], (-300, -300), (300, 300)),
        (["--bounds", "-300", "200"], (-300, -300), (200, 200)),
        (["--bounds", "-300", "200", "0", "9"], (-300, 0), (200, 9)),
    ],
)
def test_bounds(capsys, bounds, low, high):
    write_plain(xy=100 * WALK)
    words = ["--domain", "0", "600", *bounds, "--epsilon", "1e6"]
    assert run(capsys, "trace", "walk.csv", *words)[0] == 0
    xy = read_csv("private_trace.csv")[1][:, 1:].astype(float)
    np.testing.assert_allclose(xy.min(axis=0), low, atol=0.1)
    np.testing.assert_allclose(xy.max(axis=0), high, atol=0.1)


def test_columns_may_be_named(capsys):
    rows = np.column_stack([SECONDS, WALK]).tolist()
    write_rows("walk.csv", ["when", "east", "north"], rows)
    words = ["trace", "walk.csv", *PUBLIC, *HIDE]
    assert "--columns time,x,y" in refuse(capsys, *words)
    assert run(capsys, *words, "--columns", "when,east,north")[0] == 0
    assert read_csv("private_trace.csv")[0] == ["when", "east", "north"]


def test_times_that_are_numbers_may_have_a_start(capsys):
    write_plain("a.csv")
    write_plain("b.csv", seconds=SECONDS + 1.7e9)
    released = []
    for words in (["a.csv"], ["b.csv", "--start", "1.7e9"]):
        words = ["trace", *words, *PUBLIC, *HIDE, "--seed", "0", "--force"]
        assert run(capsys, *words)[0] == 0
        released.append(read_csv("private_trace.csv")[1][:, :3].astype(float))
    np.testing.assert_allclose(*released, atol=1e-2)


def test_gaps_duplicates_and_their_order(capsys):
    """Empty positions are drawn straight; stamps that occur twice are averaged."""
    rows = np.column_stack([SECONDS, WALK]).tolist()
    gap = [
        [*rows[5][:1], "", ""],
        *([t, x + d, y - d] for t, x, y in rows[9:10] for d in (1, -1)),
    ]
    write_rows(
        "a.csv",
        ["t", "x", "y"],
        [*rows[:5], *gap[:1], *rows[6:9], *gap[1:], *rows[10:]],
    )
    write_rows("b.csv", ["t", "x", "y"], [*rows[:5], *rows[6:]])
    released = []
    for name in ("a.csv", "b.csv"):
        words = ["trace", name, *PUBLIC, *HIDE, "--seed", "0", "--force"]
        assert run(capsys, *words)[0] == 0
        released.append(read_csv("private_trace.csv")[1][:, :3].astype(float))
    np.testing.assert_allclose(*released, atol=1e-2)


def test_several_traces(capsys):
    write_several()
    words = ["trace", "tours.csv", *PUBLIC, *HIDE, "--force"]
    err = refuse(capsys, *words, "--only", "tour 1")
    assert "--only needs --id" in err
    err = refuse(capsys, *words, "--id", "name", "--only", "tour 9")
    assert "there is no trace 'tour 9' in 'name'" in err
    code, out, _ = run(capsys, *words, "--id", "name", "--points", "4")
    names, rows = read_csv("private_trace.csv")
    assert code == 0
    assert names == ["name", "time", "x", "y"]
    assert rows[:, 0].tolist() == np.repeat(["tour 0", "tour 1", "tour 2"], 4).tolist()
    assert "over time, one for each name\n" in out
    assert "Traces of one person add up as well" in out
    words += ["--id", "name", "--only", "tour 1", "--points", "4"]
    assert "over time: tour 1\n" in run(capsys, *words)[1]
    assert set(read_csv("private_trace.csv")[1][:, 0]) == {"tour 1"}


def test_times_that_go_back_are_several_traces(capsys):
    rows = np.column_stack([SECONDS, WALK]).tolist()
    write_rows("tours.csv", ["t", "x", "y"], [*rows, *rows])
    err = refuse(capsys, "trace", "tours.csv", *PUBLIC, *HIDE)
    assert "use --id COLUMN, which tells them apart" in err


def test_tracks_of_a_gpx_file(capsys):
    write_track(tracks=2)
    words = ["trace", "walk.gpx", *PUBLIC, *PLACE, *START, *HIDE, "--id", "track"]
    assert run(capsys, *words, "--out", "out.gpx")[0] == 0
    names = [e.text for e in ET.parse("out.gpx").getroot().iter(f"{GPX}name")]
    assert names == ["tour 0", "tour 1"]


@pytest.mark.parametrize("degrees", [True, False])
def test_written_positions_have_a_public_number_of_digits(capsys, degrees):
    name = write_degrees() if degrees else write_plain()
    words = [*PLACE, *START] if degrees else []
    assert run(capsys, "trace", name, *PUBLIC, *HIDE, *words)[0] == 0
    cells = read_csv("private_trace.csv")[1][:, 1:].ravel()
    digits = max(len(cell.partition(".")[2]) for cell in cells)
    assert digits == (6 if degrees else 3)


def test_delta_gives_the_rho_of_the_radius(capsys):
    write_plain()
    words = ["trace", "walk.csv", *PUBLIC, *HIDE, "--delta", "1e-5", "--seed", "0"]
    code, out, _ = run(capsys, *words)
    rho = rho_for_radius(20, 3, 1e-5, domain=(0, 600))
    released = expected(np.linspace(0, 600, 101), curves_of(), epsilon=None, rho=rho)[0]
    xy = read_csv("private_trace.csv")[1][:, 1:3].astype(float)
    assert code == 0
    np.testing.assert_allclose(xy, released, atol=5e-2)
    assert "concentrated geo-privacy: rho" in out
    assert "(but for a chance of 1e-05)" in out.replace("\n", " ")
    assert run(capsys, *words, "--delta", "0", "--force")[1].count("geo-privacy: eps")


def test_storm_of_the_bundled_table(capsys):
    from importlib.resources import files

    path = files("skfuncpriv.datasets").joinpath("data", "storms.csv.gz")
    words = ["trace", path, "--id", "storm", "--only", "Katrina-2005", "--area", "3e6"]
    words += [
        "--origin",
        "-85",
        "27",
        "--start",
        "2005-08-24",
        "--domain",
        "0",
        "518400",
    ]
    code, _, err = run(capsys, *words, "--hide", "1", "--odds", "20", "--plot", "p.png")
    _, rows = read_csv("private_trace.csv")
    assert (code, err) == (0, "")
    assert rows.shape == (101, 4)
    middle = rows[rows[:, 1] == "2005-08-27T00:00:00Z"][0, 2:].astype(float)
    np.testing.assert_allclose(middle, [-83.3, 24.6], atol=0.5)


def test_storms_of_the_shared_table(capsys, shared_data):
    with gzip.open(shared_data / "storms.csv.gz", "rt", newline="") as file:
        names = list(dict.fromkeys(row[0] for row in list(csv.reader(file))[1:]))
    words = ["trace", shared_data / "storms.csv.gz", "--id", "storm", "--no-times"]
    words += ["--origin", "-60", "30", "--area", "7e6", "--hide", "5e4", "--odds", "3"]
    code, _, err = run(capsys, *words, "--points", "3", "--out", "all.gpx")
    root = ET.parse("all.gpx").getroot()
    assert (code, err) == (0, "")
    assert [element.text for element in root.iter(f"{GPX}name")] == names
    assert len(list(root.iter(f"{GPX}trkpt"))) == 3 * len(names)


def test_course_without_times(capsys, shared_data):
    words = ["trace", shared_data / "obiszow_mtb_course.csv", "--no-times"]
    words += ["--origin", "16.1", "51.57", "--area", "5000", "--plot", "picture.png"]
    code, _, err = run(capsys, *words, "--hide", "1", "--odds", "20")
    names, rows = read_csv("private_trace.csv")
    assert (code, err) == (0, "")
    assert names == ["share", "lon", "lat"]
    # It begins near the first point of the file, which a private trace may with a
    # budget as large as this one.
    np.testing.assert_allclose(
        to_metres(*rows[0, 1:].astype(float), origin=(16.1, 51.57)),
        to_metres(16.116775, 51.5782653, origin=(16.1, 51.57)),
        atol=400,
    )
