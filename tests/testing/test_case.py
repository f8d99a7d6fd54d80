"""Cases of all kinds: few columns, round data, no queries, noise of another source."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.neighbors import KernelDensity

from skfuncpriv import (
    GaussianProcessReleaser,
    GeoPrivateCoefficients,
    GeoPrivateCurve,
    ICLPClassifier,
    ICLPCovariance,
    ICLPMean,
    ICLPRegressor,
    PrivateFPCA,
    PrivateKDE,
    PrivateSparseMean,
)
from skfuncpriv.testing import (
    PrivateCase,
    check_private_estimator,
    parametrize_with_private_checks,
    table_case,
)
from skfuncpriv.testing._run import CHECKS
from tests.testing import broken as ways
from tests.testing import private_mean
from tests.testing.private_mean import PrivateNumberMean
from tests.testing.test_broken import broken, case_of

UNSEEN = {  # without sums and noise
    ways.DECIDED,
    ways.ERRORS,
    ways.LATTICE,
    ways.LOSS,
    ways.BRUTE,
    ways.AUDIT,
}
MOST = [name for name in CHECKS if name != ways.COPIES]  # it starts processes
RNG = np.random.default_rng(0)
HALF = RNG.integers(1, 2**20, 20) / 2**20


class Unasked(PrivateNumberMean):  # its docstring is the same
    predict = property()


def found(model, case, only=MOST):
    """The statuses of checks, and the texts of those that did not pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes = check_private_estimator(model, case, only=only, on_fail=None)
    texts = {one.name: one.text for one in outcomes if one.status == "failed"}
    return texts, {one.name for one in outcomes if one.status == "skipped"}


def one_column(numbers):
    X = np.array(numbers, dtype=float)[:, None]
    neighbour = X.copy()
    neighbour[-1] = 1e300
    return PrivateCase(X=X, neighbour=neighbour)


@pytest.mark.parametrize(
    "numbers",
    [np.concatenate([HALF, -HALF]), RNG.integers(0, 3, 40)],
    ids=["a sum of zero", "zeros, ones and bounds"],
)
@pytest.mark.parametrize("queries", [{}, {"mean_": ()}], ids=["unasked", "read"])
def test_one_round_column_without_a_query_is_enough(numbers, queries):
    case = replace(one_column(numbers), queries=queries)
    assert found(Unasked(bounds=(-2, 2)), case)[0] == {}


def test_answers_are_what_is_released():
    case = one_column(HALF)
    model = Unasked(bounds=(-1, 1)).fit(case.X)
    assert case.ask(model) == {"mean_": model.mean_}
    for queries in ({"mean_": ()}, {"predict": (case.X[:1],)}):
        asked = PrivateNumberMean(bounds=(-1, 1), random_state=0).fit(case.X)
        (answer,) = replace(case, queries=queries).ask(asked).values()
        assert answer == asked.mean_


@pytest.mark.parametrize(
    ("way", "names"),
    [
        ("keeps its rows", [ways.HELD, ways.KEPT, ways.PUBLIC, ways.DECIDED]),
        ("bounds from data", [ways.DECIDED]),
        ("forgets to forget", [ways.ERRORS]),
        ("quotes a value", [ways.REFUSED]),
    ],
)
def test_what_is_broken_is_found_in_one_column_without_a_query(way, names):
    model = broken(ways.BROKEN[way][0])
    case = replace(one_column(HALF), queries={"mean_": ()})
    texts, _ = found(model, case, names)
    assert sorted(texts) == sorted(names)


def test_data_without_a_number_to_look_for_are_refused():
    case = one_column(np.zeros(40))
    texts, _ = found(Unasked(bounds=(-1, 1)), case, [ways.HELD])
    assert "take other data" in texts[ways.HELD]


def test_a_class_is_no_estimator():
    with pytest.raises(TypeError, match=r"pass an instance, Unasked\(\.\.\.\)"):
        check_private_estimator(Unasked)
    with pytest.raises(TypeError, match=r"pass an instance, Unasked\(\.\.\.\)"):
        parametrize_with_private_checks([Unasked])


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        (None, []),
        ("keeps its rows", [ways.HELD, ways.KEPT, ways.PUBLIC]),
        ("keeps a row in a closure", [ways.HELD]),
        ("never charges", [ways.CHARGED, ways.EXCEEDED, ways.UNFIT, ways.STRICT]),
    ],
)
def test_noise_from_elsewhere_is_checked_without_its_sums(way, expected, monkeypatch):
    own = ways.BROKEN["noise of its own"][0]
    model = broken(own + (ways.BROKEN[way][0] if way else []))
    monkeypatch.setattr(private_mean, "PrivateNumberMean", type(model))  # for pickles
    case = replace(case_of(model), own_noise="words are added", units={})
    texts, skipped = found(model, case)
    assert sorted(texts) == sorted(expected), texts
    assert skipped == UNSEEN | {ways.SCALED, ways.DELTAS, ways.LARGE}


WITHOUT_A_CASE = {
    "unit domain": ICLPMean(bounds=(0, 1)),
    "another domain": PrivateSparseMean(bounds=(0, 1), domain=(3, 4)),
    "covariance": ICLPCovariance(bounds=(0, 1)),
    "components": PrivateFPCA(bounds=(-5, 5)),
    "density": PrivateKDE(bounds=(0, 1)),
    "densities": PrivateKDE(bounds=((0, 0), (1, 2))),
    "wrapped": GaussianProcessReleaser(
        bounds=(0, 1), delta=1e-6, estimator=KernelDensity()
    ),
    "labels": ICLPClassifier(X_bounds=(0, 1), classes=["a", "b", "c"]),
    "target curves": ICLPRegressor(X_bounds=(0, 1), y_bounds=(-1, 1), y_domain=(0, 1)),
    "rows": GeoPrivateCoefficients(epsilon=1.0),
    "curves": GeoPrivateCurve(rho=1.0, bounds=(0, 1)),
}
FEW = (
    "check_one_frozen_function_per_fit",
    "check_every_release_is_charged_before_the_draw",
    "check_public_attributes_are_equal_for_neighbours",
)


@pytest.mark.parametrize("model", WITHOUT_A_CASE.values(), ids=WITHOUT_A_CASE)
def test_our_estimators_need_no_case(model):
    texts, skipped = found(model, None, FEW)
    assert texts == {}
    assert len(skipped) <= (table_case(model).draws_in == "transform")


def test_a_shape_that_data_decide_is_found_and_one_that_noise_decides_is_none():
    """The number of components is read off the release."""
    check = ("check_public_attributes_are_equal_for_neighbours",)
    model = PrivateFPCA(bounds=(-5, 5))
    X = 5.0 * np.eye(300, 12)
    case = PrivateCase(X=X, neighbour=np.where(X[:, :1] == 5, -1e300, X))
    assert found(model, case, check) == ({}, set())

    class Counted(PrivateNumberMean):
        """As documented."""

        __doc__ = PrivateNumberMean.__doc__

        def fit(self, X, y=None):
            super().fit(X, y)
            self.mean_ = np.repeat(self.mean_, 1 + int((X > 9).any()))
            return self

    texts, _ = found(Counted(bounds=(-1, 1)), one_column(HALF), check)
    assert "the shape of mean_ depends on private data" in texts[check[0]]
