"""What each command may be asked, with its help and examples."""

from __future__ import annotations

from typing import Any

from skfuncpriv import __version__

from ._arguments import (
    PROG,
    Parser,
    add_budget,
    add_delta_and_mechanism,
    add_interval,
    count,
)
from ._density_parser import add_density
from ._ledger_parser import add_ledger
from ._mean_parser import add_mean
from ._trace_parser import add_trace

_ESTIMATORS = ("mean", "covariance", "density")  # that plan knows

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

_PLAN = """\
Show how large the privacy noise would be, before any data is touched.

Each cell is the root mean square of the noise at a point of the released function, in
its units: for means what denoising (which is free) is expected to leave of it, for all
else before denoising, which mostly lowers it.
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
never a proof, of privacy. What is attacked is ICLPMean with one coefficient, where the
attack is sharpest, and without denoising, on made-up curves: no file is read.
"""


def make_parser() -> Parser:
    """The parser of the whole command line."""
    parser = Parser(prog=PROG, description=_MAIN)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, title="commands")
    add_mean(commands)
    add_density(commands)
    add_trace(commands)
    _add_plan(commands)
    _add_demo(commands)
    _add_audit(commands)
    add_ledger(commands)
    return parser


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
    add_delta_and_mechanism(parser)
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
    add_budget(parser, mechanism="laplace")
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
