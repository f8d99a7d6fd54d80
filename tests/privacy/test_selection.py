"""Permute-and-flip: exact law, exact loss; what a pure choice costs in zCDP."""

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import integrate

from skfuncpriv.noise import SeededBits
from skfuncpriv.privacy import audit, permute_and_flip, selection_epsilon
from tests.privacy.selection_laws import (
    agreement,
    agrees,
    naive_permute_and_flip,
    permute_and_flip_law,
)

N_ROWS = 100_000
SCORES = [
    [0.0],
    [0.0, 0.0],
    [1.0, -1.0],
    [2.0, 2.0, 1.0],
    [-5.0, -5.0, -5.0],
    [0.3, 0.0, -0.7, 1.1],
    [4.0, 4.0, 0.0, 0.0],
]


def chosen_by(scores, epsilon=1.0, sensitivity=1.0, seed=0, n=N_ROWS):
    rows = np.tile(scores, (n, 1))
    bits = SeededBits(seed)
    return permute_and_flip(rows, epsilon=epsilon, bits=bits, sensitivity=sensitivity)


@pytest.mark.parametrize("scores", SCORES)
def test_closed_form_is_the_law_of_the_largest_noisy_score(scores):
    """Integrate the density of one noisy score times the others' chance to be less."""
    law = permute_and_flip_law(scores, 2.0)
    assert math.fsum(law) == pytest.approx(1, abs=1e-13)
    for k, score in enumerate(scores):

        def density(z, k=k, score=score):
            others = (score + z - other for j, other in enumerate(scores) if j != k)
            below = (
                max(0.0, -math.expm1(-gap / 2)) if gap > 0 else 0 for gap in others
            )
            return math.exp(-z / 2) / 2 * math.prod(below)

        kinks = sorted({max(0.0, other - score) for other in scores} | {0.0, 200.0})
        pieces = pairwise(kinks)
        total = math.fsum(
            integrate.quad(density, *ends, limit=200, epsabs=1e-12)[0]
            for ends in pieces
        )
        assert law[k] == pytest.approx(total, abs=1e-10)


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1.0, 1.0), (3.0, 0.5)])
def test_frequencies_match_the_closed_form(scores, epsilon, sensitivity):
    law = permute_and_flip_law(scores, 2 * sensitivity / epsilon)
    assert agrees(chosen_by(scores, epsilon, sensitivity), law)


@pytest.mark.parametrize("scores", SCORES)
def test_frequencies_match_a_naive_permute_and_flip(scores):
    law = permute_and_flip_law(scores, 2.0)
    naive = naive_permute_and_flip(scores, 2.0, N_ROWS, np.random.default_rng(0))
    assert agrees(naive, law)


def test_a_wrong_scale_is_found():
    law = permute_and_flip_law(SCORES[5], 2.0)
    for factor in (0.5, 0.9, 1.1):
        rng = np.random.default_rng(0)
        wrong = naive_permute_and_flip(SCORES[5], 2.0 * factor, N_ROWS, rng)
        assert agreement(wrong, law) < 1e-8


def test_noise_of_both_signs_would_be_found():
    rng = np.random.default_rng(0)
    wrong = np.argmax(SCORES[5] + rng.laplace(scale=2.0, size=(N_ROWS, 4)), axis=1)
    assert agreement(wrong, permute_and_flip_law(SCORES[5], 2.0)) < 1e-8


def test_loss_is_at_most_epsilon_and_reaches_it():
    rng = np.random.default_rng(1)
    worst = 0.0
    for n_columns in (2, 3, 4):
        for spread in (0.1, 1.0, 10.0, 40.0):
            for _ in range(10):
                scores = rng.normal(scale=spread, size=n_columns)
                law = permute_and_flip_law(scores, 2.0)
                signs = [np.array(s) for s in product((-1, 1), repeat=n_columns)]
                for shift in (*signs, rng.uniform(-1, 1, n_columns)):
                    other = permute_and_flip_law(scores + shift, 2.0)
                    # The alternating sum is right to about 1e-15 of x_k.
                    loss = np.abs(np.log(law / other)).max()
                    worst = max(worst, loss)
    assert 0.999 < worst <= 1 + 1e-9


def test_audit_stays_below_epsilon_and_is_sharp():
    bits = SeededBits(5)

    def mechanism(scores, size):
        return permute_and_flip(np.tile(scores, (size, 1)), epsilon=1.0, bits=bits)

    result = audit(mechanism, [1.0, -1.0], [0.0, 0.0], n_trials=200_000, batch=True)
    exact = math.log(
        permute_and_flip_law([0.0, 0.0], 2.0)[1]
        / permute_and_flip_law([1.0, -1.0], 2.0)[1]
    )
    assert exact == pytest.approx(1.0)
    assert 0.95 < result.epsilon_lower <= 1.0


def test_rows_share_no_noise():
    """The choices of two rows of one call, neighbours or far apart, are independent."""
    chosen = chosen_by([0.5, 0.0])
    law = np.outer(*[permute_and_flip_law([0.5, 0.0], 2.0)] * 2).ravel()
    for first, second in (chosen.reshape(2, -1), chosen.reshape(-1, 2).T):
        assert agrees(2 * first + second, law)


def test_infinite_scores_are_limits():
    rows = np.array([[0.0, np.inf, 1.0], [-np.inf, -1e300, -np.inf]])
    np.testing.assert_array_equal(
        permute_and_flip(rows, epsilon=1.0, bits=SeededBits(0)), [1, 1]
    )
    for infinity in (np.inf, -np.inf):
        tied = chosen_by([infinity, infinity])
        assert agrees(tied, np.array([0.5, 0.5]))


def test_a_large_budget_chooses_the_best():
    scores = np.random.default_rng(0).permuted(np.tile(np.arange(9.0), (50, 1)), axis=1)
    chosen = permute_and_flip(scores, epsilon=1e6, bits=SeededBits(0))
    np.testing.assert_array_equal(chosen, scores.argmax(axis=1))


def test_no_rows_and_lists_are_fine():
    bits = SeededBits(0)
    assert permute_and_flip(np.empty((0, 3)), epsilon=1.0, bits=bits).shape == (0,)
    assert permute_and_flip([[1, 2]], epsilon=99.0, bits=bits).shape == (1,)


class NoBits:
    """A source that must not be asked."""

    seeded = True

    def words(self, count):
        raise AssertionError("noise was drawn")


@pytest.mark.parametrize(
    "scores", [[[0.0, np.nan]], [0.0, 1.0], [[]], [["secret"]], [[1.0], [1.0, 2.0]]]
)
def test_malformed_scores_are_refused_before_any_draw(scores):
    with pytest.raises(ValueError) as error:
        permute_and_flip(scores, epsilon=1.0, bits=NoBits())
    assert str(error.value) in (
        "private values must be numbers, NaN is refused",
        "private values must be an array of numbers",
        "private values must have one row per person, and one column per choice "
        "unless they come column by column",
        "scores must have at least one column",
    )
    assert error.value.__suppress_context__ or error.value.__context__ is None


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, True, "1", None])
def test_bad_budgets_are_refused(bad):
    with pytest.raises(ValueError, match="epsilon must be a finite number > 0"):
        permute_and_flip([[1.0]], epsilon=bad, bits=NoBits())
    with pytest.raises(ValueError, match="sensitivity must be a finite number > 0"):
        permute_and_flip([[1.0]], epsilon=1.0, sensitivity=bad, bits=NoBits())
    with pytest.raises(ValueError, match="rho must be a finite number > 0"):
        selection_epsilon(bad)


@pytest.mark.parametrize("rho", [5e-324, 1e-300, 0.1, 0.3, 0.5, 1 / 3, 2.0, 1e300])
def test_selection_epsilon_is_the_largest_that_fits(rho):
    def cost(epsilon):
        return max(Fraction(epsilon), Fraction(repr(epsilon))) ** 2 / 2

    budget = min(Fraction(rho), Fraction(repr(rho)))
    epsilon = selection_epsilon(rho)
    assert cost(epsilon) <= budget < cost(math.nextafter(epsilon, math.inf))


def test_renyi_divergence_of_a_choice_fits_rho():
    """The cost in CGP, order by order, on the pair with the largest loss."""
    epsilon, distance = selection_epsilon(0.3), 1.7
    scale = 2.0 / epsilon
    p = permute_and_flip_law([2.0, -2.0], scale)
    q = permute_and_flip_law([2.0 - distance, distance - 2.0], scale)
    for one, two in ((p, q), (q, p)):
        for order in (1.01, 2.0, 5.0, 50.0):
            divergence = math.log(np.sum(one**order * two ** (1 - order)))
            assert divergence / (order - 1) <= order * 0.3 * distance**2
