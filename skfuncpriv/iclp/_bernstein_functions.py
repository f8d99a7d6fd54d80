"""Public maths of a mean of Bernstein polynomials: functions, bias and noise.

Values f(v / M) on a lattice of the domain become sum_v f(v / M) psi_v, psi_v the image
of the v-th unit vector under the iterated Bernstein operator; see `BernsteinOperator`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..basis import Basis
from ..basis._bernstein_operator import BernsteinOperator, bernstein_basis
from ._selection import tail_energy

DEGREES = (1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256)
_N_FREQUENCIES = 128
_N_FINE = 512


@dataclass(frozen=True)
class BernsteinFunctions(Basis):
    """The functions psi_v of the lattice with ``n_basis`` points.

    They sum to one and reproduce straight lines, and are not orthonormal.

    Parameters
    ----------
    n_basis : int
        The degree M plus one; *public*.
    domain : tuple of two floats
        The interval of the argument; *public*.
    order : int
        The number of iterations; *public*.
    """

    n_basis: int
    domain: tuple[float, float]
    order: int

    @property
    def degree(self) -> int:
        """The degree M."""
        return self.n_basis - 1

    @property
    def lattice(self) -> np.ndarray:
        """The points of the domain at which values are taken, shape (n_basis,)."""
        return self._from_reference(np.linspace(-1.0, 1.0, self.n_basis))

    def _evaluate(self, t: np.ndarray) -> np.ndarray:
        x = np.clip((1 + self._reference(t)) / 2, 0.0, 1.0)
        images = _operator(self.degree, self.order).coefficients(np.eye(self.n_basis))
        return bernstein_basis(x, self.degree) @ images.T

    def _breaks(self) -> np.ndarray:
        return np.linspace(*self.domain, self.degree // 4 + 2)


def noise_factor(degree: int, order: int) -> float:
    """The mean square over the domain of noise of variance one at lattice points."""
    return _operator(degree, order).noise_square


@lru_cache(maxsize=128)
def sampling_factor(degree: int, order: int) -> float:
    """The largest mean square over the domain that values within [-1, 1] can have.

    At most the mean square of sum_v abs(psi_v): one for a single iteration.
    """
    table = BernsteinFunctions(degree + 1, (0.0, 1.0), order).evaluate(_fine())
    return float(np.mean(np.abs(table).sum(axis=1) ** 2))


@lru_cache(maxsize=128)
def bias_factor(degree: int, order: int) -> float:
    """The squared bias of a smooth mean, in units of the squared norm bound.

    At the worst single frequency of the ball that every mean is planned for; see
    `_selection`.
    """
    functions = BernsteinFunctions(degree + 1, (0.0, 1.0), order)
    rank = np.arange(1, _N_FREQUENCIES)
    waves = np.sqrt(2) * np.cos(np.pi * _fine()[:, None] * rank)
    seen = np.sqrt(2) * np.cos(np.pi * functions.lattice[:, None] * rank)
    gap = waves - functions.evaluate(_fine()) @ seen
    return float(np.max(tail_energy(rank) * np.mean(gap**2, axis=0)))


def _operator(degree: int, order: int) -> BernsteinOperator:
    return BernsteinOperator(degree, order, 1)


def _fine() -> np.ndarray:
    return (np.arange(_N_FINE) + 0.5) / _N_FINE
