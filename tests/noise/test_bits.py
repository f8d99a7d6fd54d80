"""Sources of random bits."""

import copy
import multiprocessing
import pickle

import numpy as np
import pytest

from skfuncpriv.noise import OperatingSystemBits, SeededBits, random_bits


def test_default_is_the_operating_system():
    bits = random_bits(None)
    assert isinstance(bits, OperatingSystemBits)
    assert not bits.seeded


def test_numpy_global_state_is_neither_read_nor_written():
    np.random.seed(0)
    before = np.random.get_state()[1].copy()
    first = random_bits(None).words(4)
    np.random.seed(0)
    assert (random_bits(None).words(4) != first).any()
    np.testing.assert_array_equal(np.random.get_state()[1], before)


def test_seeded_words_repeat_and_say_so():
    assert random_bits(3).seeded
    np.testing.assert_array_equal(random_bits(3).words(5), SeededBits(3).words(5))
    assert (random_bits(3).words(5) != random_bits(4).words(5)).any()
    state = np.random.RandomState(1)
    first, second = random_bits(state), random_bits(state)
    assert first.seeded
    assert (first.words(5) != second.words(5)).any()
    assert random_bits(np.random.default_rng(0)).seeded


def test_zero_is_a_seed_and_zero_the_purpose_unless_stated():
    words = SeededBits(0).words(5)
    np.testing.assert_array_equal(random_bits(0).words(5), words)
    np.testing.assert_array_equal(random_bits(np.int64(0), purpose=0).words(5), words)
    np.testing.assert_array_equal(SeededBits(0, purpose=0).words(5), words)


def test_seeded_words_do_not_depend_on_how_they_are_asked_for():
    bits = SeededBits(1)
    parts = np.concatenate([bits.words(3), bits.words(4)])
    np.testing.assert_array_equal(parts, SeededBits(1).words(7))


@pytest.mark.parametrize("bad", [-1, 1.5, True, "secure", [1]])
def test_other_random_states_are_refused(bad):
    with pytest.raises(ValueError, match="random_state must be None"):
        random_bits(bad)


def test_seeded_sources_are_never_copied():
    for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled"):
            duplicate(SeededBits(0))


def test_secure_source_has_no_state_to_copy():
    assert vars(random_bits(None)) == {}


def _child_words(bits, queue):
    queue.put(bits.words(8).tolist())


def test_forked_children_draw_other_words():
    context = multiprocessing.get_context("fork")
    bits, queue = random_bits(None), context.Queue()
    children = [
        context.Process(target=_child_words, args=(bits, queue)) for _ in range(3)
    ]
    for child in children:
        child.start()
    drawn = [tuple(queue.get()) for _ in children] + [tuple(bits.words(8).tolist())]
    for child in children:
        child.join()
    assert len(set(drawn)) == 4


def test_purposes_of_one_seed_are_independent_streams():
    release, sample = random_bits(7).words(100), random_bits(7, purpose=1).words(100)
    assert not np.isin(release, sample).any()
    state = np.random.RandomState(0)
    assert random_bits(state).words(1) != random_bits(state).words(1)


def test_spawned_streams_are_independent_and_repeat():
    streams = [SeededBits(7).words(200)]
    streams += [SeededBits(7).spawn(index).words(200) for index in range(20)]
    streams += [SeededBits(7, purpose=1).spawn(0).words(200)]
    streams += [SeededBits(7).spawn(10**6).words(200)]
    assert len(np.unique(np.concatenate(streams))) == 200 * len(streams)
    for index in (0, 19):
        again = SeededBits(7).spawn(index)
        np.testing.assert_array_equal(again.words(200), streams[1 + index])
        assert again.seeded


def test_spawning_depends_on_nothing_that_was_drawn():
    bits = SeededBits(3)
    before = bits.spawn(2).words(5)
    first = bits.words(9)
    np.testing.assert_array_equal(bits.spawn(2).words(5), before)
    np.testing.assert_array_equal(SeededBits(3).words(9), first)


def test_spawned_words_are_not_those_of_the_source_further_on():
    words = SeededBits(5).words(50_000)
    for index in range(4):
        assert not np.isin(SeededBits(5).spawn(index).words(100), words).any()


def test_spawned_streams_are_uniform():
    words = np.concatenate([SeededBits(1).spawn(k).words(4) for k in range(4000)])
    share = words / 2.0**64
    assert abs(share.mean() - 0.5) < 6.2 / np.sqrt(12 * len(words))
    correlation = np.corrcoef(share[:-4], share[4:])[0, 1]  # of neighbouring tasks
    assert abs(correlation) < 6.2 / np.sqrt(len(words) - 4)


def test_the_operating_system_serves_all_tasks():
    bits = random_bits(None)
    words = [bits.spawn(index).words(50) for index in (0, 1, 0)]
    assert len(np.unique(np.concatenate(words))) == 150
    assert not bits.spawn(0).seeded


def test_spawned_sources_are_never_copied():
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(SeededBits(0).spawn(0))
