"""How large an eigenvalue the noise of a covariance has by itself."""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

import numpy as np

from ..noise import NoiseLaw, SeededBits
from ._covariance_plan import CovariancePlan
from ._second_moment import SecondMoment

_RATE = 0.05  # of false alarms
_MOST_DRAWS, _FEWEST_DRAWS = 2000, 40  # of 40 the largest is taken
_ENTRIES = 1 << 21


class CovarianceNoise:
    """Draws of the noise of both moments, from a fixed public stream.

    Parameters
    ----------
    moment : SecondMoment
        The contributions of the release; *public*.
    law : NoiseLaw
        The law of the noise of their sum; *public*.

    Notes
    -----
    In units of the radius let C be the covariance of the residuals, d their mean,
    Z the noise of the second moment and z that of the first one. What is released is
    m = d + z and, as C + d d' + Z is the second moment, ::

        C + d d' + Z - m m'  =  C + Z - m z' - z m' + z z'.

    So given m, the noise is N(m) = Z - m z' - z m' + z z', whatever the data are.
    `edge` is the 95 % quantile of the largest eigenvalue of N(m), where m is what has
    been released and Z and z are drawn from their public laws.

    *Level*: if C has rank k, its eigenvalue number k + 1 is zero, and by Weyl's
    inequality that of C + N is at most the largest one of N. So more than k eigenvalues
    are above the edge only if that one is, and for identical curves, k = 0, any.

    The z of a release is not independent of its m: the level is exact on average over
    all means d, weighted equally, as then z has its own law given m = d + z. For single
    means it was simulated, from none to one of length 1, which nobody's exceeds: it is
    at most 5 % within the accuracy of a thousand draws. Where the noise of the mean is
    longer than 1 it is far below: m then suggests residuals that cannot be.

    The quantile is that of a simulation, and taken two standard deviations of its rank
    too high. It is a function of what was released and of public laws.
    """

    def __init__(self, moment: SecondMoment, law: NoiseLaw) -> None:
        n_draws = max(_FEWEST_DRAWS, _ENTRIES // moment.n_coordinates**2)
        n_draws = min(n_draws, _MOST_DRAWS)
        draws = law.sample(n_draws, SeededBits(0, purpose=5)) / moment.n_people
        means = moment.first(draws)
        self._std = moment.first(law.std) / moment.n_people
        # In units in which no product of two draws overflows.
        root = max(1.0, float(np.abs(means).max()), math.sqrt(np.abs(draws).max()))
        self._root = root
        self._means = means / root
        self._squares = moment.matrix(draws[:, moment.n_coordinates :] / root / root)
        self._squares += self._means[:, :, None] * self._means[:, None, :]

    def edge(self, mean: np.ndarray) -> float:
        """What the largest eigenvalue of noise exceeds in one of twenty releases.

        Parameters
        ----------
        mean : ndarray, shape (p,)
            The released mean m of the residuals, in units of the radius.

        Returns
        -------
        float
            The edge, in units of the squared radius.
        """
        cross = (mean / self._root)[:, None] * self._means[:, None, :]
        noise = self._squares - cross - np.swapaxes(cross, 1, 2)
        largest = np.sort(np.linalg.eigvalsh(noise)[:, -1])
        n_draws = len(largest)
        spare = 2 * math.sqrt(n_draws * _RATE * (1 - _RATE))
        rank = math.ceil((n_draws + 1) * (1 - _RATE) + spare)
        return float(largest[min(rank, n_draws) - 1]) * self._root * self._root

    @cached_property
    def expected_edge(self) -> float:
        """The edge of residuals whose mean is as long as its noise is expected to be.

        If people's residuals have a mean, it is further out.
        """
        return self.edge(self._std)


def noise_of(plan: CovariancePlan) -> CovarianceNoise:
    """The noise of a plan; fits with the same public facts share the draws."""
    return _noise_of(plan.moment, plan.law)


@lru_cache(maxsize=4)  # of up to 16 MB each
def _noise_of(moment: SecondMoment, law: NoiseLaw) -> CovarianceNoise:
    return CovarianceNoise(moment, law)
