"""Keyed bits: again for the same secret, place and data; independent otherwise."""

import pickle

import numpy as np
import pytest
from scipy import stats

from skfuncpriv.noise import IndependentGaussian, KeyedBits, release_lattice

SECRET = bytes(range(32))


def test_words_are_those_of_secret_path_and_call():
    streams = [
        KeyedBits(SECRET),
        KeyedBits(SECRET[::-1]),
        KeyedBits(SECRET).spawn(0),
        KeyedBits(SECRET).spawn(1),
        KeyedBits(SECRET).spawn(0).spawn(1),
        KeyedBits(SECRET).spawn(1).spawn(0),
        KeyedBits(SECRET).spawn(0).bound_to(np.zeros(3)),
        KeyedBits(SECRET).spawn(0).bound_to(np.zeros((3, 1))),
        KeyedBits(SECRET).spawn(0).bound_to(np.zeros(3, dtype=int)),
        KeyedBits(SECRET).spawn(0).bound_to(np.array([0.0, 0.0, 5e-324])),
        KeyedBits(SECRET).spawn(0).bound_to(np.zeros(0)),
    ]
    words = [stream.words(8) for _ in range(3) for stream in streams]
    assert len(set(np.concatenate(words).tolist())) == 3 * 8 * len(streams)
    again = KeyedBits(SECRET).spawn(0).bound_to(np.zeros((2, 3)).T[:, 0])
    np.testing.assert_array_equal(again.words(8), words[6])
    copied = pickle.loads(pickle.dumps(KeyedBits(SECRET).spawn(1)))
    np.testing.assert_array_equal(copied.words(8), words[3])


def test_marks_are_those_of_secret_place_and_data_and_no_words():
    place = KeyedBits(SECRET).spawn(1)
    bound = place.bound_to(np.zeros(2))
    different = [
        place.mark(),
        bound.mark(),
        place.bound_to(np.ones(2)).mark(),
        KeyedBits(SECRET).spawn(2).bound_to(np.zeros(2)).mark(),
        KeyedBits(SECRET[::-1]).spawn(1).bound_to(np.zeros(2)).mark(),
        bound.words(4).tobytes(),
    ]
    assert len(set(different)) == 6
    assert bound.mark() == place.bound_to(np.zeros(2)).mark()
    assert len(bound.mark()) == 32


def test_secrets_are_fresh_unless_seeded_and_never_shown():
    first, second = KeyedBits.fresh(), KeyedBits.fresh()
    assert not first.seeded
    assert not (first.words(4) == second.words(4)).any()
    seeded = [KeyedBits.fresh(3), KeyedBits.fresh(3), KeyedBits.fresh(3, purpose=2)]
    assert all(bits.seeded for bits in [*seeded, seeded[0].spawn(1)])
    words = [bits.words(4).tolist() for bits in seeded]
    assert words[0] == words[1] != words[2]
    bits = KeyedBits(SECRET).spawn(1)
    for text in (repr(bits), str(bits), f"{[bits]}"):
        assert text.strip("[]") == "KeyedBits(secret=<hidden>, seeded=False)"
    for wrong in (b"short", "x" * 32, None):
        with pytest.raises(ValueError, match="at least 32 bytes") as caught:
            KeyedBits(wrong)
        assert str(wrong) not in str(caught.value)


def test_bits_are_uniform_and_a_law_is_the_law():
    bits = KeyedBits(SECRET)
    words = bits.words(20_000)
    ones = np.unpackbits(words.view(np.uint8)).reshape(-1, 64).mean(axis=0)
    assert np.abs(ones - 0.5).max() < 5.5 * 0.5 / np.sqrt(20_000)
    law = IndependentGaussian.scale_for(0.5, 1.0, 1)
    lattice = release_lattice(law.smallest_scale)
    drawn = [
        lattice.to_float(law.release(np.zeros((2000, 1)), lattice, bits.spawn(k)))
        for k in range(2)
    ]
    assert not np.isin(drawn[0], drawn[1]).any()
    noise = np.concatenate(drawn).ravel() / law.std[0]
    assert stats.kstest(noise, "norm").pvalue > 1e-7
