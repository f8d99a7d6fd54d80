"""From the columns of a table to curves, their grid and the people who own them."""

from __future__ import annotations

import re
from argparse import Namespace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from skfuncpriv._grids import points_of_names, public_grid
from skfuncpriv.curves import Curves

from ._errors import CommandError
from ._tables import VALUES, Table, header_hint, no_column, read_numbers, shortened

_MONTHS = "january february march april may june july august september october november"
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_CALENDARS = tuple(
    {word[:size] for word in text.split() for size in (3, len(word))}
    for text in (f"{_MONTHS} december", _DAYS)
)
_NO_TIME = "--t must be numbers: convert times to hours or days since a public origin"


class Reading(NamedTuple):
    """Curves of a file, with what is public about them."""

    curves: Any
    grid: Any
    groups: Any
    source: str  # which columns they are
    unit: str  # what a row of the guarantee is


def read_grid(text: str | None) -> Any:
    """The argument of --grid: None, "columns" or numbers."""
    if text is None or text == "columns":
        return text
    if Path(text).is_file():
        return read_numbers(text)
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise CommandError(
            f"--grid must be numbers like 0,0.5,1, a file of numbers or 'columns', got "
            f"{text!r}"
        ) from None


def is_long(args: Namespace) -> bool:
    """Whether the table is long; half a description of one is refused."""
    given = [args.id is not None, args.t is not None, bool(args.y)]
    if any(given) and not all(given):
        raise CommandError("a long table needs all three of --id, --t and --y")
    if all(given) and (args.columns or args.drop):
        raise CommandError("--columns and --drop belong to wide tables, without --id")
    if all(given) and args.grid == "columns":
        raise CommandError("--grid columns belongs to wide tables, without --id")
    return all(given)


def wide_curves(table: Table, args: Namespace, grid: Any) -> Reading:
    """Curves, public grid and groups of a table with one curve in each row."""
    names = _curve_columns(table.names, args)
    if isinstance(grid, str) and points_of_names(names) is None:
        raise CommandError(
            f"--grid columns: the names {shortened(names)} cannot be read as numbers; "
            "give the points with --grid 1,1.25,1.5,... or --grid points.txt"
        )
    grid = public_grid(grid, args.domain, len(names), names)
    curves = np.stack([table.numbers(name) for name in names], axis=1)
    groups = None if args.group is None else table.labels(args.group)
    source = f"{names[0]} (1 point, t = {grid[0]:g})"
    if len(names) > 1:
        source = (
            f"{names[0]} ... {names[-1]} ({len(names)} points, "
            f"t = {grid[0]:g} to {grid[-1]:g})"
        )
    return Reading(curves, grid, groups, source, "row")


def long_curves(table: Table, args: Namespace, grid: Any) -> Reading:
    """The same for a table with one observation in each row."""
    if grid is not None:
        grid = public_grid(grid, args.domain, len(grid), None)
    outputs = args.y if len(args.y) > 1 else args.y[0]
    frame = {name: table.numbers(name, VALUES) for name in args.y}
    frame[args.t] = table.numbers(args.t, _NO_TIME)
    ids = frame[args.id] = table.labels(args.id)
    curves = Curves.from_long(
        frame,
        args.id,
        args.t,
        outputs,
        domain=args.domain,
        missing=args.missing,
        duplicates=args.duplicates,
    )
    source = f"{', '.join(args.y)} over {args.t}, a curve for each {args.id}"
    unit = "curve"  # all rows with the same --id
    if args.group is None:
        return Reading(curves, grid, None, source, unit)
    owners: dict[Any, Any] = {}
    for curve, person in zip(ids, table.labels(args.group), strict=True):
        if owners.setdefault(curve, person) != person:
            raise CommandError("all rows of a curve (--id) must name the same --group")
    groups = np.array([owners[curve] for curve in curves.ids])
    return Reading(curves, grid, groups, source, unit)


def _curve_columns(names: list[str], args: Namespace) -> list[str]:
    """The columns of the curve, in the order of the file unless they are listed."""
    for name in args.drop or ():
        if name not in names:
            raise no_column(name, names, "--drop: ")
    chosen = names
    if args.columns:
        chosen = [name for part in args.columns for name in _expanded(part, names)]
    left_out = {args.group, *(args.drop or ())}
    chosen = [name for name in chosen if name not in left_out]
    if "" in chosen:
        raise CommandError(
            "a column has no name, as when pandas writes its index: say which columns "
            "are the curve, with --columns first:last"
        )
    if not chosen or len(set(chosen)) < len(chosen):
        raise CommandError("--columns must leave at least one column, each one once")
    if not args.columns and not _is_family(chosen):
        raise CommandError(
            f"the columns {shortened(chosen)} do not look like one curve: say which "
            "are, with --columns first:last; or, if each row is one observation, use "
            f"--id, --t and --y{header_hint(chosen)}"
        )
    return chosen


def _is_family(names: list[str]) -> bool:
    """Whether names differ in their numbers only, or are all months or all days."""
    words = {name.lower() for name in names}
    if any(words <= calendar for calendar in _CALENDARS):
        return True
    forms = {re.sub(r"-?\d+(\.\d+)?", "#", name) for name in names}
    return len(forms) == 1 and "#" in forms.pop()


def _expanded(part: str, names: list[str]) -> list[str]:
    """One name, or the names from first to last of ``first:last``."""
    if part in names:
        return [part]
    first, colon, last = part.partition(":")
    for name in (first, last) if colon else (part,):
        if name not in names:
            raise no_column(name, names, "--columns: ")
    if names.index(first) > names.index(last):
        raise CommandError(f"--columns {part}: {last!r} comes before {first!r}")
    return names[names.index(first) : names.index(last) + 1]
