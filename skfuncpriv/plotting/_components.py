"""The picture of released principal components: what each of them does to the mean.

A component has a direction, and no sign; one that does not stand out of the privacy
noise is noise itself, and is drawn in grey.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._frame import COLOURS, check_fitted, dress, literal, write_above
from ._panels import columns_for, open_panels, write_around_panels

_GREY = "0.55"
_STYLES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)))
_SIDES = (COLOURS[0], COLOURS[1])  # below the mean and above it
_ROW_INCHES, _WORDS_INCHES = 2.0, 1.2


class ComponentsDisplay:
    """Released principal components, as curves or by what they do to the mean.

    Everything that is drawn is a release or public: a picture costs no budget.

    Parameters
    ----------
    t : array-like of shape (n_points,)
        *Public.* The points of the curves, in the unit of the domain.
    mean : array-like of shape (n_points,) or (n_points, n_outputs)
        Released: the mean curve; None for `kind` "components".
    components : array-like of shape (n_components, n_points[, n_outputs])
        Released: components of unit norm, the largest variance first.
    explained_variance : array-like of shape (n_components,), default=None
        Released: their variances; needed for `kind` "effects".
    explained_variance_ratio : array-like of shape (n_components,), default=None
        Released: their shares of the variance, written beside them.
    guarantee : object, default=None
        *Public.* What was guaranteed; its ``str`` is written above the picture.
    kind : {"effects", "components"}, default="effects"
        *Public.* "effects" has a panel for each component, with the mean plus and
        minus some standard deviations of it; "components" has the components as curves.
    deviations : float, default=2.0
        *Public.* How many standard deviations.
    detectable : int, default=None
        Released: how many of the first components stand out of the privacy noise. The
        others are drawn in grey and said to be noise. None says nothing of any.
    names : list of str, default=None
        *Public.* The names of the outputs.

    Attributes
    ----------
    ax_ : matplotlib Axes, or ndarray of them
        The axes, or the panels: one for each component; one for each output where
        `kind` is "components"; of shape (n_components, n_outputs) for the effects on
        several outputs.
    figure_ : matplotlib Figure
        The figure of the axes.
    lines_ : ndarray of matplotlib Line2D
        The components, of shape (n_components, n_outputs); or the curves below and
        above the mean, of shape (n_components, n_outputs, 2).

    See Also
    --------
    skfuncpriv.plotting.CovarianceDisplay : The covariance that they come from.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.plotting import ComponentsDisplay
    >>> t = np.linspace(0, 1, 50)
    >>> waves = np.sqrt(2) * np.cos(np.pi * np.outer([1, 2], t))
    >>> display = ComponentsDisplay(t, t, waves, [0.3, 0.1], [0.75, 0.25]).plot()
    >>> [panel.get_title(loc="left") for panel in display.ax_]
    ['component 1: 75%', 'component 2: 25%']
    """

    def __init__(
        self,
        t: Any,
        mean: Any,
        components: Any,
        explained_variance: Any = None,
        explained_variance_ratio: Any = None,
        guarantee: Any = None,
        *,
        kind: str = "effects",
        deviations: float = 2.0,
        detectable: int | None = None,
        names: Any = None,
    ) -> None:
        self.t = t
        self.mean = mean
        self.components = components
        self.explained_variance = explained_variance
        self.explained_variance_ratio = explained_variance_ratio
        self.guarantee = guarantee
        self.kind = kind
        self.deviations = deviations
        self.detectable = detectable
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        ax: Any = None,
        *,
        kind: str = "effects",
        n_components: int | None = None,
        deviations: float = 2.0,
        names: Any = None,
        guarantee: Any = None,
    ) -> ComponentsDisplay:
        """Draw the components of a fitted estimator.

        Parameters
        ----------
        estimator : PrivateFPCA
            Fitted, with `grid_`, `mean_`, `components_`, `explained_variance_`,
            `explained_variance_ratio_`, `n_detectable_` and `guarantee_`.
        ax : matplotlib Axes, default=None
            Where to draw, as in `plot`.
        kind : {"effects", "components"}, default="effects"
            *Public.* What to draw.
        n_components : int, default=None
            *Public.* How many of the first components to draw; None draws all.
        deviations : float, default=2.0
            *Public.* How many standard deviations "effects" go up and down.
        names : list of str, default=None
            *Public.* The names of the outputs.
        guarantee : object, default=None
            *Public.* Other words for the guarantee; None takes the estimator's own.

        Returns
        -------
        display : ComponentsDisplay
            The drawn display.
        """
        check_fitted(estimator)
        display = cls(
            estimator.grid_,
            estimator.mean_,
            estimator.components_[:n_components],
            estimator.explained_variance_[:n_components],
            estimator.explained_variance_ratio_[:n_components],
            estimator.guarantee_ if guarantee is None else guarantee,
            kind=kind,
            deviations=deviations,
            detectable=estimator.n_detectable_,
            names=names,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> ComponentsDisplay:
        """Draw the components, their shares of the variance and the guarantee.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw: several panels take its place. None makes a new figure.

        Returns
        -------
        display : ComponentsDisplay
            This object, with its artists.
        """
        t, mean, components = self._arrays()
        n_components, _, n_outputs = components.shape
        is_effects = self.kind == "effects"
        n_panels = n_components * n_outputs if is_effects else n_outputs
        n_columns = 1
        if is_effects:
            n_columns = n_outputs if n_outputs > 1 else columns_for(n_panels, ax)
        n_rows = -(-n_panels // n_columns)
        height = _WORDS_INCHES + n_rows * max(_ROW_INCHES, 3 / n_rows)
        share = {"sharex": True, "sharey": "col" if n_outputs > 1 else True}
        figure, panels = open_panels(ax, n_rows, n_columns, (7, height), **share)
        panels = panels.ravel()
        for panel in panels[n_panels:]:
            panel.remove()
        panels = panels[:n_panels]
        names = self._names(n_outputs)
        for p, panel in enumerate(panels):
            dress(panel)
            panel.margins(x=0.01)
            if n_panels > 1:
                panel.locator_params(axis="y", nbins=4)
            if n_outputs > 1 or p % n_columns == 0:
                panel.set_ylabel(names[p % n_outputs])
            if p + n_columns >= n_panels:  # the lowest of its column
                panel.set_xlabel("t")
                panel.tick_params(labelbottom=True)
        if is_effects:
            panels = panels.reshape(n_components, n_outputs)
            self.lines_ = self._draw_effects(panels, t, mean, components)
            panels = panels if n_outputs > 1 else panels[:, 0]
        else:
            self.lines_ = self._draw_components(panels, t, components)
        first = panels.flat[0]
        if n_panels == 1:
            write_above(first, self.guarantee, self._note())
        else:
            write_around_panels(figure, first, self.guarantee, self._note())
        self.ax_ = first if n_panels == 1 else panels
        self.figure_ = figure if ax is None else ax.figure
        return self

    def _draw_effects(self, panels: Any, t: Any, mean: Any, components: Any) -> Any:
        """Mean, and curves below and above it; a panel for component and output."""
        lines = np.empty((*panels.shape, 2), dtype=object)
        far_in_words = f"{self.deviations:g} standard deviations"
        # A single panel has the guarantee in the place of its title.
        who = f"{self._title(0)}, " if panels.size == 1 else ""
        for (k, j), panel in np.ndenumerate(panels):
            far = self.deviations * np.sqrt(self.explained_variance[k])
            is_noise = self._is_noise(k)
            style = {"color": "0.15", "linewidth": 1.2, "zorder": 3}
            panel.plot(t, mean[:, j], label="released mean", **style)
            for side, sign in enumerate((-1, 1)):
                (lines[k, j, side],) = panel.plot(
                    t,
                    mean[:, j] + sign * far * components[k, :, j],
                    color=_GREY if is_noise else _SIDES[side],
                    linestyle=("--", "-")[side],
                    linewidth=1.2 if is_noise else 1.8,
                    label=f"{who}{('minus', 'plus')[side]} {far_in_words}",
                )
            if j == 0 and not who:
                panel.set_title(self._title(k), fontsize="small", loc="left")
        return lines

    def _draw_components(self, panels: Any, t: Any, components: Any) -> Any:
        """All components in a panel for each output."""
        lines = np.empty((len(components), len(panels)), dtype=object)
        for (k, j), _ in np.ndenumerate(lines):
            is_noise = self._is_noise(k)
            (lines[k, j],) = panels[j].plot(
                t,
                components[k, :, j],
                color=_GREY if is_noise else COLOURS[k % len(COLOURS)],
                linestyle=_STYLES[k % len(_STYLES)],
                linewidth=1.2 if is_noise else 2,
                zorder=2 if is_noise else 3,
                label=self._title(k),
            )
        for panel in panels:
            panel.axhline(0, color="0.75", linewidth=1, zorder=1)
        return lines

    def _is_noise(self, k: int) -> bool:
        return self.detectable is not None and k >= self.detectable

    def _title(self, k: int) -> str:
        words = ["noise"] if self._is_noise(k) else []
        # The share of what is noise is no share of anything.
        if self.explained_variance_ratio is not None and not words:
            percent = 100 * float(self.explained_variance_ratio[k])
            words.append("< 1%" if 0 < percent < 0.5 else f"{percent:.0f}%")
        return f"component {k + 1}" + ": " * bool(words) + ", ".join(words)

    def _note(self) -> str:
        """What the picture does not say by itself."""
        words = ["a component has no sign"]
        if self.explained_variance_ratio is not None and not self._is_noise(0):
            words.insert(0, "percentages are shares of the released variance")
        if self._is_noise(len(self.components) - 1):
            words.append("what is grey does not stand out of the privacy noise")
        return "; ".join([*words, "sampling error is not shown"])

    def _names(self, n_outputs: int) -> list[str]:
        if self.names is None:
            what = "value" if self.kind == "effects" else "component"
            return (
                [f"{what} [{j}]" for j in range(n_outputs)] if n_outputs > 1 else [what]
            )
        if len(self.names) != n_outputs:
            raise ValueError(f"names must name {n_outputs} outputs, got {self.names!r}")
        return [literal(str(name)) for name in self.names]

    def _arrays(self) -> tuple[np.ndarray, Any, np.ndarray]:
        """Points, mean and components, both with an axis of outputs."""
        if self.kind not in ("effects", "components"):
            raise ValueError(
                f'kind must be "effects" or "components", got {self.kind!r}'
            )
        t = np.asarray(self.t, dtype=float)
        components = np.asarray(self.components, dtype=float)
        if (
            t.ndim != 1
            or components.ndim not in (2, 3)
            or components.shape[1] != t.size
            or not components.size
        ):
            raise ValueError(
                "t must have shape (n_points,) and components (n_components, n_points) "
                "or (n_components, n_points, n_outputs), at least one of each, got "
                f"{t.shape} and {components.shape}"
            )
        for name in ("explained_variance", "explained_variance_ratio"):
            values = getattr(self, name)
            if values is None:
                continue
            values = np.asarray(values, dtype=float)
            if values.shape != (len(components),) or not np.all(values >= 0):
                raise ValueError(
                    f"{name} must be a number >= 0 for each of the {len(components)} "
                    f"components, got {values}"
                )
        mean = None
        if self.kind == "effects":
            if self.mean is None or self.explained_variance is None:
                raise ValueError('"effects" need mean and explained_variance')
            mean = np.asarray(self.mean, dtype=float)
            if mean.shape != components.shape[1:]:
                raise ValueError(
                    "mean must have the shape of one component, "
                    f"{components.shape[1:]}, got {mean.shape}"
                )
            mean = mean.reshape(t.size, -1)
        return t, mean, components.reshape(*components.shape[:2], -1)
