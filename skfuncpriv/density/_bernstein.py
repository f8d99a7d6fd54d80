"""The Bernstein mechanism of Alda and Rubinstein: noisy values, then polynomials.

It releases any function of bounded values under pure differential privacy, and is the
simple baseline beside which the other mechanisms stand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import metadata_routing
from sklearn.utils.validation import check_is_fitted

from .._base import PrivateEstimator, warn_if_noise_dominates
from .._validation import check_count, check_interval, check_positive
from ..basis._bernstein_operator import BernsteinOperator
from ..blocks import open_rows
from ..exceptions import PrivacyError
from ..gaussian_process import Kernel
from ..gaussian_process import _wrapped as wrapped
from ..gaussian_process._rows import (
    RowReading,
    public_center,
    read_box,
    targets_within,
    with_targets,
)
from ..noise import IndependentLaplace, random_bits, release_lattice
from ..privacy import PrivacyGuarantee, laplace_scale
from ._bernstein_values import (
    DensityValues,
    StatedValues,
    Values,
    choose_degree,
    density_values,
    in_cube,
    stated_values,
)
from ._lattice_bumps import read_bandwidths
from ._points import check_volume, read_queries, remember_columns

_MOST_ORDER = 8


class BernsteinReleaser(PrivateEstimator):
    """A function on a box, released as a noisy Bernstein polynomial.

    The function of a wrapped estimator is evaluated on a lattice of (degree + 1)^d
    points of the box, each value gets Laplace noise once, and the released function is
    the iterated Bernstein polynomial through the noisy values.

    Parameters
    ----------
    estimator : KernelDensity, GaussianKernel or callable
        *Public.* What is released. An unfitted `sklearn.neighbors.KernelDensity` with
        ``kernel="gaussian"`` and a number as bandwidth; a `GaussianKernel` with a
        bandwidth per axis, for the density with that kernel; or any
        ``estimator(X, y)`` that returns a function of points of shape (k, d) with
        values of shape (k,).
    bounds : tuple of two floats, or of two arrays of shape (n_features,)
        *Public.* The box of the function; rows are clipped to it.
    sensitivity : "auto" or float, default="auto"
        *Public.* For a callable a bound on abs(f(t) - f'(t)) over points t and
        neighbours, in units of the values. Otherwise it is derived.
    degree : int or "pss", default="pss"
        *Public.* The degree k of the polynomial along each axis; "pss" minimises a
        bound on bias plus noise from public facts, see Notes.
    order : int, default=2
        *Public.* The number h of iterations, at most 8; 1 is the plain polynomial.
    epsilon : float, default=1.0
        *Public.* The budget, > 0.
    y_bounds : tuple of two floats, default=None
        *Public.* For a callable: y is clipped to them, and "pss" takes half their
        distance for the size of the function.
    ledger : str, default=None
        *Public.* The file of a `BudgetLedger` that is charged before noise is drawn.
    random_state : int, RandomState or None, default=None
        None draws from the operating system. Anything else makes a *seeded* release,
        which gives no privacy: for tests and teaching.

    Attributes
    ----------
    coef_ : ndarray, with n_features axes of length ``degree_ + 1``
        Released. Coefficients of the function in the Bernstein basis of the box.
    degree_ : int
        Public degree along each axis.
    sensitivity_ : float
        Public bound on the sum of absolute changes of all values between neighbours.
    noise_std_ : float
        Public root mean square over the box of the noise of the released function; the
        method `noise_std` knows it at a point.
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
    *Contribution.* Of a density: a Gaussian bump on the lattice, in integers, or the
    average of those of a person's rows (`groups`); sums are exact.

    *Sensitivity.* In absolute sum over the lattice: (degree + 1)^d times the supremum
    norm, as published [1]_, or for densities `kde_lattice_sensitivity`, which is
    smaller where bumps are narrower than the box.

    *Law.* Independent Laplace noise of scale sensitivity / epsilon on each value, hence
    pure epsilon-DP. Values of a callable must be right to 2^-30 of `sensitivity`, which
    is paid for, and are clipped at 2^20 times as much.

    *After the release* B^(h) = I - (I - B)^h is applied, B the Bernstein operator;
    linear functions are reproduced, and the error for a function with 2 h bounded
    derivatives falls like degree^-h.

    *Degree.* "pss" minimises the mean square over the box of noise plus bias: for a
    density the bias of the worst bump, computed; for a callable that of a function
    whose values and derivatives, in widths of the box, are at most half of `y_bounds`.

    References
    ----------
    .. [1] F. Alda and B. Rubinstein, "The Bernstein mechanism: function release under
       differential privacy", AAAI 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KernelDensity
    >>> from skfuncpriv import BernsteinReleaser
    >>> density = KernelDensity(bandwidth=0.2)
    >>> model = BernsteinReleaser(estimator=density, bounds=(0, 1), epsilon=1.0)
    >>> model.fit(np.linspace(0, 1, 500)[:, None]).predict([[0.2], [0.9]]).shape
    (2,)
    """

    # What predict is called with are arguments, no metadata to be routed.
    __metadata_request__predict = {"T": metadata_routing.UNUSED}  # noqa: RUF012

    _used = slice(None)  # columns: all of them

    def __init__(
        self,
        *,
        estimator: Any,
        bounds: Any,
        sensitivity: float | str = "auto",
        degree: int | str = "pss",
        order: int = 2,
        epsilon: float = 1.0,
        y_bounds: Any = None,
        ledger: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.bounds = bounds
        self.sensitivity = sensitivity
        self.degree = degree
        self.order = order
        self.epsilon = epsilon
        self.y_bounds = y_bounds
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> BernsteinReleaser:
        """Release the function of the estimator.

        Parameters
        ----------
        X : array-like or frame, shape (n_rows, n_features)
            *Private.* Points, one per row; or rows in blocks: a memory map, `Blocks`, a
            dask array or frame. Those of a callable, which is no sum over rows, are
            gathered by one worker, which must hold them.
        y : array-like, shape (n_rows,), default=None
            *Private.* Targets; ignored for densities.
        groups : array-like, shape (n_rows,), default=None
            *Private* labels of the person who owns each row, for densities; how many
            there are is public. None makes every row a person, and the guarantee says
            so.

        Returns
        -------
        self : BernsteinReleaser
            The fitted estimator.
        """
        # Step 0: public facts, then the form of the data.
        epsilon = check_positive(self.epsilon, "epsilon")
        bits = random_bits(self.random_state)
        self._check_parameters()
        is_density = wrapped.is_density(self.estimator)
        rows = open_rows(X, None if is_density else y, groups=groups)
        data = rows.read(RowReading(public_center(self, self.bounds)))
        n_columns = data.points.shape[1]
        low, high = self._box(len(range(n_columns)[self._used]))
        n, unit = rows.people(len(data.points))
        values = self._values(n, low, high)
        rows.map(partial(with_targets, self._targets()))
        if unit == "person" and isinstance(values, StatedValues):
            raise PrivacyError(
                "groups is supported for densities only: for a callable make one row "
                "of each person's rows first"
            )
        degree = self.degree
        if degree == "pss":
            degree = choose_degree(values, len(low), self.order, epsilon)
        operator = BernsteinOperator(degree, self.order, len(low))
        sensitivity = values.sensitivity(degree)
        scale = laplace_scale(epsilon, sensitivity)
        law = IndependentLaplace((scale,) * (degree + 1) ** len(low))
        deviation = math.sqrt(2 * operator.noise_square) * scale
        remedy = "epsilon, or more people,"
        warn_if_noise_dominates(deviation**2, values.signal(), remedy)
        guarantee = PrivacyGuarantee(
            definition="pure-dp", epsilon=epsilon, unit=unit, seeded=bits.seeded
        )

        with np.errstate(all="ignore"):  # a warning about numbers would tell of them
            # Step 1: values on the lattice.
            how = (values, degree, self._used, low, high)
            if isinstance(values, DensityValues):
                value = rows.sum(partial(density_values, *how))
                lattice = release_lattice(scale, value)
            else:
                value = rows.alone(partial(stated_values, *how))
                lattice = release_lattice(scale)

            # Step 2: charge, then draw the noise once.
            remember_columns(self, rows.X, n_columns)
            self._open_release(guarantee, n)
            released = lattice.to_float(law.release(value, lattice, bits))

        # Step 3: public post-processing.
        height = values.unit(float(np.prod(high - low)))
        released = released.reshape((degree + 1,) * len(low))
        self.coef_ = height * operator.coefficients(released)
        self.degree_ = degree
        self.sensitivity_ = math.nextafter(height * sensitivity, math.inf)
        self.noise_std_ = height * deviation
        self.n_people_ = n
        self._operator, self._low, self._high = operator, low, high
        self._law, self._height = law, height
        self.guarantee_ = guarantee
        return self

    def predict(self, T: Any) -> np.ndarray:
        """Evaluate the released function.

        Parameters
        ----------
        T : array-like or frame, shape (n_points, n_features)
            Points, in the units of the rows; those outside of the box get the value at
            the nearest point of the box.

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
        points = read_queries(self, T)[:, self._used]
        return self._operator.evaluate(self.coef_, self._in_cube(points))

    def noise_std(self, T: Any) -> np.ndarray:
        """Return how far the noise moved the released function, typically.

        Parameters
        ----------
        T : array-like or frame, shape (n_points, n_features)
            *Public.* Points, as in `predict`.

        Returns
        -------
        ndarray, shape (n_points,)
            Public standard deviation of the noise at each point, a weighted sum of
            Laplace draws; at a corner of the box it is a single one.
        """
        check_is_fitted(self)
        points = self._in_cube(read_queries(self, T)[:, self._used])
        square = self._operator.noise_squares(points) / self._operator.noise_square
        return self.noise_std_ * np.sqrt(square)

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
        points = self._in_cube(read_queries(self, T)[:, self._used])
        bits = random_bits(random_state, purpose=1)
        draws = self._height * self._law.sample(n_samples, bits)
        coef = self._operator.coefficients(draws.reshape(-1, *self.coef_.shape))
        return self._operator.evaluate(coef, points)

    def _box(self, n_axes: int) -> tuple[np.ndarray, np.ndarray]:
        low, high = read_box(self.bounds, n_axes)
        check_volume(low, high)
        return low, high

    def _in_cube(self, points: np.ndarray) -> np.ndarray:
        return in_cube(points, self._low, self._high)

    def _check_parameters(self) -> None:
        if self.degree != "pss":
            check_count(self.degree, "degree")
        if check_count(self.order, "order") > _MOST_ORDER:
            raise ValueError(
                f"order must be at most {_MOST_ORDER}, got {self.order}: noise grows "
                "with each iteration"
            )
        self._check_ledger()

    def _values(self, n: int, low: np.ndarray, high: np.ndarray) -> Values:
        """What is released, from the parameters alone."""
        estimator, n_axes = self.estimator, len(low)
        if wrapped.is_density(estimator):
            if wrapped.is_sklearns_density(estimator):
                wrapped._check_unfitted(estimator)
            wrapped._check_derived(self)
            if self.y_bounds is not None:
                raise ValueError("y_bounds has no meaning for a density: leave it out")
            bandwidth = wrapped._bump(estimator).bandwidth
            if np.ndim(bandwidth) == 2:
                raise PrivacyError(
                    "a lattice needs a bandwidth per axis, not a matrix: turn the axes "
                    "first, or use GaussianProcessReleaser"
                )
            widths = read_bandwidths(bandwidth, n_axes) / (high - low)
            return DensityValues(n, tuple(widths.tolist()))
        if isinstance(estimator, Kernel | type) or not callable(estimator):
            raise TypeError(
                "estimator must be an unfitted KernelDensity, a GaussianKernel (the "
                "density with that kernel), or a callable (X, y) -> function of "
                f"points; got {estimator!r}"
            )
        if isinstance(self.sensitivity, str):
            raise PrivacyError(
                "sensitivity must be stated for a callable: a bound on the change of "
                f"every value between neighbours; got {self.sensitivity!r}"
            )
        stated = check_positive(self.sensitivity, "sensitivity")
        reach = None
        if self.y_bounds is not None:
            bottom, top = check_interval(self.y_bounds, "y_bounds")
            reach = (top / 2 - bottom / 2) / stated
        return StatedValues(estimator, n_axes, stated, reach)

    def _targets(self) -> Callable[[Any, int], Any]:
        """How private targets are read, in the form that a callable needs."""
        center = None
        if self._is_strict() and self.y_bounds is not None:
            low, high = check_interval(self.y_bounds, "y_bounds")
            center = low / 2 + high / 2
        return partial(targets_within, self.y_bounds, center)
