"""The display of components: curves or effects, shares, and what is only noise."""

import builtins

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfuncpriv import PrivateFPCA
from skfuncpriv.datasets import make_curves
from skfuncpriv.plotting import ComponentsDisplay

from .released import Released, boxes_of, legend_of

T = np.linspace(0, 2, 9)
WAVES = np.cos(np.pi * np.outer([1, 2, 3, 4], T / 2))
MEAN = 20 + T
VARIANCES = np.array([4.0, 1.0, 0.25, 0.01])
SHARES = VARIANCES / VARIANCES.sum()
WORDS = "epsilon = 1, delta = 0, replace-one neighbours, per person, seeded " * 3
PAIR = np.stack([WAVES, -WAVES[::-1]], axis=2)  # of two outputs


def display_of(n_outputs=1, **options):
    components, mean = (WAVES, MEAN) if n_outputs == 1 else (PAIR, PAIR[0])
    return ComponentsDisplay(T, mean, components, VARIANCES, SHARES, **options)


def fitted(components, mean):
    return Released(
        grid_=T,
        mean_=mean,
        components_=components,
        explained_variance_=VARIANCES,
        explained_variance_ratio_=SHARES,
        n_detectable_=2,
        guarantee_="epsilon = 1, delta = 0",
    )


def test_effects_are_the_mean_plus_and_minus_deviations():
    display = display_of(deviations=1.5)
    assert display.plot() is display
    assert display.ax_.shape == (4,)
    assert display.lines_.shape == (4, 1, 2)
    for k, panel in enumerate(display.ax_):
        far = 1.5 * np.sqrt(VARIANCES[k]) * WAVES[k]
        below, above = display.lines_[k, 0]
        assert_allclose(below.get_xydata(), np.column_stack([T, MEAN - far]))
        assert_allclose(above.get_ydata(), MEAN + far)
        assert below.axes is above.axes is panel
        assert below.get_color() != above.get_color()
        assert below.get_linestyle() != above.get_linestyle()  # in black and white, too
        assert_array_equal(panel.lines[0].get_ydata(), MEAN)
    assert legend_of(display.figure_)[1:] == [
        "released mean",
        "minus 1.5 standard deviations",
        "plus 1.5 standard deviations",
    ]


def test_shares_are_the_titles():
    display = display_of().plot()
    titles = [panel.get_title(loc="left") for panel in display.ax_]
    assert titles == [
        "component 1: 76%",
        "component 2: 19%",
        "component 3: 5%",
        "component 4: < 1%",
    ]
    note = legend_of(display.figure_)[0]
    assert note.startswith("percentages are shares of the released variance; ")
    assert note.endswith("sampling error is not shown")
    display = ComponentsDisplay(T, MEAN, WAVES, VARIANCES).plot()
    assert display.ax_[0].get_title(loc="left") == "component 1"
    assert "percentages" not in legend_of(display.figure_)[0]
    assert "grey" not in legend_of(display.figure_)[0]


@pytest.mark.parametrize("kind", ["effects", "components"])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("detectable", [0, 2, 4])
def test_components_beyond_the_noise_are_said_to_be_noise(kind, n_outputs, detectable):
    display = display_of(n_outputs, kind=kind, detectable=detectable).plot()
    host = display.ax_ if kind == "components" and n_outputs == 1 else display.figure_
    words = legend_of(host)
    if kind == "effects":
        first = display.ax_.reshape(4, n_outputs)[:, 0]
        words = [words[0], *(panel.get_title(loc="left") for panel in first)]
    is_noise = [
        next(word for word in words if word.startswith(f"component {k + 1}"))
        == f"component {k + 1}: noise"
        for k in range(4)
    ]
    assert is_noise == [k >= detectable for k in range(4)]
    is_grey = [
        line.get_color() == "0.55" for line in display.lines_.reshape(4, -1)[:, 0]
    ]
    assert is_grey == is_noise
    said = any("what is grey does not stand out" in word for word in legend_of(host))
    assert said == (detectable < 4)


def test_components_are_curves_in_one_axes():
    display = display_of(kind="components", guarantee=WORDS).plot()
    assert display.lines_.shape == (4, 1)
    for k, (line,) in enumerate(display.lines_):
        assert_array_equal(line.get_xydata(), np.column_stack([T, WAVES[k]]))
        assert line.axes is display.ax_
    lines = [line for (line,) in display.lines_]
    assert len({line.get_color() for line in lines}) == 4
    assert len({str(line._dash_pattern) for line in lines}) == 4
    assert display.ax_.get_ylabel() == "component"
    display.figure_.canvas.draw()
    legend, _ = boxes_of(display.ax_)
    floor = display.ax_.transData.inverted().transform((legend.x0, legend.y0))[1]
    assert floor > WAVES.max()


def test_outputs_have_columns_of_effects_and_rows_of_components():
    display = display_of(2, names=["hip", "knee"]).plot()
    assert display.ax_.shape == (4, 2)
    for k, j in np.ndindex(4, 2):
        above = display.lines_[k, j, 1]
        expected = PAIR[0, :, j] + 2 * np.sqrt(VARIANCES[k]) * PAIR[k, :, j]
        assert_allclose(above.get_ydata(), expected)
        assert above.axes is display.ax_[k, j]
        assert display.ax_[k, j].get_ylabel() == ["hip", "knee"][j]
    display = display_of(2, kind="components").plot()
    assert display.ax_.shape == (2,)
    assert [ax.get_ylabel() for ax in display.ax_] == ["component [0]", "component [1]"]
    for k, j in np.ndindex(4, 2):
        assert_array_equal(display.lines_[k, j].get_ydata(), PAIR[k, :, j])


@pytest.mark.parametrize(("detectable", "share"), [(0, "noise"), (1, "80%")])
def test_single_component_keeps_its_share(detectable, share):
    display = ComponentsDisplay(
        T, MEAN, WAVES[:1], [4.0], [0.8], WORDS, detectable=detectable
    )
    _, ax = plt.subplots()
    assert display.plot(ax).ax_ is ax
    entries = legend_of(ax)[1:]
    assert entries[:3] == [
        "released mean",
        f"component 1: {share}, minus 2 standard deviations",
        f"component 1: {share}, plus 2 standard deviations",
    ]
    has_shares = "percentages are shares" in " ".join(entries)
    assert has_shares == (share == "80%")
    assert ax.get_title(loc="left").replace("\n", " ") == WORDS.strip()


@pytest.mark.parametrize(("n_components", "n_outputs"), [(3, 1), (4, 1), (2, 2)])
def test_words_fit_and_hide_no_panel(n_components, n_outputs):
    figure, axes = plt.subplots(1, 2, figsize=(13, 7), layout="constrained")
    components, mean = (WAVES, MEAN) if n_outputs == 1 else (PAIR, PAIR[0])
    k = n_components
    display = ComponentsDisplay(
        T, mean, components[:k], VARIANCES[:k], SHARES[:k], WORDS, detectable=1
    ).plot(axes[1])
    assert display.figure_ is figure
    figure.canvas.draw()
    part = display.ax_.flat[0].figure
    legend, guarantee = boxes_of(part)
    boxes = [panel.get_tightbbox() for panel in display.ax_.flat]
    for box in boxes:
        assert part.bbox.x0 <= box.x0
        assert box.x1 <= part.bbox.x1 + 1
        assert legend.y1 <= box.y0
        assert box.y1 <= guarantee.y0 + 1
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])
    assert legend.x1 <= part.bbox.x1
    assert guarantee.x1 <= part.bbox.x1
    assert guarantee.y1 <= part.bbox.y1
    n_columns = len({panel.get_position().x0 for panel in display.ax_.flat})
    assert n_columns == (n_outputs if n_outputs > 1 else [2, 3, 2][k - 2])
    labels = [panel.get_xlabel() for panel in display.ax_.flat]
    assert labels == [""] * (len(labels) - n_columns) + ["t"] * n_columns


def test_narrow_axes_have_fewer_columns():
    _, axes = plt.subplots(1, 2, figsize=(5, 6), layout="constrained")
    display = display_of().plot(axes[0])
    assert len({panel.get_position().x0 for panel in display.ax_}) == 1


@pytest.mark.parametrize("kind", ["effects", "components"])
@pytest.mark.parametrize(("components", "mean"), [(WAVES, MEAN), (PAIR, PAIR[0])])
def test_from_estimator_reads_what_is_released(kind, components, mean):
    display = ComponentsDisplay.from_estimator(
        fitted(components, mean), kind=kind, n_components=3
    )
    assert_array_equal(display.components, components[:3])
    assert_array_equal(display.explained_variance, VARIANCES[:3])
    assert_array_equal(display.explained_variance_ratio, SHARES[:3])
    assert display.detectable == 2
    assert len(display.lines_) == 3
    assert display.guarantee == "epsilon = 1, delta = 0"
    other = ComponentsDisplay.from_estimator(fitted(components, mean), guarantee="more")
    assert other.figure_.get_suptitle() == "more"
    assert len(other.lines_) == 4


@pytest.mark.parametrize("n_outputs", [None, 2])
def test_real_components_are_drawn(n_outputs):
    made = make_curves(400, n_points=15, n_outputs=n_outputs, random_state=0)
    model = PrivateFPCA(bounds=(-2, 2), n_components=3, epsilon=4.0, random_state=0)
    model.fit(made.data)
    display = ComponentsDisplay.from_estimator(model)
    mean, components = model.mean_, model.components_
    assert display.lines_.shape == (3, n_outputs or 1, 2)
    for k, j in np.ndindex(3, n_outputs or 1):
        far = 2 * np.sqrt(model.explained_variance_[k]) * components[k]
        above = (mean + far).reshape(15, -1)[:, j]
        assert_allclose(display.lines_[k, j, 1].get_ydata(), above)
    titles = [panel.get_title(loc="left") for panel in display.ax_.reshape(3, -1)[:, 0]]
    is_noise = ["noise" in title for title in titles]
    assert is_noise == [k >= model.n_detectable_ for k in range(3)]
    assert display.figure_.get_suptitle().replace("\n", " ") == str(model.guarantee_)


def test_names_with_dollars_are_names():
    display = display_of(1, kind="components", names=[r"$\foo$"]).plot()
    display.figure_.canvas.draw()
    assert display.ax_.get_ylabel() == r"\$\foo\$"


@pytest.mark.parametrize(
    ("arguments", "more", "message"),
    [
        ((T, MEAN, WAVES[:, 1:], VARIANCES), {}, "t must have shape"),
        ((T, MEAN, WAVES[0], VARIANCES), {}, "t must have shape"),
        ((T, MEAN, WAVES[:0], VARIANCES[:0]), {}, "t must have shape"),
        ((T[:, None], MEAN, WAVES, VARIANCES), {}, "t must have shape"),
        ((T, MEAN[1:], WAVES, VARIANCES), {}, "mean must have the shape"),
        ((T, MEAN, PAIR, VARIANCES), {}, "mean must have the shape"),
        ((T, MEAN, WAVES), {}, "need mean and explained_variance"),
        ((T, None, WAVES, VARIANCES), {}, "need mean and explained_variance"),
        ((T, MEAN, WAVES, VARIANCES[1:]), {}, "explained_variance must be a number"),
        ((T, MEAN, WAVES, -VARIANCES), {}, "explained_variance must be a number"),
        ((T, MEAN, WAVES, VARIANCES, SHARES[1:]), {}, "explained_variance_ratio must"),
        ((T, MEAN, WAVES, VARIANCES), {"kind": "scree"}, "kind must be"),
        ((T, MEAN, WAVES, VARIANCES), {"names": "ab"}, "names must name 1 outputs"),
    ],
)
def test_arrays_must_fit(arguments, more, message):
    with pytest.raises(ValueError, match=message):
        ComponentsDisplay(*arguments, **more).plot()


def test_components_alone_need_no_mean():
    display = ComponentsDisplay(T, None, WAVES, kind="components").plot()
    assert legend_of(display.ax_)[1] == "component 1"


def test_missing_matplotlib_names_the_extra(monkeypatch):
    real_import = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"skfuncpriv\[plot\]"):
        display_of().plot()


@pytest.mark.filterwarnings("ignore::skfuncpriv.NoiseDominatesWarning")
def test_noise_of_eleven_people_is_grey_and_has_no_share():
    """Its released share is 100 %: there is nothing else."""
    made = make_curves(11, n_points=15, random_state=0)
    model = PrivateFPCA(bounds=(-2, 2), epsilon=4.0, random_state=1).fit(made.data)
    display = ComponentsDisplay.from_estimator(model)
    assert {line.get_color() for line in display.lines_.ravel()} == {"0.55"}
    words = " ".join(legend_of(display.ax_))
    assert "component 1: noise" in words
    assert "%" not in words
