"""Checks by which mechanisms of others can be held to the promises of our own."""

from ._case import PrivateCase, table_case
from ._recording import Released, recorded, silenced
from ._run import (
    CheckOutcome,
    check_private_estimator,
    parametrize_with_private_checks,
)

__all__ = [
    "CheckOutcome",
    "PrivateCase",
    "Released",
    "check_private_estimator",
    "parametrize_with_private_checks",
    "recorded",
    "silenced",
    "table_case",
]
