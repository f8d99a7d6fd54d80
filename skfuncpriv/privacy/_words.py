"""A guarantee in words: few digits, and none that promise more than is true."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

from ._amount import DEFINITIONS
from ._exact import decimal_reading

_FEW = Context(prec=5, rounding=ROUND_CEILING)


def words_of(guarantee: Any, *, shows_all: bool = False) -> str:
    """The definition, its numbers, and what is promised to whom, on one line.

    Parameters
    ----------
    guarantee : PrivacyGuarantee
        What is said.
    shows_all : bool, default=False
        Whether numbers are shown with all digits; otherwise those of more than five are
        rounded up.
    """
    text = all_digits if shows_all else few_digits_above
    if guarantee.epsilon is None:
        numbers = f"rho = {text(guarantee.rho)}"
    else:
        numbers = f"epsilon = {text(guarantee.epsilon)}"
    if guarantee.delta > 0:
        numbers += f", delta = {text(guarantee.delta)}"
    distance = f"{guarantee.metric} distance"
    if guarantee.distance_error > 0:
        distance = f"({distance} + {text(guarantee.distance_error)})"
    if guarantee.definition == "geo":
        numbers += f" per unit of {distance}"
    elif guarantee.definition == "concentrated-geo":
        numbers += f" per squared unit of {distance}"
    unit = guarantee.unit
    differing = "one person's data" if unit == "person" else "one row"
    neighbours = guarantee.neighbours.replace("replace-one", f"replace {differing}")
    neighbours = neighbours.replace("add-remove", f"add or remove {differing}")
    warning = " - SEEDED: no privacy, for tests and teaching only"
    name = DEFINITIONS[guarantee.definition][0]
    words = f"{name}: {numbers} per {unit} (neighbours: {neighbours})"
    return words + warning if guarantee.seeded else words


def all_digits(value: Any) -> str:
    """A number as it is."""
    return repr(float(value)).removesuffix(".0")


def few_digits_above(value: Any) -> str:
    """Few digits of a number, never less than it: ``:g`` could print less."""
    exact = decimal_reading(float(value))
    text = all_digits(_FEW.plus(exact))
    # Next to the ends of the range of floats a decimal may have no float of its own.
    return text if exact <= Decimal(text) < Decimal("inf") else all_digits(value)
