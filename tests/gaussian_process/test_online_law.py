"""The joint law of online answers, and what it costs, for every order of the points."""

import math

import numpy as np
import pytest

from skfuncpriv.gaussian_process import ExponentialKernel, GaussianKernel
from skfuncpriv.gaussian_process._answers import Answers
from skfuncpriv.gaussian_process._calibration import GaussianBudget
from skfuncpriv.gaussian_process._conditioning import (
    SLACK,
    CholeskyConditioning,
    MarkovConditioning,
    keys_of,
)
from skfuncpriv.gaussian_process._scalar_normal import release_normal
from skfuncpriv.noise import IndependentGaussian, Lattice, RandomBits, SeededBits
from skfuncpriv.privacy import audit, gaussian_delta
from tests.gaussian_process.online import (
    KERNELS,
    density,
    online,
    points_for,
    recorded,
    wave,
)

each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def table_of(points):
    """Points with one row each."""
    return np.asarray(points, dtype=float).reshape(len(points), -1)


# One draw


class FixedBits(RandomBits):
    """Given words first, then seeded ones."""

    seeded = True

    def __init__(self, *words):
        self.first, self.rest = list(words), SeededBits(8)

    def words(self, count):
        taken, self.first = self.first[:count], self.first[count:]
        fresh = self.rest.words(count - len(taken))
        return np.concatenate([np.array(taken, dtype=np.uint64), fresh])


@pytest.mark.parametrize("exponent", [-8, -30, -48])
def test_a_scalar_draw_is_that_of_the_law(exponent):
    rng = np.random.default_rng(-exponent)
    one, two, lattice = SeededBits(4), SeededBits(4), Lattice(exponent)
    for _ in range(300):
        deviation = 10.0 ** rng.uniform(-6, 1)
        value = rng.normal() * 10.0 ** rng.uniform(-12, 12)
        law = IndependentGaussian((deviation,))
        expected = law.release(np.array([value]), lattice, one)
        assert release_normal(value, deviation, lattice, two) == expected.item()


@pytest.mark.parametrize(
    "first", [0, 1, 2, 1 << 20, 1 << 22, 3 << 24, 1 << 40, 1 << 63, (1 << 64) - 1]
)
@pytest.mark.parametrize("second", [0, 7, (1 << 64) - 1, 1 << 63])
def test_a_scalar_draw_from_extreme_words(first, second):
    lattice, law = Lattice(-31), IndependentGaussian((1.5,))
    for value in (0.0, -0.3, 2.0**40, -(2.0**60)):
        expected = law.release(np.array([value]), lattice, FixedBits(first, second))
        found = release_normal(value, 1.5, lattice, FixedBits(first, second))
        assert found == expected.item()


# The conditional law


@each_kernel
def test_steps_have_the_conditional_law(kernel):
    points = points_for(kernel, 30)
    gp = online(kernel)
    with recorded() as draws:
        answers = gp.predict(points)
    table = table_of(points)
    noise = answers - wave(table)
    covariance = kernel(table, table)
    if not isinstance(kernel, ExponentialKernel):
        covariance += gp.nugget_ * np.eye(len(table))
    sigma = gp.noise_std_ / math.sqrt(1 + gp.nugget_)
    # The covariance of the smooth kernel is nearly singular, which costs digits.
    tolerance = 1e-5 if isinstance(kernel, GaussianKernel) else 1e-9
    for i, (center, deviation) in enumerate(draws):
        past = covariance[:i, :i]
        weights = np.linalg.solve(past, covariance[:i, i])
        square = covariance[i, i] - weights @ covariance[:i, i]
        assert deviation == pytest.approx(sigma * math.sqrt(square), rel=tolerance)
        expected = wave(table)[i] + weights @ noise[:i]
        assert center == pytest.approx(expected, abs=tolerance * sigma)


def steps_of(kind, nugget, points, noise):
    """Conditional means and deviations along points with given noise."""
    answers = Answers.create(None, {})
    conditioning = kind(ExponentialKernel(3.0), nugget)
    known = dict(zip(points, noise, strict=True))
    steps = []
    with answers.writing():
        for k, point in enumerate(points):
            step = conditioning.step(
                point, answers, lambda keys, given: [known[key] for key in keys]
            )
            answers.add(point, k, step.factor)
            steps.append((step.mean, step.deviation))
    return np.array(steps)


@pytest.mark.parametrize("order", ["random", "up", "down", "bisecting"])
def test_two_neighbours_say_what_all_points_say(order):
    rng = np.random.default_rng(2)
    points = np.linspace(-1, 4, 64) + rng.uniform(0, 0.05, 64)
    if order == "random":
        points = rng.permutation(points)
    elif order == "down":
        points = points[::-1]
    elif order == "bisecting":
        points = points[[int(f"{k:06b}"[::-1], 2) for k in range(64)]]
    noise = rng.normal(size=64)
    points = points.tolist()
    fast = steps_of(MarkovConditioning, 2.0**-60, points, noise)
    general = steps_of(CholeskyConditioning, 2.0**-60, points, noise)
    np.testing.assert_allclose(fast, general, rtol=1e-9, atol=1e-9)


def test_conditional_law_at_close_and_far_points():
    """Against 60 digits, relative accuracy at every distance."""
    import mpmath

    mp = mpmath.mp.clone()
    mp.dps = 60
    for gap in (1e-14, 1e-6, 0.1, 3.0, 300.0):
        for share in (0.5, 0.01):
            points = [1.0, 1.0 + gap, 1.0 + share * gap]
            if len(set(points)) < 3:
                continue
            noise = [0.7, -0.4, 0.0]
            steps = steps_of(MarkovConditioning, 0.0, points, noise)
            p = 3 * (mp.mpf(points[2]) - mp.mpf(points[0]))
            q = 3 * (mp.mpf(points[1]) - mp.mpf(points[2]))
            both = mp.sinh(p + q)
            mean = (mp.sinh(q) * noise[0] + mp.sinh(p) * noise[1]) / both
            deviation = mp.sqrt(2 * mp.sinh(p) * mp.sinh(q) / both)
            assert steps[2, 0] == pytest.approx(float(mean), rel=1e-13, abs=1e-15)
            assert steps[2, 1] == pytest.approx(float(deviation), rel=1e-13)


# The joint law


def check_normal(draws, mean, covariance):
    """Mean and covariance of rows within five standard errors."""
    n = len(draws)
    variance = np.diag(covariance)
    gap = np.abs(draws.mean(axis=0) - mean)
    assert (gap <= 5 * np.sqrt(variance / n)).all()
    centred = draws - mean
    error = np.sqrt((np.outer(variance, variance) + covariance**2) / n)
    assert (np.abs(centred.T @ centred / n - covariance) <= 5 * error).all()
    square = np.einsum("ij,ij->i", centred @ np.linalg.inv(covariance), centred)
    spread = square.var()  # of a chi-squared law with m degrees it is 2 m
    m = len(variance)
    assert abs(spread - 2 * m) <= 5 * math.sqrt((8 * m * m + 48 * m) / n)


PLACES = np.array([0.0, 0.1, 0.35, 0.8, 0.82])
ORDERS = [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3], [0, 4, 2, 3, 1]]


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_answers_have_the_law_of_the_batch_mode(order):
    """Copies of the places far apart are independent: one release is thousands."""
    kernel, n = ExponentialKernel(3.0), 3000
    shifts = 50.0 * np.arange(n)
    gp = online(kernel, lambda points: wave(points % 50.0), random_state=1)
    draws = np.empty((n, len(PLACES)))
    for k in order:
        draws[:, k] = gp.predict(shifts + PLACES[k])
    table = table_of(PLACES)
    check_normal(draws, wave(table), gp.noise_std_**2 * kernel(table, table))


@pytest.mark.parametrize("name", ["gaussian", "product"])
@pytest.mark.parametrize("order", ORDERS[1:3], ids=str)
def test_answers_of_general_kernels_have_the_law_of_the_batch_mode(name, order):
    kernel, n = KERNELS[name], 400
    points = np.stack([PLACES] * (kernel.n_axes or 1), axis=1)
    draws = np.empty((n, len(PLACES)))
    for k in range(n):
        gp = online(kernel, random_state=k)
        draws[k, order] = gp.predict(points[order]).ravel()
    covariance = gp.noise_std_**2 * kernel(points, points)
    check_normal(draws, wave(points), covariance)


# The cost


def squared_moves(kernel, functions, points, seed=0, **facts):
    """What each answer moves, over its deviation, between two functions."""
    transcript = np.random.default_rng(seed).normal(size=len(points))
    seen = []
    for function in functions:
        gp = online(kernel, function, **facts)
        with recorded(transcript) as draws:
            gp.predict(points)
        seen.append(np.array(draws))
    np.testing.assert_array_equal(seen[0][:, 1], seen[1][:, 1])
    return ((seen[0][:, 0] - seen[1][:, 0]) / seen[0][:, 1]) ** 2


def rough_density(data):
    """A mean of exponential kernels at the data."""
    data = table_of(data)
    return lambda points: KERNELS["exponential"](points, data).mean(axis=1)


MEMBERS = {"gaussian": density, "exponential": rough_density}
ONE = [0.1, 0.2, 0.5, 0.5, 0.9]
OTHERS = [[0.1, 0.2, 0.5, 0.5, x] for x in (0.0, 0.4, 0.89, 30.0)]


def norm_of_difference(name, x, y):
    """In the space of the kernel, exactly."""
    value = KERNELS[name]([[x]], [[y]]).item()
    height = 1 if name == "exponential" else 1 / (0.2 * math.sqrt(2 * math.pi))
    return height / len(ONE) * math.sqrt(2 - 2 * value)


@pytest.mark.parametrize("other", OTHERS, ids=lambda data: str(data[-1]))
@pytest.mark.parametrize("name", MEMBERS)
def test_answers_move_by_no_more_than_the_norm(name, other):
    functions = [MEMBERS[name](ONE), MEMBERS[name](other)]
    norm = norm_of_difference(name, ONE[-1], other[-1])
    rng = np.random.default_rng(3)
    places = np.concatenate([[ONE[-1], other[-1]], rng.uniform(-1, 2, 40)])
    for seed in range(3):
        points = rng.permutation(places)
        facts = {"sensitivity": norm, "epsilon": 0.7, "delta": 1e-5}
        moves = squared_moves(KERNELS[name], functions, points, seed, **facts)
        sigma = GaussianBudget(0.7, 1e-5).deviation(norm * (1 + SLACK))
        moved = sigma * math.sqrt(moves.sum())
        assert 0.995 * norm <= moved <= norm * (1 + 1e-6)
        # What is stated holds for this pair, and hardly less would.
        assert gaussian_delta(0.7, sigma, moved) <= 1e-5
        assert gaussian_delta(0.98 * 0.7, sigma, moved) > 1e-5


def disturbed(function, size, points):
    """The same values, each wrong by `size`, with signs that alternate on the way."""
    signs = {point: (-1) ** k for k, point in enumerate(np.sort(points).tolist())}

    def evaluate(table):
        return function(table) + size * np.array([signs[x] for x in table[:, 0]])

    return evaluate


CLUSTERS = {
    "adjacent floats": lambda k: 0.5 + k * 2.0**-53,
    "1e-12 apart": lambda k: 0.5 + k * 1e-12,
    "closer and closer": lambda k: 0.5 + 2.0**-k,
    "bisecting": lambda k: 0.5 + 1e-9 * ((k * 0.618) % 1),
}


@pytest.mark.parametrize("place", CLUSTERS.values(), ids=CLUSTERS)
@pytest.mark.parametrize("name", MEMBERS)
def test_points_that_nearly_coincide_tell_nothing(name, place):
    """Even if every value is as wrong as is stated, in the worst possible way."""
    norm = norm_of_difference(name, ONE[-1], OTHERS[0][-1])
    points = np.array([ONE[-1], OTHERS[0][-1], *(place(k) for k in range(150))])
    points = points[np.sort(np.unique(points, return_index=True)[1])]
    functions = [
        disturbed(MEMBERS[name](data), error * norm, points)
        for data, error in ((ONE, 2.0**-30), (OTHERS[0], -(2.0**-30)))
    ]
    facts = {"sensitivity": norm, "max_points": 152}
    moves = squared_moves(KERNELS[name], functions, points, **facts)
    sigma = online(KERNELS[name], wave, **facts).noise_std_
    assert sigma * math.sqrt(moves.sum()) <= norm * (1 + SLACK)
    # The noise is never switched off.
    gp = online(KERNELS[name], wave, **facts)
    with recorded() as draws:
        gp.predict(points)
    smallest = min(deviation for _, deviation in draws)
    assert smallest >= 0.7 * math.sqrt(gp.nugget_) * gp.noise_std_


def test_larger_errors_need_a_larger_nugget():
    kernel, facts = ExponentialKernel(1.0), {"sensitivity": 1.0}
    small = online(kernel, **facts).nugget_
    large = online(kernel, value_error=2.0**-26, **facts).nugget_
    few = online(kernel, value_error=2.0**-26, max_points=1000, **facts).nugget_
    roundings = 2.0**-33 + 2.0**-40  # of sums with the largest values, and of weights
    ratio = (2.0**-26 + roundings) / (2.0**-30 + roundings)
    assert large == pytest.approx(ratio**2 * small, rel=0.01)
    assert few == pytest.approx(large / 1000)


@pytest.mark.parametrize("leak", [1.0, math.sqrt(2)], ids=["sound", "half noise"])
def test_an_audit_of_two_answers(leak, monkeypatch):
    """Below epsilon, and above it for a deviation that is too small by sqrt(2)."""
    epsilon, delta, n = 1.0, 0.02, 30_000
    original = GaussianBudget.deviation
    monkeypatch.setattr(
        GaussianBudget, "deviation", lambda *a: original(*a) / leak
    )  # fmt: skip
    kernel, pair = ExponentialKernel(3.0), np.array([0.2, 0.9])
    members = [rough_density([x]) for x in pair]
    norm = norm_of_difference("exponential", *pair) * len(ONE)
    table = table_of(pair)
    inverse = np.linalg.inv(kernel(table, table))
    means = [member(table) for member in members]
    seeds = iter((11, 12))

    def mechanism(member, n_trials):
        facts = {"sensitivity": norm, "epsilon": epsilon, "delta": delta}
        shifts = 50.0 * np.arange(n_trials)
        gp = online(
            kernel, lambda points: member(points % 50.0),
            random_state=next(seeds), **facts,
        )  # fmt: skip
        return np.stack([gp.predict(shifts + x) for x in pair], axis=1)

    def likelihood_ratio(answers):
        middle = (means[0] + means[1]) / 2
        return (answers - middle) @ inverse @ (means[0] - means[1])

    result = audit(
        mechanism, *members, n_trials=n, statistic=likelihood_ratio,
        delta=delta, confidence=1 - 1e-7, batch=True,
    )  # fmt: skip
    if leak == 1:
        assert 0.6 * epsilon <= result.epsilon_lower <= epsilon
    else:
        assert result.epsilon_lower > epsilon


@each_kernel
def test_the_noise_of_a_function_fits_it_and_no_other(kernel):
    """`white_square` has a chi-squared law under the right function."""
    points = points_for(kernel, 200)
    gp = online(kernel, random_state=5)
    gp.predict(points)
    release = gp._release
    release.check_function()
    with release._answers.writing():
        square = release._conditioning.white_square(release._answers, release._noise)
    assert abs(square / gp.noise_std_**2 - 200) < 5 * math.sqrt(400)
    release._values.clear()
    release._conditioning.forget()
    release._function = lambda table: wave(table) + 20 * gp.noise_std_
    with pytest.raises(ValueError, match="too far from this function"):
        release.check_function()


def test_keys_of_points():
    assert keys_of(np.array([[0.5], [2.0]])) == [0.5, 2.0]
    assert keys_of(np.array([[0.0, 1.0]]))[0] == b"\x00" * 14 + b"\xf0\x3f"
