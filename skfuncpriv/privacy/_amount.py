"""What a guarantee costs, in exact decimals, and which definitions compose.

Basic composition adds epsilons and deltas (Dwork et al. 2006); zero-concentrated
guarantees add their rhos (Bun and Steinke 2016, Lemma 1.7). An epsilon-DP mechanism is
epsilon^2/2-zCDP (their Proposition 1.4); the same inequality, read at every pair of
inputs with epsilon times their distance, carries geo-privacy over to its concentrated
form.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from ._exact import EXACT

# name: (printed name, needs epsilon, needs delta, needs a metric)
DEFINITIONS = {
    "pure-dp": ("pure DP", True, False, False),
    "approx-dp": ("approximate DP", True, True, False),
    "zcdp": ("zero-concentrated DP", False, False, False),
    "geo": ("geo-privacy", True, False, True),
    "concentrated-geo": ("concentrated geo-privacy", False, False, True),
}

_JOINT = {
    frozenset({"pure-dp", "approx-dp"}): "approx-dp",
    frozenset({"pure-dp", "zcdp"}): "zcdp",
    frozenset({"geo", "concentrated-geo"}): "concentrated-geo",
}


def joint_definition(first: str, second: str) -> str | None:
    """The definition in which the two compose, or None if there is none."""
    if first == second:
        return first
    return _JOINT.get(frozenset({first, second}))


@dataclass(frozen=True)
class Amount:
    """Exact epsilon, delta and rho; those a definition has no use for are zero."""

    epsilon: Decimal = Decimal(0)
    delta: Decimal = Decimal(0)
    rho: Decimal = Decimal(0)

    def __add__(self, other: Amount) -> Amount:
        return Amount(
            EXACT.add(self.epsilon, other.epsilon),
            EXACT.add(self.delta, other.delta),
            EXACT.add(self.rho, other.rho),
        )

    def __sub__(self, other: Amount) -> Amount:
        return Amount(
            EXACT.subtract(self.epsilon, other.epsilon),
            EXACT.subtract(self.delta, other.delta),
            EXACT.subtract(self.rho, other.rho),
        )

    def times(self, count: int) -> Amount:
        """The cost of ``count`` releases at this cost each."""
        return Amount(
            EXACT.multiply(self.epsilon, count),
            EXACT.multiply(self.delta, count),
            EXACT.multiply(self.rho, count),
        )

    def larger(self, other: Amount) -> Amount:
        """The larger one of each part."""
        return Amount(
            max(self.epsilon, other.epsilon),
            max(self.delta, other.delta),
            max(self.rho, other.rho),
        )

    def smaller(self, other: Amount) -> Amount:
        """The smaller one of each part."""
        return Amount(
            min(self.epsilon, other.epsilon),
            min(self.delta, other.delta),
            min(self.rho, other.rho),
        )

    def fits(self, available: Amount) -> bool:
        """Whether no part exceeds what is available."""
        return (
            self.epsilon <= available.epsilon
            and self.delta <= available.delta
            and self.rho <= available.rho
        )

    def concentrated(self) -> Amount:
        """The rho that an epsilon implies: epsilon^2 / 2."""
        square = EXACT.multiply(self.epsilon, self.epsilon)
        return Amount(rho=EXACT.multiply(square, Decimal("0.5")))
