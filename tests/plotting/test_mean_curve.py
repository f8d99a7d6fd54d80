"""The display of a mean curve: what is drawn, and that it does not overstate."""

import builtins
import types

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from skfuncpriv import (
    ComponentsDisplay,
    CovarianceDisplay,
    DensityDisplay,
    ICLPCovariance,
    ICLPMean,
    PrivateFPCA,
    PrivateKDE,
    PrivateSparseMean,
)
from skfuncpriv.datasets import make_curves
from skfuncpriv.plotting import MeanCurveDisplay

T = np.linspace(0, 2, 7)


def fitted(mean, t=T, bounds=(-1e3, 1e3)):
    """The attributes of a fitted estimator that the display reads."""
    return types.SimpleNamespace(
        grid_=t,
        bounds=bounds,
        predict=lambda points: 10 + np.multiply.outer(points, np.ones(mean.shape[1:])),
        mean_=mean,
        noise_band=lambda level: (mean - level, mean + level),
        guarantee_="epsilon = 1, delta = 0",
    )


def legend_of(display):
    ax = np.ravel(display.ax_)[0]
    return [text.get_text() for text in ax.get_legend().get_texts()]


def dotted(ax):
    return [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == ":"]


def test_plot_draws_the_arrays():
    display = MeanCurveDisplay(T, T**2, T**2 - 1, T**2 + 2, reference=T)
    assert display.plot() is display
    assert display.figure_ is display.ax_.figure
    assert_array_equal(display.line_.get_xydata(), np.column_stack([T, T**2]))
    assert_array_equal(display.reference_line_.get_ydata(), T)
    path = display.fill_.get_paths()[0].vertices
    assert path[:, 1].max() == T[-1] ** 2 + 2
    assert path[:, 1].min() == -1
    assert legend_of(display) == [
        "released mean",
        "privacy noise only, not sampling error",
        "reference",
    ]


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_from_estimator_asks_for_the_band_of_the_level(level):
    display = MeanCurveDisplay.from_estimator(fitted(T), level=level)
    assert_allclose(display.upper - display.lower, 2 * level)
    assert f"{100 * level:g}% band: privacy noise only" in legend_of(display)[1]
    assert display.ax_.get_title(loc="left") == "epsilon = 1, delta = 0"


@pytest.mark.parametrize("n_outputs", [None, 2])
@pytest.mark.parametrize("estimator", [ICLPCovariance, PrivateFPCA])
def test_the_mean_of_a_covariance_has_no_band(estimator, n_outputs):
    made = make_curves(400, n_points=15, n_outputs=n_outputs, random_state=0)
    model = estimator(bounds=(-2, 2), epsilon=4.0, random_state=0).fit(made.data)
    display = MeanCurveDisplay.from_estimator(model)
    assert display.fill_ is None
    for j, line in enumerate(np.ravel(display.line_)):
        assert_array_equal(line.get_ydata(), model.mean_.reshape(15, -1)[:, j])
    assert "privacy noise" not in " ".join(legend_of(display))


def test_given_axes_are_used():
    _, ax = plt.subplots()
    display = MeanCurveDisplay.from_estimator(fitted(T), ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_each_output_has_a_panel_with_its_name():
    mean = np.stack([T, -T, T**2], axis=1)
    display = MeanCurveDisplay(T, mean, mean - 1, mean + 1, reference=mean).plot()
    assert len(display.line_) == len(display.fill_) == 3
    assert len(display.reference_line_) == 3
    for j, line in enumerate(display.line_):
        assert_array_equal(line.get_ydata(), mean[:, j])
        assert line.axes is display.ax_[j]
    assert [ax.get_ylabel() for ax in display.ax_] == [f"mean [{j}]" for j in range(3)]
    assert legend_of(display)[0] == "released mean"
    named = MeanCurveDisplay.from_estimator(fitted(mean), names=["x", "y", "z"])
    assert [ax.get_ylabel() for ax in named.ax_] == ["x", "y", "z"]
    assert display.ax_[0].get_shared_x_axes().joined(*display.ax_[:2])


def test_outputs_in_one_axes_are_named_in_the_legend():
    _, ax = plt.subplots()
    display = MeanCurveDisplay.from_estimator(
        fitted(np.stack([T, -T], axis=1)), ax, names=["hip", "knee"]
    )
    assert display.ax_ is ax
    assert len({line.get_color() for line in display.line_}) == 2
    assert legend_of(display)[:2] == ["released mean, hip", "released mean, knee"]
    _, three = plt.subplots(3)
    with pytest.raises(ValueError, match="one for each output"):
        display.plot(three)


def test_coarse_curve_is_drawn_finely_with_its_points_marked():
    display = MeanCurveDisplay.from_estimator(fitted(T))
    points, values = display.line_.get_data()
    assert np.isin(T, points).all()
    assert len(points) > 200
    assert_array_equal(values, 10 + points)
    (marks,) = [line for line in display.ax_.lines if line.get_marker() == "o"]
    assert_array_equal(marks.get_xydata(), np.column_stack([T, T]))
    dense = np.linspace(0, 2, 60)
    display = MeanCurveDisplay.from_estimator(fitted(dense, dense))
    assert_array_equal(display.line_.get_xydata(), np.column_stack([dense, dense]))
    assert [line for line in display.ax_.lines if line.get_marker() == "o"] == []


def test_bounds_are_dotted_unless_they_flatten_the_curve():
    display = MeanCurveDisplay(T, T, bounds=(-0.5, 1e3)).plot()
    assert dotted(display.ax_) == [-0.5]
    assert legend_of(display) == ["released mean", "public bounds"]
    assert "public bounds" not in legend_of(MeanCurveDisplay(T, T).plot())
    mean = np.stack([T, 100 * T], axis=1)
    display = MeanCurveDisplay(T, mean, bounds=([-1, -50], [2.5, 250])).plot()
    assert [dotted(ax) for ax in display.ax_] == [[-1, 2.5], [-50, 250]]
    assert legend_of(display).count("public bounds") == 1


def test_without_a_band_there_is_no_band():
    display = MeanCurveDisplay(T, T).plot()
    assert display.fill_ is None
    assert display.reference_line_ is None
    assert legend_of(display) == ["released mean"]


def test_curve_of_one_point_is_visible():
    display = MeanCurveDisplay([0.5], [1.0], [0.5], [1.5]).plot()
    assert display.line_.get_marker() == "o"
    assert display.fill_.get_linewidth()[0] > 0


@pytest.mark.parametrize("n_columns", [1, 3])
def test_legend_and_guarantee_fit_and_hide_no_curve(n_columns):
    figure, axes = plt.subplots(1, n_columns, figsize=(8, 4), layout="constrained")
    ax = np.ravel(axes)[0]
    display = MeanCurveDisplay(
        *(T, T, T - 1, T + 1), reference=T, guarantee="epsilon = 1, " * 12, level=0.95
    ).plot(ax)
    figure.canvas.draw()
    frame, box = ax.get_window_extent(), ax.get_legend().get_window_extent()
    assert box.x0 >= frame.x0
    assert box.x1 <= frame.x1
    floor = ax.transData.inverted().transform((box.x0, box.y0))[1]
    assert floor > display.upper.max()
    (title,) = [text for text in ax.get_children() if "epsilon" in str(text)]
    assert title.get_window_extent().x1 <= frame.x1 + 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((T, T[1:]), "t must have shape"),
        ((T[:, None], T), "t must have shape"),
        ((T, np.ones((7, 2, 2))), "t must have shape"),
        ((T, T, T), "given together"),
        ((T, T, None, T), "given together"),
        ((T, T, T[1:], T), "lower must have the shape of mean"),
        ((T, T, T, T[1:]), "upper must have the shape of mean"),
        ((T, T, None, None, T[1:]), "reference must have the shape of mean"),
    ],
)
def test_arrays_must_fit(arguments, message):
    with pytest.raises(ValueError, match=message):
        MeanCurveDisplay(*arguments).plot()


def test_missing_matplotlib_names_the_extra(monkeypatch):
    real_import = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"skfuncpriv\[plot\]"):
        MeanCurveDisplay(T, T).plot()


# Where few people are observed


def partly_observed(n_points):
    t = np.linspace(0, 1, n_points)
    X = np.tile(1 + t, (400, 1))
    X[:, t > 0.6] = np.nan
    model = PrivateSparseMean(bounds=(0, 3), domain=(0, 1), epsilon=50.0)
    return model.set_params(random_state=0).fit(X)


@pytest.mark.parametrize("n_points", [11, 81])
def test_line_is_pale_where_few_are_observed(n_points):
    model = partly_observed(n_points)
    display = MeanCurveDisplay.from_estimator(model)
    few = model.coverage_ < 0.05
    assert few.any()
    assert not few.all()
    points = display.line_.get_xdata()
    firm = np.isfinite(display.line_.get_ydata())
    pale = np.isfinite(display.few_line_.get_ydata())
    expected = np.interp(points, model.grid_, model.coverage_) >= 0.05
    assert_array_equal(firm, expected)
    assert (firm | pale).all()
    assert (firm & pale).sum() == np.sum(np.diff(firm.astype(int)) != 0)  # no gap
    values = np.where(firm, display.line_.get_ydata(), display.few_line_.get_ydata())
    assert_allclose(values, model.predict(points))
    assert display.few_line_.get_alpha() < 1
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "released mean where fewer than 5% are observed" in words


def test_line_is_whole_where_many_are_observed():
    t = np.linspace(0, 1, 50)
    display = MeanCurveDisplay(t, t, coverage=np.full(50, 0.06)).plot()
    assert display.few_line_ is None
    assert_array_equal(display.line_.get_ydata(), t)
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words == ["released mean"]
    nowhere = MeanCurveDisplay(t, t, coverage=np.zeros(50)).plot()
    assert_array_equal(nowhere.few_line_.get_ydata(), t)
    with pytest.raises(ValueError, match="coverage must have the shape of t"):
        MeanCurveDisplay(t, t, coverage=[1.0]).plot()


@pytest.mark.parametrize(
    ("display", "model"),
    [
        (MeanCurveDisplay, ICLPMean(bounds=(0, 1))),
        (DensityDisplay, PrivateKDE(bounds=(0, 1))),
        (CovarianceDisplay, ICLPCovariance(bounds=(0, 1))),
        (ComponentsDisplay, PrivateFPCA(bounds=(0, 1))),
    ],
)
def test_what_is_not_fitted_is_not_drawn(display, model):
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        display.from_estimator(model)


def test_a_second_mean_has_another_colour_and_a_name():
    _, ax = plt.subplots()
    for k, name in enumerate(("sick", "$well$")):
        mean = T + 3 * k
        display = MeanCurveDisplay(
            T, mean, mean - 1, mean + 1, reference=mean, name=name
        ).plot(ax)
        assert display.reference_line_.get_color() == display.line_.get_color()
    curves = [line for line in ax.lines if line.get_linestyle() == "-"]
    assert len({line.get_color() for line in curves}) == 2
    assert legend_of(display) == [
        "released: sick",
        r"released: \$well\$",
        "privacy noise only, not sampling error",
        "reference",
    ]
    low, high = ax.get_ylim()
    assert low < 0
    assert 4 < high < 8  # the room for the legend is made once
    plain = [MeanCurveDisplay(T, T + k).plot(ax) for k in range(2)]
    assert len({each.line_.get_color() for each in plain}) == 2


def test_a_second_mean_of_outputs_has_other_colours_in_each_panel():
    mean = np.stack([T, -T], axis=1)
    first = MeanCurveDisplay(T, mean).plot()
    second = MeanCurveDisplay(T, mean + 1, coverage=np.zeros_like(T)).plot(first.ax_)
    third = MeanCurveDisplay(T, mean + 2).plot(first.ax_)
    for j in range(2):
        colours = {each.line_[j].get_color() for each in (first, second, third)}
        assert len(colours) == 3
