"""The finite-dimensional baseline: a few coefficients with equal noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._base import plans
from .._planned import PlannedRelease
from ..basis import Basis
from ..curves import Curves
from ..noise import FixedPoint, NoiseLaw
from ..privacy import PrivacyGuarantee
from ..summaries import ValueBounds
from ._baseline import BaselineMean, MeanSummary
from ._contributions import CurveContributions
from ._parameters import check_parameters, planned_release, public_plan
from ._plan import ReleasePlan


class FRLMean(BaselineMean):
    """Mean curve through a few coefficients with independent Laplace noise.

    The published baseline of finite-dimensional representations: the mean is projected
    on the first M functions of a public orthonormal basis, every coefficient gets noise
    of the same scale, and nothing is done after that. `ICLPMean` has smaller errors;
    this one is there to be compared with, at the same true epsilon.

    Parameters
    ----------
    bounds : tuple of two floats, or of two arrays of shape (n_outputs,)
        *Public.* Values below the first or above the second are clipped.
    domain : tuple of two floats, default=None
        *Public.* The interval of the argument, in its units; None takes that of
        `basis`, or (0, 1).
    grid : array-like, shape (n_points,), or "columns", default=None
        *Public.* Where wide data are observed, and where `mean_` is given, as in
        `ICLPMean`.
    epsilon : float, default=1.0
        *Public.* The budget, > 0.
    delta : float, default=0.0
        *Public.* Only ``mechanism="gaussian"`` spends it.
    mechanism : {"laplace", "spherical", "gaussian", "auto"}, default="laplace"
        *Public.* The noise law: independent Laplace noise as published, or spherical
        Laplace noise, whose squared error is about half as large; "auto" has the
        smallest predicted error.
    kernel : str, kernel object or callable, default=None
        *Public.* Use the Karhunen-Loeve basis of this kernel, as published.
    basis : Basis, default=None
        *Public.* The basis; None is that of `kernel`, or cosines.
    n_basis : int or "pss", default="pss"
        *Public.* The number M of functions; "pss" minimises a bound on bias plus
        noise from public facts.
    center : float, or array of shape (n_outputs,) or (n_points[, n_outputs]), \
default=None
        *Public.* Subtracted before clipping; None is the middle of the bounds.
    norm_bound : float, default=None
        *Public.* A bound on the L2 norm of a centred curve, tighter than that which
        follows from `bounds`.
    missing : {"error", "interpolate"}, default="error"
        *Public.* What to do with NaN values.
    ledger : str, default=None
        *Public.* The file of a `BudgetLedger` that is charged before noise is drawn.
    random_state : int, RandomState or None, default=None
        None draws from the operating system. Anything else makes a *seeded* release,
        which gives no privacy: for tests and teaching.

    Attributes
    ----------
    mean_ : ndarray, shape (n_points,) or (n_points, n_outputs)
        Released. The mean curve on `grid_`.
    coef_ : ndarray, shape (n_functions,) or (n_functions, n_outputs)
        Released. Coefficients of ``mean_ - center`` in `basis_`.
    release_ : ndarray, shape of `coef_`
        Released. The same, as nothing is denoised.
    grid_ : ndarray, shape (n_points,)
        Public points of the domain.
    basis_ : Basis
        Public orthonormal basis of M functions.
    law_ : NoiseLaw
        Public law of the noise of `release_`, in units of ``norm_bound_ / n_people_``.
    weights_ : ndarray, shape (n_functions,)
        Public factors of the functions, all one.
    norm_bound_ : float
        Public bound on the norm of a contribution.
    noise_std_ : ndarray, shape of `mean_`
        Public standard deviation of the noise of the curve.
    guarantee_ : PrivacyGuarantee
        What is promised, and per which unit.
    n_people_ : int
        Public number of contributions.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Public number and names of the columns of wide data.

    Raises
    ------
    PrivacyError
        If the guarantee cannot be kept; raised before anything is charged or drawn.
    BudgetExceededError
        If the ledger has not enough left; nothing is drawn.
    ValueError, TypeError
        If parameters or data are malformed; the text holds public facts only.

    Notes
    -----
    *Contribution.* The M inner products of a clipped and centred curve, averaged over a
    person's rows, in the ball of radius tau: `norm_bound`, or what `bounds` imply.

    *Sensitivity.* Replacing one person moves the mean of n contributions by at most
    2 tau / n in Euclidean norm, hence by at most 2 tau sqrt(M) / n in absolute sum
    (Cauchy-Schwarz), attained by opposite people with equal coefficients.

    *Law.* Laplace noise of scale b = 2 tau sqrt(M) / (n epsilon) for each coefficient
    loses at most sum_j abs(h_j) / b = epsilon. Its expected squared norm 2 M b^2 grows
    with M^2, as does that of the spherical law, M (M + 1) (2 tau / (n epsilon))^2.

    References
    ----------
    .. [1] Lin and Reimherr (2023), "Pure differential privacy for functional summaries
       with a Laplace-like process", where it is the baseline.

    Examples
    --------
    >>> from skfuncpriv import FRLMean
    >>> from skfuncpriv.datasets import load_elnino
    >>> years = load_elnino()
    >>> model = FRLMean(bounds=(15, 32), domain=(0, 12), grid=years.grid, n_basis=3)
    >>> model.fit(years.data).coef_.shape
    (3,)
    """

    # Parameters of `ICLPMean` that a plain projection fixes.
    noise, penalty, eta, psi, denoise = "matched", "qr", 1.5, 0.0, False

    def __init__(
        self,
        *,
        bounds: Any,
        domain: Any = None,
        grid: Any = None,
        epsilon: float = 1.0,
        delta: float = 0.0,
        mechanism: str = "laplace",
        kernel: Any = None,
        basis: Any = None,
        n_basis: int | str = "pss",
        center: Any = None,
        norm_bound: float | None = None,
        missing: str = "error",
        ledger: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.bounds = bounds
        self.domain = domain
        self.grid = grid
        self.epsilon = epsilon
        self.delta = delta
        self.mechanism = mechanism
        self.kernel = kernel
        self.basis = basis
        self.n_basis = n_basis
        self.center = center
        self.norm_bound = norm_bound
        self.missing = missing
        self.ledger = ledger
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _summary(
        self,
        n_people: int,
        domain: tuple[float, float],
        values: ValueBounds,
        grid: np.ndarray | None,
    ) -> MeanSummary:
        n_points = None if grid is None else len(grid)
        plan, basis = public_plan(self, n_people, len(values.low), domain, n_points)
        contributions = CurveContributions.of(plan, basis, values, grid)
        return _Projections(plan, basis, contributions)

    @plans
    def _planned_release(
        self, n_samples: int, n_outputs: int = 1, n_points: int | None = None
    ) -> PlannedRelease:
        planned = planned_release(self, n_samples, n_outputs, n_points)
        return replace(planned, psi=None)  # there is no penalty


@dataclass(frozen=True, eq=False)
class _Projections(MeanSummary):
    """Sums of coefficient vectors in the unit ball, with a plan for their noise."""

    plan: ReleasePlan
    basis: Basis
    contributions: CurveContributions

    @cached_property
    def law(self) -> NoiseLaw:
        return self.plan.law

    @property
    def expected_square(self) -> float:
        return self.plan.expected_square

    def sum(self, curves: Curves, codes: np.ndarray | None) -> FixedPoint:
        return self.contributions(curves, codes)

    def guarantee(self, unit: str, seeded: bool) -> PrivacyGuarantee:
        return self.plan.guarantee(unit, seeded)
