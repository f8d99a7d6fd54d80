"""Noise laws as mixtures of independent normal draws.

A spherical Laplace draw is normal given its mixing variable W ~ Gamma((m + 1) / 2),
with variance 2 * scale^2 * W in every coordinate; a Laplace draw is the case m = 1.
Gauss-Laguerre nodes replace the integral over W, so every denoiser sees every law as
a few normal laws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal
from scipy.special import eval_genlaguerre

from ..noise import (
    BlockSpherical,
    IndependentGaussian,
    IndependentLaplace,
    NoiseLaw,
    ShapedNoise,
    SphericalLaplace,
)

_N_NODES = 16


@dataclass(frozen=True)
class NormalMixture:
    """Coordinates start..stop-1 of the noise, normal given one of several nodes.

    `variances` has shape (n_nodes, stop - start), `log_weights` shape (n_nodes,).
    """

    start: int
    stop: int
    variances: np.ndarray
    log_weights: np.ndarray


@singledispatch
def normal_mixtures(law: NoiseLaw) -> list[NormalMixture]:
    """Return independent mixtures that together are the noise law."""
    raise TypeError(
        f"no denoiser knows {type(law).__name__}: release whitened coordinates"
    )


@normal_mixtures.register
def _(law: IndependentGaussian) -> list[NormalMixture]:
    variances = np.square(law.std)[None, :]
    return [NormalMixture(0, law.size, variances, np.zeros(1))]


@normal_mixtures.register
def _(law: SphericalLaplace) -> list[NormalMixture]:
    return [_spherical(0, law.size, law.scale)]


@normal_mixtures.register
def _(law: BlockSpherical) -> list[NormalMixture]:
    starts = np.concatenate([[0], np.cumsum(law.sizes)[:-1]])
    blocks = zip(starts.tolist(), law.sizes, law.scales, strict=True)
    return [_spherical(*block) for block in blocks]


@normal_mixtures.register
def _(law: IndependentLaplace) -> list[NormalMixture]:
    return [_spherical(start, 1, scale) for start, scale in enumerate(law.scales)]


@normal_mixtures.register
def _(law: ShapedNoise) -> list[NormalMixture]:
    factors = np.diag(law.shape)
    if np.count_nonzero(law.shape) > law.size:
        raise TypeError("correlated noise is denoised in whitened coordinates only")
    return [
        replace(block, variances=block.variances * factors**2)
        for block in normal_mixtures(law.law)
    ]


def _spherical(start: int, size: int, scale: float) -> NormalMixture:
    nodes, log_weights = _gamma_quadrature((size - 1) / 2)
    variances = np.repeat(2 * scale**2 * nodes[:, None], size, axis=1)
    return NormalMixture(start, start + size, variances, log_weights)


def _gamma_quadrature(alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Laguerre nodes and log weights of the law Gamma(alpha + 1).

    scipy's weights carry a factor Gamma(alpha + 1), which overflows from alpha = 171.
    """
    k = np.arange(_N_NODES)
    beside = np.sqrt(k[1:] * (k[1:] + alpha))
    nodes = eigvalsh_tridiagonal(2 * k + alpha + 1, beside)
    logarithm = np.log(nodes)
    logarithm -= 2 * np.log(np.abs(eval_genlaguerre(_N_NODES + 1, alpha, nodes)))
    logarithm -= logarithm.max()
    return nodes, logarithm - np.log(np.exp(logarithm).sum())
