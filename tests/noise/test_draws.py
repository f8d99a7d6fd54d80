"""Float readings of words stay within half of their stated errors.

The logarithm, sine and cosine are made as wrong as the bounds assume them to be, four
units in the last place; the stated errors are twice what follows from that. The oracle
has 50 digits and shares no code with the package.
"""

import mpmath
import numpy as np
import pytest

from skfuncpriv.noise import SphericalLaplace
from skfuncpriv.noise import _draws as module

mp = mpmath.mp.clone()
mp.dps = 50

CORNERS = [
    *(0, 1, 2, 3, 7, 8, 15, 2**32, 2**61, 2**63 - 1, 2**63, 2**63 + 2**40, 2**53 + 1),
    *(2**64 - 8, 2**64 - 2, 2**64 - 1, 2**64 - 2**11, 2**64 - 2**30, 2**10 + 5),
]
EXTRA = [0, 2**63, 2**64 - 1]  # what the bits that are not yet drawn may say


def planted(shape, seed):
    """Random words, half of them of extreme values."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**64, shape, dtype=np.uint64)
    extreme = rng.choice(np.array(CORNERS, dtype=np.uint64), shape)
    return np.where(rng.uniform(size=shape) < 0.5, words, extreme)


def exact_exponential(word, extra):
    known = (int(word) >> 1 << 64) | extra
    return -mp.log((mp.mpf(known) + 0.5) / mp.mpf(2) ** 127)


def exact_direction(word, extra):
    known = (int(word) >> 3 << 64) | extra
    angle = (mp.mpf(known) + 0.5) / mp.mpf(2) ** 125 * mp.pi / 4
    point = [mp.cos(angle), mp.sin(angle)][:: -1 if int(word) & 1 else 1]
    return [-x if int(word) & bit else x for x, bit in zip(point, (2, 4), strict=True)]


class FourUnitsOff:
    """numpy with functions that err in a stated direction."""

    def __init__(self, log, circle):
        self.log = lambda x: self.wrong(np.log(x), log)
        self.cos = lambda x: np.minimum(self.wrong(np.cos(x), circle), 1.0)
        self.sin = lambda x: self.wrong(np.sin(x), circle)

    @staticmethod
    def wrong(value, sign):
        return np.where(value == 0, value, value + sign * 4 * np.spacing(abs(value)))

    def __getattr__(self, name):
        return getattr(np, name)


@pytest.fixture(params=[-1, 1], ids=["low", "high"])
def log_off(request, monkeypatch):
    monkeypatch.setattr(module, "np", FourUnitsOff(request.param, -request.param))


def check(value, error, exact):
    """The distance is at most half of the stated error, wherever there is one."""
    for v, e, x in zip(value, error, exact, strict=True):
        assert not e < 0
        if np.isfinite(e):
            assert 2 * abs(mp.mpf(float(v)) - x) <= mp.mpf(float(e))


@pytest.mark.parametrize("extra", EXTRA)
def test_exponential_draws(extra, log_off):
    words = planted(200, 1)
    with np.errstate(all="ignore"):
        value, error = module.exponentials(words)
    check(value, error, [exact_exponential(w, extra) for w in words])
    assert np.isinf(error[words < 2]).all()  # nothing is known of these
    usual = error[words > 2**60]
    assert (usual <= 2.0**-48 * (1 + value[words > 2**60])).all()  # yet decided


@pytest.mark.parametrize("extra", EXTRA)
@pytest.mark.parametrize("size", [1, 2, 12, 13, 40])
def test_sums_of_exponential_draws(size, extra, log_off):
    words = planted((60, size), size)
    with np.errstate(all="ignore"):
        value, error = module.exponential_sums(words)
    exact = [mp.fsum(exact_exponential(w, extra) for w in row) for row in words]
    check(value, error, exact)
    usual = (words > 2**60).all(axis=1)
    assert (error[usual] <= 2.0**-48 * (1 + size + value[usual])).all()


@pytest.mark.parametrize("extra", EXTRA)
def test_directions(extra, log_off):
    words = planted(300, 2)
    cos, sin = module.directions(words)
    exact = [exact_direction(w, extra) for w in words]
    stated = np.full(300, 2 * 8 * 2.0**-53)  # one half of this
    check(cos, stated, [x for x, _ in exact])
    check(sin, stated, [y for _, y in exact])


@pytest.mark.parametrize("extra", EXTRA)
@pytest.mark.parametrize("size", [2, 3, 4, 30])
def test_mixing_variances(size, extra, log_off):
    law = SphericalLaplace(size)
    n_sums = (size + 1) // 2
    words = planted((60, n_sums + 2 * (size % 2 == 0)), size)
    with np.errstate(all="ignore"):
        value, error = law._read_mixing(words)
    exact = []
    for row in words:
        total = mp.fsum(exact_exponential(w, extra) for w in row[:n_sums])
        if size % 2 == 0:
            cos, _ = exact_direction(row[-1], extra)
            total += exact_exponential(row[-2], extra) * cos**2
        exact.append(total)
    check(value, error, exact)
