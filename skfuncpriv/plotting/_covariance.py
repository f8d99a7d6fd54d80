"""The picture of a released covariance: a map with zero in the middle of its colours.

A cell is one released number; nothing is interpolated between the points. Rows of
panels run upwards, as their axes do, so that a picture of several outputs is symmetric
about its rising diagonal, too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._frame import check_fitted, literal, write_around
from ._panels import open_panels, write_around_panels

_COLOURS = "RdBu_r"  # told apart with every kind of colour vision
_NO_COLOUR = "0.8"
_NOT = "sampling error"


class CovarianceDisplay:
    """Released covariance of curves as a map, or one map for each pair of outputs.

    Everything that is drawn is a release or public: a picture costs no budget.

    Parameters
    ----------
    t : array-like of shape (n_points,)
        *Public.* The points of the curves, in the unit of the domain.
    covariance : array-like of shape (n_points, n_points), or \
(n_points, n_outputs, n_points, n_outputs)
        Released: the covariance of the values at two points, in the squared unit of
        the values.
    guarantee : object, default=None
        *Public.* What was guaranteed; its ``str`` is written above the picture.
    correlation : bool, default=False
        *Public.* Divide by the deviations of both points. Outputs of different units
        can be compared then. Points without variance have no correlation: their cells
        are grey.
    noise_std : float, default=None
        *Public.* The root mean square of the privacy noise of a cell before denoising,
        in the unit of `covariance`; drawn as two lines in the colour bar. It is not
        that of a correlation, which has none.
    names : list of str, default=None
        *Public.* The names of the outputs.
    unit : str, default=None
        *Public.* The unit of the values, not squared.

    Attributes
    ----------
    ax_ : matplotlib Axes, or ndarray of shape (n_outputs, n_outputs)
        The axes with the map; panel ``[j, k]`` is that of output j upwards and output k
        to the right, and the first row is the lowest one.
    figure_ : matplotlib Figure
        The figure of the axes.
    mesh_ : matplotlib artist, or ndarray of them
        The maps, in the shape of `ax_`.
    colorbar_ : matplotlib Colorbar
        What the colours mean.

    See Also
    --------
    skfuncpriv.plotting.ComponentsDisplay : The components of a covariance.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.plotting import CovarianceDisplay
    >>> t = np.linspace(0, 1, 20)
    >>> display = CovarianceDisplay(t, np.minimum.outer(t, t), unit="m").plot()
    >>> display.colorbar_.ax.get_ylabel()
    'released covariance, m²'
    """

    def __init__(
        self,
        t: Any,
        covariance: Any,
        guarantee: Any = None,
        *,
        correlation: bool = False,
        noise_std: float | None = None,
        names: Any = None,
        unit: str | None = None,
    ) -> None:
        self.t = t
        self.covariance = covariance
        self.guarantee = guarantee
        self.correlation = correlation
        self.noise_std = noise_std
        self.names = names
        self.unit = unit

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        ax: Any = None,
        *,
        correlation: bool = False,
        names: Any = None,
        unit: str | None = None,
        guarantee: Any = None,
    ) -> CovarianceDisplay:
        """Draw the covariance of a fitted estimator.

        Parameters
        ----------
        estimator : ICLPCovariance or PrivateFPCA
            Fitted, with `grid_`, `covariance_`, `noise_std_`, `coef_`, `basis_` and
            `guarantee_`.
        ax : matplotlib Axes, default=None
            Where to draw, as in `plot`.
        correlation : bool, default=False
            *Public.* Divide by the deviations of both points.
        names : list of str, default=None
            *Public.* The names of the outputs.
        unit : str, default=None
            *Public.* The unit of the values, not squared.
        guarantee : object, default=None
            *Public.* Other words for the guarantee; None takes the estimator's own.

        Returns
        -------
        display : CovarianceDisplay
            The drawn display.
        """
        check_fitted(estimator)
        display = cls(
            estimator.grid_,
            estimator.covariance_,
            estimator.guarantee_ if guarantee is None else guarantee,
            correlation=correlation,
            noise_std=noise_of_a_cell(estimator),
            names=names,
            unit=unit,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> CovarianceDisplay:
        """Draw the map, the meaning of its colours and the guarantee.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw: several outputs have panels in its place. None makes a new
            figure.

        Returns
        -------
        display : CovarianceDisplay
            This object, with its artists.
        """
        edges, blocks, names = self._arrays()
        n_outputs, last = len(blocks), len(blocks) - 1
        figure, panels = open_panels(
            ax, n_outputs, n_outputs, (7, 6), sharex=True, sharey=True
        )
        panels = panels[::-1]
        if self.correlation:
            blocks = _correlations(blocks)
        largest = 1.0 if self.correlation else np.abs(blocks).max() or 1.0
        meshes = np.empty_like(panels)
        for (j, k), panel in np.ndenumerate(panels):
            meshes[j, k] = panel.pcolormesh(
                edges,
                edges,
                np.ma.masked_invalid(blocks[j, k]),
                cmap=_COLOURS,
                vmin=-largest,
                vmax=largest,
                rasterized=True,
            )
            panel.set_facecolor(_NO_COLOUR)
            # Panels that are narrower than their places stay together.
            anchor = (1 - k / last, 1 - j / last) if last else (0.5, 0.5)
            panel.set_aspect("equal", anchor=anchor)
            panel.locator_params(nbins=max(2, 6 // n_outputs))
        for name, row, column in zip(names, panels[:, 0], panels[0], strict=True):
            row.set_ylabel(f"{name}s")
            column.set_xlabel(f"{name}t")
        self.colorbar_ = figure.colorbar(
            meshes[0, 0], ax=panels.ravel().tolist(), label=self._label()
        )
        if n_outputs == 1:
            panels, meshes = panels[0, 0], meshes[0, 0]
            write_around(panels, self.guarantee, self._note())
        else:
            write_around_panels(figure, panels[0, 0], self.guarantee, self._note())
        self.ax_, self.mesh_ = panels, meshes
        self.figure_ = figure if ax is None else ax.figure
        return self

    def _note(self) -> str:
        """What the noise is, with its lines in the colour bar."""
        if self.noise_std is None or self.correlation:
            return f"privacy noise and {_NOT} are not shown"
        noise = float(self.noise_std)
        if noise <= self.colorbar_.vmax:
            for end in (-noise, noise):
                self.colorbar_.ax.axhline(end, color="0.2", linewidth=1)
            where = ", the lines in the colour bar"
        else:
            where = ", more than all that is drawn"
        return (
            f"privacy noise of a cell before denoising: about {noise:.2g}{where}; "
            f"{_NOT} is not in it"
        )

    def _label(self) -> str:
        if self.correlation:
            return "released correlation"
        if not self.unit:
            return "released covariance"
        unit = literal(self.unit)
        square = f"{unit}²" if unit.isalpha() or len(unit) == 1 else f"({unit})²"
        return f"released covariance, {square}"

    def _arrays(self) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Edges of the cells, blocks of pairs of outputs, and what names an output."""
        t = np.asarray(self.t, dtype=float)
        covariance = np.asarray(self.covariance, dtype=float)
        if (
            t.ndim != 1
            or not t.size
            or covariance.ndim not in (2, 4)
            or covariance.shape != (*t.shape, *covariance.shape[1:-2:2]) * 2
        ):
            raise ValueError(
                "t must have shape (n_points,) and covariance (n_points, n_points) or "
                "(n_points, n_outputs, n_points, n_outputs), got "
                f"{t.shape} and {covariance.shape}"
            )
        if covariance.ndim == 2:
            covariance = covariance[:, None, :, None]
        n_outputs = covariance.shape[1]
        names = [f"[{j}]" for j in range(n_outputs)]
        if self.names is not None:
            names = [literal(str(name)) for name in self.names]
        if len(names) != n_outputs:
            raise ValueError(f"names must name {n_outputs} outputs, got {self.names!r}")
        is_named = n_outputs > 1 or self.names is not None
        names = [f"{name} at " if is_named else "" for name in names]
        return _edges(t), covariance.transpose(1, 3, 0, 2), names


def noise_of_a_cell(estimator: Any) -> float:
    """The root mean square over the domain of the noise of a covariance function.

    The matrix of p orthonormal coefficients has noise of deviation `noise_std_` in p
    diagonal entries, and of half that variance in the others, so that the expected
    square of its Frobenius norm, the L2 norm of the function, is
    ``noise_std_^2 * p * (p + 1) / 2``. Cells of several outputs share it.
    """
    sizes = estimator.coef_.shape[: estimator.coef_.ndim // 2]
    p, n_outputs = int(np.prod(sizes)), int(np.prod(sizes[1:]))
    low, high = estimator.basis_.domain
    return (
        estimator.noise_std_ * math.sqrt(p * (p + 1) / 2) / (n_outputs * (high - low))
    )


def _edges(t: np.ndarray) -> np.ndarray:
    """The ends of cells around the points."""
    if t.size == 1:
        return np.array([t[0] - 0.5, t[0] + 0.5])
    middle = (t[1:] + t[:-1]) / 2
    return np.concatenate([[2 * t[0] - middle[0]], middle, [2 * t[-1] - middle[-1]]])


def _correlations(blocks: np.ndarray) -> np.ndarray:
    """Divide by the deviations; NaN where there is no variance."""
    variances = np.stack([np.diagonal(block[j]) for j, block in enumerate(blocks)])
    deviations = np.sqrt(np.where(variances > 0, variances, np.nan))
    return blocks / (deviations[:, None, :, None] * deviations[None, :, None, :])
