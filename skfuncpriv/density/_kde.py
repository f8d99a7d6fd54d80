"""A kernel density estimate under differential privacy.

It has the parameters and methods of `sklearn.neighbors.KernelDensity`, public bounds
and a budget. By default people's points are counted in bins, noise is added to the bins
once, and what follows is free: denoising with the known law of the noise, smoothing,
positivity and mass one.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._base import PrivateEstimator, plans, refuse_in_strict_mode
from .._planned import PlannedRelease
from .._validation import check_count
from ..blocks import open_rows
from ..gaussian_process._rows import public_center
from ..noise import FixedPoint, random_bits, release_lattice
from ._bandwidth import iqr_bandwidth
from ._grid_density import Estimate, GridDensity
from ._planned import planned_density
from ._plans import Planner
from ._points import (
    PointReading,
    read_queries,
    remember_columns,
    sum_points,
    used_columns,
)


class PrivateKDE(PrivateEstimator):
    """Density of n people's points, released under differential privacy.

    A replacement of `sklearn.neighbors.KernelDensity` that asks for public bounds and a
    budget. The released object is a density on a grid: evaluating, integrating and
    sampling it is free.

    Parameters
    ----------
    bounds : tuple of two floats, or of two arrays of shape (n_features,)
        *Public.* The corners of the box on which the density lives; points outside are
        moved to it. Take them from what is known without the data.
    bandwidth : float, array of shape (n_features,), "pss", "private-iqr", "scott" or \
"silverman", default="pss"
        *Public*, in the units of the points. "pss" selects it from n, budget and
        bounds; with bins and ``denoise=True`` no kernel is used then, and the denoiser
        decides how smooth the density is. "private-iqr" is the rule of thumb with
        private quartiles: free from bins, a fifth of epsilon otherwise. "scott" and
        "silverman" are those of scikit-learn, which know n and the number of features.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", \
"cosine"}, default="gaussian"
        *Public.* The kernel that a bandwidth belongs to.
    boundary : {"reflect", "periodic", "renormalize"} or one per axis, default="reflect"
        *Public.* What happens at the bounds: mass that a kernel would put outside is
        mirrored; the ends are one point, as for hours of a day; or the kernel is
        divided by its mass inside. Without a kernel (see `bandwidth`) no mass leaves,
        and the last is the same as the first.
    mechanism : {"auto", "binned", "gaussian_process", "iclp", "bernstein"}, \
default="auto"
        *Public.* What is released: noisy bins ("auto"), a Gaussian process around the
        estimate (needs ``delta > 0``), coefficients with block-spherical noise, or
        values on the lattice of Bernstein polynomials.
    epsilon : float, default=1.0
        *Public.* The budget, > 0.
    delta : float, default=0.0
        *Public.* The budget of Gaussian noise. With delta > 0 "iclp" has Gaussian
        noise, and bins where that is smaller.
    noise : {"auto", "laplace", "gaussian"}, default="auto"
        *Public.* The noise of bins: Laplace noise is pure, Gaussian noise spends delta.
        "auto" has the smaller variance, which is that of Laplace noise unless delta is
        large.
    denoise : bool, default=True
        *Public.* Average the release over prior laws of densities, which is free; for
        bins and "iclp". The other releases are smooth already.
    weight_cap : float, default=None
        *Public.* The largest `sample_weight`; larger ones are lowered to it.
    ledger : str, default=None
        *Public.* The file of a `BudgetLedger` that is charged before noise is drawn.
    random_state : int, RandomState or None, default=None
        None draws from the operating system. Anything else makes a *seeded* release,
        which gives no privacy: for tests and teaching.

    Attributes
    ----------
    density_ : ndarray, shape (n_nodes,) * n_features
        Released. The density at the nodes of `grid_`, multilinear between them.
    grid_ : tuple of n_features ndarrays, shape (n_nodes,)
        Public nodes of each axis; equal bounds give equal nodes.
    bandwidth_ : float, or ndarray of shape (n_features,)
        Public or released. The bandwidth in units of the points; where no kernel is
        used, the width of a bin. Released with "private-iqr".
    noise_std_ : float
        Public or released. The root mean square, over the box, of the noise that
        denoising and smoothing leave in `density_`. Without a kernel it is released,
        as it takes the factors of the denoiser as given: where they let nothing
        through, little noise is left, and nothing of the data either.
    guarantee_ : PrivacyGuarantee
        What is promised, and per which unit.
    n_people_ : int
        Public number of contributions.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Public number and names of the columns.

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
    *Contribution.* A person spreads one unit of mass over the bins beside each of the
    person's points, in integers; several points are averaged, so that someone with many
    rows weighs as much as someone with one (`BinContributions`).

    *Sensitivity.* Replacing one person moves the exact sum by at most two units in
    absolute sum, sqrt(2) in Euclidean norm, whatever the number of bins.

    *Law.* Independent Laplace noise of scale 2 / epsilon for each bin is pure
    epsilon-DP; Gaussian noise is calibrated analytically. The number of bins grows with
    n times epsilon, a public fact.

    *After the release.* Without a bandwidth, coefficients of cosines (Fourier functions
    on periodic axes) are multiplied by posterior factors that know the variance of the
    noise and the sampling variance 1 / n; with few bins the result is averaged with a
    mixture of bumps. With a bandwidth, denoised bins are smoothed by the kernel. The
    nearest density that is nowhere negative is released, mixed with a ten-thousandth of
    the uniform one, so that logarithms are finite within the bounds.

    *Other mechanisms.* The Gaussian process of [1]_ and coefficients after [2]_ release
    the estimate with a Gaussian kernel. Around the former the noise is a Gaussian
    process with that kernel, and the rule at the bounds is applied after the release.

    *Not taken over* from KernelDensity: `algorithm`, `leaf_size` and `breadth_first`
    (no tree of private points is kept), `atol` and `rtol` (the released density is
    evaluated exactly), `metric` and `metric_params` (distances are Euclidean in units
    of the bandwidths).

    References
    ----------
    .. [1] Hall, Rinaldo and Wasserman (2013), "Differential privacy for functions and
       functional data", Journal of Machine Learning Research 14.
    .. [2] Lin and Reimherr (2023), "Pure differential privacy for functional summaries
       with a Laplace-like process".

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import PrivateKDE
    >>> ages = np.random.default_rng(0).normal(40, 12, size=(2000, 1))
    >>> kde = PrivateKDE(bounds=(0, 120), epsilon=1.0, random_state=0).fit(ages)
    >>> kde.sample(3).shape, bool(abs(kde.quantile(0.5) - 40) < 2)
    ((3, 1), True)
    """

    _used = slice(None)  # columns: all of them

    def __init__(
        self,
        *,
        bounds: Any,
        bandwidth: Any = "pss",
        kernel: str = "gaussian",
        boundary: Any = "reflect",
        mechanism: str = "auto",
        epsilon: float = 1.0,
        delta: float = 0.0,
        noise: str = "auto",
        denoise: bool = True,
        weight_cap: float | None = None,
        ledger: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.bounds = bounds
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.boundary = boundary
        self.mechanism = mechanism
        self.epsilon = epsilon
        self.delta = delta
        self.noise = noise
        self.denoise = denoise
        self.weight_cap = weight_cap
        self.ledger = ledger
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: Any = None,
        groups: Any = None,
    ) -> PrivateKDE:
        """Release the density of the points.

        Parameters
        ----------
        X : array-like or frame, shape (n_rows, n_features)
            *Private.* One point per row, with one to three features; or rows in blocks:
            a memory map, `Blocks`, a dask array or frame.
        y : None
            Ignored.
        sample_weight : array-like, shape (n_rows,), default=None
            *Private* weights >= 0, at most `weight_cap`. With `groups` a person gives
            the mean of the weighted rows, so that many rows do not add up.
        groups : array-like, shape (n_rows,), default=None
            *Private* labels of the person who owns each row; how many there are is
            public. A person's points are averaged into one contribution. None makes
            every row a person, and the guarantee says so.

        Returns
        -------
        self : PrivateKDE
            The fitted estimator.
        """
        # Step 0: the form of the data, then public facts.
        self._check_ledger()
        bits = random_bits(self.random_state)
        rows = open_rows(X, sample_weight=sample_weight, groups=groups)
        center = public_center(self, self.bounds)
        data = rows.read(PointReading(center, self.weight_cap, self._is_strict()))
        n_columns, is_weighted = data.points.shape[1], data.shares is not None
        n_people, unit = rows.people(len(data.points))
        rows.map(partial(used_columns, self._used))
        n_axes = len(range(n_columns)[self._used])
        planner = Planner(self, n_people, n_axes, is_weighted)
        guarantee = planner.guarantee(unit, bits.seeded)
        pays = planner.pays_for_quantiles
        plan = planner.quantile_plan if pays else planner.plan

        def release(plan: Any, total: FixedPoint) -> Estimate:
            """Noise once, then public maths."""
            lattice = release_lattice(plan.law.smallest_scale, total)
            released = plan.law.release(total, lattice, bits)
            return plan.density(lattice.to_float(released))

        with np.errstate(all="ignore"):  # a warning about numbers would tell of them
            # Step 1: bounded contributions and their exact sum.
            total = rows.sum(partial(sum_points, plan))

            # Step 2: charge, then draw the noise.
            remember_columns(self, rows.X, n_columns)
            self._open_release(guarantee, n_people)
            estimate = release(plan, total)
            if pays:  # quartiles first, the estimate with their bandwidth then
                pilot = GridDensity.on_unit_cube(estimate.values)
                marginals = [pilot.marginal(k) for k in range(n_axes)]
                plan = planner.plan_with(iqr_bandwidth(marginals, n_people))
                estimate = release(plan, rows.sum(partial(sum_points, plan)))
            self._set_release(estimate, planner)
        self.n_people_ = n_people
        self.guarantee_ = guarantee
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """Compute the logarithm of the released density at points.

        Parameters
        ----------
        X : array-like or frame, shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray, shape (n_samples,)
            Log densities, in inverse units of the points; minus infinity outside of
            the bounds.
        """
        return self._released.log_density(self._queries(X))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Compute the total log likelihood of points under the released density.

        It is a number about the points: computed on private ones it is not private,
        and refused in strict mode.

        Parameters
        ----------
        X : array-like or frame, shape (n_samples, n_features)
            Points.
        y : None
            Ignored.

        Returns
        -------
        float
            The sum of `score_samples`.
        """
        refuse_in_strict_mode(self, "score")
        return float(np.sum(self.score_samples(X)))

    def cdf(self, X: Any) -> np.ndarray:
        """Compute the released distribution function.

        Parameters
        ----------
        X : array-like or frame, shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray, shape (n_samples,)
            The probability that no coordinate exceeds that of the point.
        """
        return self._released.cdf(self._queries(X))

    def quantile(self, probability: Any) -> np.ndarray:
        """Compute quantiles of the released density of one feature.

        Parameters
        ----------
        probability : float or array-like
            Probabilities in [0, 1], of any shape.

        Returns
        -------
        ndarray, shape of `probability`
            Where the distribution function takes these values, in units of the points.

        Raises
        ------
        ValueError
            If a probability is not in [0, 1], or if there are several features.
        """
        density = self._released
        if density.values.ndim > 1:
            raise ValueError("quantiles are those of one feature: fit a single column")
        probability = np.asarray(probability, dtype=np.float64)
        if not ((probability >= 0) & (probability <= 1)).all():
            raise ValueError("probabilities must lie in [0, 1]")
        return density.quantile(probability.ravel()).reshape(probability.shape)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw synthetic points from the released density: free, however many.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : int, RandomState or None, default=None
            The source; None is the operating system.

        Returns
        -------
        ndarray, shape (n_samples, n_features)
            Independent points within the bounds.
        """
        density = self._released
        n_samples = check_count(n_samples, "n_samples")
        words = random_bits(random_state, purpose=1).words(4)
        return density.sample(n_samples, np.random.default_rng(words))

    @plans
    def _planned_release(
        self,
        n_samples: int,
        n_outputs: int = 1,
        n_points: int | None = None,  # noqa: ARG002
    ) -> PlannedRelease:
        """What would be released; `n_outputs` is the number of features."""
        return planned_density(self, n_samples, n_outputs)

    @property
    def _released(self) -> GridDensity:
        check_is_fitted(self)
        ends = np.array([nodes[[0, -1]] for nodes in self.grid_])
        low, high = ends.T
        return GridDensity(low, high, self.density_ * np.prod(high - low))

    def _density_within_bounds(self, X: Any) -> np.ndarray:
        """The density at points; those outside are moved to the bounds, as in `fit`."""
        density = self._released
        points = np.clip(self._queries(X), density.low, density.high)
        return np.exp(density.log_density(points))

    def _queries(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return read_queries(self, X)[:, self._used]

    def _set_release(self, estimate: Estimate, planner: Planner) -> None:
        low, high = planner.low, planner.high
        n_nodes = len(estimate.values)
        self.grid_ = tuple(
            np.linspace(a, b, n_nodes) for a, b in zip(low, high, strict=True)
        )
        volume = float(np.prod(planner.widths))
        self.density_ = estimate.values / volume
        self.noise_std_ = estimate.noise / volume
        bandwidth = estimate.bandwidth * planner.widths
        is_number = not isinstance(self.bandwidth, str) and np.ndim(self.bandwidth) == 0
        one = len(bandwidth) == 1 or is_number
        self.bandwidth_ = float(bandwidth[0]) if one else bandwidth
