"""Bad input to covariance and components: a clear error or a finite release.

What is refused costs nothing: each case has a ledger and looks at it.
"""

import math
import warnings

import numpy as np
import pytest

from skfuncpriv import ICLPCovariance, PrivateFPCA
from skfuncpriv.basis import CosineBasis
from skfuncpriv.privacy import BudgetLedger
from tests.iclp.test_bad_input import BAD_DATA, GRID, NUMBERS, refused, table

each_class = pytest.mark.parametrize("estimator", [ICLPCovariance, PrivateFPCA])


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "budget.db", epsilon=1e6, delta=0.1)


@pytest.fixture
def facts(ledger):
    return {
        "bounds": (-1.0, 1.0), "grid": GRID, "epsilon": 5.0,
        "ledger": str(ledger.path), "random_state": 0,
    }  # fmt: skip


BAD_PARAMETERS = {
    **{f"epsilon={v!r}": {"epsilon": v} for v in NUMBERS},
    "epsilon beyond floats": {"epsilon": 10**400},
    "epsilon too small": {"epsilon": 1e-300},
    "epsilon subnormal": {"epsilon": 5e-324},
    **{
        f"delta={v!r}": {"delta": v}
        for v in (math.nan, -1e-9, 1.0, math.inf, True, "0", None)
    },
    **{
        f"bounds={v!r}": {"bounds": v}
        for v in ((1.0, 1.0), (1.0, -1.0), (math.nan, 1.0), "01", 1.0, None)
    },
    **{f"domain={v!r}": {"domain": v} for v in ((1.0, 0.0), 1.0, (0.2, 0.8))},
    **{f"grid={v!r}": {"grid": v} for v in ("columns", "rows", GRID[:7].tolist(), 3.0)},
    **{
        f"{name}={v!r}": {name: v}
        for name in ("norm_bound", "radius")
        for v in (*NUMBERS, 5e-324, 1e-300) if v is not None
    },
    "radius too small": {"radius": 1e-19},
    **{f"center={v!r}": {"center": v} for v in (2.0, math.nan, [0.0] * 7, "x")},
    **{f"n_basis={v!r}": {"n_basis": v} for v in (0, -1, 2.5, True, "3", None, 257)},
    **{
        f"mechanism={v!r}": {"mechanism": v}
        for v in ("Laplace", "block-spherical", None, 1, "")
    },
    "gaussian without delta": {"mechanism": "gaussian"},
    "basis and n_basis": {"basis": CosineBasis(3), "n_basis": 3},
    "basis and kernel": {"basis": CosineBasis(3), "kernel": "matern32"},
    "no basis": {"basis": "cosine"},
    "basis too large": {"basis": CosineBasis(257)},
    **{f"denoise={v!r}": {"denoise": v} for v in (1, None, "yes")},
    **{f"missing={v!r}": {"missing": v} for v in ("drop", None, True)},
    **{f"random_state={v!r}": {"random_state": v} for v in (-1, 0.5, True, "secure")},
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD_PARAMETERS.values(), ids=BAD_PARAMETERS)
@each_class
def test_bad_parameters_are_refused_before_the_charge(estimator, bad, facts, ledger):
    errors = {refused(estimator(**{**facts, **bad}), table(seed)) for seed in range(2)}
    ((_, text),) = errors
    assert len(text) > 10
    assert ledger.history() == []


@each_class
def test_a_ledger_is_a_path(estimator, facts, ledger):
    facts["ledger"] = ledger
    kind, text = refused(estimator(**facts), table())
    assert kind is TypeError
    assert "path" in text
    assert ledger.history() == []


@each_class
def test_what_is_missing_is_named(estimator):
    with pytest.raises(TypeError, match="bounds"):
        estimator()
    with pytest.raises(TypeError, match="positional"):
        estimator((0, 1))


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("spoil", BAD_DATA.values(), ids=BAD_DATA)
@each_class
def test_bad_data_are_refused_before_the_charge(estimator, spoil, facts, ledger):
    errors = {refused(estimator(**facts), spoil(table(seed))) for seed in range(2)}
    assert len(errors) == 1
    assert "secret" not in str(errors)
    assert ledger.history() == []


@pytest.mark.parametrize("groups", [[0] * 59, [None] * 60, [math.nan] * 60, "a", 3])
@each_class
def test_bad_groups_are_refused(estimator, groups, facts, ledger):
    refused(estimator(**facts), table(), groups)
    assert ledger.history() == []


@pytest.mark.parametrize(
    "parameters",
    [
        {"epsilon": 1e-9},
        {"epsilon": 1e308},
        {"epsilon": 10**30},
        {"epsilon": np.float32(0.5)},
        {"delta": 5e-324, "mechanism": "gaussian"},
        {"delta": 0.999, "mechanism": "gaussian"},
        {"delta": 5e-324},
        {"mechanism": "laplace"},
        {"bounds": (-1e150, 1e150)},
        {"bounds": (1.0, np.nextafter(1.0, 2.0))},
        {"bounds": (-1e-139, 1e-139)},
        {"bounds": (-1e300, 1e300), "norm_bound": 1e140},
        {"radius": 1e300},
        {"radius": 1e-17},
        {"n_basis": 1},
        {"n_basis": 60},
        {"domain": (-1e100, 1e100), "grid": None},
        {"domain": (0, 1e-100), "grid": None},
    ],
    ids=str,
)
@pytest.mark.parametrize("denoise", [True, False])
@each_class
@pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning",
    "ignore:delta=0.999:skfuncpriv.exceptions.LargeDeltaWarning",
)
def test_extreme_but_valid_parameters_release_numbers(
    estimator, parameters, denoise, facts
):
    facts["ledger"] = None  # no ledger is that large
    model = estimator(**{**facts, **parameters}, denoise=denoise).fit(table())
    names = ["mean_", "covariance_", "coef_", "release_", "noise_std_", "radius_"]
    names += ["eigenvalues_"]
    if estimator is PrivateFPCA:
        names += ["components_", "explained_variance_", "explained_variance_ratio_"]
        assert np.isfinite(model.transform(table())).all()
        assert np.isfinite(model.sample(3)).all()
    for name in names:
        assert np.isfinite(getattr(model, name)).all(), name


EXTREMES = {
    "zeros": np.zeros((60, 8)),
    "huge": np.full((60, 8), 1e308),
    "both": np.where(np.arange(60)[:, None] % 2, 1e308, -1e308) * np.ones(8),
    "tiny": np.full((60, 8), 5e-324),
    "one far": np.vstack([np.zeros((59, 8)), np.full((1, 8), -1e308)]),
}


@pytest.mark.parametrize("name", EXTREMES)
@each_class
def test_extreme_data_release_numbers_and_say_nothing(estimator, name, facts):
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        model = estimator(**{**facts, "epsilon": 50.0}).fit(EXTREMES[name])
    assert np.isfinite(model.covariance_).all()
    assert np.isfinite(model.mean_).all()


@pytest.mark.parametrize("bounds", [(-1e200, 1e200), (-1e-200, 1e-200)])
@each_class
def test_covariances_beyond_floats_are_refused(estimator, bounds, facts, ledger):
    """The square of a norm must be a number, whatever the data are."""
    kind, text = refused(estimator(**{**facts, "bounds": bounds}), table())
    assert kind is ValueError
    assert "use other units" in text
    assert ledger.history() == []
