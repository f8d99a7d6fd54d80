"""From the columns of a table to curves, their grid and the people who own them."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from skfuncpriv._grids import public_grid
from skfuncpriv.curves import Curves

from ._errors import CommandError
from ._tables import Table, read_numbers, shortened


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


def wide_curves(table: Table, args: Namespace, grid: Any) -> tuple[Any, Any, Any]:
    """Curves, public grid and groups of a table with one curve in each row."""
    names = _curve_columns(table.names, args)
    grid = public_grid(grid, args.domain, len(names), names)
    curves = np.stack([table.numbers(name) for name in names], axis=1)
    groups = None if args.group is None else table.labels(args.group)
    return curves, grid, groups


def long_curves(table: Table, args: Namespace, grid: Any) -> tuple[Any, Any, Any]:
    """The same for a table with one observation in each row."""
    if grid is not None:
        grid = public_grid(grid, args.domain, len(grid), None)
    outputs = args.y if len(args.y) > 1 else args.y[0]
    frame = {name: table.numbers(name) for name in (args.t, *args.y)}
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
    if args.group is None:
        return curves, grid, None
    owners: dict[Any, Any] = {}
    for curve, person in zip(ids, table.labels(args.group), strict=True):
        if owners.setdefault(curve, person) != person:
            raise CommandError("all rows of a curve (--id) must name the same --group")
    return curves, grid, np.array([owners[curve] for curve in curves.ids])


def _curve_columns(names: list[str], args: Namespace) -> list[str]:
    """The columns of the curve, in the order of the file unless they are listed."""
    for name in args.drop or ():
        if name not in names:
            raise CommandError(
                f"--drop: the file has no column {name!r}; its columns are "
                f"{shortened(names)}"
            )
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
    return chosen


def _expanded(part: str, names: list[str]) -> list[str]:
    """One name, or the names from first to last of ``first:last``."""
    first, _, last = part.partition(":")
    if part in names:
        return [part]
    if first in names and last in names and names.index(first) <= names.index(last):
        return names[names.index(first) : names.index(last) + 1]
    raise CommandError(
        f"--columns: the file has no {part!r}; its columns are {shortened(names)}"
    )
