"""Pipelines of the local model: one budget, one guarantee, and what a search costs."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from numbers import Integral
from operator import add
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ParameterGrid,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._base import PrivateEstimator, refuse_in_strict_mode
from .._config import learners
from ..blocks._partitions import is_dask
from ..exceptions import PrivacyError
from ..privacy import PrivacyGuarantee
from ._bounds import check_basis, domain_of
from ._budget import SELECTION_SHARE, GeoBudget
from ._coefficients import GeoPrivateCoefficients
from ._projector import BasisProjector
from ._selector import METHODS, SVTBasisSelector

_DISJOINT = (KFold, GroupKFold, StratifiedKFold, StratifiedGroupKFold)  # test sets


def geo_private_pipeline(
    *,
    epsilon: float | None = None,
    rho: float | None = None,
    bounds: Any,
    domain: Any = None,
    n_outputs: int = 1,
    selection: str | None = None,
    ledger: str | None = None,
    random_state: Any = None,
    **projector: Any,
) -> Pipeline:
    """Build the pipeline of the local model from one budget.

    Parameters
    ----------
    epsilon : float, default=None
        *Public.* The whole loss per unit of L2 distance. Give either `epsilon` or
        `rho`.
    rho : float, default=None
        *Public.* The whole loss per squared unit of L2 distance.
    bounds : tuple of two floats, or of two arrays of shape (n_outputs,)
        *Public.* Bounds of the values.
    domain : tuple of two floats, default=None
        *Public.* The interval of the argument; None is that of `basis`, or (0, 1).
    n_outputs : int, default=1
        *Public.* The number of values at each point.
    selection : {"svt", "permute-and-flip", "coefficients"}, default=None
        *Public.* With a selection, a fifth of the budget pays for it. None chooses the
        number of coefficients from public facts, at no cost: that is more accurate
        unless the bounds are very wide.
    ledger : str, default=None
        *Public.* The file of a `BudgetLedger`, charged by selection and release.
    random_state : int, RandomState or None, default=None
        The source of both; anything but None gives no privacy.
    **projector
        *Public.* Further parameters of `BasisProjector`.

    Returns
    -------
    Pipeline
        The steps "project", "select" (with a selection) and "release".

    Examples
    --------
    >>> from skfuncpriv.local import geo_private_pipeline
    >>> from skfuncpriv.privacy import epsilon_for_radius
    >>> epsilon = epsilon_for_radius(20, odds=3, domain=(0, 24))
    >>> pipeline = geo_private_pipeline(epsilon=epsilon, bounds=(0, 9), domain=(0, 24))
    >>> list(pipeline.named_steps)
    ['project', 'release']
    """
    budget = GeoBudget.from_parameters(epsilon, rho)
    if domain is None and projector.get("basis") is None:
        domain = (0.0, 1.0)
    project = BasisProjector(bounds=bounds, domain=domain, **projector)
    if bounds is None:
        raise ValueError("bounds must be stated: no guarantee is known without them")
    if selection not in (None, *METHODS):
        raise ValueError(f"selection must be None or one of {METHODS}")
    check_basis(project.basis)
    shared = {"n_outputs": n_outputs, "ledger": ledger, "random_state": random_state}
    public = {"bounds": bounds, "domain": domain, "center": project.center}
    if project.basis is not None:
        public["domain"] = domain_of(project.basis)
        if not project.basis.ordered_by_frequency:
            public["basis"] = project.basis.orthonormalize()
            if selection in ("svt", "permute-and-flip"):
                raise ValueError(
                    f"selection={selection!r} takes the first functions of a basis, "
                    "and these are ordered by position: use 'coefficients' or None"
                )
    if selection is None:
        release = GeoPrivateCoefficients(epsilon=epsilon, rho=rho, **shared, **public)
        return Pipeline([("project", project), ("release", release)])
    cost, rest = budget.part(SELECTION_SHARE), budget.part(1 - SELECTION_SHARE)
    select = SVTBasisSelector(
        epsilon=cost.epsilon,
        rho=cost.rho,
        release_epsilon=rest.epsilon,
        release_rho=rest.rho,
        method=selection,
        **shared,
    )
    release = GeoPrivateCoefficients(
        epsilon=rest.epsilon, rho=rest.rho, n_coefficients=None, **shared, **public
    )
    return Pipeline([("project", project), ("select", select), ("release", release)])


def pipeline_guarantee(pipeline: Pipeline) -> PrivacyGuarantee:
    """Add up what the steps of a fitted pipeline promise.

    That is what they released when they were fitted last, or, of the local model, what
    every `transform` releases of each row. Earlier fits, and scores, are not in it: a
    `BudgetLedger` counts all that is released.

    Parameters
    ----------
    pipeline : Pipeline
        A fitted pipeline. Of the local model a `BasisProjector` with bounds comes
        first, and a release last; or a `GeoPrivateCurve` is alone. Otherwise at least
        one step releases, and those before it learn nothing from rows.

    Returns
    -------
    PrivacyGuarantee
        The sum over all steps that release, with the float error of the projection.

    Raises
    ------
    PrivacyError
        If there is no such guarantee: a step may learn from rows without noise, nothing
        is released, the values have no bounds, the parts do not compose, or
        intermediate results are cached in files.
    NotFittedError
        If a step is not fitted.

    Notes
    -----
    The steps see the same rows, so their losses add (basic composition). A projection
    that errs by s in distance makes every loss that of dist + s.

    A step that maps rows one by one leaves neighbours what they are. As in strict mode
    such steps are `FunctionTransformer` with a function of NumPy for single numbers,
    transformers of scikit-learn that need no fit, and estimators that are private: what
    a `StandardScaler` has learned is released by nobody, and protected by nobody.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.local import geo_private_pipeline, pipeline_guarantee
    >>> pipeline = geo_private_pipeline(epsilon=0.5, bounds=(0, 100), selection="svt")
    >>> pipeline_guarantee(pipeline.fit(np.zeros((1, 50)))).epsilon
    0.5
    """
    if type(pipeline) is not Pipeline:
        raise TypeError(
            "pipeline must be a fitted Pipeline, and no subclass: of a search, "
            "best_estimator_; what the search itself would cost tells search_guarantee"
        )
    steps = [step for _, step in pipeline.steps if step not in (None, "passthrough")]
    if pipeline.memory is not None:
        raise PrivacyError(
            "memory= keeps private coefficients, and choices that should be fresh, in "
            "files: leave it None"
        )
    local = (BasisProjector, SVTBasisSelector, GeoPrivateCoefficients)
    if not steps or any(isinstance(step, local) for step in steps):
        return _guarantee_of_rows(steps)
    for step in steps:
        for learner in learners(step):
            raise PrivacyError(
                f"{learner} may learn from rows, and has no guarantee: neither has the "
                "pipeline; use FunctionTransformer with a function of NumPy instead"
            )
        check_is_fitted(step)
        inner = map(type, step.get_params().values())
        if not hasattr(step, "guarantee_") and any(
            issubclass(kind, PrivateEstimator) for kind in inner
        ):
            raise PrivacyError(
                f"what is released within {type(step).__name__} is not counted: make "
                "it a step of the pipeline"
            )
    parts = [step.guarantee_ for step in steps if hasattr(step, "guarantee_")]
    if not parts:
        raise PrivacyError("no step of the pipeline releases anything")
    if len(steps) > 1 and any(part.metric is not None for part in parts):
        raise PrivacyError(
            "other steps may change distances, so the guarantee of a pipeline with a "
            "step of the local model and those is unknown"
        )
    return reduce(add, parts)


def _guarantee_of_rows(steps: list[Any]) -> PrivacyGuarantee:
    """What a projection, a choice and a release promise each row."""
    if not steps or type(steps[-1]) is not GeoPrivateCoefficients:
        raise PrivacyError(
            "the last step must be GeoPrivateCoefficients: what leaves the pipeline is "
            "not private otherwise"
        )
    if type(steps[0]) is not BasisProjector:
        raise PrivacyError(
            "the first step must be a BasisProjector: the metric is unknown otherwise"
        )
    known = (SVTBasisSelector, GeoPrivateCoefficients)
    for step in steps[1:]:
        if type(step) not in known:  # a subclass may do anything
            raise PrivacyError(
                f"{type(step).__name__} may change distances, so the guarantee of a "
                "pipeline with it is unknown"
            )
    for step in steps:
        check_is_fitted(step)
        if isinstance(step, GeoPrivateCoefficients) and step._space.whitening:
            raise PrivacyError(
                "BasisProjector gives orthonormal coefficients: GeoPrivateCoefficients "
                "must not be told of another basis or gram"
            )
    if any(step.n_outputs != steps[0].n_outputs_ for step in steps[1:]):
        raise ValueError(
            f"the curves have {steps[0].n_outputs_} outputs: the steps that follow "
            "must be told, by n_outputs"
        )
    error = steps[0].projection_error_
    if error is None:
        raise PrivacyError(
            "give BasisProjector bounds: without them the rounding errors of the "
            "projection have no bound"
        )
    total = reduce(add, [step.guarantee_ for step in steps[1:]])
    return replace(total, distance_error=error + total.distance_error)


def reconstruction_score(estimator: Any, X: Any, y: Any = None) -> float:  # noqa: ARG001
    """Score a pipeline of the local model by the relative error of its releases.

    For `GridSearchCV` over public hyperparameters, on *public* curves. On private
    curves every candidate is another release, and the scores are not private, hence
    refused in strict mode: `search_guarantee` says what a search costs.

    Parameters
    ----------
    estimator : Pipeline
        A fitted pipeline with `transform` and `inverse_transform`.
    X : array-like of shape (n, n_points[, n_outputs])
        Curves on the grid of the pipeline.
    y : None
        Ignored.

    Returns
    -------
    float
        Minus the mean of norm(f - release) / norm(f) over the curves.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.local import geo_private_pipeline, reconstruction_score
    >>> X = np.full((4, 20), 9.0)
    >>> pipeline = geo_private_pipeline(epsilon=1e6, bounds=(0, 10)).fit(X)
    >>> round(reconstruction_score(pipeline, X), 3) + 0.0
    0.0
    """
    parts = [part for _, part in getattr(estimator, "steps", [("", estimator)])]
    steps = [part for part in parts if hasattr(part, "_is_strict")]
    for step in steps:
        refuse_in_strict_mode(step, "reconstruction_score")
    if is_dask(X):
        raise TypeError("reconstruction_score needs curves in memory: call .compute()")
    curves = np.asarray(X, dtype=np.float64)
    released = estimator.inverse_transform(estimator.transform(X))
    rows = (len(curves), -1)
    error = np.linalg.norm((curves - released).reshape(rows), axis=1)
    norm = np.linalg.norm(curves.reshape(rows), axis=1)
    return float(-np.mean(error / np.where(norm > 0, norm, 1.0)))


def search_guarantee(search: Any, X: Any) -> PrivacyGuarantee:
    """Say what a `GridSearchCV` would cost each curve if the data were private.

    Parameters
    ----------
    search : GridSearchCV
        The search over a pipeline, fitted or not.
    X : array-like
        Curves of the form that the search will see; only their form is used.

    Returns
    -------
    PrivacyGuarantee
        The sum over all candidates: each of them releases a curve whenever it is in a
        test set (or in a training set, with ``return_train_score``), once for each
        scorer. Valid against whoever sees all of these
        releases; the scores and the choice themselves are computed from the raw curves
        and are *not* private.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skfuncpriv.local import geo_private_pipeline, search_guarantee
    >>> pipeline = geo_private_pipeline(epsilon=0.5, bounds=(0, 100))
    >>> search = GridSearchCV(pipeline, {"project__n_basis": [8, 16, 32]})
    >>> search_guarantee(search, np.zeros((1, 50))).epsilon
    1.5
    """
    if type(search) is not GridSearchCV:
        raise PrivacyError(
            "the number of releases is known for GridSearchCV only, not for "
            f"{type(search).__name__}"
        )
    repeats = _n_scorers(search.scoring) * _n_releases(search)
    parts = []
    for parameters in ParameterGrid(search.param_grid):
        pipeline = clone(search.estimator).set_params(**clone(parameters, safe=False))
        parts += [pipeline_guarantee(_fitted_to_form(pipeline, X))] * repeats
    return reduce(add, parts)


def _n_scorers(scoring: Any) -> int:
    """How often the scorers release each test set."""
    scorers = list(scoring.values()) if isinstance(scoring, dict) else [scoring]
    if any(scorer not in (None, reconstruction_score) for scorer in scorers):
        raise PrivacyError(
            "the number of releases is known for reconstruction_score only, not for "
            "other scorers"
        )
    return len(scorers)


def _n_releases(search: GridSearchCV) -> int:
    """How often the folds release the row that is released most."""
    cv = 5 if search.cv is None else search.cv
    if isinstance(cv, Integral) or type(cv) in _DISJOINT:
        n_splits = int(cv) if isinstance(cv, Integral) else cv.get_n_splits()
        return n_splits if search.return_train_score else 1
    if not isinstance(cv, list | tuple):
        raise PrivacyError(
            "cv must be None, a number of folds, a KFold of scikit-learn or a list of "
            "splits: only then is the number of releases known"
        )
    released = [np.asarray(test) for _, test in cv]
    if search.return_train_score:
        released += [np.asarray(train) for train, _ in cv]
    return int(np.bincount(np.concatenate(released)).max())


def _fitted_to_form(pipeline: Pipeline, X: Any) -> Pipeline:
    """The pipeline as fit leaves it, but without a choice that is drawn and charged."""
    (_, first), *rest = pipeline.steps
    form = np.zeros((1, len(first.fit(X).get_feature_names_out())))
    for _, step in rest:
        step.fit(form)
    return pipeline
