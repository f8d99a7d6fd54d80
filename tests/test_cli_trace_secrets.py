"""The command ``trace`` shows nothing of the traces it read."""

from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from skfuncpriv.privacy import BudgetLedger

from .cli_traces import (
    GPX,
    HIDE,
    PLACE,
    PUBLIC,
    SECONDS,
    START,
    WALK,
    N,
    stamps,
    write_degrees,
    write_plain,
    write_track,
)
from .test_cli import read_csv, refuse, run, write_rows


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


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


POINT = "<trkpt lat='7.25' lon='1'/>"
TRACK = f"<trk><trkseg>{POINT}</trkseg></trk>"


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
        ("<kml><trk/></kml>", "is not GPX in UTF-8"),
        (TRACK.replace("7.25", "7.25x"), "must be numbers"),
        (TRACK, "use --no-times, or remove"),
        (2 * TRACK, "several tracks: release each of them with --id track"),
        (
            "<trk><trkseg>"
            "<trkpt lat='7.25' lon='1'><time>2024-05-01T10:01Z</time></trkpt>"
            "<trkpt lat='7.25' lon='1'><time>2024-05-01T10:00Z</time></trkpt>"
            "</trkseg></trk>",
            "sort the points or, if the file holds several traces, use --id track",
        ),
        (5000 * "<trk>" + POINT + 5000 * "</trk>", "must be gpx/trk/trkseg/trkpt"),
        (f"<trk><trkseg>{TRACK}</trkseg></trk>", "must be gpx/trk/trkseg/trkpt"),
        (
            f"<trk><trkseg>{POINT[:-2]}>{POINT}</trkpt></trkseg></trk>",
            "must be gpx/trk/trkseg/trkpt",
        ),
        (f"{TRACK}<trk>{POINT}</trk>", "must be gpx/trk/trkseg/trkpt"),
        (f"{TRACK}<x>{TRACK}</x>", "must be gpx/trk/trkseg/trkpt"),
        (f"{TRACK}<trkseg/>", "must be gpx/trk/trkseg/trkpt"),
    ],
)
def test_malformed_gpx_is_refused_without_a_quote(capsys, text, message):
    Path("walk.gpx").write_text(f"<gpx>{text}</gpx>" if text[:4] == "<trk" else text)
    words = ["trace", "walk.gpx", *PUBLIC, *PLACE, *START, *HIDE]
    err = refuse(capsys, *words)
    assert message in err
    assert "7.25" not in err
    assert len(err.splitlines()) == 1


def test_gpx_in_another_encoding_is_refused(capsys):
    """Also one whose <!DOCTYPE is invisible to who searches the bytes for it."""
    text = '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE gpx><gpx/>'
    Path("walk.gpx").write_bytes(text.encode("utf-16"))
    err = refuse(capsys, "trace", "walk.gpx", *PUBLIC, *PLACE, *START, *HIDE)
    assert "is not GPX in UTF-8" in err


@pytest.mark.parametrize("levels", [2, 50])
def test_points_in_nested_tracks_are_never_multiplied(capsys, monkeypatch, levels):
    """Each was read once for every track around it: 100 kB could fill the memory."""
    read, get = [], ET.Element.get

    class Counted(ET.Element):
        def get(self, *arguments):
            read.append(arguments)
            return get(self, *arguments)

    tree = ET.TreeBuilder(element_factory=Counted)
    parser = ET.XMLParser(target=tree)
    monkeypatch.setattr(ET, "fromstring", lambda text: ET.XML(text, parser=parser))
    text = levels * "<trk><trkseg>" + POINT + levels * "</trkseg></trk>"
    Path("walk.gpx").write_text(f"<gpx>{text}</gpx>")
    words = ["trace", "walk.gpx", *PUBLIC, *PLACE, *START, *HIDE]
    assert "must be gpx/trk/trkseg/trkpt" in refuse(capsys, *words)
    assert read == []


CONTROLS = [
    "\x00",
    "a\x00",
    "\x01",
    "\x1b[2J",
    "a\tb",
    "a\nb",
    "\x7f",
    "\x9b",
    "\uffff",
]


@pytest.mark.parametrize("out", ["out.gpx", "out.csv"])
@pytest.mark.parametrize("name", CONTROLS, ids=ascii)
def test_names_with_control_characters_are_refused_before_the_charge(capsys, name, out):
    """They would make what was paid for malformed, or move the cursor of a terminal."""
    ledger = BudgetLedger("budget.db", epsilon=9.0, metric="L2")
    rows = [[n, 0, 7.25, 2.5] for n in ("z", f"x{name}x")]
    write_rows("tours.csv", ["name", "time", "lon", "lat"], rows)
    words = ["trace", "tours.csv", *PUBLIC, *PLACE, "--id", "name", "--out", out]
    words += ["--ledger", "budget.db"]
    err = refuse(capsys, *words, *HIDE)
    assert "control characters" in err
    assert "7.25" not in err
    assert name not in err.strip()
    assert ledger.history() == []
    assert not Path(out).exists()


def test_names_of_tracks_with_line_breaks_are_refused_where_they_are_written(capsys):
    name = write_track(times=False, tracks=1)
    Path(name).write_text(Path(name).read_text().replace("tour 0", "tour&#10;0"))
    words = ["trace", name, *PLACE, "--area", "1000", "--no-times", *HIDE]
    assert "control characters" in refuse(capsys, *words, "--id", "track")
    assert run(capsys, *words)[0] == 0


def test_names_in_any_script_come_back(capsys):
    names = ['Zoë <&> "1"', "日本", "\U0001f6b2"]
    rows = [[n, t, 13.4, 52.5] for n in names for t in (0, 9)]
    write_rows("tours.csv", ["name", "time", "lon", "lat"], rows)
    words = ["trace", "tours.csv", *PUBLIC, *PLACE, "--id", "name", *HIDE]
    assert run(capsys, *words, "--out", "out.gpx")[0] == 0
    found = [e.text for e in ET.parse("out.gpx").getroot().iter(f"{GPX}name")]
    assert sorted(found) == sorted(names)
