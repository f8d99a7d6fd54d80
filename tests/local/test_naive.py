"""Functions that are close must look alike: audits of the naive mechanism and of ours.

The naive mechanism adds spherical noise to coefficients of a basis that is not
orthonormal: "Function privatization in the local model" shows that it fails.
"""

import numpy as np
import pytest
from scipy import stats

from skfuncpriv import GeoPrivateCoefficients
from skfuncpriv.basis import LegendreBasis, MonomialBasis
from skfuncpriv.noise import SeededBits, SphericalLaplace
from skfuncpriv.privacy import audit
from tests.local.functions import BASES

# f = 2t + 0.5 and f' = 0.5t + 2 on [0, 1], by powers of t: 1.5 apart in each
# coefficient, and sqrt(3)/2 in L2.
ONE, TWO = np.array([0.5, 2.0]), np.array([2.0, 0.5])
LINES = MonomialBasis(2)
DISTANCE = np.sqrt(0.75)


def rows_of(model):
    """The mechanism of a fitted model on a batch of equal inputs."""
    fresh = iter(range(10**6))

    def release(center, n):
        model.set_params(random_state=next(fresh))
        return model.transform(np.tile(center, (n, 1)))

    return release


def spherical_ratio(one, two, epsilon, gram):
    """The exact log likelihood ratio of two inputs, of the law that G shapes."""
    root = np.linalg.cholesky(gram)

    def statistic(outputs):
        norms = [np.linalg.norm((outputs - x) @ root, axis=1) for x in (one, two)]
        return epsilon * (norms[1] - norms[0])

    return statistic


def gaussian_ratio(one, two, gram):
    return lambda outputs: outputs @ (gram @ (one - two))


def test_the_distance_of_the_example():
    gap = ONE - TWO
    assert gap @ LINES.gram() @ gap == pytest.approx(DISTANCE**2)
    # exp(eps dist_2) = 2.38 at eps = 1; the naive densities differ by more
    ratio = spherical_ratio(ONE, TWO, 1.0, np.eye(2))(np.array([[0.5, 2.0]]))
    assert ratio > 2 * DISTANCE


def test_the_audit_catches_the_naive_mechanism():
    law, bits = SphericalLaplace(2), SeededBits(0)

    def naive(center, n):
        return center + law.sample(n, bits)

    statistic = spherical_ratio(ONE, TWO, 1.0, np.eye(2))
    result = audit(
        naive, ONE, TWO, n_trials=100_000, statistic=statistic, batch=True,
        confidence=1 - 1e-8,
    )  # fmt: skip
    assert result.epsilon_lower > 1.2 * DISTANCE


@pytest.mark.parametrize("denoise", [False, True])
def test_ours_passes_where_the_naive_one_fails(denoise):
    model = GeoPrivateCoefficients(
        epsilon=1.0, basis=LINES, denoise=denoise, random_state=0
    ).fit(ONE[None])
    found = []
    for gram in (LINES.gram(), np.eye(2)):  # our own ratio, and that of the attacker
        result = audit(
            rows_of(model), ONE, TWO, n_trials=20_000 if denoise else 200_000,
            statistic=spherical_ratio(ONE, TWO, 1.0, gram), batch=True,
            confidence=1 - 1e-8,
        )  # fmt: skip
        found.append(result.epsilon_lower)
    assert max(found) <= DISTANCE
    # the sharp side: a scale that is wrong by sqrt(2) would stay below
    assert denoise or found[0] > 0.8 * DISTANCE


def gram_of(basis):
    return np.eye(4) if basis is None else basis.gram()


AUDITED = {"orthonormal": None, **BASES}


@pytest.mark.parametrize("basis", AUDITED.values(), ids=AUDITED)
def test_audit_under_geo_privacy(basis):
    """Both sides, with the exact likelihood ratio, in the weakest direction."""
    gram = gram_of(basis)
    values, vectors = np.linalg.eigh(gram)
    one = vectors[:, 0] * 1.5 / np.sqrt(values[0])  # at distance 1.5 from zero
    two = np.zeros(len(gram))
    model = GeoPrivateCoefficients(
        epsilon=1.0, basis=basis, denoise=False, random_state=0
    ).fit(two[None])
    # In few dimensions a spherical law loses all of eps dist with some probability;
    # in many hardly ever, so that only small m is sharp.
    result = audit(
        rows_of(model), one, two, n_trials=20_000, batch=True,
        statistic=spherical_ratio(one, two, 1.0, gram), confidence=1 - 1e-8,
    )  # fmt: skip
    assert result.epsilon_lower <= 1.5
    assert result.epsilon_lower > 0.3


@pytest.mark.parametrize("size", [1, 2])
def test_audit_is_sharp_in_few_dimensions(size):
    one, two = np.zeros(size), np.full(size, 1 / np.sqrt(size))
    model = GeoPrivateCoefficients(
        epsilon=1.0, denoise=False, random_state=0
    ).fit(two[None])  # fmt: skip
    result = audit(
        rows_of(model), one, two, n_trials=200_000, batch=True,
        statistic=spherical_ratio(one, two, 1.0, np.eye(size)), confidence=1 - 1e-8,
    )  # fmt: skip
    assert 0.8 < result.epsilon_lower <= 1


# The level of the null: two functions at eps dist = 0.1 cannot be told apart better
# than their laws allow, total variation at most tanh(0.05).

N_NULL = 20_000
LEVEL = np.tanh(0.05)
_RARE = stats.norm.isf(1e-9)

DEGREES = {f"degree {n}": n for n in (1, 2, 4, 8, 16, 32)}


def separation(first, second):
    """How much better than a coin the sign of the best statistic guesses, doubled."""
    return np.mean(first > 0) - np.mean(second > 0)


def check_null(model, one, two, statistic):
    release = rows_of(model.fit(one[None]))
    outputs = [statistic(release(center, N_NULL)) for center in (one, two)]
    found = separation(*outputs)
    error = np.sqrt(2 * 0.25 / N_NULL)
    assert found <= LEVEL + _RARE * error


@pytest.mark.parametrize("budget", [{"epsilon": 2.0}, {"rho": 2.0}], ids=str)
@pytest.mark.parametrize("degree", DEGREES.values(), ids=DEGREES)
def test_close_polynomials_stay_at_the_null_level(degree, budget):
    basis = MonomialBasis(degree + 1).orthonormalize()
    assert basis == LegendreBasis(degree + 1)
    one = np.random.default_rng(degree).normal(size=degree + 1)
    step = np.zeros(degree + 1)
    step[-1] = 0.05  # eps dist = 0.1; sqrt(2 rho) dist = 0.1
    check_pair(GeoPrivateCoefficients(basis=basis, random_state=0, **budget), one, step)


@pytest.mark.parametrize("budget", [{"epsilon": 2.0}, {"rho": 2.0}], ids=str)
@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
def test_close_functions_stay_at_the_null_level(basis, budget):
    values, vectors = np.linalg.eigh(basis.gram())
    one = np.random.default_rng(0).normal(size=basis.n_basis)
    step = 0.05 * vectors[:, 0] / np.sqrt(values[0])
    check_pair(GeoPrivateCoefficients(basis=basis, random_state=0, **budget), one, step)


def check_pair(model, one, step):
    model.set_params(denoise=False)
    gram, two = model.basis.gram(), one + step
    assert step @ gram @ step == pytest.approx(0.05**2)
    statistic = gaussian_ratio(one, two, gram)
    middle = statistic(((one + two) / 2)[None])[0]
    ratios = [lambda outputs: statistic(outputs) - middle]
    if model.epsilon is not None:
        ratios = [spherical_ratio(one, two, model.epsilon, gram)]
    for ratio in ratios:
        check_null(model, one, two, ratio)


def test_naive_noise_on_powers_is_far_above_the_null_level():
    """The same test, with spherical noise on monomials of degree 8."""
    basis = MonomialBasis(9)
    values, vectors = np.linalg.eigh(basis.gram())
    one = np.zeros(9)
    two = one + 0.05 * vectors[:, 0] / np.sqrt(max(values[0], 1e-13))
    ratio = spherical_ratio(one, two, 2.0, np.eye(9))
    law, bits = SphericalLaplace(9, 0.5), SeededBits(0)
    outputs = [ratio(center + law.sample(2000, bits)) for center in (one, two)]
    assert separation(*outputs) > 0.9
