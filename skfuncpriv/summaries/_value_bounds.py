"""From public bounds of values to a public bound of the norm of a curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import check_interval
from ..noise._lattice import FloatArray


@dataclass(frozen=True, eq=False)
class ValueBounds:
    """Bounds of the values of curves, what is subtracted, and the norm that follows.

    Parameters
    ----------
    low, high : ndarray, shape (n_outputs,)
        The bounds; *public*.
    center : ndarray, shape (n_outputs,) or (n_points, n_outputs)
        What is subtracted; *public*.
    norm_bound : float
        The bound tau on the L2 norm of a centred curve; *public*.
    largest_norm : float
        What the bounds alone imply, at least `norm_bound`; *public*.

    Notes
    -----
    Between grid points a clipped and centred curve is a straight line below the line
    through g = max(high - center, center - low) >= 0 at those points, and beyond the
    grid it is constant, so the squared norm is at most the sum over cells of
    h (g_0^2 + g_0 g_1 + g_1^2) / 3, plus the constant ends.

    Examples
    --------
    >>> from skfuncpriv.summaries import ValueBounds
    >>> ValueBounds.from_parameters((0.0, 2.0), domain=(0.0, 4.0)).norm_bound
    2.0
    """

    low: FloatArray
    high: FloatArray
    center: FloatArray
    norm_bound: float
    largest_norm: float

    def __post_init__(self) -> None:
        for array in (self.low, self.high, self.center):  # releases may share them
            array.setflags(write=False)

    @property
    def reach(self) -> FloatArray:
        """How far a centred value can lie from zero, shape of `center`."""
        return np.asarray(np.maximum(self.high - self.center, self.center - self.low))

    @classmethod
    def from_parameters(
        cls,
        bounds: Any,
        *,
        domain: tuple[float, float],
        n_outputs: int = 1,
        grid: FloatArray | None = None,
        center: Any = None,
        norm_bound: float | None = None,
    ) -> ValueBounds:
        """Read the public parameters of an estimator.

        Parameters
        ----------
        bounds : tuple of two floats, or of two arrays of shape (n_outputs,)
            The bounds of the values; *public*.
        domain : tuple of two floats
            The interval of the argument; *public*.
        n_outputs : int, default=1
            The number of values at each point; *public*.
        grid : ndarray, shape (n_points,), default=None
            The common grid, if there is one; *public*.
        center : float or array, default=None
            One number, one per output, or one per grid point (and output); None is
            the middle of the bounds; *public*.
        norm_bound : float, default=None
            A tighter bound on the norm; *public*.

        Returns
        -------
        ValueBounds
            The bounds of every output.

        Raises
        ------
        ValueError
            If the bounds are not finite with low < high, or if the center does not fit
            them in shape or value.
        """
        low, high = _read_bounds(bounds, n_outputs)
        middle = _read_center(center, low, high, grid)
        reach = np.maximum(high - middle, middle - low)
        largest = _norm(reach, domain, grid)
        if not math.isfinite(largest):
            raise ValueError(
                "bounds are so far apart that the norm of a curve overflows"
            )
        bound = largest if norm_bound is None else min(norm_bound, largest)
        return cls(low, high, middle, bound, largest)


def _read_bounds(bounds: Any, n_outputs: int) -> tuple[FloatArray, FloatArray]:
    rule = (
        "bounds must be (low, high), finite with low < high: two numbers, or two "
        f"arrays with one number for each of {n_outputs} outputs"
    )
    try:
        ends = [np.asarray(end) for end in bounds]
    except TypeError:
        raise ValueError(f"{rule}; got {bounds!r}") from None
    if len(ends) != 2 or any(end.shape not in ((), (n_outputs,)) for end in ends):
        raise ValueError(f"{rule}; got {bounds!r}")
    pairs = np.stack([np.broadcast_to(end, n_outputs) for end in ends], axis=1)
    pairs = np.array([check_interval(tuple(pair), "bounds") for pair in pairs.tolist()])
    return pairs[:, 0], pairs[:, 1]


def _read_center(
    center: Any, low: FloatArray, high: FloatArray, grid: FloatArray | None
) -> FloatArray:
    if center is None:
        return np.asarray(low / 2 + high / 2)
    middle = np.asarray(center)
    if middle.dtype.kind not in "fiu":
        raise ValueError(f"center must be finite numbers, got {center!r}")
    middle = middle.astype(np.float64)
    shapes: list[tuple[int, ...]] = [(), low.shape]
    if grid is not None:
        shapes.append((len(grid), len(low)))
        if len(low) == 1 and middle.shape == (len(grid),):
            middle = middle[:, None]
    if middle.shape not in shapes:
        raise ValueError(
            "center must be one number, one per output, or (on a common grid) one per "
            "grid point and output"
        )
    if not ((middle >= low) & (middle <= high)).all():
        raise ValueError("center must lie within bounds")
    return np.broadcast_to(middle, low.shape if middle.ndim < 2 else middle.shape)


def _norm(
    reach: FloatArray, domain: tuple[float, float], grid: FloatArray | None
) -> float:
    scale = float(reach.max())
    unit = reach / scale
    if unit.ndim == 1 or grid is None:
        square = (domain[1] - domain[0]) * np.square(unit).sum()
    else:
        left, right = unit[:-1], unit[1:]
        cells = (left * left + left * right + right * right) / 3
        square = (np.diff(grid)[:, None] * cells).sum()
        square += (grid[0] - domain[0]) * np.square(unit[0]).sum()
        square += (domain[1] - grid[-1]) * np.square(unit[-1]).sum()
    with np.errstate(over="ignore"):
        return float(scale * np.sqrt(square))
