"""The display of a density: what is drawn, and that it does not overstate."""

import builtins
import types

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfuncpriv import PrivateKDE
from skfuncpriv.plotting import DensityDisplay

X = np.linspace(0, 4, 9)
GRIDS = (X, np.linspace(-1, 1, 5), np.linspace(10, 13, 4))
RNG = np.random.default_rng(0)


def fitted(n_axes=1, **attributes):
    """The attributes of a fitted estimator that the display reads."""
    grid = GRIDS[:n_axes]
    return types.SimpleNamespace(
        grid_=grid,
        density_=np.random.default_rng(1).random([len(nodes) for nodes in grid]),
        noise_std_=0.25,
        guarantee_="epsilon = 1, delta = 0",
        **attributes,
    )


def legend_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def heights(fill):
    return fill.get_paths()[0].vertices[:, 1]


# --- one feature --------------------------------------------------------------------


def test_line_band_and_reference_are_the_arrays():
    density = np.sin(X) ** 2 + 1
    display = DensityDisplay((X,), density, noise=0.1, level=0.9, reference=X)
    assert display.plot() is display
    assert display.figure_ is display.ax_.figure
    assert_array_equal(display.line_.get_xydata(), np.column_stack([X, density]))
    assert_array_equal(display.reference_line_.get_ydata(), X)
    band = 0.1 * 1.6448536  # the 95 % point of the normal law
    assert_allclose(heights(display.fill_).max(), density.max() + band, rtol=1e-6)
    assert_allclose(heights(display.fill_).min(), density.min() - band, rtol=1e-6)
    first, second, third = legend_of(display)
    assert (first, third) == ("released density", "reference")
    assert second.replace("\n", " ") == (
        "90% band, approximate: privacy noise at a point; smoothing and sampling error "
        "are not in it"
    )
    assert display.mesh_ is None
    assert display.colorbar_ is None


def test_band_and_axis_end_at_zero():
    density = np.array([0.01, 1, 2, 1, 0.01])
    display = DensityDisplay((X[:5],), density, noise=0.5).plot()
    assert heights(display.fill_).min() == 0
    assert display.ax_.get_ylim()[0] == 0


def test_band_holds_the_noise_about_as_often_as_it_says():
    """Among 60 seeded releases of the same points; a band twice as narrow: 0.67."""
    points = RNG.normal(0, 1, (3000, 1))
    displays = []
    for seed in range(60):
        model = PrivateKDE(bounds=(-4, 4), random_state=seed).fit(points)
        displays.append(DensityDisplay.from_estimator(model))
        plt.close()
    drawn = np.array([display.density for display in displays])
    centre = drawn.mean(axis=0)
    far = 1.96 * np.array([[display.noise] for display in displays])
    is_inside = (np.abs(drawn - centre) <= far)[:, centre > 0.01]
    assert 0.9 < is_inside.mean() < 0.99


def test_from_estimator_reads_what_is_released():
    model = fitted(feature_names_in_=np.array(["age"]))
    display = DensityDisplay.from_estimator(model, level=0.5)
    assert_array_equal(display.line_.get_ydata(), model.density_)
    assert display.noise == 0.25
    assert "50% band" in legend_of(display)[1]
    assert display.ax_.get_xlabel() == "age"
    assert display.ax_.get_title(loc="left") == "epsilon = 1, delta = 0"
    other = DensityDisplay.from_estimator(
        model, feature_names=["years"], guarantee="in other words"
    )
    assert other.ax_.get_xlabel() == "years"
    assert other.ax_.get_title(loc="left") == "in other words"
    assert DensityDisplay.from_estimator(fitted()).ax_.get_xlabel() == "x"


def test_two_groups_in_one_axes():
    figure, ax = plt.subplots()
    one = DensityDisplay.from_estimator(fitted(), ax, name="women")
    two = DensityDisplay.from_estimator(fitted(), ax, name="men $ $", reference=X)
    assert one.ax_ is two.ax_ is ax
    assert one.line_.get_color() != two.line_.get_color()
    labels = legend_of(two)
    assert labels[:2] == ["released: women", r"released: men \$ \$"]
    assert sum("band" in label for label in labels) == 1
    assert labels.count("reference") == 1
    assert one.fill_ in ax.collections  # each has a band of its own
    assert two.fill_ in ax.collections
    figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    floor = ax.transData.inverted().transform((box.x0, box.y0))[1]
    assert floor > heights(one.fill_).max()


def test_without_noise_there_is_no_band():
    display = DensityDisplay((X,), X).plot()
    assert display.fill_ is None
    assert display.reference_line_ is None
    assert legend_of(display) == ["released density"]


# --- several features ---------------------------------------------------------------


def test_map_shows_the_density_with_its_axes_and_noise():
    model = fitted(2, feature_names_in_=np.array(["lon", "lat"]))
    display = DensityDisplay.from_estimator(model)
    assert_array_equal(display.mesh_.get_array(), model.density_.T)
    corners = display.mesh_.get_coordinates().reshape(-1, 2)
    assert corners[:, 0].min() == 0
    assert corners[:, 0].max() == 4
    assert corners[:, 1].min() == -1
    assert corners[:, 1].max() == 1
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("lon", "lat")
    assert display.mesh_.get_clim() == (0, model.density_.max())
    assert display.colorbar_.ax.get_ylabel() == "released density"
    (line,) = [mark for mark in display.colorbar_.ax.lines if len(mark.get_ydata()) > 1]
    assert line.get_ydata()[0] == 0.25
    (note,) = legend_of(display)
    assert note.replace("\n", " ").startswith("privacy noise at a point: about 0.25")
    assert display.ax_.get_title(loc="left") == "epsilon = 1, delta = 0"
    assert display.line_ is None
    assert display.fill_ is None


def test_three_features_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"features=\(0, 1\)"):
        DensityDisplay.from_estimator(fitted(3))
    with pytest.raises(ValueError, match="one or two features, got 3"):
        DensityDisplay.from_estimator(fitted(3), features=(0, 1, 2))


@pytest.mark.parametrize(
    ("features", "numbers"),
    [
        ((2, 0), (2, 0)),
        ("c", (2,)),
        (1, (1,)),
        (["b", "c"], (1, 2)),
        (("a", 1), (0, 1)),
    ],
)
def test_marginals_integrate_the_others_out(features, numbers):
    model = fitted(3, feature_names_in_=np.array(["a", "b", "c"]))
    display = DensityDisplay.from_estimator(model, features=features)
    weights = [np.full(len(nodes), nodes[1] - nodes[0]) for nodes in GRIDS]
    for ends in weights:
        ends[[0, -1]] /= 2
    others = [k for k in range(3) if k not in numbers]
    letters = "ijk"
    spec = ",".join(["ijk", *(letters[k] for k in others)])
    spec += "->" + "".join(letters[k] for k in numbers)
    expected = np.einsum(spec, model.density_, *(weights[k] for k in others))
    assert_allclose(display.density, expected)
    assert [nodes is GRIDS[k] for nodes, k in zip(display.grid, numbers, strict=True)]
    assert display.feature_names == ["abc"[k] for k in numbers]
    assert display.noise is None  # that of a marginal is another one


def test_reordered_features_keep_their_noise():
    model = fitted(2)
    display = DensityDisplay.from_estimator(model, features=(1, 0))
    assert_array_equal(display.density, model.density_.T)
    assert display.noise == 0.25
    assert display.ax_.get_xlim() == (-1, 1)


def test_released_density_of_three_features_has_marginals_of_mass_one():
    points = RNG.normal(0, 1, (500, 3))
    model = PrivateKDE(bounds=(-4, 4), random_state=0).fit(points)
    display = DensityDisplay.from_estimator(model, features=1)
    assert_allclose(np.trapezoid(display.density, display.grid[0]), 1, atol=1e-6)


# --- refusals -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "more", "message"),
    [
        (((X,), X[1:]), {}, "grid must be a tuple with the nodes of each axis"),
        ((X, X), {}, "grid must be a tuple"),
        (((), np.array(1.0)), {}, "grid must be a tuple"),
        (((X, X), X), {}, "grid must be a tuple"),
        ((GRIDS, np.ones((9, 5, 4))), {}, "one or two features, got 3"),
        (((X,), X), {"reference": X[1:]}, "with the shape of density"),
        ((GRIDS[:2], np.ones((9, 5))), {"reference": X}, "density of one feature"),
        (((X,), X), {"noise": 1, "level": 1}, "level must lie between 0 and 1"),
        (((X,), X), {"feature_names": ["a", "b"]}, "feature_names must name 1 axes"),
    ],
)
def test_arrays_must_fit(arguments, more, message):
    with pytest.raises(ValueError, match=message):
        DensityDisplay(*arguments, **more).plot()


@pytest.mark.parametrize("features", [(), (0, 0), 3, -1, "z", (0.5,)])
def test_features_must_exist_and_differ(features):
    with pytest.raises(ValueError, match="different ones of the 3 features"):
        DensityDisplay.from_estimator(fitted(3), features=features)


def test_missing_matplotlib_names_the_extra(monkeypatch):
    real_import = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"skfuncpriv\[plot\]"):
        DensityDisplay((X,), X).plot()
