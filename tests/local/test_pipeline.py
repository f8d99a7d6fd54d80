"""Pipelines: from curves to curves, the split of a budget, and what it adds up to."""

import pickle
from decimal import Decimal

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from skfuncpriv import (
    BasisProjector,
    Curves,
    GeoPrivateCoefficients,
    GeoPrivateCurve,
    ICLPRegressor,
    PrivateFPCA,
    SVTBasisSelector,
)
from skfuncpriv.basis import BSplineBasis, CosineBasis, MonomialBasis, TensorBasis
from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.local import (
    geo_private_pipeline,
    pipeline_guarantee,
    reconstruction_score,
    search_guarantee,
)
from skfuncpriv.noise import SeededBits
from skfuncpriv.privacy._words import few_digits_above

BOUNDS = {"bounds": (-1.0, 2.0), "domain": (0.0, 24.0)}
SELECTIONS = (None, "svt", "permute-and-flip", "coefficients")
each_selection = pytest.mark.parametrize("selection", SELECTIONS)


def public_curves(n=12, n_points=40):
    t = np.linspace(0, 1, n_points)
    phase = np.linspace(0, 1, n)[:, None]
    return 0.5 + np.cos(2 * np.pi * (t + phase))


@each_selection
@pytest.mark.parametrize("budget", [{"epsilon": 50.0}, {"rho": 500.0}], ids=str)
def test_there_and_back(selection, budget):
    X = public_curves()
    pipeline = geo_private_pipeline(
        **budget, **BOUNDS, selection=selection, random_state=0
    )
    out = pipeline.fit(X).inverse_transform(pipeline.transform(X))
    assert out.shape == X.shape
    assert ((out >= -1) & (out <= 2)).all()
    # What is left out is worth about as much as the noise that it would add.
    noise = np.sqrt(noise_on_the_grid(pipeline)) / np.linalg.norm(X, axis=1).mean()
    assert reconstruction_score(pipeline, X) > -2 * noise
    none = clone(pipeline).set_params(release__denoise=False).fit(X)
    assert reconstruction_score(none, X) > -2 * noise


def noise_on_the_grid(pipeline):
    """The expected square of the noise, summed over the grid, from expected_error()."""
    project, release = pipeline["project"], pipeline["release"]
    m = release.n_coefficients_
    functions = project.basis_.evaluate(project.grid_)[:, :m]
    return release.expected_error() * np.square(functions).sum() / m


@pytest.mark.parametrize("budget", [{"epsilon": 50.0}, {"rho": 500.0}], ids=str)
def test_errors_are_what_is_missed_and_the_noise(budget):
    X = public_curves(500)
    pipeline = geo_private_pipeline(
        **budget, bounds=(-9, 9), n_basis=8, random_state=0
    ).set_params(release__denoise=False, release__n_coefficients=None)
    out = pipeline.fit(X).inverse_transform(pipeline.transform(X))
    project = pipeline["project"]
    missed = np.square(project.inverse_transform(project.transform(X)) - X).sum(axis=1)
    errors = np.square(out - X).sum(axis=1) - missed
    deviation = errors.std() / np.sqrt(len(X))
    assert abs(errors.mean() - noise_on_the_grid(pipeline)) < 5 * deviation


@each_selection
def test_exact_where_the_budget_is_endless(selection):
    X = public_curves()
    pipeline = geo_private_pipeline(epsilon=1e9, **BOUNDS, selection=selection)
    pipeline.set_params(
        project__basis=CosineBasis(32, (0, 24)), project__bounds=(-9, 9)
    )
    if selection == "coefficients":
        pipeline.set_params(select__max_selected=32)
    coef = pipeline.fit(X).transform(X)
    wanted = pipeline["project"].transform(X)
    assert_allclose(np.nan_to_num(coef), wanted, atol=1e-5)


@each_selection
def test_clones_pickles_and_seeds(selection):
    X = public_curves()
    pipeline = geo_private_pipeline(epsilon=1.0, **BOUNDS, selection=selection)
    seeds = {f"{name}__random_state": 5 for name in list(pipeline.named_steps)[1:]}
    pipeline.set_params(**seeds).fit(X)
    out = pipeline.transform(X)
    for other in (pickle.loads(pickle.dumps(pipeline)), clone(pipeline).fit(X)):
        assert_array_equal(other.transform(X), out)
    assert pipeline_guarantee(pipeline).seeded


def test_steps_of_one_seed_share_no_bits(monkeypatch):
    drawn, original = [], SeededBits.words

    def words(bits, count):
        drawn.append(original(bits, count))
        return drawn[-1]

    monkeypatch.setattr(SeededBits, "words", words)
    pipeline = geo_private_pipeline(epsilon=1.0, **BOUNDS, selection="svt")
    pipeline.set_params(select__random_state=0, release__random_state=0)
    fitted = pipeline.fit(public_curves())
    drawn.clear()
    fitted.transform(public_curves())
    pipeline["release"].sample(3, random_state=0)
    everything = np.concatenate(drawn)
    assert len(np.unique(everything)) == len(everything) > 100


def test_frames_and_names():
    pytest.importorskip("pandas")
    X = public_curves(3)
    pipeline = geo_private_pipeline(epsilon=1.0, **BOUNDS, selection="svt")
    pipeline.set_output(transform="pandas")
    frame = pipeline.fit(X).transform(X)
    names = [f"cosine{j}" for j in range(32)]
    assert frame.columns.tolist() == names
    assert pipeline.get_feature_names_out().tolist() == names
    assert pipeline.inverse_transform(frame).shape == X.shape


def test_vectors_and_surfaces_and_irregular_curves():
    X = np.random.default_rng(0).normal(size=(4, 20, 2))
    vector = geo_private_pipeline(
        epsilon=1.0, bounds=([-1, -2], [1, 2]), n_outputs=2, n_basis=6
    ).fit(X)
    assert vector.inverse_transform(vector.transform(X)).shape == X.shape
    assert vector["release"].norm_bound_ == vector["project"].norm_bound_
    basis = TensorBasis((CosineBasis(3), CosineBasis(4, (0, 2))))
    surface = geo_private_pipeline(epsilon=1.0, bounds=(-1, 1), basis=basis)
    X = np.random.default_rng(0).normal(size=(4, 5, 6))
    assert surface.fit(X).inverse_transform(surface.transform(X)).shape == X.shape
    assert surface["release"].norm_bound_ == pytest.approx(np.sqrt(2))
    curves = Curves([1.0, 2.0, 3.0], [0.1, 0.9, 0.5], [0, 2, 3])
    scattered = geo_private_pipeline(epsilon=1.0, bounds=(0, 3), selection="svt")
    assert scattered.fit(curves).transform(curves).shape == (2, 32)
    assert pipeline_guarantee(scattered).distance_error > 0


def test_positions_are_all_released():
    pipeline = geo_private_pipeline(
        epsilon=1e-3, bounds=(0, 1), basis=BSplineBasis(9), selection=None
    ).fit(np.zeros((1, 20)))
    assert pipeline["release"].n_coefficients_ == 9
    assert pipeline_guarantee(pipeline).epsilon == 1e-3
    for selection in ("svt", "permute-and-flip"):
        with pytest.raises(ValueError, match="ordered by position"):
            geo_private_pipeline(
                epsilon=1.0, bounds=(0, 1), basis=BSplineBasis(9), selection=selection
            )


# The budget


def random_budgets():
    rng = np.random.default_rng(1)
    short = [0.1, 0.3, 1.0, 7.0, 1e-5, 123.456, 1e-150, 1e150]
    return short + (10.0 ** rng.uniform(-12, 12, 200)).tolist()


@pytest.mark.parametrize("name", ["epsilon", "rho"])
def test_the_split_adds_up_to_the_budget(name):
    """In decimals: never more, and exactly it where its digits allow."""
    for amount in random_budgets():
        pipeline = geo_private_pipeline(
            **{name: amount}, bounds=(0, 1), selection="svt"
        )
        parts = [Decimal(repr(getattr(step, name))) for step in pipeline[1:]]
        total, budget = sum(parts), Decimal(repr(amount))
        assert total <= budget
        assert total >= budget * (1 - Decimal(2) ** -51)
        assert len(budget.as_tuple().digits) > 14 or total == budget
        assert abs(parts[0] / budget - Decimal("0.2")) < Decimal("1e-15")
        told = pipeline["select"].get_params()[f"release_{name}"]
        assert told == getattr(pipeline["release"], name)


@pytest.mark.parametrize("name", ["epsilon", "rho"])
def test_the_pipeline_promises_its_budget(name):
    X = np.zeros((1, 10))
    for selection in SELECTIONS:
        for amount in (0.1, 0.7, 12.3, 1 / 3):
            budget = {name: amount}
            pipeline = geo_private_pipeline(
                **budget, bounds=(0, 1), selection=selection
            )
            total = pipeline_guarantee(pipeline.fit(X))
            assert getattr(total, name) <= amount
            assert getattr(total, name) == pytest.approx(amount, rel=1e-15)
            assert total.metric == "L2"
            assert total.unit == "row"
            assert not total.seeded
            error = pipeline["project"].projection_error_
            if selection == "permute-and-flip":  # its scores are rounded, too
                assert error < total.distance_error < error + 1e-11
            else:
                assert total.distance_error == error > 0
                assert f"(L2 distance + {few_digits_above(error)})" in str(total)


def test_steps_of_different_kinds_compose():
    steps = [
        ("project", BasisProjector(bounds=(0, 1))),
        ("select", SVTBasisSelector(epsilon=0.2)),
        ("rest", "passthrough"),
        ("release", GeoPrivateCoefficients(rho=0.3)),
    ]
    total = pipeline_guarantee(Pipeline(steps).fit(np.zeros((1, 9))))
    assert total.definition == "concentrated-geo"
    assert total.rho == 0.32  # 0.2^2 / 2 + 0.3


def broken(*steps):
    return Pipeline([(f"step{k}", step) for k, step in enumerate(steps)])


PROJECT = BasisProjector(n_basis=3, bounds=(0, 1))
SELECT = SVTBasisSelector(epsilon=1.0)
RELEASE = GeoPrivateCoefficients(epsilon=1.0)
BROKEN = {
    "nothing released": (broken(PROJECT), "the last step must be GeoPriv"),
    "selector last": (broken(PROJECT, SELECT), "the last step must be GeoPriv"),
    "released before": (broken(PROJECT, RELEASE, SELECT), "the last step must be"),
    "passthrough last": (
        broken(PROJECT, SELECT, "passthrough"), "the last step must be GeoPriv"
    ),
    "no projector": (broken(SELECT, RELEASE), "the first step must be a BasisProj"),
    "scaler first": (
        broken(StandardScaler(), PROJECT, RELEASE), "the first step must be a Basis"
    ),
    "scaler between": (
        broken(PROJECT, StandardScaler(), RELEASE), "StandardScaler may change dist"
    ),
    "two projectors": (
        broken(PROJECT, PROJECT, RELEASE), "BasisProjector may change distances"
    ),
    "no bounds": (
        broken(BasisProjector(n_basis=3), RELEASE), "give BasisProjector bounds"
    ),
    "another gram": (
        broken(PROJECT, GeoPrivateCoefficients(epsilon=1.0, gram=100 * np.eye(3))),
        "must not be told of another basis or gram",
    ),
    "another basis": (
        broken(PROJECT, GeoPrivateCoefficients(epsilon=1.0, basis=MonomialBasis(3))),
        "must not be told of another basis or gram",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("pipeline", "text"), BROKEN.values(), ids=BROKEN)
def test_pipelines_without_a_guarantee_are_refused(pipeline, text):
    pipeline = clone(pipeline).fit(np.full((2, 5), 0.5))
    with pytest.raises(PrivacyError, match=text):
        pipeline_guarantee(pipeline)


def test_a_pipeline_that_writes_coefficients_to_files_is_refused(tmp_path):
    pipeline = geo_private_pipeline(epsilon=1.0, bounds=(0, 1)).fit(np.zeros((2, 5)))
    assert pipeline_guarantee(pipeline).epsilon == 1.0
    pipeline.set_params(memory=str(tmp_path))
    with pytest.raises(PrivacyError, match="memory= keeps private coefficients"):
        pipeline_guarantee(pipeline)


def test_pipelines_that_are_not_fitted_are_refused():
    with pytest.raises(NotFittedError):
        pipeline_guarantee(geo_private_pipeline(epsilon=1.0, bounds=(0, 1)))


# Of the central model

TABLE = np.random.default_rng(0).uniform(0.0, 1.0, (60, 3))
GRID = np.linspace(0.0, 1.0, 3)  # of its columns, if rows are curves
FPCA = PrivateFPCA(bounds=(0, 1), n_components=2, epsilon=0.5, random_state=0)
REGRESSION = ICLPRegressor(X_bounds=(-5, 5), y_bounds=(0, 1), epsilon=0.25)
LOG = FunctionTransformer(np.log1p)


def test_a_central_pipeline_promises_what_its_steps_released():
    pipeline = clone(broken(LOG, "passthrough", FPCA, REGRESSION))
    pipeline.fit(TABLE, TABLE[:, 0])
    total = pipeline_guarantee(pipeline)
    assert total == pipeline[2].guarantee_ + pipeline[3].guarantee_
    assert (total.epsilon, total.seeded, total.unit) == (0.75, True, "row")
    alone = broken(GeoPrivateCurve(epsilon=0.5, bounds=(0, 1), grid=GRID)).fit(TABLE)
    assert pipeline_guarantee(alone) == alone[0].guarantee_


UNKNOWN = {
    "a learner": (broken(StandardScaler(), REGRESSION), "StandardScaler may learn"),
    "a function": (
        broken(FunctionTransformer(lambda X: X - X.mean(0)), REGRESSION),
        "FunctionTransformer may learn from rows",
    ),
    "no release": (broken(LOG), "no step of the pipeline releases"),
    "within": (
        broken(FeatureUnion([("scores", FPCA), ("logs", LOG)]), REGRESSION),
        "within FeatureUnion is not counted",
    ),
    "stretched": (
        broken(LOG, GeoPrivateCurve(epsilon=0.5, bounds=(0, 1), grid=GRID)),
        "other steps may change distances",
    ),
}


@pytest.mark.parametrize(("pipeline", "text"), UNKNOWN.values(), ids=UNKNOWN)
def test_a_central_pipeline_without_a_guarantee_is_refused(pipeline, text):
    pipeline = clone(pipeline).fit(TABLE, TABLE[:, 0])
    with pytest.raises(PrivacyError, match=text):
        pipeline_guarantee(pipeline)


def test_a_central_pipeline_must_be_fitted_and_parts_must_compose():
    with pytest.raises(NotFittedError):
        pipeline_guarantee(broken(LOG, FPCA))
    pipeline = clone(broken(FPCA, REGRESSION))
    pipeline.fit(TABLE, TABLE[:, 0], step0__groups=np.arange(60) // 2)
    with pytest.raises(PrivacyError, match="different unit do not compose"):
        pipeline_guarantee(pipeline)


def test_a_budget_is_needed():
    for budget in ({}, {"epsilon": 1.0, "rho": 1.0}, {"epsilon": -1}):
        with pytest.raises(ValueError, match="epsilon"):
            geo_private_pipeline(**budget, bounds=(0, 1))


# Searches


def test_grid_search_on_public_curves():
    X = public_curves(20)
    pipeline = geo_private_pipeline(
        epsilon=50.0, bounds=(-9, 9), random_state=0
    ).set_params(release__n_coefficients=None, release__denoise=False)
    sizes = [1, 8, 40]
    search = GridSearchCV(
        pipeline,
        {"project__n_basis": sizes},
        scoring=reconstruction_score,
        cv=2,
        n_jobs=2,
    ).fit(X)
    assert search.best_params_ == {"project__n_basis": 8}
    size = np.linalg.norm(X, axis=1).mean()
    for m, score in zip(sizes, search.cv_results_["mean_test_score"], strict=True):
        one = clone(pipeline).set_params(project__n_basis=m).fit(X)
        project, noise = one["project"], np.sqrt(noise_on_the_grid(one)) / size
        missed = project.inverse_transform(project.transform(X)) - X
        expected = np.hypot(np.linalg.norm(missed, axis=1).mean() / size, noise)
        # A norm of the noise deviates by at most 1 / sqrt(m) of it; folds of 10.
        assert abs(score + expected) < 5 * noise / np.sqrt(10 * m)


@pytest.mark.parametrize(
    ("parameters", "releases"),
    [
        ({}, 1),
        ({"cv": 3}, 1),
        ({"cv": 3, "return_train_score": True}, 3),
        ({"cv": KFold(4)}, 1),
        ({"cv": KFold(4), "return_train_score": True}, 4),
        ({"cv": [([0, 1], [2]), ([1, 2], [0])]}, 1),
        ({"cv": [([0, 1], [2, 2]), ([1, 0], [2])]}, 3),
        ({"cv": [([0, 1], [2]), ([1, 2], [0])], "return_train_score": True}, 2),
        ({"scoring": {"a": reconstruction_score, "b": reconstruction_score}}, 2),
    ],
)
def test_what_a_search_would_cost(parameters, releases):
    pipeline = geo_private_pipeline(epsilon=0.25, bounds=(0, 1))
    search = GridSearchCV(
        pipeline, {"project__n_basis": [4, 8, 16], "release__denoise": [True, False]},
        **parameters,
    )  # fmt: skip
    total = search_guarantee(search, np.zeros((12, 9)))
    assert total.epsilon == 6 * releases * 0.25
    assert total.distance_error > 0
    budgets = GridSearchCV(pipeline, {"release__epsilon": [0.1, 0.2]}, **parameters)
    assert search_guarantee(budgets, np.zeros((12, 9))).epsilon == pytest.approx(
        0.3 * releases, rel=1e-15
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {"cv": ShuffleSplit(7)},
        {"cv": iter([([0], [1])])},
        {"scoring": lambda e, X: 0.0},
    ],
)
def test_a_search_that_cannot_be_counted_is_refused(parameters):
    pipeline = geo_private_pipeline(epsilon=0.25, bounds=(0, 1))
    search = GridSearchCV(pipeline, {"project__n_basis": [4, 8]}, **parameters)
    with pytest.raises(PrivacyError, match=r"only, not for|only then is the number"):
        search_guarantee(search, np.zeros((12, 9)))


def test_the_score_is_the_mean_relative_error():
    X = np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 0.0]])

    class Half:
        def transform(self, X):
            return X

        def inverse_transform(self, X):
            return X / 2 + (X == 0)

    wanted = -(0.5 + 0.5 + np.sqrt(2)) / 3  # a norm of zero counts as one
    assert reconstruction_score(Half(), X) == pytest.approx(wanted)
