"""The Bernstein baseline: noisy values on a lattice, then polynomials."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._base import plans
from .._planned import PlannedRelease
from .._validation import check_count, check_positive
from ..curves import Curves
from ..noise import FixedPoint, IndependentLaplace
from ..privacy import PrivacyGuarantee, laplace_scale
from ..summaries import ValueBounds
from ._baseline import BaselineMean, MeanSummary
from ._bernstein_functions import (
    DEGREES,
    BernsteinFunctions,
    bias_factor,
    noise_factor,
    sampling_factor,
)
from ._lattice_values import LatticeValues
from ._parameters import PublicFacts

_MOST_ORDER = 8


class BernsteinMean(BaselineMean):
    """Mean curve as a Bernstein polynomial through noisy values.

    The published baseline of the Bernstein mechanism: the mean is taken at M + 1 points
    of a lattice, every value gets Laplace noise, and the iterated Bernstein polynomial
    through the noisy values is released. `ICLPMean` has smaller errors; this one is
    there to be compared with, at the same true epsilon.

    Parameters
    ----------
    bounds : tuple of two floats, or of two arrays of shape (n_outputs,)
        *Public.* Values below the first or above the second are clipped.
    domain : tuple of two floats, default=None
        *Public.* The interval of the argument, in its units; None is (0, 1).
    grid : array-like, shape (n_points,), or "columns", default=None
        *Public.* Where wide data are observed, and where `mean_` is given, as in
        `ICLPMean`.
    degree : int or "pss", default="pss"
        *Public.* The degree M of the polynomial; "pss" minimises a bound on bias plus
        noise from public facts.
    order : int, default=2
        *Public.* The number of iterations, at most 8; 1 is the plain polynomial.
    epsilon : float, default=1.0
        *Public.* The budget, > 0.
    center : float, or array of shape (n_outputs,) or (n_points[, n_outputs]), \
default=None
        *Public.* What someone without data counts as; None is the middle of the bounds.
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
    coef_ : ndarray, shape (degree + 1,) or (degree + 1, n_outputs)
        Released. Noisy values of ``mean - center`` on the lattice: the coefficients of
        ``mean_ - center`` in `basis_`.
    release_ : ndarray, shape of `coef_`
        Released. The same, as nothing is denoised.
    degree_ : int
        Public degree M.
    grid_ : ndarray, shape (n_points,)
        Public points of the domain.
    basis_ : Basis
        Public functions: polynomials that the iterated operator makes of unit vectors.
    law_ : IndependentLaplace
        Public law of the noise of `release_`, in units of ``norm_bound_ / n_people_``.
    weights_ : ndarray, shape (degree + 1,)
        Public factors of the functions, all one.
    norm_bound_ : float
        Public L2 norm that follows from the bounds.
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
    *Contribution.* The M + 1 values of a clipped curve at a + (b - a) v / M, averaged
    over a person's rows.

    *Sensitivity.* Replacing one person moves the mean of n people by at most
    (high - low) / n at every point, hence by at most (M + 1) (high - low) / n in
    absolute sum (for several outputs the sum over them), attained by people who are
    constant at opposite bounds.

    *Law.* Independent Laplace noise of scale (M + 1) (high - low) / (n epsilon) on each
    value is pure epsilon-DP [1]_.

    *After the release* the operator I - (I - B)^order is applied, B the Bernstein
    operator [1]_; straight lines are reproduced.

    References
    ----------
    .. [1] F. Alda and B. Rubinstein, "The Bernstein mechanism: function release under
       differential privacy", AAAI 2017.

    Examples
    --------
    >>> from skfuncpriv import BernsteinMean
    >>> from skfuncpriv.datasets import load_elnino
    >>> years = load_elnino()
    >>> model = BernsteinMean(bounds=(15, 32), domain=(0, 12), grid=years.grid)
    >>> model.fit(years.data).mean_.shape
    (12,)
    """

    # Parameters of `ICLPMean` that have no meaning here.
    basis, norm_bound = None, None

    def __init__(
        self,
        *,
        bounds: Any,
        domain: Any = None,
        grid: Any = None,
        degree: int | str = "pss",
        order: int = 2,
        epsilon: float = 1.0,
        center: Any = None,
        missing: str = "error",
        ledger: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.bounds = bounds
        self.domain = domain
        self.grid = grid
        self.degree = degree
        self.order = order
        self.epsilon = epsilon
        self.center = center
        self.missing = missing
        self.ledger = ledger
        self.random_state = random_state

    @property
    def degree_(self) -> int:
        """Public degree M of the released polynomial."""
        return self.basis_.degree

    def _check_parameters(self) -> None:
        check_positive(self.epsilon, "epsilon")
        if self.degree != "pss":
            check_count(self.degree, "degree")
        if check_count(self.order, "order") > _MOST_ORDER:
            raise ValueError(
                f"order must be at most {_MOST_ORDER}, got {self.order}: noise grows "
                "with each iteration"
            )
        self._check_ledger()

    def _summary(
        self,
        n_people: int,
        domain: tuple[float, float],
        values: ValueBounds,
        grid: np.ndarray | None,
    ) -> _NoisyValues:
        def summary(degree: int) -> _NoisyValues:
            functions = BernsteinFunctions(degree + 1, domain, int(self.order))
            points = LatticeValues(n_people, functions.lattice, values, grid)
            return _NoisyValues(points, functions, float(self.epsilon))

        if self.degree != "pss":
            return summary(int(self.degree))
        return min(map(summary, DEGREES), key=lambda choice: choice.risk)

    @plans
    def _planned_release(
        self, n_samples: int, n_outputs: int = 1, n_points: int | None = None
    ) -> PlannedRelease:
        self._check_parameters()
        facts = PublicFacts.of(self, n_samples, n_outputs, n_points)
        summary = self._summary(facts.n_people, facts.domain, facts.values, facts.grid)
        square = facts.values.norm_bound * facts.values.norm_bound
        return PlannedRelease(
            n_people=facts.n_people,
            epsilon=summary.epsilon,
            delta=0.0,
            mechanism="laplace",
            n_functions=summary.basis.n_basis,
            bias=summary.bias * square,
            sampling=summary.sampling * square,
            noise=summary.expected_square * square,
            released="the released mean",
            size=facts.domain[1] - facts.domain[0],
        )


@dataclass(frozen=True, eq=False)
class _NoisyValues(MeanSummary):
    """Sums of values on a lattice with independent Laplace noise."""

    points: LatticeValues
    basis: BernsteinFunctions
    epsilon: float

    @cached_property
    def law(self) -> IndependentLaplace:
        scale = laplace_scale(self.epsilon, self.points.sensitivity)
        return IndependentLaplace((scale,) * self.points.box[0].size)

    @property
    def expected_square(self) -> float:
        share = self.law.scales[0] / self.points.n_people
        factor = noise_factor(self.basis.degree, self.basis.order)
        return 2 * share * share * factor * self._volume

    @property
    def bias(self) -> float:
        """The squared bias at the worst frequency, in units of the norm bound."""
        return bias_factor(self.basis.degree, self.basis.order)

    @property
    def sampling(self) -> float:
        """A bound of the error of these people without noise, in the same units."""
        values = self.points.values
        reach = np.atleast_2d(values.reach).max(axis=0) / values.norm_bound
        factor = sampling_factor(self.basis.degree, self.basis.order)
        width = self._volume / len(reach)
        return float(factor * width * np.square(reach).sum() / self.points.n_people)

    @property
    def risk(self) -> float:
        """What the choice of a degree minimises."""
        return self.bias + self.expected_square

    def sum(self, curves: Curves, codes: np.ndarray | None) -> FixedPoint:
        return self.points.sum(curves, codes)

    def guarantee(self, unit: str, seeded: bool) -> PrivacyGuarantee:
        return PrivacyGuarantee(
            definition="pure-dp", epsilon=self.epsilon, unit=unit, seeded=seeded
        )

    @property
    def _volume(self) -> float:
        """The width of the domain, once for each output."""
        low, high = self.basis.domain
        return (high - low) * len(self.points.values.low)
