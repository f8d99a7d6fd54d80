"""Which plan a density is released by: a choice from public facts."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from .._base import warn_if_noise_dominates
from .._validation import check_count, check_delta, check_flag, check_positive
from ..exceptions import PrivacyError
from ..gaussian_process._rows import read_box
from ..privacy import PrivacyGuarantee, exact_epsilon
from ._axes import BOUNDARIES
from ._bandwidth import check_resolved, read_bandwidth, reference_bandwidth
from ._bernstein_plan import BernsteinPlan
from ._binned import BinnedPlan
from ._coefficients import CoefficientPlan
from ._points import check_volume
from ._process import ProcessPlan
from ._smoothing import KERNELS

MECHANISMS = {
    "auto": BinnedPlan,
    "binned": BinnedPlan,
    "gaussian_process": ProcessPlan,
    "iclp": CoefficientPlan,
    "bernstein": BernsteinPlan,
}
_CHOICES = {
    "mechanism": MECHANISMS,
    "kernel": KERNELS,
    "noise": ("auto", "laplace", "gaussian"),
}
MAX_FEATURES = 3
_LEAST_EPSILON = 1e-50
QUANTILE_SHARE = 0.2  # of epsilon, for private quantiles that need a release


def check_parameters(model: Any, n_axes: int) -> None:
    """Refuse what no data could make right."""
    for name, known in _CHOICES.items():
        value = getattr(model, name)
        if not (isinstance(value, str) and value in known):
            raise ValueError(f"{name} must be one of {tuple(known)}, got {value!r}")
    if check_positive(model.epsilon, "epsilon") < _LEAST_EPSILON:
        raise PrivacyError(
            f"the noise of epsilon={model.epsilon!r} overflows: it must be at least "
            f"{_LEAST_EPSILON}"
        )
    delta = check_delta(model.delta)
    check_flag(model.denoise, "denoise")
    if n_axes > MAX_FEATURES:
        raise ValueError(
            f"X has {n_axes} features; PrivateKDE takes one to {MAX_FEATURES}, as a "
            "grid over more has too many cells: choose columns, or use "
            "GaussianProcessReleaser with points= where the density is wanted"
        )
    needs_delta = model.noise == "gaussian" or model.mechanism == "gaussian_process"
    if needs_delta and delta == 0:
        raise PrivacyError(
            "Gaussian noise needs delta > 0, for example 1e-6, got delta=0: set it, or "
            "use mechanism='binned' with noise='auto'"
        )
    if MECHANISMS[model.mechanism] is not BinnedPlan:
        if model.noise != "auto":
            raise ValueError(
                f"noise={model.noise!r} belongs to mechanism='binned'; that of "
                f"{model.mechanism!r} is its own"
            )
        if model.kernel != "gaussian":
            raise ValueError(
                f"mechanism={model.mechanism!r} needs kernel='gaussian', got "
                f"{model.kernel!r}; mechanism='binned' takes every kernel"
            )


def read_boundary(boundary: Any, n_axes: int) -> tuple[str, ...]:
    """The rule at the bounds of each axis."""
    rules = (boundary,) * n_axes if isinstance(boundary, str) else boundary
    is_known = isinstance(rules, list | tuple) and len(rules) == n_axes
    if not is_known or not all(rule in BOUNDARIES for rule in rules):
        raise ValueError(
            f"boundary must be one of {BOUNDARIES}, or one of them for each of "
            f"{n_axes} features, got {boundary!r}"
        )
    return tuple(rules)


class Planner:
    """The public facts of one fit, and the plans that can be made from them.

    Parameters
    ----------
    model : PrivateKDE
        The estimator; only its parameters are read.
    n_people, n_axes : int
        Public sizes of the data.
    is_weighted : bool
        Whether rows have weights.
    """

    def __init__(
        self, model: Any, n_people: int, n_axes: int, is_weighted: bool = False
    ) -> None:
        check_parameters(model, n_axes)
        self._model = model
        self._kind = MECHANISMS[model.mechanism]
        self._how = {"denoise": model.denoise, "is_weighted": is_weighted}
        if self.is_binned:
            self._how |= {"noise": model.noise, "kernel": model.kernel}
        self.n_people = check_count(n_people, "the number of people")
        self.low, self.high = read_box(model.bounds, n_axes)
        self.box = tuple(zip(self.low.tolist(), self.high.tolist(), strict=True))
        self.widths = self.high - self.low
        check_volume(self.low, self.high)
        self.boundary = read_boundary(model.boundary, n_axes)
        if model.mechanism == "iclp" and "renormalize" in self.boundary:
            raise ValueError(
                "boundary='renormalize' has no meaning for the cosines of "
                "mechanism='iclp': use 'reflect' or 'periodic'"
            )
        self.bandwidth = read_bandwidth(model.bandwidth, n_people, self.widths)
        if not isinstance(self.bandwidth, str):
            check_resolved(self.bandwidth, self.widths, model.kernel)

    @property
    def is_binned(self) -> bool:
        """Whether the release is one of bins."""
        return self._kind is BinnedPlan

    @property
    def pays_for_quantiles(self) -> bool:
        """Whether a bandwidth from the data needs a release of its own."""
        return self._rule == "private-iqr" and not self.is_binned

    @property
    def _rule(self) -> str | None:
        """The name of the rule by which the bandwidth is chosen, if there is one."""
        return self.bandwidth if isinstance(self.bandwidth, str) else None

    def guarantee(self, unit: str, seeded: bool) -> PrivacyGuarantee:
        """What everything that is released promises together.

        Warns if public facts alone say that nothing will be seen.
        """
        first = self.quantile_plan if self.pays_for_quantiles else self.plan
        warn_if_noise_dominates(
            first.expected_square, first.largest_norm, "epsilon", stacklevel=4
        )
        if not self.pays_for_quantiles:
            return self.plan.guarantee(unit, seeded)
        widest = self.plan_with(np.full(len(self.box), 0.5)).guarantee(unit, seeded)
        return replace(widest, epsilon=self._model.epsilon)  # with that of quantiles

    @cached_property
    def quantile_plan(self) -> BinnedPlan:
        """Bins for private quantiles, at a share of epsilon."""
        share = QUANTILE_SHARE * self._model.epsilon
        weighted = self._how["is_weighted"]
        facts = (self.n_people, self.box, self.boundary, share, 0.0)
        return BinnedPlan(*facts, is_weighted=weighted)

    @cached_property
    def plan(self) -> Any:
        """The plan of the release, where public facts decide the bandwidth."""
        if self._rule is None:
            return self._make(self.bandwidth)
        if self.is_binned and self._rule == "private-iqr":
            return self._make(self._rule)
        if self.is_binned and self._model.denoise:
            return self._make(None)
        facts = (self.n_people, self.boundary, self._epsilon, self._model.delta)
        how = tuple(self._how.items())
        return self.plan_with(_selected_bandwidth(self._kind, *facts, how))

    def plan_with(self, bandwidth: np.ndarray) -> Any:
        """The plan with a bandwidth, or with the next larger one that is feasible."""
        while True:
            try:
                plan = self._make(bandwidth)
                plan.law  # noqa: B018
            except PrivacyError:
                if (bandwidth >= 1).all():
                    raise
                bandwidth = np.minimum(1.25 * bandwidth, 1.0)
            else:
                return plan

    @property
    def _epsilon(self) -> float:
        """What is left of epsilon for the estimate."""
        if not self.pays_for_quantiles:
            return self._model.epsilon
        return _rest(self._model.epsilon, self.quantile_plan.epsilon)

    def _make(self, bandwidth: np.ndarray | str | None) -> Any:
        facts = (self.n_people, self.box, self.boundary)
        budget = (self._epsilon, self._model.delta)
        return self._kind(*facts, *budget, bandwidth=bandwidth, **self._how)


@lru_cache(maxsize=64)
def _selected_bandwidth(
    kind: type,
    n_people: int,
    boundary: tuple[str, ...],
    epsilon: float,
    delta: float,
    how: tuple[tuple[str, Any], ...],
) -> np.ndarray:
    """The bandwidth with the smallest predicted error, kept for equal facts."""
    unit_box = ((0.0, 1.0),) * len(boundary)
    facts = (n_people, unit_box, boundary, epsilon, delta)

    def noise(bandwidth: np.ndarray) -> float:
        try:
            return kind(*facts, bandwidth=bandwidth, **dict(how)).expected_square
        except PrivacyError:
            return math.inf

    bandwidth = reference_bandwidth(n_people, len(boundary), noise)
    bandwidth.setflags(write=False)  # it is shared
    return bandwidth


def _rest(epsilon: float, spent: float) -> float:
    """What is left of epsilon: both add up to no more, to the last digit."""
    rest = epsilon - spent
    while exact_epsilon(rest) + exact_epsilon(spent) > exact_epsilon(epsilon):
        rest = math.nextafter(rest, 0.0)
    return rest
