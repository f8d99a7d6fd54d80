"""Regressions and classifiers of rows in blocks: all bits are those of memory."""

from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_ridge import KernelRidge

from skfuncpriv import (
    GaussianProcessReleaser,
    ICLPClassifier,
    ICLPRegressor,
    PrivateGridSearchCV,
    PrivateKDE,
    PrivateKernelClassifier,
    PrivateKernelRegressor,
)
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

FACTS = {"epsilon": 50.0, "random_state": 0}
BOUNDS = {"X_bounds": (0, 1), "y_bounds": (-1, 1), "weight_cap": 2.0}
KERNEL = {"kernel": GaussianKernel(0.5), "psi": 0.1}
MACHINE = {"bounds": (0, 1), **KERNEL, "n_components": 6}
CURVE = {"X_domain": (0, 1), "X_basis": 3}
RNG = np.random.default_rng(0)
NUMBERS = RNG.uniform(0, 1, (40, 2))
Y = np.sin(4 * NUMBERS[:, 0])
LABELS = np.where(Y > 0, "yes", "no").astype(object)
CURVES = np.sin(NUMBERS[:, :1] + np.linspace(0, 1, 6))
WEIGHTS = RNG.uniform(0, 3, 40)
PEOPLE = RNG.integers(0, 15, 40)
STATISTICS = {**FACTS, **BOUNDS, "method": "statistics"}
CASES = {
    "statistics": (ICLPRegressor(**STATISTICS, kernel="linear"), NUMBERS, Y),
    "kernel": (
        ICLPRegressor(**STATISTICS, kernel=GaussianKernel(0.5), X_basis=6),
        NUMBERS,
        Y,
    ),
    "of curves": (ICLPRegressor(**STATISTICS, **CURVE), CURVES, Y),
    "to curves": (
        ICLPRegressor(**STATISTICS, y_domain=(0, 1), y_basis=3),
        NUMBERS,
        CURVES,
    ),
    "minimiser": (
        ICLPRegressor(**FACTS, **BOUNDS, **KERNEL, method="minimiser", X_basis=6),
        NUMBERS,
        Y,
    ),
    "classifier": (
        ICLPClassifier(
            **FACTS,
            **CURVE,
            X_bounds=(0, 1),
            classes=["no", "yes"],
            weight_cap=2.0,
            psi=0.1,
        ),
        CURVES,
        LABELS,
    ),
    "machine": (
        PrivateKernelRegressor(**FACTS, **MACHINE, y_bounds=(-1, 1)),
        NUMBERS,
        Y,
    ),
    "labels": (
        PrivateKernelClassifier(**FACTS, **MACHINE, classes=["no", "yes"]),
        NUMBERS,
        LABELS,
    ),
    "ridge": (
        GaussianProcessReleaser(
            **FACTS,
            estimator=KernelRidge(alpha=9.0, kernel="rbf", gamma=2.0),
            bounds=(0, 1),
            y_bounds=(-1, 1),
            delta=1e-3,
        ),
        NUMBERS,
        Y,
    ),
}
each_case = pytest.mark.parametrize("name", CASES)


def forms(name):
    model, X, y = CASES[name]
    weights = {"sample_weight": WEIGHTS} if hasattr(model, "weight_cap") else {}
    return Forms(PEOPLE, X=X, y=y, **weights)


def owns(name):
    """Whether rows may have owners; with owners the case is that of people."""
    return name != "ridge"


@lru_cache
def in_memory(name, with_people):
    return outcome(CASES[name][0], forms(name).all(with_people))


@each_case
def test_blocks_of_any_size(name):
    for size in (1, 7, 1000):
        check(CASES[name][0], forms(name).blocks(size), in_memory(name, False))


@each_case
def test_people_whose_rows_lie_in_several_blocks(name):
    people = owns(name)
    check(CASES[name][0], forms(name).blocks(13, people), in_memory(name, people))


@pytest.mark.parametrize(
    "name", [name for name in CASES if CASES[name][2] is not LABELS]
)
def test_memory_maps(name, tmp_path):
    check(CASES[name][0], forms(name).maps(tmp_path), in_memory(name, False))


@each_case
def test_dask(name):
    people = owns(name)
    check(CASES[name][0], forms(name).arrays(people), in_memory(name, people))
    check(CASES[name][0], forms(name).frames(False), in_memory(name, False))


@each_case
def test_refused_before_the_charge_in_any_block(name, tmp_path):
    tables = dict(forms(name).tables)
    for part in ("X", "y"):
        bad = tables[part].astype(object)
        bad[(30,) + (0,) * (bad.ndim - 1)] = np.nan
        wrong = {**tables, part: bad}
        blocks = {key: Blocks.from_array(t, 13) for key, t in wrong.items()}
        check_refused(CASES[name][0], wrong, blocks, tmp_path / part)


@each_case
def test_charged_once(name, tmp_path):
    check_charged_once(CASES[name][0], forms(name).blocks(13), tmp_path / "ledger")


@each_case
def test_what_travels_to_blocks_is_public_or_released(name, monkeypatch, tmp_path):
    first = forms(name).blocks(23)
    other = Forms(PEOPLE, **{k: t[::-1].copy() for k, t in forms(name).tables.items()})
    path = tmp_path / "secret"
    check_travels(CASES[name][0], first, other.blocks(23), path, monkeypatch)


def test_several_curves_in_each_row():
    model = ICLPRegressor(**STATISTICS, X_domain={"a": (0, 1), "b": (0, 2)}, X_basis=2)
    whole = {"a": CURVES, "b": CURVES[:, :4]}
    blocks = {name: Blocks.from_array(table, 9) for name, table in whole.items()}
    expected = outcome(model, {"X": whole, "y": Y})
    check(model, {"X": blocks, "y": Blocks.from_array(Y, 9)}, expected)
    check(model, {"X": blocks, "y": Y}, expected)


@pytest.mark.parametrize("name", ["classifier", "labels"])
def test_classes_must_be_stated(name, tmp_path):
    model = CASES[name][0]
    tables = forms(name).blocks(13)
    with pytest.raises(ValueError, match="rows in blocks demand the public classes="):
        type(model)(**{**model.get_params(), "classes": None}).fit(**tables)


def test_labels_of_no_class_are_refused():
    labels = LABELS.copy()
    labels[33] = "perhaps"
    tables = {"X": Blocks.from_array(NUMBERS, 9), "y": Blocks.from_array(labels, 9)}
    with pytest.raises(ValueError, match="labels of the public classes only"):
        CASES["labels"][0].fit(**tables)


def test_a_search_refuses_blocks():
    frames = pytest.importorskip("dask.dataframe")
    search = PrivateGridSearchCV(PrivateKDE(bounds=(0, 1)), {"bandwidth": [0.1, 0.5]})
    rows = frames.from_pandas(pd.DataFrame(NUMBERS), npartitions=2)
    for table in (rows, Blocks.from_array(NUMBERS, 9)):
        with pytest.raises(
            TypeError, match="PrivateGridSearchCV needs all rows in mem"
        ):
            search.fit(table)
