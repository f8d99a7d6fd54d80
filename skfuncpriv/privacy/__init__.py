"""Guarantees, calibration, the budget ledger and the empirical audit."""

from ..noise import exact_epsilon
from ._audit import AuditResult, audit
from ._calibration import (
    analytic_gaussian_sigma,
    classic_gaussian_sigma,
    gaussian_delta,
    laplace_scale,
    zcdp_sigma,
)
from ._composition import compose
from ._conversion import rho_for_approx_dp
from ._guarantee import PrivacyGuarantee
from ._ledger import BudgetLedger
from ._ledger_file import LedgerRecord
from ._partition import parallel
from ._people_partition import PeoplePartition
from ._radius import epsilon_for_radius, rho_for_radius
from ._selection import permute_and_flip, selection_epsilon
from ._sparse_vector import sparse_coefficients, sparse_vector

__all__ = [
    "AuditResult",
    "BudgetLedger",
    "LedgerRecord",
    "PeoplePartition",
    "PrivacyGuarantee",
    "analytic_gaussian_sigma",
    "audit",
    "classic_gaussian_sigma",
    "compose",
    "epsilon_for_radius",
    "exact_epsilon",
    "gaussian_delta",
    "laplace_scale",
    "parallel",
    "permute_and_flip",
    "rho_for_approx_dp",
    "rho_for_radius",
    "selection_epsilon",
    "sparse_coefficients",
    "sparse_vector",
    "zcdp_sigma",
]
