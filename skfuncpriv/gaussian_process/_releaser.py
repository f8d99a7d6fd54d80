"""A function of private rows, released once with a Gaussian process as noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import Tags, metadata_routing
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from .._base import PrivateEstimator, warn_if_noise_dominates
from .._sklearn import check_feature_names
from .._validation import check_count, check_interval
from ..blocks import open_rows
from ..exceptions import PrivacyError
from ..noise import FixedPoint, IndependentGaussian, random_bits, release_lattice
from ._adapters import Expansion, StatedFunction
from ._calibration import GaussianBudget
from ._nodes import public_expansion
from ._rows import (
    PrivateRows,
    RowReading,
    public_center,
    read_box,
    read_targets,
    targets_within,
    with_targets,
)
from ._wrapped import Function, is_density, is_ridge, wrapped_function


class GaussianProcessReleaser(PrivateEstimator):
    """A function in an RKHS, released under differential privacy.

    The function of a wrapped estimator is projected on a public finite expansion in the
    RKHS of a kernel, and its coordinates get independent Gaussian noise once: noise
    that is a Gaussian process with that kernel. The released function is an object that
    may be published and evaluated anywhere later.

    Parameters
    ----------
    estimator : KernelDensity, KernelRidge, GaussianKernel or callable
        *Public.* What is released. An unfitted `sklearn.neighbors.KernelDensity` with
        ``kernel="gaussian"`` and a number as bandwidth; an unfitted
        `sklearn.kernel_ridge.KernelRidge` with kernel "rbf" or "laplacian" and a number
        as gamma; a `GaussianKernel`, for the density with that kernel (a bandwidth per
        axis, or a matrix); or any ``estimator(X, y)`` that returns a function of points
        of shape (k, d) with values of shape (k,).
    bounds : tuple of two floats, or of two arrays of shape (n_features,)
        *Public.* Rows are clipped to them; an expansion is accurate within them.
    y_bounds : tuple of two floats, default=None
        *Public.* y is clipped to them; required for KernelRidge, which is centred on
        their middle.
    kernel : Kernel, default=None
        *Public.* The kernel of the RKHS and of the noise. None is that of the
        estimator. A density may be measured with an `ExponentialKernel` instead (the
        Sobolev space H1); a callable must state its kernel.
    sensitivity : "auto" or float, default="auto"
        *Public.* For a callable a bound on the RKHS norm of the difference of functions
        of neighbours; see Notes. Otherwise it is derived.
    points : array-like, shape (n_points, n_features), default=None
        *Public.* Release the values at these points, in any dimension; between them
        `predict` interpolates. Points too close to be told apart count as one.
    n_nodes : int or "auto", default="auto"
        *Public.* "auto" makes an expansion on at most three features that is as good as
        the function, a number takes that many evenly spread points instead.
    epsilon : float, default=1.0
        *Public.* The budget, > 0; not read if `rho` is given.
    delta : float, default=0.0
        *Public.* The budget, in (0, 1); must be given, for example 1e-6, or else `rho`.
    rho : float, default=None
        *Public.* A budget of zero-concentrated differential privacy instead.
    calibration : {"analytic", "classic"}, default="analytic"
        *Public.* The least noise, or the published constant for epsilon <= 1.
    ledger : str, default=None
        *Public.* The file of a `BudgetLedger` that is charged before noise is drawn.
    random_state : int, RandomState or None, default=None
        None draws from the operating system. Anything else makes a *seeded* release,
        which gives no privacy: for tests and teaching.

    Attributes
    ----------
    coef_ : ndarray, shape (n_functions,)
        Released. Coordinates of the function in an orthonormal basis of functions.
    kernel_ : Kernel
        Public kernel of the RKHS and of the noise.
    sensitivity_ : float
        Public bound on how far the coordinates move between neighbours.
    noise_std_ : float
        Public standard deviation of the noise of each coordinate, and a bound of that
        of values; the method `noise_std` knows it at a point.
    expansion_error_ : float
        Public share of the height of a kernel within the bounds that the expansion
        loses at worst, as measured; 1e-6 or less for smooth kernels.
    guarantee_ : PrivacyGuarantee
        What is promised, and per which unit.
    n_people_ : int
        Public number of contributions.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Public number and names of the features.

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
    *Theorem* [1]_. Let f move by at most Delta in the RKHS norm of K between
    neighbours. Its projection on the span of K_x at public points x has coordinates in
    an orthonormal basis that move by at most Delta in Euclidean norm (a projection
    never increases a norm), so noise N(0, sigma(Delta)^2) on each is private, and what
    is computed of them later is free. The noise of the released function at t is a
    Gaussian process with covariance sigma^2 times K, projected likewise.

    *Densities* are sums of exact integers. A person's rows are averaged into one bump
    (`groups`). The sensitivity is that of `kde_sensitivity`. The released density may
    be negative somewhere and need not integrate to one.

    *KernelRidge* has psi = alpha / n and the sensitivity of `ridge_sensitivity`, with
    y in units of half the range of `y_bounds`, from their middle. One row per person.

    *A callable* gets clipped rows, and y. Its values must be right to 2^-30 of
    `sensitivity` and at most 2^20 times as large: rounding errors of values grow in
    coordinates, and that is paid for up to there.

    *Expansions.* On up to three features nodes and eigenvectors along each axis are
    chosen from kernel and bounds, and products that nobody would see are dropped. An
    exponential kernel is rough, so no expansion is exact: it aims at an error of 0.01.
    All rounding errors are bounded and added to the sensitivity.

    References
    ----------
    .. [1] R. Hall, A. Rinaldo and L. Wasserman, "Differential privacy for functions
       and functional data", Journal of Machine Learning Research 14, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KernelDensity
    >>> from skfuncpriv import GaussianProcessReleaser
    >>> density = KernelDensity(bandwidth=0.2)
    >>> model = GaussianProcessReleaser(estimator=density, bounds=(0, 1), delta=1e-6)
    >>> model.fit(np.linspace(0, 1, 500)[:, None]).predict([[0.2], [0.9]]).shape
    (2,)
    """

    # What predict is called with are arguments, no metadata to be routed.
    __metadata_request__predict = {"T": metadata_routing.UNUSED}  # noqa: RUF012

    def __init__(
        self,
        *,
        estimator: Any,
        bounds: Any,
        y_bounds: Any = None,
        kernel: Any = None,
        sensitivity: float | str = "auto",
        points: Any = None,
        n_nodes: int | str = "auto",
        epsilon: float | None = 1.0,
        delta: float = 0.0,
        rho: float | None = None,
        calibration: str = "analytic",
        ledger: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.bounds = bounds
        self.y_bounds = y_bounds
        self.kernel = kernel
        self.sensitivity = sensitivity
        self.points = points
        self.n_nodes = n_nodes
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.calibration = calibration
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> GaussianProcessReleaser:
        """Release the function of the estimator.

        Parameters
        ----------
        X : array-like or frame, shape (n_rows, n_features)
            *Private.* Points, one per row; or rows in blocks: a memory map, `Blocks`, a
            dask array or frame. Other functions than densities are no sums over rows:
            their rows are gathered by one worker, which must hold them.
        y : array-like, shape (n_rows,), default=None
            *Private.* Targets; ignored for densities.
        groups : array-like, shape (n_rows,), default=None
            *Private* labels of the person who owns each row, for densities; how many
            there are is public. None makes every row a person, and the guarantee says
            so.

        Returns
        -------
        self : GaussianProcessReleaser
            The fitted estimator.
        """
        # Step 0: public facts, then the form of the data.
        budget = GaussianBudget(self.epsilon, self.delta, self.rho, self.calibration)
        bits = random_bits(self.random_state)
        self._check_parameters()
        is_plain = is_density(self.estimator)
        rows = open_rows(X, None if is_plain else y, groups=groups)
        data = rows.read(RowReading(public_center(self, self.bounds)))
        n_columns = data.points.shape[1]
        low, high = read_box(self.bounds, n_columns)
        function = wrapped_function(self, low, high)
        if not is_plain:
            rows.map(partial(with_targets, self._targets(function)))
        n, unit = rows.people(len(data.points))
        if unit == "person" and not is_plain:
            raise PrivacyError(
                "groups is supported for densities only: for this estimator make one "
                "row of each person's rows first"
            )
        expansion = public_expansion(
            function.kernel, low, high, self.points, self.n_nodes, function.origin
        )
        sensitivity = function.sensitivity(n, expansion, unit == "person")
        law = IndependentGaussian((budget.deviation(sensitivity),) * expansion.size)
        square, signal = law.smallest_scale**2, function.signal(n)
        warn_if_noise_dominates(square, signal, function.remedy)

        with np.errstate(all="ignore"):  # a warning about numbers would tell of them
            # Step 1: coordinates of the function in the expansion.
            rows.map(partial(_within, low, high, function.origin))
            compute = rows.sum if is_plain else rows.alone
            value = compute(partial(_coordinates, function, n, expansion))

            # Step 2: charge, then draw the noise once.
            check_feature_names(self, rows.X, reset=True)
            guarantee = budget.guarantee(unit, bits.seeded)
            self._open_release(guarantee, n)
            known = value if isinstance(value, FixedPoint) else None
            lattice = release_lattice(law.smallest_scale, known)
            released = lattice.to_float(law.release(value, lattice, bits))

        # Step 3: public units.
        scale = function.unit(n)
        self.coef_ = scale * released
        self.kernel_ = function.kernel
        self.sensitivity_ = math.nextafter(scale * sensitivity, math.inf)
        self.noise_std_ = scale * law.smallest_scale
        self.expansion_error_ = expansion.error
        self.n_people_, self.n_features_in_ = n, n_columns
        self._expansion, self._origin = expansion, function.origin
        self._center = function.center
        self.guarantee_ = guarantee
        return self

    def predict(self, T: Any) -> np.ndarray:
        """Evaluate the released function.

        Parameters
        ----------
        T : array-like or frame, shape (n_points, n_features)
            Points, in the units of the rows. Outside the bounds, and between `points`,
            it is the smoothest function that agrees with what was released.

        Returns
        -------
        ndarray, shape (n_points,)
            The values; those of a density may be negative.

        Raises
        ------
        ValueError
            If the points are not finite numbers, one column per feature.
        """
        check_is_fitted(self)
        points = validate_data(self, T, reset=False, dtype=np.float64)
        values = self._expansion.evaluate(self.coef_, points - self._origin)
        return self._center + values

    def noise_std(self, T: Any) -> np.ndarray:
        """Return how far the noise moved the released function, typically.

        Parameters
        ----------
        T : array-like or frame, shape (n_points, n_features)
            *Public.* Points, as in `predict`.

        Returns
        -------
        ndarray, shape (n_points,)
            Public standard deviation of the normal noise at each point: `noise_std_`,
            or less where an expansion fades.
        """
        check_is_fitted(self)
        points = validate_data(self, T, reset=False, dtype=np.float64)
        coordinates = self._expansion.coordinates(points - self._origin)
        return self.noise_std_ * np.linalg.norm(coordinates, axis=1)

    def sample(self, n_samples: int, T: Any, random_state: Any = None) -> np.ndarray:
        """Draw noise functions like the one that was added, from fresh random bits.

        Parameters
        ----------
        n_samples : int
            How many functions.
        T : array-like, shape (n_points, n_features)
            Where they are evaluated.
        random_state : int, RandomState or None, default=None
            The source; None is the operating system.

        Returns
        -------
        ndarray, shape (n_samples, n_points)
            Noise alone.
        """
        check_is_fitted(self)
        n_samples = check_count(n_samples, "n_samples")
        points = check_array(T, dtype=np.float64)
        law = IndependentGaussian((self.noise_std_,) * len(self.coef_))
        draws = law.sample(n_samples, random_bits(random_state, purpose=1))
        return self._expansion.evaluate(draws, points - self._origin)

    def _check_parameters(self) -> None:
        if self.points is not None and not self._is_auto(self.n_nodes):
            raise ValueError("points and n_nodes are two ways to choose: give only one")
        self._check_ledger()

    @staticmethod
    def _is_auto(value: Any) -> bool:
        return isinstance(value, str) and value == "auto"

    def _targets(self, function: Function) -> Callable[[Any, int], Any]:
        """How private targets are read, in the form that the function needs."""
        if isinstance(function, StatedFunction):
            return partial(targets_within, self.y_bounds, self._middle())
        return partial(read_targets, center=self._middle())

    def _middle(self) -> float | None:
        """What strict mode takes for targets that are not finite."""
        if not self._is_strict() or self.y_bounds is None:
            return None
        low, high = check_interval(self.y_bounds, "y_bounds")
        return low / 2 + high / 2

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = is_ridge(self.estimator)
        return tags


def _within(
    low: np.ndarray, high: np.ndarray, origin: np.ndarray | float, data: PrivateRows
) -> PrivateRows:
    """Rows clipped to their bounds, less the public origin."""
    return PrivateRows(np.clip(data.points, low, high) - origin, data.targets)


def _coordinates(
    function: Function,
    n: int,
    expansion: Expansion,
    data: PrivateRows,
    codes: np.ndarray | None,
) -> FixedPoint | np.ndarray:
    """The coordinates of the function of these rows."""
    return function.value(data.points, data.targets, codes, n, expansion)
