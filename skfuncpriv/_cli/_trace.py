"""``trace FILE``: private traces of positions, on public points."""

from __future__ import annotations

import warnings
from argparse import Namespace
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np

from skfuncpriv._validation import check_positive
from skfuncpriv.exceptions import BudgetExceededError, NoiseDominatesWarning
from skfuncpriv.local import GeoPrivateCurve, to_degrees
from skfuncpriv.plotting import TraceDisplay
from skfuncpriv.plotting._trace_facts import typical_noise
from skfuncpriv.privacy import BudgetLedger

from . import _report as report
from ._errors import CommandError
from ._gpx import Track, write_gpx
from ._ledger import of_traces
from ._meaning import headline, rounded
from ._stamps import in_utc, read_stamp
from ._trace_plan import show_plan
from ._trace_report import print_report
from ._trace_request import (
    Public,
    budget_for,
    check_files,
    check_request,
    warn_of_slips,
)
from ._traces import Traces, read_traces

_MOST_IN_A_PICTURE = 6
_KILOMETRES_FROM = 2e4  # a picture of a larger area is in kilometres
# Public digits of what is written: a millimetre, or the decimetre of 1e-6 degrees.
_DECIMALS, _DECIMALS_OF_DEGREES = 3, 6


class Release(NamedTuple):
    """What may be published: private traces in metres, and public facts."""

    grid: np.ndarray
    traces: list[np.ndarray]  # one array (n_points, 2) for each name
    promise: str
    headline: str
    noise: float  # typical distance at a point
    n_coefficients: int  # of each coordinate


def run(args: Namespace) -> int:
    """Release, print and write; everything public is checked before data is read."""
    public = check_request(args)
    if args.plan:
        show_plan(args, public)
        return 0
    check_files(args, public)
    read = read_traces(args)
    if args.out.lower().endswith(".gpx") and not read.degrees:
        raise CommandError("GPX holds degrees: write .csv, or give --origin LON LAT")
    if args.plot and len(read.ids) > _MOST_IN_A_PICTURE:
        raise CommandError(
            f"--plot shows at most {_MOST_IN_A_PICTURE} traces: choose one with --only"
        )
    model = _fitted(args, public, read.curves)
    warn_of_slips(args, public)
    release = _release(args, model, read)
    _write(args, read, release)
    if args.plot:
        true = _true(read) if args.compare else None
        _draw(args, public, read, release, true)
    print_report(args, public, model, read, release.noise)
    return 0


def _fitted(args: Namespace, public: Public, curves: Any) -> GeoPrivateCurve:
    model = GeoPrivateCurve(
        bounds=public.bounds,
        domain=public.domain,
        epsilon=args.epsilon,
        rho=args.rho,
        parameter="arc length" if args.no_times else "time",
        denoise=not args.no_denoise,
        ledger=args.ledger,
        random_state=args.seed,
    )
    with warnings.catch_warnings():  # the report has words of its own for it
        warnings.simplefilter("ignore", NoiseDominatesWarning)
        return _fit_budget(model, args, public.domain, curves)


def _fit_budget(
    model: GeoPrivateCurve, args: Namespace, domain: Any, curves: Any
) -> GeoPrivateCurve:
    if args.hide is None:
        return model.fit(curves)
    hide = check_positive(args.hide, "--hide")
    model.set_params(**budget_for(args, hide, args.odds, domain)).fit(curves)
    # What floats add to a distance must look alike, too.
    hide += model.guarantee_.distance_error / np.sqrt(domain[1] - domain[0])
    return model.set_params(**budget_for(args, hide, args.odds, domain)).fit(curves)


def _release(args: Namespace, model: GeoPrivateCurve, read: Traces) -> Release:
    """One release, which is charged once; all that is written comes from it."""
    try:
        curves = model.release(read.curves, groups=read.groups)
    except BudgetExceededError:
        refusal = _used_up(args, model, read)
        if refusal is None:
            raise
        raise refusal from None
    grid = np.linspace(*model.domain, args.points)
    guarantee = model.guarantee_
    return Release(
        grid,
        # Adding 0 makes -0.0 a plain zero.
        [curve.evaluate(grid).round(_DECIMALS) + 0.0 for curve in curves],
        of_traces(guarantee),
        headline(guarantee, args.hide, args.odds, args.delta),
        typical_noise(model),
        model.n_coefficients_,
    )


def _used_up(
    args: Namespace, model: GeoPrivateCurve, read: Traces
) -> CommandError | None:
    """The refusal of a ledger in short numbers; None if its budget is of another kind.

    The cost is rounded up and what is left down, so that they never look equal.
    """
    guarantee, left = model.guarantee_, BudgetLedger(args.ledger).remaining
    name = "rho" if guarantee.epsilon is None else "epsilon"
    cost, rest = getattr(guarantee, name), getattr(left, name)
    if rest is None:
        return None
    each = "" if read is None or read.groups is None else " for each of one's traces"
    return CommandError(
        f"this release costs {rounded(cost, 2, up=True):g}{each}, "
        f"{rounded(rest, 2, up=False):g} is left in {args.ledger}; nothing was charged "
        "or released"
    )


def _write(args: Namespace, read: Traces, release: Release) -> None:
    """The private traces, in the units of the file."""
    places = [_places(args, read, xy) for xy in release.traces]
    stamps = _stamps(args, release.grid)
    names = read.ids if args.id is not None else [None]
    if args.out.lower().endswith(".gpx"):
        tracks = [Track(n, *xy, stamps) for n, xy in zip(names, places, strict=True)]
        write_gpx(args.out, tracks, f"Private trace. {release.promise}")
        return
    columns: dict[str, Any] = {}
    if args.id is not None:
        columns[args.id] = np.repeat(read.ids, args.points).tolist()
    time = "share" if args.no_times else read.names[0]
    columns[time] = [*(release.grid if stamps is None else stamps)] * len(places)
    for name, parts in zip(read.names[-2:], zip(*places, strict=True), strict=True):
        columns[name] = np.concatenate(parts)
    report.write_csv(args.out, columns, seeded=args.seed is not None)


def _places(args: Namespace, read: Traces, xy: np.ndarray) -> tuple[Any, Any]:
    if not read.degrees:
        return xy[:, 0], xy[:, 1]
    lon, lat = to_degrees(xy, origin=tuple(args.origin))
    return lon.round(_DECIMALS_OF_DEGREES) + 0.0, lat.round(_DECIMALS_OF_DEGREES) + 0.0


def _stamps(args: Namespace, grid: np.ndarray) -> list[str] | None:
    """The points of the grid as stamps, if --start is one."""
    start = None if args.start is None else read_stamp(args.start)
    if start is None:
        return None
    if start.tzinfo is None:
        start = in_utc(start)
    moments = (start + timedelta(seconds=float(t)) for t in grid)
    return [moment.isoformat().replace("+00:00", "Z") for moment in moments]


def _true(read: Traces) -> list[np.ndarray]:
    """The points of every true trace within the domain, in metres."""
    if isinstance(read.curves, list):
        return read.curves
    low, high = read.curves.domain
    traces = [read.curves[i] for i in range(len(read.curves))]
    return [one.values[(one.times >= low) & (one.times <= high)] for one in traces]


def _draw(
    args: Namespace,
    public: Public,
    read: Traces,
    release: Release,
    true: list[np.ndarray] | None,
) -> None:
    """The private traces; the true ones only where they are given."""
    from matplotlib.figure import Figure

    low, high = np.array(public.bounds)
    far = (high - low).max() >= _KILOMETRES_FROM
    scale, unit = (1000.0, "km") if far else (1.0, "m")
    labels = read.names[-2:]
    if read.degrees:
        labels = ("east of the origin", "north of the origin")
    figure = Figure(figsize=(7, 6.5), layout="constrained")
    ax = figure.subplots()
    for i, (name, trace) in enumerate(zip(read.ids, release.traces, strict=True)):
        TraceDisplay(
            release.grid,
            trace / scale,
            noise=release.noise / scale,
            n_coefficients=release.n_coefficients,
            guarantee=release.promise,
            title=release.headline,
            true=None if true is None else np.clip(true[i], low, high) / scale,
            name=name if len(read.ids) > 1 else None,
            labels=labels,
            unit=unit,
        ).plot(ax)
    figure.savefig(args.plot, format="png", dpi=150)
