"""What ``trace`` is asked, checked before data are read, and said back in the report.

All of it is public knowledge that the user states: a slip in it (kilometres for metres,
a latitude for a longitude) makes a release useless, and costs as much as a good one.
"""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np

from skfuncpriv._validation import check_delta, check_interval, check_positive
from skfuncpriv.local import to_degrees
from skfuncpriv.privacy import BudgetLedger, epsilon_for_radius, rho_for_radius

from ._arguments import PROG
from ._errors import CommandError
from ._files import check_ledger, check_outputs
from ._mean import pairs
from ._meaning import metres, rounded
from ._stamps import in_utc, read_stamp

_ENDINGS = {"--out": (".csv", ".gpx"), "--plot": (".png",)}
_NO_TIMES_DOMAIN = (0.0, 1.0)
_NARROW, _SHORT = 100.0, 60.0  # metres, seconds: less is more likely a slip


class Public(NamedTuple):
    """What is public about a release before any data are read."""

    bounds: Any  # two arrays with an end for each coordinate
    domain: tuple[float, float]

    @property
    def width(self) -> float:
        """Metres between the nearer two edges of the area."""
        low, high = np.array(self.bounds)
        return float((high - low).min())


def check_request(args: Namespace) -> Public:
    """Area, domain and budget; what is missing is explained, all at once."""
    _explain_missing(args)
    if args.no_times and (args.domain is not None or args.start is not None):
        raise CommandError("--no-times has no --domain and no --start: it is 0 to 1")
    _check_budget(args)
    if args.compare and not args.plot:
        raise CommandError("--compare draws into the picture: add --plot picture.png")
    if args.group is not None and args.id is None:
        raise CommandError("--group needs --id, the column that names the traces")
    domain = _NO_TIMES_DOMAIN
    if not args.no_times:
        domain = check_interval(args.domain, "--domain")
    public = Public(_bounds(args), domain)
    request_lines(args, public)  # refuses an origin or a window that does not exist
    return public


def check_files(args: Namespace, public: Public) -> None:
    """Refuse files and ledgers that do not serve."""
    budget = f"{ledger_amount(args, public.domain)} --metric L2"
    taken = {args.file: "the file of the trace", **check_ledger(args, budget)}
    if args.ledger is not None and BudgetLedger(args.ledger).budget.metric is None:
        raise CommandError(
            f"{args.ledger!r} is a budget for means, traces need one of their own: "
            f"{PROG} ledger create traces.db {budget}"
        )
    outputs = {"--out": args.out, "--plot": args.plot}
    check_outputs(outputs, taken, _ENDINGS, force=args.force)


def budget_for(args: Namespace, radius: float, odds: float, domain: Any) -> dict:
    """The budget that hides a radius, as a parameter of the estimator."""
    if args.delta:
        return {"rho": rho_for_radius(radius, odds, args.delta, domain=domain)}
    return {"epsilon": epsilon_for_radius(radius, odds, domain=domain)}


def ledger_amount(args: Namespace, domain: Any, times: int = 3) -> str:
    """The option of ``ledger create`` for some releases as the one that is asked."""
    budget = {"epsilon": args.epsilon} if args.rho is None else {"rho": args.rho}
    if args.hide is not None:
        hide = check_positive(args.hide, "--hide")
        budget = budget_for(args, hide, args.odds, domain)
    [(name, cost)] = budget.items()
    cost = check_positive(cost, f"--{name}")
    return f"--{name} {rounded(times * cost, 2, up=True):g}"


def warn_of_slips(args: Namespace, public: Public) -> None:
    """What looks like a slip in public facts, on stderr."""
    found = []
    if public.width < _NARROW:
        found.append(f"the area is only {metres(public.width)} wide: are these metres?")
    length = public.domain[1] - public.domain[0]
    if not args.no_times and length < _SHORT:
        found.append(f"the domain is only {length:g} s long: are these seconds?")
    if args.hide is not None and args.hide >= public.width / 2:
        found.append(
            f"--hide {args.hide:g} is at least half the width of the area, "
            f"{metres(public.width)}: next to nothing of the trace can be seen"
        )
    for text in found:
        print(f"warning: {text}", file=sys.stderr)


def request_lines(args: Namespace, public: Public) -> list[tuple[str, str]]:
    """Names and texts that say back when, where and how near."""
    lines = [("window", _window(args, public.domain)), ("area", _area(args, public))]
    if args.hide is not None and args.odds is not None:
        lines.append(("hidden", f"{metres(args.hide)}, at odds {args.odds:g}"))
    return lines


def _explain_missing(args: Namespace) -> None:
    is_gpx = args.file is not None and args.file.lower().endswith(".gpx")
    missing = []
    if args.file is None and not args.plan:
        missing.append("FILE is missing: the trace; only --plan needs none.")
    if is_gpx and args.origin is None and not args.plan:
        missing.append(
            "--origin LON LAT is missing: the middle of the area, a public place."
        )
    if args.area is None and args.bounds is None:
        missing.append(
            "--area METRES is missing: how far positions can be from the origin."
        )
    if is_gpx and not args.no_times and args.start is None and not args.plan:
        missing.append(
            "--start STAMP is missing: the public moment that is second 0, a round one."
        )
    if args.domain is None and not args.no_times:
        missing.append(
            "--domain A B is missing: the seconds that are released, such as 0 7200;"
            " or --no-times."
        )
    if not args.plan:
        missing += _missing_budget(args)
    if not missing:
        return
    words = [args.file or "walk.csv"]
    words += ["--origin 13.40 52.52"] * is_gpx + ["--area 5000"]
    words += ["--start 2024-05-01T10:00Z"] * (is_gpx and not args.no_times)
    words[0] = shlex.quote(words[0])
    words += ["--no-times" if args.no_times else "--domain 0 7200"]
    words += ["--plan"] if args.plan else ["--hide 200 --odds 3"]
    raise CommandError(
        "\n".join(missing) + "\nThese are public knowledge, chosen without a look "
        "at the trace: the size of a city, a\nlength that all tours are given. "
        "Never take them from the trace: they are written with\nit, and the "
        f"guarantee would be void.\nexample: {PROG} trace {' '.join(words)}"
    )


def _missing_budget(args: Namespace) -> list[str]:
    if args.epsilon is not None or args.rho is not None:
        return []
    if args.hide is None and args.odds is None:
        return [
            "--hide METRES --odds FACTOR is missing: traces that near must look alike."
        ]
    if args.hide is None:
        return ["--hide METRES is missing: the distance within which --odds hold."]
    if args.odds is None:
        return ["--odds FACTOR is missing: how much they may change within --hide."]
    return []


def _check_budget(args: Namespace) -> None:
    other = "--epsilon" if args.epsilon is not None else "--rho"
    if args.plan and (args.epsilon is not None or args.rho is not None):
        raise CommandError(f"--plan compares --hide and --odds: leave out {other}")
    if args.odds is not None and args.hide is None and not args.plan:
        raise CommandError(f"--odds belongs to --hide, and {other} was given")
    if args.delta is None:
        return
    args.delta = check_delta(args.delta)
    if args.epsilon is not None:
        raise CommandError("--delta belongs to --hide or --rho, not to --epsilon")


def _bounds(args: Namespace) -> Any:
    if args.area is not None:
        area = check_positive(args.area, "--area")
        return (-area, -area), (area, area)
    given = pairs(args.bounds, "--bounds")
    if len(given) > 2:
        raise CommandError("--bounds must be one pair, or one for each coordinate")
    both = [check_interval(pair, "--bounds") for pair in given] * (3 - len(given))
    return tuple(zip(*both, strict=True))


def _window(args: Namespace, domain: tuple[float, float]) -> str:
    if args.no_times:
        return "none: traces are compared at shares of their length, from 0 to 1"
    low, high = domain
    start = None if args.start is None else read_stamp(args.start)
    if start is None:
        after = "" if args.start is None else f" after {args.start}"
        return f"{low:g} to {high:g} s{after}"
    try:
        ends = [in_utc(start) + timedelta(seconds=end) for end in domain]
    except OverflowError:
        raise CommandError("--start and --domain reach beyond the calendar") from None
    first, last = (end.strftime("%Y-%m-%d %H:%M:%S") for end in ends)
    text = f"{first} to {last} UTC ({high - low:g} s)"
    if start.tzinfo is None:
        text += "\n             (--start names no zone and is read as UTC)"
    return text


def _area(args: Namespace, public: Public) -> str:
    low, high = np.array(public.bounds)
    width, height = high - low
    size = f"{metres(width)} x {metres(height)}"
    x, y = (low + high) / 2
    if args.origin is None:
        return f"{size} about x = {x:g}, y = {y:g}"
    lon, lat = (float(a) for a in to_degrees([x, y], origin=tuple(args.origin)))
    north, east = "N" if lat >= 0 else "S", "E" if lon >= 0 else "W"
    return f"{size} about {abs(lat):.6g} {north}, {abs(lon):.6g} {east}"
