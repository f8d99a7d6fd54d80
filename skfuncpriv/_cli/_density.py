"""``density FILE``: the private density of columns of a file, and synthetic rows."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

import numpy as np

from skfuncpriv._validation import check_interval
from skfuncpriv.density import PrivateKDE
from skfuncpriv.exceptions import BudgetExceededError
from skfuncpriv.privacy import BudgetLedger

from . import _report as report
from ._density_report import print_report
from ._density_table import read_columns
from ._errors import CommandError
from ._files import check_ledger, check_outputs, check_people, used_up
from ._mean import pairs
from ._parser import PROG

_ENDINGS = {"--out": (".csv",), "--sample-out": (".csv",), "--plot": (".png",)}
_POINTS = (257, 65, 17)  # of each column, by their number: nodes of the estimator
_MOST_ROWS = 1 << 22
_SAMPLE_OUT = "private_sample.csv"


def run(args: Namespace) -> int:
    """Release, print and write; everything public is checked before data is read."""
    names, box = _check_public(args)
    _check_files(args)
    points, groups = read_columns(args.file, names, args.group)
    model = PrivateKDE(
        bounds=tuple(zip(*box, strict=True)),
        bandwidth=_bandwidth(args.bandwidth),
        kernel=args.kernel,
        boundary=_one_or_all(args.boundary),
        mechanism=args.mechanism,
        epsilon=args.epsilon,
        delta=args.delta,
        denoise=not args.no_denoise,
        ledger=args.ledger,
        random_state=args.seed,
    )
    try:
        report.fit(model, points, groups)
    except BudgetExceededError:
        ledger = BudgetLedger(args.ledger)
        if ledger.budget.epsilon is None:  # a budget of rho, made in Python
            raise
        raise used_up(args, ledger) from None

    out = sys.stderr if args.json == "-" else sys.stdout
    seeded = model.guarantee_.seeded
    table = _density_table(model, names, args.points)
    report.write_csv(args.out, table, seeded=seeded)
    written = [f"{args.out}: {len(table[names[0]])} public points"]
    if args.sample is not None:
        sample = model.sample(args.sample, random_state=args.seed)
        columns = dict(zip(names, sample.T, strict=True))
        report.write_csv(args.sample_out, columns, seeded=seeded)
        written.append(f"{args.sample_out}: {args.sample} synthetic rows")
    if args.plot:
        _draw(args, model, names)
        written.append(args.plot)
    if args.json:
        report.write_json(args.json, model.guarantee_)
        written += [] if args.json == "-" else [args.json]
    print_report(args, model, names, box, out)
    for line in written:
        print(f"Wrote {line}", file=out)
    if args.group is None:
        print("Protected is one row; --group COLUMN protects people", file=out)
    if args.ledger:
        print(f"Left in {args.ledger}: {BudgetLedger(args.ledger).remaining}", file=out)
    return 0


def _check_public(args: Namespace) -> tuple[list[str], list[list[float]]]:
    """Names of the columns and their bounds; explain how to choose what is missing."""
    names = [name for part in args.column or () for name in part]
    lines = []
    if not names:
        lines.append("--column NAME is missing: the column, or up to three of them.")
    if not args.bounds:
        lines.append("--bounds LO HI is missing: the values that are possible.")
    if lines:
        example = f"--column {' '.join(names) or 'age'} --bounds "
        example += " ".join(f"{end:g}" for end in args.bounds or (0, 120))
        raise CommandError(
            "\n".join(lines) + "\n"
            "Bounds are public knowledge, chosen without a look at the data: physical "
            "limits,\nthe range of the instrument, an earlier study. Never take the "
            "smallest and largest\nvalue of the file: they are private, and the "
            "guarantee would be void. Values outside\nare moved to the bounds; wider "
            "ones cost detail.\n"
            f"example: {PROG} density {args.file} {example}"
        )
    if len(set(names)) < len(names) or len(names) > len(_POINTS):
        raise CommandError("--column must name one to three columns, each one once")
    box = pairs(args.bounds, "--bounds")
    for pair in box:
        check_interval(pair, "--bounds")
    for option, given in (
        ("--bounds", box),
        ("--boundary", args.boundary),
        ("--bandwidth", args.bandwidth),
    ):
        if len(given) not in (1, len(names)):
            what = "pair" if option == "--bounds" else "value"
            raise CommandError(f"{option} must be one {what}, or one for each --column")
    if args.plot and len(names) == len(_POINTS):
        raise CommandError(
            "--plot shows one or two columns; the density of three is written to --out"
        )
    n_rows = (args.points or 2) ** len(names)
    if args.points == 1 or n_rows > _MOST_ROWS:
        raise CommandError(
            f"--points must be at least 2, and --out have at most {_MOST_ROWS} rows"
        )
    if args.sample_out and args.sample is None:
        raise CommandError("--sample-out needs --sample N")
    return names, box * len(names) if len(box) == 1 else box


def _check_files(args: Namespace) -> None:
    """Refuse files and budgets that do not serve, before any charge."""
    taken = {args.file: "the file of the data", **check_ledger(args, "--epsilon 3")}
    check_people(args)
    if args.sample is not None and args.sample_out is None:
        args.sample_out = _SAMPLE_OUT
    outputs = {
        "--out": args.out,
        "--sample-out": args.sample_out,
        "--plot": args.plot,
        "--json": None if args.json == "-" else args.json,
    }
    check_outputs(outputs, taken, _ENDINGS, force=args.force)


def _bandwidth(words: list[str]) -> Any:
    """Numbers, or the name of a rule, which the estimator knows."""
    try:
        return _one_or_all([float(word) for word in words])
    except ValueError:
        pass
    if len(words) > 1:
        raise CommandError("--bandwidth must be numbers, or the name of one rule")
    return words[0]


def _one_or_all(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _density_table(
    model: PrivateKDE, names: list[str], n_points: int | None
) -> dict[str, np.ndarray]:
    """Columns of public points, and what was released of them."""
    n_points = n_points or _POINTS[len(names) - 1]
    axes = [np.linspace(nodes[0], nodes[-1], n_points) for nodes in model.grid_]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    points = points.reshape(-1, len(names))
    table = dict(zip(names, points.T, strict=True))
    table[_unused("density", names)] = np.exp(model.score_samples(points))
    if len(names) == 1:
        table[_unused("cdf", names)] = model.cdf(points)
    return table


def _unused(name: str, names: list[str]) -> str:
    """The name of a column, which one of the file may have already."""
    return f"private_{name}" if name in names else name


def _draw(args: Namespace, model: PrivateKDE, names: list[str]) -> None:
    """The density, without touching the windows of pyplot."""
    from matplotlib.figure import Figure

    from skfuncpriv.plotting import DensityDisplay

    size = (7, 4.2) if len(names) == 1 else (7, 6)
    figure = Figure(figsize=size, layout="constrained")
    DensityDisplay.from_estimator(
        model, figure.subplots(), level=args.level, feature_names=names
    )
    figure.savefig(args.plot, format="png", dpi=150)
