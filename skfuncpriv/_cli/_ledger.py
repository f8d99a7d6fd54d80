"""``ledger``: create, divide, show and export a privacy budget in a file."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from skfuncpriv.privacy import BudgetLedger, PrivacyGuarantee

from ._errors import CommandError
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
    command = "mean" if args.metric is None else "trace"
    group = " --group COLUMN" if args.unit == "person" else ""
    print(f"Charge it with: {PROG} {command} FILE ...{group} --ledger {args.file}")


def _show(args: Namespace) -> None:
    ledger = _open(args.file)
    print(f"Ledger {args.file}")
    if ledger.name:
        print(f"  name       {ledger.name}")
    print(f"  budget     {of_traces(ledger.budget)}")
    print(f"  spent      {of_traces(ledger.spent)}")
    print(f"  remaining  {of_traces(ledger.remaining)}")
    scopes = ledger.scopes
    if scopes:
        print("  scopes")
    for name, people in scopes.items():
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
    ledger = _open(args.file)
    address = ledger.add_scope(
        args.name, epsilon=args.epsilon, delta=args.delta, rho=args.rho
    )
    _print_added(args, [address])


def _add_partition(args: Namespace) -> None:
    names = [name for name, _ in args.parts]
    sizes = dict(args.parts)
    if None in sizes.values() and set(sizes.values()) != {None}:
        raise CommandError("give the number of people of every part, or of none")
    if len(sizes) < len(names):
        raise CommandError(f"the names of parts must differ, got {' '.join(names)}")
    parts = names if None in sizes.values() else sizes
    addresses = _open(args.file).add_partition(
        args.name, parts, epsilon=args.epsilon, delta=args.delta, rho=args.rho
    )
    _print_added(args, list(addresses.values()))


def _print_added(args: Namespace, addresses: list[str]) -> None:
    print(f"Added {args.name} to {args.file}; in Python, charge it as")
    for address in addresses:
        print(f"  ledger={address!r}")


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


def _open(path: str) -> BudgetLedger:
    if not Path(path).is_file():
        raise CommandError(
            f"there is no ledger {path!r}; create it with: {PROG} ledger create {path} "
            "--epsilon 3"
        )
    return BudgetLedger(path)


def _numbers(guarantee: PrivacyGuarantee) -> str:
    """The numbers of a guarantee, without its words."""
    if guarantee.epsilon is None:
        return f"rho = {_digits(guarantee.rho)}"
    delta = f", delta = {_digits(guarantee.delta)}" if guarantee.delta else ""
    return f"epsilon = {_digits(guarantee.epsilon)}{delta}"


def _digits(number: float | None) -> str:
    """All of them: fewer could say that more is left."""
    return repr(number).removesuffix(".0")
