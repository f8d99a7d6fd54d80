"""What is no sum sees the rows of all blocks in their order, as in memory."""

import numpy as np
import pytest

from skfuncpriv.blocks import Blocks, open_rows

X = np.arange(40.0).reshape(20, 2)
PEOPLE = np.arange(20) * 7 % 5


def blocks():
    return Blocks.from_array(X, 3), Blocks.from_array(PEOPLE, 3)


def chunks():
    array = pytest.importorskip("dask.array")
    return array.from_array(X, chunks=(3, 2)), array.from_array(PEOPLE, chunks=3)


@pytest.mark.parametrize("form", [blocks, chunks], ids=["blocks", "dask"])
@pytest.mark.parametrize("owned", [False, True])
def test_rows_that_are_gathered_keep_their_order(form, owned):
    table, people = form()
    rows = open_rows(table, groups=people if owned else None)
    rows.read(lambda X, y, weights: X)
    assert rows.people(1) == ((5, "person") if owned else (20, "row"))
    gathered, codes = rows.alone(lambda data, codes: (data, codes))
    np.testing.assert_array_equal(gathered, X)
    if owned:  # the same rows have the same person, whatever the number
        same = PEOPLE[:, None] == PEOPLE
        np.testing.assert_array_equal(codes[:, None] == codes, same)
