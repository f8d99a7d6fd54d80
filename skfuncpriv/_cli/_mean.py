"""``mean FILE``: the private mean of the curves in a file."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from skfuncpriv._validation import check_interval
from skfuncpriv.exceptions import BudgetExceededError
from skfuncpriv.iclp import ICLPMean, PrivateSparseMean
from skfuncpriv.privacy import BudgetLedger

from . import _report as report
from ._curves import is_long, long_curves, read_grid, wide_curves
from ._errors import CommandError
from ._files import check_ledger, check_outputs, check_people, used_up
from ._parser import PROG
from ._tables import Table

_CONSTANT = """\
Before a person's first and after the last observation the curve is taken as
constant: where many are not observed, that flattens the mean. --sparse gives
the mean of the people observed at each point (PrivateSparseMean)."""
# Whatever else they are called, this is what is written.
_ENDINGS = {"--out": (".csv",), "--plot": (".png",)}


def run(args: Namespace) -> int:
    """Release, print and write; everything public is checked before data is read."""
    check_intervals(args, f"mean {args.file}")
    _check_sparse(args)
    bounds = _bounds(args)
    _check_files(args)
    long, grid = is_long(args), read_grid(args.grid)
    read_curves = long_curves if long else wide_curves
    read = read_curves(Table.read(args.file), args, grid)

    model = _model(args, bounds, read.grid)
    try:
        report.fit(model, read.curves, read.groups)
    except BudgetExceededError:
        ledger = BudgetLedger(args.ledger)
        if ledger.budget.epsilon is None:  # a budget of rho, made in Python
            raise
        raise used_up(args, ledger) from None

    out = sys.stderr if args.json == "-" else sys.stdout
    columns = report.columns_of(model, args.level, args.y)
    report.write_csv(args.out, columns, seeded=model.guarantee_.seeded)
    report.print_release(model, columns, args.level, out, read.source, read.unit)
    if long and not args.sparse:
        print(_CONSTANT, file=out)
    print(f"\nWrote {args.out}", file=out)
    if args.plot:
        report.write_plot(
            args.plot,
            model,
            args.level,
            xlabel=args.xlabel or args.t,
            ylabel=args.ylabel,
            names=args.y,
            unit=read.unit,
        )
        print(f"Wrote {args.plot}", file=out)
    if args.json:
        report.write_json(args.json, model.guarantee_)
        if args.json != "-":
            print(f"Wrote {args.json}", file=out)
    if args.group is None:
        rows = " (all rows with the same id)" if long else ""
        print(f"Protected is one {read.unit}{rows}; --group protects people", file=out)
    if args.ledger:
        print(f"Left in {args.ledger}: {BudgetLedger(args.ledger).remaining}", file=out)
    return 0


def check_intervals(args: Namespace, command: str) -> None:
    """Explain how to choose bounds or a domain that were not given."""
    lines, example = [], []
    for option, meaning, usual in (
        ("--bounds", "LO HI is missing: the values that are possible.", (0, 100)),
        ("--domain", "A B is missing: the interval of the curves' argument.", (0, 24)),
    ):
        given = getattr(args, option.removeprefix("--"))
        if given is None:
            lines.append(f"{option} {meaning}")
        else:
            for pair in pairs(given, option):
                check_interval(pair, option)
        example.append(" ".join([option, *(f"{end:g}" for end in given or usual)]))
    if not lines:
        return
    raise CommandError(
        "\n".join(lines) + "\n"
        "Both are public knowledge, chosen without a look at the data: physical limits,"
        "\nthe range of the instrument, an earlier study. Never take the smallest and\n"
        "largest value of the file: they are private, and the guarantee would be void."
        "\nValues outside the bounds are clipped; wider bounds cost more noise.\n"
        f"example: {PROG} {command} {' '.join(example)}"
    )


def pairs(numbers: list[float], option: str) -> list[list[float]]:
    """Two numbers for each output."""
    if len(numbers) % 2:
        raise CommandError(f"{option} needs pairs of numbers, as in {option} 500 3500")
    return [numbers[i : i + 2] for i in range(0, len(numbers), 2)]


def _model(args: Namespace, bounds: tuple, grid: Any) -> ICLPMean | PrivateSparseMean:
    """The estimator that was asked for."""
    facts = {
        "bounds": bounds,
        "grid": grid,
        "random_state": args.seed,
        **{
            name: getattr(args, name)
            for name in ("domain", "epsilon", "delta", "mechanism", "ledger")
        },
    }
    if args.sparse:
        return PrivateSparseMean(**facts)
    return ICLPMean(
        **facts,
        norm_bound=args.norm_bound,
        denoise=not args.no_denoise,
        missing=args.missing,
    )


def _check_sparse(args: Namespace) -> None:
    """Refuse options that belong to curves that everybody has everywhere."""
    if not args.sparse:
        return
    for option, is_given in (
        ("--norm-bound", args.norm_bound is not None),
        ("--no-denoise", args.no_denoise),
        ("--missing", args.missing != "error"),
    ):
        if is_given:
            raise CommandError(
                f"{option} does not go with --sparse: an empty cell of a wide table is "
                "no observation; in a long table leave such rows out"
                if option == "--missing"
                else f"{option} does not go with --sparse"
            )


def _bounds(args: Namespace) -> tuple:
    """One pair for all outputs, or two arrays with an end for each."""
    given = pairs(args.bounds, "--bounds")
    if len(given) not in (1, len(args.y or ())):
        raise CommandError("--bounds must be one pair, or one for each name of --y")
    return tuple(given[0] if len(given) == 1 else zip(*given, strict=True))


def _check_files(args: Namespace) -> None:
    """Refuse files and budgets that do not serve, before any charge."""
    taken = {args.file: "the file of the curves", **check_ledger(args, "--epsilon 3")}
    check_people(args)
    json = None if args.json == "-" else args.json
    outputs = {"--out": args.out, "--plot": args.plot, "--json": json}
    check_outputs(outputs, taken, _ENDINGS, force=args.force)
