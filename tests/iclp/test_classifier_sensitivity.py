"""What one person can change of a released classifier, and what it costs.

Coefficients are read where noise is added, so these tests see what `fit` releases, with
the law it uses: a sensitivity that is missed fails, and one that is not attained.
"""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import log_ndtr

from skfuncpriv import BudgetLedger, ICLPClassifier, PrivacyError
from skfuncpriv.gaussian_process import GaussianKernel
from skfuncpriv.gaussian_process._minimise import NOT_CERTIFIED
from skfuncpriv.iclp import _minimiser
from skfuncpriv.noise import NoiseLaw, SeededBits, SphericalLaplace
from skfuncpriv.privacy import audit
from skfuncpriv.testing import recorded

pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)
FORMS = {
    "curves": {"X_domain": (0.0, 1.0), "X_basis": 2, "eta": 0.6},
    "linear": {"kernel": "linear"},
    "kernel": {"kernel": GaussianKernel(3.0), "X_basis": 4},
}
WIDTHS = {"curves": 6, "linear": 2, "kernel": 2}
each_form = pytest.mark.parametrize("form", FORMS)
each_loss = pytest.mark.parametrize("loss", ["logistic", "hinge"])


def model_of(form, **facts):
    facts = {
        "X_bounds": (-1.0, 1.0), "classes": [0, 1], "weight_cap": 2.0, "psi": 0.05,
        "random_state": 0,
    } | facts  # fmt: skip
    return ICLPClassifier(**FORMS[form] | facts)


def hidden_by(model, X, y, groups=None, sample_weight=None):
    with recorded() as releases:
        model.fit(X, y, groups, sample_weight)
    (released,) = releases
    return released


def move(one, other):
    """The Euclidean distance of two hidden vectors, exact until the last root."""
    pairs = zip(one.exact, other.exact, strict=True)
    return math.sqrt(sum((a - b) ** 2 for a, b in pairs))


def largest_move(fits):
    assert len({(fit.law, fit.lattice, fit.value.lattice) for fit in fits}) == 1
    points = np.array([[float(x) for x in fit.exact] for fit in fits])
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    i, j = np.unravel_index(distances.argmax(), distances.shape)
    return move(fits[i], fits[j])


def rows_of(form, rng):
    """What a person may hold, the absurd included."""
    width = WIDTHS[form]
    line = np.linspace(-1, 1, width)
    rows = [np.full(width, x) for x in (1.0, -1.0, 1e308)]
    return [*rows, 1e300 * line, -line, rng.uniform(-1, 1, width)]


@each_form
@each_loss
def test_no_weighted_row_moves_the_release_further_than_stated(form, loss):
    rng = np.random.default_rng(0)
    shares = []
    for psi, n in ((1e-3, 1), (1e-3, 3), (0.05, 2), (0.05, 20), (20.0, 1)):
        model = model_of(form, psi=psi, loss=loss)
        X = rng.uniform(-1, 1, (n - 1, WIDTHS[form]))
        y, weights = rng.integers(0, 2, n - 1), rng.uniform(0, 3, n - 1)
        fits = [
            hidden_by(
                model, np.vstack([X, row]), np.append(y, label), None,
                np.append(weights, weight),
            )
            for row, label, weight in itertools.product(
                rows_of(form, rng), (0, 1), (9.0, 0.4)
            )
        ]  # fmt: skip
        shares.append(largest_move(fits) / model.sensitivity_)
    assert 0.75 < max(shares) <= 1


@each_form
@each_loss
def test_people_with_any_number_of_weighted_rows(form, loss):
    rng = np.random.default_rng(1)
    model = model_of(form, loss=loss)
    X = rng.uniform(-1, 1, (6, WIDTHS[form]))
    y, names = np.array([1, 0, 1, 1, 0, 1]), ["a", "b", "b", "c", "c", "c"]
    fits = []
    versions = list(itertools.product(rows_of(form, rng), (0, 1)))
    for k, (row, label) in enumerate(versions):
        for count, weight in ((1, 2.0), (3, 7.0), (11, 1.1)):
            rows, labels = [row] * count, [label] * count
            if count == 3:
                rows[1], labels[1] = versions[(5 * k) % len(versions)]
            fits.append(
                hidden_by(
                    model, np.vstack([X, rows]), np.append(y, labels),
                    [*names, *["d"] * count], [1.0] * 6 + [weight] * count,
                )
            )  # fmt: skip
    assert model.n_people_ == 4
    assert 0.3 < largest_move(fits) / model.sensitivity_ <= 1


def test_rows_without_data_move_no_further():
    rng = np.random.default_rng(2)
    model = model_of("curves", missing="interpolate")
    X, y = rng.uniform(-1, 1, (5, 6)), np.array([0, 1, 1, 0, 1])
    names = ["a", "a", "b", "b", "c"]
    gone = np.full(6, np.nan)
    fits = [
        hidden_by(model, np.vstack([X, rows]), np.append(y, labels), names + owners)
        for rows, labels, owners in (
            ([gone], [1], ["d"]),
            ([gone, np.ones(6)], [1, 0], ["d"] * 2),
            ([gone, np.ones(6)], [1, 1], ["d"] * 2),
            ([np.ones(6)] * 3, [1] * 3, ["d"] * 3),
        )
    ]
    assert largest_move(fits) <= model.sensitivity_
    assert model.n_people_ == 4
    # One row without data beside another counts as the other alone.
    alone = hidden_by(model, np.vstack([X, np.ones(6)]), [*y, 1], [*names, "d"])
    assert move(fits[2], alone) <= 2 * math.sqrt(model.gap_ / model.psi_)


@each_form
@each_loss
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_worst_pair_keeps_its_budget_and_uses_it(form, loss, n_classes):
    """One person, who changes side: all functions move by as much as they can.

    All but a little in a kernel, whose features have norm one only nearly.
    """
    for epsilon, delta in ((1.0, 0.0), (1.0, 1e-6)):
        model = model_of(
            form, loss=loss, classes=range(n_classes), psi=1e3, epsilon=epsilon,
            delta=delta, mechanism="gaussian" if delta else "auto",
        )  # fmt: skip
        width = WIDTHS[form]
        pair = [
            hidden_by(model, np.full((1, width), x), [k]) for x, k in ((1, 1), (1, 0))
        ]
        if n_classes == 3:  # opposite features, the same label
            pair = [_with_features(model, sign) for sign in (1, -1)]
        distance = move(*pair)
        assert distance <= model.sensitivity_
        law = pair[0].law
        if not delta:
            shift = [
                float(a - b) for a, b in zip(*(p.exact for p in pair), strict=True)
            ]
            assert 0.9 * epsilon < law.loss(shift) <= epsilon
            continue
        for factor, low, high in ((1.0, 0, 1 + 1e-9), (0.9, 1, math.inf)):
            e, m = factor * epsilon, distance / law.std[0]
            first, second = log_ndtr(m / 2 - e / m), log_ndtr(-m / 2 - e / m)
            assert low <= (math.exp(first) - math.exp(e + second)) / delta <= high


def _with_features(model, sign):
    """A fit on one row whose features are a unit vector, with either sign.

    No design has both: the constant does not change its sign. Kernels of other shapes
    would come near.
    """
    original = _minimiser.in_unit_ball

    def opposite(rows):
        return sign * np.eye(1, rows.shape[1])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_minimiser, "in_unit_ball", opposite)
        hidden = hidden_by(model, np.zeros((1, WIDTHS[_form_of(model)])), [1])
    assert _minimiser.in_unit_ball is original
    return hidden


def _form_of(model):
    if model.X_domain is not None:
        return "curves"
    return "linear" if model.kernel == "linear" else "kernel"


def test_the_audit_sees_a_release_that_costs_what_it_says():
    """By the exact likelihood ratio, on a pair of classifiers of one number."""
    model = model_of("linear", X_bounds=(-1, 1), psi=1e3, epsilon=1.0)
    pair = [hidden_by(model, [[1.0]], [label]) for label in (0, 1)]
    centres = [np.array([float(x) for x in hidden.exact]) for hidden in pair]
    bits = SeededBits(5)

    def audited(law):
        def ratios(hidden, size):
            rows = np.tile(hidden.value.values, (size, 1))
            value = replace(hidden.value, values=rows)
            released = law.release(value, hidden.lattice, bits)
            points = hidden.lattice.to_float(released)
            near, far = (np.linalg.norm(points - c, axis=1) for c in centres)
            return far - near

        facts = {"n_trials": 100_000, "confidence": 1 - 1e-6, "batch": True}
        return audit(ratios, *pair, **facts).epsilon_lower

    law = pair[0].law
    assert 0.75 < audited(law) <= 1.0
    assert audited(SphericalLaplace(law.dimension, law.scale / math.sqrt(2))) > 1.0


@each_form
def test_copies_of_rows_count_as_one_wherever_they_stand(form):
    rng = np.random.default_rng(3)
    model = model_of(form)
    X, y = rng.uniform(-1, 1, (30, WIDTHS[form])), rng.integers(0, 2, 30)
    once = hidden_by(model, X, y, np.arange(30))
    copies = np.append(np.arange(30), np.full(16, 7))  # each has the weight 1/17
    order = rng.permutation(len(copies))
    many = hidden_by(model, X[copies][order], y[copies][order], copies[order].tolist())
    assert move(once, many) <= 2 * math.sqrt(model.gap_ / model.psi_)


@each_form
def test_the_gap_is_paid_for(form):
    X, y = np.zeros((9, WIDTHS[form])), np.arange(9) % 2
    sensitivities = []
    for gap in (1e-10, 1e-4):
        model = model_of(form, gap=gap).fit(X, y)
        assert model.gap_ == gap
        sensitivities.append(Fraction(model.sensitivity_))
    added = 2 * (math.sqrt(1e-4 / 0.05) - math.sqrt(1e-10 / 0.05))
    assert float(sensitivities[1] - sensitivities[0]) == pytest.approx(added)


def test_what_is_not_certified_is_not_charged(tmp_path, monkeypatch):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=10.0)
    model = model_of("linear", ledger=str(ledger.path))

    def fail(*arguments):
        raise PrivacyError(NOT_CERTIFIED)

    monkeypatch.setattr(_minimiser, "certified_minimiser", fail)
    with pytest.raises(PrivacyError, match="keep it to yourself"):
        model.fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert ledger.history() == []


def test_the_charge_is_what_is_promised(tmp_path, monkeypatch):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=10.0, unit="person")
    model = model_of("linear", ledger=str(ledger.path), epsilon=3.0)
    original, charged = NoiseLaw.release, []

    def release(*arguments):
        charged.append(ledger.spent.epsilon)
        return original(*arguments)

    monkeypatch.setattr(NoiseLaw, "release", release)
    model.fit(np.zeros((4, 2)), [0, 1, 0, 1], groups=[1, 1, 2, 3])
    assert charged == [3.0]
    assert model.guarantee_.unit == "person"
    assert ledger.history()[-1].guarantee == model.guarantee_
