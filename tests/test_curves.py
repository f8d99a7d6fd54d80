"""Curves: the forms it reads, what it refuses, and that it says nothing private."""

import datetime
import decimal
import math
import pickle
import types

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.model_selection import KFold, cross_val_score, train_test_split
from sklearn.utils import _safe_indexing

from skfuncpriv.curves import Curves, as_curves

WIDE = np.array([[1.0, 2.0, 4.0], [0.5, -1.0, 3.0], [7.0, 8.0, 9.0]])
LONG = {
    "who": np.array(["b", "a", "b", "a", "c"]),
    "t": np.array([2.0, 0.0, 1.0, 3.0, 1.5]),
    "y": np.array([20.0, 1.0, 10.0, 4.0, 5.0]),
    "z": np.array([-20.0, -1.0, -10.0, -4.0, -5.0]),
}


def irregular(**options):
    return Curves.from_long(LONG, "who", "t", "y", **options)


def error_of(call, *args, **kwargs):
    """The exception of a call that must fail."""
    with pytest.raises((TypeError, ValueError)) as caught:
        call(*args, **kwargs)
    return caught.value


# ------------------------------------------------------------------ reading wide curves


@pytest.mark.parametrize(
    "X",
    [
        WIDE,
        WIDE.tolist(),
        WIDE.astype(object),
        WIDE.astype(np.float16),
        WIDE.astype(np.float32),
        np.asfortranarray(WIDE),
        WIDE.astype(np.longdouble),
        pd.DataFrame(WIDE),
        pd.DataFrame(WIDE, columns=["a", "b", "c"]).convert_dtypes(),
        pd.DataFrame(WIDE, columns=["a", "a", "a"]),
        pl.DataFrame(WIDE, schema=["a", "b", "c"]),
        pl.DataFrame(WIDE, schema=["a", "b", "c"]).with_columns(
            pl.col("a").cast(pl.Float32)
        ),
        [[decimal.Decimal(str(entry)) for entry in row] for row in WIDE],
    ],
    ids=lambda X: type(X).__name__,
)
def test_every_form_of_a_table_gives_the_same_curves(X):
    curves = Curves.from_wide(X, domain=(0, 24))
    assert_array_equal(curves.values, WIDE[:, :, np.newaxis])
    assert curves.values.dtype == np.float64
    assert_array_equal(curves.grid, [0.0, 12.0, 24.0])
    assert curves.shape == (3, 3)
    assert not curves.is_vector
    assert_array_equal(np.asarray(curves), WIDE)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64])
def test_integers_become_floats(dtype):
    X = np.arange(6).reshape(2, 3).astype(dtype)
    curves = Curves.from_wide(X)
    assert curves.values.dtype == np.float64
    assert_array_equal(np.asarray(curves), X)


def test_vector_values_keep_their_axis_even_of_length_one():
    three = np.stack([WIDE, -WIDE], axis=2)
    curves = Curves.from_wide(three)
    assert curves.n_outputs == 2
    assert curves.shape == (3, 3, 2)
    assert_array_equal(np.asarray(curves), three)
    assert Curves.from_wide(WIDE[:, :, None]).shape == (3, 3, 1)


def test_clean_float64_array_is_not_copied_and_not_writable():
    X = WIDE.copy()
    curves = as_curves(X, domain=(0, 1))
    assert np.shares_memory(curves.values, X)
    with pytest.raises(ValueError, match="read-only"):
        curves.values[0, 0, 0] = 3.0
    X[0, 0] = 1.0  # the caller's array stays writable


def test_default_domain_is_the_unit_interval():
    assert Curves.from_wide(WIDE).domain == (0.0, 1.0)
    assert Curves.from_wide(WIDE, [1, 2, 5]).domain is None


def test_extreme_but_finite_numbers_are_kept():
    X = np.array([[1e308, 1e308, -1e308], [5e-324, -0.0, 1.7e308]])
    assert_array_equal(np.asarray(as_curves(X, domain=(0, 1))), X)


def test_one_point_and_one_curve():
    assert Curves.from_wide([[3.0]]).shape == (1, 1)
    assert Curves.from_wide([[3.0], [4.0]], [0.25], (0, 1)).shape == (2, 1)
    assert len(Curves([3.0], [0.1], [0, 1])) == 1


def test_names_of_columns_are_used_only_on_request():
    ages = [1.0, 1.25, 3.0]
    named = pd.DataFrame(WIDE, columns=[str(age) for age in ages])
    with pytest.raises(ValueError, match="grid='columns'"):
        Curves.from_wide(named)
    assert_array_equal(Curves.from_wide(named, "columns").grid, ages)
    assert_array_equal(Curves.from_wide(named, [0, 1, 2]).grid, [0, 1, 2])
    assert_array_equal(Curves.from_wide(pl.from_pandas(named), "columns").grid, ages)
    plain = pd.DataFrame(WIDE)  # 0, 1, 2 agree with equal spacing
    assert_array_equal(Curves.from_wide(plain).grid, [0.0, 0.5, 1.0])
    for X in (WIDE, pd.DataFrame(WIDE, columns=list("abc"))):
        with pytest.raises(ValueError, match="names are numbers, or one text with"):
            Curves.from_wide(X, "columns")


def test_a_first_row_of_data_is_not_taken_for_names():
    headless = pd.DataFrame(WIDE, columns=["6.096", "1.132", "3.5"])
    with pytest.raises(ValueError, match="does the table have a header line"):
        Curves.from_wide(headless, [0, 1, 2])
    with pytest.raises(ValueError, match="grid"):
        Curves.from_wide(headless)


@pytest.mark.parametrize(
    ("names", "points"),
    [
        (["age_1", "age_1.25", "age_18"], [1, 1.25, 18]),
        (["10min", "15min", "100min"], [10, 15, 100]),
        (["t-1", "t0", "t3"], [-1, 0, 3]),
        (["day-1", "day-2", "day-7"], [1, 2, 7]),
        (["PM2.5_1h", "PM2.5_2h", "PM2.5_9h"], [1, 2, 9]),
        (["1e-3", "1e-2", "1"], [0.001, 0.01, 1]),
    ],
)
def test_names_may_share_a_text_around_their_numbers(names, points):
    named = pd.DataFrame(WIDE, columns=names)
    with pytest.raises(ValueError, match="not equally spaced"):
        Curves.from_wide(named)
    assert_array_equal(Curves.from_wide(named, "columns").grid, points)


@pytest.mark.parametrize(
    "names", [["week", "h1", "h2"], ["x1", "y2", "x9"], [("a", 1), ("a", 2), ("a", 9)]]
)
def test_names_of_several_kinds_say_nothing_about_the_grid(names):
    named = pd.DataFrame(WIDE)
    named.columns = pd.Index(names, tupleize_cols=False)
    assert_array_equal(Curves.from_wide(named).grid, [0, 0.5, 1])
    with pytest.raises(ValueError, match="give the points instead"):
        Curves.from_wide(named, "columns")


@pytest.mark.parametrize(
    ("grid", "domain", "message"),
    [
        ([0, 1], None, "one entry for each point"),
        ([[0, 1, 2]], None, "one entry for each point"),
        ([0, 2, 1], None, "strictly increasing"),
        ([0, 1, 1], None, "strictly increasing"),
        ([0, np.nan, 1], None, "NaN"),
        ([0, 1, np.inf], None, "infinity"),
        (["0", "1", "2"], None, "strings"),
        ("colums", None, "'columns'"),
        ([0, 1, 2], (0, 1), "inside domain"),
        ([-1, 0, 1], (0, 1), "inside domain"),
        (None, (1, 0), "domain must be"),
        (None, "ab", "domain must be"),
        ([0, 1, 2], (0, np.nan), "domain must be"),
    ],
)
def test_malformed_grid_or_domain_is_refused(grid, domain, message):
    with pytest.raises(ValueError, match=message):
        Curves.from_wide(WIDE, grid, domain)


# ------------------------------------------------------------------ reading long tables


@pytest.mark.parametrize("form", [dict, pd.DataFrame, pl.DataFrame])
def test_long_tables_are_sorted_and_ordered_by_first_appearance(form):
    curves = Curves.from_long(form(LONG), "who", "t", "y", domain=(0, 4))
    assert curves.ids.tolist() == ["b", "a", "c"]
    assert_array_equal(curves.times, [1, 2, 0, 3, 1.5])
    assert_array_equal(curves.values[:, 0], [10, 20, 1, 4, 5])
    assert_array_equal(curves.offsets, [0, 2, 4, 5])
    assert curves.shape == (3,)
    assert curves.grid is None
    assert not curves.is_regular
    assert curves.domain == (0.0, 4.0)


def test_long_table_with_several_outputs():
    curves = Curves.from_long(LONG, "who", "t", ["y", "z"])
    assert curves.n_outputs == 2
    assert curves.is_vector
    assert_array_equal(curves.values[:, 1], -curves.values[:, 0])
    assert Curves.from_long(LONG, "who", "t", ["y"]).is_vector
    assert not irregular().is_vector


@pytest.mark.parametrize(
    "ids",
    [
        [3, 1, 3, 1, 2],
        [3.5, 1.5, 3.5, 1.5, 2.5],
        np.array(["y", "x", "y", "x", "z"], dtype=object),
        pd.Categorical(["q", "p", "q", "p", "r"], categories=["p", "q", "r", "s"]),
        pd.to_datetime(["2024-02-01", "2024-01-01"] * 2 + ["2024-03-01"]),
    ],
    ids=["int", "float", "text", "categorical", "dates"],
)
def test_any_kind_of_name_will_do(ids):
    curves = Curves.from_long({**LONG, "who": ids}, "who", "t", "y")
    assert curves.ids[0] == np.asarray(ids)[0]
    assert curves.ids[1] == np.asarray(ids)[1]


def test_result_does_not_depend_on_the_order_of_rows_within_a_person():
    rng = np.random.default_rng(0)
    n_obs = 60
    frame = {
        "who": np.repeat(np.arange(3), 20),
        "t": rng.integers(0, 6, n_obs) / 4,
        "y": rng.standard_normal(n_obs) * 10.0 ** rng.integers(-20, 20, n_obs),
    }
    expected = Curves.from_long(frame, "who", "t", "y", duplicates="mean")
    assert len(expected.times) < n_obs  # there are duplicates
    for _ in range(20):
        order = np.concatenate([i * 20 + rng.permutation(20) for i in range(3)])
        shuffled = {name: column[order] for name, column in frame.items()}
        curves = Curves.from_long(shuffled, "who", "t", "y", duplicates="mean")
        for name in ("values", "times", "offsets"):
            assert_array_equal(getattr(curves, name), getattr(expected, name))


@pytest.mark.parametrize(
    ("values", "mean"),
    [
        ([1.0, 2.0, 4.0], 7 / 3),
        ([1e16, 1.0, -1e16], 1 / 3),
        ([1.7e308, 1.7e308, 1.7e308], 1.7e308),
        ([1.7e308, -1.7e308, 1.7e308], 1.7e308 / 3),
        ([5e-324, 5e-324, 5e-324], 5e-324),
    ],
)
def test_mean_of_duplicates_is_the_exact_mean(values, mean):
    for order in ([0, 1, 2], [2, 0, 1], [1, 0, 2]):
        frame = {"i": [1] * 3, "t": [0.0] * 3, "y": np.array(values)[order]}
        curves = Curves.from_long(frame, "i", "t", "y", duplicates="mean")
        assert math.isclose(curves.values[0, 0], mean, rel_tol=2.0**-52)


def test_mean_of_duplicates_leaves_nan_out():
    frame = {"i": [1] * 5, "t": [0, 0, 1, 1, 2], "y": [3, np.nan, np.nan, np.nan, 9]}
    curves = Curves.from_long(
        frame, "i", "t", "y", duplicates="mean", missing="interpolate"
    )
    assert_array_equal(curves.values[:, 0], [3, 6, 9])


def test_duplicates_are_refused_unless_asked_for():
    frame = {"i": [1, 2, 1], "t": [0.0, 0.0, -0.0], "y": [3.0, 4.0, 5.0]}
    with pytest.raises(ValueError, match="duplicates='mean'"):
        Curves.from_long(frame, "i", "t", "y")
    with pytest.raises(ValueError, match="duplicates must be"):
        Curves.from_long(frame, "i", "t", "y", duplicates="first")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": ["1", "2", "3", "4", "5"]}, "strings"),
        ({"y": [1.0, 2.0, 3.0, 4.0, np.nan]}, "missing='interpolate'"),
        ({"y": [1.0, 2.0, 3.0, 4.0, np.inf]}, "infinity"),
        ({"y": [1j, 2, 3, 4, 5]}, "Complex"),
        ({"t": [1.0, 2.0, 3.0, 4.0, np.nan]}, "NaN"),
        ({"t": pd.date_range("2024-01-01", periods=5)}, "public origin"),
        ({"t": pd.timedelta_range("1h", periods=5)}, "public origin"),
        ({"t": [1.0, 2.0]}, "same length"),
        ({"t": [[1.0, 2.0]]}, "name one column"),
        ({"who": ["7", 7, 7, "a", "b"]}, "one person could look like two"),
        ({"who": ["a", "b", None, "a", "b"]}, "id must name"),
        ({"who": [1.0, np.nan, 1.0, 2.0, 2.0]}, "id must name"),
        ({"who": np.array([[1], {}, 1, 2, 2], dtype=object)}, "id must name"),
        ({"who": np.array([1, pd.NA, 1, 2, 2], dtype=object)}, "id must name"),
    ],
)
def test_malformed_long_table_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Curves.from_long({**LONG, **change}, "who", "t", "y")


def test_column_must_exist_once():
    twice = pd.DataFrame([[1, 0.0, 1.0]], columns=["who", "y", "y"])
    for frame, name in [(LONG, "w"), (LONG, ["y", []]), (twice, "y"), (WIDE, "y")]:
        with pytest.raises(ValueError, match="name one column"):
            Curves.from_long(frame, "who", "t", name)
    with pytest.raises(ValueError, match="at least 1 output"):
        Curves.from_long(LONG, "who", "t", [])


def test_lazy_long_table_is_refused_by_name():
    frame = pl.LazyFrame({"who": ["a"], "t": [0.0], "y": [1.0]})
    with pytest.raises(TypeError, match=r"call .collect\(\) first"):
        Curves.from_long(frame, "who", "t", "y")


def test_empty_long_table():
    empty = {name: column[:0] for name, column in LONG.items()}
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        Curves.from_long(empty, "who", "t", "y")


def test_long_and_wide_describe_the_same_curves():
    grid = np.array([0.0, 0.5, 1.0])
    frame = {
        "i": np.repeat([0, 1, 2], 3),
        "t": np.tile(grid, 3),
        "y": WIDE.ravel(),
    }
    curves = Curves.from_long(frame, "i", "t", "y")
    assert_array_equal(curves.values.reshape(3, 3), WIDE)
    assert not curves.is_regular  # that the times coincide is private


# ------------------------------------------------------------- flat arrays, scikit-fda


@pytest.mark.parametrize(
    ("values", "times", "offsets", "message"),
    [
        ([1.0, 2.0], [0.0], [0, 2], "shape"),
        (1.0, 0.0, [0, 1], "shape"),
        (np.ones((2, 1, 1)), [0.0, 1.0], [0, 2], "shape"),
        (np.ones((2, 0)), [0.0, 1.0], [0, 2], "at least 1 output"),
        ([1.0, 2.0], [0.0, 1.0], [0, 1], "offsets must be"),
        ([1.0, 2.0], [0.0, 1.0], [1, 2], "offsets must be"),
        ([1.0, 2.0], [0.0, 1.0], [0, 2, 1, 2], "offsets must be"),
        ([1.0, 2.0], [0.0, 1.0], [0, 0.5, 2], "offsets must be"),
        ([1.0, 2.0], [0.0, 1.0], [0, np.nan, 2], "offsets must be"),
        ([1.0, 2.0], [0.0, 1.0], [], "offsets must be"),
        ([1.0, 2.0], [0.0, 1.0], [[0, 2]], "offsets must be"),
        ([1.0, 2.0], [0.0, 1.0], [0, 2, 2], "at least one observation"),
        ([1.0, 2.0], [0.0, 1.0], [0, 0, 2], "at least one observation"),
        ([1.0, 2.0], [1.0, 0.0], [0, 2], "strictly increasing within"),
        ([1.0, 2.0], [1.0, 1.0], [0, 2], "strictly increasing within"),
        ([1.0, 2.0], [np.nan, 1.0], [0, 2], "NaN"),
        ([1.0, np.nan], [0.0, 1.0], [0, 2], "NaN"),
        ([1.0, np.inf], [0.0, 1.0], [0, 2], "infinity"),
        ([], [], [0], r"0 sample\(s\)"),
    ],
)
def test_malformed_flat_arrays_are_refused(values, times, offsets, message):
    with pytest.raises(ValueError, match=message):
        Curves(values, times, offsets)


def test_times_may_go_back_between_curves():
    curves = Curves([1.0, 2.0, 3.0, 4.0], [3.0, 1.0, 2.0, 0.0], [0, 1, 3, 4])
    assert_array_equal(curves.times, [3.0, 1.0, 2.0, 0.0])


def test_ids_have_one_entry_for_each_curve():
    with pytest.raises(ValueError, match="one entry for each curve"):
        Curves([1.0], [0.0], [0, 1], ids=["a", "b"])


def fdata_grid(values, points, domain=((0.0, 2.0),)):
    return types.SimpleNamespace(
        data_matrix=values, grid_points=points, domain_range=domain
    )


def test_fdata_on_a_grid():
    points = np.array([0.0, 0.5, 2.0])
    fd = fdata_grid(WIDE[:, :, None], (points,))
    curves = Curves.from_fdata(fd)
    assert_array_equal(np.asarray(curves), WIDE)
    assert_array_equal(curves.grid, points)
    assert curves.domain == (0.0, 2.0)
    vector = fdata_grid(np.stack([WIDE, WIDE], axis=2), (points,))
    assert as_curves(vector, domain=(0, 2)).shape == (3, 3, 2)


def test_irregular_fdata_is_sorted():
    fd = types.SimpleNamespace(
        values=np.array([[2.0], [1.0], [3.0]]),
        points=np.array([[0.5], [0.25], [0.1]]),
        start_indices=np.array([0, 2]),
        domain_range=((0.0, 1.0),),
    )
    curves = as_curves(fd, domain=(0, 1))
    assert_array_equal(curves.times, [0.25, 0.5, 0.1])
    assert_array_equal(curves.values[:, 0], [1.0, 2.0, 3.0])
    assert_array_equal(curves.offsets, [0, 2, 3])


def test_other_functional_data_is_refused_by_name():
    surface = fdata_grid(np.ones((2, 3, 3, 1)), (np.arange(3), np.arange(3)))
    with pytest.raises(ValueError, match="Surfaces are not supported"):
        Curves.from_fdata(surface)
    with pytest.raises(TypeError, match="FDataBasis"):
        as_curves(types.SimpleNamespace(dim_domain=1), domain=(0, 1))
    with pytest.raises(TypeError, match="FDataGrid"):
        Curves.from_fdata(WIDE)


# ---------------------------------------------------------------------- missing values


def test_gaps_are_filled_from_neighbours_of_the_same_curve():
    X = [
        [np.nan, 1.0, np.nan, np.nan, 4.0],
        [2.0, np.nan, np.nan, np.nan, np.nan],
        [1.0, 2.0, 3.0, 4.0, 5.0],
        [np.nan] * 5,
    ]
    grid = [0.0, 1.0, 1.5, 3.0, 4.0]
    curves = Curves.from_wide(X, grid, missing="interpolate")
    expected = [[1, 1, 1.5, 3, 4], [2] * 5, [1, 2, 3, 4, 5], [0] * 5]
    assert_array_equal(np.asarray(curves), expected)
    assert curves.all_missing.tolist() == [False, False, False, True]
    assert np.isnan(X[0][0])


def test_gaps_agree_with_numpy_interp():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 12, 2))
    X[rng.random(X.shape) < 0.8] = np.nan
    grid = np.sort(rng.random(12))
    curves = Curves.from_wide(X, grid, missing="interpolate")
    frame = {
        "i": np.repeat(np.arange(50), 12),
        "t": np.tile(grid, 50),
        "y": X[..., 0].ravel(),
        "z": X[..., 1].ravel(),
    }
    flat = Curves.from_long(frame, "i", "t", ["y", "z"], missing="interpolate")
    assert_array_equal(flat.values.reshape(X.shape), curves.values)
    for i in range(50):
        seen = ~np.isnan(X[i])
        assert curves.all_missing[i] == (not seen.any(axis=0).all())
        for j in range(2):
            if not curves.all_missing[i]:
                line = np.interp(grid, grid[seen[:, j]], X[i, seen[:, j], j])
                np.testing.assert_allclose(
                    curves.values[i, :, j], line, rtol=0, atol=1e-14
                )
    assert curves.all_missing.any()
    assert not curves.all_missing.all()


def test_curve_without_one_of_its_outputs_counts_as_missing():
    X = np.ones((2, 3, 2))
    X[1, :, 0] = np.nan
    curves = Curves.from_wide(X, missing="interpolate")
    assert curves.all_missing.tolist() == [False, True]
    assert not curves.values[1].any()


def test_interpolation_cannot_overflow():
    top = np.finfo(float).max
    X = [[-top, np.nan, np.nan, top], [top, np.nan, np.nan, top]]
    grid = [-1e308, -0.5e308, 0.5e308, 1e308]
    values = np.asarray(Curves.from_wide(X, grid, missing="interpolate"))
    assert np.isfinite(values).all()
    assert (np.diff(values[0]) > 0).all()
    assert_array_equal(values[1], [top] * 4)


def test_missing_values_of_frames_are_nan():
    for X in (
        pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": [2.0, 3.0]}),
        pl.DataFrame({"a": [1, None], "b": [2.0, 3.0]}),
        [[1, 2.0], [None, 3.0]],
    ):
        curves = Curves.from_wide(X, missing="interpolate")
        assert_array_equal(np.asarray(curves), [[1, 2], [3, 3]])
        with pytest.raises(ValueError, match="NaN"):
            Curves.from_wide(X)


def test_curves_without_observations_count():
    curves = Curves([1.0], [0.0], [0, 0, 1, 1], missing="interpolate")
    assert curves.all_missing.tolist() == [True, False, True]
    nobody = Curves([], [], [0, 0], missing="interpolate")
    assert nobody.all_missing.tolist() == [True]
    assert nobody.n_outputs == 1


def test_missing_is_validated_before_the_data_is_read():
    for read in (
        lambda: Curves("abc", "abc", "abc", missing="drop"),
        lambda: Curves.from_wide("abc", missing="drop"),
        lambda: Curves.from_long("abc", "i", "t", "y", missing="drop"),
    ):
        with pytest.raises(ValueError, match="missing must be"):
            read()


# --------------------------------------------------------------------- malformed tables

MASKED = np.ma.masked_array(WIDE, mask=WIDE > 8)
MALFORMED = {
    "one-dimensional": (WIDE[0], ValueError, "Reshape your data"),
    "scalar": (3.0, ValueError, "Reshape your data"),
    "none": (None, ValueError, "Reshape your data"),
    "series": (pd.Series(WIDE[0]), ValueError, r"one curve: s.to_frame\(\).T"),
    "polars series": (pl.Series(WIDE[0]), ValueError, "one curve in each row"),
    "four-dimensional": (np.ones((2, 2, 2, 2)), ValueError, "3D"),
    "no curves": (WIDE[:0], ValueError, r"Found array with 0 sample\(s\)"),
    "no points": (
        WIDE[:, :0],
        ValueError,
        r"0 feature\(s\) \(shape=\(\d*, 0\)\) while a minimum of \d* is required.",
    ),
    "no columns": (pd.DataFrame(index=range(3)), ValueError, r"0 feature\(s\)"),
    "no outputs": (np.ones((2, 2, 0)), ValueError, "at least 1 output"),
    "ragged": ([[1.0, 2.0], [3.0]], ValueError, "from_long"),
    "ragged objects": (
        np.array([[1.0, 2.0], [3.0], None], dtype=object)[:, None],
        ValueError,
        "from_long",
    ),
    "nan": ([[1.0, np.nan]], ValueError, "NaN"),
    "inf": ([[1.0, np.inf]], ValueError, "inf"),
    "inf and nan": ([[np.nan, -np.inf]], ValueError, "inf"),
    "beyond float64": ([[1.0, 10**400]], ValueError, "inf"),
    "beyond float64, long double": (
        np.array([[np.longdouble(10) ** 400]]),
        ValueError,
        "inf",
    ),
    "strings": ([["1.0", "2.0"]], ValueError, "strings"),
    "text in a frame": (pd.DataFrame({"a": [1.0], "b": ["x"]}), ValueError, "strings"),
    "text in polars": (pl.DataFrame({"a": [1.0], "b": ["x"]}), ValueError, "strings"),
    "bytes": (np.array([[b"1"]], dtype=object), ValueError, "strings"),
    "dates": (np.array([["2024-01-01"]], "M8[D]"), ValueError, "public origin"),
    "date objects": ([[datetime.date(2024, 1, 1)]], ValueError, "public origin"),
    "dates in a frame": (
        pd.DataFrame({"a": pd.date_range("2024-01-01", periods=2), "b": [1.0, 2.0]}),
        ValueError,
        "public origin",
    ),
    "durations": (np.array([[3]], "m8[h]"), ValueError, "public origin"),
    "booleans": (WIDE > 3, ValueError, "booleans"),
    "boolean objects": (np.array([[True, 1.0]], object), ValueError, "booleans"),
    "complex": (WIDE + 1j, ValueError, "Complex data not supported"),
    "complex objects": ([[1j, None]], ValueError, "Complex data not supported"),
    "objects": (
        np.array([[{"foo": "bar"}, 1.0]], dtype=object),
        TypeError,
        "argument must be .* string.* number",
    ),
    "records": (np.array([[(1.0, 2)]], dtype="f8,i8"), TypeError, "numeric"),
    "sparse": (sparse.csr_array(WIDE), TypeError, "Sparse data was passed"),
    "matrix": (WIDE.view(np.matrix), TypeError, "np.matrix"),
    "masked": (MASKED, TypeError, "filled"),
    "lazy frame": (pl.LazyFrame({"a": [1.0]}), TypeError, r"call .collect\(\) first"),
}


@pytest.mark.parametrize("case", MALFORMED)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_malformed_table_is_refused(case):
    X, error, message = MALFORMED[case]
    for read in (Curves.from_wide, lambda X: as_curves(X, domain=(0, 1))):
        with pytest.raises(error, match=message):
            read(X)


# ------------------------------------------------------------------------------ privacy

SECRET = 4817.25


def spoil_wide(value):
    def read(X):
        X[2, 1] = value
        return Curves.from_wide(X)

    return read


@pytest.mark.parametrize(
    "value",
    ["secret", None, np.inf, 1j, {"a": 1}, True, 10**400, datetime.date(2024, 1, 1)],
    ids=str,
)
def test_refusals_of_tables_do_not_depend_on_private_values(value):
    texts = set()
    for n_curves, entry, n_points in [(3, 0.5, 2), (90, SECRET, 7)]:
        X = np.full((n_curves, n_points), entry, dtype=object)
        error = error_of(spoil_wide(value), X)
        assert error.__cause__ is None
        assert error.__context__ is None
        texts.add(f"{type(error).__name__}: {error}")
    assert len(texts) == 1
    assert str(SECRET) not in texts.pop()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda f: f["t"].__setitem__(1, f["t"][0]),
        lambda f: f["t"].__setitem__(0, np.nan),
        lambda f: f["y"].__setitem__(0, np.nan),
        lambda f: f["y"].__setitem__(0, -np.inf),
        lambda f: f.update(y=f["y"].astype(str)),
        lambda f: f.update(who=[None] * len(f["y"])),
        lambda f: f.update(t=f["t"][1:]),
    ],
    ids=["duplicate", "nan time", "nan", "inf", "strings", "no names", "lengths"],
)
def test_refusals_of_long_tables_do_not_depend_on_private_values(spoil):
    texts = set()
    for n_obs, scale in [(4, 1.0), (31, SECRET)]:
        frame = {
            "who": ["a"] * n_obs,
            "t": np.arange(n_obs) * scale,
            "y": np.arange(n_obs) * scale,
        }
        spoil(frame)
        error = error_of(Curves.from_long, frame, "who", "t", "y")
        assert error.__context__ is None
        texts.add(f"{type(error).__name__}: {error}")
    assert len(texts) == 1


def test_repr_says_nothing_private():
    short = Curves([1.0, 2.0], [0.0, 1.0], [0, 1, 2], ids=["a", "b"])
    long = Curves([SECRET, 2, 3, 4], [0, 1, 2, 0.125], [0, 3, 4], ids=["a", "b"])
    assert repr(short) == repr(long) == "Curves(n_curves=2, n_outputs=1, irregular)"
    gappy = Curves.from_wide([[np.nan, SECRET]], missing="interpolate")
    expected = "Curves(n_curves=1, n_outputs=1, grid of 2 points, domain=(0.0, 1.0))"
    assert repr(gappy) == str(gappy) == expected


# ----------------------------------------------------------- indexing and scikit-learn

KEYS = [
    [2, 0],
    np.array([1, 1]),
    np.array([True, False, True]),
    [False, True, False],
    slice(1, None),
    slice(None, None, -1),
    slice(0, 0),
    -1,
    np.int64(1),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indexing_selects_whole_curves(key):
    index = np.atleast_1d(np.arange(3)[key])
    wide = Curves.from_wide(WIDE, [0, 1, 5])
    assert_array_equal(np.asarray(wide[key]), WIDE[index])
    assert_array_equal(wide[key].grid, [0, 1, 5])
    curves = irregular(domain=(0, 4))
    chosen = curves[key]
    assert chosen.ids.tolist() == curves.ids[index].tolist()
    assert chosen.domain == (0.0, 4.0)
    pieces = np.split(np.column_stack([curves.times, curves.values]), [2, 4])
    assert len(chosen) == len(index)
    for j, i in enumerate(index):
        rows = slice(chosen.offsets[j], chosen.offsets[j + 1])
        assert_array_equal(chosen.times[rows], pieces[i][:, 0])
        assert_array_equal(chosen.values[rows], pieces[i][:, 1:])
    assert chosen.offsets[-1] == len(chosen.times)


@pytest.mark.parametrize(
    "key", [(0, 1), None, "a", 3, [3], [[0, 1]], 0.5, [True, False]], ids=str
)
def test_other_keys_are_refused(key):
    with pytest.raises(IndexError):
        irregular()[key]


def test_iteration_gives_curves_of_one():
    assert [curves.ids.tolist() for curves in irregular()] == [["b"], ["a"], ["c"]]


def test_mask_of_missing_curves_follows():
    curves = Curves.from_wide([[1.0], [np.nan], [2.0]], missing="interpolate")
    assert curves[[1, 0]].all_missing.tolist() == [True, False]


@pytest.mark.parametrize(
    "curves",
    [Curves.from_wide(np.arange(40.0).reshape(20, 2)), None],
    ids=["regular", "irregular"],
)
def test_scikit_learn_splits_curves(curves):
    if curves is None:
        n_obs = np.arange(1, 21)
        offsets = np.concatenate(([0], np.cumsum(n_obs)))
        times = np.concatenate([np.arange(float(n)) for n in n_obs])
        curves = Curves(times * 2, times, offsets, ids=np.arange(20))
    train, test, labels, _ = train_test_split(
        curves, np.arange(20), test_size=0.25, random_state=0
    )
    assert isinstance(train, Curves)
    assert (len(train), len(test)) == (15, 5)
    if curves.ids is not None:
        assert_array_equal(train.ids, labels)
    for chosen, _ in KFold(4).split(curves):
        assert len(_safe_indexing(curves, chosen)) == 15

    class CountCurves:
        """Scores a fold by the number of its curves."""

        def fit(self, X, y=None):
            assert isinstance(X, Curves)
            return self

        def score(self, X, y=None):
            return len(X)

        def get_params(self, deep=True):
            return {}

        def set_params(self):
            return self

        def __sklearn_tags__(self):
            from sklearn.base import BaseEstimator

            return BaseEstimator().__sklearn_tags__()

    assert cross_val_score(CountCurves(), curves, cv=4).tolist() == [5] * 4


def test_irregular_curves_have_no_array_form():
    with pytest.raises(TypeError, match="no array form"):
        np.asarray(irregular())


def test_array_form_is_a_copy_on_request():
    curves = Curves.from_wide(WIDE)
    assert np.array(curves, dtype=np.float32).dtype == np.float32
    assert not np.shares_memory(np.array(curves, copy=True), curves.values)


def test_pickling_keeps_the_curves():
    curves = pickle.loads(pickle.dumps(irregular()))
    assert_array_equal(curves.values, irregular().values)
    assert curves.ids.tolist() == ["b", "a", "c"]


# ---------------------------------------------------------------------------- as_curves


def test_curves_pass_through_as_curves():
    curves = irregular()
    assert as_curves(curves, domain=(0, 4)) is curves
    stated = Curves.from_wide(WIDE, domain=(0, 4))
    assert as_curves(stated, domain=(0, 4)) is stated


def test_as_curves_refuses_another_domain():
    with pytest.raises(ValueError, match="another domain"):
        as_curves(Curves.from_wide(WIDE), domain=(0, 24))
    with pytest.raises(ValueError, match="inside domain"):
        as_curves(Curves.from_wide(WIDE, [0, 1, 2]), domain=(0, 1))
    with pytest.raises(ValueError, match="domain must be"):
        as_curves(WIDE, domain=None)


def test_as_curves_refuses_an_empty_selection():
    for curves in (irregular(), Curves.from_wide(WIDE, [0, 1, 2])):
        with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
            as_curves(curves[:0], domain=(0, 4))


def test_column_called_like_an_attribute_is_a_column():
    X = pd.DataFrame({"data_matrix": [1.0], "collect": [2.0]})
    assert as_curves(X, domain=(0, 1)).shape == (1, 2)


# --------------------------------------------------------------------------- real data


def test_infant_growth_is_read_from_its_long_table(shared_data):
    frame = pd.read_csv(shared_data / "content_growth_long.csv.gz")
    curves = Curves.from_long(frame, "id", "agedays", "weightkg")
    assert len(curves) == frame["id"].nunique() == 197
    assert len(curves.times) == len(frame)


def test_storms_have_duplicate_times(shared_data):
    frame = pd.read_csv(shared_data / "storms.csv.gz")
    origin, hour = pd.Timestamp("1975-01-01", tz="UTC"), pd.Timedelta("1h")
    times = pd.to_datetime(frame["time_utc"], utc=True)
    table = {
        "storm": frame["storm"],
        "t": (times - origin) / hour,
        "lat": frame["lat"],
        "lon": frame["lon"],
    }
    with pytest.raises(ValueError, match="same time"):
        Curves.from_long(table, "storm", "t", ["lat", "lon"])
    curves = Curves.from_long(table, "storm", "t", ["lat", "lon"], duplicates="mean")
    assert len(curves.times) < len(frame)
    assert curves.n_outputs == 2


def test_growth_needs_its_ages(shared_data):
    frame = pd.read_csv(shared_data / "growth.csv").select_dtypes("number")
    with pytest.raises(ValueError, match="grid='columns'"):
        Curves.from_wide(frame)
    curves = Curves.from_wide(frame, "columns", (1, 18))
    assert curves.shape == (93, 31)
