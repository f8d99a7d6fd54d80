"""Duality gaps: bounds on what is above the minimum, and points that reach them.

The gap is computed a second time in rational arithmetic (in 50 digits for logarithms),
so what is certified in floats can be compared with what is true.
"""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from skfuncpriv import PrivacyError
from skfuncpriv.gaussian_process import _duality, _minimise
from skfuncpriv.gaussian_process._duality import KAPPA, Objective, RoundingErrors
from skfuncpriv.gaussian_process._losses import (
    EpsilonInsensitiveLoss,
    HingeLoss,
    HuberLoss,
    LogisticLoss,
)
from skfuncpriv.gaussian_process._minimise import NOT_CERTIFIED, certified_minimiser
from skfuncpriv.noise import FixedPoint
from tests.gaussian_process.machines import (
    ALL_LOSSES,
    LOSSES,
    is_classifier,
    objective_value,
    problem,
    reference,
)

each_loss = pytest.mark.parametrize("loss", ALL_LOSSES.values(), ids=ALL_LOSSES)
each_psi = pytest.mark.parametrize("psi", [1e-4, 0.1])
pytestmark = pytest.mark.usefixtures("one_thread")
PEOPLE = {"rows": None, "people": 25}
each_unit = pytest.mark.parametrize("n_people", PEOPLE.values(), ids=PEOPLE)


@pytest.fixture(scope="module")
def one_thread():
    """As in `fit`: threads of small products wait for each other."""
    with threadpool_limits(1, user_api="blas"):
        yield


def floats(point: FixedPoint):
    return point.lattice.to_float(point.values)


def smallest_gap(objective):
    errors = RoundingErrors(objective.loss, objective.psi, objective.features.shape[1])
    return errors.smallest_gap


def in_ball(objective, w):
    radius = objective.loss.norm_bound(KAPPA, objective.psi)
    return w * min(1, radius / max(np.linalg.norm(w), 1e-300))


# The gap, exactly


def exact_gap(objective, w, slopes):
    """Weighted disagreements and psi norm(w - w(a))^2, without a rounding error."""
    loss, n = objective.loss, objective.n_people
    psi, w = Fraction(objective.psi), [Fraction(x) for x in w]
    total, dual = Fraction(0), [Fraction(0)] * len(w)
    rows = zip(
        objective.features, objective.targets, objective.weights, slopes, strict=True
    )
    for z, y, weight, slope in rows:
        z, y, weight = [Fraction(x) for x in z], Fraction(y), Fraction(weight)
        f = sum(a * b for a, b in zip(w, z, strict=True))
        slope = exact_slope(loss, f, y) if slope is None else Fraction(slope)
        total += weight * disagreement(loss, f, y, slope)
        dual = [d - weight * slope * x for d, x in zip(dual, z, strict=True)]
    dual = [d / (2 * psi * n) for d in dual]
    square = sum((a - b) ** 2 for a, b in zip(w, dual, strict=True))
    return total / n + psi * square


def exact_slope(loss, f, y):
    if isinstance(loss, LogisticLoss):
        mp = mpmath.mp.clone()
        mp.dps = 50
        value = mp.mpf(f.numerator) / f.denominator
        slope = -int(y) / (1 + mp.exp(int(y) * value))
        mantissa, exponent = abs(slope).man_exp
        return -y * Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    if isinstance(loss, HuberLoss):
        t = Fraction(loss.threshold)
        return min(max(f - y, -t), t)
    return 2 * (f - y)


def disagreement(loss, f, y, slope):
    if isinstance(loss, HingeLoss):  # conjugate(a) = a y on the segment from 0 to -y
        return max(Fraction(0), 1 - y * f) + slope * y - slope * f
    if isinstance(loss, EpsilonInsensitiveLoss):  # conjugate(a) = a y + t abs(a)
        t = Fraction(loss.threshold)
        return max(Fraction(0), abs(f - y) - t) + slope * y + t * abs(slope) - slope * f
    return Fraction(0)


def points_and_slopes(objective, rng):
    """Near and far from the minimum, with slopes that fit and that do not."""
    loss, n = objective.loss, len(objective.targets)
    best = floats(certified_minimiser(objective, 10 * smallest_gap(objective)))
    for size in (0.0, 1e-6, 1e-2, 100.0):
        w = in_ball(objective, best + size * rng.normal(size=best.shape))
        if not loss.has_kinks:
            yield w, None
            continue
        for smoothing in (1.0, 1e-6):
            yield w, loss.slope(objective.values(w), objective.targets, smoothing)
        sign = -objective.targets if is_classifier(loss) else rng.choice([-1, 1], n)
        yield w, sign * rng.uniform(size=n)


@each_loss
@each_psi
@each_unit
def test_certified_gaps_are_not_below_the_exact_ones(loss, psi, n_people):
    objective = problem(loss, n=30, m=4, psi=psi, n_people=n_people)
    for w, slopes in points_and_slopes(objective, np.random.default_rng(1)):
        certified = objective.duality_gap(w, slopes)
        exact = exact_gap(objective, w, [None] * 30 if slopes is None else slopes)
        assert 0 <= exact <= certified
        # and hardly above them: rounding, of the gap and of the distance in it
        room = smallest_gap(objective)
        limit = float(exact) * (1 + 1e-5) + room + 2 * np.sqrt(float(exact) * room)
        assert certified <= limit


@each_loss
@each_psi
@each_unit
def test_gaps_bound_what_is_above_the_minimum(loss, psi, n_people):
    objective = problem(loss, n=40, m=3, psi=psi, n_people=n_people)
    least = reference(objective)
    for w, slopes in points_and_slopes(objective, np.random.default_rng(2)):
        gap = objective.duality_gap(w, slopes)
        above = objective_value(objective, w) - objective_value(objective, least)
        assert gap >= above - 1e-12
        # J is 2 psi-strongly convex; the reference is right to 1e-7 or so
        limit = np.sqrt(gap / psi) + 1e-6 * np.linalg.norm(least)
        assert np.linalg.norm(w - least) <= limit


def test_rounding_errors_of_values_are_in_the_gap():
    """At a kink of a float: the exact value is off it, by less than a float shows."""
    rng = np.random.default_rng(5)
    seen = 0
    for _ in range(2000):
        z = rng.normal(size=6)
        z /= np.linalg.norm(z)
        if z @ z != 1.0:
            continue
        # w(a) = z / (4 psi) = z, and f = norm(z)^2 is at the kink, up to rounding
        objective = Objective(LOSSES["hinge"], 0.25, 1, z[None], np.ones(1), np.ones(1))
        slopes = np.array([-0.5])
        exact = exact_gap(objective, z, slopes)
        assert objective.duality_gap(z, slopes) >= exact
        seen += exact > 1e-18
    assert seen > 100


def test_the_stated_error_of_sums_covers_their_blocks():
    roundings = _duality._BLOCK + 2**30 / _duality._BLOCK + 4
    assert roundings * 2.0**-53 <= _duality._SUM_ERROR


# Minimisers


@each_loss
@each_psi
@each_unit
def test_minimisers_agree_with_scikit_learn(loss, psi, n_people):
    objective = problem(loss, n=60, m=4, psi=psi, n_people=n_people)
    w = floats(certified_minimiser(objective, smallest_gap(objective)))
    least = reference(objective)
    np.testing.assert_allclose(w, least, rtol=0, atol=1e-7 * np.linalg.norm(least))
    above = objective_value(objective, w) - objective_value(objective, least)
    assert above <= smallest_gap(objective) + 1e-15


@each_loss
def test_weights_of_people_are_copies_of_rows(loss):
    """A person with k equal rows counts as one with one row."""
    once = problem(loss, n=30, m=4)
    copies = np.random.default_rng(3).integers(1, 5, 30)
    many = replace(
        once,
        features=np.repeat(once.features, copies, axis=0),
        targets=np.repeat(once.targets, copies),
        weights=np.repeat(1 / copies, copies),
    )
    gap = smallest_gap(once)
    one, other = (floats(certified_minimiser(o, gap)) for o in (once, many))
    assert np.linalg.norm(one - other) <= 2 * np.sqrt(gap / once.psi)


def hard_data(n, m, rng):
    """Rows that make solvers slow, or their systems singular."""
    Z = rng.normal(size=(n, m))
    few = rng.normal(size=(max(1, m // 2), m))
    yield Z, rng.normal(size=n)
    yield np.tile(Z[:1], (n, 1)), rng.normal(size=n)
    yield np.tile(Z[:1], (n, 1)), np.where(np.arange(n) % 2, 1.0, -1.0)
    yield np.tile(Z[:1], (n, 1)), np.ones(n)
    yield np.zeros((n, m)), rng.normal(size=n)
    yield few[rng.integers(0, len(few), n)], rng.normal(size=n)
    yield np.abs(Z), Z @ np.ones(m)
    yield Z * np.geomspace(1, 1e-12, m), Z[:, 0]
    yield Z * rng.uniform(-12, 0, (n, 1)), 1e3 * Z[:, 0]
    yield np.round(Z) / 4, np.sign(Z[:, 0])
    yield np.eye(m)[rng.integers(0, m, n)], rng.normal(size=n)


@each_loss
@pytest.mark.parametrize("psi", [1e-8, 1e-3, 1e3])
def test_every_data_set_is_certified(loss, psi):
    """To the least gap that is allowed, whatever the rows: there is no fallback."""
    rng = np.random.default_rng(4)
    for n, m in ((1, 1), (30, 40), (150, 60), (300, 2)):
        for Z, y in hard_data(n, m, rng):
            Z = Z / np.maximum(1, np.linalg.norm(Z, axis=1, keepdims=True))
            y = np.where(y > 0, 1.0, -1.0) if is_classifier(loss) else np.clip(y, -1, 1)
            objective = Objective(loss, psi, n, Z, y, np.ones(n))
            point = certified_minimiser(objective, smallest_gap(objective))
            radius = loss.norm_bound(KAPPA, psi)
            assert np.linalg.norm(floats(point)) <= radius * (1 + 1e-12)
            assert abs(point.values).max() <= point.bound


@each_loss
def test_points_are_projected_on_the_ball(loss, monkeypatch):
    def far(objective, gap):
        w = np.full(objective.features.shape[1], 1e3)
        yield w, loss.slope(objective.values(w), objective.targets, 1.0)

    for name in ("_newton_points", "_proximal_points"):
        monkeypatch.setattr(_minimise, name, far)
    point = certified_minimiser(problem(loss), 1e9)
    radius = loss.norm_bound(KAPPA, 0.01)
    np.testing.assert_allclose(np.linalg.norm(floats(point)), radius, rtol=1e-12)
    assert abs(point.values).max() <= point.bound


@each_loss
def test_the_lattice_is_public(loss):
    points = [
        certified_minimiser(problem(loss, n=n, m=3, seed=n), 1e-4) for n in (1, 5, 50)
    ]
    assert len({(point.lattice, point.bound) for point in points}) == 1


@each_loss
def test_what_is_not_certified_is_refused(loss, monkeypatch):
    objective = problem(loss)
    monkeypatch.setattr(_minimise, "_OUTER", 1)
    monkeypatch.setattr(_minimise, "_INNER", 1)
    with pytest.raises(PrivacyError) as caught:
        certified_minimiser(objective, 1e-30)
    assert str(caught.value) == NOT_CERTIFIED
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_singular_system_is_refused_alike(monkeypatch):
    def fail(*arguments):
        raise _minimise.LinAlgError("leading minor 3 is not positive: 0.25")

    monkeypatch.setattr(_minimise, "cho_factor", fail)
    with pytest.raises(PrivacyError) as caught:
        certified_minimiser(problem(LOSSES["logistic"]), 1e-9)
    assert str(caught.value) == NOT_CERTIFIED
    assert caught.value.__context__ is None
