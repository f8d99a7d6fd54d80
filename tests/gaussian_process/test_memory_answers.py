"""Answers in memory: neighbours in order, and calls that are all or nothing."""

import bisect
import sys
from itertools import chain

import numpy as np
import pytest

from skfuncpriv.gaussian_process import _memory_answers as module
from skfuncpriv.gaussian_process._memory_answers import MemoryAnswers, OrderedPoints


@pytest.mark.parametrize("order", ["random", "up", "down"])
def test_neighbours_are_those_of_a_sorted_list(order, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 4)
    points = np.random.default_rng(0).permutation(np.arange(300.0))
    points = {"random": points, "up": np.sort(points), "down": -np.sort(points)}[order]
    ordered, brute = OrderedPoints([]), []
    for point in points.tolist():
        for asked in (point, point + 0.5, brute[len(brute) // 2] if brute else 0.0):
            at = bisect.bisect_left(brute, asked)
            below = brute[at - 1] if at else None
            above = brute[at] if at < len(brute) else None
            assert ordered.around(asked) == (below, above)
        ordered.insert(point)
        bisect.insort(brute, point)
    assert list(chain.from_iterable(ordered._blocks)) == brute
    assert [block[0] for block in ordered._blocks] == ordered._firsts
    assert max(map(len, ordered._blocks)) < 8
    rebuilt = OrderedPoints(brute)
    assert all(rebuilt.around(point) == ordered.around(point) for point in brute)


def interrupt_at(line):
    """A trace that interrupts the module at its n-th line from here on."""
    left = [line]

    def trace(frame, event, argument):
        if frame.f_code.co_filename != module.__file__:
            return None
        if event == "line":
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
        return trace

    return trace


def call(answers, points, factor):
    with answers.writing():
        for point in points:
            answers.add(point, int(10 * point), factor)


@pytest.mark.parametrize("factor", [None, b"row"])
def test_a_call_that_is_interrupted_anywhere_leaves_nothing(factor):
    """Nor does the interruption of what takes it back."""
    done, line = False, 0
    while not done:
        line += 1
        answers = MemoryAnswers({})
        call(answers, [0.5, 0.1], factor)
        previous = sys.gettrace()
        for points in ([0.3, 0.7, 0.2], [0.9]):  # the second takes back the first
            sys.settrace(interrupt_at(line))
            try:
                call(answers, points, factor)
                done = points == [0.9]
            except KeyboardInterrupt:
                done = False
            finally:
                sys.settrace(previous)
        with answers.writing():
            known = answers.in_order()
            given = [point for point, _ in known]
            assert {0.1, 0.5} <= set(given) <= {0.1, 0.2, 0.3, 0.5, 0.7, 0.9}
            assert ({0.2, 0.3, 0.7} & set(given)) in (set(), {0.2, 0.3, 0.7})
            assert known == [(point, int(10 * point)) for point in sorted(given)]
            assert answers.count == len(given)
            if factor is None:
                assert list(chain.from_iterable(answers._order._blocks)) == given
                assert answers.around(0.4)[0] == max(
                    (point, int(10 * point)) for point in given if point < 0.4
                )
            else:
                assert sorted(row[0] for row in answers.after(0)) == given
                assert answers.after(len(given)) == []
    assert line > 10
