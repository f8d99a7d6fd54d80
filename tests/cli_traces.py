"""Files of traces and words that the tests of the command ``trace`` share."""

from pathlib import Path

import numpy as np

from skfuncpriv import Curves
from skfuncpriv.local import to_degrees

from .test_cli import write_rows

ORIGIN = (13.4, 52.5)
N = 40
SECONDS = np.linspace(30.5, 570.25, N)
WALK = np.stack([400 * np.sin(SECONDS / 90), 300 * np.cos(SECONDS / 70)], axis=1)
PUBLIC = ["--area", "1000", "--domain", "0", "600"]
HIDE = ["--hide", "20", "--odds", "3"]
PLACE = ["--origin", "13.4", "52.5"]
START = ["--start", "2024-05-01T10:00Z"]
GPX = "{http://www.topografix.com/GPX/1/1}"


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


def write_several(path="tours.csv"):
    rows = [
        [f"tour {k}", f"p{k // 2}", t, x + k, y]
        for t, (x, y) in zip(SECONDS.tolist(), WALK.tolist(), strict=True)
        for k in range(3)
    ]
    return write_rows(path, ["name", "owner", "time", "x", "y"], rows)


def curves_of(xy=WALK):
    return Curves(xy, SECONDS[: len(xy)], [0, len(xy)], domain=(0, 600))
