"""Privacy-safe selection: tuning parameters from public facts alone.

The default minimises a bound of the risk over a public grid. Noise enters by its exact
expected square. Bias enters by its supremum over a stated ball of smooth functions: the
coefficients of the mean, in units of the norm bound, have an energy beyond the first m
of at most R^2 m^(-2 s), R = 10 and s = 1.7 (between once and twice differentiable). R
and s were set once, on simulated curves that no benchmark uses. The bias of shrinking
is taken at its worst single frequency: the supremum over the whole ball is larger by up
to a logarithm, and choosing by it gave errors a third larger on simulated curves.

With a denoiser the noise need not be equal: what it is expected to shrink is multiplied
by 1 / (1 + (j / k)^2), and blocks of noise are cut for these weights, so that low
frequencies get less. The knee k is half of what the bound over smooth functions takes;
the last coefficient is where the same bound over rough ones (R = 2.2, s = 1) is
smallest. The three numbers were set on paths of Gaussian processes, bumps, steps,
chirps, random spectra, growth, temperatures and gait, by the mean of the errors beside
those of the best sizes for each kind.

``"rate"`` is the plug-in of the published kind, from the order of the bias and the
noise with scales proportional to sqrt(lambda_j): see `rate_psi`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from ..exceptions import PrivacyError
from ._plan import ReleasePlan

_SMOOTH = (10.0, 1.7)
_ROUGH = (2.2, 1.0)
_KNEE = 0.5
_UNLIMITED = 1 << 10
_FEWEST = 4
# With equal weights these are never better than the spherical law.
_UNEQUAL = ("block-spherical", "laplace")
_PARTITIONS = ("spherical", "laplace")
_PSI_GRID = 10.0 ** np.arange(-8.0, 1.01, 0.25)
_ETA, _ETA_GRID = 1.5, (1.01, 1.5, 2.0)


def select_plan(
    plan: ReleasePlan,
    mechanisms: Sequence[str],
    *,
    n_functions: int | None,
    eta: float | str,
    psi: float | str,
    denoise: bool = False,
) -> ReleasePlan:
    """Complete a plan by public choices.

    Parameters
    ----------
    plan : ReleasePlan
        With the spectrum of all functions that may be used.
    mechanisms : sequence of str
        The noise laws to choose from.
    n_functions : int or None
        How many functions are used; None selects.
    eta : float or "pss"
        The exponent of the penalty; "pss" selects it together with psi.
    psi : float, "pss" or "rate"
        The strength of the penalty, or how to select it.
    denoise : bool, default=False
        Whether a denoiser takes the place of the quadratic penalty.

    Returns
    -------
    ReleasePlan
        The candidate of the smallest risk bound.

    Raises
    ------
    PrivacyError
        If the noise of every candidate overflows.
    """
    if denoise:
        best = _least(_denoised(plan, mechanisms, n_functions), _ROUGH)
    else:
        best = _least(_penalised(plan, mechanisms, n_functions, eta, psi))
    if best is None:
        raise PrivacyError(
            "the noise leaves the range of floating point: choose a larger epsilon"
        )
    return best


def _least(
    candidates: Iterable[ReleasePlan],
    ball: tuple[float, float] = _SMOOTH,
) -> ReleasePlan | None:
    """The first candidate of the smallest risk bound; None if every one overflows."""
    best, best_risk = None, np.inf
    for candidate in candidates:
        risk = risk_bound(candidate, ball)
        if risk < best_risk:
            best, best_risk = candidate, risk
    return best


def _penalised(
    plan: ReleasePlan,
    mechanisms: Sequence[str],
    n_functions: int | None,
    eta: float | str,
    psi: float | str,
) -> Iterator[ReleasePlan]:
    """Every strength of the penalty, law and number of functions."""
    for penalised in _penalties(plan, eta, psi):
        for mechanism in mechanisms:
            equal = penalised.psi == 0 or penalised.penalty == "ar"
            if equal and len(mechanisms) > 1 and mechanism in _UNEQUAL:
                continue
            candidate = replace(penalised, mechanism=mechanism)
            for size in _sizes(candidate, n_functions):
                yield candidate.cut(size)


def _denoised(
    plan: ReleasePlan, mechanisms: Sequence[str], n_functions: int | None
) -> Iterator[ReleasePlan]:
    """One candidate for each law: its knee from one ball, its end from the other.

    One sphere, whose every further coefficient makes all others noisier, ends where
    smooth functions do.
    """
    for mechanism in mechanisms:
        if mechanism in _PARTITIONS and "block-spherical" in mechanisms:
            continue  # one block, or blocks of one, are among the partitions
        equal = "spherical" if mechanism in _UNEQUAL else mechanism
        budget = (plan.epsilon, plan.delta, plan.spread)
        sizes = _best_sizes(equal, plan.n_people, plan.n_outputs, *budget)
        if sizes is None:
            continue
        smooth, rough = sizes
        candidate = replace(plan, mechanism=mechanism, knee=_KNEE * smooth)
        end = smooth if mechanism == "spherical" else rough
        yield candidate.cut(n_functions or end)


@lru_cache(maxsize=256)
def _best_sizes(
    mechanism: str,
    n_people: int,
    n_outputs: int,
    epsilon: float,
    delta: float,
    spread: float,
) -> tuple[int, int] | None:
    """How many functions are best for smooth and for rough ones, with equal weights.

    None if all noise overflows. Rounds of one fit ask for the same, and so do fits of
    other people with the same public facts.
    """
    unlimited = ReleasePlan(
        n_people,
        n_outputs,
        np.ones(_UNLIMITED),
        epsilon,
        delta,
        mechanism,
        spread=spread,
    )
    cuts = [unlimited.cut(size) for size in _sizes(unlimited, None)]
    smooth, rough = _least(cuts, _SMOOTH), _least(cuts, _ROUGH)
    if smooth is None or rough is None:
        return None
    return len(smooth.spectrum), len(rough.spectrum)


def risk_bound(plan: ReleasePlan, ball: tuple[float, float] = _SMOOTH) -> float:
    """Noise plus worst-case bias over a ball of functions, after expected weights."""
    return plan.predicted_square + _bias(plan, plan.expected_weights, ball)


def bias_bound(plan: ReleasePlan) -> float:
    """Squared bias of cutting, and of shrinking at the worst frequency.

    In units of the squared norm bound, for means of the ball of smooth functions, after
    all expected weights.
    """
    return _bias(plan, plan.expected_weights, _SMOOTH)


def _bias(plan: ReleasePlan, weights: np.ndarray, ball: tuple[float, float]) -> float:
    tail = tail_energy(np.arange(len(plan.spectrum) + 1), ball)
    kept = 1 - weights
    shrunk = np.max(kept**2 * tail[:-1], initial=0.0)
    clipped = np.sum(
        np.minimum(plan.thresholds**2, np.repeat(tail[:-1], plan.n_outputs))
    )
    return float(tail[-1] + shrunk + clipped)


def rate_psi(plan: ReleasePlan) -> float:
    """The plug-in strength of the QR penalty.

    With lambda_j of order j^-p, noise scales proportional to sqrt(lambda_j) cost of
    the order (n eps)^-2 psi^(-(1 + 1/p) / eta), and the squared bias is of order psi;
    they balance at psi = (n eps)^(-2 / (1 + (1 + 1/p) / eta)).
    """
    spectrum = plan.spectrum[: max(4, len(plan.spectrum) // 2)]
    rank = np.arange(1, len(spectrum) + 1)
    half = len(spectrum) // 2
    decay = 2.0
    if half:
        slope = np.polyfit(np.log(rank[half:]), np.log(spectrum[half:]), 1)[0]
        decay = max(1.0, -float(slope))
    exponent = 2 / (1 + (1 + 1 / decay) / plan.eta)
    return float((plan.n_people * plan.epsilon) ** -exponent)


def tail_energy(rank: np.ndarray, ball: tuple[float, float] = _SMOOTH) -> np.ndarray:
    """The largest energy of coefficients from a rank on, in a ball (R, s)."""
    radius, smoothness = ball
    with np.errstate(divide="ignore"):
        return np.minimum(1.0, radius**2 * rank ** (-2.0 * smoothness))


def _penalties(
    plan: ReleasePlan, eta: float | str, psi: float | str
) -> Iterator[ReleasePlan]:
    """The exponents and strengths of the penalty to try."""
    searched = psi == "pss"
    etas = _ETA_GRID if searched else (_ETA,)
    if eta != "pss":
        etas = (float(eta),)
    for exponent in etas:
        candidate = replace(plan, eta=exponent)
        if psi == "rate":
            yield replace(candidate, psi=rate_psi(candidate))
        elif searched:
            if plan.penalty == "qr":
                yield replace(candidate, psi=0.0)
            for strength in _PSI_GRID:
                yield replace(candidate, psi=float(strength))
        else:
            yield replace(candidate, psi=float(psi))


def _sizes(plan: ReleasePlan, n_functions: int | None) -> Iterable[int]:
    """The numbers of functions to try."""
    available = len(plan.spectrum)
    if plan.penalty == "ar":  # where t_j >= 1 the release is zero for all data
        available = max(1, int(np.sum(plan.thresholds[:: plan.n_outputs] < 1)))
    if n_functions is not None:
        return [min(n_functions, available)]
    if plan.penalty == "qr" and plan.psi > 0:
        visible = int(np.sum(plan.weights > 1e-3))
        return [max(1, visible)]
    fewest = min(_FEWEST, available)
    sizes = np.geomspace(fewest, available, 48).round().astype(int)
    return sorted(set(sizes.tolist()))
