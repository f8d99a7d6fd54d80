"""The private choice of coefficients: its exact law, and what it may not leave."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skfuncpriv import SVTBasisSelector
from skfuncpriv.privacy import selection_epsilon
from skfuncpriv.privacy._sparse_vector import (
    sparse_coefficients_scales,
    sparse_vector_scales,
)
from tests.privacy.selection_laws import (
    agrees,
    permute_and_flip_law,
    sparse_coefficients_law,
    sparse_vector_law,
)

N = 30_000
METHODS = ("svt", "permute-and-flip", "coefficients")
each_method = pytest.mark.parametrize("method", METHODS)


def tails(row, sizes):
    return np.array([np.linalg.norm(np.nan_to_num(row)[m:]) for m in sizes])


def exact_law(selector, row, epsilon):
    """Probabilities of all choices, as a dictionary from masks."""
    sizes, thresholds = selector.sizes_, selector.thresholds_
    if selector.method == "coefficients":
        gaps = np.abs(np.nan_to_num(row[: sizes[0]])) - thresholds[0]
        n_hits = selector.max_selected
        scales = sparse_coefficients_scales(epsilon, len(gaps), n_hits)
        law = sparse_coefficients_law(gaps, *scales, n_hits)
        rest = (False,) * (len(row) - sizes[0])
        return {mask + rest: p for mask, p in law.items()}
    if selector.method == "svt":
        gaps = (tails(row, sizes) - thresholds)[:-1]
        scales = sparse_vector_scales(epsilon, 1.0, aligned=True)
        law = sparse_vector_law(gaps, *scales)
    else:
        scores = -np.hypot(tails(row, sizes), thresholds)
        law = permute_and_flip_law(scores, 2 / epsilon)
    masks = [tuple((np.arange(len(row)) < size).tolist()) for size in sizes]
    return dict(zip(masks, law, strict=True))


def choices(selector, row):
    """The chosen masks of many equal rows."""
    out = selector.transform(np.tile(row, (N, 1)))
    kept = ~np.isnan(out)
    assert_array_equal(out[kept], np.tile(row, (N, 1))[kept])
    return kept


ROWS = {
    "falling": np.array([9.0, -5.0, 3.0, 1.0, 0.5, -0.2]),
    "nothing": np.zeros(6),
    "late": np.array([0.0, 0.0, 0.0, 0.0, 0.0, 7.0]),
    "missing": np.array([4.0, np.nan, 2.0, np.nan, 1.0, 0.0]),
    "ties": np.array([2.0, 2.0, -2.0, 2.0, 2.0, 2.0]),
}


@each_method
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_choices_follow_the_exact_law(method, row):
    selector = SVTBasisSelector(
        epsilon=0.8, release_epsilon=1.5, method=method, max_selected=2, random_state=1
    ).fit(row[None])
    law = exact_law(selector, row, 0.8)
    assert math.fsum(law.values()) == pytest.approx(1, abs=1e-10)
    place = {mask: index for index, mask in enumerate(law)}
    kept = choices(selector, np.where(np.isnan(row), 0.0, row))
    chosen = np.array([place[tuple(mask)] for mask in kept.tolist()])
    assert agrees(chosen, np.array(list(law.values())))
    # a NaN counts as zero in the choice, and stays one
    with_nan = selector.transform(np.tile(row, (N, 1)))
    assert_array_equal(np.isnan(with_nan), ~kept | np.isnan(row))


@pytest.mark.parametrize("method", ["svt", "permute-and-flip", "coefficients"])
def test_concentrated_budgets_buy_a_pure_choice(method):
    row = ROWS["falling"]
    selector = SVTBasisSelector(
        rho=0.3, method=method, max_selected=1, random_state=2
    ).fit(row[None])
    epsilon = selection_epsilon(0.3)
    assert epsilon == pytest.approx(math.sqrt(0.6))
    law = exact_law(selector, row, epsilon)
    place = {mask: index for index, mask in enumerate(law)}
    chosen = [place[tuple(mask)] for mask in choices(selector, row).tolist()]
    assert agrees(np.array(chosen), np.array(list(law.values())))
    assert selector.guarantee_.definition == "concentrated-geo"
    assert selector.guarantee_.rho == 0.3


@each_method
def test_neighbours_choose_almost_alike(method):
    """P(choice | x) <= exp(eps norm(x - x')) P(choice | x'), for exact laws."""
    rng = np.random.default_rng(3)
    selector = SVTBasisSelector(
        epsilon=1.0, release_epsilon=0.7, method=method, max_selected=2
    ).fit(np.zeros((1, 6)))
    worst = 0.0
    for trial in range(60):
        one = rng.choice([0.0, 2.0, 9.0], size=6) * rng.normal(size=6)
        step = rng.normal(size=6) * rng.choice([0, 1], size=6)
        if trial % 3 == 0:
            step = -one * rng.uniform(0, 1)
        distance = np.linalg.norm(step)
        if distance == 0:
            continue
        laws = [exact_law(selector, x, 1.0) for x in (one, one + step)]
        ratios = [math.log(laws[0][mask] / laws[1][mask]) for mask in laws[0]]
        worst = max(worst, max(np.abs(ratios)) / distance)
    assert 0.2 < worst <= 1 + 1e-9


# Thresholds and sizes


@pytest.mark.parametrize(
    ("parameters", "noise"),
    [
        ({"epsilon": 1.0}, lambda m: m / 4.0),
        ({"epsilon": 1.0, "release_epsilon": 0.5}, lambda m: m / 0.5),
        ({"rho": 1.0}, lambda m: math.sqrt(m / 8.0)),
        ({"epsilon": 1.0, "release_rho": 3.0}, lambda m: math.sqrt(m / 6.0)),
    ],
)
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_thresholds_are_the_noise_to_come(parameters, noise, n_outputs):
    rows = np.zeros((1, 12 * n_outputs))
    for method in ("svt", "permute-and-flip"):
        selector = SVTBasisSelector(method=method, n_outputs=n_outputs, **parameters)
        selector.fit(rows)
        assert_array_equal(selector.sizes_, np.array([1, 2, 4, 8, 12]) * n_outputs)
        assert_allclose(selector.thresholds_, [noise(m) for m in selector.sizes_])


def test_thresholds_are_what_the_release_adds_on_average():
    from skfuncpriv import GeoPrivateCoefficients

    selector = SVTBasisSelector(epsilon=0.25).fit(np.zeros((1, 8)))
    release = GeoPrivateCoefficients(epsilon=1.0, denoise=False, random_state=0)
    for size, threshold in zip(selector.sizes_, selector.thresholds_, strict=True):
        rows = np.zeros((20_000, size))
        norms = np.linalg.norm(release.fit(rows).transform(rows), axis=1)
        error = norms.std() / np.sqrt(20_000)
        assert abs(norms.mean() - threshold) < 6.2 * error


def test_thresholds_of_coefficients_are_the_noise_of_one_more():
    rows = np.zeros((1, 12))
    selector = SVTBasisSelector(
        epsilon=1.0, release_epsilon=2.0, method="coefficients", max_selected=5
    ).fit(rows)
    # m (m + 1) / eps^2 grows by 2 m / eps^2
    assert_allclose(selector.thresholds_, [math.sqrt(2 * 5) / 2])
    assert_array_equal(selector.sizes_, [12])
    selector.set_params(release_epsilon=None, release_rho=2.0).fit(rows)
    assert_allclose(selector.thresholds_, [0.5])


@pytest.mark.parametrize(
    ("columns", "max_basis", "wanted"),
    [
        (1, None, [1]),
        (2, None, [1, 2]),
        (16, None, [1, 2, 4, 8, 16]),
        (17, None, [1, 2, 4, 8, 16, 17]),
        (17, 5, [1, 2, 4, 5]),
        (17, 99, [1, 2, 4, 8, 16, 17]),
        (17, 1, [1]),
    ],
)
def test_sizes_double(columns, max_basis, wanted):
    selector = SVTBasisSelector(epsilon=1.0, max_basis=max_basis)
    assert_array_equal(selector.fit(np.zeros((1, columns))).sizes_, wanted)


@each_method
def test_max_basis_is_kept(method):
    rows = np.full((2000, 9), 50.0)
    selector = SVTBasisSelector(epsilon=1.0, method=method, max_basis=3)
    kept = ~np.isnan(selector.fit(rows).transform(rows))
    assert not kept[:, 3:].any()
    assert kept[:, :3].any()


def test_at_most_max_selected_are_chosen():
    rows = np.full((2000, 9), 50.0)
    for most in (1, 4, 99):
        selector = SVTBasisSelector(
            epsilon=1.0, method="coefficients", max_selected=most
        )
        kept = ~np.isnan(selector.fit(rows).transform(rows))
        assert kept.sum(axis=1).max() == min(most, 9)


@each_method
def test_it_always_halts(method):
    """Whatever the rows: a choice for each of them, of one of the sizes."""
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(500, 20)) * 10.0 ** rng.uniform(-300, 300, (500, 1))
    rows[0], rows[1] = 1e308, np.nan
    selector = SVTBasisSelector(epsilon=1.0, method=method).fit(rows)
    out = selector.transform(rows)
    counts = (~np.isnan(np.delete(out, 1, axis=0))).sum(axis=1)
    if method == "coefficients":
        assert counts.max() <= 8
    else:
        assert set(counts) <= set(selector.sizes_)
    assert np.isnan(out[1]).all()


def test_outputs_are_chosen_together():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(500, 12)) * rng.choice([0.1, 5.0], size=(500, 1))
    for method in ("svt", "permute-and-flip"):
        selector = SVTBasisSelector(epsilon=1.0, n_outputs=3, method=method)
        kept = ~np.isnan(selector.fit(rows).transform(rows))
        grouped = kept.reshape(500, 4, 3)
        assert_array_equal(grouped.all(axis=2), grouped.any(axis=2))
        assert set(kept.sum(axis=1)) == {3, 6, 12}


# One choice per row


@each_method
def test_rows_are_independent(method):
    row = np.array([6.0, 3.0, 2.0, 1.0])
    selector = SVTBasisSelector(epsilon=1.0, method=method, max_selected=1).fit(
        row[None]
    )
    counts = np.isnan(selector.transform(np.tile(row, (N, 1))))[:, 1].astype(float)
    centred = counts - counts.mean()
    correlation = (centred[1:] @ centred[:-1]) / (centred @ centred)
    assert 0.01 < counts.mean() < 0.99
    assert abs(correlation) < 6.2 / np.sqrt(N)
    other = np.isnan(selector.transform(np.tile(row, (N, 1))))[:, 1]
    assert (other != counts).any()


@each_method
def test_seeds_repeat_with_any_number_of_threads(method):
    rows = np.random.default_rng(6).normal(size=(20_000, 5)) * 4
    selector = SVTBasisSelector(epsilon=1.0, method=method, random_state=3).fit(rows)
    out = selector.transform(rows)
    for other in (selector, clone(selector).set_params(n_jobs=2).fit(rows)):
        assert_array_equal(other.transform(rows), out)
    flat = np.isnan(selector.transform(np.tile(rows[0], (20_000, 1))))
    assert (flat[:8192] != flat[8192:16384]).any()  # chunks draw bits of their own
    loose = rows.copy()
    loose[8192:] *= 1e9  # other rows of other chunks
    assert_array_equal(selector.transform(loose)[:8192], out[:8192])


def test_large_budgets_choose_what_is_best():
    rows = np.array([[9.0, 5.0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 8.0]])
    for method in ("svt", "permute-and-flip"):
        selector = SVTBasisSelector(epsilon=1e6, release_epsilon=10.0, method=method)
        kept = ~np.isnan(selector.fit(rows).transform(rows))
        assert_array_equal(kept.sum(axis=1), [2, 8])
    selector = SVTBasisSelector(
        epsilon=1e6, release_epsilon=10.0, method="coefficients"
    )
    kept = ~np.isnan(selector.fit(rows).transform(rows))
    assert_array_equal(kept, rows > 0)


# What it says and leaves


@each_method
def test_cost_is_in_the_guarantee(method):
    selector = SVTBasisSelector(epsilon=0.3, method=method).fit(np.zeros((1, 4)))
    assert selector.guarantee_.definition == "geo"
    assert selector.guarantee_.epsilon == 0.3
    assert selector.guarantee_.metric == "L2"
    assert not selector.guarantee_.seeded
    assert (
        clone(selector)
        .set_params(random_state=1)
        .fit(np.zeros((1, 4)))
        .guarantee_.seeded
    )


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({}, "give either epsilon .* or rho"),
        ({"epsilon": 1.0, "rho": 1.0}, "give either epsilon .* or rho"),
        (
            {"epsilon": 1.0, "release_epsilon": 1.0, "release_rho": 1.0},
            "give either release_epsilon",
        ),
        ({"epsilon": 1.0, "release_epsilon": -1}, "release_epsilon must be a finite"),
        ({"epsilon": 1.0, "method": "best"}, "method must be one of"),
        ({"epsilon": 1.0, "max_basis": 0}, "max_basis must be an integer >= 1"),
        ({"epsilon": 1.0, "n_outputs": 3}, "n_outputs must divide"),
        (
            {"epsilon": 1.0, "max_selected": 0, "method": "coefficients"},
            "max_selected must be an integer >= 1",
        ),
    ],
)
def test_bad_parameters_are_refused(parameters, text):
    with pytest.raises(ValueError, match=text):
        SVTBasisSelector(**parameters).fit(np.zeros((1, 4)))
