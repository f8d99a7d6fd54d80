"""Designs: bounded features, each a function of its own row, and what they mean."""

from types import SimpleNamespace

import numpy as np
import pytest

from skfuncpriv import Curves
from skfuncpriv.basis import CosineBasis, LegendreBasis
from skfuncpriv.gaussian_process import GaussianKernel
from skfuncpriv.gaussian_process._duality import KAPPA
from skfuncpriv.iclp._designs import public_design, zero_rows
from tests.iclp.spine import projections

GRID = np.concatenate([np.linspace(0, 1, 9), [1.3, 2.0]])
FACTS = {
    "X_bounds": (-2.0, 6.0),
    "X_domain": None,
    "X_grid": None,
    "X_basis": "pss",
    "eta": "pss",
    "kernel": None,
    "missing": "error",
    "_is_strict": lambda: False,
}
CURVE = {"X_domain": (0.0, 2.0), "X_grid": GRID, "X_basis": 6}
TWO = {
    "X_domain": {"a": (0.0, 2.0), "b": (-1.0, 1.0)},
    "X_grid": {"a": GRID, "b": np.linspace(-1, 1, 5)},
    "X_bounds": {"a": (-2.0, 6.0), "b": (0.0, 1.0)},
    "X_basis": {"a": 6, "b": 3},
}
DESIGNS = {
    "linear": ({"kernel": "linear"}, 3),
    "kernel": ({"kernel": GaussianKernel(2.0), "X_basis": 30}, 2),
    "curve": (CURVE, len(GRID)),
    "two": (TWO, len(GRID) + 5),
}
each_design = pytest.mark.parametrize(("facts", "width"), DESIGNS.values(), ids=DESIGNS)


def design_of(facts, X):
    return public_design(SimpleNamespace(**{**FACTS, **facts}), X)


def rows_of(width, n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(2, 3, (n, width))
    X[0], X[1], X[2], X[3] = 1e300, -1e300, 5e-324, 1e308 * (-1) ** np.arange(width)
    return X


@each_design
def test_norms_are_at_most_one(facts, width):
    X = rows_of(width)
    design, rows = design_of(facts, X)
    for size in (design.sizes[0], design.size):
        cut = design.first(size)
        for features in (cut.transform(rows), cut.whitened(rows)):
            assert features.shape == (40, size)
            norms = np.linalg.norm(features.astype(np.longdouble), axis=1)
            assert norms.max() <= KAPPA
            assert norms.max() >= 0.2
    assert (design.penalty >= 1).all()
    if design.constant:
        assert (design.transform(rows)[:, 0] == design.constant).all()
        assert design.penalty[0] == 1


@each_design
def test_features_are_functions_of_their_own_row(facts, width):
    X = rows_of(width)
    design, rows = design_of(facts, X)
    codes = np.arange(40) // 3
    features = design.transform(rows, codes)
    other = X.copy()
    other[codes != 4] = rows_of(width, seed=1)[codes != 4]
    some = other[codes >= 4]  # others own other numbers of rows
    again = design.transform(design.read(some), codes[codes >= 4])
    np.testing.assert_array_equal(again[:3], features[codes == 4])
    alone = design.transform(design.read(X[codes == 4]), codes[codes == 4])
    np.testing.assert_array_equal(alone, features[codes == 4])


@each_design
def test_the_first_features_are_the_same(facts, width):
    design, rows = design_of(facts, rows_of(width))
    cut = design.first(design.sizes[0])
    whole = design.transform(rows)[4:, : cut.size]
    np.testing.assert_allclose(cut.transform(rows)[4:], whole, atol=1e-12)
    np.testing.assert_array_equal(cut.penalty, design.penalty[: cut.size])
    np.testing.assert_array_equal(cut.energy, design.energy[: cut.size])
    assert list(design.sizes) == sorted(set(design.sizes))
    assert design.sizes[-1] == design.size
    assert design.energy.sum() <= 1 + 1e-9
    assert (np.diff(design.missed) <= 0).all()


def test_linear_features_are_scaled_numbers():
    design, rows = design_of({"kernel": "linear"}, [[2.0, 6.0], [-2.0, 100.0]])
    expected = np.array([[1.0, 0.0, 1.0], [1.0, -1.0, 1.0]]) / np.sqrt(3)
    np.testing.assert_allclose(design.transform(rows), expected)


def test_curve_features_are_projections():
    X = np.random.default_rng(0).uniform(-2, 6, (5, len(GRID)))
    design, rows = design_of(CURVE, X)
    bound = 4 * np.sqrt(2.0)
    expected = projections(X - 2.0, GRID, 6, (0.0, 2.0)) / bound / np.sqrt(2)
    np.testing.assert_allclose(design.transform(rows)[:, 1:], expected, atol=1e-10)


def test_the_penalty_of_curves_is_that_of_the_quadratic_mean():
    design, _ = design_of({**CURVE, "eta": 1.2}, np.zeros((1, len(GRID))))
    spectrum = CosineBasis(6, (0.0, 2.0)).spectrum
    np.testing.assert_allclose(design.penalty[1:], (spectrum[0] / spectrum) ** 1.2)


@each_design
def test_slopes_are_functions_of_what_a_row_holds(facts, width):
    X = np.random.default_rng(3).uniform(0, 1, (20, width))
    design, rows = design_of(facts, X)
    theta = np.random.default_rng(4).normal(size=(design.size, 2))
    wanted = design.transform(rows) @ theta
    intercept, parts = design.slopes(theta)
    if "kernel" in facts and facts["kernel"] != "linear":
        np.testing.assert_array_equal(parts[0], theta)
        np.testing.assert_array_equal(intercept, 0)
        return
    if "X_domain" not in facts:
        np.testing.assert_allclose(intercept + X @ parts[0], wanted, atol=1e-12)
        return
    total, start = np.tile(intercept, (20, 1)), 0
    for predictor, function in zip(design.predictors, parts, strict=True):
        grid, fine = predictor.grid, np.linspace(*predictor.basis.domain, 20_001)
        coefs, *_ = np.linalg.lstsq(
            predictor.basis.evaluate(grid), function[:, 0], rcond=None
        )
        smooth = predictor.basis.evaluate(fine) @ coefs
        for i, curve in enumerate(X[:, start : start + len(grid)]):
            values = np.interp(fine, grid, curve)[:, None] * smooth
            total[i] += np.trapezoid(values, fine, axis=0)
        start += len(grid)
    np.testing.assert_allclose(total, wanted, atol=1e-6)


def test_several_curves_come_in_three_forms():
    X = rows_of(len(GRID) + 5)
    design, rows = design_of(TWO, X)
    features = design.transform(rows)
    parts = {"b": X[:, len(GRID) :], "a": X[:, : len(GRID)]}
    np.testing.assert_array_equal(design.transform(design.read(parts)), features)
    listed = {name: [fact["a"], fact["b"]] for name, fact in TWO.items()}
    other, rows = design_of(listed, [parts["a"], parts["b"]])
    np.testing.assert_array_equal(other.transform(rows), features)
    one, _ = design_of({**TWO, "X_bounds": (-2.0, 6.0), "X_basis": 3}, parts)
    assert one.size == 1 + 3 + 3


def test_curves_without_data_are_zero_and_known_to_be_missing():
    X = rows_of(len(GRID), n=6)
    X[4] = np.nan
    design, rows = design_of({**CURVE, "missing": "interpolate"}, X)
    assert design.seen(rows).tolist() == [True] * 4 + [False, True]
    assert (design.transform(rows)[4] == 0).all()
    design, rows = design_of(CURVE, X[:4])
    assert design.seen(rows) is None
    curves = Curves.from_wide(X[:4], GRID, (0.0, 2.0))
    design, rows = design_of({**CURVE, "X_grid": None, "X_domain": None}, curves)
    assert design.seen(rows).all()


def test_irregular_and_vector_curves():
    irregular = Curves([1.0, 2.0, 3.0], [0.1, 0.4, 0.5], [0, 2, 3], domain=(0, 1))
    design, rows = design_of({}, irregular)
    assert design.transform(rows).shape == (2, design.size)
    assert design.n_columns is None
    vector = np.zeros((3, len(GRID), 2))
    design, rows = design_of(CURVE, vector)
    assert design.size == 1 + 2 * 6
    _, (function,) = design.slopes(np.ones((13, 1)))
    assert function.shape == (len(GRID), 2, 1)


BAD = {
    "bounds order": ({"X_bounds": (1, 0), "kernel": "linear"}, "X_bounds must be"),
    "bounds nan": ({"X_bounds": (0, np.nan), "kernel": "linear"}, "X_bounds must be"),
    "bounds text": ({"X_bounds": "ab"}, "X_bounds must be"),
    "bounds none": ({"X_bounds": None}, "X_bounds must be"),
    "bounds shape": ({"X_bounds": ([0, 0, 0], [1, 1, 1])}, "X_bounds must be"),
    "bounds near": ({"X_bounds": (0, 1e-200)}, "at least"),
    "curve bounds": ({**CURVE, "X_bounds": (1, 0)}, "X_bounds must be"),
    "curve bounds near": ({**CURVE, "X_bounds": (0, 1e-150)}, "further apart"),
    "domain": ({**CURVE, "X_domain": (1, 0)}, "X_domain must be"),
    "domain wide": ({"X_domain": (0, 1e200)}, "X_domain is too"),
    "grid of numbers": ({"X_grid": [0, 1]}, "X_grid is of curves"),
    "grid": ({**CURVE, "X_grid": [0, 1, 2]}, "grid must have one entry"),
    "basis": ({**CURVE, "X_basis": 0}, "X_basis must be an integer"),
    "basis text": ({**CURVE, "X_basis": "many"}, "X_basis must be an integer"),
    "basis domain": ({**CURVE, "X_basis": LegendreBasis(3)}, "has the domain"),
    "basis of numbers": ({"kernel": "linear", "X_basis": 3}, "X_basis is of curves"),
    "basis size": ({"X_basis": 5000}, "X_basis must be 'pss' or at most"),
    "eta": ({**CURVE, "eta": 0.5}, "eta must be 'pss' or > 1/2"),
    "eta of numbers": ({"eta": 2.0}, "eta is of curves"),
    "eta text": ({**CURVE, "eta": "big"}, "eta must be a finite number"),
    "kernel of curves": ({**CURVE, "kernel": "linear"}, "kernel is of rows"),
    "names": ({**TWO, "X_bounds": {"a": (0, 1)}}, "entry for each key"),
}


@pytest.mark.parametrize(("facts", "text"), BAD.values(), ids=BAD)
def test_bad_facts_are_refused(facts, text):
    width = len(GRID) + 5 if "names" in text or "key" in text else len(GRID)
    X = rows_of(width if "X_domain" in facts else 2)
    with pytest.raises(ValueError, match=text):
        design_of(facts, X)


def test_bad_kernels_and_tables_are_refused():
    with pytest.raises(TypeError, match="kernel must be a Kernel"):
        design_of({"kernel": "rbf"}, np.zeros((2, 2)))
    for X in ({"a": np.zeros((2, 11))}, [np.zeros((2, 11))], np.zeros((2, 15))):
        with pytest.raises(ValueError, match="X must"):
            design_of(TWO, X)
    unequal = {"a": np.zeros((2, 11)), "b": np.zeros((3, 5))}
    with pytest.raises(ValueError, match="one curve for each row"):
        design_of(TWO, unequal)


@each_design
def test_rows_of_zeros_have_the_stated_form(facts, width):
    bounds = {"X_bounds": (-2.0, np.full(width, 6.0))}
    stated = {**FACTS, **bounds, **facts} if width < 5 else {**FACTS, **facts}
    zeros = zero_rows(SimpleNamespace(**stated), None)
    whole, _ = design_of(stated, rows_of(width))
    design, rows = design_of(stated, zeros)
    assert len(rows) == 1
    assert design.n_columns == width
    assert design.size == whole.size


@pytest.mark.parametrize("bounds", [None, 1.0, (), (0.0,), "ab"], ids=repr)
def test_bad_bounds_are_refused_by_name_before_there_are_rows(bounds):
    facts = {"X_bounds": bounds}
    zeros = zero_rows(SimpleNamespace(**{**FACTS, **facts}), None)
    with pytest.raises(ValueError, match="X_bounds must be"):
        design_of(facts, zeros)
