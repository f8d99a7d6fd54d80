"""Noisy sufficient statistics: sensitivity by brute force, exact sums, audits."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.iclp import regression_sensitivity
from skfuncpriv.iclp._statistics import StatisticsPlan
from skfuncpriv.noise import (
    BlockSpherical,
    FixedPoint,
    IndependentGaussian,
    IndependentLaplace,
    SeededBits,
    release_lattice,
)
from skfuncpriv.privacy import audit
from tests.iclp.test_sensitivity import check_loss, difference, log_density

OMEGAS = [0.3, math.sqrt(0.5), 1.0, math.sqrt(2), 2.0]
LAWS = {
    "spherical": {"mechanism": "spherical"},
    "block-spherical": {"mechanism": "block-spherical", "ratio": 0.7},
    "laplace": {"mechanism": "laplace"},
    "gaussian": {"mechanism": "gaussian", "delta": 1e-6},
}
each_omega = pytest.mark.parametrize("omega", OMEGAS)
each_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)


def contribution(x, u, omega):
    """The vector v of one row, written a second time: the matrices themselves."""
    return np.concatenate([omega * np.outer(x, x).ravel(), np.outer(x, u).ravel()])


def worst_rows(omega, p, q):
    """Two rows that attain the sensitivity: equal or oblique x, opposite u."""
    r = min(1.0, 1 / (2 * omega**2))
    x, y = np.zeros(p), np.zeros(p)
    x[0], y[0] = 1.0, r
    y[-1] += math.sqrt(1 - r * r) if p > 1 else 0.0
    u = np.eye(q)[0]
    return (x, u), (y, -u)


@each_omega
@pytest.mark.parametrize(("p", "q"), [(1, 1), (2, 1), (3, 2), (2, 4)])
def test_no_two_rows_are_further_apart(omega, p, q):
    rng = np.random.default_rng(p + q)
    limit = regression_sensitivity(omega)
    largest = 0.0
    rows = []
    for k in range(200):
        x, u = rng.normal(size=p), rng.normal(size=q)
        x /= max(np.linalg.norm(x), 1e-9) * (1 if k % 3 else rng.uniform(1, 3))
        u /= max(np.linalg.norm(u), 1e-9) * (1 if k % 2 else rng.uniform(1, 3))
        rows += [contribution(sign * x, u, omega) for sign in (1, -1)]
        share = rng.uniform()
        rows.append(share * rows[-1] + (1 - share) * rows[rng.integers(len(rows))])
        rows.append(rng.uniform() * rows[-1])  # a weight
    rows = np.array([*rows, np.zeros_like(rows[0])])
    gram = rows @ rows.T
    square = np.diag(gram)[:, None] + np.diag(gram) - 2 * gram
    largest = math.sqrt(square.max())
    assert largest <= limit * (1 + 1e-12)
    assert largest >= 0.8 * limit or p == 1


@each_omega
def test_the_sensitivity_is_attained(omega):
    (x, u), (y, w) = worst_rows(omega, 3, 2)
    move = contribution(x, u, omega) - contribution(y, w, omega)
    assert np.linalg.norm(move) == pytest.approx(regression_sensitivity(omega), 1e-12)


def test_second_moments_ride_for_free():
    assert regression_sensitivity(math.sqrt(0.5)) == pytest.approx(2.0)
    assert regression_sensitivity(1e-9) == 2.0
    assert regression_sensitivity(1.0) > 2.1


@pytest.mark.parametrize("omega", [0, -1, np.nan, "1", None, True])
def test_bad_weights_of_moments_are_refused(omega):
    with pytest.raises(ValueError, match="omega must be a finite number > 0"):
        regression_sensitivity(omega)


# Exact sums


def sums(plan, x, u, **options):
    value = plan.value(np.array(x, dtype=float), np.array(u, dtype=float), **options)
    return value, np.array([float(k) for k in value.values]) * value.lattice.step


def test_moments_are_those_of_the_rows():
    rng = np.random.default_rng(0)
    x, u = rng.normal(size=(50, 3)) / 9, rng.normal(size=(50, 2)) / 9
    plan = StatisticsPlan(50, 3, 2, 1.0, omega=1.3)
    second, cross = plan.moments(sums(plan, x, u)[1])
    np.testing.assert_allclose(second, x.T @ x / 50, atol=1e-14)
    np.testing.assert_allclose(cross, x.T @ u / 50, atol=1e-14)
    fixed = np.column_stack([np.full(50, 0.5), x[:, 1:]])
    known = replace(plan, constant=0.5)
    assert sum(known.sizes) == sum(plan.sizes) - 1
    second, cross = known.moments(sums(known, fixed, u)[1])
    np.testing.assert_allclose(second, fixed.T @ fixed / 50, atol=1e-14)


def test_a_person_counts_once_whatever_the_number_of_rows():
    rng = np.random.default_rng(1)
    x, u = rng.normal(size=(3, 2)) / 5, rng.normal(size=(3, 1)) / 5
    plan = StatisticsPlan(3, 2, 1, 1.0)
    codes = np.array([0, 1, 2, 1, 1, 0])
    many, _ = sums(plan, x[codes], u[codes], codes=codes)
    once, _ = sums(plan, x, u, codes=np.arange(3))
    assert (many.values == once.values).all()
    two = sums(plan, x, u, codes=np.array([0, 0, 1]))[1]
    means = [contribution(*row, plan.omega) for row in zip(x, u, strict=True)]
    mean = (means[0] + means[1]) / 2 + means[2]
    np.testing.assert_allclose(two[-2:], mean[-2:], atol=1e-14)
    shuffled = rng.permutation(6)
    other, _ = sums(plan, x[codes][shuffled], u[codes][shuffled], codes=codes[shuffled])
    assert (other.values == many.values).all()


def test_weights_multiply_what_a_row_adds():
    x, u = np.array([[0.6, 0.8], [1.0, 0.0]]), np.array([[1.0], [-1.0]])
    plan = StatisticsPlan(2, 2, 1, 1.0)
    weighted = sums(plan, x, u, weights=np.array([0.25, 0.0]))[1]
    plain = sums(plan, x[:1], u[:1])[1]
    np.testing.assert_allclose(weighted, 0.25 * plain, atol=1e-14)


def test_rounding_is_within_the_slack():
    """Integers move by at most the stated sensitivity, and it is hardly larger."""
    for omega, n in itertools.product(OMEGAS, (1, 1000, 10**9)):
        plan = StatisticsPlan(n, 3, 2, 1.0, omega=omega)
        pair = [sums(plan, x[None], u[None])[0] for x, u in worst_rows(omega, 3, 2)]
        step = Fraction(pair[0].lattice.step)
        square = sum(
            int(a - b) ** 2 for a, b in zip(pair[0].values, pair[1].values, strict=True)
        )
        square *= step**2
        limit = Fraction(plan.sensitivity)
        assert (limit * Fraction(999_999, 1_000_000)) ** 2 <= square <= limit**2


def test_too_many_statistics_for_the_lattice_are_refused():
    with pytest.raises(PrivacyError, match="people"):
        _ = StatisticsPlan(2**46, 60, 60, 1.0).law


def test_predicted_deviations_are_those_of_the_law():
    for law in LAWS.values():
        plan = StatisticsPlan(100, 3, 2, 2.0, **{**law, "omega": 1.4})
        second, cross = plan.deviations
        std = plan.law.std / 100
        np.testing.assert_allclose(std[: plan.sizes[0]] / 1.4, second, rtol=1e-6)
        np.testing.assert_allclose(std[plan.sizes[0] :], cross, rtol=1e-6)


# Audits of the worst pair


def pair_of_sums(plan, law):
    """The two sums, for one person alone, in the direction the law is weakest."""
    p, q = plan.n_features, plan.n_targets
    rows = worst_rows(plan.omega, p, q)
    if isinstance(law, IndependentLaplace):  # all coordinates move alike
        x, u = np.full(p, 1 / math.sqrt(p)), np.full(q, 1 / math.sqrt(q))
        rows = (x, u), (x, -u)
    return [sums(plan, x[None], u[None])[0] for x, u in rows]


class Exact:
    """What `difference` reads."""

    def __init__(self, value):
        step = Fraction(2) ** value.lattice.exponent
        self.exact = [int(k) * step for k in value.values]


@each_omega
@each_law
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_the_worst_pair_loses_epsilon(law, omega, epsilon):
    plan = StatisticsPlan(
        n_people=1, n_features=2, n_targets=1, epsilon=epsilon, omega=omega, **law
    )
    change = difference(*map(Exact, pair_of_sums(plan, plan.law)))
    sharp = law["mechanism"] in ("spherical", "gaussian")
    at_least = 0.999 if sharp else 0.2
    check_loss(plan.law, change, law, epsilon, at_least=at_least)
    wrong = scaled(plan.law, 1 / math.sqrt(2))
    if sharp:
        with pytest.raises(AssertionError):
            check_loss(wrong, change, law, epsilon)
        with pytest.raises(AssertionError):
            check_loss(
                scaled(plan.law, math.sqrt(2)), change, law, epsilon, at_least=0.999
            )


def scaled(law, factor):
    if isinstance(law, IndependentGaussian):
        return IndependentGaussian(tuple(factor * s for s in law.deviations))
    if isinstance(law, IndependentLaplace | BlockSpherical):
        return replace(law, scales=tuple(factor * s for s in law.scales))
    return replace(law, scale=factor * law.scale)


@pytest.mark.parametrize("epsilon", [1.0])
@pytest.mark.parametrize("name", ["spherical", "gaussian"])
def test_audit_of_the_worst_pair(name, epsilon):
    law = {**LAWS[name], **({"delta": 0.05} if name == "gaussian" else {})}
    plan = StatisticsPlan(n_people=1, n_features=1, n_targets=1, epsilon=epsilon, **law)
    noise = plan.law
    pair = pair_of_sums(plan, noise)
    lattice = release_lattice(noise.smallest_scale, pair[0])
    points = [np.array([float(k) for k in Exact(value).exact]) for value in pair]
    bits = SeededBits(3)

    def mechanism(value, n_trials):
        rows = np.tile(value.values.astype(np.int64), (n_trials, 1))
        many = FixedPoint(rows, value.lattice, value.bound)
        return lattice.to_float(noise.release(many, lattice, bits))

    def log_ratio(outputs):
        return log_density(noise, outputs - points[0]) - log_density(
            noise, outputs - points[1]
        )

    result = audit(
        mechanism,
        *pair,
        n_trials=400_000,
        statistic=log_ratio,
        batch=True,
        delta=law.get("delta", 0.0),
        confidence=1 - 1e-7,
    )
    assert 0.8 * epsilon < result.epsilon_lower <= epsilon
