"""From the parameters of a mean of sparse curves to public facts; no data is seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import check_count, check_delta, check_positive, check_real
from ..basis import Basis, CosineBasis, KernelBasis
from ..summaries import SupportRule, ValueBounds
from ._plan import check_mechanism
from ._sparse_plan import SparsePlan, best_plan

_MAX_FUNCTIONS = 128
_SMALLEST = 1e-280
# Half of what fifteen to twenty-five functions resolve: they see nothing finer.
_REACH = 1 / 50


def check_sparse_parameters(estimator: Any) -> None:
    """Check everything that does not depend on the form of the data."""
    check_positive(estimator.epsilon, "epsilon")
    check_mechanism(estimator.mechanism, check_delta(estimator.delta))
    if estimator.n_basis != "pss":
        check_count(estimator.n_basis, "n_basis")
    if estimator.basis is not None:
        if not isinstance(estimator.basis, Basis):
            raise TypeError(f"basis must be a Basis object, got {estimator.basis!r}")
        if estimator.kernel is not None or estimator.n_basis != "pss":
            raise ValueError("basis says it all: give no kernel and no n_basis with it")
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
    fixed = estimator.basis is not None or estimator.n_basis != "pss"
    available = min(_MAX_FUNCTIONS, n_points or _MAX_FUNCTIONS)
    if estimator.basis is not None:
        basis, available = estimator.basis, estimator.basis.n_basis
    else:
        if fixed:
            available = int(estimator.n_basis)
        most = 2 * available  # those beyond are not released: the prior fills them in
        basis = CosineBasis(most, domain)
        if estimator.kernel is not None:
            basis = KernelBasis(estimator.kernel, most, domain)
    plan = best_plan(
        n_people,
        n_outputs,
        float(estimator.epsilon),
        float(estimator.delta),
        check_mechanism(estimator.mechanism, estimator.delta),
        available,
        fixed,
    )
    basis = basis.orthonormalize()
    return plan, basis.first(min(2 * plan.n_functions, basis.n_basis))
