"""The number of runs, and the theorem of random stopping, in exact numbers."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from skfuncpriv.model_selection import RandomStopping
from skfuncpriv.model_selection._stopping import _step_of
from skfuncpriv.noise import RandomBits, SeededBits

LAWS = [(1.0, 0.2), (0.0, 0.1), (-0.5, 0.05), (2.5, 0.3), (1e-9, 0.1)]
each_law = pytest.mark.parametrize(("eta", "gamma"), LAWS)


def probabilities(eta, gamma, size=400):
    """P(J = 1), P(J = 2), ..., by the formula of the paper and gamma functions."""
    j = np.arange(1, size)
    log_mass = j * math.log1p(-gamma) + np.array(
        [math.lgamma(k + eta) - math.lgamma(k + 1) for k in j]
    )
    norm = -math.log(gamma)  # eta = 0: (1 - gamma)^j / (j log(1/gamma))
    if eta:
        norm = abs(math.gamma(eta)) * abs(math.expm1(-eta * math.log(gamma)))
    return np.exp(log_mass) / norm


def generating(x, eta, gamma):
    """E x^J in closed form."""
    if eta == 0:
        return np.log1p(-(1 - gamma) * x) / math.log(gamma)
    power = np.expm1(-eta * np.log1p(-(1 - gamma) * x))
    return power / math.expm1(-eta * math.log(gamma))


@each_law
def test_runs_have_the_stated_law(eta, gamma):
    law, bits, n_draws = RandomStopping(eta=eta, gamma=gamma), SeededBits(0), 100
    draws = np.array([law.draw_runs(3, bits) for _ in range(n_draws)])
    mass = probabilities(eta, gamma)
    assert abs(mass.sum() - 1) < 1e-5
    for value in (1, 2, 3, 5):
        count = int((draws == value).sum())
        assert stats.binomtest(count, n_draws, float(mass[value - 1])).pvalue > 1e-8
    tail = stats.binomtest(int((draws > 8).sum()), n_draws, float(mass[8:].sum()))
    assert tail.pvalue > 1e-8


@each_law
def test_steps_are_decided_exactly(eta, gamma):
    """Ends of the steps of the distribution function, to the last of 64 bits."""
    with mpmath.workdps(60):
        exact, g = mpmath.mpf(eta), mpmath.mpf(gamma)
        norm = -mpmath.log(g) if eta == 0 else (g**-exact - 1) / exact
        mass, end = (1 - g) / norm, mpmath.mpf(0)
        for j in range(1, 12):
            end += mass
            mass *= (1 - g) * (j + exact) / (j + 1)
            cut = int(mpmath.floor(end * 2**64))
            assert _step_of(cut - 2, 64, g_fraction(g), g_fraction(exact)) == j
            assert _step_of(cut + 2, 64, g_fraction(g), g_fraction(exact)) == j + 1
            assert _step_of(cut, 64, g_fraction(g), g_fraction(exact)) in (None, j + 1)


def g_fraction(number):
    """The float that a number of mpmath is."""
    return Fraction(float(number))


class Words(RandomBits):
    """The given words, then zeros."""

    seeded = True

    def __init__(self, *words):
        self.left = list(words)

    def words(self, count):
        return np.array([self.left.pop(0) if self.left else 0], dtype=np.uint64)


def test_an_undecided_draw_takes_more_bits():
    """Geometric with gamma 1/2: the first step ends at 1/2."""
    law = RandomStopping(eta=1.0, gamma=0.5)
    assert law.draw_runs(1, Words(2**63 - 2)) == 1
    bits = Words(2**63, 5, 7)
    assert law.draw_runs(1, bits) == 2
    assert len(bits.left) < 2
    assert law.draw_runs(1, Words(2**63 - 1, 2**64 - 1, 3)) == 1
    assert law.draw_runs(1, Words(0)) == 1


@pytest.mark.parametrize(("eta", "gamma"), [*LAWS, (1.0, 1e-6), (0.0, 1e-6)])
def test_the_cost_is_two_plus_eta(eta, gamma):
    """The law of the best of J runs, for worst-case laws of one run.

    A run has outcomes in order of their scores: bad, good and the best. Neighbours make
    the good one rarer and the best one rarer or more frequent, by exp(epsilon).
    """
    law = RandomStopping(eta=eta, gamma=gamma)
    epsilon = 1.0
    run = law.run_epsilon(epsilon)
    assert run * (2 + eta) <= epsilon < run * (2 + eta) * (1 + 1e-12)
    worst = 0.0
    for p, q in itertools.product(np.geomspace(1e-7, 0.4, 25), repeat=2):
        for factor in (math.exp(run), math.exp(-run)):
            one = np.array([1 - p - q, q, p])
            other = np.array([0, q * math.exp(-run), p * factor])
            other[0] = 1 - other.sum()
            if one[0] <= 0 or other[0] <= 0 or abs(math.log(other[0] / one[0])) > run:
                continue
            laws = [
                np.diff(
                    generating(np.r_[0, 1 - np.cumsum(Q[::-1])[1::-1], 1], eta, gamma)
                )
                for Q in (one, other)
            ]
            worst = max(worst, np.max(np.abs(np.log(laws[0] / laws[1]))))
    assert worst <= epsilon * (1 + 1e-6)
    if gamma == 1e-6:  # and with so many runs it is needed
        assert worst > 0.9 * epsilon


def test_bad_laws_are_refused():
    for eta in (-1.0, -2.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="eta must be"):
            RandomStopping(eta=eta)
    for gamma in (0.0, 1.0, -0.1, 1e-10, math.nan):
        with pytest.raises(ValueError, match="gamma must be"):
            RandomStopping(gamma=gamma)
    assert RandomStopping().draw_runs(10, SeededBits(0)) >= 1
