"""Small things that all checks need."""

from __future__ import annotations

import inspect
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NoReturn
from unittest import SkipTest

import numpy as np


def ensure(holds: Any, text: str) -> None:
    """Raise an AssertionError that says what was found and why it matters."""
    if not holds:
        raise AssertionError(text)


def skip(reason: str) -> NoReturn:
    """Leave a check out, aloud."""
    raise SkipTest(reason)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder for ledgers, removed afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as path:
        yield Path(path)


def outcome(call: Callable[..., Any], *arguments: Any, **parameters: Any) -> Any:
    """The exception that a call raises, or None, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call(*arguments, **parameters)
            error = None
        except Exception as raised:
            error = (type(raised), str(raised), repr(raised.__cause__))
    return error, [(w.category, str(w.message)) for w in caught]


def raised(
    kind: type[Exception], call: Callable[..., Any], *arguments: Any
) -> Exception | None:
    """The exception of that kind that a call raises, None if it raises nothing."""
    try:
        call(*arguments)
    except kind as error:
        return error
    return None


def fitted_attributes(model: Any) -> dict[str, Any]:
    """Everything that a fit has left in an estimator."""
    parameters = model.get_params(deep=False)
    return {k: value for k, value in vars(model).items() if k not in parameters}


def documented(cls: type) -> dict[str, str]:
    """The attributes that a numpydoc docstring names, with their descriptions."""
    lines = (inspect.getdoc(cls) or "").splitlines()
    found: dict[str, str] = {}
    names: list[str] = []
    inside = False
    for k, line in enumerate(lines):
        below = lines[k + 1] if k + 1 < len(lines) else ""
        if line and below and set(below) == {"-"}:
            inside = line.strip() == "Attributes"
        elif inside and line and not line.startswith((" ", "-")):
            names = [name.strip() for name in line.partition(":")[0].split(",")]
            found |= dict.fromkeys(names, "")
        elif inside:
            found |= {name: f"{found[name]} {line.strip()}".strip() for name in names}
    return found


def same(one: Any, other: Any) -> bool:
    """Whether two public values are the same, bit for bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray) and one.dtype != object:
        alike = (one.dtype, one.shape) == (other.dtype, other.shape)
        return alike and one.tobytes() == other.tobytes()
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if is_dataclass(one) and not isinstance(one, type):
        names = {field.name for field in fields(one)}
        names |= set(vars(one)) & set(vars(other))  # what is cached may be in one only
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    return pickle.dumps(one) == pickle.dumps(other)


def equal(one: Any, other: Any) -> bool:
    """Whether two arrays hold the same entries; NaN, what is not released, is one."""
    has_nan = np.asarray(one).dtype.kind in "fc"
    return bool(np.array_equal(one, other, equal_nan=has_nan))


def ensure_same(answers: dict[str, Any], others: dict[str, Any], text: str) -> None:
    """Every answer must be that of another time, bit for bit."""
    ensure(set(answers) == set(others), text)
    for name, answer in answers.items():
        ensure(equal(answer, others[name]), f"{name}: {text}")
