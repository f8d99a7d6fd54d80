"""Plans: what they predict is what their laws have, and units do not matter."""

import math
from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv.basis import CosineBasis
from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.iclp._plan import (
    MECHANISMS,
    SENSITIVITY,
    ReleasePlan,
    check_mechanism,
)
from skfuncpriv.noise import IndependentGaussian
from skfuncpriv.privacy import gaussian_delta

SPECTRUM = CosineBasis(12).spectrum


def plan(mechanism="spherical", **facts):
    defaults = {"n_people": 50, "n_outputs": 1, "spectrum": SPECTRUM, "epsilon": 0.7}
    delta = 1e-5 if mechanism == "gaussian" else 0.0
    return ReleasePlan(**{**defaults, "delta": delta, **facts}, mechanism=mechanism)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("noise", ["matched", "kernel"])
@pytest.mark.parametrize("psi", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_prediction_is_the_energy_of_the_law(mechanism, noise, psi, n_outputs):
    candidate = plan(mechanism, noise=noise, psi=psi, n_outputs=n_outputs)
    law = candidate.law
    assert law.size == candidate.size == 12 * n_outputs
    energy = (
        float(np.sum((law.std * np.repeat(candidate.weights, n_outputs)) ** 2)) / 50**2
    )
    # The law is calibrated to a sensitivity of 2 (1 + 2^-30) instead of 2.
    assert candidate.predicted_square == pytest.approx(energy, rel=1e-8)
    assert candidate.expected_square == pytest.approx(energy, rel=1e-12)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 1.0, 3.0, 50.0])
@pytest.mark.parametrize("noise", ["matched", "kernel"])
def test_laws_are_calibrated_to_the_sensitivity(mechanism, epsilon, noise):
    candidate = plan(mechanism, epsilon=epsilon, psi=0.1, noise=noise)
    law = candidate.law
    if isinstance(law, IndependentGaussian):
        (sigma,) = set(law.deviations)
        for factor in (1.0, 0.99):
            delta = gaussian_delta(factor * epsilon, sigma, SENSITIVITY)
            assert (delta <= 1e-5) == (factor == 1.0)
        return
    scales = np.atleast_1d(getattr(law, "scales", None) or law.scale)
    square = sum((Fraction(SENSITIVITY) / Fraction(float(b))) ** 2 for b in scales)
    budget = Fraction(epsilon) ** 2
    assert budget * (1 - Fraction(1, 10**9)) <= square <= budget


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_sums_move_by_at_most_the_stated_sensitivity(mechanism):
    assert plan(mechanism).ball.sensitivity <= SENSITIVITY <= 2 * (1 + 2.0**-29)


def test_guarantees():
    pure = plan("laplace", delta=1e-3).guarantee("person", seeded=True)
    assert (pure.definition, pure.epsilon, pure.delta) == ("pure-dp", 0.7, 0.0)
    assert (pure.unit, pure.seeded) == ("person", True)
    approx = plan("gaussian").guarantee("row", seeded=False)
    assert (approx.definition, approx.delta) == ("approx-dp", 1e-5)


def test_matched_scales_are_the_best_of_independent_ones():
    candidate = plan("laplace", psi=0.05)
    best = candidate.predicted_square
    weights = candidate.weights
    assert best < plan("laplace", psi=0.05, noise="kernel").predicted_square
    rng = np.random.default_rng(0)
    for _ in range(50):
        scales = np.exp(rng.normal(0, 0.2, 12)) / np.sqrt(weights)
        factor = SENSITIVITY * math.sqrt(np.sum(scales**-2.0)) / 0.7
        energy = 2 * np.sum((factor * scales * weights / 50) ** 2)
        assert energy >= best * (1 - 1e-9)


def test_cut_keeps_everything_else():
    whole = plan("block-spherical", psi=0.1, n_outputs=2, eta=2.0)
    part = whole.cut(5)
    assert part.size == 10
    np.testing.assert_array_equal(part.weights, whole.weights[:5])
    assert (part.epsilon, part.psi, part.eta) == (0.7, 0.1, 2.0)


def test_mechanisms_to_choose_from():
    assert "gaussian" not in check_mechanism("auto", 0.0)
    assert set(check_mechanism("auto", 1e-9)) == set(MECHANISMS)
    assert check_mechanism("laplace", 1e-9) == ("laplace",)
    with pytest.raises(PrivacyError, match="delta > 0"):
        check_mechanism("gaussian", 0.0)
    for bad in ("Laplace", None, 1, ""):
        with pytest.raises(ValueError, match="mechanism must be 'auto' or one of"):
            check_mechanism(bad, 0.0)
