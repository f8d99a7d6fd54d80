"""Curves that are known on a part of the domain: where, and what stands there.

A curve is a straight line between its observations and constant for a short reach
beyond those that have no neighbour. Together they are its support; outside of it the
curve says nothing, and its height is zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..noise._lattice import FloatArray


@dataclass(frozen=True)
class SupportRule:
    """The public rule that says where a curve is known.

    Parameters
    ----------
    domain : tuple of two floats
        The interval of the argument; *public*.
    max_gap : float
        Neighbouring observations further apart are not joined; infinity joins all;
        *public*.
    reach : float
        How far the curve is constant beyond an observation without a neighbour on that
        side, at least 0; *public*. Where two of them meet, the gap is bridged.

    Examples
    --------
    >>> import numpy as np
    >>> from skfuncpriv.summaries import SupportRule
    >>> rule = SupportRule((0.0, 9.0), max_gap=2.0, reach=0.5)
    >>> rule.spans(np.array([1.0, 2.0, 6.0]))
    (array([0.5, 5.5]), array([2.5, 6.5]))
    """

    domain: tuple[float, float]
    max_gap: float
    reach: float

    def spans(self, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the intervals of the support, which may leave the domain.

        Parameters
        ----------
        times : ndarray, shape (k,)
            Where a curve was observed, increasing; *private*.

        Returns
        -------
        starts, stops : ndarray, shape (n_spans,)
            The ends of the intervals, which are closed and apart from each other.
        """
        first, last = self._runs(times)
        return times[first] - self.reach, times[last] + self.reach

    def knots(self, times: FloatArray) -> FloatArray:
        """Return points between which mask and heights are straight lines.

        Parameters
        ----------
        times : ndarray, shape (k,)
            Where a curve was observed, increasing; *private*. If they are a common
            grid, the points serve every curve observed at some of its points.

        Returns
        -------
        ndarray, shape (n_knots,)
            Increasing points of the domain with its ends. A jump lies between two
            neighbouring floats, so that its slope has no width to speak of.
        """
        starts, stops = times - self.reach, times + self.reach
        outside = (np.nextafter(starts, -np.inf), np.nextafter(stops, np.inf))
        points = np.concatenate([times, starts, stops, *outside, self.domain])
        return np.unique(np.clip(points, *self.domain))

    def heights(
        self, times: FloatArray, values: FloatArray, knots: FloatArray
    ) -> FloatArray:
        """Evaluate a curve and the mask of its support.

        Parameters
        ----------
        times : ndarray, shape (k,)
            Where it was observed, increasing; *private*. There may be none.
        values : ndarray, shape (k, n_outputs)
            What was observed, within [-1, 1]; *private*.
        knots : ndarray, shape (n_knots,)
            Where to evaluate.

        Returns
        -------
        ndarray, shape (n_knots, 1 + n_outputs)
            The mask less one, then mask times curve: -1, 0, ..., 0 outside of the
            support. No absolute value exceeds one; what is not finite becomes zero.
        """
        table = np.zeros((len(knots), 1 + values.shape[1]))
        table[:, 0] = -1.0
        if len(times) == 0:
            return table
        first, last = self._runs(times)
        starts, stops = times[first] - self.reach, times[last] + self.reach
        span = np.searchsorted(starts, knots, side="right") - 1
        inside = (span >= 0) & (knots <= stops[np.maximum(span, 0)])
        ends = np.concatenate([starts, stops])
        order = np.argsort(np.concatenate([times, ends]), kind="stable")
        rows = np.concatenate([np.arange(len(times)), first, last])[order]
        points = np.concatenate([times, ends])[order]
        table[inside, 0] = 0.0
        for k, column in enumerate(values[rows].T, start=1):
            table[inside, k] = np.interp(knots[inside], points, column)
        return np.asarray(np.clip(np.nan_to_num(table, nan=0.0), -1.0, 1.0))

    def _runs(self, times: FloatArray) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last observation of every span."""
        after = np.nextafter(times[:-1] + self.reach, np.inf)
        before = np.nextafter(times[1:] - self.reach, -np.inf)
        cut = (np.diff(times) > self.max_gap) & (after < before)
        first = np.flatnonzero(np.concatenate([[True], cut]))
        last = np.flatnonzero(np.concatenate([cut, [True]]))
        return first, last
