"""What leaves the device: a piecewise polynomial curve, already private."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..basis import PiecewisePolynomialBasis


@dataclass(frozen=True, eq=False)
class PiecewiseCurve:
    """A released curve: breaks and coefficients, to be evaluated anywhere.

    Parameters
    ----------
    basis : PiecewisePolynomialBasis
        Released: the pieces and their polynomials.
    coefficients : ndarray of shape (n_functions, n_outputs)
        Released: coefficients of the curve less its center.
    low, center, high : ndarray of shape (n_outputs,)
        Public bounds of the values, and what was subtracted.
    is_vector : bool
        Public: whether values have an axis of outputs.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv import GeoPrivateCurve
    >>> model = GeoPrivateCurve(epsilon=1.0, bounds=(0, 9)).fit(np.zeros((1, 50)))
    >>> [curve] = model.release(np.full((1, 50), 4.0))
    >>> curve.evaluate([0.0, 0.5]).shape
    (2,)
    """

    basis: PiecewisePolynomialBasis
    coefficients: np.ndarray
    low: np.ndarray
    center: np.ndarray
    high: np.ndarray
    is_vector: bool

    @property
    def breaks(self) -> tuple[float, ...]:
        """The ends of the pieces."""
        return self.basis.breaks

    def evaluate(self, t: Any) -> np.ndarray:
        """Values of the curve, within the public bounds.

        Parameters
        ----------
        t : array-like of shape (n_points,)
            *Public.* Points of the domain.

        Returns
        -------
        ndarray of shape (n_points,) or (n_points, n_outputs)
            The values.
        """
        values = self.basis.evaluate(t) @ self.coefficients + self.center
        values = np.clip(values, self.low, self.high)
        return values if self.is_vector else values[:, 0]
