"""The private regression function: scalars or curves on numbers, curves or a kernel."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._base import PrivateEstimator, ScoredOnData, plans
from .._planned import PlannedRelease
from .._sklearn import check_feature_names
from ..blocks import open_rows
from ..noise import random_bits, release_lattice
from ._designs import Design, features_of, warn_of_numbers
from ._regression_rows import PublicParameters, RegressionReading
from ._regressor_fit import (
    Fitted,
    Targets,
    check_parameters,
    guarantee_of,
    planned_release,
    private_value,
    public_question,
    warn_of_error,
)
from ._regressor_plan import best_plan
from ._targets import CurveTargets


class ICLPRegressor(ScoredOnData, RegressorMixin, PrivateEstimator):
    """Regression function of people's data, released under differential privacy.

    Targets are numbers or curves; covariates are numbers, curves, or points of a space
    with a kernel. Everything is clipped to public bounds; what gets noise, once, is
    either least-squares statistics or a regularised minimiser.

    Parameters
    ----------
    X_bounds : tuple of two floats, or of two arrays of shape (n_features,)
        *Public.* Covariates are clipped to them: of each column, or of the values of
        curves (arrays of shape (n_outputs,) then). Take them from what is known without
        the data, never from the data. With several curve predictors one pair for all,
        or a dict or list of pairs. Two arrays are (all lows, all highs); before there
        are data, they also tell `privacy_safe_parameters` how many columns X has.
    y_bounds : tuple of two floats, or of two arrays of shape (n_outputs,)
        *Public.* Targets, or the values of target curves, are clipped to them.
    X_domain : tuple of two floats, dict or list of them, default=None
        *Public.* X holds curves on this interval; a dict (by name) or list of tuples
        says that there are several curve predictors. None: X holds numbers, unless it
        is a `Curves` or functional data.
    X_grid : array-like, "columns", dict or list of them, default=None
        *Public.* Where wide curves are observed; None is equally spaced.
    y_domain : tuple of two floats, default=None
        *Public.* y holds curves on this interval; None: numbers, unless it is a
        `Curves` or functional data.
    y_grid : array-like or "columns", default=None
        *Public.* Where wide target curves are observed; None is equally spaced.
    X_basis : int, Basis, dict or list of Basis, or "pss", default="pss"
        *Public.* The basis of curves in X, or how many cosines (or coordinates of a
        kernel) are used; "pss" selects from public facts.
    y_basis : int, Basis or "pss", default="pss"
        *Public.* The same for target curves.
    kernel : Kernel or "linear", default=None
        *Public.* For numbers: a kernel in units of X, or functions that are linear in
        each column. None is a Gaussian kernel for scalar targets on up to three
        columns, and linear otherwise.
    penalty : {"qr", "ar"}, default="qr"
        *Public.* The ICLP penalty of coefficients: quadratic, or absolute.
    eta : float or "pss", default="pss"
        *Public.* The exponent of the penalty of curves, > 1/2; "pss" is 3/2.
    psi : float or "pss", default="pss"
        *Public.* The strength of the penalty, beside a mean loss of targets in units of
        their bound and features of norm at most one; "pss" selects it.
    loss : {"squared", "huber", "epsilon_insensitive"}, default="squared"
        *Public.* Others than "squared" are for scalar targets.
    threshold : float, default=None
        *Public.* Of "huber" and "epsilon_insensitive", in units of y; None is 1/8 and
        1/20 of the width of `y_bounds`.
    method : {"auto", "statistics", "minimiser"}, default="auto"
        *Public.* What gets noise; "auto" predicts which is better. See Notes.
    mechanism : {"auto", "spherical", "block-spherical", "gaussian", "laplace"}, \
default="auto"
        *Public.* The noise law; "auto" has the smallest predicted error.
    weight_cap : float, default=None
        *Public.* The largest `sample_weight`; larger ones are lowered to it.
    clip : bool, default=True
        *Public.* Whether predictions are clipped to `y_bounds`.
    denoise : bool, default=True
        *Public.* Average coefficient functions of target curves over prior laws of
        smooth curves; those of scalar targets, too, if statistics are released, the
        penalty is "qr" and its psi "pss". It is free: the guarantee is the same.
    missing : {"error", "interpolate"}, default="error"
        *Public.* What to do with NaN values of curves.
    epsilon : float, default=1.0
        *Public.* The budget, > 0.
    delta : float, default=0.0
        *Public.* With delta > 0 Gaussian noise may be used.
    ledger : str, default=None
        *Public.* The file of a `BudgetLedger` that is charged before noise is drawn.
    random_state : int, RandomState or None, default=None
        None draws from the operating system. Anything else makes a *seeded* release,
        which gives no privacy: for tests and teaching.

    Attributes
    ----------
    coef_ : ndarray, or dict or list of them
        Released. In units of y per unit of X. Numbers: shape (n_features,), or
        (n_features, n_points) for target curves, a coefficient function of each column.
        Curves: a function on `X_grid_`, shape (n_points,), whose L2 inner product with
        the curve is what it adds; of target curves a surface. Several curve predictors:
        one for each. A kernel: coordinates in `features_`, shape (n_components,).
    intercept_ : float or ndarray
        Public or released. What is added; on `y_grid_` for target curves.
    theta_ : ndarray, shape (p, q)
        Released. Coefficients of `features_`, in units of the bound of targets.
    features_ : Design
        Public map from rows to features of norm at most one.
    X_grid_, y_grid_ : ndarray, or dict or list of them
        Public points of the domains, where there are curves.
    noise_std_ : ndarray, or dict or list of them
        Public or released. The deviation of the noise of `coef_`, to first order,
        before denoising; None with the absolute penalty.
    intercept_std_ : float or ndarray
        Public or released. The same for `intercept_`, at each point of target curves.
    method_ : {"statistics", "minimiser"}
        Public route that was taken.
    psi_, eta_ : float
        Public strength and exponent of the penalty.
    law_ : NoiseLaw
        Public law of the noise.
    guarantee_ : PrivacyGuarantee
        What is promised, and per which unit.
    n_people_ : int
        Public number of contributions.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Public number and names of the columns of X.

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
    *Model.* A row has features x, norm(x) <= 1, and targets u, norm(u) <= 1: numbers
    scaled to [-1, 1], or L2 coefficients of centred curves in units of the norm bound.
    theta minimises mean loss(u - theta' x) + psi sum_j W_j norm(theta_j)^2 ("qr") or
    psi sum_j sqrt(W_j) abs(theta_j) ("ar"). W_j is (lambda_1 / lambda_j)^eta for curves
    and 1 otherwise. Rows of a person are averaged; n is the number of people.

    *"statistics"* adds noise to the sums of x x' and x u', and solves what is left. It
    is linear in the data, so its sensitivity does not depend on psi (see
    `regression_sensitivity`: the first sum is free), small psi costs nothing, the
    constant is not penalised, and other penalties are free afterwards. But there are
    p (p + 1) / 2 + p q noisy numbers: it wins for few features.

    *"minimiser"* adds noise to theta itself. Its sensitivity is of order 1 / (psi n)
    and p q numbers get noise: it wins where p is large beside what psi leaves free, as
    with kernels, and serves every convex loss. The constant is penalised.

    "auto" compares the predicted squared errors of both, with their best psi, number of
    features and law, on a public reference problem; both are correct, whichever it is.
    The absolute penalty is not strongly convex, its minimiser is not stable: it is
    offered by statistics only.

    *After the release*: A is projected on positive semi-definite matrices, psi is at
    least about the norm of its noise, predictions are clipped. Averaging knows how
    noisy A and B are: it trusts directions in which covariates hardly vary less than
    ridge regression with one psi does, and its coefficients err less there.
    ``score(X, y)`` on private data is not private.

    References
    ----------
    .. [1] Lin and Reimherr (2023), "Pure differential privacy for functional summaries
       with a Laplace-like process".
    .. [2] O. Bousquet and A. Elisseeff, "Stability and generalization", Journal of
       Machine Learning Research 2, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import ICLPRegressor
    >>> dose, t = np.linspace(0, 1, 500)[:, None], np.linspace(0, 1, 20)
    >>> model = ICLPRegressor(X_bounds=(0, 1), y_bounds=(-1, 2), y_domain=(0, 1))
    >>> model.fit(dose, dose * np.sin(3 * t)).coef_.shape
    (1, 20)
    """

    def __init__(
        self,
        *,
        X_bounds: Any,
        y_bounds: Any,
        X_domain: Any = None,
        X_grid: Any = None,
        y_domain: Any = None,
        y_grid: Any = None,
        X_basis: Any = "pss",
        y_basis: Any = "pss",
        kernel: Any = None,
        penalty: str = "qr",
        eta: float | str = "pss",
        psi: float | str = "pss",
        loss: str = "squared",
        threshold: float | None = None,
        method: str = "auto",
        mechanism: str = "auto",
        weight_cap: float | None = None,
        clip: bool = True,
        denoise: bool = True,
        missing: str = "error",
        epsilon: float = 1.0,
        delta: float = 0.0,
        ledger: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.X_bounds = X_bounds
        self.y_bounds = y_bounds
        self.X_domain = X_domain
        self.X_grid = X_grid
        self.y_domain = y_domain
        self.y_grid = y_grid
        self.X_basis = X_basis
        self.y_basis = y_basis
        self.kernel = kernel
        self.penalty = penalty
        self.eta = eta
        self.psi = psi
        self.loss = loss
        self.threshold = threshold
        self.method = method
        self.mechanism = mechanism
        self.weight_cap = weight_cap
        self.clip = clip
        self.denoise = denoise
        self.missing = missing
        self.epsilon = epsilon
        self.delta = delta
        self.ledger = ledger
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None
    ) -> ICLPRegressor:
        """Release a regression function.

        Parameters
        ----------
        X : array-like, frame, Curves, FDataGrid, dict or list
            *Private.* Numbers of shape (n_rows, n_features); or curves, one in each
            row, as `ICLPMean` reads them; or several curve predictors: a dict, a list,
            or one wide table whose columns are cut by the lengths of `X_grid`. Or rows
            in blocks: memory maps, `Blocks`, dask arrays or frames; for a minimiser
            they are gathered by one worker, which must hold them.
        y : array-like, frame, Curves or FDataGrid
            *Private.* Numbers of shape (n_rows,), or curves.
        groups : array-like, shape (n_rows,), default=None
            *Private* labels of the person who owns each row; how many there are is
            public. None makes every row a person, and the guarantee says so.
        sample_weight : array-like, shape (n_rows,), default=None
            *Private* weights >= 0, relative to `weight_cap`, of the losses of rows.

        Returns
        -------
        self : ICLPRegressor
            The fitted estimator.
        """
        # Step 0: public facts, then the form of the data.
        check_parameters(self)
        bits = random_bits(self.random_state)
        rows = open_rows(X, y, sample_weight, groups)
        data = rows.read(RegressionReading(PublicParameters(self)))
        check_feature_names(self, rows.X, reset=True)
        n_people, unit = rows.people(len(data.rows))
        design, targets = data.design, data.targets
        # Only the form of the data decides whether every row is known to count.
        seen = design.seen(data.rows), targets.seen(data.values)
        complete = all(part is None for part in seen)
        is_counted = complete and sample_weight is None
        question = public_question(self, design, targets, n_people, unit, is_counted)
        plan = best_plan(question)
        law = plan.release.law
        design, targets = design.first(plan.n_features), targets.first(plan.n_targets)
        warn_of_numbers(self, design)
        warn_of_error(question, plan)

        with np.errstate(all="ignore"):  # a warning about numbers would tell of them
            # Step 1: exact sums, or a certified minimiser.
            compute = rows.sum if plan.method == "statistics" else rows.alone
            value = compute(partial(private_value, plan, design, targets))

            # Step 2: charge, then draw the noise once.
            guarantee = guarantee_of(plan, unit, bits.seeded)
            self._open_release(guarantee, n_people)
            lattice = release_lattice(law.smallest_scale, value)
            released = lattice.to_float(law.release(value, lattice, bits))

            # Step 3: public post-processing.
            fitted = Fitted(self, plan, design, targets, released)
            self._set_functions(design, targets, fitted)
        self.method_, self.psi_, self.law_ = plan.method, fitted.psi, law
        self.eta_, self.n_people_ = getattr(design, "eta", None), n_people
        vars(self).pop("n_features_in_", None)
        if design.n_columns is not None and not isinstance(rows.X, dict | list | tuple):
            self.n_features_in_ = design.n_columns
        self.guarantee_ = guarantee
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Evaluate the released function.

        Parameters
        ----------
        X : array-like, frame, Curves, FDataGrid, dict or list
            Covariates in the form that was fitted; they are clipped to `X_bounds`.

        Returns
        -------
        ndarray, shape (n_rows,), or (n_rows, n_points[, n_outputs])
            Predictions, in units of y; curves on `y_grid_`.
        """
        check_is_fitted(self)
        with np.errstate(all="ignore"):
            units = features_of(self, X) @ self.theta_
            values = units @ self._targets.map + self._targets.center
        values = self._targets.shaped(values)
        return self._targets.clipped(values) if self._clip else values

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        has_curves = self.X_domain is not None
        tags.input_tags.three_d_array = has_curves
        tags.input_tags.allow_nan = has_curves and self.missing == "interpolate"
        return tags

    @plans
    def _planned_release(
        self, n_samples: int, n_outputs: int = 1, n_points: int | None = None
    ) -> PlannedRelease:
        return planned_release(self, n_samples, n_outputs, n_points)

    def _set_functions(self, design: Design, targets: Targets, fitted: Fitted) -> None:
        """Turn coefficients of features into functions in units of X and y."""
        self.features_, self._targets, self._clip = design, targets, bool(self.clip)
        self.theta_ = fitted.theta
        offset, parts = design.slopes(fitted.theta)
        self.intercept_ = targets.shaped(offset @ targets.map + targets.center)
        if self.intercept_.ndim == 0:
            self.intercept_ = float(self.intercept_)
        constants, units = design.slopes(np.eye(design.size))
        std = fitted.deviation(constants[None], targets.map)
        self.intercept_std_ = None if std is None else targets.shaped(std[0])
        if np.ndim(self.intercept_std_) == 0 and std is not None:
            self.intercept_std_ = float(self.intercept_std_)
        coefs, deviations = [], []
        for part, left in zip(parts, units, strict=True):
            shape = part.shape[:-1] if part.shape[1:-1] != (1,) else part.shape[:1]
            coef = part.reshape(-1, targets.size) @ targets.map
            coefs.append(targets.shaped(coef.reshape(*shape, -1)))
            std = fitted.deviation(left.reshape(-1, design.size), targets.map)
            if std is not None:
                std = targets.shaped(std.reshape(*shape, -1))
            deviations.append(std)
        self.coef_ = design.named(coefs)
        self.noise_std_ = design.named(deviations)
        for name in ("X_grid_", "y_grid_"):
            vars(self).pop(name, None)
        if design.points:
            self.X_grid_ = design.named([points.copy() for points in design.points])
        if isinstance(targets, CurveTargets):
            self.y_grid_ = targets.predictor.points.copy()
