"""Strict mode: what a curator forbids in a whole process, and in those it starts.

The switch is one of the process, not of a thread: a worker thread that forgot it would
let a release through. New processes read it from the environment.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType

from .exceptions import PrivacyError

_VARIABLE = "SKFUNCPRIV_STRICT"
_strict = os.environ.get(_VARIABLE, "0") not in ("", "0")


class config:  # noqa: N801 - a verb for its users, as in scikit-learn
    """Switch strict mode on or off, at once; in a ``with`` block for its length.

    In strict mode whatever could void a printed guarantee is refused with a
    :class:`PrivacyError`, before data are touched: a release without a ledger, with a
    `random_state`, or inside scikit-learn's model selection, whose scores and choices
    are computed on private data; and `score` and `transform` where their numbers are
    those of rows without noise.

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


def check_outside_of_selection() -> None:
    """Refuse a release that scikit-learn's model selection has asked for.

    It computes scores on private rows and chooses by them, and no scorer tells us.
    The callers are the only trace of it, in worker processes, too.
    """
    frame = sys._getframe()
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith("sklearn.model_selection"):
            raise PrivacyError(
                "strict mode refuses scikit-learn's model selection: its scores and "
                "its choice are computed on private data; use PrivateGridSearchCV"
            )
        frame = frame.f_back


def _switch(strict: bool) -> None:
    global _strict
    _strict = strict
    os.environ[_VARIABLE] = "1" if strict else "0"
