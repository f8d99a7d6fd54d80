"""Checks and outward rounding of the scales of noise laws."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from .._validation import check_positive


def as_scales(values: Any, name: str) -> tuple[float, ...]:
    """A non-empty tuple of finite floats > 0."""
    scales = tuple(values)
    if set(map(type, scales)) == {float}:  # thousands of them, often equal
        for value in set(scales):
            check_positive(value, name)
    else:
        scales = tuple(check_positive(value, name) for value in scales)
    if not scales:
        raise ValueError(f"{name} must hold at least one number > 0")
    return scales


def round_up(value: Fraction) -> float:
    """The smallest float that is not below an exact value."""
    number = float(value)
    return number if Fraction(number) >= value else math.nextafter(number, math.inf)


def root_up(value: Fraction) -> float:
    """A float at or just above the square root of an exact value."""
    number = math.sqrt(value)
    while Fraction(number) ** 2 < value:
        number = math.nextafter(number, math.inf)
    return number
