"""The picture of a released mean curve, with the band of its privacy noise.

The band says how far the noise alone may have moved the curve. It knows nothing of how
far the curve of these people is from that of a population: the legend says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._frame import (
    COLOURS,
    NEEDS_MATPLOTLIB,
    check_fitted,
    dress,
    literal,
    write_above,
)

# Grids of fewer points are marked, and the line between them comes from `predict`.
_COARSE, _FINE = 40, 201
_FEW = 0.05  # the released share of people below which a mean is hardly theirs
_REFERENCE = "reference"
_FEW_LABEL = f"released mean where fewer than {100 * _FEW:g}% are observed"


class MeanCurveDisplay:
    """Released mean curve, with a band of privacy noise and the guarantee.

    Everything that is drawn is a release or public: a picture costs no budget. A
    `reference` is drawn as it is; a mean computed without noise is private.

    Parameters
    ----------
    t : array-like of shape (n_points,)
        Public: the points of the curve, in the unit of the domain.
    mean : array-like of shape (n_points,) or (n_points, n_outputs)
        Released: the mean curve, one line for each output.
    lower, upper : array-like of the shape of `mean`, default=None
        Released: the ends of the band of privacy noise; both or neither.
    reference : array-like of the shape of `mean`, default=None
        A known curve to compare with, for example the truth of a simulation.
    guarantee : object, default=None
        Public: what was guaranteed; its ``str`` is written above the curve.
    level : float, default=None
        Public: the probability with which the band holds the noise, for the legend.
    bounds : (low, high), default=None
        Public: the bounds of the values, each a number or one for each output, as
        dotted lines. Those far beyond the curve are left out: they would flatten it.
    names : list of str, default=None
        Public: the names of the outputs of a vector-valued mean.
    fine : (array-like, array-like), default=None
        Released: points and values of the same curve on a finer grid, for its line;
        `t` and `mean` are then marks on it.
    coverage : array-like of shape (n_points,), default=None
        Released: the share of people observed at each point. Where it is below 5 %, the
        line is pale and dotted: the mean follows from its smoothness there.
    name : str, default=None
        Public: a name for the legend, to draw the means of several groups into one
        axes. A reference has the colour of its mean then.

    Attributes
    ----------
    ax_ : matplotlib Axes, or ndarray of them
        The axes with the curve, or the panels, one for each output.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_ : matplotlib Line2D, or list of them for a vector-valued mean
        The mean curve, where it is not pale.
    few_line_ : matplotlib Line2D, list of them, or None
        The mean curve where few people are observed.
    fill_ : matplotlib artist, list of them, or None
        The band of privacy noise.
    reference_line_ : matplotlib Line2D, list of them, or None
        The reference.

    See Also
    --------
    skfuncpriv.plotting.MeanCurveDisplay.from_estimator : From a fitted estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.plotting import MeanCurveDisplay
    >>> t = np.linspace(0, 1, 50)
    >>> display = MeanCurveDisplay(t, t**2, t**2 - 0.1, t**2 + 0.1).plot()
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['released mean', 'privacy noise only, not sampling error']
    """

    def __init__(
        self,
        t: Any,
        mean: Any,
        lower: Any = None,
        upper: Any = None,
        reference: Any = None,
        guarantee: Any = None,
        *,
        level: float | None = None,
        bounds: Any = None,
        names: Any = None,
        fine: Any = None,
        coverage: Any = None,
        name: str | None = None,
    ) -> None:
        self.t = t
        self.mean = mean
        self.lower = lower
        self.upper = upper
        self.reference = reference
        self.guarantee = guarantee
        self.level = level
        self.bounds = bounds
        self.names = names
        self.fine = fine
        self.coverage = coverage
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        ax: Any = None,
        *,
        level: float = 0.95,
        reference: Any = None,
        names: Any = None,
        guarantee: Any = None,
        name: str | None = None,
    ) -> MeanCurveDisplay:
        """Draw the mean of a fitted estimator.

        Parameters
        ----------
        estimator : object
            Fitted, with `grid_`, `mean_`, `guarantee_`, `bounds` and perhaps
            `coverage_`. One with ``noise_band(level)`` and ``predict(t)`` has a band
            and a fine line; the means of `ICLPCovariance` and `PrivateFPCA` have none.
        ax : matplotlib Axes, or array of them, default=None
            Where to draw, as in `plot`.
        level : float, default=0.95
            Public: the probability with which the band holds the noise.
        reference : array-like of the shape of `estimator.mean_`, default=None
            A known curve to compare with.
        names : list of str, default=None
            Public: the names of the outputs of a vector-valued mean.
        guarantee : object, default=None
            Public: other words for the guarantee; None takes the estimator's own.
        name : str, default=None
            Public: a name for the legend.

        Returns
        -------
        display : MeanCurveDisplay
            The drawn display.
        """
        check_fitted(estimator)
        has_band = hasattr(estimator, "noise_band")
        lower, upper = estimator.noise_band(level) if has_band else (None, None)
        t, fine = estimator.grid_, None
        if has_band and 1 < len(t) < _COARSE:  # others may predict something else
            points = np.union1d(t, np.linspace(t[0], t[-1], _FINE))
            fine = points, estimator.predict(points)
        display = cls(
            t,
            estimator.mean_,
            lower,
            upper,
            reference,
            estimator.guarantee_ if guarantee is None else guarantee,
            level=level,
            bounds=estimator.bounds,
            names=names,
            fine=fine,
            coverage=getattr(estimator, "coverage_", None),
            name=name,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> MeanCurveDisplay:
        """Draw the curve, its band, the reference and the guarantee.

        Parameters
        ----------
        ax : matplotlib Axes, or array of them, default=None
            One axes for all outputs, or one for each of them; None makes a new figure
            with a panel for each output. Axes with a mean get another, in another
            colour.

        Returns
        -------
        display : MeanCurveDisplay
            This object, with its artists.
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError(NEEDS_MATPLOTLIB) from None
        t, mean, lower, upper, reference = self._columns()
        n_outputs = mean.shape[1]
        if ax is None:
            size = (7, 4.2 if n_outputs == 1 else 1.2 + 2.4 * n_outputs)
            _, ax = plt.subplots(
                n_outputs, figsize=size, sharex=True, layout="constrained"
            )
        panels = np.ravel(np.array(ax, dtype=object))
        if len(panels) not in (1, n_outputs):
            raise ValueError("ax must be one axes, or one for each output")
        names = self.names
        if names is None:
            names = (
                [f"mean [{j}]" for j in range(n_outputs)] if n_outputs > 1 else ["mean"]
            )
        present = [panel.get_legend_handles_labels()[1] for panel in panels]
        before = [sum(map(_is_release, labels)) for labels in present]
        is_grey = n_outputs == 1 and self.name is None
        for panel in panels:
            panel.autoscale(True)  # after an earlier mean has made room for the legend
        band_label = _new(self._band_label(), present[0])
        is_point = t.size == 1
        lines, pale, fills, references = [], [], [], []
        for j in range(n_outputs):
            panel = panels[j % len(panels)]
            colour = COLOURS[(j + before[j % len(panels)]) % len(COLOURS)]
            is_first = j == 0
            if reference is not None:
                references += panel.plot(
                    t,
                    reference[:, j],
                    color="0.35" if is_grey else colour,
                    linewidth=1.2,
                    linestyle=(0, (4, 3)),
                    marker="_" if is_point else None,
                    label=_new(_REFERENCE, present[0]) if is_first else None,
                    zorder=2.5,
                )
            if lower is not None:
                fills.append(
                    panel.fill_between(
                        t,
                        lower[:, j],
                        upper[:, j],
                        color=colour,
                        alpha=0.18,
                        linewidth=2 if is_point else 0,
                        label=band_label if is_first else None,
                        zorder=1.5,
                    )
                )
            label = "released mean"
            if self.name is not None:
                label = f"released: {literal(self.name)}"
            if n_outputs > len(panels):
                label = f"{label}, {names[j]}"
            drawn = self._draw_mean(panel, t, mean[:, j], j, colour, label)
            lines.append(drawn[0])
            pale += drawn[1:]
        for panel, name in zip(panels, names, strict=False):
            panel.margins(x=0.01)
            dress(panel)
            panel.set_ylabel(name if len(panels) == n_outputs else "mean")
        for j in range(n_outputs):
            self._draw_bounds(panels[j % len(panels)], j, n_outputs)
        panels[-1].set_xlabel("t")
        write_above(panels[0], self.guarantee)
        single = np.ndim(self.mean) == 1
        self.line_ = lines[0] if single else lines
        self.few_line_ = None if not pale else pale[0] if single else pale
        self.fill_ = None if not fills else fills[0] if single else fills
        self.reference_line_ = (
            None if not references else references[0] if single else references
        )
        self.ax_ = panels[0] if len(panels) == 1 else panels
        self.figure_ = panels[0].figure
        return self

    def _draw_mean(self, panel, t, mean, j, colour, label) -> list[Any]:
        """The line, and that where few people are observed, if there are such."""
        style = {"color": colour, "linewidth": 2, "label": label, "zorder": 3}
        points, marker = t, "o" if t.size == 1 else None
        if self.fine is not None:
            marks = {"color": colour, "markersize": 4, "zorder": 3.1}
            few = self._few(t, t)
            panel.plot(t[~few], mean[~few], "o", **marks)
            if few.any():
                panel.plot(t[few], mean[few], "o", alpha=0.4, **marks)
            points, values = self.fine
            mean = np.reshape(values, (len(points), -1))[:, j]
        few = self._few(t, points)
        if not few.any():
            return panel.plot(points, mean, marker=marker, **style)
        lines = panel.plot(points, np.where(few, np.nan, mean), marker=marker, **style)
        # Pale pieces reach to the last point that is not, so that no gap is left.
        reached = few.copy()
        reached[1:] |= few[:-1]
        reached[:-1] |= few[1:]
        _, present = panel.get_legend_handles_labels()
        label = None if j else _new(_FEW_LABEL, present)
        style |= {"linestyle": ":", "alpha": 0.6, "label": label}
        pale = np.where(reached, mean, np.nan)
        return lines + panel.plot(points, pale, marker=marker, **style)

    def _few(self, t, points) -> np.ndarray:
        """Where few people are observed."""
        if self.coverage is None:
            return np.zeros(points.shape, dtype=bool)
        coverage = np.asarray(self.coverage, dtype=float)
        if coverage.shape != t.shape:
            raise ValueError(
                f"coverage must have the shape of t, {t.shape}, got {coverage.shape}"
            )
        return np.interp(points, t, coverage) < _FEW

    def _draw_bounds(self, panel, j, n_outputs) -> None:
        """The bounds in sight: those that do not double the height of the picture."""
        if self.bounds is None:
            return
        low, high = panel.get_ylim()
        for end in self.bounds:
            end = float(np.broadcast_to(end, n_outputs)[j])
            if max(high, end) - min(low, end) > 2 * (high - low):
                continue
            _, labels = panel.get_legend_handles_labels()
            is_named = "public bounds" in labels
            label = None if is_named or j else "public bounds"
            panel.axhline(
                end, color="0.45", linewidth=1, linestyle=":", label=label, zorder=1
            )

    def _columns(self) -> list[Any]:
        """The arrays, those of the values with one column for each output."""
        t, mean = np.asarray(self.t, dtype=float), np.asarray(self.mean, dtype=float)
        if t.ndim != 1 or mean.ndim not in (1, 2) or mean.shape[0] != t.size:
            raise ValueError(
                "t must have shape (n_points,) and mean (n_points,) or "
                f"(n_points, n_outputs), got {t.shape} and {mean.shape}"
            )
        if (self.lower is None) != (self.upper is None):
            raise ValueError("lower and upper must be given together")
        columns = [t, mean.reshape(t.size, -1)]
        for name in ("lower", "upper", "reference"):
            values = getattr(self, name)
            if values is not None:
                values = np.asarray(values, dtype=float)
                if values.shape != mean.shape:
                    raise ValueError(
                        f"{name} must have the shape of mean, {mean.shape}, got "
                        f"{values.shape}"
                    )
                values = values.reshape(t.size, -1)
            columns.append(values)
        return columns

    def _band_label(self) -> str:
        level = "" if self.level is None else f"{100 * self.level:g}% band: "
        return f"{level}privacy noise only, not sampling error"


def _is_release(label: str) -> bool:
    """Whether a label names a mean, and not a part of it."""
    return label.startswith("released") and label != _FEW_LABEL


def _new(label: str, present: list[str]) -> str | None:
    """A label that the legend does not have yet."""
    return None if label in present else label
