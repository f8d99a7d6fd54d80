"""Neighbours cannot be told apart but by what was released."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ._case import PrivateCase
from ._recording import replayed, transcribed
from ._tools import ensure, ensure_same, fitted_attributes, outcome, same

_REFITS = 20


def check_public_attributes_are_equal_for_neighbours(
    estimator: Any, case: PrivateCase
) -> None:
    """What is not released is the same, bit for bit; what is released differs."""
    model = case.new(estimator)
    fits = [case.release(clone(model), *data) for data in case.neighbours]
    states = [fitted_attributes(fit) for fit in fits]
    ensure(
        set(states[0]) == set(states[1]),
        "which attributes there are depends on private data: "
        f"{set(states[0]) ^ set(states[1])}",
    )
    released = case.released_names(model)
    ensure(
        released <= set(states[0]) and (not released or released != set(states[0])),
        f"released attributes {released} are not among those of the fit, or are all",
    )
    for name in set(states[0]) - case.unsettled_names(model):
        one, other = (state[name] for state in states)
        if name in released:
            if np.shape(one) != np.shape(other):
                ensure(
                    _noise_decides_the_shape(name, model, case),
                    f"the shape of {name} depends on private data",
                )
                continue
            ensure(
                (np.asarray(one) != np.asarray(other)).all(),
                f"{name} is called released and is (partly) the same twice: no noise",
            )
        elif not (case.draws_in == "transform" and name.startswith("_")):
            ensure(
                same(one, other),
                f"{name} differs between neighbours and is not said to be released: "
                "it depends on private data, without noise",
            )


def _noise_decides_the_shape(name: str, model: Any, case: PrivateCase) -> bool:
    """Whether fits to the same data differ in a shape, as a number of components may.

    That a shape follows from the release is what `check_releases_decide_the_fit` is
    for.
    """
    fits = (case.release(clone(model), *case.data) for _ in range(_REFITS))
    return len({np.shape(getattr(fit, name)) for fit in fits}) > 1


def check_releases_decide_the_fit(estimator: Any, case: PrivateCase) -> None:
    """A neighbour that is given the same releases ends in the very same state.

    So everything else is a function of releases and public facts: noise laws and
    lattices, grids, sizes, counts, and every answer.
    """
    case.needs_function()
    case.needs_laws()
    model = case.new(estimator, random_state=3)
    first, second = case.neighbours
    with transcribed() as transcript:
        one = case.release(clone(model), *first)
    ensure(
        transcript.steps,
        "no NoiseLaw.release was seen: noise that is added in another way is not "
        "rounded correctly, and what it hides cannot be checked; if that is meant, "
        "say why in PrivateCase.own_noise",
    )
    others = [second]
    if isinstance(case.X, np.ndarray) and case.X.dtype.kind == "f":
        others.append((np.zeros_like(case.X), second[1]))  # all people are others
    for other in others:
        with replayed(transcript):
            two = case.release(clone(model), *other)
        ensure_same(
            case.ask(one), case.ask(two), "answers depend on data beyond the releases"
        )
        states = fitted_attributes(one), fitted_attributes(two)
        ensure(
            set(states[0]) == set(states[1]),
            "which attributes there are depends on private data: "
            f"{set(states[0]) ^ set(states[1])}",
        )
        for name, value in states[0].items():
            ensure(
                same(value, states[1][name]),
                f"{name} depends on private data beyond the releases",
            )


def check_neighbours_are_warned_alike(estimator: Any, case: PrivateCase) -> None:
    """Warnings and errors are the same for all finite data, whatever the budget."""
    X, y = case.data
    tables = [X, case.neighbours[1][0]]
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":
        tables += [X * 1e-310, np.zeros_like(X)]
    for price in (1e-3, case.price, 1e6):
        model = case.new(estimator, **{case.budget_name: price})
        outcomes = [outcome(case.answers, clone(model), table, y) for table in tables]
        ensure(
            outcomes[0][0] is None,
            f"a release with {case.budget_name}={price:g} fails: {outcomes[0][0]}",
        )
        for other in outcomes[1:]:
            ensure(
                other == outcomes[0],
                f"neighbours raise or warn differently: {outcomes[0]} and {other}; "
                "an error or a warning is a release without noise",
            )
