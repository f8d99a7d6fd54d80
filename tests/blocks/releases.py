"""What a fit lets out, and the forms in which it takes the same rows."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skfuncpriv.blocks import Blocks
from skfuncpriv.blocks import _tasks as tasks
from skfuncpriv.privacy import BudgetLedger
from skfuncpriv.testing._recording import replayed, transcribed
from skfuncpriv.testing._tools import fitted_attributes, same


class Forms:
    """Rows of one fit, in every form.

    X, y and weights as `fit` takes them by name, and the people who own the rows.
    """

    def __init__(self, people, **tables):
        self.tables, self.people = tables, people

    def all(self, with_people):
        return {**self.tables, "groups": self.people} if with_people else self.tables

    def blocks(self, size, with_people=False):
        tables = self.all(with_people)
        return {name: Blocks.from_array(t, size) for name, t in tables.items()}

    def maps(self, folder):
        for name, table in self.tables.items():
            np.save(folder / f"{name}.npy", table)
        return {
            name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in self.tables
        }

    def arrays(self, with_people):
        array = pytest.importorskip("dask.array")
        return {
            name: array.from_array(t, chunks=(17, 3)[: t.ndim])
            for name, t in self.all(with_people).items()
        }

    def frames(self, with_people):
        frames = pytest.importorskip("dask.dataframe")
        columns = {
            f"{name}{k}": column
            for name, table in self.all(with_people).items()
            for k, column in enumerate(table.reshape(len(table), -1).T)
        }
        rows = frames.from_pandas(pd.DataFrame(columns), npartitions=2)
        return {
            name: rows[[c for c in columns if c.startswith(name)]]
            if table.ndim == 2
            else rows[f"{name}0"]
            for name, table in self.all(with_people).items()
        }


def outcome(model, tables):
    """What noise was added to, and what is left."""
    model = clone(model)
    with transcribed() as transcript:
        model.fit(**tables)
    left = fitted_attributes(model)
    left.pop("feature_names_in_", None)  # of frames
    return [step.exact for step in transcript.steps], left


def check(model, tables, expected):
    """All bits are those of the rows in memory."""
    hidden, left = outcome(model, tables)
    assert hidden == expected[0]
    assert left.keys() == expected[1].keys()
    assert [key for key in left if not same(left[key], expected[1][key])] == []


def check_refused(model, in_memory, in_blocks, path):
    """The text is the one known from rows in memory, and nothing is charged."""
    ledger = BudgetLedger(path, epsilon=200.0, delta=0.5)
    model = clone(model).set_params(ledger=path)
    with pytest.raises((TypeError, ValueError)) as known:
        model.fit(**in_memory)
    with pytest.raises(known.type) as refused:
        model.fit(**in_blocks)
    assert str(refused.value) == str(known.value)
    assert ledger.history() == []
    assert fitted_attributes(model).keys() <= {"feature_names_in_", "n_features_in_"}


def check_charged_once(model, tables, path):
    """One fit is one charge, whatever the blocks."""
    ledger = BudgetLedger(path, epsilon=200.0, delta=0.5)
    clone(model).set_params(ledger=path).fit(**tables)
    assert len(ledger.history()) == 1


def check_travels(model, first, second, path, monkeypatch):
    """Other people's data with the same releases: the same bytes are sent."""
    sent = []
    run = tasks.Task.__call__

    def through_pickle(task, block):
        sent.append(pickle.dumps(task))
        return run(pickle.loads(sent[-1]), block)

    monkeypatch.setattr(tasks.Task, "__call__", through_pickle)
    BudgetLedger(path, epsilon=200.0, delta=0.5)
    with transcribed() as transcript:
        clone(model).set_params(ledger=path).fit(**first)
    before, sent[:] = copy.copy(sent), []
    with replayed(transcript):
        clone(model).set_params(ledger=path).fit(**second)
    assert before
    assert sent == before
    text = b"".join(before)
    hidden = (path.name.encode(), b"Bits", type(model).__name__.encode())
    assert not any(word in text for word in hidden)
