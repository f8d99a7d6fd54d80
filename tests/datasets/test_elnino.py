"""The bundled data set."""

import numpy as np
import pandas as pd
from numpy.testing import assert_array_equal

from skfuncpriv.datasets import load_elnino


def test_shapes_and_units():
    elnino = load_elnino()
    assert elnino.data.shape == (61, 12)
    assert elnino.data.dtype == np.float64
    assert 15 < elnino.data.min() < elnino.data.max() < 32  # degrees Celsius
    assert_array_equal(elnino.grid, np.arange(12) + 0.5)
    assert_array_equal(elnino.years, np.arange(1950, 2011))
    assert elnino.data[0, 0] == 23.11
    assert "public domain" in elnino.DESCR


def test_frame_holds_the_same_numbers():
    elnino = load_elnino(as_frame=True)
    assert isinstance(elnino.data, pd.DataFrame)
    assert list(elnino.data.columns) == elnino.feature_names
    assert elnino.data.index[0] == 1950
    assert_array_equal(elnino.data.to_numpy(), load_elnino().data)


def test_each_call_gives_arrays_of_its_own():
    load_elnino().data[:] = 0.0
    assert load_elnino().data.all()


def test_bundled_file_is_the_shared_one(shared_data):
    shared = pd.read_csv(shared_data / "elnino_sst.csv", index_col=0)
    assert_array_equal(load_elnino().data, shared.to_numpy())
