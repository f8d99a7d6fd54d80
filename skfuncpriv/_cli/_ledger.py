"""``ledger create`` and ``ledger show``: a privacy budget in a file."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from skfuncpriv.privacy import BudgetLedger, PrivacyGuarantee

from ._errors import CommandError
from ._parser import PROG


def run(args: Namespace) -> int:
    """Create or show."""
    if args.action == "create":
        _create(args)
    else:
        _show(args.file)
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
    )
    print(f"Wrote {args.file}\n  budget  {of_traces(ledger.budget)}")
    command = "mean" if args.metric is None else "trace"
    group = " --group COLUMN" if args.unit == "person" else ""
    print(f"Charge it with: {PROG} {command} FILE ...{group} --ledger {args.file}")


def _show(path: str) -> None:
    if not Path(path).is_file():
        raise CommandError(
            f"there is no ledger {path!r}; create it with: {PROG} ledger create {path} "
            "--epsilon 3"
        )
    ledger = BudgetLedger(path)
    print(f"Ledger {path}")
    print(f"  budget     {of_traces(ledger.budget)}")
    print(f"  spent      {of_traces(ledger.spent)}")
    print(f"  remaining  {of_traces(ledger.remaining)}")
    history = ledger.history()
    print("  history" if history else "  history    no charge yet")
    for record in history:
        times = f"{record.times} x " if record.times > 1 else ""
        moment = record.time.strftime("%Y-%m-%d %H:%M:%S UTC")
        print(f"    {moment}  {record.label}  {times}{of_traces(record.guarantee)}")
