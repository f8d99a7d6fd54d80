"""PrivateKDE beside KernelDensity: the same words, the same numbers, and its own."""

import datetime

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.datasets import load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skfuncpriv import BudgetExceededError, BudgetLedger, PrivacyError, PrivateKDE
from skfuncpriv.datasets import load_storms
from skfuncpriv.density._smoothing import KERNELS
from tests.density.cases import (
    HIGH,
    LOW,
    MECHANISMS,
    each_mechanism,
    make,
    mixture,
    no_release,
)

WIDE = (-8.0, 12.0)  # no kernel of the data below reaches the bounds
each_kernel = pytest.mark.parametrize("kernel", sorted(KERNELS))
each_boundary = pytest.mark.parametrize(
    "boundary", ["reflect", "periodic", "renormalize"]
)


def largest_gap(private, public, points):
    """The largest difference of two densities over the peak of the second."""
    found, expected = (np.exp(m.score_samples(points)) for m in (private, public))
    return abs(found - expected).max() / expected.max()


# Drop-in


@pytest.mark.parametrize("bandwidth", [0.3, 0.7])
@each_boundary
@each_kernel
def test_without_noise_it_is_kernel_density(kernel, boundary, bandwidth):
    X = mixture(2000)
    public = KernelDensity(bandwidth=bandwidth, kernel=kernel).fit(X)
    private = make(
        bounds=WIDE,
        bandwidth=bandwidth,
        kernel=kernel,
        boundary=boundary,
        epsilon=1e6,
    ).fit(X)
    points = np.linspace(-4, 8, 400)[:, None]
    assert largest_gap(private, public, points) < 0.01
    assert private.bandwidth_ == bandwidth


@pytest.mark.parametrize("denoise", [True, False])
def test_so_it_is_without_denoising(denoise):
    X = mixture(2000)
    public = KernelDensity(bandwidth=0.4).fit(X)
    private = make(bounds=WIDE, bandwidth=0.4, epsilon=1e6, denoise=denoise).fit(X)
    points = np.linspace(-4, 8, 400)[:, None]
    assert largest_gap(private, public, points) < 1e-3


@pytest.mark.parametrize("mechanism", ["gaussian_process", "iclp"])
@pytest.mark.parametrize("n_axes", [1, 2])
def test_other_mechanisms_are_kernel_density_without_noise(mechanism, n_axes):
    X = mixture(2000, n_axes=n_axes)
    public = KernelDensity(bandwidth=0.8).fit(X)
    private = make(
        bounds=WIDE, bandwidth=0.8, mechanism=mechanism, epsilon=1e6, delta=1e-6
    ).fit(X)
    points = np.random.default_rng(0).uniform(-2, 6, (200, n_axes))
    assert largest_gap(private, public, points) < 0.002


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "exponential"])
@pytest.mark.parametrize("n_axes", [2, 3])
def test_several_axes_are_kernel_density_without_noise(kernel, n_axes):
    X = mixture(2000, n_axes=n_axes)
    h = 3.0 if n_axes == 3 else 1.0
    public = KernelDensity(bandwidth=h, kernel=kernel).fit(X)
    private = make(bounds=(-16, 20), bandwidth=h, kernel=kernel, epsilon=1e6).fit(X)
    points = np.random.default_rng(0).uniform(-2, 6, (200, n_axes))
    # cells of 36 / 64: between nodes a concave density is cut by up to 2.6 %
    assert largest_gap(private, public, points) < (0.03 if n_axes == 3 else 0.02)


def test_bandwidths_per_axis_are_those_of_rescaled_columns():
    X = mixture(2000, n_axes=2)
    scale = np.array([0.5, 1.5])
    public = KernelDensity(bandwidth=1.0).fit(X / scale)
    private = make(bounds=WIDE, bandwidth=scale, epsilon=1e6).fit(X)
    points = np.random.default_rng(0).uniform(-2, 6, (200, 2))
    expected = np.exp(public.score_samples(points / scale)) / scale.prod()
    found = np.exp(private.score_samples(points))
    assert abs(found - expected).max() < 0.01 * expected.max()
    np.testing.assert_array_equal(private.bandwidth_, scale)


@pytest.mark.parametrize("mechanism", ["binned", "gaussian_process", "iclp"])
def test_weights_are_those_of_kernel_density(mechanism):
    X, weights = mixture(2000), np.random.default_rng(1).random(2000)
    public = KernelDensity(bandwidth=0.8).fit(X, sample_weight=weights)
    private = make(
        bounds=WIDE,
        bandwidth=0.8,
        epsilon=1e6,
        delta=1e-6,
        mechanism=mechanism,
        weight_cap=2.0,
    ).fit(X, sample_weight=weights)
    points = np.linspace(-4, 8, 400)[:, None]
    assert largest_gap(private, public, points) < 0.002


@pytest.mark.parametrize("name", ["scott", "silverman"])
def test_bandwidths_that_know_only_sizes_are_those_of_scikit_learn(name):
    X = mixture(500, n_axes=2)
    expected = KernelDensity(bandwidth=name).fit(X).bandwidth_
    private = make(bounds=(-20, 24), bandwidth=name).fit(X)
    np.testing.assert_allclose(private.bandwidth_, expected, rtol=1e-12)


# A density


@pytest.mark.parametrize("n_axes", [1, 2, 3])
@each_mechanism
def test_it_is_a_density(how, n_axes):
    if n_axes > 1 and "bandwidth" in how:
        how = {**how, "bandwidth": 2.5 if n_axes == 2 else 5.0}
    model = make(**how).fit(mixture(500, n_axes=n_axes))
    mass = model.density_
    for nodes in reversed(model.grid_):
        mass = np.trapezoid(mass, nodes, axis=-1)
    assert mass == pytest.approx(1, abs=1e-6)
    assert (model.density_ > 0).all()
    assert model.density_.shape == tuple(map(len, model.grid_))
    corner = np.array([[nodes[5] for nodes in model.grid_]])
    assert np.exp(model.score_samples(corner))[0] == pytest.approx(
        model.density_[(5,) * n_axes], rel=1e-9
    )
    assert model.cdf([[HIGH] * n_axes])[0] == pytest.approx(1)
    sample = model.sample(50)
    assert sample.shape == (50, n_axes)
    assert ((sample >= LOW) & (sample <= HIGH)).all()


def test_outside_of_the_bounds_the_density_is_zero():
    model = make().fit(mixture(200))
    with np.errstate(all="raise"):
        logs = model.score_samples([[LOW - 1e-9], [LOW], [HIGH], [1e308], [-1e308]])
    assert np.isneginf(logs).tolist() == [True, False, False, True, True]


def test_score_is_the_sum_of_log_densities():
    X = mixture(200)
    model = make().fit(X)
    assert model.score(X) == pytest.approx(model.score_samples(X).sum(), rel=1e-12)


def test_quantiles_take_any_shape():
    model = make().fit(mixture(5000))
    middle = model.quantile(0.5)
    assert middle.shape == ()
    assert model.quantile([[0.1, 0.5], [0.7, 0.9]]).shape == (2, 2)
    assert model.quantile([[0.1, 0.5]])[0, 1] == middle
    assert model.cdf([[float(middle)]])[0] == pytest.approx(0.5)
    assert abs(middle - np.median(mixture(5000))) < 0.1


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan, [0.5, 2]])
def test_what_is_no_probability_is_refused(bad):
    with pytest.raises(ValueError, match=r"probabilities must lie in \[0, 1\]"):
        make().fit(mixture(50)).quantile(bad)


def test_quantiles_of_several_features_are_refused():
    with pytest.raises(ValueError, match="one feature"):
        make().fit(mixture(50, n_axes=2)).quantile(0.5)


def test_samples_come_from_fresh_bits_and_may_be_seeded():
    model = make().fit(mixture(200))
    first, second = model.sample(20), model.sample(20)
    assert (first != second).all()
    np.testing.assert_array_equal(
        model.sample(5, random_state=3), model.sample(5, random_state=3)
    )


@each_kernel
def test_samples_of_every_kernel(kernel):
    model = make(kernel=kernel, bandwidth=0.5).fit(mixture(2000))
    sample = np.sort(model.sample(40_000, random_state=1)[:, 0])
    uniform = model.cdf(sample[:, None])
    # Kolmogorov's distance is passed by chance once in 1e9
    steps = (np.arange(len(sample)) + 0.5) / len(sample)
    assert abs(uniform - steps).max() < 3.3 / np.sqrt(len(sample))


# Bounds and units


@pytest.mark.parametrize(
    "mechanism", ["binned", "gaussian_process", "iclp", "bernstein"]
)
@pytest.mark.parametrize("bandwidth", ["pss", 0.5])
def test_near_a_bound_the_density_is_not_halved(mechanism, bandwidth):
    """Exponential data: the height at the bound is 1; truncation would show 1/2."""
    X = np.random.default_rng(0).exponential(1, (20_000, 1))
    for boundary in ("reflect", "renormalize"):
        if (mechanism, boundary) == ("iclp", "renormalize"):
            continue
        model = make(
            bounds=(0, 8),
            epsilon=2,
            delta=1e-6,
            mechanism=mechanism,
            bandwidth=bandwidth,
            boundary=boundary,
        ).fit(X)
        h = 0.5 if bandwidth == 0.5 else 0.2
        at_bound = np.exp(model.score_samples([[0.0]]))[0]
        mirrored = 2 * np.exp(h**2 / 2) * norm.sf(h)  # the mean of exp(-h |Z|)
        assert mirrored - 0.06 < at_bound < 1.05


@pytest.mark.parametrize(
    "mechanism", ["binned", "gaussian_process", "iclp", "bernstein"]
)
@pytest.mark.parametrize("bandwidth", ["pss", 0.7])
def test_midnight_is_one_point(mechanism, bandwidth):
    """Hours around midnight: the same before and after, with a peak between."""
    rng = np.random.default_rng(1)
    hours = np.append(rng.normal(24, 1.2, 8000) % 24, rng.uniform(0, 24, 8000))
    model = make(
        bounds=(0, 24),
        boundary="periodic",
        delta=1e-6,
        mechanism=mechanism,
        bandwidth=bandwidth,
    ).fit(hours[:, None])
    at = np.exp(model.score_samples([[0.0], [24.0], [1e-9], [24 - 1e-9], [12.0]]))
    np.testing.assert_allclose(at[:4], at[0], rtol=1e-6)
    assert at[0] > 4 * at[4]
    slope = (model.density_[1] - model.density_[-2]) / model.density_[0]
    assert abs(slope) < 0.02


@pytest.mark.parametrize("factor", [1000.0, 0.3048, 2.0**-20, 1e-30])
@pytest.mark.parametrize("n_axes", [1, 2])
@each_mechanism
def test_units_change_everything_by_their_factor(how, n_axes, factor):
    X = mixture(300, n_axes=n_axes)
    points = np.random.default_rng(2).uniform(LOW, HIGH, (50, n_axes))
    if n_axes == 2 and "bandwidth" in how:
        how = {**how, "bandwidth": 2.5}
    scaled = dict(how)
    if "bandwidth" in how:
        scaled["bandwidth"] = factor * how["bandwidth"]
    one = make(**how).fit(X)
    other = make(bounds=(factor * LOW, factor * HIGH), **scaled).fit(factor * X)
    np.testing.assert_allclose(other.bandwidth_, factor * one.bandwidth_, rtol=1e-12)
    np.testing.assert_allclose(
        other.score_samples(factor * points),
        one.score_samples(points) - n_axes * np.log(factor),
        rtol=0,
        atol=1e-6,
    )
    np.testing.assert_allclose(
        other.sample(5, random_state=1), factor * one.sample(5, random_state=1)
    )


def test_equal_bounds_give_equal_grids():
    """Groups of different sizes can be subtracted."""
    large = make(epsilon=2.0).fit(mixture(4000))
    small = make(epsilon=0.5).fit(mixture(100, seed=5))
    np.testing.assert_array_equal(large.grid_[0], small.grid_[0])
    difference = large.density_ - small.density_
    assert np.trapezoid(difference, large.grid_[0]) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float32])
def test_whole_numbers_such_as_ages_work(dtype):
    ages = np.clip(np.random.default_rng(0).normal(40, 12, (3000, 1)), 0, 110)
    model = make(bounds=(0, 120)).fit(np.rint(ages).astype(dtype))
    same = make(bounds=(0, 120)).fit(np.rint(ages).astype(float))
    np.testing.assert_array_equal(model.density_, same.density_)
    assert abs(model.quantile(0.5) - 40) < 2


def test_constant_and_collinear_columns_work():
    constant = make(bandwidth="private-iqr").fit(np.full((500, 1), 1.0))
    assert constant.grid_[0][constant.density_.argmax()] == pytest.approx(1, abs=0.2)
    x = mixture(2000)
    line = make().fit(np.hstack([x, x]))
    sample = line.sample(2000, random_state=0)
    assert np.corrcoef(sample.T)[0, 1] > 0.8


def test_data_outside_of_the_bounds_are_moved_to_them():
    X = mixture(500)
    far = X.copy()
    X[:100], far[:100] = HIGH, 1e300
    np.testing.assert_array_equal(make().fit(X).density_, make().fit(far).density_)


# Private bandwidths


def test_private_quartiles_give_the_rule_of_thumb():
    X = np.random.default_rng(0).normal(2, 0.5, (20_000, 1))
    expected = 0.9 * 0.5 * 20_000**-0.2  # IQR / 1.34 is the deviation
    for mechanism in ("binned", "iclp", "gaussian_process", "bernstein"):
        model = make(
            bandwidth="private-iqr", mechanism=mechanism, delta=1e-6, epsilon=2.0
        ).fit(X)
        assert model.bandwidth_ == pytest.approx(expected, rel=0.05)


# Groups and real data


def test_a_long_storm_moves_the_release_no_more_than_a_short_one():
    """One more 96-point storm and one more 1-point storm weigh the same."""
    storms = load_storms().data
    X, names = np.stack([storms["lon"], storms["lat"]], axis=1), storms["storm"]
    bounds = ((-140, 0), (20, 75))
    where = np.array([[-60.0, 30.0]])

    def release(n_points):
        rows = np.concatenate([X, np.repeat(where, n_points, axis=0)])
        groups = np.append(names, ["another"] * n_points)
        model = make(bounds=bounds, epsilon=1e6, bandwidth=4.0)
        return model.fit(rows, groups=groups).density_

    with_short, with_long = release(1), release(96)
    np.testing.assert_allclose(with_long, with_short, rtol=0, atol=1e-6)
    people = len(set(names)) + 1
    moved = make(bounds=bounds, epsilon=1e6, bandwidth=4.0).fit(
        np.concatenate([X, where + 20]), groups=np.append(names, ["another"])
    )
    peak = 1 / (2 * np.pi * 16)
    assert abs(moved.density_ - with_long).max() < 1.01 * peak / people


def test_body_mass_index_of_diabetes_patients():
    bmi = load_diabetes(scaled=False, as_frame=True).data[["bmi"]]
    model = make(bounds=(10, 60), epsilon=1.0).fit(bmi)
    assert abs(model.quantile(0.5) - bmi["bmi"].median()) < 1.0
    # the error in L2 against the curator's own estimate, over that of a flat density
    reference = KernelDensity(bandwidth=1.2).fit(bmi.to_numpy())
    nodes = model.grid_[0][::16]
    truth = np.exp(reference.score_samples(nodes[:, None]))
    error = np.square(model.density_[::16] - truth).sum()
    assert error < 0.05 * np.square(0.02 - truth).sum()
    assert model.feature_names_in_.tolist() == ["bmi"]


# Pipelines and searches


def test_it_works_inside_a_pipeline():
    pipe = make_pipeline(FunctionTransformer(np.log), make(bounds=(-3, 3)))
    X = np.exp(mixture(500) / 2)
    pipe.fit(X)
    assert pipe.score_samples(X).shape == (500,)


@each_kernel
def test_searches_are_charged_for_every_fit_and_have_finite_scores(kernel, tmp_path):
    path = str(tmp_path / "budget.db")
    ledger = BudgetLedger(path, epsilon=7.0)
    model = PrivateKDE(bounds=(LOW, HIGH), kernel=kernel, ledger=path)
    n_jobs = 2 if kernel == "gaussian" else None  # processes start slowly
    search = GridSearchCV(model, {"bandwidth": [0.2, 0.5, 1.0]}, cv=2, n_jobs=n_jobs)
    search.fit(mixture(300))
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert len(ledger.history()) == 7
    assert ledger.spent.epsilon == 7.0


def test_searches_that_cannot_be_paid_are_refused(tmp_path):
    path = str(tmp_path / "budget.db")
    ledger = BudgetLedger(path, epsilon=3.0)
    model = PrivateKDE(bounds=(LOW, HIGH), ledger=path)
    search = GridSearchCV(
        model, {"bandwidth": [0.2, 0.5]}, cv=2, error_score="raise", n_jobs=2
    )
    with pytest.raises(BudgetExceededError):
        search.fit(mixture(300))
    assert ledger.spent.epsilon <= 3.0
    assert not hasattr(search, "best_estimator_")


# Refusals


@pytest.mark.parametrize(
    "parameters",
    [
        {"bandwidth": 0.0},
        {"bandwidth": -1},
        {"bandwidth": "cv"},
        {"bandwidth": [1.0, 2.0]},
        {"bandwidth": np.nan},
        {"bandwidth": 1e-5},
        {"kernel": "uniform"},
        {"boundary": "cut"},
        {"boundary": ("reflect", "reflect")},
        {"mechanism": "histogram"},
        {"noise": "uniform"},
        {"denoise": "yes"},
        {"bounds": None},
        {"bounds": (1, 1)},
        {"bounds": (0, np.inf)},
        {"bounds": ((0, 0), (1, 1))},
        {"bounds": (-1.7e308, 1.7e308)},
        {"mechanism": "iclp", "boundary": "renormalize"},
        {"mechanism": "iclp", "kernel": "tophat"},
        {"mechanism": "gaussian_process", "noise": "gaussian", "delta": 1e-6},
        {"epsilon": 0},
        {"delta": 2.0},
        {"weight_cap": -1.0},
    ],
    ids=str,
)
def test_bad_parameters_are_refused_before_anything_is_charged(parameters, tmp_path):
    path = str(tmp_path / "budget.db")
    ledger = BudgetLedger(path, epsilon=5.0, delta=0.1)
    weights = np.ones(50) if "weight_cap" in parameters else None
    with no_release(), pytest.raises(ValueError, match=next(iter(parameters))):
        make(ledger=path, **parameters).fit(mixture(50), sample_weight=weights)
    assert ledger.history() == []


@pytest.mark.parametrize(
    "how", [{"noise": "gaussian"}, {"mechanism": "gaussian_process"}]
)
def test_gaussian_noise_needs_a_delta(how):
    with pytest.raises(PrivacyError, match="needs delta > 0"):
        make(**how).fit(mixture(50))


@pytest.mark.parametrize(
    "name",
    [
        *("algorithm", "leaf_size", "breadth_first"),
        *("metric", "metric_params", "atol", "rtol"),
    ],
)
def test_parameters_without_private_meaning_are_refused_by_name(name):
    with pytest.raises(TypeError, match=name):
        PrivateKDE(bounds=(0, 1), **{name: None})
    assert f"`{name}`" in PrivateKDE.__doc__


def test_four_features_are_refused_by_name():
    with no_release(), pytest.raises(ValueError, match="GaussianProcessReleaser"):
        make().fit(np.zeros((10, 4)))


def test_bounds_column_by_column_are_told_from_boxes():
    X = np.zeros((20, 2))
    with pytest.raises(ValueError, match=r"say \(\[0.0, 0.0\], \[6.0, 24.0\]\), got"):
        PrivateKDE(bounds=((0, 6), (0, 24)), epsilon=1.0).fit(X)
    for wrong in (((5, 1), (0, 2)), ((0, 0), (0, 0))):  # neither reading
        with pytest.raises(ValueError, match="two finite numbers"):
            PrivateKDE(bounds=wrong, epsilon=1.0).fit(X)


def test_gaps_are_no_reason_to_leave_people_out():
    with pytest.raises(ValueError, match="NaN or infinity: keep a row for everybody"):
        PrivateKDE(bounds=(0, 1), epsilon=1.0).fit([[0.5], [np.nan]])


def test_bounds_are_required():
    with pytest.raises(TypeError, match="bounds"):
        PrivateKDE()


@pytest.mark.parametrize(
    "dates",
    [
        np.array(["2024-01-01"] * 5, dtype="datetime64[D]")[:, None],
        pd.DataFrame({"t": pd.to_datetime(["2024-01-01"] * 5)}),
        [[datetime.datetime(2024, 1, 1)]] * 5,
    ],
    ids=["numpy", "pandas", "objects"],
)
def test_dates_are_refused_with_the_conversion(dates):
    with no_release(), pytest.raises(ValueError, match=r"np\.timedelta64"):
        make().fit(dates)


@pytest.mark.parametrize(
    "weights", [[1.0], np.full(50, -1.0), np.full(50, np.nan), np.full(50, np.inf)]
)
def test_bad_weights_are_refused(weights):
    with no_release(), pytest.raises(ValueError, match="sample_weight must hold"):
        make(weight_cap=1.0).fit(mixture(50), sample_weight=weights)


def test_weights_need_a_public_cap():
    with no_release(), pytest.raises(ValueError, match="public weight_cap"):
        make().fit(mixture(50), sample_weight=np.ones(50))


def test_weights_of_zero_are_nobodys_business():
    """That all weights are zero is private: the fit is as any other."""
    model = make(weight_cap=1.0).fit(mixture(50), sample_weight=np.zeros(50))
    assert np.isfinite(model.score_samples(mixture(50))).all()


@pytest.mark.parametrize("method", ["score_samples", "score", "cdf", "sample"])
def test_nothing_is_answered_before_the_fit(method):
    argument = 1 if method == "sample" else mixture(5)
    with pytest.raises(NotFittedError):
        getattr(make(), method)(argument)


def test_frames_with_other_columns_are_refused():
    frame = pd.DataFrame({"age": mixture(50)[:, 0]})
    model = make().fit(frame)
    assert model.score_samples(frame).shape == (50,)
    with pytest.raises(ValueError, match="feature names"):
        model.score_samples(frame.rename(columns={"age": "size"}))


# The law of the budget


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 30.0, 1000.0])
def test_laplace_noise_is_smaller_and_spends_no_delta(epsilon):
    X = mixture(1000)
    laplace, gaussian = (
        make(epsilon=epsilon, delta=1e-6, noise=noise, denoise=False, bandwidth=1.0)
        for noise in ("laplace", "gaussian")
    )
    assert laplace.fit(X).noise_std_ < gaussian.fit(X).noise_std_
    assert laplace.guarantee_.definition == "pure-dp"
    assert gaussian.guarantee_.definition == "approx-dp"
    assert gaussian.guarantee_.delta == 1e-6


def test_groups_are_people_in_the_guarantee():
    X = mixture(60)
    assert make().fit(X).guarantee_.unit == "row"
    model = make().fit(X, groups=np.repeat(np.arange(20), 3))
    assert model.guarantee_.unit == "person"
    assert model.n_people_ == 20


def test_the_number_of_bins_grows_with_people_and_budget():
    """And depends on nothing else: it is public."""
    widths = [
        make(epsilon=epsilon).fit(mixture(n)).bandwidth_
        for n, epsilon in ((100, 1.0), (1000, 1.0), (1000, 10.0), (10_000, 1.0))
    ]
    assert widths[0] > widths[1] > widths[2] == widths[3]
    other = make().fit(np.full((1000, 1), 0.123)).bandwidth_
    assert other == widths[1]


def test_a_larger_budget_is_more_accurate():
    truth = KernelDensity(bandwidth=0.15).fit(mixture(20_000))
    nodes = make().fit(mixture(50)).grid_[0][::64]
    expected = np.exp(truth.score_samples(nodes[:, None]))
    errors = []
    for epsilon in (0.05, 0.5, 5.0):
        fits = [
            make(epsilon=epsilon, random_state=k).fit(mixture(20_000)) for k in range(5)
        ]
        errors.append(sum(np.square(m.density_[::64] - expected).mean() for m in fits))
    assert errors[0] > 2 * errors[1]
    assert errors[1] > errors[2]


@pytest.mark.parametrize("name", MECHANISMS)
def test_noise_std_is_the_noise_of_the_density(name):
    """Over seeds and nodes, for a flat density of which next to nothing is cut off.

    Of 30 seeds and at least 5 independent places each, the root mean square has a
    deviation of 4 % at most: the tolerance is five of them, a factor sqrt(2) is more.
    """
    how = {**MECHANISMS[name], "bandwidth": 1.0, "denoise": False}
    X = np.random.default_rng(0).uniform(LOW, HIGH, (4000, 1))
    models = [make(epsilon=3.0, **{**how, "random_state": k}).fit(X) for k in range(30)]
    densities = np.stack([model.density_[::64] for model in models])
    square = np.var(densities, axis=0, ddof=1).mean()
    ratio = np.sqrt(square) / np.mean([model.noise_std_ for model in models])
    assert 0.8 < ratio < 1.2
