"""The private covariance function of people who each hold a curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import metadata_routing
from sklearn.utils.validation import check_array, check_is_fitted

from ._covariance_base import CovarianceEstimator


class ICLPCovariance(CovarianceEstimator):
    """Mean and covariance function of n people, released under differential privacy.

    One budget is spent in three steps: the mean; a radius, chosen privately, within
    which nearly everybody is of that mean; and the second moments of what is left,
    shrunk to that radius. Each step centres and scales the next with what has been
    released, so that noise is in proportion to how much people differ.

    Parameters
    ----------
    bounds : tuple of two floats, or of two arrays of shape (n_outputs,)
        *Public.* Values below the first or above the second are clipped. Take them
        from what is known without the data, never from the data.
    domain : tuple of two floats, default=None
        *Public.* The interval of the argument, in its units; None takes that of
        `basis`, or (0, 1).
    grid : array-like, shape (n_points,), or "columns", default=None
        *Public.* Where wide data are observed, and where the result is given. None is
        equally spaced on the domain (101 points for irregular curves); "columns"
        reads the names of the columns of a frame.
    epsilon : float, default=1.0
        *Public.* The budget of everything, > 0.
    delta : float, default=0.0
        *Public.* With delta > 0 Gaussian noise may be used.
    mechanism : {"auto", "spherical", "laplace", "gaussian"}, default="auto"
        *Public.* The noise law; "auto" has the smallest predicted error.
    kernel : str, kernel object or callable, default=None
        *Public.* Use the Karhunen-Loeve basis of this kernel; see `KernelBasis`.
    basis : Basis, default=None
        *Public.* The basis; None is that of `kernel`, or cosines.
    n_basis : int or "pss", default="pss"
        *Public.* How many functions are used; "pss" selects from public facts.
    center : float, or array of shape (n_outputs,) or (n_points[, n_outputs]), \
default=None
        *Public.* Subtracted before clipping; None is the middle of the bounds.
    norm_bound : float, default=None
        *Public.* A bound on the L2 norm of a centred curve, tighter than that which
        follows from `bounds`.
    radius : float, default=None
        *Public.* A bound on the L2 distance of a curve from the mean, at which curves
        are shrunk towards it; None chooses it privately, for a share of the budget.
    denoise : bool, default=True
        *Public.* Average the release over prior laws of smooth curves. It is free:
        the guarantee is the same.
    missing : {"error", "interpolate"}, default="error"
        *Public.* What to do with NaN values.
    ledger : str, default=None
        *Public.* The file of a `BudgetLedger` that is charged once, before any draw.
    random_state : int, RandomState or None, default=None
        None draws from the operating system. Anything else makes a *seeded* release,
        which gives no privacy: for tests and teaching.
    verbose : bool, default=False
        Show a progress bar while irregular curves are projected.

    Attributes
    ----------
    covariance_ : ndarray, shape (n_points, n_points) or \
(n_points, n_outputs, n_points, n_outputs)
        Released. The covariance function on `grid_`, symmetric and positive.
    mean_ : ndarray, shape (n_points,) or (n_points, n_outputs)
        Released. The mean curve on `grid_`.
    mean_coef_ : ndarray, shape (m,) or (m, n_outputs)
        Released. Inner products of the mean curve with the functions of `basis_`.
    coef_ : ndarray, shape (m, m) or (m, n_outputs, m, n_outputs)
        Released. Coefficients of the covariance in `basis_`.
    release_ : ndarray, shape of `coef_`
        Released. The coefficients before denoising and before negative eigenvalues
        are set to zero.
    eigenvalues_ : ndarray
        Eigenvalues of `coef_`, from large to small.
    n_detectable_ : int
        How many eigenvalues of `release_` are above `noise_edge_`. If there is none,
        the signal cannot be told from noise.
    noise_edge_ : float
        Released. What the largest eigenvalue of noise alone exceeds with a probability
        of 0.05, given the released mean; a function of public laws and the release.
    radius_ : float
        Public or released. The radius at which curves are shrunk towards the mean.
    noise_std_ : float
        Public or released. The standard deviation of the noise of a diagonal entry of
        `release_`, sqrt(2) times that of others: a public number times ``radius_^2``.
    basis_ : Basis
        Public orthonormal basis of m functions.
    grid_ : ndarray, shape (n_points,)
        Public points of the domain.
    norm_bound_ : float
        Public bound on the norm of a contribution to the mean.
    guarantee_ : PrivacyGuarantee
        What is promised by everything together, and per which unit.
    n_people_ : int
        Public number of contributions.
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
    *Step 1* is that of `ICLPMean`; the released mean mu is public from there on.

    *Step 2*: a person's distance from mu is a function of that person's data and of
    public facts; one of at most 25 public radii is chosen by `permute_and_flip`.

    *Step 3*: with u the coefficients of a curve minus mu, shrunk to norm r and divided
    by r, a person contributes (w u, svec(u u')), averaged over that person's rows, with
    w = 1/2. One person moves the sum by at most (2 + w^2) / sqrt(2); see
    `second_moment_sensitivity` and, for why nothing is centred at the sample mean,
    `centred_moment_sensitivity`. The covariance is the second moment minus the product
    of the first ones; it divides by n.

    *Guarantee*: the budgets of the steps add up to at most epsilon, or those of the
    Gaussian steps compose as Gaussian differential privacy; every step is private given
    what was released before.

    The number of functions minimises predicted noise plus a bound on the bias, in
    units of r, in which the trace of the second moment is at most 1 for all data.

    References
    ----------
    .. [1] Lin and Reimherr (2023), "Pure differential privacy for functional summaries
       with a Laplace-like process".
    .. [2] J. Dong, A. Roth and W. Su (2022), "Gaussian differential privacy".

    Examples
    --------
    >>> from skfuncpriv import ICLPCovariance
    >>> from skfuncpriv.datasets import load_elnino
    >>> years = load_elnino()
    >>> facts = {"bounds": (15, 32), "domain": (0, 12), "grid": years.grid}
    >>> ICLPCovariance(**facts, epsilon=9.0).fit(years.data).covariance_.shape
    (12, 12)
    """

    # What predict is called with are arguments, no metadata to be routed.
    __metadata_request__predict = {  # noqa: RUF012
        "s": metadata_routing.UNUSED,
        "t": metadata_routing.UNUSED,
    }

    def predict(self, s: Any, t: Any = None) -> np.ndarray:
        """Evaluate the released covariance function.

        Parameters
        ----------
        s : array-like
            Points of the domain, of any shape, in its units.
        t : array-like, default=None
            The other points, of a shape that broadcasts with that of `s`; None is `s`
            itself and gives variances.

        Returns
        -------
        ndarray, of the joint shape, or with two more axes (n_outputs, n_outputs)
            The covariance of the curve at s with the curve at t.

        Raises
        ------
        ValueError
            If a point is not a finite number of the domain.
        """
        check_is_fitted(self)
        options = {"ensure_2d": False, "allow_nd": True, "dtype": np.float64}
        ends = [
            check_array(
                s if points is None else points, ensure_min_samples=0, **options
            )
            for points in (s, t)
        ]
        left, right = np.broadcast_arrays(*ends)
        left_functions = self.basis_.evaluate(left.ravel())
        right_functions = self.basis_.evaluate(right.ravel())
        if self.coef_.ndim == 2:
            values = np.sum((left_functions @ self.coef_) * right_functions, axis=1)
            return values.reshape(left.shape)
        half = np.tensordot(left_functions, self.coef_, 1)
        values = np.einsum("iakb,ik->iab", half, right_functions)
        return values.reshape(*left.shape, *values.shape[1:])
