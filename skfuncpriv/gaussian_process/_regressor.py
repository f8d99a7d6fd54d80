"""A private kernel regressor: a regularised minimiser in an RKHS plus noise."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from .._base import ScoredOnData
from .._validation import check_flag, check_interval, check_real
from ._labels import flat
from ._losses import EpsilonInsensitiveLoss, HuberLoss, Loss, SquaredLoss
from ._machine import KernelMachine, MachineTargets
from ._rows import read_targets, with_targets

LOSSES = ("huber", "epsilon_insensitive", "squared")
_LARGEST = 1e100
_THRESHOLDS = {"huber": 0.25, "epsilon_insensitive": 0.1}


class PrivateKernelRegressor(ScoredOnData, RegressorMixin, KernelMachine):
    """Kernel ridge regression and its robust relatives, under differential privacy.

    y is clipped to public bounds and centred on their middle; f minimises the mean loss
    plus psi times the squared norm of f in the RKHS of a kernel, on a public finite
    expansion of the kernel, and its coordinates get noise once. The released function
    is an object that may be published.

    Parameters
    ----------
    bounds : tuple of two floats, or of two arrays of shape (n_features,)
        *Public.* Rows of X are clipped to them. Take them from what is known without
        the data, never from the data.
    y_bounds : tuple of two floats
        *Public.* y is clipped to them.
    loss : {"huber", "epsilon_insensitive", "squared"}, default="huber"
        *Public.* Of a residual r: r^2 / 2 up to `threshold` t and t (abs(r) - t / 2)
        beyond; max(0, abs(r) - t) of support vector regression; r^2.
    threshold : float, default=None
        *Public.* t, in units of y. None is 1/8 of the width of `y_bounds` for "huber",
        1/20 for "epsilon_insensitive"; "squared" has none.
    kernel : Kernel, default=None
        *Public.* The kernel, in units of X; None is a `GaussianKernel` whose bandwidth
        is 0.15 sqrt(n_features) of the width of the bounds, on each axis.
    psi : float or "pss", default="pss"
        *Public.* The factor of the squared norm beside the mean loss, > 0; "pss"
        minimises a risk bound from n, the budget, and the loss.
    n_components : int or "auto", default="auto"
        *Public.* How many coordinates the expansion has; "auto" weighs what it misses
        against the noise.
    gap : float, default=None
        *Public.* The duality gap up to which the minimum is found, in units of the
        loss; it is paid for. None adds a 64th to the sensitivity, or what float64 can
        certify.
    clip : bool, default=True
        *Public.* Whether predictions are clipped to `y_bounds`.
    epsilon : float, default=1.0
        *Public.* The budget, > 0; not read if `rho` is given.
    delta : float, default=0.0
        *Public.* 0 takes spherical Laplace noise, > 0 Gaussian noise.
    rho : float, default=None
        *Public.* A budget of zero-concentrated differential privacy instead.
    calibration : {"analytic", "classic"}, default="analytic"
        *Public.* Of Gaussian noise: the least, or the published constant for
        epsilon <= 1.
    ledger : str, default=None
        *Public.* The file of a `BudgetLedger` that is charged before noise is drawn.
    random_state : int, RandomState or None, default=None
        None draws from the operating system. Anything else makes a *seeded* release,
        which gives no privacy: for tests and teaching.

    Attributes
    ----------
    coef_ : ndarray, shape (n_components,)
        Released. Coordinates of f in `features_`, in units of y.
    intercept_ : float
        Public middle of `y_bounds`, which f is added to.
    features_ : KernelFeatures
        Public map to coordinates of norm at most one.
    psi_, gap_ : float
        Public strength of regularisation and tolerance of the minimum.
    sensitivity_ : float
        Public bound on how far the coordinates move between neighbours, in units of y.
    law_ : NoiseLaw
        Public law of the noise of the coordinates, in units of half the width of
        `y_bounds`.
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
    *Sensitivity* [1]_ [2]_. With an L-Lipschitz loss and features of norm
    at most kappa = 1 + 2^-40 (clipped last, in floats) minimisers of neighbours are at
    most L kappa / (psi n) apart, see `erm_sensitivity`: L is t for "huber" and 1 for
    "epsilon_insensitive". "squared" has the sharper bound of `ridge_sensitivity`, and
    with `groups` the constant of `squared_loss_lipschitz`. There is no unpenalised
    intercept. Of one person with many rows the mean of the losses counts, which leaves
    the sensitivity as it is: n is the number of people. What is computed instead of the
    minimiser has a duality gap, certified with its rounding errors, of at most `gap_`,
    hence is within ``sqrt(gap_ / psi_)`` of it, on both sides. No point that is not
    certified is ever released: if none is found (of no data set that we tried)
    `PrivacyError` is raised before the charge, and is for the curator's eyes.

    *Units.* psi is that of `KernelRidge` with alpha = psi n for "squared", and of `SVR`
    with C = 1 / (2 psi n) for "epsilon_insensitive", without its intercept. In other
    units of y the default psi changes so that predictions change by the factor.

    *After the release* f is shrunk to the ball in which every minimiser lies, and
    predictions are clipped. ``score(X, y)`` on private data is not private.

    *Approximation.* ``features_.missed[-1]`` is the root mean square norm of what the
    expansion misses of the kernel at a point; small on one to three features.

    References
    ----------
    .. [1] O. Bousquet and A. Elisseeff, "Stability and generalization", Journal of
       Machine Learning Research 2, 2002.
    .. [2] R. Hall, A. Rinaldo and L. Wasserman, "Differential privacy for functions
       and functional data", Journal of Machine Learning Research 14, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import PrivateKernelRegressor
    >>> x = np.linspace(0, 1, 2000)
    >>> model = PrivateKernelRegressor(bounds=(0, 1), y_bounds=(-1, 1))
    >>> model.fit(x[:, None], np.sin(6 * x)).predict([[0.2], [0.8]]).shape
    (2,)
    """

    def __init__(
        self,
        *,
        bounds: Any,
        y_bounds: Any,
        loss: str = "huber",
        threshold: float | None = None,
        kernel: Any = None,
        psi: float | str = "pss",
        n_components: int | str = "auto",
        gap: float | None = None,
        clip: bool = True,
        epsilon: float = 1.0,
        delta: float = 0.0,
        rho: float | None = None,
        calibration: str = "analytic",
        ledger: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.bounds = bounds
        self.y_bounds = y_bounds
        self.loss = loss
        self.threshold = threshold
        self.kernel = kernel
        self.psi = psi
        self.n_components = n_components
        self.gap = gap
        self.clip = clip
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.calibration = calibration
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> PrivateKernelRegressor:
        """Release a regression function.

        Parameters
        ----------
        X : array-like or frame, shape (n_rows, n_features)
            *Private.* Rows of finite numbers; or rows in blocks, `Blocks`, a dask array
            or frame, which are gathered by one worker, which must hold them.
        y : array-like, shape (n_rows,)
            *Private.* Targets.
        groups : array-like, shape (n_rows,), default=None
            *Private* labels of the person who owns each row; how many there are is
            public. None makes every row a person, and the guarantee says so.

        Returns
        -------
        self : PrivateKernelRegressor
            The fitted estimator.
        """
        low, high = check_interval(self.y_bounds, "y_bounds")
        middle, half = low / 2 + high / 2, high / 2 - low / 2
        if not 1 / _LARGEST <= half <= _LARGEST:
            raise ValueError(
                f"y_bounds must be between {2 / _LARGEST} and {2 * _LARGEST} apart, "
                f"got {self.y_bounds!r}: use other units of y"
            )
        loss = self._scaled_loss(half)
        clip = check_flag(self.clip, "clip")
        rows, data = self._read(X, flat(y), groups)
        center = middle if self._is_strict() else None
        read = partial(_scaled_targets, middle, half, center)
        rows.map(partial(with_targets, read))
        # Two losses are homogeneous of degree two, as the penalty; the third of one.
        psi_unit = 1 / half if self.loss == "epsilon_insensitive" else 1.0
        n_rows = len(data.points)
        coef, guarantee = self._release(rows, n_rows, 1, loss, half, psi_unit)
        self.coef_, self.intercept_ = coef[0], middle
        self._limits = (low, high) if clip else None
        self.guarantee_ = guarantee
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Evaluate the released function.

        Parameters
        ----------
        X : array-like or frame, shape (n, n_features)
            Points; those outside the bounds are moved to them.

        Returns
        -------
        ndarray, shape (n,)
            Predictions, in units of y.
        """
        values = self._values(X)[:, 0] + self.intercept_
        return values if self._limits is None else np.clip(values, *self._limits)

    def _scaled_loss(self, half: float) -> Loss:
        """The loss of residuals in units of half the width of `y_bounds`."""
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {list(LOSSES)}, got {self.loss!r}")
        if self.loss == "squared":
            if self.threshold is not None:
                raise ValueError("threshold is not used with loss='squared': drop it")
            return SquaredLoss()
        threshold = _THRESHOLDS[self.loss]
        if self.threshold is not None:
            threshold = check_real(self.threshold, "threshold") / half
        kind = HuberLoss if self.loss == "huber" else EpsilonInsensitiveLoss
        return kind(threshold)


def _scaled_targets(
    middle: float, half: float, center: float | None, y: Any, n_rows: int
) -> MachineTargets:
    """Targets in units of half the width of their bounds, clipped to them."""
    values = read_targets(y, n_rows, center)
    with np.errstate(all="ignore"):
        targets = np.clip((values - middle) / half, -1.0, 1.0)[None]
    return MachineTargets(targets, np.ones(n_rows))
