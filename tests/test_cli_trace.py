"""The command ``trace``: what it releases, refuses and never tells."""

import csv
import gzip
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from skfuncpriv import BudgetLedger, Curves, GeoPrivateCurve
from skfuncpriv.local import to_degrees, to_metres
from skfuncpriv.privacy import epsilon_for_radius

from .test_cli import read_csv, refuse, run, write_rows

ORIGIN = (13.4, 52.5)
N = 40
SECONDS = np.linspace(30.5, 570.25, N)
WALK = np.stack([400 * np.sin(SECONDS / 90), 300 * np.cos(SECONDS / 70)], axis=1)
PUBLIC = ["--area", "1000", "--domain", "0", "600"]
HIDE = ["--hide", "20", "--odds", "3"]
PLACE = ["--origin", "13.4", "52.5"]
START = ["--start", "2024-05-01T10:00Z"]
GPX = "{http://www.topografix.com/GPX/1/1}"


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def stamps(seconds=SECONDS):
    start = np.datetime64("2024-05-01T10:00:00.000")
    moments = start + (1000 * np.asarray(seconds)).astype("timedelta64[ms]")
    return [f"{moment}Z" for moment in moments]


def write_plain(path="walk.csv", xy=WALK, seconds=SECONDS):
    rows = np.column_stack([seconds, xy]).tolist()
    return write_rows(path, ["time", "x", "y"], rows)


def write_degrees(path="walk.csv", xy=WALK, names=("timestamp", "lat", "lon")):
    lon, lat = to_degrees(xy, origin=ORIGIN)
    rows = zip(stamps()[: len(xy)], lat.tolist(), lon.tolist(), strict=True)
    return write_rows(path, names, rows)


def write_track(path="walk.gpx", xy=WALK, times=True, version="1/1", tracks=1):
    lon, lat = to_degrees(xy, origin=ORIGIN)
    points = "".join(
        f'<trkpt lat="{b!r}" lon="{a!r}"><ele>34</ele>'
        + (f"<time>{moment}</time>" if times else "")
        + "</trkpt>\n"
        for a, b, moment in zip(lon.tolist(), lat.tolist(), stamps(), strict=False)
    )
    body = "".join(
        f"<trk><name>tour {k}</name><trkseg>{points}</trkseg></trk>"
        for k in range(tracks)
    )
    Path(path).write_text(
        f'<gpx xmlns="http://www.topografix.com/GPX/{version}" version="1.1">'
        f'<wpt lat="1" lon="2"/>{body}</gpx>'
    )
    return path


def curves_of(xy=WALK):
    return Curves(xy, SECONDS[: len(xy)], [0, len(xy)], domain=(0, 600))


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


# --- what is released ---------------------------------------------------------------


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
        to_metres(lon, lat, origin=ORIGIN), released, rtol=1e-5, atol=0.01
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


# --- several traces -----------------------------------------------------------------


def write_several(path="tours.csv"):
    rows = [
        [f"tour {k}", f"p{k // 2}", t, x + k, y]
        for t, (x, y) in zip(SECONDS.tolist(), WALK.tolist(), strict=True)
        for k in range(3)
    ]
    return write_rows(path, ["name", "owner", "time", "x", "y"], rows)


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
    assert "one for each name" in out
    assert "two lose twice as much" in out
    run(capsys, *words, "--id", "name", "--only", "tour 1", "--points", "4")
    assert set(read_csv("private_trace.csv")[1][:, 0]) == {"tour 1"}


def test_times_that_go_back_are_several_traces(capsys):
    rows = np.column_stack([SECONDS, WALK]).tolist()
    write_rows("tours.csv", ["t", "x", "y"], [*rows, *rows])
    err = refuse(capsys, "trace", "tours.csv", *PUBLIC, *HIDE)
    assert "name the column that tells them apart with --id" in err


def test_tracks_of_a_gpx_file(capsys):
    write_track(tracks=2)
    words = ["trace", "walk.gpx", *PUBLIC, *PLACE, *START, *HIDE, "--id", "track"]
    assert run(capsys, *words, "--out", "out.gpx")[0] == 0
    names = [e.text for e in ET.parse("out.gpx").getroot().iter(f"{GPX}name")]
    assert names == ["tour 0", "tour 1"]


def test_ledger_is_charged_for_all_traces_of_a_person(capsys):
    write_several()
    create = ["ledger", "create", "b.db", "--epsilon", "0.1", "--metric", "L2"]
    code, out, _ = run(capsys, *create)
    assert code == 0
    assert "trace FILE ... --ledger b.db" in out
    words = ["trace", "tours.csv", *PUBLIC, "--epsilon", "0.02", "--id", "name"]
    words += ["--ledger", "b.db", "--force"]
    _, out, _ = run(capsys, *words)
    assert "Left in b.db: geo-privacy: epsilon = 0.08" in out
    run(capsys, *words, "--group", "owner", "--plot", "three.png")
    assert BudgetLedger("b.db").spent.epsilon == 0.06
    before = Path("private_trace.csv").read_bytes()
    words[words.index("0.02")] = "0.05"
    assert "exceeds what is left" in refuse(capsys, *words)
    assert Path("private_trace.csv").read_bytes() == before
    assert [r.times for r in BudgetLedger("b.db").history()] == [1, 2]


def test_concentrated_ledger(capsys):
    write_plain()
    words = ["trace", "walk.csv", *PUBLIC, "--rho", "1e-4", "--ledger", "b.db"]
    assert "ledger create b.db --rho 1 --metric L2" in refuse(capsys, *words)
    run(capsys, "ledger", "create", "b.db", "--rho", "1e-3", "--metric", "L2")
    _, out, _ = run(capsys, *words)
    assert "Left in b.db: concentrated geo-privacy: rho = 0.0009" in out


# --- pictures -----------------------------------------------------------------------


@pytest.fixture
def figures(monkeypatch):
    from matplotlib.figure import Figure

    found = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: found.append(self))
    return found


def lines_of(figure):
    return [line.get_xydata() for line in figure.axes[0].lines]


def test_picture_holds_the_release_alone(capsys, figures):
    write_plain()
    words = ["trace", "walk.csv", *PUBLIC, *HIDE, "--plot", "p.png"]
    code, _, err = run(capsys, *words)
    released = read_csv("private_trace.csv")[1][:, 1:].astype(float)
    lines = lines_of(figures[0])
    assert (code, err) == (0, "")
    assert len(lines) == 3  # the trace, its start and its end
    for line, points in zip(
        lines, (released[:1], released[-1:], released), strict=True
    ):
        np.testing.assert_allclose(line, points)
    texts = [t.get_text() for t in figures[0].axes[0].get_legend().get_texts()]
    assert not any("true" in text for text in texts)
    assert any(re.search("typical noise at a point: [0-9.]+ m", text) for text in texts)


def test_true_trace_is_drawn_on_request_with_a_warning(capsys, figures):
    write_plain()
    words = ["trace", "walk.csv", *PUBLIC, *HIDE, "--compare"]
    assert "add --plot" in refuse(capsys, *words)
    code, out, err = run(capsys, *words, "--plot", "p.png")
    assert code == 0
    assert err == (
        "warning: p.png shows the true trace (--compare): never publish it\n"
    )
    assert "Wrote p.png, with the true trace" in out
    assert any(len(x) == N and np.allclose(x, WALK) for x in lines_of(figures[0]))
    texts = [t.get_text() for t in figures[0].axes[0].get_legend().get_texts()]
    assert "true (do not publish)" in texts


def test_large_areas_are_drawn_in_kilometres(capsys, figures):
    write_degrees()
    words = ["trace", "walk.csv", "--area", "1e5", "--domain", "0", "600"]
    run(capsys, *words, *PLACE, *START, *HIDE, "--plot", "p.png")
    assert figures[0].axes[0].get_xlabel() == "east of the origin (km)"


def test_picture_files_differ_by_the_release_only(capsys, monkeypatch):
    [curve] = (
        GeoPrivateCurve(
            epsilon=0.01, bounds=(-1000, 1000), domain=(0, 600), random_state=0
        )
        .fit(curves_of())
        .release(curves_of())
    )
    monkeypatch.setattr(GeoPrivateCurve, "release", lambda *_, **__: [curve])
    written = []
    for xy in (WALK, -2 * WALK[: N // 2]):
        write_plain(xy=xy, seconds=SECONDS[: len(xy)])
        words = ["trace", "walk.csv", *PUBLIC, *HIDE, "--plot", "p.png", "--force"]
        assert run(capsys, *words)[0] == 0
        files = (Path("p.png"), Path("private_trace.csv"))
        written.append([path.read_bytes() for path in files])
    assert written[0] == written[1]
    assert written[0][0].startswith(b"\x89PNG")


# --- nothing private is shown -------------------------------------------------------


@pytest.mark.parametrize("form", ["plain", "degrees", "gpx", "no times"])
def test_other_traces_print_the_same(capsys, form):
    outputs = []
    for xy in (WALK, 1e4 * WALK[: N // 3], np.zeros((1, 2))):
        words = [*PUBLIC, *HIDE, "--plot", "p.png", "--force"]
        if form == "plain":
            name = write_plain(xy=xy, seconds=SECONDS[: len(xy)])
        elif form == "degrees":
            name, words = write_degrees(xy=xy / 1e3), [*words, *PLACE, *START]
        elif form == "gpx":
            name, words = write_track(xy=xy / 1e3), [*words, *PLACE, *START]
        else:
            name = write_plain(xy=xy, seconds=SECONDS[: len(xy)])
            words = ["--no-times", "--area", "1000", *words[5:]]
        outputs.append(
            (*run(capsys, "trace", name, *words), len(read_csv("private_trace.csv")[1]))
        )
    assert outputs[0] == outputs[1] == outputs[2]
    assert outputs[0][0] == 0


def test_stamps_of_the_output_are_those_of_the_grid(capsys):
    write_degrees()
    words = ["trace", "walk.csv", *PUBLIC, *PLACE, *START, *HIDE, "--points", "5"]
    run(capsys, *words, "--out", "out.gpx")
    times = [e.text for e in ET.parse("out.gpx").getroot().iter(f"{GPX}time")]
    ends = ["00:00", "02:30", "05:00", "07:30", "10:00"]
    assert times == [f"2024-05-01T10:{end}Z" for end in ends]
    assert set(times).isdisjoint(stamps())


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("time,x,y\n1,7.25 m,3\n", [], "positions must be numbers"),
        ("time,x,y\n1,inf,3\n", [], "positions must be finite"),
        ("time,x,y\n,7.25,3\n", [], "use --no-times"),
        ("time,x,y\ninf,7.25,3\n", [], "must be finite"),
        ("time,x,y\n7.25 s,1,3\n", START, "all be numbers or all be stamps"),
        ("time,x,y\n2024-05-01,1,3\n", [], "never take it from the trace"),
        ("time,x,y\n2024-05-01,1,3\n", ["--start", "noon"], "got 'noon'"),
        ("time,x,y\n7.25,1,3\n", START, "--start must be a number"),
        ("time,lon,lat\n1,7.25,95\n", PLACE, "lat within [-90, 90]"),
        ("time,lon,lat\n1,7.25,5\n", [], "need --origin LON LAT"),
        ("time,x,y\n1,7.25,3\n", [*PLACE, "--columns", "time,x"], "3 names"),
        ("time,x,y\n1,7.25,3\n", ["--columns", "time,x,z"], "no column 'z'"),
        ("x,y\n7.25,3\n", [], "for points without times use --no-times"),
        ("time,x,y,lon,lat\n1,7.25,3,1,1\n", [], "cannot be guessed"),
        (
            "time,x,y,id,who\n1,1,1,a,b\n2,1,1,a,c\n",
            ["--id", "id", "--group", "who"],
            "same --group",
        ),
    ],
)
def test_malformed_table_is_refused_without_a_quote(capsys, text, words, message):
    Path("walk.csv").write_text(text)
    err = refuse(capsys, "trace", "walk.csv", *PUBLIC, *HIDE, *words)
    assert message.lower() in err.lower()
    assert "7.25" not in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '<!DOCTYPE gpx [<!ENTITY a "7.25"><!ENTITY b "&a;&a;">]>'
            '<gpx><trk><trkpt lat="1" lon="2"><time>&b;</time></trkpt></trk></gpx>',
            "<!DOCTYPE>",
        ),
        ('<!DOCTYPE gpx SYSTEM "file:///etc/hostname"><gpx/>', "<!DOCTYPE>"),
        ("<gpx><trk>7.25", "is not GPX in UTF-8"),
        ("<gpx>&xxe;</gpx>", "is not GPX in UTF-8"),
        ("", "is not GPX in UTF-8"),
        ("<gpx><wpt lat='7.25' lon='1'/></gpx>", "no points of a track"),
        ("<gpx><trk><trkpt lat='7.25x' lon='1'/></trk></gpx>", "must be numbers"),
        ("<gpx><trk><trkpt lat='7.25' lon='1'/></trk></gpx>", "use --no-times"),
    ],
)
def test_malformed_gpx_is_refused_without_a_quote(capsys, text, message):
    Path("walk.gpx").write_text(text)
    words = ["trace", "walk.gpx", *PUBLIC, *PLACE, *START, *HIDE]
    err = refuse(capsys, *words)
    assert message in err
    assert "7.25" not in err
    assert len(err.splitlines()) == 1


def test_gpx_in_another_encoding_is_refused(capsys):
    """Also one whose <!DOCTYPE is invisible to who searches the bytes for it."""
    text = '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE gpx><gpx/>'
    Path("walk.gpx").write_bytes(text.encode("utf-16"))
    err = refuse(capsys, "trace", "walk.gpx", *PUBLIC, *PLACE, *HIDE)
    assert "is not GPX in UTF-8" in err


# --- refused requests ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ([], ["--area", "--domain", "--hide"]),
        (["--area", "5"], ["--domain", "--hide"]),
        (["--no-times"], ["--area", "--hide"]),
        (["--domain", "0", "1", "--rho", "1"], ["--area"]),
    ],
)
def test_missing_public_facts_are_explained_at_once(capsys, given, missing):
    err = refuse(capsys, "trace", "walk.csv", *given)
    for option in ("--area", "--domain", "--hide"):
        assert bool(re.search(f"{option} .*is missing", err)) == (option in missing)
    assert "Never take them from the trace" in err
    assert "example: python -m skfuncpriv trace walk.csv --area 5000" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--hide", "20"], "--hide and --odds belong together"),
        (["--epsilon", "1", "--odds", "3"], "--hide and --odds belong together"),
        (["--hide", "20", "--odds", "1"], "odds must be > 1"),
        (["--hide", "-1", "--odds", "3"], "--hide must be a finite number > 0"),
        (["--hide", "20", "--epsilon", "3"], "not allowed with argument"),
        (["--epsilon", "0"], "epsilon must be a finite number > 0"),
        ([*HIDE, "--area", "0"], "--area must be a finite number > 0"),
        ([*HIDE, "--domain", "5", "5"], "--domain must be two finite numbers"),
        ([*HIDE, "--no-times"], "has no --domain and no --start"),
        ([*HIDE, "--origin", "13", "99"], "origin must be (longitude, latitude)"),
        ([*HIDE, "--out", "a.txt"], "must end in .csv or .gpx"),
        ([*HIDE, "--out", "walk.csv"], "is the file of the trace already"),
        ([*HIDE, "--out", "old.csv"], "replace it with --force"),
        ([*HIDE, "--out", "a.gpx"], "GPX holds degrees"),
        ([*HIDE, "--plot", "a.pdf"], "must end in .png"),
        ([*HIDE, "--points", "0"], "must be an integer >= 1"),
        ([*HIDE, "--group", "x"], "--group needs --id"),
        ([*HIDE, "--ledger", "b.db"], "ledger create b.db --epsilon 1 --metric L2"),
    ],
)
def test_wrong_option_is_refused_in_one_line(capsys, words, message):
    write_plain()
    Path("old.csv").write_text("paid for")
    err = refuse(capsys, "trace", "walk.csv", *PUBLIC, *words)
    assert message in err
    assert len(err.splitlines()) == 1


def test_bounds_come_in_pairs(capsys):
    write_plain()
    words = ["trace", "walk.csv", "--domain", "0", "600", *HIDE, "--bounds"]
    assert "needs pairs" in refuse(capsys, *words, "0", "1", "2")
    assert "one pair, or one for each" in refuse(capsys, *words, *map(str, range(6)))


def test_pictures_of_many_traces_are_refused(capsys):
    rows = [[k, t, 0, 0] for k in range(7) for t in (0, 1)]
    write_rows("tours.csv", ["id", "t", "x", "y"], rows)
    words = ["trace", "tours.csv", *PUBLIC, *HIDE, "--id", "id"]
    err = refuse(capsys, *words, "--plot", "p.png")
    assert "at most 6 traces" in err
    assert run(capsys, *words)[0] == 0


def test_noise_that_dominates_is_said(capsys):
    write_plain()
    words = ["trace", "walk.csv", *PUBLIC, "--hide", "800", "--odds", "2"]
    code, out, err = run(capsys, *words)
    assert code == 0
    assert err.startswith("warning: the noise, ")
    assert len(err.splitlines()) == 1
    assert "1 coefficient (a place, not a track)" in out


@pytest.mark.filterwarnings("ignore::skfuncpriv.exceptions.NoiseDominatesWarning")
@pytest.mark.parametrize("budget", [["--epsilon", "0.003"], ["--rho", "2e-6"]])
def test_words_are_true_of_the_budget(capsys, budget):
    """The radius in words is not above what gives a factor of three."""
    write_plain()
    _, out, _ = run(capsys, "trace", "walk.csv", *PUBLIC, *budget)
    metres = float(re.search(r"apart than ([\d.]+) m", out.replace("\n", " "))[1])
    distance = metres * np.sqrt(600)
    if "--epsilon" in budget:
        loss = 0.003 * distance
        assert 0.99 * np.log(3) < loss <= np.log(3)
    else:
        guarantee = GeoPrivateCurve(rho=2e-6, bounds=(0, 1)).fit([[0.0, 1]]).guarantee_
        loss = guarantee.to_approx_dp(1e-6, radius=distance).epsilon
        assert 0.98 * np.log(3) < loss <= np.log(3)


def test_asked_odds_hold_with_what_floats_add(capsys):
    write_plain()
    _, out, _ = run(capsys, "trace", "walk.csv", *PUBLIC, *HIDE)
    epsilon, error = map(
        float,
        re.search(
            r"epsilon = (\S+) per unit of \(L2 distance \+ (\S+)\)", out
        ).groups(),
    )
    assert 0.999 * np.log(3) < epsilon * (20 * np.sqrt(600) + error) <= np.log(3)


# --- real data ----------------------------------------------------------------------


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
