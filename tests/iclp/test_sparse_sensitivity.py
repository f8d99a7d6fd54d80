"""What one person can change in a mean of sparse curves, by brute force and audit.

The exact private sums are read where noise is added; see `test_sensitivity.py`, whose
independent densities and exact losses are used here.
"""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from skfuncpriv import Curves, PrivateSparseMean
from skfuncpriv.noise import BlockSpherical, IndependentLaplace, SeededBits
from skfuncpriv.privacy import audit
from tests.iclp.spine import private_sum
from tests.iclp.test_sensitivity import check_loss, difference, log_density

pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)

DOMAIN = (-1.0, 3.0)
GRID = np.concatenate([np.linspace(-1.0, 1.0, 9), [1.05, 1.8, 3.0]])
MECHANISMS = {
    "spherical": {"mechanism": "spherical"},
    "laplace": {"mechanism": "laplace"},
    "block-spherical": {"mechanism": "block-spherical"},
    "gaussian": {"mechanism": "gaussian", "delta": 1e-6},
}
each_mechanism = pytest.mark.parametrize("law", MECHANISMS.values(), ids=MECHANISMS)
RULES = {
    "all joined": {},
    "gaps": {"max_gap": 0.5, "reach": 0.0},
    "reach": {"max_gap": 0.3, "reach": 0.4},
    "center": {"center": -1.0},
}


def model_of(law, **options):
    facts = {"bounds": (-2.0, 6.0), "domain": DOMAIN, "grid": GRID, "n_basis": 5}
    return PrivateSparseMean(**{**facts, **law, **options}, random_state=0)


def people():
    """What one person may hold on the grid: extreme values, extreme supports."""
    rng, size = np.random.default_rng(7), len(GRID)
    rows = [np.full(size, np.nan), np.zeros(size), np.full(size, 5e-324)]
    rows += [np.full(size, sign * 1e308) for sign in (1, -1)]
    half = np.arange(size) < size // 2
    for sign in (1, -1):
        for seen in (half, ~half, np.arange(size) == 5, np.arange(size) % 3 > 0):
            rows.append(np.where(seen, sign * 1e6, np.nan))
        rows.append(np.where(half, sign * 1e6, -sign * 1e6))
    rows += [rng.normal(0, 10.0**k, size) for k in range(3)]
    for row in rows[-3:]:
        row[rng.uniform(size=size) < 0.4] = np.nan
    return rows


def wide(rows):
    return np.array(rows)


def irregular(rows):
    """The same observations as curves of their own; one NaN stands for none."""
    table = np.array(rows)
    seen = ~np.isnan(table)
    offsets = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
    times = np.concatenate([GRID[row] for row in seen])
    return Curves(table[seen], times, offsets, missing="interpolate")


def check_pairs(sums, law, *, attained=0.99):
    """No pair loses more than epsilon = 1 or moves by more than two radii."""
    noise = sums[0].law
    assert all(released.law == noise for released in sums)
    step = min(Fraction(released.value.lattice.step) for released in sums)
    exact = [[int(x / step) for x in released.exact] for released in sums]
    pairs = itertools.combinations(exact, 2)
    changes = [[a - b for a, b in zip(*pair, strict=True)] for pair in pairs]
    largest = max(sum(x * x for x in change) for change in changes) * step**2
    assert (2 * attained) ** 2 <= largest <= 4
    losses = -log_density(noise, np.array(changes, dtype=float) * float(step))
    for k in np.argsort(losses)[::-1][:5]:
        check_loss(noise, [x * step for x in changes[k]], law, 1.0)


FORMS = [(law, wide) for law in MECHANISMS] + [("block-spherical", irregular)]


@pytest.mark.parametrize(("law", "form"), FORMS)
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_no_pair_of_neighbours_loses_more_than_epsilon(law, rule, form):
    law = MECHANISMS[law]
    model = model_of(law, **rule)
    others = [np.full(len(GRID), 6.0), np.full(len(GRID), np.nan)]
    sums = [private_sum(model, form([*others, person])) for person in people()]
    attained = 0.99
    if "center" in rule:  # the farther bound against nobody, at a right angle
        attained = 0.99 / math.sqrt(2)
    elif rule:  # cells of the grid that are too wide are never seen
        widths = np.diff(GRID)
        seen = np.where(widths <= rule["max_gap"], widths, 2 * rule["reach"])
        attained = 0.95 * math.sqrt(np.minimum(seen, widths).sum() / 4.0)
    check_pairs(sums, law, attained=attained)


@pytest.mark.parametrize("n_people", [1, 2, 3])
def test_few_people(n_people):
    law = MECHANISMS["spherical"]
    others = [np.full(len(GRID), np.nan), np.full(len(GRID), 6.0)][: n_people - 1]
    model = model_of(law)
    sums = [private_sum(model, wide([*others, person])) for person in people()]
    check_pairs(sums, law)


@each_mechanism
def test_a_person_with_any_number_of_rows_moves_as_much_as_one(law):
    rows, model, sums = people(), model_of(law), []
    others = [np.full(len(GRID), 6.0)] * 2
    for n_rows in (1, 2, 7):
        for k in (0, 3, 4, *range(5, len(rows), 4)):
            own = [rows[(k + j) % len(rows)] for j in range(n_rows)]
            for table in (own, [rows[k]] * n_rows):
                groups = ["a", "b", *["c"] * n_rows]
                sums.append(private_sum(model, wide([*others, *table]), groups))
    check_pairs(sums, law)


def test_outputs_share_one_bound():
    law = MECHANISMS["spherical"]
    bounds = (np.array([-2.0, -50.0]), np.array([6.0, 0.0]))
    model, sums = model_of(law, bounds=bounds), []
    for one, other in itertools.product(people()[:7], repeat=2):
        table = np.zeros((2, len(GRID), 2))
        table[-1, :, 0], table[-1, :, 1] = one, other
        sums.append(private_sum(model, table))
    check_pairs(sums, law)


def test_contributions_lie_in_the_unit_ball_before_any_clip():
    """The mask is free: a curve on its bounds with any support has norm one at most."""
    for person in people():
        released = private_sum(model_of({}, n_basis=60), wide([person]))
        assert float(sum(x * x for x in released.exact)) <= 1.0
        everywhere = np.isnan(person).all() or (np.abs(person) == 1e308).all()
        if everywhere:  # nobody at all, or all on a bound: exactly on the sphere
            assert float(sum(x * x for x in released.exact)) > 1 - 1e-9


# The worst pair: all on the upper bound against all on the lower


def worst_pair(law, epsilon, n_basis=1):
    rows = [np.full(len(GRID), sign * 1e9) for sign in (1, -1)]
    if law["mechanism"] == "block-spherical":  # coverage has a budget of its own
        rows[1][GRID > 2.3] = np.nan
    other = np.full(len(GRID), np.nan)
    model = model_of(law, epsilon=epsilon, n_basis=n_basis)
    pair = [private_sum(model, wide([other, row])) for row in rows]
    assert pair[0].law == pair[1].law
    return pair[0].law, pair


# Blocks and Laplace noise are calibrated to the ball; no two curves differ in the
# directions in which they are weakest.
SHARE = {"spherical": 0.99, "gaussian": 0.99, "laplace": 0.7, "block-spherical": 0.75}


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@each_mechanism
def test_the_worst_pair_loses_epsilon(law, epsilon):
    noise, pair = worst_pair(law, epsilon)
    share = SHARE[law["mechanism"]]
    check_loss(noise, difference(*pair), law, epsilon, at_least=share)


def worst_change(noise):
    """The difference of length two that a law hides least."""
    direction = np.eye(noise.size)[0]
    if isinstance(noise, IndependentLaplace):
        direction = np.ones(noise.size)
    if isinstance(noise, BlockSpherical):
        weights = 1 / (np.array(noise.scales) * np.sqrt(noise.sizes))
        direction = np.repeat(weights, noise.sizes)
    change = 2 * direction / np.linalg.norm(direction) * (1 - 1e-9)
    return [Fraction(float(x)) for x in change]


@pytest.mark.parametrize("n_basis", [1, 6])
@each_mechanism
def test_laws_are_calibrated_to_the_ball_and_no_wider(law, n_basis):
    noise, _ = worst_pair(law, 1.0, n_basis)
    check_loss(noise, worst_change(noise), law, 1.0, at_least=0.99)


@each_mechanism
def test_audit_of_the_worst_pair(law):
    if law["mechanism"] == "gaussian":
        law = {**law, "delta": 0.05}  # an audit sees events of at least that size only
    noise, pair = worst_pair(law, 1.0)
    points = [np.array(list(map(float, released.exact))) for released in pair]
    bits = SeededBits(11)

    def mechanism(released, n_trials):
        rows = np.tile(released.value.values.astype(np.int64), (n_trials, 1))
        value = replace(released.value, values=rows)
        integers = released.law.release(value, released.lattice, bits)
        return released.lattice.to_float(integers)

    def log_ratio(outputs):
        one, other = (log_density(noise, outputs - point) for point in points)
        return one - other

    result = audit(
        mechanism,
        *pair,
        n_trials=200_000,
        statistic=log_ratio,
        batch=True,
        delta=law.get("delta", 0.0),
        confidence=1 - 1e-7,
    )
    share = {"laplace": 0.6, "block-spherical": 0.6}.get(law["mechanism"], 0.8)
    assert share < result.epsilon_lower <= 1.0


@pytest.mark.parametrize("factor", [math.sqrt(2), 1 / math.sqrt(2)])
@each_mechanism
def test_scales_wrong_by_root_two_are_noticed(law, factor):
    noise, pair = worst_pair(law, 1.0)
    if law["mechanism"] == "spherical":
        wrong = {"scale": factor * noise.scale}
    else:
        field = "deviations" if law["mechanism"] == "gaussian" else "scales"
        wrong = {field: tuple(factor * scale for scale in getattr(noise, field))}
    noise, change = replace(noise, **wrong), worst_change(noise)
    with pytest.raises(AssertionError):
        check_loss(noise, change, law, 1.0, at_least=0.99)
    if law["mechanism"] != "laplace":  # it is never asked for more than 0.71 epsilon
        with pytest.raises(AssertionError):
            check_loss(noise, difference(*pair), law, 1.0, at_least=0.75)


@pytest.mark.parametrize("form", [wide, irregular])
def test_the_sum_depends_on_nobody_else(form):
    """A person's part is the same to the last bit, whoever comes before or after."""
    rows, model = people(), model_of({}, n_basis=12)

    def exact(chosen):
        return np.array(private_sum(model, form(chosen)).exact)

    def parts(order):
        nobody = [np.full(len(GRID), np.nan)] * (len(rows) - 1)
        return sum(exact([rows[k], *nobody]) - exact([rows[0], *nobody]) for k in order)

    order = np.random.default_rng(0).permutation(len(rows))
    everybody = exact(rows)
    assert (everybody == exact([rows[k] for k in order])).all()
    alone = exact([rows[0]] * len(rows)) + parts(order)
    assert (everybody == alone).all()
