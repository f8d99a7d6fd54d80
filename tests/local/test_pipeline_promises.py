"""What a pipeline promises: it is charged to the ledger, or refused."""

import numpy as np
import pytest

from skfuncpriv import BudgetLedger
from skfuncpriv.local import geo_private_pipeline, pipeline_guarantee


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
