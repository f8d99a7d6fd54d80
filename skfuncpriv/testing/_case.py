"""The data and the public facts by which an estimator is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._procedure import Procedure
from ._tools import documented

_QUERIES = ("predict", "transform", "score_samples")
_N_PEOPLE, _N_COLUMNS, _N_ROWS = 300, 12, 40


@dataclass(frozen=True, kw_only=True)
class PrivateCase(Procedure):
    """Data, a worst-case neighbour and public facts for `check_private_estimator`.

    Parameters
    ----------
    X : array-like
        One row per person. It is test data: nothing about it is private.
    neighbour : array-like
        The same people, one of whom holds something else: the further apart, the
        stronger the checks.
    y : array-like, default=None
        Targets, if there are any.
    neighbour_y : array-like, default=None
        Those of the neighbour; None is `y`.
    queries : mapping of str to tuple, default={}
        What may be asked of a fitted estimator: names of methods and their arguments.
        An attribute is read, as in ``{"mean_": ()}``. Without queries the released
        attributes are.
    draws_in : {"fit", "transform"}, default="fit"
        Where noise is drawn and the ledger charged: central estimators release one
        function, local ones a noisy version of each row.
    budget : mapping of str to float, default={"epsilon": 5.0}
        Parameters that are set before each check, the budget first: noise should be
        felt and not dominate.
    ledger : mapping, default={"epsilon": 100.0, "delta": 1e-3}
        A budget, as in `BudgetLedger`, that is worth some twenty releases.
    released : tuple of str, default=None
        Fitted attributes with noise in them. None are those whose description in the
        Attributes section of the docstring starts with "Released."; attributes that
        are "Public or released." are not compared.
    units : mapping of str to int or None, default={}
        Exponents of the unit of X: a parameter, fitted attribute or query with exponent
        k is multiplied by c^k if X is by c. What is not named has no unit; None
        is of several units and is not compared; "arguments" are those of queries.
    is_worst : bool, default=False
        Whether the neighbour loses at least 0.99 of what is promised: then too much
        noise fails, too, and so does an audit of one or two numbers that finds less
        than 0.8 of it.
    own_noise : str, default=""
        Why noise is not drawn by `NoiseLaw.release`. Checks that read exact sums are
        then skipped.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.testing import PrivateCase
    >>> X, other = np.zeros((9, 4)), np.zeros((9, 4))
    >>> other[-1] = 1e300
    >>> PrivateCase(X=X, neighbour=other, queries={"predict": (0.5,)}).n_people
    9
    """

    X: Any
    neighbour: Any
    y: Any = None
    neighbour_y: Any = None
    queries: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    draws_in: str = "fit"
    budget: Mapping[str, float] = field(default_factory=lambda: {"epsilon": 5.0})
    ledger: Mapping[str, Any] = field(
        default_factory=lambda: {"epsilon": 100.0, "delta": 1e-3}
    )
    released: tuple[str, ...] | None = None
    units: Mapping[str, int | None] = field(default_factory=dict)
    is_worst: bool = False
    own_noise: str = ""

    def __post_init__(self) -> None:
        if self.draws_in not in ("fit", "transform"):
            raise ValueError(
                f"draws_in must be 'fit' or 'transform', got {self.draws_in!r}"
            )
        if len(self.X) != len(self.neighbour):
            raise ValueError("a neighbour has as many people: it replaces one of them")

    @property
    def n_people(self) -> int:
        """The number of people."""
        return len(self.X)


def table_case(
    estimator: Any, *, n_columns: int | None = None, **facts: Any
) -> PrivateCase:
    """The case of tables: 300 people, or 40 rows, the last moved to an extreme.

    Parameters
    ----------
    estimator : estimator object
        Its public parameters say what data it takes: labels of its `classes`, curves
        as targets if it has a `y_domain`, distances if it draws for every row. Queries
        are arguments of a curve if it has a `domain`, rows otherwise.
    n_columns : int, default=None
        The number of columns of X. None is as many as bounds have numbers, else one for
        densities and what wraps an estimator, else 12.
    **facts : dict
        Parameters of `PrivateCase` that differ.

    Returns
    -------
    PrivateCase
        Values are spread within the bounds and beyond, from -450 to 890 if these are
        -500 and 500 or unknown; targets lie between -1 and 1. For an estimator that
        takes no such table, make a `PrivateCase` of your own.

    Examples
    --------
    >>> from skfuncpriv import ICLPMean
    >>> from skfuncpriv.testing import table_case
    >>> sorted(table_case(ICLPMean(bounds=(0, 1))).queries)
    ['noise_band', 'predict']
    """
    parameters = estimator.get_params(deep=False)
    bounds = parameters.get("bounds", parameters.get("X_bounds"))
    if n_columns is None:
        n_columns = _n_columns(estimator, parameters, bounds)
    X, y = random_table()
    X = _within(X[:, :n_columns], bounds)
    neighbour = X.copy()
    neighbour[-1] = 1e300
    known: dict[str, Any] = {"X": X, "y": _targets(parameters, y)}
    known["neighbour"] = neighbour
    budget = "epsilon" if parameters.get("rho") is None else "rho"
    if _draws_for_rows(estimator):
        known |= {"draws_in": "transform", "budget": {budget: 0.5}}
        known["ledger"] = {budget: 10.0, "metric": "L2"}
        if bounds is None:  # coefficients shrink, to where noise decides what is chosen
            X = X / (10.0 * np.arange(1, n_columns + 1) ** 2)
        known |= {"X": X[:_N_ROWS], "neighbour": X[:_N_ROWS].copy(), "y": None}
        known["neighbour"][-1] = 1e300
        return PrivateCase(**known | facts)
    if budget == "rho":
        known |= {"budget": {"rho": 5.0}, "ledger": {"rho": 100.0}}
    is_curve = "domain" in parameters and hasattr(estimator, "predict")
    if is_curve:
        domain = parameters["domain"]
        points = np.linspace(*((0.0, 1.0) if domain is None else domain), 7)
    else:
        line = np.linspace(-500, 500, 7)[:, None]
        points = _within(np.repeat(line, n_columns, axis=1), bounds)
    queries = {name: (points,) for name in _QUERIES if hasattr(estimator, name)}
    if hasattr(estimator, "noise_band"):
        queries["noise_band"] = ()
    return PrivateCase(**known | {"queries": queries} | facts)


def _n_columns(estimator: Any, parameters: Mapping[str, Any], bounds: Any) -> int:
    """How many columns an estimator takes, as far as its parameters tell."""
    is_curve = any(parameters.get(name) for name in ("domain", "X_domain"))
    if not is_curve and np.ndim(bounds) == 2:
        return len(bounds[0])
    is_narrow = hasattr(estimator, "score_samples") or "estimator" in parameters
    return 1 if is_narrow else _N_COLUMNS


def _within(X: Any, bounds: Any) -> Any:
    """Numbers around zero, in units of the bounds; -500 and 500 are their ends."""
    if bounds is None or np.shape(bounds) not in ((2,), (2, X.shape[1])):
        return X
    low, high = np.asarray(bounds, dtype=float)
    return low + (X + 500) / 1000 * (high - low)


def _targets(parameters: Mapping[str, Any], y: Any) -> Any:
    """Numbers, labels of public classes, or curves."""
    if parameters.get("classes") is not None:
        classes = np.asarray(parameters["classes"])
        return classes[np.floor((y + 1) / 2 * len(classes)).astype(int)]
    if parameters.get("y_domain") is not None:
        grid = parameters.get("y_grid")
        n_points = 9 if grid is None or isinstance(grid, str) else len(grid)
        return y[:, None] * np.linspace(-1, 1, n_points)
    return y


def _draws_for_rows(estimator: Any) -> bool:
    """Whether there is nothing to release but rows."""
    texts = documented(type(estimator)).values()
    has_release = any(text.startswith("Released.") for text in texts)
    return hasattr(estimator, "transform") and not has_release


def random_table(seed: int = 0) -> tuple[Any, Any]:
    """Rows and targets of 300 people."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-450, 450, (_N_PEOPLE, _N_COLUMNS)) + 40 * np.arange(_N_COLUMNS)
    return X, rng.uniform(-1, 1, _N_PEOPLE)
