"""The display of a mean curve: what is drawn, and that it does not overstate."""

import builtins
import types

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfuncpriv.plotting import MeanCurveDisplay

T = np.linspace(0, 2, 7)


def fitted(mean):
    """The attributes of a fitted estimator that the display reads."""
    return types.SimpleNamespace(
        grid_=T,
        mean_=mean,
        noise_band=lambda level: (mean - level, mean + level),
        guarantee_="epsilon = 1, delta = 0",
    )


def legend_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


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


def test_given_axes_are_used():
    _, ax = plt.subplots()
    display = MeanCurveDisplay.from_estimator(fitted(T), ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_vector_valued_mean_is_drawn_as_lines():
    mean = np.stack([T, -T, T**2], axis=1)
    display = MeanCurveDisplay.from_estimator(fitted(mean), reference=mean)
    assert len(display.line_) == len(display.fill_) == 3
    assert len(display.reference_line_) == 3
    for j, line in enumerate(display.line_):
        assert_array_equal(line.get_ydata(), mean[:, j])
    assert len({line.get_color() for line in display.line_}) == 3
    assert legend_of(display)[:3] == [f"released mean [{j}]" for j in range(3)]


def test_without_a_band_there_is_no_band():
    display = MeanCurveDisplay(T, T).plot()
    assert display.fill_ is None
    assert display.reference_line_ is None
    assert legend_of(display) == ["released mean"]


def test_curve_of_one_point_is_visible():
    display = MeanCurveDisplay([0.5], [1.0], [0.5], [1.5]).plot()
    assert display.line_.get_marker() == "o"
    assert display.fill_.get_linewidth()[0] > 0


def test_legend_hides_no_curve():
    display = MeanCurveDisplay(T, T, T - 1, T + 1, reference=T).plot()
    display.figure_.canvas.draw()
    box = display.ax_.get_legend().get_window_extent()
    floor = display.ax_.transData.inverted().transform((box.x0, box.y0))[1]
    assert floor > display.upper.max()


def test_long_guarantee_is_wrapped():
    display = MeanCurveDisplay(T, T, guarantee="epsilon = 1, " * 30).plot()
    lines = display.ax_.get_title(loc="left").splitlines()
    assert max(map(len, lines)) <= 84


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
