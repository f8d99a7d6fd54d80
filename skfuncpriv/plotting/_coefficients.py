"""The picture of released coefficient functions, one panel for each.

The band says how far the noise alone may have moved a point. How far the coefficients
of these people are from those of a population, and how far the penalty draws them
towards zero, is not in it: the legend says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from ._coefficient_functions import functions_of
from ._frame import COLOURS, dress, literal, write_above
from ._panels import columns_for, open_panels, write_around_panels

_ROW_INCHES, _WORDS_INCHES = 2.0, 1.2
_LINE, _REFERENCE, _AXIS = "released coefficient", "reference", "coefficient"


class CoefficientDisplay:
    """Released coefficient functions, each with a band of privacy noise.

    Everything that is drawn is a release or public: a picture costs no budget. A
    `reference` is drawn as it is; coefficients computed without noise are private.

    Parameters
    ----------
    t : array-like of shape (n_points,), or list of them
        *Public.* The points of all coefficients, or of each, in the unit of the domain.
    coefficients : array-like of shape (n_points,) or (n_coefficients, n_points), \
or list of arrays
        Released: one curve, or several.
    noise_std : float or array-like of the form of `coefficients`, default=None
        *Public.* The standard deviation of the privacy noise before denoising, one for
        all, one for each coefficient (a list may hold None), or one for each point.
        None draws no band.
    names : list of str, default=None
        *Public.* What each coefficient belongs to, the title of its panel.
    guarantee : object, default=None
        *Public.* What was guaranteed; its ``str`` is written above the picture.
    level : float, default=0.95
        *Public.* The probability with which the band holds the noise of a point, if the
        noise is normal: an approximation.
    reference : array-like of the form of `coefficients`, default=None
        Known curves to compare with, for example the truth of a simulation.

    Attributes
    ----------
    ax_ : matplotlib Axes, or ndarray of them
        The axes, or a panel for each coefficient.
    figure_ : matplotlib Figure
        The figure of the axes.
    lines_ : list of matplotlib Line2D
        The coefficients.
    fills_ : list of matplotlib artists
        The bands of privacy noise, None where there is none.
    reference_lines_ : list of matplotlib Line2D, or None
        The references.

    See Also
    --------
    skfuncpriv.plotting.MeanCurveDisplay : A mean curve with its band.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.plotting import CoefficientDisplay
    >>> t = np.linspace(0, 1, 50)
    >>> display = CoefficientDisplay(t, [t, -t], [0.1, 0.2], ["age", "dose"]).plot()
    >>> [panel.get_title(loc="left") for panel in display.ax_]
    ['age', 'dose']
    """

    def __init__(
        self,
        t: Any,
        coefficients: Any,
        noise_std: Any = None,
        names: Any = None,
        guarantee: Any = None,
        *,
        level: float = 0.95,
        reference: Any = None,
    ) -> None:
        self.t = t
        self.coefficients = coefficients
        self.noise_std = noise_std
        self.names = names
        self.guarantee = guarantee
        self.level = level
        self.reference = reference

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        ax: Any = None,
        *,
        intercept: bool = True,
        level: float = 0.95,
        reference: Any = None,
        names: Any = None,
        guarantee: Any = None,
    ) -> CoefficientDisplay:
        """Draw the coefficient functions of a fitted estimator.

        Of target curves there is a function for each column of X, of covariate curves
        one for each of them (and each class), and one for each of several outputs.

        Parameters
        ----------
        estimator : ICLPRegressor or ICLPClassifier
            Fitted with curves, either targets or covariates.
        ax : matplotlib Axes, default=None
            Where to draw, as in `plot`.
        intercept : bool, default=True
            *Public.* Whether the intercept of target curves is drawn first.
        level : float, default=0.95
            *Public.* The probability with which the band holds the noise of a point.
        reference : list of array-likes, default=None
            Known curves to compare with, one for each that is drawn.
        names : list of str, default=None
            *Public.* The titles of the panels; None takes the names of predictors.
        guarantee : object, default=None
            *Public.* Other words for the guarantee; None takes the estimator's own.

        Returns
        -------
        display : CoefficientDisplay
            The drawn display.
        """
        found = functions_of(estimator, intercept)
        display = cls(
            [t for _, t, _, _ in found],
            [curve for _, _, curve, _ in found],
            [noise for _, _, _, noise in found],
            [name for name, _, _, _ in found] if names is None else names,
            estimator.guarantee_ if guarantee is None else guarantee,
            level=level,
            reference=reference,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> CoefficientDisplay:
        """Draw the coefficients, their bands and the guarantee.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw: several panels take its place. None makes a new figure.

        Returns
        -------
        display : CoefficientDisplay
            This object, with its artists.
        """
        curves, points, noises, references, names = self._arrays()
        n_panels = len(curves)
        n_columns = 1 if n_panels <= 2 else columns_for(n_panels, ax)
        n_rows = -(-n_panels // n_columns)
        height = _WORDS_INCHES + n_rows * max(_ROW_INCHES, 3 / n_rows)
        figure, panels = open_panels(ax, n_rows, n_columns, (7, height))
        panels = panels.ravel()
        for panel in panels[n_panels:]:
            panel.remove()
        panels = panels[:n_panels]
        self.lines_, self.fills_, self.reference_lines_ = [], [], None
        if references is not None:
            self.reference_lines_ = []
        for k, panel in enumerate(panels):
            self._draw(panel, points[k], curves[k], noises[k])
            if references is not None:
                style = {"color": "0.35", "linewidth": 1.2, "linestyle": (0, (4, 3))}
                self.reference_lines_ += panel.plot(
                    points[k], references[k], label=_REFERENCE, zorder=2.5, **style
                )
            _draw_zero(panel)
            dress(panel)
            panel.margins(x=0.01)
            if n_panels > 1:
                panel.locator_params(axis="y", nbins=4)
                panel.set_title(names[k], fontsize="small", loc="left")
                if k % n_columns == 0:  # the first of its row
                    panel.set_ylabel(_AXIS, fontsize="small")
            else:
                panel.set_ylabel(names[k])
            if k + n_columns >= n_panels:  # the lowest of its column
                panel.set_xlabel("t")
        # The legend is that of a panel with a band, if there is one.
        with_band = [
            panel for panel, fill in zip(panels, self.fills_, strict=True) if fill
        ]
        first = (with_band or list(panels))[0]
        if n_panels == 1:
            write_above(first, self.guarantee)
        else:
            write_around_panels(figure, first, self.guarantee)
        self.ax_ = panels[0] if n_panels == 1 else panels
        self.figure_ = figure if ax is None else ax.figure
        return self

    def _draw(self, panel: Any, t: Any, curve: Any, noise: Any) -> None:
        """One coefficient with its band."""
        style = {"color": COLOURS[0], "linewidth": 2, "zorder": 3}
        marker = "o" if t.size == 1 else None
        self.lines_ += panel.plot(t, curve, label=_LINE, marker=marker, **style)
        fill = None
        if noise is not None:
            far = float(ndtri(0.5 + self.level / 2)) * noise
            fill = panel.fill_between(
                t,
                curve - far,
                curve + far,
                color=COLOURS[0],
                alpha=0.18,
                linewidth=2 if t.size == 1 else 0,
                label=(
                    f"{100 * self.level:g}% band, approximate: privacy noise at a "
                    "point before denoising; sampling error and what the penalty "
                    "shrinks are not in it"
                ),
                zorder=1.5,
            )
        self.fills_.append(fill)

    def _arrays(self) -> tuple[Any, ...]:
        """Curves, points, noises, references and names: a list of each."""
        curves = _curves(self.coefficients, "coefficients")
        n_curves = len(curves)
        points = _curves(self.t, "t")
        if len(points) == 1:
            points = points * n_curves
        if [len(t) for t in points] != [len(curve) for curve in curves]:
            raise ValueError(
                "t must have the points of all coefficients, or of each of them, got "
                f"{[len(t) for t in points]} points for coefficients at "
                f"{[len(curve) for curve in curves]}"
            )
        references = self.reference
        if references is not None:
            references = _curves(references, "reference")
            if [len(x) for x in references] != [len(curve) for curve in curves]:
                raise ValueError("reference must have the form of coefficients")
        names = self.names
        if names is None:
            names = [f"coefficient [{k}]" for k in range(n_curves)]
            names = names if n_curves > 1 else ["coefficient"]
        if isinstance(names, str) or len(names) != n_curves:
            raise ValueError(f"names must name {n_curves} coefficients, got {names!r}")
        names = [literal(str(name)) for name in names]
        return curves, points, self._noises(curves), references, names

    def _noises(self, curves: list[np.ndarray]) -> list[Any]:
        """The deviations at the points of each curve, or None."""
        if self.noise_std is None:
            return [None] * len(curves)
        if not 0 < self.level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {self.level!r}")
        noises = self.noise_std
        if np.ndim(self.coefficients[0]) == 0 or np.isscalar(noises):
            noises = [noises] * len(curves)
        found = []
        if len(noises) == len(curves):
            for noise, curve in zip(noises, curves, strict=True):
                if noise is not None:
                    noise = np.asarray(noise, dtype=float)
                    if noise.shape not in ((), curve.shape) or not np.all(noise >= 0):
                        break
                    noise = np.broadcast_to(noise, curve.shape)
                found.append(noise)
        if len(found) < len(curves):
            raise ValueError(
                "noise_std must be a number >= 0, one for each coefficient, or one for "
                "each point of each of them"
            )
        return found


def _curves(values: Any, name: str) -> list[np.ndarray]:
    """One array, or several, as a list."""
    several = [values] if len(values) and np.ndim(values[0]) == 0 else values
    curves = [np.asarray(curve, dtype=float) for curve in several]
    if not curves or any(curve.ndim != 1 or not curve.size for curve in curves):
        raise ValueError(f"{name} must be a curve of shape (n_points,), or several")
    return curves


def _draw_zero(panel: Any) -> None:
    """A line at zero, no effect, unless it would flatten the curve."""
    low, high = panel.get_ylim()
    if max(high, 0) - min(low, 0) <= 2 * (high - low):
        panel.axhline(0, color="0.75", linewidth=1, zorder=1)
