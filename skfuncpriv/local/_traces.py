"""Traces: from degrees to metres, and curves of points that carry no times."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._tables import as_numbers, finite_or, frame_to_numbers, is_frame
from .._validation import check_interval, check_real
from ..curves import Curves
from ..summaries import ValueBounds

_EARTH = 6371008.8  # mean radius, metres
_DEGREES = {"lon", "lat", "long", "lng", "longitude", "latitude"}


def to_metres(lon: Any, lat: Any, *, origin: tuple[float, float]) -> np.ndarray:
    """Positions in degrees as metres east and north of a public origin.

    Parameters
    ----------
    lon, lat : array-like, of one shape
        *Private.* Longitude and latitude in degrees.
    origin : tuple of two floats
        *Public.* Longitude and latitude of the origin, in degrees: the middle of a
        city, say. Never take it from the trace.

    Returns
    -------
    ndarray, shape of `lon` + (2,)
        *Private.* Metres to the east and to the north.

    Raises
    ------
    ValueError
        If numbers are no degrees (longitudes beyond 360, latitudes beyond 90).

    Notes
    -----
    x = R cos(lat_0) (lon - lon_0), y = R (lat - lat_0) with angles in radians and
    R = 6371008.8 m, longitudes taken across the date line where that is nearer. A
    fixed linear map: distances north-south are those of a sphere, distances east-west
    are off by tan(lat_0) times the angle to the origin, which is 0.9 % at 50 degrees
    and 50 km. The metric of the guarantee is L2 in these metres.

    Examples
    --------
    >>> from skfuncpriv.local import to_metres
    >>> to_metres([13.4], [52.51], origin=(13.4, 52.5)).round()
    array([[   0., 1112.]])
    """
    east, north = _origin(origin)
    lon, lat = as_numbers(lon), as_numbers(lat)
    if not ((np.abs(lon) <= 360).all() and (np.abs(lat) <= 90).all()):
        raise ValueError(
            "lon must be degrees within [-360, 360] and lat within [-90, 90]"
        )
    turn = (lon - east + 180) % 360 - 180
    x = np.radians(turn) * np.cos(np.radians(north)) * _EARTH
    return np.stack([x, np.radians(lat - north) * _EARTH], axis=-1)


def to_degrees(
    xy: Any, *, origin: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Metres east and north of a public origin as longitude and latitude.

    Parameters
    ----------
    xy : array-like, shape (..., 2)
        Metres, as `to_metres` gives.
    origin : tuple of two floats
        *Public.* Longitude and latitude of the origin, in degrees.

    Returns
    -------
    lon, lat : ndarray, shape (...)
        Degrees; longitudes in [-180, 180), latitudes within [-90, 90].

    Examples
    --------
    >>> from skfuncpriv.local import to_degrees
    >>> lon, lat = to_degrees([[0.0, 1112.0]], origin=(13.4, 52.5))
    >>> lon.round(3), lat.round(3)
    (array([13.4]), array([52.51]))
    """
    east, north = _origin(origin)
    xy = np.asarray(xy, dtype=np.float64)
    lat = np.clip(north + np.degrees(xy[..., 1] / _EARTH), -90, 90)
    turn = np.degrees(xy[..., 0] / (_EARTH * np.cos(np.radians(north))))
    return (east + turn + 180) % 360 - 180, lat


def arc_length_curves(
    traces: Any, *, domain: tuple[float, float] = (0.0, 1.0)
) -> Curves:
    """Curves of points without times, parametrised by the length along them.

    Parameters
    ----------
    traces : list of array-like, each of shape (n_points, n_outputs)
        *Private.* The points of each trace in their order, in metres or other equal
        units.
    domain : tuple of two floats, default=(0.0, 1.0)
        *Public.* The interval that every trace is spread over.

    Returns
    -------
    Curves
        Irregular curves on the domain: the share of its length at which a trace
        reaches a point is the argument. Points that repeat the one before are left
        out; a trace of one place is constant.

    Notes
    -----
    The length itself is normalised away, and with it how long a trace is: what is
    protected, and what is published, is its shape. Distances are L2 distances between
    curves *so parametrised*: moving one point also moves the arguments of all others.

    Examples
    --------
    >>> from skfuncpriv.local import arc_length_curves
    >>> curves = arc_length_curves([[[0, 0], [3, 4], [3, 9]]])
    >>> curves.times
    array([0. , 0.5, 1. ])
    """
    low, high = check_interval(domain, "domain")
    values, times = [], []
    for trace in traces:
        points = as_numbers(trace)
        if points.ndim != 2 or len(points) == 0 or not np.isfinite(points).all():
            raise ValueError(
                "a trace must be finite numbers of shape (n_points, n_outputs)"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            place = _arc_length(points)
        place = low + (high - low) * place
        later = np.append(True, np.diff(place) > 0)
        times.append(place[later])
        values.append(points[later])
    if len({part.shape[1] for part in values}) != 1:
        raise ValueError("there must be at least one trace, all with as many outputs")
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in times])])
    return Curves(
        np.concatenate(values), np.concatenate(times), offsets, domain=(low, high)
    )


def refuse_degrees(names: tuple[str, ...] | None) -> None:
    """Refuse positions in degrees: their differences are no distances."""
    if names is not None and _DEGREES.intersection(name.lower() for name in names):
        raise ValueError(
            "longitude and latitude are degrees, not distances: convert them with "
            "to_metres(lon, lat, origin=...), about a public origin"
        )


def point_lists(
    X: Any, values: ValueBounds | None, strict: bool = False
) -> list[np.ndarray]:
    """The points of every trace, within the bounds: a spike is no long way.

    In strict mode the centre takes the place of numbers that are not finite; any
    number does where only the form of traces is read, without `values`.
    """
    if isinstance(X, Curves):
        refuse_degrees(X.output_names)
        X = [X[i].values.reshape(-1, X.n_outputs) for i in range(len(X))]
    traces = []
    for trace in X:
        refuse_degrees(tuple(map(str, getattr(trace, "columns", ()))))
        points = frame_to_numbers(trace) if is_frame(trace) else as_numbers(trace)
        if strict:
            points = finite_or(points, 0.0 if values is None else values.center)
        if values is not None and points.shape[1:] == values.low.shape:
            points = np.clip(points, values.low, values.high)
        traces.append(points)
    return traces


def _arc_length(points: np.ndarray) -> np.ndarray:
    """The length up to each point, as a share of the whole; zeros if there is none."""
    scale = np.abs(points).max() or 1.0
    steps = np.linalg.norm(np.diff(points / scale, axis=0), axis=1)
    length = np.concatenate([[0.0], np.cumsum(steps)])
    return length / length[-1] if length[-1] > 0 else length


def _origin(origin: Any) -> tuple[float, float]:
    try:
        east, north = (check_real(number, "origin") for number in origin)
    except (TypeError, ValueError):
        east = north = np.nan
    if not (abs(east) <= 360 and abs(north) <= 85):
        raise ValueError(
            "origin must be (longitude, latitude) in degrees, latitude within "
            f"[-85, 85]; got {origin!r}"
        )
    return east, north
