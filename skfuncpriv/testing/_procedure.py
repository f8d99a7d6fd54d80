"""How an estimator is run on a case: released, asked, and charged for."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..exceptions import NoiseDominatesWarning
from ..privacy import BudgetLedger
from ._tools import documented, ensure, skip


class Procedure:
    """What all checks do with the facts of a `PrivateCase`, which adds them."""

    X: Any
    y: Any
    neighbour: Any
    neighbour_y: Any
    queries: Mapping[str, tuple[Any, ...]]
    draws_in: str
    budget: Mapping[str, float]
    ledger: Mapping[str, Any]
    released: tuple[str, ...] | None
    own_noise: str

    @property
    def data(self) -> tuple[Any, Any]:
        """Copies of X and y: a mechanism that spoils them spoils no other check."""
        return _copied(self.X), _copied(self.y)

    @property
    def neighbours(self) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        """Two data sets (X, y) that differ in one person."""
        other = self.y if self.neighbour_y is None else self.neighbour_y
        return self.data, (_copied(self.neighbour), _copied(other))

    @property
    def budget_name(self) -> str:
        """The parameter that is the budget."""
        return next(iter(self.budget))

    @property
    def price(self) -> float:
        """The budget of one release."""
        return next(iter(self.budget.values()))

    def new(self, estimator: Any, **parameters: Any) -> Any:
        """A fresh copy with the budget of the case."""
        return clone(estimator).set_params(**self.budget).set_params(**parameters)

    def prepare(self, model: Any, X: Any, y: Any = None) -> Any:
        """Do what comes before a release: fit a local estimator."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoiseDominatesWarning)
            return model.fit(X, y) if self.draws_in == "transform" else model

    def draw(self, model: Any, X: Any, y: Any = None) -> Any:
        """Release: fit, or transform rows with a fitted estimator; what comes out."""
        if self.draws_in == "transform":
            return model.transform(X)
        model.fit(X, y)
        return None

    def release(self, model: Any, X: Any, y: Any = None) -> Any:
        """Fit and draw; return the estimator."""
        self.draw(self.prepare(model, X, y), X, y)
        return model

    def answers(self, model: Any, X: Any, y: Any = None) -> dict[str, Any]:
        """Fit, draw and ask everything."""
        drawn = self.draw(self.prepare(model, X, y), X, y)
        return self.ask(model) if drawn is None else {"transform": drawn}

    def ask(self, model: Any) -> dict[str, Any]:
        """Everything that may be asked of a fitted estimator, as arrays.

        Without queries the answers are the attributes that are released.
        """
        queries = self.queries
        if not queries and self.draws_in == "fit":
            queries = dict.fromkeys(sorted(self.released_names(model)), ())
        return {
            name: np.array(_answer(model, name, arguments))
            for name, arguments in queries.items()
        }

    def new_ledger(self, folder: Any) -> BudgetLedger:
        """An empty ledger."""
        return BudgetLedger(folder / "budget.db", **self.ledger)

    def spent(self, ledger: BudgetLedger) -> float:
        """How much of it has been spent, in the unit of the budget."""
        return float(getattr(ledger.spent, self.budget_name))

    def released_names(self, estimator: Any) -> set[str]:
        """Attributes that hold noise, of which there must be one."""
        names = set(self.released or ())
        if self.released is None:
            names = _marked(estimator, "Released.")
        ensure(
            names or self.draws_in == "transform",
            "no attribute is said to be released: begin its description in the "
            "docstring with 'Released.', or name it in PrivateCase.released",
        )
        return names

    def unsettled_names(self, estimator: Any) -> set[str]:
        """Attributes that are public or released, as options decide."""
        return _marked(estimator, "Public or released.")

    def needs_laws(self) -> None:
        """Skip what must see the releases if the case says that they are not seen."""
        if self.own_noise:
            skip(f"it needs NoiseLaw.release: {self.own_noise}")

    def needs_table(self) -> None:
        """Skip what spoils a table of numbers if data are something else."""
        X = self.X
        if not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype == np.float64):
            skip("the data of the case are no table of floats")

    def needs_function(self) -> None:
        """Skip what belongs to one released function if rows are released."""
        if self.draws_in == "transform":
            skip("every transform is a release of its own")


def _answer(model: Any, name: str, arguments: tuple[Any, ...]) -> Any:
    if not callable(getattr(type(model), name, None)):
        check_is_fitted(model)  # an attribute cannot see to that itself
    thing = getattr(model, name)
    return thing(*arguments) if callable(thing) else thing


def _copied(data: Any) -> Any:
    return data.copy() if hasattr(data, "copy") else data


def _marked(estimator: Any, mark: str) -> set[str]:
    known = documented(type(estimator))
    return {name for name, text in known.items() if text.startswith(mark)}
