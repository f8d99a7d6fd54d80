"""From scores of private rows to integer votes of people, and what one can change.

A choice sees differences of candidates only. So a person's values are moved such that
the middle between the largest and the smallest is zero, and clipped, last, to integers
of at most half of a public range.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from .._tables import is_frame
from ..exceptions import PrivacyError
from ..noise import (
    FixedPoint,
    IndependentLaplace,
    Lattice,
    RandomBits,
    release_lattice,
)
from ..privacy import permute_and_flip
from ._accuracy import Accuracy
from ._bounded_score import BoundedScore
from ._candidates import final, transformed
from ._integrated_error import IntegratedSquaredError
from ._log_likelihood import LogLikelihood
from ._rows import take
from ._squared_error import SquaredError

_NEVER_FAIL = (Accuracy, IntegratedSquaredError, LogLikelihood, SquaredError)
_EXACT_BITS = 52  # sums of integers with a sign that floats hold without rounding
_MOST_BITS = 40  # of one vote


class Voters(NamedTuple):
    """The people who score, with their rows.

    Parameters
    ----------
    X, y : array-like
        *Private* rows and targets of everybody.
    rows : ndarray of int
        The rows of these people.
    codes : ndarray of int, shape of `rows`, or None
        Whose they are, from 0 on; None if every row is a person.
    n_people : int
        How many people they are; public.
    """

    X: Any
    y: Any
    rows: np.ndarray
    codes: np.ndarray | None
    n_people: int

    def tables(self, at_once: bool) -> Iterator[tuple[np.ndarray, Any, Any]]:
        """People, with their rows; everybody at once only if every row is a person.

        With `codes` one person at a time: what is computed of a row may depend, in the
        last bit, on how many others are computed with it, and that number is private.
        """
        if self.codes is None:
            everybody = np.arange(self.n_people)
            pieces = [everybody] if at_once else np.split(everybody, self.n_people)
            for people in pieces:
                own = self.rows[people]
                yield people, take(self.X, own), take(self.y, own)
            return
        order = np.argsort(self.codes, kind="stable")
        starts = np.searchsorted(self.codes[order], np.arange(1, self.n_people))
        for person, own in enumerate(np.split(self.rows[order], starts)):
            yield np.array([person]), take(self.X, own), take(self.y, own)


def choose(
    score: BoundedScore,
    models: Sequence[Any],
    voters: Voters,
    epsilon: float,
    bits: RandomBits,
) -> int:
    """Choose a released estimator with a high score, privately.

    Parameters
    ----------
    score : BoundedScore
        How rows are scored.
    models : sequence of estimators
        K fitted estimators; *released*.
    voters : Voters
        The people who score; *private*.
    epsilon : float
        The budget of the choice, pure; *public*.
    bits : RandomBits
        The source of randomness.

    Returns
    -------
    int
        The number of one estimator; *released*.

    Notes
    -----
    *Sensitivity.* The score of candidate k is a sum over people of integers v_ik with
    abs(v_ik) <= h. Neighbours replace one person, i, so that the difference of the
    scores of two candidates moves by at most abs(v_ij - v_ik) + abs(v'_ij - v'_ik) <=
    4 h. In the proof of `permute_and_flip` candidate k wins if its noise is at least
    m = max_{j != k}(s_j + E_j) - s_k, and m moves by at most 4 h. That is a
    sensitivity of 2 h, also where single scores would move by more.

    *Range.* From public bounds of the differences of a person's values, offsets of the
    candidates are found such that all differences are at most `reach` apart from zero,
    with `reach` about half of the range of the worst pair. In units of
    reach / (2 h), values less offset and less the middle lie within h. They are
    clipped there as integers, so that an error of bounds or of floats could cost
    accuracy, never privacy. Sums are below 2^53: floats hold them exactly.
    """
    offsets, reach = centred(*score.differences([final(model) for model in models]))
    values = person_values(score, models, voters) - offsets
    half = 1 << (_vote_bits(voters.n_people) - 1)
    votes = whole_votes(values, reach, half).sum(axis=0)
    scores = votes.astype(np.float64)[None]
    (best,) = permute_and_flip(
        scores, epsilon=epsilon, bits=bits, sensitivity=2.0 * half
    )
    return int(best)


def noisy_score(
    score: BoundedScore, model: Any, voters: Voters, epsilon: float, bits: RandomBits
) -> float:
    """Release the mean score of one released estimator.

    Parameters
    ----------
    score : BoundedScore
        How rows are scored.
    model : estimator
        A fitted estimator; *released*.
    voters : Voters
        The people who score; *private*.
    epsilon : float
        The budget, pure; *public*.
    bits : RandomBits
        The source of randomness.

    Returns
    -------
    float
        The mean over people plus Laplace noise; *released*.

    Notes
    -----
    A person's value is rounded to an integer of 0, ..., 2^b, in units of the public
    range over 2^b, clipped last. The exact sum moves by at most 2^b, the sensitivity
    of the noise, which is added once and correctly rounded.
    """
    low, high = _finite_bounds(score, model)
    top = 1 << _vote_bits(voters.n_people)
    unit = (high - low) / top
    if unit == 0:
        return low
    values = person_values(score, [model], voters)[:, 0]
    votes = np.clip(np.rint((values - low) / unit), 0, top).astype(np.int64)
    law = IndependentLaplace.scale_for(epsilon, float(top), [1.0])
    total = FixedPoint(votes.sum(keepdims=True), Lattice(0), top * voters.n_people)
    lattice = release_lattice(law.smallest_scale, total)
    (released,) = lattice.to_float(law.release(total, lattice, bits))
    return low + unit * float(released) / voters.n_people


def person_values(
    score: BoundedScore, models: Sequence[Any], voters: Voters
) -> np.ndarray:
    """The values of people under each estimator, within bounds, (n_people, K).

    A function of each person's rows alone. Whatever fails counts as the lower bound,
    without a word: that it failed would tell of the rows. It must not touch what others
    get: one person at a time is scored, unless X is a table and the score is known
    never to fail for tables that were fitted. In strict mode these may hold what is no
    number. The score, and the models it is asked about, are copies: what it writes down
    is gone at the end.
    """
    score, models = deepcopy(score), deepcopy(list(models))
    table = np.empty((voters.n_people, len(models)))
    strict = any(final(model)._is_strict() for model in models)
    is_table = isinstance(voters.X, np.ndarray) or is_frame(voters.X)
    at_once = is_table and type(score) in _NEVER_FAIL and not strict
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bounds = [_finite_bounds(score, model) for model in models]
        for people, X, y in voters.tables(at_once):
            for k, (model, (low, high)) in enumerate(zip(models, bounds, strict=True)):
                values = _attempt(score, model, X, y)
                values = np.clip(np.where(np.isnan(values), low, values), low, high)
                if len(people) == 1:
                    table[people, k] = values.mean() if values.size else low
                else:
                    table[people, k] = values
    return table


def centred(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, float]:
    """Offsets of candidates, and how far from zero their differences are then.

    From the bounds of all differences, shape (K, K). Middles of differences from one
    candidate are tried as offsets, for each of them.
    """
    offsets, reach = np.zeros(len(low)), np.inf
    for trial in (low + high) / 2:
        shift = trial[None, :] - trial[:, None]
        farthest = float(np.max(np.maximum(high - shift, shift - low)))
        if farthest < reach:
            offsets, reach = trial, farthest
    if not np.isfinite(reach):
        raise PrivacyError(
            "the differences of scores must have finite bounds: check what scoring "
            "says of the released estimators"
        )
    return offsets, reach


def whole_votes(values: np.ndarray, reach: float, half: int) -> np.ndarray:
    """Integers of at most `half` in absolute value: a person's values, centred."""
    if not reach > 0:
        return np.zeros(values.shape, dtype=np.int64)
    middle = (values.max(axis=1, keepdims=True) + values.min(axis=1, keepdims=True)) / 2
    with np.errstate(all="ignore"):
        scaled = np.rint((values - middle) / reach * (2 * half))
    scaled = np.where(np.isnan(scaled), 0.0, scaled)
    return np.clip(scaled, -half, half).astype(np.int64)


def _vote_bits(n_people: int) -> int:
    """Of the largest vote: public."""
    return min(_MOST_BITS, _EXACT_BITS - int(n_people).bit_length())


def _finite_bounds(score: BoundedScore, model: Any) -> tuple[float, float]:
    low, high = (float(end) for end in score.bounds(final(model)))
    if not (np.isfinite(low) and np.isfinite(high - low) and low <= high):
        raise PrivacyError(
            "the bounds of a score must be finite numbers, low <= high, got "
            f"{(low, high)!r}: check {type(score).__name__}.bounds"
        )
    return low, high


def _attempt(score: BoundedScore, model: Any, X: Any, y: Any) -> np.ndarray:
    try:
        values = score.values(final(model), transformed(model, X), y)
        return np.asarray(values, dtype=np.float64)
    except Exception:
        return np.array([np.nan])
