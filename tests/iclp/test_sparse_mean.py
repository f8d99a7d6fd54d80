"""The mean of sparse curves: what it estimates, what it says of itself, bad input."""

import numpy as np
import pandas as pd
import pytest

from skfuncpriv import Curves, ICLPMean, MeanCurveDisplay, PrivateSparseMean
from skfuncpriv.basis import BSplineBasis, FourierBasis, LegendreBasis
from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.privacy import BudgetLedger

DOMAIN = (0.0, 10.0)
GRID = np.linspace(*DOMAIN, 41)
FACTS = {"bounds": (-4.0, 8.0), "domain": DOMAIN, "random_state": 0}
few_people = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)


def leaving(n_people=400, seed=0, grid=GRID):
    """People who leave one after another; those with high values leave first."""
    rng = np.random.default_rng(seed)
    level = rng.normal(size=n_people)
    X = 1.0 + np.sin(grid / 2) + level[:, None]
    end = 6.0 - 1.5 * level + rng.uniform(-1, 4, n_people)
    X[grid > end[:, None]] = np.nan
    return X


def long(n_people=300, seed=1):
    """The same at ages of their own."""
    rng = np.random.default_rng(seed)
    tables = []
    for person in range(n_people):
        level = rng.normal()
        end = np.clip(6.0 - 1.5 * level + rng.uniform(-1, 4), 2, 10)
        ages = np.sort(rng.uniform(0, end, 12))
        heights = 1.0 + np.sin(ages / 2) + level
        tables.append(pd.DataFrame({"id": person, "age": ages, "y": heights}))
    return pd.concat(tables)


def direct_mean(curves, points, reach, max_gap=np.inf):
    """The mean of those who are observed, and their share, one person at a time."""
    total, count = np.zeros(len(points)), np.zeros(len(points))
    for times, values in curves:
        for k, t in enumerate(points):
            distances = np.abs(times - t)
            after = np.searchsorted(times, t)
            between = 0 < after < len(times)
            if between and times[after] - times[after - 1] <= max_gap:
                total[k] += np.interp(t, times, values)
                count[k] += 1
            elif distances.min() <= reach:
                total[k] += values[np.argmin(distances)]
                count[k] += 1
    return total / np.maximum(count, 1), count / len(curves)


def rows_of(X):
    return [(GRID[~np.isnan(row)], row[~np.isnan(row)]) for row in X]


# What it estimates


@pytest.mark.parametrize("options", [{}, {"max_gap": 0.6, "reach": 0.1}], ids=str)
def test_agreement_with_the_direct_mean(options):
    X = leaving()
    holes = np.random.default_rng(5).uniform(size=X.shape) < 0.3
    X[holes] = np.nan
    model = PrivateSparseMean(**FACTS, epsilon=1e6, grid=GRID, **options).fit(X)
    reach = options.get("reach", 0.2)
    mean, share = direct_mean(
        rows_of(X), GRID, reach, max_gap=options.get("max_gap", np.inf)
    )
    seen = share > 0.1
    # 41 functions are cut off, at the jump of the share at t = 0 for example
    assert np.abs(model.mean_ - mean)[seen].max() < 0.1
    assert np.abs(model.mean_ - mean)[seen].mean() < 0.02
    assert np.abs(model.coverage_ - share)[1:].max() < 0.06


def test_agreement_of_irregular_curves():
    frame = long()
    curves = Curves.from_long(frame, id="id", t="age", y="y")
    model = PrivateSparseMean(**FACTS, epsilon=1e6, n_basis=40).fit(curves)
    people = [(g.age.to_numpy(), g.y.to_numpy()) for _, g in frame.groupby("id")]
    mean, share = direct_mean(people, model.grid_, 0.2)
    seen = share > 0.1
    assert np.abs(model.mean_ - mean)[seen].mean() < 0.02
    assert np.abs(model.mean_ - mean)[seen].max() < 0.1
    assert np.abs(model.coverage_ - share).mean() < 0.01


def test_those_who_left_are_neither_zero_nor_extended():
    """High values leave first: the mean of those who stay falls below that of all."""
    X = leaving(1500)
    truth = np.nanmean(X, axis=0)
    share = np.mean(~np.isnan(X), axis=0)
    late = (share > 0.1) & (share < 0.5)
    sparse = PrivateSparseMean(**FACTS, epsilon=4.0, grid=GRID).fit(X)
    extended = ICLPMean(**FACTS, epsilon=1e6, grid=GRID, missing="interpolate").fit(X)
    zero = np.nanmean(np.where(np.isnan(X), 0.0, X), axis=0)
    error = np.abs(sparse.mean_ - truth)[late]
    assert error.max() < 0.25
    assert np.abs(extended.mean_ - truth)[late].min() > 4 * error.max()
    assert np.abs(zero - truth)[late].mean() > 2 * error.max()


def test_growth_of_children(shared_data):
    frame = pd.read_csv(shared_data / "content_growth_long.csv.gz")
    curves = Curves.from_long(frame, id="id", t="agedays", y="height")
    facts = {"bounds": (40.0, 100.0), "domain": (0.0, 701.0), "random_state": 0}
    model = PrivateSparseMean(**facts, epsilon=1e6).fit(curves)
    days, heights = [30, 90, 180, 270], [53.0, 59.8, 66.0, 70.0]
    assert np.abs(model.predict(days) - heights).max() < 1.0
    # one draw at epsilon = 1, 5 posterior deviations
    private = PrivateSparseMean(**facts).fit(curves)
    days = np.array([90, 180])
    std = np.interp(days, private.grid_, private.noise_std_)
    assert (np.abs(private.predict(days) - heights[1:3]) < 5 * std).all()
    assert std.max() < 5.0
    assert private.coverage_[-1] < 0.3


def test_curves_of_one_person_are_averaged():
    X = leaving(200)
    double = np.repeat(X, 2, axis=0)
    groups = np.repeat(np.arange(200), 2)
    facts = {**FACTS, "epsilon": 1e6, "grid": GRID}
    one = PrivateSparseMean(**facts).fit(X)
    two = PrivateSparseMean(**facts).fit(double, groups=groups)
    assert two.n_people_ == one.n_people_ == 200
    assert two.guarantee_.unit == "person"
    np.testing.assert_allclose(two.mean_, one.mean_, atol=1e-3)


@pytest.mark.parametrize(
    "basis", [LegendreBasis(14, DOMAIN), BSplineBasis(14, DOMAIN)], ids=str
)
def test_any_basis(basis):
    X = leaving()
    model = PrivateSparseMean(**FACTS, epsilon=1e6, grid=GRID, basis=basis).fit(X)
    share = np.mean(~np.isnan(X), axis=0)
    error = np.abs(model.mean_ - np.nanmean(X, axis=0))[share > 0.1]
    assert error.mean() < 0.05
    assert error.max() < 0.3


def test_a_basis_of_another_domain_is_refused():
    with pytest.raises(ValueError, match="differs from that of the basis"):
        PrivateSparseMean(**FACTS, basis=FourierBasis(5, (0.0, 1.0))).fit(leaving(20))


def test_outputs_share_a_mask():
    X = leaving(500)
    pairs = np.stack([X, 100 - 10 * X], axis=2)
    pairs[:50, 3, 1] = np.nan  # not observed, then, in the other output either
    facts = {**FACTS, "bounds": ([-4.0, 0.0], [8.0, 200.0]), "epsilon": 1e6}
    model = PrivateSparseMean(**facts, grid=GRID).fit(pairs)
    assert model.mean_.shape == model.noise_std_.shape == (41, 2)
    share = np.mean(~np.isnan(X), axis=0)
    difference = np.abs(model.mean_ - np.nanmean(pairs, axis=0))[share > 0.1]
    assert (difference.mean(axis=0) < [0.02, 0.4]).all()
    np.testing.assert_allclose(model.predict(GRID), model.mean_, rtol=1e-9)
    assert model.noise_band()[0].shape == model.sample(3)[0].shape == (41, 2)


# What it says of itself


def test_where_nobody_is_the_answer_is_the_prior_and_says_so():
    X = leaving(500)
    X[:, GRID > 5] = np.nan
    model = PrivateSparseMean(**FACTS, epsilon=4.0, grid=GRID).fit(X)
    known, unknown = GRID < 4, GRID > 8
    assert model.coverage_[unknown].max() < 0.1
    assert model.noise_std_[unknown].min() > 3 * model.noise_std_[known].max()
    assert model.noise_std_[unknown].min() > 0.1 * 6
    assert (np.abs(model.mean_ - 2.0) < 6.0).all()


def test_band_and_deviation_are_honest():
    """Coverage of the truth over releases: bands of 95 %, deviations by their square.

    Of 40 releases a share of 0.95 has a standard error of 0.035.
    """
    X = leaving(150)
    truth = np.nanmean(X, axis=0)
    seen = np.mean(~np.isnan(X), axis=0) > 0.03
    inside, ratios = [], []
    for seed in range(40):
        facts = {**FACTS, "random_state": seed}
        model = PrivateSparseMean(**facts, epsilon=7.0, grid=GRID).fit(X)
        lower, upper = model.noise_band(0.95)
        inside.append(((lower <= truth) & (truth <= upper))[seen].all())
        ratios.append(((model.mean_ - truth) / model.noise_std_)[seen])
    assert np.mean(inside) > 0.95 - 5 * 0.035
    square = np.mean(np.square(ratios))
    assert 0.1 < square < 2.0


def test_deviations_that_are_drawn_have_the_stated_deviation():
    model = PrivateSparseMean(**FACTS, grid=GRID).fit(leaving())
    draws = model.sample(4000, random_state=1)
    error = np.abs(draws.std(axis=0) / model.noise_std_ - 1)
    assert error.max() < 5 / np.sqrt(2 * 4000)
    np.testing.assert_array_equal(draws, model.sample(4000, random_state=1))


def test_predict_continues_the_mean():
    model = PrivateSparseMean(**FACTS, grid=GRID).fit(leaving())
    np.testing.assert_allclose(model.predict(GRID), model.mean_, rtol=1e-12)
    assert model.predict([[1.0, 2.0]]).shape == (1, 2)
    with pytest.raises(ValueError, match="finite numbers of the domain"):
        model.predict([10.5])


@pytest.mark.parametrize("options", [{}, {"mechanism": "gaussian", "delta": 1e-6}])
def test_the_plan_is_what_is_released(options):
    X = leaving(500)
    model = PrivateSparseMean(**FACTS, grid=GRID, **options).fit(X)
    plan = model._planned_release(500)
    assert 2 * plan.n_functions == model.law_.size == model.release_.size
    square = model.law_.expected_square / 500**2 * 10.0 * 6.0**2
    assert plan.noise == pytest.approx(square, rel=1e-12)
    assert model.expected_error(500) == plan.noise
    assert plan.risk > plan.noise > model.expected_error(1000)
    assert plan.delta == options.get("delta", 0.0)


def test_more_people_and_budget_have_smaller_errors():
    errors = []
    for n_people, epsilon in ((150, 1.0), (150, 10.0), (1200, 10.0)):
        X = leaving(n_people)
        share = np.mean(~np.isnan(X), axis=0)
        square = []
        for seed in range(3):
            facts = {**FACTS, "random_state": seed, "epsilon": epsilon}
            model = PrivateSparseMean(**facts, grid=GRID).fit(X)
            difference = model.mean_ - np.nanmean(X, axis=0)
            square.append(np.mean(np.square(difference)[share > 0.1]))
        errors.append(np.sqrt(np.mean(square)))
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


def test_display():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    display = MeanCurveDisplay.from_estimator(PrivateSparseMean(**FACTS).fit(leaving()))
    np.testing.assert_array_equal(display.line_.get_xdata(), GRID)


# Forms of data


def forms_of(X):
    seen = ~np.isnan(X)
    offsets = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
    times = np.concatenate([GRID[row] for row in seen])
    frame = pd.DataFrame(X, columns=[f"{t:.2f}" for t in GRID])
    return {"array": X, "frame": frame, "list": X.tolist()}, Curves(
        X[seen], times, offsets, missing="interpolate"
    )


def test_forms_of_the_same_data_release_the_same():
    X = leaving(60)
    X[7] = np.nan
    wide, curves = forms_of(X)
    means = []
    for form in wide.values():
        model = PrivateSparseMean(**FACTS, epsilon=50.0, grid=GRID, n_basis=12)
        means.append(model.fit(form).mean_)
        np.testing.assert_array_equal(means[-1], means[0])
    model = PrivateSparseMean(**FACTS, epsilon=50.0, grid=GRID, n_basis=12)
    np.testing.assert_allclose(model.fit(curves).mean_, means[0], atol=1e-6)


def test_a_dense_container_is_observed_but_for_those_without_data():
    X = np.tile(np.linspace(0.0, 4.0, 41), (50, 1))
    X[:20] = np.nan
    curves = Curves.from_wide(X, GRID, missing="interpolate")
    facts = {**FACTS, "epsilon": 1e6, "n_basis": 30}
    model = PrivateSparseMean(**facts).fit(curves)
    np.testing.assert_allclose(model.coverage_, 0.6, atol=1e-3)
    np.testing.assert_allclose(model.mean_, X[-1], atol=0.05)  # kinks at the ends


class FakeIrregular:
    """The attributes of a functional data object that are read."""

    domain_range = (DOMAIN,)
    dim_domain = 1

    def __init__(self, X):
        seen = ~np.isnan(X)
        self.start_indices = np.concatenate([[0], np.cumsum(seen.sum(axis=1))[:-1]])
        self.points = np.concatenate([GRID[row] for row in seen])[:, None]
        self.values = X[seen][:, None]


def test_functional_data():
    X = leaving(60)
    facts = {**FACTS, "epsilon": 50.0, "grid": GRID, "n_basis": 12}
    mean = PrivateSparseMean(**facts).fit(FakeIrregular(X)).mean_
    expected = PrivateSparseMean(**facts).fit(X).mean_
    np.testing.assert_allclose(mean, expected, atol=1e-6)
    gaps = FakeIrregular(X)
    gaps.values[:300] = np.nan
    other = PrivateSparseMean(**facts).fit(gaps)
    assert (other.coverage_ < 0.95).all()
    other.set_params(domain=(0.0, 11.0))
    with pytest.raises(ValueError, match="another domain"):
        other.fit(gaps)


def test_values_beyond_the_bounds_are_clipped_silently():
    X = leaving(100)
    facts = {**FACTS, "epsilon": 50.0, "grid": GRID, "n_basis": 12}
    far = np.where(X > 2.0, 1e300, X)
    near = np.where(X > 2.0, 8.0, X)
    one, other = (PrivateSparseMean(**facts).fit(table).mean_ for table in (far, near))
    np.testing.assert_array_equal(one, other)


@few_people
@pytest.mark.parametrize("epsilon", [1e-140, 1e-3, 1.0, 1e9, 1e100])
def test_nobody_with_values_is_a_finite_release(epsilon):
    for X in (np.full((3, 5), np.nan), np.ones((1, 5)), np.ones((2, 1))):
        model = PrivateSparseMean(**{**FACTS, "epsilon": epsilon}).fit(X)
        for name in ("mean_", "coef_", "release_", "noise_std_", "coverage_"):
            assert np.isfinite(getattr(model, name)).all()
        assert (model.noise_std_ > 0).all()
        assert np.isfinite(model.noise_band()).all()
        assert ((model.coverage_ >= 0) & (model.coverage_ <= 1)).all()


@few_people
@pytest.mark.parametrize(
    "extreme",
    [
        {"domain": (-1e200, 1e200)},
        {"domain": (0, 1e-200)},
        {"bounds": (-1e200, 1e200), "domain": (-1e100, 1e100)},
        {"bounds": (-1e-200, 1e-200)},
        {"epsilon": 1e-140},
        {"n_basis": 1},
        {"reach": 1e300, "max_gap": 1e-300},
        {"reach": 0.0},
        {"center": -4.0},
    ],
    ids=str,
)
def test_extreme_but_valid_parameters_release_numbers(extreme):
    X = leaving(30)
    X[:3] = 1e308
    model = PrivateSparseMean(**{**FACTS, **extreme}).fit(X)
    for name in ("mean_", "coef_", "release_", "noise_std_", "coef_root_"):
        assert np.isfinite(getattr(model, name)).all()
    assert np.isfinite(model.noise_band()).all()


@few_people
@pytest.mark.parametrize("epsilon", [1e-152, 1e-300])
def test_noise_that_floats_cannot_hold_is_refused(epsilon, ledger):
    facts = {**FACTS, "epsilon": epsilon, "ledger": str(ledger.path)}
    for X in (leaving(3), np.ones((1, 1))):
        with pytest.raises(PrivacyError, match="range of floating point"):
            PrivateSparseMean(**facts).fit(X)
    assert ledger.history() == []


def test_irregular_curves_at_absurd_times():
    times = [-1e308, 1.0, 2.0, 1e308, 4.0, 5e-324, 1.7e308]
    curves = Curves([1.0, 1e300, 2.0, -1e300, 3.0, 1.0, 2.0], times, [0, 4, 5, 7])
    with np.errstate(all="raise"):
        model = PrivateSparseMean(**FACTS, epsilon=100.0).fit(curves)
    assert np.isfinite(model.mean_).all()


# What is refused, for free


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "budget.db", epsilon=100.0, delta=1e-3)


BAD_PARAMETERS = {
    "max_gap": [0, -1.0, np.inf, "wide", True],
    "reach": [-0.1, np.nan, "far"],
    "mechanism": ["noise", "gaussian", None],
    "basis": ["cosine", 8],
    "n_basis": [0, 2.5, "many"],
    "bounds": [(1.0, 1.0), (0.0, np.inf), 3.0, ([0.0, 0.0], [1.0, 1.0])],
    "center": [9.0, np.ones(41), "middle"],
    "domain": [(1.0, 0.0), (0.0, np.nan), 7.0, (0.0, 5.0)],
    "ledger": [3],
}
CASES = [(name, value) for name, values in BAD_PARAMETERS.items() for value in values]


@pytest.mark.parametrize(("name", "value"), CASES, ids=str)
def test_bad_parameters_are_refused_before_the_charge(name, value, ledger):
    facts = {**FACTS, "grid": GRID, "ledger": str(ledger.path), name: value}
    with pytest.raises((ValueError, TypeError, PrivacyError)):
        PrivateSparseMean(**facts).fit(leaving(20))
    assert ledger.history() == []


def test_what_must_be_stated():
    with pytest.raises(TypeError, match="bounds"):
        PrivateSparseMean(domain=DOMAIN)
    curves = Curves([1.0, 2.0, 3.0], [0.1, 0.2, 0.4], [0, 2, 3])
    with pytest.raises(ValueError, match="domain must be stated"):
        PrivateSparseMean(bounds=(-4, 8)).fit(curves)


@pytest.mark.parametrize("seed", range(3))
def test_infinity_among_gaps_is_refused_without_a_number(seed, ledger):
    X = leaving(20, seed)
    X[3, 2], X[4, 4] = np.inf, np.nan
    facts = {**FACTS, "grid": GRID, "ledger": str(ledger.path)}
    with pytest.raises(ValueError, match=r"^Input contains infinity or a value too"):
        PrivateSparseMean(**facts).fit(X)
    assert ledger.history() == []


def test_progress_is_shown_in_tenths(capsys):
    """The bar says neither how many rows there are nor how many are done."""
    groups = np.repeat(np.arange(10), 2)
    model = PrivateSparseMean(**FACTS, epsilon=50.0, grid=GRID, verbose=True)
    model.fit(leaving(20), groups=groups)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "100%" in shown.err
    assert "20" not in shown.err
