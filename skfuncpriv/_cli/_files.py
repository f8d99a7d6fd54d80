"""Which files a command may read and write, checked before any budget is charged."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from skfuncpriv._config import is_strict
from skfuncpriv.privacy import BudgetLedger

from . import _report as report
from ._arguments import PROG
from ._errors import CommandError

# Written where no other name is given.
_DEFAULTS = (
    "private_mean.csv",
    "private_density.csv",
    "private_trace.csv",
    "private_sample.csv",
)


def split_address(address: str) -> tuple[str, str]:
    """The file of a ledger and a scope in it, or ``""``."""
    path, marker, scope = address.rpartition("::")
    return (path, scope) if marker else (address, "")


def check_ledger(args: Namespace, budget: str) -> dict[str, str]:
    """The file of ``--ledger`` as one that is taken; `budget` would create it.

    It is refused if there is no such ledger, or no such scope in it.
    """
    if args.ledger is None:
        if is_strict():
            raise CommandError(
                f"strict mode demands a ledger: create one with: {PROG} ledger create "
                f"FILE {budget} and charge it with --ledger FILE"
            )
        return {}
    path, scope = split_address(args.ledger)
    check_exists(path, budget)
    check_scope(BudgetLedger(path), path, scope, charged=True)
    return {path: "the ledger"}


def refuse_strict(command: str, reason: str) -> None:
    """Refuse, in strict mode, a command of which no ledger could be charged."""
    if is_strict():
        raise CommandError(
            f"{command} does not run in strict mode: {reason}; it reads no private "
            "data, run it in a process of its own without SKFUNCPRIV_STRICT"
        )


def check_people(args: Namespace) -> None:
    """Refuse a budget of another unit, or one that is used up, before data are read."""
    if args.ledger is None:
        return
    ledger = BudgetLedger(args.ledger)
    budget, left = ledger.budget, ledger.remaining
    create = f"{PROG} ledger create FILE --epsilon 3"
    if budget.metric is not None:
        raise CommandError(
            f"{args.ledger!r} is a budget for traces; one for people is made with: "
            f"{create} --unit person"
        )
    if budget.unit == "person" and args.group is None:
        raise CommandError("this budget is per person: add --group COLUMN")
    if budget.unit == "row" and args.group is not None:
        raise CommandError(
            "this budget is per row: leave out --group, or make one per person with: "
            f"{create} --unit person"
        )
    if left.epsilon is not None and args.epsilon > left.epsilon:
        raise used_up(args, ledger)


def used_up(args: Namespace, ledger: BudgetLedger) -> CommandError:
    """The refusal of a ledger of epsilon in short numbers."""
    asked, left, budget = (
        f"epsilon = {epsilon:g}"
        + (f", delta = {delta:g}" if ledger.budget.delta else "")
        for epsilon, delta in (
            (args.epsilon, args.delta),
            (ledger.remaining.epsilon, ledger.remaining.delta),
            (ledger.budget.epsilon, ledger.budget.delta),
        )
    )
    return CommandError(
        f"asked {asked}; left {left}, of {budget}, in {args.ledger}; nothing was drawn "
        "or charged"
    )


def check_exists(path: str, budget: str) -> None:
    """Refuse the file of a ledger that is not there."""
    if not Path(path).is_file():
        raise CommandError(
            f"there is no ledger {path!r}; create it with: {PROG} ledger create "
            f"{quote(path)} {budget}"
        )


def check_scope(ledger: BudgetLedger, path: str, scope: str, *, charged: bool) -> None:
    """Refuse a scope that is not there, and a charge to a partition."""
    scopes = list(ledger.scopes)
    parts = [name for name in scopes if name.startswith(f"{scope}/")]
    if not scope or scope in scopes or (parts and not charged):
        return
    if parts:
        raise CommandError(
            f"{scope!r} is a partition: charge one of its parts, as in --ledger "
            f"{quote(f'{path}::{parts[0]}')}"
        )
    option = "--rho 0.1" if ledger.budget.epsilon is None else "--epsilon 1"
    words = f"add-scope {quote(path)} {quote(scope)} {option}"
    partition, slash, part = scope.partition("/")
    if slash:
        words = f"add-partition {quote(path)} {quote(partition)} {quote(part)} ..."
    raise CommandError(
        f"{path!r} has no scope {scope!r}: add it with: {PROG} ledger {words}; there "
        f"are: {', '.join(map(repr, scopes)) or 'none'}"
    )


def check_outputs(
    outputs: Mapping[str, str | None],
    taken: Mapping[str, str],
    endings: Mapping[str, tuple[str, ...]],
    *,
    force: bool,
) -> None:
    """Refuse names that would clash, exist or be unwritable, and pictures in vain."""
    owners = {Path(path).resolve(): owner for path, owner in taken.items()}
    for option, path in outputs.items():
        if path is None:
            continue
        report.check_writable(path, option)
        other = owners.setdefault(Path(path).resolve(), option)
        if other != option:
            raise CommandError(f"{option}: {path!r} is {other} already")
        ending = endings.get(option, ("",))
        if not path.lower().endswith(ending):
            raise CommandError(f"{option}: {path!r} must end in {' or '.join(ending)}")
        if Path(path).exists() and not force:
            what, name = f"{option}:", "another name"
            if path in _DEFAULTS:
                what, name = "the default output", f"another one with {option}"
            raise CommandError(
                f"{what} {path!r} exists and is kept, a release is paid for: choose "
                f"{name}, or replace it with --force"
            )
    if outputs.get("--plot") and not report.has_matplotlib():
        raise CommandError("--plot needs matplotlib: pip install 'skfuncpriv[plot]'")
