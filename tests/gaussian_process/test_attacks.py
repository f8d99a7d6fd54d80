"""What an attacker tried on Gaussian processes, each as a whole kind."""

import itertools
import math
import shutil

import mpmath
import numpy as np
import pytest

from skfuncpriv import GaussianProcessReleaser, OnlineGaussianProcess
from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.gaussian_process import (
    ExponentialKernel,
    GaussianKernel,
    ProductKernel,
    kde_sensitivity,
    sobolev_norm,
)
from skfuncpriv.gaussian_process._conditioning import (
    SLACK,
    CholeskyConditioning,
    MarkovConditioning,
)
from skfuncpriv.gaussian_process._kernels import Kernel
from skfuncpriv.privacy import BudgetLedger
from tests.gaussian_process.online import KERNELS, online, points_for, recorded

each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
LIMIT = 2.0**20


def constant(value):
    return lambda points: np.full(len(points), value)


def stored(gp):
    with gp._release._answers.writing():
        return gp._release._answers.count


# Large values


@each_kernel
@pytest.mark.parametrize("size", [1.001, 2.0**41, np.inf, np.nan])
@pytest.mark.parametrize("sign", [1, -1])
def test_values_outside_the_universe_are_refused_before_anything(kernel, size, sign):
    points = points_for(kernel, 4)
    last = np.ravel(points[-1])[0]
    value = sign * size * LIMIT * 0.1

    def function(table):
        return np.where(table[:, 0] == last, value, 0.0)

    gp = online(kernel, function)
    first = gp.predict(points[0])
    with recorded() as draws, pytest.raises(ValueError, match="2\\^20") as caught:
        gp.predict(points)
    assert draws == []
    assert "sensitivity" in str(caught.value)
    assert stored(gp) == 1
    assert gp.predict(points[0]) == first
    assert len(gp.predict(points[:3])) == 3


def test_the_text_about_large_values_is_constant():
    texts = set()
    for value in (1e9, -1e200, np.nan):
        with pytest.raises(ValueError, match="finite") as caught:
            online(KERNELS["exponential"], constant(value)).predict(0.5)
        texts.add(str(caught.value))
    assert len(texts) == 1


@pytest.mark.parametrize("count", [300, 3000])
def test_roundings_of_the_largest_values_are_paid_for(count):
    """Two functions of integers, so exact ones, that differ by one everywhere."""
    kernel = ExponentialKernel(1.0)
    stated = sobolev_norm([1, 1], [0, 1], 1.0)
    height = math.floor(0.999 * LIMIT * stated)
    rng = np.random.default_rng(0)
    points = np.r_[0.1, 0.1 + 1e-6, 0.1 + 1e-6 * rng.random(count)]
    facts = {"sensitivity": stated, "value_error": 0.0}

    def release(shift):
        def function(table):
            return np.rint(height * np.exp(-(table[:, 0] - 0.1))) + shift - 1

        return online(kernel, function, **facts)

    answers = release(0).predict(points)
    seen = []
    for shift in (0, 1):
        with recorded(answers) as draws:
            release(shift).predict(points)
        seen.append(np.array(draws))
    moves = (seen[1][:, 0] - seen[0][:, 0]) / seen[0][:, 1]
    allowed = stated * (1 + SLACK) / release(0)._release._deviation
    assert np.linalg.norm(moves) <= allowed


@each_kernel
def test_a_value_error_of_zero_pays_for_roundings_all_the_same(kernel):
    gp = online(kernel, value_error=0.0)
    most = gp._release._most_points
    assert gp.nugget_ >= most * (4 * 2.0**-33 / SLACK) ** 2


@pytest.mark.parametrize("epsilon", [1e-4, 1.0, 1e6, 1e15])
@each_kernel
def test_no_answer_is_clipped(kernel, epsilon):
    value = 0.99 * LIMIT * 0.1
    point = points_for(kernel, 1)
    for sign in (1, -1):
        facts = {"epsilon": epsilon, "value_error": 0.0, "max_points": 1}
        gp = online(kernel, constant(sign * value), random_state=0, **facts)
        answer = gp.predict(point)[0]
        assert abs(answer - sign * value) <= 6 * gp.noise_std_ + value * 2.0**-50
        top = value + 64 * gp.noise_std_
        assert top / gp._release._lattice.step < 2.0**61


# Kernels of the user


class Own(Kernel):
    """A kernel on one axis, of any function of two points."""

    n_axes = 1

    def __init__(self, function):
        self.function = function

    def _evaluate(self, X, Y):
        return self.function(X, Y.T)

    def __repr__(self):
        return "Own()"


def bump(x, y):
    return np.exp(-0.5 * (x - y) ** 2)


BAD_KERNELS = {
    "of variance 100": (lambda x, y: 100 * bump(x, y), "x, x"),
    "of variance 1/4": (lambda x, y: bump(x, y) / 4, "x, x"),
    "a little above one": (lambda x, y: bump(x, y) * (1 + 1e-8), "x, x"),
    "not a number": (lambda x, y: np.where(abs(x - y) < 0.5, 1, np.nan), "finite"),
    "infinite": (lambda x, y: np.where(abs(x - y) < 0.5, 1, np.inf), "finite"),
    "not symmetric": (lambda x, y: bump(x, y) * (1 - 0.1 * (x > y)), "symmetric"),
    "a box": (lambda x, y: (np.abs(x - y) < 1).astype(float), "positive definite"),
    "a triangle cut": (
        lambda x, y: np.maximum(1 - (x - y) ** 2 / 4, 0),
        "positive definite",
    ),
    "of another shape": (lambda x, y: bump(x, y)[:, :1] + np.zeros(3), "shape"),
}


@pytest.mark.parametrize(("function", "match"), BAD_KERNELS.values(), ids=BAD_KERNELS)
def test_a_kernel_that_is_no_covariance_is_refused(function, match):
    gp = online(Own(function), constant(0.0))
    with pytest.raises(PrivacyError, match=match):
        gp.predict([0.0, 0.6, 1.2, 1.8])
    assert stored(gp) == 0


def test_an_own_covariance_is_accepted():
    gp = online(Own(bump), constant(0.0), random_state=0)
    same = online(GaussianKernel(1.0), constant(0.0), random_state=0)
    points = np.linspace(0, 3, 12)
    np.testing.assert_allclose(gp.predict(points), same.predict(points), atol=1e-6)


class Smooth(ExponentialKernel):
    """A subclass whose values are those of another kernel."""

    def _evaluate(self, X, Y):
        return bump(X / 5, Y.T / 5)


def test_subclasses_of_the_exponential_kernel_are_not_markov():
    gp = online(Smooth(1.0), constant(0.0))
    assert type(gp._release._conditioning) is CholeskyConditioning
    gp = online(ExponentialKernel(1.0), constant(0.0))
    assert type(gp._release._conditioning) is MarkovConditioning


class Tall(GaussianKernel):
    """A subclass whose values are those of another kernel."""

    def _evaluate(self, X, Y):
        return super()._evaluate(5 * X, 5 * Y)


def test_formulas_of_densities_are_not_those_of_subclasses():
    with pytest.raises(ValueError, match="measured in the RKHS"):
        kde_sensitivity(5, 1.0, kernel=Smooth(1.0))
    with pytest.raises(ValueError, match="measured in the RKHS"):
        kde_sensitivity(5, 1.0, kernel=Tall(1.0))
    with pytest.raises(ValueError, match="measured in the RKHS"):
        GaussianProcessReleaser(
            estimator=Tall(0.3), bounds=(0, 1), delta=1e-6, kernel=Tall(0.3)
        ).fit(np.zeros((9, 1)))


# Nearly singular matrices


def near_singular(bits):
    r = 1 - 2.0**-bits
    return ((1.0, r), (r, 1.0))


def test_nearly_singular_matrices_are_refused_by_fit(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=5.0, delta=1e-3)
    for bits in (21, 30, 38):
        kernel = GaussianKernel(near_singular(bits))
        for whole in (kernel, ProductKernel([GaussianKernel(1.0), kernel])):
            with pytest.raises(PrivacyError, match="nearly singular"):
                online(whole, constant(0.0), ledger=str(ledger.path))
    assert ledger.history() == []
    online(GaussianKernel(near_singular(18)), constant(0.0))


@pytest.mark.parametrize("bits", [4, 12, 18])
def test_what_matrices_magnify_is_paid_for(bits):
    """The largest loss over functions of norm one in the exact space."""
    H = near_singular(bits)
    mp = mpmath.mp.clone()
    mp.dps = 60
    facts = {"max_points": 7, "value_error": 0.0, "sensitivity": 1.0}
    gp = online(GaussianKernel(H), constant(0.0), **facts)
    start = 2.0 ** (17 - bits / 2) + 0.123
    points = [(start, start + k * np.spacing(start)) for k in range(-3, 4)]
    gp.predict(points)
    points = points[:6]  # the last row is read when it is needed
    r = mp.mpf(H[0][1])

    def exact(x, y):
        a, b = (mp.mpf(s) - mp.mpf(t) for s, t in zip(x, y, strict=True))
        return mp.exp(-(a * a - 2 * r * a * b + b * b) / (1 - r * r) / 2)

    gram = mp.matrix([[exact(x, y) for y in points] for x in points])
    factor = gp._release._conditioning._factor[:6, :6]
    inverse = mp.inverse(mp.matrix(factor.tolist()))
    worst = mp.sqrt(max(mp.eigsy(inverse * gram * inverse.T, eigvals_only=True)))
    assert worst <= 1 + SLACK


def test_the_nugget_grows_with_the_condition_of_a_matrix():
    one, other = (
        online(GaussianKernel(near_singular(bits)), constant(0.0)).nugget_
        for bits in (6, 16)
    )
    assert other > 50 * one


# Callables


def stated(function, **facts):
    return GaussianProcessReleaser(
        estimator=lambda X, y: function, kernel=GaussianKernel(0.2), sensitivity=0.1,
        bounds=(0, 1), delta=1e-6, **facts,
    )  # fmt: skip


@pytest.mark.parametrize("bad", [1.001 * LIMIT * 0.1, -1e308, np.inf, -np.inf, np.nan])
def test_values_of_callables_are_not_clipped_but_refused(bad, tmp_path):
    """One of many is enough; nothing is charged and nothing is told."""
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=5.0, delta=1e-3)
    texts = set()
    for value in (bad, 1e200):

        def function(T, value=value):
            return np.where(np.arange(len(T)) == 1, value, 0.0)

        model = stated(function, ledger=str(ledger.path))
        with pytest.raises(ValueError, match="state a larger sensitivity") as caught:
            model.fit(np.zeros((3, 1)))
        texts.add(str(caught.value))
    assert len(texts) == 1
    assert "KernelDensity" in texts.pop()
    assert ledger.history() == []


def test_the_largest_values_of_callables_are_released():
    value = 0.999 * LIMIT * 0.1
    model = stated(constant(value), random_state=0).fit(np.zeros((3, 1)))
    middle = model.predict([[0.5]])[0]
    assert abs(middle / value - 1) < 0.01


# Sensitivities of densities are rounded up


TINY = [1e-3, 1e-7, 1e-150, 1e-161, 1e-162, 1e-163, 1e-170, 1e-300, 5e-324]


@pytest.mark.parametrize("width", TINY)
@pytest.mark.parametrize("bandwidth", [1.0, 3.0])
def test_the_sensitivity_within_tiny_bounds(width, bandwidth):
    mp = mpmath.mp.clone()
    mp.dps = 700
    gap, h = mp.mpf(width) / mp.mpf(bandwidth), mp.mpf(bandwidth)
    height = 1 / (h * mp.sqrt(2 * mp.pi))
    own = height * mp.sqrt(-2 * mp.expm1(-(gap**2) / 2))
    bounds = (0.0, width)
    found = kde_sensitivity(1, bandwidth, bounds=bounds)
    assert own <= found <= max(own * (1 + 1e-10), 1e-130)
    # In H1: the inner product of two bumps is N r, see the notes.
    K = mp.mpf(0.5) + h**2
    s = (gap / 2) ** 2
    lost = 1 - mp.exp(-s) * (1 - s / K)
    norm = mp.sqrt(mp.pi) / (2 * h) * K
    other = height * mp.sqrt(2 * norm * lost)
    kernel = ExponentialKernel(1.0)
    found = kde_sensitivity(1, bandwidth, kernel=kernel, bounds=bounds)
    assert other <= found <= max(other * (1 + 1e-6), 1e-130)


@pytest.mark.parametrize("bits", [3, 10, 20, 30, 38])
def test_the_sensitivity_of_matrices(bits):
    mp = mpmath.mp.clone()
    mp.dps = 60
    rng = np.random.default_rng(bits)
    for _ in range(20):
        one, other = rng.uniform(0.5, 2.0, 2)
        cross = math.sqrt(one * other) * (1 - 2.0**-bits)
        H = ((one, cross), (cross, other))
        widths = rng.uniform(0.1, 1.0, 2) * 2.0 ** (-bits / 2)
        try:
            found = kde_sensitivity(1, H, 2, bounds=((0.0, 0.0), tuple(widths)))
        except ValueError:  # singular in floating point
            continue
        a, b, c = (mp.mpf(float(v)) for v in (one, cross, other))
        volume = a * c - b * b
        square = max(
            (c * u * u - 2 * b * u * v + a * v * v) / volume
            for u, v in itertools.product(*([w, -w] for w in map(mp.mpf, widths)))
        )
        height = 1 / (2 * mp.pi * mp.sqrt(volume))
        exact = height * mp.sqrt(-2 * mp.expm1(-square / 2))
        assert exact <= found <= exact * 1.2
        assert height * mp.sqrt(2) <= kde_sensitivity(1, H, 2)


# Copies of a file


def test_a_copy_of_a_file_is_refused(tmp_path):
    def made(name):
        facts = {"sensitivity": 1.0, "delta": 1e-6, "path": str(tmp_path / name)}
        return OnlineGaussianProcess(kernel=ExponentialKernel(1.0), **facts)

    made("a.db").fit(constant(3.0))
    for k in range(3):
        shutil.copy(tmp_path / "a.db", tmp_path / f"copy{k}.db")
        with pytest.raises(PrivacyError, match="must be moved back"):
            made(f"copy{k}.db").resume(constant(3.0))
    answer = made("a.db").resume(constant(3.0)).predict(0.5)
    (tmp_path / "a.db").rename(tmp_path / "b.db")
    with pytest.raises(PrivacyError, match="must be moved back"):
        made("b.db").resume(constant(3.0))
    (tmp_path / "b.db").rename(tmp_path / "a.db")
    assert made("a.db").resume(constant(3.0)).predict(0.5) == answer


def test_another_name_of_the_same_file_is_no_copy(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    facts = {"sensitivity": 1.0, "delta": 1e-6, "kernel": ExponentialKernel(1.0)}
    path = tmp_path / "folder" / "a.db"
    gp = OnlineGaussianProcess(path=path, **facts).fit(constant(3.0))
    answer = gp.predict(0.5)
    other = OnlineGaussianProcess(path=tmp_path / "link" / "a.db", **facts)
    assert other.resume(constant(3.0)).predict(0.5) == answer
