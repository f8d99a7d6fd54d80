"""A density as a mixture of bumps, fitted to few noisy coefficients.

Where the noise is large, that a density is not negative says more than that it is
smooth: mixtures of bumps with weights >= 0 have few free parameters left.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from ._axes import Axis

_N_WIDTHS = 12
_NARROWEST = 0.8  # deviation of a bump, in bins
_WIDEST = 0.4  # in widths of the domain
_FEWEST = 6  # bumps
_PER_BUMP = 3.0  # loss of a positive weight, in variances
_MASS = 1e3  # weight of the equation that the mass is one


def mixture_of_bumps(coef: np.ndarray, axis: Axis, variance: float) -> np.ndarray:
    """Return the coefficients of mixtures of normal bumps, averaged over widths.

    Parameters
    ----------
    coef : ndarray, shape (m,)
        Noisy coefficients of a density of mass one on [0, 1], as linear binning shows
        them; *released*, hence public.
    axis : Axis
        Its functions; *public*.
    variance : float
        The variance of the noise of a coefficient; *public*.

    Returns
    -------
    ndarray, shape (m,)
        Coefficients of the average mixture, without the damping of linear binning.

    Notes
    -----
    For each of twelve widths the weights of equally spaced bumps are fitted by
    non-negative least squares. With r the sum of squared residuals over the variance
    and k the number of positive weights, widths are averaged with weights
    exp(-(r + 3 k) / 2); r + 2 k would estimate the prediction error without bias, and
    a little more favours the simpler mixture.
    """
    deviation = np.sqrt(variance)
    fits, errors = [], []
    for width in np.geomspace(_NARROWEST / axis.n_bins, _WIDEST, _N_WIDTHS):
        count = int(np.clip(np.ceil(1.5 / width), _FEWEST, 2 * axis.n_bins))
        centres = (np.arange(count) + 0.5) / count
        spectrum = np.exp(-0.5 * np.square(np.pi * axis.ranks * width))
        bumps = (axis.functions(centres) * spectrum).T
        seen = bumps * axis.damping[:, None]
        rows = np.vstack([seen[1:] / deviation, np.full((1, count), _MASS)])
        weights, _ = nnls(rows, np.append(coef[1:] / deviation, _MASS))
        residual = np.square((seen @ weights - coef)[1:]).sum() / variance
        fits.append(bumps @ weights)
        errors.append(residual + _PER_BUMP * np.count_nonzero(weights))
    errors = np.array(errors)
    odds = np.exp(-0.5 * (errors - errors.min()))
    return odds @ np.array(fits) / odds.sum()
