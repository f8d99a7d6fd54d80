"""Strict mode: what a curator forbids in a whole process, and in those it starts.

The switch is one of the process, not of a thread: a worker thread that forgot it would
let a release through. New processes read it from the environment.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from sklearn.utils import get_tags

from .exceptions import PrivacyError

_VARIABLE = "SKFUNCPRIV_STRICT"
# What hands on rows and columns, and computes nothing with them.
_HARMLESS = ("sklearn.base", "sklearn.compose", "sklearn.pipeline", "sklearn.utils")
_strict = os.environ.get(_VARIABLE, "0") not in ("", "0")


class config:  # noqa: N801 - a verb for its users, as in scikit-learn
    """Switch strict mode on or off, at once; in a ``with`` block for its length.

    In strict mode whatever could void a printed guarantee is refused with a
    :class:`PrivacyError`, before data are touched and before a charge: a release
    without a ledger, with a `random_state`, of classes that are not stated, or inside
    tools of scikit-learn that compute on private data without noise (model selection,
    ensembles, calibration; steps of a pipeline that learn from rows); and `score` and
    `transform` where their numbers are those of rows without noise.

    Numbers that are not finite are no error then, which would tell that they are there:
    the public centre takes their place, weight 0 that of a weight.

    Parameters
    ----------
    strict : bool
        Whether strict mode is on.

    Raises
    ------
    ValueError
        If `strict` is not True or False.

    Notes
    -----
    It holds for the process, all of its threads, and the processes it starts: the
    environment variable ``SKFUNCPRIV_STRICT`` is set, which may be set outside as well.
    Estimators carry it to processes that run already.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import ICLPMean, config
    >>> with config(strict=True):
    ...     ICLPMean(bounds=(0, 1)).fit(np.ones((5, 3)))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    skfuncpriv.exceptions.PrivacyError: strict mode demands a ledger: create one ...
    """

    def __init__(self, *, strict: bool) -> None:
        if not isinstance(strict, bool):
            raise ValueError(f"strict must be True or False, got {strict!r}")
        self._before = _strict
        _switch(strict)

    def __enter__(self) -> config:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _switch(self._before)


def is_strict() -> bool:
    """Whether strict mode is on in this process."""
    return _strict


def check_callers(estimator: Any) -> None:
    """Refuse a release that a tool of scikit-learn has asked for, if that voids it.

    Scores and choices are computed on private rows, and no scorer tells us; calibrators
    and stacked models are fitted to them without noise, bootstraps repeat a person's
    rows. The callers are the only trace of it, in worker processes, too. Let through
    are the tools that hand on columns, after steps that learn nothing from rows.
    """
    frame = sys._getframe()
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        is_tool = name.startswith("sklearn.")
        if is_tool and not name.startswith(_HARMLESS):
            tool = ".".join(name.split(".")[:2])
            raise PrivacyError(
                f"strict mode refuses to release inside {tool}: what it computes on "
                "private data beside the release is not private; to choose parameters "
                "use PrivateGridSearchCV, otherwise fit without it"
            )
        for step in _steps_before(estimator, name, frame) if is_tool else ():
            for learner in _learners(step):
                raise PrivacyError(
                    "strict mode refuses a release after a step that learns from rows, "
                    f"here {learner}: a person would move the rows of all others; "
                    "transform by public numbers, as FunctionTransformer does"
                )
        frame = frame.f_back


def _steps_before(estimator: Any, module: str, frame: FrameType) -> list[Any]:
    """The steps that a frame of scikit-learn puts before an estimator."""
    names = frame.f_locals
    owner = names.get("self")
    if module == "sklearn.compose._target":
        return [getattr(owner, "transformer_", None)]
    steps = getattr(owner, "steps", None) if module == "sklearn.pipeline" else None
    if steps is None:
        return []
    parts = [part for _, part in steps]
    place = names.get("step_idx", len(parts) - 1)
    known = [k for k, part in enumerate(parts) if part is estimator]
    return parts[: known[0] if known else place]


def _learners(step: Any) -> Iterator[str]:
    """What, of a step and its parts, may learn from the rows that it is fitted to."""
    if step is None or isinstance(step, str):
        return
    for name in ("steps", "transformer_list", "transformers"):
        if hasattr(step, name):
            for part in getattr(step, name):
                yield from _learners(part[1])
            return
    is_ours = type(step).__module__.partition(".")[0] == "skfuncpriv"
    if not is_ours and get_tags(step).requires_fit:
        yield type(step).__name__


def _switch(strict: bool) -> None:
    global _strict
    _strict = strict
    os.environ[_VARIABLE] = "1" if strict else "0"
