"""Two rounds of a mean: what they cost, what they gain, what they depend on."""

import math
from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv import BudgetLedger, ICLPMean, PrivacyError
from skfuncpriv.iclp import _rounds
from skfuncpriv.iclp._plan import SENSITIVITY
from skfuncpriv.iclp._rounds import Ball, Shares
from skfuncpriv.noise import BlockSpherical, IndependentGaussian
from skfuncpriv.privacy import gaussian_delta
from skfuncpriv.testing import recorded, silenced

GRID = np.linspace(0, 1, 40)
FACTS = {"bounds": (-10.0, 10.0), "random_state": 3, "rounds": 2}


def narrow(n_people=300, seed=0):
    """Curves that fill a tenth of the bounds, around a curve that is not zero."""
    rng = np.random.default_rng(seed)
    level, slope = rng.normal(0, 0.5, (2, n_people, 1))
    return 3 + 2 * np.sin(6 * GRID) + level + slope * GRID


def wide(n_people=300, seed=0):
    """Curves at either bound."""
    signs = np.random.default_rng(seed).choice([-10.0, 10.0], (n_people, 1))
    return signs * np.ones(len(GRID))


def largest_loss(law):
    """The loss of the law, at most, if the sum moves by the stated sensitivity."""
    assert isinstance(law, BlockSpherical)
    return SENSITIVITY * math.sqrt(sum(scale**-2.0 for scale in law.scales))


@pytest.mark.parametrize("n_people", [1, 7, 300, 10**7])
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1 / 3, 1.0, math.pi, 1e6])
def test_shares_add_up_exactly(epsilon, n_people):
    shares = Shares.of(epsilon, n_people)
    total = Fraction(shares.rough) + Fraction(shares.radius) + Fraction(shares.fine)
    budget = Fraction(epsilon)
    assert budget * (1 - Fraction(1, 10**12)) <= total <= budget
    assert shares.fine >= epsilon / 2 * (1 - 1e-12)
    assert min(shares.rough, shares.radius) >= 0.02 * epsilon


@pytest.mark.parametrize("epsilon", [0.7, 5.0, 1e3])
def test_everything_that_is_spent_is_epsilon(epsilon, monkeypatch):
    spent = []

    def counted(radii, beyond, epsilon, bits):
        spent.append(epsilon)
        return choose(radii, beyond, epsilon, bits)

    choose = _rounds.choose_among
    monkeypatch.setattr(_rounds, "choose_among", counted)
    with recorded() as releases:
        model = ICLPMean(**FACTS, epsilon=epsilon).fit(narrow())
    assert len(releases) == 2
    assert model.rounds_ == 2
    total = sum(spent) + sum(largest_loss(r.law) for r in releases)
    assert epsilon * (1 - 1e-6) <= total <= epsilon * (1 + 1e-9)
    assert model.guarantee_.epsilon == epsilon
    assert model.guarantee_.definition == "pure-dp"


def test_delta_belongs_to_the_second_round():
    with recorded() as releases:
        model = ICLPMean(**FACTS, epsilon=5.0, delta=1e-6).fit(narrow())
    rough, fine = (r.law for r in releases)
    shares = Shares.of(5.0, 300)
    assert largest_loss(rough) <= shares.rough * (1 + 1e-9)
    assert isinstance(fine, IndependentGaussian)
    sigma = fine.deviations[0]
    assert gaussian_delta(shares.fine, sigma, SENSITIVITY) <= 1e-6
    assert gaussian_delta(0.99 * shares.fine, sigma, SENSITIVITY) > 1e-6
    assert (model.guarantee_.epsilon, model.guarantee_.delta) == (5.0, 1e-6)


def test_the_ledger_is_charged_once(tmp_path):
    path = str(tmp_path / "budget.db")
    BudgetLedger(path, epsilon=5.0)
    ICLPMean(**FACTS, epsilon=5.0, ledger=path).fit(narrow())
    assert BudgetLedger(path).spent.epsilon == 5.0
    assert len(BudgetLedger(path).history()) == 1


def private_parts(X, monkeypatch, center, radius, **parameters):
    """Exact sums of both rounds and the distances, if C and r have these values."""
    seen = []

    def measured(distances, radii):
        seen.append((distances, radii[0]))

    def chosen(radii, beyond, epsilon, bits):
        return radius

    def rough_sum(released, plan):
        sums = np.zeros(plan.size)
        sums[: len(center)] = plan.n_people * np.array(center)
        return sums

    with monkeypatch.context() as patch, recorded() as releases:
        patch.setattr(_rounds, "people_beyond", measured)
        patch.setattr(_rounds, "choose_among", chosen)
        patch.setattr(_rounds, "denoised_sum", rough_sum)
        ICLPMean(**FACTS, epsilon=50.0, **parameters).fit(X)
    ((distances, largest),) = seen
    return [np.array(r.exact) for r in releases], distances, largest


@pytest.mark.parametrize("center", [(0.0,), (0.5, -0.3, 0.2)], ids=["zero", "rough"])
@pytest.mark.parametrize("radius", [0.1, 0.7, 1.0, 1.3])
@pytest.mark.parametrize("parameters", [{}, {"norm_bound": 4.0}])
def test_neighbours_move_sums_by_the_sensitivity_and_one_distance(
    center, radius, parameters, monkeypatch
):
    X = narrow(60)
    rng = np.random.default_rng(1)
    extremes = [
        np.full(40, 1e308),
        np.full(40, -1e308),
        np.full(40, 10.0),
        -np.full(40, 10.0),
        np.zeros(40),
        10 * np.sign(np.sin(40 * GRID)),
        rng.normal(0, 5, 40),
    ]
    found = []
    for curve in extremes:
        Y = X.copy()
        Y[17] = curve
        found.append(private_parts(Y, monkeypatch, center, radius, **parameters))
    moved = []
    for sums, distances, largest in found:
        assert (distances <= largest).all()
        for others, other_distances, other_largest in found:
            assert largest == other_largest
            assert set(np.flatnonzero(distances != other_distances)) <= {17}
            moved.append([
                math.sqrt(sum(d * d for d in one - two))
                for one, two in zip(sums, others, strict=True)
            ])  # fmt: skip
    largest_moves = np.max(moved, axis=0)
    assert (largest_moves <= SENSITIVITY).all()
    assert (largest_moves > 1.7).all()  # opposite people, seen from the centre


@pytest.mark.parametrize("groups", [None, np.arange(300) // 3])
def test_a_huge_budget_gives_the_sample_mean(groups):
    facts = {**FACTS, "epsilon": 1e6}
    one = ICLPMean(**{**facts, "rounds": 1}).fit(narrow(), groups=groups)
    two = ICLPMean(**facts).fit(narrow(), groups=groups)
    with silenced():
        exact = ICLPMean(**{**facts, "rounds": 1}).fit(narrow(), groups=groups)
    assert two.norm_bound_ < 0.4 * one.norm_bound_
    for model in (one, two):
        np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-5)
        np.testing.assert_allclose(model.release_, exact.release_, atol=1e-5)


@pytest.mark.parametrize("form", ["vector", "missing", "tight"])
def test_forms_of_data(form):
    X, facts = narrow(), {**FACTS, "epsilon": 1e6}
    if form == "vector":
        X = np.stack([X, -X], axis=2)
    if form == "missing":
        X[4] = np.nan
        facts["missing"] = "interpolate"
    if form == "tight":
        facts["norm_bound"] = 4.0
    one = ICLPMean(**{**facts, "rounds": 1}).fit(X)
    two = ICLPMean(**facts).fit(X)
    np.testing.assert_allclose(two.mean_, one.mean_, atol=1e-4)
    assert two.mean_.shape == two.noise_std_.shape == X.shape[1:]
    assert two.norm_bound_ < one.norm_bound_ + (form == "missing")


def errors(X, rounds, n_draws=20):
    mean = X.mean(axis=0)
    model = ICLPMean(bounds=(-10, 10), epsilon=8.0, rounds=rounds)
    return [
        np.mean((model.set_params(random_state=k).fit(X).mean_ - mean) ** 2)
        for k in range(n_draws)
    ]


def test_narrow_curves_gain_and_wide_ones_lose_little():
    gain = np.divide(errors(narrow(), 2), np.mean(errors(narrow(), 1)))
    assert np.mean(gain) + 5 * np.std(gain) / math.sqrt(20) < 0.5
    X = wide()
    two = errors(X, 2)
    # at most 1 / (1 - 2 * share)^2 more noise, which is far below the sampling error
    assert np.mean(two) + 5 * np.std(two) / math.sqrt(20) < 0.1 * X.var() / len(X)


def test_wide_curves_take_the_ball_of_the_bounds():
    for seed in range(5):
        model = ICLPMean(**{**FACTS, "random_state": seed}, epsilon=8.0).fit(wide())
        assert model.norm_bound_ == pytest.approx(10.0)
        assert model.rounds_ == 2


def test_noise_of_the_last_round_is_stated():
    X = narrow()
    facts = {**FACTS, "epsilon": 8.0}
    model = ICLPMean(**facts).fit(X)
    unit = model.norm_bound_ / 300
    noise = model.law_.expected_square * unit**2
    functions = model.basis_.evaluate(GRID)
    variance = np.square(functions) @ np.square(model.coef_std_)
    np.testing.assert_allclose(model.noise_std_, np.sqrt(variance))
    # Without denoising it would be more; without a second round, too.
    assert np.sum(model.coef_std_**2) < noise
    assert np.sum(model.coef_std_**2) < model.expected_error(300, n_points=40)
    with silenced():
        exact = ICLPMean(**{**facts, "rounds": 1, "epsilon": 1e3}).fit(X)
    inside = 0
    for seed in range(60):
        lower, upper = (
            ICLPMean(**{**facts, "random_state": seed}).fit(X).noise_band(0.8)
        )
        middle = (lower + upper) / 2
        m = len(model.coef_)
        truth = exact.basis_.evaluate(GRID)[:, :m] @ exact.release_[:m]
        inside += bool((abs(middle - truth) <= (upper - lower) / 2 + 0.02).all())
    assert inside >= 48 - 5 * math.sqrt(60 * 0.8 * 0.2)


def test_auto_follows_public_facts():
    X = narrow(200)
    for epsilon, rounds in ((9.0, 1), (11.0, 2)):
        for data in (X, np.zeros((200, 40)), 1e300 * X):
            model = ICLPMean(bounds=(-10, 10), epsilon=epsilon).fit(data)
            assert model.rounds_ == rounds
        planned = ICLPMean(bounds=(-10, 10), epsilon=epsilon)._planned_release(
            200, n_points=40
        )
        assert planned.n_functions == len(model.coef_)
        assert planned.epsilon == epsilon
    # so much budget that noise is far below the sampling error anyway
    assert ICLPMean(bounds=(-10, 10), epsilon=1e6).fit(X).rounds_ == 1


@pytest.mark.parametrize(
    "parameters",
    [
        {"mechanism": "spherical"},
        {"mechanism": "laplace", "noise": "kernel"},
        {"penalty": "ar"},
        {"denoise": False},
    ],
)
def test_published_forms_have_one_round(parameters):
    model = ICLPMean(bounds=(-10, 10), epsilon=20.0, **parameters).fit(narrow())
    assert model.rounds_ == 1
    with pytest.raises(ValueError, match="rounds=2 needs"):
        model.set_params(rounds=2).fit(narrow())


@pytest.mark.parametrize("bad", [0, 3, True, "2", None, 1.5])
def test_bad_rounds_are_refused(bad):
    with pytest.raises(ValueError, match="rounds must be"):
        ICLPMean(bounds=(-10, 10), rounds=bad).fit(narrow())


def test_the_unit_ball_is_that_of_one_round():
    ball = Ball.unit(3)
    assert ball.radius == 1.0
    np.testing.assert_array_equal(ball.center, np.zeros(3))


@pytest.mark.parametrize("rounds", [1, 2])
def test_noise_that_overflows_is_refused_before_the_charge(rounds, tmp_path):
    path = str(tmp_path / "budget.db")
    BudgetLedger(path, epsilon=5.0)
    facts = {"bounds": (-8e307, 8e307), "rounds": rounds, "ledger": path}
    with pytest.raises(PrivacyError, match="range of floating point"):
        ICLPMean(**facts, epsilon=1.0).fit(narrow(20))
    assert BudgetLedger(path).spent.epsilon == 0


def test_people_who_are_alike_get_more_coefficients():
    t = np.linspace(0, 1, 200)
    level = np.random.default_rng(0).uniform(-0.5, 0.5, (2000, 1))
    sizes = []
    for rounds in (1, 2):
        facts = {**FACTS, "rounds": rounds, "epsilon": 0.5}
        model = ICLPMean(**facts).fit(level + np.sin(6 * t))
        assert model.basis_.n_basis == len(model.coef_) == model.law_.size
        np.testing.assert_allclose(model.predict(t), model.mean_, atol=1e-9)
        sizes.append(len(model.coef_))
    assert sizes[1] > 1.2 * sizes[0]
