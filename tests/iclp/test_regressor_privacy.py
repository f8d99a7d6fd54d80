"""ICLPRegressor: neighbours by brute force, the charge, bad inputs, real people."""

import itertools
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, cross_val_score, cross_validate

from skfuncpriv import ICLPClassifier, ICLPRegressor
from skfuncpriv.exceptions import BudgetExceededError, PrivacyError
from skfuncpriv.gaussian_process import GaussianKernel
from skfuncpriv.privacy import BudgetLedger
from skfuncpriv.testing import recorded
from tests.iclp.test_sensitivity import check_loss

pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)

BOUNDS = {"X_bounds": (-1.0, 1.0), "y_bounds": (-1.0, 1.0), "random_state": 0}
BOUNDS = {**BOUNDS, "denoise": False}
FORMS = {
    "linear": {"kernel": "linear"},
    "kernel": {"kernel": GaussianKernel(0.7), "X_basis": 4},
    "curves": {"X_domain": (0.0, 1.0), "X_basis": 2},
    "responses": {"y_domain": (0.0, 1.0), "y_basis": 2, "kernel": "linear"},
}
METHODS = {
    "spherical": {"method": "statistics", "mechanism": "spherical"},
    "block-spherical": {"method": "statistics", "mechanism": "block-spherical"},
    "gaussian": {"method": "statistics", "mechanism": "gaussian", "delta": 1e-5},
    "laplace": {"method": "statistics", "mechanism": "laplace"},
    "minimiser": {"method": "minimiser", "mechanism": "spherical"},
    "minimiser-gaussian": {
        "method": "minimiser", "mechanism": "gaussian", "delta": 1e-5
    },
}  # fmt: skip


def people(form, rng):
    """What one person may hold: rows of X, targets, weights."""
    width, length = 2, 3 if "y_domain" in form else 1
    corners = [np.array(c) * 1e300 for c in itertools.product((1, -1), repeat=width)]
    values = [np.full(length, s) for s in (1e308, -1e308, 0.0)]
    values.append(np.array([1e9, -1e9, 0])[:length])
    held = [(x[None], y[None], [2.0]) for x in corners for y in values]
    for k in range(1, 7):
        X = rng.normal(0, 1, (k, width))
        y = np.sign(rng.normal(size=(k, length))) * 1e6
        held.append((X, y, rng.uniform(0, 3, k)))
    held.append((np.zeros((2, width)), np.full((2, length), 5e-324), [0.0, 0.0]))
    return held


def value_of(model, data, others, *, grouped):
    X, y, weights = data
    if not grouped:
        X, y, weights = X[:1], y[:1], weights[:1]
    rows = np.vstack([others[0], X])
    targets = np.vstack([others[1], y])
    if "y_domain" not in model_form(model):
        targets = targets[:, 0]
    options = {"sample_weight": np.concatenate([others[2], weights])}
    if grouped:
        names = [*range(len(others[0])), *[-1] * len(X)]
        options["groups"] = names
    with recorded() as releases:
        model.fit(rows, targets, **options)
    (released,) = releases
    return released


def model_form(model):
    return {"y_domain": None} if model.y_domain is not None else {}


def cases():
    """Every law and form with one person or two; some with more, rows or people."""
    for law, form in itertools.product(METHODS, FORMS):
        sizes = [(False, 1), (True, 2)]
        if law in ("spherical", "minimiser") and form in ("linear", "curves"):
            sizes += [(False, 2), (False, 3), (True, 1), (True, 3)]
        for grouped, n_people in sizes:
            name = f"{law}-{form}-{'people' if grouped else 'rows'}-{n_people}"
            yield pytest.param(METHODS[law], FORMS[form], grouped, n_people, id=name)


@pytest.mark.parametrize(("law", "form", "grouped", "n_people"), list(cases()))
def test_no_pair_of_neighbours_loses_more_than_epsilon(law, form, grouped, n_people):
    rng = np.random.default_rng(5)
    psi = 0.3 if law["method"] == "minimiser" else 1e-3
    model = ICLPRegressor(**BOUNDS, **form, **law, weight_cap=2.0, psi=psi)
    length = 3 if "y_domain" in form else 1
    count = n_people - 1
    others = (
        rng.uniform(-1, 1, (count, 2)),
        rng.uniform(-1, 1, (count, length)),
        np.full(count, 2.0),
    )
    held = people(form, rng)
    if law["mechanism"] != "spherical":
        held = held[::2]
    releases = [value_of(model, data, others, grouped=grouped) for data in held]
    noise, step = releases[0].law, Fraction(releases[0].value.lattice.step)
    assert all((other.law.std == noise.std).all() for other in releases)
    points = [[int(k) for k in other.value.values] for other in releases]
    table = np.array(points, dtype=float)
    square = np.square(table[:, None] - table[None]).sum(axis=2)
    i, j = np.unravel_index(np.argsort(square, axis=None)[::-1][:6], square.shape)
    for a, b in zip(i, j, strict=True):
        change = [(p - q) * step for p, q in zip(points[a], points[b], strict=True)]
        if any(change):
            check_loss(noise, change, law, 1.0)
    if law["mechanism"] == "spherical" and law["method"] == "statistics":
        worst = float(np.sqrt(square.max())) * float(step) / noise.scale
        assert worst >= 0.5


def test_opposite_targets_at_a_corner_lose_all_of_epsilon():
    model = ICLPRegressor(**BOUNDS, kernel="linear", mechanism="spherical")
    model.set_params(method="statistics", psi=1e-3, epsilon=0.7)
    values = []
    for target in (1.0, -1.0):
        with recorded() as releases:
            model.fit(np.ones((1, 2)), [target])
        values.append(releases[0])
    change = [a - b for a, b in zip(values[0].exact, values[1].exact, strict=True)]
    # Second moments ride for free where omega^2 <= 1/2; "pss" may weigh them more.
    loss = values[0].law.loss([float(x) for x in change])
    assert 0.7 * 0.5 < loss <= 0.7


@pytest.mark.parametrize("method", ["statistics", "minimiser"])
def test_the_charge_precedes_the_draw(method, tmp_path):
    path = str(tmp_path / "budget.db")
    ledger = BudgetLedger(path, epsilon=1.5)
    model = ICLPRegressor(**BOUNDS, kernel="linear", method=method, ledger=path)
    X, y = np.zeros((50, 2)), np.zeros(50)
    model.fit(X, y)
    assert ledger.spent.epsilon == 1.0
    with recorded() as releases, pytest.raises(BudgetExceededError):
        clone(model).fit(X, y)
    assert releases == []


# Bad inputs

BAD = {
    "penalty": ({"penalty": "l2"}, ValueError, "penalty must be one of"),
    "loss": ({"loss": "hinge"}, ValueError, "loss must be one of"),
    "method": ({"method": "best"}, ValueError, "method must be one of"),
    "method type": ({"method": ["statistics"]}, ValueError, "method must be one of"),
    "mechanism": ({"mechanism": "tulap"}, ValueError, "mechanism must be one of"),
    "gaussian": ({"mechanism": "gaussian"}, PrivacyError, "needs delta > 0"),
    "missing": ({"missing": "drop"}, ValueError, "missing must be one of"),
    "psi": ({"psi": 0}, ValueError, "psi must be"),
    "psi large": ({"psi": 1e5}, ValueError, "psi must be 'pss' or lie"),
    "psi text": ({"psi": "rate"}, ValueError, "psi must be"),
    "eta": ({"eta": 0.4}, ValueError, "eta must be"),
    "clip": ({"clip": 1}, ValueError, "clip must be True or False"),
    "denoise": ({"denoise": "yes"}, ValueError, "denoise must be True or False"),
    "cap": ({"weight_cap": 0}, ValueError, "weight_cap must be"),
    "threshold": ({"threshold": 0.1}, ValueError, "threshold is not used"),
    "huber": ({"loss": "huber", "threshold": 5.0}, ValueError, "threshold must lie"),
    "huber type": ({"loss": "huber", "threshold": "a"}, TypeError, "threshold must be"),
    "ledger": ({"ledger": 3}, TypeError, "ledger must be the path"),
    "epsilon": ({"epsilon": 0}, ValueError, "epsilon must be"),
    "delta": ({"delta": 1.0}, ValueError, "delta must be"),
    "y bounds": ({"y_bounds": (1, 1)}, ValueError, "y_bounds must be"),
    "y bounds near": ({"y_bounds": (0, 1e-150)}, ValueError, "y_bounds must be"),
    "y grid": ({"y_grid": [0, 1]}, ValueError, "y_grid is of curves"),
    "y basis": ({"y_basis": 3}, ValueError, "y_basis is of curves"),
    "X bounds": ({"X_bounds": None}, ValueError, "X_bounds must be"),
    "kernel": ({"kernel": "rbf"}, TypeError, "kernel must be a Kernel"),
    "ar minimiser": (
        {"penalty": "ar", "method": "minimiser"}, ValueError, "minimiser is not stable"
    ),
    "ar huber": ({"penalty": "ar", "loss": "huber"}, ValueError, "change one of them"),
    "huber statistics": (
        {"loss": "huber", "method": "statistics"}, ValueError, "change one of them"
    ),
    "laplace minimiser": (
        {"mechanism": "laplace", "method": "minimiser"}, ValueError, "change one"
    ),
    "state": ({"random_state": -1}, ValueError, "random_state must be"),
}  # fmt: skip


@pytest.mark.parametrize(("facts", "error", "text"), BAD.values(), ids=BAD)
def test_bad_parameters_are_refused_for_free(facts, error, text, tmp_path):
    path = str(tmp_path / "budget.db")
    ledger = BudgetLedger(path, epsilon=9.0, delta=1e-3)
    model = ICLPRegressor(**{**BOUNDS, "kernel": "linear", "ledger": path, **facts})
    with pytest.raises(error, match=text):
        model.fit(np.zeros((20, 2)), np.zeros(20))
    assert ledger.history() == []


def test_bad_targets_and_weights_are_refused():
    X, y = np.zeros((20, 2)), np.zeros(20)
    model = ICLPRegressor(**BOUNDS, kernel="linear")
    targets = (None, y[:-1], np.full(20, np.nan), ["a"] * 20, np.zeros((20, 2)))
    for bad in targets:
        with pytest.raises(ValueError, match=r"y|strings"):
            model.fit(X, bad)
    with pytest.raises(ValueError, match="needs a public weight_cap"):
        model.fit(X, y, sample_weight=np.ones(20))
    model.set_params(weight_cap=1.0)
    for bad in (-np.ones(20), np.ones(19), np.full(20, np.nan)):
        with pytest.raises(ValueError, match="sample_weight must hold"):
            model.fit(X, y, sample_weight=bad)
    curves = clone(model).set_params(y_domain=(0, 1))
    with pytest.raises(ValueError, match="one curve for each row"):
        curves.fit(X, np.zeros((19, 5)))
    with pytest.raises(ValueError, match="NaN"):
        curves.fit(X, np.full((20, 5), np.nan))
    with pytest.raises(ValueError, match="is for scalar targets"):
        curves.set_params(loss="huber").fit(X, np.zeros((20, 5)))
    with pytest.raises(ValueError, match="at most 96 features"):
        model.set_params(method="statistics").fit(np.zeros((20, 200)), y)


def refused(model, X, y, text):
    """The refusal of a fit, which holds no number of the data."""
    with pytest.raises(ValueError, match=text) as caught:
        model.fit(X, y)
    assert caught.value.__cause__ is None
    assert not hasattr(model, "guarantee_")
    return str(caught.value)


def test_refusals_of_targets_name_the_remedy():
    X, y = np.zeros((20, 2)), np.zeros(20)
    model = ICLPRegressor(**BOUNDS, kernel="linear")
    refused(model, X, np.zeros((20, 5)), r"are they curves\? pass y_domain=\(A, B\)")
    refused(model, X, y[:-1], "another number of rows than X")
    refused(model, X, np.full(20, np.nan), "put a public number in, and keep the row")
    refused(model, X, np.full(20, np.inf), "put a public number in, and keep the row")


def test_refusals_of_forms_of_rows_name_the_remedy():
    y, curves = np.zeros(20), np.zeros((20, 5))
    bounds = {"X_bounds": (-1, 1), "y_bounds": (-1, 1)}
    model = ICLPRegressor(**bounds)
    refused(model, {"a": curves, "b": y}, y, r"state X_domain=\{\.\.\.\}")
    model.set_params(X_domain={"a": (0, 1), "b": None})
    text = refused(model, {"a": curves, "b": y[:, None]}, y, "a constant curve")
    assert "np.repeat(numbers[:, None], 2, axis=1) on (0, 1)" in text
    model = ICLPRegressor(**{**bounds, "X_bounds": [(0, 1), (0, 2)]}, kernel="linear")
    refused(model, curves[:, :2], y, "all lows, all highs")


@pytest.mark.parametrize("kind", [ICLPRegressor, ICLPClassifier])
def test_other_indexes_of_targets_than_of_rows_are_refused(kind):
    X = pd.DataFrame(np.linspace(-1, 1, 40).reshape(20, 2))
    y = pd.Series(np.arange(20) % 2)
    facts = {"y_bounds": (0, 1)} if kind is ICLPRegressor else {}
    model = kind(X_bounds=(-1, 1), kernel="linear", epsilon=500.0, **facts)
    refused(model, X, y[::-1], r"y has another index than X: align .*y\.loc\[X\.index")
    refused(model, X, y.to_frame()[::-1], "y has another index than X")
    model.fit(X, y[::-1].loc[X.index]).fit(X.to_numpy(), y[::-1]).fit(X, y.to_numpy())
    assert np.isfinite(cross_val_score(model, X, y, cv=2)).all()


# Real people

DATA = Path(__file__).parents[3] / "shared" / "data" / "dti_cca.csv.gz"


@pytest.mark.skipif(not DATA.exists(), reason="the data are not in the package")
def test_fractional_anisotropy_to_pasat_with_people_in_folds():
    frame = pd.read_csv(os.fspath(DATA)).dropna(subset="pasat")
    X = frame.filter(like="cca_")
    model = ICLPRegressor(
        X_bounds=(0, 1),
        y_bounds=(0, 60),
        X_domain=(0, 1),
        X_grid=np.linspace(0, 1, X.shape[1]),
        missing="interpolate",
    )
    errors = {}
    with config_context(enable_metadata_routing=True):
        model.set_fit_request(groups=True)
        for epsilon in (1.0, 1e6):
            scores = cross_validate(
                clone(model).set_params(epsilon=epsilon, random_state=0),
                X,
                frame["pasat"],
                cv=GroupKFold(5),
                scoring="neg_root_mean_squared_error",
                params={"groups": frame["ID"]},
                return_estimator=True,
            )
            errors[epsilon] = -scores["test_score"].mean()
            for fit in scores["estimator"]:
                assert fit.guarantee_.unit == "person"
                assert fit.coef_.shape == (X.shape[1],)
    deviation = frame["pasat"].std()
    assert errors[1e6] < deviation  # it does learn from curves of others
    assert errors[1.0] < 2 * deviation
