"""Checks of public scalar parameters, shared by every layer.

Each check returns a plain Python number or raises an error that names the value, the
rule and, where there is one, the remedy.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_real(value: Any, name: str) -> float:
    """A finite real number as a float; booleans, strings and NaN are refused."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a real number, got {value!r}")
    number = _as_float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return number


def check_positive(value: Any, name: str) -> float:
    """A finite number > 0."""
    rule = f"{name} must be a finite number > 0, got {value!r}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(rule)
    number = _as_float(value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(rule)
    return number


def check_delta(value: Any, name: str = "delta") -> float:
    """A number in [0, 1)."""
    rule = f"{name} must be a number in [0, 1), got {value!r}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(rule)
    number = _as_float(value)
    if not 0.0 <= number < 1.0:
        raise ValueError(rule)
    return number


def check_count(value: Any, name: str, minimum: int = 1) -> int:
    """An integer >= minimum."""
    if (
        isinstance(value, bool)
        or not isinstance(value, Integral)
        or int(value) < minimum
    ):
        raise ValueError(f"{name} must be an integer >= {minimum}, got {value!r}")
    return int(value)


def check_flag(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_interval(value: Any, name: str) -> tuple[float, float]:
    """A pair (low, high) of finite numbers with low < high."""
    rule = f"{name} must be two finite numbers (low, high), low < high, got {value!r}"
    if isinstance(value, str | bytes) or not isinstance(value, Sequence | tuple):
        try:
            value = tuple(value)
        except TypeError:
            raise ValueError(rule) from None
    if len(value) != 2:
        raise ValueError(rule)
    try:
        low, high = (check_real(end, name) for end in value)
    except (TypeError, ValueError):
        raise ValueError(rule) from None
    if not low < high:
        raise ValueError(rule)
    return low, high


def _as_float(value: Any) -> float:
    """The float of a real number; numbers out of range become infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def if_loaded(module: str, name: str) -> Any:
    """A class, for `isinstance`; () if its module is not loaded and has no instances.

    Half of what importing this package took was the loading of such modules.
    """
    return getattr(sys.modules.get(module), name, ())
