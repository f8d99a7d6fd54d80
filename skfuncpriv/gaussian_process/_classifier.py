"""A private kernel classifier: a regularised minimiser in an RKHS plus noise."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from .._base import ScoredOnData
from ._labels import check_stated, flat, read_classes, read_labels
from ._losses import HingeLoss, LogisticLoss, Loss
from ._machine import KernelMachine, MachineTargets
from ._rows import with_targets

LOSSES: dict[str, type[Loss]] = {"logistic": LogisticLoss, "hinge": HingeLoss}


def _has_probabilities(model: PrivateKernelClassifier) -> bool:
    return getattr(model, "_released_loss", model.loss) == "logistic"


class PrivateKernelClassifier(ScoredOnData, ClassifierMixin, KernelMachine):
    """Kernel logistic regression or support vector machine, under differential privacy.

    f minimises the mean loss plus psi times the squared norm of f in the RKHS of a
    kernel, on a public finite expansion of the kernel, and its coordinates get noise
    once. The released function is an object that may be published.

    Parameters
    ----------
    bounds : tuple of two floats, or of two arrays of shape (n_features,)
        *Public.* Rows of X are clipped to them. Take them from what is known without
        the data, never from the data.
    loss : {"logistic", "hinge"}, default="logistic"
        *Public.* log(1 + exp(-y f)), which also gives probabilities, or max(0, 1 - y f)
        of the support vector machine; labels y are -1 and 1.
    classes : array-like, default=None
        *Public.* The labels that y may hold. None declares those that do occur to be
        public, as n is; state them where even that would tell something. Strict mode
        demands them, and a row with any other label has no say there; rows in blocks
        demand them, too.
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
        *Public.* The duality gap up to which the minimum is found; it is paid for. None
        adds a 64th to the sensitivity, or what float64 can certify.
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
    coef_ : ndarray, shape (1 or n_classes, n_components)
        Released. Coordinates of the functions in `features_`.
    classes_ : ndarray, shape (n_classes,)
        Public labels, in order.
    features_ : KernelFeatures
        Public map to coordinates of norm at most one.
    psi_, gap_ : float
        Public strength of regularisation and tolerance of the minimum.
    sensitivity_ : float
        Public bound on how far the coordinates move between neighbours.
    law_ : NoiseLaw
        Public law of the noise of the coordinates.
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
    *Sensitivity* [1]_ [2]_. Losses are 1-Lipschitz and features have norm
    at most kappa = 1 + 2^-40, in floats: they are clipped last. There is no unpenalised
    intercept. So minimisers of neighbours are at most kappa / (psi n) apart, see
    `erm_sensitivity`. Of one person with many rows the mean of the losses counts, which
    is 1-Lipschitz too: `groups` leave the sensitivity as it is, n is the number of
    people. What is computed instead of the minimiser has a duality gap, certified with
    its rounding errors, of at most `gap_`, hence is within ``sqrt(gap_ / psi_)`` of it,
    on both sides. No point that is not certified is ever released: if none is found (of
    no data set that we tried) `PrivacyError` is raised before the charge, and is for
    the curator's eyes.

    *More than two classes* have one function each, against the rest. A person moves
    all of them, so the sensitivity of all coordinates together is sqrt(n_classes)
    times as large; there is one draw of noise and one charge.

    *After the release* each function is shrunk to the ball in which every minimiser
    lies. ``score(X, y)`` on private data is not private: it is for the curator's eyes.

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
    >>> from sklearn.datasets import make_moons
    >>> from skfuncpriv import PrivateKernelClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = PrivateKernelClassifier(bounds=([-2, -1.5], [3, 2]), classes=[0, 1])
    >>> model.fit(X, y).predict([[0.0, 1.0], [1.0, -0.5]]).shape
    (2,)
    """

    def __init__(
        self,
        *,
        bounds: Any,
        loss: str = "logistic",
        classes: Any = None,
        kernel: Any = None,
        psi: float | str = "pss",
        n_components: int | str = "auto",
        gap: float | None = None,
        epsilon: float = 1.0,
        delta: float = 0.0,
        rho: float | None = None,
        calibration: str = "analytic",
        ledger: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.bounds = bounds
        self.loss = loss
        self.classes = classes
        self.kernel = kernel
        self.psi = psi
        self.n_components = n_components
        self.gap = gap
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.calibration = calibration
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> PrivateKernelClassifier:
        """Release a classifier.

        Parameters
        ----------
        X : array-like or frame, shape (n_rows, n_features)
            *Private.* Rows of finite numbers; or rows in blocks, `Blocks`, a dask array
            or frame, which are gathered by one worker, which must hold them.
        y : array-like, shape (n_rows,)
            *Private.* Labels.
        groups : array-like, shape (n_rows,), default=None
            *Private* labels of the person who owns each row; how many there are is
            public. None makes every row a person, and the guarantee says so.

        Returns
        -------
        self : PrivateKernelClassifier
            The fitted estimator.
        """
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {list(LOSSES)}, got {self.loss!r}")
        strict = self._is_strict()
        stated = read_classes(self.classes, strict)
        check_stated(stated, X)
        rows, data = self._read(X, flat(y), groups)
        n_rows, classes = len(data.points), stated
        read: Any = partial(_signed_labels, stated, strict)
        if stated is None:  # rows are in memory
            codes, classes = read_labels(data.targets, n_rows, None)
            read = partial(_signed, classes, codes)
        rows.map(partial(with_targets, read))
        n_outputs, loss = len(_firsts(classes)), LOSSES[self.loss]()
        coef, guarantee = self._release(rows, n_rows, n_outputs, loss)
        self.coef_, self.classes_ = coef, classes
        self._released_loss = self.loss
        self.guarantee_ = guarantee
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Evaluate the released functions.

        Parameters
        ----------
        X : array-like or frame, shape (n, n_features)
            Points; those outside the bounds are moved to them.

        Returns
        -------
        ndarray, shape (n,) or (n, n_classes)
            With two classes, positive for the second one.
        """
        values = self._values(X)
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels.

        Parameters
        ----------
        X : array-like or frame, shape (n, n_features)
            Points.

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
        X : array-like or frame, shape (n, n_features)
            Points.

        Returns
        -------
        ndarray, shape (n, n_classes)
            Rows that sum to one. Regularisation and noise both pull on them.
        """
        share = expit(self.decision_function(X))
        if share.ndim == 1:
            return np.stack([1.0 - share, share], axis=1)
        return share / share.sum(axis=1, keepdims=True)


def _signed_labels(
    stated: np.ndarray | None, strict: bool, y: Any, n_rows: int
) -> MachineTargets:
    codes, classes = read_labels(y, n_rows, stated, strict)
    return _signed(classes, codes)


def _signed(classes: np.ndarray, codes: np.ndarray, *_: Any) -> MachineTargets:
    """Labels of each function: 1 for its class and -1 for every other one."""
    targets = np.where(codes == _firsts(classes)[:, None], 1.0, -1.0)
    return MachineTargets(targets, codes >= 0)


def _firsts(classes: np.ndarray) -> np.ndarray:
    """The class of each function; one function will do for two classes."""
    return np.arange(len(classes))[1 if len(classes) == 2 else 0 :]
