"""What a display of a trace asks of an estimator and its data, before the charge."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..curves import as_curves


def typical_noise(estimator: Any, X: Any = None) -> float:
    """The root of the expected squared noise, an average over the domain."""
    low, high = domain_of(estimator, X)
    return math.sqrt(estimator.expected_error() / (high - low))


def domain_of(estimator: Any, X: Any) -> tuple[float, float]:
    """The public domain: as stated, or that of curves, or from 0 to 1."""
    if estimator.domain is not None:
        return estimator.domain
    found = getattr(X, "domain", None) if estimator.parameter == "time" else None
    return (0.0, 1.0) if found is None else found


def n_outputs(X: Any) -> int:
    """The number of outputs of the first row of any form of data."""
    if hasattr(X, "n_outputs"):
        return int(X.n_outputs)
    if hasattr(X, "columns"):  # a wide frame
        return 1
    return int((*np.shape(X[0]), 1)[1])


def check_outputs(n_outputs: int) -> int:
    """The number of outputs, if a picture can show them."""
    if n_outputs not in (1, 2):
        raise ValueError(
            f"a display shows one or two outputs, got {n_outputs}: choose some of them"
        )
    return n_outputs


def true_trace(estimator: Any, X: Any, n_outputs: int) -> np.ndarray:
    """The trace as it was observed, within the public bounds, shape (n, 2)."""
    if estimator.parameter == "arc length":
        if n_outputs == 1:
            raise ValueError("compare needs times, or two outputs")
        X = X if hasattr(X, "n_outputs") else np.asarray(X, dtype=float)
    curves = as_curves(
        X, grid=estimator.grid, domain=estimator.domain, missing=estimator.missing
    )
    t = curves.grid if curves.is_regular else curves.times
    values = np.clip(curves.values.reshape(len(t), -1), *estimator.bounds)
    low, high = estimator.domain
    return np.stack(axes_of(t, values), axis=1)[(t >= low) & (t <= high)]


def axes_of(t: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What is drawn to the right, and what upwards."""
    return (values[:, 0], values[:, 1]) if values.shape[1] == 2 else (t, values[:, 0])
