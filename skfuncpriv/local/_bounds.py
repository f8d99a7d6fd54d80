"""Public bounds of values in the local model, where they are optional."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._validation import check_interval, check_positive
from ..basis import Basis, TensorBasis
from ..curves import Curves
from ..summaries import ValueBounds

# Where there are no bounds: far beyond any unit, near enough for squares to be finite.
_NO_BOUND = 1e150


def value_bounds(
    bounds: Any, domain: tuple[float, float], n_outputs: int, center: Any
) -> ValueBounds:
    """Read `bounds` and `center`; without bounds values up to 1e150 are let through.

    The default center is zero where the bounds contain it, else their middle: unlike a
    mean of many people, one person's function is often at rest for most of the time.
    """
    if bounds is None:
        middle = 0.0 if center is None else center
        return ValueBounds.from_parameters(
            (-_NO_BOUND, _NO_BOUND),
            domain=domain,
            n_outputs=n_outputs,
            center=np.broadcast_to(np.asarray(middle, dtype=float), n_outputs),
        )
    middle = ValueBounds.from_parameters(bounds, domain=domain, n_outputs=n_outputs)
    if center is None:
        holds_zero = (middle.low <= 0) & (middle.high >= 0)
        center = np.where(holds_zero, 0.0, middle.center)
    return ValueBounds.from_parameters(
        bounds, domain=domain, n_outputs=n_outputs, center=center
    )


def coefficient_bound(
    norm_bound: Any, bounds: Any, domain: Any, n_outputs: int, center: Any
) -> float | None:
    """The public bound on the norm of coefficients, or None."""
    given = None if norm_bound is None else check_positive(norm_bound, "norm_bound")
    if bounds is None:
        return given
    implied = value_bounds(bounds, domain, n_outputs, center).norm_bound
    return implied if given is None else min(given, implied)


def check_basis(basis: Any) -> None:
    """Refuse what is neither a basis nor None."""
    if basis is not None and not isinstance(basis, Basis | TensorBasis):
        raise TypeError(
            "basis must be a Basis such as FourierBasis(9, domain=(0, 24)), got "
            f"{basis!r}"
        )


def public_domain(domain: Any, X: Any) -> tuple[float, float]:
    """The stated domain, that of the curves, or (0, 1) where they share a grid."""
    if domain is not None:
        return check_interval(domain, "domain")
    if getattr(X, "domain", None) is not None:
        return check_interval(X.domain, "domain")
    if isinstance(X, Curves) and not X.is_regular:
        raise ValueError(
            "domain must be stated for irregular curves: domain=(A, B), in the units "
            "of their times"
        )
    return (0.0, 1.0)


def domain_of(basis: Basis | TensorBasis | None) -> tuple[float, float]:
    """The interval of a basis, or one as long as the volume of several variables."""
    if basis is None:
        return (0.0, 1.0)
    if isinstance(basis, TensorBasis):
        return (0.0, math.prod(high - low for low, high in basis.domain))
    return basis.domain


def energy_of(norm_bound: float | None) -> float | None:
    """The square of a bound on the norm; far from where squares leave the floats."""
    if norm_bound is None:
        return None
    return float(np.clip(norm_bound, 1 / _NO_BOUND, _NO_BOUND)) ** 2
