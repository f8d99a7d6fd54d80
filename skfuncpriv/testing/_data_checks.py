"""Data that are no numbers are refused alike, in constant texts, and for free."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from ._case import PrivateCase
from ._randomness import NOTHING, counted_randomness
from ._tools import ensure, folder, outcome


def _spoiled(X: Any, entry: Any) -> Any:
    """The table with one entry replaced."""
    table = X.astype(float if isinstance(entry, float) else object)
    table[_place(X)] = entry
    return table


def _place(X: Any) -> tuple[int, int]:
    """The last column of somebody in the middle."""
    return len(X) // 2, -1


def _ragged(X: Any) -> Any:
    return [row.tolist()[int(k == len(X) // 2) :] for k, row in enumerate(X)]


MISSING: dict[str, Callable[[Any], Any]] = {
    "nan": lambda X: _spoiled(X, np.nan),
    "none": lambda X: _spoiled(X, None),
}
SPOILED: dict[str, Callable[[Any], Any]] = {
    "infinity": lambda X: _spoiled(X, -np.inf),
    "string": lambda X: _spoiled(X, "secret"),
    "object": lambda X: _spoiled(X, object()),
    "huge integer": lambda X: _spoiled(X, 10**400),
    "boolean": lambda X: X > 0,
    "text": lambda X: X.astype(str),
    "bytes": lambda X: X.astype(bytes),
    "dates": lambda X: X.astype("datetime64[s]"),
    "complex": lambda X: X + 1j,
    "flat": lambda X: X.ravel(),
    "deep": lambda X: X[..., None, None],
    "empty": lambda X: X[:0],
    "narrow": lambda X: X[:, :0],
    "ragged": _ragged,
    "nothing": lambda _: None,
    "number": lambda X: X[0, 0],
}


def check_bad_data_are_refused_alike_and_for_free(
    estimator: Any, case: PrivateCase
) -> None:
    """One text for all data, without a value; nothing is charged, nothing drawn."""
    case.needs_table()
    ways = dict(SPOILED)
    if not get_tags(estimator).input_tags.allow_nan:
        ways |= MISSING
    if case.draws_in == "transform":
        ways["fewer columns"] = lambda X: X[:, :-1]
    rng = np.random.default_rng(0)
    tables = [case.data[0], *(rng.permutation(case.X.ravel()) for _ in range(2))]
    tables = [table.reshape(case.X.shape) for table in tables]
    with folder() as path:
        ledger = case.new_ledger(path)
        for state in (None, 0):
            model = case.new(estimator, ledger=str(ledger.path), random_state=state)
            for name, spoil in ways.items():
                _check_spoiled(model, case, tables, name, spoil)
                if case.draws_in == "transform" and name in SPOILED:
                    _check_spoiled_fit(model, case, tables, name, spoil)
            if case.draws_in == "fit":
                break  # the source plays no part before a central release
        ensure(ledger.history() == [], "bad data were charged for")


def _check_spoiled(
    model: Any,
    case: PrivateCase,
    tables: list[Any],
    name: str,
    spoil: Callable[[Any], Any],
) -> None:
    outcomes = []
    for X in tables:
        y = None if case.y is None else case.y[: len(X)]
        fresh = case.prepare(clone(model), X, y)
        with np.errstate(all="ignore"):  # of casts
            bad = spoil(X)
        with counted_randomness() as counts:
            found = outcome(case.draw, fresh, bad, y)
        outcomes.append(found)
        error, caught = found
        ensure(error is not None, f"data with {name} are accepted")
        ensure(
            issubclass(error[0], ValueError | TypeError),
            f"data with {name} raise {error[0].__name__}: they are bad values",
        )
        ensure(caught == [], f"data with {name} warn before they are refused: {caught}")
        quoted = [f"{X[_place(X)]:.5g}", f"{X[0, 0]:.5g}", "secret"]
        ensure(  # a short number, as 1, may be about something else
            not any(len(text) > 3 and text in error[1] for text in quoted),
            f"an error quotes private data: {error[1]}",
        )
        ensure(
            error[2] == "None", f"an error is chained to one that quotes: {error[2]}"
        )
        ensure(counts == NOTHING, f"data with {name} are refused after noise was drawn")
    ensure(
        outcomes[0] == outcomes[1] == outcomes[2],
        f"the error for data with {name} depends on other values: {outcomes}",
    )


def _check_spoiled_fit(
    model: Any,
    case: PrivateCase,
    tables: list[Any],
    name: str,
    spoil: Callable[[Any], Any],
) -> None:
    """The same of the fit of a local estimator, which is free."""
    outcomes = [outcome(clone(model).fit, spoil(X), case.y) for X in tables]
    ensure(outcomes[0][0] is not None, f"fit accepts data with {name}")
    ensure(
        outcomes[0] == outcomes[1] == outcomes[2],
        f"the error of fit for data with {name} depends on other values",
    )
