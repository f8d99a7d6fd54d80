"""The picture of a released density: a line with a band of its noise, or a map.

The band says how far the noise alone may have moved a point of the line. What smoothing
took away and how far these people are from a population are not in it: the legend says
so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from ._frame import (
    COLOURS,
    NEEDS_MATPLOTLIB,
    check_fitted,
    dress,
    literal,
    write_above,
    write_around,
)

_LINE, _REFERENCE = "released density", "reference"
_NOT = "smoothing and sampling error"
_MAX_AXES = 2


class DensityDisplay:
    """Released density of one feature as a line, or of two as a map.

    Everything that is drawn is a release or public: a picture costs no budget. A
    `reference` is drawn as it is; a density computed without noise is private.

    Parameters
    ----------
    grid : tuple of one or two array-likes of shape (n_nodes,)
        *Public.* The nodes of each axis, in the units of the points.
    density : array-like of shape (n_nodes,) or (n_nodes_0, n_nodes_1)
        Released: the density at the nodes.
    noise : float, default=None
        Released: the root mean square of the privacy noise that is left in `density`,
        in its unit. None draws no band.
    level : float, default=0.95
        *Public.* The probability with which the band holds the noise of a point, if the
        noise is normal and everywhere as large as on average: an approximation.
    reference : array-like of shape (n_nodes,), default=None
        A known density of one feature to compare with, for example the truth of a
        simulation.
    guarantee : object, default=None
        *Public.* What was guaranteed; its ``str`` is written above the picture.
    name : str, default=None
        *Public.* A name for the legend, where axes show several densities.
    feature_names : list of str, default=None
        *Public.* The names of the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes with the density.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_ : matplotlib Line2D or None
        The density of one feature.
    fill_ : matplotlib artist or None
        The band of privacy noise, cut off at zero.
    reference_line_ : matplotlib Line2D or None
        The reference.
    mesh_ : matplotlib artist or None
        The map of two features.
    colorbar_ : matplotlib Colorbar or None
        What the colours of the map mean.

    See Also
    --------
    skfuncpriv.PrivateKDE : Releases densities.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import DensityDisplay, PrivateKDE
    >>> ages = np.random.default_rng(0).normal(40, 12, size=(2000, 1))
    >>> kde = PrivateKDE(bounds=(0, 120), random_state=0).fit(ages)
    >>> display = DensityDisplay.from_estimator(kde)
    >>> display.ax_.get_legend().get_texts()[0].get_text()
    'released density'
    """

    def __init__(
        self,
        grid: Any,
        density: Any,
        *,
        noise: float | None = None,
        level: float = 0.95,
        reference: Any = None,
        guarantee: Any = None,
        name: str | None = None,
        feature_names: Any = None,
    ) -> None:
        self.grid = grid
        self.density = density
        self.noise = noise
        self.level = level
        self.reference = reference
        self.guarantee = guarantee
        self.name = name
        self.feature_names = feature_names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        ax: Any = None,
        *,
        features: Any = None,
        level: float = 0.95,
        reference: Any = None,
        name: str | None = None,
        feature_names: Any = None,
        guarantee: Any = None,
    ) -> DensityDisplay:
        """Draw the density of a fitted estimator.

        Parameters
        ----------
        estimator : PrivateKDE
            Fitted, with `grid_`, `density_`, `noise_std_` and `guarantee_`.
        ax : matplotlib Axes, default=None
            Where to draw, as in `plot`.
        features : tuple of one or two int or str, default=None
            *Public.* The features to show, by number or name: the others are integrated
            out, which is free, and no noise is stated then. None shows all there are.
        level : float, default=0.95
            *Public.* The probability with which the band holds the noise of a point.
        reference : array-like of shape (n_nodes,), default=None
            A known density to compare with.
        name : str, default=None
            *Public.* A name for the legend.
        feature_names : list of str, default=None
            *Public.* The names of all features; None takes `feature_names_in_`.
        guarantee : object, default=None
            *Public.* Other words for the guarantee; None takes the estimator's own.

        Returns
        -------
        display : DensityDisplay
            The drawn display.
        """
        check_fitted(estimator)
        names = feature_names
        if names is None:
            names = getattr(estimator, "feature_names_in_", None)
        grid, density, noise = estimator.grid_, estimator.density_, estimator.noise_std_
        if features is not None:
            kept = _numbers_of(features, len(grid), names)
            noise = noise if len(kept) == len(grid) else None
            grid, density = marginal_density(grid, density, kept)
            names = None if names is None else [names[k] for k in kept]
        display = cls(
            grid,
            density,
            noise=noise,
            level=level,
            reference=reference,
            guarantee=estimator.guarantee_ if guarantee is None else guarantee,
            name=name,
            feature_names=names,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> DensityDisplay:
        """Draw the density, its noise, the reference and the guarantee.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure. Axes with the line of a density get
            another one, in another colour.

        Returns
        -------
        display : DensityDisplay
            This object, with its artists.
        """
        grid, density, names = self._arrays()
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError(NEEDS_MATPLOTLIB) from None
        if ax is None:
            size = (7, 4.2) if density.ndim == 1 else (7, 6)
            _, ax = plt.subplots(figsize=size, layout="constrained")
        self.line_ = self.fill_ = self.reference_line_ = None
        self.mesh_ = self.colorbar_ = None
        self.ax_, self.figure_ = ax, ax.figure
        if density.ndim == 1:
            self._draw_line(ax, grid[0], density, names[0])
        else:
            self._draw_map(ax, grid, density, names)
        return self

    def _draw_line(self, ax: Any, x: Any, density: Any, feature: str) -> None:
        _, present = ax.get_legend_handles_labels()
        n_before = sum(label.startswith("released") for label in present)
        colour = COLOURS[n_before % len(COLOURS)]
        ax.autoscale(True)  # after an earlier line has made room for the legend
        if self.reference is not None:
            (self.reference_line_,) = ax.plot(
                x,
                self.reference,
                color="0.35",
                linewidth=1.2,
                linestyle=(0, (4, 3)),
                label=None if _REFERENCE in present else _REFERENCE,
                zorder=2.5,
            )
        if self.noise is not None:
            far = float(ndtri(0.5 + self.level / 2)) * self.noise
            label = (
                f"{100 * self.level:g}% band, approximate: privacy noise at a point; "
                f"{_NOT} are not in it"
            )
            self.fill_ = ax.fill_between(
                x,
                np.maximum(density - far, 0),
                density + far,
                color=colour,
                alpha=0.18,
                linewidth=0,
                label=None if label in present else label,
                zorder=1.5,
            )
        label = _LINE if self.name is None else f"released: {literal(self.name)}"
        style = {"color": colour, "linewidth": 2, "label": label, "zorder": 3}
        (self.line_,) = ax.plot(x, density, **style)
        ax.margins(x=0.01)
        ax.set_ylim(bottom=0)
        dress(ax)
        ax.set(xlabel=feature, ylabel="density")
        write_above(ax, self.guarantee)

    def _draw_map(self, ax: Any, grid: Any, density: Any, names: list[str]) -> None:
        self.mesh_ = ax.pcolormesh(
            *grid, density.T, shading="gouraud", cmap="Blues", vmin=0, rasterized=True
        )
        label = _LINE if self.name is None else f"released: {literal(self.name)}"
        self.colorbar_ = ax.figure.colorbar(self.mesh_, ax=ax, label=label)
        ax.set(xlabel=names[0], ylabel=names[1])
        note = f"privacy noise, {_NOT} are not shown"
        if self.noise is not None:
            note = (
                f"privacy noise at a point: about {self.noise:.2g}, the line in the "
                f"colour bar; {_NOT} are not in it"
            )
            self.colorbar_.ax.axhline(self.noise, color="0.2", linewidth=1)
        write_around(ax, self.guarantee, note)

    def _arrays(self) -> tuple[list[np.ndarray], np.ndarray, list[str]]:
        """Nodes, density and names of the axes, if they fit together."""
        grid = [np.asarray(nodes, dtype=float) for nodes in self.grid]
        density = np.asarray(self.density, dtype=float)
        if density.ndim > _MAX_AXES:
            raise ValueError(_too_many(density.ndim))
        shapes = [nodes.shape for nodes in grid]
        if not grid or shapes != [(size,) for size in density.shape]:
            raise ValueError(
                "grid must be a tuple with the nodes of each axis, and density have a "
                f"value for each of them, got nodes of shapes {shapes} and a density "
                f"of shape {density.shape}"
            )
        if self.noise is not None and not 0 < self.level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {self.level!r}")
        if self.reference is not None and (
            density.ndim > 1 or np.shape(self.reference) != density.shape
        ):
            raise ValueError(
                "reference must be a density of one feature, with the shape of density"
            )
        names = self.feature_names
        if names is None:
            names = ["x"] if len(grid) == 1 else [f"x{k}" for k in range(len(grid))]
        if len(names) != len(grid):
            raise ValueError(f"feature_names must name {len(grid)} axes, got {names!r}")
        return grid, density, [literal(str(name)) for name in names]


def _too_many(n_features: int) -> str:
    return (
        f"a display shows one or two features, got {n_features}: choose some with "
        "from_estimator(estimator, features=(0, 1)); the others are integrated out"
    )


def _numbers_of(features: Any, n_features: int, names: Any) -> tuple[int, ...]:
    """The numbers of one or two features, which are given by number or name."""
    chosen = [features] if np.ndim(features) == 0 else list(features)
    known = [] if names is None else list(names)
    chosen = [known.index(k) if k in known else k for k in chosen]
    if len(chosen) > _MAX_AXES:
        raise ValueError(_too_many(len(chosen)))
    if len(chosen) != len({*chosen} & {*range(n_features)}) or not chosen:
        raise ValueError(
            f"features must be one or two different ones of the {n_features} features, "
            f"by number or name, got {features!r}"
        )
    return tuple(map(int, chosen))


def marginal_density(grid: Any, density: Any, kept: tuple[int, ...]) -> tuple[Any, Any]:
    """The density of some features, in their order: trapezoids are exact."""
    others = [k for k in range(len(grid)) if k not in kept]
    density = np.transpose(density, [*kept, *others])
    for k in reversed(others):
        density = np.trapezoid(density, grid[k], axis=-1)
    return tuple(grid[k] for k in kept), density
