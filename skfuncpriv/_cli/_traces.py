"""From the columns of a table to traces in metres, in the order of their names.

Positions in degrees become metres about a public origin, stamps become seconds since a
public start. No text quotes a cell.
"""

from __future__ import annotations

import re
from argparse import Namespace
from typing import Any, NamedTuple

import numpy as np

from skfuncpriv.curves import Curves
from skfuncpriv.local import to_metres

from ._errors import CommandError
from ._gpx import read_gpx
from ._stamps import read_times
from ._tables import Table, no_column, shortened

_TIMES = ("time", "t", "timestamp", "time_utc", "datetime")
_LON, _LAT = ("lon", "longitude", "lng", "long"), ("lat", "latitude")
_NO_ORIGIN = (
    "positions in degrees need --origin LON LAT, the middle of the area: a public "
    "place such as a city. Never take it from the trace: it is written with it, and "
    "would tell where the trace is"
)
_NO_TIMES = "for points without times use --no-times"
_SEVERAL_TRACKS = (
    "the file holds several tracks: release each of them with --id track, or one with "
    "--id track --only NAME"
)
# What XML cannot hold, or a terminal obeys; refused before the release is paid for.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_UNPRINTABLE = (
    "names of traces must not hold control characters, such as tabs or line breaks: "
    "they are written with the private traces"
)
_POSITIONS = "positions must be numbers with a point, or empty where there is none"


class Traces(NamedTuple):
    """Private traces, with what is public about them."""

    curves: Any  # Curves, or lists of points without times
    ids: list[str]  # their names
    groups: Any
    names: tuple[str, ...]  # of the columns: the time, if any, and both coordinates
    degrees: bool


def read_traces(args: Namespace) -> Traces:
    """Read the file that the command was given."""
    is_gpx = args.file.lower().endswith(".gpx")
    table = read_gpx(args.file) if is_gpx else Table.read(args.file)
    if is_gpx and args.id is None and len(set(table.labels("track").tolist())) > 1:
        raise CommandError(_SEVERAL_TRACKS)
    names, degrees = _columns(table, args)
    ids = _ids(table, args)
    kept = np.ones(len(ids), dtype=bool) if args.only is None else ids == args.only
    if not kept.any():
        raise CommandError(f"--only: there is no trace {args.only!r} in {args.id!r}")
    xy = np.stack([table.numbers(name, _POSITIONS) for name in names[-2:]], axis=1)
    xy = _in_metres(xy[kept], degrees, args.origin)
    owners, ids = _owners(table, args, kept), ids[kept]
    if args.no_times:
        order = list(dict.fromkeys(ids.tolist()))
        curves: Any = [_points(xy[ids == name]) for name in order]
    else:
        remedy = _NO_TIMES + (", or remove those points" if is_gpx else "")
        times = read_times(table, names[0], args.start, remedy)[kept]
        if args.id is None and (np.diff(times) < 0).any():
            what = "points" if is_gpx else "rows"
            which = "track" if is_gpx else "COLUMN, which tells them apart"
            raise CommandError(
                f"times go back: sort the {what} or, if the file holds several traces, "
                f"use --id {which}"
            )
        frame = {"id": ids, "t": times, "x": xy[:, 0], "y": xy[:, 1]}
        curves = Curves.from_long(
            frame,
            "id",
            "t",
            ["x", "y"],
            domain=args.domain,
            missing="interpolate",
            duplicates="mean",
        )
        order = [str(name) for name in curves.ids]
    groups = None if owners is None else _groups(ids, owners, order)
    return Traces(curves, order, groups, names, degrees)


def _columns(table: Table, args: Namespace) -> tuple[tuple[str, ...], bool]:
    """The names of time (if any) and coordinates, and whether they are degrees."""
    wanted = 2 if args.no_times else 3
    chosen = args.columns or _guess(table.names, args.no_times)
    if len(chosen) != wanted or len(set(chosen)) != wanted:
        what = "x,y or lon,lat" if args.no_times else "time,x,y or time,lon,lat"
        raise CommandError(f"--columns must be {wanted} names: {what}")
    for name in chosen:
        if name not in table.names:
            raise no_column(name, table.names, "--columns: ")
    x, y = chosen[-2:]
    if x.lower() in _LAT and y.lower() in _LON:
        x, y = y, x
    degrees = x.lower() in _LON or y.lower() in _LAT or args.origin is not None
    if degrees and args.origin is None:
        raise CommandError(_NO_ORIGIN)
    return (*chosen[:-2], x, y), degrees


def _guess(names: list[str], no_times: bool) -> list[str]:
    """The columns of a trace by their names, if there is only one way to read them."""
    lower = [name.lower() for name in names]

    def matching(known: tuple[str, ...]) -> list[str]:
        return [n for n, low in zip(names, lower, strict=True) if low in known]

    times = [] if no_times else matching(_TIMES)
    places = [matching(known) for known in (_LON, _LAT, ("x",), ("y",))]
    found = [column for column in places if column]
    is_plain = [len(column) for column in places] in ([1, 1, 0, 0], [0, 0, 1, 1])
    if not is_plain or (not no_times and len(times) != 1):
        without = "" if times or no_times else f"; {_NO_TIMES}"
        example = "x,y" if no_times else "time,x,y"
        raise CommandError(
            f"the columns of the trace cannot be guessed from {shortened(names)}: name "
            f"them, as in --columns {example}{without}"
        )
    return [*times, *(column[0] for column in found)]


def _ids(table: Table, args: Namespace) -> np.ndarray:
    if args.id is not None:
        names = [str(name) for name in table.labels(args.id)]
        if any(map(_CONTROL.search, set(names))):
            raise CommandError(_UNPRINTABLE)
        return np.array(names)
    if args.only is not None:
        raise CommandError("--only needs --id, the column that names the traces")
    return np.full(table.n_rows, "trace")


def _in_metres(xy: np.ndarray, degrees: bool, origin: Any) -> np.ndarray:
    """Both coordinates, NaN where one of them is missing."""
    metres = np.full(xy.shape, np.nan)
    present = ~np.isnan(xy).any(axis=1)
    metres[present] = (
        to_metres(xy[present, 0], xy[present, 1], origin=tuple(origin))
        if degrees
        else xy[present]
    )
    if np.isinf(metres).any():
        raise CommandError("positions must be finite")
    return metres


def _points(xy: np.ndarray) -> np.ndarray:
    """Those that are present; without any, a trace that rests at the origin."""
    present = xy[~np.isnan(xy[:, 0])]
    return present if len(present) else np.zeros((1, 2))


def _owners(table: Table, args: Namespace, kept: np.ndarray) -> Any:
    return None if args.group is None else table.labels(args.group)[kept]


def _groups(ids: np.ndarray, owners: np.ndarray, order: list[str]) -> np.ndarray:
    """The owner of every trace; one whose rows name several is refused."""
    found: dict[str, Any] = {}
    for trace, person in zip(ids.tolist(), owners.tolist(), strict=True):
        if found.setdefault(trace, person) != person:
            raise CommandError("all rows of a trace (--id) must name the same --group")
    return np.array([found[name] for name in order])
