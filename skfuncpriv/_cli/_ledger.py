"""``ledger create`` and ``ledger show``: a privacy budget in a file."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from skfuncpriv.privacy import BudgetLedger

from ._errors import CommandError
from ._parser import PROG


def run(args: Namespace) -> int:
    """Create or show."""
    if args.action == "create":
        _create(args)
    else:
        _show(args.file)
    return 0


def _create(args: Namespace) -> None:
    if Path(args.file).exists():
        raise CommandError(
            f"{args.file!r} exists already and was not changed; see what it holds "
            f"with: {PROG} ledger show {args.file}"
        )
    ledger = BudgetLedger(
        args.file,
        epsilon=args.epsilon,
        rho=args.rho,
        delta=args.delta,
        unit=args.unit,
        metric=args.metric,
    )
    print(f"Wrote {args.file}\n  budget  {ledger.budget}")
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
    print(f"  budget     {ledger.budget}")
    print(f"  spent      {ledger.spent}")
    print(f"  remaining  {ledger.remaining}")
    history = ledger.history()
    print("  history" if history else "  history    no charge yet")
    for record in history:
        times = f"{record.times} x " if record.times > 1 else ""
        moment = record.time.strftime("%Y-%m-%d %H:%M:%S UTC")
        print(f"    {moment}  {record.label}  {times}{record.guarantee}")
