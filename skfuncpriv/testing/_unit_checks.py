"""Other units change a release by their factor, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ._case import PrivateCase
from ._recording import recorded
from ._tools import ensure, equal, fitted_attributes, same, skip

_FACTOR = 2.0**11


def check_units_change_a_release_by_their_factor(
    estimator: Any, case: PrivateCase
) -> None:
    """Data and bounds times a power of two: the same noise, times that power, exactly.

    Otherwise a mechanism reads scales from the data, or has tolerances of its own.
    """
    case.needs_function()
    if not case.units:
        skip("PrivateCase.units names no unit")
    model = case.new(estimator, random_state=3)
    with recorded() as before:
        answers = case.answers(model, *case.data)
    parameters = model.get_params(deep=False)
    scaled = {
        name: _times(parameters[name], power)
        for name, power in case.units.items()
        if name in parameters
    }
    other = case.new(estimator, random_state=3, **scaled)
    with recorded() as after:
        case.release(other, case.X * _FACTOR, case.y)
    ensure(
        len(before) == len(after)
        and all(
            np.array_equal(one.integers, two.integers)
            for one, two in zip(before, after, strict=True)
        ),
        "in other units the release is another one",
    )
    again = _ask(case, other)
    states = fitted_attributes(model), fitted_attributes(other)
    ensure(set(states[0]) == set(states[1]), "other units, other attributes")
    for name, value in [*states[0].items(), *answers.items()]:
        power = case.units.get(name, 0)
        if power is None or name.startswith("_"):
            continue
        new = states[1][name] if name in states[1] else again[name]
        if power == 0:
            ensure(
                same(value, new),
                f"{name} has another value in other units: if it has a unit, say so "
                "in PrivateCase.units",
            )
        else:
            ensure(
                equal(_times(value, power), new),
                f"{name} is not multiplied by c^{power} when X is by c",
            )


def _ask(case: PrivateCase, model: Any) -> dict[str, Any]:
    """Every answer; arguments have the unit "arguments", if that is named."""
    power = case.units.get("arguments", 0)
    scaled = {
        name: tuple(_times(argument, power) for argument in arguments)
        for name, arguments in case.queries.items()
    }
    return replace(case, queries=scaled).ask(model)


def _times(value: Any, power: int) -> Any:
    """Numbers, and tuples of them, times the factor; all else as it is."""
    if isinstance(value, tuple):
        return tuple(_times(part, power) for part in value)
    is_number = isinstance(value, int | float | np.ndarray | np.number)
    if is_number and not isinstance(value, bool):
        return value * _FACTOR**power
    return value
