"""One budget for candidates, choice and fit: what is charged, drawn, kept and said."""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sklearn
from joblib import parallel_config
from sklearn.base import clone
from sklearn.metrics import make_scorer, mean_squared_error
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from skfuncpriv import (
    BasisProjector,
    BudgetExceededError,
    BudgetLedger,
    GaussianProcessReleaser,
    GeoPrivateCurve,
    ICLPMean,
    LargeDeltaWarning,
    NoiseDominatesWarning,
    OnlineGaussianProcess,
    PrivacyError,
    PrivateFPCA,
    PrivateGridSearchCV,
    PrivateKDE,
    PrivateKernelClassifier,
    PrivateKernelRegressor,
    config,
)
from skfuncpriv import _progress as bars
from skfuncpriv.gaussian_process import GaussianKernel
from skfuncpriv.model_selection import RandomStopping, _progress, _task
from skfuncpriv.noise import NoiseLaw, OperatingSystemBits, SeededBits
from skfuncpriv.testing import recorded
from tests.model_selection.cases import (
    BANDWIDTHS,
    Favourite,
    kde_search,
    points,
    recorded_choices,
    without_address,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)
METHODS = ["exhaustive", "random-stopping"]
each_method = pytest.mark.parametrize("method", METHODS)
BOX = {"bounds": (-5.0, 5.0), "n_components": 6}


def loss(released):
    """What one person can lose by noise on bins, who moves two units of their sum."""
    (scale,) = set(released.law.scales)
    return 2 / Fraction(scale)


@pytest.mark.parametrize("epsilon", [0.3, 2.0, 7.0])
@pytest.mark.parametrize("share", [0.5, 0.7, None])
def test_what_is_spent_is_the_budget(epsilon, share):
    """Of people who train and of those who score, from the noise that is drawn."""
    with recorded() as releases, recorded_choices() as choices:
        search = kde_search(epsilon=epsilon, search_share=share).fit(points())
    *training, refit = map(loss, releases)
    assert len(training) == 3
    (choice,) = choices
    budget = Fraction(repr(epsilon))
    for search_loss in (sum(training), Fraction(choice.epsilon)):
        assert 0.999 * budget < search_loss + refit <= budget
    share = 0.6 if share is None else share  # a candidate has half of the last fit
    assert 0.999 * share < sum(training) / budget <= 1.001 * share
    assert search.guarantee_.epsilon == epsilon
    assert search.guarantee_.definition == "pure-dp"
    assert search.best_estimator_.guarantee_ == search.guarantee_
    costs = search.costs_
    total = max(costs["candidates"].epsilon, costs["choice"].epsilon)
    assert total + costs["refit"].epsilon == pytest.approx(epsilon, rel=1e-12)


def test_random_stopping_spends_its_budget_in_each_run():
    with recorded() as releases:
        search = kde_search(epsilon=3.0, method=RandomStopping(eta=0.5, gamma=0.2))
        search.set_params(random_state=2).fit(points())
    training = [released for released in releases if released.law.size > 1]
    scores = [released for released in releases if released.law.size == 1]
    assert len(training) == len(scores) > 0
    for released in training:
        assert 0.999 * 1.2 < loss(released) <= 1.2  # 3 / (2 + eta)
    for released in scores:
        (scale,) = released.law.scales
        assert 0.999 * 1.2 < Fraction(released.value.bound, 18) / Fraction(scale) <= 1.2
    assert search.guarantee_.epsilon == 3.0
    assert search.best_estimator_.guarantee_ == search.guarantee_
    assert search.costs_["run"].epsilon == 1.2


def test_slots_train_and_score():
    """Candidates see the people who train, one half; the last fit sees everybody."""
    with recorded() as releases, recorded_choices() as choices:
        kde_search(selection_size=0.5).fit(points(40))
    masses = [float(sum(released.exact)) for released in releases]
    np.testing.assert_allclose(masses, [20, 20, 20, 40], rtol=1e-6)
    assert len(choices) == 1


@each_method
def test_one_charge_before_anything_is_drawn(method, tmp_path, monkeypatch):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=5.0)
    seen, drawn = [], []
    release, words = NoiseLaw.release, OperatingSystemBits.words

    def watched(*arguments):
        seen.append(len(ledger.history()))
        return release(*arguments)

    def counted(bits, count):
        drawn.append(len(ledger.history()))
        return words(bits, count)

    monkeypatch.setattr(NoiseLaw, "release", watched)
    monkeypatch.setattr(OperatingSystemBits, "words", counted)
    search = kde_search(epsilon=2.0, ledger=str(ledger.path), method=method)
    search.fit(points())
    (record,) = ledger.history()
    assert record.guarantee == search.guarantee_
    assert (record.times, record.label) == (1, "PrivateGridSearchCV")
    assert set(seen) == set(drawn) == {1}
    search.fit(points())
    before = search.best_index_, pickle.dumps(search.best_estimator_)
    with pytest.raises(BudgetExceededError):
        search.fit(points())
    assert max(seen) == max(drawn) == 2
    assert before == (search.best_index_, pickle.dumps(search.best_estimator_))
    assert ledger.spent.epsilon == 4.0


@each_method
def test_an_error_after_the_charge_stays_charged(method, tmp_path, monkeypatch):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=5.0)
    search = kde_search(epsilon=2.0, ledger=str(ledger.path), method=method)

    def fail(*arguments):
        raise RuntimeError("no bits")

    monkeypatch.setattr(NoiseLaw, "release", fail)
    with pytest.raises(RuntimeError, match="no bits"):
        search.fit(points())
    assert not hasattr(search, "guarantee_")
    assert ledger.spent.epsilon == 2.0


def test_another_fit_of_the_best_is_charged(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=5.0)
    search = kde_search(epsilon=2.0, ledger=str(ledger.path), search_share=0.5)
    best = search.fit(points()).best_estimator_.fit(points())
    assert len(ledger.history()) == 2
    assert best.guarantee_.epsilon == ledger.history()[1].guarantee.epsilon == 1.0
    pickle.loads(pickle.dumps(clone(search))).fit(points())
    assert ledger.spent.epsilon == 5.0


BAD = {
    "NaN": lambda X: np.where(np.arange(60)[:, None] == 7, np.nan, X),
    "text": lambda X: X.astype(str),
    "flat": lambda X: X[:, 0],
    "wide": lambda X: np.repeat(X, 5, axis=1),
    "nobody": lambda X: X[:0],
    "alone": lambda X: X[:1],
    "none": lambda X: None,
}


@pytest.mark.parametrize("spoil", BAD.values(), ids=BAD)
@each_method
def test_bad_data_are_refused_for_free(spoil, method, tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=5.0)
    search = kde_search(ledger=str(ledger.path), method=method)
    texts = []
    for seed in (0, 1):
        with pytest.raises((ValueError, TypeError)) as caught:
            search.fit(spoil(points(seed=seed)))
        texts.append(str(caught.value))
        assert f"{points(seed=seed)[7, 0]:.4f}" not in texts[-1]
    assert texts[0] == texts[1]
    assert ledger.history() == []


def refused(search, match, error=PrivacyError):
    with recorded() as releases, pytest.raises(error, match=match):
        search.fit(points(), np.zeros(60))
    assert releases == []


@pytest.mark.parametrize(
    "scoring",
    [
        "neg_mean_squared_error",
        "roc_auc",
        make_scorer(mean_squared_error),
        lambda model, X, y: 1.0,
        ["accuracy"],
        Favourite,
    ],
    ids=without_address,
)
def test_scores_of_unknown_sensitivity_are_refused(scoring):
    refused(kde_search(scoring=scoring), "how much one person can change it is unknown")


def test_a_natural_score_is_needed():
    model = GaussianProcessReleaser(
        estimator=KernelDensity(bandwidth=1.0), bounds=(-5, 5), delta=1e-6, epsilon=1.0
    )
    refused(PrivateGridSearchCV(model, {"n_nodes": [8, 16]}), "has no known bounds")
    refused(kde_search(scoring="squared_error"), "y_bounds")


@pytest.mark.parametrize("name", ["epsilon", "delta", "ledger", "random_state"])
def test_the_search_sets_the_budget(name):
    refused(kde_search({name: [0.5, 1.0]}), "param_grid must not hold")
    pipeline = make_pipeline(PrivateKDE(bounds=(-5, 5)))
    search = PrivateGridSearchCV(pipeline, {f"privatekde__{name}": [0.5, 1.0]})
    refused(search, "param_grid must not hold")


@pytest.mark.parametrize("stated", [{"ledger": "x.db"}, {"random_state": 0}])
def test_inner_ledgers_and_seeds_are_refused(stated):
    name = next(iter(stated))
    model = PrivateKDE(bounds=(-5, 5), **stated)
    refused(PrivateGridSearchCV(model, {"bandwidth": [1.0, 2.0]}), f"{name} of the est")
    steps = [("kde", PrivateKDE(bounds=(-5, 5)))]
    search = PrivateGridSearchCV(Pipeline(steps), {"kde": [steps[0][1], model]})
    refused(search, f"{name} of the est")


@pytest.mark.parametrize(
    "estimator",
    [
        KernelDensity(),
        GeoPrivateCurve(epsilon=1.0, bounds=(0, 1)),
        OnlineGaussianProcess(kernel=GaussianKernel(1.0), sensitivity=1.0, delta=1e-6),
        GridSearchCV(PrivateKDE(bounds=(0, 1)), {"bandwidth": [1.0]}),
        PrivateGridSearchCV(PrivateKDE(bounds=(0, 1)), {"bandwidth": [1.0]}),
        make_pipeline(StandardScaler(), PrivateKDE(bounds=(0, 1))),
        make_pipeline(
            FunctionTransformer(lambda X: X - X.mean()), PrivateKDE(bounds=1)
        ),
        Pipeline([("kde", PrivateKDE(bounds=(0, 1)))], memory="cache"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_estimators_are_refused(estimator):
    refused(PrivateGridSearchCV(estimator, {}), "estimator must be|may learn|memory")


def test_bad_parameters_are_refused():
    refused(kde_search(method="halving"), "method must be", ValueError)
    refused(kde_search({"bandwidth": []}), "non-empty", ValueError)
    refused(kde_search({"sandwich": [1]}), "Invalid parameter", ValueError)
    refused(kde_search({"bandwidth": [1.0, -1.0]}), "bandwidth", ValueError)
    for name in ("search_share", "selection_size"):
        for value in (0.0, 1.0, 2, "1", True):
            refused(kde_search(**{name: value}), name, ValueError)
    refused(kde_search(delta=1e-6, method="random-stopping"), "pure guarantees only")
    machine = PrivateKernelRegressor(**BOX, y_bounds=(-1, 1))
    mean = ICLPMean(bounds=(-5, 5))
    refused(PrivateGridSearchCV(mean, {"n_basis": [1]}, delta=2.0), "delta", ValueError)
    refused(
        PrivateGridSearchCV(machine, {"psi": [1]}, ledger=object()), "ledger", TypeError
    )


# Randomness


@each_method
def test_seeds_do_not_depend_on_the_workers(method):
    X, groups = points(90), np.repeat(np.arange(30), 3)
    search = kde_search(method=method, random_state=3)
    expected = clone(search).fit(X, groups=groups)
    backend = "loky" if method == "exhaustive" else "threading"
    with parallel_config(backend=backend, n_jobs=2):
        other = clone(search).set_params(n_jobs=2).fit(X, groups=groups)
    assert other.best_index_ == expected.best_index_
    density = other.best_estimator_.density_
    np.testing.assert_array_equal(density, expected.best_estimator_.density_)
    assert expected.guarantee_.seeded
    assert "SEEDED" in str(expected.best_estimator_.guarantee_)


@each_method
def test_bits_come_from_the_operating_system(method, monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a seed")

    monkeypatch.setattr(SeededBits, "words", refuse)
    first, second = (kde_search(method=method).fit(points()) for _ in range(2))
    assert not first.guarantee_.seeded
    one, two = (search.best_estimator_.density_ for search in (first, second))
    assert (one != two).any()  # both may be at the least density at some points


def test_candidates_have_seeds_of_their_own():
    grid = {"bandwidth": [1.0, 1.0, 1.0]}
    with recorded() as releases:
        kde_search(grid, random_state=0).fit(points())
    noise = [
        released.lattice.to_float(released.integers)
        - np.array([float(x) for x in released.exact])
        for released in releases
    ]
    for one, two in [(0, 1), (1, 2), (0, 2), (0, 3)]:
        assert (noise[one] != noise[two]).mean() > 0.9


# What is kept and said


@each_method
def test_no_score_and_no_count_is_kept(method):
    search = kde_search(method=method, random_state=0).fit(points())
    assert set(vars(search)) - set(search.get_params(deep=False)) == {
        *("best_estimator_", "best_index_", "best_params_", "candidates_", "costs_"),
        *("n_people_", "guarantee_"),
    }
    assert search.best_params_ == search.candidates_[search.best_index_]
    best = vars(search.best_estimator_)
    assert not {"_paid", "_open_release"} & set(best)
    for other in (2, 5):  # another number of runs looks alike
        again = clone(search).set_params(random_state=other).fit(points())
        assert set(vars(again)) == set(vars(search))
        assert again.costs_ == search.costs_


def test_neighbours_and_workers_are_warned_alike():
    """Once for each text, whatever the data."""
    texts = []
    for X in (points(), points(seed=1), np.full((60, 1), 1e300)):
        for method in METHODS:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                kde_search(epsilon=0.05, method=method).fit(X)
            assert {w.category for w in caught} == {NoiseDominatesWarning}
            assert caught[0].filename == __file__
            texts.append([str(w.message) for w in caught])
    assert all(text == texts[0] for text in texts)
    assert len(texts[0]) == len(set(texts[0]))


def test_delta_is_shared_and_warned_of():
    kde = PrivateKDE(bounds=(-5, 5), noise="gaussian")
    search = PrivateGridSearchCV(kde, {"bandwidth": BANDWIDTHS}, delta=1e-6)
    guarantee = search.fit(points()).guarantee_
    assert 0.999e-6 < guarantee.delta <= 1e-6
    assert 0.59e-6 < search.costs_["candidates"].delta <= 0.6e-6
    with pytest.warns(LargeDeltaWarning) as caught:
        search.set_params(delta=0.02).fit(points())
    said = [w for w in caught if issubclass(w.category, LargeDeltaWarning)]
    assert len(said) == 1
    unspent = kde_search(delta=1e-9).fit(points())  # Laplace noise is smaller
    assert unspent.guarantee_.delta == 0.0


def test_a_promise_that_is_not_kept_stops_the_search(monkeypatch):
    original = PrivateKDE.fit

    class Generous(PrivateKDE):
        def fit(self, X, y=None, sample_weight=None, groups=None):
            original(self.set_params(epsilon=100.0), X, y, sample_weight, groups)
            return self

    search = PrivateGridSearchCV(Generous(bounds=(-5, 5)), {"bandwidth": BANDWIDTHS})
    refused(search, "not within its share")

    class Silent(PrivateKDE):
        def fit(self, X, y=None, sample_weight=None, groups=None):
            return self

    search = PrivateGridSearchCV(Silent(bounds=(-5, 5)), {"bandwidth": BANDWIDTHS})
    refused(search, "without a charge")


def test_one_candidate_has_the_whole_budget():
    with recorded() as releases:
        search = kde_search({"bandwidth": [1.0]}, epsilon=2.0).fit(points())
    assert [loss(released) for released in releases] == [2]
    assert search.guarantee_.epsilon == search.costs_["refit"].epsilon == 2.0


# Agreement with what is known without noise


def test_a_large_budget_finds_the_best():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(-2, 0.3, 400), rng.normal(2, 0.3, 400)][:, None]
    grid = {"bandwidth": [0.2, 2.0]}
    for method in ("exhaustive", RandomStopping(gamma=0.02)):
        search = kde_search(grid, epsilon=1e5, method=method, random_state=0)
        assert search.fit(X).best_index_ == 0
    x = np.linspace(-4, 4, 400)[:, None]
    y = np.sin(2 * x[:, 0])
    machine = PrivateKernelRegressor(bounds=(-5, 5), y_bounds=(-1, 1), n_components=20)
    search = PrivateGridSearchCV(machine, {"psi": [1e-3, 10.0]}, epsilon=1e6)
    assert search.fit(x, y).best_params_ == {"psi": 1e-3}
    labels = np.where(y > 0, "up", "down")
    machine = PrivateKernelClassifier(bounds=(-5, 5), n_components=20)
    search = PrivateGridSearchCV(machine, {"psi": [1e-3, 10.0]}, epsilon=1e6)
    assert search.fit(x, labels).best_params_ == {"psi": 1e-3}
    assert search.predict([[0.7]]).tolist() == ["up"]
    assert search.classes_.tolist() == ["down", "up"]
    curves = 3 * np.sin(np.linspace(0, 9, 40)) + rng.normal(0, 0.1, (300, 40))
    mean = ICLPMean(bounds=(-9, 9))
    search = PrivateGridSearchCV(mean, {"n_basis": [1, 20]}, epsilon=1e4)
    assert search.fit(curves).best_params_ == {"n_basis": 20}
    low, high = search.noise_band()
    assert (low < high).all()


def test_a_pipeline_is_searched_through():
    X = np.exp(points(200))
    pipeline = make_pipeline(FunctionTransformer(np.log), PrivateKDE(bounds=(-5, 5)))
    grid = {"privatekde__bandwidth": [0.4, 4.0]}
    search = PrivateGridSearchCV(pipeline, grid, epsilon=1e4)
    groups = np.repeat(np.arange(100), 2)
    with sklearn.config_context(enable_metadata_routing=True):
        search.fit(X, groups=groups)
    assert search.guarantee_.unit == "person"
    assert search.fit(X, groups=groups).best_index_ == 0
    assert search.best_estimator_[-1].guarantee_ == search.guarantee_
    assert search.guarantee_.unit == "person"
    inside = PrivateGridSearchCV(PrivateKDE(bounds=(-5, 5)), {"bandwidth": [0.4]})
    values = inside.set_params(epsilon=1e6).fit(np.log(X)).score_samples([[0.0]])
    assert abs(search.score_samples([[1.0]]) - values)[0] < 0.3
    steps = [
        ("project", BasisProjector(bounds=(-9, 9))),
        ("mean", ICLPMean(bounds=(-9, 9))),
    ]
    search = PrivateGridSearchCV(Pipeline(steps), {"mean__n_basis": [1, 2]})
    assert len(search.fit(points(60) * np.ones(20)).best_estimator_) == 2


def test_frames_and_queries():
    frame = pd.DataFrame(points(), columns=["x"], index=np.arange(60) + 7)
    groups = pd.Series(np.arange(60) // 2, index=frame.index)
    search = kde_search()
    assert not hasattr(search, "n_features_in_")
    assert not hasattr(search, "predict")
    search.fit(frame, groups=groups)
    assert search.n_people_ == 30
    assert search.feature_names_in_.tolist() == ["x"]
    assert search.n_features_in_ == 1
    assert search.sample(5).shape == (5, 1)
    assert search.score(frame) == search.best_estimator_.score(frame)
    fpca = PrivateGridSearchCV(
        PrivateFPCA(bounds=(-9, 9)), {"n_components": [1, 2]}, epsilon=50.0
    )
    curves = points(80) * np.ones(20)
    scores = fpca.fit(curves).transform(curves[:3])
    assert fpca.inverse_transform(scores).shape == (3, 20)


def test_strict_mode(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=50.0)
    fpca = PrivateGridSearchCV(PrivateFPCA(bounds=(-9, 9)), {"n_components": [1, 2]})
    fpca.set_params(epsilon=10.0, random_state=1)
    curves = points(80) * np.ones(20)
    with recorded_choices() as free:
        fpca.fit(curves)
    with config(strict=True):
        with pytest.raises(PrivacyError, match="seed"):
            fpca.fit(curves)
        fpca.set_params(random_state=None)
        with pytest.raises(PrivacyError, match="ledger"):
            fpca.fit(curves)
        fpca.set_params(ledger=str(ledger.path))
        with recorded_choices() as strict:
            fpca.fit(curves)
        # scored as before, although others may not ask for scores now
        assert abs(np.diff(strict[0].scores))[0] > 0
        assert abs(np.diff(free[0].scores))[0] > 0
        kde = kde_search(epsilon=1.0, ledger=str(ledger.path), n_jobs=2)
        with parallel_config(backend="threading", n_jobs=2):
            kde.fit(points())
        outer = GridSearchCV(kde, {"search_share": [0.4]}, scoring=lambda m, X: 0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises((PrivacyError, ValueError)):
                outer.fit(points())
    assert len(ledger.history()) == 2


@pytest.mark.parametrize("name", ["cv_results_", "best_score_"])
def test_scores_are_private(name):
    search = kde_search(epsilon=5.0).fit(points())
    copy = pickle.loads(pickle.dumps(search))
    for one in (kde_search(), search, clone(search), copy):
        assert not hasattr(one, name)
        with pytest.raises(AttributeError, match=rf"{name}: .*best_params_ .*costs_"):
            getattr(one, name)
    assert name not in repr(search)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_bar_counts_fits_that_are_done(n_jobs, monkeypatch, capsys):
    seen, done = [], []

    class Bar(bars.tqdm):
        def update(self, n=1):
            seen.append(len(done))
            return super().update(n)

    monkeypatch.setattr(bars, "tqdm", Bar)
    fit = _task.fit_to_promise
    monkeypatch.setattr(
        _task, "fit_to_promise", lambda *given: (done.append(0), fit(*given))[1]
    )
    with parallel_config(backend="threading"):
        search = kde_search(epsilon=5.0, random_state=0, n_jobs=n_jobs, verbose=True)
        search.fit(points())
    if n_jobs is None:
        assert seen == [1, 2, 3, 4]  # the last fit counts in no bar that is shown
    assert all(count > k for k, count in enumerate(seen))
    said = capsys.readouterr().err
    stages = ["rehearsing 3", "fits to train", "choosing among 3", "fit, on all 60"]
    assert [said.index(text) for text in stages] == sorted(map(said.index, stages))
    quiet = kde_search(epsilon=5.0, random_state=0).fit(points())
    assert capsys.readouterr().err == ""
    assert quiet.best_params_ == search.best_params_
    np.testing.assert_array_equal(quiet.sample(9, 0), search.sample(9, 0))


def test_a_backend_that_tells_nothing_serves_a_bar():
    with parallel_config(backend="multiprocessing", n_jobs=1):
        kde_search(epsilon=5.0, n_jobs=1, verbose=True).fit(points())


def test_the_number_of_runs_is_never_said(capsys):
    said = set()
    for seed in range(5):
        kde_search(method="random-stopping", verbose=True, random_state=seed).fit(
            points()
        )
        said.add(capsys.readouterr().err)
    (text,) = said
    assert "about 12 runs on average; their number is secret" in text


@pytest.mark.parametrize("eta", [-0.5, 0.0, 1.0, 2.0])
def test_average_runs(eta):
    """The mean of the law, from its terms."""
    runs = np.arange(1, 900)
    ratios = 0.75 * (runs[1:] - 1 + eta) / runs[1:]
    terms = np.cumprod([1.0, *ratios])
    mean = (runs * terms).sum() / terms.sum()
    stopping = RandomStopping(eta=eta, gamma=0.25)
    assert _progress.average_runs(stopping, 3) == pytest.approx(mean, rel=1e-12)
