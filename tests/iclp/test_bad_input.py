"""Bad input to the private mean: a clear error or a finite release, never a leak.

What is refused costs nothing: each case has a ledger and looks at it.
"""

import datetime
import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skfuncpriv import Curves, ICLPMean
from skfuncpriv.privacy import BudgetLedger

GRID = np.linspace(0, 1, 8)
N_PEOPLE = 60


def table(seed=0, n_people=N_PEOPLE):
    return np.random.default_rng(seed).uniform(-1, 1, (n_people, 8))


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "budget.db", epsilon=1e6, delta=0.1)


@pytest.fixture
def facts(ledger):
    return {
        "bounds": (-1.0, 1.0), "grid": GRID, "epsilon": 5.0,
        "ledger": str(ledger.path), "random_state": 0,
    }  # fmt: skip


def refused(model, X, groups=None):
    """The type and text of the error of a fit; nothing else may be seen."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises((ValueError, TypeError)) as error:
            model.fit(X, groups=groups)
    assert caught == []
    assert error.value.__cause__ is None
    return type(error.value), str(error.value)


# Public parameters

NUMBERS = [math.nan, 0, -1, math.inf, True, "1", None, [1.0], 1j]
BAD_PARAMETERS = {
    **{f"epsilon={v!r}": {"epsilon": v} for v in NUMBERS},
    "epsilon beyond floats": {"epsilon": 10**400},
    **{
        f"delta={v!r}": {"delta": v}
        for v in (math.nan, -1e-9, 1.0, math.inf, True, "0", None)
    },
    **{
        f"bounds={v!r}": {"bounds": v}
        for v in (
            (1.0, 1.0), (1.0, -1.0), (math.nan, 1.0), (0.0, math.nan),
            (-math.inf, 1.0), (0.0, math.inf), ("0", "1"), "01", (0.0,),
            (0.0, 1.0, 2.0), 1.0, None, (False, True), (0, 1j),
            ([0.0, 0.0], [1.0, 1.0]), (0.0, [1.0, 1.0]), (None, 1.0),
            (0.0, 5e-324),
        )
    },
    **{
        f"domain={v!r}": {"domain": v}
        for v in (
            (0.0, 0.0), (1.0, 0.0), (0.0, math.inf), (math.nan, 1.0), "01", 1.0,
            (0.0, True), (-1e308, 1e308), (0.0, 5e-324), (0.2, 0.8), (0.0,),
        )
    },
    **{
        f"grid={v!r}": {"grid": v}
        for v in (
            "columns", "rows", GRID[:7].tolist(), GRID[::-1].tolist(),
            (GRID * math.nan).tolist(), (2 * GRID).tolist(), [str(t) for t in GRID],
            [0.0] * 8, 3.0,
        )
    },
    **{f"norm_bound={v!r}": {"norm_bound": v} for v in NUMBERS if v is not None},
    "norm_bound=5e-324": {"norm_bound": 5e-324},
    "norm_bound=1e-300": {"norm_bound": 1e-300},
    **{
        f"center={v!r}": {"center": v}
        for v in (2.0, math.nan, math.inf, [0.0, 0.0], [0.0] * 7, [[0.0] * 8], "x")
    },
    **{f"eta={v!r}": {"eta": v} for v in (*NUMBERS, 0.5, "rate")},
    **{f"psi={v!r}": {"psi": v} for v in (math.nan, -1, math.inf, True, "1", None)},
    **{f"n_basis={v!r}": {"n_basis": v} for v in (0, -1, 2.5, True, "3", None)},
    **{f"mechanism={v!r}": {"mechanism": v} for v in ("Laplace", None, 1, "")},
    "gaussian without delta": {"mechanism": "gaussian"},
    **{f"noise={v!r}": {"noise": v} for v in ("published", None, 1.0)},
    **{f"penalty={v!r}": {"penalty": v} for v in ("l1", None, 2)},
    **{f"missing={v!r}": {"missing": v} for v in ("drop", None, True)},
    **{f"random_state={v!r}": {"random_state": v} for v in (-1, 0.5, True, "secure")},
    "epsilon too small": {"epsilon": 1e-300},
    "epsilon subnormal": {"epsilon": 5e-324},
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD_PARAMETERS.values(), ids=BAD_PARAMETERS)
def test_bad_parameters_are_refused_before_the_charge(bad, facts, ledger):
    errors = {refused(ICLPMean(**{**facts, **bad}), table(seed)) for seed in range(3)}
    ((_, text),) = errors
    assert len(text) > 10
    assert ledger.history() == []


def test_what_is_missing_is_named():
    with pytest.raises(TypeError, match="bounds"):
        ICLPMean()
    with pytest.raises(TypeError, match="positional"):
        ICLPMean((0, 1))


@pytest.mark.parametrize(
    "parameters",
    [
        {"epsilon": 1e-9},
        {"epsilon": 1e308},
        {"epsilon": np.float32(0.5)},
        {"epsilon": np.int64(3)},
        {"epsilon": 10**30},
        {"delta": 5e-324, "mechanism": "gaussian"},
        {"delta": 0.999, "mechanism": "gaussian"},
        {"bounds": (-1e300, 1e300)},
        {"bounds": (1.0, np.nextafter(1.0, 2.0))},
        {"bounds": (-1e-270, 1e-270)},
        {"bounds": [np.array(-1), np.int8(1)]},
        {"bounds": ([-1.0], [1.0])},
        {"bounds": (-1e300, 1e300), "norm_bound": 1e29},
        {"psi": 0},
        {"psi": 1e-300},
        {"n_basis": 400, "psi": 0.01, "mechanism": "spherical"},
        {"n_basis": 1},
        {"eta": 0.500001, "psi": 1e-3},
        {"domain": (-1e200, 1e200), "grid": None},
        {"domain": (0, 1e-200), "grid": None},
    ],
    ids=str,
)
@pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning",
    "ignore:delta=0.999:skfuncpriv.LargeDeltaWarning",
)
def test_extreme_but_valid_parameters_release_numbers(parameters, facts):
    facts["ledger"] = None  # no ledger is that large
    for denoise in (True, False):
        if denoise and parameters.get("psi", 0) != 0:
            continue  # the denoiser takes the place of the penalty
        model = ICLPMean(**{**facts, **parameters}, denoise=denoise).fit(table())
        for name in ("mean_", "coef_", "release_", "noise_std_"):
            assert np.isfinite(getattr(model, name)).all()
        assert np.isfinite(model.noise_band()).all()


# Private data


def entry(X, value):
    """The table with one entry replaced."""
    spoiled = X.astype(float if isinstance(value, float) else object)
    spoiled[4, 3] = value
    return spoiled


def frame(X, column):
    """A frame whose second column is something else."""
    named = pd.DataFrame(X, columns=[f"c{k}" for k in range(8)])
    named["c1"] = column(X)
    return named


BAD_DATA = {
    "nan": lambda X: entry(X, math.nan),
    "infinity": lambda X: entry(X, math.inf),
    "minus infinity": lambda X: entry(X, -math.inf),
    "nan and infinity": lambda X: entry(entry(X, math.inf), math.nan) * math.inf,
    "string": lambda X: entry(X, "secret"),
    "string of a number": lambda X: entry(X, "1.5"),
    "none": lambda X: entry(X, None),
    "NA": lambda X: entry(X, pd.NA),
    "object": lambda X: entry(X, object()),
    "list": lambda X: entry(X, [1.0]),
    "boolean": lambda X: entry(X, True),
    "complex": lambda X: entry(X, 1j),
    "date": lambda X: entry(X, datetime.date(2020, 1, 1)),
    "huge integer": lambda X: entry(X, 10**400),
    "booleans": lambda X: X > 0,
    "strings": lambda X: X.astype(str),
    "bytes": lambda X: X.astype(bytes),
    "times": lambda X: (1e9 * X).astype("datetime64[s]"),
    "durations": lambda X: (1e9 * X).astype("timedelta64[s]"),
    "complex numbers": lambda X: X + 0j,
    "string column": lambda X: frame(X, lambda X: X[:, 1].astype(str)),
    "datetime column": lambda X: frame(X, lambda X: pd.to_datetime(X[:, 1] * 1e18)),
    "boolean column": lambda X: frame(X, lambda X: X[:, 1] > 0),
    "categorical column": lambda X: frame(
        X, lambda X: pd.Categorical(X[:, 1].round().astype(str))
    ),
    "polars strings": lambda X: pl.DataFrame(X.astype(str)),
    "polars nulls": lambda X: pl.DataFrame(entry(X, math.nan)).fill_nan(None),
    "mixed names": lambda X: pd.DataFrame(X, columns=["a", *range(7)]),
    "narrow": lambda X: X[:, :7],
    "wide": lambda X: np.hstack([X, X]),
    "one row flat": lambda X: X[0],
    "number": lambda X: X[0, 0],
    "four axes": lambda X: X[:, :, None, None],
    "no outputs": lambda X: np.empty((len(X), 8, 0)),
    "no rows": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "nothing": lambda X: None,
    "empty list": lambda X: [],
    "ragged": lambda X: [row[: 8 - (k == 5)].tolist() for k, row in enumerate(X)],
    "matrix": lambda X: np.asmatrix(X),
    "masked": lambda X: np.ma.masked_less(X, 0),
}


@pytest.mark.parametrize("spoil", BAD_DATA.values(), ids=BAD_DATA)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_bad_data_are_refused_before_the_charge(spoil, facts, ledger):
    errors = set()
    for seed in range(3):
        X = table(seed)
        X[4, 3] = 0.123456 + seed
        error = refused(ICLPMean(**facts), spoil(X))
        for secret in ("secret", f"{X[4, 3]:.4g}", f"{X[0, 0]:.4g}"):
            assert secret not in error[1]
        errors.add(error)
    assert len(errors) == 1
    assert ledger.history() == []


def test_bounds_must_fit_the_outputs(facts, ledger):
    facts["bounds"] = ([-1.0, -1.0], [1.0, 1.0])
    for X in (table(), np.stack([table()] * 3, axis=2)):
        assert "two arrays with one number" in refused(ICLPMean(**facts), X)[1]
    assert ledger.history() == []


@pytest.mark.parametrize("where", [0, 17, 59])
def test_errors_do_not_say_where(where, facts):
    texts = set()
    for count in (1, 5):
        X = table()
        X[where, :count] = math.nan
        texts.add(refused(ICLPMean(**facts), X))
    assert len(texts) == 1
    assert not any(character.isdigit() for character in texts.pop()[1])


@pytest.mark.parametrize(
    "groups",
    [
        [1.0] * 59 + [math.nan], [None] * 60, ["a"] * 59, [["a"]] * 60, 3, "a" * 60,
        np.array(["NaT"] * 60, dtype="datetime64[s]"),
    ],
    ids=["nan", "none", "short", "nested", "number", "string", "not a time"],
)  # fmt: skip
def test_bad_groups_are_refused_before_the_charge(groups, facts, ledger):
    errors = {refused(ICLPMean(**facts), table(seed), groups) for seed in range(2)}
    assert len(errors) == 1
    assert "groups must" in errors.pop()[1]
    assert ledger.history() == []


FINITE = {
    "1e308": lambda X: np.where(X > 0, 1e308, -1e308),
    "one 1e308": lambda X: entry(X, 1e308),
    "largest": lambda X: np.full(X.shape, np.finfo(float).max),
    "subnormal": lambda X: np.where(X > 0, 5e-324, -5e-324),
    "zero": lambda X: np.zeros(X.shape),
    "float16": lambda X: X.astype(np.float16),
    "float32": lambda X: X.astype(np.float32),
    "longdouble": lambda X: X.astype(np.longdouble),
    "int8": lambda X: np.rint(9 * X).astype(np.int8),
    "int64": lambda X: np.full(X.shape, np.iinfo(np.int64).min),
    "uint64": lambda X: np.full(X.shape, np.iinfo(np.uint64).max),
    "numbers as objects": lambda X: X.astype(object),
    "big endian": lambda X: X.astype(">f8"),
    "column order": lambda X: np.asfortranarray(X),
    "reversed view": lambda X: X[::-1, ::-1],
    "read only": lambda X: np.broadcast_to(X[0], X.shape),
    "list": lambda X: X.tolist(),
    "frame": lambda X: pd.DataFrame(X),
    "polars": lambda X: pl.DataFrame(X),
    "curves": lambda X: Curves.from_wide(X, GRID),
}


@pytest.mark.parametrize("form", FINITE.values(), ids=FINITE)
def test_finite_data_release_numbers(form, facts, ledger):
    model = ICLPMean(**facts).fit(form(table()))
    assert np.isfinite(model.mean_).all()
    assert model.n_people_ == N_PEOPLE
    assert len(ledger.history()) == 1


@pytest.mark.parametrize(
    "form", ["longdouble", "numbers as objects", "big endian", "column order",
             "list", "frame", "polars", "curves"],
)  # fmt: skip
def test_forms_of_the_same_data_release_the_same(form, facts):
    plain = ICLPMean(**facts).fit(table())
    other = ICLPMean(**facts).fit(FINITE[form](table()))
    np.testing.assert_array_equal(other.mean_, plain.mean_)


def test_values_beyond_the_bounds_are_clipped_silently(facts):
    X = table()
    far = np.where(abs(X) > 0.5, 1e300 * np.sign(X), X)
    near = np.where(abs(X) > 0.5, np.sign(X), X)
    one, other = (ICLPMean(**facts).fit(data) for data in (far, near))
    np.testing.assert_array_equal(one.mean_, other.mean_)


@pytest.mark.parametrize("parameters", [{}, {"norm_bound": 0.5}])
def test_nobody_with_values_is_a_finite_release(facts, parameters):
    X = np.full((N_PEOPLE, 8), math.nan)
    facts["ledger"] = None  # people and rows do not share one
    for groups in (None, np.arange(N_PEOPLE) // 2):
        model = ICLPMean(**facts, **parameters, missing="interpolate", n_basis=3)
        model.set_params(epsilon=50.0).fit(X, groups=groups)
        assert np.isfinite(model.mean_).all()
        zeros = ICLPMean(**facts, **parameters, n_basis=3)
        zeros.set_params(epsilon=50.0).fit(np.zeros(X.shape), groups=groups)
        np.testing.assert_array_equal(model.mean_, zeros.mean_)


def test_missing_values_raise_and_warn_alike(facts):
    """With missing="interpolate" gaps anywhere, and nobody at all, are no event."""
    rng = np.random.default_rng(0)
    for share in (0.0, 0.1, 0.9, 1.0):
        X = table()
        X[rng.uniform(size=X.shape) < share] = math.nan
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = ICLPMean(**facts, missing="interpolate").fit(X)
        assert caught == []
        assert np.isfinite(model.mean_).all()
    X[0, 0] = math.inf
    with pytest.raises(ValueError, match="contains infinity"):
        ICLPMean(**facts, missing="interpolate").fit(X)


def test_irregular_curves_at_absurd_times(facts):
    rng = np.random.default_rng(1)
    times = np.sort(rng.uniform(-2, 3, (N_PEOPLE, 5)), axis=1)
    times[0] = [-1e308, -5e-324, 5e-324, 1.0, 1e308]
    times[1] = [5.0, 6.0, 7.0, 8.0, 1e300]
    values = rng.choice([1e308, -1e308, 0.3, 5e-324], (N_PEOPLE, 5))
    flat = Curves(values.ravel(), times.ravel(), np.arange(N_PEOPLE + 1) * 5)
    facts["domain"] = (0.0, 1.0)
    for parameters in ({}, {"norm_bound": 0.1}):
        model = ICLPMean(**facts, **parameters).fit(flat)
        assert np.isfinite(model.mean_).all()
    with pytest.raises(ValueError, match="another domain"):
        ICLPMean(**facts).fit(
            Curves(values.ravel(), times.ravel(), flat.offsets, domain=(0, 2))
        )
