"""Block-spherical Laplace noise: spherical Laplace draws on contiguous blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._validation import check_count, check_positive
from ._bits import Words
from ._draws import Measured, Refinable
from ._exact import exact_epsilon, larger_reading, smallest_safe, squared_loss
from ._lattice import FloatArray
from ._law import NoiseLaw
from ._scales import as_scales, round_up
from ._spherical import SphericalLaplace


@dataclass(frozen=True)
class BlockSpherical(NoiseLaw):
    """Independent spherical Laplace noise on contiguous blocks of coordinates.

    Parameters
    ----------
    sizes : tuple of int, length k
        The numbers of coordinates of the blocks; *public*.
    scales : tuple of float, length k
        The scale of the spherical Laplace law of each block; *public*.

    Notes
    -----
    The loss of moving the centre by h is sum_i norm(h_i) / scale_i over the blocks. On
    a ball norm(h) <= r the Cauchy-Schwarz inequality gives the supremum
    r * sqrt(sum_i 1 / scale_i^2): orthogonal blocks compose in quadrature, so budgets
    eps_i = r / scale_i with sum eps_i^2 = eps^2 keep eps. Blocks of one coordinate are
    independent Laplace noise, one block is the spherical law.

    Examples
    --------
    >>> from skfuncpriv.noise import BlockSpherical
    >>> law = BlockSpherical(sizes=(1, 2), scales=(1.0, 2.0))
    >>> law.loss([1.0, 3.0, 4.0])
    3.5
    """

    sizes: tuple[int, ...]
    scales: tuple[float, ...]

    def __post_init__(self) -> None:
        sizes = tuple(check_count(size, "sizes") for size in self.sizes)
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "scales", as_scales(self.scales, "scales"))
        if len(self.sizes) != len(self.scales):
            raise ValueError(
                "sizes and scales must have the same length, got "
                f"{len(self.sizes)} and {len(self.scales)}"
            )

    @classmethod
    def scale_for(
        cls,
        epsilon: float,
        sensitivity: float,
        sizes: Sequence[int],
        profile: ArrayLike,
    ) -> BlockSpherical:
        """Return the smallest law of a profile whose loss on a ball fits epsilon.

        Parameters
        ----------
        epsilon : float
            The budget; *public*.
        sensitivity : float
            The radius of the ball of differences between neighbours; *public*.
        sizes : sequence of int, length k
            The block sizes; *public*.
        profile : array-like of float, shape (k,)
            The scales are proportional to it; *public*.

        Returns
        -------
        BlockSpherical
            Its loss is proved in exact arithmetic to be at most epsilon.
        """
        weights = np.array(as_scales(profile, "profile"))
        budget = exact_epsilon(epsilon)
        radius = larger_reading(check_positive(sensitivity, "sensitivity"))
        factor = smallest_safe(
            float(sensitivity * np.sqrt(np.sum(weights**-2.0)) / epsilon),
            lambda f: squared_loss(radius, f * weights) <= budget**2,
        )
        return cls(tuple(sizes), tuple(factor * weights))

    @cached_property
    def blocks(self) -> tuple[SphericalLaplace, ...]:
        """The law of each block."""
        pairs = zip(self.sizes, self.scales, strict=True)
        return tuple(SphericalLaplace(size, scale) for size, scale in pairs)

    @property
    def size(self) -> int:
        """The number m of coordinates of one draw."""
        return sum(self.sizes)

    @property
    def std(self) -> FloatArray:
        """The standard deviation of each coordinate."""
        return np.concatenate([block.std for block in self.blocks])

    @property
    def smallest_scale(self) -> float:
        """The smallest scale of a block."""
        return min(self.scales)

    def loss(self, shift: ArrayLike) -> float:
        parts = np.split(np.asarray(shift, dtype=np.float64), np.cumsum(self.sizes))
        losses = (
            Fraction(block.loss(part))
            for block, part in zip(self.blocks, parts[:-1], strict=True)
        )
        return round_up(sum(losses, Fraction(0)))

    @property
    def _n_words(self) -> int:
        return sum(block._n_words for block in self.blocks)

    def _read(self, words: Words, exponent: int) -> Measured:
        ends = np.cumsum([block._n_words for block in self.blocks])[:-1]
        drawn = [
            block._read(part, exponent)
            for block, part in zip(
                self.blocks, np.split(words, ends, axis=1), strict=True
            )
        ]
        return Measured(
            np.concatenate([draw.value for draw in drawn], axis=1),
            np.concatenate([draw.error for draw in drawn], axis=1),
        )

    def _read_exactly(self, row: Refinable, column: int) -> Any:
        start = 0
        for block in self.blocks:
            if column < block.size:
                return block._read_exactly(row.part(start), column)
            column -= block.size
            start += block._n_words
        raise IndexError("column out of range")
