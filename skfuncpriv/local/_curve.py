"""Geo-private curves and traces: piecewise polynomials, private before they leave."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._base import CurveReader, warn_if_noise_dominates
from ..blocks._partitions import is_dask
from ..noise import OperatingSystemBits, RandomBits, random_bits
from ._base import LocalPrivatizer
from ._bounds import public_domain, value_bounds
from ._budget import GeoBudget
from ._curve_parameters import check_curve_parameters, count_pieces
from ._lazy import in_form
from ._observed import (
    FEW_COLUMNS,
    ObservedCurves,
    check_form,
    looks_like_one_trace,
    projection_error,
)
from ._pieces import EMBEDDING_ERROR, PieceSpaces
from ._piecewise_curve import PiecewiseCurve
from ._piecewise_release import Budgets, PiecewiseRelease
from ._rows import check_jobs, map_rows
from ._traces import arc_length_curves, point_lists

_CHUNK_ROWS = 256


class GeoPrivateCurve(CurveReader, LocalPrivatizer):
    """Curves and traces of single persons, released under geo-privacy.

    Every row is the curve of another person: a day of heart rates, a bicycle tour, a
    storm. It leaves as a piecewise polynomial with noise, within public bounds, and
    says nothing of when and how often it was observed. Two curves are harder to tell
    apart the closer they are in L2; the ends are protected like the middle.

    Parameters
    ----------
    bounds : tuple of two floats, or of two arrays of shape (n_outputs,)
        *Public.* Values beyond are clipped, spikes among them. For positions, bounds of
        the area in metres: degrees are no distances, see `to_metres`.
    epsilon : float, default=None
        *Public.* Loss per unit of L2 distance, all steps together. Give either
        `epsilon` or `rho`; `epsilon_for_radius` helps to choose.
    rho : float, default=None
        *Public.* Loss per squared unit of L2 distance (concentrated geo-privacy).
    domain : tuple of two floats, default=None
        *Public.* The interval of the argument, in its units. None takes that which
        `Curves` state, or (0, 1) where there is a grid or no time.
    grid : array-like of shape (n_points,) or "columns", default=None
        *Public.* Where wide data are observed; None is equally spaced on the domain.
    degree : int, default=1
        *Public.* Degree of the pieces.
    continuity : {-1, 0, 1}, default=0
        *Public.* -1 lets pieces jump, 0 joins them, 1 joins their slopes too; less than
        `degree`.
    projection : {"before", "after"}, default="before"
        *Public.* Make curves continuous before the noise, which has fewer dimensions
        then, or after it, as published.
    pieces : int, "auto" or "svt", default="auto"
        *Public.* The number of equal pieces. "auto" takes `max_pieces`, and under GP
        releases only as many of their smoothest combinations as the budget and the
        bounds are worth, at no cost; "svt" chooses 1, 2, 4, ... pieces for each curve,
        and pays for it with a fifth of the budget.
    max_pieces : int, default=32
        *Public.* The number of pieces of "auto", and the most that "svt" may choose,
        rounded up to a power of two.
    merge : bool, default=False
        *Public.* With "svt", also pay for merging neighbouring pieces. It needs large
        budgets: see Notes.
    center : float or array of shape (n_outputs,), default=None
        *Public.* Subtracted before the projection; None is 0 where the bounds contain
        it, else their middle.
    parameter : {"time", "arc length"}, default="time"
        *Public.* "arc length" ignores times and spreads each trace over the domain by
        the length along it: for points without times.
    denoise : bool, default=True
        *Public.* Average each release over prior laws of smooth curves. It is free:
        the guarantee is the same.
    missing : {"error", "interpolate"}, default="error"
        *Public.* What to do with NaN values.
    ledger : str, default=None
        *Public.* The file of a `BudgetLedger`, charged by every release before noise is
        drawn.
    random_state : int, RandomState or None, default=None
        None draws from the operating system. Anything else makes a *seeded* release,
        which gives no privacy: for tests and teaching.
    n_jobs : int, default=None
        Threads, by joblib.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    grid_ : ndarray of shape (n_points,)
        Public points where `transform` evaluates by default.
    n_pieces_ : int
        Public number of pieces; with "svt" the largest that may be chosen.
    n_coefficients_ : int
        Public number of coefficients that are released of each output; with "svt" the
        largest.
    norm_bound_ : float
        Public bound on the L2 norm of a curve less its center.
    guarantee_ : PrivacyGuarantee
        What is promised of each curve, all steps and the float error together.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Public number and names of the columns of wide data.

    Raises
    ------
    PrivacyError
        If the guarantee cannot be kept; raised before anything is charged or drawn.
    BudgetExceededError
        If the ledger has not enough left; nothing is drawn.
    ValueError, TypeError
        If parameters or data are malformed; the text holds public facts only.

    Notes
    -----
    *Metric.* L2 over the domain between the piecewise linear curves through the clipped
    values. What was done to the data before (duplicate stamps averaged, other points
    removed, arc length; in strict mode the center for values that are not finite)
    belongs to the metric: distances are those of cleaned curves.

    *Steps.* Coefficients c of independent polynomials on the finest pieces, an
    orthonormal projection; coarser or smoother spaces are subspaces with orthonormal
    embeddings T. "svt": sparse vector over 1, 2, 4, ... pieces with the queries
    norm(c - T T' c), against the expected norm of the noise to come. "merge": one test
    for each pair, with budgets in quadrature (GP) or all of it each (CGP), as pairs are
    disjoint. Release: T'c plus spherical Laplace or Gaussian noise. The losses add;
    under GP and CGP the shares add up to the budget exactly.

    *Merging* tells k pairs apart with noise sqrt(k) / eps_m each (GP), where it saves
    about sqrt(2 m) / eps: with a fifteenth of the budget its answers are mostly noise,
    so it is off by default.

    *Bounds.* Released values are clipped to them, which may bend a smooth curve.

    *Continuity* is a subspace: projecting on it before the noise leaves fewer
    dimensions than the published projection afterwards, hence less noise.

    References
    ----------
    .. [1] "Function privatization in the local model": curves by piecewise bases.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import GeoPrivateCurve
    >>> from skfuncpriv.privacy import epsilon_for_radius
    >>> epsilon = epsilon_for_radius(20, odds=3, domain=(0, 600))
    >>> model = GeoPrivateCurve(epsilon=epsilon, bounds=(-1000, 1000), domain=(0, 600))
    >>> model.fit_transform(np.linspace(0, [300.0, 400.0], 200)[None]).shape
    (1, 200, 2)
    """

    def __init__(
        self,
        *,
        bounds: Any,
        epsilon: float | None = None,
        rho: float | None = None,
        domain: Any = None,
        grid: Any = None,
        degree: int = 1,
        continuity: int = 0,
        projection: str = "before",
        pieces: int | str = "auto",
        max_pieces: int = 32,
        merge: bool = False,
        center: Any = None,
        parameter: str = "time",
        denoise: bool = True,
        missing: str = "error",
        ledger: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.bounds = bounds
        self.epsilon = epsilon
        self.rho = rho
        self.domain = domain
        self.grid = grid
        self.degree = degree
        self.continuity = continuity
        self.projection = projection
        self.pieces = pieces
        self.max_pieces = max_pieces
        self.merge = merge
        self.center = center
        self.parameter = parameter
        self.denoise = denoise
        self.missing = missing
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> GeoPrivateCurve:  # noqa: ARG002
        """Fix pieces and noise from public facts; no value is looked at.

        Parameters
        ----------
        X : array-like, frame, Curves or list of arrays
            *Private.* Shape (n, n_points) or (n, n_points, n_outputs), or irregular
            curves; only their form is used.
        y, groups : None
            Ignored.

        Returns
        -------
        self : GeoPrivateCurve
            The fitted transformer.
        """
        self._forget()
        self._check_ledger()
        check_jobs(self.n_jobs)
        check_curve_parameters(self)
        budget = GeoBudget.from_parameters(self.epsilon, self.rho)
        seeded = random_bits(self.random_state).seeded
        rows, X = X, in_form(X)
        # Step 0: the form of the curves.
        self._parameter, self._reading = self.parameter, (self.grid, self.missing)
        domain = public_domain(self.domain, X if self.parameter == "time" else None)
        self.n_pieces_ = count_pieces(self)
        one_piece = PieceSpaces(domain, self.degree, self.continuity, 1)
        observed = self._observe(X, one_piece, reset=True)
        if not observed.is_vector and looks_like_one_trace(
            self, rows, observed.n_products
        ):
            warnings.warn(FEW_COLUMNS, UserWarning, stacklevel=2)
        values = value_bounds(self.bounds, domain, observed.n_outputs, self.center)
        self.norm_bound_, self.grid_ = values.norm_bound, observed.grid
        self._n_products = observed.n_products

        # Step 1: the spaces.
        joined = self.continuity if self.projection == "before" else -1
        spaces = PieceSpaces(domain, self.degree, joined, self.n_pieces_)
        smooth = PieceSpaces(domain, self.degree, self.continuity, self.n_pieces_)
        size = spaces.basis(spaces.all_edges).n_basis
        if self.pieces == "auto":
            size = budget.frequencies_worth(values.norm_bound, observed.n_outputs, size)
        self.n_coefficients_ = size

        # Step 2: the budgets and the noise, tried on nobody's curves: what is not
        # possible is refused here, before any charge.
        self._release = PiecewiseRelease(
            spaces,
            smooth,
            Budgets.split(budget, choose=self.pieces == "svt", merge=self.merge),
            size,
            values,
            observed.is_vector,
            self.denoise,
        )
        nobody = np.empty((0, spaces.finest.n_basis, observed.n_outputs))
        self._release.noisy(nobody, spaces.all_edges, OperatingSystemBits())
        error = projection_error(spaces.finest, observed, values, 2 * EMBEDDING_ERROR)
        expected, remedy = self._expected_square(), "budget or tighter bounds"
        warn_if_noise_dominates(expected, values.norm_bound, remedy)
        self.guarantee_ = budget.guarantee(seeded, error)
        return self

    def transform(self, X: Any, grid: Any = None, groups: Any = None) -> np.ndarray:
        """Release every curve, with fresh noise, on a public grid.

        Call it instead of `release`: each call is another release, and is charged.

        Parameters
        ----------
        X : array-like, frame, Curves or list of arrays
            *Private.* As in `fit`; of dask, all is charged at once, and released when
            it is computed.
        grid : array-like of shape (n_points,), default=None
            *Public.* Where the released curves are evaluated; None is `grid_`.
        groups : array-like of shape (n,), default=None
            *Private* labels of the person who owns each row; see `release`.

        Returns
        -------
        ndarray of shape (n, n_points[, n_outputs])
            Released; an array of dask for dask.
        """
        check_is_fitted(self)
        points = self.grid_ if grid is None else np.asarray(grid, dtype=np.float64)
        self._release.spaces.finest.evaluate(points)  # refused before any charge
        if is_dask(X):
            self._check_rows(X)
            shape = (len(points), *self._release.values.center.shape)
            shape = shape if self._release.is_vector else shape[:1]
            return self._transform_lazily(X, groups, shape, points)
        return np.stack([c.evaluate(points) for c in self.release(X, groups)])

    def release(self, X: Any, groups: Any = None) -> list[PiecewiseCurve]:
        """Release every curve, with fresh noise, as breaks and coefficients.

        Call it instead of `transform`: each call is another release, and is charged.
        What it returns may be evaluated, drawn and stored for free.

        Parameters
        ----------
        X : array-like, frame, Curves or list of arrays
            *Private.* As in `fit`.
        groups : array-like of shape (n,), default=None
            *Private* labels of the person who owns each row. The ledger is charged as
            often as the person with most rows has rows, which it then shows; None makes
            every row a person.

        Returns
        -------
        list of PiecewiseCurve
            Released.
        """
        check_is_fitted(self)
        self._check_ledger()
        if is_dask(X):
            raise TypeError(
                "release makes objects, no array: call transform for objects of dask"
            )
        self._check_rows(X)
        observed = self._read(X)
        bits = self._open_transform(X, observed.n_rows, groups)
        return self._released(observed, bits)

    def _check_rows(self, X: Any) -> None:
        if not self._release.is_vector:
            looks_like_one_trace(self, X, self._n_products)

    def _read(self, X: Any) -> ObservedCurves:
        plan = self._release
        observed = self._observe(X, plan.spaces, reset=False, values=plan.values)
        check_form(observed, plan.n_outputs, plan.is_vector, self._n_products)
        return observed

    def _transform_block(
        self, points: np.ndarray, X: Any, bits: RandomBits
    ) -> np.ndarray:
        curves = self._released(self._read(X), bits)
        return np.stack([curve.evaluate(points) for curve in curves])

    def _released(
        self, observed: ObservedCurves, bits: RandomBits
    ) -> list[PiecewiseCurve]:
        plan = self._release
        released = np.full(observed.n_rows, None)

        def release(rows: slice, index: int) -> np.ndarray:
            with np.errstate(all="ignore"):
                part = np.nan_to_num(observed.coefficients(rows, plan.values))
            return plan.curves(part, bits.spawn(index))

        map_rows(
            release,
            released,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            chunk_rows=_CHUNK_ROWS,
        )
        return list(released)

    def expected_error(self) -> float:
        """Predict the noise of a release.

        Returns
        -------
        float
            The expected squared L2 norm of the noise of a curve before denoising; with
            "svt" that of the largest number of pieces.
        """
        check_is_fitted(self)
        return self._expected_square()

    def _expected_square(self) -> float:
        size = self.n_coefficients_ * self._release.n_outputs
        return self._release.budgets.release.expected_square(size)

    def _observe(
        self, X: Any, spaces: PieceSpaces, reset: bool, values: Any = None
    ) -> ObservedCurves:
        if self._parameter == "arc length":
            points = point_lists(X, values, self._is_strict())
            X = arc_length_curves(points, domain=spaces.domain)
        return ObservedCurves.read(self, X, spaces.finest, reset)
