"""What an attacker found, each as the kind it is of."""

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline

from skfuncpriv import (
    BasisProjector,
    BudgetLedger,
    Curves,
    GeoPrivateCoefficients,
    GeoPrivateCurve,
    PrivacyError,
    SVTBasisSelector,
)
from skfuncpriv.basis import (
    BSplineBasis,
    CosineBasis,
    FourierBasis,
    LegendreBasis,
    SincBasis,
    TensorBasis,
)
from skfuncpriv.local import (
    arc_length_curves,
    geo_private_pipeline,
    pipeline_guarantee,
    reconstruction_score,
    search_guarantee,
)
from skfuncpriv.noise import SeededBits

ROWS = np.random.default_rng(0).uniform(1e3, 2e3, (9000, 4))


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
@pytest.mark.parametrize("verbose", [False, True])
def test_no_backend_of_joblib_hands_out_what_was_in_memory(backend, verbose, capfd):
    """Workers that fill a copy would leave the caller an array of leftovers."""
    budget = {"epsilon": 1e-3, "random_state": 0}
    plain = GeoPrivateCoefficients(**budget, denoise=False).fit(ROWS)
    wanted = plain.transform(ROWS)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        for estimator in (plain, SVTBasisSelector(**budget).fit(ROWS)):
            estimator.set_params(verbose=verbose)
            released = estimator.transform(ROWS)
            if estimator is plain:
                np.testing.assert_array_equal(released, wanted)
        curve = GeoPrivateCurve(**budget, bounds=(0, 1), pieces=2, verbose=verbose)
        assert np.isfinite(curve.fit_transform(ROWS[:600])).all()
    assert "Traceback" not in capfd.readouterr().err


def coefficients(values, times, basis=None, **parameters):
    basis = basis or CosineBasis(3)
    curves = Curves(values, times, [0, len(times)])
    projector = BasisProjector(basis=basis, bounds=(-9, 9), **parameters).fit(curves)
    return projector.transform(curves)[0], projector.projection_error_


WHOLE = SincBasis(4, whole_line=True)


@pytest.mark.parametrize("basis", [CosineBasis(3), WHOLE])
def test_a_knot_beyond_the_domain_says_no_more_than_one_at_its_end(basis):
    """Moving an outer point by one rounding unit, or adding one, moves nothing."""
    just = np.nextafter(1.0, 2.0)
    pairs = [
        (([1.0, 1.0], [0.5, 1.0]), ([1.0, 1.0], [0.5, just])),
        (([1.0, 3.0, 3.0], [0.5, 1.0, 1.5]), ([1.0, 3.0], [0.5, 1.0])),
        (([2.0, 4.0], [0.2, 0.7]), ([2.0, 3.0, 4.0], [0.2, 0.45, 0.7])),
    ]  # fmt: skip
    for one, other in pairs:
        (first, error), (second, _) = (
            coefficients(*one, basis),
            coefficients(*other, basis),
        )
        assert np.linalg.norm(first - second) <= error + 1e-12


def test_lines_between_times_of_any_size():
    huge, error = coefficients([0.0, 1.0], [-1e308, 1e308])
    wide, _ = coefficients([0.0, 1.0], [-0.8e308, 0.8e308])
    np.testing.assert_allclose(huge, wide, atol=error)
    np.testing.assert_allclose(huge[0], 0.5, atol=error)
    for tiny in (5e-311, 5e-324):
        found, _ = coefficients([0.0, 1.0, 1.0], [-tiny, tiny, 1.0])
        np.testing.assert_allclose(found[0], 1.0, atol=1e-9)
        curves = Curves([0.0, 1.0, 1.0], [-tiny, tiny, 1.0], [0, 3])
        model = GeoPrivateCurve(epsilon=1e3, bounds=(-9, 9), domain=(0, 1)).fit(curves)
        assert np.isfinite(model.transform(curves)).all()


def test_surfaces_stay_inside_the_domain_that_bounds_their_norm():
    basis = TensorBasis((WHOLE, WHOLE))
    wide = np.linspace(-50, 50, 9)
    with pytest.raises(ValueError, match="inside domain"):
        BasisProjector(basis=basis, grid=(wide, wide), bounds=(-1, 1)).fit(
            np.ones((1, 9, 9))
        )


@pytest.mark.parametrize("domain", [(0, 1), (5, 6), (1e6, 1e6 + 1)])
def test_every_trace_has_an_arc_length(domain):
    rng = np.random.default_rng(1)
    for _ in range(20):
        trace = np.ones((30, 2)) + 1e-13 * rng.normal(size=(30, 2))
        curves = arc_length_curves([trace, [[0, 0], [1, 0], [1 + 1e-12, 0], [2, 0]]],
                                   domain=domain)  # fmt: skip
        assert curves.n_curves == 2


@pytest.mark.parametrize(
    "model",
    [
        GeoPrivateCoefficients(epsilon=1.0, norm_bound=1e200),
        GeoPrivateCoefficients(epsilon=1.0, norm_bound=1e-200),
        GeoPrivateCoefficients(epsilon=1e-300),
        GeoPrivateCoefficients(rho=1e300),
        GeoPrivateCurve(epsilon=1.0, bounds=(-1e-170, 1e-170)),
        GeoPrivateCurve(epsilon=1e-300, bounds=(-1, 1)),
        SVTBasisSelector(epsilon=1e-200, method="coefficients"),
        SVTBasisSelector(epsilon=1e-320),
    ],
    ids=repr,
)
def test_public_extremes_are_refused_before_any_charge_or_work(model, tmp_path):
    ledger = BudgetLedger(
        tmp_path / "b.db", rho=1e300, metric="L2", definition="concentrated-geo"
    )
    model.set_params(ledger=str(ledger.path))
    rows = np.linspace(0, 1, 12).reshape(2, 6)
    try:
        model.fit(rows)
    except (ValueError, OverflowError, ZeroDivisionError):
        assert ledger.history() == []
        return
    try:
        model.transform(rows)
    except PrivacyError:  # a charge too small to be counted, or too large
        assert ledger.history() == []


def test_a_search_is_planned_without_a_charge_and_refuses_what_it_cannot_count(
    tmp_path,
):
    ledger = BudgetLedger(tmp_path / "b.db", epsilon=100.0, metric="L2")
    pipeline = geo_private_pipeline(
        epsilon=1.0, bounds=(0, 1), selection="svt", ledger=str(ledger.path)
    )
    grid = {"project__n_basis": [4, 8]}
    X = np.zeros((1, 20))
    assert search_guarantee(GridSearchCV(pipeline, grid), X).epsilon == 2
    two = {"a": reconstruction_score, "b": reconstruction_score}
    search = GridSearchCV(pipeline, grid, scoring=two, refit=False)
    assert search_guarantee(search, X).epsilon == 4
    with pytest.raises(PrivacyError, match="RandomizedSearchCV"):
        search_guarantee(RandomizedSearchCV(pipeline, grid), X)
    assert ledger.history() == []


def test_a_subclass_has_no_known_guarantee():
    class Stretched(BasisProjector):
        def transform(self, X):
            return 1000 * super().transform(X)

    pipeline = geo_private_pipeline(epsilon=1.0, bounds=(0, 1))
    pipeline.steps[0] = ("project", Stretched(bounds=(0, 1)))
    with pytest.raises(PrivacyError, match="first step must be a BasisProjector"):
        pipeline_guarantee(pipeline.fit(np.zeros((1, 9))))

    class Unnoticed(Pipeline):
        def transform(self, X):
            return self.steps[0][1].transform(X)

    raw = Unnoticed(geo_private_pipeline(epsilon=1.0, bounds=(0, 1)).steps)
    with pytest.raises(TypeError, match="no subclass"):
        pipeline_guarantee(raw.fit(np.zeros((1, 9))))


def test_a_release_shares_nothing_that_can_be_changed():
    model = GeoPrivateCurve(epsilon=1.0, bounds=(-1, 1)).fit(np.zeros((1, 9)))
    [curve] = model.release(np.zeros((1, 9)))
    for array in (curve.low, curve.high, curve.center):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 1e12


def test_seeds_of_other_purposes_do_not_meet():
    words = SeededBits(5, purpose=2).words(4)
    assert (SeededBits(5 + 2 * 2**32).words(4) != words).all()
    assert (SeededBits(5, purpose=1).words(4) != words).all()


def test_more_points_than_in_fit_are_refused():
    few = Curves([0.0, 1.0], [0.0, 1.0], [0, 2])
    projector = BasisProjector(n_basis=2, domain=(0, 1), bounds=(0, 1)).fit(few)
    with pytest.raises(ValueError, match="more points than in fit"):
        projector.transform(np.zeros((1, 2**20 + 1)))


def test_people_with_many_rows_reach_every_way_to_release(tmp_path):
    ledger = BudgetLedger(tmp_path / "b.db", epsilon=100.0, metric="L2")
    rows = ROWS[:4]
    for model in (
        GeoPrivateCoefficients(epsilon=1.0, ledger=str(ledger.path)),
        SVTBasisSelector(epsilon=1.0, ledger=str(ledger.path)),
        GeoPrivateCurve(epsilon=1.0, bounds=(0, 3e3), ledger=str(ledger.path)),
    ):
        before = ledger.spent.epsilon
        model.fit_transform(rows, groups=["a", "a", "a", "b"])
        assert ledger.spent.epsilon == before + 3


def test_one_trace_is_not_many_people():
    """A newcomer's mistake: every position would be a curve of a person of its own."""
    trace = np.random.default_rng(2).normal(size=(30, 2))
    with pytest.warns(UserWarning, match=r"a single trace has shape .* trace\[None\]"):
        GeoPrivateCurve(epsilon=1.0, bounds=(-9, 9)).fit(trace)


@pytest.mark.parametrize("width", [1.0, 600.0])
@pytest.mark.parametrize("start", [1e9, 1e12, 1e15])
def test_a_basis_far_from_zero_is_refused_or_safe(start, width):
    """Its computed Gram matrix is that of rounded points, not of its functions."""
    for kind in (CosineBasis, LegendreBasis, FourierBasis, BSplineBasis, SincBasis):
        near = kind(7, domain=(0.0, width))
        try:
            far = kind(7, domain=(start, start + width))
            model = GeoPrivateCoefficients(epsilon=1.0, basis=far).fit(np.zeros((1, 7)))
        except PrivacyError:
            continue
        worst = np.linalg.eigh(near.gram())[1][:, 0]
        distance = np.sqrt(worst @ near.gram() @ worst)
        assert model.law_.loss(worst) <= distance * (1 + 1e-9)


@pytest.mark.parametrize("n_jobs", [0, 1.5, True, "2"])
def test_jobs_that_joblib_refuses_are_refused_before_the_charge(n_jobs):
    for model in (
        GeoPrivateCoefficients(epsilon=1.0, n_jobs=n_jobs),
        SVTBasisSelector(epsilon=1.0, n_jobs=n_jobs),
        GeoPrivateCurve(epsilon=1.0, bounds=(0, 1), n_jobs=n_jobs),
        BasisProjector(n_jobs=n_jobs),
    ):
        with pytest.raises(ValueError, match="n_jobs must be None or an integer"):
            model.fit(ROWS[:2])


def test_what_joblib_is_told_elsewhere_stops_no_paid_release(tmp_path, monkeypatch):
    ledger = BudgetLedger(tmp_path / "b.db", epsilon=100.0, metric="L2")
    model = GeoPrivateCoefficients(epsilon=1.0, ledger=str(ledger.path), verbose=True)
    model.fit(ROWS)
    for context in ({"prefer": "processes"}, {"require": "sharedmem"}, {"n_jobs": 2}):
        with joblib.parallel_config(**context):
            assert np.isfinite(model.transform(ROWS)).all()

    class Gone:
        def write(self, text):
            raise BrokenPipeError

        def flush(self):
            raise BrokenPipeError

    monkeypatch.setattr("sys.stderr", Gone())
    assert np.isfinite(model.transform(ROWS)).all()


def test_releases_ignore_how_numpy_treats_rounding():
    with np.errstate(all="raise"):
        model = GeoPrivateCoefficients(epsilon=1.0, norm_bound=1e4, random_state=0)
        released = model.fit_transform(1e3 * np.eye(40))
    assert np.isfinite(released[:, : model.n_coefficients_]).all()


def test_how_data_are_read_is_fixed_by_fit():
    X = np.random.default_rng(3).normal(size=(2, 5))
    for model in (
        BasisProjector(n_basis=3, bounds=(-9, 9)),
        GeoPrivateCurve(epsilon=1.0, bounds=(-9, 9), random_state=0),
    ):
        before = model.fit(X).transform(X)
        model.set_params(grid=[0, 0.1, 0.2, 0.3, 1], missing="interpolate")
        np.testing.assert_array_equal(model.transform(X), before)
        with pytest.raises(ValueError, match="NaN"):
            model.transform(np.full((2, 5), np.nan))
