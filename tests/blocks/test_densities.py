"""Densities of rows in blocks: sums and releases are those of the rows in memory."""

from functools import lru_cache

import numpy as np
import pytest
from sklearn.neighbors import KernelDensity

from skfuncpriv import BernsteinReleaser, GaussianProcessReleaser, PrivateKDE
from skfuncpriv.blocks import Blocks
from skfuncpriv.gaussian_process import GaussianKernel

from .releases import (
    Forms,
    check,
    check_charged_once,
    check_refused,
    check_travels,
    outcome,
)

FACTS = {"bounds": (0, 1), "random_state": 0, "epsilon": 20.0}
KDE = {**FACTS, "bandwidth": 0.3, "weight_cap": 2.0}
BUMP = KernelDensity(bandwidth=0.3)
MODELS = {
    "bins": PrivateKDE(**FACTS, weight_cap=2.0),
    "quartiles of bins": PrivateKDE(**{**KDE, "bandwidth": "private-iqr"}),
    "process": PrivateKDE(**KDE, mechanism="gaussian_process", delta=1e-3),
    "coefficients": PrivateKDE(**KDE, mechanism="iclp"),
    "waves": PrivateKDE(**KDE, mechanism="iclp", boundary="periodic"),
    "bernstein": PrivateKDE(**KDE, mechanism="bernstein"),
    "two releases": PrivateKDE(**{**KDE, "bandwidth": "private-iqr"}, mechanism="iclp"),
    "polynomial": BernsteinReleaser(estimator=BUMP, degree=5, **FACTS),
    "expansion": GaussianProcessReleaser(
        estimator=GaussianKernel(((0.1, 0.03), (0.03, 0.2))), **FACTS, delta=1e-3
    ),
    "values": GaussianProcessReleaser(
        estimator=BUMP, points=[[0.1, 0.2], [0.7, 0.3]], **FACTS, delta=1e-3
    ),
}
RNG = np.random.default_rng(0)
POINTS = RNG.normal(0.5, 0.4, size=(30, 2))
WEIGHTS = RNG.uniform(0, 3, 30)  # some above the cap
PEOPLE = np.array([f"p{k}" for k in RNG.integers(0, 12, 30)])
WEIGHTED = [name for name in MODELS if isinstance(MODELS[name], PrivateKDE)]
each_model = pytest.mark.parametrize("name", MODELS)


def points_of(name):
    """Of two features where that is quick."""
    return POINTS[:, :1] if name in WEIGHTED and name != "process" else POINTS


def forms(name):
    weights = {"sample_weight": WEIGHTS} if name in WEIGHTED else {}
    return Forms(PEOPLE, X=points_of(name), **weights)


@lru_cache
def in_memory(name, with_people):
    return outcome(MODELS[name], forms(name).all(with_people))


@each_model
def test_blocks_of_any_size(name):
    for size in (1, 2, 7, 1000):
        check(MODELS[name], forms(name).blocks(size), in_memory(name, False))


@each_model
def test_people_whose_rows_lie_in_several_blocks(name):
    check(MODELS[name], forms(name).blocks(13, True), in_memory(name, True))


@each_model
def test_memory_maps(name, tmp_path):
    check(MODELS[name], forms(name).maps(tmp_path), in_memory(name, False))


@pytest.mark.parametrize("with_people", [False, True])
@each_model
def test_dask(name, with_people):
    expected = in_memory(name, with_people)
    check(MODELS[name], forms(name).arrays(with_people), expected)
    check(MODELS[name], forms(name).frames(with_people), expected)


@pytest.mark.parametrize("name", WEIGHTED)
def test_without_weights(name):
    for groups in ({}, {"groups": PEOPLE}):
        expected = outcome(MODELS[name], {"X": points_of(name), **groups})
        tables = {"X": Blocks.from_array(points_of(name), 9), **groups}
        check(MODELS[name], tables, expected)


def test_one_weight_for_all_rows():
    expected = outcome(MODELS["bins"], {"X": POINTS, "sample_weight": 1.5})
    tables = {"X": Blocks.from_array(POINTS, 9), "sample_weight": 1.5}
    check(MODELS["bins"], tables, expected)


@each_model
@pytest.mark.parametrize("bad", [np.nan, "high"])
def test_refused_before_the_charge_in_any_block(name, bad, tmp_path):
    points = points_of(name).astype(object)
    points[25, -1] = bad
    blocks = {"X": Blocks.from_array(points, 13)}
    check_refused(MODELS[name], {"X": points}, blocks, tmp_path / "ledger")


def test_weights_are_refused_before_the_charge(tmp_path):
    weights = np.append(WEIGHTS[:-1], -1.0)
    tables = {"X": POINTS, "sample_weight": weights}
    blocks = {name: Blocks.from_array(t, 13) for name, t in tables.items()}
    check_refused(MODELS["bins"], tables, blocks, tmp_path / "ledger")


@each_model
def test_charged_once(name, tmp_path):
    check_charged_once(MODELS[name], forms(name).blocks(13), tmp_path / "ledger")


@each_model
def test_what_travels_to_blocks_is_public_or_released(name, monkeypatch, tmp_path):
    points = points_of(name)
    first = {"X": Blocks.from_array(points, 23)}
    second = {"X": Blocks.from_array(1 - points[::-1], 23)}
    check_travels(MODELS[name], first, second, tmp_path / "secret", monkeypatch)


def mean_of(X, y):
    """A callable that is a sum, so that it has a sensitivity, but is not known to."""
    height = (X[:, 0] + y).mean() / 2
    return lambda points: np.full(len(points), height)


@pytest.mark.parametrize(
    "model",
    [
        BernsteinReleaser(
            **FACTS, estimator=mean_of, sensitivity=0.1, degree=3, y_bounds=(0, 1)
        ),
        GaussianProcessReleaser(
            **FACTS,
            estimator=mean_of,
            sensitivity=0.1,
            kernel=GaussianKernel(0.5),
            delta=1e-3,
        ),
    ],
)
def test_a_callable_sees_all_rows_in_order(model):
    rows = Forms(PEOPLE, X=POINTS, y=WEIGHTS)
    expected = outcome(model, rows.all(False))
    check(model, rows.blocks(9), expected)
    check(model, rows.arrays(False), expected)
