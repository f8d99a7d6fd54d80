"""Karhunen-Loeve expansions of the Matern kernels 1/2, 3/2, 5/2 on [-1, 1].

Matern 1/2, exp(-a|x-y|), has the closed form [1]_: frequencies w_k that solve
2 w = k pi + 2 arctan(a/w), eigenvalues 2a/(a^2 + w_k^2), eigenfunctions cos(w_k x) and
sin(w_k x) in turn.

The others are polynomials in r = |x-y| times exp(-a r). The part y < x is a sum of
powers of the operator A = (1 + a V)^-1 V, where (V f)(x) is the integral of f from -1
to x, because A f(x) = integral of exp(-a(x-y)) f(y) and A^(j+1) has the kernel
r^j exp(-a r)/j!. The part y > x is its adjoint. V is tridiagonal in the Legendre basis
and 1 + a V is well conditioned, so the kink of the kernel on the diagonal is never
sampled and the eigenfunctions, which are analytic, converge geometrically.

.. [1] Ghanem and Spanos (1991), Stochastic Finite Elements, section 2.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_banded

from skfuncpriv.basis._expansion import Expansion, LegendreExpansion, expand
from skfuncpriv.basis._quadrature import FloatArray, n_panels

# Matern p + 1/2 decays at the rate sqrt(2p + 1)/length; its polynomial in a*r has these
# coefficients, here times j! to weigh the powers of A.
_RATES = {"exponential": 1.0, "matern32": np.sqrt(3.0), "matern52": np.sqrt(5.0)}
_WEIGHTS = {
    "exponential": (1.0,),
    "matern32": (1.0, 1.0),
    "matern52": (1.0, 1.0, 2.0 / 3.0),
}
_MAX_DEGREE = 4096
# Largest last Legendre coefficient, beyond rounding, of an eigenfunction.
_SETTLED = 1e-11
_MAX_NEWTON = 100


@dataclass(frozen=True, eq=False)
class ExponentialExpansion:
    """Cosines (even places) and sines (odd places) of the frequencies of exp(-a r)."""

    eigenvalues: FloatArray
    frequencies: FloatArray

    def evaluate(self, x: FloatArray) -> FloatArray:
        angle = np.multiply.outer(x, self.frequencies)
        table = np.empty_like(angle)
        table[:, ::2] = np.cos(angle[:, ::2])
        table[:, 1::2] = np.sin(angle[:, 1::2])
        # The norm squared is 1 +- sin(2w)/(2w). Signs: positive swings on the left.
        place = np.arange(len(self.frequencies))
        wave = np.sin(2.0 * self.frequencies) / (2.0 * self.frequencies)
        norm = np.sqrt(1.0 + np.where(place % 2 == 0, wave, -wave))
        return table * (np.where(np.isin(place % 4, (1, 2)), -1.0, 1.0) / norm)

    def breaks(self) -> FloatArray:
        phase = 2.0 * float(self.frequencies[-1])
        return np.linspace(-1.0, 1.0, n_panels(phase) + 1)


def matern_expansion(kernel: str, length: float, n_functions: int) -> Expansion:
    """The leading eigenpairs of a Matern kernel with `length` on [-1, 1]."""
    rate = float(_RATES[kernel] / length)
    if kernel == "exponential":
        return _exponential_expansion(rate, n_functions)
    return half_integer_expansion(_WEIGHTS[kernel], rate, n_functions)


def half_integer_expansion(
    weights: tuple[float, ...], rate: float, n_functions: int
) -> LegendreExpansion:
    """Eigenpairs of sum_j weights[j] (a r)^j/j! exp(-a r), with a the rate."""
    # Half a wave needs pi/2 polynomials, a boundary layer of width 1/a about sqrt(a);
    # an eighth more shows that they were enough.
    degree = 44 + int(1.85 * n_functions + 3.0 * np.sqrt(rate))
    while degree <= _MAX_DEGREE:
        expansion = expand(_operator_matrix(weights, rate, degree), n_functions)
        if expansion.truncation <= _SETTLED:
            return expansion
        degree += degree // 2
    raise ValueError(
        "length_scale is too small for the domain: the Karhunen-Loeve functions need "
        f"more than {_MAX_DEGREE} Legendre polynomials; use a larger one"
    )


def _operator_matrix(
    weights: tuple[float, ...], rate: float, degree: int
) -> FloatArray:
    """The integral operator in the first orthonormal Legendre polynomials."""
    k = np.arange(degree - 1, dtype=float)
    off = 1.0 / np.sqrt((2.0 * k + 1.0) * (2.0 * k + 3.0))
    integral = np.diag(off, -1) - np.diag(off, 1)
    integral[0, 0] = 1.0
    bands = np.zeros((3, degree))
    bands[0, 1:] = -rate * off
    bands[1] = 1.0
    bands[1, 0] += rate
    bands[2, :-1] = rate * off
    power = integral
    causal = np.zeros((degree, degree))
    for order, weight in enumerate(weights):
        power = solve_banded((1, 1), bands, power if order == 0 else integral @ power)
        causal += weight * rate**order * power
    return causal + causal.T


def _exponential_expansion(rate: float, n_functions: int) -> ExponentialExpansion:
    """The closed form.

    The equation is increasing and concave on the bracket [k pi/2, (k + 1) pi/2] of each
    root, so Newton's method from the left end climbs to the root and cannot pass it.
    """
    place = np.arange(n_functions, dtype=float)
    root: FloatArray = 0.5 * np.pi * place
    for _ in range(_MAX_NEWTON):
        excess = 2.0 * root - np.pi * place - 2.0 * np.arctan2(rate, root)
        slope = 2.0 + 2.0 * rate / (rate**2 + root**2)
        following = np.maximum(root, root - excess / slope)
        if np.array_equal(following, root):
            break
        root = following
    eigenvalues: FloatArray = 2.0 * rate / (rate**2 + root**2)
    return ExponentialExpansion(eigenvalues, root)
