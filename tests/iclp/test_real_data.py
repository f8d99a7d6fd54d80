"""The private mean of real curves, where the shared data are at hand."""

import numpy as np
import pandas as pd
import pytest

from skfuncpriv import ICLPMean


def releases(model, curves, groups, mean):
    """Root mean square distances of releases to the mean of people."""
    return [
        np.sqrt(np.mean((model.fit(curves, groups=groups).mean_ - mean) ** 2))
        for model.random_state in range(40)
    ]


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_monday_demand(shared_data, epsilon):
    curves = pd.read_csv(shared_data / "mondaydemand.csv.gz").drop(columns="week")
    model = ICLPMean(bounds=(500, 3500), domain=(0, 24), epsilon=epsilon)
    forecast = np.sqrt(model.expected_error(508, n_points=48) / 24)
    errors = releases(model, curves, None, curves.to_numpy().mean(axis=0))
    assert model.n_people_ == 508
    # The forecast is of the right size; with two rounds, an upper figure.
    ratio, chance = np.mean(errors) / forecast, 5 * np.std(errors) / forecast / 40**0.5
    assert ratio + chance < 1.25
    assert ratio - chance > (0.6 if model.rounds_ == 1 else 0.2)


def test_tracts_of_people_with_several_scans_and_gaps(shared_data):
    frame = pd.read_csv(shared_data / "dti_cca.csv.gz")
    tracts = frame.filter(regex="^cca")
    assert tracts.isna().to_numpy().any()
    model = ICLPMean(bounds=(0, 1), epsilon=4.0, missing="interpolate")
    filled = tracts.interpolate(axis=1, limit_direction="both")
    mean = filled.groupby(frame["ID"]).mean().mean().to_numpy()
    errors = releases(model, tracts, frame["ID"], mean)
    assert model.n_people_ == 142
    assert model.guarantee_.unit == "person"
    forecast = np.sqrt(model.expected_error(142, n_points=93))
    ratio, chance = np.mean(errors) / forecast, 5 * np.std(errors) / forecast / 40**0.5
    assert 0.7 < ratio - chance < ratio + chance < 1.3
