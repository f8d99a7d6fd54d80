"""The data and the public facts by which an estimator is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._procedure import Procedure

_QUERIES = ("predict", "transform", "score_samples")
_N_PEOPLE, _N_COLUMNS = 300, 12


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


def table_case(estimator: Any, **facts: Any) -> PrivateCase:
    """The case of tables: 300 people, 12 columns, the last person moved to an extreme.

    Parameters
    ----------
    estimator : estimator object
        It is asked for the data of its queries: arguments of a curve if it has a
        `domain`, rows otherwise.
    **facts : dict
        Parameters of `PrivateCase` that differ.

    Returns
    -------
    PrivateCase
        Values lie between -450 and 890, targets between -1 and 1.

    Examples
    --------
    >>> from skfuncpriv import ICLPMean
    >>> from skfuncpriv.testing import table_case
    >>> sorted(table_case(ICLPMean(bounds=(0, 1))).queries)
    ['noise_band', 'predict']
    """
    X, y = random_table()
    neighbour = X.copy()
    neighbour[-1] = 1e300
    line = np.linspace(-500, 500, 7)
    is_curve = hasattr(estimator, "domain") and hasattr(estimator, "predict")
    points = line if is_curve else np.repeat(line[:, None], _N_COLUMNS, axis=1)
    queries = {name: (points,) for name in _QUERIES if hasattr(estimator, name)}
    if hasattr(estimator, "noise_band"):
        queries["noise_band"] = ()
    known = {"X": X, "y": y, "neighbour": neighbour, "queries": queries}
    return PrivateCase(**known | facts)


def random_table(seed: int = 0) -> tuple[Any, Any]:
    """Rows and targets of 300 people."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-450, 450, (_N_PEOPLE, _N_COLUMNS)) + 40 * np.arange(_N_COLUMNS)
    return X, rng.uniform(-1, 1, _N_PEOPLE)
