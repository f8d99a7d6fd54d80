"""Averages of people's rows are exact and keep counts to themselves."""

import datetime

import numpy as np
import pandas as pd
import pytest

from skfuncpriv.summaries import _people as module
from skfuncpriv.summaries import averages_in_blocks, person_averages, person_codes
from skfuncpriv.summaries._people import integer_averages


def test_codes_count_people_not_rows():
    codes, n_people = person_codes(["b", "a", "b", "c"], 4)
    assert n_people == 3
    assert codes[0] == codes[2]
    assert len(set(codes.tolist())) == 3
    assert person_codes(pd.Series([3, 3, 1]), 3)[1] == 2
    assert person_codes(pd.Series(["x", "y"], dtype="category"), 2)[1] == 2
    assert person_codes([1, 1.0, True, np.int8(2), np.float32(2)], 5)[1] == 2
    assert person_codes(("b", "a", "b"), 3)[1] == 2


@pytest.mark.parametrize(
    "groups",
    [
        ["7", 7, "x"],
        np.array([1, "1", 2], dtype=object),
        pd.Series(["7", 7.0, 8], dtype=object),
        [b"7", "7", "8"],
        [1, datetime.date(2024, 5, 1), 2],
    ],
)
def test_a_person_may_not_have_labels_of_two_kinds(groups):
    with pytest.raises(ValueError, match="so one person could look like two"):
        person_codes(groups, 3)


@pytest.mark.parametrize(
    "groups",
    [
        np.array([2.0**53, 2.0**53 + 2]),
        [2**53 + 1, -(2.0**53)],
        np.array([1, 2**24], dtype=np.float32),
    ],
)
def test_floats_may_not_merge_people(groups):
    with pytest.raises(ValueError, match="two people could look like one"):
        person_codes(groups, 2)
    assert person_codes(np.asarray(groups, dtype=object).astype(int), 2)[1] == 2


@pytest.mark.parametrize(
    "groups",
    [
        [1.0, np.nan, 2.0],
        ["a", None, "b"],
        [1, 2],
        [[1], [2], [3]],
        np.array([1.0, np.nan, 2.0]),
        ["ann", np.nan, "bob"],
        pd.array(["a", pd.NA, "b"]),
        np.array([{}, 1, 2], dtype=object),
        np.ma.masked_equal([1, 2, 3], 2),
    ],
)
def test_bad_groups_are_refused(groups):
    with pytest.raises(ValueError, match="groups must"):
        person_codes(groups, 3)


def test_refusal_says_the_form_and_no_length():
    with pytest.raises(ValueError, match=r"\(got 2 dimensions\)"):
        person_codes([[1], [2], [3]], 3)
    with pytest.raises(ValueError, match="one-dimensional, with") as caught:
        person_codes([1, 2], 3)
    assert not any(letter.isdigit() for letter in str(caught.value))


def test_averages_match_floating_point_means():
    rng = np.random.default_rng(0)
    rows, codes = rng.normal(size=(300, 4)), rng.integers(0, 20, 300)
    codes[:20] = np.arange(20)
    averages = person_averages(rows, codes, 20, radius=10.0)
    for person in range(20):
        expected = rows[codes == person].mean(axis=0)
        np.testing.assert_allclose(averages[person], expected, atol=1e-14)


def test_averages_depend_on_own_rows_alone_and_not_on_order():
    rng = np.random.default_rng(1)
    rows, codes = rng.normal(size=(300, 4)) * 1e3, rng.integers(0, 20, 300)
    codes[:20] = np.arange(20)
    averages = person_averages(rows, codes, 20, radius=1e4)
    order = rng.permutation(300)
    shuffled = person_averages(rows[order], codes[order], 20, radius=1e4)
    np.testing.assert_array_equal(shuffled, averages)
    alone = person_averages(rows[codes == 7], np.zeros((codes == 7).sum(), int), 1, 1e4)
    np.testing.assert_array_equal(alone[0], averages[7])


def test_rows_are_clipped_before_they_are_averaged():
    rows = np.array([[1e308, 0.0], [0.0, 0.0]])
    averages = person_averages(rows, np.array([0, 0]), 1, radius=2.0)
    np.testing.assert_allclose(averages, [[1.0, 0.0]], atol=1e-12)


def test_people_without_rows_count_as_zero():
    rows = np.ones((2, 3))
    averages = person_averages(rows, np.array([2, 2]), 4, radius=5.0)
    np.testing.assert_allclose(averages, [[0] * 3, [0] * 3, [1] * 3, [0] * 3])
    nobody = person_averages(rows[:0], np.array([], int), 2, radius=5.0)
    np.testing.assert_array_equal(nobody, np.zeros((2, 3)))


def slow_averages(rows, codes, n_people):
    """Sums and floors in Python integers; nobody's rows are zeros."""
    return [
        [
            sum(int(x) for x in rows[codes == person, k])
            // max(int((codes == person).sum()), 1)
            for k in range(rows.shape[1])
        ]
        for person in range(n_people)
    ]


def large_rows(seed):
    """Rows of up to 2^61, of 30 people: some with none, one with half of all."""
    rng = np.random.default_rng(seed)
    codes = np.where(rng.uniform(size=200) < 0.5, 17, rng.integers(0, 30, 200))
    codes[codes % 7 == 3] = 4
    rows = rng.integers(-(2**61), 2**61, (200, 3))
    rows[:, 2] = rng.choice([-(2**61), 2**61, -1, 0, 1], 200)
    rows[codes == 17, 0] = 2**61  # their sum is far beyond 64 bits
    return rows, codes


@pytest.mark.parametrize("block", [1, 9, 10**6])
def test_averages_are_those_of_unbounded_integers(block, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_VALUES", block)
    rows, codes = large_rows(block)
    expected = slow_averages(rows, codes, 30)
    np.testing.assert_array_equal(integer_averages(rows, codes, 30), expected)
    asked = []

    def some(which):
        asked.append(len(which))
        return rows[which]

    blocks = list(averages_in_blocks(some, codes, 30, 3))
    np.testing.assert_array_equal(np.concatenate(blocks), expected)
    step = max(1, block // 3)
    assert [len(part) for part in blocks[:-1]] == [step] * (len(blocks) - 1)
    assert sum(asked) == 200
    assert max(asked) <= step  # the rows of one person are never all in memory


def test_codes_beyond_the_people_are_refused():
    rows = np.ones((2, 1), dtype=np.int64)
    for codes in ([0, 2], [-1, 0]):
        with pytest.raises(ValueError, match=r"codes of people must lie in 0, .*, 1"):
            integer_averages(rows, np.array(codes), 2)
    np.testing.assert_array_equal(
        integer_averages(rows, np.array([0, 1]), 2), [[1], [1]]
    )
