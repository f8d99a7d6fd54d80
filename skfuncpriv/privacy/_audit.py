"""Empirical lower bounds on epsilon: does a mechanism leak more than it promises?

Run the mechanism many times on two neighbours, look for an event whose probability
differs most, and bound the ratio with exact binomial confidence limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .._progress import progress_bar
from .._validation import check_count, check_delta, check_real

Numbers = NDArray[np.float64]

# More thresholds than this cannot improve the choice noticeably.
_MAX_THRESHOLDS = 2000


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """What an audit found.

    Parameters
    ----------
    epsilon_lower : float
        With the stated confidence the mechanism's epsilon is at least this; 0.0 when
        nothing was found.
    delta : float
        The delta that was allowed for.
    confidence : float
        Probability that ``epsilon_lower`` is a true bound.
    n_trials : int
        Runs on each of the two neighbours.
    event : str
        The event of the better direction.
    likely, unlikely : float
        Lower limit of its probability on one neighbour, upper limit on the other.

    Examples
    --------
    >>> from skfuncpriv.privacy import audit
    >>> result = audit(lambda data: data, 0.0, 1.0, n_trials=100)
    >>> result.epsilon_lower > 1
    True
    """

    epsilon_lower: float
    delta: float
    confidence: float
    n_trials: int
    event: str
    likely: float
    unlikely: float

    def __str__(self) -> str:
        return (
            f"epsilon >= {self.epsilon_lower:.4g} at delta = {self.delta:g}, with "
            f"confidence {self.confidence:g} ({self.n_trials} trials per neighbour; "
            f"{self.event}: at least {self.likely:.4g} against at most "
            f"{self.unlikely:.4g})"
        )


def audit(
    mechanism: Callable[..., Any],
    neighbour_a: Any,
    neighbour_b: Any,
    *,
    n_trials: int = 10_000,
    statistic: Callable[[Any], Any] | None = None,
    delta: float = 0.0,
    confidence: float = 0.999,
    batch: bool = False,
    progress: bool = False,
) -> AuditResult:
    """Bound the epsilon of a mechanism from below by running it on two neighbours.

    Parameters
    ----------
    mechanism : callable
        ``mechanism(data)`` returns one output; with ``batch=True``
        ``mechanism(data, n_trials)`` returns that many, independent ones. It must draw
        fresh noise at each call.
    neighbour_a, neighbour_b : object
        Two neighbouring data sets: test data, nothing about them is private.
    n_trials : int, default=10000
        Runs on each neighbour, at least 2. Half of them choose the event.
    statistic : callable, optional
        Maps an output (with ``batch=True``: all outputs at once) to a number. The best
        choice is the exact log-likelihood ratio of the two output laws, where it is
        known. By default the output itself, which must then be one number.
    delta : float, default=0.0
        The delta that the mechanism claims, in [0, 1).
    confidence : float, default=0.999
        Probability that the bound is true, in (0, 1).
    batch : bool, default=False
        Whether mechanism and statistic work on all trials at once.
    progress : bool, default=False
        Whether to show a progress bar from the start; one is shown after two seconds
        in notebooks and on terminals.

    Returns
    -------
    AuditResult
        The bound, and the event that shows it.

    Raises
    ------
    ValueError
        If a parameter is out of range, or a statistic is not one number per trial.

    Notes
    -----
    An (epsilon, delta)-DP mechanism has P(E | a) <= exp(epsilon) P(E | b) + delta for
    every event E, so epsilon >= log((p - delta)/q) with p a lower limit of the first
    probability and q an upper limit of the second [1]_. Events are {statistic >= t} and
    {statistic <= t}. In each direction (a over b, b over a) one event is chosen on the
    first half of the trials and bounded on the second half, which had no say in the
    choice, so that it needs no correction. The four exact one-sided binomial limits
    (two directions, p and q each; [2]_) share the error 1 - confidence equally, a
    Bonferroni correction.

    An audit is evidence of a leak, never a proof of privacy. For independent outputs of
    a vector-valued mechanism only the likelihood ratio is sharp.

    References
    ----------
    .. [1] M. Jagielski, J. Ullman and A. Oprea, "Auditing differentially private
       machine learning: how private is private SGD?", NeurIPS 2020.
    .. [2] C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits
       illustrated in the case of the binomial", Biometrika 26, 1934.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.privacy import audit
    >>> noise = np.random.default_rng(0)
    >>> laplace = lambda data, size: data + noise.laplace(size=size)  # epsilon = 1
    >>> 0.9 < audit(laplace, 0, 1, n_trials=200_000, batch=True).epsilon_lower <= 1
    True
    """
    n_trials = check_count(n_trials, "n_trials", minimum=2)
    delta = check_delta(delta)
    confidence = check_real(confidence, "confidence")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be a number in (0, 1), got {confidence!r}")
    if batch:
        values = [
            _batch_values(mechanism(data, n_trials), statistic, n_trials)
            for data in (neighbour_a, neighbour_b)
        ]
    else:
        values = _single_values(
            mechanism, (neighbour_a, neighbour_b), statistic, n_trials, progress
        )
    error = (1 - confidence) / 4
    half = n_trials // 2
    (choose_a, bound_a), (choose_b, bound_b) = (
        (part[:half], part[half:]) for part in values
    )
    directions = (
        ("a over b", choose_a, choose_b, bound_a, bound_b),
        ("b over a", choose_b, choose_a, bound_b, bound_a),
    )
    results = []
    for name, choose_p, choose_q, bound_p, bound_q in directions:
        side, threshold = _choose_event(choose_p, choose_q, delta, error)
        likely = _lower_limit(_count(bound_p, side, threshold), bound_p.size, error)
        unlikely = _upper_limit(_count(bound_q, side, threshold), bound_q.size, error)
        results.append(
            AuditResult(
                epsilon_lower=max(float(_log_ratio(likely, unlikely, delta)), 0.0),
                delta=delta,
                confidence=confidence,
                n_trials=n_trials,
                event=f"{name}, statistic {side} {threshold:.6g}",
                likely=float(likely),
                unlikely=float(unlikely),
            )
        )
    return max(results, key=lambda result: result.epsilon_lower)


def _batch_values(
    outputs: Any, statistic: Callable[[Any], Any] | None, n_trials: int
) -> Numbers:
    numbers = outputs if statistic is None else statistic(outputs)
    return _check_values(np.asarray(numbers, dtype=np.float64), n_trials)


def _single_values(
    mechanism: Callable[..., Any],
    neighbours: tuple[Any, Any],
    statistic: Callable[[Any], Any] | None,
    n_trials: int,
    progress: bool,
) -> list[Numbers]:
    """The two neighbours take turns, so that a drift affects both alike."""
    words = {"iterable": range(n_trials), "desc": "audit", "unit": "trial"}
    trials = progress_bar(progress, **words)
    values = np.empty((2, n_trials))
    for trial in trials:
        for row, data in enumerate(neighbours):
            output = mechanism(data)
            number = np.asarray(output if statistic is None else statistic(output))
            if number.size != 1:
                raise ValueError(
                    "the output must be one number, or statistic= must make it one, "
                    f"got shape {number.shape}"
                )
            values[row, trial] = number.item()
    return [_check_values(row, n_trials) for row in values]


def _check_values(values: Numbers, n_trials: int) -> Numbers:
    if values.shape != (n_trials,):
        raise ValueError(
            f"one number per trial is needed, shape ({n_trials},), got shape "
            f"{values.shape}; pass a statistic that makes it so"
        )
    if np.isnan(values).any():
        raise ValueError("the statistic must be a number for every output, got NaN")
    return values


def _choose_event(
    likely: Numbers, unlikely: Numbers, delta: float, error: float
) -> tuple[str, float]:
    """The side and threshold whose bound is largest on the choosing half."""
    thresholds = np.unique(np.concatenate([likely, unlikely]))
    if thresholds.size > _MAX_THRESHOLDS:
        picks = np.linspace(0, thresholds.size - 1, _MAX_THRESHOLDS).round()
        thresholds = thresholds[picks.astype(np.intp)]
    best = (-math.inf, ">=", float(thresholds[0]))
    for side in (">=", "<="):
        bounds = _log_ratio(
            _lower_limit(_count(likely, side, thresholds), likely.size, error),
            _upper_limit(_count(unlikely, side, thresholds), unlikely.size, error),
            delta,
        )
        index = int(np.argmax(bounds))
        best = max(best, (float(bounds[index]), side, float(thresholds[index])))
    return best[1], best[2]


def _count(values: Numbers, side: str, thresholds: Any) -> NDArray[np.intp]:
    """How many values lie on that side of each threshold, ties included."""
    ordered = np.sort(values)
    if side == ">=":
        return np.asarray(values.size - np.searchsorted(ordered, thresholds, "left"))
    return np.asarray(np.searchsorted(ordered, thresholds, "right"))


def _lower_limit(count: Any, n: int, error: float) -> Numbers:
    """Clopper-Pearson: the limit of a success probability from below."""
    count = np.asarray(count)
    limit = stats.beta.ppf(error, np.maximum(count, 1), n - count + 1)
    return np.where(count == 0, 0.0, limit)


def _upper_limit(count: Any, n: int, error: float) -> Numbers:
    """Clopper-Pearson: the limit of a success probability from above."""
    count = np.asarray(count)
    limit = stats.beta.isf(error, count + 1, np.maximum(n - count, 1))
    return np.where(count == n, 1.0, limit)


def _log_ratio(likely: Numbers, unlikely: Numbers, delta: float) -> Numbers:
    excess = np.maximum(likely - delta, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(excess / unlikely))
