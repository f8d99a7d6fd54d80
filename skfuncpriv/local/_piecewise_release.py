"""One release of piecewise curves: choose pieces, add noise, denoise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..denoise import spectral_average
from ..noise import RandomBits, release_lattice
from ..summaries import ValueBounds
from ._bounds import energy_of
from ._budget import SELECTION_SHARE, GeoBudget
from ._pieces import Edges, PieceSpaces, choose_pieces, merge_pieces, rows_by_edges
from ._piecewise_curve import PiecewiseCurve

_MERGE_SHARE = 1 / 3  # of what the selection costs, where pieces are merged as well


class Budgets(NamedTuple):
    """What choosing, merging and the release cost; None is a step left out."""

    choose: GeoBudget | None
    merge: GeoBudget | None
    release: GeoBudget

    @classmethod
    def split(cls, budget: GeoBudget, *, choose: bool, merge: bool) -> Budgets:
        """Shares of one budget, which add up to no more than all of it."""
        if not choose:
            return cls(None, None, budget)
        cost, rest = budget.part(SELECTION_SHARE), budget.part(1 - SELECTION_SHARE)
        if not merge:
            return cls(cost, None, rest)
        return cls(cost.part(1 - _MERGE_SHARE), cost.part(_MERGE_SHARE), rest)


@dataclass(frozen=True, eq=False)
class PiecewiseRelease:
    """The public facts of a release of piecewise curves.

    Parameters
    ----------
    spaces, smooth : PieceSpaces
        The spaces in which noise is added, and those of the curves that leave; two
        unless curves are made continuous before the noise.
    budgets : Budgets
        What each step costs.
    n_kept : int
        At most so many of the smoothest combinations of pieces are released.
    values : ValueBounds
        Bounds of the values, and the center.
    is_vector : bool
        Whether values have an axis of outputs.
    denoise : bool
        Whether releases are denoised.
    """

    spaces: PieceSpaces
    smooth: PieceSpaces
    budgets: Budgets
    n_kept: int
    values: ValueBounds
    is_vector: bool
    denoise: bool

    @property
    def n_outputs(self) -> int:
        """The number of values at each point."""
        return len(self.values.low)

    def curves(self, rows: np.ndarray, bits: RandomBits) -> np.ndarray:
        """Release curves, given by their coefficients on the finest pieces."""
        coefficients = rows.reshape(len(rows), -1, self.n_outputs)
        choose, merge, release = self.budgets
        edges = [self.spaces.all_edges] * len(rows)
        if choose is not None:
            edges = choose_pieces(self.spaces, coefficients, choose, release, bits)
        if merge is not None:
            edges = merge_pieces(self.spaces, coefficients, edges, merge, release, bits)
        bounds = (self.values.low, self.values.center, self.values.high)
        curves = np.empty(len(rows), dtype=object)
        for chosen, owners in rows_by_edges(edges):
            basis = self.smooth.basis(chosen)
            noisy = self.noisy(coefficients[owners], chosen, bits)
            for i, one in zip(owners, noisy, strict=True):
                curves[i] = PiecewiseCurve(basis, one, *bounds, self.is_vector)
        return curves

    def noisy(
        self, coefficients: np.ndarray, edges: Edges, bits: RandomBits
    ) -> np.ndarray:
        """Released coefficients in the smooth basis of the pieces, (n, m, d)."""
        rotation = self.spaces.smooth_first(edges)[:, : self.n_kept]
        exact = np.einsum(
            "ij,nid->njd", rotation, self.spaces.within(coefficients, edges)
        )
        shape = exact.shape
        law = self.budgets.release.law(shape[1] * shape[2])
        lattice = release_lattice(law.smallest_scale)
        rows = exact.reshape(len(exact), shape[1] * shape[2])
        noisy = lattice.to_float(law.release(rows, lattice, bits))
        # From here on it is public maths on the release.
        if self.denoise:
            noisy = spectral_average(
                noisy,
                law,
                energy_bound=energy_of(self.values.norm_bound),
                ranks=np.repeat(np.arange(shape[1]), shape[2]),
            )
        back = rotation
        if self.spaces.continuity != self.smooth.continuity:
            joined = self.smooth.embedding(edges).T @ self.spaces.embedding(edges)
            back = joined @ rotation
        return np.einsum("ij,njd->nid", back, noisy.reshape(shape))
