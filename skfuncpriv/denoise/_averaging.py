"""Bayesian model averaging of released coefficients.

The noise law of a release is known exactly, so its coefficients can be averaged over
prior laws of the signal. That is post-processing of the release: it costs no privacy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, softmax

from .._validation import check_positive
from ..noise import NoiseLaw
from ._mixture import normal_mixtures

_CHUNK_ROWS = 1024
_DECAYS = (0.0, 0.5, 1.0, 2.0)
_ENERGIES = np.geomspace(0.02, 0.5, 4)
_NOTHING, _FULL, _CUT = 0.5, 0.35, 0.15


@dataclass(frozen=True, eq=False)
class SpectrumPrior:
    """A mixture of centred normal laws of the coefficients of a signal.

    Parameters
    ----------
    variances : ndarray, shape (n_laws, m)
        The prior variance of each coefficient under each law; *public*.
    weights : ndarray, shape (n_laws,)
        The prior probability of each law, summing to one; *public*.

    Examples
    --------
    >>> from skfuncpriv.denoise import SpectrumPrior
    >>> SpectrumPrior.power_laws(n_coefficients=5, energy_bound=4.0).weights[0]
    np.float64(0.5)
    """

    variances: np.ndarray
    weights: np.ndarray

    @classmethod
    def power_laws(
        cls, n_coefficients: int, energy_bound: float, order: np.ndarray | None = None
    ) -> SpectrumPrior:
        """Return the default prior: nothing at all, or a decaying spectrum.

        Parameters
        ----------
        n_coefficients : int
            The number m of coefficients; *public*.
        energy_bound : float
            A bound on the squared norm of the signal, in squared units of the
            coefficients; *public*.
        order : ndarray of int, shape (m,), optional
            The frequency rank of each coefficient, 0 first; *public*. By default
            0, ..., m - 1.

        Returns
        -------
        SpectrumPrior
            Half of the mass says that the signal is zero, which keeps the risk of the
            average close to that of releasing nothing where nothing can be seen. The
            rest spreads an energy between 0.02 and 0.5 of the bound over spectra
            (1 + j)^(-2 s), s in {0, 0.5, 1, 2}; some of them end at a power of two.
        """
        check_positive(energy_bound, "energy_bound")
        rank = np.arange(n_coefficients) if order is None else np.asarray(order)
        n_ranks = int(rank.max()) + 1
        cuts = [2**k for k in range(1, n_ranks.bit_length()) if 2**k < n_ranks]
        spectra, weights = [np.zeros(n_coefficients)], [_NOTHING]
        full = _FULL if cuts else _FULL + _CUT
        for cut, mass in [(n_ranks, full), *((c, _CUT / len(cuts)) for c in cuts)]:
            share = mass / (len(_DECAYS) * len(_ENERGIES))
            for decay in _DECAYS:
                shape = (1.0 + rank) ** (-2 * decay) * (rank < cut)
                for energy in _ENERGIES * energy_bound:
                    spectra.append(energy * shape / shape.sum())
                    weights.append(share)
        return cls(np.array(spectra), np.array(weights))


def bayesian_average(
    released: np.ndarray, law: NoiseLaw, prior: SpectrumPrior
) -> np.ndarray:
    """Return the posterior mean of the signals behind released coefficients.

    Parameters
    ----------
    released : ndarray, shape (n, m)
        Signal plus noise, one row each; already *released*, hence public.
    law : NoiseLaw
        The law of the noise; *public*.
    prior : SpectrumPrior
        The law of the signal; *public*.

    Returns
    -------
    ndarray, shape (n, m)
        The denoised coefficients, row by row.

    Raises
    ------
    TypeError
        If the law is not a mixture of independent normal laws.

    Notes
    -----
    Given a prior law with variances v and the mixing node w of a block of noise with
    variance s_w, coefficients are N(0, v + s_w), and the posterior mean is
    v / (v + s_w) times the coefficient. Blocks share the prior law but not the node,
    so the evidence of a prior law is the product over blocks of its mean over nodes.
    Every weight is computed, none is sampled: the result is a fixed function of what
    was released.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.denoise import SpectrumPrior, bayesian_average
    >>> from skfuncpriv.noise import SphericalLaplace
    >>> prior = SpectrumPrior.power_laws(3, energy_bound=100.0)
    >>> bayesian_average(np.array([[8.0, 0.1, -0.1]]), SphericalLaplace(3), prior).shape
    (1, 3)
    """
    rows = np.asarray(released, dtype=np.float64)
    mixtures = normal_mixtures(law)
    tables = [_Table(mixture, prior) for mixture in mixtures]
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior.weights)
    result = np.empty_like(rows)
    for start in range(0, len(rows), _CHUNK_ROWS):
        chunk = rows[start : start + _CHUNK_ROWS]
        joint = [table.log_joint(chunk) for table in tables]
        evidence = [logsumexp(block, axis=2) for block in joint]
        posterior = softmax(log_prior + sum(evidence), axis=1)
        for table, block, total in zip(tables, joint, evidence, strict=True):
            weight = posterior[:, :, None] * np.exp(block - total[:, :, None])
            shrink = weight.reshape(len(chunk), -1) @ table.shrinkage
            columns = slice(table.start, table.stop)
            result[start : start + len(chunk), columns] = shrink * chunk[:, columns]
    return result


class _Table:
    """What one block of noise needs, for every prior law and every node."""

    def __init__(self, mixture, prior: SpectrumPrior) -> None:
        self.start, self.stop = mixture.start, mixture.stop
        signal = prior.variances[:, None, self.start : self.stop]
        total = signal + mixture.variances[None]
        self.shape = total.shape[:2]
        self.shrinkage = (signal / total).reshape(-1, self.stop - self.start)
        self._precision = (0.5 / total).reshape(-1, self.stop - self.start).T
        self._constant = mixture.log_weights - 0.5 * np.log(total).sum(axis=2)

    def log_joint(self, rows: np.ndarray) -> np.ndarray:
        """The log weight of each node times the density of the rows given it."""
        square = np.square(rows[:, self.start : self.stop])
        distance = (square @ self._precision).reshape(len(rows), *self.shape)
        return self._constant - distance
