"""``ledger``: create, divide, show and export a privacy budget in a file."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from shlex import quote

from skfuncpriv.exceptions import PrivacyError
from skfuncpriv.privacy import BudgetLedger, PrivacyGuarantee

from ._errors import CommandError
from ._files import check_exists, check_scope, split_address
from ._parser import PROG


def run(args: Namespace) -> int:
    """Do what the action says."""
    actions = {
        "create": _create,
        "show": _show,
        "add-scope": _add_scope,
        "add-partition": _add_partition,
        "export": _export,
    }
    actions[args.action](args)
    return 0


def of_traces(guarantee: PrivacyGuarantee) -> str:
    """A guarantee in words; with a metric, what it calls a row is a trace."""
    text = str(guarantee)
    if guarantee.metric is None:
        return text
    return text.replace("per row", "per trace").replace("one row", "one trace")


def _create(args: Namespace) -> None:
    if Path(args.file).exists():
        raise CommandError(
            f"{args.file!r} exists already and was not changed; see what it holds "
            f"with: {PROG} ledger show {args.file}"
        )
    if args.metric is not None and args.unit == "person":
        raise CommandError(
            "--metric is for traces, whose unit is the row: a trace is one; "
            "trace --group COLUMN charges for all traces of a person"
        )
    ledger = BudgetLedger(
        args.file,
        epsilon=args.epsilon,
        rho=args.rho,
        delta=args.delta,
        unit=args.unit,
        metric=args.metric,
        name=args.name,
    )
    print(f"Wrote {args.file}\n  budget  {of_traces(ledger.budget)}")
    print(f"Charge it with: {_charging(ledger, args.file)}")


def _show(args: Namespace) -> None:
    ledger = _open(args.file)
    own = ledger.scope_name
    print(f"Ledger {args.file}")
    if ledger.name:
        print(f"  name       {ledger.name}")
    print(f"  budget     {of_traces(ledger.budget)}")
    print(f"  spent      {of_traces(ledger.spent)}")
    print(f"  remaining  {of_traces(ledger.remaining)}")
    scopes = {
        name: people
        for name, people in ledger.scopes.items()
        if not own or name.startswith(f"{own}/")
    }
    if scopes:
        print("  scopes")
    partitions = set()
    for name, people in scopes.items():
        partition, slash, _ = name.partition("/")
        if slash and partition not in partitions:
            partitions.add(partition)
            cost = _numbers(BudgetLedger(ledger.scope(partition)).spent)
            print(
                f"    {partition} (disjoint people): costs the total {cost}, the "
                "largest of its parts"
            )
        account = BudgetLedger(ledger.scope(name))
        size = f" ({people} people)" if people else ""
        spent, left = _numbers(account.spent), _numbers(account.remaining)
        print(f"    {name}{size}: spent {spent}; remaining {left}")
    history = ledger.history()
    print("  history" if history else "  history    no charge yet")
    for record in history:
        scope = f"[{record.scope}]  " if record.scope else ""
        times = f"{record.times} x " if record.times > 1 else ""
        cost = f"{scope}{times}{of_traces(record.guarantee)}"
        print(f"    {record.day} UTC  {record.label}  {cost}")


def _add_scope(args: Namespace) -> None:
    ledger = _open_whole(args.file)
    address = ledger.add_scope(
        args.name, epsilon=args.epsilon, delta=args.delta, rho=args.rho
    )
    _print_added(args, ledger, {args.name: address})


def _add_partition(args: Namespace) -> None:
    names = [name for name, _ in args.parts]
    sizes = dict(args.parts)
    if None in sizes.values() and set(sizes.values()) != {None}:
        raise CommandError("give the number of people of every part, or of none")
    if len(sizes) < len(names):
        raise CommandError(f"the names of parts must differ, got {' '.join(names)}")
    parts = names if None in sizes.values() else sizes
    ledger = _open_whole(args.file)
    addresses = ledger.add_partition(
        args.name, parts, epsilon=args.epsilon, delta=args.delta, rho=args.rho
    )
    named = {f"{args.name}/{part}": address for part, address in addresses.items()}
    _print_added(args, ledger, named)


def _print_added(
    args: Namespace, ledger: BudgetLedger, addresses: dict[str, str]
) -> None:
    print(f"Added {args.name} to {args.file}")
    print(f"Charge {'it' if len(addresses) == 1 else 'them'} with:")
    for name, address in addresses.items():
        print(f"  {_charging(ledger, f'{args.file}::{name}')}")
        print(f"    in Python ledger={address!r}")


def _charging(ledger: BudgetLedger, address: str) -> str:
    """The command that charges an account."""
    budget = ledger.budget
    command = "mean" if budget.metric is None else "trace"
    group = " --group COLUMN" if budget.unit == "person" else ""
    return f"{PROG} {command} FILE ...{group} --ledger {quote(address)}"


def _export(args: Namespace) -> None:
    ledger = _open(args.file)
    try:
        ledger.export(args.out)
    except FileExistsError:
        raise CommandError(f"{args.out!r} exists and is kept") from None
    except OSError as error:
        raise CommandError(
            f"{args.out!r} cannot be written: {error.strerror}"
        ) from None
    print(f"Wrote {args.out}")


def _open(address: str) -> BudgetLedger:
    """The ledger, or an account of it; nothing is released here."""
    path, scope = split_address(address)
    check_exists(path, "--epsilon 3")
    try:
        ledger = BudgetLedger(path)
    except PrivacyError as error:
        cause = error.__cause__
        if cause is None:
            raise
        if "not a database" in str(cause) or "not a ledger" in str(cause):
            raise CommandError(f"{path!r} is no ledger: {cause}") from None
        raise CommandError(f"the ledger {path!r} cannot be read: {cause}") from None
    check_scope(ledger, path, scope, charged=False)
    return BudgetLedger(address)


def _open_whole(address: str) -> BudgetLedger:
    """The ledger, to which scopes are added."""
    path, scope = split_address(address)
    if scope:
        raise CommandError(
            f"{address!r} is a scope of {path}: scopes are added to the ledger itself"
        )
    return _open(address)


def _numbers(guarantee: PrivacyGuarantee) -> str:
    """The numbers of a guarantee, without its words."""
    if guarantee.epsilon is None:
        return f"rho = {_digits(guarantee.rho)}"
    delta = f", delta = {_digits(guarantee.delta)}" if guarantee.delta else ""
    return f"epsilon = {_digits(guarantee.epsilon)}{delta}"


def _digits(number: float | None) -> str:
    """All of them: fewer could say that more is left."""
    return repr(number).removesuffix(".0")
