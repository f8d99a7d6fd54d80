"""Picks beside an oracle who knows the true errors; the benchmark has the long table.

The error is that of a fit on everybody with the value that was picked, at the budget
that is left for it, divided by that of the best value of the grid.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skfuncpriv import PrivateFPCA, PrivateGridSearchCV, PrivateKDE
from skfuncpriv.datasets import load_storms

pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)
BANDWIDTHS = [2.0, 8.0, 32.0]  # degrees


def median_ratio(picks, errors):
    errors = np.mean(errors, axis=0)
    return np.median(errors[picks]) / errors.min()


def test_the_bandwidth_of_longitudes_of_storms():
    """Where 655 storms were first seen: the error is the L2 distance of the density."""
    table = load_storms().data
    _, first = np.unique(table["storm"], return_index=True)
    X = table["lon"][first][:, None]
    kde = PrivateKDE(bounds=(-140.0, 20.0))
    truth = clone(kde).set_params(epsilon=1e7, random_state=0).fit(X).density_
    search = PrivateGridSearchCV(kde, {"bandwidth": BANDWIDTHS}, epsilon=2.0)
    picks = [
        search.set_params(random_state=seed).fit(X).best_index_ for seed in range(20)
    ]
    errors = []
    for seed in range(5):
        last = clone(kde).set_params(
            epsilon=search.costs_["refit"].epsilon, random_state=seed
        )
        fits = [clone(last).set_params(bandwidth=h).fit(X) for h in BANDWIDTHS]
        errors.append([np.sqrt(np.mean((m.density_ - truth) ** 2)) for m in fits])
    mean = np.mean(errors, axis=0)
    assert mean.mean() / mean.min() > 1.3  # a pick at random would not do
    assert median_ratio(picks, errors) <= 1.1


def test_the_number_of_components_of_demand(shared_data):
    """Of Mondays, in megawatts: the error is that of the covariance function."""
    frame = pd.read_csv(shared_data / "mondaydemand.csv.gz")
    X = frame.drop(columns="week").to_numpy(dtype=float)
    hours, numbers = np.linspace(0, 24, 48), [1, 2, 4]
    model = PrivateFPCA(bounds=(500, 3500), domain=(0, 24), grid=hours)
    truth = np.cov(X.T, bias=True)
    search = PrivateGridSearchCV(model, {"n_components": numbers}, epsilon=2.0)
    picks, errors = [], []
    for search.random_state in range(3):
        picks.append(search.fit(X).best_index_)
        fit = PrivateFPCA(**model.get_params())
        fit.set_params(n_components=4, random_state=search.random_state).fit(X)
        parts = fit.explained_variance_[:, None, None] * (
            fit.components_[:, :, None] * fit.components_[:, None, :]
        )
        covariances = np.cumsum(parts, axis=0)[np.array(numbers) - 1]
        errors.append(np.linalg.norm(covariances - truth, axis=(1, 2)))
    assert median_ratio(picks, errors) <= 1.1
