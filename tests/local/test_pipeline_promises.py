"""What a pipeline promises: it is charged to the ledger, or refused."""

import numpy as np
import pytest
from sklearn.base import clone

from skfuncpriv import BudgetLedger
from skfuncpriv.exceptions import BudgetExceededError
from skfuncpriv.local import geo_private_pipeline, pipeline_guarantee

BOUNDS = {"bounds": (-1.0, 2.0), "domain": (0.0, 24.0)}
CURVES = 0.5 + np.cos(np.linspace(0, 6, 40) + np.linspace(0, 6, 12)[:, None])


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("selection", [None, "svt", "permute-and-flip", "coefficients"])
def test_the_ledger_is_charged_what_the_pipeline_promises(tmp_path, kind, selection):
    ledger = BudgetLedger(tmp_path / "budget.db", **{kind: 10.0}, metric="L2")
    pipeline = geo_private_pipeline(
        **{kind: 0.5}, bounds=(0, 100), selection=selection, ledger=str(ledger.path)
    )
    X = np.full((4, 50), 30.0)
    pipeline.fit(X)
    before = ledger.spent  # fit of a pipeline transforms in all steps but the last
    pipeline.transform(X)
    spent = getattr(ledger.spent, kind) - (getattr(before, kind) or 0.0)
    assert spent == pytest.approx(getattr(pipeline_guarantee(pipeline), kind))
    labels = [record.label for record in ledger.history()]
    steps = [] if selection is None else ["SVTBasisSelector"]
    assert labels == [*steps, *steps, "GeoPrivateCoefficients"]


@pytest.mark.parametrize("selection", [None, "coefficients"])
def test_steps_that_do_not_know_the_number_of_outputs_are_refused(selection):
    """They would cut and denoise as if outputs were frequencies."""
    X = np.full((2, 50, 2), 30.0)
    pipeline = geo_private_pipeline(
        epsilon=1.0, bounds=(0, 100), selection=selection, n_outputs=2
    )
    assert pipeline_guarantee(pipeline.fit(X)).epsilon == 1.0
    for step in pipeline[1:]:
        step.set_params(n_outputs=1)
        with pytest.raises(ValueError, match=r"2 outputs: .* told, by n_outputs"):
            pipeline_guarantee(pipeline.fit(X))
        step.set_params(n_outputs=2)


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "budget.db", epsilon=10.0, metric="L2")


def test_a_pipeline_charges_the_choice_and_the_release(ledger):
    """`fit` of a pipeline transforms in all steps but the last, so it charges, too."""
    X = CURVES
    pipeline = geo_private_pipeline(epsilon=1.0, **BOUNDS, selection="svt")
    pipeline.set_params(
        select__ledger=str(ledger.path), release__ledger=str(ledger.path)
    ).fit(X)
    assert [record.label for record in ledger.history()] == ["SVTBasisSelector"]
    pipeline.transform(X)
    labels = [record.label for record in ledger.history()]
    assert labels[1:] == ["SVTBasisSelector", "GeoPrivateCoefficients"]
    assert ledger.spent.epsilon == 1.2
    clone(pipeline).fit_transform(X)
    assert ledger.spent.epsilon == 2.2


def test_an_exceeded_budget_stops_a_pipeline(ledger):
    X = CURVES
    pipeline = geo_private_pipeline(epsilon=6.0, **BOUNDS)
    pipeline.set_params(release__ledger=str(ledger.path)).fit(X).transform(X)
    with pytest.raises(BudgetExceededError):
        pipeline.transform(X)
    assert ledger.spent.epsilon == 6.0
