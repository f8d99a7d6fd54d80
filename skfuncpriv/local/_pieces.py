"""Piecewise polynomials on dyadic pieces: spaces, and private choices between them.

Everything happens in the coefficients of the finest pieces, independent polynomials on
2^k equal parts of the domain: every coarser space is a subspace of theirs, with a
public embedding of orthonormal columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from ..basis import CosineBasis, PiecewisePolynomialBasis
from ..exceptions import PrivacyError
from ..noise import IndependentLaplace, NoiseLaw, RandomBits, release_lattice
from ..privacy import sparse_vector
from ._budget import GeoBudget
from ._rows import scaled_norms

Edges: TypeAlias = tuple[int, ...]  # numbers of the finest breaks that are kept

# Embeddings may stretch distances by so much, and miss each other's spaces by so much
# (measured: 2^-40 for degree 15); it is part of the stated error.
EMBEDDING_ERROR = 2.0**-36


@dataclass(frozen=True)
class PieceSpaces:
    """The spaces of piecewise polynomials whose breaks are among the finest ones.

    Parameters
    ----------
    domain : tuple of two floats
        *Public.* The interval of the argument.
    degree, continuity : int
        *Public.* As in `PiecewisePolynomialBasis`.
    n_finest : int
        *Public.* The number of finest pieces; a power of two to choose among halves.

    Notes
    -----
    Tables are kept by value for the whole process, so that using a space does not
    change whoever holds it.
    """

    domain: tuple[float, float]
    degree: int
    continuity: int
    n_finest: int

    @property
    @lru_cache(maxsize=64)  # noqa: B019
    def finest(self) -> PiecewisePolynomialBasis:
        """Independent polynomials on the finest pieces."""
        return self._basis(self.all_edges, -1)

    @property
    def all_edges(self) -> Edges:
        """The edges of the finest pieces."""
        return tuple(range(self.n_finest + 1))

    @property
    def uniform(self) -> list[Edges]:
        """The edges of 1, 2, 4, ... equal pieces."""
        steps = [self.n_finest >> k for k in range(self.n_finest.bit_length())]
        return [tuple(range(0, self.n_finest + 1, step)) for step in steps]

    @lru_cache(maxsize=128)  # noqa: B019 (spaces are few and small)
    def basis(self, edges: Edges) -> PiecewisePolynomialBasis:
        """The orthonormal basis of the space with these breaks."""
        return self._basis(edges, self.continuity)

    @lru_cache(maxsize=128)  # noqa: B019
    def embedding(self, edges: Edges) -> np.ndarray:
        """The coefficients of that basis in `finest`, (n_finest functions, m)."""
        return self._embed(self.basis(edges))

    @lru_cache(maxsize=128)  # noqa: B019
    def local_embedding(self, edges: Edges) -> np.ndarray:
        """The same for independent pieces, whatever the continuity."""
        return self._embed(self._basis(edges, -1))

    @lru_cache(maxsize=128)  # noqa: B019
    def smooth_first(self, edges: Edges) -> np.ndarray:
        """A rotation of the basis that begins with its smoothest functions, (m, m).

        Gram-Schmidt on the projections of cosines.
        """
        table = self.embedding(edges).T @ self._cosines
        rotation, _ = np.linalg.qr(table[:, : len(table)])
        rotation.setflags(write=False)
        return np.asarray(rotation)

    def tails(self, coefficients: np.ndarray, edges: Edges) -> np.ndarray:
        """Distances of functions (n, n_finest functions, d) to a space, shape (n,)."""
        matrix = self.embedding(edges)
        near = np.einsum("ij,njd->nid", matrix, self.within(coefficients, edges))
        return scaled_norms((coefficients - near).reshape(len(near), -1))

    def within(self, coefficients: np.ndarray, edges: Edges) -> np.ndarray:
        """Projections on a space, in its basis, shape (n, m, d)."""
        return np.einsum("ij,nid->njd", self.embedding(edges), coefficients)

    def _basis(self, edges: Edges, continuity: int) -> PiecewisePolynomialBasis:
        low, high = self.domain
        share = np.array(edges) / self.n_finest
        breaks = low * (1 - share) + high * share
        breaks[[0, -1]] = low, high
        return PiecewisePolynomialBasis(tuple(breaks.tolist()), self.degree, continuity)

    def _embed(self, basis: PiecewisePolynomialBasis) -> np.ndarray:
        """Coefficients in `finest`, by its values at as many nodes: wherever these are
        rounded to, the solution is the same.
        """
        nodes, root_weights = self._nodes
        values = basis.evaluate(nodes) * root_weights[:, None]
        try:
            matrix = np.linalg.solve(self._finest_values, values)
        except np.linalg.LinAlgError:
            matrix = np.zeros_like(values)
        stretch = np.linalg.norm(matrix.T @ matrix - np.eye(basis.n_basis), 2)
        if not stretch <= EMBEDDING_ERROR:
            raise PrivacyError(
                "the pieces are too small for their distances to be computed: use "
                "fewer pieces or a domain nearer to zero"
            )
        matrix.setflags(write=False)  # tables are shared by all of the process
        return np.asarray(matrix)

    @property
    @lru_cache(maxsize=64)  # noqa: B019
    def _nodes(self) -> tuple[np.ndarray, np.ndarray]:
        """Gauss nodes of every finest piece, and square roots of their weights."""
        nodes, weights = np.polynomial.legendre.leggauss(self.degree + 1)
        breaks = np.array(self.finest.breaks)
        half = np.diff(breaks)[:, None] / 2
        points = breaks[:-1, None] + half * (1 + nodes)
        return points.ravel(), np.sqrt(half * weights).ravel()

    @property
    @lru_cache(maxsize=64)  # noqa: B019
    def _finest_values(self) -> np.ndarray:
        """The functions of `finest` at the nodes, nearly an orthogonal matrix."""
        nodes, root_weights = self._nodes
        return np.asarray(self.finest.evaluate(nodes) * root_weights[:, None])

    @property
    @lru_cache(maxsize=64)  # noqa: B019
    def _cosines(self) -> np.ndarray:
        nodes, root_weights = self._nodes
        cosines = CosineBasis(self.finest.n_basis, self.domain).evaluate(nodes)
        return np.asarray(self._finest_values.T @ (cosines * root_weights[:, None]))


def rows_by_edges(edges: list[Edges]) -> list[tuple[Edges, list[int]]]:
    """Each choice of pieces that occurs, and whose it is; in an order of its own."""
    owners: dict[Edges, list[int]] = {}
    for row, own in enumerate(edges):
        owners.setdefault(own, []).append(row)
    return sorted(owners.items())


def choose_pieces(
    spaces: PieceSpaces,
    coefficients: np.ndarray,
    cost: GeoBudget,
    release: GeoBudget,
    bits: RandomBits,
) -> list[Edges]:
    """Choose 1, 2, 4, ... equal pieces for each function, by sparse vector.

    A function takes the first number of pieces whose space it is noisily nearer to than
    the noise of its release will carry it: distances to growing subspaces, 1-Lipschitz
    with aligned gradients. The choice costs `cost`; `release` is what the release will
    spend.
    """
    n_rows, _, n_outputs = coefficients.shape
    choices = spaces.uniform
    sizes = [spaces.basis(edges).n_basis * n_outputs for edges in choices]
    index = sparse_vector(
        lambda k, rows: spaces.tails(coefficients[rows], choices[k]),
        epsilon=cost.selection_epsilon,
        thresholds=[release.expected_norm(size) for size in sizes],
        max_queries=len(choices),
        bits=bits,
        n_rows=n_rows,
        aligned=True,
    )
    return [choices[k] for k in index]


def merge_pieces(
    spaces: PieceSpaces,
    coefficients: np.ndarray,
    edges: list[Edges],
    cost: GeoBudget,
    release: GeoBudget,
    bits: RandomBits,
) -> list[Edges]:
    """Merge neighbouring halves that are noisily one polynomial, once for each pair.

    On every pair the norm of what one polynomial misses of two is 1-Lipschitz in the
    part of the function there, and is released with noise. Pairs are disjoint: with h_i
    the change on pair i, sum eps_i norm(h_i) <= sqrt(sum eps_i^2) norm(h), so each of k
    pairs gets epsilon / sqrt(k) under GP, and sum rho norm(h_i)^2 <= rho norm(h)^2, so
    each gets all of rho under CGP. A pair is merged if that is noisily less than what
    the noise of the saved coefficients would be.
    """
    merged = list(edges)
    n_outputs = coefficients.shape[2]
    saved = (spaces.degree - spaces.basis(edges[0]).continuity) * n_outputs
    for chosen, rows in rows_by_edges(edges):
        if chosen == spaces.uniform[0]:
            continue
        misses = _pair_misses(spaces, coefficients[rows], chosen)
        size = spaces.basis(chosen).n_basis * n_outputs
        gain = release.expected_square(size) - release.expected_square(size - saved)
        n_pairs = misses.shape[1]
        law: NoiseLaw = cost.law(n_pairs)
        if not cost.is_concentrated:
            ones = np.ones(n_pairs)
            law = IndependentLaplace.scale_for(cost.amount, 1.0, ones)
        lattice = release_lattice(law.smallest_scale)
        noisy = lattice.to_float(law.release(misses, lattice, bits))
        joined = noisy <= np.sqrt(gain)
        for row, pairs in zip(rows, joined, strict=True):
            middles = {chosen[2 * i + 1] for i in np.flatnonzero(pairs)}
            merged[row] = tuple(edge for edge in chosen if edge not in middles)
    return merged


def _pair_misses(
    spaces: PieceSpaces, coefficients: np.ndarray, edges: Edges
) -> np.ndarray:
    """Norms of what one polynomial per pair of pieces misses, shape (n, pairs)."""
    fine = spaces.local_embedding(edges)
    coarse = spaces.local_embedding(edges[::2])
    halves = np.einsum("ij,nid->njd", fine, coefficients)
    step = fine.T @ coarse
    halves -= np.einsum("ij,kj,nkd->nid", step, step, halves)
    pairs = halves.reshape(len(halves), len(edges) // 2, -1)
    return scaled_norms(pairs)
