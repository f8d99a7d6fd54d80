"""What ``ledger`` may be asked, with its help and examples."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import Any

from ._arguments import PROG

_EXAMPLES = f"""\
  For means and densities, where people are protected:
    {PROG} ledger create budget.db --epsilon 3 --unit person
  For traces, per unit of the L2 distance; trace --plan with --hide and --odds says
  how much three releases need:
    {PROG} ledger create traces.db --epsilon 2e-4 --metric L2"""

_MORE_EXAMPLES = f"""\
  Not more than 1 of it for incomes:
    {PROG} ledger add-scope budget.db income --epsilon 1
  Two regions of 120 and 80 people, which cost as much as the costlier one:
    {PROG} ledger add-partition budget.db region north=120 south=80
  What was spent:
    {PROG} ledger show budget.db
    {PROG} ledger export budget.db history.csv"""

_SCOPE = """\
Cap what a part of the work may spend. Its charges count in the scope and in the total.
The addresses that are printed are those of the scope, for --ledger and in Python.
"""

_PARTITION = """\
Account for disjoint public groups of people: what the groups cost the total is the
largest of what they were charged. Who is in which group must be public, never decided
by the private values.
"""


def add_ledger(commands: Any) -> None:
    """The command and its actions."""
    parser = commands.add_parser(
        "ledger",
        help="create a privacy budget, divide it, or show what is left of it",
        description="Keep a privacy budget in a file.",
        epilog=f"examples:\n{_EXAMPLES}\n{_MORE_EXAMPLES}",
    )
    actions = parser.add_subparsers(dest="action", required=True, title="actions")
    show = actions.add_parser(
        "show",
        help="budget, spent, remaining, scopes and history; writes nothing",
        description="Show a budget and its charges. Nothing is written.",
    )
    show.add_argument(
        "file", metavar="FILE", help="the file of the ledger, or FILE::SCOPE"
    )
    _add_create(actions)
    scope = actions.add_parser(
        "add-scope", help="cap what a part of the work may spend", description=_SCOPE
    )
    _add_file(scope)
    scope.add_argument("name", metavar="NAME", help="its name, or PARTITION/PART")
    _add_numbers(scope, "cap", required=True)
    partition = actions.add_parser(
        "add-partition",
        help="account for disjoint groups of people in parallel",
        description=_PARTITION,
    )
    _add_file(partition)
    partition.add_argument("name", metavar="NAME", help="its name")
    partition.add_argument(
        "parts",
        metavar="PART[=N]",
        nargs="+",
        type=_part,
        help="names of the groups, with the number of people in each if it is public",
    )
    _add_numbers(partition, "cap of each part", required=False)
    export = actions.add_parser(
        "export",
        help="write the history as CSV or JSON",
        description="Write the history into a new file. Everything in it is public.",
    )
    _add_file(export)
    export.add_argument("out", metavar="OUT", help="ends in .csv or .json")


def _add_create(actions: Any) -> None:
    create = actions.add_parser(
        "create",
        help="make a new budget",
        description="Make a new budget. An existing file is never changed.",
        epilog=f"examples:\n{_EXAMPLES}",
    )
    create.add_argument("file", metavar="FILE", help="the file to make")
    _add_numbers(create, "total budget", required=True)
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
    create.add_argument("--name", metavar="NAME", help="what the budget is for; public")


def _add_file(parser: Any) -> None:
    parser.add_argument("file", metavar="FILE", help="the file of the ledger")


def _add_numbers(parser: Any, what: str, *, required: bool) -> None:
    total = parser.add_mutually_exclusive_group(required=required)
    total.add_argument("--epsilon", type=float, metavar="EPS", help=what)
    total.add_argument(
        "--rho", type=float, help=f"{what}, of a concentrated definition"
    )
    parser.add_argument(
        "--delta", type=float, default=0.0, help=f"delta of the {what} (default: 0)"
    )


def _part(text: str) -> tuple[str, int | None]:
    name, equals, size = text.partition("=")
    if not equals:
        return name, None
    if not (size.isdecimal() and int(size) > 0):
        raise ArgumentTypeError(f"N in {text!r} must be a number of people")
    return name, int(size)
