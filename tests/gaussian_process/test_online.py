"""The online releaser: what it answers, what it refuses, what it charges."""

import copy
import multiprocessing
import pickle
import threading
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KernelDensity

from skfuncpriv import OnlineGaussianProcess
from skfuncpriv.exceptions import BudgetExceededError, PrivacyError
from skfuncpriv.gaussian_process import (
    ExponentialKernel,
    GaussianKernel,
    _online_release,
    kde_sensitivity,
)
from skfuncpriv.noise import SeededBits
from skfuncpriv.privacy import BudgetLedger
from tests.gaussian_process.online import (
    KERNELS,
    online,
    points_for,
    recorded,
    wave,
)

each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


@each_kernel
def test_the_same_point_has_the_same_answer_for_ever(kernel):
    gp, points = online(kernel), points_for(kernel, 40)
    first = gp.predict(points[:25])
    everything = gp.predict(points)
    np.testing.assert_array_equal(everything[:25], first)
    np.testing.assert_array_equal(gp.predict(points[::-1]), everything[::-1])
    for point, answer in zip(points, everything, strict=True):
        assert gp.predict(point) == answer
    assert len(np.unique(everything)) == len(points)


@each_kernel
def test_each_point_is_drawn_once(kernel):
    gp, points = online(kernel), points_for(kernel, 10)
    with recorded() as draws:
        gp.predict(np.concatenate([points, points]))
        gp.predict(points)
    assert len(draws) == 10


def test_negative_zero_is_zero():
    gp = online(KERNELS["exponential"])
    assert gp.predict(-0.0) == gp.predict(0.0)
    plane = online(KERNELS["product"])
    assert plane.predict([-0.0, 1.0]) == plane.predict([0.0, 1.0])
    assert plane.predict([0.0, 1.0]) != plane.predict([0.0, -1.0])


def test_numbers_of_any_type_are_one_point():
    gp = online(KERNELS["exponential"])
    answers = [gp.predict(t) for t in (2, 2.0, np.int8(2), np.float32(2), [2][0])]
    assert len(set(map(float, answers))) == 1


@pytest.mark.parametrize("shape", [(), (0,), (3,), (3, 1), (2, 3, 1)])
def test_shapes_on_one_axis(shape):
    points = np.linspace(0, 1, int(np.prod(shape))).reshape(shape)
    expected = shape[:-1] if len(shape) > 1 else shape
    assert online(KERNELS["exponential"]).predict(points).shape == expected


@pytest.mark.parametrize("shape", [(2,), (0, 2), (5, 2), (2, 3, 2)])
def test_shapes_on_two_axes(shape):
    points = np.linspace(0, 1, int(np.prod(shape))).reshape(shape)
    assert online(KERNELS["product"]).predict(points).shape == shape[:-1]


BAD_POINTS = [np.nan, np.inf, [0.1, -np.inf], "a", None, [1j], [[0.1], [0.2, 0.3]]]


@pytest.mark.parametrize("points", BAD_POINTS, ids=repr)
@each_kernel
def test_bad_points_are_refused_and_nothing_is_drawn(kernel, points):
    gp = online(kernel)
    with recorded() as draws, pytest.raises((ValueError, TypeError)):
        gp.predict(points)
    assert draws == []


def test_points_with_another_number_of_axes_are_refused():
    gp = online(KERNELS["product"])
    for points in (0.1, [0.1], [[0.1, 0.2, 0.3]]):
        with pytest.raises(ValueError, match="this kernel has 2 axes"):
            gp.predict(points)
    with pytest.raises(ValueError, match="this kernel has 1 axes"):
        online(KERNELS["exponential"]).predict([[0.1, 0.2]])


def test_answers_lie_on_a_public_lattice():
    gp = online(KERNELS["exponential"])
    step = 2.0**-60
    answers = gp.predict(np.linspace(0, 1, 50))
    while (answers % step == 0).all():
        step *= 2
    smallest = gp.noise_std_ * np.sqrt(gp.nugget_)
    assert smallest * 2.0**-23 < step / 2 <= smallest * 2.0**-20
    other = online(KERNELS["exponential"], lambda points: np.pi * wave(points))
    assert (other.predict(np.linspace(0, 1, 50)) % (step / 2) == 0).all()


@each_kernel
def test_far_and_huge_points(kernel):
    gp = online(kernel, lambda points: np.zeros(len(points)))
    axes = kernel.n_axes or 1
    if isinstance(kernel, ExponentialKernel):
        answers = gp.predict([1e308, -1e308, 0.0, 5e-324, 1e-310, np.pi * 1e300])
        assert np.isfinite(answers).all()
        return
    with pytest.raises(PrivacyError, match="subtract a public origin"):
        gp.predict(np.full((1, axes), 1e7))
    far = gp.predict([np.full(axes, 1e4), np.full(axes, 1e4) + 0.1])
    assert np.isfinite(far).all()


# The function


@pytest.mark.parametrize(
    "bad",
    [
        lambda points: 1.0,
        lambda points: np.append(points[:, 0], 1.0),
        lambda points: [points[:, 0]],
        lambda points: ["secret"] * len(points),
        lambda points: None,
    ],
)
@each_kernel
def test_bad_values_are_refused_in_constant_words(kernel, bad):
    points = points_for(kernel, 3)
    texts = set()
    for shift in (0.0, 0.5):
        with recorded() as draws, pytest.raises((ValueError, TypeError)) as caught:
            online(kernel, bad).predict(points + shift)
        texts.add((str(caught.value), repr(caught.value.__cause__)))
        assert draws == []
    assert len(texts) == 1
    assert "secret" not in str(texts)


def test_values_that_are_not_finite_are_refused_without_a_warning():
    kernel = KERNELS["exponential"]
    gp = online(kernel, lambda points: 1 / np.log(points[:, 0]) * points[:, 0])
    with warnings.catch_warnings(), recorded() as draws:
        warnings.simplefilter("error")
        for point in (-1.0, 1.0):
            with pytest.raises(ValueError, match="must be a finite number"):
                gp.predict(point)
    assert draws == []


def test_warnings_of_the_function_are_kept():
    def function(points):
        warnings.warn("a private number is 3.14", stacklevel=1)
        return np.exp(-1 / (points[:, 0] - 0.1))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        online(KERNELS["exponential"], function).predict([0.1, 0.2])


@each_kernel
def test_what_a_failed_call_drew_is_forgotten(kernel, monkeypatch):
    gp, points = online(kernel), points_for(kernel, 12)
    first = gp.predict(points[:6])
    original, calls = _online_release.release_normal, []

    def fail_later(*arguments):
        calls.append(arguments)
        if len(calls) == 4:
            raise RuntimeError("no bits")
        return original(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(_online_release, "release_normal", fail_later)
        with pytest.raises(RuntimeError, match="no bits"):
            gp.predict(points[::-1])
    with recorded() as draws:
        np.testing.assert_array_equal(gp.predict(points)[:6], first)
    assert len(draws) == 6
    fresh = online(kernel)
    with recorded(first):
        fresh.predict(points[:6])
    with recorded() as expected:
        fresh.predict(points[6])
    np.testing.assert_allclose(draws[0], expected[0], rtol=1e-9)


def test_a_kernel_density_with_a_huge_budget():
    rows = np.random.default_rng(0).normal(size=(300, 2))
    kde = KernelDensity(bandwidth=0.4).fit(rows)
    gp = OnlineGaussianProcess(
        kernel=GaussianKernel((0.4, 0.4)),
        sensitivity=kde_sensitivity(300, 0.4, 2),
        epsilon=1e6,
        delta=1e-9,
    )
    answers = gp.fit(lambda points: np.exp(kde.score_samples(points))).predict(rows)
    np.testing.assert_allclose(answers, np.exp(kde.score_samples(rows)), atol=2e-5)


@each_kernel
def test_units_change_answers_exactly(kernel):
    points = points_for(kernel, 15)
    plain = online(kernel, random_state=2).predict(points)
    scaled = online(
        kernel, lambda table: 8 * wave(table), sensitivity=0.8, random_state=2
    ).predict(points)
    np.testing.assert_array_equal(scaled, 8 * plain)


def test_units_of_points():
    points = points_for(KERNELS["exponential"], 15)
    plain = online(ExponentialKernel(3.0), random_state=2).predict(points)
    longer = online(
        ExponentialKernel(0.75), lambda table: wave(table / 4), random_state=2
    ).predict(4 * points)
    np.testing.assert_array_equal(longer, plain)


# What is stated


@pytest.mark.parametrize(
    ("parameters", "error", "text"),
    [
        ({"kernel": "rbf"}, TypeError, "kernel must be a Kernel object"),
        ({"sensitivity": 0.0}, ValueError, "sensitivity must be a finite number > 0"),
        ({"sensitivity": 1e-250}, ValueError, "use other units"),
        ({"epsilon": -1.0}, ValueError, "epsilon must be a finite number > 0"),
        ({"delta": 0.0}, PrivacyError, "set delta"),
        ({"rho": 1.0}, PrivacyError, "pass delta=0"),
        ({"calibration": "best"}, ValueError, "calibration must be one of"),
        ({"max_points": 0}, ValueError, "max_points must be an integer >= 1"),
        ({"value_error": -1.0}, ValueError, "value_error must be >= 0"),
        ({"value_error": "no"}, TypeError, "value_error must be a real number"),
        ({"value_error": 1.0}, PrivacyError, "much more noise"),
        ({"unit": "curve"}, ValueError, "unit must be one of"),
        ({"ledger": 3}, TypeError, "ledger must be the path"),
        ({"path": 3}, TypeError, "path must name a file"),
        ({"random_state": "x"}, ValueError, "random_state must be None"),
    ],
)
def test_bad_parameters_are_refused_and_nothing_is_charged(
    parameters, error, text, tmp_path
):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=10.0, delta=1e-3)
    facts = {"kernel": ExponentialKernel(1.0), "sensitivity": 0.1, "delta": 1e-6}
    facts |= {"ledger": str(ledger.path), "path": str(tmp_path / "a.db")} | parameters
    with pytest.raises(error, match=text):
        OnlineGaussianProcess(**facts).fit(wave)
    assert ledger.history() == []
    assert not (tmp_path / "a.db").exists()


def test_a_function_is_needed():
    gp = OnlineGaussianProcess(kernel=GaussianKernel(1.0), sensitivity=1.0, delta=0.1)
    with pytest.raises(NotFittedError):
        gp.predict(0.0)
    with pytest.raises(TypeError, match="function must be a callable"):
        gp.fit([1.0, 2.0])


@each_kernel
def test_no_more_points_than_planned(kernel):
    gp, points = online(kernel, max_points=5), points_for(kernel, 6)
    first = gp.predict(points[:3])
    with recorded() as draws, pytest.raises(PrivacyError, match="at most 5 points"):
        gp.predict(points)
    assert draws == []
    answers = gp.predict(np.concatenate([points[:5], points[:5]]))
    np.testing.assert_array_equal(answers[:3], first)
    with pytest.raises(PrivacyError, match="at most 5 points"):
        gp.predict(points[5])
    np.testing.assert_array_equal(gp.predict(points[:5]), answers[:5])


# The ledger


def test_one_charge_for_all_answers(tmp_path, monkeypatch):
    ledger = BudgetLedger(tmp_path / "budget.db", rho=1.0, unit="person")
    original, seen = _online_release.release_normal, []

    def release(*arguments):
        seen.append(len(ledger.history()))
        return original(*arguments)

    monkeypatch.setattr(_online_release, "release_normal", release)
    facts = {"rho": 0.25, "unit": "person", "ledger": str(ledger.path)}
    gp = online(ExponentialKernel(1.0), **facts)
    gp.predict(np.linspace(0, 1, 20))
    gp.predict(np.linspace(0, 2, 30))
    assert [r.guarantee for r in ledger.history()] == [gp.guarantee_]
    assert set(seen) == {1}
    assert gp.guarantee_.rho == 0.25
    assert ledger.history()[0].label == "OnlineGaussianProcess"
    gp.fit(wave)
    assert ledger.spent.rho == 0.5


def test_a_refused_charge_leaves_no_file_and_draws_nothing(tmp_path, monkeypatch):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=0.5, delta=1e-3)
    words = []
    monkeypatch.setattr(SeededBits, "words", lambda *a: words.append(a))
    gp = OnlineGaussianProcess(
        kernel=ExponentialKernel(1.0), sensitivity=0.1, delta=1e-6,
        ledger=str(ledger.path), path=str(tmp_path / "a.db"), random_state=0,
    )  # fmt: skip
    with pytest.raises(BudgetExceededError):
        gp.fit(wave)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["budget.db"]
    assert words == []
    with pytest.raises(NotFittedError):
        gp.predict(0.1)


def test_seeded_releases_say_so():
    kernel = ExponentialKernel(1.0)
    assert not online(kernel).guarantee_.seeded
    one, two = (online(kernel, random_state=3) for _ in range(2))
    assert one.guarantee_.seeded
    points = points_for(kernel, 10)
    np.testing.assert_array_equal(one.predict(points), two.predict(points))


# Copies


@each_kernel
def test_a_fitted_object_cannot_be_copied(kernel):
    gp = online(kernel)
    gp.predict(points_for(kernel, 3))
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy, joblib.hash):
        with pytest.raises(PrivacyError, match="could answer one point twice"):
            attempt(gp)
    assert not hasattr(clone(gp), "guarantee_")
    unfitted = OnlineGaussianProcess(kernel=kernel, sensitivity=0.1, delta=1e-6)
    assert pickle.loads(pickle.dumps(unfitted)).kernel == kernel


def ask_in_a_child(gp, queue):
    try:
        queue.put(gp.predict(0.3).tolist())
    except PrivacyError as error:
        queue.put(str(error))


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="needs fork"
)
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_may_not_answer_from_memory():
    gp = online(ExponentialKernel(1.0))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=ask_in_a_child, args=(gp, queue))
    child.start()
    said = queue.get(timeout=60)
    child.join()
    assert "memory of another process" in said
    gp.predict(0.3)


@each_kernel
def test_threads_take_turns(kernel):
    gp, points = online(kernel), points_for(kernel, 60)
    answers = {}

    def ask(k):
        order = np.random.default_rng(k).permutation(len(points))
        rows = np.empty(len(points))
        for i in order:
            rows[i] = gp.predict(points[i]).item()
        answers[k] = rows

    with recorded() as draws:
        threads = [threading.Thread(target=ask, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(draws) == len(points)
    for k in range(1, 4):
        np.testing.assert_array_equal(answers[k], answers[0])


def test_repr_and_parameters_hold_no_data():
    gp = online(ExponentialKernel(1.0), lambda points: 0 * points[:, 0] + 0.123456)
    gp.predict(np.linspace(0, 1, 20))
    texts = [repr(gp), str(gp), gp._repr_html_(), str(gp.get_params())]
    assert not any("0.123456" in text for text in texts)
