"""The picture of a released function of one feature, with the band of its noise.

The band says how far the noise alone may have moved a point of the line: neither what
regularisation took away nor how far these people are from a population is in it.
"""

from __future__ import annotations

import importlib
import sys
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
)

_LINE, _REFERENCE = "released function", "reference"
_NOT = "bias and sampling error are not in it"


class FunctionDisplay:
    """Released function of one feature, with the band of its privacy noise.

    Everything that is drawn is a release or public: a picture costs no budget. A
    `reference` is drawn as it is; one computed without noise is private.

    Parameters
    ----------
    points : array-like of shape (n_points,)
        *Public.* Where the function is shown, in increasing order.
    values : array-like of shape (n_points,)
        Released: its values there.
    noise : float or array-like of shape (n_points,), default=None
        Released: the standard deviation of the privacy noise at each point. None draws
        no band.
    level : float, default=0.95
        *Public.* The probability with which the band holds the noise of a point, if it
        is normal. Laplace noise has longer tails: at the end of an interval, where it
        is a single draw, a band for 0.95 holds 0.937.
    reference : array-like of shape (n_points,), default=None
        A known function to compare with, for example the truth of a simulation.
    guarantee : object, default=None
        *Public.* What was guaranteed; its ``str`` is written above the picture.
    name : str, default=None
        *Public.* A name for the legend, where axes show several functions.
    feature_name : str, default="x"
        *Public.* The name of the axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_ : matplotlib Line2D
        The function.
    fill_ : matplotlib artist or None
        The band of privacy noise.
    reference_line_ : matplotlib Line2D or None
        The reference.

    See Also
    --------
    skfuncpriv.GaussianProcessReleaser : Releases functions, with `noise_std`.
    skfuncpriv.PrivateKernelRegressor : Learns functions.
    skfuncpriv.CoefficientDisplay : Coefficient functions of a regression on curves.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import FunctionDisplay, PrivateKernelRegressor
    >>> x = np.linspace(0, 1, 2000)[:, None]
    >>> model = PrivateKernelRegressor(bounds=(0, 1), y_bounds=(0, 1), random_state=0)
    >>> display = FunctionDisplay.from_estimator(model.fit(x, x[:, 0]), x[::100, 0])
    >>> display.ax_.get_legend().get_texts()[0].get_text()
    'released function'
    """

    def __init__(
        self,
        points: Any,
        values: Any,
        *,
        noise: Any = None,
        level: float = 0.95,
        reference: Any = None,
        guarantee: Any = None,
        name: str | None = None,
        feature_name: str = "x",
    ) -> None:
        self.points = points
        self.values = values
        self.noise = noise
        self.level = level
        self.reference = reference
        self.guarantee = guarantee
        self.name = name
        self.feature_name = feature_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        points: Any,
        ax: Any = None,
        *,
        response: str = "predict",
        level: float = 0.95,
        reference: Any = None,
        guarantee: Any = None,
        name: str | None = None,
        feature_name: str | None = None,
    ) -> FunctionDisplay:
        """Draw the function of a fitted estimator.

        Parameters
        ----------
        estimator : object
            Fitted on one feature, with `response` and `guarantee_`; the band of its
            predictions is drawn if it has a method ``noise_std(T)``. The number
            `noise_std_` may be a mean over all points, and is not used.
        points : array-like or series of shape (n_points,)
            *Public.* Where the function is evaluated: not at people's own points.
        ax : matplotlib Axes, default=None
            Where to draw, as in `plot`.
        response : str, default="predict"
            *Public.* The method that evaluates it, such as "decision_function".
        level : float, default=0.95
            *Public.* The probability with which the band holds the noise of a point.
        reference : array-like of shape (n_points,), default=None
            A known function to compare with.
        guarantee : object, default=None
            *Public.* Other words for the guarantee; None takes the estimator's own.
        name : str, default=None
            *Public.* A name for the legend.
        feature_name : str, default=None
            *Public.* The name of the axis; None takes `feature_names_in_`.

        Returns
        -------
        display : FunctionDisplay
            The drawn display.
        """
        check_fitted(estimator)
        names = getattr(estimator, "feature_names_in_", None)
        column = np.asarray(points, dtype=float).reshape(-1, 1)
        queries = column if names is None else _named(column, names, points)
        values = np.asarray(getattr(estimator, response)(queries))
        noise = None
        if response == "predict" and hasattr(estimator, "noise_std"):
            noise = estimator.noise_std(queries)
        known = "x" if names is None else str(names[0])
        display = cls(
            column[:, 0],
            values,
            noise=noise,
            level=level,
            reference=reference,
            guarantee=estimator.guarantee_ if guarantee is None else guarantee,
            name=name,
            feature_name=known if feature_name is None else feature_name,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> FunctionDisplay:
        """Draw the function, its noise, the reference and the guarantee.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure. Axes with another function get this
            one in another colour.

        Returns
        -------
        display : FunctionDisplay
            This object, with its artists.
        """
        points, values, noise = self._arrays()
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError(NEEDS_MATPLOTLIB) from None
        if ax is None:
            _, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        self.fill_ = self.reference_line_ = None
        _, present = ax.get_legend_handles_labels()
        n_before = sum(label.startswith("released") for label in present)
        colour = COLOURS[n_before % len(COLOURS)]
        ax.autoscale(True)  # after an earlier line has made room for the legend
        if self.reference is not None:
            (self.reference_line_,) = ax.plot(
                points,
                self.reference,
                color="0.35",
                linewidth=1.2,
                linestyle=(0, (4, 3)),
                label=None if _REFERENCE in present else _REFERENCE,
                zorder=2.5,
            )
        if noise is not None:
            far = float(ndtri(0.5 + self.level / 2)) * noise
            label = f"{100 * self.level:g}% band: privacy noise at a point; {_NOT}"
            self.fill_ = ax.fill_between(
                points,
                values - far,
                values + far,
                color=colour,
                alpha=0.18,
                linewidth=0,
                label=None if label in present else label,
                zorder=1.5,
            )
        label = _LINE if self.name is None else f"released: {literal(self.name)}"
        style = {"color": colour, "linewidth": 2, "label": label, "zorder": 3}
        (self.line_,) = ax.plot(points, values, **style)
        ax.margins(x=0.01)
        dress(ax)
        ax.set(xlabel=literal(self.feature_name), ylabel="value")
        write_above(ax, self.guarantee)
        return self

    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Points, values and noise, if they fit together."""
        points = np.asarray(self.points, dtype=float)
        values = np.asarray(self.values, dtype=float)
        if points.ndim != 1 or values.shape != points.shape:
            raise ValueError(
                "a display shows one function of one feature: points and values must "
                f"have one shape (n_points,), got {points.shape} and {values.shape}"
            )
        if self.reference is not None and np.shape(self.reference) != points.shape:
            raise ValueError("reference must have a value for each of the points")
        if self.noise is None:
            return points, values, None
        if not 0 < self.level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {self.level!r}")
        return points, values, np.broadcast_to(self.noise, points.shape)


def _named(column: np.ndarray, names: Any, points: Any) -> Any:
    """A column with the name that was fitted, in a frame as it was then.

    Of the library of `points`, or else of one that is here already: it made the frame
    that was fitted.
    """
    own = type(points).__module__.split(".")[0]
    known = ("pandas", "polars")
    for name in sorted(known, key=lambda name: (name != own, name not in sys.modules)):
        try:
            library: Any = importlib.import_module(name)
        except ImportError:
            continue
        return library.DataFrame({str(names[0]): column[:, 0]})
    return column
