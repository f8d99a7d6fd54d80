"""The steps of a private regression, from parameters to released functions."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from .._planned import PlannedRelease
from .._row_weights import divided_among_rows
from .._validation import (
    check_count,
    check_delta,
    check_flag,
    check_interval,
    check_positive,
    check_real,
)
from ..denoise import bayesian_average
from ..exceptions import NoiseDominatesWarning, PrivacyError
from ..gaussian_process._losses import (
    EpsilonInsensitiveLoss,
    HuberLoss,
    Loss,
    SquaredLoss,
)
from ..gaussian_process._machine_plan import check_psi
from ..noise import FixedPoint, IndependentGaussian
from ..privacy import PrivacyGuarantee
from ._design_base import Design
from ._design_numbers import TYPICAL
from ._designs import public_design, read_eta, zero_rows
from ._minimiser import minimiser_value
from ._regression_rows import RegressionRows
from ._regressor_plan import (
    MOST_FEATURES,
    STATISTICS_MECHANISMS,
    Question,
    RegressionPlan,
    best_plan,
)
from ._ridge import NoisyMoments, deviations
from ._statistics import StatisticsPlan
from ._targets import CurveTargets, ScalarTargets, public_targets

LOSSES = ("squared", "huber", "epsilon_insensitive")
METHODS = ("auto", "statistics", "minimiser")
_THRESHOLDS = {"huber": 0.25, "epsilon_insensitive": 0.1}
_ONLY_STATISTICS = ("block-spherical", "laplace")
_DEFAULT_POINTS = 101
_NO_NOISE = 1e6  # an epsilon
_ALL_NOISE = 1e150  # a deviation that no coefficient function of finite energy survives
Targets = ScalarTargets | CurveTargets


def check_parameters(estimator: Any) -> None:
    """Check everything that does not depend on the form of the data."""
    check_positive(estimator.epsilon, "epsilon")
    check_delta(estimator.delta)
    choices = {
        "penalty": ("qr", "ar"),
        "loss": LOSSES,
        "method": METHODS,
        "mechanism": ("auto", *STATISTICS_MECHANISMS),
        "missing": ("error", "interpolate"),
    }
    for name, known in choices.items():
        value = getattr(estimator, name)
        if not (isinstance(value, str) and value in known):
            raise ValueError(f"{name} must be one of {list(known)}, got {value!r}")
    if estimator.mechanism == "gaussian" and estimator.delta == 0:
        raise PrivacyError("mechanism='gaussian' needs delta > 0, got delta=0")
    read_eta(estimator.eta)
    check_psi(estimator.psi, 1.0)
    check_flag(estimator.clip, "clip")
    check_flag(estimator.denoise, "denoise")
    if estimator.weight_cap is not None:
        check_positive(estimator.weight_cap, "weight_cap")
    if estimator.loss == "squared" and estimator.threshold is not None:
        raise ValueError("threshold is not used with loss='squared': drop it")
    allowed_methods(estimator)
    estimator._check_ledger()


def allowed_methods(estimator: Any) -> tuple[str, ...]:
    """The routes to choose from; combinations that have none are refused by name."""
    needs = {}
    if estimator.loss != "squared":
        needs["minimiser"] = f"loss={estimator.loss!r}"
    if estimator.penalty == "ar":
        needs["statistics"] = "penalty='ar', whose minimiser is not stable,"
    elif estimator.mechanism in _ONLY_STATISTICS:
        needs["statistics"] = f"mechanism={estimator.mechanism!r}"
    if estimator.method != "auto":
        needs.setdefault(estimator.method, f"method={estimator.method!r}")
    if len(needs) == 2:
        raise ValueError(
            f"{needs['statistics']} needs the route of statistics, but "
            f"{needs['minimiser']} that of the minimiser: change one of them"
        )
    return tuple(needs) or ("statistics", "minimiser")


def public_question(
    estimator: Any,
    design: Design,
    targets: Targets,
    n_people: int,
    unit: str,
    is_counted: bool,
) -> Question:
    """What the plan is asked for."""
    is_curve = isinstance(targets, CurveTargets)
    if is_curve and estimator.loss != "squared":
        raise ValueError(
            f"loss={estimator.loss!r} is for scalar targets: curves need loss='squared'"
        )
    feature_sizes, target_sizes = design.sizes, targets.sizes
    if not _is_pss(estimator.X_basis):
        feature_sizes = (design.size,)
    if not _is_pss(estimator.y_basis):
        target_sizes = (targets.size,)
    if estimator.method == "statistics" and feature_sizes[0] > MOST_FEATURES:
        raise ValueError(
            f"method='statistics' is for at most {MOST_FEATURES} features, not "
            f"{feature_sizes[0]}: choose method='minimiser', or fewer"
        )
    return Question(
        design=design,
        feature_sizes=feature_sizes,
        target_sizes=target_sizes,
        smooth=is_curve,
        n_outputs=targets.predictor.n_outputs if is_curve else 1,
        n_people=n_people,
        unit=unit,
        epsilon=float(estimator.epsilon),
        delta=float(estimator.delta),
        mechanism=estimator.mechanism,
        psi="pss" if estimator.penalty == "ar" else estimator.psi,
        loss=_scaled_loss(estimator, targets),
        methods=allowed_methods(estimator),
        is_counted=is_counted,
    )


def _scaled_loss(estimator: Any, targets: Targets) -> Loss:
    """The loss of residuals in units of half the width of the bounds."""
    if estimator.loss == "squared":
        return SquaredLoss()
    threshold = _THRESHOLDS[estimator.loss]
    if estimator.threshold is not None:
        half = float(targets.map[0, 0])
        threshold = check_real(estimator.threshold, "threshold") / half
    kind = HuberLoss if estimator.loss == "huber" else EpsilonInsensitiveLoss
    return kind(threshold)


def private_value(
    plan: RegressionPlan,
    design: Design,
    targets: Targets,
    data: RegressionRows,
    codes: np.ndarray | None,
) -> FixedPoint:
    """The exact sum of statistics, or a certified minimiser.

    Rows without data are left out of the mean of their person; a person without any
    other counts with zeros.
    """
    rows, values, shares = data.rows, data.values, data.shares
    is_sum = isinstance(plan.release, StatisticsPlan)
    if is_sum and codes is None:
        features = design.transform_alike(rows)
    else:
        features = design.transform(rows, codes)
    units = targets.units(values)
    seen = [
        part for part in (design.seen(rows), targets.seen(values)) if part is not None
    ]
    if seen:
        kept = np.all(seen, axis=0)
        if codes is None:
            features[~kept] = 0.0
        else:
            features, units, codes = features[kept], units[kept], codes[kept]
            shares = None if shares is None else shares[kept]
    if is_sum:
        return plan.release.value(features, units, shares, codes)
    weights = np.ones(len(features)) if shares is None else shares
    if codes is not None:
        weights = divided_among_rows(weights, codes)
    whitened = features / np.sqrt(design.penalty)
    return minimiser_value(plan.release, whitened, units, weights)


def warn_of_error(
    question: Question, plan: RegressionPlan, stacklevel: int = 3
) -> None:
    """Warn if privacy makes predictions worse than the mean of targets is.

    The signal and the residuals of the reference problem have the mean square `TYPICAL`
    each: from an error of predictions of the same size on, R^2 is negative. What is
    lost without noise, to stated psi or few functions, is taken off.
    """
    if plan.error < TYPICAL:
        return
    quiet = replace(question, epsilon=max(_NO_NOISE, question.epsilon))
    if plan.error - best_plan(quiet).error >= TYPICAL:
        warnings.warn(
            "the noise is expected to make predictions worse than the mean of y is: a "
            "larger epsilon, more people, tighter bounds or fewer features would make "
            "the release informative",
            NoiseDominatesWarning,
            stacklevel=stacklevel,
        )


def guarantee_of(plan: RegressionPlan, unit: str, seeded: bool) -> PrivacyGuarantee:
    """What a release promises."""
    if isinstance(plan.release, StatisticsPlan):
        return plan.release.guarantee(unit, seeded)
    return plan.release.guarantee(seeded)


class Fitted:
    """Released coefficients of features, and how uncertain they are; all is public.

    Attributes
    ----------
    theta : ndarray, shape (p, q)
        The coefficients.
    psi : float
        The strength of the penalty that was used.
    """

    def __init__(
        self,
        estimator: Any,
        plan: RegressionPlan,
        design: Design,
        targets: Targets,
        released: np.ndarray,
    ) -> None:
        self.psi = plan.psi
        if isinstance(plan.release, StatisticsPlan):
            is_scalar = isinstance(targets, ScalarTargets)
            self._solve(estimator, plan.release, design, released, is_scalar)
        else:
            roots = np.sqrt(design.penalty)
            coef = plan.release.coefficients(released).T
            self.theta = coef / roots[:, None]
            self._inverse: np.ndarray | None = np.diag(1 / roots)
            self._noise = (0.0, float(plan.release.law.std[0]))
        if estimator.denoise and isinstance(targets, CurveTargets):
            self._denoise(design, targets)

    def _solve(
        self,
        estimator: Any,
        release: StatisticsPlan,
        design: Design,
        released: np.ndarray,
        is_scalar: bool,
    ) -> None:
        second, cross = release.moments(released)
        weights, self._noise = design.penalty.copy(), release.deviations
        if design.constant > 0:
            weights[0] = 0.0
            second[0, 0] = max(second[0, 0], min(self._noise[0], design.constant**2))
        moments = NoisyMoments(second, cross, weights)
        if estimator.penalty == "ar":
            self.psi = estimator.psi
            if _is_pss(estimator.psi):
                self.psi = _absolute_psi(release, design)
            self.theta, self._inverse = moments.absolute(self.psi), None
        else:
            self.theta = moments.ridge(self.psi)
            self._inverse = moments.inverse(self.psi)
            if estimator.denoise and is_scalar and _is_pss(estimator.psi):
                self._average(moments, release, design)

    def deviation(self, left: np.ndarray, right: np.ndarray) -> np.ndarray | None:
        """Deviations of the noise of ``left @ theta @ right``; None if unknown."""
        if self._inverse is None:
            return None
        return deviations(left, self._inverse, self.theta, right, self._noise)

    def _average(
        self, moments: NoisyMoments, release: StatisticsPlan, design: Design
    ) -> None:
        """Average scalar coefficients over priors of smooth functions."""
        first = int(design.constant > 0)
        size = TYPICAL / np.sum((design.energy / design.penalty)[first:])
        with np.errstate(all="ignore"):
            try:
                theta = moments.averaged(
                    self._noise, TYPICAL / release.n_people, float(size)
                )
            except np.linalg.LinAlgError:
                return
        if np.isfinite(theta).all():  # otherwise all is noise, and ridge keeps its zero
            self.theta = theta

    def _denoise(self, design: Design, targets: CurveTargets) -> None:
        """Average each coefficient function over priors of smooth curves."""
        each = self.deviation(np.eye(design.size), np.eye(targets.size))
        if each is None:
            return
        spread = np.sqrt(np.square(each).mean(axis=1))
        n_outputs = targets.predictor.n_outputs
        bounds = 4 / np.maximum(design.energy, 1e-12)
        for k, (std, bound) in enumerate(
            zip(spread.tolist(), bounds.tolist(), strict=True)
        ):
            if not std < _ALL_NOISE:  # its square may be infinite
                self.theta[k] = 0.0
                continue
            law = IndependentGaussian((max(std, 1e-300),) * targets.size)
            row = self.theta[k : k + 1]
            self.theta[k] = bayesian_average(row, law, bound, n_outputs)[0]


def _absolute_psi(release: StatisticsPlan, design: Design) -> float:
    """The absolute penalty that noise alone seldom exceeds, times two.

    A coefficient stays zero if its gradient is below psi / 2; that of p coefficients
    of pure noise is seldom larger than sqrt(2 log(2 p)) deviations.
    """
    p, (second, cross) = release.n_features, release.deviations
    energy = design.energy[int(design.constant > 0) :]
    sampling = TYPICAL * np.max(energy, initial=0.0) / release.n_people
    spread = math.sqrt(cross**2 + second**2 / 2 + sampling)
    return 2 * math.sqrt(2 * math.log(2 * p * release.n_targets)) * spread


def planned_release(
    estimator: Any, n_people: int, n_outputs: int, n_points: int | None
) -> PlannedRelease:
    """What a regression would release, before there are data.

    Errors are those of predictions of the reference problem. X has as many columns as
    arrays in `X_bounds` have numbers, else `n_points`, else one (see `zero_rows`);
    `n_outputs` is the number of values of target curves at each point.
    """
    check_parameters(estimator)
    check_count(n_people, "n_samples")
    check_count(n_outputs, "n_outputs")
    y = np.zeros(1)
    if estimator.y_domain is not None:
        y = np.zeros((1, _n_points(estimator.y_grid), n_outputs))
    X = zero_rows(estimator, n_points)
    design, _ = public_design(estimator, X, smooth=estimator.y_domain is None)
    targets, _ = public_targets(estimator, y, 1)
    plan = best_plan(public_question(estimator, design, targets, n_people, "row", True))
    unit = float(np.square(targets.map).max()) if targets.size == 1 else 1.0
    size, place = 1.0, "for a row of a reference problem"
    if isinstance(targets, CurveTargets):
        unit = float(targets.predictor.values.norm_bound) ** 2
        low, high = check_interval(estimator.y_domain, "y_domain")
        size, place = high - low, f"at a point, {place}"
    release = plan.release
    return PlannedRelease(
        n_people=n_people,
        epsilon=float(estimator.epsilon),
        delta=float(estimator.delta) if release.mechanism == "gaussian" else 0.0,
        mechanism=release.mechanism,
        n_functions=plan.n_features,
        bias=plan.bias * unit,
        sampling=plan.sampling * unit,
        noise=plan.noise * unit,
        eta=getattr(design, "eta", None),
        psi=plan.psi,
        released="predictions",
        size=size,
        place=place,
    )


def _n_points(grid: Any) -> int:
    return _DEFAULT_POINTS if grid is None or isinstance(grid, str) else len(grid)


def _is_pss(value: Any) -> bool:
    return isinstance(value, str) and value == "pss"
