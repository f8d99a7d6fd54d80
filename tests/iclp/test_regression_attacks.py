"""Attacks on private regression, classification and the published baselines.

Each tries to learn something of a person, or to make one count for more than is paid.
"""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv import BernsteinMean, FRLMean, ICLPClassifier, ICLPRegressor
from skfuncpriv.curves import Curves
from skfuncpriv.exceptions import NoiseDominatesWarning, PrivacyError
from skfuncpriv.gaussian_process._duality import RoundingErrors
from skfuncpriv.gaussian_process._losses import (
    EpsilonInsensitiveLoss,
    HingeLoss,
    HuberLoss,
    LogisticLoss,
    SquaredLoss,
)
from skfuncpriv.iclp._minimiser import minimiser_value, plan_minimiser
from skfuncpriv.noise import FixedPoint, Lattice
from skfuncpriv.noise._lattice import split
from skfuncpriv.privacy import BudgetLedger
from skfuncpriv.testing import recorded

pytestmark = pytest.mark.filterwarnings(
    "ignore::skfuncpriv.exceptions.NoiseDominatesWarning"
)
REGRESSION = {"X_bounds": (-1, 1.5), "y_bounds": (-1, 2), "weight_cap": 0.7}


def numbers(rng, count, width=2):
    return rng.normal(size=(count, width))


def targets(rng, count):
    return rng.normal(size=count)


def wide(rng, count, gaps=0.2, width=11):
    values = rng.normal(size=(count, width))
    values[rng.uniform(size=values.shape) < gaps] = np.nan
    values[rng.uniform(size=count) < gaps / 4] = np.nan
    return values


def vectors(rng, count):
    return wide(rng, count, width=14).reshape(count, 7, 2)


def irregular(rng, count, n_outputs=1):
    """Curves at points of their own, some of them without any."""
    counts = rng.integers(0, 9, count)
    times = [np.sort(rng.uniform(-0.2, 1.2, k)) for k in counts]
    values = rng.normal(size=(counts.sum(), n_outputs))
    values[rng.uniform(size=values.shape) < 0.1] = np.nan
    return Curves(
        values,
        np.concatenate(times),
        np.append(0, np.cumsum(counts)),
        domain=(0, 1),
        missing="interpolate",
    )


def several(rng, count):
    return [wide(rng, count), irregular(rng, count)]


def joined(parts):
    """The rows of several people, one below the other."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    if isinstance(parts[0], list):
        return [joined(list(each)) for each in zip(*parts, strict=True)]
    counts = np.concatenate([np.diff(part.offsets) for part in parts])
    return Curves(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.times for part in parts]),
        np.append(0, np.cumsum(counts)),
        domain=(0, 1),
        missing="interpolate",
    )


def curve_model(**facts):
    return ICLPRegressor(**REGRESSION, missing="interpolate", X_basis=5, **facts)


FORMS = {
    "linear": (ICLPRegressor(**REGRESSION, kernel="linear"), numbers, targets),
    "kernel": (ICLPRegressor(**REGRESSION, X_basis=12), numbers, targets),
    "wide": (curve_model(X_domain=(0, 1)), wide, targets),
    "vector": (curve_model(X_domain=(0, 1)), vectors, targets),
    "irregular": (curve_model(), irregular, targets),
    "several": (curve_model(X_domain=[(0, 1), (0, 1)]), several, targets),
    "curves": (
        ICLPRegressor(**REGRESSION, y_basis=4, y_domain=(0, 1), missing="interpolate"),
        numbers,
        irregular,
    ),
}


def exact_sum(model, X, y, codes, weights):
    """The sum that gets noise, as a list of fractions."""
    with recorded() as releases:
        model.fit(X, y, groups=codes, sample_weight=weights)
    (released,) = releases
    return np.array(released.exact)


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_what_a_person_adds_is_the_same_beside_anybody_to_the_last_bit(form, many):
    model, make_X, make_y = FORMS[form]
    model.set_params(method="statistics", psi=0.1, random_state=0)
    rng = np.random.default_rng(3)

    def person(count):
        return make_X(rng, count), make_y(rng, count), rng.uniform(0, 1, count)

    def some(least, most):
        # Products of few rows and of many are computed in other ways.
        return person(int(rng.choice([least, most])) if many else 1)

    pair = [some(2, 30), some(3, 17)]
    moves = []
    for repeat in range(4):
        others = [some(1, 60 * repeat + 2) for _ in range(5)]
        place = int(rng.integers(6)) if many else 2
        sums = []
        for one in pair:
            everybody = [*others[:place], one, *others[place:]]
            X, y, weights = (joined(list(p)) for p in zip(*everybody, strict=True))
            counts = [len(each[2]) for each in everybody]
            codes = np.repeat(np.arange(6), counts) if many else None
            sums.append(exact_sum(model, X, y, codes, weights))
        moves.append(sums[0] - sums[1])
    assert np.any(moves[0] != 0)
    assert all(np.array_equal(move, moves[0]) for move in moves[1:])


@pytest.mark.parametrize("layout", ["columns", "strided", "backwards"])
@pytest.mark.parametrize("form", ["linear", "kernel", "wide"])
def test_the_layout_of_arrays_changes_no_bit(form, layout):
    model, make_X, make_y = FORMS[form]
    model.set_params(method="statistics", psi=0.1, random_state=0)
    rng = np.random.default_rng(4)
    X, y = make_X(rng, 30), make_y(rng, 30)
    if layout == "columns":
        other = np.asfortranarray(X)
    elif layout == "strided":
        other = np.repeat(X, 2, axis=1)[:, ::2]
    else:
        other = X[::-1].copy()[::-1]
    sums = [exact_sum(model, each, y, None, None) for each in (X, other)]
    assert np.array_equal(*sums)


LOSSES = [
    SquaredLoss(),
    HuberLoss(0.25),
    EpsilonInsensitiveLoss(1e-9),
    LogisticLoss(),
    HingeLoss(),
]


@pytest.mark.parametrize("psi", [1e-8, 1e-3, 1e4])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_no_data_make_the_certificate_fail_at_the_smallest_gap(loss, psi):
    # A refusal that depends on the data would tell of them.
    rng = np.random.default_rng(5)
    for kind in range(6):
        n, p = int(rng.choice([1, 3, 40])), int(rng.choice([1, 4]))
        gap = RoundingErrors(loss, psi, p).smallest_gap * (1 + 1e-12)
        plan = plan_minimiser(loss, n_people=n, n_features=p, psi=psi, gap=gap)
        features = rng.normal(size=(n, p))
        if kind == 1:
            features = np.repeat(features[:1], n, axis=0)
        if kind == 2:
            features *= 10.0 ** rng.uniform(-300, 3, size=(n, 1))
        if kind == 3:
            features = features[:, :1] + 1e-9 * features
        if kind == 4:
            features = np.eye(p)[rng.integers(0, p, n)]
        signs = rng.choice([-1.0, 1.0], size=n)
        weights = 10.0 ** rng.uniform(-300, 0, n) if kind % 2 else np.ones(n)
        value = minimiser_value(plan, features, signs, weights)
        largest = max(abs(int(k)) for k in value.values)
        assert largest <= value.bound


@pytest.mark.parametrize("method", ["statistics", "minimiser"])
@pytest.mark.parametrize("grouped", [False, True])
def test_nobody_with_data_is_no_error(method, grouped):
    X, y = np.full((6, 8), np.nan), np.linspace(-1, 1, 6)
    codes = np.array([0, 0, 1, 1, 2, 2]) if grouped else None
    facts = {"method": method, "psi": 0.1, "epsilon": 100.0, "random_state": 0}
    model = curve_model(X_domain=(0, 1), **facts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", NoiseDominatesWarning)
        total = exact_sum(model, X, y, codes, None)
    assert not total.any()
    model = ICLPClassifier(
        X_bounds=(-1, 1), X_domain=(0, 1), classes=[0, 1], missing="interpolate"
    )
    assert np.isfinite(model.fit(X, y > 0, groups=codes).coef_).all()


def test_no_number_of_a_person_is_in_a_pickle():
    rng = np.random.default_rng(6)
    X, y = rng.uniform(-0.9, 0.9, (23, 17)), rng.uniform(-1, 1, 23)
    times = np.tile(np.linspace(0, 1, 17), 23) + np.repeat(rng.uniform(0, 1e-3, 23), 17)
    curves = Curves(X.ravel(), times, np.arange(24) * 17, domain=(0, 1))
    codes, weights = rng.permutation(23) // 2, rng.uniform(0, 1, 23)
    private = np.concatenate([X.ravel(), y, times, weights])
    facts = {"X_bounds": (-1, 1), "weight_cap": 1}
    for each in (X, curves):
        for model, target in (
            (ICLPRegressor(**facts, y_bounds=(-1, 1), X_domain=(0, 1)), y),
            (ICLPClassifier(**facts, X_domain=(0, 1)), y > 0),
            (ICLPRegressor(**facts, y_bounds=(-1, 1), y_domain=(0, 1)), each),
        ):
            first = y[:, None] if target is each else each
            model.fit(first, target, groups=codes, sample_weight=weights)
            text = pickle.dumps(model) + repr(model).encode()
            assert not any(np.float64(number).tobytes() in text for number in private)
        for mean in (FRLMean(bounds=(-1, 1)), BernsteinMean(bounds=(-1, 1))):
            text = pickle.dumps(mean.fit(each, groups=codes))
            assert not any(np.float64(number).tobytes() in text for number in private)


def named(people, reverse):
    """Curves of people, in the order in which a table mentions them."""
    order = people[::-1] if reverse else people
    rng = np.random.default_rng(7)
    return Curves.from_long(
        {
            "id": np.repeat(order, 3),
            "t": np.tile([0.0, 0.5, 1.0], len(order)),
            "y": rng.normal(size=3 * len(order)),
        },
        "id",
        "t",
        "y",
        domain=(0, 1),
    )


def test_curves_of_other_people_in_the_same_row_are_refused():
    # One person would own a part of two rows, and move twice what is paid for.
    first, second = (named(list("abcdef"), reverse) for reverse in (False, True))
    model = ICLPRegressor(X_bounds=(-1, 1), y_bounds=(-1, 1))
    with pytest.raises(ValueError, match="other ids, or another order"):
        model.fit(first, second)
    model.fit(first, second[np.arange(6)[::-1]])
    domains = {"left": (0, 1), "right": (0, 1)}
    rows = {"left": first, "right": second}
    for each in (
        ICLPRegressor(X_bounds=(-1, 1), y_bounds=(-1, 1), X_domain=domains),
        ICLPClassifier(X_bounds=(-1, 1), X_domain=domains),
    ):
        with pytest.raises(ValueError, match="other ids, or another order"):
            each.fit(rows, [0, 1, 0, 1, 0, 1])
        each.fit({**rows, "right": first}, [0, 1, 0, 1, 0, 1])


@pytest.mark.parametrize("is_object", [False, True])
@pytest.mark.parametrize("shift", [10, 62, 63, 1100])
def test_the_sign_of_a_sum_decides_no_error(shift, is_object):
    # Far below the noise a negative sum is nearly a whole step above its floor.
    kind = object if is_object else np.int64
    value = FixedPoint(np.array([-5, 7], dtype=kind), Lattice(-900), 8)
    parts = split(value, Lattice(-900 + shift), 2)
    for column, exact in enumerate((Fraction(-5), Fraction(7))):
        found = Fraction(parts.fraction[0, column]) + int(parts.integer[0, column])
        assert abs(found - exact / 2**shift) <= Fraction(1, 2**53)


BUDGETS = (5e-324, 1e-300, 1e-150, 1.0, 1e150, 1.7e308)
BOUNDS = ((-1, 1), (-8e307, 8e307), (1e308, 1.0000000001e308), (0, 1e-90))


def extreme_models():
    yield "frl", lambda b: FRLMean(bounds=b, n_basis=3), False
    yield "bernstein", lambda b: BernsteinMean(bounds=b, degree=3), False
    for method in ("statistics", "minimiser"):
        facts = {"method": method, "psi": 1e-3}
        small = {"X_basis": 3, "X_domain": (0, 1)}
        yield (
            f"X {method}",
            lambda b, f={**facts, **small}: ICLPRegressor(
                X_bounds=b, y_bounds=(-1, 1), **f
            ),
            True,
        )
        yield (
            f"y {method}",
            lambda b, f=facts: ICLPRegressor(
                X_bounds=(-1, 1), y_bounds=b, y_domain=(0, 1), y_basis=3, **f
            ),
            True,
        )


@pytest.mark.parametrize(
    ("name", "make", "has_targets"), list(extreme_models()), ids=lambda x: str(x)[:14]
)
def test_extreme_public_facts_are_refused_for_free_or_release_numbers(
    name, make, has_targets, tmp_path
):
    rng = np.random.default_rng(8)
    curves = rng.choice([-1e308, 1e308, 5e-324, -0.0], size=(9, 6))
    y = np.linspace(-1, 1, 9)
    count = 0
    for bounds in BOUNDS:
        for epsilon in BUDGETS:
            count += 1
            path = tmp_path / f"{count}.db"
            ledger = BudgetLedger(path, epsilon=1.7e308)
            model = make(bounds).set_params(epsilon=epsilon, ledger=str(path))
            data = (curves, y) if has_targets else (curves,)
            if name.startswith("y "):
                data = (y[:, None], curves)
            try:
                model.fit(*data)
            except (ValueError, PrivacyError):
                assert not ledger.history()
                continue
            assert len(ledger.history()) == 1
            assert np.isfinite(model.coef_).all()
            if has_targets:
                assert np.isfinite(model.predict(1e308 * np.sign(data[0]))).all()


def test_noise_whose_variance_is_infinite_leaves_nothing_and_loses_no_release():
    # The deviation of coefficients follows the noise that was drawn: found in one of
    # 400 fits. Seed 649 is the first of those.
    rng = np.random.default_rng(8)
    curves = rng.choice([-1e308, 1e308, 5e-324, -0.0], size=(9, 6))
    facts = {"y_bounds": (0, 1e-90), "y_domain": (0, 1), "y_basis": 3, "psi": 1e-3}
    model = ICLPRegressor(
        X_bounds=(-1, 1), method="statistics", epsilon=1e-150, random_state=649, **facts
    )
    assert not model.fit(np.linspace(-1, 1, 9)[:, None], curves).coef_.any()


@pytest.mark.parametrize("classes", [None, [0, 1]])
@pytest.mark.parametrize("strange", ["missing", "array"])
def test_labels_that_do_not_equal_themselves_are_refused_in_our_words(strange, classes):
    pd = pytest.importorskip("pandas")
    labels = (np.arange(8) % 2).astype(object)
    labels[3] = pd.NA if strange == "missing" else np.array([0, 1])
    model = ICLPClassifier(X_bounds=(-1, 1), classes=classes)
    with pytest.raises(ValueError, match="labels must be known"):
        model.fit(np.zeros((8, 2)), labels)


@pytest.mark.parametrize("is_dict", [False, True])
def test_frames_in_another_order_are_refused(is_dict):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(np.linspace(-1, 1, 24).reshape(6, 4))
    y, other = [0, 1, 0, 1, 0, 1], table[::-1]
    domains = {"left": (0, 1), "right": (0, 1)} if is_dict else [(0, 1), (0, 1)]

    def rows(left, right):
        return {"left": left, "right": right} if is_dict else [left, right]

    for kind, facts in ((ICLPRegressor, {"y_bounds": (0, 1)}), (ICLPClassifier, {})):
        model = kind(X_bounds=(-1, 1), X_domain=domains, weight_cap=1.0, **facts)
        labels = pd.Series(["a", "b", "c"] * 2, index=other.index)
        weights = pd.Series(np.ones(6), index=other.index)
        with pytest.raises(ValueError, match="indexes than each other"):
            model.fit(rows(table, other), y)
        for mixed in (rows(table, table), rows(table.to_numpy(), table)):
            with pytest.raises(ValueError, match="groups has another index"):
                model.fit(mixed, y, groups=labels)
            with pytest.raises(ValueError, match="sample_weight has another index"):
                model.fit(mixed, y, sample_weight=weights)
        model.fit(rows(other, other), y, groups=labels, sample_weight=weights)
        assert model.n_people_ == 3
