"""The display of a covariance: its cells, its colours, and the words around it."""

import builtins

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfuncpriv import ICLPCovariance, PrivateFPCA
from skfuncpriv.basis import CosineBasis
from skfuncpriv.datasets import make_curves
from skfuncpriv.plotting import CovarianceDisplay

from .released import Released, legend_of

T = np.array([0.0, 1.0, 3.0, 4.0])
RNG = np.random.default_rng(0)
ROOT = RNG.normal(size=(8, 8))
BLOCKS = (ROOT @ ROOT.T).reshape(4, 2, 4, 2)  # two outputs at four points
PLAIN = BLOCKS[:, 0, :, 0]


def fitted(covariance):
    return Released(
        grid_=T,
        covariance_=covariance,
        coef_=np.zeros((3, 3) if covariance.ndim == 2 else (3, 2, 3, 2)),
        noise_std_=0.1,
        basis_=Released(domain=(0.0, 4.0)),
        guarantee_="epsilon = 1, delta = 0",
    )


def note_of(host):
    return " ".join(legend_of(host)).strip()


def marks_in(colorbar):
    lines = [line.get_ydata() for line in colorbar.ax.lines]
    return sorted(line[0] for line in lines if len(line) > 1)


def test_cells_are_the_released_numbers_around_their_points():
    display = CovarianceDisplay(T, PLAIN)
    assert display.plot() is display
    assert display.figure_ is display.ax_.figure
    assert_array_equal(display.mesh_.get_array(), PLAIN)
    across, up = np.moveaxis(display.mesh_.get_coordinates(), 2, 0)
    assert_array_equal(across[0], [-0.5, 0.5, 2, 3.5, 4.5])
    assert_array_equal(up[:, 0], across[0])
    assert display.ax_.get_aspect() == 1
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("t", "s")


@pytest.mark.parametrize("covariance", [PLAIN, -PLAIN, BLOCKS, np.zeros((4, 4))])
def test_zero_is_in_the_middle_of_the_colours(covariance):
    display = CovarianceDisplay(T, covariance).plot()
    largest = np.abs(covariance).max() or 1
    for mesh in np.ravel(display.mesh_):
        assert mesh.get_clim() == (-largest, largest)
    red, green, blue, _ = display.colorbar_.cmap(0.5)
    assert min(red, green, blue) > 0.9  # white


def test_panels_are_pairs_of_outputs_with_their_names():
    covariance = BLOCKS.copy()
    display = CovarianceDisplay(T, covariance, names=["hip", "knee"]).plot()
    assert display.ax_.shape == display.mesh_.shape == (2, 2)
    for j, k in np.ndindex(2, 2):
        # A row of the array runs to the right, hence the second point.
        assert_array_equal(display.mesh_[j, k].get_array(), covariance[:, j, :, k])
    assert [ax.get_xlabel() for ax in display.ax_[0]] == ["hip at t", "knee at t"]
    assert [ax.get_ylabel() for ax in display.ax_[:, 0]] == ["hip at s", "knee at s"]
    display.figure_.canvas.draw()
    lower, upper = display.ax_[:, 0]
    assert lower.get_window_extent().y1 < upper.get_window_extent().y0
    plain = CovarianceDisplay(T, covariance).plot()
    assert plain.ax_[0, 1].get_xlabel() == "[1] at t"


def test_correlation_divides_by_deviations_and_greys_what_has_none():
    display = CovarianceDisplay(T, BLOCKS, correlation=True).plot()
    flat = BLOCKS.reshape(8, 8)
    expected = flat / np.sqrt(np.outer(np.diag(flat), np.diag(flat)))
    for j, k in np.ndindex(2, 2):
        drawn = display.mesh_[j, k].get_array()
        assert_allclose(drawn, expected.reshape(4, 2, 4, 2)[:, j, :, k])
        assert display.mesh_[j, k].get_clim() == (-1, 1)
    assert display.colorbar_.ax.get_ylabel() == "released correlation"
    covariance = PLAIN.copy()
    covariance[0] = covariance[:, 0] = 0
    display = CovarianceDisplay(T, covariance, correlation=True, noise_std=1.0).plot()
    hidden = np.ma.getmaskarray(display.mesh_.get_array())
    assert hidden[0].all()
    assert hidden[:, 0].all()
    assert not hidden[1:, 1:].any()
    assert display.ax_.get_facecolor()[:3] == (0.8, 0.8, 0.8)
    assert note_of(display.ax_) == "privacy noise and sampling error are not shown"


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        (None, "released covariance"),
        ("kW", "released covariance, kW²"),
        ("m/s", "released covariance, (m/s)²"),
        ("$", r"released covariance, (\$)²"),
    ],
)
def test_colour_bar_has_squared_units(unit, words):
    display = CovarianceDisplay(T, PLAIN, unit=unit).plot()
    assert display.colorbar_.ax.get_ylabel() == words
    display.figure_.canvas.draw()


@pytest.mark.parametrize("covariance", [PLAIN, BLOCKS])
def test_noise_is_drawn_in_the_colour_bar_and_said(covariance):
    display = CovarianceDisplay(T, covariance, noise_std=0.25).plot()
    assert marks_in(display.colorbar_) == [-0.25, 0.25]
    host = display.ax_ if covariance.ndim == 2 else display.figure_
    assert note_of(host) == (
        "privacy noise of a cell before denoising: about 0.25, the lines in the colour "
        "bar; sampling error is not in it"
    )
    more = 2 * np.abs(covariance).max()
    display = CovarianceDisplay(T, covariance, noise_std=more).plot()
    assert [
        line for line in display.colorbar_.ax.lines if len(line.get_ydata()) > 1
    ] == []
    host = display.ax_ if covariance.ndim == 2 else display.figure_
    assert ", more than all that is drawn; " in note_of(host)


@pytest.mark.parametrize("covariance", [PLAIN, BLOCKS])
def test_from_estimator_reads_what_is_released(covariance):
    display = CovarianceDisplay.from_estimator(
        fitted(covariance), correlation=True, unit="m", guarantee="in other words"
    )
    assert display.covariance is covariance
    assert display.guarantee == "in other words"
    assert display.colorbar_.ax.get_ylabel() == "released correlation"
    display = CovarianceDisplay.from_estimator(fitted(covariance))
    noise = 0.1 * (np.sqrt(6) / 4 if covariance.ndim == 2 else np.sqrt(21) / 8)
    assert_allclose(display.noise_std, noise)
    if covariance.ndim == 2:
        assert display.ax_.get_title(loc="left") == "epsilon = 1, delta = 0"
    else:
        assert display.figure_.get_suptitle() == "epsilon = 1, delta = 0"


@pytest.mark.parametrize("covariance", [PLAIN, BLOCKS])
def test_given_axes_are_used(covariance):
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    words = {"guarantee": "epsilon = 1, " * 12, "noise_std": 0.1}
    display = CovarianceDisplay(T, covariance, **words).plot(axes[1])
    assert display.figure_ is figure
    figure.canvas.draw()
    middle = axes[0].get_window_extent().x1
    for panel in np.ravel(display.ax_):
        box = panel.get_tightbbox()
        assert middle < box.x0
        assert box.x1 < display.colorbar_.ax.get_window_extent().x0
    if covariance.ndim == 2:
        assert display.ax_ is axes[1]


def test_one_point_has_a_cell():
    display = CovarianceDisplay([2.0], [[3.0]]).plot()
    assert display.ax_.get_xlim() == (1.5, 2.5)


@pytest.mark.parametrize(
    ("arguments", "more", "message"),
    [
        ((T, PLAIN[1:]), {}, "t must have shape"),
        ((T, PLAIN[1:, 1:]), {}, "t must have shape"),
        ((T, BLOCKS[:, :1]), {}, "t must have shape"),
        ((T, BLOCKS[0]), {}, "t must have shape"),
        ((T[:, None], PLAIN), {}, "t must have shape"),
        (([], np.ones((0, 0))), {}, "t must have shape"),
        ((T, PLAIN), {"names": ["a", "b"]}, "names must name 1 outputs"),
        ((T, BLOCKS), {"names": ["a"]}, "names must name 2 outputs"),
    ],
)
def test_arrays_must_fit(arguments, more, message):
    with pytest.raises(ValueError, match=message):
        CovarianceDisplay(*arguments, **more).plot()


def test_panels_need_axes_that_can_hold_them():
    _, ax = plt.subplots(layout="constrained")
    CovarianceDisplay(T, BLOCKS).plot(ax)
    with pytest.raises(ValueError, match="hold panels already"):
        CovarianceDisplay(T, BLOCKS).plot(ax)
    free = plt.figure().add_axes((0, 0, 1, 1))
    with pytest.raises(ValueError, match="axes of a grid"):
        CovarianceDisplay(T, BLOCKS).plot(free)


def test_missing_matplotlib_names_the_extra(monkeypatch):
    real_import = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"skfuncpriv\[plot\]"):
        CovarianceDisplay(T, PLAIN).plot()


# --- real releases ------------------------------------------------------------------


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_noise_of_a_cell_is_what_releases_without_signal_have(n_outputs):
    """Everybody is at the centre, so that the release before denoising is noise."""
    curves = np.zeros((50, 12, n_outputs))
    curves = curves[:, :, 0] if n_outputs == 1 else curves
    parameters = {"bounds": (-1, 1), "domain": (0, 3), "grid": np.linspace(0, 3, 12)}
    parameters |= {"radius": 1.0, "n_basis": 3, "epsilon": 20.0, "delta": 1e-6}
    model = ICLPCovariance(**parameters, mechanism="gaussian", denoise=False)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    functions = CosineBasis(3, (0, 3)).evaluate(1.5 + 1.5 * nodes)
    weights = weights / 2 / n_outputs  # a mean over the domain and the outputs
    squares = []
    for seed in range(200):
        release = model.set_params(random_state=seed).fit(curves).release_
        release = release.reshape(3, n_outputs, 3, n_outputs)
        cells = np.einsum("ia,ajbk,lb->ijlk", functions, release, functions)
        squares.append(np.einsum("i,l,ijlk->", weights, weights, cells**2))
    display = CovarianceDisplay.from_estimator(model)
    tolerance = 5 * np.std(squares) / np.sqrt(len(squares))
    assert tolerance < 0.25 * np.mean(squares)  # sqrt(2) would be found
    assert abs(np.mean(squares) - display.noise_std**2) < tolerance


def test_released_components_have_their_covariance_drawn():
    made = make_curves(400, n_points=15, random_state=0)
    model = PrivateFPCA(bounds=(-2, 2), epsilon=4.0, random_state=0).fit(made.data)
    display = CovarianceDisplay.from_estimator(model)
    assert_array_equal(display.mesh_.get_array(), model.covariance_)
    assert display.ax_.get_title(loc="left").replace("\n", " ") == str(model.guarantee_)
