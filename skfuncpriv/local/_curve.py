"""Geo-private curves and traces: piecewise polynomials, private before they leave."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._base import PrivateEstimator
from .._validation import check_count
from ..denoise import spectral_average
from ..noise import RandomBits, random_bits, release_lattice
from ._bounds import public_domain, value_bounds, warn_if_noise_dominates
from ._budget import SELECTION_SHARE, GeoBudget
from ._coefficients import frequencies_worth_their_noise
from ._observed import ObservedCurves, projection_error
from ._pieces import EMBEDDING_ERROR, Edges, PieceSpaces, choose_pieces, merge_pieces
from ._piecewise_curve import PiecewiseCurve
from ._rows import largest_share, map_rows
from ._traces import arc_length_curves, point_lists

_MERGE_SHARE = 1 / 3  # of what the selection costs, where pieces are merged as well
_CHUNK_ROWS = 256


class GeoPrivateCurve(TransformerMixin, PrivateEstimator):
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
    removed, arc length) belongs to the metric: distances are those of cleaned curves.

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
    >>> angle = np.linspace(0, 2 * np.pi, 200)
    >>> walk = np.stack([300 * np.cos(angle), 300 * np.sin(angle)], axis=-1)[None]
    >>> model = GeoPrivateCurve(epsilon=0.1, bounds=(-1000, 1000), domain=(0, 600))
    >>> model.fit_transform(walk).shape
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

    def fit(self, X: Any, y: Any = None) -> GeoPrivateCurve:  # noqa: ARG002
        """Fix pieces and noise from public facts; no value is looked at.

        Parameters
        ----------
        X : array-like, frame, Curves or list of arrays
            *Private.* Shape (n, n_points) or (n, n_points, n_outputs), or irregular
            curves; only their form is used.
        y : None
            Ignored.

        Returns
        -------
        self : GeoPrivateCurve
            The fitted transformer.
        """
        vars(self).pop("guarantee_", None)
        self._check_parameters()
        budget = GeoBudget.from_parameters(self.epsilon, self.rho)
        seeded = random_bits(self.random_state).seeded
        domain = public_domain(self.domain, X if self.parameter == "time" else None)
        self.n_pieces_ = self._count_pieces()
        form = PieceSpaces(domain, self.degree, self.continuity, 1)
        observed = self._observe(X, form, reset=True)
        values = value_bounds(self.bounds, domain, observed.n_outputs, self.center)
        self.norm_bound_, self.grid_ = values.norm_bound, observed.grid
        joined = self.continuity if self.projection == "before" else -1
        self._spaces = PieceSpaces(domain, self.degree, joined, self.n_pieces_)
        self._smooth = PieceSpaces(domain, self.degree, self.continuity, self.n_pieces_)
        for spaces in (self._spaces, self._smooth):
            spaces.embedding(spaces.all_edges)  # refused here if at all
        self._values, self._form = values, (observed.n_outputs, observed.is_vector)
        self.n_coefficients_ = self._count_coefficients(budget, observed.n_outputs)
        self._budgets = self._split(budget)
        error = projection_error(
            self._spaces.finest, observed, values, 2 * EMBEDDING_ERROR
        )
        self.guarantee_ = budget.guarantee(seeded, error)
        warn_if_noise_dominates(self.expected_error(), self.norm_bound_)
        return self

    def transform(self, X: Any, grid: Any = None, groups: Any = None) -> np.ndarray:
        """Release every curve, with fresh noise, on a public grid.

        Parameters
        ----------
        X : array-like, frame, Curves or list of arrays
            *Private.* As in `fit`.
        grid : array-like of shape (n_points,), default=None
            *Public.* Where the released curves are evaluated; None is `grid_`.
        groups : array-like of shape (n,), default=None
            *Private* labels of the person who owns each row; see `release`.

        Returns
        -------
        ndarray of shape (n, n_points[, n_outputs])
            Released.
        """
        check_is_fitted(self)
        points = self.grid_ if grid is None else np.asarray(grid, dtype=np.float64)
        self._spaces.finest.evaluate(points)  # refuses them before any charge
        return np.stack([c.evaluate(points) for c in self.release(X, groups)])

    def release(self, X: Any, groups: Any = None) -> list[PiecewiseCurve]:
        """Release every curve, with fresh noise, as breaks and coefficients.

        Parameters
        ----------
        X : array-like, frame, Curves or list of arrays
            *Private.* As in `fit`.
        groups : array-like of shape (n,), default=None
            *Private* labels of the person who owns each row. The ledger is charged as
            often as the person with most rows has rows; None makes every row a person.

        Returns
        -------
        list of PiecewiseCurve
            Released.
        """
        check_is_fitted(self)
        observed = self._observe(X, self._spaces, reset=False, values=self._values)
        if (observed.n_outputs, observed.is_vector) != self._form:
            raise ValueError("the curves have another number of outputs than in fit")
        bits = self._open_transform(largest_share(groups, observed.n_rows, X))
        released = np.empty(observed.n_rows, dtype=object)

        def release(rows: slice, index: int) -> np.ndarray:
            with np.errstate(all="ignore"):
                flat = observed.coefficients(rows, self._values)
            return self._release(flat, bits.spawn(index))

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
        return self._budgets[-1].expected_square(self.n_coefficients_ * self._form[0])

    def _check_parameters(self) -> None:
        choices = {
            "projection": ("before", "after"),
            "parameter": ("time", "arc length"),
            "denoise": (True, False),
            "merge": (True, False),
        }
        for name, allowed in choices.items():
            value = getattr(self, name)
            if value not in allowed or isinstance(value, int) != (allowed[0] is True):
                raise ValueError(f"{name} must be one of {allowed}, got {value!r}")
        if self.merge and self.pieces != "svt":
            raise ValueError("merge=True needs pieces='svt', a choice it can refine")

    def _observe(
        self, X: Any, spaces: PieceSpaces, reset: bool, values: Any = None
    ) -> ObservedCurves:
        if self.parameter == "arc length":
            X = arc_length_curves(point_lists(X, values), domain=spaces.domain)
        return ObservedCurves.read(self, X, spaces.finest, reset)

    def _count_pieces(self) -> int:
        largest = check_count(self.max_pieces, "max_pieces")
        if self.pieces == "svt":
            return 1 << (largest - 1).bit_length()
        if self.pieces == "auto":
            return largest
        return check_count(self.pieces, "pieces")

    def _count_coefficients(self, budget: GeoBudget, n_outputs: int) -> int:
        """How many coefficients of each output are released."""
        size = self._spaces.basis(self._spaces.all_edges).n_basis
        if self.pieces != "auto" or budget.is_concentrated:
            return size
        worth = frequencies_worth_their_noise(budget, self.norm_bound_, n_outputs)
        return int(np.clip(np.rint(worth), 1, size))

    def _split(self, budget: GeoBudget) -> tuple[GeoBudget | None, ...]:
        """The budgets of choosing, of merging and of the release."""
        if self.pieces != "svt":
            return None, None, budget
        cost, rest = budget.part(SELECTION_SHARE), budget.part(1 - SELECTION_SHARE)
        if not self.merge:
            return cost, None, rest
        return cost.part(1 - _MERGE_SHARE), cost.part(_MERGE_SHARE), rest

    def _release(self, flat: np.ndarray, bits: RandomBits) -> np.ndarray:
        """Choose pieces, add noise and denoise, for some curves."""
        coefficients = flat.reshape(len(flat), -1, self._form[0])
        choosing, merging, rest = self._budgets
        edges = [self._spaces.all_edges] * len(flat)
        if choosing is not None:
            edges = choose_pieces(self._spaces, coefficients, choosing, rest, bits)
        if merging is not None:
            edges = merge_pieces(self._spaces, coefficients, edges, merging, rest, bits)
        public = (self._values.low, self._values.center, self._values.high)
        curves = np.empty(len(flat), dtype=object)
        for chosen in sorted(set(edges)):
            rows = [i for i, own in enumerate(edges) if own == chosen]
            released = self._noisy(coefficients[rows], chosen, rest, bits)
            basis = self._smooth.basis(chosen)
            for i, one in zip(rows, released, strict=True):
                curves[i] = PiecewiseCurve(basis, one, *public, self._form[1])
        return curves

    def _noisy(
        self, coefficients: np.ndarray, edges: Edges, budget: Any, bits: RandomBits
    ) -> np.ndarray:
        """Released coefficients in the smooth basis of the pieces, (n, m, d)."""
        rotation = self._spaces.smooth_first(edges)[:, : self.n_coefficients_]
        exact = np.einsum(
            "ij,nid->njd", rotation, self._spaces.within(coefficients, edges)
        )
        shape = exact.shape
        law = budget.law(shape[1] * shape[2])
        lattice = release_lattice(law.smallest_scale)
        rows = exact.reshape(len(exact), -1)
        noisy = lattice.to_float(law.release(rows, lattice, bits))
        # From here on it is public maths on the release.
        if self.denoise:
            noisy = spectral_average(
                noisy,
                law,
                energy_bound=self.norm_bound_**2,
                ranks=np.repeat(np.arange(shape[1]), shape[2]),
            )
        back = rotation
        if self._spaces.continuity != self._smooth.continuity:
            joined = self._smooth.embedding(edges).T @ self._spaces.embedding(edges)
            back = joined @ rotation
        return np.einsum("ij,njd->nid", back, noisy.reshape(shape))
