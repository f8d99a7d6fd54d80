"""What attacks share: the estimators, what they release, an oracle of the loss.

An attacker knows the source, the parameters and n, chooses all data but one person's,
and sees everything that a fit leaves behind.
"""

import math
from contextlib import contextmanager
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import get_tags

from skfuncpriv import iclp
from skfuncpriv.noise import (
    BlockSpherical,
    IndependentGaussian,
    IndependentLaplace,
    NoiseLaw,
    ShapedNoise,
    SphericalLaplace,
)
from tests.test_common import CENTRAL

N_COLUMNS = 12


def name_of(model):
    """The class, and the options that choose a mechanism."""
    options = [model.get_params().get(k) for k in ("mechanism", "penalty", "loss")]
    if hasattr(model, "estimator"):
        options.append(type(model.estimator).__name__)
    return "-".join([type(model).__name__, *filter(None, options)])


NAMES = [f"{k}-{name_of(model)}" for k, model in enumerate(CENTRAL)]
each_estimator = pytest.mark.parametrize("model", CENTRAL, ids=NAMES)
EPSILON = 5.0

mp = mpmath.mp.clone()
mp.dps = 50


def ready(model, **parameters):
    """A fresh, seeded copy at a budget at which noise is felt."""
    parameters = {"epsilon": EPSILON, "random_state": 3, **parameters}
    return clone(model).set_params(**parameters)


def people(n, seed=0):
    """Curves or rows of n people within the bounds, and a target."""
    rng = np.random.default_rng(seed)
    rise = 40 * np.arange(N_COLUMNS)
    return rng.uniform(-450, 450, (n, N_COLUMNS)) + rise, rng.uniform(-0.9, 0.9, n)


def allows_gaps(model):
    return get_tags(model).input_tags.allow_nan


@contextmanager
def forced(path=()):
    """Make a fit take a path: what was drawn by the fit that recorded it.

    Yields the path of this fit. A later step may look at what earlier ones released,
    so neighbours are compared step by step, with the same answers so far.
    """
    path, steps, original = list(path), [], NoiseLaw.release
    choose = iclp._radius.permute_and_flip

    def release(law, value, lattice, bits):
        drawn = original(law, value, lattice, bits)
        steps.append((law, value, lattice, drawn.copy()))
        if len(steps) <= len(path):
            return path[len(steps) - 1][3].copy()
        return drawn

    def flip(scores, *, epsilon, bits, sensitivity):
        drawn = choose(scores, epsilon=epsilon, bits=bits, sensitivity=sensitivity)
        steps.append((epsilon, scores.copy(), sensitivity, drawn.copy()))
        if len(steps) <= len(path):
            return path[len(steps) - 1][3].copy()
        return drawn

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NoiseLaw, "release", release)
        patch.setattr(iclp._radius, "permute_and_flip", flip)
        yield steps


def path_of(model, X, y, path=(), **parameters):
    """Fit along a path; what was released, and what was hidden, step by step."""
    with forced(path) as steps:
        model.fit(X, y, **parameters)
    return steps


def exact_values(value):
    """What a release hides, as exact fractions."""
    if hasattr(value, "lattice"):
        unit = Fraction(2) ** value.lattice.exponent
        return [int(k) * unit for k in value.values.ravel()]
    return [Fraction(float(x)) for x in np.ravel(value)]


def number(x):
    x = Fraction(x)
    return mp.mpf(x.numerator) / x.denominator


def norm(shift):
    return mp.sqrt(sum((number(x) ** 2 for x in shift), mp.mpf(0)))


def loss(law, shift):
    """("pure", epsilon) or ("normal", square of the move in deviations), 50 digits.

    Written from the densities; it shares no code with the laws.
    """
    if isinstance(law, IndependentLaplace):
        terms = [
            abs(number(h)) / number(b) for h, b in zip(shift, law.scales, strict=True)
        ]
        return "pure", mp.fsum(terms)
    if isinstance(law, IndependentGaussian):
        pairs = zip(shift, law.deviations, strict=True)
        return "normal", mp.fsum((number(h) / number(s)) ** 2 for h, s in pairs)
    if isinstance(law, SphericalLaplace):
        return "pure", norm(shift) / number(law.scale)
    if isinstance(law, BlockSpherical):
        ends = np.cumsum([0, *law.sizes])
        blocks = [shift[a:b] for a, b in pairwise(ends)]
        pairs = zip(blocks, law.scales, strict=True)
        return "pure", mp.fsum(norm(block) / number(s) for block, s in pairs)
    assert isinstance(law, ShapedNoise)
    matrix = mp.matrix(law.shape.tolist())
    moved = mp.lu_solve(matrix, mp.matrix([number(h) for h in shift]))
    plain = [Fraction(int(mp.floor(x * 2**300)), 2**300) for x in moved]
    return loss(law.law, plain)


def normal_delta(square, epsilon):
    """The delta at epsilon of normal noise that moves by sqrt(square) deviations."""
    if square == 0:
        return mp.mpf(0)
    move, epsilon = mp.sqrt(square), number(epsilon)
    above = mp.ncdf(move / 2 - epsilon / move)
    return above - mp.exp(epsilon) * mp.ncdf(-move / 2 - epsilon / move)


def choice_loss(scores, others, epsilon, sensitivity):
    """A bound of the loss of a choice by the largest score plus exponential noise.

    Where no score rises, or none falls, only the spread of the changes counts.
    """
    change = np.subtract(scores, others).ravel()
    spread = max(change.max(), 0.0) - min(change.min(), 0.0)
    return number(spread) * number(epsilon) / (2 * number(sensitivity))


def check_path(guarantee, path, other):
    """All steps together lose no more between two neighbours than is promised."""
    assert len(path) == len(other)
    pure, square = mp.mpf(0), mp.mpf(0)
    for (law, value, lattice, _), (law_too, value_too, lattice_too, _) in zip(
        path, other, strict=True
    ):
        if not isinstance(law, NoiseLaw):
            assert (law, lattice) == (law_too, lattice_too)
            pure += choice_loss(value, value_too, law, lattice)
            continue
        assert repr(law) == repr(law_too)
        assert lattice == lattice_too
        for hidden in (value, value_too):
            if hasattr(hidden, "bound"):
                assert all(abs(int(k)) <= hidden.bound for k in hidden.values.ravel())
        pairs = zip(exact_values(value), exact_values(value_too), strict=True)
        kind, amount = loss(law, [a - b for a, b in pairs])
        if kind == "pure":
            pure += amount
        else:
            square += amount
    epsilon = Fraction(repr(guarantee.epsilon))
    assert pure <= number(epsilon) * (1 + mp.mpf(10) ** -40)
    if square:
        left = epsilon - Fraction(int(mp.ceil(pure * 10**40)), 10**40)
        assert left > 0
        assert normal_delta(square, left) <= number(Fraction(repr(guarantee.delta)))


def finite_everywhere(model):
    """Every fitted number is finite, and noise has a positive scale."""
    for name, value in vars(model).items():
        if not name.endswith("_") or name in model.get_params(deep=False):
            continue
        array = np.asarray(value, dtype=object).ravel()
        numbers = [x for x in array if isinstance(x, float | np.floating)]
        assert all(math.isfinite(x) for x in numbers), name
    if hasattr(model, "noise_std_"):
        assert (np.asarray(model.noise_std_) > 0).all()


def public_points(model):
    """Arguments of a curve, or rows like those that were fitted."""
    line = np.linspace(-500, 500, 7)
    is_curve = hasattr(model, "domain") and hasattr(model, "predict")
    return line if is_curve else np.repeat(line[:, None], N_COLUMNS, axis=1)


def queries(model):
    """Everything that may be asked of a fitted estimator."""
    answers = {
        name: getattr(model, name)(public_points(model))
        for name in ("predict", "transform", "score_samples")
        if hasattr(model, name)
    }
    if hasattr(model, "noise_band"):
        answers["noise_band"] = np.stack(model.noise_band())
    assert answers
    return answers
