"""Where randomness comes from, and that it is drawn once for each release."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from sklearn.base import clone

from .._config import config
from ..exceptions import PrivacyError
from ._case import PrivateCase
from ._randomness import NOTHING, counted_randomness
from ._recording import recorded
from ._tools import ensure, ensure_same, equal, fitted_attributes, folder, raised


def check_bits_come_from_the_operating_system(
    estimator: Any, case: PrivateCase
) -> None:
    """By default; with a seed no secure bit is taken, and the guarantee says so."""
    model = case.prepare(case.new(estimator), *case.data)
    with counted_randomness() as counts:
        case.draw(model, *case.data)
    if not case.own_noise:
        least = 8 * (case.n_people if case.draws_in == "transform" else 1)
        ensure(
            counts["system"] >= least and counts["seeded"] == 0,
            f"by default noise takes {counts['system']} bytes from the operating "
            f"system and {counts['seeded']} seeded words: whoever knows or guesses the "
            "state of another generator knows the noise",
        )
    ensure(
        not model.guarantee_.seeded and "SEEDED" not in str(model.guarantee_),
        "a secure release says that it is seeded",
    )
    model = case.prepare(model.set_params(random_state=1), *case.data)
    with counted_randomness() as counts:
        case.draw(model, *case.data)
    if not case.own_noise:
        ensure(
            counts["system"] == 0 and counts["seeded"] >= 1,
            "random_state=1 does not seed the noise",
        )
    ensure(
        model.guarantee_.seeded and "SEEDED: no privacy" in str(model.guarantee_),
        "the guarantee of a seeded release does not say so: pass "
        "seeded=bits.seeded, since whoever knows the seed can subtract the noise",
    )


def check_numpy_global_state_is_left_alone(estimator: Any, case: PrivateCase) -> None:
    """A seed of numpy's global generator decides nothing, and is not used up."""
    drawn = []
    before = np.random.get_state()
    try:
        for _ in range(2):
            np.random.seed(0)
            model = case.prepare(case.new(estimator), *case.data)
            rows = case.draw(model, *case.data)
            names = sorted(case.released_names(model))
            values = [np.ravel(getattr(model, name)) for name in names]
            drawn.append(np.concatenate(values) if rows is None else rows)
            ensure(
                np.random.get_state()[2] == 624,
                "a release draws from numpy's global generator: it is not secure, and "
                "any np.random.seed() makes the noise known",
            )
    finally:
        np.random.set_state(before)
    ensure(
        not equal(*drawn),
        "np.random.seed() makes a release repeat: its noise is known",
    )


def check_every_release_is_a_new_draw(estimator: Any, case: PrivateCase) -> None:
    """Three releases of one data set have three different noises."""
    model = case.new(estimator)
    fits = [case.release(clone(model), *case.data) for _ in range(3)]
    for name in case.released_names(model):
        first, second, third = (np.ravel(getattr(fit, name)) for fit in fits)
        ensure(
            (first != second).all() and (second != third).all(),
            f"{name} is (partly) the same in two releases: there is no noise on it",
        )


def check_one_frozen_function_per_fit(estimator: Any, case: PrivateCase) -> None:
    """Queries repeat themselves, take no secure bits and change nothing."""
    case.needs_function()
    model = case.release(case.new(estimator), *case.data)
    before = pickle.dumps(fitted_attributes(model))
    with counted_randomness() as counts, recorded() as releases:
        answers = [case.ask(model) for _ in range(3)]
    text = "a query that is repeated is answered otherwise: the average tells more"
    ensure_same(answers[1], answers[0], text)
    ensure_same(answers[2], answers[0], text)
    ensure(
        counts["system"] == 0 and releases == [],
        "queries draw noise: a fit is one release, of one function",
    )
    ensure(
        pickle.dumps(fitted_attributes(model)) == before,
        "queries change the fitted estimator",
    )


def check_later_parameters_do_not_change_a_release(
    estimator: Any, case: PrivateCase
) -> None:
    """set_params after fit changes neither answers nor the guarantee."""
    case.needs_function()
    model = case.release(case.new(estimator), *case.data)
    before, guarantee = case.ask(model), model.guarantee_
    model.set_params(**{case.budget_name: 1e-3}, random_state=1)
    ensure_same(case.ask(model), before, "later parameters change a release")
    ensure(model.guarantee_ == guarantee, "later parameters change a guarantee")


def check_strict_mode_is_obeyed(estimator: Any, case: PrivateCase) -> None:
    """No release without a ledger or with a seed, and then nothing is drawn."""
    with folder() as path:
        ledger = case.new_ledger(path)
        ways = {
            "without a ledger": {"ledger": None},
            "with a seed": {"ledger": str(ledger.path), "random_state": 0},
        }
        for name, parameters in ways.items():
            model = case.new(estimator, **parameters)
            with config(strict=True), counted_randomness() as counts:
                error = raised(
                    PrivacyError, lambda m=model: case.release(m, *case.data)
                )
            ensure(
                error is not None,
                f"strict mode lets a release {name} through: call "
                "PrivateEstimator._check_ledger first in every fit or transform",
            )
            ensure(counts == NOTHING, f"a release {name} is refused after the draw")
        ensure(ledger.history() == [], "strict mode refuses what it has charged")
        with config(strict=True):
            case.release(case.new(estimator, ledger=str(ledger.path)), *case.data)
        ensure(len(ledger.history()) == 1, "strict mode stops what is in order")
