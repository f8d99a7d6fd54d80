"""Coefficients of bounded curves: values are clipped, centred and projected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..curves import Curves
from ..noise._lattice import FloatArray
from ._product import ExactProduct
from ._value_bounds import ValueBounds

_CHUNK_VALUES = 1 << 15  # that stay in the cache of a core
_BLOCK_POINTS = 1 << 11


def curve_coefficients(
    curves: Curves,
    projection: Callable[[FloatArray], FloatArray],
    domain: tuple[float, float],
    values: ValueBounds,
) -> Iterator[FloatArray]:
    """Project curves, in chunks of consecutive curves.

    Parameters
    ----------
    curves : Curves
        *Private.* A curve without any value has coefficients zero.
    projection : callable
        Maps points of the domain, shape (k,), to the (k, m) matrix of inner products
        with the basis functions; *public*.
    domain : tuple of two floats
        The interval of the argument; *public*.
    values : ValueBounds
        At what values are clipped and what is subtracted; *public*.

    Yields
    ------
    ndarray, shape (n_chunk, m * n_outputs)
        The coefficients, outputs of one basis function beside each other.

    Notes
    -----
    A row depends on its own curve alone, to the last bit: see `ExactProduct` for a
    common grid; irregular curves are projected one by one.

    Examples
    --------
    >>> from skfuncpriv.basis import CosineBasis
    >>> from skfuncpriv.curves import Curves
    >>> from skfuncpriv.summaries import ValueBounds, curve_coefficients
    >>> basis, curves = CosineBasis(2), Curves.from_wide([[1.0, 1.0]])
    >>> values = ValueBounds.from_parameters((-2.0, 2.0), domain=basis.domain)
    >>> next(curve_coefficients(curves, basis.projection, basis.domain, values))[0, 0]
    np.float64(1.0)
    """
    if curves.grid is None:
        yield from _irregular(curves, projection, domain, values)
        return
    product = ExactProduct(projection(curves.grid), float(values.reach.max()))
    n_points, n_outputs = curves.values.shape[1:]
    step = max(1, _CHUNK_VALUES // (n_points * n_outputs))
    for start in range(0, curves.n_curves, step):
        rows = slice(start, start + step)
        centred = np.clip(curves.values[rows], values.low, values.high)
        centred -= values.center
        centred[curves.all_missing[rows]] = 0.0
        outputs = [product(centred[:, :, k]) for k in range(n_outputs)]
        if n_outputs == 1:
            yield outputs[0]
            continue
        yield np.stack(outputs, axis=2).reshape(len(centred), -1)


def _irregular(
    curves: Curves, projection: Any, domain: tuple[float, float], values: ValueBounds
) -> Iterator[FloatArray]:
    ends = np.array(domain)
    n_coefficients = projection(ends).shape[1] * curves.n_outputs
    for i in range(curves.n_curves):
        rows = slice(curves.offsets[i], curves.offsets[i + 1])
        if curves.all_missing[i]:
            yield np.zeros((1, n_coefficients))
            continue
        times = curves.times[rows]
        centred = np.clip(curves.values[rows], values.low, values.high) - values.center
        if times[0] < domain[0] or times[-1] > domain[1]:
            times, centred = _cut_to_domain(times, centred, ends)
        yield project_in_blocks(projection, times, centred).reshape(1, -1)


def project_in_blocks(
    projection: Callable[[FloatArray], FloatArray],
    times: FloatArray,
    values: FloatArray,
) -> FloatArray:
    """Inner products of one curve with the basis functions, in bounded memory.

    Memory that grows with the observations of one person, times functions and nodes,
    would tell of their number.

    Parameters
    ----------
    projection : callable
        As in `curve_coefficients`; *public*.
    times : ndarray, shape (k,)
        Increasing points of the domain; *private*.
    values : ndarray, shape (k, n_outputs)
        The heights there; *private*.

    Returns
    -------
    ndarray, shape (m, n_outputs)
        The coefficients.

    Notes
    -----
    A row of the projection belongs to one point and depends on its two neighbours
    only, so a block of rows is that of its points and the two beside them.

    Examples
    --------
    >>> from skfuncpriv.basis import CosineBasis
    >>> from skfuncpriv.summaries import project_in_blocks
    >>> times = np.linspace(0, 1, 5000)
    >>> project_in_blocks(CosineBasis(1).projection, times, times[:, None]).round(9)
    array([[0.5]])
    """
    total: FloatArray = np.zeros(())
    for start in range(0, len(times), _BLOCK_POINTS):
        stop = min(start + _BLOCK_POINTS, len(times))
        before, after = max(start - 1, 0), min(stop + 1, len(times))
        rows = projection(times[before:after])[start - before : stop - before]
        total = total + rows.T @ values[start:stop]
    return total


def _cut_to_domain(
    times: FloatArray, values: FloatArray, ends: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The same piecewise linear curve, with knots inside the domain only.

    An end of the domain becomes a knot where the curve passes it; beyond its own ends a
    curve is what the basis says. One that lies outside shows its nearest end, once.
    """
    inside = (times > ends[0]) & (times < ends[1])
    passed = ends[(ends >= times[0]) & (ends <= times[-1])]
    if not (inside.any() or passed.size):
        passed = ends[:1] if times[-1] < ends[0] else ends[1:]
    knots = np.concatenate([times[inside], passed])
    at_ends = [_on_the_line(end, times, values) for end in passed]
    heights = np.concatenate(
        [values[inside], np.reshape(at_ends, (-1, values.shape[1]))]
    )
    order = np.argsort(knots)
    return knots[order], heights[order]


def _on_the_line(t: float, times: FloatArray, values: FloatArray) -> FloatArray:
    """The curve at one point, whatever the size of the times."""
    right = int(np.clip(np.searchsorted(times, t), 1, max(len(times) - 1, 1)))
    if t <= times[0] or len(times) == 1:
        return np.asarray(values[0])
    if t >= times[-1]:
        return np.asarray(values[-1])
    before, after = values[right - 1], values[right]
    start, stop = times[right - 1], times[right]
    if not np.isfinite(stop - start):  # halves of huge numbers are exact
        t, start, stop = t / 2, start / 2, stop / 2
    weight = (t - start) / (stop - start)
    line = before * (1 - weight) + after * weight
    return np.asarray(
        np.clip(line, np.minimum(before, after), np.maximum(before, after))
    )
