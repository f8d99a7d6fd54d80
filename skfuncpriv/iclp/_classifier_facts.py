"""What `ICLPClassifier` decides from public facts, and what it does with a release."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._planned import PlannedRelease
from .._row_weights import divided_among_rows
from .._validation import check_count, check_delta, check_positive
from ..gaussian_process._labels import read_classes
from ..gaussian_process._machine_plan import check_psi
from ._classifier_plan import LOSSES, classifier_plan
from ._design_base import Design
from ._designs import public_design, read_eta, zero_rows

_MISSING = ("error", "interpolate")


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that no data could make valid."""
    check_positive(estimator.epsilon, "epsilon")
    check_delta(estimator.delta)
    read_eta(estimator.eta)
    check_psi(estimator.psi, 1.0)
    if estimator.gap is not None:
        check_positive(estimator.gap, "gap")
    if estimator.weight_cap is not None:
        check_positive(estimator.weight_cap, "weight_cap")
    for name, known in (("loss", tuple(LOSSES)), ("missing", _MISSING)):
        value = getattr(estimator, name)
        if not (isinstance(value, str) and value in known):
            raise ValueError(f"{name} must be one of {list(known)}, got {value!r}")
    estimator._check_ledger()


def check_kind_of_labels(y: Any, classes: np.ndarray | None) -> None:
    """Refuse numbers where the public classes are strings, in words that say why."""
    kinds = [getattr(part, "dtype", None) for part in (y, classes)]
    kinds = [getattr(kind, "kind", "") for kind in kinds]
    if kinds[0] in "biuf" and kinds[0] and kinds[1] in "UST" and kinds[1]:
        raise ValueError(
            "classes are strings, but y holds numbers: cross_val_predict numbers the "
            "labels for method='decision_function' and 'predict_proba'; number y and "
            "classes beforehand, or leave classes=None"
        )


def planned_release(
    estimator: Any, n_people: int, n_outputs: int, n_points: int | None
) -> PlannedRelease:
    """The plan for rows of zeros in the form that is stated; rows are people."""
    check_count(n_outputs, "n_outputs")
    rows = zero_rows(estimator, n_points, n_outputs)
    design, _ = public_design(estimator, rows)
    classes = read_classes(estimator.classes)
    n_classes = 2 if classes is None else len(classes)
    plan = classifier_plan(estimator, design, n_people, "row", n_classes)
    return PlannedRelease(
        n_people=n_people,
        epsilon=float(estimator.epsilon),
        delta=plan.release.guarantee(seeded=False).delta,
        mechanism=plan.release.mechanism,
        n_functions=plan.release.n_features,
        bias=plan.bias,
        sampling=plan.sampling,
        noise=plan.noise,
        eta=getattr(design, "eta", None),
        psi=plan.release.psi,
        released="the decision function",
        size=1.0,
        place="for a row of a reference problem",
    )


def private_rows(
    design: Design, rows: Any, targets: np.ndarray, shares: np.ndarray, codes: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whitened features, targets and weights of the rows of all people.

    Rows without data are left out of the mean of their person, and a person without any
    other has no say; n stays the number of people.
    """
    features, seen = design.whitened(rows, codes), design.seen(rows)
    if codes is None:
        return features, targets, shares
    if seen is not None:
        features, targets, shares = features[seen], targets[seen], shares[seen]
        codes = codes[seen]
    return features, targets, divided_among_rows(shares, codes)


def released_functions(
    design: Design, theta: np.ndarray, deviation: float
) -> tuple[np.ndarray, Any, Any]:
    """Intercepts, coefficients and the deviation of their noise, in units of X."""
    intercept, parts = design.slopes(theta)
    _, units = design.slopes(np.diag(1 / np.sqrt(design.penalty)))
    coefs, noises = [], []
    for part, unit in zip(parts, units, strict=True):
        shape = part.shape[:-1] if part.shape[1:-1] != (1,) else part.shape[:1]
        coefs.append(np.moveaxis(part, -1, 0).reshape(-1, *shape))
        noise = deviation * np.sqrt(np.square(unit).sum(axis=-1))
        noises.append(noise.reshape(shape))
    return intercept, design.named(coefs), design.named(noises)
