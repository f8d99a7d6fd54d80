"""One poisoned row: what it moves is paid for, and nothing but the noise answers."""

import warnings

import numpy as np
import pytest

from tests.adversarial.cases import (
    N_COLUMNS,
    allows_gaps,
    check_path,
    each_estimator,
    exact_values,
    path_of,
    people,
    ready,
)

_ODD = np.arange(N_COLUMNS) % 2 == 1
POISON = {
    "huge": np.full(N_COLUMNS, 1.7e308),
    "huge negative": np.full(N_COLUMNS, -1.7e308),
    "overflowing sum": np.where(_ODD, 1.7e308, -1.7e308),
    "subnormal": np.where(_ODD, 5e-324, -0.0),
    "odd beyond 2^53": np.where(_ODD, 2.0**53 + 2, -(2.0**53)),
    "corner": np.where(np.arange(N_COLUMNS) < N_COLUMNS // 2, 500.0, -500.0),
}


@each_estimator
def test_a_poisoned_row_moves_no_more_than_is_paid_for(model):
    """Replace one person by extremes: overflow, cancellation, subnormals, corners."""
    X, y = people(6)
    rows = [X[-1], *POISON.values()]
    if allows_gaps(model):
        rows.append(np.full(N_COLUMNS, np.nan))
        rows.append(np.where(_ODD, np.nan, 1.7e308))
    paths, told = [], set()
    for k, row in enumerate(rows):
        X[-1] = row
        y[-1] = -y[-1]  # the target of a person is that person's, too
        fit = ready(model)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            paths.append(path_of(fit, X, y, paths[0] if k else ()))
        told.add(tuple((w.category, str(w.message)) for w in caught))
    assert len(told) == 1
    for k, path in enumerate(paths):  # in a ring
        check_path(fit.guarantee_, path, paths[k - 1])
    assert len({tuple(exact_values(path[0][1])) for path in paths}) > 1


@each_estimator
def test_a_crowd_of_poison_hides_no_better_and_no_worse(model):
    """Let everybody else be extreme: their sum must not crush or free one person."""
    X, y = people(5)
    X[:] = np.where(np.arange(5)[:, None] % 2, 1.7e308, -1.7e308)
    fit = ready(model)
    path = path_of(fit, X, y)
    X[-1] = POISON["huge"]
    check_path(fit.guarantee_, path, path_of(fit, X, y, path))


@pytest.mark.parametrize("factor", [0.5, 0.7])
def test_less_noise_than_the_worst_row_needs_is_noticed(factor):
    """The oracle itself: noise that is too small by sqrt(2) fails on the corners."""
    from dataclasses import replace

    from skfuncpriv import FRLMean, ICLPMean

    X, y = people(6)
    for model in (
        ICLPMean(bounds=(-500, 500), n_basis=1, mechanism="laplace", rounds=1),
        FRLMean(bounds=(-500, 500), n_basis=1),
    ):
        paths = []
        for row in (POISON["huge"], POISON["huge negative"]):
            X[-1] = row
            fit = ready(model)
            paths.append(path_of(fit, X, y))
        check_path(fit.guarantee_, *paths)
        for path in paths:
            scales = tuple(factor * s for s in path[0][0].scales)
            path[0] = (replace(path[0][0], scales=scales), *path[0][1:])
        with pytest.raises(AssertionError):
            check_path(fit.guarantee_, *paths)
