"""What private kernel machines share: features, certified minimisers, one release."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from .._base import PrivateEstimator, warn_if_noise_dominates
from .._sklearn import check_feature_names
from .._threads import one_blas_thread
from .._validation import check_delta, check_positive
from ..blocks._block_rows import BlockRows
from ..blocks._memory_rows import MemoryRows
from ..blocks._rows import open_rows, unmapped
from ..noise import FixedPoint, random_bits, release_lattice
from ..privacy import PrivacyGuarantee
from ._duality import Objective
from ._features import KernelFeatures, default_kernel, is_auto, public_features
from ._kernels import Kernel
from ._losses import Loss
from ._machine_plan import MachinePlan, NoiseBudget, check_psi, public_plan
from ._minimise import certified_minimiser
from ._rows import PrivateRows, RowReading, public_center, read_box


@dataclass(frozen=True, eq=False, repr=False)
class MachineTargets:
    """Targets of rows, and which rows have a say; *private*.

    Parameters
    ----------
    values : ndarray, shape (n_outputs, n_rows)
        Labels -1 and 1, or numbers of [-1, 1].
    counted : ndarray, shape (n_rows,)
        One for a row that has a say, zero for one that has not.
    """

    values: np.ndarray
    counted: np.ndarray


class KernelMachine(PrivateEstimator):
    """Base of the estimators that release minimisers in an RKHS.

    A subclass calls `_read` and `_release`, which sets the public attributes;
    then it sets its own and `guarantee_`, last of all.
    """

    def _read(
        self, X: Any, y: Any, groups: Any
    ) -> tuple[MemoryRows | BlockRows, PrivateRows]:
        """Public facts, then the form of the rows, with targets as they are given."""
        check_positive(self.epsilon, "epsilon")
        check_delta(self.delta)
        NoiseBudget.from_parameters(self)
        check_psi(self.psi, 1.0)
        if self.gap is not None:
            check_positive(self.gap, "gap")
        if not isinstance(self.kernel, Kernel | None):
            raise TypeError(
                "kernel must be a Kernel such as GaussianKernel(0.5), or None, got "
                f"{self.kernel!r}"
            )
        self._check_ledger()
        random_bits(self.random_state)
        X, y, groups = unmapped((X, y, groups))
        rows = open_rows(X, y, groups=groups)
        data = rows.read(RowReading(public_center(self, self.bounds)))
        check_feature_names(self, rows.X, reset=True)
        self.n_features_in_ = data.points.shape[1]
        return rows, data

    def _release(
        self,
        rows: MemoryRows | BlockRows,
        n_rows: int,
        n_outputs: int,
        loss: Loss,
        target_unit: float = 1.0,
        psi_unit: float = 1.0,
    ) -> tuple[np.ndarray, PrivacyGuarantee]:
        """Release one function for each row of `MachineTargets`.

        Targets are measured in `target_unit`, psi of the user in `psi_unit`; hence the
        objective in psi_unit * target_unit^2.
        """
        # Step 0: public facts.
        bits = random_bits(self.random_state)
        n_people, unit = rows.people(n_rows)
        gap_unit = psi_unit * target_unit**2
        n_axes = self.n_features_in_
        features, plan = self._plan(
            n_axes, loss, n_people, unit, n_outputs, psi_unit, gap_unit
        )
        remedy = "epsilon, or more people,"
        signal = plan.radius * np.sqrt(plan.n_outputs)
        warn_if_noise_dominates(plan.law.expected_square, signal, remedy, stacklevel=4)

        with np.errstate(all="ignore"):  # a warning about numbers would tell of them
            # Step 1: the minimisers, to the public gap.
            value = rows.alone(partial(_minimisers, features, plan))

            # Step 2: charge, then draw the noise once.
            guarantee = plan.budget.guarantee(unit, bits.seeded)
            self._open_release(guarantee, n_people)
            lattice = release_lattice(plan.law.smallest_scale, value)
            released = lattice.to_float(plan.law.release(value, lattice, bits))

        # Step 3: public post-processing. Every minimiser lies in the ball.
        coef = released.reshape(plan.n_outputs, plan.n_features)
        norms = np.linalg.norm(coef, axis=1, keepdims=True)
        coef *= target_unit * np.minimum(1.0, plan.radius / np.maximum(norms, 1e-300))
        self.features_, self.law_ = features, plan.law
        self.psi_, self.gap_ = plan.psi * psi_unit, plan.gap * gap_unit
        self.sensitivity_ = plan.sensitivity * target_unit
        self.n_people_ = n_people
        return coef, guarantee

    def _plan(
        self,
        n_axes: int,
        loss: Loss,
        n_people: int,
        unit: str,
        n_outputs: int,
        psi_unit: float,
        gap_unit: float,
    ) -> tuple[KernelFeatures, MachinePlan]:
        low, high = read_box(self.bounds, n_axes)
        kernel = default_kernel(low, high) if self.kernel is None else self.kernel
        features = public_features(kernel, low, high, self.n_components)
        fewest = n_axes + 1 if is_auto(self.n_components) else features.size
        plan = public_plan(
            loss,
            NoiseBudget.from_parameters(self),
            n_people,
            unit,
            n_outputs,
            features.missed,
            fewest,
            check_psi(self.psi, psi_unit),
            None if self.gap is None else self.gap / gap_unit,
        )
        return features.first(plan.n_features), plan

    def _values(self, X: Any) -> np.ndarray:
        """The released functions at rows of X, shape (n, n_outputs)."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        return self.features_.transform(rows) @ np.atleast_2d(self.coef_).T


def _minimisers(
    features: KernelFeatures,
    plan: MachinePlan,
    data: PrivateRows,
    codes: np.ndarray | None,
) -> FixedPoint:
    """The certified minimisers of all functions, in one vector of the public lattice.

    The features of a person are a function of the rows of that person alone, to the
    last bit: with `codes` each person's are computed apart, because products of
    matrices of other shapes may round otherwise, and how many rows others have differs
    between neighbours.
    """
    # Many small products: threads of BLAS would wait for each other.
    with one_blas_thread():
        return _certified(features, plan, data, codes)


def _certified(
    features: KernelFeatures,
    plan: MachinePlan,
    data: PrivateRows,
    codes: np.ndarray | None,
) -> FixedPoint:
    rows, targets = data.points, data.targets.values
    counted = data.targets.counted
    if codes is None:
        Z, weights = features.transform(rows), counted.astype(float)
    else:
        order = np.argsort(codes, kind="stable")
        rows, targets, counted = rows[order], targets[:, order], counted[order]
        counts = np.bincount(codes, minlength=plan.n_people)
        people = np.split(rows, np.cumsum(counts)[:-1])
        Z = np.concatenate([features.transform(person) for person in people])
        weights = np.repeat(1.0 / counts, counts) * counted
    parts = [
        certified_minimiser(
            Objective(plan.loss, plan.psi, plan.n_people, Z, target, weights), plan.gap
        )
        for target in targets
    ]
    values = np.concatenate([part.values for part in parts])
    return FixedPoint(values, parts[0].lattice, parts[0].bound)
