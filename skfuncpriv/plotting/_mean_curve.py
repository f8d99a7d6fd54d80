"""The picture of a released mean curve, with the band of its privacy noise.

The band says how far the noise alone may have moved the curve. It knows nothing of how
far the curve of these people is from that of a population: the legend says so.
"""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

_NEEDS_MATPLOTLIB = (
    "plotting needs matplotlib: install the extra with pip install 'skfuncpriv[plot]'"
)
_COLOURS = ("#2a5c8a", "#b5532a", "#3f7d4e", "#7a4d8f", "#8a7a1f", "#4d4d4d")


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

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes with the curve.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_ : matplotlib Line2D, or list of them for a vector-valued mean
        The mean curve.
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
    ) -> None:
        self.t = t
        self.mean = mean
        self.lower = lower
        self.upper = upper
        self.reference = reference
        self.guarantee = guarantee
        self.level = level

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        ax: Any = None,
        *,
        level: float = 0.95,
        reference: Any = None,
    ) -> MeanCurveDisplay:
        """Draw the mean of a fitted estimator.

        Parameters
        ----------
        estimator : object
            Fitted, with `grid_`, `mean_`, `guarantee_` and ``noise_band(level)``.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        level : float, default=0.95
            Public: the probability with which the band holds the noise.
        reference : array-like of the shape of `estimator.mean_`, default=None
            A known curve to compare with.

        Returns
        -------
        display : MeanCurveDisplay
            The drawn display.
        """
        lower, upper = estimator.noise_band(level)
        display = cls(
            estimator.grid_,
            estimator.mean_,
            lower,
            upper,
            reference,
            estimator.guarantee_,
            level=level,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> MeanCurveDisplay:
        """Draw the curve, its band, the reference and the guarantee.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : MeanCurveDisplay
            This object, with its artists.
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError(_NEEDS_MATPLOTLIB) from None
        t, mean, lower, upper, reference = self._columns()
        if ax is None:
            _, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
        lines, fills, references = [], [], []
        n_outputs = mean.shape[1]
        is_point = t.size == 1
        for j in range(n_outputs):
            colour = _COLOURS[j % len(_COLOURS)]
            name = "" if n_outputs == 1 else f" [{j}]"
            if reference is not None:
                references += ax.plot(
                    t,
                    reference[:, j],
                    color="0.35" if n_outputs == 1 else colour,
                    linewidth=1.2,
                    linestyle=(0, (4, 3)),
                    marker="_" if is_point else None,
                    label="reference" if j == 0 else None,
                    zorder=2.5,
                )
            if lower is not None:
                fills.append(
                    ax.fill_between(
                        t,
                        lower[:, j],
                        upper[:, j],
                        color=colour,
                        alpha=0.18,
                        linewidth=2 if is_point else 0,
                        label=self._band_label() if j == 0 else None,
                        zorder=1.5,
                    )
                )
            lines += ax.plot(
                t,
                mean[:, j],
                color=colour,
                linewidth=2,
                marker="o" if is_point else None,
                label="released mean" + name,
                zorder=3,
            )
        self._dress(ax)
        single = np.ndim(self.mean) == 1
        self.line_ = lines[0] if single else lines
        self.fill_ = None if not fills else fills[0] if single else fills
        self.reference_line_ = (
            None if not references else references[0] if single else references
        )
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

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

    def _dress(self, ax: Any) -> None:
        """Labels, a quiet frame, and the guarantee where it hides nothing."""
        ax.set_xlabel("t")
        ax.set_ylabel("mean")
        ax.margins(x=0.01)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color="0.9", linewidth=0.8)
        ax.set_axisbelow(True)
        # The mean comes first, whatever the order in which the layers were drawn.
        handles, labels = ax.get_legend_handles_labels()
        order = sorted(range(len(labels)), key=lambda i: labels[i] == "reference")
        order.sort(key=lambda i: not labels[i].startswith("released mean"))
        ax.legend(
            [handles[i] for i in order],
            [labels[i] for i in order],
            loc="upper left",
            ncols=2,
            fontsize="small",
            frameon=False,
        )
        low, high = ax.get_ylim()  # head room, so that the legend hides no curve
        ax.set_ylim(low, high + 0.04 * (len(labels) + 1) * (high - low))
        if self.guarantee is not None:
            text = textwrap.fill(str(self.guarantee), width=84)
            ax.set_title(text, fontsize="small", color="0.35", loc="left")
