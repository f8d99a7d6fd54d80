"""Membership inference: is this person's row in the data behind synthetic samples?

For epsilon-DP no attacker's advantage, the share of right accusations minus that of
wrong ones, exceeds (exp(epsilon) - 1) / (exp(epsilon) + 1). The attacker here knows
everybody else, picks the member and the non-member that differ most, and scores samples
by what the two would show. The same attack breaks estimators that are not private.
"""

import math

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.neighbors import KernelDensity

from skfuncpriv import PrivateFPCA, PrivateKDE

EPSILON = 0.5
N_TRIALS = 60
BOUND = math.expm1(EPSILON) / (math.exp(EPSILON) + 1)
TOLERANCE = 5 * math.sqrt(2 * 0.25 / N_TRIALS)
OTHERS = np.array([[0.5], [0.4]])
MEMBERS = [np.concatenate([OTHERS, [[end]]]) for end in (0.0, 1.0)]
RISE = np.linspace(-1, 1, 5)
CURVES = [np.stack([0 * RISE, 0.1 * RISE, sign * RISE**0]) for sign in (-1.0, 1.0)]


def advantage(attack, pair, n_trials=N_TRIALS):
    """Of the best threshold, which favours the attacker by less than the tolerance."""
    # Every trial has a seed of its own: with one for both sides noise would cancel.
    member, other = (
        np.array([attack(data, 2 * k + side) for k in range(n_trials)])
        for side, data in enumerate(pair)
    )
    cuts = np.unique(np.concatenate([member, other]))
    shares = [(np.mean(member <= c), np.mean(other <= c)) for c in cuts]
    return max(abs(hit - false) for hit, false in shares)


def near_one_end(points):
    """Samples near one end minus samples near the other, of all of them."""
    return np.mean(points > 0.8) - np.mean(points < 0.2)


def level(curves):
    return float(np.mean(curves))


def private_points(data, seed, epsilon=EPSILON):
    model = PrivateKDE(bounds=(0, 1), epsilon=epsilon, random_state=seed)
    return near_one_end(model.fit(data).sample(300, random_state=seed))


def plain_points(data, seed):
    model = KernelDensity(bandwidth=0.1).fit(data)
    return near_one_end(model.sample(300, random_state=seed))


def private_curves(data, seed):
    model = PrivateFPCA(bounds=(-1, 1), n_components=1, n_basis=2, epsilon=EPSILON)
    model.set_params(random_state=seed)
    return level(model.fit(data).sample(200, random_state=seed))


def plain_curves(data, seed):
    model = PCA(1).fit(data)
    scores = np.random.default_rng(seed).normal(size=(200, 1))
    return level(model.inverse_transform(scores * np.sqrt(model.explained_variance_)))


@pytest.mark.parametrize(
    ("private", "plain", "pair"),
    [(private_points, plain_points, MEMBERS), (private_curves, plain_curves, CURVES)],
    ids=["density", "components"],
)
def test_samples_show_membership_no_better_than_is_promised(private, plain, pair):
    """Accuse by the samples: bounded for private estimators, sure for plain ones."""
    assert BOUND + TOLERANCE < 0.75
    assert advantage(private, pair) <= BOUND + TOLERANCE
    assert advantage(plain, pair, 20) == 1


def test_the_attack_grows_with_epsilon():
    """The attack itself: at a budget of 50 the private samples show it, too."""

    def attack(data, seed):
        return private_points(data, seed, epsilon=50.0)

    assert advantage(attack, MEMBERS, 20) > 0.8
