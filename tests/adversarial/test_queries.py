"""Averaging attacks: no number of questions ever draws a second time."""

import contextlib
import os
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from skfuncpriv import (
    BernsteinMean,
    FRLMean,
    ICLPMean,
    PrivateFPCA,
    PrivateKDE,
    PrivateSparseMean,
)
from skfuncpriv.noise import NoiseLaw, SeededBits
from skfuncpriv.testing._randomness import PUBLIC_STREAMS
from tests.adversarial.cases import (
    each_estimator,
    people,
    public_points,
    queries,
    ready,
)


@contextlib.contextmanager
def no_randomness():
    """Whoever asks for random bits or a release fails; simulated public laws may."""

    def refuse(*arguments):
        raise AssertionError("a query drew")

    words = SeededBits.words

    def of_public_streams(bits, count):
        assert bits._seed[1] in PUBLIC_STREAMS
        return words(bits, count)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "urandom", refuse)
        patch.setattr(NoiseLaw, "release", refuse)
        patch.setattr(SeededBits, "words", of_public_streams)
        yield


@each_estimator
def test_copies_reloads_and_finer_questions_agree(model):
    """Reload pickles, ask again and again, ask more finely: the same function answers.

    The answer at a point may depend on no other point that is asked for.
    """
    fitted = ready(model, random_state=None).fit(*people(12))
    answers = queries(fitted)
    dump = pickle.dumps(fitted)
    points = public_points(fitted)
    with no_randomness():
        copies = [
            pickle.loads(dump),
            pickle.loads(dump),
            pickle.loads(pickle.dumps(fitted)),
        ]
        for copy in copies:
            for name, answer in queries(copy).items():
                np.testing.assert_array_equal(answer, answers[name])
        for name in ("predict", "score_samples"):
            if hasattr(fitted, name):
                ask = getattr(fitted, name)
                many = np.concatenate([points[::-1], points, points])
                whole = np.asarray(ask(many))
                if whole.dtype.kind in "fiu":
                    close = {"rtol": 1e-9, "atol": 1e-9 * np.abs(answers[name]).max()}
                    for part in (whole[: len(points)][::-1], whole[-len(points) :]):
                        np.testing.assert_allclose(part, answers[name], **close)
                else:
                    assert (whole[-len(points) :] == answers[name]).all()
    assert not hasattr(clone(fitted), "guarantee_")


CURVES = {"bounds": (-500.0, 500.0), "epsilon": 5.0}
LINEAR = [
    ICLPMean(**CURVES, n_basis=5, denoise=False, rounds=1, psi=1e-3),
    PrivateSparseMean(**CURVES, n_basis=5),
    FRLMean(**CURVES, n_basis=5),
    BernsteinMean(**CURVES),
]


@pytest.mark.parametrize("model", LINEAR, ids=lambda model: type(model).__name__)
def test_all_answers_together_have_the_dimension_of_the_release(model):
    """Ask at thousands of points: no more equations than numbers were released.

    An attacker who averages needs independent noise. Over many fits of one data set
    the answers at all points vary in no more directions than the release has numbers.
    """
    X, _ = people(12)
    grid = np.linspace(0, 1, 3001)
    release = clone(model).fit(X)
    size = len(np.ravel(getattr(release, "release_", release.coef_)))
    rows = np.array([clone(model).fit(X).predict(grid) for _ in range(size + 3)])
    centred = rows - rows.mean(axis=0)
    singular = np.linalg.svd(centred, compute_uv=False)
    assert singular[size - 1] > 1e-7 * singular[0]
    assert singular[size] < 1e-9 * singular[0]


def test_a_million_points_average_to_one_draw():
    """Average a million answers of one fit: the noise of the mean does not shrink."""
    X, _ = people(12)
    flat = np.full_like(X, 100.0)
    model = ICLPMean(**CURVES, n_basis=1, denoise=False, rounds=1, random_state=1)
    averages = []
    with np.errstate(all="raise"):
        fitted = model.fit(flat)
        with no_randomness():
            many = fitted.predict(np.linspace(0, 1, 1_000_000))
            averages = [many[k::7].mean() for k in range(7)]
    noise = averages[0] - 100.0
    assert abs(noise) > 1e-3 * fitted.noise_std_.max()
    np.testing.assert_allclose(averages, averages[0], rtol=1e-9)


def test_samples_come_from_the_released_law_alone():
    """Draw samples without end: they tell the released law, and use fresh bits."""
    X, _ = people(12)
    points = np.clip(X[:, :1], -450, 450)
    kde = PrivateKDE(bounds=(-500, 500), random_state=5).fit(points)
    fpca = PrivateFPCA(bounds=(-500, 900), n_components=2, random_state=5).fit(X)
    for model in (kde, fpca):
        first = pickle.dumps(model)
        one, two = model.sample(50, random_state=1), model.sample(50, random_state=1)
        np.testing.assert_array_equal(one, two)
        assert (model.sample(50) != one).any()
        assert pickle.dumps(model) == first
    # the stream of the samples is not that of the noise, though both have one seed
    words = SeededBits(5, purpose=1).words(64)
    assert not np.isin(words, SeededBits(5).words(64)).any()


def test_a_refit_is_paid_for_each_time(tmp_path):
    """Fit again to average: each draw is a charge, and the budget ends it."""
    from skfuncpriv import BudgetExceededError, BudgetLedger

    path = tmp_path / "budget.db"
    ledger = BudgetLedger(path, epsilon=3.0)
    model = ICLPMean(bounds=(-500, 500), epsilon=1.0, ledger=str(path))
    X, _ = people(12)
    fits = [clone(model).fit(X) for _ in range(3)]
    assert len({fit.mean_.tobytes() for fit in fits}) == 3
    with pytest.raises(BudgetExceededError):
        model.fit(X)
    assert len(ledger.history()) == 3
