"""From a budget to Gaussian noise: what every Gaussian process release shares.

A function of a reproducing kernel Hilbert space that moves by at most Delta in norm
between neighbours is private with a Gaussian process of deviation sigma = sigma(Delta):
its coordinates in an orthonormal basis move by at most Delta in Euclidean norm and get
independent N(0, sigma^2) noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from .._validation import check_delta, check_positive
from ..exceptions import PrivacyError
from ..privacy import (
    PrivacyGuarantee,
    analytic_gaussian_sigma,
    classic_gaussian_sigma,
    zcdp_sigma,
)

CALIBRATIONS = ("analytic", "classic")


@dataclass(frozen=True)
class GaussianBudget:
    """A budget that Gaussian noise can keep, checked before any data is seen.

    Parameters
    ----------
    epsilon, delta : float
        *Public.* The budget of approximate differential privacy, > 0 and in (0, 1).
    rho : float or None
        *Public.* The budget of zero-concentrated differential privacy. With it delta
        must be 0, and epsilon and calibration are not read.
    calibration : {"analytic", "classic"}
        *Public.* The exact condition of Balle and Wang, or the published constant
        sqrt(2 log(2 / delta)) / epsilon, for epsilon <= 1.

    Raises
    ------
    PrivacyError
        If Gaussian noise cannot keep the budget.
    ValueError
        If a number is out of its range.
    """

    epsilon: float | None = 1.0
    delta: float = 0.0
    rho: float | None = None
    calibration: str = "analytic"

    def __post_init__(self) -> None:
        if self.calibration not in CALIBRATIONS:
            raise ValueError(
                f"calibration must be one of {CALIBRATIONS}, got {self.calibration!r}"
            )
        delta = check_delta(self.delta)
        object.__setattr__(self, "delta", delta)
        if self.rho is not None:
            object.__setattr__(self, "rho", check_positive(self.rho, "rho"))
            object.__setattr__(self, "epsilon", None)
            if delta > 0:
                raise PrivacyError(
                    f"rho is a budget without delta, got delta={delta!r}: pass delta=0 "
                    "with rho, or epsilon and delta without it"
                )
            return
        object.__setattr__(self, "epsilon", check_positive(self.epsilon, "epsilon"))
        if delta == 0:
            raise PrivacyError(
                "Gaussian noise keeps no pure epsilon: set delta, for example 1e-6, "
                "or rho"
            )
        if self.calibration == "classic" and self.epsilon > 1:
            raise PrivacyError(
                f"calibration='classic' needs epsilon <= 1, got {self.epsilon!r}: use "
                "calibration='analytic'"
            )

    def deviation(self, sensitivity: float) -> float:
        """The smallest safe deviation of noise for a move of at most `sensitivity`."""
        return _deviation(self, check_positive(sensitivity, "sensitivity"))

    def guarantee(self, unit: str, seeded: bool) -> PrivacyGuarantee:
        """What a release with that noise promises, per row or person."""
        return PrivacyGuarantee(
            definition="approx-dp" if self.rho is None else "zcdp",
            epsilon=self.epsilon,
            delta=self.delta,
            rho=self.rho,
            unit=unit,
            seeded=seeded,
        )


@lru_cache(maxsize=256)
def _deviation(budget: GaussianBudget, sensitivity: float) -> float:
    """The calibration, kept because it takes much longer than a fit."""
    if budget.rho is not None:
        return zcdp_sigma(budget.rho, sensitivity)
    calibrate = {
        "analytic": analytic_gaussian_sigma,
        "classic": classic_gaussian_sigma,
    }
    return calibrate[budget.calibration](budget.epsilon, budget.delta, sensitivity)
