"""What ``trace`` prints of a release: public facts, in numbers and in words."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from skfuncpriv.local import GeoPrivateCurve
from skfuncpriv.privacy import BudgetLedger

from ._ledger import of_traces
from ._meaning import filled, in_words, metres, noise_in_words, unit_in_words
from ._trace_plan import is_all_noise
from ._trace_request import Public, request_lines
from ._traces import Traces


def print_report(
    args: Namespace, public: Public, model: GeoPrivateCurve, read: Traces, noise: float
) -> None:
    """What was asked and promised, what was written, and what to watch for."""
    *time, x, y = read.names
    over = time[0] if time else "the share of its length"
    print(f"Private trace of {x} and {y} over {over}{_which(args)}")
    promise = of_traces(model.guarantee_)
    lines = [*request_lines(args, public), ("guarantee", promise)]
    for name, text in [*lines, ("noise", noise_in_words(model, noise))]:
        print(f"  {name:<9}  {text}")
    print()
    guarantee, domain = model.guarantee_, model.domain
    print(filled(in_words(guarantee, domain, args.hide, args.odds, args.delta)))
    print(filled(unit_in_words(guarantee, domain, args.hide, args.no_times)))
    print(_what_is_compared(args))
    print(
        "Every run is another release of the same trace, and they add up: two lose "
        "twice as\nmuch. To compare radii and odds ask --plan instead: it reads and "
        "costs nothing."
    )
    if args.id is not None and args.group is None:
        print(
            "Protected is one trace. Traces of one person add up as well; --group "
            "COLUMN charges\na --ledger for it."
        )
    print(f"\nWrote {args.out}: {args.points} public points for each trace")
    if args.plot:
        print(f"Wrote {args.plot}" + ", with the true trace" * args.compare)
    if args.ledger:
        left = of_traces(BudgetLedger(args.ledger).remaining)
        print(f"Left in {args.ledger}: {left}")
    _warn(args, model, noise)


def _which(args: Namespace) -> str:
    if args.only is not None:
        return f": {args.only}"
    return "" if args.id is None else f", one for each {args.id}"


def _what_is_compared(args: Namespace) -> str:
    if args.no_times:
        return (
            "Traces are compared at equal shares of their length; the length itself, "
            "and all times,\nare left out."
        )
    return (
        "Before its first and after its last point a trace is taken to rest, and "
        "between two\npoints to go straight."
    )


def _warn(args: Namespace, model: Any, noise: float) -> None:
    if is_all_noise(model, noise):
        print(
            f"warning: the noise, {metres(noise)}, is as large as the area: next to "
            "nothing of the trace can be seen; hide less, or allow larger odds",
            file=sys.stderr,
        )
    if args.compare:
        print(
            f"warning: {args.plot} shows the true trace (--compare): never publish it",
            file=sys.stderr,
        )
