"""Comparisons are decided as for exact real draws.

The oracle is written a second time here, in 50-digit point arithmetic on the same
bits; it shares no code with the package.
"""

import math

import mpmath
import numpy as np
import pytest

from skfuncpriv.noise import NoisyValues, RealDraws, SeededBits, at_most
from skfuncpriv.noise import _comparison as module
from tests.noise.laws import RecordedBits

mp = mpmath.mp.clone()
mp.dps = 50

LAWS = ["laplace", "exponential"]
CORNERS = [0, 1, 2, 3, 2**32, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1, 2**53 + 1]


def oracle_draw(law, scale, word, extra):
    word, extra = int(word), int(extra)
    known = (word >> 1 << 64) | extra
    size = -mp.mpf(scale) * mp.log((mp.mpf(known) + 0.5) / mp.mpf(2) ** 127)
    return -size if law == "laplace" and word & 1 else size


class PlantedBits(RecordedBits):
    """Hands out chosen words first, then seeded ones."""

    def __init__(self, *first, seed=0):
        super().__init__(seed)
        self._planted = [np.array(words, dtype=np.uint64) for words in first]

    def words(self, count):
        if self._planted:
            words = self._planted.pop(0)
            assert words.size == count
            self.given.append(words)
            return words
        return super().words(count)


def random_words(count, seed):
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**64, count, dtype=np.uint64)
    words[: len(CORNERS)] = rng.permutation(np.array(CORNERS, dtype=np.uint64))
    return words


def near_ties(law, n, scales=(2.0, 3.0), seed=0):
    """Pairs whose sums differ by less than a float can tell, and the exact answers.

    The bits behind the first word are known in advance: each draw is refined once.
    """
    words = random_words(n, seed), random_words(n, seed + 1)
    extra = np.random.default_rng(seed + 2).integers(0, 2**64, (n, 2), dtype=np.uint64)
    bits = PlantedBits(*words, *([word] for word in extra.ravel()))
    draws = [RealDraws(law, s, n, bits) for s in scales]
    gap, answer = np.empty(n), np.empty(n, dtype=bool)
    for i in range(n):
        one, two = (
            oracle_draw(law, s, w[i], e)
            for s, w, e in zip(scales, words, extra[i], strict=True)
        )
        gap[i] = float(two - one)
        answer[i] = mp.mpf(gap[i]) + one <= two
    places = np.arange(n)
    left = NoisyValues(gap, draws[0], places)
    right = NoisyValues(np.zeros(n), draws[1], places)
    return left, right, answer, bits


@pytest.mark.parametrize("law", LAWS)
def test_near_ties_are_decided_as_in_exact_arithmetic(law):
    n = 150
    left, right, answer, bits = near_ties(law, n)
    np.testing.assert_array_equal(at_most(left, right), answer)
    assert len(bits.given) >= 2 + 2 * n  # every pair had to be refined
    floats = left.value + left.draws.read(left.which).value
    naive = floats <= right.draws.read(right.which).value
    assert np.sum(naive != answer) > 10  # floats alone get many wrong


@pytest.mark.parametrize("law", LAWS)
def test_float_filter_and_refinement_agree(law, monkeypatch):
    n = 80

    def decisions():
        bits = PlantedBits(random_words(n, 4), random_words(n, 5))
        draws = RealDraws(law, 0.7, n, bits), RealDraws(law, 1e-3, n, bits)
        value = np.random.default_rng(6).normal(size=(2, n))
        pairs = [
            NoisyValues(v, d, np.arange(n)) for v, d in zip(value, draws, strict=True)
        ]
        return at_most(*pairs), len(bits.given)

    fast, few = decisions()
    monkeypatch.setattr(module, "ROUNDOFF", math.inf)
    slow, many = decisions()
    np.testing.assert_array_equal(fast, slow)
    assert few < 40  # the corner words only
    assert many >= 2 + 2 * n


@pytest.mark.parametrize("law", LAWS)
def test_float_errors_inside_the_band_change_nothing(law, monkeypatch):
    """Readings that are wrong by nearly all of their stated error."""
    exact_reading = module.exponentials
    rng = np.random.default_rng(0)

    def wrong(words):
        value, error = exact_reading(words)
        value = value + 0.9 * error * rng.choice([-1, 1], value.shape)
        return module.Measured(value, error * 1.9)

    left, right, answer, _ = near_ties(law, 80, seed=7)
    monkeypatch.setattr(module, "exponentials", wrong)
    np.testing.assert_array_equal(at_most(left, right), answer)


@pytest.mark.parametrize("law", LAWS)
def test_float_errors_stay_inside_their_bounds(law):
    words = random_words(500, 1)
    draws = RealDraws(law, 0.3, 500, PlantedBits(words))
    value, error = draws.read(np.arange(500))
    checked = 0
    for word, number, bound in zip(words, value, error, strict=True):
        if np.isfinite(bound):
            exact = oracle_draw(law, 0.3, word, 2**63)
            assert abs(mp.mpf(number) - exact) <= mp.mpf(bound) / 2
            checked += 1
    assert checked > 490


@pytest.mark.parametrize("law", LAWS)
def test_enclosures_hold_the_draw_and_shrink(law):
    bits = PlantedBits([2**63 + 12345], [77], [88])
    draws = RealDraws(law, 2.0, 1, bits)
    ends = draws.enclose(0)
    draws.refine(0)
    closer = draws.enclose(0)
    assert ends[0] <= closer[0] < closer[1] <= ends[1]
    assert closer[1] - closer[0] < (ends[1] - ends[0]) / 2**60


def test_a_word_of_zeros_is_refined_until_it_is_bounded():
    bits = PlantedBits([0, 2**63], [7], [0], [7], [1])
    draws = RealDraws("exponential", 1.0, 2, bits)
    one, two = np.array([0]), np.array([1])
    zero = np.zeros(1)
    decided = at_most(NoisyValues(zero, draws, two), NoisyValues(zero, draws, one))
    assert decided[0]  # the other draw is near log 2, this one above 131
    assert draws.enclose(0)[0] > 131


@pytest.mark.parametrize("last", [(9, 1), (1, 9)])
def test_bits_are_added_until_the_draws_are_apart(last):
    """Equal in 127 bits, then told apart: the larger U is the smaller draw."""
    bits = PlantedBits([2**63, 2**63], [5], [5], [last[0]], [last[1]])
    draws = RealDraws("exponential", 1.0, 2, bits)
    zero = np.zeros(1)
    left = NoisyValues(zero, draws, np.array([0]))
    right = NoisyValues(zero, draws, np.array([1]))
    assert at_most(left, right)[0] == (last[0] > last[1])
    assert len(bits.given) == 5


@pytest.mark.parametrize("sign", [1, -1])
def test_enclosures_that_overlap_decide_nothing(sign):
    """127 bits leave 2^-126 open; a shift by a quarter of it is undone by the next."""
    larger_uniform, smaller_uniform = [2**64 - 1], [1]
    last = [larger_uniform, smaller_uniform][::sign]
    bits = PlantedBits([2**63, 2**63], [5], [5], *last)
    draws = RealDraws("exponential", 1.0, 2, bits)
    left = NoisyValues(np.array([sign * 2.0**-128]), draws, np.array([0]))
    right = NoisyValues(np.zeros(1), draws, np.array([1]))
    assert at_most(left, right)[0] == (sign > 0)


def test_a_shared_draw_keeps_its_bits(monkeypatch):
    """All comparisons of a draw speak of one real number: they are an order."""
    monkeypatch.setattr(module, "ROUNDOFF", math.inf)
    n = 12
    bits = RecordedBits(3)
    # Words that agree but for their further bits: only those can order the draws.
    bits._first = np.full(n, 2**63 + 2, dtype=np.uint64)
    draws = RealDraws("exponential", 1.0, n, bits)
    row, column = (index.ravel() for index in np.indices((n, n)))
    apart = row != column
    row, column = row[apart], column[apart]
    zero = np.zeros(row.size)

    def table():
        left, right = (NoisyValues(zero, draws, which) for which in (row, column))
        return at_most(left, right)

    first = table()
    asked = len(bits.given)
    wins = np.bincount(row, first, minlength=n)
    np.testing.assert_array_equal(np.sort(wins), np.arange(n))  # a strict total order
    np.testing.assert_array_equal(table(), first)
    assert len(bits.given) == asked  # what is known is not drawn again


def test_infinities_are_limits_and_never_refined():
    values = np.array([-np.inf, -np.inf, np.inf, 0.0, 1.0, np.inf])
    other = np.array([0.0, np.inf, 0.0, np.inf, -np.inf, -np.inf])
    bits = PlantedBits([0] * 12)  # words that say nothing
    draws = RealDraws("laplace", 1.0, 12, bits)
    decided = at_most(
        NoisyValues(values, draws, np.arange(6)),
        NoisyValues(other, draws, np.arange(6, 12)),
    )
    np.testing.assert_array_equal(decided, values < other)
    assert len(bits.given) == 1


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_equal_infinities_are_tied(infinity):
    def decided(value):
        draws = RealDraws("laplace", 1.0, 200, SeededBits(0))
        left, right = (
            NoisyValues(np.full(100, value), draws, np.arange(100) + start)
            for start in (0, 100)
        )
        return at_most(left, right)

    np.testing.assert_array_equal(decided(infinity), decided(0.0))


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1.0, 1e300, 1.7e308])
@pytest.mark.parametrize("values", [(1.7e308, -1.7e308), (0.0, 5e-324), (3.0, 3.0)])
def test_scales_and_values_out_of_range_are_decided(scale, values):
    n = 30
    words = random_words(n, 8), random_words(n, 9)
    extra = np.full(2 * n, 2**63 + 11, dtype=np.uint64)
    bits = PlantedBits(*words, *([word] for word in extra), seed=1)
    draws = [RealDraws("laplace", scale, n, bits) for _ in range(2)]
    sides = [
        NoisyValues(np.full(n, v), d, np.arange(n))
        for v, d in zip(values, draws, strict=True)
    ]
    decided = at_most(*sides)
    for i in range(n):
        one, two = (
            mp.mpf(v) + oracle_draw("laplace", scale, w[i], extra[0])
            for v, w in zip(values, words, strict=True)
        )
        if one != two:
            assert decided[i] == (one < two)


def test_a_scale_of_zero_adds_nothing():
    bits = SeededBits(0)
    none, noise = RealDraws("laplace", 0.0, 9, bits), RealDraws("laplace", 1.0, 9, bits)
    places = np.arange(9)
    value = np.linspace(-2, 2, 9)
    decided = at_most(
        NoisyValues(np.zeros(9), noise, places), NoisyValues(value, none, places)
    )
    np.testing.assert_array_equal(decided, noise.read(places).value <= value)


def test_draws_are_counted():
    assert len(RealDraws("laplace", 1.0, 0, SeededBits(0))) == 0
    assert len(RealDraws("exponential", 1.0, 7, SeededBits(0))) == 7


def test_other_laws_are_refused():
    with pytest.raises(ValueError, match="law must be 'laplace' or 'exponential'"):
        RealDraws("gaussian", 1.0, 1, SeededBits(0))
