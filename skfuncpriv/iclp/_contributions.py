"""The exact sum of what each person contributes, and what is free after its release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np

from .._progress import progress_bar
from ..basis import Basis
from ..basis._base import grid_projection
from ..curves import Curves
from ..denoise import bayesian_average, posterior_deviation
from ..noise import FixedPoint, RandomBits, release_lattice
from ..summaries import (
    BallSum,
    GridContributions,
    ValueBounds,
    curve_coefficients,
    number_of_people,
    person_averages,
)
from ._penalty import soft_threshold
from ._plan import ReleasePlan

_UNSEEN = 0.1  # of the variance of the noise, that a hidden signal may have
_SHARE_ONLY = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"


@dataclass(frozen=True, eq=False)
class GridProjection:
    """Inner products of curves on a common grid with functions, which are known.

    Parameters
    ----------
    matrix : ndarray, shape (k, m)
        Them; made once, in `fit`, and sent to blocks, so that it is one matrix whatever
        machine a block is on.
    """

    matrix: np.ndarray

    @classmethod
    def on(cls, basis: Basis, grid: np.ndarray) -> GridProjection:
        """Those of a public grid."""
        return cls(grid_projection(basis, grid))

    def __call__(self, points: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """The matrix; the points are those of the grid."""
        return self.matrix


@dataclass(frozen=True, eq=False)
class CurveCoefficients:
    """Everyone's coefficients, in units of the norm bound, not clipped to the ball.

    Parameters
    ----------
    projection : callable
        As in `curve_coefficients`.
    domain : tuple of two floats
        The interval of the argument.
    values : ValueBounds
        The bounds of the values.
    verbose : bool or None
        Whether progress is shown.
    """

    projection: Callable[[np.ndarray], np.ndarray]
    domain: tuple[float, float]
    values: ValueBounds
    verbose: bool | None

    @classmethod
    def of(
        cls,
        basis: Basis,
        values: ValueBounds,
        grid: np.ndarray | None,
        verbose: bool | None = False,
    ) -> CurveCoefficients:
        """Project curves on a public common grid or, if it is None, one by one."""
        return cls(public_projection(basis, grid), basis.domain, values, verbose)

    def __call__(self, curves: Curves, codes: np.ndarray | None) -> np.ndarray:
        """Those of all people."""
        return np.concatenate(list(self.in_chunks(curves, codes)))

    def in_chunks(
        self, curves: Curves, codes: np.ndarray | None
    ) -> Iterator[np.ndarray]:
        """The same, a few people at a time."""
        values = self.values
        chunks = curve_coefficients(curves, self.projection, self.domain, values)
        if not curves.is_regular:  # one by one, so it may take a while
            chunks = in_tenths(chunks, curves.n_curves, self.verbose)
        if codes is None:
            for chunk in chunks:
                yield chunk / values.norm_bound
        else:
            rows = np.concatenate(list(chunks)) / values.norm_bound
            seen = ~curves.all_missing
            radius = values.largest_norm / values.norm_bound
            n_people = number_of_people(codes)
            yield person_averages(rows[seen], codes[seen], n_people, radius)


@dataclass(frozen=True, eq=False)
class CurveContributions:
    """The exact sum of what each person contributes, in units of the norm bound.

    What is public is made once, in `fit`, and sent to rows in blocks.

    Parameters
    ----------
    plan : ReleasePlan
        The plan for all people.
    coefficients : CurveCoefficients
        Everyone's coefficients, which are clipped to the ball.
    on_grid : GridContributions or None
        For curves on a common grid where the bounds of values imply the norm bound:
        integers are summed on the grid then.
    """

    plan: ReleasePlan
    coefficients: CurveCoefficients
    on_grid: GridContributions | None

    @classmethod
    def of(
        cls,
        plan: ReleasePlan,
        basis: Basis,
        values: ValueBounds,
        grid: np.ndarray | None,
        verbose: bool | None = False,
    ) -> CurveContributions:
        """Decide how curves on a common grid, or without one, are summed."""
        coefficients = CurveCoefficients.of(basis, values, grid, verbose)
        projection, on_grid = coefficients.projection, None
        if isinstance(projection, GridProjection):
            on_grid = GridContributions(
                plan.n_people, grid, basis.domain, projection.matrix, values
            )
            if not on_grid.is_certified:
                on_grid = None
        return cls(plan, coefficients, on_grid)

    def __call__(self, curves: Curves, codes: np.ndarray | None) -> FixedPoint:
        """The sum; the people may be a part of all: such sums add up."""
        if self.on_grid is not None:
            return self.on_grid.sum(curves, codes)
        total = BallSum(self.plan.ball)
        for rows in self.coefficients.in_chunks(curves, codes):
            total.add(rows)
        return total.value()


def public_projection(
    basis: Basis, grid: np.ndarray | None
) -> Callable[[np.ndarray], np.ndarray]:
    """How curves are projected: on a common grid, or on the points of each."""
    return basis.projection if grid is None else GridProjection.on(basis, grid)


def thresholded(total: FixedPoint, plan: ReleasePlan) -> FixedPoint:
    """The whole sum, moved towards zero where the plan has an absolute penalty."""
    if plan.penalty != "ar":
        return total
    step = Fraction(total.lattice.step)
    limits = [ceil(plan.n_people * Fraction(t) / step) for t in plan.thresholds]
    shrunk = soft_threshold(total.values, np.array(limits, dtype=object))
    return replace(total, values=shrunk)


def draw_release(plan: ReleasePlan, total: FixedPoint, bits: RandomBits) -> np.ndarray:
    """Add noise to a sum, once, and round it to the lattice of the release."""
    lattice = release_lattice(plan.law.smallest_scale, total)
    return lattice.to_float(plan.law.release(total, lattice, bits))


def denoised_sum(released: np.ndarray, plan: ReleasePlan) -> np.ndarray:
    """Denoise a released sum, whose signal has at most n people for its norm."""
    bound = float(plan.n_people) ** 2
    return bayesian_average(released[None], plan.law, bound, plan.n_outputs)[0]


def denoised_deviation(
    released: np.ndarray, denoised: np.ndarray, plan: ReleasePlan
) -> np.ndarray:
    """How far the sum without noise may be from `denoised`, given the release.

    With the factor f that a coefficient was multiplied by and the variance s of its
    noise, the posterior variance is about f s, of which f (1 - f) s is the bias of
    shrinking a signal of the size that the prior expects. That is doubled, for signals
    of twice that energy: one curve is no draw of the prior. And where nothing is seen,
    small signals may be there all the same: a tenth of s is kept of what is taken off.
    """
    bound = float(plan.n_people) ** 2
    law, n_outputs = plan.law, plan.n_outputs
    posterior = posterior_deviation(released[None], law, bound, n_outputs)[0]
    kept = np.ones_like(released)
    np.divide(denoised, released, out=kept, where=released != 0)
    doubt = np.sqrt(np.clip(1 - kept, 0.0, 1.0) * (kept + _UNSEEN))
    return np.hypot(posterior, doubt * law.std)


def in_tenths(
    chunks: Iterable[np.ndarray], n_chunks: int, verbose: bool | None = True
) -> Iterator[np.ndarray]:
    """Show progress in tenths: the number of rows that people own is private."""
    words = {"desc": "curves", "total": 10, "bar_format": _SHARE_ONLY}
    with progress_bar(verbose, **words) as bar:
        for done, chunk in enumerate(chunks, start=1):
            yield chunk
            bar.update(10 * done // n_chunks - bar.n)
