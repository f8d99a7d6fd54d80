"""What means of curves share after their release: everything here is free.

A released mean is ``basis_.evaluate(t) @ coef_`` plus a public center, and its noise,
before denoising, is a draw of the public `law_` in the same basis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import metadata_routing
from sklearn.utils.validation import check_array, check_is_fitted

from .._base import CurveReader, PrivateEstimator, plans
from .._planned import PlannedRelease
from .._validation import check_count, check_positive
from ..basis import Basis, CosineBasis
from ..exceptions import PrivacyError
from ..noise import NoiseLaw, RandomBits, random_bits
from ._band import band_factor

_ROOM = 1e5  # in deviations of the noise: curves are sums of some hundred draws


class CurveMean(CurveReader, PrivateEstimator):
    """Base of estimators that release a mean curve.

    A subclass sets ``basis_``, ``grid_``, ``coef_``, ``release_``, ``weights_``,
    ``law_``, ``noise_std_`` and the center, and says what it would release.
    """

    # Unless a basis or a kernel is stated.
    _default_basis: type[Basis] = CosineBasis
    # What predict is called with are arguments, no metadata to be routed.
    __metadata_request__predict = {"t": metadata_routing.UNUSED}  # noqa: RUF012

    def predict(self, t: Any) -> np.ndarray:
        """Evaluate the released mean curve.

        Parameters
        ----------
        t : array-like
            Points of the domain, of any shape, in its units.

        Returns
        -------
        ndarray, shape of `t`, or shape of `t` + (n_outputs,)
            The mean curve at the points.

        Raises
        ------
        ValueError
            If a point is not a finite number of the domain.
        """
        check_is_fitted(self)
        points = check_array(
            t, ensure_2d=False, allow_nd=True, dtype=np.float64, ensure_min_samples=0
        )
        values = self.basis_.evaluate(points.ravel()) @ self.coef_
        center = self._center.reshape(len(self.grid_), -1)
        curve = [np.interp(points.ravel(), self.grid_, column) for column in center.T]
        values += np.stack(curve, axis=1).reshape(values.shape)
        return values.reshape((*points.shape, *self.coef_.shape[1:]))

    def noise_band(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return a simultaneous band of the privacy noise, around the mean.

        With probability `level` the noiseless release lies within it on the whole grid.
        It covers the *noise only*, neither the sampling of these people from a
        population nor any bias.

        Parameters
        ----------
        level : float, default=0.95
            The probability, in (0, 1).

        Returns
        -------
        lower, upper : ndarray, shape of `mean_`
            The ends of the band.
        """
        reach = self._band_reach(level)
        return self.mean_ - reach, self.mean_ + reach

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw noise curves like the one that was added, from fresh random bits.

        Parameters
        ----------
        n_samples : int, default=1
            How many curves.
        random_state : int, RandomState or None, default=None
            The source; None is the operating system.

        Returns
        -------
        ndarray, shape (n_samples,) + shape of `mean_`
            Noise alone, on `grid_`.
        """
        check_is_fitted(self)
        n_samples = check_count(n_samples, "n_samples")
        return self._noise_curves(n_samples, random_bits(random_state, purpose=1))

    @plans
    def expected_error(
        self, n_samples: int, n_outputs: int = 1, n_points: int | None = None
    ) -> float:
        """Predict what noise does to a release, before there is any data.

        Parameters
        ----------
        n_samples : int
            The number of *people*.
        n_outputs : int, default=1
            The number of values of a curve at each point.
        n_points : int, default=None
            The number of points of wide data, which limits how many functions are
            used; None is that of `grid`, or no limit.

        Returns
        -------
        float
            The expected squared L2 norm of the noise, or of what denoising is expected
            to leave of it, in squared units of the values times units of the domain.
        """
        return self._planned_release(n_samples, n_outputs, n_points).noise

    @plans
    def _planned_release(
        self, n_samples: int, n_outputs: int = 1, n_points: int | None = None
    ) -> PlannedRelease:
        """What would be released, and its errors, from public facts alone."""
        raise NotImplementedError

    @property
    def _unit(self) -> float:
        """Of the mean, for a sum in units of the norm bound."""
        return self.norm_bound_ / self.n_people_

    def _band_reach(self, level: float) -> np.ndarray:
        """How far a simultaneous band reaches on either side, shape of `mean_`."""
        check_is_fitted(self)
        level = check_positive(level, "level")
        if level >= 1:
            raise ValueError(f"level must be in (0, 1), got {level!r}: 95 % is 0.95")
        return band_factor(self._deviations, self.noise_std_, level) * self.noise_std_

    def _deviations(self, n_curves: int, bits: RandomBits) -> np.ndarray:
        """Curves like the difference of the release from that without noise."""
        return self._noise_curves(n_curves, bits)

    def _noise_curves(self, n_curves: int, bits: RandomBits) -> np.ndarray:
        """Noise of the curve before denoising, on the grid."""
        draws = self._unit * self.law_.sample(n_curves, bits)
        draws = draws.reshape(n_curves, *self.coef_.shape)
        return self._curves(draws, self.weights_)

    def _curves(self, coefs: np.ndarray, weights: np.ndarray | float) -> np.ndarray:
        """Curves of weighted coefficients, on the grid; without the center."""
        functions = self.basis_.evaluate(self.grid_) * weights
        return np.moveaxis(np.tensordot(coefs, functions, ([1], [1])), -1, 1)


def check_noise(law: NoiseLaw, unit: float) -> None:
    """Refuse noise that would overflow in the units of the values."""
    with np.errstate(over="ignore"):
        largest = _ROOM * law.std.max() * unit
    if not np.isfinite(largest):
        raise PrivacyError(
            "the noise leaves the range of floating point: choose a larger epsilon"
        )
