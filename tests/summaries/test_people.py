"""Averages of people's rows are exact and keep counts to themselves."""

import numpy as np
import pandas as pd
import pytest

from skfuncpriv.summaries import person_averages, person_codes


def test_codes_count_people_not_rows():
    codes, n_people = person_codes(["b", "a", "b", "c"], 4)
    assert n_people == 3
    assert codes[0] == codes[2]
    assert len(set(codes.tolist())) == 3
    assert person_codes(pd.Series([3, 3, 1]), 3)[1] == 2
    assert person_codes(pd.Series(["x", "y"], dtype="category"), 2)[1] == 2
    assert person_codes(np.array([1, "1", 2], dtype=object), 3)[1] == 3
    assert person_codes([1, "1", 2], 3)[1] == 3
    assert person_codes(("b", "a", "b"), 3)[1] == 2


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
