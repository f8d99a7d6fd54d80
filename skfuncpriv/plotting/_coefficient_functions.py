"""The curves among the coefficients of a fitted estimator, one after the other.

Coefficients of target curves have an axis of columns of X, those of classes an axis of
classes; predictors come in dicts and lists; outputs are the last axis. All of them
become one list here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

_NO_CURVES = (
    "a coefficient function needs curves: these coefficients are those of numbers, see "
    "coef_"
)
_SURFACE = (
    "the coefficients of curves on curves are surfaces, no functions: draw coef_ as a "
    "map of X_grid_ and y_grid_"
)

Function = tuple[str, Any, np.ndarray, Any]  # name, points, curve, deviations or None


def functions_of(estimator: Any, intercept: bool = True) -> list[Function]:
    """Names, points, curves and deviations of the noise of all coefficient functions.

    Parameters
    ----------
    estimator : object
        Fitted, with `coef_`, and `y_grid_` of target curves or `X_grid_` of covariate
        curves; with `classes_` if it is a classifier, and `noise_std_` where it is
        known, of a classifier the same for all classes.
    intercept : bool, default=True
        Whether the intercept of target curves comes first.

    Returns
    -------
    list of tuples
        One for each function and output.
    """
    coef, noise = estimator.coef_, getattr(estimator, "noise_std_", None)
    targets = getattr(estimator, "y_grid_", None)
    classes = getattr(estimator, "classes_", None)
    grids = getattr(estimator, "X_grid_", None)
    found: list[Function] = []
    if targets is not None:
        if grids is not None:
            raise ValueError(_SURFACE)
        if intercept:
            spread = getattr(estimator, "intercept_std_", None)
            found += _split("intercept", targets, estimator.intercept_, spread)
        names = getattr(estimator, "feature_names_in_", None)
        names = [f"x{k}" for k in range(len(coef))] if names is None else names
        for k, name in enumerate(names):
            found += _split(name, targets, coef[k], None if noise is None else noise[k])
        return found
    if grids is None:
        raise ValueError(_NO_CURVES)
    for name, t, curves, deviations in _predictors(grids, coef, noise):
        if classes is None:
            found += _split(name, t, curves, deviations)
            continue
        labels = classes[1:] if len(classes) == 2 else classes
        for c, label in enumerate(labels):
            found += _split(f"{name}, class {label}", t, curves[c], deviations)
    return found


def _predictors(grids: Any, coef: Any, noise: Any) -> Iterator[Function]:
    """One after the other, as they are named."""
    if not isinstance(grids, dict | list | tuple):
        yield "coefficient", grids, coef, noise
        return
    is_named = isinstance(grids, dict)
    for key in grids if is_named else range(len(grids)):
        name = str(key) if is_named else f"X [{key}]"
        yield name, grids[key], coef[key], None if noise is None else noise[key]


def _split(name: Any, t: Any, curve: Any, noise: Any) -> list[Function]:
    """One function for each output."""
    if np.ndim(curve) == 1:
        return [(str(name), t, curve, noise)]
    return [
        (f"{name} [{j}]", t, curve[:, j], None if noise is None else noise[:, j])
        for j in range(np.shape(curve)[1])
    ]
