"""Losses, small problems and reference solutions for the tests of kernel machines."""

import numpy as np
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC, LinearSVR

from skfuncpriv import PrivateKernelClassifier, PrivateKernelRegressor
from skfuncpriv.gaussian_process._duality import Objective
from skfuncpriv.gaussian_process._losses import (
    EpsilonInsensitiveLoss,
    HingeLoss,
    HuberLoss,
    LogisticLoss,
    SquaredLoss,
)

LOSSES = {
    "logistic": LogisticLoss(),
    "hinge": HingeLoss(),
    "huber": HuberLoss(0.25),
    "epsilon_insensitive": EpsilonInsensitiveLoss(0.1),
    "squared": SquaredLoss(),
}
ODD_LOSSES = {
    "huber-wide": HuberLoss(1.7),
    "huber-narrow": HuberLoss(0.01),
    "absolute": EpsilonInsensitiveLoss(0),
    "insensitive": EpsilonInsensitiveLoss(0.9),
}
ALL_LOSSES = LOSSES | ODD_LOSSES
CLASSIFIERS = ("logistic", "hinge")


def is_classifier(loss):
    return isinstance(loss, LogisticLoss | HingeLoss)


def targets_of(loss, f, rng):
    """Labels of the signs of f, or numbers near f."""
    if is_classifier(loss):
        return np.where(f + 0.1 * rng.normal(size=f.shape) > 0, 1.0, -1.0)
    return np.clip(f + 0.1 * rng.normal(size=f.shape), -1, 1)


def problem(loss, n=200, m=7, psi=0.01, seed=0, n_people=None):
    """A random objective, with people of many rows if `n_people` is given."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, m))
    Z /= np.maximum(1, np.linalg.norm(Z, axis=1, keepdims=True))
    y = targets_of(loss, Z @ rng.normal(size=m), rng)
    weights = np.ones(n)
    if n_people is not None:
        codes = np.append(np.arange(n_people), rng.integers(0, n_people, n - n_people))
        weights = 1 / np.bincount(codes)[codes]
    return Objective(loss, psi, n_people or n, Z, y, weights)


def objective_value(objective, w):
    losses = objective.loss.value(objective.features @ w, objective.targets)
    mean = objective.weights @ losses / objective.n_people
    return mean + objective.psi * w @ w


def reference(objective):
    """The minimiser by scikit-learn's linear solvers; of Huber's loss by scipy's."""
    loss, Z, y = objective.loss, objective.features, objective.targets
    psi, n = objective.psi, objective.n_people
    if isinstance(loss, HuberLoss):  # HuberRegressor estimates a scale as well
        return _by_descent(objective)
    common = {"fit_intercept": False, "tol": 1e-10}
    C = 1 / (2 * psi * n)
    dual = {"C": C, "max_iter": 10**6, "random_state": 0, **common}
    if isinstance(loss, LogisticLoss):
        solver = LogisticRegression(C=C, solver="newton-cholesky", **common)
    elif isinstance(loss, SquaredLoss):
        solver = Ridge(alpha=psi * n, **common)
    elif isinstance(loss, HingeLoss):
        solver = LinearSVC(loss="hinge", **dual)
    else:
        solver = LinearSVR(epsilon=loss.threshold, **dual)
    return np.ravel(solver.fit(Z, y, sample_weight=objective.weights).coef_)


def _by_descent(objective):
    loss, y = objective.loss, objective.targets
    share = objective.weights / objective.n_people

    def cost(w):
        f = objective.features @ w
        slopes = objective.features.T @ (share * loss.slope(f, y))
        value = share @ loss.value(f, y) + objective.psi * w @ w
        return value, slopes + 2 * objective.psi * w

    start = np.zeros(objective.features.shape[1])
    tight = {"maxiter": 10**5, "maxfun": 10**6, "ftol": 0, "gtol": 1e-14}
    return minimize(cost, start, jac=True, method="L-BFGS-B", options=tight).x


def machine(loss, **facts):
    """An estimator with the loss of that name, on labels -1 and 1 or [-1, 1]."""
    facts = {"bounds": (-1.0, 1.0), "loss": loss, "random_state": 0} | facts
    if loss in CLASSIFIERS:
        return PrivateKernelClassifier(**({"classes": [-1, 1]} | facts))
    return PrivateKernelRegressor(**({"y_bounds": (-1.0, 1.0)} | facts))
