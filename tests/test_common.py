"""scikit-learn's checks over every estimator.

A new estimator is added to `ESTIMATORS`, nowhere else: our own checks, in
`test_private_estimators.py`, go over the same list.
"""

from sklearn.utils.estimator_checks import parametrize_with_checks

from skfuncpriv import ICLPMean

# A wide domain, so that `predict` may be called with whatever the checks call data.
_WIDE = {"bounds": (-500.0, 500.0), "domain": (-500.0, 500.0), "epsilon": 1e4}
ESTIMATORS = [
    ICLPMean(**_WIDE),
    ICLPMean(**_WIDE, mechanism="gaussian", delta=1e-6, norm_bound=9e3),
    ICLPMean(**_WIDE, mechanism="laplace", penalty="ar", psi=1e-6, denoise=False),
]

_ARGUMENT = (
    "predict takes arguments t of the released function, of any shape; data have the "
    "shape of curves, and only this check demands that both agree"
)
EXPECTED_FAILURES = {
    "check_n_features_in_after_fitting": _ARGUMENT,
    "check_fit2d_predict1d": _ARGUMENT,
}


@parametrize_with_checks(
    ESTIMATORS, expected_failed_checks=lambda estimator: EXPECTED_FAILURES
)
def test_sklearn_checks(estimator, check):
    check(estimator)
