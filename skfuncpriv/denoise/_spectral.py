"""Averaging over a few shapes of spectra, for many small releases of one law.

The prior of a signal is nothing at all, or independent normal coefficients whose
variances fall with the frequency rank r as A (1 + r)^(-2 s) or A exp(-(r/w)^2), for a
grid of sizes A, exponents s and widths w. Compared with the Markov chain of
`bayesian_average` the shapes are few, so a row costs microseconds: this is the denoiser
of the local model, where every row is the release of another person.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .._validation import check_positive
from ..noise import NoiseLaw
from ._mixture import normal_mixtures

_NOTHING = (
    0.1,
    0.75,
)  # prior probability that there is no signal, at least and at most
_RISE = 80.0  # in between, the 0.6th power of this multiple of the noise variance of a
# coefficient over the bound
_EXPONENTS = (0.5, 1.0, 1.5, 2.0)
_WIDTHS = (2.0, 4.0, 8.0, 16.0)
# From here on in units in which the smallest variance of the noise is 1.
_LOWEST = 0.1  # smallest size A
_RATIO = 4.0  # at most, between neighbouring sizes
_WIDEST = 1e12  # largest size; bounds beyond it and no bound at all are alike
_UNLIKELY = 1e-8  # mixing nodes of less relative weight are left out
_CHUNK_ROWS = 128
_FAR = 1e100  # coefficients beyond are left alone
_TINY = 1e-280  # noise variances beyond it and its inverse are out of reach of floats


def spectral_average(
    released: np.ndarray,
    law: NoiseLaw,
    *,
    energy_bound: float | None = None,
    ranks: np.ndarray | None = None,
) -> np.ndarray:
    """Return the posterior mean of the signals behind released coefficients.

    Parameters
    ----------
    released : ndarray, shape (n, m)
        Signal plus noise, one row each; already *released*, hence public.
    law : NoiseLaw
        The law of the noise, normal given one mixing variable for the whole row;
        *public*.
    energy_bound : float, default=None
        A bound on the squared norm of a signal, in squared units of the coefficients;
        *public*. None is no bound.
    ranks : array-like of int, shape (m,), default=None
        The frequency rank of each coefficient, from 0; *public*. None counts them.
        Equal ranks say that nothing is known about the order.

    Returns
    -------
    ndarray, shape (n, m)
        The denoised coefficients, row by row.

    Raises
    ------
    TypeError
        If the law is not normal given one mixing variable.

    Notes
    -----
    Given a spectrum v and the mixing node k of the noise (variance t_k), a coefficient
    of rank r is N(0, v_r + t_k), and the posterior mean of its signal is
    v_r / (v_r + t_k) times the coefficient. These factors are averaged over the
    posterior law of (v, k). A tenth of the prior mass lies on no signal, and up to
    three quarters where the noise is not small compared with the bound. Nothing is
    sampled: the result is a fixed function of the release.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.denoise import spectral_average
    >>> from skfuncpriv.noise import SphericalLaplace
    >>> noisy = np.array([[30.0, 1.0, -1.0]])
    >>> spectral_average(noisy, SphericalLaplace(3)).round(1)
    array([[29.7,  0.9, -0.8]])
    """
    rows = np.asarray(released, dtype=np.float64)
    bound = (
        None if energy_bound is None else check_positive(energy_bound, "energy_bound")
    )
    order = np.arange(law.size) if ranks is None else np.asarray(ranks)
    with np.errstate(all="ignore"):
        noise = float(np.square(law.std).min())
    if not _TINY < noise < 1 / _TINY:
        return rows.copy()
    prior = _prior(law, bound, tuple(order.tolist()))
    result = np.empty_like(rows)
    for start in range(0, len(rows), _CHUNK_ROWS):
        chunk = rows[start : start + _CHUNK_ROWS]
        result[start : start + len(chunk)] = prior.shrinkage(chunk) * chunk
    return result


class _Spectra:
    """Tables over all pairs of a prior component and a mixing node, for one law."""

    def __init__(
        self, law: NoiseLaw, bound: float | None, ranks: tuple[int, ...]
    ) -> None:
        blocks = normal_mixtures(law)
        if len(blocks) != 1:
            raise TypeError(
                f"{type(law).__name__} has several mixing variables: use "
                "bayesian_average"
            )
        self._deviation = float(law.std.min())
        noise = self._deviation**2
        signal = _spectra(None if bound is None else bound / noise, np.array(ranks))
        relative = 0.0 if bound is None else noise / bound
        nothing = np.clip((_RISE * relative) ** 0.6, *_NOTHING)
        log_prior = np.full(len(signal), np.log((1 - nothing) / (len(signal) - 1)))
        log_prior[0] = np.log(nothing)
        log_weights = blocks[0].log_weights
        likely = log_weights > log_weights.max() + np.log(_UNLIKELY)
        total = signal[:, None, :] + blocks[0].variances[None, likely, :] / noise
        log_density = -0.5 * np.log(total).sum(axis=2)
        log_density += log_prior[:, None] + log_weights[None, likely]
        self._constant = log_density.ravel()
        self._precision = np.ascontiguousarray((0.5 / total).reshape(-1, law.size).T)
        self._factors = (signal[:, None, :] / total).reshape(-1, law.size)

    def shrinkage(self, rows: np.ndarray) -> np.ndarray:
        """The posterior mean factor of every coefficient, shape of `rows`."""
        with np.errstate(all="ignore"):
            near = np.clip(rows / self._deviation, -_FAR, _FAR)
            posterior = np.square(near) @ self._precision
            np.subtract(self._constant, posterior, out=posterior)
            posterior -= posterior.max(axis=1, keepdims=True)
            np.exp(posterior, out=posterior)
            factors = posterior @ self._factors
            factors /= posterior.sum(axis=1, keepdims=True)
            return factors


@lru_cache(maxsize=16)
def _prior(law: NoiseLaw, bound: float | None, ranks: tuple[int, ...]) -> _Spectra:
    return _Spectra(law, bound, ranks)


def _spectra(bound: float | None, ranks: np.ndarray) -> np.ndarray:
    """Variances of every component, zero first, shape (n_components, m)."""
    largest = _WIDEST if bound is None else np.clip(bound, _TINY, _WIDEST)
    lowest = min(_LOWEST, largest)  # never a signal that the bound excludes
    count = int(np.ceil(np.log(largest / lowest) / np.log(_RATIO))) + 1
    sizes = np.geomspace(lowest, largest, count)
    power = (1.0 + ranks) ** (-2 * np.array(_EXPONENTS)[:, None])
    bell = np.exp(-np.square(ranks / np.array(_WIDTHS)[:, None]))
    decay = np.concatenate([power, bell]) if ranks.any() else power[:1]
    spectra = (sizes[:, None, None] * decay[None, :, :]).reshape(-1, len(ranks))
    return np.concatenate([np.zeros((1, len(ranks))), spectra])
