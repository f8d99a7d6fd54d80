"""The published penalties of a mean curve, coefficient by coefficient.

QR minimises mean_i norm(X_i - f)^2 + psi * norm(f)^2 in the RKHS of the eta-th power of
the covariance operator C: every coefficient of the mean is multiplied by
lambda^eta / (lambda^eta + psi). AR penalises psi * sum_j |f_j| / lambda_j^(eta / 2):
every coefficient is soft-thresholded at psi / (2 lambda_j^(eta / 2)).
"""

from __future__ import annotations

import numpy as np


def quadratic_weights(spectrum: np.ndarray, eta: float, psi: float) -> np.ndarray:
    """The factors a_j in (0, 1] of the quadratic penalty."""
    power = spectrum**eta
    return power / (power + psi) if psi else np.ones(len(spectrum))


def absolute_thresholds(spectrum: np.ndarray, eta: float, psi: float) -> np.ndarray:
    """The soft thresholds t_j of the absolute penalty."""
    return psi / (2 * spectrum ** (eta / 2))


def soft_threshold(values: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Shrink integers towards zero by integer thresholds.

    Each coordinate is a 1-Lipschitz function of itself, so the sensitivity of the
    result is at most that of `values`, on the integers as they are.
    """
    return np.sign(values) * np.maximum(np.abs(values) - thresholds, 0)
