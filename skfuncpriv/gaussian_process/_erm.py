"""How far a regularised minimiser in an RKHS moves when one person is replaced.

f = argmin mean_i loss(y_i, f(x_i)) + psi norm(f)^2, without an unpenalised intercept.
Units: KernelRidge(alpha) has psi = alpha / n, LogisticRegression(C) psi = 1 / (2 C n).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from .._validation import check_count, check_positive, check_real
from ..noise._scales import root_up, round_up

_SMALLEST, _LARGEST = 1e-60, 1e60
_SLACK = 1 + 2.0**-40  # for a few dozen roundings without cancellation


def erm_sensitivity(
    lipschitz: float, kappa: float, psi: float, n: int, gap: float = 0.0
) -> float:
    """RKHS sensitivity of a regularised minimiser with a Lipschitz loss.

    Parameters
    ----------
    lipschitz : float
        *Public.* L: the loss is convex and L-Lipschitz in the value f(x), at least
        between the values that minimisers take.
    kappa : float
        *Public.* The supremum of sqrt(K(x, x)); 1 for the kernels of this package.
    psi : float
        *Public.* The factor of norm(f)^2 beside the *mean* loss.
    n : int
        *Public.* The number of people, one row each.
    gap : float, default=0.0
        *Public.* What is released has an objective at most `gap` above the minimum,
        such as the duality gap at which a solver stops.

    Returns
    -------
    float
        A bound on norm(f - f') over neighbours, rounded up to a float.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Notes
    -----
    The bound is L kappa / (psi n) + 2 sqrt(gap / psi), the first term due to [1]_.
    Let J and J' be the objectives of neighbours, f and f' their minimisers, d = f' - f.
    Objectives are 2 psi-strongly convex, so J(f') >= J(f) + psi norm(d)^2 and J'(f) >=
    J'(f') + psi norm(d)^2. In the sum of both all terms but those of the two people
    that differ cancel: 2 psi norm(d)^2 is at most 1/n times the change of one loss from
    f to f' plus that of another, each at most L abs(d(x)) <= L kappa norm(d). The first
    inequality also says that an objective within `gap` of its minimum belongs to a
    function within sqrt(gap / psi) of the minimiser, on both sides.

    References
    ----------
    .. [1] O. Bousquet and A. Elisseeff, "Stability and generalization", Journal of
       Machine Learning Research 2, 2002.

    Examples
    --------
    >>> from skfuncpriv.gaussian_process import erm_sensitivity
    >>> erm_sensitivity(lipschitz=1.0, kappa=1.0, psi=0.25, n=100)
    0.04
    """
    slope, size, penalty = _in_range(lipschitz=lipschitz, kappa=kappa, psi=psi)
    n = check_count(n, "n")
    gap = check_real(gap, "gap")
    if gap != 0 and not _SMALLEST <= gap <= _LARGEST:
        raise ValueError(
            f"gap must be 0 or a number from {_SMALLEST} to {_LARGEST}, got {gap!r}"
        )
    minimiser = Fraction(slope) * Fraction(size) / (Fraction(penalty) * n)
    distance = Fraction(root_up(Fraction(gap) / Fraction(penalty))) if gap else 0
    return round_up(minimiser + 2 * distance)


def squared_loss_lipschitz(bound: float, kappa: float, psi: float) -> float:
    """Lipschitz constant of the squared loss between the values of minimisers.

    Parameters
    ----------
    bound : float
        *Public.* B, with every y clipped to [-B, B] (centre y on a public value
        first).
    kappa : float
        *Public.* The supremum of sqrt(K(x, x)).
    psi : float
        *Public.* The factor of norm(f)^2 beside the mean of (y - f(x))^2.

    Returns
    -------
    float
        The constant L for :func:`erm_sensitivity`, rounded up.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Notes
    -----
    L = 2 (B + sup abs(f(x))) <= 2 B + B kappa / sqrt(psi). At the minimum psi f = mean
    (y_i - f(x_i)) K_{x_i}; its inner product with f gives psi norm(f)^2 = mean (y_i -
    f(x_i)) f(x_i) <= B^2 / 4, so abs(f(x)) <= kappa B / (2 sqrt(psi)). (Comparing with
    f = 0 gives twice that.) :func:`ridge_sensitivity` is sharper for the same problem.

    Examples
    --------
    >>> from skfuncpriv.gaussian_process import squared_loss_lipschitz
    >>> round(squared_loss_lipschitz(bound=1.0, kappa=1.0, psi=0.25), 9)
    4.0
    """
    half, size, penalty = _in_range(bound=bound, kappa=kappa, psi=psi)
    return half * (2 + size / math.sqrt(penalty)) * _SLACK


def ridge_sensitivity(bound: float, kappa: float, psi: float, n: int) -> float:
    """RKHS sensitivity of kernel ridge regression.

    Parameters
    ----------
    bound : float
        *Public.* B, with every y clipped to [-B, B] (centre y on a public value
        first).
    kappa : float
        *Public.* The supremum of sqrt(K(x, x)).
    psi : float
        *Public.* The factor of norm(f)^2 beside the mean of (y - f(x))^2: alpha / n of
        scikit-learn's `KernelRidge`.
    n : int
        *Public.* The number of people, one row each.

    Returns
    -------
    float
        A bound on norm(f - f') over neighbours, rounded up.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Notes
    -----
    Let g be the minimiser without the last person (the others keep weight 1/n), A =
    psi + (the sum of K_x <K_x, .> over the others) / n, and K_x the function of the
    last person. Then f - g = A^-1 K_x r / (n + s) with s = <K_x, A^-1 K_x>, r = y -
    g(x). Let q = norm(A^-1 K_x)^2. By the Cauchy-Schwarz inequality over the others
    abs(g(x)) <= B sqrt((s - psi q) (n-1)/n), so with k = kappa^2 / psi, and m = psi s /
    kappa^2, w = psi^2 q / kappa^2 (mean and mean square of a variable in [0, 1], hence
    m^2 <= w <= m),

        norm(f - g) <= B sqrt(k w / psi) (1 + sqrt(k (m - w) (n-1)/n)) / (n + k m).

    The two terms are bounded one by one: sqrt(w) / (n + k m) by 1 / (n + k), or by 1 /
    (2 sqrt(n k)) if k > n; and sqrt(w (m - w)) / (n + k m), which for given w / m = z
    increases in m <= z, by the maximum of z^(3/2) (1 - z)^(1/2) / (n + k z), where
    t z^2 + (2 - t/2) z = 3/2, t = k / n. Neighbours share g: twice that; and never more
    than the diameter B / sqrt(psi) of all minimisers, see
    :func:`squared_loss_lipschitz`.

    Examples
    --------
    >>> from skfuncpriv.gaussian_process import ridge_sensitivity
    >>> round(ridge_sensitivity(bound=1.0, kappa=1.0, psi=1.0, n=1), 9)
    1.0
    """
    half, size, penalty = _in_range(bound=bound, kappa=kappa, psi=psi)
    n = check_count(n, "n")
    diameter = half / math.sqrt(penalty)
    k = size * size / penalty
    t = k / n
    if t > 1e6:  # where the first term alone exceeds the diameter
        return diameter * _SLACK
    own = 1 / (n + k) if k <= n else 1 / (2 * math.sqrt(n * k))
    linear = 2 - t / 2
    root = math.sqrt(t * t / 4 + 4 * t + 4)
    z = 3 / (linear + root) if linear > 0 else (root - linear) / (2 * t)
    others = z * math.sqrt(z * (1 - z)) / (n + k * z) * math.sqrt(k * (n - 1) / n)
    twice = 2 * half * math.sqrt(k / penalty) * (own + others)
    return min(twice, diameter) * _SLACK


def _in_range(**numbers: Any) -> list[float]:
    """Numbers > 0 far enough from the ends of float64 for products of a few."""
    for name, number in numbers.items():
        if not _SMALLEST <= check_positive(number, name) <= _LARGEST:
            raise ValueError(
                f"{name} must lie between {_SMALLEST} and {_LARGEST}, got {number!r}: "
                "use other units"
            )
    return [float(number) for number in numbers.values()]
