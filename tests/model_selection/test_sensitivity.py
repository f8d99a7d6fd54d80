"""What one person can change of a choice, by brute force, and what it costs.

The votes are read where noise is added, so these tests see what a search really does.
"""

import itertools
import math

import numpy as np
import pytest

from skfuncpriv import (
    Curves,
    FRLMean,
    ICLPMean,
    PrivateFPCA,
    PrivateGridSearchCV,
    PrivateKDE,
    PrivateKernelClassifier,
    PrivateKernelRegressor,
)
from skfuncpriv.model_selection import (
    Accuracy,
    BoundedScore,
    IntegratedSquaredError,
    LogLikelihood,
    SquaredError,
)
from skfuncpriv.model_selection._votes import (
    Voters,
    centred,
    choose,
    noisy_score,
    person_values,
    whole_votes,
)
from skfuncpriv.noise import SeededBits
from skfuncpriv.testing import recorded
from tests.model_selection.cases import (
    BANDWIDTHS,
    Favourite,
    recorded_choices,
    without_address,
)
from tests.privacy.selection_laws import permute_and_flip_law

pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)
RNG = np.random.default_rng(5)
GRID = np.linspace(0, 1, 9)
EXTREMES = [-1e300, -5.0, -1.0, 0.0, 0.3, 1.0, 5.0, 1e300]
SCORES = [IntegratedSquaredError(), LogLikelihood(-9, 0), Favourite()]
CURVES = np.vstack([RNG.uniform(-3, 3, (40, 9)), [[x] * 9 for x in EXTREMES]])
LABELS = RNG.integers(0, 2, 48)
SEED = {"random_state": 0}


def fpcas():
    model = PrivateFPCA(bounds=(-2, 2), epsilon=50.0, n_components=4, **SEED)
    model.fit(CURVES)
    return [model._released_again(k) for k in (1, 2, 4)]


def fitted(models, X, y=None):
    return [model.fit(X, y) for model in models]


def cases():
    """Name, score, released estimators, rows of all kinds and their targets."""
    line = np.r_[np.linspace(-6, 6, 40), EXTREMES][:, None]
    kdes = fitted([PrivateKDE(bounds=(-5, 5), bandwidth=h, epsilon=20.0, **SEED)
                   for h in BANDWIDTHS], line)  # fmt: skip
    means = [ICLPMean(bounds=(-2, 2), n_basis=k, epsilon=9.0, **SEED) for k in (2, 5)]
    means.append(FRLMean(bounds=(-2, 2), epsilon=9.0, **SEED))
    means = fitted(means, CURVES)
    box = {"bounds": (-5, 5), "n_components": 8, "epsilon": 50.0, **SEED}
    machines = fitted([PrivateKernelRegressor(y_bounds=(-1, 2), psi=p, **box)
                       for p in (0.1, 1.0)], line, line[:, 0])  # fmt: skip
    classifiers = [PrivateKernelClassifier(psi=0.1, **box).fit(line, labels)
                   for labels in (LABELS, 1 - LABELS)]  # they disagree  # fmt: skip
    error = IntegratedSquaredError()
    yield "density", error, kdes, line, None
    yield "likelihood", LogLikelihood(-6.0, 0.0), kdes, line, None
    yield "mean", error, means, CURVES, None
    yield "components", error, fpcas(), CURVES, None
    other = PrivateFPCA(bounds=(-2, 2), n_components=2, epsilon=9.0, **SEED)
    yield "two releases", error, [*fpcas(), other.fit(CURVES)], CURVES, None
    yield "regression", SquaredError(), machines, line, line[:, 0]
    yield "classes", Accuracy(), classifiers, line, LABELS
    yield "own", Favourite(), kdes, line, None


CASES = {case[0]: case[1:] for case in cases()}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@each_case
def test_bounds_hold_for_every_row(case):
    """Those that follow from the release, and those of differences."""
    score, models, X, y = case
    values = np.stack([score.values(model, X, y) for model in models], axis=1)
    bounds = np.array([score.bounds(model) for model in models])
    if not isinstance(score, LogLikelihood):  # it relies on being clipped
        slack = 1e-9 * (1 + np.abs(bounds).max())
        assert (values >= bounds[:, 0] - slack).all()
        assert (values <= bounds[:, 1] + slack).all()
        low, high = score.differences(models)
        gaps = values[:, None, :] - values[:, :, None]
        assert (gaps >= low - slack).all()
        assert (gaps <= high + slack).all()
        one = np.eye(len(models))
        reached = (gaps.max(axis=0) - gaps.min(axis=0) + one) / (high - low + one)
        if any(case is CASES[name] for name in ("density", "mean", "components")):
            assert reached.min() > 0.15  # they are about what can happen
        assert np.isfinite(values).all()


@each_case
def test_one_person_moves_differences_by_four_halves(case):
    """Brute force over pairs of rows: the bound of the proof, and that it is needed."""
    score, models, X, y = case
    offsets, reach = centred(*score.differences(models))
    voters = Voters(X, y, np.arange(len(X)), None, len(X))
    half = 1 << 20
    votes = whole_votes(person_values(score, models, voters) - offsets, reach, half)
    assert np.abs(votes).max() <= half
    gaps = votes[:, None, :] - votes[:, :, None]
    moves = gaps.max(axis=0) - gaps.min(axis=0)  # the most over all pairs of rows
    assert moves.max() <= 4 * half
    if isinstance(score, Accuracy | Favourite):
        assert moves.max() == 4 * half
    if case is CASES["density"]:
        assert moves.max() > 0.999 * 4 * half


def test_votes_are_clipped_last():
    """Whatever scores claim: wrong bounds, floats that overflow, NaN."""
    wild = np.array([[1e300, -1e300, 0.0], [np.inf, 0.0, 1.0], [np.nan] * 3, [1, 2, 9]])
    for reach in (1e-300, 1.0, 1e300, 0.0):
        votes = whole_votes(wild, reach, 1 << 10)
        assert np.abs(votes).max() <= 1 << 10
    assert whole_votes(np.array([[0.0, 1.0]]), 1.0, 4).tolist() == [[-4, 4]]


class Wrong(BoundedScore):
    """Bounds that do not hold, and failures that depend on the row."""

    def values(self, model, X, y=None):
        x = np.asarray(X)[:, 0]
        if (x > 1e6).any():
            raise RuntimeError("a secret")
        return np.where(x > 3, np.nan, 1e9 * x * (model.bandwidth - 0.5))

    def bounds(self, model):
        return 0.0, 1.0


@pytest.mark.parametrize("score", [*SCORES, Wrong()], ids=without_address)
@pytest.mark.parametrize("grouped", [False, True])
def test_the_choice_of_neighbours(score, grouped):
    """The exact law of the choice, for all extremes of one person who scores."""
    _, models, X, _ = CASES["density"]
    X, rows = X[:24].copy(), np.arange(24)
    codes, n_people = (rows // 3, 8) if grouped else (None, 24)
    laws = []
    for extreme in EXTREMES:
        X[3 if not grouped else slice(3, 6)] = extreme
        with recorded_choices() as seen:
            voters = Voters(X, None, rows, codes, n_people)
            choose(score, models, voters, 1.5, SeededBits(0))
        (choice,) = seen
        assert choice.epsilon == 1.5
        assert np.abs(choice.scores).max() < 2**53
        laws.append(permute_and_flip_law(choice.scores, choice.scale))
    losses = [np.max(np.log(a / b)) for a, b in itertools.permutations(laws, 2)]
    assert max(losses) <= 1.5 * (1 + 1e-9)
    assert max(losses) > 0.02


@pytest.mark.parametrize("n_people", [1, 2, 7])
def test_the_worst_case_of_a_choice_is_attained(n_people):
    """One person against many: the loss of neighbours is near epsilon, not above."""
    models = CASES["density"][1][:2]
    rows, worst = np.arange(n_people), []
    for last in (-1.0, 1.0):  # who wants a wide kernel, or a narrow one
        X = np.full((n_people, 1), -1.0)
        X[-1] = last
        with recorded_choices() as seen:
            voters = Voters(X, None, rows, None, n_people)
            choose(Favourite(), models, voters, 1.5, SeededBits(0))
        worst.append(permute_and_flip_law(seen[0].scores, seen[0].scale))
    loss = np.max(np.log(worst[1] / worst[0]))
    assert loss <= 1.5 * (1 + 1e-12)
    assert loss > (1.1 if n_people == 1 else 0.99 * 1.5)


def test_noisy_scores_are_calibrated_to_one_person():
    """The exact sum moves by at most the sensitivity of its noise, and by all of it."""
    score, models, X, _ = CASES["density"]
    rows = np.arange(6)
    sums, (f, nodes) = [], (models[0].density_, models[0].grid_[0])
    for extreme in (nodes[f.argmax()], nodes[f.argmin()], 0.0, -1e300):
        table = X[:6].copy()
        table[2] = extreme
        with recorded() as releases:
            voters = Voters(table, None, rows, None, 6)
            noisy_score(score, models[0], voters, 0.7, SeededBits(0))
        (released,) = releases
        (scale,) = released.law.scales
        sums.append(released.exact[0] / scale)
    moves = [float(abs(a - b)) for a, b in itertools.combinations(sums, 2)]
    assert 0.99 * 0.7 < max(moves) <= 0.7


def test_noisy_scores_are_means_plus_noise():
    score, models, X, y = CASES["classes"]
    voters = Voters(X, y, np.arange(len(X)), None, len(X))
    mean = score.values(models[0], X, y).mean()
    exact = noisy_score(score, models[0], voters, 1e6, SeededBits(0))
    assert abs(exact - mean) < 1e-4
    bits, n_draws = SeededBits(1), 400
    draws = [noisy_score(score, models[0], voters, 2.0, bits) for _ in range(n_draws)]
    std = math.sqrt(2) / 2.0 / len(X)
    assert abs(np.mean(draws) - mean) < 5 * std / math.sqrt(n_draws)
    assert abs(np.std(draws) / std - 1) < 5 * math.sqrt(5 / 4 / n_draws)


def test_rows_of_a_person_are_averaged():
    """Many rows weigh as much as one, and other people's rows change no bit."""
    score, models, X, _ = CASES["density"]
    few = Voters(X, None, np.arange(4), np.array([0, 1, 1, 0]), 2)
    values = person_values(score, models, few)
    expected = np.stack([score.values(m, X[:4]) for m in models], axis=1)
    np.testing.assert_allclose(values[0], expected[[0, 3]].mean(axis=0), rtol=1e-12)
    rows = np.r_[0, 3, np.tile([1, 2], 999)]
    codes = np.r_[0, 0, np.ones(1998, dtype=int)]
    many = person_values(score, models, Voters(X, None, rows, codes, 2))
    np.testing.assert_array_equal(many[0], values[0])
    np.testing.assert_allclose(many[1], values[1], rtol=1e-12)


def test_irregular_curves_are_scored_on_the_grid():
    score, models, _, _ = CASES["mean"]
    wide = Curves.from_wide(CURVES[:3], GRID, (0, 1))
    long = Curves(
        CURVES[:3].reshape(-1, 1), np.tile(GRID, 3), 9 * np.arange(4), domain=(0, 1)
    )
    for model in models:
        np.testing.assert_allclose(
            score.values(model, wide), score.values(model, long), rtol=1e-12
        )


def test_components_of_one_release_are_those_of_a_fit():
    shared = fpcas()
    for k, model in zip((1, 2, 4), shared, strict=True):
        assert len(model.components_) == k
        np.testing.assert_allclose(
            model.components_, shared[-1].components_[:k], rtol=1e-12
        )
    search = PrivateGridSearchCV(
        PrivateFPCA(bounds=(-2, 2)), {"n_components": [1, 2, 4]}, search_share=0.5
    ).set_params(epsilon=8.0)
    costs = search.fit(CURVES).costs_
    assert costs["candidates"].epsilon == costs["choice"].epsilon == 4.0
