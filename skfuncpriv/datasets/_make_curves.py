"""Random smooth curves with a known mean.

Curve i is mean(t) + sum_k xi_ik phi_k(t), phi_k(t) = sqrt(2) cos(pi k t) on (0, 1),
xi_ik independent N(0, scale^2 k^(-2 smoothness)): a Gaussian process whose
Karhunen-Loeve expansion is known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from skfuncpriv._validation import check_count, check_interval, check_positive

_N_TERMS = 30


def make_curves(
    n_curves: int = 100,
    *,
    n_points: int = 101,
    n_outputs: int | None = None,
    domain: tuple[float, float] = (0.0, 1.0),
    scale: float = 0.2,
    smoothness: float = 2.0,
    random_state: Any = None,
) -> Bunch:
    """Generate random smooth curves around a known mean.

    Parameters
    ----------
    n_curves : int, default=100
        Public: the number of curves.
    n_points : int, default=101
        Public: the number of equally spaced points of the grid.
    n_outputs : int, default=None
        Public: the number of values at each point; None means plain numbers, without
        an axis of outputs.
    domain : (float, float), default=(0.0, 1.0)
        Public: the interval of the grid.
    scale : float, default=0.2
        Public: the standard deviation of the coefficient of the slowest wave, in the
        unit of the values. The mean moves between -1 and 1.
    smoothness : float, default=2.0
        Public: the coefficient of wave ``k`` has the deviation
        ``scale * k ** -smoothness``.
    random_state : int, RandomState instance or None, default=None
        Public: seed of the curves. It has nothing to do with the noise of a release.

    Returns
    -------
    data : Bunch
        With the entries `data`, of shape (n_curves, n_points[, n_outputs]); `grid`, of
        shape (n_points,); `mean`, the true mean on the grid, of the shape of one
        curve; `domain`.

    See Also
    --------
    load_elnino : Real curves, one for each year.

    Examples
    --------
    >>> from skfuncpriv.datasets import make_curves
    >>> made = make_curves(50, n_points=20, random_state=0)
    >>> made.data.shape, made.grid.shape, made.mean.shape
    ((50, 20), (20,), (20,))
    """
    n_curves = check_count(n_curves, "n_curves")
    n_points = check_count(n_points, "n_points")
    outputs = 1 if n_outputs is None else check_count(n_outputs, "n_outputs")
    scale, smoothness = (
        check_positive(scale, "scale"),
        check_positive(smoothness, "smoothness"),
    )
    low, high = check_interval(domain, "domain")
    rng = check_random_state(random_state)

    grid = np.linspace(low, high, n_points)
    t = (grid - low) / (high - low)
    waves = np.arange(1, _N_TERMS + 1)
    basis = np.sqrt(2) * np.cos(np.pi * waves[:, np.newaxis] * t)
    deviations = scale * waves**-smoothness
    coefficients = rng.standard_normal((n_curves, outputs, _N_TERMS)) * deviations

    phases = np.arange(outputs) / outputs
    mean = np.sin(2 * np.pi * (t[:, np.newaxis] - phases)) * np.exp(-t[:, np.newaxis])
    data = mean + np.swapaxes(coefficients @ basis, 1, 2)
    if n_outputs is None:
        data, mean = data[:, :, 0], mean[:, 0]
    return Bunch(data=data, grid=grid, mean=mean, domain=(low, high))
