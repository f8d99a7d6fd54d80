"""Degenerate and lopsided public bounds: refused in public words, or paid for."""

import numpy as np
import pytest

from skfuncpriv import (
    BernsteinMean,
    BudgetLedger,
    FRLMean,
    ICLPCovariance,
    ICLPMean,
    ICLPRegressor,
    PrivateKDE,
    PrivateKernelRegressor,
    PrivateSparseMean,
)
from tests.adversarial.cases import check_path, finite_everywhere, path_of

MODELS = {
    "mean": lambda bounds: ICLPMean(bounds=bounds),
    "mean, absolute": lambda bounds: ICLPMean(
        bounds=bounds, penalty="ar", mechanism="laplace", denoise=False
    ),
    "sparse mean": lambda bounds: PrivateSparseMean(bounds=bounds),
    "covariance": lambda bounds: ICLPCovariance(bounds=bounds),
    "published mean": lambda bounds: FRLMean(bounds=bounds),
    "polynomial mean": lambda bounds: BernsteinMean(bounds=bounds),
    "density": lambda bounds: PrivateKDE(bounds=bounds),
    "density, process": lambda bounds: PrivateKDE(
        bounds=bounds, mechanism="gaussian_process", delta=1e-6
    ),
    "machine": lambda bounds: PrivateKernelRegressor(bounds=bounds, y_bounds=(-1, 1)),
    "machine, targets": lambda bounds: PrivateKernelRegressor(
        bounds=(0, 1), y_bounds=bounds
    ),
    "regressor, targets": lambda bounds: ICLPRegressor(
        X_bounds=(0, 1), y_bounds=bounds, kernel="linear"
    ),
}
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
LOPSIDED = [
    (0.0, 5e-324),
    (-1e-160, 1e6),
    (1e16, 1e16 + 2),
    (-1.7e308, 1.7e308),
    (-1e6, 1e-6),
]
REFUSED = [
    (1.0, 1.0), (2.0, 1.0), (-0.0, 0.0), (0.0, np.inf), (-np.inf, 0.0),
    (np.nan, 1.0), (0.0, np.nan), (0.0,), (0.0, 1.0, 2.0), "01", None, 3.0,
    (False, True), ("0", "1"), (0.0, 1j), (0.0, 10**400),
]  # fmt: skip


def worst_rows(bounds, width):
    """What the replaced person may hold: both ends, and halves beyond them."""
    low, high = bounds
    halves = np.arange(width) < width // 2
    yield np.full(width, low)
    yield np.full(width, high)
    yield np.where(halves, -1.7e308, 1.7e308)


def is_of_one_column(make):
    return isinstance(make((0, 1)), PrivateKDE | PrivateKernelRegressor)


@each_model
@pytest.mark.parametrize("bounds", LOPSIDED, ids=repr)
def test_lopsided_bounds_are_paid_for_or_refused(make, bounds, tmp_path):
    """Choose bounds at which midpoints, widths or squares overflow, vanish or round."""
    path = tmp_path / "budget.db"
    ledger = BudgetLedger(path, epsilon=100.0, delta=0.1)
    model = make(bounds).set_params(random_state=0, epsilon=1.0, ledger=str(path))
    width = 1 if is_of_one_column(make) else 6
    X = np.linspace(bounds[0] / 2, bounds[1] / 2, 4)[:, None] * np.ones(width)
    y = np.array([0.3, -0.2, 0.9, 0.1])
    paths, texts = [], set()
    for row in worst_rows(bounds, width):
        X[-1], y[-1] = row, row[0]
        try:
            paths.append(path_of(model, X, y, paths[0] if paths else ()))
        except (ValueError, TypeError) as error:
            texts.add(str(error))
            continue
        finite_everywhere(model)
    assert len(ledger.history()) == len(paths)
    assert bool(paths) != bool(texts)
    assert len(texts) <= 1
    for k, path_k in enumerate(paths):
        for other in paths[:k]:
            check_path(model.guarantee_, path_k, other)


@each_model
def test_bounds_that_bound_nothing_are_refused(make, tmp_path):
    """Pass equal, reversed, infinite or meaningless bounds: nothing may be charged."""
    path = tmp_path / "budget.db"
    ledger = BudgetLedger(path, epsilon=100.0, delta=0.1)
    width = 1 if is_of_one_column(make) else 6
    X, y = np.random.default_rng(0).random((4, width)), np.zeros(4)
    for bounds in REFUSED:
        texts = set()
        for data in (X, 7 * X - 3):
            model = make(bounds).set_params(ledger=str(path))
            with pytest.raises((ValueError, TypeError), match="bounds") as caught:
                model.fit(data, y)
            texts.add(str(caught.value))
        assert len(texts) == 1
    assert ledger.history() == []


@pytest.mark.parametrize(
    "center", ["0.5", True, 10**400, [None], 0.5j, np.nan], ids=str
)
def test_a_centre_that_is_no_number_is_refused_in_our_words(center):
    """Pass a centre that numpy would convert, or choke on."""
    with pytest.raises(ValueError, match="center must"):
        ICLPMean(bounds=(0, 1), center=center).fit(np.ones((4, 3)) / 2)
