"""Output perturbation on bounded features: what one person moves, and what it costs.

Brute force over neighbours with weights, vectors and people of many rows; the numbers
that a release hides are compared with other solvers and with the stated sensitivity.
"""

import doctest
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import log_ndtr
from sklearn.linear_model import LogisticRegression, Ridge

from skfuncpriv import PrivacyError
from skfuncpriv.gaussian_process import ridge_sensitivity, squared_loss_lipschitz
from skfuncpriv.gaussian_process._duality import KAPPA, Objective, RoundingErrors
from skfuncpriv.gaussian_process._losses import LogisticLoss, SquaredLoss
from skfuncpriv.iclp import _minimiser
from skfuncpriv.iclp._minimiser import in_unit_ball, minimiser_value, plan_minimiser
from skfuncpriv.noise import SeededBits, SphericalLaplace, release_lattice
from skfuncpriv.privacy import audit
from tests.gaussian_process.machines import LOSSES, is_classifier, reference

each_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
each_psi = pytest.mark.parametrize("psi", [1e-3, 0.03, 0.3, 10.0])


def floats(value):
    return value.lattice.to_float(value.values)


def exact_move(one, other):
    """The distance of two hidden values, exact until the last root."""
    step = Fraction(2) ** one.lattice.exponent
    pairs = zip(one.values, other.values, strict=True)
    return math.sqrt(sum((int(a) - int(b)) ** 2 for a, b in pairs) * step**2)


def ridge(Z, U, weights, psi, n):
    """The exact minimiser, shape (p, q), by the normal equations."""
    gram = Z.T @ (weights[:, None] * Z) / n + psi * np.eye(Z.shape[1])
    return np.linalg.solve(gram, Z.T @ (weights[:, None] * U) / n)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def weights_of(rng, size):
    """Weights zero and one, or any of [0, 1]."""
    weights = rng.choice([0.0, 1.0, 1.0, 1.0], size)
    return weights if rng.uniform() < 0.5 else rng.uniform(size=size)


# Brute force: ridge regression with vectors and weights


def crowd_and_versions(rng, n, psi, q):
    """Rows, targets and weights of n - 1 people, and two versions of the last one.

    The others may share a direction with the last one, by the share that is worst.
    """
    p = int(rng.integers(1, 5))
    Z, U = rng.normal(size=(n + 1, p)), unit(rng.normal(size=(n + 1, q)))
    weights = np.ones(n + 1) if rng.uniform() < 0.5 else weights_of(rng, n + 1)
    if rng.uniform() < 0.7:
        share = min(1.0, psi * rng.uniform(0.1, 3))
        e = rng.normal(size=p)
        Z[:-2] += e * math.sqrt(share * p) / np.linalg.norm(e)
        Z[-2:] = e, rng.choice([-1, 1]) * e
    if rng.uniform() < 0.7:
        U[:] = rng.choice([-1.0, 1.0], (n + 1, 1)) * U[0]
    if rng.uniform() < 0.5:
        U[:-2] = U[0]
        weights[-2:] = 1.0
    one, other = np.arange(n), np.append(np.arange(n - 1), n)
    Z = unit(Z)
    if rng.uniform() < 0.5:  # shorter rows: alone, norm(z)^2 = psi is the worst
        Z *= rng.choice([1.0, 0.5, min(1.0, math.sqrt(psi))])
    return [(Z[rows], U[rows], weights[rows]) for rows in (one, other)]


@each_psi
def test_vectors_with_weights_move_no_further_than_one_number(psi):
    rng = np.random.default_rng(5)
    sharpest = {}
    for _ in range(2500):
        n, q = int(rng.choice([1, 2, 3, 3, 7, 11])), int(rng.choice([1, 2, 5]))
        both = crowd_and_versions(rng, n, psi, q)
        moves = np.subtract(*(ridge(*data, psi, n) for data in both))
        plan = joint_plan(n, psi, q)
        share = np.linalg.norm(moves) / plan.sensitivity
        sharpest[n] = max(sharpest.get(n, 0), share)
    assert max(sharpest.values()) <= 1
    assert min(sharpest.values()) > 0.1
    assert sharpest[1] > 0.9


_PLANS = {}


def joint_plan(n, psi, q, unit="row"):
    key = n, psi, q, unit
    if key not in _PLANS:
        _PLANS[key] = plan_minimiser(
            SquaredLoss(), n_people=n, n_features=3, n_outputs=q, psi=psi,
            is_joint=True, unit=unit,
        )  # fmt: skip
    return _PLANS[key]


@pytest.mark.parametrize("q", [1, 4, 100])
def test_vectors_have_the_sensitivity_of_one_number(q):
    """And the gap, of which every column has a share, adds no more than a 64th."""
    for n in (1, 30, 1000):
        row, person = (joint_plan(n, 0.05, q, u).sensitivity for u in ("row", "person"))
        exact = ridge_sensitivity(1.0, KAPPA, 0.05, n)
        assert row == pytest.approx(exact * (1 + 1 / 64), rel=1e-6)
        assert row > exact
        slope = squared_loss_lipschitz(1.0, KAPPA, 0.05)
        largest = min(slope / (0.05 * n), 1 / math.sqrt(0.05))
        assert person == pytest.approx(largest * (1 + 1 / 64), rel=1e-6)


@each_psi
def test_people_with_weighted_rows_and_vectors(psi):
    """A person's term is a sum of losses whose weights add up to at most one."""
    rng = np.random.default_rng(6)
    largest = 0.0
    for _ in range(600):
        n, q = int(rng.choice([1, 2, 3, 8])), int(rng.choice([1, 3]))
        p = int(rng.integers(1, 4))
        sizes = rng.choice([1, 2, 6], n + 1)
        people = []
        for size in sizes:
            weights = weights_of(rng, size) / size
            e = unit(rng.normal(size=p)) if rng.uniform() < 0.5 else np.eye(p)[0]
            Z = np.tile(e, (size, 1))
            if rng.uniform() < 0.5:
                Z = unit(rng.normal(size=(size, p)))
            U = np.tile(unit(rng.normal(size=q)), (size, 1))
            people.append((Z, U, weights))
        if n == 1 and rng.uniform() < 0.3:  # the same rows, opposite targets
            people[1] = (people[0][0], -people[0][1], people[0][2])
        versions = []
        for last in people[-2:]:
            parts = zip(*people[:-2], last, strict=True)
            versions.append(ridge(*map(np.concatenate, parts), psi, n))
        change = np.linalg.norm(versions[0] - versions[1])
        largest = max(largest, change / joint_plan(n, psi, q, "person").sensitivity)
    assert 0.2 < largest <= 1


# Brute force through the solver, all losses


def versions_of_a_person(loss, rng, p):
    """(row, target, weight), the absurd included."""
    rows = [np.eye(p)[0], -np.eye(p)[0], np.zeros(p), np.full(p, 1e200)]
    rows += [np.full(p, math.nan), rng.normal(size=p)]
    targets = [-1.0, 1.0] if is_classifier(loss) else [-1e300, 1.0]
    return [(z, u, w) for z in rows for u in targets for w in (1.0, 0.3)]


@each_loss
@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_no_weighted_row_moves_minimisers_further_than_stated(loss, n):
    rng = np.random.default_rng(n)
    shares = []
    for psi, p in ((1e-3, 2), (0.05, 1), (20.0, 2)):
        plan = plan_minimiser(loss, n_people=n, n_features=p, psi=psi)
        Z, y = rng.normal(size=(n - 1, p)), np.sign(rng.normal(size=n - 1))
        weights = weights_of(rng, n - 1)
        hidden = [
            minimiser_value(
                plan, np.vstack([Z, z]), np.append(y, u), np.append(weights, w)
            )
            for z, u, w in versions_of_a_person(loss, rng, p)
        ]
        assert len({(value.lattice, value.bound) for value in hidden}) == 1
        assert all(abs(value.values).max() <= value.bound for value in hidden)
        points = np.array([floats(value) for value in hidden])
        gaps = np.linalg.norm(points[:, None] - points, axis=2)
        i, j = np.unravel_index(gaps.argmax(), gaps.shape)
        move = exact_move(hidden[i], hidden[j])
        shares.append(move / plan.sensitivity)
    assert 0.9 < max(shares) <= 1


def test_several_functions_add_in_quadrature():
    loss, psi = LogisticLoss(), 50.0
    for q in (1, 3):
        plan = plan_minimiser(loss, n_people=1, n_features=2, n_outputs=q, psi=psi)
        z, y = np.array([[1.0, 0.0]]), np.ones((1, q))
        pair = [minimiser_value(plan, z, sign * y) for sign in (1, -1)]
        assert 0.97 * plan.sensitivity < exact_move(*pair) <= plan.sensitivity


# The gap


@pytest.mark.parametrize("is_joint", [True, False])
def test_the_gap_of_every_column_is_paid_for(is_joint):
    facts = {"n_people": 50, "n_features": 3, "n_outputs": 4, "psi": 0.2}
    plans = [
        plan_minimiser(SquaredLoss(), **facts, is_joint=is_joint, gap=gap)
        for gap in (1e-12, 1e-4)
    ]
    added = plans[1].sensitivity - plans[0].sensitivity
    exact = 2 * math.sqrt(4 * 1e-4 / 0.2) - 2 * math.sqrt(4 * 1e-12 / 0.2)
    assert added == pytest.approx(exact, rel=1e-9)


@each_loss
def test_what_is_hidden_is_certified(loss):
    """With weights: within sqrt(gap / psi) of the minimiser in higher precision."""
    rng = np.random.default_rng(1)
    Z, f = unit(rng.normal(size=(40, 3))), rng.normal(size=40)
    y = np.sign(f) if is_classifier(loss) else np.clip(f, -1, 1)
    weights = rng.uniform(size=40)
    plan = plan_minimiser(loss, n_people=40, n_features=3, psi=0.02)
    errors = RoundingErrors(loss, 0.02, 3)
    objective = Objective(loss, 0.02, 40, Z, y, weights)
    least = reference(objective)
    for gap in (errors.smallest_gap, plan.gap):
        w = floats(minimiser_value(replace(plan, gap=gap), Z, y, weights))
        assert np.linalg.norm(w - least) <= math.sqrt(gap / 0.02) + 1e-8


def test_a_guess_that_is_no_minimiser_is_not_released(monkeypatch):
    monkeypatch.setattr(
        _minimiser, "_ridge", lambda plan, Z, *rest: [np.full(Z.shape[1], 0.3)]
    )
    rng = np.random.default_rng(2)
    Z, y = unit(rng.normal(size=(20, 3))), rng.uniform(-1, 1, 20)
    plan = plan_minimiser(SquaredLoss(), n_people=20, n_features=3, psi=0.1)
    w = floats(minimiser_value(plan, Z, y))
    least = ridge(Z, y[:, None], np.ones(20), 0.1, 20)[:, 0]
    assert np.linalg.norm(w - least) <= math.sqrt(plan.gap / 0.1)


# Agreement


def test_vectors_agree_with_ridge_of_scikit_learn():
    rng = np.random.default_rng(3)
    Z, U = unit(rng.normal(size=(60, 4))), 0.5 * unit(rng.normal(size=(60, 7)))
    weights = rng.uniform(size=60)
    smallest = RoundingErrors(SquaredLoss(), 0.01, 4).smallest_gap
    for is_joint in (True, False):
        plan = plan_minimiser(
            SquaredLoss(), n_people=60, n_features=4, n_outputs=7, psi=0.01,
            is_joint=is_joint, gap=smallest,
        )  # fmt: skip
        coef = plan.coefficients(floats(minimiser_value(plan, Z, U, weights)))
        ours = Ridge(alpha=0.6, fit_intercept=False).fit(Z, U, sample_weight=weights)
        assert coef.shape == (7, 4)
        np.testing.assert_allclose(coef, ours.coef_, rtol=1e-7, atol=1e-9)


def test_labels_agree_with_logistic_regression_of_scikit_learn():
    rng = np.random.default_rng(4)
    Z = unit(rng.normal(size=(80, 4)))
    Y = np.sign(Z @ rng.normal(size=(4, 3)) + 0.1 * rng.normal(size=(80, 3)))
    smallest = RoundingErrors(LogisticLoss(), 0.01, 4).smallest_gap
    plan = plan_minimiser(
        LogisticLoss(), n_people=80, n_features=4, n_outputs=3, psi=0.01, gap=smallest
    )
    coef = plan.coefficients(floats(minimiser_value(plan, Z, Y)))
    for own, y in zip(coef, Y.T, strict=True):
        theirs = LogisticRegression(
            C=1 / (2 * 0.01 * 80), fit_intercept=False, tol=1e-12, solver="newton-cg"
        )
        np.testing.assert_allclose(own, theirs.fit(Z, y).coef_[0], rtol=1e-6)


def test_a_weight_of_one_half_is_half_of_two_rows():
    plan = plan_minimiser(LogisticLoss(), n_people=3, n_features=2, psi=0.1, gap=1e-18)
    Z, y = unit(np.random.default_rng(5).normal(size=(3, 2))), np.array([1, -1, 1.0])
    half = floats(minimiser_value(plan, Z, y, np.full(3, 0.5)))
    double = replace(plan, psi=0.2)
    whole = floats(minimiser_value(double, Z, y, np.ones(3)))
    np.testing.assert_allclose(half, whole, rtol=1e-7)


# Rows


def test_rows_are_bounded_by_their_own_numbers_alone():
    rng = np.random.default_rng(7)
    rows = 10.0 ** rng.uniform(-3, 3, (200, 33)) * rng.normal(size=(200, 33))
    rows[:5] = np.array([1e308, -1e-308, math.inf, math.nan, 0])[:, None]
    rows[5:100] = unit(rows[5:100]) * rng.uniform(0, 1, (95, 1))
    together = in_unit_ball(rows)
    for k in range(200):
        for order in "CF":
            alone = in_unit_ball(np.asarray(rows[k : k + 1], order=order))
            np.testing.assert_array_equal(alone[0], together[k])
    np.testing.assert_array_equal(in_unit_ball(np.asfortranarray(rows)), together)
    squares = [sum(Fraction(x) ** 2 for x in row) for row in together.tolist()]
    assert max(squares) <= Fraction(KAPPA)
    assert max(squares) > Fraction(1 - 2.0**-40)
    np.testing.assert_array_equal(together[2:5], 0)
    inside = np.linalg.norm(rows[5:100], axis=1) < 1 - 1e-9
    np.testing.assert_array_equal(together[5:100][inside], rows[5:100][inside])


def test_targets_are_clipped_as_numbers_or_as_vectors():
    far, rows = np.array([[30.0, 40.0]]), np.ones((1, 1))
    for is_joint, near in ((True, [[0.6, 0.8]]), (False, [[1.0, 1.0]])):
        plan = plan_minimiser(
            SquaredLoss(), n_people=1, n_features=1, n_outputs=2, is_joint=is_joint
        )
        one, other = (minimiser_value(plan, rows, u) for u in (far, np.array(near)))
        np.testing.assert_allclose(floats(one), floats(other), rtol=1e-12)


# The plan and the law


@pytest.mark.parametrize("is_joint", [True, False])
def test_the_worst_pair_keeps_its_budget_and_uses_it(is_joint):
    """One person whose target changes its sign: the largest move, up to the gap."""
    facts = {"n_people": 1, "n_features": 2, "n_outputs": 2, "psi": 100.0}
    row, u = np.array([[1.0, 0.0]]), np.array([[0.6, 0.8]])
    u = u if is_joint else np.sign(u)
    facts |= {"is_joint": is_joint}
    loss = SquaredLoss()
    for epsilon, delta in ((0.7, 0.0), (0.7, 1e-5)):
        plan = plan_minimiser(
            loss, **facts, epsilon=epsilon, delta=delta,
            mechanism="gaussian" if delta else "spherical",
        )  # fmt: skip
        pair = [minimiser_value(plan, row, sign * u) for sign in (1, -1)]
        move = exact_move(*pair)
        assert move <= plan.sensitivity
        if delta:
            m = move / plan.law.std[0]
            for factor, low, high in ((1.0, 0, 1 + 1e-9), (0.95, 1, math.inf)):
                e = factor * epsilon
                first, second = log_ndtr(m / 2 - e / m), log_ndtr(-m / 2 - e / m)
                share = (math.exp(first) - math.exp(e + second)) / delta
                assert low <= share <= high
            continue
        loss_of_move = plan.law.loss(floats(pair[0]) - floats(pair[1]))
        assert 0.97 * epsilon < loss_of_move <= epsilon


def test_the_audit_sees_a_release_that_costs_what_it_says():
    """With the exact likelihood ratio of a spherical law."""
    facts = {"n_people": 1, "n_features": 1, "n_outputs": 2, "psi": 50.0}
    plan = plan_minimiser(SquaredLoss(), **facts, is_joint=True, epsilon=1.0)
    u = np.array([[0.6, 0.8]])
    pair = [minimiser_value(plan, np.ones((1, 1)), s * u) for s in (1, -1)]
    centres = [floats(value) for value in pair]
    bits = SeededBits(11)

    def audited(law):
        def ratios(value, size):
            lattice = release_lattice(law.smallest_scale, value)
            rows = replace(value, values=np.tile(value.values, (size, 1)))
            points = lattice.to_float(law.release(rows, lattice, bits))
            near, far = (np.linalg.norm(points - c, axis=1) for c in centres)
            return far - near

        facts = {"n_trials": 200_000, "confidence": 1 - 1e-6, "batch": True}
        return audit(ratios, *pair, **facts).epsilon_lower

    assert 0.8 < audited(plan.law) <= 1.0
    assert audited(SphericalLaplace(2, plan.law.scale / math.sqrt(2))) > 1.0


def test_the_quieter_law_is_taken():
    facts = {"n_people": 100, "epsilon": 1.0, "delta": 1e-6, "psi": 0.1}
    few = plan_minimiser(LogisticLoss(), **facts, n_features=2)
    many = plan_minimiser(LogisticLoss(), **facts, n_features=60)
    assert (few.mechanism, many.mechanism) == ("spherical", "gaussian")
    assert few.guarantee(False).delta == 0
    assert few.guarantee(True).seeded
    assert many.guarantee(False).delta == 1e-6
    forced = plan_minimiser(
        LogisticLoss(), **facts, n_features=60, mechanism="spherical"
    )
    assert forced.expected_square > many.expected_square
    forced = plan_minimiser(LogisticLoss(), **facts, n_features=2, mechanism="gaussian")
    assert forced.expected_square > few.expected_square


def test_psi_falls_with_people_and_features_rise():
    missed = np.exp(-np.arange(1, 40) / 3)
    plans = [
        plan_minimiser(LogisticLoss(), n_people=n, n_features=2, missed=missed)
        for n in (10, 1000, 10**5)
    ]
    assert sorted({plan.psi for plan in plans}, reverse=True) == [p.psi for p in plans]
    assert sorted({plan.n_features for plan in plans}) == [p.n_features for p in plans]


def test_the_released_matrix_is_brought_into_the_ball_of_minimisers():
    facts = {"n_people": 9, "n_features": 2, "n_outputs": 3, "psi": 0.1}
    far = 1e3 * np.arange(1.0, 7)
    for is_joint in (True, False):
        plan = plan_minimiser(SquaredLoss(), **facts, is_joint=is_joint)
        coef = plan.coefficients(far)
        norm = np.linalg.norm(coef, axis=None if is_joint else 1)
        np.testing.assert_allclose(norm, plan.radius)
        np.testing.assert_allclose(np.linalg.norm(coef), plan.largest_norm)
        near = coef / 2
        np.testing.assert_array_equal(plan.coefficients(near.ravel()), near)


@pytest.mark.parametrize(
    ("facts", "kind", "text"),
    [
        ({"mechanism": "laplace"}, ValueError, "mechanism must be 'auto' or one of"),
        ({"mechanism": "gaussian"}, PrivacyError, "needs delta > 0"),
        ({"is_joint": True}, ValueError, "vector targets need the squared loss"),
        ({"gap": 1e-60}, ValueError, "gap must be None or at least"),
    ],
)
def test_bad_plans_are_refused(facts, kind, text):
    with pytest.raises(kind, match=text):
        plan_minimiser(LogisticLoss(), n_people=5, n_features=2, **facts)


def test_the_example_runs():
    found = doctest.testmod(_minimiser)
    assert found.attempted > 0
    assert found.failed == 0
