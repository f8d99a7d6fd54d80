"""Seeds: whoever has two releases of one seed has the difference without noise.

And without a seed no word of randomness is ever used twice, whatever the estimator,
the budget or the shape of the data; nor is it inherited by another process.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone

import skfuncpriv
from skfuncpriv import BudgetLedger, ICLPMean, PrivacyError
from skfuncpriv.noise import SeededBits
from tests.adversarial.cases import CENTRAL, people, ready

ROWS = np.linspace(0, 1, 40).reshape(10, 4)
MEAN = ICLPMean(bounds=(0, 1), n_basis=1, denoise=False, rounds=1)


pytestmark = pytest.mark.usefixtures("strictness_restored")


def difference(seeds, secret=0.8125):
    """Of two published means, one with the secret person and one with a zero."""
    others = np.full((9, 4), 0.5)
    tables = [np.concatenate([others, np.full((1, 4), x)]) for x in (secret, 0.0)]
    fits = [
        clone(MEAN).set_params(random_state=seed).fit(table)
        for seed, table in zip(seeds, tables, strict=True)
    ]
    means = [fit.mean_.mean() / fit.weights_[0] for fit in fits]
    return 10 * (means[0] - means[1]), fits[0].guarantee_


def test_two_seeded_releases_reveal_a_person_exactly():
    """Subtract two releases of one seed: the noise cancels, the person is left."""
    found, guarantee = difference((7, 7))
    assert abs(found - 0.8125) < 1e-6
    assert guarantee.seeded
    assert "SEEDED: no privacy" in str(guarantee)
    found, guarantee = difference((None, None))
    assert abs(found - 0.8125) > 1e-8
    assert not guarantee.seeded


def test_whoever_knows_the_seed_subtracts_the_noise():
    """Refit with the seed on data of one's own: the noise of the release is known."""
    X = np.random.default_rng(0).random((10, 4))
    secret = clone(MEAN).set_params(random_state=11).fit(X)
    mine = clone(MEAN).set_params(random_state=11).fit(np.full((10, 4), 0.5))
    found = (secret.mean_ - mine.mean_) / secret.weights_[0] + 0.5
    weights = np.array([1, 2, 2, 1]) / 6  # of a piecewise linear curve
    np.testing.assert_allclose(found, (X @ weights).mean(), rtol=1e-5)


@pytest.mark.parametrize(
    "seed", [0, 7, np.random.RandomState(0)], ids=["0", "7", "state"]
)
def test_strict_mode_refuses_seeds_for_free(seed, tmp_path):
    """Strict mode leaves no way to a seeded release, and charges nothing for it."""
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=10.0)
    model = clone(MEAN).set_params(random_state=seed, ledger=str(ledger.path))
    with skfuncpriv.config(strict=True), pytest.raises(PrivacyError, match="seeds"):
        model.fit(np.ones((4, 4)) / 2)
    assert ledger.history() == []


def test_no_word_of_randomness_is_used_twice(monkeypatch):
    """Collect all words of fits of every kind, budget and shape: they are distinct."""
    system, words = os.urandom, []

    def urandom(count):
        drawn = system(count)
        words.append(drawn)
        return drawn

    monkeypatch.setattr(os, "urandom", urandom)
    for model in CENTRAL:
        ready(model, random_state=None).fit(*people(6))
    for epsilon, n in ((5.0, 6), (1e3, 6), (5.0, 11)):
        ready(CENTRAL[0], random_state=None, epsilon=epsilon).fit(*people(n))
    table = np.frombuffer(b"".join(words), np.uint64)
    assert len(table) > 20 * len(CENTRAL)
    assert len(np.unique(table)) == len(table)


def test_one_seed_gives_samples_and_noise_that_share_nothing():
    """Ask for samples with the seed of the fit: they must not contain its noise."""
    streams = [SeededBits(5, purpose=k).words(200) for k in range(6)]
    assert len(np.unique(np.concatenate(streams))) == 1200


def release(model, X):
    return os.getpid(), clone(model).fit(X).mean_.tobytes()


def spawned(count):
    """Releases of an interpreter that starts afresh."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return list(pool.map(release, [MEAN] * count, [ROWS] * count))


def by_joblib(backend):
    fits = [delayed(release)(MEAN, ROWS) for _ in range(6)]
    return Parallel(n_jobs=2, backend=backend)(fits)


WORKERS = {
    "spawn": lambda: spawned(3),
    "fork": lambda: by_joblib("multiprocessing"),
    "threads": lambda: by_joblib("threading"),
}


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
@pytest.mark.parametrize("start", WORKERS)
def test_workers_draw_noise_of_their_own(start):
    """Start workers afresh or by fork, after a draw of the parent: noise differs."""
    np.random.seed(0)
    drawn = [release(MEAN, ROWS), *WORKERS[start]()]
    np.random.seed(0)
    drawn.append(release(MEAN, ROWS))
    assert len({noise for _, noise in drawn}) == len(drawn) >= 5
    assert (len({process for process, _ in drawn}) > 1) == (start != "threads")
