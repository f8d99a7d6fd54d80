"""The picture of one released trace: what its owner may publish, and how far it is off.

The noise that is drawn beside a trace is known without any data: it is what the budget
and the number of coefficients ask for. The true trace is drawn on request only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._frame import (
    COLOURS,
    NEEDS_MATPLOTLIB,
    band,
    detail_in_words,
    dress,
    literal,
    scale_bar,
    shares_both_axes,
    write_above,
    write_around,
)
from ._trace_facts import (
    axes_of,
    check_outputs,
    domain_of,
    n_outputs,
    true_trace,
    typical_noise,
)

_TRUE_COLOUR = "#c2185b"
_TRUE = "true (do not publish)"
_NOISE = "typical size of the noise"
_N_POINTS = 201


class TraceDisplay:
    """Released trace of one person, with the typical distance of the noise.

    A curve of one output is drawn against its argument, a trace of two outputs as a
    track in the plane, from a circle to a square. All that is drawn is a release or
    public, unless `true` is given.

    Parameters
    ----------
    t : array-like of shape (n_points,)
        *Public.* The points of the argument, in the unit of the domain.
    values : array-like of shape (n_points,), (n_points, 1) or (n_points, 2)
        Released: the trace at these points.
    noise : float, default=None
        *Public.* How far the noise alone typically moves a point, in the unit of the
        values, before denoising: the length of a scale bar below a track, or half the
        width of a band along a curve. A size, and no confidence region: the detail that
        is finer than the released coefficients is lost as well.
    n_coefficients : int, default=None
        *Public.* How many coefficients of each output were released.
    guarantee : object, default=None
        *Public.* What was guaranteed; its ``str`` is written above the trace, or in
        small print where there is a `title`.
    title : str, default=None
        *Public.* The guarantee in few words, above the trace.
    true : array-like, default=None
        *Private.* The true trace, drawn in another colour: such a picture must not be
        published. Shape (n, 2) for a track, or for a curve (n, 2) with its points in
        the first column and its values in the second.
    name : str, default=None
        *Public.* A name for the legend, to draw several traces into one axes.
    labels : str or tuple of two str, default=None
        *Public.* Names of the values, or of both coordinates.
    unit : str, default=None
        *Public.* The unit of the values.
    legend : bool, default=True
        *Public.* Whether the axes have a legend. Small panels side by side may share
        one: ``figure.legend(*ax.get_legend_handles_labels())``.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes with the trace.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_ : matplotlib Line2D
        The released trace.
    noise_ : matplotlib artist or None
        The scale bar or the band of the noise; None if the axes show a band already.
    true_line_ : matplotlib Line2D or None
        The true trace.

    See Also
    --------
    skfuncpriv.GeoPrivateCurve : Releases traces.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import GeoPrivateCurve, TraceDisplay
    >>> walk = np.linspace(0, [300.0, 400.0], 50)[None]
    >>> model = GeoPrivateCurve(epsilon=0.1, bounds=(-1000, 1000)).fit(walk)
    >>> [curve] = model.release(walk)
    >>> TraceDisplay.from_curve(curve, unit="m").ax_.get_xlabel()
    'x (m)'
    """

    def __init__(
        self,
        t: Any,
        values: Any,
        *,
        noise: float | None = None,
        n_coefficients: int | None = None,
        guarantee: Any = None,
        title: str | None = None,
        true: Any = None,
        name: str | None = None,
        labels: Any = None,
        unit: str | None = None,
        legend: bool = True,
    ) -> None:
        self.t = t
        self.values = values
        self.noise = noise
        self.n_coefficients = n_coefficients
        self.guarantee = guarantee
        self.title = title
        self.true = true
        self.name = name
        self.labels = labels
        self.unit = unit
        self.legend = legend

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        grid: Any = None,
        compare: bool = False,
        title: str | None = None,
        name: str | None = None,
        labels: Any = None,
        unit: str | None = None,
        legend: bool = True,
        guarantee: Any = None,
        ax: Any = None,
    ) -> TraceDisplay:
        """Release one trace anew, which is charged, and draw it; `from_curve` is free.

        Parameters
        ----------
        estimator : GeoPrivateCurve
            Fitted.
        X : array-like, frame, Curves or list of arrays
            *Private.* One trace, in the form that `estimator` takes: a single row.
        grid : array-like of shape (n_points,), default=None
            *Public.* Where the released trace is evaluated; None is 201 equally spaced
            points of the domain.
        compare : bool, default=False
            Draw the true trace as well, within bounds and domain, and keep it in
            `true`. Such a picture, and such a display, must not be published.
        title : str, default=None
            *Public.* The guarantee in few words, above the trace.
        name : str, default=None
            *Public.* A name for the legend.
        labels : str or tuple of two str, default=None
            *Public.* Names of the values, or of both coordinates.
        unit : str, default=None
            *Public.* The unit of the values.
        legend : bool, default=True
            *Public.* Whether the axes have a legend.
        guarantee : object, default=None
            *Public.* Other words for the guarantee; None takes the estimator's own.
        ax : matplotlib Axes, default=None
            Where to draw, as in `plot`.

        Returns
        -------
        display : TraceDisplay
            The drawn display; `plot` draws it again without another release.
        """
        _pyplot()  # before anything is charged
        if len(X) != 1:
            raise ValueError(
                "a display shows one trace: pass X[[i]], and draw several into one ax"
            )
        count = check_outputs(n_outputs(X))
        # What may be refused is read before the release, and only then.
        true = true_trace(estimator, X, count) if compare else None
        if grid is None:
            grid = np.linspace(*domain_of(estimator, X), _N_POINTS)
        display = cls(
            grid,
            estimator.transform(X, grid=grid)[0],
            noise=typical_noise(estimator, X),
            # "svt" chooses in secret: the number is that of its finest choice.
            n_coefficients=(
                None if estimator.pieces == "svt" else estimator.n_coefficients_
            ),
            guarantee=estimator.guarantee_ if guarantee is None else guarantee,
            title=title,
            true=true,
            name=name,
            labels=labels,
            unit=unit,
            legend=legend,
        )
        return display.plot(ax)

    @classmethod
    def from_curve(
        cls,
        curve: Any,
        *,
        grid: Any = None,
        noise: float | None = None,
        n_coefficients: int | None = None,
        guarantee: Any = None,
        title: str | None = None,
        true: Any = None,
        name: str | None = None,
        labels: Any = None,
        unit: str | None = None,
        legend: bool = True,
        ax: Any = None,
    ) -> TraceDisplay:
        """Draw a curve that was released already; nothing is charged.

        Parameters
        ----------
        curve : PiecewiseCurve
            Released, by ``GeoPrivateCurve.release``.
        grid : array-like of shape (n_points,), default=None
            *Public.* Where it is evaluated; None is 201 equally spaced points.
        noise, n_coefficients : float and int, default=None
            *Public.* As in the constructor.
        guarantee, title : object and str, default=None
            *Public.* As in the constructor.
        true : array-like, default=None
            *Private.* The true trace, as in the constructor: such a picture must not be
            published.
        name : str, default=None
            *Public.* A name for the legend.
        labels : str or tuple of two str, default=None
            *Public.* Names of the values, or of both coordinates.
        unit : str, default=None
            *Public.* The unit of the values.
        legend : bool, default=True
            *Public.* Whether the axes have a legend.
        ax : matplotlib Axes, default=None
            Where to draw, as in `plot`.

        Returns
        -------
        display : TraceDisplay
            The drawn display.
        """
        if grid is None:
            grid = np.linspace(curve.breaks[0], curve.breaks[-1], _N_POINTS)
        display = cls(
            grid,
            curve.evaluate(grid),
            noise=noise,
            n_coefficients=n_coefficients,
            guarantee=guarantee,
            title=title,
            true=true,
            name=name,
            labels=labels,
            unit=unit,
            legend=legend,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> TraceDisplay:
        """Draw the trace, the noise and the guarantee.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure. Axes with a trace get another.

        Returns
        -------
        display : TraceDisplay
            This object, with its artists.
        """
        t, values = self._arrays(self.t, self.values)
        is_plane = values.shape[1] == 2
        if ax is None:
            size = (7, 6.5) if is_plane else (7, 4.2)
            _, ax = _pyplot().subplots(figsize=size, layout="constrained")
        _, present = ax.get_legend_handles_labels()
        colour = COLOURS[sum(map(_is_release, present)) % len(COLOURS)]
        ax.autoscale(True)  # after an earlier trace has made room for the legend
        self.true_line_ = None
        if self.true is not None:
            style = {"color": _TRUE_COLOUR, "linewidth": 1.2, "zorder": 2.5}
            label = None if _TRUE in present else _TRUE
            x, y = np.asarray(self.true, dtype=float).T
            (self.true_line_,) = ax.plot(x, y, label=label, **style)
        x, y = axes_of(t, values)
        self.noise_ = None
        noise_label = self._noise_label(is_plane)
        if self.noise is not None and not is_plane and noise_label not in present:
            self.noise_ = band(ax, x, y, self.noise, colour, noise_label)
        label = "released trace" if self.name is None else f"released: {self.name}"
        label = literal(label)
        if is_plane:
            label += " (from circle to square)" if not present else ""
            ends = {"color": colour, "markeredgecolor": "white", "zorder": 3.2}
            ax.plot(x[0], y[0], "o", markersize=9, **ends)
            ax.plot(x[-1], y[-1], "s", markersize=8, **ends)
        style = {"color": colour, "linewidth": 2, "zorder": 3}
        (self.line_,) = ax.plot(x, y, label=label, **style)
        if self.noise is not None and is_plane:
            self.noise_ = scale_bar(ax, self.noise, noise_label)
        self._dress(ax, is_plane)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _arrays(self, t: Any, values: Any) -> tuple[np.ndarray, np.ndarray]:
        """Points, and values with an axis of one or two outputs."""
        t, values = np.asarray(t, dtype=float), np.asarray(values, dtype=float)
        if (
            t.ndim != 1
            or values.ndim not in (1, 2)
            or len(values) != len(t)
            or not t.size
        ):
            raise ValueError(
                "t must have shape (n_points,) and values (n_points,) or "
                f"(n_points, n_outputs), got {t.shape} and {values.shape}"
            )
        values = values.reshape(len(t), -1)
        check_outputs(values.shape[1])
        return t, values

    def _noise_label(self, is_plane: bool) -> str:
        if self.noise is None:
            return ""
        style = ".3g" if self.noise < 1000 else ",.0f"
        size = f"{self.noise:{style}}" + (f" {self.unit}" if self.unit else "")
        detail = ""
        if self.n_coefficients is not None:
            detail = f" ({detail_in_words(self.n_coefficients, is_plane)})"
        return (
            f"{'scale bar' if is_plane else 'band'}: {_NOISE}, {size} before "
            f"denoising, plus the detail that is lost{detail}; not a confidence region"
        )

    def _dress(self, ax: Any, is_plane: bool) -> None:
        """Names of the axes, and the words above the trace."""
        default = ("x", "y") if is_plane else ("value",)
        labels = default if self.labels is None else self.labels
        labels = [labels] if isinstance(labels, str) else list(labels)
        labels = [literal(label) for label in labels]
        if self.unit:
            labels = [f"{label} ({self.unit})" for label in labels]
        ax.set_ylabel(labels[-1])
        ax.set_xlabel(labels[0] if is_plane else "t")
        dress(ax, axis="both" if is_plane else "y")
        if is_plane:
            # Limits that other panels share cannot be moved to make room.
            is_shared = shares_both_axes(ax)
            ax.set_aspect("equal", adjustable="box" if is_shared else "datalim")
        write = write_around if is_plane else write_above
        note = None if self.guarantee is None else str(self.guarantee)
        words = (self.guarantee,) if self.title is None else (self.title, note)
        write(ax, *words, legend=self.legend)


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(NEEDS_MATPLOTLIB) from None
    return plt


def _is_release(label: str) -> bool:
    return label.startswith("released")
