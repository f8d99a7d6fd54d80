"""Functions of several variables: products of functions of one variable each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from skfuncpriv._validation import check_count
from skfuncpriv.basis._base import Basis, check_orthonormal
from skfuncpriv.basis._quadrature import FloatArray


@dataclass(frozen=True)
class TensorBasis:
    """Products of one function from each basis, the largest weight first.

    Parameters
    ----------
    bases : sequence of Basis
        The bases of the variables, public, in their order.
    n_basis : int or None, default=None
        How many products are kept, public; None keeps all.

    Attributes
    ----------
    domain : tuple of intervals
        The domain of each variable, in the user's units.
    indices : ndarray of shape (n_basis, n_variables)
        Which function of each basis a product takes.
    spectrum : ndarray of shape (n_basis,)
        Products of the spectra of the factors, decreasing, public.

    Raises
    ------
    TypeError
        If `bases` is not a sequence of bases of functions of one variable.
    ValueError
        If there is no basis, or `n_basis` is not an integer from 1 to the number of
        products.

    Notes
    -----
    Products are sorted by the product of the spectra of their factors, ties by their
    indices, the first variable first. As spectra decrease, every product of earlier
    functions, (j_1, ..., j_d) with all j_k <= i_k, comes before (i_1, ..., i_d): there
    are prod(i_k + 1) of them, itself included, so only products with
    prod(i_k + 1) <= n_basis need to be looked at, and the list of n_basis + 1 products
    begins with that of n_basis.

    Integrals over the product of the intervals are products of integrals: so are Gram
    matrices and inner products, and no Kronecker product is formed. If every factor
    orthonormalises by Gram-Schmidt, as all of this package do, the kept products of
    orthonormal functions span the kept products: each set of kept indices holds all
    that is smaller.

    Examples
    --------
    >>> from skfuncpriv.basis import CosineBasis, TensorBasis
    >>> basis = TensorBasis((CosineBasis(8), CosineBasis(8)), n_basis=4)
    >>> basis.indices.tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> basis.evaluate([[0.0, 1.0]]).round(3)
    array([[ 1.   , -1.414,  1.414, -2.   ]])
    """

    bases: Sequence[Basis]
    # None is only what a caller may pass: it becomes the number of all products.
    n_basis: int = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        rule = f"bases must be a sequence of Basis objects, got {self.bases!r}"
        if not isinstance(self.bases, Sequence):
            raise TypeError(rule)
        if not all(isinstance(basis, Basis) for basis in self.bases):
            raise TypeError(rule)
        if not self.bases:
            raise ValueError("bases must hold at least one Basis, got none")
        object.__setattr__(self, "bases", tuple(self.bases))
        available = int(np.prod([basis.n_basis for basis in self.bases], dtype=object))
        n_basis = available if self.n_basis is None else self.n_basis
        object.__setattr__(self, "n_basis", check_count(n_basis, "n_basis"))
        if self.n_basis > available:
            raise ValueError(f"n_basis must be at most {available}, got {self.n_basis}")

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def n_variables(self) -> int:
        """Number of variables, that of the bases."""
        return len(self.bases)

    @property
    def domain(self) -> tuple[tuple[float, float], ...]:
        """The interval of each variable, in the user's units."""
        return tuple(basis.domain for basis in self.bases)

    @property
    def ordered_by_frequency(self) -> bool:
        """Whether the functions of every basis are ordered by frequency."""
        return all(basis.ordered_by_frequency for basis in self.bases)

    @property
    def indices(self) -> npt.NDArray[np.intp]:
        """Which function of each basis a product takes, (n_basis, n_variables)."""
        return self._order[0].copy()

    @property
    def spectrum(self) -> FloatArray:
        """Products of the spectra, decreasing and positive, shape (n_basis,)."""
        return self._order[1] * float(
            np.prod([basis.spectrum[0] for basis in self.bases])
        )

    def evaluate(self, points: npt.ArrayLike) -> FloatArray:
        """Values of the functions.

        Parameters
        ----------
        points : array-like of shape (n_points, n_variables)
            Public points of the domain, in the user's units.

        Returns
        -------
        ndarray of shape (n_points, n_basis)
            One column per function.

        Raises
        ------
        ValueError
            If a coordinate is not a finite number of the domain of its variable.
        """
        values = np.asarray(points, dtype=float)
        if values.ndim != 2 or values.shape[1] != self.n_variables:
            raise ValueError(
                f"points must have shape (n_points, {self.n_variables}), "
                f"got {values.shape}"
            )
        product = np.ones((len(values), self.n_basis))
        for k, basis in enumerate(self.bases):
            product *= basis.evaluate(values[:, k])[:, self._order[0][:, k]]
        return product

    def gram(self) -> FloatArray:
        """Inner products of the functions over the domain.

        Returns
        -------
        ndarray of shape (n_basis, n_basis)
            Symmetric; the identity, up to rounding, if all bases are orthonormal.
        """
        product = np.ones((self.n_basis, self.n_basis))
        for k, basis in enumerate(self.bases):
            index = self._order[0][:, k]
            product *= basis.gram()[np.ix_(index, index)]
        return product

    def projection(self, grids: Sequence[npt.ArrayLike]) -> FloatArray:
        """Matrix that turns values on a grid of points into L2 inner products.

        Parameters
        ----------
        grids : sequence of n_variables array-likes
            Public, strictly increasing points of each variable, in the user's units.

        Returns
        -------
        ndarray of shape (n_points, n_basis)
            ``values.ravel() @ projection(grids)`` are the inner products of the
            functions with the multilinear interpolant of `values`, an array with one
            axis for each variable.

        Raises
        ------
        ValueError
            If the number of grids is not that of the variables, or a grid breaks the
            rules of its basis.

        Notes
        -----
        The multilinear interpolant is a sum of products of hat functions, so the
        matrix holds products of the entries of those of the variables, exact to
        rounding.
        """
        if len(grids) != self.n_variables:
            raise ValueError(
                f"grids must be one for each of {self.n_variables} variables, "
                f"got {len(grids)}"
            )
        matrix = np.ones((1, self.n_basis))
        for k, basis in enumerate(self.bases):
            factor = basis.projection(grids[k])[:, self._order[0][:, k]]
            matrix = (matrix[:, np.newaxis] * factor).reshape(-1, self.n_basis)
        return matrix

    def orthonormalize(self) -> TensorBasis:
        """An orthonormal basis of the same span.

        Returns
        -------
        TensorBasis
            The same products of the orthonormalised bases.

        Raises
        ------
        PrivacyError
            If the result is not orthonormal in floating point.
        """
        bases = tuple(basis.orthonormalize() for basis in self.bases)
        result = replace(self, bases=bases)
        check_orthonormal(result)
        return result

    def first(self, n_basis: int) -> TensorBasis:
        """The first products, as a basis of its own.

        Parameters
        ----------
        n_basis : int
            How many functions to keep, public, at most as many as there are.

        Returns
        -------
        TensorBasis
            The same functions, fewer of them.
        """
        return replace(self, n_basis=n_basis)

    @cached_property
    def _order(self) -> tuple[npt.NDArray[np.intp], FloatArray]:
        """Indices of the kept products, and their weights over that of the first."""
        # Step 0: every product that may be among the first, variable by variable.
        index = np.zeros((1, 0), dtype=np.intp)
        size = np.ones(1, dtype=np.intp)
        for basis in self.bases:
            choices = np.minimum(self.n_basis // size, basis.n_basis)
            parent = np.repeat(np.arange(len(size)), choices)
            child = np.arange(len(parent)) - np.repeat(
                np.cumsum(choices) - choices, choices
            )
            index = np.column_stack((index[parent], child))
            size = size[parent] * (child + 1)
        # Step 1: weights, multiplied from small to large so that equal factors in
        # another order tie exactly.
        weights = np.empty(index.shape)
        for k, basis in enumerate(self.bases):
            spectrum = basis.spectrum
            weights[:, k] = (spectrum / spectrum[0])[index[:, k]]
        product = np.prod(np.sort(weights, axis=1), axis=1)
        # Step 2: the candidates are in the order of their indices; a stable sort
        # leaves ties there.
        order = np.argsort(-product, kind="stable")[: self.n_basis]
        return index[order], product[order]
