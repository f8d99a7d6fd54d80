"""A private linear classifier of curves or numbers: output perturbation."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._base import (
    PrivateEstimator,
    ScoredOnData,
    plans,
    warn_if_noise_dominates,
)
from .._planned import PlannedRelease
from .._sklearn import check_feature_names
from .._validation import check_count
from ..blocks._rows import open_rows, unmapped
from ..gaussian_process._labels import check_stated, read_classes
from ..noise import random_bits, release_lattice
from ._classifier_facts import (
    check_parameters,
    planned_release,
    released_functions,
)
from ._classifier_plan import classifier_plan
from ._designs import features_of, warn_of_numbers
from ._regression_rows import (
    LabelReading,
    PublicParameters,
    counted,
    minimisers,
    with_codes,
)


def _has_probabilities(model: ICLPClassifier) -> bool:
    return getattr(model, "_released_loss", model.loss) == "logistic"


class ICLPClassifier(ScoredOnData, ClassifierMixin, PrivateEstimator):
    """Logistic regression on curves or numbers, under differential privacy.

    A label is predicted by an intercept plus the inner product of the curve with a
    coefficient function (functional logistic regression), or by a function of numbers
    in an RKHS. The regularised minimiser of the mean loss gets noise once.

    Parameters
    ----------
    X_bounds : tuple of two floats, or of two arrays
        *Public.* Values of X are clipped to them. Take them from what is known without
        the data, never from the data. With several curves a dict or list of them.
    X_domain : tuple of two floats, or dict or list of them, default=None
        *Public.* The interval of the argument of curves; a dict or list states several
        curves for each row. None says that X holds numbers, unless it is a `Curves`.
    X_grid : array-like, "columns", or dict or list of them, default=None
        *Public.* Where wide curves are observed; None is equally spaced.
    X_basis : Basis, int or "pss", default="pss"
        *Public.* The basis of curves, or how many cosines; of numbers with a kernel how
        many coordinates. How many of them are used is chosen from public facts.
    kernel : Kernel, "linear" or None, default=None
        *Public.* For numbers: the kernel, in units of X. None is a `GaussianKernel` on
        up to three features, "linear" on more.
    loss : {"logistic", "hinge"}, default="logistic"
        *Public.* log(1 + exp(-y f)), which also gives probabilities, or max(0, 1 - y f)
        of the support vector machine; labels y are -1 and 1.
    classes : array-like, default=None
        *Public.* The labels that y may hold. None declares those that do occur to be
        public, as n is; state them where even that would tell something. Strict mode
        demands them, and a row with any other label has no say there; rows in blocks
        demand them, too.
    eta : float or "pss", default="pss"
        *Public.* For curves: the exponent of the quadratic ICLP penalty, > 1/2. "pss"
        is 3/2.
    psi : float or "pss", default="pss"
        *Public.* The factor of the penalty beside the mean loss, > 0; "pss" has
        the smallest error in a public reference problem; see Notes.
    gap : float, default=None
        *Public.* The duality gap up to which the minimum is found; it is paid for. None
        adds a 64th to the sensitivity, or what float64 can certify.
    weight_cap : float, default=None
        *Public.* The largest `sample_weight`; larger ones are lowered to it.
    missing : {"error", "interpolate"}, default="error"
        *Public.* What to do with NaN in curves.
    epsilon : float, default=1.0
        *Public.* The budget, > 0.
    delta : float, default=0.0
        *Public.* With delta > 0 Gaussian noise may be used.
    mechanism : {"auto", "spherical", "gaussian"}, default="auto"
        *Public.* The noise law; "auto" takes the quieter one.
    ledger : str, default=None
        *Public.* The file of a `BudgetLedger` that is charged before noise is drawn.
    random_state : int, RandomState or None, default=None
        None draws from the operating system. Anything else makes a *seeded* release,
        which gives no privacy: for tests and teaching.

    Attributes
    ----------
    coef_ : ndarray, shape (1 or n_classes, n_points[, n_outputs]), or dict or list
        Released. The coefficient functions on `X_grid_`, whose L2 inner product with
        the curve is what it adds; a dict or list for several curves. Of numbers slopes,
        shape (1 or n_classes, n_features), or coordinates of the kernel's expansion.
    intercept_ : ndarray, shape (1 or n_classes,)
        Public or released. What is left where X is zero, penalised like the rest; zero
        with a kernel.
    theta_ : ndarray, shape (n_components, 1 or n_classes)
        Released. Coefficients of `features_`.
    noise_std_ : ndarray, or dict or list of them
        Public deviation of the noise of a coefficient function, without the shrinkage
        to the ball of minimisers.
    classes_ : ndarray, shape (n_classes,)
        Public labels, sorted.
    features_ : Design
        Public map from rows to features of norm at most one.
    X_grid_ : ndarray, or dict or list of them
        Public points of the coefficient functions, where there are curves.
    psi_, gap_ : float
        Public strength of regularisation and tolerance of the minimum.
    sensitivity_ : float
        Public bound on how far the coefficients of whitened features move between
        neighbours.
    law_ : NoiseLaw
        Public law of the noise of the coefficients of whitened features.
    guarantee_ : PrivacyGuarantee
        What is promised, and per which unit.
    n_people_ : int
        Public number of contributions.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Public number and names of the columns of one wide table.

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
    *Model.* Features x of a row are a constant and the coefficients of the clipped and
    centred curve in units of its norm bound (or numbers scaled to [-1, 1], or
    coordinates of a kernel), divided so that their norm is at most one. theta minimises
    mean_i w_i loss(y_i, theta' x_i) + psi sum_j penalty_j theta_j^2, with the quadratic
    ICLP penalty (lambda_1 / lambda_j)^eta for curves and one for numbers. In z_j = x_j
    / sqrt(penalty_j), of norm at most one, the penalty is a plain squared norm.

    *Sensitivity* [2]_. Losses are 1-Lipschitz and all coefficients are penalised, so
    minimisers of neighbours are at most kappa / (psi n) apart, kappa = 1 + 2^-40: the
    bound of `erm_sensitivity`, proved there. A person's term is a sum of losses whose
    weights, shares of `weight_cap` over the number of rows, add up to at most one: it
    is 1-Lipschitz too, whatever the weights, and n is the number of people. The mean
    is over n people, not over the sum of weights, which is private. What is computed
    instead of the minimiser has a certified duality gap of at most `gap_`, hence is
    within ``sqrt(gap_ / psi_)`` of it, on both sides. Classes beyond two have one
    function each against the rest; a person moves all of them, so the sensitivity is
    sqrt(n_classes) times as large, with one draw and one charge.

    *Why not noisy statistics?* Least squares needs the sums of x x' and x y alone, once
    noisy they serve every psi. The logistic loss has no statistics of fixed size: its
    gradient depends on every row at every theta. A quadratic approximation has some,
    but of p (p + 3) / 2 numbers instead of p, and misses the optimum even without
    noise. The minimiser itself has p numbers and a sensitivity that falls as 1 / n.

    *Relation to* `PrivateKernelClassifier`. For numbers with a kernel it is the same
    machine with the same sensitivity. This class adds curves, a linear kernel and
    weights; that one adds zero-concentrated budgets.

    *Units.* psi = 1 / (2 C n) of `LogisticRegression` on the whitened features z,
    without its intercept.

    *psi and the features*, if they are not stated, have the smallest expected squared
    error of the decision function in a reference problem: z_j independent with the mean
    squares e_j that `features_` states, labels of a logistic model whose f has mean
    square 4 beside a constant of 4, and is white in z (a Gaussian process whose
    covariance is the kernel), so that the curvature of the loss is h = 0.15 on average.
    To second order the error of a coefficient is w_j (1 - g_j) + N(0, g_j^2 / (n h
    e_j)) + noise, with g_j = h e_j / (h e_j + 2 psi). It sees n, the budget and the
    bounds alone, and promises nothing about data.

    *After the release* each function is shrunk to the ball in which every minimiser
    lies. ``score(X, y)`` on private data is not private: it is for the curator's eyes.

    References
    ----------
    .. [1] Lin and Reimherr (2023), "Pure differential privacy for functional summaries
       with a Laplace-like process".
    .. [2] O. Bousquet and A. Elisseeff, "Stability and generalization", Journal of
       Machine Learning Research 2, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import ICLPClassifier
    >>> y, t = np.arange(2000) % 2, np.linspace(0, 1, 20)
    >>> curves = np.sin(2 * np.pi * (t + y[:, None] / 2))
    >>> model = ICLPClassifier(X_bounds=(-1, 1), X_domain=(0, 1), classes=[0, 1])
    >>> model.fit(curves, y).coef_.shape
    (1, 20)
    """

    def __init__(
        self,
        *,
        X_bounds: Any,
        X_domain: Any = None,
        X_grid: Any = None,
        X_basis: Any = "pss",
        kernel: Any = None,
        loss: str = "logistic",
        classes: Any = None,
        eta: float | str = "pss",
        psi: float | str = "pss",
        gap: float | None = None,
        weight_cap: float | None = None,
        missing: str = "error",
        epsilon: float = 1.0,
        delta: float = 0.0,
        mechanism: str = "auto",
        ledger: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.X_bounds = X_bounds
        self.X_domain = X_domain
        self.X_grid = X_grid
        self.X_basis = X_basis
        self.kernel = kernel
        self.loss = loss
        self.classes = classes
        self.eta = eta
        self.psi = psi
        self.gap = gap
        self.weight_cap = weight_cap
        self.missing = missing
        self.epsilon = epsilon
        self.delta = delta
        self.mechanism = mechanism
        self.ledger = ledger
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None
    ) -> ICLPClassifier:
        """Release a classifier.

        Parameters
        ----------
        X : array-like, frame, Curves or FDataGrid, or dict or list of them
            *Private.* One row of numbers or one curve per row; several curves per row
            are a dict or list with the keys of `X_domain`, or one wide table. Or rows
            in blocks, `Blocks`, dask arrays or frames, which are gathered by one
            worker, which must hold them.
        y : array-like, shape (n_rows,)
            *Private.* Labels.
        groups : array-like, shape (n_rows,), default=None
            *Private* labels of the person who owns each row; how many there are is
            public. The mean of a person's losses counts. None makes every row a person,
            and the guarantee says so.
        sample_weight : array-like, shape (n_rows,), default=None
            *Private* weights >= 0, at most `weight_cap`; None is one for every row.

        Returns
        -------
        self : ICLPClassifier
            The fitted estimator.
        """
        # Step 0: public facts, then the form of the data.
        check_parameters(self)
        bits = random_bits(self.random_state)
        stated = read_classes(self.classes, self._is_strict())
        check_stated(stated, X)
        rows = open_rows(*unmapped((X, y, sample_weight, groups)))
        data = rows.read(LabelReading(PublicParameters(self)))
        classes = stated
        if stated is None:  # rows are in memory
            codes, classes = data.read_labels(None)
            rows.map(partial(counted, codes))
        else:
            rows.map(partial(with_codes, stated, self._is_strict()))
        check_feature_names(self, rows.X, reset=True)
        n_people, unit = rows.people(len(data.rows))
        chosen = classifier_plan(self, data.design, n_people, unit, len(classes))
        plan, design = chosen.release, chosen.design
        warn_of_numbers(self, design)
        remedy = "epsilon, or more people,"
        warn_if_noise_dominates(plan.expected_square, plan.largest_norm, remedy)

        with np.errstate(all="ignore"):  # a warning about numbers would tell of them
            # Step 1: the minimisers, to the public gap.
            value = rows.alone(partial(minimisers, plan, design, len(classes)))

            # Step 2: charge, then draw the noise once.
            guarantee = plan.guarantee(bits.seeded)
            self._open_release(guarantee, n_people)
            lattice = release_lattice(plan.law.smallest_scale, value)
            released = lattice.to_float(plan.law.release(value, lattice, bits))

            # Step 3: public post-processing.
            whitened = plan.coefficients(released).T
            self.theta_ = whitened / np.sqrt(design.penalty)[:, None]
            parts = released_functions(design, self.theta_, float(plan.law.std[0]))
            self.intercept_, self.coef_, self.noise_std_ = parts
        self.features_, self.law_, self.classes_ = design, plan.law, classes
        self.psi_, self.gap_, self.sensitivity_ = plan.psi, plan.gap, plan.sensitivity
        self.n_people_, self._released_loss = n_people, self.loss
        for name in ("n_features_in_", "X_grid_"):
            vars(self).pop(name, None)
        if design.points:
            self.X_grid_ = design.named([points.copy() for points in design.points])
        is_table = not isinstance(rows.X, dict | list | tuple)
        if design.n_columns is not None and (is_table or not design.points):
            self.n_features_in_ = design.n_columns
        self.guarantee_ = guarantee
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Evaluate the released functions.

        Parameters
        ----------
        X : rows in the form that was fitted
            Curves or numbers; values outside the bounds are clipped.

        Returns
        -------
        ndarray, shape (n,) or (n, n_classes)
            With two classes, positive for `classes_[1]`; otherwise a column for each
            entry of `classes_`.
        """
        check_is_fitted(self)
        with np.errstate(all="ignore"):
            values = features_of(self, X) @ self.theta_
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels.

        Parameters
        ----------
        X : rows in the form that was fitted
            Curves or numbers.

        Returns
        -------
        ndarray, shape (n,)
            Labels of `classes_`.
        """
        values = self.decision_function(X)
        codes = values.argmax(axis=1) if values.ndim == 2 else (values > 0).astype(int)
        return self.classes_[codes]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict probabilities; only with the logistic loss.

        Parameters
        ----------
        X : rows in the form that was fitted
            Curves or numbers.

        Returns
        -------
        ndarray, shape (n, n_classes)
            Rows that sum to one. Regularisation and noise both pull on them.
        """
        share = expit(self.decision_function(X))
        if share.ndim == 1:
            return np.stack([1.0 - share, share], axis=1)
        return share / share.sum(axis=1, keepdims=True)

    @plans
    def _planned_release(
        self, n_samples: int, n_outputs: int = 1, n_points: int | None = None
    ) -> PlannedRelease:
        """What it would release, from public facts alone."""
        check_parameters(self)
        n_people = check_count(n_samples, "n_samples")
        return planned_release(self, n_people, n_outputs, n_points)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        has_curves = self.X_domain is not None
        tags.input_tags.three_d_array = has_curves
        tags.input_tags.allow_nan = has_curves and self.missing == "interpolate"
        return tags
