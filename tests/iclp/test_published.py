"""QR and AR as published, at the true epsilon; and what the published scales would do.

The published mechanism adds sigma * sum_j sqrt(lambda_j) Z_j phi_j to the penalised
mean, with sigma = sup sum_j abs(h_j) / (sqrt(lambda_j) epsilon). That is the scale of
Laplace variables; with variables Z_j of *variance* one, as they are defined there,
every scale is too small by sqrt(2), and the true loss is sqrt(2) epsilon.
"""

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from skfuncpriv import ICLPMean
from skfuncpriv.basis import KernelBasis
from skfuncpriv.iclp._plan import SENSITIVITY
from skfuncpriv.noise import IndependentLaplace
from skfuncpriv.testing import silenced
from tests.iclp.attacks import attack, is_sharp, wrong_by_root_two
from tests.iclp.spine import private_sum

pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)

DOMAIN = (0.0, 2.0)
GRID = np.linspace(*DOMAIN, 801)
PUBLISHED = {
    "kernel": "matern32",
    "noise": "kernel",
    "mechanism": "laplace",
    "denoise": False,
    "domain": DOMAIN,
    "grid": GRID,
    "random_state": 0,
}
PENALTIES = {
    "qr": {"penalty": "qr", "psi": 1e-2, "eta": 1.01},
    "ar": {"penalty": "ar", "psi": 1e-3, "eta": 1.5},
}
each_penalty = pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)


def weights_of(model):
    """What every coefficient is multiplied by: the quadratic penalty or nothing."""
    spectrum = model.basis_.spectrum / (DOMAIN[1] - DOMAIN[0])
    if model.penalty == "ar":
        return spectrum, np.ones(len(spectrum))
    return spectrum, spectrum**model.eta / (spectrum**model.eta + model.psi)


def fitted(penalty, n_basis, epsilon):
    model = ICLPMean(
        **PUBLISHED,
        **penalty,
        n_basis=n_basis,
        bounds=(-1e9, 1e9),
        norm_bound=1.0,
        epsilon=epsilon,
    )
    return model.fit(np.zeros((3, len(GRID))))


def worst_pair(penalty, n_basis, epsilon):
    """Neighbours that move every coefficient in proportion to 1 / scale.

    The two others hold the same direction, so that no sum is within the thresholds.
    """
    model = fitted(penalty, n_basis, epsilon)
    direction = 1 / np.array(model.law_.scales)
    curve = 1e4 * (model.basis_.evaluate(GRID) @ direction) / np.linalg.norm(direction)
    return model, [
        private_sum(model, np.stack([curve, curve, sign * curve])) for sign in (1, -1)
    ]


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("n_basis", [1, 2, 20])
@each_penalty
def test_scales_are_the_published_ones_at_the_true_epsilon(penalty, n_basis, epsilon):
    """Proportional to sqrt(lambda_j) in the released mean; the loss is epsilon."""
    model = fitted(penalty, n_basis, epsilon)
    spectrum, weights = weights_of(model)
    np.testing.assert_allclose(model.weights_, weights, rtol=1e-12)
    scales = np.array(model.law_.scales) * weights
    share = scales / np.sqrt(spectrum)
    np.testing.assert_allclose(share, share[0], rtol=1e-12)
    # sigma of the released mean, of people whose norm is at most one
    sigma = 2 / 3 * math.sqrt(np.sum(weights**2 / spectrum)) / epsilon
    np.testing.assert_allclose(scales / 3, sigma * np.sqrt(spectrum), rtol=1e-8)
    # The exact supremum of the loss over the ball of differences.
    loss = Fraction(SENSITIVITY) ** 2 * sum(
        Fraction(b) ** -2 for b in model.law_.scales
    )
    assert (
        (Fraction(99, 100) * Fraction(epsilon)) ** 2 <= loss <= Fraction(epsilon) ** 2
    )
    assert model.guarantee_.definition == "pure-dp"
    assert model.guarantee_.epsilon == epsilon


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("n_basis", [1, 2, 12])
@each_penalty
def test_the_worst_pair_loses_epsilon(penalty, n_basis, epsilon):
    _, pair = worst_pair(penalty, n_basis, epsilon)
    assert is_sharp(pair[0].law, pair, epsilon)
    for wrong in wrong_by_root_two(pair[0].law):
        assert not is_sharp(wrong, pair, epsilon)


@each_penalty
def test_audit_of_the_worst_pair(penalty):
    _, pair = worst_pair(penalty, 2, 1.0)
    assert 0.8 < attack(pair[0].law, pair) <= 1.0


@pytest.mark.parametrize("penalty", ["qr", "ar"])
@pytest.mark.parametrize("psi", ["pss", "rate"])
def test_published_parameters_from_public_facts(penalty, psi):
    facts = {**PUBLISHED, "penalty": penalty, "psi": psi, "bounds": (-1.0, 1.0)}
    X = np.random.default_rng(0).uniform(-1, 1, (400, len(GRID)))
    one, other = (ICLPMean(**facts, epsilon=1.0).fit(table) for table in (X, 0 * X))
    assert one.psi_ == other.psi_ > 0
    assert one.law_ == other.law_
    assert isinstance(one.law_, IndependentLaplace)
    if penalty == "qr" and psi == "rate":
        decay = -np.polyfit(
            np.log(np.arange(65, 129)),
            np.log(KernelBasis("matern32", 128, DOMAIN).spectrum[64:]),
            1,
        )[0]
        expected = 400 ** (-2 / (1 + (1 + 1 / decay) / one.eta_))
        assert one.psi_ == pytest.approx(expected, rel=0.1)


def test_qr_and_ar_are_the_minimisers():
    """QR and AR in closed form, compared with every small change of the release."""
    rng = np.random.default_rng(4)
    X = np.stack([np.sin(3 * GRID + shift) for shift in rng.uniform(0, 1, 30)])
    for penalty in PENALTIES.values():
        facts = {**PUBLISHED, **penalty, "n_basis": 8, "bounds": (-1.0, 1.0)}
        with silenced():
            model = ICLPMean(**facts, epsilon=1e6).fit(X)
        contributions = X @ model.basis_.projection(GRID)
        spectrum, _ = weights_of(model)
        tau = model.norm_bound_  # psi of "ar" is in units of the norm bound

        def risk(f, rows=contributions, spectrum=spectrum, model=model, tau=tau):
            gap = np.square(rows - f).sum(axis=1).mean()
            if model.penalty == "qr":
                return gap + model.psi * np.sum(f**2 / spectrum**model.eta)
            return gap + tau * model.psi * np.sum(abs(f) / spectrum ** (model.eta / 2))

        smallest = risk(model.coef_)
        for j in range(8):
            for step in (1e-3, -1e-3):
                assert risk(model.coef_ + step * np.eye(8)[j]) > smallest


# The published sqrt(2)


def published_scales(pair, spectrum, weights, epsilon, mp):
    """Scales of the released sum where Z_j have variance one, in exact arithmetic."""
    change = [
        mp.mpf((a - b).numerator) / (a - b).denominator
        for a, b in zip(pair[0].exact, pair[1].exact, strict=True)
    ]
    roots = [mp.sqrt(mp.mpf(float(x))) for x in spectrum]
    weights = [mp.mpf(float(a)) for a in weights]
    # of the shrunk sum: h_j is a_j times the change
    sigma = (
        sum(a * abs(h) / r for a, h, r in zip(weights, change, roots, strict=True))
        / epsilon
    )
    scales = [sigma * r / a / mp.sqrt(2) for r, a in zip(roots, weights, strict=True)]
    return change, scales


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("n_basis", [1, 2, 20])
def test_variables_of_variance_one_lose_root_two_epsilon(n_basis, epsilon):
    model, pair = worst_pair(PENALTIES["qr"], n_basis, epsilon)
    spectrum, weights = weights_of(model)
    mp = mpmath.mp.clone()
    mp.dps = 60
    change, scales = published_scales(pair, spectrum, weights, epsilon, mp)
    loss = sum(abs(h) / b for h, b in zip(change, scales, strict=True))
    assert abs(loss - mp.sqrt(2) * epsilon) < mp.mpf(10) ** -50
    # Ours are larger by sqrt(2), and by what rounding costs.
    for ours, published in zip(model.law_.scales, scales, strict=True):
        assert ours == pytest.approx(float(published) * math.sqrt(2), rel=1e-6)
    # The checks of this file catch it.
    floats = tuple(map(float, scales))
    assert not is_sharp(replace(pair[0].law, scales=floats), pair, epsilon)


def test_the_audit_catches_the_published_root_two():
    model, pair = worst_pair(PENALTIES["qr"], 2, 1.0)
    spectrum, weights = weights_of(model)
    _, scales = published_scales(pair, spectrum, weights, 1.0, mpmath.mp)
    law = IndependentLaplace(tuple(map(float, scales)))
    assert law.std[0] / model.law_.std[0] == pytest.approx(math.sqrt(0.5), rel=1e-6)
    assert 1.0 < attack(law, pair) <= math.sqrt(2)
