"""How often a search that stops at random tries: the truncated negative binomial."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .._validation import check_real
from ..noise import RandomBits
from ..privacy._exact import claim_at_most, precise, to_precise

_SMALLEST_GAMMA = 1e-9
_RUNS = 4  # for each candidate, expected for eta = 1


@dataclass(frozen=True)
class RandomStopping:
    """The law of the number of runs of a search that stops at random.

    Parameters
    ----------
    eta : float, default=1.0
        *Public*, > -1. The whole search costs 2 + eta times as much as one run: the
        smaller, the cheaper, and the more often it stops early. 1 is the geometric
        law, 0 the logarithmic one.
    gamma : float, default=None
        *Public*, from 1e-9 to below 1. The smaller, the more runs, at no cost in
        privacy. None is 1 / (4 K) for K candidates; with eta = 1 that is 4 K runs on
        average.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Notes
    -----
    P(J = j) is proportional to (1 - gamma)^j prod_{i=1}^{j-1} (i + eta) / (i + 1) on
    j = 1, 2, ... [1]_. It is drawn by inverting its distribution function in exact
    arithmetic: an interval of random bits is refined until it lies within one step.

    References
    ----------
    .. [1] N. Papernot and T. Steinke, "Hyperparameter tuning with Renyi differential
       privacy", ICLR 2022.

    Examples
    --------
    >>> from skfuncpriv.model_selection import RandomStopping
    >>> RandomStopping(eta=0.5, gamma=0.01).run_epsilon(1.0)
    0.4
    """

    eta: float = 1.0
    gamma: float | None = None

    def __post_init__(self) -> None:
        if not check_real(self.eta, "eta") > -1:
            raise ValueError(f"eta must be > -1, got {self.eta!r}")
        if self.gamma is not None and not (
            _SMALLEST_GAMMA <= check_real(self.gamma, "gamma") < 1
        ):
            raise ValueError(
                f"gamma must be at least {_SMALLEST_GAMMA} and below 1, got "
                f"{self.gamma!r}"
            )

    def run_epsilon(self, epsilon: float) -> float:
        """Give the budget of one run, for that of the whole search.

        Parameters
        ----------
        epsilon : float
            The budget of the search.

        Returns
        -------
        float
            The largest number that times 2 + eta is at most epsilon, in the decimals
            that are printed.
        """
        factor = 2 + max(Fraction(self.eta), Fraction(repr(float(self.eta))))
        return claim_at_most(Fraction(repr(float(epsilon))) / factor)

    def draw_runs(self, n_candidates: int, bits: RandomBits) -> int:
        """Draw how many runs there are; the number must stay secret.

        Parameters
        ----------
        n_candidates : int
            The number of candidates; *public*.
        bits : RandomBits
            The source of randomness.

        Returns
        -------
        int
            J >= 1.
        """
        gamma = 1 / (_RUNS * n_candidates) if self.gamma is None else float(self.gamma)
        draw, n_bits = 0, 0
        while True:
            draw = (draw << 64) + int(bits.words(1)[0])
            n_bits += 64
            runs = _step_of(draw, n_bits, Fraction(gamma), Fraction(float(self.eta)))
            if runs is not None:
                return runs


def _step_of(draw: int, n_bits: int, gamma: Fraction, eta: Fraction) -> int | None:
    """The j whose step holds [draw, draw + 1] / 2^n_bits; None if it is undecided.

    Sums are made with 64 more bits than are compared; their error is bounded by 8 units
    of the last of these for each term, far more than four roundings make.
    """
    context = precise(20)
    context.prec = n_bits + 64
    low = context.ldexp(draw, -n_bits)
    high = context.ldexp(draw + 1, -n_bits)
    rest, power = to_precise(context, 1 - gamma), to_precise(context, eta)
    mass = _first_mass(context, to_precise(context, gamma), power)
    total, runs = context.mpf(0), 0
    while True:
        runs += 1
        slack = context.ldexp(8 * (runs + 8), -context.prec + 8)
        before, total = total, total + mass
        if low < total + slack:
            is_inside = high < total - slack and (runs == 1 or low > before + slack)
            return runs if is_inside else None
        mass = mass * rest * (runs + power) / (runs + 1)


def _first_mass(context: Any, gamma: Any, eta: Any) -> Any:
    """P(J = 1); without cancellation for small eta, where the law is logarithmic."""
    logarithm = -context.log(gamma)
    if eta == 0:
        return (1 - gamma) / logarithm
    return eta * (1 - gamma) / context.expm1(eta * logarithm)
