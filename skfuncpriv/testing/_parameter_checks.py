"""Budgets and seeds that are none are refused before anything happens."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..exceptions import LargeDeltaWarning, NoiseDominatesWarning
from ._case import PrivateCase
from ._randomness import NOTHING, counted_randomness
from ._tools import ensure, folder, raised, skip

BAD_BUDGETS = [np.nan, 0, -1, np.inf, -np.inf, True, False, "1", None, 1j, [1.0], 1e400]
BAD_DELTAS = [np.nan, -1e-9, 1.0, 2, np.inf, True, "0", None]
BAD_STATES = [-1, 1.5, True, "secure", [1]]


def check_bad_budgets_are_refused(estimator: Any, case: PrivateCase) -> None:
    """Budgets are finite numbers > 0: no booleans, texts, NaN or infinities."""
    text = f"{case.budget_name} must be a finite number > 0"
    budgets = BAD_BUDGETS
    if case.draws_in == "transform":  # there None means the other kind of budget
        budgets = [budget for budget in budgets if budget is not None]
    _ensure_refused(estimator, case, case.budget_name, budgets, text)


def check_bad_deltas_are_refused(estimator: Any, case: PrivateCase) -> None:
    """A delta is a number in [0, 1)."""
    _needs_delta(estimator)
    _ensure_refused(estimator, case, "delta", BAD_DELTAS, "delta must be a number in")


def check_bad_random_states_are_refused(estimator: Any, case: PrivateCase) -> None:
    """None, a whole number >= 0, or a generator of numpy's."""
    text = "random_state must be None"
    _ensure_refused(estimator, case, "random_state", BAD_STATES, text)


def check_a_delta_of_one_over_n_is_warned_of(estimator: Any, case: PrivateCase) -> None:
    """Before the charge, so that a warning that is made an error costs nothing."""
    _needs_delta(estimator)
    n_people, data = case.n_people, case.data
    model = case.new(estimator, delta=1 / n_people)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        case.release(model, *data)
    found = [w for w in caught if issubclass(w.category, LargeDeltaWarning)]
    ensure(
        len(found) == (model.guarantee_.delta > 0),
        f"a delta of one over n is warned of {len(found)} times",
    )
    if found:
        ensure(
            f"is not below 1/n with n={n_people}" in str(found[0].message),
            f"the warning does not say what is wrong: {found[0].message}",
        )
        with folder() as path, warnings.catch_warnings():
            ledger = case.new_ledger(path)
            model.set_params(ledger=str(ledger.path))
            warnings.simplefilter("error", LargeDeltaWarning)
            error = raised(LargeDeltaWarning, lambda: case.release(model, *data))
            ensure(error is not None, "the warning comes once only")
            ensure(ledger.history() == [], "the warning comes after the charge")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", NoiseDominatesWarning)
        case.release(model.set_params(delta=0.99 / n_people, ledger=None), *data)


def _needs_delta(estimator: Any) -> None:
    if "delta" not in estimator.get_params():
        skip("its noise is Laplace noise: it has no delta")


def _ensure_refused(
    estimator: Any, case: PrivateCase, name: str, values: list[Any], text: str
) -> None:
    with folder() as path:
        ledger = case.new_ledger(path)
        for value in values:
            model = case.new(estimator, ledger=str(ledger.path), **{name: value})
            with counted_randomness() as counts:
                error = raised(Exception, lambda m=model: case.release(m, *case.data))
            ensure(
                isinstance(error, ValueError) and text in str(error),
                f"{name}={value!r} is met by {error!r}, not by a ValueError that says "
                f"{text!r}",
            )
            ensure(counts == NOTHING, f"{name}={value!r} is refused after the draw")
        ensure(ledger.history() == [], f"a bad {name} is refused after the charge")
