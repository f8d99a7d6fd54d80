"""The integrated squared error of densities, mean curves and covariances.

All three have the form norm(f)^2 - 2 <f, g> + norm(g)^2 with f released, g the truth,
and <f, g> the mean of a function of one person. What does not depend on f is left out.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..curves import as_curves
from ..density import PrivateKDE
from ..exceptions import PrivacyError
from ..iclp import PrivateFPCA, PrivateSparseMean
from ..iclp._curve_mean import CurveMean
from ._bounded_score import BoundedScore


@dataclass(frozen=True)
class IntegratedSquaredError(BoundedScore):
    """Minus the integrated squared error of a density, a mean curve or components.

    Up to a number that does not depend on the estimator, it is the mean over people of
    what follows, for f released:

    - `PrivateKDE`: 2 f(x) - norm(f)^2, with the points x moved to the bounds;
    - means of curves: minus norm(x - f)^2, with the curves x clipped to the bounds, on
      the grid of f;
    - `PrivateFPCA`: 2 sum_j v_j z_j^2 - sum_j v_j^2, where v_j are the released
      variances of the components that are kept, and z the scores of a curve, shrunk to
      the released radius: the squared error of the covariance function that the
      components make up.

    Notes
    -----
    The bounds follow from the release. For one person the values under two densities
    differ by 2 (f_1 - f_2)(x) plus a public number, so their range is that of the
    difference on the nodes of the grid; for two means it is 2 (hi - lo) times the
    integral of abs(f_1 - f_2); for k < l components of one release it is 2 v_(k+1)
    times the squared radius. These are far smaller than the ranges of the values.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import PrivateKDE
    >>> from skfuncpriv.model_selection import IntegratedSquaredError
    >>> X = np.random.default_rng(0).normal(size=(200, 1))
    >>> kde = PrivateKDE(bounds=(-5, 5), random_state=0).fit(X)
    >>> IntegratedSquaredError().bounds(kde)[0] < 0
    True
    """

    def values(self, model: Any, X: Any, y: Any = None) -> np.ndarray:  # noqa: ARG002
        return kind_of(model).values(model, X)

    def bounds(self, model: Any) -> tuple[float, float]:
        return kind_of(model).bounds(model)

    def differences(self, models: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        kind, *others = {kind_of(model) for model in models}
        if others or not kind.are_comparable(models):
            return super().differences(models)
        return kind.differences(models)


class Kind(BoundedScore):
    """The error of one kind of function."""

    @abstractmethod
    def are_comparable(self, models: Sequence[Any]) -> bool:
        """Whether closer bounds of differences are known."""


class DensityKind(Kind):
    """2 f(x) - norm(f)^2."""

    def values(self, model: Any, X: Any, y: Any = None) -> np.ndarray:  # noqa: ARG002
        return 2 * model._density_within_bounds(X) - _square_norm(model)

    def bounds(self, model: Any) -> tuple[float, float]:
        square = _square_norm(model)
        low, high = model.density_.min(), model.density_.max()
        return 2 * float(low) - square, 2 * float(high) - square

    def are_comparable(self, models: Sequence[Any]) -> bool:
        first, *others = (model.grid_ for model in models)
        return all(
            len(grid) == len(first)
            and all(map(np.array_equal, grid, first))  # multilinear on the same nodes
            for grid in others
        )

    def differences(self, models: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        squares = [_square_norm(model) for model in models]
        return _table(
            models,
            lambda j, k: (
                2 * (models[k].density_ - models[j].density_) - squares[k] + squares[j]
            ),
        )


class MeanKind(Kind):
    """Minus norm(x - f)^2, on the nodes of the grid."""

    def values(self, model: Any, X: Any, y: Any = None) -> np.ndarray:  # noqa: ARG002
        curves = as_curves(
            X, grid=model.grid, domain=model.basis_.domain, missing=model.missing
        )
        low, high = _ends(model)
        mean, weights = _mean(model), _weights(model.grid_)
        error = np.zeros(curves.n_curves)
        for k, curve in enumerate(_on_grid(curves, model.grid_)):
            square = np.square(np.clip(curve, low, high) - mean)
            error[k] = np.sum(weights[:, None] * square)
        error[curves.all_missing] = 0.0
        return -error

    def bounds(self, model: Any) -> tuple[float, float]:
        low, high = _ends(model)
        mean = _mean(model)
        square = np.maximum(np.square(low - mean), np.square(high - mean))
        return -float(np.sum(_weights(model.grid_)[:, None] * square)), 0.0

    def are_comparable(self, models: Sequence[Any]) -> bool:
        first, *others = models
        return all(
            np.array_equal(model.grid_, first.grid_)
            and model.mean_.shape == first.mean_.shape
            and all(map(np.array_equal, _ends(model), _ends(first)))
            for model in others
        )

    def differences(self, models: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        low, high = _ends(models[0])
        weights = _weights(models[0].grid_)[:, None]
        means = [_mean(model) for model in models]

        def ends(j: int, k: int) -> np.ndarray:
            """Of (x - m_j)^2 - (x - m_k)^2, linear in x; zero for a missing curve."""
            at = np.stack(
                [np.square(x - means[j]) - np.square(x - means[k]) for x in (low, high)]
            )
            least, most = np.sum(weights * np.sort(at, axis=0), axis=(1, 2))
            return np.array([min(least, 0.0), max(most, 0.0)])

        return _table(models, ends)


class ComponentsKind(Kind):
    """2 sum_j v_j z_j^2 - sum_j v_j^2."""

    def values(self, model: Any, X: Any, y: Any = None) -> np.ndarray:  # noqa: ARG002
        scores = model._scores(X)
        norm = np.linalg.norm(scores, axis=1, keepdims=True)
        inside = scores * np.minimum(1.0, model.radius_ / np.maximum(norm, 1e-300))
        variance = model.explained_variance_
        return 2 * np.sum(np.square(inside) * variance, axis=1) - variance @ variance

    def bounds(self, model: Any) -> tuple[float, float]:
        variance = model.explained_variance_
        square = float(variance @ variance)
        return -square, 2 * float(variance[0]) * model.radius_**2 - square

    def are_comparable(self, models: Sequence[Any]) -> bool:
        return all(model.release_ is models[0].release_ for model in models)

    def differences(self, models: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        def ends(j: int, k: int) -> np.ndarray:
            few, many = sorted((j, k), key=lambda i: len(models[i].components_))
            more = models[many].explained_variance_[len(models[few].components_) :]
            largest = 2 * models[few].radius_ ** 2 * more[0] if len(more) else 0.0
            sign = 1.0 if k == many else -1.0
            return sign * (np.array([0.0, largest]) - more @ more)

        return _table(models, ends)


_KINDS: dict[type, Kind] = {
    PrivateKDE: DensityKind(),
    CurveMean: MeanKind(),
    PrivateFPCA: ComponentsKind(),
}


def kind_of(model: Any) -> Kind:
    """How the error of an estimator is scored."""
    for owner, kind in _KINDS.items():
        if isinstance(model, owner) and not isinstance(model, PrivateSparseMean):
            return kind
    raise PrivacyError(
        f"the integrated squared error of {type(model).__name__} has no known bounds: "
        "pass a BoundedScore of your own as scoring"
    )


def _table(models: Sequence[Any], function: Any) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest number of function(j, k), for all pairs."""
    n_models = len(models)
    low, high = np.zeros((n_models, n_models)), np.zeros((n_models, n_models))
    for j in range(n_models):
        for k in range(j + 1, n_models):
            numbers = function(j, k)
            low[j, k], high[j, k] = np.min(numbers), np.max(numbers)
            low[k, j], high[k, j] = -high[j, k], -low[j, k]
    return low, high


def _square_norm(model: Any) -> float:
    """Of a density, by the trapezoidal rule along each axis."""
    square = np.square(model.density_)
    for grid in model.grid_:
        square = np.tensordot(_weights(grid), square, 1)
    return float(square)


def _weights(grid: np.ndarray) -> np.ndarray:
    """Of the trapezoidal rule; one for a single point."""
    if len(grid) == 1:
        return np.ones(1)
    step = np.diff(grid)
    return (np.append(step, 0.0) + np.append(0.0, step)) / 2


def _mean(model: Any) -> np.ndarray:
    """The released mean, shape (n_points, n_outputs)."""
    return model.mean_.reshape(len(model.grid_), -1)


def _ends(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """The public bounds of the values, shape (n_outputs,) each."""
    n_outputs = _mean(model).shape[1]
    low, high = (np.broadcast_to(end, n_outputs).astype(float) for end in model.bounds)
    return low, high


def _on_grid(curves: Any, grid: np.ndarray) -> Any:
    """Each curve on a grid, shape (n_points, n_outputs), interpolated where needed."""
    if curves.is_regular and np.array_equal(curves.grid, grid):
        yield from curves.values
        return
    for k in range(curves.n_curves):
        curve = curves[k]
        times = curve.grid if curve.is_regular else curve.times
        if len(times) == 0:
            yield np.zeros((len(grid), curves.n_outputs))
            continue
        values = curve.values.reshape(len(times), -1)
        yield np.stack([np.interp(grid, times, column) for column in values.T], axis=1)
