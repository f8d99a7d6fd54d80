"""scikit-learn's checks and our own over every estimator.

A new estimator is added to `CENTRAL` or `LOCAL`, nowhere else.
"""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KernelDensity
from sklearn.utils.estimator_checks import parametrize_with_checks

from skfuncpriv import (
    BasisProjector,
    BernsteinMean,
    FRLMean,
    GaussianProcessReleaser,
    GeoPrivateCoefficients,
    GeoPrivateCurve,
    ICLPClassifier,
    ICLPCovariance,
    ICLPMean,
    ICLPRegressor,
    PrivateFPCA,
    PrivateKDE,
    PrivateKernelRegressor,
    PrivateSparseMean,
    SVTBasisSelector,
)
from skfuncpriv.gaussian_process import GaussianKernel
from skfuncpriv.testing import (
    PrivateCase,
    parametrize_with_private_checks,
    table_case,
)
from tests.labelled import SignClassifier, SignICLPClassifier
from tests.narrow import FirstColumnBernstein, FirstColumnKDE

# A wide domain, so that `predict` may be called with whatever the checks call data.
_WIDE = {"bounds": (-500.0, 500.0), "domain": (-500.0, 500.0), "epsilon": 1e4}
_LINE = {"bounds": (-500.0, 500.0), "epsilon": 1e4, "weight_cap": 10.0}
_UNIT = {"bounds": (-500.0, 500.0), "epsilon": 1e4}
_BOX = {"bounds": (-500.0, 500.0), "epsilon": 1e4, "delta": 1e-6, "n_nodes": 16}
_FEW = {"bounds": (-5.0, 5.0), "epsilon": 1e4, "n_components": 20}
_MACHINE = {**_FEW, "y_bounds": (-3.0, 3.0), "psi": 1e-3}
_SQUARED = {"loss": "squared", "bounds": (-3.0, 3.0), "n_components": 11, "psi": 0.03}
_SLOPES = {"X_bounds": (-5.0, 5.0), "y_bounds": (-3.0, 3.0), "weight_cap": 10.0}
_SLOPES = {**_SLOPES, "epsilon": 1e4, "psi": 1e-3}
_LABELS = {"X_bounds": (-5.0, 5.0), "weight_cap": 10.0, "epsilon": 1e4, "psi": 1e-3}
_WHOLE = {"X_basis": 10, "eta": 0.6, "psi": 1e-7}
CENTRAL = [
    ICLPMean(**_WIDE),
    ICLPMean(**_WIDE, mechanism="gaussian", delta=1e-6, norm_bound=9e3),
    ICLPMean(**_WIDE, mechanism="laplace", penalty="ar", psi=1e-6, denoise=False),
    PrivateSparseMean(**_WIDE),
    PrivateSparseMean(**_WIDE, mechanism="gaussian", delta=1e-6, max_gap=100.0),
    ICLPCovariance(**_WIDE),
    ICLPCovariance(**_WIDE, mechanism="gaussian", delta=1e-6, radius=9e3),
    PrivateFPCA(**_WIDE, n_components=2),
    FRLMean(**_WIDE),
    BernsteinMean(**_WIDE),
    GaussianProcessReleaser(**_BOX, estimator=KernelDensity(bandwidth=1e3)),
    GaussianProcessReleaser(
        **_BOX,
        estimator=KernelRidge(kernel="rbf", gamma=5e-7, alpha=100.0),
        y_bounds=(-1.0, 1.0),
    ),
    FirstColumnBernstein(**_UNIT, estimator=KernelDensity(bandwidth=200.0)),
    FirstColumnKDE(**_LINE),
    FirstColumnKDE(**_LINE, bandwidth=50.0, noise="gaussian", delta=1e-6),
    FirstColumnKDE(**_LINE, mechanism="gaussian_process", bandwidth=90.0, delta=1e-6),
    FirstColumnKDE(**_LINE, mechanism="iclp", bandwidth="private-iqr"),
    SignClassifier(**_FEW),
    SignClassifier(**_FEW, loss="hinge", delta=1e-6),
    PrivateKernelRegressor(**_MACHINE),
    PrivateKernelRegressor(**_MACHINE, loss="epsilon_insensitive", delta=1e-6),
    PrivateKernelRegressor(**_MACHINE | _SQUARED),
    ICLPRegressor(**_SLOPES, kernel="linear"),
    ICLPRegressor(**_SLOPES | _WHOLE, X_domain=(0.0, 1.0), delta=1e-6),
    ICLPRegressor(
        **_SLOPES | {"psi": 0.03}, kernel=GaussianKernel(5.0), method="minimiser"
    ),
    SignICLPClassifier(**_LABELS, kernel=GaussianKernel(5.0)),
    SignICLPClassifier(
        **_LABELS | {"psi": 0.01}, kernel="linear", loss="hinge", delta=1e-6
    ),
    SignICLPClassifier(**_LABELS, X_domain=(0.0, 1.0), X_basis=4, eta=0.6),
]
LOCAL = [
    BasisProjector(),
    GeoPrivateCoefficients(epsilon=1.0),
    GeoPrivateCoefficients(rho=1.0, denoise=False),
    SVTBasisSelector(epsilon=1.0),
    SVTBasisSelector(rho=1.0, method="permute-and-flip"),
    SVTBasisSelector(epsilon=1.0, method="coefficients"),
    GeoPrivateCurve(epsilon=1.0, bounds=(-500.0, 500.0)),
    GeoPrivateCurve(rho=1.0, bounds=(-500.0, 500.0), pieces="svt", merge=True),
]
ESTIMATORS = CENTRAL + LOCAL

_ARGUMENT = (
    "predict takes arguments t of the released function, of any shape; data have the "
    "shape of curves, and only this check demands that both agree"
)
_FRESH = "every transform draws fresh noise for every row: the same row twice differs"
_OF_PREDICT = {
    "check_n_features_in_after_fitting": _ARGUMENT,
    "check_fit2d_predict1d": _ARGUMENT,
}
_OF_GAPS = {
    **_OF_PREDICT,
    "check_estimators_pickle": (
        "data may have gaps, NaN; this check has them for arguments of predict, too"
    ),
}
_OF_WEIGHTS = {
    "check_all_zero_sample_weights_error": (
        "whether all weights are zero is private: an error would tell"
    ),
}
_OF_PEOPLE = {
    "check_sample_weight_equivalence_on_dense_data": (
        "n is the number of people, whatever their weights: the penalty beside a mean "
        "over people depends on it"
    ),
}
_OF_LOCAL_NOISE = {
    "check_methods_sample_order_invariance": _FRESH,
    "check_methods_subset_invariance": _FRESH,
}


def expected_failures(estimator):
    if isinstance(estimator, PrivateSparseMean):
        return _OF_GAPS
    if hasattr(estimator, "domain") and hasattr(estimator, "predict"):
        return _OF_PREDICT  # a curve of one argument
    if isinstance(estimator, ICLPRegressor | ICLPClassifier):
        return _OF_WEIGHTS | _OF_PEOPLE
    if isinstance(estimator, PrivateKDE):
        return _OF_WEIGHTS
    local = (GeoPrivateCoefficients, SVTBasisSelector, GeoPrivateCurve)
    return _OF_LOCAL_NOISE if isinstance(estimator, local) else {}


@pytest.mark.filterwarnings("ignore:up to three columns are read as:UserWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_sklearn_checks(request, estimator, check):
    if request.node.get_closest_marker("xfail") is None:
        check(estimator)
        return
    try:
        check(estimator)
    except Exception as error:  # its traceback, never read, takes longer than the check
        pytest.fail(str(error), pytrace=False)


def _units(first, second=""):
    """Exponents of the unit of X, by the names that have one."""
    return dict.fromkeys(first.split(), 1) | dict.fromkeys(second.split(), 2)


_OF_A_CURVE = "bounds norm_bound mean_ coef_ noise_std_ predict noise_band "
_OF_A_MEAN = _units(_OF_A_CURVE + "coef_std_ release_ norm_bound_")
_OF_A_COVARIANCE = _units(
    "bounds radius norm_bound_ radius_ mean_ mean_coef_",
    "noise_edge_ coef_ release_ noise_std_ covariance_ explained_variance_ predict",
)
_OF_SLOPES = _units("X_bounds arguments") | {"coef_": -1, "noise_std_": -1}
_OF_SLOPES |= {"features_": None}  # an object that holds the bounds
_UNITS = {
    ICLPMean: _OF_A_MEAN,
    FRLMean: _OF_A_MEAN,
    BernsteinMean: _OF_A_MEAN,
    PrivateSparseMean: _units(_OF_A_CURVE + "coef_root_"),
    ICLPCovariance: _OF_A_COVARIANCE,
    PrivateFPCA: _OF_A_COVARIANCE | _units("arguments transform"),
    ICLPRegressor: _OF_SLOPES,
    SignICLPClassifier: _OF_SLOPES,
}
# Opposite extremes lose all that is promised: constant curves, opposite ends of a line.
_SHARP = {
    ICLPMean: ("auto", "gaussian"),
    PrivateSparseMean: ("gaussian",),
    BernsteinMean: ("auto", None),
    FirstColumnKDE: ("auto", "gaussian_process"),
}


def central_case(estimator):
    """Tables whose last person moves from one extreme to the other."""
    kind, mechanism = type(estimator), estimator.get_params().get("mechanism")
    has_length = isinstance(estimator.get_params().get("kernel"), GaussianKernel)
    units = {} if has_length else _UNITS.get(kind, {})
    case = table_case(estimator, n_columns=12, units=units)
    case.X[-1] = -1e300
    return replace(case, is_worst=mechanism in _SHARP.get(kind, ()))


def local_case(estimator):
    """Forty rows that shrink from left to right; the last one moves to an extreme."""
    scales = [30.0, 20.0, 9.0, 5.0, 2.0, 1.0]
    X = np.random.default_rng(0).normal(size=(40, 6)) * scales
    neighbour = X.copy()
    neighbour[-1] = 1e300
    budget = "epsilon" if estimator.rho is None else "rho"
    return PrivateCase(
        X=X,
        neighbour=neighbour,
        draws_in="transform",
        budget={budget: 0.5},
        ledger={budget: 10.0, "metric": "L2"},
    )


@parametrize_with_private_checks(CENTRAL, case=central_case)
def test_private_checks(estimator, check):
    check(estimator)


@parametrize_with_private_checks(
    [estimator for estimator in LOCAL if hasattr(estimator, "ledger")], case=local_case
)
def test_private_checks_of_the_local_model(estimator, check):
    check(estimator)
