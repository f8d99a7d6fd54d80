"""The single steps of a release of mean and covariance, as functions of arrays."""

from __future__ import annotations

import numpy as np

from ..basis import Basis
from ..curves import Curves
from ..noise import FixedPoint, NoiseLaw, RandomBits, release_lattice
from ..summaries import ValueBounds, curve_coefficients
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


def unit_rows(curves: Curves, basis: Basis, values: ValueBounds) -> np.ndarray:
    """Coefficients of all rows in the unit ball, in units of the norm bound."""
    chunks = curve_coefficients(curves, basis.projection, basis.domain, values)
    rows = np.concatenate(list(chunks)) / values.norm_bound
    rows /= np.maximum(np.abs(rows).max(axis=1), 1.0)[:, None]  # squares stay finite
    norm = np.sqrt(np.square(rows).sum(axis=1))
    return rows / np.maximum(norm, 1.0)[:, None]


def resized(vector: np.ndarray, size: int) -> np.ndarray:
    """The first entries of a vector, with zeros where it ends before."""
    result = np.zeros(size)
    result[: len(vector)] = vector[:size]
    return result


def distances_of_people(
    residuals: np.ndarray, codes: np.ndarray | None, n_people: int
) -> np.ndarray:
    """The largest norm among the rows of each person."""
    norm = np.sqrt(np.square(residuals).sum(axis=1))
    if codes is None:
        return norm
    largest = np.zeros(n_people)
    np.maximum.at(largest, codes, norm)
    return largest


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
