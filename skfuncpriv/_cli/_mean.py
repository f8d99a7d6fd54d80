"""``mean FILE``: the private mean of the curves in a file."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from skfuncpriv._validation import check_interval
from skfuncpriv.iclp import ICLPMean
from skfuncpriv.privacy import BudgetLedger

from . import _report as report
from ._curves import is_long, long_curves, read_grid, wide_curves
from ._errors import CommandError
from ._parser import PROG
from ._tables import Table


def run(args: Namespace) -> int:
    """Release, print and write; everything public is checked before data is read."""
    check_intervals(args, f"mean {args.file}")
    _check_files(args)
    long, grid = is_long(args), read_grid(args.grid)
    read_curves = long_curves if long else wide_curves
    curves, grid, groups = read_curves(Table.read(args.file), args, grid)

    model = ICLPMean(
        bounds=args.bounds,
        domain=args.domain,
        grid=grid,
        epsilon=args.epsilon,
        delta=args.delta,
        mechanism=args.mechanism,
        norm_bound=args.norm_bound,
        denoise=not args.no_denoise,
        missing=args.missing,
        ledger=args.ledger,
        random_state=args.seed,
    )
    report.fit(model, curves, groups)

    out = sys.stderr if args.json == "-" else sys.stdout
    columns = report.columns_of(model, args.level, args.y)
    report.write_csv(args.out, columns, seeded=model.guarantee_.seeded)
    report.print_release(model, columns, args.level, out)
    print(f"\nWrote {args.out}", file=out)
    if args.plot:
        labels = {"xlabel": args.t, "ylabel": ", ".join(args.y or ()) or None}
        report.write_plot(args.plot, model, args.level, **labels)
        print(f"Wrote {args.plot}", file=out)
    if args.json:
        report.write_json(args.json, model.guarantee_)
        if args.json != "-":
            print(f"Wrote {args.json}", file=out)
    if args.group is None:
        print("Protected is one row; --group protects people instead", file=out)
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
            check_interval(given, option)
        low, high = given or usual
        example.append(f"{option} {low:g} {high:g}")
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


def _check_files(args: Namespace) -> None:
    """Refuse names that would clash, be unwritable or be missing, before any charge."""
    outputs = {"--out": args.out, "--plot": args.plot, "--json": args.json}
    taken = {Path(args.file).resolve(): "the file of the curves"}
    if args.ledger is not None:
        taken[Path(args.ledger).resolve()] = "the ledger"
        if not Path(args.ledger).is_file():
            raise CommandError(
                f"there is no ledger {args.ledger!r}; create it with: {PROG} ledger "
                f"create {args.ledger} --epsilon 3"
            )
    for option, path in outputs.items():
        if path is None or (option, path) == ("--json", "-"):
            continue
        report.check_writable(path, option)
        other = taken.setdefault(Path(path).resolve(), option)
        if other != option:
            raise CommandError(f"{option}: {path!r} is {other} already")
    if args.plot and not report.has_matplotlib():
        raise CommandError("--plot needs matplotlib: pip install 'skfuncpriv[plot]'")
