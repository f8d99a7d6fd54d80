"""Every release is charged once, before its noise is drawn, or does not happen."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

from ..exceptions import BudgetExceededError, PrivacyError
from ..noise import NoiseLaw, OperatingSystemBits
from ..privacy import BudgetLedger
from ._case import PrivateCase
from ._randomness import NOTHING, counted_randomness
from ._recording import recorded
from ._tools import ensure, ensure_same, folder, raised


def check_every_release_is_charged_before_the_draw(
    estimator: Any, case: PrivateCase
) -> None:
    """One charge for each release, a refit included; queries are free."""
    with folder() as path:
        ledger = case.new_ledger(path)
        model = case.new(estimator, ledger=str(ledger.path))
        model = case.prepare(model, *case.data)
        ensure(ledger.history() == [], "something is charged before a release")
        seen: list[int] = []
        for count in (1, 2, 3):
            with _noticed(lambda: seen.append(len(ledger.history()))):
                case.draw(model, *case.data)
            case.ask(model)
            history = ledger.history()
            ensure(
                len(history) == count,
                f"{count} releases are {len(history)} charges: each release, a refit "
                "too, is charged once, and queries are not",
            )
            ensure(
                history[-1].guarantee == model.guarantee_,
                f"charged is {history[-1].guarantee}, promised {model.guarantee_}",
            )
            ensure(
                history[-1].times == 1,
                "a release is charged several times",
            )
        ensure(
            case.own_noise or [k for k, _ in itertools.groupby(seen)] == [1, 2, 3],
            "noise is drawn before the charge (or none is seen to be drawn): a crash "
            "or a refusal in between would leave a release that nobody paid for",
        )
        ensure(
            case.spent(ledger) == 3 * case.price,
            f"three releases at {case.price:g} are charged {case.spent(ledger):g}",
        )


def check_an_error_after_the_charge_stays_charged(
    estimator: Any, case: PrivateCase
) -> None:
    """If the draw fails, the charge remains, and no older release is left beside it."""
    case.needs_laws()
    with folder() as path:
        ledger = case.new_ledger(path)
        model = case.new(estimator, ledger=str(ledger.path))
        case.release(model, *case.data)
        paid = case.price
        for other in (model, clone(model)):
            if case.draws_in == "fit":
                other.set_params(**{case.budget_name: 7.0})
                paid += 7.0
            else:
                other, paid = case.prepare(other, *case.data), paid + case.price
            with _failing():
                error = raised(Exception, case.draw, other, *case.data)
            ensure(
                error is not None and "no bits" in str(error),
                f"a draw that fails is not reported, but {error!r}: is noise drawn "
                "from skfuncpriv.noise?",
            )
            if case.draws_in == "fit":
                ensure(
                    raised(NotFittedError, case.ask, other) is not None
                    and not hasattr(other, "guarantee_"),
                    "after a failed draw an older release is still there, beside "
                    "a guarantee or parameters that are not its own",
                )
        ensure(
            case.spent(ledger) == paid,
            f"after errors {case.spent(ledger):g} is spent, not {paid:g}: an error "
            "after the charge stays charged",
        )


def check_an_exceeded_budget_draws_nothing(estimator: Any, case: PrivateCase) -> None:
    """A release that does not fit the ledger is refused before any draw."""
    amount = {**case.ledger, case.budget_name: 1.2 * case.price}
    with folder() as path:
        small = BudgetLedger(path / "small.db", **amount)
        model = case.new(estimator, ledger=str(small.path))
        case.release(model, *case.data)
        before = case.ask(model)
        for state in (None, 3):
            model.set_params(random_state=state)
            if case.draws_in == "transform":
                case.prepare(model, *case.data)
            with counted_randomness() as counts, recorded() as releases:
                error = raised(BudgetExceededError, case.draw, model, *case.data)
            ensure(
                error is not None and "nothing was charged" in str(error),
                "a release that exceeds the budget of the ledger is made",
            )
            ensure(
                counts == NOTHING and releases == [],
                "noise is drawn for a release that the ledger refuses",
            )
        ensure(len(small.history()) == 1, "a refused release is charged")
        ensure_same(case.ask(model), before, "a refusal changes the older release")


def check_a_missing_or_unfit_ledger_draws_nothing(
    estimator: Any, case: PrivateCase
) -> None:
    """No file, or one of another unit: refused; no file is made."""
    with folder() as path:
        people = BudgetLedger(path / "people.db", **case.ledger, unit="person")
        for file in (path / "missing.db", people.path):
            model = case.new(estimator, ledger=str(file))
            with counted_randomness() as counts:
                error = raised(
                    PrivacyError, lambda m=model: case.release(m, *case.data)
                )
            ensure(error is not None, f"the ledger {file.name} is accepted")
            ensure(counts == NOTHING, f"noise is drawn with the ledger {file.name}")
        ensure(not (path / "missing.db").exists(), "a missing ledger is created")
        ensure(people.history() == [], "a ledger of another unit is charged")


def no_score(*_: Any) -> float:
    """A scorer that looks at nothing."""
    return 0.0


def check_copies_charge_the_same_file(estimator: Any, case: PrivateCase) -> None:
    """Clones, pickles and scikit-learn's worker processes share one ledger."""
    X, y = case.data
    with folder() as path:
        ledger = case.new_ledger(path)
        model = case.new(estimator, ledger=str(ledger.path))
        case.release(clone(model), X, y)
        case.release(pickle.loads(pickle.dumps(model)), X, y)
        case.release(pickle.loads(pickle.dumps(case.release(model, X, y))), X, y)
        charges = [(case.price, 4)]
        _ensure_charged(ledger, case, charges, "clones and pickles")
        if case.draws_in == "transform":
            return
        cross_val_score(model, X, y, scoring=no_score, cv=2, n_jobs=2)
        charges.append((case.price, 2))
        _ensure_charged(ledger, case, charges, "cross_val_score in two processes")
        grid = {case.budget_name: [case.price, case.price + 1]}
        GridSearchCV(model, grid, scoring=no_score, cv=2, n_jobs=2).fit(X, y)
        charges += [(case.price, 3), (case.price + 1, 2)]
        _ensure_charged(ledger, case, charges, "a grid search in two processes")


def _ensure_charged(
    ledger: BudgetLedger, case: PrivateCase, charges: list[Any], who: str
) -> None:
    count = sum(times for _, times in charges)
    paid = sum(price * times for price, times in charges)
    ensure(
        len(ledger.history()) == count and case.spent(ledger) == paid,
        f"{who} make {count} releases worth {paid:g}; {len(ledger.history())} are "
        f"charged, worth {case.spent(ledger):g}",
    )


def _noticed(notice: Callable[[], None]) -> Any:
    """Call it whenever secure random bits are taken."""
    words = OperatingSystemBits.words

    def noted(bits: OperatingSystemBits, count: int) -> Any:
        notice()
        return words(bits, count)

    return mock.patch.object(OperatingSystemBits, "words", noted)


@contextmanager
def _failing() -> Iterator[None]:
    """Let every draw fail."""

    def fail(*_: Any) -> Any:
        raise RuntimeError("no bits")

    with (
        mock.patch.object(NoiseLaw, "release", fail),
        mock.patch.object(OperatingSystemBits, "words", fail),
    ):
        yield
