"""From the parameters of an estimator to a public plan; no data is seen here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np

from .. import _base
from .._grids import public_grid
from .._planned import PlannedRelease
from .._validation import (
    check_count,
    check_delta,
    check_interval,
    check_positive,
    check_real,
)
from ..basis import Basis
from ..curves import Curves, as_curves
from ..summaries import ValueBounds
from ._plan import ReleasePlan, check_mechanism
from ._selection import bias_bound, select_plan
from ._stated_basis import check_basis, stated_basis, stated_size

_MAX_FUNCTIONS = 256
_DEFAULT_POINTS = 101
_SMALLEST = 1e-280


def check_parameters(estimator: Any) -> None:
    """Check everything that does not depend on the form of the data."""
    check_positive(estimator.epsilon, "epsilon")
    check_mechanism(estimator.mechanism, check_delta(estimator.delta))
    if estimator.noise not in ("matched", "kernel"):
        raise ValueError(
            f"noise must be 'matched' or 'kernel', got {estimator.noise!r}"
        )
    if estimator.penalty not in ("qr", "ar"):
        raise ValueError(f"penalty must be 'qr' or 'ar', got {estimator.penalty!r}")
    if estimator.eta != "pss" and check_positive(estimator.eta, "eta") <= 0.5:
        raise ValueError(f"eta must be 'pss' or > 1/2, got {estimator.eta!r}")
    if estimator.psi not in ("pss", "rate"):
        is_number = isinstance(estimator.psi, Real)
        if not is_number or check_real(estimator.psi, "psi") < 0:
            raise ValueError(
                f"psi must be 'pss', 'rate' or a number >= 0, got {estimator.psi!r}"
            )
    if not isinstance(estimator.denoise, bool | np.bool_):
        raise TypeError(f"denoise must be True or False, got {estimator.denoise!r}")
    if _denoiser_shrinks(estimator) and estimator.psi not in ("pss", 0):
        raise ValueError(
            f"psi={estimator.psi!r} is not used with denoise=True: denoising replaces "
            "the quadratic penalty; pass denoise=False"
        )
    check_basis(estimator)
    if estimator.norm_bound is not None:
        check_positive(estimator.norm_bound, "norm_bound")
    estimator._check_ledger()


def _denoiser_shrinks(estimator: Any) -> bool:
    """Whether denoising takes the place of the quadratic penalty."""
    return bool(estimator.denoise) and estimator.penalty == "qr"


def public_domain(estimator: Any, X: Any = None) -> tuple[float, float]:
    """The domain, from `domain`, from `basis` or from curves that state theirs."""
    basis = estimator.basis
    if estimator.domain is None:
        if basis is not None:
            return basis.domain
        if not isinstance(X, Curves):
            return (0.0, 1.0)
        if X.domain is None and not X.is_regular:
            raise ValueError(
                "domain must be stated for irregular curves: domain=(A, B)"
            )
        return X.domain or (0.0, 1.0)
    domain = check_interval(estimator.domain, "domain")
    if not _SMALLEST <= domain[1] - domain[0] <= 1 / _SMALLEST:
        raise ValueError(
            f"domain must have a width from {_SMALLEST} to {1 / _SMALLEST}, got "
            f"{estimator.domain!r}: use other units"
        )
    if basis is not None and basis.domain != domain:
        raise ValueError(
            f"domain {domain} differs from that of the basis {basis.domain}: "
            "give only one of them"
        )
    return domain


@dataclass(frozen=True, eq=False)
class CurveReading:
    """How curves are read, wherever they are: public parameters of an estimator.

    They may hold numbers that are not finite in strict mode.
    """

    grid: Any
    domain: tuple[float, float]
    missing: str
    strict: bool

    @classmethod
    def of(cls, estimator: Any, domain: tuple[float, float]) -> CurveReading:
        """Take the parameters of an estimator."""
        strict = estimator._is_strict()
        return cls(estimator.grid, domain, estimator.missing, strict)

    def __call__(self, X: Any, *_: Any) -> Curves:
        """Read curves; y and weights belong to others."""
        return as_curves(
            X,
            grid=self.grid,
            domain=self.domain,
            missing=self.missing,
            strict=self.strict,
        )


def read_curves(estimator: Any, X: Any, domain: tuple[float, float]) -> Curves:
    """The curves in memory."""
    return CurveReading.of(estimator, domain)(X)


def public_values(
    estimator: Any,
    n_outputs: int,
    domain: tuple[float, float],
    grid: np.ndarray | None,
) -> ValueBounds:
    """The bounds of values, the center and the norm that follows from them.

    Data are divided by these numbers, so they must leave room for quotients: whether
    one overflows would depend on the data.
    """
    values = ValueBounds.from_parameters(
        estimator.bounds,
        domain=domain,
        n_outputs=n_outputs,
        grid=grid,
        center=estimator.center,
        norm_bound=estimator.norm_bound,
    )
    if not min(values.reach.max(), values.norm_bound) >= _SMALLEST:
        raise ValueError(
            f"bounds and norm_bound must leave values and norms of at least {_SMALLEST}"
            ": use larger units"
        )
    if not values.norm_bound >= _SMALLEST * values.largest_norm:
        raise ValueError(
            f"norm_bound must be at least {_SMALLEST} of what the bounds imply"
        )
    return values


def public_plan(
    estimator: Any,
    n_people: int,
    n_outputs: int,
    domain: tuple[float, float],
    n_points: int | None,
    spread: float = 1.0,
) -> tuple[ReleasePlan, Basis]:
    """Choose everything that public facts decide, and the basis to go with it.

    `spread` is the radius of the ball of contributions, in units of the norm bound.
    """
    n_functions = stated_size(estimator)
    most = n_functions or min(_MAX_FUNCTIONS, n_points or _MAX_FUNCTIONS)
    if estimator.basis is None and estimator.kernel is None:
        basis = _checked_basis(estimator._default_basis, most, domain)
    else:
        basis = stated_basis(estimator, most, domain).orthonormalize()
    plan = ReleasePlan(
        n_people=n_people,
        n_outputs=n_outputs,
        spectrum=basis.spectrum / (domain[1] - domain[0]),
        epsilon=float(estimator.epsilon),
        delta=float(estimator.delta),
        noise=estimator.noise,
        penalty=estimator.penalty,
        spread=spread,
    )
    plan = select_plan(
        plan,
        check_mechanism(estimator.mechanism, estimator.delta),
        n_functions=n_functions,
        eta=estimator.eta,
        psi=estimator.psi,
        denoise=_denoiser_shrinks(estimator),
    )
    return plan, basis.first(len(plan.spectrum))


@lru_cache(maxsize=64)
def _checked_basis(
    family: Callable[[int, tuple[float, float]], Basis],
    size: int,
    domain: tuple[float, float],
) -> Basis:
    """A basis that was found to be orthonormal; rounds and fits ask for the same."""
    return family(size, domain).orthonormalize()


@dataclass(frozen=True, eq=False)
class PublicFacts:
    """What is known of a fit before there is data."""

    n_people: int
    domain: tuple[float, float]
    values: ValueBounds
    grid: np.ndarray | None
    n_points: int | None

    @classmethod
    def of(
        cls, estimator: Any, n_people: int, n_outputs: int, n_points: int | None
    ) -> PublicFacts:
        """Read the parameters of an estimator and the sizes of its data."""
        n_people = check_count(n_people, "n_samples")
        n_outputs = check_count(n_outputs, "n_outputs")
        domain = public_domain(estimator)
        grid = None
        if estimator.grid is not None and not isinstance(estimator.grid, str):
            grid = output_grid(estimator.grid, None, domain)
        values = public_values(estimator, n_outputs, domain, grid)
        if n_points is not None:
            check_count(n_points, "n_points")
        elif grid is not None:
            n_points = len(grid)
        return cls(n_people, domain, values, grid, n_points)


def planned_release(
    estimator: Any, n_people: int, n_outputs: int, n_points: int | None
) -> PlannedRelease:
    """What a mean would release, before there is data.

    Contributions lie in a ball of radius tau, so that their mean is expected to be
    within tau^2 / n of that of a population, in squared norm.
    """
    check_parameters(estimator)
    facts = PublicFacts.of(estimator, n_people, n_outputs, n_points)
    plan, _ = public_plan(
        estimator, facts.n_people, n_outputs, facts.domain, facts.n_points
    )
    values = facts.values
    square = values.norm_bound * values.norm_bound
    return PlannedRelease(
        n_people=plan.n_people,
        epsilon=plan.epsilon,
        delta=plan.spent_delta,
        mechanism=plan.mechanism,
        n_functions=len(plan.spectrum),
        bias=bias_bound(plan) * square,
        sampling=square / plan.n_people,
        noise=plan.expected_square * square,
        eta=plan.eta if plan.psi else None,
        psi=plan.psi,
        released="the released mean",
        size=facts.domain[1] - facts.domain[0],
        denoised=_denoiser_shrinks(estimator),
    )


def warn_if_noise_dominates(plan: ReleasePlan) -> None:
    """Warn if public facts alone say that a release is void, or cannot be informative.

    That is before the charge, and before numbers are read.
    """
    _base.warn_if_delta_is_large(plan.spent_delta, plan.n_people)
    remedy = "epsilon, more people or tighter bounds"  # in units of the norm bound:
    _base.warn_if_noise_dominates(plan.expected_square, 1.0, remedy, stacklevel=4)


def output_grid(
    stated: Any, observed: np.ndarray | None, domain: tuple[float, float]
) -> np.ndarray:
    """Where the mean is given: the common grid, the stated one, or 101 points."""
    if observed is not None:
        return observed.copy()
    if stated is None:
        return np.linspace(*domain, _DEFAULT_POINTS)
    if isinstance(stated, str):
        raise ValueError(
            f"grid={stated!r} needs a frame with one curve in each row: give the points"
        )
    return public_grid(stated, domain, len(stated), None)
