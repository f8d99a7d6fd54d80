"""Tracks of Atlantic storms: traces in the plane, each with times of its own."""

from __future__ import annotations

import csv
import gzip
import io
from importlib.resources import files

import numpy as np
from sklearn.utils import Bunch

from ._pandas import pandas

_DESCRIPTION = """\
Tracks of 655 Atlantic storms, 1975 to 2022.

The HURDAT2 records of the National Oceanic and Atmospheric Administration (NOAA) of the
United States; they are in the public domain. One row for each observation, mostly every
six hours: the storm, the hours since its first observation, longitude and latitude of
its centre in degrees, and the wind in knots. 24 pairs of storm and time occur twice.
They concern no person: use a storm in the place of a person to try a private trace.
"""


def load_storms(as_frame: bool = False) -> Bunch:
    """Load the tracks of 655 Atlantic storms (19,537 observations).

    Parameters
    ----------
    as_frame : bool, default=False
        Public: whether `data` is a pandas DataFrame rather than a dict of arrays.

    Returns
    -------
    data : Bunch
        With the entries `data`, the columns `storm`, `hours`, `lon`, `lat` and `wind`
        of shape (19537,): names, hours since a storm's first observation, degrees and
        knots; `names`, of shape (655,), the storms; `DESCR`, where the data come from.

    See Also
    --------
    skfuncpriv.local.to_metres : Turn degrees into metres, in which a track has lengths.

    Examples
    --------
    >>> from skfuncpriv.datasets import load_storms
    >>> storms = load_storms()
    >>> len(storms.names), float(storms.data["hours"].max())
    (655, 570.0)
    """
    source = files("skfuncpriv.datasets").joinpath("data", "storms.csv.gz")
    text = gzip.decompress(source.read_bytes()).decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    storm = np.array([row["storm"] for row in rows])
    stamps = [row["time_utc"].removesuffix("Z") for row in rows]
    times = np.array(stamps, dtype="datetime64[m]")
    names, first, code = np.unique(storm, return_index=True, return_inverse=True)
    starts = np.full(len(names), np.datetime64("9999-01-01T00:00"))
    np.minimum.at(starts, code, times)
    columns = {
        "storm": storm,
        "hours": (times - starts[code]) / np.timedelta64(1, "h"),
        "lon": np.array([row["lon"] for row in rows], dtype=np.float64),
        "lat": np.array([row["lat"] for row in rows], dtype=np.float64),
        "wind": np.array([row["wind_kt"] for row in rows], dtype=np.float64),
    }
    if as_frame:
        columns = pandas().DataFrame(columns)
    return Bunch(data=columns, names=names[np.argsort(first)], DESCR=_DESCRIPTION)
