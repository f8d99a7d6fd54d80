"""scikit-learn's checks, and that what is released holds nothing private."""

import gc
import io
import pickle
import weakref

import joblib
import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from skfuncpriv import ICLPMean, PrivateGridSearchCV, PrivateKernelRegressor
from skfuncpriv.noise import RandomBits
from tests.iclp.spine import recorded
from tests.model_selection.cases import kde_search, points
from tests.test_common import CENTRAL, expected_failures

_WIDE = {"bounds": (-500.0, 500.0), "domain": (-500.0, 500.0)}
_MACHINE = {"bounds": (-5.0, 5.0), "y_bounds": (-3.0, 3.0), "n_components": 20}
_OF_SCORES = {
    "check_regressors_train": (
        "a search has no score: a number about private rows is not private"
    ),
}
SEARCHES = [
    PrivateGridSearchCV(ICLPMean(**_WIDE), {"n_basis": [2, 5]}, epsilon=1e4),
    PrivateGridSearchCV(
        PrivateKernelRegressor(**_MACHINE), {"psi": [1e-3, 1e-2]}, epsilon=1e4
    ),
]


def expected(search):
    """What the searched estimator is excused from, and one thing more."""
    more = _OF_SCORES if hasattr(search.estimator, "y_bounds") else {}
    return expected_failures(search.estimator) | more


pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)


@parametrize_with_checks(SEARCHES, expected_failed_checks=expected)
def test_sklearn_checks(estimator, check):
    check(estimator)


def test_the_searched_estimators_are_checked_themselves():
    kinds = {type(estimator) for estimator in CENTRAL}
    assert {type(search.estimator) for search in SEARCHES} <= kinds


@pytest.mark.parametrize("method", ["exhaustive", "random-stopping"])
def test_nothing_private_is_held(method):
    X = points(40)
    groups = np.repeat(np.arange(20), 2)
    with recorded() as releases:
        search = kde_search(method=method, epsilon=5.0).fit(X, groups=groups)
    dump = io.BytesIO()
    joblib.dump(search, dump)
    for data in (pickle.dumps(search), dump.getvalue()):
        for row in X.ravel():
            assert np.float64(row).tobytes() not in data
        for released in releases:
            for exact in released.exact:
                assert exact == 0 or np.float64(exact).tobytes() not in data
    texts = (repr(search), search._repr_html_(), str(vars(search)))
    assert not any(f"{row:.6g}" in text for text in texts for row in X.ravel())
    objects = gc.get_referents(search, *gc.get_referents(search))
    assert not any(isinstance(item, RandomBits) for item in objects)
    reference = weakref.ref(X)
    del X, releases, released
    gc.collect()
    assert reference() is None
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(
        again.score_samples([[0.0]]), search.score_samples([[0.0]])
    )
