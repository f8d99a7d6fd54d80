"""From curves to coefficients in a public orthonormal basis, and back."""

from __future__ import annotations

import copy
import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._base import CurveReader
from .._validation import check_count, check_interval
from ..basis import Basis, CosineBasis, TensorBasis
from ..blocks._partitions import is_dask
from ._bounds import check_basis, public_domain, value_bounds
from ._lazy import apply_lazily, check_lazily, in_form, refuse_containers
from ._observed import (
    FEW_COLUMNS,
    Observed,
    ObservedCurves,
    ObservedSurfaces,
    check_form,
    looks_like_one_trace,
    projection_error,
)
from ._rows import as_rows, check_jobs, map_rows

_LARGEST = 1e200  # of a coefficient that is evaluated, so that no sum overflows


class BasisProjector(CurveReader, TransformerMixin, BaseEstimator):
    """Coefficients of curves in a public orthonormal basis, and curves from them.

    The first step of a pipeline in the local model. It adds no noise: its output is as
    private as the curves.

    Parameters
    ----------
    basis : Basis or TensorBasis, default=None
        *Public.* The functions; made orthonormal if they are not. None is
        `CosineBasis(n_basis, domain)`. A `TensorBasis` takes functions of several
        variables.
    n_basis : int, default=32
        *Public.* The number of cosines where `basis` is None.
    domain : tuple of two floats, default=None
        *Public.* The interval of the argument, in its units; None takes that of
        `basis`, or that which `Curves` state, or (0, 1) for curves on a grid.
    grid : array-like of shape (n_points,), "columns", or tuple of arrays, default=None
        *Public.* Where wide data are observed; None is equally spaced on the domain,
        "columns" reads the names of a frame's columns. One array per variable for a
        `TensorBasis`.
    bounds : tuple of two floats, or of two arrays of shape (n_outputs,), default=None
        *Public.* Values beyond are clipped, in `transform` and in
        `inverse_transform`. A pipeline has a stated guarantee only with bounds.
    center : float or array of shape (n_outputs,), default=None
        *Public.* Subtracted before the projection; None is 0 where the bounds contain
        it, else their middle.
    missing : {"error", "interpolate"}, default="error"
        *Public.* What to do with NaN values.
    n_jobs : int, default=None
        Threads, by joblib.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    basis_ : Basis or TensorBasis
        Public orthonormal basis.
    grid_ : ndarray of shape (n_points,), or tuple of them
        Public points where `inverse_transform` evaluates by default.
    center_ : ndarray of shape (n_outputs,)
        Public; what is subtracted.
    norm_bound_ : float
        Public bound on the norm of the coefficients; None without `bounds`.
    projection_error_ : float
        Public bound on what floats add to the distance of two curves; None without
        `bounds`.
    n_outputs_ : int
        Public number of values at each point.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Public number and names of the columns of wide data.

    Raises
    ------
    PrivacyError
        If the basis is singular in floating point.
    ValueError, TypeError
        If parameters or data are malformed; the text holds public facts only.

    Notes
    -----
    *Contribution.* c_j = <q - center, phi_j> in L2 of the domain, q the piecewise
    linear interpolant of the clipped values. Clipping moves no two values further
    apart and an orthonormal projection no two functions, so
    norm(c - c') <= norm(q - q') = dist: noise for the Euclidean norm of coefficients
    is noise for the L2 distance of curves. In strict mode the center takes the place
    of values that are not finite: dist is that of curves so cleaned.

    *Not private.* Coefficients are the input of a release, a step of the curator's: one
    person's row, by public maths alone. Strict mode has nothing to refuse here.

    *Floats.* The computed coefficients differ from these by at most half of
    `projection_error_`: sums of n products err by n u sum abs(v_i P_ij) at most, points
    rounded by e move an integral by e times the variation of what is integrated, and a
    Gram matrix off the identity by e in norm stretches distances by at most
    sqrt(1 + e). Norms that a later selection computes are covered as well. The
    guarantee of a pipeline states that error.

    A NaN coefficient is one that was not released; it counts as zero.

    References
    ----------
    .. [1] "Function privatization in the local model": coefficients of functions in a
       basis, and why noise must respect their inner products.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import BasisProjector
    >>> curves = np.cos(np.pi * np.linspace(0, 1, 101))[None, :]
    >>> projector = BasisProjector(n_basis=3).fit(curves)
    >>> projector.transform(curves).round(3) + 0.0
    array([[0.   , 0.707, 0.   ]])
    """

    def __init__(
        self,
        *,
        basis: Basis | TensorBasis | None = None,
        n_basis: int = 32,
        domain: Any = None,
        grid: Any = None,
        bounds: Any = None,
        center: Any = None,
        missing: str = "error",
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.basis = basis
        self.n_basis = n_basis
        self.domain = domain
        self.grid = grid
        self.bounds = bounds
        self.center = center
        self.missing = missing
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> BasisProjector:  # noqa: ARG002
        """Read the public form of the curves; no value is looked at.

        Parameters
        ----------
        X : array-like, frame, Curves or FDataGrid
            *Private.* Shape (n, n_points) or (n, n_points, n_outputs), irregular
            curves, or (n, n_points_1, n_points_2, ...) for a `TensorBasis`; or of dask,
            of which nothing is computed.
        y : None
            Ignored.

        Returns
        -------
        self : BasisProjector
            The fitted transformer.
        """
        vars(self).pop("projection_error_", None)
        check_jobs(self.n_jobs)
        rows, X = X, in_form(X)
        self._reading = (self.grid, self.missing)
        basis = self._orthonormal_basis(X)
        observed = self._observe(X, basis, reset=True)
        is_vector, n_points = observed.is_vector, observed.n_products
        if not is_vector and looks_like_one_trace(self, rows, n_points):
            warnings.warn(FEW_COLUMNS, UserWarning, stacklevel=2)
        values = value_bounds(
            self.bounds, (0.0, observed.volume), observed.n_outputs, self.center
        )
        self.basis_, self.grid_ = basis, observed.grid
        self.n_outputs_, self._is_vector = observed.n_outputs, is_vector
        self._values, self.center_ = values, values.center
        self._n_products = n_points
        bounded = self.bounds is not None
        error = projection_error(basis, observed, values)
        self.norm_bound_ = values.norm_bound if bounded else None
        self.projection_error_ = error if bounded else None
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Project the curves.

        Parameters
        ----------
        X : array-like, frame, Curves or FDataGrid
            *Private.* As in `fit`; of dask, values that are not finite are no error,
            but the public center.

        Returns
        -------
        ndarray of shape (n, n_functions * n_outputs)
            *Private.* The coefficients, outputs of one function beside each other; an
            array of dask for dask.
        """
        check_is_fitted(self)
        if not self._is_vector:  # refused in strict mode
            looks_like_one_trace(self, X, self._n_products)
        if not is_dask(X):
            return self._project(X)
        refuse_containers(self)
        worker = copy.copy(self)
        worker._strict, worker.verbose = True, None
        check_lazily(X, worker._project)
        return apply_lazily(worker._project, X, (self._n_features_out,))

    def _project(self, X: Any) -> np.ndarray:
        observed = self._observe(X, self.basis_, reset=False)
        check_form(observed, self.n_outputs_, self._is_vector, self._n_products)
        values = self._values

        def project(rows: slice, _: int) -> np.ndarray:
            with np.errstate(all="ignore"):
                return np.nan_to_num(observed.coefficients(rows, values))

        out = np.empty((observed.n_rows, self._n_features_out))
        return map_rows(
            project,
            out,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            chunk_rows=observed.chunk_rows,
        )

    def inverse_transform(self, X: Any, grid: Any = None) -> np.ndarray:
        """Evaluate functions from their coefficients.

        Parameters
        ----------
        X : array-like of shape (n, n_functions * n_outputs)
            The coefficients; NaN is one that was not released.
        grid : array-like of shape (n_points,), or tuple of arrays, default=None
            *Public.* Points of the domain; None is `grid_`.

        Returns
        -------
        ndarray of shape (n, n_points[, n_outputs])
            The values, within `bounds` if there are any; an array of dask for dask.
            Clipping brings no function further away from one that lies within the
            bounds.
        """
        check_is_fitted(self)
        functions, shape = self._evaluated(self.grid_ if grid is None else grid)
        shape += (self.n_outputs_,) if self._is_vector else ()
        curves = partial(self._curves, functions=functions, shape=shape)
        if not is_dask(X):
            return curves(X)
        check_lazily(X, curves)
        return apply_lazily(curves, X, shape)

    def _curves(
        self, X: Any, functions: np.ndarray, shape: tuple[int, ...]
    ) -> np.ndarray:
        coef = as_rows(X)
        if coef.shape[1] != self._n_features_out:
            raise ValueError(
                f"X has {coef.shape[1]} coefficients, but {self._n_features_out} are "
                "expected"
            )
        coef = np.clip(np.nan_to_num(coef, nan=0.0), -_LARGEST, _LARGEST)
        coef = coef.reshape(len(coef), -1, self.n_outputs_)
        with np.errstate(all="ignore"):
            curves = np.tensordot(coef, functions, axes=(1, 1)).swapaxes(1, 2)
        curves += self.center_
        if self.norm_bound_ is not None:
            np.clip(curves, self._values.low, self._values.high, out=curves)
        return curves.reshape(len(coef), *shape)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:  # noqa: ARG002
        """Return the names of the coefficients.

        Parameters
        ----------
        input_features : None
            Ignored: coefficients belong to no single point.

        Returns
        -------
        ndarray of str, shape (n_functions * n_outputs,)
            As cosine0, cosine1, ... or cosine0_0, cosine0_1, ... for several outputs.
        """
        check_is_fitted(self)
        inner = getattr(self.basis_, "basis", self.basis_)  # of an OrthonormalBasis
        name = type(inner).__name__.removesuffix("Basis").lower()
        outputs = [f"_{k}" for k in range(self.n_outputs_)] if self._is_vector else [""]
        names = [f"{name}{j}{k}" for j in range(self.basis_.n_basis) for k in outputs]
        return np.array(names, dtype=object)

    @property
    def _n_features_out(self) -> int:
        return int(self.basis_.n_basis * self.n_outputs_)

    def _orthonormal_basis(self, X: Any) -> Basis | TensorBasis:
        check_basis(self.basis)
        if self.basis is None:
            domain = public_domain(self.domain, X)
            return CosineBasis(check_count(self.n_basis, "n_basis"), domain)
        if self.domain is not None and not isinstance(self.basis, TensorBasis):
            stated = check_interval(self.domain, "domain")
            if stated != self.basis.domain:
                raise ValueError(
                    f"domain {stated} is not that of the basis, {self.basis.domain}"
                )
        return self.basis.orthonormalize()

    def _observe(self, X: Any, basis: Basis | TensorBasis, reset: bool) -> Observed:
        kind = ObservedSurfaces if isinstance(basis, TensorBasis) else ObservedCurves
        return kind.read(self, X, basis, reset)

    def _evaluated(self, grid: Any) -> tuple[np.ndarray, tuple[int, ...]]:
        """The functions on a grid, and the shape of that grid."""
        if not isinstance(self.basis_, TensorBasis):
            points = np.asarray(grid, dtype=np.float64)
            return self.basis_.evaluate(points), points.shape
        axes = [np.asarray(axis, dtype=np.float64) for axis in grid]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        return self.basis_.evaluate(points.reshape(-1, len(axes))), points.shape[:-1]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "projection_error_")
