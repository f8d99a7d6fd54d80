"""Exact probabilities on a lattice so coarse that only a few values occur.

A release is round_g(v + Z): a cell of the lattice has the probability that Z lies in a
square. That of a rotation-invariant law in a polygon is a sum over its edges of
one-dimensional integrals, taken at 30 digits, independently of how draws are made.
"""

from functools import cache
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy import stats

from skfuncpriv.noise import (
    BlockSpherical,
    IndependentGaussian,
    IndependentLaplace,
    Lattice,
    SeededBits,
    ShapedNoise,
    SphericalLaplace,
)
from tests.adversarial.cases import mp, normal_delta

N_DRAWS = 60_000
P_MIN = 1e-7
_N = 28  # nodes of a quadrature
STEP = Lattice(1)  # as wide as a typical draw
REACH = range(-2, 3)
LAWS = {
    "laplace": IndependentLaplace((1.0, 1.5)),
    "gaussian": IndependentGaussian((1.0, 1.75)),
    "spherical": SphericalLaplace(2, 0.875),
    "blocks": BlockSpherical((1, 2), (1.0, 0.75)),
    "shaped": ShapedNoise(SphericalLaplace(2, 0.75), [[1.5, 0.0], [0.75, 1.0]]),
    "shaped-gaussian": ShapedNoise(
        IndependentGaussian((1.0, 1.0)), [[1.5, 0.0], [0.75, 1.0]]
    ),
}
VALUE = (0.25, -0.75, 0.5)  # off the lattice
SHIFT = (0.75, 0.5, -0.25)
each_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)


def laplace_cdf(x):
    tail = mp.exp(-abs(x)) / 2
    return tail if x < 0 else 1 - tail


RADIAL = {  # the probability of a disk
    SphericalLaplace: lambda r: 1 - mp.exp(-r) * (1 + r),
    IndependentGaussian: lambda r: 1 - mp.exp(-r * r / 2),
}


@cache
def nodes():
    """Of Gauss and Legendre, on (0, 1)."""
    x, _ = np.polynomial.legendre.leggauss(_N)
    roots = []
    for start in x:  # to 50 digits
        root = mp.findroot(lambda t: mp.legendre(_N, t), mp.mpf(float(start)))
        slope = _N * mp.legendre(_N - 1, root) / (1 - root**2)
        roots.append(((1 + root) / 2, 1 / ((1 - root**2) * slope**2)))
    assert abs(sum(weight for _, weight in roots) - 1) < mp.mpf(10) ** -30
    return roots


def sector(first, second, radial):
    """The probability of the triangle of the origin and an edge, with its sign.

    Along the edge, as a function of the angle, an integral of a smooth function.
    """
    (a, b), (c, d) = first, second
    cross = a * d - b * c
    if cross == 0:
        return mp.mpf(0)
    total = mp.mpf(0)
    length = mp.hypot(c - a, d - b)
    height = abs(cross) / length  # the distance of the line
    along = [((x * (c - a) + y * (d - b)) / length) for x, y in (first, second)]
    start, end = (mp.atan(t / height) for t in along)
    for share, weight in nodes():
        angle = start + (end - start) * share
        total += weight * radial(height / mp.cos(angle))
    return mp.sign(cross) * (end - start) * total / (2 * mp.pi)


@cache
def polygon(law, corners):
    scale = mp.mpf(law.scale) if isinstance(law, SphericalLaplace) else mp.mpf(1)
    corners = [(x / scale, y / scale) for x, y in corners]
    radial = RADIAL[type(law)]
    edges = zip(corners, [*corners[1:], corners[0]], strict=True)
    return sum((sector(*edge, radial) for edge in edges), mp.mpf(0))


def probability(law, value, cell):
    """Of a cell, for a release of a value."""
    step, half = mp.mpf(STEP.step), mp.mpf(STEP.step) / 2
    boxes = [
        (step * k - half - mp.mpf(v), step * k + half - mp.mpf(v))
        for k, v in zip(cell, value, strict=True)
    ]
    if isinstance(law, IndependentLaplace):
        pairs = zip(boxes, map(mp.mpf, law.scales), strict=True)
        return mp.fprod(laplace_cdf(b / s) - laplace_cdf(a / s) for (a, b), s in pairs)
    if isinstance(law, IndependentGaussian):
        pairs = zip(boxes, map(mp.mpf, law.deviations), strict=True)
        return mp.fprod(mp.ncdf(b / s) - mp.ncdf(a / s) for (a, b), s in pairs)
    if isinstance(law, BlockSpherical):
        (a, b), s = boxes[0], mp.mpf(law.scales[0])
        first = laplace_cdf(b / s) - laplace_cdf(a / s)
        return first * probability(law.blocks[1], value[1:], cell[1:])
    (a, b), (c, d) = boxes
    corners = ((a, c), (b, c), (b, d), (a, d))
    if isinstance(law, ShapedNoise):  # S y lies in the square where y is in its image
        (p, _), (q, r) = ((mp.mpf(float(x)) for x in row) for row in law.shape)
        solved = ((x / p, (y - q * x / p) / r) for x, y in corners)
        return polygon(law.law, tuple(solved))
    return polygon(law, corners)


@cache
def table(name, shifted):
    law = LAWS[name]
    value = np.add(VALUE, SHIFT if shifted else 0)[: law.size].tolist()
    cells = list(product(REACH, repeat=law.size))
    return cells, [probability(law, value, cell) for cell in cells]


def frequencies(law, value, cells, draw):
    values = np.tile(np.array(value[: law.size]), (N_DRAWS, 1))
    released = draw(law, values)
    index = {cell: k for k, cell in enumerate(cells)}
    counts = np.zeros(len(cells) + 1)
    found, number = np.unique(released, axis=0, return_counts=True)
    for cell, count in zip(found.tolist(), number, strict=True):
        counts[index.get(tuple(cell), -1)] += count
    return counts


def agreement(counts, probabilities):
    """The p-value of the chi-square statistic; rare cells together."""
    expected = np.array([float(p) for p in probabilities])
    expected = N_DRAWS * np.append(expected, 1 - expected.sum())
    rare = expected < 20
    expected = np.append(expected[~rare], expected[rare].sum())
    counts = np.append(counts[~rare], counts[rare].sum())
    statistic = np.square(counts - expected) / np.maximum(expected, 1e-300)
    return stats.chi2(len(expected) - 1).sf(statistic.sum())


def honest(law, values):
    return law.release(values, STEP, SeededBits(21))


def rounded_first(law, values):
    """The value is put on the lattice before noise is added."""
    return law.release(STEP.step * np.rint(values / STEP.step), STEP, SeededBits(21))


def too_narrow(law, values):
    noise = law.sample(len(values), SeededBits(21)) / 1.06
    return np.floor((values + noise) / STEP.step + 0.5).astype(int)


@pytest.mark.parametrize("name", LAWS)
def test_frequencies_are_the_exact_probabilities(name):
    """Count the few values that occur: an attacker's histogram against the law."""
    law = LAWS[name]
    cells, exact = table(name, False)
    assert 0.5 < sum(exact) < 1
    assert agreement(frequencies(law, VALUE, cells, honest), exact) > P_MIN
    for wrong in (rounded_first, too_narrow):
        assert agreement(frequencies(law, VALUE, cells, wrong), exact) < P_MIN


@pytest.mark.parametrize("name", LAWS)
def test_no_cell_tells_neighbours_apart_by_more_than_is_promised(name):
    """Bet on the best cell, or with normal noise on the best set of cells."""
    law = LAWS[name]
    one, two = (np.array(table(name, shifted)[1]) for shifted in (False, True))
    assert min(*one, *two) > 0
    loss = law.loss(SHIFT[: law.size])
    if "gaussian" in name:
        for epsilon in (0.125, 0.5, 1.0):
            bound = normal_delta(2 * mp.mpf(loss), epsilon)
            for p, q in ((one, two), (two, one)):
                excess = [
                    max(x - mp.exp(epsilon) * y, 0) for x, y in zip(p, q, strict=True)
                ]
                assert 0 < sum(excess) <= bound
        return
    worst = max(abs(mp.log(p / q)) for p, q in zip(one, two, strict=True))
    assert worst <= mp.mpf(loss)
    assert worst > 0.6 * loss  # and some cell tells much of it


def test_a_value_on_the_lattice_first_would_lose_more():
    """Move a value by a hair across half a step: rounded first it moves by a step."""
    law = IndependentLaplace((1.0,))
    values = (0.9375, 1.0625)
    honest_ratio = max(
        abs(
            mp.log(
                probability(law, (values[0],), k) / probability(law, (values[1],), k)
            )
        )
        for k in product(REACH)
    )
    rounded_ratio = max(
        abs(mp.log(probability(law, (0.0,), k) / probability(law, (2.0,), k)))
        for k in product(REACH)
    )
    assert honest_ratio <= mp.mpf(law.loss([0.125]))
    assert rounded_ratio > 10 * honest_ratio


def test_the_polygons_meet_a_double_integral():
    """The oracle itself, against quadrature in the plane."""
    law = LAWS["spherical"]
    with mpmath.workdps(15):
        inner = mpmath.quad(
            lambda x, y: mpmath.exp(-mpmath.hypot(x, y) / 0.875)
            / (2 * mpmath.pi * 0.875**2),
            [0.75, 2.75], [-0.25, 1.75],
        )  # fmt: skip
    found = probability(law, (0.25, 0.25), (1, 0.5))
    assert abs(found - inner) < 1e-12
