"""What `ICLPClassifier` decides from public facts, and what it does with a release."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from .._planned import PlannedRelease
from .._validation import check_count, check_delta, check_positive
from ..gaussian_process._labels import read_classes
from ..gaussian_process._machine_plan import check_psi
from ..gaussian_process._rows import read_box
from ._classifier_plan import LOSSES, classifier_plan
from ._design_base import Design
from ._designs import predictor_facts, public_design, read_eta

_MISSING = ("error", "interpolate")
_POINTS = 101


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


def planned_release(
    estimator: Any, n_people: int, n_outputs: int, n_points: int | None
) -> PlannedRelease:
    """The plan for rows of zeros in the form that is stated; rows are people."""
    rows = _zeros(estimator, check_count(n_outputs, "n_outputs"), n_points)
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
    )


def _zeros(estimator: Any, n_outputs: int, n_points: int | None) -> Any:
    """One row of zeros in the form that the public parameters state."""
    if n_points is not None:
        check_count(n_points, "n_points")
    domain = estimator.X_domain
    if domain is None:
        bounds = read_box(estimator.X_bounds, n_points) if n_points else None
        if bounds is None:
            bounds = np.broadcast_arrays(*np.atleast_1d(*estimator.X_bounds))
        return np.zeros((1, len(bounds[0])))

    def curves(grid: Any) -> np.ndarray:
        known = grid is not None and not isinstance(grid, str)
        count = len(grid) if known else n_points or _POINTS
        return np.zeros((1, count, n_outputs) if n_outputs > 1 else (1, count))

    named = [(name, curves(f["X_grid"])) for name, f in predictor_facts(estimator)]
    if isinstance(domain, dict):
        return dict(named)
    tables = [table for _, table in named]
    return tables[0] if named[0][0] is None else tables


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
    return features, targets, shares / np.bincount(codes)[codes]


def read_again(estimator: Any, X: Any) -> np.ndarray:
    """Features of rows of the form that was fitted."""
    if hasattr(estimator, "n_features_in_") and len(getattr(X, "shape", ())) > 1:
        validate_data(estimator, X, reset=False, skip_check_array=True)
    design = estimator.features_
    rows = design.read(X)
    features, seen = design.transform(rows), design.seen(rows)
    if seen is not None:  # without data a curve is the public centre
        features[~seen, 0] = design.constant
    return features


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
