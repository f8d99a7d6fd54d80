"""What each command may be asked, with its help and examples."""

from __future__ import annotations

from typing import Any

from skfuncpriv import __version__

from ._arguments import (
    PROG,
    Parser,
    add_force,
    add_interval,
    add_release,
    bound,
    count,
    level,
    names,
)
from ._density_parser import add_density
from ._trace_parser import add_trace

_ESTIMATORS = ("mean", "covariance", "density")  # that plan knows
_MECHANISMS = ("auto", "laplace", "spherical", "block-spherical", "gaussian")

_MAIN = f"""\
Publish the mean of private curves or the density of private numbers under differential
privacy, or a private trace.

first steps:
  A private mean of real curves that come with the package, with a picture:
    {PROG} demo
  How large the noise would be, before you touch any data:
    {PROG} plan --bounds 0 100 --domain 0 24
  The private mean of your curves; all options, with examples:
    {PROG} mean FILE --bounds 0 100 --domain 0 24
    {PROG} mean --help
  The density of a column of numbers, and synthetic rows:
    {PROG} density FILE --column age --bounds 0 120
  A trace of your own (GPX or CSV), hidden within a radius that you choose:
    {PROG} trace --help
"""

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

Bounds and domain are public knowledge: physical limits, the range of the instrument,
an earlier study. Never take them from the file: its smallest and largest value are
private.
"""

_PLAN = """\
Show how large the privacy noise would be, before any data is touched.

Each cell is the root mean square of the noise at a point of the released function, in
its units, before denoising (which is free, and mostly lowers it).
"""

_PLAN_EXAMPLES = f"""\
examples:
  Mean curves of demand, for a study of 500 or of 5000 people:
    {PROG} plan --bounds 500 3500 --domain 0 24 \\
        --n 500 5000 --epsilon 0.5 1

  What is chosen from these public facts, with bias, sampling error and noise:
    {PROG} plan --bounds 500 3500 --domain 0 24 --parameters

  A density of ages:
    {PROG} plan --estimator density --bounds 0 120
"""

_DEMO = """\
Release the mean of 61 yearly curves of sea-surface temperature (El Nino, 1950-2010).

The curves come with the package. They are public: a year stands in for a person, so
that the mean without noise can be shown beside the private one.
"""

_AUDIT = """\
Attack the mechanism: run it many times on two neighbours that are as different as the
bounds allow, and bound epsilon from below by what can be told apart.

A bound above the promise proves a leak (exit code 1). A bound below it is evidence,
never a proof, of privacy. One coefficient is released, where the attack is sharpest.
"""

_CREATE_EXAMPLES = f"""\
  For means and densities, where people are protected:
    {PROG} ledger create budget.db --epsilon 3 --unit person
  For traces, per unit of the L2 distance; trace --plan with --hide and --odds says
  how much three releases need:
    {PROG} ledger create traces.db --epsilon 2e-4 --metric L2"""


def make_parser() -> Parser:
    """The parser of the whole command line."""
    parser = Parser(prog=PROG, description=_MAIN)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, title="commands")
    _add_mean(commands)
    add_density(commands)
    add_trace(commands)
    _add_plan(commands)
    _add_demo(commands)
    _add_audit(commands)
    _add_ledger(commands)
    return parser


def _add_mean(commands: Any) -> None:
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
        help="columns of the curve: a,b,c or first:last (default: all that are left, "
        "if their names are alike: hh1, hh2, ...)",
    )
    table.add_argument(
        "--drop", type=names, metavar="NAMES", help="columns that are no part of it"
    )
    table.add_argument(
        "--id",
        metavar="COLUMN",
        help="long table: names the curve; before its first and after its last "
        "observation a curve is taken as constant",
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

    privacy = parser.add_argument_group("privacy")
    _add_budget(privacy)
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
        help="t, mean, noise_std, lower, upper (default: %(default)s)",
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


def _add_plan(commands: Any) -> None:
    parser = commands.add_parser(
        "plan",
        help="show the expected error by number of people and epsilon, without data",
        description=_PLAN,
        epilog=_PLAN_EXAMPLES,
    )
    add_interval(parser, "--bounds", "LO", "HI", "possible values (required)")
    add_interval(parser, "--domain", "A", "B", "interval of curves (required for them)")
    parser.add_argument(
        "--estimator",
        choices=_ESTIMATORS,
        default="mean",
        metavar="WHAT",
        help=f"what is released: {', '.join(_ESTIMATORS)} (default: %(default)s)",
    )
    parser.add_argument(
        "--parameters",
        action="store_true",
        help="show all that is chosen from public facts, with bias and sampling error",
    )
    parser.add_argument(
        "--n",
        type=count,
        nargs="+",
        default=[100, 1000, 10000],
        metavar="N",
        help="numbers of people (default: 100 1000 10000)",
    )
    parser.add_argument(
        "--epsilon",
        type=float,
        nargs="+",
        default=[0.125, 0.5, 1.0, 4.0],
        metavar="EPS",
        help="budgets (default: 0.125 0.5 1 4)",
    )
    _add_delta_and_mechanism(parser)
    parser.add_argument(
        "--points",
        type=count,
        metavar="N",
        help="points of each curve, if they share a grid (default: many)",
    )


def _add_demo(commands: Any) -> None:
    parser = commands.add_parser(
        "demo",
        help="private mean of bundled curves: start here",
        description=_DEMO,
        epilog=f"example:\n  {PROG} demo --epsilon 1 --out-dir results",
    )
    parser.add_argument(
        "--epsilon",
        type=float,
        default=4.0,
        metavar="EPS",
        help="budget (default: %(default)s: 61 curves are few); try others and compare",
    )
    parser.add_argument(
        "--out-dir", default=".", metavar="DIR", help="where to write (default: here)"
    )


def _add_audit(commands: Any) -> None:
    parser = commands.add_parser(
        "audit",
        help="attack the mechanism and compare with the promised epsilon",
        description=_AUDIT,
        epilog=f"example:\n  {PROG} audit --epsilon 0.5 --mechanism gaussian "
        "--delta 1e-5",
    )
    _add_budget(parser, mechanism="laplace")
    parser.add_argument(
        "--trials",
        type=count,
        default=5000,
        metavar="N",
        help="runs on each neighbour; more are sharper (default: %(default)s)",
    )
    parser.add_argument(
        "--people",
        type=count,
        default=1,
        metavar="N",
        help="people in each data set, one of whom differs (default: %(default)s)",
    )
    parser.add_argument(
        "--verbose", action="store_true", help="show the event that the attack found"
    )


def _add_ledger(commands: Any) -> None:
    parser = commands.add_parser(
        "ledger",
        help="create a privacy budget, or show what is left of it",
        description="Create a privacy budget in a file, or show what is left of it.",
        epilog=f"examples:\n{_CREATE_EXAMPLES}\n  {PROG} ledger show budget.db",
    )
    actions = parser.add_subparsers(dest="action", required=True, title="actions")
    show = actions.add_parser(
        "show",
        help="budget, spent, remaining and history; writes nothing",
        description="Show a budget and its charges. Nothing is written.",
    )
    show.add_argument("file", metavar="FILE", help="the file of the ledger")
    create = actions.add_parser(
        "create",
        help="make a new budget",
        description="Make a new budget. An existing file is never changed.",
        epilog=f"examples:\n{_CREATE_EXAMPLES}",
    )
    create.add_argument("file", metavar="FILE", help="the file to make")
    total = create.add_mutually_exclusive_group(required=True)
    total.add_argument("--epsilon", type=float, metavar="EPS", help="total budget")
    total.add_argument(
        "--rho", type=float, help="total budget of a concentrated definition"
    )
    create.add_argument(
        "--delta", type=float, default=0.0, help="total delta (default: 0)"
    )
    create.add_argument(
        "--unit",
        choices=("row", "person"),
        default="row",
        help="who is protected; person is for --group (default: row)",
    )
    create.add_argument(
        "--metric",
        choices=("L2",),
        help="the budget is per unit of this distance: for the command trace",
    )


def _add_budget(parser: Any, mechanism: str = "auto") -> None:
    parser.add_argument(
        "--epsilon",
        type=float,
        default=1.0,
        metavar="EPS",
        help="budget; smaller is more private (default: %(default)s)",
    )
    _add_delta_and_mechanism(parser, mechanism)


def _add_delta_and_mechanism(parser: Any, mechanism: str = "auto") -> None:
    parser.add_argument(
        "--delta",
        type=float,
        default=0.0,
        help="with delta > 0 Gaussian noise is possible (default: 0)",
    )
    parser.add_argument(
        "--mechanism",
        choices=_MECHANISMS,
        default=mechanism,
        metavar="LAW",
        help=f"law of the noise: {', '.join(_MECHANISMS)} (default: %(default)s)",
    )
