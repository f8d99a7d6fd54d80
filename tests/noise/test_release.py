"""Releases are the correctly rounded sum of an exact value and an exact draw.

The oracle is written a second time here, in 50-digit point arithmetic on the same
bits; it shares no code with the package.
"""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from skfuncpriv.noise import (
    BlockSpherical,
    FixedPoint,
    IndependentGaussian,
    IndependentLaplace,
    Lattice,
    OperatingSystemBits,
    SeededBits,
    ShapedNoise,
    SphericalLaplace,
    release_lattice,
)
from skfuncpriv.noise import _law as law_module
from tests.noise.laws import LAWS, RecordedBits, law_name

mp = mpmath.mp.clone()
mp.dps = 50


def oracle_exponential(word, extra, bits=64):
    known = (int(word) >> 1 << bits) | int(extra)
    return -mp.log((mp.mpf(known) + 0.5) / mp.mpf(2) ** (63 + bits))


def oracle_direction(word, extra, bits=64):
    word = int(word)
    known = (word >> 3 << bits) | int(extra)
    angle = (mp.mpf(known) + 0.5) / mp.mpf(2) ** (61 + bits) * mp.pi / 4
    point = [mp.cos(angle), mp.sin(angle)]
    if word & 1:
        point.reverse()
    return point[0] * (-1 if word & 2 else 1), point[1] * (-1 if word & 4 else 1)


def oracle_draw(law, words, extra, bits=64):
    """One draw of a law as 50-digit numbers."""
    if isinstance(law, IndependentLaplace):
        return [
            mp.mpf(b) * oracle_exponential(w, e, bits) * (-1 if int(w) & 1 else 1)
            for b, w, e in zip(law.scales, words, extra, strict=True)
        ]
    if isinstance(law, ShapedNoise):
        plain = oracle_draw(law.law, words, extra, bits)
        return [
            sum(mp.mpf(float(s)) * y for s, y in zip(row, plain, strict=True))
            for row in law.shape
        ]
    if isinstance(law, BlockSpherical):
        out = []
        for block in law.blocks:
            n = block._n_words
            out += oracle_draw(block, words[:n], extra[:n], bits)
            words, extra = words[n:], extra[n:]
        return out
    pairs = (law.size + 1) // 2
    norm = [
        mp.sqrt(2 * oracle_exponential(words[i], extra[i], bits)) * coordinate
        for i in range(pairs)
        for coordinate in oracle_direction(words[pairs + i], extra[pairs + i], bits)
    ][: law.size]
    if isinstance(law, IndependentGaussian):
        return [mp.mpf(s) * z for s, z in zip(law.deviations, norm, strict=True)]
    rest = list(zip(words[2 * pairs :], extra[2 * pairs :], strict=True))
    mixing = mp.fsum(
        oracle_exponential(*pair, bits) for pair in rest[: (law.size + 1) // 2]
    )
    if law.size % 2 == 0:
        cos, _ = oracle_direction(*rest[-1], bits)
        mixing += oracle_exponential(*rest[-2], bits) * cos**2
    return [mp.mpf(law.scale) * mp.sqrt(2 * mixing) * z for z in norm]


@pytest.fixture
def force_refinement(monkeypatch):
    """Let the float filter decide nothing."""
    monkeypatch.setattr(law_module, "ROUNDOFF", math.inf)


@pytest.mark.parametrize("exponent", [-30, -3])
def test_undecided_path_is_correctly_rounded(law, exponent, force_refinement):
    rng = np.random.default_rng(3)
    values = rng.integers(-(2**50), 2**50, (6, law.size))
    value = FixedPoint(values, Lattice(-45), 2**50)
    bits = RecordedBits(11)
    released = law.release(value, Lattice(exponent), bits)
    words = bits.given[0].reshape(6, -1)
    assert len(bits.given) == 7  # one refinement per row was enough
    for row in range(6):
        draw = oracle_draw(law, words[row], bits.given[1 + row])
        for column in range(law.size):
            exact = mp.mpf(int(values[row, column])) / mp.mpf(2) ** 45
            total = (exact + draw[column]) / mp.mpf(2) ** exponent
            assert released[row, column] == int(mp.floor(total + mp.mpf(1) / 2))


def test_float_filter_and_refinement_agree(law, monkeypatch):
    values = np.random.default_rng(0).normal(size=(40, law.size))
    fast = law.release(values, Lattice(-24), RecordedBits(5))
    monkeypatch.setattr(law_module, "ROUNDOFF", math.inf)
    slow = law.release(values, Lattice(-24), RecordedBits(5))
    np.testing.assert_array_equal(fast, slow)


def test_floats_decide_all_but_very_few(law):
    """An undecided coordinate asks for further words; one in ten million may be."""
    bits = RecordedBits(12)
    law.release(np.full((3000, law.size), 0.3), Lattice(-20), bits)
    first_words = -(-3000 // (law_module._CHUNK_WORDS // law._n_words))
    assert len(bits.given) <= first_words + 1


CORNERS = [
    0, 1, 2, 3, 7, 8, 15, 2**32, 2**61, 2**63 - 1, 2**63, 2**64 - 8, 2**64 - 2,
    2**64 - 1, 2**64 - 2**11, 2**53 + 1, 2**10 + 5,
]  # fmt: skip


def test_float_errors_stay_inside_their_bounds(law):
    rng = np.random.default_rng(8)
    words = rng.integers(0, 2**64, (300, law._n_words), dtype=np.uint64)
    words[:150] = rng.choice(np.array(CORNERS, dtype=np.uint64), (150, law._n_words))
    with np.errstate(all="ignore"):
        value, error = law._read(words, 0)
    half = np.full(law._n_words, 2**63, dtype=np.uint64)
    compared = 0
    for row in range(300):
        exact = oracle_draw(law, words[row], half)
        for column in range(law.size):
            if np.isfinite(error[row, column]):
                gap = abs(mp.mpf(float(value[row, column])) - exact[column])
                assert gap <= mp.mpf(float(error[row, column]))
                compared += 1
    assert compared > 150 * law.size


@pytest.mark.parametrize("word", CORNERS)
def test_extreme_words_give_a_release(law, word):
    words = np.full((2, law._n_words), word, dtype=np.uint64)
    released = law.release(
        np.zeros((2, law.size)), Lattice(-20), RecordedBits(1, words)
    )
    assert np.abs(released).max() < 2**62


def test_coordinates_of_a_row_share_their_further_bits(force_refinement):
    # sin^2 + cos^2 = 1 holds only if both used the same extension of the words
    law = IndependentGaussian((1.0, 1.0))
    bits = RecordedBits(2)
    released = law.release(np.zeros((5, 2)), Lattice(-50), bits)
    words = bits.given[0].reshape(5, -1)
    for row in range(5):
        radius = mp.sqrt(2 * oracle_exponential(words[row, 0], bits.given[1 + row][0]))
        norm = mp.hypot(*[mp.mpf(int(k)) / mp.mpf(2) ** 50 for k in released[row]])
        assert abs(norm - radius) < mp.mpf(2) ** -49


def test_further_bits_are_drawn_until_the_rounding_is_decided():
    # With no information in the first 64 bits of the exponential word the draw is
    # unbounded; the source keeps giving zeros for two rounds more.
    class Stubborn(RecordedBits):
        def words(self, count):
            if len(self.given) < 3:
                self.given.append(np.zeros(count, dtype=np.uint64))
                return self.given[-1]
            return super().words(count)

    bits = Stubborn(4)
    released = IndependentLaplace((1.0,)).release(np.zeros((1, 1)), Lattice(0), bits)
    tail = (int(bits.given[3][0]) + 0.5) / 2.0**64
    expected = (63 + 64 + 64) * math.log(2) - math.log(tail)
    assert released[0, 0] == round(expected)


@pytest.mark.parametrize("which", ["all", "first", "last"])
def test_words_of_zeros_are_refined_in_every_law(law, which):
    """Draws that are unbounded for two rounds, in which only zeros come."""

    class Stubborn(RecordedBits):
        def words(self, count):
            if len(self.given) in (1, 2):
                self.given.append(np.zeros(count, dtype=np.uint64))
                return self.given[-1]
            return super().words(count)

    first = np.full((1, law._n_words), 2**62 + 2**40, dtype=np.uint64)
    first[:, {"all": slice(None), "first": 0, "last": -1}[which]] = 0
    if which == "last" and law.size % 2 == 0:  # the one before is the exponential
        first[:, -2] = 0
    bits = Stubborn(6, first)
    released = law.release(np.zeros((1, law.size)), Lattice(-30), bits)
    words, *rounds = bits.given
    extra = [2**63] * law._n_words  # where floats decide, any further bits would do
    if rounds:
        columns = np.array(rounds, dtype=object).T
        extra = [sum(int(w) << 64 * k for k, w in enumerate(c[::-1])) for c in columns]
    draw = oracle_draw(law, words, extra, bits=64 * max(len(rounds), 1))
    expected = [int(mp.floor(z * mp.mpf(2) ** 30 + 0.5)) for z in draw]
    if which == "all":
        assert len(rounds) == 3
    np.testing.assert_array_equal(released[0], expected)


def test_value_on_a_finer_lattice_is_not_rounded_first():
    # 0.5 + 0.25: rounding the value before the noise is added would change the law
    words = np.array([[2**63 - 2**20]], dtype=np.uint64)  # E slightly above log 2
    value = FixedPoint(np.array([[-3]]), Lattice(-3), 8)
    released = IndependentLaplace((1.0,)).release(
        value, Lattice(0), RecordedBits(0, words)
    )
    assert released[0, 0] == round(-0.375 + math.log(2))


def test_huge_floats_saturate_instead_of_overflowing():
    law = IndependentLaplace((1.0, 1.0, 1.0))
    values = np.array([[1e308, -1e308, 5e-324]])
    released = law.release(values, Lattice(-20), SeededBits(0))
    assert released[0, 0] > 2**60
    assert released[0, 1] < -(2**60)
    assert abs(released[0, 2]) < 2**26


@pytest.mark.parametrize("roundoff", [2.0**-53, math.inf], ids=["filter", "exact"])
@pytest.mark.parametrize("sign", [1, -1])
def test_huge_floats_are_moved_to_the_same_end(sign, roundoff, monkeypatch):
    """Clipped at 2^61 steps, by the filter and in exact arithmetic."""
    monkeypatch.setattr(law_module, "ROUNDOFF", roundoff)
    law, values = IndependentLaplace((1.0,)), np.array([[sign * 1e308]])
    released = law.release(values, Lattice(-20), SeededBits(0))
    noise = law.release(np.zeros((1, 1)), Lattice(-20), SeededBits(0))
    assert abs(int(released[0, 0]) - int(noise[0, 0]) - sign * 2**61) <= 2**9  # floats


def test_ties_that_floats_cannot_see_are_rounded_exactly():
    """Values 2^-60 on either side of where draws, known in advance, tip over."""
    law, n = IndependentLaplace((1.0,)), 60
    words = np.random.default_rng(1).integers(0, 2**64, (n, 1), dtype=np.uint64)
    coming = RecordedBits(3)
    draws = [
        oracle_draw(law, words[row], coming.words(1))[0] * mp.mpf(2) ** 100
        for row in range(n)
    ]
    sides = np.where(np.arange(n) % 2, 2**40, -(2**40)).tolist()
    half = [mp.floor(mp.mpf(2) ** 99 - draw) for draw in draws]
    values = np.array([[int(h) + d] for h, d in zip(half, sides, strict=True)])
    value = FixedPoint(values.astype(object), Lattice(-100), 2**110)
    bits = RecordedBits(3, words)
    released = law.release(value, Lattice(0), bits)
    np.testing.assert_array_equal(released[:, 0], [side > 0 for side in sides])
    assert len(bits.given) == 1 + n  # all of them were refined, once


def test_draws_beyond_every_integer_saturate():
    """Noise of 2^70 steps: nobody may see an overflow, which would fold it."""
    law = IndependentLaplace((2.0**50,))
    released = law.release(np.zeros((40, 1)), Lattice(-20), SeededBits(0))[:, 0]
    steps = law.sample(40, SeededBits(0))[:, 0] * 2.0**20
    np.testing.assert_array_equal(released, np.sign(steps) * 2**62)


NUMBERS = ["0", "1", "-1", "4", "-4", "3.5", "-3.5", "0.25", "-0.25", "1048577"]


@pytest.mark.parametrize("number", NUMBERS)
def test_floors_of_ends_are_exact(number):
    end = mpmath.iv.mpf(number).a
    assert law_module._floor(end) == math.floor(Fraction(number))


@pytest.mark.parametrize("number", ["inf", "-inf", "nan"])
def test_ends_that_are_not_finite_have_no_floor(number):
    assert law_module._floor(mpmath.iv.mpf(number).a) is None


@pytest.mark.parametrize("bound", [2**61, 2**61 - 1, 3, 2**100])
@pytest.mark.parametrize("exponent", [-40, 0, 900])
def test_coarse_lattices_are_the_finest_with_room_for_noise(bound, exponent):
    value = FixedPoint(np.array([[0]]), Lattice(exponent), bound)
    coarse = release_lattice(1e-300, value).exponent
    assert 2**60 <= Fraction(bound) * Fraction(2) ** (exponent - coarse) < 2**61


def test_lattices_too_fine_for_the_integers_are_refused():
    law = IndependentLaplace((1.0,))
    for bound, is_fine in ((2**51, False), (2**52, True)):
        value = FixedPoint(np.array([[-bound]]), Lattice(0), bound)
        if is_fine:
            with pytest.raises(ValueError, match="too fine for its values"):
                law.release(value, Lattice(-10), SeededBits(0))
        else:
            released = law.release(value, Lattice(-10), SeededBits(0))
            noise = law.release(np.zeros((1, 1)), Lattice(-10), SeededBits(0))
            assert released[0, 0] == -(2**61) + noise[0, 0]


@pytest.mark.parametrize("fine", [-82, -83, -120, -1300])
def test_integers_on_a_very_fine_lattice_are_those_numbers(fine, force_refinement):
    """The same bits, the same numbers as floats: the same release."""
    law = IndependentLaplace((1.0,) * 4)
    floats = np.array([[-3 * 2.0**-22, 2.0**-21, 7.0, -(2.0**-20)]])
    integers = [int(x * 2**22) << (-22 - fine) for x in floats[0].tolist()]
    values = np.array([integers], dtype=object)
    value = FixedPoint(values, Lattice(fine), max(map(abs, integers)))
    for seed in range(6):
        np.testing.assert_array_equal(
            law.release(value, Lattice(-20), SeededBits(seed)),
            law.release(floats, Lattice(-20), SeededBits(seed)),
        )


def test_release_lattice_is_fine_and_fits():
    for scale in (1e-300, 0.3, 1.0, 7.0, 1e300):
        step = release_lattice(scale).step
        assert scale * 2.0**-21 <= step <= scale * 2.0**-20
    value = FixedPoint(np.array([[2**61]]), Lattice(0), 2**61)
    coarse = release_lattice(2.0**-60, value)
    released = IndependentLaplace((2.0**-60,)).release(value, coarse, SeededBits(0))
    assert released[0, 0] * coarse.step == 2.0**61


def test_reachable_outputs_of_neighbours_are_the_same_lattice():
    # A float implementation x + noise reaches different floats from x and x'. Here the
    # low bits are those of the noise alone: the parity of the release is a fair coin.
    law = SphericalLaplace(2, 1.0)
    n_draws = 40_000
    for value in (0.0, 1.0 / 3.0, 1.0 + 2.0**-30):
        released = law.release(
            np.full((n_draws, 2), value), Lattice(-20), SeededBits(9)
        )
        odd = (released & 1).mean()
        assert abs(odd - 0.5) < 5 * 0.5 / math.sqrt(2 * n_draws)


def test_chunks_do_not_repeat_words(monkeypatch):
    monkeypatch.setattr(law_module, "_CHUNK_WORDS", 8)
    law = IndependentLaplace((1.0, 1.0))
    released = law.release(np.zeros((50, 2)), Lattice(-20), OperatingSystemBits())
    assert len(np.unique(released)) == 100


@pytest.mark.parametrize("law", LAWS, ids=law_name)
def test_empty_release(law):
    assert law.release(np.zeros((0, law.size)), Lattice(0), SeededBits(0)).shape[0] == 0
