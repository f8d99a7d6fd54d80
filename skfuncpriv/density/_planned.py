"""What a density would release, from public facts alone.

Bias is that of the density of reference of the bandwidths: a normal one in the middle
of the box, with a deviation of a twelfth of each width, and Gaussian kernels. Sampling
and noise do not depend on the density. What the rules at the bounds add is left out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._planned import PlannedRelease
from .._validation import check_count
from ..noise import BlockSpherical, IndependentGaussian
from ._bandwidth import SPREAD, iqr_bandwidth, kernel_bias
from ._grid_density import GridDensity
from ._plans import Planner

_N_NODES = 513
_EQUAL = 1e-12  # relative difference of numbers that are equal but for rounding


def planned_density(model: Any, n_people: int, n_features: int) -> PlannedRelease:
    """The parameters and errors of a release of ``PrivateKDE``.

    One that reads its bandwidth off private quartiles is planned with those of the
    density of reference, and its bandwidth is not known before.
    """
    n_people = check_count(n_people, "n_samples")
    n_features = check_count(n_features, "n_outputs")
    if isinstance(model.bounds, tuple | list | np.ndarray):  # may name each feature's
        n_features = max([n_features, *map(np.size, model.bounds)])
    planner = Planner(model, n_people, n_features)
    is_read = model.bandwidth == "private-iqr"
    plan = _with_reference(planner) if is_read else planner.plan
    has_kernel = isinstance(plan.bandwidth, np.ndarray)
    bandwidth = plan.bandwidth if has_kernel else 1 / np.array(plan.shape)
    square = plan.largest_norm**2 if has_kernel else plan.bins.size
    bias = kernel_bias(bandwidth) if has_kernel else _cut_bias(plan.shape)
    noise = plan.expected_square * (1 if has_kernel else plan.bins.size)
    volume = float(np.prod(planner.widths))
    return PlannedRelease(
        n_people=n_people,
        epsilon=float(model.epsilon),
        delta=plan.guarantee("row", False).delta,
        mechanism=_name(plan.law),
        n_functions=plan.law.size,
        bias=bias / volume,
        sampling=square / n_people / volume,
        noise=noise / volume,
        bandwidth=None if is_read else _as_number(bandwidth * planner.widths),
        released="the released density",
        size=volume,
    )


def _with_reference(planner: Planner) -> Any:
    nodes = np.linspace(0.0, 1.0, _N_NODES)
    normal = np.exp(-0.5 * np.square((nodes - 0.5) / SPREAD))
    density = GridDensity.on_unit_cube(normal / normal.mean())
    marginals = [density] * len(planner.box)
    return planner.plan_with(iqr_bandwidth(marginals, planner.n_people))


def _cut_bias(shape: tuple[int, ...]) -> float:
    """The energy of the density of reference beyond the coefficients of the bins."""

    def energy(n_functions: int) -> float:
        ranks = np.arange(2, n_functions, 2)  # odd ones are zero in the middle
        return 1 + 2 * float(np.exp(-np.square(np.pi * ranks * SPREAD)).sum())

    whole = energy(math.ceil(10 / SPREAD))
    return whole ** len(shape) - math.prod(map(energy, shape))


def _name(law: Any) -> str:
    if isinstance(law, BlockSpherical):
        return "block-spherical"
    return "gaussian" if isinstance(law, IndependentGaussian) else "laplace"


def _as_number(bandwidth: np.ndarray) -> float | tuple[float, ...]:
    numbers = tuple(bandwidth.tolist())
    return numbers[0] if np.ptp(numbers) <= _EQUAL * numbers[0] else numbers
