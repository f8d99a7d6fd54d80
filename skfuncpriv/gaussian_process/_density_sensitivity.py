"""How far a kernel density moves in an RKHS when one person is replaced."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._validation import check_count
from ._kernels import ExponentialKernel, GaussianKernel, Kernel
from ._norms import gaussian_sobolev_norm

_SLACK = 1 + 2.0**-40  # for a few dozen roundings without cancellation
_TINY = 2.0**-450  # distances are rounded up to it: its square is no subnormal number
_MOST_CORNERS = 10  # axes of which all corners are tried


def kde_sensitivity(
    n: int,
    bandwidth: Any,
    n_axes: int = 1,
    *,
    kernel: Kernel | None = None,
    bounds: Any = None,
) -> float:
    """RKHS sensitivity of a Gaussian kernel density estimate.

    Parameters
    ----------
    n : int
        *Public.* The number of people.
    bandwidth : float, tuple of d floats, or (d, d) tuple of tuples
        *Public.* The bandwidth of the density, as for :class:`GaussianKernel`.
    n_axes : int, default=1
        *Public.* The number d of axes.
    kernel : Kernel, default=None
        *Public.* The kernel of the RKHS: None is that of the density itself, an
        :class:`ExponentialKernel` is the Sobolev space H1.
    bounds : tuple of two floats, or of two tuples of d floats, default=None
        *Public.* Where people are, after clipping; None is anywhere.

    Returns
    -------
    float
        A bound on norm(f - f') over neighbours, rounded up.

    Raises
    ------
    ValueError
        If a number is out of its range, or the density does not lie in the RKHS.

    Notes
    -----
    The density is the mean of b_{x_i} times (2 pi)^(-d/2) det(H)^(-1/2), with b_x the
    bump at x of height one. A person with several rows has the average of their bumps.
    Two averages differ by an average of differences b_x - b_y, so by the triangle
    inequality replacing a person moves the mean by at most S / n, S the supremum of
    norm(b_x - b_y) over places x, y.

    *Its own kernel.* norm(K_x - K_y)^2 = 2 - 2 K(x, y), which is at most 2 [1]_, and
    within bounds at most its value at two opposite corners, and at most the square of
    their distance in bandwidths. With a matrix H the determinant and the distance are
    right to d^3 2^-50 cond(H), for which both are raised.

    *H1.* A restriction to a domain never increases the norm, so all of R^d bounds every
    domain. With K_k = 1/2 + g_k^2, g_k = gamma_k h_k, and N the squared norm of
    :func:`gaussian_sobolev_norm` the inner product of two bumps 2 h_k sqrt(s_k) apart
    along axis k is N prod_k r_k, r_k = exp(-s_k) (1 - s_k / K_k). Each r_k decreases
    from one to a negative minimum at s_k = 1 + K_k, or as far as the bounds reach, and
    is never below -1. If any can be negative the smallest product is that of the
    smallest r_k and ones, otherwise that of all smallest r_k. S^2 is 2 N (1 - that).

    References
    ----------
    .. [1] R. Hall, A. Rinaldo and L. Wasserman, "Differential privacy for functions
       and functional data", Journal of Machine Learning Research 14, 2013.

    Examples
    --------
    >>> from skfuncpriv.gaussian_process import kde_sensitivity
    >>> round(kde_sensitivity(n=100, bandwidth=0.5), 6)
    0.011284
    """
    n = check_count(n, "n")
    n_axes = check_count(n_axes, "n_axes")
    bump = GaussianKernel(bandwidth)
    if bump.n_axes not in (None, n_axes):
        raise ValueError(f"bandwidth has {bump.n_axes} axes, n_axes is {n_axes}")
    ends = (-np.inf, np.inf) if bounds is None else bounds
    try:
        low, high = (np.broadcast_to(np.asarray(end, float), n_axes) for end in ends)
    except (TypeError, ValueError):
        raise ValueError(
            f"bounds must be (low, high), each one number or {n_axes} of them"
        ) from None
    if not (low < high).all():
        raise ValueError(f"bounds must have low < high, got {bounds!r}")
    family = BumpFamily(bump, bump if kernel is None else kernel, n_axes, high - low)
    return math.nextafter(family.height / n * family.change, math.inf)


@dataclass(frozen=True, eq=False)
class BumpFamily:
    """Gaussian bumps of height one as members of an RKHS; all numbers are public.

    `widths`, shape (d,), says how far apart two bumps can be along each axis.
    """

    bump: GaussianKernel
    kernel: Kernel
    n_axes: int
    widths: np.ndarray

    def __post_init__(self) -> None:
        # Formulas hold for these classes, not for subclasses that change their values.
        same = type(self.bump) is GaussianKernel and self.kernel == self.bump
        sobolev = type(self.bump) is GaussianKernel and self._is_axis_parallel
        sobolev = sobolev and type(self.kernel) is ExponentialKernel
        if not (same or sobolev):
            raise ValueError(
                f"the density of {self.bump} is measured in the RKHS of that kernel, "
                "or (unless its bandwidth is a matrix) of an ExponentialKernel; got "
                f"{self.kernel!r}"
            )

    @property
    def height(self) -> float:
        """The factor (2 pi)^(-d/2) det(H)^(-1/2) of a density, rounded up."""
        _, log_determinant = np.linalg.slogdet(self.bump.covariance(self.n_axes))
        log_volume = (self.n_axes * math.log(2 * math.pi) + log_determinant) / 2
        if not abs(log_volume) < 600:
            raise ValueError("the density leaves the range of floats: use other units")
        return math.exp(-log_volume) * self._slack

    @cached_property
    def largest(self) -> float:
        """A bound on the norm of one bump, rounded up."""
        if self.kernel == self.bump:
            return 1.0
        norm = gaussian_sobolev_norm(self._bandwidths, self.kernel.gamma)
        return norm * _SLACK

    @cached_property
    def change(self) -> float:
        """The supremum S of the norm of a difference of two bumps, rounded up."""
        if self.kernel == self.bump:
            r = self._largest_distance * self._slack
            if r < 2.0**-20:  # the square root below would be smaller by r^3 / 8
                return r * _SLACK
            return math.sqrt(-2 * math.expm1(-r * r / 2)) * _SLACK
        return self.largest * math.sqrt(2 * self._lost_share) * _SLACK

    @property
    def _slack(self) -> float:
        """For what the determinant and the inverse of a matrix lose.

        Both are exact for a matrix off by at most d^2 roundoffs of the norm of H, times
        a small constant. The largest distance is that of corners at which nothing
        cancels.
        """
        if self._is_axis_parallel:
            return _SLACK
        eigenvalues = np.linalg.eigvalsh(self.bump.covariance(self.n_axes))
        condition = float(eigenvalues[-1] / eigenvalues[0])
        return _SLACK + self.n_axes**3 * 2.0**-49 * condition

    @property
    def _is_axis_parallel(self) -> bool:
        return np.ndim(np.asarray(self.bump.bandwidth)) < 2

    @property
    def _bandwidths(self) -> tuple[float, ...]:
        widths = np.broadcast_to(np.asarray(self.bump.bandwidth), self.n_axes)
        return tuple(widths.tolist())

    @property
    def _largest_distance(self) -> float:
        """The largest root of (x - y)' H^-1 (x - y): convex, so at corners."""
        if not np.isfinite(self.widths).all() or self.n_axes > _MOST_CORNERS:
            return math.inf
        signs = np.array(list(itertools.product((1, -1), repeat=self.n_axes)))
        matrix, _ = self.bump.separated(self.n_axes)
        corners = (signs * self.widths) @ matrix.T
        return max(_TINY, *(math.hypot(*corner) for corner in corners.tolist()))

    @property
    def _lost_share(self) -> float:
        """One minus the smallest product of the r_k."""
        bandwidths = np.array(self._bandwidths)
        constant = 0.5 + np.square(np.asarray(self.kernel.gamma) * bandwidths)
        reach = np.square(np.maximum(self.widths / (2 * bandwidths), _TINY))
        s = np.minimum(reach, 1 + constant)
        lost = -np.expm1(-s) + s / constant * np.exp(-s)  # 1 - r, nothing cancels
        if lost.max() >= 1:
            return float(lost.max())
        return float(-np.expm1(np.log1p(-lost).sum()))
