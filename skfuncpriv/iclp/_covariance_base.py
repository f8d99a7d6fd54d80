"""What `ICLPCovariance` and `PrivateFPCA` share: one fit, one budget, three steps."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .._base import CurveReader, PrivateEstimator, plans, warn_if_noise_dominates
from .._observations import filled
from .._planned import PlannedRelease
from .._sklearn import check_feature_names
from .._validation import check_delta, check_flag, check_positive
from ..basis import Basis
from ..blocks import open_rows
from ..denoise import bayesian_average
from ..exceptions import PrivacyError
from ..noise import random_bits
from ..summaries import ValueBounds
from ._contributions import CurveContributions, denoised_sum, public_projection
from ._covariance_noise import CovarianceNoise, noise_of
from ._covariance_plan import MECHANISMS, CovariancePlan, plan_covariance
from ._covariance_steps import (
    add_noise,
    choose_radius_around,
    gram_of_functions,
    n_covariances,
    resized,
    stated_radius,
    sum_of_moments,
    unit_rows,
)
from ._parameters import (
    CurveReading,
    PublicFacts,
    output_grid,
    public_domain,
    public_values,
)
from ._stated_basis import check_basis, stated_basis, stated_size

_MAX_FUNCTIONS = 256
_MAX_COORDINATES = 256
# The largest possible eigenvalue reaches this in units of a chosen squared radius,
# that of radii half an octave apart.
_LARGEST_SIGNAL = 0.5
_LARGEST = 1e305  # noise, whose draws are numbers, too


class CovarianceEstimator(CurveReader, PrivateEstimator):
    """Base of estimators that release a mean and a covariance function."""

    def __init__(
        self,
        *,
        bounds: Any,
        domain: Any = None,
        grid: Any = None,
        epsilon: float = 1.0,
        delta: float = 0.0,
        mechanism: str = "auto",
        kernel: Any = None,
        basis: Any = None,
        n_basis: int | str = "pss",
        center: Any = None,
        norm_bound: float | None = None,
        radius: float | None = None,
        denoise: bool = True,
        missing: str = "error",
        ledger: str | None = None,
        random_state: Any = None,
        verbose: bool = False,
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
        self.radius = radius
        self.denoise = denoise
        self.missing = missing
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Any:  # noqa: ARG002
        """Release mean and covariance of the curves.

        Parameters
        ----------
        X : array-like, frame, Curves, FDataGrid or Blocks
            *Private.* One curve per row: shape (n_rows, n_points) or (n_rows, n_points,
            n_outputs), or irregular curves; or rows in blocks: a memory map, `Blocks`,
            a dask array or frame.
        y : None
            Ignored; labels of people are `groups`.
        groups : array-like, shape (n_rows,), default=None
            *Private* labels of the person who owns each row; how many there are is
            public. Moments are averaged over a person's rows: the result describes a
            random row of a random person. None makes every row a person, and the
            guarantee says so.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        # Step 0: public facts, then the form of the data.
        self._check_parameters()
        bits = random_bits(self.random_state)
        rows = open_rows(X, groups=groups)
        domain = public_domain(self, rows.X)
        curves = rows.read(CurveReading.of(self, domain))
        check_feature_names(self, rows.X, reset=True)
        n_people, unit = rows.people(curves.n_curves)
        values = public_values(self, curves.n_outputs, domain, curves.grid)
        rows.map(partial(filled, center=values.center))
        n_points = len(curves.grid) if curves.is_regular else None
        plan, basis = self._plan(n_people, curves.n_outputs, domain, n_points)
        laws = plan.mean.law, plan.law
        radius = stated_radius(self.radius, values)
        _check_size(plan, values.norm_bound * (radius or 2.0))
        grid = output_grid(self.grid, curves.grid, domain)
        noise = noise_of(plan)
        warn_if_noise_dominates(
            noise.expected_edge * noise.expected_edge,
            _LARGEST_SIGNAL if radius is None else 1.0,
            "epsilon, more people or a smaller n_basis",
        )

        with np.errstate(all="ignore"):  # a warning about numbers would tell of them
            # Step 1: the exact sum for the mean, and everybody's coefficients.
            used = basis.first(len(plan.mean.spectrum))
            how = (values, curves.grid, rows.shown(self.verbose))
            total = rows.sum(CurveContributions.of(plan.mean, used, *how))
            kept = basis.first(plan.moment.n_functions)
            projection = public_projection(kept, curves.grid)
            facts = {"projection": projection, "domain": domain, "values": values}
            rows.map(partial(unit_rows, **facts))

            # Step 2: charge for everything, then release the mean.
            guarantee = plan.guarantee(unit, bits.seeded)
            self._open_release(guarantee, n_people)
            mean = self._mean_from(add_noise(laws[0], total, bits), plan)
            center = resized(mean, plan.moment.n_coordinates)

            # Step 3: release how far people are from it.
            if radius is None:
                radius = choose_radius_around(center, rows, plan, bits)

            # Step 4: release the moments about it in units of that radius.
            facts = {"center": center, "radius": radius, "moment": plan.moment}
            moments = rows.sum(partial(sum_of_moments, **facts))
            released = add_noise(laws[1], moments, bits)

            # Step 5: public post-processing.
            self.basis_, self.grid_, self.n_people_ = kept, grid, n_people
            self.norm_bound_ = values.norm_bound
            self._clip = replace(values, center=np.zeros(curves.n_outputs))
            self.radius_ = radius * values.norm_bound
            shift = self._set_covariance(released, plan, noise, curves.is_vector)
            self._set_mean(mean, radius * shift, basis, values, curves.is_vector)
            self._set_components()
        vars(self).pop("n_features_in_", None)
        if curves.is_regular:
            self.n_features_in_ = len(grid)
        self.guarantee_ = guarantee
        return self

    @plans
    def expected_error(
        self, n_samples: int, n_outputs: int = 1, n_points: int | None = None
    ) -> float:
        """Predict the noise of a covariance before there is any data.

        Parameters
        ----------
        n_samples : int
            The number of *people*.
        n_outputs : int, default=1
            The number of values of a curve at each point.
        n_points : int, default=None
            The number of points of wide data, which limits how many functions are
            used; None is that of `grid`, or no limit.

        Returns
        -------
        float
            The expected squared L2 norm of the noise of the covariance function before
            denoising, in the fourth power of the values times the second power of the
            domain. It is that of the stated `radius` or, where the radius is chosen, of
            one that equals the norm bound: in proportion to the fourth power of
            `radius_`, far smaller if people are close to their mean, and up to 16
            times larger for few people. Tables of `privacy_safe_parameters` have it.
        """
        return self._planned_release(n_samples, n_outputs, n_points).noise

    @property
    def eigenvalues_(self) -> np.ndarray:
        """Eigenvalues of the released covariance, from large to small."""
        return np.maximum(np.linalg.eigvalsh(self._square(self.coef_))[::-1], 0.0)

    @property
    def n_detectable_(self) -> int:
        """How many eigenvalues are above what noise alone would show.

        Of the release before denoising, above ``noise_edge_``. If the curves, shrunk
        to `radius_`, vary in k directions, more than k are counted with a probability
        of at most about 0.05: for curves that do not vary at all, any.
        """
        values = np.linalg.eigvalsh(self._square(self.release_))
        return int(np.sum(values > self.noise_edge_))

    @plans
    def _planned_release(
        self, n_samples: int, n_outputs: int = 1, n_points: int | None = None
    ) -> PlannedRelease:
        self._check_parameters()
        facts = PublicFacts.of(self, n_samples, n_outputs, n_points)
        plan, _ = self._plan(facts.n_people, n_outputs, facts.domain, facts.n_points)
        radius = stated_radius(self.radius, facts.values) or 1.0
        unit = radius * facts.values.norm_bound
        unit *= unit
        unit *= unit  # a product overflows to infinity, a power would raise
        return PlannedRelease(
            n_people=facts.n_people,
            epsilon=plan.epsilon,
            delta=plan.spent_delta,
            mechanism=plan.mechanism,
            n_functions=plan.moment.n_functions,
            bias=plan.bias_bound * unit,
            sampling=unit / facts.n_people,
            noise=plan.expected_square * unit,
            released="the released covariance",
            size=(facts.domain[1] - facts.domain[0]) ** 2,
        )

    def _check_parameters(self) -> None:
        """Check everything that does not depend on the form of the data."""
        check_positive(self.epsilon, "epsilon")
        delta = check_delta(self.delta)
        if self.mechanism not in ("auto", *MECHANISMS):
            raise ValueError(
                f"mechanism must be 'auto' or one of {MECHANISMS}, got "
                f"{self.mechanism!r}"
            )
        if self.mechanism == "gaussian" and delta == 0:
            raise PrivacyError("mechanism='gaussian' needs delta > 0, got delta=0")
        check_flag(self.denoise, "denoise")
        check_basis(self)
        for name in ("norm_bound", "radius"):
            if getattr(self, name) is not None:
                check_positive(getattr(self, name), name)
        self._check_ledger()

    def _plan(
        self,
        n_people: int,
        n_outputs: int,
        domain: tuple[float, float],
        n_points: int | None,
    ) -> tuple[CovariancePlan, Basis]:
        """Everything that public facts decide, and all functions that may be used."""
        n_functions = stated_size(self)
        most = n_functions or min(_MAX_FUNCTIONS, n_points or _MAX_FUNCTIONS)
        basis = stated_basis(self, most, domain)
        if n_functions and n_functions * n_outputs > _MAX_COORDINATES:
            raise ValueError(
                f"a covariance of {n_functions} functions and {n_outputs} outputs is "
                f"too large: at most {_MAX_COORDINATES} of both together"
            )
        fewest = self._fewest_functions(n_outputs)
        if fewest > basis.n_basis:
            raise ValueError(
                f"n_components must be at most {basis.n_basis * n_outputs}, the number "
                "of functions times outputs: raise n_basis, or observe more points"
            )
        basis = basis.orthonormalize()
        mechanisms: tuple[str, ...] = (self.mechanism,)
        if self.mechanism == "auto":
            mechanisms = ("spherical", "gaussian") if self.delta > 0 else ("spherical",)
        plan = plan_covariance(
            n_people=n_people,
            n_outputs=n_outputs,
            spectrum=basis.spectrum / (domain[1] - domain[0]),
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            mechanisms=mechanisms,
            n_functions=n_functions,
            fewest=fewest,
            public_radius=self.radius is not None,
        )
        return plan, basis

    def _mean_from(self, released: np.ndarray, plan: CovariancePlan) -> np.ndarray:
        """The mean from a released sum, within the unit ball as everybody is."""
        coef = denoised_sum(released, plan.mean) if self.denoise else released
        coef = coef / plan.mean.n_people
        return coef / max(1.0, float(np.sqrt(coef @ coef)))

    def _set_covariance(
        self,
        released: np.ndarray,
        plan: CovariancePlan,
        noise: CovarianceNoise,
        is_vector: bool,
    ) -> np.ndarray:
        """Set the covariance; return the mean of the residuals in units of radius."""
        moment, n_people = plan.moment, plan.moment.n_people
        first, second = np.split(released, [moment.n_coordinates])
        raw = n_covariances(first, second, moment)
        edge = noise.edge(moment.first(first) / n_people)
        self.noise_edge_ = np.float64(self.radius_ * self.radius_ * edge)
        if self.denoise:
            bound, q = float(n_people) ** 2, plan.moment.n_outputs
            first = bayesian_average(first[None], plan.parts[0], bound, q)[0]
            n_equal = q * (q + 1) // 2  # entries of equal frequency
            second = bayesian_average(second[None], plan.parts[1], bound, n_equal)[0]
        unit = self.radius_ * self.radius_ / n_people
        values, vectors = np.linalg.eigh(n_covariances(first, second, moment))
        root = vectors * np.sqrt(unit * np.maximum(values, 0.0))
        shape = (moment.n_functions, moment.n_outputs)[: 1 + is_vector]
        self.coef_ = (root @ root.T).reshape(*shape, *shape)
        self.release_ = (unit * raw).reshape(*shape, *shape)
        self.noise_std_ = float(unit * plan.parts[1].std.max())
        self.covariance_ = gram_of_functions(self._on_grid(root), is_vector)
        return moment.first(first) / n_people

    def _set_mean(
        self,
        mean: np.ndarray,
        shift: np.ndarray,
        basis: Basis,
        values: ValueBounds,
        is_vector: bool,
    ) -> None:
        """Add the released mean of the residuals; it is of fewer functions, or more."""
        coef = resized(mean, max(len(mean), len(shift)))
        coef[: len(shift)] += shift
        coef = values.norm_bound * coef.reshape(-1, len(values.low))
        functions = basis.first(len(coef)).evaluate(self.grid_)
        center = np.broadcast_to(values.center, (len(self.grid_), len(values.low)))
        curve = functions @ coef + center
        self.mean_ = curve if is_vector else curve[:, 0]
        coef = (
            coef[: self.basis_.n_basis] + self.basis_.projection(self.grid_).T @ center
        )
        self.mean_coef_ = coef if is_vector else coef[:, 0]

    def _set_components(self) -> None:
        """What else a subclass derives from the release."""

    def _fewest_functions(self, n_outputs: int) -> int:  # noqa: ARG002
        """How many functions what a subclass derives asks for."""
        return 1

    def _on_grid(self, columns: np.ndarray) -> np.ndarray:
        """Functions of coefficients (p, k) on the grid, (n_points, n_outputs, k)."""
        table = columns.reshape(self.basis_.n_basis, -1, columns.shape[1])
        return np.tensordot(self.basis_.evaluate(self.grid_), table, 1)

    @staticmethod
    def _square(coef: np.ndarray) -> np.ndarray:
        """Coefficients of scalar or vector curves as one symmetric matrix."""
        return coef.reshape(2 * (int(np.sqrt(coef.size)),))


def _check_size(plan: CovariancePlan, radius: float) -> None:
    """Refuse noise that would overflow once it is charged for."""
    if not math.sqrt(plan.expected_square) * radius * radius <= _LARGEST:
        raise PrivacyError(
            "the noise leaves the range of floating point: choose a larger epsilon, or "
            "other units"
        )
