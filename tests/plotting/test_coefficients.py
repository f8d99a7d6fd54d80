"""The display of coefficient functions: panels, bands, and what it does not claim."""

import builtins

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfuncpriv import ICLPClassifier, ICLPRegressor
from skfuncpriv.plotting import CoefficientDisplay

from .released import Released, boxes_of, legend_of

T = np.linspace(0, 2, 7)
BAND = (
    "95% band, approximate: privacy noise at a point before denoising; sampling error "
    "and what the penalty shrinks are not in it"
)
WORDS = "epsilon = 1, delta = 0, replace-one neighbours, per person, seeded " * 3
Z = 1.959963985


def ends(fill):
    """The lower and the upper end of a band at each of its points."""
    vertices = fill.get_paths()[0].vertices
    points = np.unique(vertices[:, 0])
    rows = [vertices[vertices[:, 0] == point, 1] for point in points]
    return np.array([(row.min(), row.max()) for row in rows]).T


def has_zero_line(ax):
    return any(set(line.get_ydata()) == {0} for line in ax.lines)


def test_single_curve_is_drawn_with_its_band():
    display = CoefficientDisplay(T, T**2, 0.5, ["dose"], reference=T, level=0.9)
    assert display.plot() is display
    assert display.figure_ is display.ax_.figure
    (line,), (fill,), (reference,) = (
        display.lines_,
        display.fills_,
        display.reference_lines_,
    )
    assert_array_equal(line.get_xydata(), np.column_stack([T, T**2]))
    far = 0.5 * 1.644853627
    assert_allclose(ends(fill), [T**2 - far, T**2 + far])
    assert_array_equal(reference.get_ydata(), T)
    assert display.ax_.get_ylabel() == "dose"
    assert display.ax_.get_xlabel() == "t"
    assert legend_of(display.ax_)[1:] == [
        "released coefficient",
        BAND.replace("95", "90"),
        "reference",
    ]


@pytest.mark.parametrize(
    ("noise", "widths"),
    [
        (0.5, [0.5, 0.5, 0.5]),
        ([0.5, None, 2], [0.5, None, 2]),
        ([T, 1.0, 2 * T], [T, 1.0, 2 * T]),
        (np.stack([T, T + 1, T + 2]), [T, T + 1, T + 2]),
        (None, [None, None, None]),
    ],
)
def test_each_coefficient_has_a_panel_and_a_band_where_noise_is_known(noise, widths):
    curves = np.stack([T, -T, T**2])
    display = CoefficientDisplay(T, curves, noise, ["a", "b", "c"]).plot()
    assert [ax.get_title(loc="left") for ax in display.ax_] == ["a", "b", "c"]
    for k, width in enumerate(widths):
        assert display.lines_[k].axes is display.ax_[k]
        assert_array_equal(display.lines_[k].get_ydata(), curves[k])
        if width is None:
            assert display.fills_[k] is None
        else:
            drawn = ends(display.fills_[k])
            far = Z * np.broadcast_to(width, T.shape)
            assert_allclose(drawn, [curves[k] - far, curves[k] + far])
    assert (BAND in legend_of(display.figure_)) == (noise is not None)


def test_legend_names_the_band_though_the_first_panel_has_none():
    display = CoefficientDisplay(T, [T, -T], [None, 1.0]).plot()
    assert legend_of(display.figure_) == ["", "released coefficient", BAND]
    titles = [ax.get_title(loc="left") for ax in display.ax_]
    assert titles == ["coefficient [0]", "coefficient [1]"]


def test_predictors_may_have_grids_of_their_own():
    other = np.linspace(5, 9, 4)
    display = CoefficientDisplay([T, other], [T, other**2], [T, 1.0]).plot()
    assert_array_equal(display.lines_[0].get_xdata(), T)
    assert_array_equal(display.lines_[1].get_xdata(), other)
    first, second = display.ax_
    assert first.get_xlim()[1] < second.get_xlim()[0]


def test_zero_is_shown_unless_it_flattens_the_curve():
    display = CoefficientDisplay(T, [T - 1, 1 + T, 100 + T]).plot()
    assert [has_zero_line(ax) for ax in display.ax_] == [True, True, False]
    assert display.ax_[2].get_ylim()[0] > 90


def test_one_point_is_visible():
    display = CoefficientDisplay([0.5], [1.0], 0.5).plot()
    assert display.lines_[0].get_marker() == "o"
    assert display.fills_[0].get_linewidth()[0] > 0


@pytest.mark.parametrize("n_curves", [1, 2, 5])
def test_words_fit_and_hide_no_panel(n_curves):
    curves = [(k + 1) * T for k in range(n_curves)]
    display = CoefficientDisplay(T, curves, 0.3, None, WORDS, reference=curves).plot()
    figure = display.figure_
    figure.canvas.draw()
    panels = np.ravel(np.array(display.ax_, dtype=object))
    assert len(figure.axes) == len(panels) == n_curves
    legend, guarantee = boxes_of(display.ax_ if n_curves == 1 else figure)
    assert legend.x1 <= figure.bbox.x1
    assert guarantee.x1 <= figure.bbox.x1
    assert guarantee.y1 <= figure.bbox.y1
    boxes = [panel.get_tightbbox() for panel in panels]
    for i, box in enumerate(boxes):
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])
        assert n_curves == 1 or legend.y1 <= box.y0
        assert n_curves == 1 or box.y1 <= guarantee.y0 + 1
    if n_curves == 1:
        floor = display.ax_.transData.inverted().transform((legend.x0, legend.y0))[1]
        assert floor > ends(display.fills_[0]).max()


def test_given_axes_are_used():
    figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
    one = CoefficientDisplay(T, T).plot(axes[0])
    two = CoefficientDisplay(T, [T, T], 0.1).plot(axes[1])
    assert one.ax_ is axes[0]
    assert one.figure_ is two.figure_ is figure
    figure.canvas.draw()
    left = one.ax_.get_tightbbox().x1
    assert all(panel.get_tightbbox().x0 > left for panel in two.ax_)


# --- from estimators ----------------------------------------------------------------


def titles_of(display):
    panels = np.ravel(np.array(display.ax_, dtype=object))
    if len(panels) == 1:
        return [panels[0].get_ylabel()]
    return [panel.get_title(loc="left") for panel in panels]


def released(**attributes):
    """A stand-in with what all of these estimators have, or may have not."""
    optional = {"X_grid_", "y_grid_", "classes_", "noise_std_", "feature_names_in_"}
    optional |= {"intercept_std_"}
    words = "epsilon = 1, delta = 0"
    return Released(optional=optional, guarantee_=words, **attributes)


def test_target_curves_have_an_intercept_and_a_function_of_each_column():
    coef, noise = np.stack([T, T**2]), np.stack([0.1 + T, 0.2 + T])
    public = {"y_grid_": T, "coef_": coef, "intercept_": T + 9, "noise_std_": noise}
    display = CoefficientDisplay.from_estimator(released(**public))
    assert titles_of(display) == ["intercept", "x0", "x1"]
    assert display.figure_.get_suptitle() == "epsilon = 1, delta = 0"
    drawn = [line.get_ydata() for line in display.lines_]
    assert_array_equal(drawn, [T + 9, T, T**2])
    assert display.fills_[0] is None
    assert [panel.get_ylabel() for panel in display.ax_] == ["coefficient", "", ""]
    banded = CoefficientDisplay.from_estimator(
        released(**public, intercept_std_=1 + T**2)
    )
    far = Z * (1 + T**2)
    assert_allclose(ends(banded.fills_[0]), [T + 9 - far, T + 9 + far])
    for k in range(2):
        far = Z * noise[k]
        assert_allclose(ends(display.fills_[k + 1]), [coef[k] - far, coef[k] + far])
    public["feature_names_in_"] = np.array(["age", "dose"])
    display = CoefficientDisplay.from_estimator(
        released(**public), intercept=False, guarantee="more", reference=coef
    )
    assert titles_of(display) == ["age", "dose"]
    assert display.figure_.get_suptitle() == "more"
    public |= {"noise_std_": None}
    display = CoefficientDisplay.from_estimator(released(**public), names=list("abc"))
    assert titles_of(display) == ["a", "b", "c"]
    assert display.fills_ == [None] * 3


def test_each_output_of_target_curves_has_a_panel():
    coef = np.stack([T, -T], axis=1)[None]
    public = {"y_grid_": T, "coef_": coef, "noise_std_": 1 + coef**2}
    display = CoefficientDisplay.from_estimator(
        released(**public, intercept_=coef[0] + 1)
    )
    assert titles_of(display) == ["intercept [0]", "intercept [1]", "x0 [0]", "x0 [1]"]
    drawn = [line.get_ydata() for line in display.lines_]
    assert_array_equal(drawn, [T + 1, 1 - T, T, -T])
    far = Z * (1 + T**2)
    assert_allclose(ends(display.fills_[3]), [-T - far, -T + far])


@pytest.mark.parametrize("form", ["one", "dict", "list", "outputs"])
def test_covariate_curves_have_a_function_each(form):
    other = T[:4] + 5
    public, titles = {
        "one": ((T, T**2, 1 + T), ["coefficient"]),
        "dict": (
            ({"a": T, "b": other}, {"a": T**2, "b": -other}, {"a": 1 + T, "b": None}),
            ["a", "b"],
        ),
        "list": (([T, other], [T**2, -other], [1 + T, None]), ["X [0]", "X [1]"]),
        "outputs": (
            (T, np.stack([T**2, T], axis=1), np.stack([1 + T, T], axis=1)),
            ["coefficient [0]", "coefficient [1]"],
        ),
    }[form]
    names = ("X_grid_", "coef_", "noise_std_")
    model = released(**dict(zip(names, public, strict=True)))
    display = CoefficientDisplay.from_estimator(model)
    assert titles_of(display) == titles
    assert_array_equal(display.lines_[0].get_xydata(), np.column_stack([T, T**2]))
    far = Z * (1 + T)
    assert_allclose(ends(display.fills_[0]), [T**2 - far, T**2 + far])
    if form in ("dict", "list"):
        assert_array_equal(display.lines_[1].get_xydata(), np.c_[other, -other])
        assert display.fills_[1] is None


def test_classes_have_a_function_each_unless_there_are_two():
    public = {"X_grid_": T, "coef_": np.stack([T, 2 * T, 3 * T]), "noise_std_": 1 + T}
    model = released(**public, classes_=np.array(["a", "b", "c"]))
    display = CoefficientDisplay.from_estimator(model)
    assert titles_of(display) == [f"coefficient, class {x}" for x in "abc"]
    drawn = [line.get_ydata() for line in display.lines_]
    assert_array_equal(drawn, public["coef_"])
    for curve, fill in zip(drawn, display.fills_, strict=True):
        assert_allclose(ends(fill), [curve - Z * (1 + T), curve + Z * (1 + T)])
    public = {"X_grid_": {"x": T, "y": T}, "coef_": {"x": T[None], "y": -T[None]}}
    model = released(**public, classes_=np.array([0, 1]))
    display = CoefficientDisplay.from_estimator(model)
    assert titles_of(display) == ["x, class 1", "y, class 1"]


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({}, "needs curves"),
        ({"classes_": [0, 1]}, "needs curves"),
        ({"X_grid_": T, "y_grid_": T}, "are surfaces"),
    ],
)
def test_what_is_no_function_is_refused(attributes, message):
    model = released(coef_=np.ones((1, 7)), **attributes)
    with pytest.raises(ValueError, match=message):
        CoefficientDisplay.from_estimator(model)


RNG = np.random.default_rng(0)
ROWS = RNG.uniform(size=(300, 2))
CURVES = ROWS[:, :1] * np.sin(T) + ROWS[:, 1:]
FACTS = {"epsilon": 50.0, "random_state": 0}


def test_real_regressors_of_curves_on_numbers_and_numbers_on_curves():
    model = ICLPRegressor(X_bounds=(0, 1), y_bounds=(0, 2), y_domain=(0, 2), **FACTS)
    model.fit(ROWS, CURVES)
    display = CoefficientDisplay.from_estimator(model)
    drawn = [line.get_ydata() for line in display.lines_]
    assert_array_equal(drawn, [model.intercept_, *model.coef_])
    widths = [np.ptp(ends(fill), axis=0) for fill in display.fills_]
    assert_allclose(widths, 2 * Z * np.vstack([model.intercept_std_, model.noise_std_]))
    model = ICLPRegressor(
        X_bounds=(0, 2), X_domain={"a": (0, 2), "b": (0, 1)}, y_bounds=(0, 1), **FACTS
    )
    model.fit({"a": CURVES, "b": CURVES[:, :5]}, ROWS[:, 0])
    display = CoefficientDisplay.from_estimator(model)
    assert titles_of(display) == ["a", "b"]
    for k, name in enumerate("ab"):
        expected = np.column_stack([model.X_grid_[name], model.coef_[name]])
        assert_array_equal(display.lines_[k].get_xydata(), expected)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_real_classifiers_of_curves(n_classes):
    model = ICLPClassifier(X_bounds=(0, 2), X_domain=(0, 2), **FACTS)
    model.fit(CURVES, np.arange(300) % n_classes)
    display = CoefficientDisplay.from_estimator(model)
    drawn = [line.get_ydata() for line in display.lines_]
    assert_array_equal(drawn, model.coef_)
    assert titles_of(display)[-1] == f"coefficient, class {n_classes - 1}"
    widths = [np.ptp(ends(fill), axis=0) for fill in display.fills_]
    assert_allclose(widths, [2 * Z * model.noise_std_] * len(drawn))


def test_real_coefficients_of_numbers_and_surfaces_are_refused():
    model = ICLPRegressor(X_bounds=(0, 1), y_bounds=(0, 1), kernel="linear", **FACTS)
    with pytest.raises(ValueError, match="needs curves"):
        CoefficientDisplay.from_estimator(model.fit(ROWS, ROWS[:, 0]))
    domains = {"X_domain": (0, 2), "y_domain": (0, 2)}
    model = ICLPRegressor(X_bounds=(0, 2), y_bounds=(0, 2), **domains, **FACTS)
    with pytest.raises(ValueError, match="are surfaces"):
        CoefficientDisplay.from_estimator(model.fit(CURVES, CURVES))


# --- refusals -----------------------------------------------------------------------


def test_names_with_dollars_are_names():
    display = CoefficientDisplay(T, [T, T], names=[r"$\foo$", "y"]).plot()
    display.figure_.canvas.draw()
    assert display.ax_[0].get_title(loc="left") == r"\$\foo\$"


@pytest.mark.parametrize(
    ("arguments", "more", "message"),
    [
        ((T, T[1:]), {}, "t must have the points"),
        ((T, [T, T[1:]]), {}, "t must have the points"),
        (([T, T], [T, T, T]), {}, "t must have the points"),
        ((T, np.ones((2, 7, 2))), {}, "coefficients must be a curve"),
        ((np.ones((1, 7, 1)), T), {}, "t must be a curve"),
        ((T, []), {}, "coefficients must be a curve"),
        ((T, [[]]), {}, "coefficients must be a curve"),
        ((T, T, -0.5), {}, "noise_std must be"),
        ((T, T, np.nan), {}, "noise_std must be"),
        ((T, T, T[1:]), {}, "noise_std must be"),
        ((T, [T, T], [1.0]), {}, "noise_std must be"),
        ((T, [T, T], [1.0, T[1:]]), {}, "noise_std must be"),
        ((T, T, 1.0), {"level": 1.0}, "level must lie between 0 and 1"),
        ((T, [T, T]), {"reference": [T, T[1:]]}, "reference must have the form"),
        ((T, [T, T]), {"reference": T}, "reference must have the form"),
        ((T, [T, T], None, ["a"]), {}, "names must name 2 coefficients"),
        ((T, [T, T], None, "ab"), {}, "names must name 2 coefficients"),
    ],
)
def test_arrays_must_fit(arguments, more, message):
    with pytest.raises(ValueError, match=message):
        CoefficientDisplay(*arguments, **more).plot()


def test_missing_matplotlib_names_the_extra(monkeypatch):
    real_import = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"skfuncpriv\[plot\]"):
        CoefficientDisplay(T, T).plot()
