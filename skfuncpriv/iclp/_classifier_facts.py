"""What `ICLPClassifier` decides from public facts, and what it does with a release."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._planned import PlannedRelease
from .._sklearn import check_feature_names
from .._validation import check_count, check_delta, check_positive
from ..gaussian_process._labels import read_classes
from ..gaussian_process._machine_plan import check_psi
from ._classifier_plan import LOSSES, classifier_plan
from ._design_base import Design
from ._design_curves import CurveDesign, CurveRows
from ._design_numbers import KernelDesign
from ._designs import is_curves, public_design

_MISSING = ("error", "interpolate")
_POINTS = 101


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that no data could make valid."""
    check_positive(estimator.epsilon, "epsilon")
    check_delta(estimator.delta)
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
        eta=design.eta if isinstance(design, CurveDesign) else None,
        psi=plan.release.psi,
    )


def _zeros(estimator: Any, n_outputs: int, n_points: int | None) -> Any:
    """One row of zeros in the form that the public parameters state."""
    if n_points is not None:
        check_count(n_points, "n_points")

    def curve(grid: Any) -> np.ndarray:
        known = grid is not None and not isinstance(grid, str)
        count = len(grid) if known else n_points or _POINTS
        return np.zeros((1, count, n_outputs) if n_outputs > 1 else (1, count))

    domain, grid = estimator.X_domain, estimator.X_grid
    if not is_curves(domain, None):
        widths = [np.size(end) for end in estimator.X_bounds]
        return np.zeros((1, n_points or max(widths)))
    if isinstance(domain, dict):
        return {name: curve(grid and grid.get(name)) for name in domain}
    if all(isinstance(one, list | tuple) for one in domain):
        grids = [None] * len(domain) if grid is None else grid
        return [curve(one) for one in grids]
    return curve(grid)


def width_of(rows: Any) -> int | None:
    """The number of columns of one wide table; None of anything else."""
    if not isinstance(rows, CurveRows):
        return rows.shape[1]
    grids = [curves.grid for curves in rows.curves]
    return None if len(grids) > 1 or grids[0] is None else len(grids[0])


def read_again(estimator: Any, X: Any) -> Any:
    """Rows of the form that was fitted."""
    check_feature_names(estimator, X, reset=False)
    width = getattr(X, "shape", ())[1:2]
    known = getattr(estimator, "n_features_in_", None)
    if known is not None and width and width != (known,):
        raise ValueError(
            f"X has {width[0]} features, but {type(estimator).__name__} is expecting "
            f"{known} features as input"
        )
    rows = estimator.design_.read(X)
    if known is not None and width_of(rows) != known:
        raise ValueError(
            f"X has rows of another length than the {known} of those that were fitted"
        )
    return rows


def released_parts(
    design: Design, rows: Any, weights: np.ndarray
) -> tuple[np.ndarray, Any, Any]:
    """Intercepts, coefficients and their points, in units of X; public maths."""
    if isinstance(design, KernelDesign):
        return np.zeros(len(weights)), weights.copy(), None
    intercept, slopes = design.slopes((weights / np.sqrt(design.penalty)).T)
    if not isinstance(design, CurveDesign):
        return intercept, slopes.T, None
    functions = []
    for curves, part in zip(rows.curves, slopes, strict=True):
        function = np.moveaxis(part, 2, 0)
        functions.append(function if curves.is_vector else function[:, :, 0])
    points = [predictor.points for predictor in design.predictors]
    names = [predictor.name for predictor in design.predictors]
    if names == [None]:
        return intercept, functions[0], points[0]
    if names == list(range(len(names))):
        return intercept, functions, points
    both = (functions, points)
    keyed = [dict(zip(names, parts, strict=True)) for parts in both]
    return intercept, *keyed
