"""Strict mode: what a curator forbids in a whole process, and in those it starts.

The switch is one of the process, not of a thread: a worker thread that forgot it would
let a release through. New processes read it from the environment.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

import numpy as np
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags

from ._validation import if_loaded
from .exceptions import PrivacyError

_VARIABLE = "SKFUNCPRIV_STRICT"
# What hands on rows and columns, and computes nothing with them.
_HARMLESS = ("sklearn.base", "sklearn.compose", "sklearn.pipeline", "sklearn.utils")
_SHARED = threading.Lock()
if hasattr(os, "register_at_fork"):  # a child must not inherit a lock that is held
    os.register_at_fork(
        before=_SHARED.acquire,
        after_in_parent=_SHARED.release,
        after_in_child=_SHARED.release,
    )
_calls: list[config] = []  # those that are no blocks; the last one counts
_blocks: list[config] = []  # those that are open, of all threads
_strict = _from_outside = os.environ.get(_VARIABLE, "0") not in ("", "0")


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
    Estimators carry it to processes that run already. While a block is open that asks
    for strict mode, in any thread, neither another block nor the end of one switches it
    off.

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
        self._strict = strict
        with _SHARED:
            _calls.append(self)
            _switch()

    def __enter__(self) -> config:
        with _SHARED:
            if self in _calls:
                _calls.remove(self)
            _blocks.append(self)
            _switch()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with _SHARED:
            for entries in (_blocks, _calls):
                if self in entries:
                    entries.remove(self)
            _switch()

    def __repr__(self) -> str:
        return f"<strict mode is {'on' if _strict else 'off'}>"


def is_strict() -> bool:
    """Tell whether strict mode is on in this process.

    Returns
    -------
    bool
        See :class:`config`.

    Examples
    --------
    >>> from skfuncpriv import config, is_strict
    >>> with config(strict=True):
    ...     is_strict()
    True
    """
    return _strict


def check_callers(estimator: Any) -> None:
    """Refuse a release that a tool of scikit-learn has asked for, if that voids it.

    Scores and choices are computed on private rows, and no scorer tells us; calibrators
    and stacked models are fitted to them without noise, bootstraps repeat a person's
    rows. The callers are the only trace of it, in worker processes, too. Let through
    are the tools that hand on columns, after steps that map each row by itself.
    """
    frame, outermost = sys._getframe(), ""
    placed: list[Any] = []  # pipelines that have said where the estimator is
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        is_tool = name.startswith("sklearn.")
        outermost = name if is_tool else outermost
        if is_tool and not name.startswith(_HARMLESS):
            tool = ".".join(name.split(".")[:2])
            raise PrivacyError(
                f"strict mode refuses to release inside {tool}: what it computes on "
                "private data beside the release is not private; to choose parameters "
                "use PrivateGridSearchCV, otherwise fit without it"
            )
        for step in _steps_before(estimator, name, frame, placed) if is_tool else ():
            for learner in learners(step):
                raise PrivacyError(
                    "strict mode refuses a release after a step that may learn from "
                    f"rows, here {learner}: a person would move the rows of others; "
                    "use FunctionTransformer with a function of NumPy such as np.log1p"
                )
        frame = frame.f_back
    if outermost == "sklearn.utils.parallel":
        raise PrivacyError(
            "strict mode refuses to release in a worker of scikit-learn, which cannot "
            "see the steps before it: leave n_jobs=None"
        )


def _steps_before(
    estimator: Any, module: str, frame: FrameType, placed: list[Any]
) -> list[Any]:
    """The steps that a frame of scikit-learn puts before an estimator."""
    names = frame.f_locals
    owner = names.get("self")
    if module == "sklearn.compose._target":
        return [getattr(owner, "transformer_", None)]
    steps = getattr(owner, "steps", None) if module == "sklearn.pipeline" else None
    if steps is None or any(owner is known for known in placed):
        return []
    placed.append(owner)  # frames further out know less
    if owner.memory is not None:
        raise PrivacyError(
            "strict mode refuses a pipeline with memory: it writes rows to files; "
            "leave memory=None"
        )
    parts = [part for _, part in steps]
    place = names.get("step_idx", len(parts) - 1)
    known = [k for k, part in enumerate(parts) if part is estimator]
    return parts[: known[0] if known else place]


def is_row_by_row(function: Any) -> bool:
    """Whether a FunctionTransformer surely maps each row by itself.

    Functions of NumPy for single numbers do. Any other one may look at all rows, or
    remember them, and so may what `numpy.frompyfunc` makes; keyword arguments may hand
    out memory, and a check of the inverse warns of rows.
    """
    func = function.func
    is_numpys = isinstance(func, np.ufunc) and getattr(np, func.__name__, 0) is func
    is_silent = function.inverse_func is None or not function.check_inverse
    is_plain = not (function.kw_args or function.inv_kw_args) and is_silent
    return is_plain and (func is None or (is_numpys and func.nin == 1))


def learners(step: Any) -> Iterator[str]:
    """What, of a step and its parts, may mix rows."""
    if step is None or isinstance(step, str):
        return
    columns = if_loaded("sklearn.compose", "ColumnTransformer")
    if type(step) in (columns, FeatureUnion, Pipeline):
        for name in ("steps", "transformer_list", "transformers"):
            for part in getattr(step, name, ()):
                yield from learners(part[1])
        return
    origin = type(step).__module__.partition(".")[0]
    if type(step) is FunctionTransformer:
        is_fixed = is_row_by_row(step)
    elif origin == "sklearn":
        is_fixed = not get_tags(step).requires_fit
    else:
        is_fixed = origin == "skfuncpriv" or hasattr(step, "_check_ledger")
    if not is_fixed:
        yield type(step).__name__


def _switch() -> None:
    """Follow the open blocks, the strict ones first; without one the last call."""
    global _strict
    asked = [block._strict for block in _blocks]
    last = _calls[-1]._strict if _calls else _from_outside
    _strict = any(asked) if asked else last
    os.environ[_VARIABLE] = "1" if _strict else "0"
