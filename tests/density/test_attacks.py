"""What attackers and reviewers found: each is refused, or right, as a whole kind."""

import numpy as np
import pandas as pd
import pytest
import sklearn

from skfuncpriv import BernsteinReleaser, BudgetLedger, PrivacyError
from skfuncpriv.density._coefficients import CoefficientPlan
from skfuncpriv.gaussian_process import GaussianKernel
from skfuncpriv.summaries import averages_in_blocks, person_averages
from tests.density.cases import (
    HIGH,
    LOW,
    each_mechanism,
    make,
    mixture,
    no_release,
)


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "budget.db", epsilon=50.0, delta=0.5)


def refused(model, X, ledger, match, error=ValueError):
    model.set_params(ledger=str(ledger.path))
    with no_release(), pytest.raises(error, match=match):
        model.fit(X)
    assert ledger.history() == []


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.0, 5e-324), (0.0, 1e-320), (-1.5e308, 1.5e308), ([0.0] * 3, [1e-120] * 3)],
)
@each_mechanism
def test_boxes_out_of_the_range_of_floats_cost_nothing(how, low, high, ledger):
    X = np.zeros((20, np.size(low)))
    how = {**how, "bandwidth": "pss"} if "bandwidth" in how else how
    refused(make(bounds=(low, high), **how), X, ledger, "bounds are so")


def test_boxes_with_an_infinite_volume_cost_nothing(ledger):
    for model in (
        make(bounds=([0.0] * 3, [1e103] * 3)),
        BernsteinReleaser(
            estimator=GaussianKernel(1e102), bounds=([0.0] * 3, [1e103] * 3)
        ),
    ):
        refused(model, np.zeros((20, 3)), ledger, "choose another unit")


@pytest.mark.parametrize("bandwidth", ["pss", "private-iqr"])
@pytest.mark.parametrize("epsilon", [1e-60, 1e-300, 5e-324])
@each_mechanism
def test_budgets_whose_noise_overflows_cost_nothing(how, epsilon, bandwidth, ledger):
    model = make(**{**how, "epsilon": epsilon, "bandwidth": bandwidth})
    refused(model, mixture(50), ledger, "noise of epsilon", PrivacyError)


@pytest.mark.parametrize("bandwidth", [8.1, 1e4, [9.0]])
@each_mechanism
def test_bandwidths_wider_than_the_box_cost_nothing(how, bandwidth, ledger):
    model = make(**{**how, "bandwidth": bandwidth})
    refused(model, mixture(50), ledger, "bandwidth must be at least")


@pytest.mark.parametrize("kernel", ["exponential", "tophat", "cosine"])
def test_kernels_on_three_axes_are_quick_or_refused(kernel, ledger):
    X = mixture(50, n_axes=3)
    if kernel == "exponential":
        model = make(kernel=kernel, bandwidth=6.0)
        refused(model, X, ledger, "bandwidth must be at least")
    model = make(kernel=kernel, bandwidth="private-iqr", epsilon=50.0).fit(X)
    assert np.isfinite(model.score_samples(X)).all()


@pytest.mark.parametrize(
    "parameters",
    [
        {"bandwidth": ["1", "2"]},
        {"bandwidth": [True]},
        {"bandwidth": None},
        {"boundary": None},
        {"boundary": 3},
        {"kernel": ["gaussian"]},
        {"mechanism": None},
        {"noise": 1},
    ],
    ids=str,
)
def test_parameters_of_another_type_are_refused_by_name(parameters, ledger):
    refused(make(**parameters), mixture(50), ledger, next(iter(parameters)))


def test_a_ledger_that_is_no_path_is_refused():
    with no_release(), pytest.raises(TypeError, match="path of a ledger's file"):
        make(ledger=5).fit(mixture(50))


@each_mechanism
def test_a_refused_refit_leaves_the_release_as_it_was(how):
    if "bandwidth" in how:
        how = {**how, "bandwidth": 2.5}
    X = pd.DataFrame(mixture(100, n_axes=2), columns=["a", "b"])
    model = make(**how).fit(X)
    before = model.score_samples(X)
    for bad in ({"groups": [1]}, {"sample_weight": np.ones(100)}):
        with pytest.raises(ValueError, match=r"groups must|public weight_cap"):
            model.fit(mixture(100), **bad)
        np.testing.assert_array_equal(model.score_samples(X), before)
        assert model.feature_names_in_.tolist() == ["a", "b"]


def test_weights_with_another_index_are_refused():
    X = pd.DataFrame({"age": mixture(50)[:, 0]})
    weights = pd.Series(np.ones(50)).sample(frac=1, random_state=0)
    with no_release(), pytest.raises(ValueError, match="another index"):
        make(weight_cap=1.0).fit(X, sample_weight=weights)


def test_masked_labels_are_refused_as_missing_ones():
    groups = np.ma.array(np.arange(50), mask=np.arange(50) < 2)
    with no_release(), pytest.raises(ValueError, match="missing labels"):
        make().fit(mixture(50), groups=groups)


def test_groups_can_be_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        model = make().set_fit_request(groups=True, sample_weight=False)
    assert model.get_metadata_routing().fit.requests["groups"] is True


def test_memory_does_not_grow_with_the_rows_of_one_person(monkeypatch):
    """Rows are made in chunks of one size; averages are those of all rows at once."""
    rng = np.random.default_rng(0)
    table = rng.integers(-(2**50), 2**50, (500, 3))
    codes = np.append(np.zeros(400, dtype=int), rng.integers(0, 9, 100))
    codes[400:409] = np.arange(9)
    monkeypatch.setattr("skfuncpriv.summaries._people._BLOCK_VALUES", 21)
    largest = 0

    def rows(index):
        nonlocal largest
        largest = max(largest, len(index))
        return table[index]

    blocks = list(averages_in_blocks(rows, codes, 9, 3))
    assert largest <= 7
    expected = [
        [sum(map(int, column)) // len(column) for column in table[codes == k].T]
        for k in range(9)
    ]
    np.testing.assert_array_equal(np.concatenate(blocks), expected)
    floats = person_averages(table / 2.0**50, codes, 9, 2.0)
    np.testing.assert_allclose(floats, np.array(expected) / 2.0**50, atol=1e-12)


@pytest.mark.parametrize("boundary", ["reflect", "periodic"])
@pytest.mark.parametrize("bandwidth", [0.3, 0.05, 0.011])
def test_the_largest_distance_of_coefficients_by_brute_force(boundary, bandwidth):
    """Over all pairs of a grid, functions written a second time."""
    facts = (10, ((0.0, 1.0),), (boundary,), 1.0, 0.0)
    plan = CoefficientPlan(*facts, bandwidth=np.array([bandwidth]))
    x = np.linspace(0, 1, 257)
    half = len(plan.weights)
    if boundary == "reflect":
        angle = np.pi * np.outer(x, np.arange(1, half + 1))
        functions = np.sqrt(2) * np.cos(angle)
    else:
        angle = 2 * np.pi * np.outer(x, np.arange(1, half // 2 + 1))
        functions = np.sqrt(2) * np.hstack([np.cos(angle), np.sin(angle)])
    gaps = np.linalg.norm(functions[:, None] - functions, axis=2)
    assert gaps.max() <= plan.sensitivity * plan.radius < 1.02 * gaps.max()


@pytest.mark.filterwarnings("ignore::skfuncpriv.exceptions.LargeDeltaWarning")
def test_the_smaller_noise_is_chosen_by_default():
    """Laplace unless delta is large; guarantees say which it was."""
    usual = make(epsilon=1.0, delta=1e-6).fit(mixture(1000))
    assert usual.guarantee_.definition == "pure-dp"
    large = make(epsilon=0.05, delta=0.1).fit(mixture(5000))
    assert large.guarantee_.definition == "approx-dp"
    assert large.bounds == (LOW, HIGH)
    with pytest.raises(PrivacyError, match="needs delta > 0"):
        make(noise="gaussian").fit(mixture(50))


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("kernel", ["tophat", "epanechnikov", "gaussian"])
def test_smoothed_densities_show_no_comb(kernel, whole):
    """One bump rises once and falls once, but for what noise does; so it did not when
    bins were smoothed as points: thousands of turns, and three times the variation."""
    ages = np.random.default_rng(0).normal(60, 12, (1000, 1))
    ages = np.rint(ages) if whole else ages
    model = make(bounds=(0, 120), bandwidth=5.0, kernel=kernel).fit(ages)
    steps = np.diff(model.density_)
    assert np.count_nonzero(np.diff(np.sign(steps))) < 30
    assert np.abs(steps).sum() < 2.3 * model.density_.max()
