"""Private functional principal components of people who each hold a curve."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from .._base import refuse_in_strict_mode
from .._sklearn import check_feature_names
from .._validation import check_count
from ..blocks._rows import refuse_blocks
from ..curves import Curves, as_curves
from ..noise import IndependentGaussian, random_bits
from ..summaries import curve_coefficients
from ._covariance_base import CovarianceEstimator


class PrivateFPCA(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, CovarianceEstimator
):
    """Functional principal components of n people, under differential privacy.

    Mean, covariance and components come from one release with one budget, that of
    `ICLPCovariance`: what is derived from it is free.

    Parameters
    ----------
    bounds : tuple of two floats, or of two arrays of shape (n_outputs,)
        *Public.* Values below the first or above the second are clipped. Take them
        from what is known without the data, never from the data.
    n_components : int, default=None
        *Public.* How many components are kept; None keeps those whose eigenvalues are
        above what noise alone would show, and at least one.
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
    components_ : ndarray, shape (n_components, n_points[, n_outputs])
        Released. Functions on `grid_`, orthonormal in L2 over the domain; the largest
        coefficient of each is positive.
    component_coef_ : ndarray, shape (n_components, m[, n_outputs])
        Released. Coefficients of the components in `basis_`, orthonormal rows.
    explained_variance_ : ndarray, shape (n_components,)
        Released. The variances of the scores.
    explained_variance_ratio_ : ndarray, shape (n_components,)
        Released. Their shares of the whole released variance.
    mean_ : ndarray, shape (n_points,) or (n_points, n_outputs)
        Released. The mean curve on `grid_`.
    mean_coef_ : ndarray, shape (m,) or (m, n_outputs)
        Released. Inner products of the mean curve with the functions of `basis_`.
    covariance_ : ndarray, shape (n_points, n_points) or \
(n_points, n_outputs, n_points, n_outputs)
        Released. The covariance function on `grid_`, of all components.
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

    See Also
    --------
    ICLPCovariance : The mechanism, its sensitivity and its guarantee.

    Notes
    -----
    Scores that `transform` computes of private curves are *not* private: they are no
    part of the release. Those of public curves are.

    Noise inflates small eigenvalues and blurs their functions: a component is as
    certain as its eigenvalue, and the gaps to its neighbours, are large against the
    noise of the matrix, ``noise_std_``.

    Examples
    --------
    >>> from skfuncpriv import PrivateFPCA
    >>> from skfuncpriv.datasets import load_elnino
    >>> years = load_elnino()
    >>> facts = {"bounds": (15, 32), "domain": (0, 12), "grid": years.grid}
    >>> model = PrivateFPCA(n_components=2, epsilon=9.0, **facts).fit(years.data)
    >>> model.components_.shape, model.sample(5).shape
    ((2, 12), (5, 12))
    """

    def __init__(
        self,
        *,
        bounds: Any,
        n_components: int | None = None,
        domain: Any = None,
        grid: Any = None,
        epsilon: float = 1.0,
        delta: float = 0.0,
        mechanism: str = "auto",
        kernel: Any = None,
        basis: Any = None,
        n_basis: int | str = "pss",
        center: Any = None,
        norm_bound: float | None = None,
        radius: float | None = None,
        denoise: bool = True,
        missing: str = "error",
        ledger: str | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            bounds=bounds,
            domain=domain,
            grid=grid,
            epsilon=epsilon,
            delta=delta,
            mechanism=mechanism,
            kernel=kernel,
            basis=basis,
            n_basis=n_basis,
            center=center,
            norm_bound=norm_bound,
            radius=radius,
            denoise=denoise,
            missing=missing,
            ledger=ledger,
            random_state=random_state,
            verbose=verbose,
        )
        self.n_components = n_components

    def transform(self, X: Any) -> np.ndarray:
        """Compute the scores of curves on the released components.

        They are *not* private if the curves are, and refused in strict mode.

        Parameters
        ----------
        X : array-like, frame, Curves or FDataGrid
            Curves in a form that `fit` takes; values are clipped at `bounds`.

        Returns
        -------
        ndarray, shape (n_rows, n_components)
            The scores: inner products of components with curve minus mean.
        """
        refuse_in_strict_mode(self, "transform")
        refuse_blocks("transform", X)
        return self._scores(X)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Release mean and covariance, then compute the scores of the same curves.

        Refused in strict mode, before the release: see `transform`. So are rows in
        blocks: fit them, then transform block by block.

        Parameters
        ----------
        X : array-like, frame, Curves or FDataGrid
            *Private.* As in `fit`.
        y : None
            Ignored.
        **fit_params
            Further arguments of `fit`.

        Returns
        -------
        ndarray, shape (n_rows, n_components)
            What `transform` returns.
        """
        refuse_in_strict_mode(self, "transform")
        refuse_blocks("fit_transform", X)
        return super().fit_transform(X, y, **fit_params)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Turn scores into curves.

        Parameters
        ----------
        X : array-like, shape (n_rows, n_components)
            Scores.

        Returns
        -------
        ndarray, shape (n_rows, n_points[, n_outputs])
            The curves on `grid_`: mean plus scores times components.
        """
        check_is_fitted(self)
        scores = check_array(X, dtype=np.float64)
        if scores.shape[1] != len(self.components_):
            raise ValueError(
                f"X must have one column for each of {len(self.components_)} "
                f"components, got {scores.shape[1]}"
            )
        return self.mean_ + np.tensordot(scores, self.components_, 1)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw synthetic curves with normal scores, from fresh random bits.

        They are functions of the release alone, hence as private as it is.

        Parameters
        ----------
        n_samples : int, default=1
            How many curves.
        random_state : int, RandomState or None, default=None
            The source; None is the operating system.

        Returns
        -------
        ndarray, shape (n_samples, n_points[, n_outputs])
            Curves on `grid_`.
        """
        check_is_fitted(self)
        n_samples = check_count(n_samples, "n_samples")
        law = IndependentGaussian((1.0,) * len(self.components_))
        scores = law.sample(n_samples, random_bits(random_state, purpose=1))
        return self.inverse_transform(scores * np.sqrt(self.explained_variance_))

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _scores(self, X: Any) -> np.ndarray:
        """What `transform` returns; a private search may ask for it at any time."""
        check_is_fitted(self)
        check_feature_names(self, X, reset=False)
        curves = as_curves(
            X, grid=self.grid, domain=self.basis_.domain, missing=self.missing
        )
        expected = getattr(self, "n_features_in_", None)
        if not isinstance(X, Curves) and expected not in (None, curves.shape[1]):
            raise ValueError(
                f"X has {curves.shape[1]} features, but {type(self).__name__} is "
                f"expecting {expected} features as input"
            )
        if curves.n_outputs != len(self._clip.low):
            raise ValueError(
                f"curves must have {len(self._clip.low)} outputs, got "
                f"{curves.n_outputs}"
            )
        with np.errstate(all="ignore"):
            chunks = curve_coefficients(
                curves, self.basis_.projection, self.basis_.domain, self._clip
            )
            rows = np.concatenate(list(chunks)) - self.mean_coef_.ravel()
            rows[curves.all_missing] = 0.0
        return rows @ self.component_coef_.reshape(len(self.components_), -1).T

    # What acts after the release, and how much of it a value asks for.
    _after_release: ClassVar = {"n_components": lambda n_components: n_components or 1}

    def _released_again(self, n_components: int | None) -> PrivateFPCA:
        """The same release with fewer components."""
        again = copy.copy(self)
        again.n_components = n_components
        again._set_components()
        return again

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_components is not None:
            check_count(self.n_components, "n_components")

    def _fewest_functions(self, n_outputs: int) -> int:
        return -(-(self.n_components or 1) // n_outputs)

    def _set_components(self) -> None:
        """Eigenfunctions of the released covariance, with a sign of their own."""
        matrix = self._square(self.coef_)
        values, vectors = np.linalg.eigh(matrix)
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
        kept = self.n_components or max(1, self.n_detectable_)
        vectors = vectors[:, :kept]
        peaks = np.abs(vectors).argmax(axis=0)
        vectors = vectors * np.where(vectors[peaks, range(kept)] < 0, -1.0, 1.0)
        functions = np.moveaxis(self._on_grid(vectors), 2, 0)
        total = values.sum()
        self.component_coef_ = vectors.T.reshape(kept, *self.mean_coef_.shape)
        self.components_ = functions.reshape(kept, *self.mean_.shape)
        self.explained_variance_ = values[:kept]
        self.explained_variance_ratio_ = values[:kept] / (total if total > 0 else 1.0)
