"""The bundled tracks of storms."""

import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from skfuncpriv import Curves
from skfuncpriv.datasets import load_elnino, load_storms


def test_shapes_and_units():
    storms = load_storms()
    assert {len(column) for column in storms.data.values()} == {19537}
    assert len(storms.names) == len(set(storms.names)) == 655
    assert storms.names[0] == "Amy-1975"
    assert -180 < storms.data["lon"].min() < storms.data["lon"].max() < 15  # degrees
    assert 5 < storms.data["lat"].min() < storms.data["lat"].max() < 75
    assert 5 < storms.data["wind"].min() < storms.data["wind"].max() < 200  # knots
    assert "public domain" in storms.DESCR


def test_hours_count_from_the_first_observation_of_each_storm():
    frame = load_storms(as_frame=True).data
    assert isinstance(frame, pd.DataFrame)
    assert (frame.groupby("storm")["hours"].min() == 0).all()
    amy = frame[frame["storm"] == "Amy-1975"]
    assert_array_equal(amy["hours"][:3], [0, 6, 12])
    assert frame.duplicated(["storm", "hours"]).sum() == 24


def test_tracks_are_curves():
    storms = load_storms()
    columns = ["lon", "lat"]
    tracks = Curves.from_long(storms.data, "storm", "hours", columns, duplicates="mean")
    assert_array_equal(tracks.ids, storms.names)
    assert tracks.output_names == ("lon", "lat")


def test_bundled_file_is_the_shared_one(shared_data):
    shared = pd.read_csv(shared_data / "storms.csv.gz")
    storms = load_storms()
    assert_array_equal(storms.data["storm"], shared["storm"])
    times = pd.to_datetime(shared["time_utc"])
    starts = times.groupby(shared["storm"]).transform("min")
    hours = (times - starts).dt.total_seconds() / 3600
    assert_array_equal(storms.data["hours"], hours)
    for name, column in (("lon", "lon"), ("lat", "lat"), ("wind", "wind_kt")):
        assert_array_equal(storms.data[name], np.asarray(shared[column], dtype=float))


@pytest.mark.parametrize("load", [load_storms, load_elnino])
def test_without_pandas_the_error_says_what_to_install(load, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"^as_frame=True needs pandas: pip install"):
        load(as_frame=True)
    assert len(load().data)
