"""The display of a trace: what it draws, what it never draws, and what it charges."""

import builtins

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfuncpriv import BudgetLedger, Curves, GeoPrivateCurve
from skfuncpriv.plotting import TraceDisplay

LOST = "before denoising, plus the detail that is lost"
NO_REGION = "not a confidence region"
T = np.linspace(0, 600, 30)
WALK = np.stack([300 * np.cos(T / 99 + 1), 200 * np.sin(T / 99 + 1)], axis=1) + 0.123
FORMS = {
    "dense": WALK[None],
    "curves": Curves(WALK, T, [0, len(T)], domain=(0, 600)),
    "one output": WALK[None, :, 0],
    "irregular": Curves(WALK[:, 0], T, [0, len(T)], domain=(0, 600)),
    "list": [WALK],
}


def fitted(X, **parameters):
    if isinstance(X, list):
        parameters["parameter"] = "arc length"
    defaults = {"epsilon": 0.01, "bounds": (-1000, 1000), "domain": (0, 600)}
    return GeoPrivateCurve(**defaults | parameters).fit(X)


def legend_of(display):
    texts = display.ax_.get_legend().get_texts()
    return [text.get_text().replace("\n", " ") for text in texts]


def drawn(display):
    """All points of all artists, as one set of pairs."""
    lines = [line.get_xydata() for line in display.ax_.lines]
    return {tuple(point) for line in lines for point in line}


def everything(display):
    """All numbers that a display holds, its artists included."""
    arrays = [np.ravel(x) for x in vars(display).values() if isinstance(x, np.ndarray)]
    return {*np.concatenate(arrays).tolist(), *np.ravel(list(drawn(display))).tolist()}


def test_track_is_drawn_in_the_plane():
    display = TraceDisplay(T, WALK, noise=50.0, unit="m", labels=("east", "north"))
    assert display.plot() is display
    assert display.figure_ is display.ax_.figure
    assert display.ax_.get_aspect() == 1
    assert_array_equal(display.line_.get_xydata(), WALK)
    (left, below), (right, same) = display.noise_.get_xydata()
    assert_allclose(right - left, 50)
    assert below == same < WALK[:, 1].min()
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == (
        "east (m)",
        "north (m)",
    )
    marks = {line.get_marker(): line.get_xydata() for line in display.ax_.lines}
    assert_array_equal(marks["o"], WALK[:1])
    assert_array_equal(marks["s"], WALK[-1:])
    assert legend_of(display) == [
        "released trace (from circle to square)",
        f"scale bar: typical size of the noise, 50 m {LOST}; {NO_REGION}",
    ]


@pytest.mark.parametrize("shape", [(30,), (30, 1)])
def test_one_output_is_drawn_against_its_argument(shape):
    display = TraceDisplay(T, WALK[:, 0].reshape(shape), noise=7.0, labels="pulse")
    display.plot()
    assert_array_equal(display.line_.get_xydata(), np.column_stack([T, WALK[:, 0]]))
    band = display.noise_.get_paths()[0].vertices[:, 1]
    low, high = WALK[:, 0].min(), WALK[:, 0].max()
    assert_allclose([band.min(), band.max()], [low - 7, high + 7])
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("t", "pulse")
    label = f"band: typical size of the noise, 7 {LOST}; {NO_REGION}"
    assert label in legend_of(display)


@pytest.mark.parametrize("form", FORMS)
def test_true_trace_is_kept_and_drawn_only_on_request(form):
    X = FORMS[form]
    display = TraceDisplay.from_estimator(fitted(X), X)
    assert display.true is None
    assert display.true_line_ is None
    assert not any("true" in text for text in legend_of(display))
    assert everything(display).isdisjoint(np.ravel(WALK).tolist())
    if form == "list":
        assert len(display.ax_.lines) == 4  # the trace, its two ends, the scale bar

    display = TraceDisplay.from_estimator(fitted(X), X, compare=True)
    is_plane = form not in ("one output", "irregular")
    expected = WALK if is_plane else np.column_stack([T, WALK[:, 0]])
    assert_array_equal(display.true_line_.get_xydata(), expected)
    assert not everything(display).isdisjoint(np.ravel(WALK).tolist())
    assert display.true_line_.get_color() != display.line_.get_color()
    assert "true (do not publish)" in legend_of(display)


def test_true_trace_is_within_bounds_and_domain():
    X = Curves(10.0 * WALK, T, [0, len(T)])
    display = TraceDisplay.from_estimator(fitted(X, domain=(100, 300)), X, compare=True)
    inside = (T >= 100) & (T <= 300)
    assert_array_equal(display.true, np.clip(10 * WALK[inside], -1000, 1000))


def test_release_is_charged_once_however_often_it_is_drawn(tmp_path):
    ledger = BudgetLedger(tmp_path / "b.db", epsilon=1.0, metric="L2")
    model = fitted(WALK[None], ledger=str(ledger.path))
    display = TraceDisplay.from_estimator(model, WALK[None], compare=True)
    first = display.line_.get_xydata()
    assert_array_equal(display.plot().line_.get_xydata(), first)
    assert [record.times for record in ledger.history()] == [1]


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.concatenate([WALK[None]] * 2), {}, "one trace: pass X"),
        (np.zeros((1, 30, 3)), {}, "one or two outputs, got 3"),
        (WALK[None], {"grid": [0.0, 700.0]}, "domain"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_the_charge(
    tmp_path, X, options, message
):
    ledger = BudgetLedger(tmp_path / "b.db", epsilon=1.0, metric="L2")
    model = fitted(X, ledger=str(ledger.path))
    with pytest.raises(ValueError, match=message):
        TraceDisplay.from_estimator(model, X, **options)
    assert ledger.history() == []


def test_missing_matplotlib_names_the_extra_before_the_charge(tmp_path, monkeypatch):
    real_import = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    ledger = BudgetLedger(tmp_path / "b.db", epsilon=1.0, metric="L2")
    model = fitted(WALK[None], ledger=str(ledger.path))
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"skfuncpriv\[plot\]"):
        TraceDisplay.from_estimator(model, WALK[None])
    assert ledger.history() == []


def test_released_curve_is_drawn_without_another_release(tmp_path):
    ledger = BudgetLedger(tmp_path / "b.db", epsilon=1.0, metric="L2")
    model = fitted(WALK[None], ledger=str(ledger.path))
    [curve] = model.release(WALK[None])
    display = TraceDisplay.from_curve(curve, guarantee=model.guarantee_)
    points = np.linspace(0, 600, 201)
    assert_array_equal(display.line_.get_xydata(), curve.evaluate(points))
    ax = display.ax_
    display = TraceDisplay.from_curve(curve, grid=T, ax=ax)
    assert display.ax_ is ax
    assert_array_equal(display.line_.get_xydata(), curve.evaluate(T))
    assert len(ledger.history()) == 1


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"epsilon": None, "rho": 1e-4},
        {"pieces": "svt", "max_pieces": 1, "degree": 1},
    ],
)
@pytest.mark.parametrize("outputs", [1, 2])
def test_noise_is_what_a_release_without_denoising_has(parameters, outputs):
    """The root mean square over time, here in repeated releases."""
    zeros = np.zeros((1, 30, outputs))
    free = {"bounds": (-1e9, 1e9), "denoise": False}  # nothing is clipped
    model = fitted(zeros, random_state=0, **free, **parameters)
    display = TraceDisplay.from_estimator(model, zeros)
    curves = model.release(np.zeros((400, 30, outputs)))
    squares = [np.square(curve.coefficients).sum() for curve in curves]
    tolerance = 5 * np.std(squares) / np.sqrt(len(squares))
    assert abs(np.mean(squares) - 600 * display.noise**2) < tolerance


def test_pictures_of_two_traces_differ_by_the_release_only(monkeypatch):
    [curve] = fitted(WALK[None]).release(WALK[None])
    pixels = []
    for X in (WALK[None], -3 * WALK[None] + 40):
        model = fitted(X)
        monkeypatch.setattr(
            model, "transform", lambda X, grid: curve.evaluate(grid)[None]
        )
        figure = TraceDisplay.from_estimator(model, X).figure_
        figure.canvas.draw()
        pixels.append(np.array(figure.canvas.buffer_rgba()))
    assert_array_equal(*pixels)


def test_several_traces_share_axes_and_one_scale_bar():
    _, ax = plt.subplots()
    displays = [
        TraceDisplay(T, WALK + 400 * k, noise=5.0, name=f"tour {k}", true=WALK).plot(ax)
        for k in range(3)
    ]
    bars = [line for line in ax.lines if line.get_label().startswith("scale bar")]
    assert bars == [displays[-1].noise_]  # below all of them
    assert bars[0].get_ydata().max() < WALK[:, 1].min()
    assert len({display.line_.get_color() for display in displays}) == 3
    assert legend_of(displays[-1]) == [
        "released: tour 0 (from circle to square)",
        "released: tour 1",
        "released: tour 2",
        "true (do not publish)",
        f"scale bar: typical size of the noise, 5 {LOST}; {NO_REGION}",
    ]
    low, high = ax.get_ylim()
    assert low < -200
    assert high > 1000


@pytest.mark.parametrize("values", [WALK, WALK[:, 0]])
def test_words_fit_and_hide_no_trace(values):
    display = TraceDisplay(T, values, noise=50.0, guarantee="epsilon = 1, " * 12).plot()
    display.figure_.canvas.draw()
    frame = display.ax_.get_window_extent()
    box = display.ax_.get_legend().get_window_extent()
    assert display.figure_.bbox.x0 <= box.x0
    assert box.x1 <= display.figure_.bbox.x1
    assert display.figure_.bbox.y0 <= box.y0
    points = display.ax_.transData.transform(display.line_.get_xydata())
    assert not any(box.contains(*point) for point in points)
    assert all(frame.contains(*point) for point in points)
    (title,) = [t for t in display.ax_.get_children() if "epsilon" in str(t)]
    assert title.get_window_extent().x1 <= frame.x1 + 2


@pytest.mark.parametrize(
    ("values", "count", "words"),
    [
        (WALK, 1, "(1 coefficient: a place, not a track)"),
        (WALK, 2, "(2 coefficients: nearly a straight line)"),
        (WALK, 5, "(5 coefficients of each coordinate)"),
        (WALK[:, 0], 1, "(1 coefficient: a level, not a curve)"),
        (WALK[:, 0], 5, "(5 coefficients)"),
    ],
)
def test_detail_is_said_beside_the_noise(values, count, words):
    display = TraceDisplay(T, values, noise=5.0, n_coefficients=count).plot()
    assert f"detail that is lost {words}; {NO_REGION}" in legend_of(display)[-1]


def test_estimator_gives_its_number_of_coefficients_unless_it_is_chosen():
    model = fitted(WALK[None])
    display = TraceDisplay.from_estimator(model, WALK[None])
    assert display.n_coefficients == model.n_coefficients_
    model = fitted(WALK[None], pieces="svt")
    assert TraceDisplay.from_estimator(model, WALK[None]).n_coefficients is None


@pytest.mark.parametrize("values", [WALK, WALK[:, 0]])
def test_guarantee_is_in_small_print_below_a_title(values):
    words = {"title": "hidden within 200 m", "guarantee": "epsilon = 1, " * 12}
    display = TraceDisplay(T, values, noise=50.0, **words).plot()
    display.figure_.canvas.draw()
    assert display.ax_.get_title(loc="left") == "hidden within 200 m"
    note = display.ax_.get_legend().get_texts()[-1]
    assert note.get_text().replace("\n", " ") == words["guarantee"].strip()
    assert note.get_window_extent().x1 <= display.figure_.bbox.x1
    assert note.get_window_extent().y0 >= display.figure_.bbox.y0


def test_large_numbers_are_written_without_exponents():
    display = TraceDisplay(T, WALK, noise=5461.0, unit="m").plot()
    assert "5,461 m" in legend_of(display)[1]


@pytest.mark.parametrize(
    ("t", "values", "message"),
    [
        (T, WALK[1:], "t must have shape"),
        (T[:, None], WALK, "t must have shape"),
        ([], [], "t must have shape"),
        (T, np.zeros((30, 3)), "one or two outputs, got 3"),
    ],
)
def test_arrays_must_fit(t, values, message):
    with pytest.raises(ValueError, match=message):
        TraceDisplay(t, values).plot()


def test_comparing_needs_times_for_one_output():
    X = [WALK[:, :1]]
    with pytest.raises(ValueError, match="needs times, or two outputs"):
        TraceDisplay.from_estimator(fitted(X), X, compare=True)


def test_names_with_dollars_are_names():
    """matplotlib would read mathematics between them, and fail after the release."""
    model = fitted(WALK[None])
    display = TraceDisplay.from_estimator(
        model, WALK[None], name=r"$\foo$", labels=("$x^$", "y")
    )
    display.figure_.canvas.draw()
    assert display.ax_.get_xlabel().startswith(r"\$x^\$")


@pytest.mark.parametrize("share", [True, False])
def test_panels_may_share_both_axes(share):
    """matplotlib refuses, when it draws, to move limits that are shared."""
    figure, panels = plt.subplots(1, 2, sharex=share, sharey=share)
    for k, panel in enumerate(panels):
        TraceDisplay(T, WALK * (1 + k), noise=5.0).plot(panel)
    figure.canvas.draw()
    for k, panel in enumerate(panels):
        corner, along, up = panel.transData.transform([[0, 0], [1, 0], [0, 1]])
        assert_allclose(along[0] - corner[0], up[1] - corner[1])
        low, high = panel.get_ylim()
        assert low < (1 + k) * WALK[:, 1].min()
        assert high > (1 + k) * WALK[:, 1].max()
    assert (panels[0].get_ylim() == panels[1].get_ylim()) == share


def test_a_small_panel_may_have_few_words():
    model = fitted(WALK[None], random_state=0)
    _, panels = plt.subplots(1, 3, figsize=(7, 3))
    for panel, words in zip(panels, ({}, {"guarantee": "odds 3"}, {}), strict=True):
        TraceDisplay.from_estimator(
            model, WALK[None], ax=panel, title="25 m", legend=False, **words
        )
        assert panel.get_legend() is None
        assert panel.get_title(loc="left") == "25 m"
    long = TraceDisplay(T, WALK, guarantee=model.guarantee_, legend=False)
    title = long.plot(panels[0]).ax_._left_title
    whole = TraceDisplay(T, WALK, guarantee=model.guarantee_).plot().ax_._left_title
    assert title.get_fontsize() < whole.get_fontsize()
    assert "SEEDED" in title.get_text()


def test_the_true_trace_may_stand_beside_a_released_curve():
    [curve] = fitted(WALK[None]).release(WALK[None])
    display = TraceDisplay.from_curve(curve, true=WALK)
    assert_array_equal(display.true_line_.get_xydata(), WALK)
    assert "true (do not publish)" in legend_of(display)
    assert TraceDisplay.from_curve(curve).true_line_ is None
