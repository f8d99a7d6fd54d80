"""What the command ``mean`` may be asked, with its help and examples."""

from __future__ import annotations

from typing import Any

from ._arguments import (
    PROG,
    add_budget,
    add_force,
    add_interval,
    add_release,
    bound,
    level,
    names,
)

_MEAN = """\
Release the mean of the curves in a CSV (also .csv.gz) or Parquet file.

The table is wide (one curve in each row, one column for each point) or, with --id, --t
and --y, long (one observation in each row). Empty cells and NA are missing values.
"""

_MEAN_EXAMPLES = f"""\
examples:
  Daily curves of demand in half hours; the column 'week' is no part of them:
    {PROG} mean demand.csv --drop week --bounds 500 3500 --domain 0 24

  Several visits of each patient, some with gaps; protect patients, not visits:
    {PROG} mean scans.csv --columns cca_1:cca_93 --group ID \\
        --missing interpolate --bounds 0 1 --domain 0 1 --plot mean.png

  Long table, times that differ from child to child, charged to a budget:
    {PROG} ledger create budget.db --epsilon 3 --unit person
    {PROG} mean growth.csv --id child --t age --y height --group child \\
        --bounds 40 210 --domain 0 18 --epsilon 0.5 --ledger budget.db

  The same where children come early or late and leave before the end:
    {PROG} mean growth.csv --id child --t age --y height --group child \\
        --bounds 40 210 --domain 0 18 --sparse

Bounds and domain are public knowledge: physical limits, the range of the instrument,
an earlier study. Never take them from the file: its smallest and largest value are
private.
"""


def add_mean(commands: Any) -> None:
    parser = commands.add_parser(
        "mean",
        help="release the mean of the curves in a file",
        usage=f"{PROG} mean FILE --bounds LO HI --domain A B [options]",
        description=_MEAN,
        epilog=_MEAN_EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", help="CSV, .csv.gz or Parquet file")

    public = parser.add_argument_group("public knowledge (required)")
    public.add_argument(
        "--bounds",
        type=bound,
        nargs="+",
        metavar=("LO", "HI"),
        help="possible values, others are clipped; LO1 HI1 LO2 HI2 ... for several --y",
    )
    add_interval(public, "--domain", "A", "B", "interval on which curves are defined")

    table = parser.add_argument_group("what the columns are")
    table.add_argument(
        "--columns",
        type=names,
        metavar="NAMES",
        help="columns of the curve, with commas: a,b or first:last (default: all that "
        "are left, if their names are alike: hh1, hh2, ...)",
    )
    table.add_argument(
        "--drop",
        type=names,
        metavar="NAMES",
        help="columns that are no part of it: a,b",
    )
    table.add_argument(
        "--id",
        metavar="COLUMN",
        help="long table: names the curve; before its first and after its last "
        "observation a curve is taken as constant, without --sparse",
    )
    table.add_argument(
        "--t", metavar="COLUMN", help="long table: where it was observed"
    )
    table.add_argument(
        "--y",
        type=names,
        metavar="NAMES",
        help="long table: the values; several names make a curve of vectors",
    )
    table.add_argument(
        "--group",
        metavar="COLUMN",
        help="names the person of each row: people are protected, not rows",
    )
    table.add_argument(
        "--grid",
        metavar="GRID",
        help="points of the curves: v1,v2,... or a file of numbers, or 'columns' to "
        "read them from the names of the columns, as age_1, age_1.25 (default: equally "
        "spaced, first point at A, last at B)",
    )
    table.add_argument(
        "--missing",
        choices=("error", "interpolate"),
        default="error",
        help="what to do with missing values (default: %(default)s)",
    )
    table.add_argument(
        "--duplicates",
        choices=("error", "mean"),
        default="error",
        help="long table: several values at the same t (default: %(default)s)",
    )

    table.add_argument(
        "--sparse",
        action="store_true",
        help="curves may start late, end early or have gaps: the mean at each point is "
        "that of the people observed there, and their share is released, too",
    )

    privacy = parser.add_argument_group("privacy")
    add_budget(privacy)
    privacy.add_argument(
        "--norm-bound",
        type=float,
        metavar="TAU",
        help="public bound on the L2 norm of a centred curve, if tighter than --bounds",
    )
    add_release(privacy)

    output = parser.add_argument_group("output")
    output.add_argument(
        "--out",
        default="private_mean.csv",
        metavar="CSV",
        help="t, mean, noise_std, lower, upper; coverage with --sparse "
        "(default: %(default)s)",
    )
    output.add_argument(
        "--plot", metavar="PNG", help="picture of the mean and its band"
    )
    output.add_argument(
        "--json",
        metavar="FILE",
        help="the guarantee; '-' is standard output, the report then goes to stderr",
    )
    add_force(output)
    output.add_argument("--xlabel", metavar="TEXT", help="for --plot (default: --t)")
    output.add_argument("--ylabel", metavar="TEXT", help="for --plot (default: --y)")
    output.add_argument(
        "--level",
        type=level,
        default=0.95,
        help="probability with which the band holds the noise (default: %(default)s)",
    )
