"""How the rows of a regression or classification are read, wherever they are.

A reading holds the public parameters of an estimator, not the estimator. What it
returns holds the public maps that follow from the form of the rows, too: those of one
row of zeros are the same as those of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._row_weights import check_same_index, read_weights
from ..gaussian_process._labels import flat, read_labels
from ..noise import FixedPoint
from ._classifier_facts import check_kind_of_labels, private_rows
from ._design_base import Design
from ._design_curves import check_same_people
from ._designs import is_curves, public_design
from ._minimiser import MinimiserPlan, minimiser_value
from ._targets import CurveTargets, ScalarTargets, public_targets

_NAMES = (
    *("X_bounds", "X_domain", "X_grid", "X_basis", "kernel", "eta", "missing"),
    *("y_bounds", "y_domain", "y_grid", "y_basis", "weight_cap"),
)


class PublicParameters:
    """The parameters of an estimator that decide how rows are read.

    Parameters
    ----------
    estimator : ICLPRegressor or ICLPClassifier
        Nothing else of it is kept.
    """

    def __init__(self, estimator: Any) -> None:
        for name in _NAMES:
            setattr(self, name, getattr(estimator, name, None))
        self._strict = estimator._is_strict()

    def _is_strict(self) -> bool:
        return bool(self._strict)

    def shares(self, weights: Any, X: Any, n_rows: int) -> np.ndarray | None:
        """Weights of rows in [0, 1]; None if there are none."""
        return read_weights(weights, self.weight_cap, X, n_rows, self._strict)


@dataclass(frozen=True, eq=False, repr=False)
class RegressionRows:
    """Public maps, and what they are applied to: covariates, targets and weights."""

    design: Design
    targets: ScalarTargets | CurveTargets
    rows: Any
    values: Any
    shares: np.ndarray | None


@dataclass(frozen=True, eq=False)
class RegressionReading:
    """Reads covariates, targets and weights of `ICLPRegressor`.

    Parameters
    ----------
    parameters : PublicParameters
        *Public.*
    """

    parameters: PublicParameters

    def __call__(self, X: Any, y: Any, weights: Any) -> RegressionRows:
        """Read rows."""
        stated = self.parameters
        smooth = not is_curves(stated.y_domain, y)
        design, rows = public_design(stated, X, smooth=smooth)
        check_same_index(X, y, "y")
        targets, values = public_targets(stated, y, len(rows))
        check_same_people(rows, values)
        shares = stated.shares(weights, X, len(rows))
        return RegressionRows(design, targets, rows, values, shares)


@dataclass(frozen=True, eq=False, repr=False)
class LabelledRows:
    """The public map, and private covariates, labels and weights."""

    design: Design
    rows: Any
    labels: Any
    shares: np.ndarray

    def read_labels(
        self, classes: np.ndarray | None, strict: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """The number of each row's class, and the classes."""
        check_kind_of_labels(self.labels, classes)
        return read_labels(flat(self.labels), len(self.rows), classes, strict)


def with_codes(classes: np.ndarray, strict: bool, data: LabelledRows) -> LabelledRows:
    """Rows with the numbers of public classes for labels."""
    return counted(data.read_labels(classes, strict)[0], data)


def counted(codes: np.ndarray, data: LabelledRows) -> LabelledRows:
    """Rows with codes for labels; those of no class, with the code -1, have no say."""
    return replace(data, labels=codes, shares=np.where(codes < 0, 0.0, data.shares))


@dataclass(frozen=True, eq=False)
class LabelReading:
    """Reads covariates, labels and weights of `ICLPClassifier`.

    Parameters
    ----------
    parameters : PublicParameters
        *Public.*
    """

    parameters: PublicParameters

    def __call__(self, X: Any, y: Any, weights: Any) -> LabelledRows:
        """Read rows."""
        stated = self.parameters
        design, rows = public_design(stated, X)
        check_same_index(X, y, "y")
        shares = stated.shares(weights, X, len(rows))
        shares = np.ones(len(rows)) if shares is None else shares
        return LabelledRows(design, rows, y, shares)


def minimisers(
    plan: MinimiserPlan,
    design: Design,
    n_classes: int,
    data: LabelledRows,
    people: np.ndarray | None,
) -> FixedPoint:
    """The certified minimisers of all functions, whose labels are 1 and -1.

    Each is 1 for the class of its function; one function will do for two classes.
    """
    firsts = np.arange(n_classes)[1 if n_classes == 2 else 0 :]
    targets = np.where(data.labels[:, None] == firsts, 1.0, -1.0)
    private = private_rows(design, data.rows, targets, data.shares, people)
    return minimiser_value(plan, *private)
