"""What must hold of every central estimator, over the list of `test_common.py`.

Private numbers are found without knowing the estimator: its noise is silenced at the
one place where noise is added, and what it then "releases" are the private statistics.
"""

import contextlib
import gc
import io
import itertools
import os
import pickle
import types
import warnings
import weakref

import joblib
import numpy as np
import pytest
from numpydoc.docscrape import ClassDoc
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import get_tags

from skfuncpriv.exceptions import (
    BudgetExceededError,
    LargeDeltaWarning,
    NoiseDominatesWarning,
    PrivacyError,
)
from skfuncpriv.noise import NoiseLaw, OperatingSystemBits, RandomBits, SeededBits
from skfuncpriv.privacy import BudgetLedger
from tests.iclp.spine import recorded, silenced
from tests.test_common import CENTRAL

# Regressions with a small psi that is stated are told that noise dominates.
pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected to make:skfuncpriv.NoiseDominatesWarning"
)
PUBLIC_STREAMS = (2, 3, 4, 5)  # bands, denoisers, their priors, noise of covariances
N_PEOPLE = 300
N_COLUMNS = 12


def name_of(estimator):
    options = [estimator.get_params().get(k) for k in ("mechanism", "penalty", "loss")]
    if hasattr(estimator, "estimator"):
        options.append(type(estimator.estimator).__name__)
    return "-".join([type(estimator).__name__, *filter(None, options)])


@pytest.fixture(params=CENTRAL, ids=name_of)
def model(request):
    """An estimator with a budget at which noise is felt and does not dominate."""
    return clone(request.param).set_params(epsilon=5.0)


def private_data(seed=0, n_people=N_PEOPLE):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-450, 450, (n_people, N_COLUMNS)) + 40 * np.arange(N_COLUMNS)
    return X, rng.uniform(-1, 1, n_people)


def neighbours():
    """The same people; what the last one holds is replaced by an extreme."""
    X, y = private_data()
    other = X.copy()
    other[-1] = 1e300
    return (X, y), (other, y)


def public_points(model):
    """Arguments of a curve, or rows as those that were fitted."""
    line = np.linspace(-500, 500, 7)
    is_curve = hasattr(model, "domain") and hasattr(model, "predict")
    return line if is_curve else np.repeat(line[:, None], N_COLUMNS, axis=1)


def queries(model):
    """Everything that may be asked of a fitted estimator."""
    answers = {}
    for name in ("predict", "transform", "score_samples"):
        if hasattr(model, name):
            answers[name] = getattr(model, name)(public_points(model))
    for name in ("noise_band",):
        if hasattr(model, name):
            answers[name] = np.stack(getattr(model, name)())
    assert answers
    return answers


def fitted_attributes(model):
    return {
        name: value for name, value in vars(model).items()
        if name not in model.get_params(deep=False)
    }  # fmt: skip


def released_names(model, mark="Released."):
    """Attributes that the documentation calls released."""
    documented = ClassDoc(type(model))["Attributes"]
    return {
        field.name for field in documented
        if " ".join(field.desc).strip().startswith(mark)
    }  # fmt: skip


# Nothing private is held


def reachable(root):
    """Every number and every object that can be reached from an object."""
    numbers, objects, stack, seen = [], [], [root], set()
    while stack:
        item = stack.pop()
        if id(item) in seen or isinstance(item, type | types.ModuleType | str | bytes):
            continue
        seen.add(id(item))
        objects.append(item)
        if isinstance(item, bool | np.bool_) or item is None:
            continue
        if isinstance(item, int | float | np.number):
            numbers.append(float(item))
        elif isinstance(item, np.ndarray):
            stack.append(item.base)
            if item.dtype.kind in "fiu":
                numbers.extend(item.ravel().astype(float).tolist())
            else:
                stack.extend(item.ravel().tolist())
        elif isinstance(item, dict):
            stack.extend([*item.keys(), *item.values()])
        elif isinstance(item, list | tuple | set | frozenset):
            stack.extend(item)
        if isinstance(item, types.FunctionType):
            stack.extend(cell.cell_contents for cell in item.__closure__ or ())
            stack.extend([item.__defaults__, item.__kwdefaults__])
        if isinstance(item, types.MethodType):
            stack.extend([item.__self__, item.__func__])
        stack.append(getattr(item, "__dict__", None))
        for owner in type(item).__mro__:
            for slot in np.atleast_1d(getattr(owner, "__slots__", ())):
                stack.append(getattr(item, str(slot), None))
    return np.array(numbers), objects


def five_bytes(data):
    """The number that any five bytes in a row are."""
    octets = np.frombuffer(data, np.uint8).astype(np.int64)
    length = len(octets) - 4
    return sum(octets[k : k + length] << (8 * k) for k in range(5))


class Secrets:
    """The private numbers behind one fit: rows, exact sums, statistics, noise, bits."""

    def __init__(self, model, X, y, monkeypatch):
        with silenced():
            quiet = clone(model).fit(X, y)
        self.words = []
        for source in (SeededBits, OperatingSystemBits):
            original = source.words

            def words(bits, count, original=original):
                drawn = original(bits, count)
                self.words.append(np.array(drawn))
                return drawn

            monkeypatch.setattr(source, "words", words)
        with recorded() as releases:
            model.fit(X, y)
        numbers, self.integers = [X.ravel(), y], []
        for released in releases:
            self.integers += [int(k) for k in released.value.values.ravel()]
            exact = np.array([float(x) for x in released.exact])
            noise = released.lattice.to_float(released.integers) - exact
            numbers += [exact, noise, noise / released.lattice.step]
            numbers += [exact / N_PEOPLE, noise / N_PEOPLE]
        for name in released_names(model):
            statistic = np.ravel(getattr(quiet, name))
            ours = np.ravel(getattr(model, name))
            assert (statistic != ours).all(), name
            numbers += [statistic, ours - statistic]
        self.numbers = np.unique(np.concatenate(numbers))
        self.numbers = self.numbers[abs(self.numbers) > 1e-99]
        assert len(self.numbers) > X.size
        assert self.integers
        assert self.words

    def check_numbers(self, numbers):
        """No private number is among them, to eleven digits: nine meet by chance."""
        for sign in (1, -1):
            place = np.searchsorted(self.numbers, sign * numbers)
            for shift in (-1, 0):
                near = self.numbers[np.clip(place + shift, 0, len(self.numbers) - 1)]
                gap = abs(sign * numbers - near)
                assert not (gap < 1e-11 * abs(near)).any()

    def check_bytes(self, data):
        """Neither a number, in either order of bytes, nor a word of random bits."""
        wanted = [self.numbers.astype(order).view("<u8") for order in ("<f8", ">f8")]
        wanted += [word.ravel().view("<u8") for word in self.words]
        wanted = np.sort(np.concatenate(wanted))
        for shift in range(8):
            whole = (len(data) - shift) // 8 * 8
            windows = np.frombuffer(data[shift : shift + whole], "<u8")
            place = np.searchsorted(wanted, windows)
            found = wanted[np.minimum(place, len(wanted) - 1)] == windows
            assert not found.any()  # a comparison in here would be explained at length
        needles = [
            integer.to_bytes(integer.bit_length() // 8 + 1, "little", signed=True)
            for integer in self.integers
            if abs(integer) > 2**32  # five bytes at least
        ]
        first = np.array([int.from_bytes(needle[:5], "little") for needle in needles])
        found = np.isin(first, five_bytes(data))
        assert not any(needles[k] in data for k in np.flatnonzero(found))

    def check_text(self, text):
        for number in self.numbers:
            digits = repr(abs(float(number)))[:15]
            assert len(digits) < 15 or digits not in text


def test_nothing_private_is_held(model, monkeypatch):
    X, y = private_data()
    if get_tags(model).input_tags.allow_nan:  # a sum of no gaps is zero, all noise
        X[:40, 8:] = np.nan
    model.set_params(random_state=3)
    secrets = Secrets(model, X, y, monkeypatch)
    queries(model)
    numbers, objects = reachable(model)
    secrets.check_numbers(numbers)
    generators = (
        RandomBits, np.random.Generator, np.random.RandomState, np.random.BitGenerator
    )  # fmt: skip
    assert not any(isinstance(item, generators) for item in objects)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        secrets.check_bytes(pickle.dumps(model, protocol))
    dump = io.BytesIO()
    joblib.dump(model, dump)
    secrets.check_bytes(dump.getvalue())
    with np.printoptions(precision=17, threshold=10**6):
        for text in (repr(model), str(model), model._repr_html_(), str(vars(model))):
            secrets.check_text(text)
    restored = pickle.loads(pickle.dumps(model))
    for name, answer in queries(model).items():
        np.testing.assert_array_equal(queries(restored)[name], answer)


def test_the_search_for_secrets_finds_them(model, monkeypatch):
    """Each way to hold something private is noticed."""
    X, y = private_data()
    secrets = Secrets(model.set_params(random_state=3), X, y, monkeypatch)
    with silenced():
        statistic = getattr(clone(model).fit(X, y), sorted(released_names(model))[0])
    leaks = {
        "rows": X[5:6, 2:5].copy(),
        "view": X[:0],
        "closure": lambda: X,
        "statistic": statistic,
        "half": [float(statistic.ravel()[0])],
    }
    for leak in leaks.values():
        model.kept_ = leak
        with pytest.raises(AssertionError):
            secrets.check_numbers(reachable(model)[0])
    for leak in (X[5].copy(), float(statistic.ravel()[0]), secrets.words[0][:1].copy()):
        model.kept_ = leak
        with pytest.raises(AssertionError):
            secrets.check_bytes(pickle.dumps(model))
    with pytest.raises(AssertionError):
        secrets.check_text(f"a mean of {statistic.ravel()[0]}")
    del model.kept_


def test_data_are_let_go(model):
    X, y = private_data()
    rows, target = X.copy(), y.copy()
    references = [weakref.ref(rows), weakref.ref(target)]
    model.fit(rows, target)
    queries(model)
    del rows, target
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_data_are_left_alone(model):
    X, y = private_data()
    rows, target = X.copy(), y.copy()
    model.fit(rows, target)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(target, y)


def test_nothing_is_printed_or_logged(model, capfd, caplog):
    caplog.set_level(0)
    queries(model.fit(*private_data()))
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


# Neighbours look the same


def test_public_attributes_are_equal_for_neighbours(model):
    fits = [clone(model).fit(*data) for data in neighbours()]
    names = [set(fitted_attributes(fit)) for fit in fits]
    assert names[0] == names[1]
    released = released_names(model)
    assert released
    assert released < names[0]
    for name in names[0] - released_names(model, "Public or released."):
        values = [getattr(fit, name) for fit in fits]
        if name in released:
            assert values[0].shape == values[1].shape
            assert (values[0] != values[1]).all()
        else:
            assert pickle.dumps(values[0]) == pickle.dumps(values[1]), name


def outcome(model, X, y, **fit_parameters):
    """Warnings, and the exception if there is one, of a fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(X, y, **fit_parameters)
            error = None
        except Exception as raised:
            error = (type(raised), str(raised), repr(raised.__cause__))
    return error, [(w.category, str(w.message)) for w in caught]


@pytest.mark.parametrize("epsilon", [1e-3, 5.0, 1e6])
def test_neighbours_are_warned_alike(model, epsilon):
    model.set_params(epsilon=epsilon)
    tiny, zero = private_data()[0] * 1e-310, np.zeros((N_PEOPLE, N_COLUMNS))
    tables = [data[0] for data in neighbours()] + [tiny, zero]
    outcomes = [outcome(clone(model), X, private_data()[1]) for X in tables]
    assert outcomes[0][0] is None
    assert all(other == outcomes[0] for other in outcomes)


def spoiled(X, entry):
    """The table with one entry replaced."""
    table = X.astype(type(entry) if isinstance(entry, float) else object)
    table[3, 2] = entry
    return table


SPOILED = {
    "nan": lambda X: spoiled(X, np.nan),
    "infinity": lambda X: spoiled(X, -np.inf),
    "string": lambda X: spoiled(X, "secret"),
    "none": lambda X: spoiled(X, None),
    "object": lambda X: spoiled(X, object()),
    "huge integer": lambda X: spoiled(X, 10**400),
    "boolean": lambda X: X > 0,
    "text": lambda X: X.astype(str),
    "bytes": lambda X: X.astype(bytes),
    "dates": lambda X: X.astype("datetime64[s]"),
    "complex": lambda X: X + 1j,
    "flat": lambda X: X.ravel(),
    "deep": lambda X: X[..., None, None],
    "empty": lambda X: X[:0],
    "narrow": lambda X: X[:, :0],
    "ragged": lambda X: [row.tolist()[: 3 + (k == 4)] for k, row in enumerate(X)],
    "nothing": lambda X: None,
    "number": lambda X: X[0, 0],
}


MISSING = (SPOILED["nan"], SPOILED["none"])


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_bad_data_are_refused_alike_and_for_free(model, spoil, tmp_path):
    if spoil in MISSING and get_tags(model).input_tags.allow_nan:
        pytest.skip("a gap is data: what was not observed")
    path = str(tmp_path / "budget.db")
    ledger = BudgetLedger(path, epsilon=100.0, delta=1e-3)
    model.set_params(ledger=path)
    outcomes = []
    for seed in range(3):
        X, y = private_data(seed)
        outcomes.append(outcome(clone(model), spoil(X), y[: len(X)]))
        error, caught = outcomes[-1]
        assert issubclass(error[0], ValueError | TypeError)
        assert caught == []
        assert f"{X[3, 2]:.5g}" not in error[1]
        assert f"{X[0, 0]:.5g}" not in error[1]
        assert "secret" not in error[1]
        assert error[2] == "None"
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert ledger.history() == []


# The ledger


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "budget.db", epsilon=100.0, delta=1e-3)


def test_every_fit_is_charged_once_before_the_draw(model, ledger, monkeypatch):
    model.set_params(ledger=str(ledger.path))
    original, seen = NoiseLaw.release, []

    def release(*arguments):
        seen.append(len(ledger.history()))
        return original(*arguments)

    monkeypatch.setattr(NoiseLaw, "release", release)
    for count in (1, 2, 3):
        model.fit(*private_data())
        queries(model)
        assert len(ledger.history()) == count
        assert ledger.history()[-1].guarantee == model.guarantee_
        assert ledger.history()[-1].times == 1
    assert [count for count, _ in itertools.groupby(seen)] == [1, 2, 3]
    assert ledger.spent.epsilon == 15.0


def test_an_error_after_the_charge_stays_charged(model, ledger, monkeypatch):
    model.set_params(ledger=str(ledger.path)).fit(*private_data())

    def fail(*arguments):
        raise RuntimeError("no bits")

    with monkeypatch.context() as patch:
        patch.setattr(NoiseLaw, "release", fail)
        for other in (model, clone(model)):
            other.set_params(epsilon=7.0)
            with pytest.raises(RuntimeError, match="no bits"):
                other.fit(*private_data())
            with pytest.raises(NotFittedError):  # no old release, new guarantee
                queries(other)
            assert not hasattr(other, "guarantee_")
    assert ledger.spent.epsilon == 5 + 7 + 7


@contextlib.contextmanager
def counted_randomness():
    """How many bytes are taken from the operating system, how many seeded words.

    Those of the fixed streams by which public laws are simulated are no randomness.
    """
    counts = {"system": 0, "seeded": 0}
    urandom, words = os.urandom, SeededBits.words

    def system(size):
        counts["system"] += size
        return urandom(size)

    def seeded(bits, count):
        seed, purpose = bits._seed
        if seed or purpose not in PUBLIC_STREAMS:
            counts["seeded"] += count
        return words(bits, count)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "urandom", system)
        patch.setattr(SeededBits, "words", seeded)
        yield counts


def test_an_exceeded_budget_draws_nothing(model, tmp_path):
    path = tmp_path / "budget.db"
    small = BudgetLedger(path, epsilon=6.0, delta=1e-3)
    model.set_params(ledger=str(path)).fit(*private_data())
    before = queries(model)
    for state in (None, 3):
        model.set_params(random_state=state)
        with (
            counted_randomness() as counts,
            recorded() as releases,
            pytest.raises(BudgetExceededError, match="nothing was charged"),
        ):
            model.fit(*private_data())
        assert counts == {"system": 0, "seeded": 0}
        assert releases == []
    assert len(small.history()) == 1
    for name, answer in queries(model).items():  # the first release is still there
        np.testing.assert_array_equal(answer, before[name])


def test_a_missing_or_unfit_ledger_draws_nothing(model, tmp_path):
    people = BudgetLedger(
        tmp_path / "people.db", epsilon=9.0, delta=1e-3, unit="person"
    )
    for path in (tmp_path / "missing.db", people.path):
        model.set_params(ledger=str(path))
        with counted_randomness() as counts, pytest.raises(PrivacyError):
            model.fit(*private_data())
        assert counts == {"system": 0, "seeded": 0}
    assert not (tmp_path / "missing.db").exists()
    assert people.history() == []


def no_score(estimator, X, y=None):
    return 0.0


def test_copies_charge_the_same_file(model, ledger):
    X, y = private_data()
    model.set_params(ledger=str(ledger.path))
    clone(model).fit(X, y)
    pickle.loads(pickle.dumps(model)).fit(X, y)
    pickle.loads(pickle.dumps(model.fit(X, y))).fit(X, y)
    assert len(ledger.history()) == 4
    cross_val_score(model, X, y, scoring=no_score, cv=2, n_jobs=2)
    assert len(ledger.history()) == 6
    search = GridSearchCV(
        model, {"epsilon": [5.0, 6.0]}, scoring=no_score, cv=2, n_jobs=2
    )
    search.fit(X, y)
    assert len(ledger.history()) == 11
    assert ledger.spent.epsilon == 6 * 5 + 2 * 5 + 2 * 6 + 5


# Randomness


def test_bits_come_from_the_operating_system_by_default(model):
    X, y = private_data()
    with counted_randomness() as counts:
        model.fit(X, y)
    assert counts["system"] >= 8
    assert counts["seeded"] == 0
    assert not model.guarantee_.seeded
    model.set_params(random_state=0)
    with counted_randomness() as counts:
        model.fit(X, y)
    assert counts["system"] == 0
    assert counts["seeded"] >= 1
    assert model.guarantee_.seeded
    assert "SEEDED: no privacy" in str(model.guarantee_)


def test_every_fit_is_a_new_draw(model):
    X, y = private_data()
    releases = [clone(model).fit(X, y) for _ in range(3)]
    for name in released_names(model):
        first, second, third = (np.ravel(getattr(fit, name)) for fit in releases)
        assert (first != second).all()
        assert (second != third).all()


def test_one_frozen_function_per_fit(model):
    model.fit(*private_data())
    before = pickle.dumps(fitted_attributes(model))
    with counted_randomness() as counts:
        answers = [queries(model) for _ in range(3)]
    assert counts["system"] == 0
    for name, answer in answers[0].items():
        np.testing.assert_array_equal(answers[1][name], answer)
        np.testing.assert_array_equal(answers[2][name], answer)
    assert pickle.dumps(fitted_attributes(model)) == before


def test_later_parameters_do_not_change_a_release(model):
    model.fit(*private_data())
    before, guarantee = queries(model), model.guarantee_
    model.set_params(epsilon=1e-3, random_state=1)
    for name, answer in queries(model).items():
        np.testing.assert_array_equal(answer, before[name])
    assert model.guarantee_ == guarantee


BAD_BUDGETS = [np.nan, 0, -1, np.inf, -np.inf, True, False, "1", None, 1j, [1.0], 1e400]


@pytest.mark.parametrize("epsilon", BAD_BUDGETS, ids=repr)
def test_bad_budgets_are_refused_before_anything_happens(model, epsilon, ledger):
    model.set_params(epsilon=epsilon, ledger=str(ledger.path))
    with (
        counted_randomness() as counts,
        pytest.raises(ValueError, match="epsilon must be a finite number > 0"),
    ):
        model.fit(*private_data())
    assert counts == {"system": 0, "seeded": 0}
    assert ledger.history() == []


@pytest.mark.parametrize("delta", [np.nan, -1e-9, 1.0, 2, np.inf, True, "0", None])
def test_bad_deltas_are_refused_before_anything_happens(model, delta, ledger):
    if "delta" not in model.get_params():
        pytest.skip("its noise is Laplace noise: it has no delta")
    model.set_params(delta=delta, ledger=str(ledger.path))
    with pytest.raises(ValueError, match="delta must be a number in"):
        model.fit(*private_data())
    assert ledger.history() == []


def test_a_delta_of_one_over_n_is_warned_of_before_the_charge(model, ledger):
    if "delta" not in model.get_params():
        pytest.skip("its noise is Laplace noise: it has no delta")
    X, y = private_data()
    model.set_params(delta=1 / N_PEOPLE)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    found = [w for w in caught if issubclass(w.category, LargeDeltaWarning)]
    assert len(found) == (model.guarantee_.delta > 0)
    if found:
        assert f"is not below 1/n with n={N_PEOPLE}" in str(found[0].message)
        model.set_params(ledger=str(ledger.path))
        with warnings.catch_warnings():
            warnings.simplefilter("error", LargeDeltaWarning)
            with pytest.raises(LargeDeltaWarning):
                model.fit(X, y)
        assert ledger.history() == []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoiseDominatesWarning)
        model.set_params(delta=0.99 / N_PEOPLE, ledger=None).fit(X, y)


@pytest.mark.parametrize("state", [-1, 1.5, True, "secure", [1]])
def test_bad_random_states_are_refused(model, state, ledger):
    model.set_params(random_state=state, ledger=str(ledger.path))
    with pytest.raises(ValueError, match="random_state must be None"):
        model.fit(*private_data())
    assert ledger.history() == []
