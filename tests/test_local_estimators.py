"""What must hold of every private estimator of the local model, beyond our checks.

They draw in `transform`: what is private are the rows, their residual norms, the noise
and the bits, and nothing of it may be held, quoted or logged.
"""

import contextlib
import io
import os
import pickle
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.noise import OperatingSystemBits, RandomBits, SeededBits
from skfuncpriv.privacy import BudgetLedger
from skfuncpriv.testing._secrets import reachable
from tests.test_common import LOCAL

PRIVATE = [model for model in LOCAL if hasattr(model, "ledger")]


def name_of(estimator):
    options = [estimator.get_params().get("method")]
    budget = "rho" if estimator.rho is not None else "epsilon"
    return "-".join([type(estimator).__name__, *filter(None, options), budget])


def usable(estimator):
    """A copy with a budget at which noise is felt and does not dominate."""
    return clone(estimator).set_params(**{budget_of(estimator): 0.5})


@pytest.fixture(params=PRIVATE, ids=name_of)
def model(request):
    return usable(request.param)


def budget_of(model):
    return "epsilon" if model.rho is None else "rho"


def private_rows(seed=0, n_rows=40):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, 6)) * [30.0, 20.0, 9.0, 5.0, 2.0, 1.0]


def new_ledger(model, folder):
    return BudgetLedger(folder / "budget.db", **{budget_of(model): 3.0}, metric="L2")


@pytest.fixture
def ledger(model, tmp_path):
    return new_ledger(model, tmp_path)


def spent(ledger, model):
    return getattr(ledger.spent, budget_of(model))


@contextlib.contextmanager
def counted_randomness():
    """How many bytes are taken from the operating system, how many seeded words."""
    counts = {"system": 0, "seeded": 0}
    urandom, words = os.urandom, SeededBits.words

    def system(size):
        counts["system"] += size
        return urandom(size)

    def seeded(bits, count):
        counts["seeded"] += count
        return words(bits, count)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "urandom", system)
        patch.setattr(SeededBits, "words", seeded)
        yield counts


NOTHING = {"system": 0, "seeded": 0}


# Nothing private is held


class Secrets:
    """Rows, tails, noise and bits behind one fit and transform."""

    def __init__(self, model, rows, monkeypatch):
        self.words = []
        for source in (SeededBits, OperatingSystemBits):
            original = source.words

            def words(bits, count, original=original):
                drawn = original(bits, count)
                self.words.append(np.array(drawn))
                return drawn

            monkeypatch.setattr(source, "words", words)
        released = model.fit(rows).transform(rows)
        tails = [np.linalg.norm(rows[:, k:], axis=1) for k in range(rows.shape[1])]
        noise = np.nan_to_num(released - rows).ravel()
        squares = np.square(rows).ravel()
        means = rows.mean(axis=0)
        numbers = np.concatenate([rows.ravel(), squares, *tails, noise, means])
        self.numbers = np.unique(numbers[abs(numbers) > 1e-9])
        assert self.words

    def check(self, model):
        numbers, objects = reachable(model)
        for sign in (1, -1):
            gap = abs(sign * numbers[:, None] - self.numbers[None, :])
            assert not (gap < 1e-9 * abs(self.numbers)).any()
        generators = (RandomBits, np.random.Generator, np.random.RandomState)
        assert not any(isinstance(item, generators) for item in objects)
        dump = io.BytesIO()
        joblib.dump(model, dump)
        dumps = [pickle.dumps(model, k) for k in range(2, pickle.HIGHEST_PROTOCOL + 1)]
        secrets = [np.float64(number).tobytes() for number in self.numbers]
        secrets += [number[::-1] for number in secrets]
        secrets += [word.tobytes() for word in np.concatenate(self.words).ravel()[:500]]
        for data in (*dumps, dump.getvalue()):
            assert not any(secret in data for secret in secrets)
        with np.printoptions(precision=17, threshold=10**6):
            texts = [repr(model), str(model), model._repr_html_(), str(vars(model))]
        for number in self.numbers:
            digits = repr(abs(float(number)))[:9]
            assert len(digits) < 9 or not any(digits in text for text in texts)


def test_nothing_private_is_held(model, monkeypatch):
    model.set_params(random_state=3)
    secrets = Secrets(model, private_rows(), monkeypatch)
    secrets.check(model)


@pytest.mark.parametrize("kind", ["row", "tail", "words", "view", "text"])
def test_the_search_for_secrets_finds_them(model, monkeypatch, kind):
    rows = private_rows()
    secrets = Secrets(model.set_params(random_state=3), rows, monkeypatch)
    model.kept_ = {
        "row": rows[3].copy(),
        "tail": float(np.linalg.norm(rows[2, 1:])),
        "words": np.concatenate(secrets.words)[:1].copy(),
        "view": rows[:0],
        "text": f"a row of {rows[0, 0]!r}",
    }[kind]
    with pytest.raises(AssertionError):
        secrets.check(model)


def test_data_are_left_alone(model):
    rows = private_rows()
    if not hasattr(model, "missing"):
        rows[3, 2] = np.nan
    given = rows.copy()
    out = model.fit(given).transform(given)
    np.testing.assert_array_equal(given, rows)
    assert not np.shares_memory(out, given)


def public_state(model):
    """Parameters and fitted attributes; what has no name may cache public tables."""
    names = [name for name in vars(model) if not name.startswith("_")]
    return {name: pickle.dumps(vars(model)[name]) for name in sorted(names)}


def test_transform_changes_nothing_in_the_estimator(model):
    before = public_state(model.fit(private_rows()))
    first = model.transform(private_rows())
    assert public_state(model) == before
    second = model.transform(private_rows())
    assert not np.array_equal(first, second, equal_nan=True)  # fresh noise


def test_fits_of_different_data_are_equal(model):
    fits = [clone(model).fit(private_rows(seed) * 10.0**seed) for seed in range(3)]
    assert len({pickle.dumps(vars(fit)) for fit in fits}) == 1


# Data that look different raise and warn alike


def outcome(call, X):
    """Warnings, and the exception if there is one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call(X)
            error = None
        except Exception as raised:
            error = (type(raised), str(raised), repr(raised.__cause__))
    return error, [(w.category, str(w.message)) for w in caught]


def test_finite_numbers_of_any_size_are_accepted_alike(model):
    rows = private_rows()
    tables = [rows, rows * 1e-310, rows * 0, np.full(rows.shape, 1e308)]
    tables += [np.where(rows > 0, np.finfo(float).max, -np.finfo(float).max)]
    tables += [rows.astype(np.float32), rows.astype(int), rows.tolist()]
    for X in tables:
        assert outcome(clone(model).fit_transform, X) == (None, [])


# Randomness and parameters


def test_generators_are_seeds_that_move_on(model):
    model.set_params(random_state=np.random.RandomState(0)).fit(private_rows())
    assert model.guarantee_.seeded
    first, second = (model.transform(private_rows()) for _ in range(2))
    assert not np.array_equal(first, second, equal_nan=True)


@pytest.mark.parametrize(("before", "after"), [(None, 0), (0, None)])
def test_a_source_changed_after_fit_is_refused(model, ledger, before, after):
    model.set_params(random_state=before, ledger=str(ledger.path))
    model.fit(private_rows()).set_params(random_state=after)
    with counted_randomness() as counts, pytest.raises(PrivacyError, match="fit again"):
        model.transform(private_rows())
    assert counts == NOTHING
    assert ledger.history() == []


def test_later_budgets_do_not_change_what_was_promised(model, ledger):
    model.set_params(ledger=str(ledger.path), random_state=0).fit(private_rows())
    out = model.transform(private_rows())
    model.set_params(**{budget_of(model): 1e9})
    np.testing.assert_array_equal(model.transform(private_rows()), out)
    assert spent(ledger, model) == 1.0


def test_before_fit_nothing_works(model):
    with pytest.raises(NotFittedError):
        model.transform(private_rows())
    model.fit(private_rows())
    model.set_params(epsilon=None, rho=None)
    with pytest.raises(ValueError, match="give either epsilon"):
        model.fit(private_rows())
    with pytest.raises(NotFittedError):  # no old promise beside new parameters
        model.transform(private_rows())
