"""Contributions stay in their ball; sums are exact whatever the order and chunks."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv.summaries import BallContributions, BallSum

SIZES = [1, 2, 7, 64]
PEOPLE = [1, 3, 1000, 10**9]


@pytest.mark.parametrize("n_people", PEOPLE)
@pytest.mark.parametrize("size", SIZES)
def test_no_contribution_leaves_the_ball(n_people, size):
    ball = BallContributions(n_people, size, radius=math.pi)
    rng = np.random.default_rng(size)
    rows = rng.normal(size=(200, size)) * 10.0 ** rng.uniform(-20, 300, (200, 1))
    rows[0] = 1e308
    rows[1] = -5e-324
    rows[2] = np.nan
    rows[3, 0] = np.inf
    rows[4] = math.pi / math.sqrt(size)
    integers = ball.contributions(rows)
    squares = [sum(int(k) ** 2 for k in row) for row in integers]
    assert max(squares) <= ball.steps**2
    assert squares[0] >= (0.999 * ball.steps) ** 2
    assert squares[2] == squares[3] == 0


@pytest.mark.parametrize("n_people", PEOPLE)
def test_lattice_is_the_finest_that_cannot_overflow(n_people):
    ball = BallContributions(n_people, 5, radius=3.0)
    assert n_people * ball.steps <= 2**62
    assert 2 * n_people * ball.steps > 2**61 or ball.steps > 2**51
    assert Fraction(ball.sensitivity) == 2 * ball.steps * Fraction(ball.lattice.step)
    assert 6.0 * (1 - 2.0**-28) <= ball.sensitivity <= 6.0


@pytest.mark.parametrize("n_people", PEOPLE)
@pytest.mark.parametrize("radius", [math.pi, 1.0, 0.1, 1 / 3])
def test_steps_are_the_whole_ones_within_the_radius(n_people, radius):
    ball = BallContributions(n_people, 5, radius)
    step = Fraction(ball.lattice.step)
    assert isinstance(ball.steps, int)
    assert ball.steps * step <= Fraction(radius) < (ball.steps + 1) * step
    assert isinstance(ball.sum(np.zeros((1, 5))).bound, int)


@pytest.mark.parametrize("n_people", [2**51, 2**52, 2**53])
def test_rounding_on_a_coarse_lattice_loses_nobody(n_people):
    """Were the room for rounding too small, the exact check would drop people."""
    rng = np.random.default_rng(0)
    for size in range(1, 25):
        rows = rng.choice([-1.0, 1.0], (300, size)) * rng.uniform(1, 1.2, (300, size))
        rows[::2] = np.sign(rows[::2])
        ball = BallContributions(n_people, size, radius=1.0)
        integers = ball.contributions(rows)
        norms = np.sqrt((integers.astype(float) ** 2).sum(axis=1))
        assert norms.min() >= ball.steps - 2 * math.sqrt(size)


@pytest.mark.parametrize("power", [11, 30, 50])
def test_no_bit_of_a_sum_is_wasted(power):
    """A power of two of people, a radius just below another: nearly 2^62 at most."""
    ball = BallContributions(2**power, 1, radius=1.0 - 2.0**-20)
    assert 0.99 * 2**62 < 2**power * ball.steps < 2**62


def test_sensitivity_is_attained_and_never_exceeded():
    ball = BallContributions(3, 2, radius=1.0)
    rng = np.random.default_rng(0)
    others = rng.normal(size=(2, 2))
    pairs = rng.normal(size=(500, 2, 2)) * 10 ** rng.uniform(-3, 3, (500, 2, 1))
    pairs[0] = [[1.0, 0.0], [-1.0, 0.0]]
    distances = []
    for one, other in pairs:
        sums = [ball.sum(np.vstack([others, x])).values for x in (one, other)]
        distances.append(math.hypot(*map(float, sums[0] - sums[1])))
    assert max(distances) <= 2 * ball.steps
    assert distances[0] >= 2 * ball.steps * (1 - 2.0**-40)


def test_sums_do_not_depend_on_order_chunks_or_magnitudes():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(1000, 6)) * rng.choice([1e16, 1.0, 1e-16], (1000, 1))
    ball = BallContributions(1000, 6, radius=1e16)
    whole = ball.sum(rows).values
    np.testing.assert_array_equal(ball.sum(rows[rng.permutation(1000)]).values, whole)
    for n_chunks in (2, 7, 999):
        total = BallSum(ball)
        for chunk in np.array_split(rows, n_chunks):
            part = BallSum(ball)
            part.add(chunk)
            total.merge(pickle.loads(pickle.dumps(part)))
        np.testing.assert_array_equal(total.value().values, whole)


def test_a_contribution_depends_on_its_own_row_alone():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(50, 9))
    ball = BallContributions(50, 9, radius=2.0)
    together = ball.contributions(rows)
    for start in range(50):
        alone = ball.contributions(rows[start : start + 1])
        np.testing.assert_array_equal(alone[0], together[start])


def test_rounding_is_unbiased_within_the_ball():
    ball = BallContributions(10**9, 1, radius=1.0)
    values = np.random.default_rng(3).uniform(-0.9, 0.9, (10_000, 1))
    error = ball.contributions(values) - values / ball.lattice.step
    assert abs(error).max() <= 0.5 + 1e-6
    assert abs(error.mean()) < 6 * 0.29 / math.sqrt(10_000)


@pytest.mark.parametrize("size", [4, 9])
def test_what_fits_is_rounded_and_not_clipped(size):
    """A vector may be as long as leaves room for half a step in each direction."""
    ball = BallContributions(2**55, size, radius=1.0)
    longest = ball.steps - math.sqrt(size) / 2 - 0.1
    rows = np.zeros((2, size))
    rows[0, 0] = rows[1, -1] = longest * ball.lattice.step
    integers = ball.contributions(rows)
    assert integers[0, 0] == integers[1, -1] == round(longest)
    assert np.count_nonzero(integers) == 2


@pytest.mark.parametrize("n_people", [1, 2**30, 2**52])
def test_what_left_the_ball_would_count_as_nothing(n_people):
    """Rounding never leaves it; were it to, exact arithmetic would see one unit."""
    ball = BallContributions(n_people, 2, radius=1.0)
    rows = np.array([[ball.steps, 0], [ball.steps, 1], [0, -ball.steps], [1, 1]])
    kept = ball._checked(rows.copy())
    np.testing.assert_array_equal(kept, rows * [[1], [0], [1], [1]])


def test_more_people_than_stated_are_refused():
    ball = BallContributions(2, 1, radius=1.0)
    total = BallSum(ball)
    with pytest.raises(ValueError, match="more contributions than n_people"):
        total.add(np.zeros((3, 1)))
    other = BallSum(BallContributions(2, 1, radius=2.0))
    with pytest.raises(ValueError, match="equal public facts"):
        total.merge(other)


def test_full_sum_does_not_overflow():
    ball = BallContributions(4, 1, radius=1.0)
    value = ball.sum(np.full((4, 1), 1e300))
    assert 0 < value.values[0] <= value.bound <= 2**62


@pytest.mark.parametrize("radius", [0.0, -1.0, math.inf, math.nan])
def test_bad_radius(radius):
    with pytest.raises(ValueError, match="radius"):
        BallContributions(2, 2, radius=radius)


def test_too_many_people_for_the_bits_are_refused():
    with pytest.raises(ValueError, match="too few bits"):
        BallContributions(2**60, 64, radius=1.0)
