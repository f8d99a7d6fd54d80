"""Bins: shares of mass, exact sums, and how far one person can move them."""

from itertools import product

import numpy as np
import pytest

from skfuncpriv.summaries import BinContributions

BOX = ((-2.0, 3.0),)


def one_axis(n_people, n_bins=7, periodic=False, box=BOX):
    return BinContributions(n_people, box, (n_bins,), (periodic,))


def hat_weights(t, n_bins, periodic):
    """Linear interpolation written a second time: weights of one point of [0, 1]."""
    centres = (np.arange(n_bins) + 0.5) / n_bins
    images = [centres - 1, centres, centres + 1] if periodic else [centres]
    weight = sum(np.maximum(1 - n_bins * abs(t - image), 0) for image in images)
    if not periodic and t < centres[0]:
        return np.eye(n_bins)[0]
    if not periodic and t > centres[-1]:
        return np.eye(n_bins)[-1]
    return weight


def masses(total):
    return total.lattice.to_float(total.values)


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("n_bins", [2, 3, 7, 64])
def test_shares_are_linear_interpolation(n_bins, periodic):
    rng = np.random.default_rng(0)
    low, high = BOX[0]
    for t in [0.0, 1.0, 0.5, *rng.random(40)]:
        bins = one_axis(1, n_bins, periodic)
        found = masses(bins.sum([[low + t * (high - low)]]))
        np.testing.assert_allclose(
            found, hat_weights(t, n_bins, periodic), rtol=0, atol=1e-8
        )


def test_shares_multiply_along_axes():
    rng = np.random.default_rng(1)
    points = rng.random((20, 2)) * [5, 2] + [-2, 7]
    bins = BinContributions(20, ((-2.0, 3.0), (7.0, 9.0)), (5, 4), (False, True))
    expected = np.zeros((5, 4))
    for x, y in points:
        expected += np.outer(
            hat_weights((x + 2) / 5, 5, False), hat_weights((y - 7) / 2, 4, True)
        )
    np.testing.assert_allclose(
        masses(bins.sum(points)), expected.ravel(), rtol=0, atol=1e-3
    )
    # 2^15 steps along an axis: 20 points err by at most half a step in each direction
    np.testing.assert_allclose(
        masses(bins.sum(points)), expected.ravel(), rtol=0, atol=20 * 2.0**-15
    )


def test_everyone_has_the_same_mass_to_the_last_bit():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(1000, 2)) * 3
    bins = BinContributions(1000, ((-2.0, 3.0),) * 2, (6, 9), (True, False))
    total = bins.sum(points)
    assert int(total.values.sum()) == 1000 * bins.steps
    assert total.bound == 1000 * bins.steps


def test_sums_do_not_depend_on_order_or_chunks(monkeypatch):
    rng = np.random.default_rng(3)
    points, weights = rng.normal(size=(500, 1)), rng.random(500)
    codes = rng.integers(0, 40, 500)
    codes[:40] = np.arange(40)
    order = rng.permutation(500)
    plain, grouped = one_axis(500), one_axis(40)
    sums = [
        (plain.sum(points), plain.sum(points, weights=weights)),
        (grouped.sum(points, codes), grouped.sum(points, codes, weights)),
    ]
    monkeypatch.setattr("skfuncpriv.summaries._bins._CHUNK_ROWS", 7)
    again = [
        (
            plain.sum(points[order]),
            plain.sum(points[order], weights=weights[order]),
        ),
        (
            grouped.sum(points[order], codes[order]),
            grouped.sum(points[order], codes[order], weights[order]),
        ),
    ]
    for one, other in zip(sum(sums, ()), sum(again, ()), strict=True):
        np.testing.assert_array_equal(one.values, other.values)


def test_points_of_one_person_are_averaged():
    bins = one_axis(2, n_bins=5, box=((0.0, 5.0),))
    points = np.array([[0.5], [1.5], [1.5], [4.5]])
    total = bins.sum(points, np.array([0, 0, 0, 1]))
    np.testing.assert_allclose(
        masses(total), [1 / 3, 2 / 3, 0, 0, 1], rtol=0, atol=2 * 2.0**-30
    )


def test_a_person_of_one_row_counts_as_a_row():
    rng = np.random.default_rng(4)
    points, weights = rng.uniform(-3, 4, (50, 1)), rng.random(50)
    bins = one_axis(50)
    for w in (None, weights):
        np.testing.assert_array_equal(
            bins.sum(points, np.arange(50), w).values, bins.sum(points, None, w).values
        )


@pytest.mark.parametrize("weighted", [False, True])
def test_the_sum_of_people_is_the_sum_of_each(weighted):
    """In neighbouring bins, with other numbers of rows: nobody's shares mix."""
    rng = np.random.default_rng(5)
    codes = np.repeat(np.arange(12), rng.integers(1, 6, 12))
    points = (0.5 + codes[:, None] % 5 + rng.uniform(-0.9, 0.9, (len(codes), 1))) % 5
    weights = rng.random(len(codes)) if weighted else None
    bins = one_axis(12, n_bins=5, box=((0.0, 5.0),))
    whole = bins.sum(points, codes, weights).values
    parts = [
        bins.sum(
            points[codes == k],
            np.zeros((codes == k).sum(), dtype=int),
            None if weights is None else weights[codes == k],
        ).values
        for k in range(12)
    ]
    np.testing.assert_array_equal(whole, np.sum(parts, axis=0))


def test_weights_are_shares_of_the_mass():
    bins = one_axis(3, n_bins=5, box=((0.0, 5.0),))
    points = np.array([[0.5], [1.5], [2.5]])
    total = bins.sum(points, weights=np.array([1.0, 0.25, 0.0]))
    assert masses(total).tolist() == [1, 0.25, 0, 0, 0]


@pytest.mark.parametrize(
    "value", [1e308, -1e308, 5e-324, -0.0, np.nextafter(3.0, 4), -2.0, 3.0]
)
def test_extreme_points_count_as_one_person(value):
    bins = one_axis(1)
    total = bins.sum([[value]])
    assert int(total.values.sum()) == bins.steps
    assert (total.values >= 0).all()


def test_the_widest_box_does_not_overflow():
    bins = one_axis(2, box=((-1.7e308, 1.7e308),))
    with np.errstate(all="raise", under="ignore"):
        total = bins.sum([[0.0], [1.7e308]])
    assert masses(total)[3] == masses(total)[-1] == 1


def test_more_people_than_said_are_refused():
    with pytest.raises(ValueError, match="more contributions than n_people"):
        one_axis(2).sum(np.zeros((3, 1)))


@pytest.mark.parametrize("n_people", [0, -1, 1.5, True, None])
def test_numbers_of_people_that_are_no_counts_are_refused(n_people):
    with pytest.raises(ValueError, match="n_people must be an integer >= 1"):
        one_axis(n_people)


def test_a_single_bin_is_refused():
    with pytest.raises(ValueError, match="number of bins must be an integer >= 2"):
        one_axis(2, n_bins=1)


@pytest.mark.parametrize("n_people", [1, 2**20, 2**40, 2**55])
def test_sums_of_all_people_fit_62_bits(n_people):
    bins = one_axis(n_people)
    assert n_people * bins.steps <= 2**62
    assert bins.steps == min(2**30, 2 ** (62 - (n_people - 1).bit_length()))


def contributions(rng, dimension):
    """Contributions of one person, worst cases among them, in steps."""
    shape = (5,) * dimension
    box = ((0.0, 5.0),) * dimension
    periodic = tuple(rng.random(dimension) < 0.5)
    bins = BinContributions(1, box, shape, periodic)
    corner = np.full((1, dimension), 0.5)
    yield bins, corner, None, None
    yield bins, corner + 3, None, None
    for _ in range(60):
        n_rows = int(rng.integers(1, 6))
        points = rng.uniform(-1, 6, (n_rows, dimension))
        weights = rng.random(n_rows) if rng.random() < 0.5 else None
        if n_rows == 1:
            yield bins, points, None, weights
        yield bins, points, np.zeros(n_rows, dtype=int), weights


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_sensitivity_by_brute_force(dimension):
    """Over all pairs of one person's data: at most 2 T and sqrt(2) T, and attained."""
    rng = np.random.default_rng(dimension)
    sums, steps = [], None
    for bins, *data in contributions(rng, dimension):
        points, codes, weights = data
        total = bins.sum(points, codes, weights)
        assert (total.values >= 0).all()
        assert int(total.values.sum()) <= bins.steps
        sums.append(total.values.astype(object))
        steps = bins.steps
    absolute, square = 0, 0
    for one, other in product(sums, repeat=2):
        change = one - other
        absolute = max(absolute, sum(map(abs, change)))
        square = max(square, sum(k * k for k in change))
    assert absolute == 2 * steps
    assert square == 2 * steps**2


@pytest.mark.parametrize("far", [3.1, 1e9, 1e308, -2.1, -1e308])
@pytest.mark.parametrize("periodic", [False, True])
def test_points_outside_are_moved_to_the_nearest_bound(far, periodic):
    """Not around a periodic axis: what lies outside of the bounds is no time of day."""
    bins = one_axis(1, periodic=periodic)
    nearest = BOX[0][0] if far < 0 else BOX[0][1]
    np.testing.assert_array_equal(
        bins.sum([[far]]).values, bins.sum([[nearest]]).values
    )
