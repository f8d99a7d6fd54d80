"""Sensitivities of moments by brute force, and the exact sums of contributions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.iclp import _second_moment as module
from skfuncpriv.iclp import centred_moment_sensitivity, second_moment_sensitivity
from skfuncpriv.iclp._second_moment import WEIGHT, SecondMoment, block_loss

WEIGHTS = [0.0, 0.3, 0.5, 1.0, math.sqrt(2), 2.0]
SLACK = 1 + 1e-12


def ball(rng, n_points, size, radius=1.0):
    """Points of a ball, half of them on its surface."""
    points = rng.normal(size=(n_points, size))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    points[::2] *= rng.uniform(size=(len(points[::2]), 1)) ** (1 / size)
    return radius * points


def moves(c, d):
    """Norms of the moves of first and second moments, row by row."""
    second = c[:, :, None] * c[:, None, :] - d[:, :, None] * d[:, None, :]
    return np.linalg.norm(c - d, axis=1), np.sqrt(np.square(second).sum(axis=(1, 2)))


def circle_pairs():
    """One point of the unit circle, and all others."""
    angle = np.linspace(0, np.pi, 20001)
    d = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.broadcast_to([1.0, 0.0], d.shape), d


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("radius", [1.0, 7.0])
def test_second_moment_sensitivity_by_brute_force(weight, radius):
    rng = np.random.default_rng(0)
    limit = second_moment_sensitivity(weight, radius)
    for size in (1, 2, 3, 6):
        pair = ball(rng, 20_000, size, radius), ball(rng, 20_000, size, radius)
        first, second = moves(*pair)
        assert np.hypot(weight * radius * first, second).max() <= limit * SLACK
    first, second = moves(*(radius * point for point in circle_pairs()))
    attained = np.hypot(weight * radius * first, second).max()
    assert limit * (1 - 1e-6) <= attained <= limit * SLACK


@pytest.mark.parametrize("scales", [(1.0, 1.0), (0.3, 0.25), (5.0, 0.1), (0.1, 5.0)])
def test_block_loss_by_brute_force(scales):
    rng = np.random.default_rng(1)
    limit = block_loss(WEIGHT, scales)
    for size in (1, 2, 3, 6):
        first, second = moves(ball(rng, 20_000, size), ball(rng, 20_000, size))
        assert (WEIGHT * first / scales[0] + second / scales[1]).max() <= limit * SLACK
    first, second = moves(*circle_pairs())
    attained = (WEIGHT * first / scales[0] + second / scales[1]).max()
    assert limit * (1 - 1e-6) <= attained <= limit * SLACK
    of_a_ball = second_moment_sensitivity(WEIGHT) * math.hypot(*np.divide(1, scales))
    assert limit < of_a_ball


def covariance(people):
    centred = people - people.mean(axis=0)
    return centred.T @ centred / len(people)


@pytest.mark.parametrize("n_people", [1, 2, 3, 10])
def test_centred_moment_sensitivity_by_brute_force(n_people):
    rng = np.random.default_rng(2)
    limit = centred_moment_sensitivity(n_people, 3.0)
    for size in (1, 2, 3):
        for _ in range(400):
            others = ball(rng, n_people - 1, size, 3.0)
            others = others[[0] * len(others)] if rng.uniform() < 0.5 else others
            one, other = ball(rng, 2, size, 3.0)
            if rng.uniform() < 0.3:
                one = -one
            pair = [np.vstack([others, person]) for person in (one, other)]
            move = np.linalg.norm(covariance(pair[0]) - covariance(pair[1]))
            assert move <= limit * SLACK + 1e-12
    end = np.array([[3.0, 0.0]])
    others = np.repeat(end, n_people - 1, axis=0)
    pair = [np.vstack([others, person]) for person in (end, -end)]
    move = np.linalg.norm(covariance(pair[0]) - covariance(pair[1]))
    assert move == pytest.approx(limit, rel=1e-12, abs=1e-12)


def test_a_sample_mean_moves_far_more_than_a_public_centre():
    for n_people in (10, 1000):
        public = second_moment_sensitivity() / n_people
        assert centred_moment_sensitivity(n_people) > 2.5 * public


@pytest.mark.parametrize("bad", [-1, math.nan, math.inf, "1", True])
def test_bad_arguments(bad):
    with pytest.raises((ValueError, TypeError)):
        second_moment_sensitivity(bad)
    with pytest.raises((ValueError, TypeError)):
        second_moment_sensitivity(radius=bad)
    with pytest.raises((ValueError, TypeError)):
        centred_moment_sensitivity(3, bad)


# Entries


@pytest.mark.parametrize(("n_functions", "n_outputs"), [(1, 1), (4, 1), (3, 2)])
def test_entries_keep_norms_and_come_in_the_order_of_frequency(n_functions, n_outputs):
    moment = SecondMoment(5, n_functions, n_outputs)
    rng = np.random.default_rng(3)
    u = ball(rng, 1, moment.n_coordinates)
    released = moment.sum(u, None, 1.0)
    values = released.lattice.to_float(released.values.astype(np.int64))
    assert len(values) == moment.size == moment.n_coordinates + moment.n_entries
    np.testing.assert_allclose(moment.first(values), u[0], atol=1e-12)
    entries = values[moment.n_coordinates :]
    np.testing.assert_allclose(moment.matrix(entries), u.T @ u, atol=1e-12)
    norm = np.linalg.norm(entries)
    assert norm == pytest.approx(np.linalg.norm(u.T @ u), rel=1e-9)
    frequency = np.maximum(*moment.pairs) // n_outputs
    assert (np.diff(frequency) >= 0).all()
    assert len(set(zip(*moment.pairs, strict=True))) == moment.n_entries


# Sums of people


def people(rng, size):
    """What one person may be: vectors about a centre, of any length."""
    vectors = [np.zeros(size), np.full(size, 2.0), np.full(size, -1e-170)]
    vectors += [scale * np.eye(size)[j] for j in range(size) for scale in (1, -1, 9)]
    vectors += [scale * rng.normal(size=size) for scale in (0.01, 0.3, 1.0, 1e3, 1e150)]
    angle = np.arccos(-WEIGHT * WEIGHT / 2)
    if size > 1:  # the pair of the largest move, as it is and beyond the radius
        far = np.zeros(size)
        far[:2] = np.cos(angle), np.sin(angle)
        vectors += [far, 5 * far]
    return vectors


def exact(released):
    step = Fraction(released.lattice.step)
    return [int(k) * step for k in released.values]


def largest_move(sums):
    return max(
        sum((a - b) ** 2 for a, b in zip(*pair, strict=True))
        for pair in itertools.combinations(sums, 2)
    )


@pytest.mark.parametrize("n_people", [1, 2, 3, 1000])
@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("radius", [0.25, 1.0])
def test_no_neighbours_are_further_apart_than_the_sensitivity(n_people, size, radius):
    rng = np.random.default_rng(4)
    moment = SecondMoment(n_people, size)
    others = ball(rng, n_people - 1, size)
    sums = [
        exact(moment.sum(radius * np.vstack([others, person]), None, radius))
        for person in people(rng, size)
    ]
    limit = Fraction(moment.sensitivity) ** 2
    largest = largest_move(sums)
    assert largest <= limit
    if size > 1:
        assert largest >= limit * Fraction(1 - 1e-6)


@pytest.mark.parametrize("n_rows", [0, 1, 2, 7])
def test_a_person_with_many_rows_moves_no_more(n_rows):
    rng = np.random.default_rng(5)
    moment = SecondMoment(3, 2)
    others, persons, sums = ball(rng, 5, 2), people(rng, 2), []
    codes = np.array([0, 0, 1, 0, 1] + [2] * n_rows)
    for k in range(len(persons)):
        rows = [persons[(k + j * j) % len(persons)] for j in range(n_rows)]
        for same in (rows, [persons[k]] * n_rows):
            vectors = np.vstack([others, *same])
            sums.append(exact(moment.sum(vectors, codes, 1.0)))
    codes = np.append(codes[:5], 2)
    sums.append(exact(moment.sum(np.vstack([others, persons[-1]]), codes, 1.0)))
    largest = largest_move(sums)
    assert largest <= Fraction(moment.sensitivity) ** 2
    assert largest >= Fraction(0.9 if n_rows == 0 else 2.4)


def test_rows_of_a_person_are_averaged():
    rng = np.random.default_rng(6)
    vectors, codes = ball(rng, 9, 3), np.array([0, 1, 1, 2, 2, 2, 0, 1, 4])
    moment = SecondMoment(5, 3)
    released = moment.sum(vectors, codes, 2.0)
    values = released.lattice.to_float(released.values)
    owned = [vectors[codes == k] / 2 for k in range(5) if (codes == k).any()]
    first = sum(rows.mean(axis=0) for rows in owned)
    second = sum(rows.T @ rows / len(rows) for rows in owned)
    np.testing.assert_allclose(moment.first(values), first, atol=1e-12)
    np.testing.assert_allclose(moment.matrix(values[3:]), second, atol=1e-12)


def test_sums_do_not_depend_on_order_or_chunks(monkeypatch):
    rng = np.random.default_rng(7)
    vectors, codes = ball(rng, 200, 4), rng.integers(30, size=200)
    moment, order = SecondMoment(200, 4), rng.permutation(200)
    expected = moment.sum(vectors, None, 0.5).values
    grouped = moment.sum(vectors, codes, 0.5).values
    np.testing.assert_array_equal(
        moment.sum(vectors[order], None, 0.5).values, expected
    )
    again = moment.sum(vectors[order], codes[order], 0.5).values
    np.testing.assert_array_equal(again, grouped)
    monkeypatch.setattr(module, "_CHUNK_VALUES", 50)
    np.testing.assert_array_equal(moment.sum(vectors, None, 0.5).values, expected)


def test_too_many_people_for_the_lattice_are_refused():
    SecondMoment(10**7, 64)
    with pytest.raises(PrivacyError, match="leave too few bits"):
        SecondMoment(2**31, 64)


def test_roundings_are_within_the_slack():
    """Of the finest and the coarsest lattice, in exact arithmetic."""
    rng = np.random.default_rng(8)
    for n_people in (1, 10**7):
        moment = SecondMoment(n_people, 6)
        u = ball(rng, 1, 6)
        (values,) = [exact(moment.sum(u, None, 1.0))]
        unit = [Fraction(float(x)) for x in u[0]]
        first = [Fraction(WEIGHT) * x for x in unit]
        rows, columns = moment.pairs
        scale = [Fraction(1) if j == k else Fraction(math.sqrt(2)) for j, k in
                 zip(rows, columns, strict=True)]  # fmt: skip
        second = [f * unit[j] * unit[k] for f, j, k in
                  zip(scale, rows, columns, strict=True)]  # fmt: skip
        gap = sum((a - b) ** 2 for a, b in zip(values, first + second, strict=True))
        allowed = Fraction(2.0**-24) * Fraction(second_moment_sensitivity(WEIGHT)) / 8
        assert gap <= allowed**2
