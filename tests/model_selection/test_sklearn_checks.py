"""scikit-learn's checks, and that what is released holds nothing private."""

import gc
import io
import pickle
import weakref

import joblib
import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

from skfuncpriv import ICLPMean, PrivateGridSearchCV
from skfuncpriv.noise import RandomBits
from skfuncpriv.testing import PrivateCase, check_private_estimator, recorded
from tests.model_selection.cases import kde_search, points
from tests.test_common import CENTRAL, expected_failures

_WIDE = {"bounds": (-500.0, 500.0), "domain": (-500.0, 500.0)}
SEARCHES = [
    PrivateGridSearchCV(ICLPMean(**_WIDE), {"n_basis": [2, 5]}, epsilon=1e4),
]


def expected(search):
    """What the searched estimator is excused from."""
    return expected_failures(search.estimator)


pytestmark = pytest.mark.filterwarnings(
    "ignore:the noise is expected:skfuncpriv.NoiseDominatesWarning"
)


@parametrize_with_checks(SEARCHES, expected_failed_checks=expected)
def test_sklearn_checks(estimator, check):
    check(estimator)


def test_the_searched_estimators_are_checked_themselves():
    kinds = {type(estimator) for estimator in CENTRAL}
    assert {type(search.estimator) for search in SEARCHES} <= kinds


_ESTIMATOR = "what is released is an estimator, and no array: see the tests beside"
_OF_RELEASED = {
    "check_only_what_is_released_is_held": _ESTIMATOR,
    "check_public_attributes_are_equal_for_neighbours": _ESTIMATOR,
    "check_bits_come_from_the_operating_system": _ESTIMATOR,
    "check_numpy_global_state_is_left_alone": _ESTIMATOR,
    "check_every_release_is_a_new_draw": _ESTIMATOR,
    "check_a_delta_of_one_over_n_is_warned_of": (
        "a share of delta that no part needs is not spent: the rest is below 1/n"
    ),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_private_checks():
    """Those that third parties use, too."""
    X = np.random.default_rng(0).uniform(-450, 450, (60, 6))
    other = X.copy()
    other[-1] = 1e300
    case = PrivateCase(
        X=X,
        neighbour=other,
        queries={"predict": (np.linspace(-400, 400, 7),)},
        released=(),
        budget={"epsilon": 20.0},
        ledger={"epsilon": 400.0, "delta": 1e-3},
    )
    outcomes = check_private_estimator(
        SEARCHES[0], case, expected_failed_checks=_OF_RELEASED, on_fail=None
    )
    status = {outcome.name: outcome.status for outcome in outcomes}
    assert len(status) > 20
    failed = {name for name, said in status.items() if said in ("failed", "xfail")}
    assert failed == set(_OF_RELEASED)


def test_numpy_global_state_is_left_alone():
    before = pickle.dumps(np.random.get_state())
    splitter = ShuffleSplit(n_splits=1, test_size=0.3)
    for seed in (None, 0):
        kde_search(random_state=seed, cv=splitter).fit(points())
    assert pickle.dumps(np.random.get_state()) == before


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
