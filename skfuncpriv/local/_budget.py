"""The budget of one person's function: epsilon-GP or rho-CGP."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .._validation import check_positive
from ..noise import IndependentGaussian, NoiseLaw, SphericalLaplace
from ..privacy import PrivacyGuarantee, selection_epsilon
from ..privacy._exact import EXACT, claim_at_most, decimal_reading

METRIC = "L2"
_LARGEST = 1e150  # squares of noise must not leave the floats
_TAIL = 0.13  # norm beyond m frequencies, as a share of the bound, times m
SELECTION_SHARE = 0.2  # of a budget, where a choice and a release share it


@dataclass(frozen=True)
class GeoBudget:
    """Privacy loss per unit of L2 distance: epsilon of GP, or rho of CGP.

    Exactly one of both is a number; the other is None.
    """

    epsilon: float | None
    rho: float | None

    @classmethod
    def from_parameters(cls, epsilon: Any, rho: Any, prefix: str = "") -> GeoBudget:
        """Read the parameters of an estimator; exactly one of them is given."""
        if (epsilon is None) == (rho is None):
            raise ValueError(
                f"give either {prefix}epsilon (geo-privacy) or {prefix}rho "
                "(concentrated geo-privacy), in loss per unit of distance; "
                "epsilon_for_radius and rho_for_radius help to choose; got "
                f"{prefix}epsilon={epsilon!r} and {prefix}rho={rho!r}"
            )
        name = f"{prefix}epsilon" if rho is None else f"{prefix}rho"
        amount = check_positive(epsilon if rho is None else rho, name)
        if not 1 / _LARGEST <= amount <= _LARGEST:
            raise ValueError(
                f"{name} must lie between {1 / _LARGEST} and {_LARGEST}, got "
                f"{amount!r}: use other units of the values or of the domain"
            )
        return cls(amount, None) if rho is None else cls(None, amount)

    @property
    def is_concentrated(self) -> bool:
        """Whether the budget is a rho."""
        return self.rho is not None

    @property
    def amount(self) -> float:
        """The number that is given."""
        return self.epsilon if self.rho is None else self.rho  # type: ignore[return-value]

    @lru_cache(maxsize=256)  # noqa: B019 (budgets are small and few)
    def law(self, size: int, sensitivity: float = 1.0) -> NoiseLaw:
        """The law on `size` orthonormal coordinates that spends all of the budget."""
        if self.rho is None:
            return SphericalLaplace.scale_for(self.amount, sensitivity, size)
        return IndependentGaussian.scale_for(self.rho, sensitivity, size)

    def expected_square(self, size: int) -> float:
        """E norm^2 of that law: m (m + 1) / epsilon^2, or m / (2 rho)."""
        if self.rho is None:
            return size * (size + 1) / self.amount**2
        return size / (2 * self.rho)

    def expected_norm(self, size: int) -> float:
        """E norm of that law, m / epsilon; for Gaussian noise at most sqrt(m/2 rho)."""
        if self.rho is None:
            return size / self.amount
        return math.sqrt(self.expected_square(size))

    def marginal_norm(self, size: int) -> float:
        """The root of what the last of `size` coordinates adds to E norm^2."""
        return math.sqrt(self.expected_square(size) - self.expected_square(size - 1))

    @property
    def selection_epsilon(self) -> float:
        """The epsilon that a private choice may have: of rho, sqrt(2 rho)."""
        return self.amount if self.rho is None else selection_epsilon(self.rho)

    def frequencies_worth(
        self, norm_bound: float | None, n_outputs: int, largest: int
    ) -> int:
        """The number m of frequencies whose noise equals what they miss.

        Under GP about (m d)^2 / eps^2 against a tail of (0.13 tau)^2 / m^2, for d
        outputs. Under CGP a frequency costs the others nothing: all of them.
        """
        if self.rho is not None or norm_bound is None:
            return largest
        worth = math.sqrt(_TAIL * self.amount) * math.sqrt(norm_bound / n_outputs)
        return round(min(max(worth, 1.0), float(largest)))

    def scaled(self, factor: float) -> GeoBudget:
        """A multiple of the budget; not exact, for predictions only."""
        amount = self.amount * factor
        return GeoBudget(amount, None) if self.rho is None else GeoBudget(None, amount)

    def part(self, share: float) -> GeoBudget:
        """A share of the budget, never more in decimals than the share of it."""
        exact = EXACT.multiply(decimal_reading(self.amount), decimal_reading(share))
        amount = claim_at_most(exact)
        return GeoBudget(amount, None) if self.rho is None else GeoBudget(None, amount)

    def guarantee(self, seeded: bool, distance_error: float = 0.0) -> PrivacyGuarantee:
        """What a release with all of the budget promises."""
        return PrivacyGuarantee(
            definition="concentrated-geo" if self.is_concentrated else "geo",
            epsilon=self.epsilon,
            rho=self.rho,
            metric=METRIC,
            distance_error=distance_error,
            seeded=seeded,
        )
