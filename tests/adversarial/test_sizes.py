"""How many people there are is public; what one, two or three of them hold is not."""

import pickle

import pytest

from skfuncpriv.privacy import BudgetLedger
from skfuncpriv.testing._tools import fitted_attributes
from tests.adversarial.cases import (
    check_path,
    each_estimator,
    finite_everywhere,
    path_of,
    people,
    ready,
)


@each_estimator
def test_a_data_set_of_one_to_three_people(model):
    """Isolate a person: n - 1 and log n vanish where nobody else is left to hide in."""
    for n in (1, 2, 3):
        X, y = people(n)
        if n == 2:
            finite_everywhere(ready(model).fit(X, y))
            continue
        one, other = ready(model), ready(model)
        path = path_of(one, X, y)
        X[-1], y[-1] = 1e300, -y[-1]
        along = path_of(other, X, y, path)
        check_path(one.guarantee_, path, along)
        finite_everywhere(one)
        for name, value in fitted_attributes(one).items():
            assert pickle.dumps(value) == pickle.dumps(getattr(other, name)), name


@each_estimator
def test_nobody_is_no_data_set(model, tmp_path):
    """Fit nobody: refused for free, since a noise-only release would say n = 0."""
    path = tmp_path / "budget.db"
    ledger = BudgetLedger(path, epsilon=100.0, delta=0.1)
    X, y = people(1)
    with pytest.raises(ValueError, match=r"0 sample|0 row|one row|at least"):
        ready(model, ledger=str(path)).fit(X[:0], y[:0])
    assert ledger.history() == []
