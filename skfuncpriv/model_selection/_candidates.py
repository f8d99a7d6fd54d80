"""The candidates of a search: which are accepted, and how they are trained.

Every candidate is rehearsed on the data before anything is charged: its `fit` runs up
to where it would charge its own ledger. So whatever could be refused, in parameters or
data, is refused for free, and what it promises is known in advance.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from .._base import PrivateEstimator, paid
from .._config import is_row_by_row
from ..exceptions import LargeDeltaWarning, PrivacyError
from ..gaussian_process import OnlineGaussianProcess
from ..local import BasisProjector
from ..local._base import LocalPrivatizer
from ..privacy import PrivacyGuarantee
from ._delegate import Delegate

SET_BY_THE_SEARCH = ("epsilon", "delta", "ledger", "random_state")


def final(estimator: Any) -> Any:
    """The estimator that releases: the last step of a pipeline."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def prefix(estimator: Any) -> str:
    """What the parameters of the last step start with."""
    is_pipeline = isinstance(estimator, Pipeline)
    return f"{estimator.steps[-1][0]}__" if is_pipeline else ""


def check_estimator(estimator: Any) -> None:
    """Refuse what has no guarantee per person, or steps that could mix people."""
    if isinstance(estimator, Pipeline):
        _check_steps(estimator)
    last = final(estimator)
    is_central = isinstance(last, PrivateEstimator) and not isinstance(
        last, Delegate | LocalPrivatizer | OnlineGaussianProcess
    )
    if not is_central or "epsilon" not in last.get_params(deep=False):
        raise PrivacyError(
            f"estimator must be a private estimator of the central model, or a "
            f"Pipeline that ends in one, and no search, got {type(last).__name__}: the "
            "guarantee of others is unknown"
        )
    for name in ("ledger", "random_state"):
        if getattr(last, name, None) is not None:
            raise PrivacyError(
                f"{name} of the estimator must be None: the search charges once for "
                f"everything, and hands out seeds; state {name} of the search"
            )


def _check_steps(pipeline: Pipeline) -> None:
    if type(pipeline) is not Pipeline or pipeline.memory is not None:
        raise PrivacyError(
            "a pipeline must be a Pipeline, and no subclass, with memory=None: a cache "
            "keeps private rows in files"
        )
    for _, step in pipeline.steps[:-1]:
        if step is None or (isinstance(step, str) and step == "passthrough"):
            continue
        is_function = type(step) is FunctionTransformer and is_row_by_row(step)
        if not (is_function or type(step) is BasisProjector):
            raise PrivacyError(
                f"{type(step).__name__} may learn from the rows of other people: steps "
                "before the last one must be BasisProjector, 'passthrough' or "
                "FunctionTransformer with a function of NumPy for single numbers, "
                "such as np.log1p, without kw_args"
            )


@dataclass(frozen=True)
class Fitting:
    """How candidates are fitted.

    Parameters
    ----------
    estimator : estimator
        A clone of what the user passed.
    classes : ndarray or None
        The labels of a classifier, where it is to read them off the data: a slot might
        miss some.
    is_seeded : bool
        Whether seeds are handed out.
    """

    estimator: Any
    classes: np.ndarray | None
    is_seeded: bool

    def candidate(
        self, parameters: dict[str, Any], budget: tuple[float, float], seed: int
    ) -> Any:
        """An estimator with its parameters, a share of the budget and a mark: paid."""
        estimator = clone(self.estimator)
        values = {name: clone(value, safe=False) for name, value in parameters.items()}
        estimator.set_params(**values)
        check_estimator(estimator)
        last, (epsilon, delta) = final(estimator), budget
        known = last.get_params(deep=False)
        last.set_params(epsilon=epsilon)
        if "delta" in known:
            last.set_params(delta=delta)
        if self.classes is not None and known.get("classes") is None:
            last.set_params(classes=self.classes)
        if self.is_seeded:
            last.set_params(random_state=seed)
        paid(last)
        return estimator

    def rehearse(
        self,
        parameters: dict[str, Any],
        budget: tuple[float, float],
        unit: str,
        data: tuple[Any, Any, Any],
    ) -> PrivacyGuarantee:
        """What a candidate would promise; raises what its `fit` would raise."""
        estimator = self.candidate(parameters, budget, 0)
        last = final(estimator)

        def stop(guarantee: PrivacyGuarantee, n_people: int | None = None) -> None:  # noqa: ARG001
            raise _Curtain(guarantee)

        last._open_release = stop
        promised = None
        try:
            fit(estimator, *data)
        except _Curtain as curtain:
            promised = curtain.guarantee
        _check_promise(promised, budget, unit)
        return promised


class _Curtain(BaseException):
    """A rehearsal has reached the place where noise would be paid for."""

    def __init__(self, guarantee: PrivacyGuarantee) -> None:
        super().__init__()
        self.guarantee = guarantee


def fit(estimator: Any, X: Any, y: Any, groups: Any) -> Any:
    """Fit with groups, which a pipeline hands to its last step.

    Steps before it say nothing: a warning about a logarithm would tell of a row.
    """
    named = {} if groups is None else {f"{prefix(estimator)}groups": groups}
    with (
        np.errstate(all="ignore"),
        config_context(enable_metadata_routing=False),  # it would take no names
    ):
        return estimator.fit(X, y, **named)


def fit_to_promise(
    estimator: Any, promised: PrivacyGuarantee, data: tuple[Any, Any, Any]
) -> Any:
    """Fit a candidate, and hold it to what it promised at the rehearsal."""
    fit(estimator, *data)
    if getattr(final(estimator), "guarantee_", None) != promised:
        raise PrivacyError(
            "a candidate promises something else than at its rehearsal: the guarantee "
            "of the search does not cover it"
        )
    return estimator


def _check_promise(
    promised: PrivacyGuarantee | None, budget: tuple[float, float], unit: str
) -> None:
    if promised is None:
        raise PrivacyError(
            "a candidate was fitted without a charge: what it promises is unknown"
        )
    epsilon, delta = budget
    keeps_to_it = (
        promised.definition in ("pure-dp", "approx-dp")
        and promised.epsilon <= epsilon
        and promised.delta <= delta
        and (promised.unit, promised.neighbours) == (unit, "replace-one")
    )
    if not keeps_to_it:
        raise PrivacyError(
            f"a candidate promises {promised}, which is not within its share of the "
            f"budget, epsilon = {epsilon!r} and delta = {delta!r} per {unit}"
        )


def read_grid(estimator: Any, grid: Any) -> list[dict[str, Any]]:
    """All combinations of a grid, without what the search itself sets."""
    candidates = list(ParameterGrid(grid))
    if not candidates:
        raise ValueError("param_grid must have at least one combination")
    start = prefix(estimator)
    for name in {name for candidate in candidates for name in candidate}:
        if name.removeprefix(start) in SET_BY_THE_SEARCH:
            raise PrivacyError(
                f"param_grid must not hold {name!r}: the search divides one budget, "
                "charges one ledger and hands out seeds"
            )
    for candidate in candidates:
        trial = clone(estimator)
        trial.set_params(**{k: clone(v, safe=False) for k, v in candidate.items()})
        check_estimator(trial)
    return candidates


def shared_releases(
    estimator: Any, candidates: Sequence[dict[str, Any]]
) -> list[list[int]]:
    """Groups of candidates that one release serves, its leader first.

    Parameters that act after the release are named by the class of the estimator, in
    `_after_release`, each with a function that says how much a value asks for.
    """
    last, start = final(estimator), prefix(estimator)
    after = getattr(last, "_after_release", {})
    if not after:
        return [[index] for index in range(len(candidates))]
    groups: dict[Any, list[int]] = {}
    for index, candidate in enumerate(candidates):
        key = tuple(
            (name, id(value))
            for name, value in candidate.items()
            if name.removeprefix(start) not in after
        )
        groups.setdefault(key, []).append(index)

    def asks_for(index: int) -> tuple[Any, ...]:
        return tuple(
            asked(candidates[index].get(f"{start}{name}", getattr(last, name)))
            for name, asked in after.items()
        )

    return [sorted(group, key=asks_for, reverse=True) for group in groups.values()]


def released_again(model: Any, parameters: dict[str, Any]) -> Any:
    """The same release under parameters that act after it."""
    last, start = final(model), prefix(model)
    after = {
        name.removeprefix(start): value
        for name, value in parameters.items()
        if name.removeprefix(start) in getattr(last, "_after_release", {})
    }
    again = last._released_again(**after)
    if not isinstance(model, Pipeline):
        return again
    return Pipeline([*model.steps[:-1], (model.steps[-1][0], again)])


def transformed(model: Any, X: Any) -> Any:
    """What the last step of a pipeline sees of rows."""
    steps = model.steps[:-1] if isinstance(model, Pipeline) else []
    for _, step in steps:
        if step is not None and not isinstance(step, str):
            X = step.transform(X)
    return X


class collected_warnings:  # noqa: N801 - a verb
    """Collect what rehearsals warn of, which are public facts, and say each once."""

    def __enter__(self) -> None:
        self._catch = warnings.catch_warnings(record=True)
        self._caught = self._catch.__enter__()
        warnings.simplefilter("always")

    def __exit__(self, *error: Any) -> None:
        self._catch.__exit__(*error)
        if error[0] is not None:
            return
        said = {(w.category, str(w.message)): w for w in self._caught}
        for category, text in said:
            if not issubclass(category, LargeDeltaWarning):  # said of the whole delta
                warnings.warn(text, category, stacklevel=3)
