"""The single steps of a release of mean and covariance, as functions of arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..blocks._block_rows import BlockRows
from ..blocks._memory_rows import MemoryRows
from ..curves import Curves
from ..noise import FixedPoint, NoiseLaw, RandomBits, release_lattice
from ..summaries import ValueBounds, curve_coefficients, number_of_people
from ._covariance_plan import CovariancePlan
from ._radius import candidate_radii, choose_among, people_beyond
from ._second_moment import SecondMoment

_SMALLEST_RADIUS = 2.0**-60  # of the norm bound
_NORMS = 1e-140, 1e150  # whose squares are numbers


def stated_radius(radius: float | None, values: ValueBounds) -> float | None:
    """A public radius in units of the norm bound; None if it is to be chosen."""
    if not _NORMS[0] <= values.norm_bound <= _NORMS[1]:
        raise ValueError(
            f"bounds must imply norms from {_NORMS[0]} to {_NORMS[1]}, got "
            f"{values.norm_bound}: use other units"
        )
    if radius is None:
        return None
    share = float(radius) / values.norm_bound
    if not share >= _SMALLEST_RADIUS:
        raise ValueError(
            f"radius must be at least {_SMALLEST_RADIUS} of the norm bound "
            f"{values.norm_bound}, got {radius!r}"
        )
    return min(share, 2.0)  # no two curves are further apart


def add_noise(law: NoiseLaw, value: FixedPoint, bits: RandomBits) -> np.ndarray:
    """Add noise once, round correctly, and read the lattice."""
    lattice = release_lattice(law.smallest_scale, value)
    return lattice.to_float(law.release(value, lattice, bits))


def unit_rows(
    curves: Curves,
    projection: Callable[[np.ndarray], np.ndarray],
    domain: tuple[float, float],
    values: ValueBounds,
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of rows in the unit ball, and which rows have no values."""
    chunks = curve_coefficients(curves, projection, domain, values)
    rows = np.concatenate(list(chunks)) / values.norm_bound
    rows /= np.maximum(np.abs(rows).max(axis=1), 1.0)[:, None]  # squares stay finite
    norm = np.sqrt(np.square(rows).sum(axis=1))
    return rows / np.maximum(norm, 1.0)[:, None], curves.all_missing


def resized(vector: np.ndarray, size: int) -> np.ndarray:
    """The first entries of a vector, with zeros where it ends before."""
    result = np.zeros(size)
    result[: len(vector)] = vector[:size]
    return result


def choose_radius_around(
    center: np.ndarray,
    rows: MemoryRows | BlockRows,
    plan: CovariancePlan,
    bits: RandomBits,
) -> float:
    """Choose a radius around a released centre, privately, as `choose_radius` does.

    Parameters
    ----------
    center : ndarray, shape (p,)
        The centre; *released*.
    rows : MemoryRows or BlockRows
        What `unit_rows` returns; *private*.
    plan : CovariancePlan
        The number of people and the budget.
    bits : RandomBits
        The source of randomness.

    Returns
    -------
    float
        The radius, in units of the norm bound; *released*.
    """
    epsilon = plan.epsilon_radius
    largest = 1 + float(np.sqrt(center @ center))
    radii = candidate_radii(largest, plan.moment.n_people, epsilon)
    beyond = rows.sum(partial(_count_beyond, center=center, radii=radii))
    return choose_among(radii, beyond, epsilon, bits)


def _count_beyond(
    data: tuple[np.ndarray, np.ndarray],
    codes: np.ndarray | None,
    *,
    center: np.ndarray,
    radii: np.ndarray,
) -> np.ndarray:
    """How many people have a row that is farther from the centre than each radius."""
    residuals, owners = _residuals(data, codes, center)
    distances = np.sqrt(np.square(residuals).sum(axis=1))
    if codes is not None:
        largest = np.zeros(number_of_people(codes))
        np.maximum.at(largest, owners, distances)
        distances = largest
    return people_beyond(distances, radii)


def sum_of_moments(
    data: tuple[np.ndarray, np.ndarray],
    codes: np.ndarray | None,
    *,
    center: np.ndarray,
    radius: float,
    moment: SecondMoment,
) -> FixedPoint:
    """The exact sum of moments about a centre, in units of a radius; it adds up."""
    residuals, codes = _residuals(data, codes, center)
    return moment.sum(residuals, codes, radius)


def _residuals(
    data: tuple[np.ndarray, np.ndarray], codes: np.ndarray | None, center: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    """Rows about a centre, and whose they are.

    A row without values is at the centre; a person's mean is over rows that have some.
    """
    rows, all_missing = data
    residuals = rows - center
    residuals[all_missing] = 0.0
    if codes is None:
        return residuals, None
    return residuals[~all_missing], codes[~all_missing]


def n_covariances(
    first: np.ndarray, second: np.ndarray, moment: SecondMoment
) -> np.ndarray:
    """Sums of moments about a public centre as n times the covariance matrix."""
    mean = moment.first(first)
    return moment.matrix(second) - np.outer(mean, mean) / moment.n_people


def gram_of_functions(functions: np.ndarray, is_vector: bool) -> np.ndarray:
    """Covariance on the grid from functions (n_points, n_outputs, k), exactly even."""
    shape = functions.shape[:2] if is_vector else functions.shape[:1]
    flat = functions.reshape(-1, functions.shape[2])
    return (flat @ flat.T).reshape(*shape, *shape)
