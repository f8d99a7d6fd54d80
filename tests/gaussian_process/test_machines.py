"""Private kernel machines as estimators: agreement, units, edges, refusals."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, SVR

from skfuncpriv import (
    BudgetLedger,
    PrivacyError,
    PrivateKernelClassifier,
    PrivateKernelRegressor,
)
from skfuncpriv.exceptions import NoiseDominatesWarning
from skfuncpriv.gaussian_process import (
    ExponentialKernel,
    GaussianKernel,
    _machine,
)
from skfuncpriv.gaussian_process._duality import Objective
from skfuncpriv.gaussian_process._minimise import NOT_CERTIFIED
from skfuncpriv.noise import NoiseLaw
from tests.gaussian_process.machines import CLASSIFIERS, LOSSES, machine, reference

each_loss = pytest.mark.parametrize("loss", LOSSES)
each_regression = pytest.mark.parametrize(
    "loss", [loss for loss in LOSSES if loss not in CLASSIFIERS]
)
RICH = {"epsilon": 1e6, "gap": 1e-12}


def data(loss, n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 1))
    y = np.sin(4 * X[:, 0]) + 0.2 * rng.normal(size=n)
    return X, np.where(y > 0, 1, -1) if loss in CLASSIFIERS else y.clip(-1, 1)


# Agreement with the answer without privacy


@each_loss
def test_a_huge_budget_meets_the_linear_answer(loss):
    """On the features themselves, where scikit-learn has a solver for the loss."""
    X, y = data(loss)
    psi, n = 0.02, len(X)
    model = machine(loss, psi=psi, n_components=8, **RICH).fit(X, y)
    Z, C = model.features_.transform(X), 1 / (2 * psi * n)
    if loss == "logistic":
        solver = LogisticRegression(C=C, fit_intercept=False, tol=1e-12)
        expected = solver.fit(Z, y).decision_function(Z)
        ours = model.decision_function(X)
        np.testing.assert_allclose(
            model.predict_proba(X)[:, 1], solver.predict_proba(Z)[:, 1], atol=1e-6
        )
    elif loss == "squared":
        solver = KernelRidge(alpha=psi * n, kernel="linear").fit(Z, y)
        expected, ours = solver.predict(Z), model.predict(X)
    else:
        kind = LOSSES[loss]
        objective = Objective(kind, psi, n, Z, y.astype(float), np.ones(n))
        expected, ours = Z @ reference(objective), Z @ model.coef_.ravel()
    limit = 1e-6 * np.abs(expected).max() + 6 * model.law_.std[0]
    assert limit < 3e-5
    np.testing.assert_allclose(ours, expected, rtol=0, atol=limit)


def test_a_huge_budget_meets_kernel_machines():
    """Of the kernel itself: what the expansion misses is below a thousandth."""
    X, y = data("squared")
    psi, h, n = 0.02, 0.4, len(X)
    facts = {"psi": psi, "n_components": 60, "kernel": GaussianKernel(h), **RICH}
    ridge = KernelRidge(alpha=psi * n, kernel="rbf", gamma=1 / (2 * h * h)).fit(X, y)
    ours = machine("squared", **facts, clip=False).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), ridge.predict(X), atol=1e-3)
    # Gram matrices with a constant that nobody may use: an SVR has an intercept, which
    # vanishes on data that are odd about zero.
    X, y = np.vstack([X, -X]), np.append(y, -y)
    svr = SVR(C=1 / (2 * psi * 2 * n), epsilon=0.1, gamma=1 / (2 * h * h), tol=1e-8)
    ours = machine("epsilon_insensitive", **facts, clip=False).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), svr.fit(X, y).predict(X), atol=1e-3)
    labels = np.where(y > 0, 1, -1)
    svc = SVC(C=1 / (2 * psi * 2 * n), gamma=1 / (2 * h * h), tol=1e-8)
    ours = machine("hinge", **facts).fit(X, labels)
    np.testing.assert_allclose(
        ours.decision_function(X), svc.fit(X, labels).decision_function(X), atol=1e-3
    )


# What it is good for


@pytest.mark.parametrize("loss", CLASSIFIERS)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_two_moons_are_told_apart_the_better_the_larger_the_budget(loss, delta):
    X, y = make_moons(1000, noise=0.2, random_state=0)
    new, truth = make_moons(2000, noise=0.2, random_state=1)
    scores = []
    for epsilon in (0.01, 0.2, 4.0):
        facts = {"epsilon": epsilon, "delta": delta, "classes": [0, 1]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoiseDominatesWarning)
            scores.append(
                np.mean(
                    [
                        PrivateKernelClassifier(
                            bounds=([-2, -1.5], [3, 2]), loss=loss, **facts,
                            random_state=seed,
                        ).fit(X, y).score(new, truth)
                        for seed in range(3)
                    ]
                )
            )  # fmt: skip
    assert scores == sorted(scores)
    assert scores[0] < scores[2] - 0.02
    assert scores[2] > 0.86


@each_regression
def test_regression_explains_most_of_the_variance(loss):
    X, y = data(loss, n=5000)
    model = machine(loss, epsilon=4.0).fit(X, y)
    new, truth = data(loss, n=1000, seed=1)
    assert model.score(new, truth) > 0.75


def test_several_classes():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (3000, 2))
    y = np.array(["left", "middle", "right"])[np.digitize(X[:, 0], [-0.4, 0.4])]
    model = PrivateKernelClassifier(bounds=(-1, 1), epsilon=4.0, random_state=0)
    model.fit(X, y)
    assert model.classes_.tolist() == ["left", "middle", "right"]
    assert model.decision_function(X).shape == (3000, 3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.score(X, y) > 0.85
    assert model.guarantee_.epsilon == 4.0  # one release of all three


# Edges


@each_loss
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.filterwarnings("ignore:the noise is expected")
def test_one_or_two_people(loss, n):
    model = machine(loss, epsilon=1.0).fit(np.zeros((n, 1)), np.ones(n))
    assert model.n_people_ == n
    assert np.isfinite(model.predict([[0.3]])).all()


@each_loss
def test_constant_columns_and_targets(loss):
    X = np.random.default_rng(0).uniform(-1, 1, (200, 3))
    X[:, 1] = 0.7
    model = machine(loss, epsilon=50.0).fit(X, np.ones(200))
    assert np.isfinite(model.predict(X)).all()
    if loss in CLASSIFIERS:  # one class only, of two that are public
        assert (model.predict(X) == 1).all()


@each_loss
def test_extreme_values_are_clipped(loss):
    X, y = data(loss)
    far_X, far_y = np.where(X > 0.5, 1e308, X), np.where(y > 0.9, 1e308, y)
    near_X = np.clip(far_X, -1, 1)
    if loss in CLASSIFIERS:
        far_y = y
    facts = {"psi": 0.1, "n_components": 5}
    far = machine(loss, **facts).fit(far_X, far_y)
    near = machine(loss, **facts).fit(near_X, np.clip(far_y, -1, 1))
    np.testing.assert_array_equal(far.coef_, near.coef_)
    np.testing.assert_array_equal(far.predict([[1e308]]), near.predict([[1.0]]))


def test_classes_are_public():
    X, y = data("hinge")
    occur = machine("hinge", classes=None).fit(X, y)
    stated = machine("hinge", classes=[1, -1]).fit(X, y)
    np.testing.assert_array_equal(occur.classes_, stated.classes_)
    np.testing.assert_array_equal(occur.coef_, stated.coef_)
    with pytest.raises(ValueError, match="one class only"):
        machine("hinge", classes=None).fit(X, np.ones(len(X)))
    with pytest.raises(ValueError, match="labels of the public classes only"):
        machine("hinge", classes=[0, 1]).fit(X, y)
    for labels in (["a", "b"], [None, "b"], [0.5, 1.5], [True, False]):
        model = machine("hinge", classes=labels if labels[0] else None)
        targets = np.array(labels, dtype=object)[(y > 0).astype(int)]
        if labels[0] is None:
            with pytest.raises(ValueError, match="labels must be known"):
                model.fit(X, targets)
        else:
            assert set(model.fit(X, targets.tolist()).predict(X)) <= set(labels)
    for bad in ([1], [1, 1], "ab", 3, [[0, 1]], [0, math.nan], [0, "a"][:1]):
        with pytest.raises(ValueError, match="classes must be None or at least two"):
            machine("hinge", classes=bad).fit(X, y)


def test_probabilities_are_those_of_the_logistic_loss_only():
    X, y = data("hinge")
    assert not hasattr(machine("hinge"), "predict_proba")
    model = machine("logistic").fit(X, y)
    shares = model.predict_proba(X)
    np.testing.assert_array_equal(shares.argmax(axis=1), (model.predict(X) > 0) * 1)
    model.set_params(loss="hinge")
    assert hasattr(model, "predict_proba")  # of what was released


# Units


@each_regression
def test_predictions_have_the_units_of_y(loss):
    X, y = data(loss)
    one = machine(loss, epsilon=3.0).fit(X, y)
    other = machine(loss, epsilon=3.0, y_bounds=(90.0, 110.0)).fit(X, 100 + 10 * y)
    np.testing.assert_allclose(other.predict(X), 100 + 10 * one.predict(X), rtol=1e-9)
    assert other.sensitivity_ == pytest.approx(10 * one.sensitivity_)
    assert other.intercept_ == 100
    degree = 1 if loss == "epsilon_insensitive" else 2
    assert other.gap_ == pytest.approx(10**degree * one.gap_)
    assert other.psi_ == pytest.approx(10 ** (degree - 2) * one.psi_)


@each_regression
def test_parameters_have_the_units_of_y(loss):
    """psi, gap and threshold that are stated mean the same as those that are chosen."""
    X, y = data(loss)
    wide = {"y_bounds": (-7.0, 7.0), "epsilon": 1e3}
    chosen = machine(loss, **wide).fit(X, 7 * y)
    facts = {"psi": chosen.psi_, "gap": chosen.gap_ * (1 + 1e-12)}
    if loss != "squared":
        facts["threshold"] = 7 * {"huber": 0.25}.get(loss, 0.1)
    facts["n_components"] = len(chosen.coef_)
    stated = machine(loss, **wide, **facts).fit(X, 7 * y)
    assert stated.sensitivity_ == pytest.approx(chosen.sensitivity_)
    np.testing.assert_allclose(stated.coef_, chosen.coef_, atol=1e-3)


def test_units_of_the_features_do_not_matter():
    X, y = data("huber")
    one = machine("huber", epsilon=3.0).fit(X, y)
    other = machine("huber", epsilon=3.0, bounds=(-100.0, 100.0)).fit(100 * X, y)
    np.testing.assert_allclose(other.predict(100 * X), one.predict(X), rtol=1e-6)


def test_predictions_are_clipped_if_asked():
    X, y = data("huber")
    facts = {"epsilon": 0.05, "psi": 0.01, "n_components": 5}
    with pytest.warns(NoiseDominatesWarning):
        clipped = machine("huber", **facts).fit(X, y)
    with pytest.warns(NoiseDominatesWarning):
        free = machine("huber", **facts, clip=False).fit(X, y)
    assert np.abs(free.predict(X)).max() > 1
    np.testing.assert_array_equal(clipped.predict(X), free.predict(X).clip(-1, 1))


@each_loss
def test_releases_are_shrunk_to_the_ball_of_minimisers(loss):
    X, y = data(loss, n=20)
    with pytest.warns(NoiseDominatesWarning):
        model = machine(loss, epsilon=1e-3, psi=0.1, n_components=5).fit(X, y)
    radius = LOSSES[loss].norm_bound(1.0, 0.1)
    np.testing.assert_allclose(np.linalg.norm(model.coef_), radius, rtol=1e-9)


# Frames, people, the ledger


def test_frames_and_their_names():
    X, y = data("hinge")
    frame = pd.DataFrame({"age": X[:, 0]})
    model = machine("hinge").fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == ["age"]
    np.testing.assert_array_equal(
        model.coef_, machine("hinge").fit(X, y.tolist()).coef_
    )
    model.predict(frame)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"age": "size"}))


@each_loss
def test_groups_make_people(loss):
    X, y = data(loss, n=60)
    model = machine(loss, psi=1.0, n_components=3, epsilon=9.0)
    model.fit(X, y, groups=np.arange(60) % 12)
    assert model.n_people_ == 12
    assert model.guarantee_.unit == "person"
    assert model.fit(X, y).guarantee_.unit == "row"


@each_loss
def test_nothing_is_charged_for_what_is_not_certified(loss, tmp_path, monkeypatch):
    """And no older release is left to be taken for a new one... it stays as it was."""
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=10.0)
    X, y = data(loss)
    model = machine(loss, ledger=str(ledger.path)).fit(X, y)
    assert ledger.spent.epsilon == 1.0

    def fail(objective, gap):
        raise PrivacyError(NOT_CERTIFIED)

    monkeypatch.setattr(_machine, "certified_minimiser", fail)
    with pytest.raises(PrivacyError, match="keep it to yourself"):
        model.fit(X, y)
    assert ledger.spent.epsilon == 1.0


def test_a_release_is_drawn_once(monkeypatch):
    calls, original = [], NoiseLaw.release

    def release(*arguments):
        calls.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(NoiseLaw, "release", release)
    rng = np.random.default_rng(0)
    model = PrivateKernelClassifier(bounds=(-1, 1), epsilon=9.0, random_state=0)
    model.fit(rng.uniform(-1, 1, (300, 1)), np.arange(300) % 4)
    assert len(calls) == 1


# Refusals


BAD = [
    ({"loss": "deviance"}, ValueError, "loss must be one of"),
    ({"kernel": "rbf"}, TypeError, "kernel must be a Kernel"),
    ({"kernel": GaussianKernel((1.0, 1.0))}, ValueError, "axes"),
    ({"psi": "auto"}, ValueError, "psi must be"),
    ({"psi": 0}, ValueError, "psi must be"),
    ({"psi": 1e-30}, ValueError, "psi must be 'pss' or lie between"),
    ({"psi": math.nan}, ValueError, "psi must be"),
    ({"gap": 0}, ValueError, "gap must be"),
    ({"gap": 1e-60}, ValueError, "gap must be None or at least"),
    ({"n_components": 0}, ValueError, "n_components must be"),
    ({"n_components": 5000}, ValueError, "n_components must be"),
    ({"bounds": (1, 0)}, ValueError, "bounds must be"),
    ({"bounds": ([0, 0], [1, 1])}, ValueError, "bounds must be"),
    ({"calibration": "best"}, ValueError, "calibration must be one of"),
    ({"rho": 0.5, "delta": 1e-6}, PrivacyError, "rho is a budget without delta"),
    ({"rho": -1.0}, ValueError, "rho must be"),
    ({"calibration": "classic", "delta": 0.1, "epsilon": 2}, PrivacyError, "classic"),
    ({"ledger": 3}, TypeError, "ledger must be the path"),
]
BAD_REGRESSION = [
    ({"y_bounds": (1, 1)}, ValueError, "y_bounds must be"),
    ({"y_bounds": (-1e200, 1e200)}, ValueError, "y_bounds must be between"),
    ({"threshold": 0.0}, ValueError, "threshold must"),
    ({"threshold": 5.0}, ValueError, "threshold must"),
    ({"threshold": "wide"}, TypeError, "threshold must"),
    ({"loss": "squared", "threshold": 1.0}, ValueError, "threshold is not used"),
    ({"clip": 1}, ValueError, "clip must be True or False"),
]


@pytest.mark.parametrize(("facts", "kind", "text"), BAD + BAD_REGRESSION, ids=repr)
def test_bad_parameters_are_refused_by_name(facts, kind, text, tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=10.0, delta=0.5)
    X, y = data("huber", n=20)
    facts = {"ledger": str(ledger.path), "bounds": (-1, 1), "y_bounds": (-1, 1)} | facts
    with pytest.raises(kind, match=text):
        PrivateKernelRegressor(**facts).fit(X, y)
    if (facts, kind, text) in BAD:
        facts.pop("y_bounds")
        with pytest.raises(kind, match=text):
            PrivateKernelClassifier(**facts).fit(X, np.sign(y))
    assert ledger.history() == []


@pytest.mark.parametrize(
    "y",
    [None, [1.0], np.ones((20, 2)), [math.nan] * 20, [math.inf] * 20, ["7"] * 20],
    ids=["none", "short", "deep", "nan", "inf", "text"],
)
def test_bad_targets_are_refused_in_constant_texts(y):
    texts = set()
    for seed in range(2):
        X, _ = data("huber", n=20, seed=seed)
        for model in (machine("huber"), machine("hinge")):
            with pytest.raises((ValueError, TypeError)) as caught:
                model.fit(X, y)
            assert caught.value.__cause__ is None
            texts.add(str(caught.value))
    assert len(texts) <= 2


def test_a_rough_kernel_says_what_it_misses():
    X, y = data("huber")
    model = machine("huber", kernel=ExponentialKernel(2.0), epsilon=50.0).fit(X, y)
    assert 0.01 < model.features_.missed[-1] < 0.5
    assert model.score(X, y) > 0.7
