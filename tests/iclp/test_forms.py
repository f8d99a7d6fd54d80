"""What a user may hand over by mistake is refused by name, before any charge."""

import pandas as pd
import pytest

from skfuncpriv import BudgetLedger, Curves, ICLPMean

FRAME = pd.DataFrame([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]])
PEOPLE = pd.Series(["ann", "bob", "ann"])


def model(**parameters):
    return ICLPMean(bounds=(0, 1), epsilon=1e4, **parameters)


def test_groups_with_the_index_of_the_frame_are_read():
    shuffled = FRAME.sample(frac=1, random_state=1)
    groups = PEOPLE.loc[shuffled.index]
    assert model().fit(shuffled, groups=groups).n_people_ == 2


def test_groups_with_another_index_are_refused():
    with pytest.raises(ValueError, match="groups has another index than X"):
        model().fit(FRAME, groups=PEOPLE.iloc[::-1])


def test_groups_without_an_index_go_by_position():
    assert model().fit(FRAME, groups=PEOPLE.tolist()).n_people_ == 2
    assert model().fit(FRAME.to_numpy(), groups=PEOPLE.iloc[::-1]).n_people_ == 2


def test_name_of_a_column_is_no_group():
    with pytest.raises(ValueError, match=r"as in groups=frame\['person'\]"):
        model().fit(FRAME, groups="patient")


def test_irregular_curves_need_a_domain():
    curves = Curves([0.1, 0.5], times=[0.0, 30.0], offsets=[0, 1, 2])
    with pytest.raises(ValueError, match="domain must be stated for irregular curves"):
        model().fit(curves)
    assert model(domain=(0, 40)).fit(curves).grid_[-1] == 40.0


def test_curves_may_state_the_domain():
    curves = Curves([0.1, 0.5], [0.0, 30.0], [0, 1, 2], domain=(0, 40))
    assert model().fit(curves).basis_.domain == (0.0, 40.0)
    with pytest.raises(ValueError, match="another domain"):
        model(domain=(0, 30)).fit(curves)


def test_a_ledger_is_named_by_its_file(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=2e4)
    with pytest.raises(TypeError, match="pass its path attribute"):
        model(ledger=ledger).fit(FRAME)
    assert ledger.history() == []
    model(ledger=ledger.path).fit(FRAME)
    assert len(ledger.history()) == 1


def test_a_level_in_per_cent_is_refused():
    with pytest.raises(ValueError, match=r"level must be in \(0, 1\), got 95.0"):
        model().fit(FRAME).noise_band(95)
