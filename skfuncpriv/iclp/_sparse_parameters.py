"""From the parameters of a mean of sparse curves to public facts; no data is seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import check_delta, check_positive, check_real
from ..basis import Basis
from ..summaries import SupportRule, ValueBounds
from ._plan import check_mechanism
from ._sparse_plan import SparsePlan, best_plan
from ._stated_basis import check_basis, stated_basis, stated_size

_MAX_FUNCTIONS = 128
_SMALLEST = 1e-280
# Half of what fifteen to twenty-five functions resolve: they see nothing finer.
_REACH = 1 / 50


def check_sparse_parameters(estimator: Any) -> None:
    """Check everything that does not depend on the form of the data."""
    check_positive(estimator.epsilon, "epsilon")
    check_mechanism(estimator.mechanism, check_delta(estimator.delta))
    check_basis(estimator)
    estimator._check_ledger()


def support_rule(estimator: Any, domain: tuple[float, float]) -> SupportRule:
    """Where a curve counts as known."""
    gap, reach = np.inf, _REACH * (domain[1] - domain[0])
    if estimator.max_gap is not None:
        gap = check_positive(estimator.max_gap, "max_gap")
    if estimator.reach is not None:
        reach = check_real(estimator.reach, "reach")
        if reach < 0:
            raise ValueError(f"reach must be >= 0, got {estimator.reach!r}")
    return SupportRule(domain, gap, reach)


def sparse_values(
    estimator: Any, domain: tuple[float, float], n_outputs: int
) -> ValueBounds:
    """The bounds of values and the center; data are divided by their distance."""
    values = ValueBounds.from_parameters(
        estimator.bounds, domain=domain, n_outputs=n_outputs, center=estimator.center
    )
    if not values.reach.min() >= _SMALLEST:
        raise ValueError(
            f"bounds must leave values of at least {_SMALLEST}: use larger units"
        )
    return values


def sparse_plan(
    estimator: Any,
    n_people: int,
    n_outputs: int,
    domain: tuple[float, float],
    n_points: int | None,
) -> tuple[SparsePlan, Basis]:
    """Choose everything that public facts decide, and all functions of the basis."""
    stated = stated_size(estimator)
    available = stated or min(_MAX_FUNCTIONS, n_points or _MAX_FUNCTIONS)
    most = 2 * available  # those beyond are not released: the prior fills them in
    basis = stated_basis(estimator, most, domain)
    plan = best_plan(
        n_people,
        n_outputs,
        float(estimator.epsilon),
        float(estimator.delta),
        check_mechanism(estimator.mechanism, estimator.delta),
        available,
        stated is not None,
    )
    basis = basis.orthonormalize()
    return plan, basis.first(min(2 * plan.n_functions, basis.n_basis))
