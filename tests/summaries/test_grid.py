"""Sums on a common grid are exact, and no contribution leaves the unit ball."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv.basis import BSplineBasis, CosineBasis, KernelBasis, LegendreBasis
from skfuncpriv.curves import Curves
from skfuncpriv.summaries import (
    SLACK,
    BallContributions,
    GridContributions,
    ValueBounds,
    curve_coefficients,
)

DOMAIN = (-2.0, 3.0)
GRIDS = {
    "ends": np.linspace(*DOMAIN, 12),
    "inside": np.array([-1.5, -1.4, 0.0, 2.0, 2.9]),
    "one": np.array([0.3]),
    "dense": np.linspace(*DOMAIN, 301),
}
BASES = {
    "cosine": CosineBasis(5, DOMAIN),
    "legendre": LegendreBasis(7, DOMAIN),
    "spline": BSplineBasis(6, DOMAIN).orthonormalize(),
    "kernel": KernelBasis("matern32", 9, DOMAIN),
}


def contributions(basis, grid, n_people, bounds=(-1.0, 3.0), **parameters):
    values = ValueBounds.from_parameters(bounds, domain=DOMAIN, grid=grid, **parameters)
    matrix = basis.projection(grid)
    return GridContributions(n_people, grid, DOMAIN, matrix, values)


def exact_norm(total):
    """The squared norm of a sum, exactly."""
    step = Fraction(2) ** total.lattice.exponent
    return sum((int(k) * step) ** 2 for k in total.values)


@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
def test_bound_is_certified_and_kept(basis, grid):
    rng = np.random.default_rng(0)
    alone = contributions(basis, grid, 1)
    assert alone.is_certified
    extremes = rng.choice([-1e308, 1e308, -1.0, 3.0, 1.0, 5e-324], (200, len(grid)))
    extremes[0], extremes[1] = 1e308, -1e308
    norms = [exact_norm(alone.sum(Curves.from_wide(x[None], grid, DOMAIN), None))
             for x in extremes]  # fmt: skip
    assert max(norms) <= (1 + Fraction(SLACK)) ** 2
    assert norms[0] == norms[1]
    if basis is BASES["cosine"]:  # a constant curve lies in the span
        assert norms[0] > 1 - 1e-9


def test_sum_agrees_with_clipped_coefficients():
    basis, grid = BASES["cosine"], GRIDS["ends"]
    rng = np.random.default_rng(1)
    curves = Curves.from_wide(rng.uniform(-2, 4, (50, 12)), grid, DOMAIN)
    mine = contributions(basis, grid, 50)
    total = mine.sum(curves, None)
    values = mine.values
    ball = BallContributions(50, 5, 1.0)
    rows = np.concatenate(
        list(curve_coefficients(curves, basis.projection, DOMAIN, values))
    )
    other = ball.sum(rows / values.norm_bound)
    np.testing.assert_allclose(
        [float(int(k) * Fraction(2) ** total.lattice.exponent) for k in total.values],
        other.lattice.to_float(other.values),
        atol=1e-11,
    )


@pytest.mark.parametrize("grid", [GRIDS["inside"], GRIDS["dense"]], ids=len)
def test_outputs_of_other_reaches_agree_with_their_coefficients(grid):
    basis = BASES["cosine"]
    bounds = (np.array([-1.0, 0.0]), np.array([1.0, 50.0]))
    rng = np.random.default_rng(7)
    table = rng.uniform(-1, 30, (8, len(grid), 2))
    curves = Curves.from_wide(table, grid, DOMAIN)
    mine = contributions(basis, grid, 8, bounds=bounds, n_outputs=2)
    total = mine.sum(curves, None)
    rows = curve_coefficients(curves, basis.projection, DOMAIN, mine.values)
    expected = np.concatenate(list(rows)).sum(axis=0) / mine.values.norm_bound
    found = [
        float(int(k) * Fraction(2) ** total.lattice.exponent) for k in total.values
    ]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_values_are_rounded_to_the_nearest_step():
    """So many people that a value has six bits."""
    grid = GRIDS["ends"]
    mine = contributions(BASES["cosine"], grid, 2**55, bounds=(-1.0, 1.0))

    def first(value):
        table = np.full((1, 12), value)
        return int(mine.sum(Curves.from_wide(table, grid, DOMAIN), None).values[0])

    for value in (0.7, -0.7, 0.49, -0.12, 0.999, 0.006, -0.009):
        assert Fraction(first(value), first(1.0)) == Fraction(round(64 * value), 64)


def test_sum_is_the_sum_of_contributions_to_the_last_bit():
    basis, grid = BASES["legendre"], GRIDS["inside"]
    rng = np.random.default_rng(2)
    table = rng.normal(size=(30, 5)) * rng.choice([1e16, 1.0, 1e-16], (30, 1))
    mine = contributions(basis, grid, 30, bounds=(-1e16, 1e16))
    whole = mine.sum(Curves.from_wide(table, grid, DOMAIN), None)
    parts = [
        mine.sum(Curves.from_wide(table[rows], grid, DOMAIN), None).values
        for rows in ([k] for k in rng.permutation(30))
    ]
    assert (sum(parts) == whole.values).all()
    assert all(abs(int(k)) <= whole.bound for k in whole.values)


def test_chunks_do_not_change_the_sum(monkeypatch):
    from skfuncpriv.summaries import _grid

    grid = GRIDS["ends"]
    table = np.random.default_rng(3).normal(size=(40, 12))
    mine = contributions(BASES["cosine"], grid, 40)
    whole = mine.sum(Curves.from_wide(table, grid, DOMAIN), None).values
    monkeypatch.setattr(_grid, "_CHUNK_VALUES", 30)
    chunked = mine.sum(Curves.from_wide(table, grid, DOMAIN), None).values
    assert (whole == chunked).all()


def test_sensitivity_over_people_with_any_number_of_rows():
    basis, grid = BASES["cosine"], GRIDS["inside"]
    rng = np.random.default_rng(4)
    mine = contributions(basis, grid, 3)
    others = rng.uniform(-2, 4, (4, 5))
    sums = []
    for n_rows, value in itertools.product((1, 2, 7), (-1e308, 1e308, None)):
        rows = rng.uniform(-9, 9, (n_rows, 5)) if value is None else value
        table = np.vstack([others, np.broadcast_to(rows, (n_rows, 5))])
        codes = np.array([0, 0, 1, 1] + [2] * n_rows)
        total = mine.sum(Curves.from_wide(table, grid, DOMAIN), codes)
        sums.append(
            [int(k) * Fraction(2) ** total.lattice.exponent for k in total.values]
        )
    moves = [
        sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
        for one, other in itertools.combinations(sums, 2)
    ]
    assert max(moves) <= (2 * (1 + Fraction(SLACK))) ** 2
    assert math.sqrt(max(moves)) > 2 * (1 - 1e-9)


def test_vector_values_share_the_bound():
    basis, grid = BASES["cosine"], GRIDS["ends"]
    bounds = (np.array([-1.0, 0.0]), np.array([1.0, 50.0]))
    mine = contributions(basis, grid, 1, bounds=bounds, n_outputs=2)
    assert mine.is_certified
    top = Curves.from_wide(np.full((1, 12, 2), 1e9), grid, DOMAIN)
    norm = exact_norm(mine.sum(top, None))
    assert 1 - 1e-9 < norm <= (1 + Fraction(SLACK)) ** 2


def test_curves_without_data_contribute_nothing():
    grid = GRIDS["one"]
    curves = Curves.from_wide([[np.nan], [2.0]], grid, DOMAIN, missing="interpolate")
    mine = contributions(BASES["cosine"], grid, 2, center=0.5)
    both = mine.sum(curves, None).values
    alone = mine.sum(curves[[1]], None).values
    assert (both == alone).all()
    assert (mine.sum(curves, np.array([0, 0])).values == alone).all()


def test_values_keep_as_many_bits_as_sums_of_everybody_leave():
    grid = GRIDS["ends"]
    curves = Curves.from_wide(np.zeros((1, 12)), grid, DOMAIN)
    steps = {
        n: contributions(BASES["cosine"], grid, n).sum(curves, None).lattice.exponent
        for n in (1, 2, 512, 513, 1024, 1025, 2**40)
    }
    for n, exponent in steps.items():  # 52 bits, or 61 less those of the count
        assert exponent - steps[1] == max(0, (n - 1).bit_length() - 9)


def test_many_people_at_a_bound_do_not_overflow():
    n, grid = 5000, GRIDS["ends"]
    mine = contributions(BASES["cosine"], grid, n)
    curves = Curves.from_wide(np.full((n, 12), 1e9), grid, DOMAIN)
    whole = mine.sum(curves, None).values
    alone = mine.sum(curves[[0]], None).values
    assert (whole == n * alone).all()
    assert max(map(abs, alone)) > 0


def test_the_bound_of_a_sum_is_attained():
    basis, grid = BASES["cosine"], GRIDS["ends"]
    mine = contributions(basis, grid, 1, bounds=(-1.0, 1.0))
    worst = np.where(basis.projection(grid).T > 0, 1.0, -1.0)
    sums = [mine.sum(Curves.from_wide(row[None], grid, DOMAIN), None) for row in worst]
    assert max(abs(k) for total in sums for k in total.values) == sums[0].bound


def test_bounds_hold_where_outputs_reach_differently_far():
    basis, grid = BASES["cosine"], GRIDS["ends"]
    bounds = (np.array([-1.0, -50.0]), np.array([1.0, 50.0]))
    mine = contributions(basis, grid, 1, bounds=bounds, n_outputs=2)
    worst = np.where(basis.projection(grid).T > 0, 1e9, -1e9)
    sums = [
        mine.sum(Curves.from_wide(row[None, :, None] * [1, 1], grid, DOMAIN), None)
        for row in worst
    ]
    assert max(abs(k) for total in sums for k in total.values) == sums[0].bound


def test_matrices_with_large_negative_entries_are_summed_exactly():
    grid = GRIDS["inside"]
    values = ValueBounds.from_parameters((-1.0, 1.0), domain=DOMAIN, grid=grid)
    matrix = np.column_stack([np.full(5, -0.25), np.full(5, 2.0**-60)])
    mine = GridContributions(1, grid, DOMAIN, matrix, values)
    row = np.array([1.0, -0.5, 0.25, 1.0, 1.0])
    total = mine.sum(Curves.from_wide(row[None], grid, DOMAIN), None)
    found = total.lattice.to_float(total.values.astype(float)) * values.norm_bound
    np.testing.assert_allclose(found, row @ matrix, rtol=1e-9, atol=1e-16)


@pytest.mark.parametrize("column", range(5))
def test_one_function_that_is_too_long_is_seen(column):
    basis, grid = BASES["cosine"], GRIDS["ends"]
    values = ValueBounds.from_parameters((-1.0, 3.0), domain=DOMAIN, grid=grid)
    wrong = basis.projection(grid).copy()
    wrong[:, column] *= 1.1
    assert not GridContributions(5, grid, DOMAIN, wrong, values).is_certified


def test_what_is_not_proved_is_not_certified():
    basis, grid = BASES["cosine"], GRIDS["ends"]
    assert not contributions(basis, grid, 5, norm_bound=1.0).is_certified
    values = ValueBounds.from_parameters((-1.0, 3.0), domain=DOMAIN, grid=grid)
    wrong = 1.001 * basis.projection(grid)
    assert not GridContributions(5, grid, DOMAIN, wrong, values).is_certified


@pytest.mark.parametrize("first", [0, -1])
def test_the_certificate_knows_how_far_each_point_may_reach(first):
    """The centre is the middle at one end and a bound elsewhere: other reaches."""
    basis, grid = BASES["cosine"], GRIDS["ends"]
    center = np.full(12, -1.0)
    center[first] = 1.0
    mine = contributions(basis, grid, 5, center=center)
    assert mine.is_certified
    wrong = 1.001 * basis.projection(grid)
    assert not GridContributions(5, grid, DOMAIN, wrong, mine.values).is_certified


@pytest.mark.parametrize("top", [1e-310, 1e-300, 1e150])
def test_extreme_units_keep_the_bound(top):
    basis, grid = BASES["cosine"], GRIDS["ends"]
    mine = contributions(basis, grid, 2, bounds=(0.0, top))
    curves = Curves.from_wide(np.array([[top] * 12, [0.0] * 12]), grid, DOMAIN)
    assert mine.is_certified
    for row in ([0], [1]):
        norm = exact_norm(mine.sum(curves[row], None))
        assert norm <= (1 + Fraction(SLACK)) ** 2
    assert exact_norm(mine.sum(curves[[0]], None)) > 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_arrive_after_validation_stay_in_the_box(bad):
    grid = GRIDS["ends"]
    table = np.random.default_rng(5).uniform(-1, 1, (3, 12))
    curves = Curves.from_wide(table, grid, DOMAIN)
    table[0] = bad  # the container keeps a view of what the caller owns
    mine = contributions(BASES["cosine"], grid, 3)
    for codes in (None, np.array([0, 1, 2])):
        total = mine.sum(curves, codes)
        rest = contributions(BASES["cosine"], grid, 3).sum(curves[[1, 2]], None)
        step = Fraction(2) ** total.lattice.exponent
        move = sum((int(a - b) * step) ** 2 for a, b in zip(
            total.values, rest.values, strict=True))  # fmt: skip
        assert move <= (1 + Fraction(SLACK)) ** 2


def test_more_curves_than_people_are_refused():
    grid = GRIDS["ends"]
    curves = Curves.from_wide(np.zeros((3, 12)), grid, DOMAIN)
    with pytest.raises(ValueError, match="more curves than n_people"):
        contributions(BASES["cosine"], grid, 2).sum(curves, None)
    with pytest.raises(ValueError, match="more people than n_people"):
        contributions(BASES["cosine"], grid, 2).sum(curves, np.array([0, 1, 2]))
