"""Nothing private is held, printed or kept alive."""

from __future__ import annotations

import contextlib
import gc
import io
import logging
import os
import pickle
import sys
import tempfile
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np
from sklearn.utils import get_tags

from ._case import PrivateCase
from ._secrets import Secrets, reachable
from ._tools import ensure, ensure_same, equal, skip


def check_only_what_is_released_is_held(estimator: Any, case: PrivateCase) -> None:
    """Attributes, closures, slots, pickles, repr and HTML hold nothing private."""
    model = case.new(estimator, random_state=3)
    X, y = case.data
    if isinstance(X, np.ndarray) and get_tags(model).input_tags.allow_nan:
        X[:40, 8:] = np.nan  # a sum of no gaps is zero, all noise
    secrets = Secrets(model, case, X, y)
    before = case.ask(model)
    numbers, objects = reachable(model)
    secrets.check_numbers(numbers)
    secrets.check_objects(objects)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        secrets.check_bytes(pickle.dumps(model, protocol))
    dump = io.BytesIO()
    joblib.dump(model, dump)
    secrets.check_bytes(dump.getvalue())
    with np.printoptions(precision=17, threshold=10**6):
        texts = [repr(model), str(model), model._repr_html_(), str(vars(model))]
    secrets.check_text("\n".join(texts))
    restored = pickle.loads(pickle.dumps(model))
    ensure_same(case.ask(restored), before, "a pickled estimator answers otherwise")


def check_data_are_let_go(estimator: Any, case: PrivateCase) -> None:
    """Neither the fitted estimator nor a cache keeps the data alive."""
    model = case.new(estimator)
    X, y = (None if part is None else part.copy() for part in case.data)
    kept = [weakref.ref(part) for part in (X, y) if part is not None]
    case.answers(model, X, y)
    del X, y
    gc.collect()
    ensure(
        not any(reference() is not None for reference in kept),
        "the data are still alive after a release: something refers to them",
    )


def check_data_are_left_alone(estimator: Any, case: PrivateCase) -> None:
    """A release does not change the data, nor hand out a view of them."""
    X, y = (None if part is None else np.array(part) for part in case.data)
    given, target = X.copy(), None if y is None else y.copy()
    answers = case.answers(case.new(estimator), given, target)
    ensure(equal(given, X), "a release changes X in place")
    ensure(y is None or np.array_equal(target, y), "a release changes y in place")
    ensure(
        not any(np.shares_memory(answer, given) for answer in answers.values()),
        "an answer shares the memory of the data",
    )


def check_nothing_is_printed_or_logged(estimator: Any, case: PrivateCase) -> None:
    """Standard output, standard error and the log stay empty."""
    with _overheard() as heard:
        case.answers(case.new(estimator), *case.data)
    ensure(
        not any(heard.values()),
        f"a release prints or logs, which whoever reads logs sees: {heard}",
    )


def check_frames_leave_no_index(estimator: Any, case: PrivateCase) -> None:
    """Labels of the rows of a frame are names of people: none is kept."""
    case.needs_table()
    try:
        import pandas as pd
    except ImportError:
        skip("pandas is not installed")
    index = [f"patient-{k}-secret" for k in range(case.n_people)]
    columns = [f"c{k}" for k in range(np.shape(case.X)[1])]
    frame = pd.DataFrame(case.X, index=index, columns=columns)
    y = None if case.y is None else pd.Series(np.asarray(case.y), index=index)
    model = case.new(estimator, random_state=3)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        answers = case.answers(model, frame, y)
    ensure(
        b"-secret" not in pickle.dumps(model, 2) and not _frames(reachable(model)[1]),
        "the fitted estimator keeps the index of a frame: labels of people",
    )
    ensure(
        list(getattr(model, "feature_names_in_", columns)) == columns,
        "feature_names_in_ are not the columns",
    )
    plain = case.answers(case.new(estimator, random_state=3), *case.data)
    ensure_same(answers, plain, "a frame is read otherwise than the array of it")


def _frames(objects: list[Any]) -> list[Any]:
    kinds = ("DataFrame", "Series", "Index", "RangeIndex", "MultiIndex")
    return [item for item in objects if type(item).__name__ in kinds]


class _Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__(0)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


@contextlib.contextmanager
def _overheard() -> Iterator[dict[str, Any]]:
    """What is written to the streams, to their files, and to the root logger."""
    heard: dict[str, Any] = {}
    listener, root = _Listener(), logging.getLogger()
    level = root.level
    streams = io.StringIO(), io.StringIO()
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        if stream is not None:
            stream.flush()
    root.addHandler(listener)
    root.setLevel(0)
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(_redirected(number)) for number in (1, 2)]
        stack.enter_context(contextlib.redirect_stdout(streams[0]))
        stack.enter_context(contextlib.redirect_stderr(streams[1]))
        try:
            yield heard
        finally:
            root.removeHandler(listener)
            root.setLevel(level)
            heard["streams"] = "".join(stream.getvalue() for stream in streams)
            for file in files:
                file.seek(0)
            heard["files"] = b"".join(file.read() for file in files)
            heard["log"] = listener.texts


@contextlib.contextmanager
def _redirected(number: int) -> Iterator[Any]:
    """Write what goes to a file descriptor to a temporary file."""
    saved = os.dup(number)
    try:
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), number)
            try:
                yield file
            finally:
                os.dup2(saved, number)
    finally:
        os.close(saved)
