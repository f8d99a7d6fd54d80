"""Projection of curves: exact inner products, distances, and the way back."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skfuncpriv import BasisProjector, Curves, GeoPrivateCurve
from skfuncpriv.basis import BSplineBasis, CosineBasis, SincBasis
from skfuncpriv.exceptions import PrivacyError
from tests.local.functions import (
    BASES,
    DOMAIN,
    WIDTH,
    curve,
    distance,
    integrate,
    kinks,
)

each_basis = pytest.mark.parametrize("basis", BASES.values(), ids=BASES)


def irregular(*curves):
    times, values = zip(*curves, strict=True)
    offsets = np.cumsum([0, *map(len, times)])
    return Curves(np.concatenate(values), np.concatenate(times), offsets)


@each_basis
def test_coefficients_are_inner_products(basis):
    rng = np.random.default_rng(0)
    grid, values = curve(rng, 15, scale=2.0)
    projector = BasisProjector(basis=basis, grid=grid, bounds=(-1.5, 2), center=0.25)
    found = projector.fit_transform(values[None])[0]
    centred = np.clip(values, -1.5, 2) - 0.25
    functions = projector.basis_.evaluate
    wanted = integrate(
        lambda t: np.interp(t, grid, centred)[:, None] * functions(t), kinks(grid)
    )
    assert_allclose(found, wanted, rtol=0, atol=1e-12)


@each_basis
def test_coefficients_are_never_further_apart_than_curves(basis):
    rng = np.random.default_rng(1)
    projector = BasisProjector(basis=basis, bounds=(-50, 50))
    for scale in (1e-9, 1.0, 10.0):
        pairs = [(curve(rng, 9), curve(rng, 20)) for _ in range(6)]
        pairs += [(one, (one[0], one[1] + scale)) for one, _ in pairs]
        curves = irregular(*[each for pair in pairs for each in pair])
        coef = projector.fit_transform(curves)
        apart = np.linalg.norm(coef[::2] - coef[1::2], axis=1)
        allowed = np.array([distance(*pair) for pair in pairs])
        assert (apart <= allowed + projector.projection_error_).all()


def test_distances_of_functions_in_the_span_are_kept():
    basis = BSplineBasis(6, DOMAIN, degree=1)
    grid = np.linspace(*DOMAIN, 6)
    values = np.random.default_rng(2).normal(size=(2, 6))
    projector = BasisProjector(basis=basis, grid=grid)
    coef = projector.fit_transform(values)
    wanted = distance((grid, values[0]), (grid, values[1]))
    assert np.linalg.norm(coef[0] - coef[1]) == pytest.approx(wanted, rel=1e-13)
    assert_allclose(projector.inverse_transform(coef), values, atol=1e-13)


SMOOTH = sorted(set(BASES) - {"constants", "line spline", "whole line"})


@pytest.mark.parametrize("name", SMOOTH)
def test_round_trip_of_coefficients(name):
    """Within the error of linear interpolation, by second differences."""
    basis = BASES[name]
    grid = np.linspace(*DOMAIN, 2001)
    projector = BasisProjector(basis=basis, grid=grid).fit(np.zeros((1, 2001)))
    coef = np.random.default_rng(3).normal(size=(5, basis.n_basis))
    curves = projector.inverse_transform(coef)
    bend = abs(np.diff(curves, 2, axis=1)).max(axis=1)
    error = np.linalg.norm(projector.transform(curves) - coef, axis=1)
    assert (error <= 2 * np.sqrt(WIDTH) * bend / 8 + 1e-12).all()
    assert bend.max() < 1e-3


def test_outputs_stand_beside_each_other():
    values = np.random.default_rng(4).normal(size=(3, 11, 2))
    projector = BasisProjector(n_basis=4, bounds=([-1, -2], [1, 3])).fit(values)
    coef = projector.transform(values)
    assert coef.shape == (3, 8)
    for k, bounds in enumerate([(-1, 1), (-2, 3)]):
        alone = BasisProjector(n_basis=4, bounds=bounds)
        part = alone.fit_transform(values[:, :, k])
        assert_allclose(coef[:, k::2], part, atol=1e-15)
        assert_allclose(
            projector.inverse_transform(coef)[:, :, k], alone.inverse_transform(part),
            atol=1e-14,
        )  # fmt: skip
    assert projector.get_feature_names_out().tolist()[:3] == [
        "cosine0_0", "cosine0_1", "cosine1_0"
    ]  # fmt: skip
    assert projector.n_outputs_ == 2
    assert projector.norm_bound_ == pytest.approx(np.sqrt(1 + 9))


def test_one_output_with_an_axis_keeps_it():
    projector = BasisProjector(n_basis=3).fit(np.zeros((2, 5, 1)))
    assert projector.inverse_transform(np.zeros((2, 3))).shape == (2, 5, 1)
    assert projector.get_feature_names_out()[0] == "cosine0_0"


@each_basis
def test_irregular_curves_agree_with_a_common_grid(basis):
    rng = np.random.default_rng(5)
    grid, _ = curve(rng, 12)
    values = rng.normal(size=(4, len(grid)))
    regular = BasisProjector(basis=basis, grid=grid).fit_transform(values)
    scattered = irregular(*[(grid, row) for row in values])
    projector = BasisProjector(basis=basis).fit(scattered)
    assert_allclose(projector.transform(scattered), regular, atol=1e-13)
    assert projector.grid_[[0, -1]].tolist() == list(DOMAIN)
    assert not hasattr(projector, "n_features_in_")


def test_irregular_curves_are_clipped_and_centred_alike():
    grid, _ = curve(np.random.default_rng(5), 12)
    values = np.random.default_rng(6).uniform(-9, 9, size=(4, len(grid)))
    options = {"basis": BASES["cosine"], "bounds": (1.0, 5.0), "center": 2.0}
    regular = BasisProjector(grid=grid, **options).fit_transform(values)
    scattered = irregular(*[(grid, row) for row in values])
    projector = BasisProjector(**options).fit(scattered)
    assert_allclose(projector.transform(scattered), regular, atol=1e-12)
    nobody = Curves([np.nan] * 2, [0.0, 1.0], [0, 2], missing="interpolate")
    assert_array_equal(projector.transform(nobody), 0.0)


def test_long_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"who": list("aabbb"), "t": [0, 1, 0.5, 0.1, 0.9], "y": [1, 3, 5, 4.0, 2]}
    )
    curves = Curves.from_long(frame, "who", "t", "y", domain=(0, 1))
    coef = BasisProjector(n_basis=3).fit_transform(curves)
    assert_allclose(coef[:, 0], [2.0, 0.1 * 4 + 0.4 * 4.5 + 0.4 * 3.5 + 0.1 * 2])


def test_missing_values_are_interpolated():
    X = np.array([[1.0, np.nan, 3.0, 4.0], [np.nan] * 4, [np.nan, 2.0, 5.0, np.nan]])
    filled = np.array([[1.0, 2.0, 3.0, 4.0], [0.0] * 4, [2.0, 2.0, 5.0, 5.0]])
    projector = BasisProjector(n_basis=3, missing="interpolate", bounds=(-9, 9))
    coef = projector.fit_transform(X)
    assert_allclose(coef, projector.transform(filled), atol=1e-15)
    assert_array_equal(coef[1], 0.0)
    with pytest.raises(ValueError, match="contains NaN"):
        BasisProjector().fit(X)


def test_a_person_without_data_is_at_the_center():
    X = np.full((1, 4), np.nan)
    projector = BasisProjector(missing="interpolate", bounds=(2, 6)).fit(X)
    assert_array_equal(projector.transform(X), 0.0)
    assert_array_equal(projector.inverse_transform(projector.transform(X)), 4.0)


def test_frames_in_and_out():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(np.eye(3), columns=["t0", "t0.5", "t1"], index=[7, 8, 9])
    projector = BasisProjector(n_basis=2, grid="columns").set_output(transform="pandas")
    coef = projector.fit_transform(X)
    assert coef.columns.tolist() == ["cosine0", "cosine1"]
    assert coef.index.tolist() == [7, 8, 9]
    assert projector.feature_names_in_.tolist() == ["t0", "t0.5", "t1"]
    assert_allclose(projector.inverse_transform(coef), projector.inverse_transform(
        coef.to_numpy()
    ))  # fmt: skip
    with pytest.raises(ValueError, match="feature names"):
        projector.transform(X.rename(columns={"t0": "t00"}))


def test_values_are_clipped_and_centred():
    X = np.array([[-9.0, 0.0, 1.0, 9.0]])
    clipped = np.clip(X, -1, 2)
    for center, wanted in ((None, 0.0), (1.5, 1.5)):
        projector = BasisProjector(bounds=(-1, 2), center=center).fit(X)
        assert projector.center_.tolist() == [wanted]
        assert_array_equal(projector.transform(X), projector.transform(clipped))
        at_rest = projector.transform(np.full((1, 4), wanted))
        assert_array_equal(at_rest, 0.0)
        assert_array_equal(projector.inverse_transform(at_rest), wanted)
    assert BasisProjector(bounds=(1, 4)).fit(X).center_.tolist() == [2.5]
    with pytest.raises(ValueError, match="center must lie within bounds"):
        BasisProjector(bounds=(1, 4), center=0).fit(X)


def test_coefficients_that_are_not_released_count_as_zero():
    projector = BasisProjector(n_basis=3).fit(np.zeros((1, 5)))
    coef = np.array([[1.0, np.nan, 2.0], [np.nan] * 3])
    assert_array_equal(
        projector.inverse_transform(coef),
        projector.inverse_transform(np.nan_to_num(coef)),
    )
    assert_array_equal(projector.inverse_transform(coef)[1], 0.0)


def test_clipping_what_comes_back_brings_no_bounded_function_further_away():
    rng = np.random.default_rng(6)
    coef = 5 * rng.normal(size=(50, 6))
    free = BasisProjector(n_basis=6).fit(np.zeros((1, 20)))
    bounded = clone(free).set_params(bounds=(-1, 2)).fit(np.zeros((1, 20)))
    target = rng.uniform(-1, 2, size=(50, 20))
    before = abs(free.inverse_transform(coef) - target)
    after = bounded.inverse_transform(coef)
    assert ((after >= -1) & (after <= 2)).all()
    assert (abs(after - target) <= before).all()
    assert (abs(after - target) < before).any()


def test_huge_values_are_finite_and_clipped():
    X = np.array([[1e308, -1e308] * 5, [1e308] * 10])
    bounded = BasisProjector(bounds=(-1, 2)).fit(X)
    assert_array_equal(bounded.transform(X), bounded.transform(np.clip(X, -1, 2)))
    free = BasisProjector().fit(X)
    assert np.isfinite(free.inverse_transform(free.transform(X))).all()
    coef = np.where(np.arange(32) % 2, 1e308, -1e308)[None]
    assert np.isfinite(free.inverse_transform(coef)).all()
    assert_array_equal(abs(bounded.inverse_transform(coef) - 0.5) <= 1.5, True)


def test_grids_of_the_caller():
    projector = BasisProjector(basis=CosineBasis(3, DOMAIN)).fit(np.zeros((1, 9)))
    assert_allclose(projector.grid_, np.linspace(*DOMAIN, 9))
    coef = np.eye(3)
    found = projector.inverse_transform(coef, grid=[0.0, 2.5])
    assert_allclose(found, projector.basis_.evaluate([0.0, 2.5]).T)
    with pytest.raises(ValueError, match="of the domain"):
        projector.inverse_transform(coef, grid=[7.0])


def test_a_whole_line_may_be_looked_at_anywhere():
    basis = SincBasis(4, DOMAIN, whole_line=True)
    projector = BasisProjector(basis=basis).fit(np.zeros((1, 9)))
    assert projector.inverse_transform(np.eye(4), grid=[-40.0, 99.0]).shape == (4, 2)


def test_one_point_on_a_whole_line_is_nothing_and_raises_nothing():
    """The number of points is private; the interpolant is zero almost everywhere."""
    basis = SincBasis(4, DOMAIN, whole_line=True)
    curves = irregular(([0.5], [3.0]), ([0.5, 0.6], [3.0, 3.0]))
    coef = BasisProjector(basis=basis).fit_transform(curves)
    assert_array_equal(coef[0], 0.0)
    assert (coef[1] != 0).any()


@pytest.mark.parametrize("n_rows", [1, 200])
def test_threads_and_progress_change_nothing(n_rows, capfd):
    rng = np.random.default_rng(7)
    curves = irregular(*[curve(rng, 9) for _ in range(n_rows)])
    plain = BasisProjector(basis=BASES["cosine"]).fit_transform(curves)
    assert capfd.readouterr() == ("", "")
    busy = BasisProjector(basis=BASES["cosine"], n_jobs=2, verbose=True)
    assert_array_equal(busy.fit_transform(curves), plain)
    assert "100%" in capfd.readouterr().err


def test_wide_rows_in_several_chunks():
    X = np.random.default_rng(8).normal(size=(20_000, 4))
    one = BasisProjector(n_basis=2).fit(X)
    two = clone(one).set_params(n_jobs=2).fit(X)
    assert_array_equal(one.transform(X), two.transform(X))
    assert_allclose(one.transform(X)[-2:], one.transform(X[-2:]), atol=1e-14)


def test_clones_and_pickles():
    X = np.random.default_rng(9).normal(size=(4, 9))
    projector = BasisProjector(basis=BASES["parabolas"], bounds=(-1, 1)).fit(X)
    coef = projector.transform(X)
    for other in (pickle.loads(pickle.dumps(projector)), clone(projector).fit(X)):
        assert_array_equal(other.transform(X), coef)
        assert_array_equal(
            other.inverse_transform(coef), projector.inverse_transform(coef)
        )


def test_the_input_is_left_alone():
    X = np.full((2, 5), 9.0)
    coef = np.array([[np.nan, 1.0]])
    projector = BasisProjector(n_basis=2, bounds=(0, 1)).fit(X)
    projector.transform(X)
    projector.inverse_transform(coef)
    assert_array_equal(X, 9.0)
    assert np.isnan(coef[0, 0])


def test_a_singular_basis_is_refused():
    class Twice(CosineBasis):
        def _evaluate(self, t):
            return super()._evaluate(t)[:, [0] * self.n_basis]

    with pytest.raises(PrivacyError, match="not orthonormal"):
        BasisProjector(basis=Twice(3)).fit(np.zeros((1, 4)))


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"basis": "cosine"}, "basis must be a Basis such as .*, got 'cosine'"),
        ({"n_basis": 0}, "n_basis must be an integer >= 1"),
        ({"domain": (1, 0)}, "domain must be two finite numbers"),
        ({"basis": CosineBasis(3), "domain": (0, 2)}, "is not that of the basis"),
        ({"bounds": (1, 0)}, "bounds must be"),
        ({"bounds": ([0, 0], [1, 1])}, "bounds must be"),
        ({"center": 1e200}, "center must lie within bounds"),
        ({"missing": "drop"}, "missing must be"),
        ({"grid": [0, 0.5, 0.2, 1]}, "increas"),
        ({"grid": [0, 0.5, 1]}, "grid"),
    ],
)
def test_bad_parameters_are_refused(parameters, text):
    with pytest.raises((ValueError, TypeError), match=text):
        BasisProjector(**parameters).fit(np.zeros((2, 4)))


SPOILED = {
    "string": [["secret", "77.25"]] * 2,
    "infinite": [[77.25, np.inf]] * 2,
    "missing": [[77.25, np.nan]] * 2,
    "ragged": [[77.25, 1.0], [1.0]],
    "complex": np.full((2, 2), 77.25j),
    "flat": [77.25, 1.0],
    "huge": [[77.25, 10**400]] * 2,
}


@pytest.mark.parametrize("X", SPOILED.values(), ids=SPOILED)
def test_bad_curves_are_refused_without_a_value(X):
    fitted = BasisProjector().fit(np.zeros((1, 2)))
    for call in (BasisProjector().fit, fitted.transform):
        with pytest.raises((ValueError, TypeError)) as error:
            call(X)
        assert "77.25" not in str(error.value)
        assert "secret" not in str(error.value)
        assert error.value.__cause__ is None


def test_other_forms_than_in_fit_are_refused():
    projector = BasisProjector(n_basis=2).fit(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="X has 5 features, but BasisProjector is exp"):
        projector.transform(np.zeros((2, 5)))
    with pytest.raises(ValueError, match="as many outputs as in fit"):
        projector.transform(np.zeros((2, 4, 2)))
    with pytest.raises(ValueError, match="X has 3 coefficients, but 2 are expected"):
        projector.inverse_transform(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="irregular curves, after fit saw a common"):
        projector.transform(irregular(([0.0, 1.0], [1.0, 2.0])))


def test_irregular_curves_need_a_stated_domain():
    """That of the data would be private; on a grid it is public, 0 to 1."""
    curves = irregular(([0.0, 1.0], [1.0, 2.0]))
    for model in (BasisProjector(), GeoPrivateCurve(epsilon=1.0, bounds=(0, 9))):
        with pytest.raises(ValueError, match="domain must be stated for irregular"):
            model.fit(curves)
    stated = Curves(curves.values, curves.times, curves.offsets, domain=(0, 4))
    assert BasisProjector().fit(stated).basis_.domain == (0, 4)
    assert BasisProjector(domain=(0, 3)).fit(curves).basis_.domain == (0, 3)


def test_a_failed_fit_leaves_nothing_fitted():
    projector = BasisProjector(n_basis=2).fit(np.zeros((2, 4)))
    projector.set_params(bounds=(1, 0))
    with pytest.raises(ValueError, match="bounds"):
        projector.fit(np.zeros((2, 5)))
    with pytest.raises(ValueError, match="not fitted"):
        projector.transform(np.zeros((2, 4)))
