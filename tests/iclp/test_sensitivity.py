"""What one person can change, by brute force over neighbours, and what it costs.

The private sums are read where noise is added (`spine.recorded`), so these tests see
what `fit` really releases, with the law it really uses. Too little noise, too much
noise, a sensitivity that is missed and one that is not attained all fail.
"""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from skfuncpriv import Curves, ICLPMean
from skfuncpriv.basis import SmoothCosineBasis
from skfuncpriv.iclp._plan import SENSITIVITY
from skfuncpriv.noise import (
    BlockSpherical,
    IndependentGaussian,
    IndependentLaplace,
    SeededBits,
    SphericalLaplace,
)
from skfuncpriv.privacy import audit
from tests.iclp.spine import private_sum

pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)

DOMAIN = (-1.0, 3.0)
GRID = np.concatenate([np.linspace(-0.9, 1.0, 9), [1.05, 1.8, 2.9]])
MECHANISMS = {
    "spherical": {"mechanism": "spherical"},
    "laplace": {"mechanism": "laplace"},
    "kernel": {"mechanism": "laplace", "noise": "kernel"},
    "block-spherical": {"mechanism": "block-spherical"},
    "gaussian": {"mechanism": "gaussian", "delta": 1e-6},
}
EPSILONS = [0.5, 1.0, 3.0]
each_mechanism = pytest.mark.parametrize("law", MECHANISMS.values(), ids=MECHANISMS)
each_epsilon = pytest.mark.parametrize("epsilon", EPSILONS)


def difference(one, other):
    """The exact difference of two sums of neighbours."""
    return [a - b for a, b in zip(one.exact, other.exact, strict=True)]


def check_loss(noise, change, law, epsilon, *, at_least=0.0):
    """The exact loss of one pair is at most epsilon, and at least a share of it."""
    if isinstance(noise, IndependentGaussian):
        (sigma,) = {Fraction(s) for s in noise.deviations}
        square = sum(x * x for x in change) / sigma**2
        assert gaussian_delta(square, epsilon) <= law["delta"]
        if at_least:
            assert gaussian_delta(square, at_least * epsilon) > law["delta"]
        return
    loss = noise.loss([float(x) for x in change])
    assert at_least * epsilon <= loss <= epsilon


def gaussian_delta(square, epsilon):
    """The exact delta at epsilon of normal noise moved by sqrt(square) deviations."""
    mp = mpmath.mp.clone()
    mp.dps = 40
    move = mp.sqrt(mp.mpf(square.numerator) / square.denominator)
    left, right = move / 2 - epsilon / move, -move / 2 - epsilon / move
    return float(mp.ncdf(left) - mp.exp(epsilon) * mp.ncdf(right))


def log_density(noise, z):
    """Up to a constant, of noise z of shape (n, m); no code of the laws is used."""
    if isinstance(noise, IndependentLaplace):
        return -(np.abs(z) / np.array(noise.scales)).sum(axis=1)
    if isinstance(noise, IndependentGaussian):
        return -0.5 * np.square(z / np.array(noise.deviations)).sum(axis=1)
    if isinstance(noise, SphericalLaplace):
        return -np.linalg.norm(z, axis=1) / noise.scale
    blocks = np.split(z, np.cumsum(noise.sizes)[:-1], axis=1)
    norms = [np.linalg.norm(block, axis=1) for block in blocks]
    return -sum(norm / scale for norm, scale in zip(norms, noise.scales, strict=True))


# Brute force


def candidates(rng):
    """What the replaced person may hold, on the grid; values may be absurd."""
    size = len(GRID)
    people = [
        np.full(size, 1e308),
        np.full(size, -1e308),
        np.zeros(size),
        np.full(size, 5e-324),
        np.where(np.arange(size) % 2, 1e300, -1e300),
        np.where(np.arange(size) % 2, -1e300, 1e300),
        np.where(GRID < 1, 1e9, -1e9),
        np.where(GRID < 1, -1e9, 1e9),
    ]
    people += [rng.normal(0, 10.0**k, size) for k in range(-3, 4)]
    functions = SmoothCosineBasis(5, DOMAIN).evaluate(GRID)
    people += [sign * 1e6 * column for column in functions.T for sign in (1, -1)]
    return people


def rows_of(person, rng):
    return [person]


def gaps_of(person, rng):
    """Two versions of the person with missing values, one without any value."""
    some = person.copy()
    some[rng.uniform(size=len(some)) < 0.4] = np.nan
    return [some, np.full(len(person), np.nan)]


def irregular(table):
    """Curves at points of their own: those that are seen."""
    seen = ~np.isnan(table)
    times = np.concatenate([GRID[row] for row in seen])
    offsets = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
    return Curves(table[seen], times, offsets, missing="interpolate")


FORMS = {
    "grid": (rows_of, np.asarray),
    "gaps": (gaps_of, np.asarray),
    "irregular": (gaps_of, irregular),
}
COMMON = {"domain": DOMAIN, "grid": GRID, "n_basis": 5}
BOUNDS = {
    "bounds": {"bounds": (-2.0, 6.0)},
    "center": {"bounds": (-2.0, 6.0), "center": -1.0},
    "norm-bound": {"bounds": (-2.0, 6.0), "norm_bound": 3.0},
    "absolute": {"bounds": (-2.0, 6.0), "penalty": "ar", "psi": 0.02},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("bounds", BOUNDS.values(), ids=BOUNDS)
@each_mechanism
def test_no_pair_of_neighbours_loses_more_than_epsilon(law, bounds, form):
    versions, read = form
    rng = np.random.default_rng(7)
    facts = {"psi": 0.3, "denoise": False, **law, **bounds, **COMMON}
    model = ICLPMean(**facts, missing="interpolate", random_state=0)
    others = np.full((2, len(GRID)), 6.0)  # keeps sums above the AR thresholds
    sums = [
        private_sum(model, read(np.vstack([others, version])))
        for person in candidates(rng)
        for version in versions(person, rng)
    ]
    check_all_pairs(sums, model, law)


def check_all_pairs(sums, model, law):
    """Every pair of neighbours keeps epsilon = 1, and the worst one comes near it."""
    noise = sums[0].law
    assert all((released.law.std == noise.std).all() for released in sums)
    step = min(Fraction(released.value.lattice.step) for released in sums)
    exact = [[int(x / step) for x in released.exact] for released in sums]
    pairs = list(itertools.combinations(exact, 2))
    changes = [[a - b for a, b in zip(*pair, strict=True)] for pair in pairs]
    # Every exact move is within the stated sensitivity.
    largest = max(sum(x * x for x in change) for change in changes) * step**2
    assert largest <= Fraction(SENSITIVITY) ** 2
    # It is attained, up to a center that is not in the middle of the bounds.
    low, high = model.bounds
    width = float(np.linalg.norm(np.subtract(high, low)))
    width *= math.sqrt(DOMAIN[1] - DOMAIN[0])
    attained = min(2.0, width / model.norm_bound_)
    assert math.sqrt(largest) >= 0.99 * attained
    # The exact loss of the 30 pairs that lose most, by float computation.
    losses = -log_density(noise, np.array(changes, dtype=float) * float(step))
    for k in np.argsort(losses)[::-1][:30]:
        worst = [x * step for x in changes[k]]
        check_loss(noise, worst, law, 1.0)
        if law["mechanism"] == "gaussian":
            break  # delta increases with the norm: the first one is the worst
    if attained == 2 and law["mechanism"] in ("spherical", "gaussian"):
        worst = [x * step for x in changes[int(np.argmax(losses))]]
        check_loss(noise, worst, law, 1.0, at_least=0.99)


@pytest.mark.parametrize("bounds", BOUNDS.values(), ids=BOUNDS)
@each_mechanism
def test_people_with_any_number_of_rows(law, bounds):
    rng = np.random.default_rng(8)
    facts = {"psi": 0.3, "denoise": False, **law, **bounds, **COMMON}
    model = ICLPMean(**facts, missing="interpolate", random_state=0)
    others = np.full((4, len(GRID)), 6.0)
    people = candidates(rng)
    sums = []
    for n_rows in (1, 2, 7):
        for k in range(0, len(people), n_rows):
            rows = np.stack([people[(k + j) % len(people)] for j in range(n_rows)])
            if n_rows == 7:
                rows[3] = np.nan
            same = np.broadcast_to(people[k], rows.shape)
            for table in (rows, same):
                groups = ["a", "a", "a", "b", *["c"] * n_rows]
                data = np.vstack([others, table])
                sums.append(private_sum(model, data, groups))
    check_all_pairs(sums, model, law)


@pytest.mark.parametrize("n_people", [1, 2, 1000])
@each_mechanism
def test_vector_values_share_one_bound(law, n_people):
    rng = np.random.default_rng(9)
    bounds = (np.array([-2.0, -50.0]), np.array([6.0, 0.0]))
    facts = {**law, "bounds": bounds, "domain": DOMAIN, "grid": GRID, "n_basis": 3}
    model = ICLPMean(**facts, psi=0.3, denoise=False, random_state=0)
    people = candidates(rng)
    sums = []
    for one, other in itertools.product(people[:6], repeat=2):
        data = np.zeros((n_people, len(GRID), 2))
        data[-1, :, 0], data[-1, :, 1] = one, other
        sums.append(private_sum(model, data))
    check_all_pairs(sums, model, law)


# The worst pair, in the direction where the law is weakest


def worst_pair(law, epsilon, n_basis):
    """Two people whose contributions are opposite, in the worst direction of the law.

    The direction is found from the scales of the law, the curves are so long that the
    clip decides their norm, and value bounds are too wide to matter.
    """
    grid = np.linspace(*DOMAIN, 801)
    facts = {**law, "domain": DOMAIN, "grid": grid, "n_basis": n_basis}
    model = ICLPMean(
        **facts,
        bounds=(-1e9, 1e9),
        norm_bound=1.0,
        epsilon=epsilon,
        psi=1e-2 if n_basis > 2 else 1.0,
        eta=1.5 if n_basis > 2 else 30.0,
        denoise=False,
        random_state=0,
    )
    noise = private_sum(model, np.zeros((2, 801))).law
    direction = np.eye(n_basis)[0]
    if isinstance(noise, IndependentLaplace):
        direction = 1 / np.array(noise.scales)
    elif isinstance(noise, BlockSpherical):
        weights = 1 / (np.array(noise.scales) * np.sqrt(noise.sizes))
        direction = np.repeat(weights, noise.sizes)
    direction = direction / np.linalg.norm(direction)
    curve = 1e4 * (SmoothCosineBasis(n_basis, DOMAIN).evaluate(grid) @ direction)
    other = np.zeros(801)
    pair = [private_sum(model, np.stack([other, sign * curve])) for sign in (1, -1)]
    assert all(released.law == noise for released in pair)
    return noise, pair


@pytest.mark.parametrize("n_basis", [1, 2, 9])
@each_epsilon
@each_mechanism
def test_the_worst_pair_loses_epsilon(law, epsilon, n_basis):
    noise, pair = worst_pair(law, epsilon, n_basis)
    change = difference(*pair)
    check_loss(noise, change, law, epsilon, at_least=0.99)
    square = sum(x * x for x in change)
    limit = Fraction(SENSITIVITY) ** 2
    assert Fraction(99, 100) ** 2 * limit <= square <= limit


def test_a_block_law_of_several_blocks_is_among_the_worst_pairs():
    for n_basis in (2, 9):
        noise, _ = worst_pair(MECHANISMS["block-spherical"], 1.0, n_basis)
        assert isinstance(noise, BlockSpherical)
        assert len(noise.sizes) > 1


# Audits: the loss that the drawn noise really has


@pytest.mark.parametrize("n_basis", [1, 2])
@each_epsilon
@each_mechanism
def test_audit_of_the_worst_pair(law, epsilon, n_basis):
    if law["mechanism"] == "gaussian":
        law = {**law, "delta": 0.05}  # an audit sees events of at least that size only
    noise, pair = worst_pair(law, epsilon, n_basis)
    points = [np.array(list(map(float, released.exact))) for released in pair]
    bits = SeededBits(11)

    def mechanism(released, n_trials):
        value = released.value
        rows = np.tile(value.values.astype(np.int64), (n_trials, 1))
        integers = released.law.release(
            replace(value, values=rows), released.lattice, bits
        )
        return released.lattice.to_float(integers)

    def log_ratio(outputs):
        return log_density(noise, outputs - points[0]) - log_density(
            noise, outputs - points[1]
        )

    result = audit(
        mechanism,
        *pair,
        n_trials=400_000,
        statistic=log_ratio,
        batch=True,
        delta=law.get("delta", 0.0),
        confidence=1 - 1e-7,
    )
    assert 0.8 * epsilon < result.epsilon_lower <= epsilon


@pytest.mark.parametrize("epsilon", [1.0])
@pytest.mark.parametrize("factor", [math.sqrt(2), 1 / math.sqrt(2)])
@each_mechanism
def test_scales_wrong_by_root_two_are_noticed(law, epsilon, factor):
    """The checks above fail for a law whose scales are multiplied by a factor."""
    noise, pair = worst_pair(law, epsilon, 2)
    if isinstance(noise, IndependentLaplace | BlockSpherical):
        scales = tuple(factor * scale for scale in noise.scales)
        wrong = replace(noise, scales=scales)
    elif isinstance(noise, SphericalLaplace):
        wrong = replace(noise, scale=factor * noise.scale)
    else:
        wrong = IndependentGaussian(tuple(factor * s for s in noise.deviations))
    with pytest.raises(AssertionError):
        check_loss(wrong, difference(*pair), law, epsilon, at_least=0.99)
