"""``trace FILE``: private traces of positions, on public points."""

from __future__ import annotations

import sys
import warnings
from argparse import Namespace
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np

from skfuncpriv._validation import check_interval, check_positive
from skfuncpriv.exceptions import NoiseDominatesWarning
from skfuncpriv.local import GeoPrivateCurve, to_degrees
from skfuncpriv.plotting import TraceDisplay
from skfuncpriv.plotting._trace import typical_noise
from skfuncpriv.privacy import BudgetLedger, epsilon_for_radius

from . import _report as report
from ._arguments import PROG
from ._errors import CommandError
from ._files import check_ledger, check_outputs
from ._gpx import Track, write_gpx
from ._mean import pairs
from ._meaning import in_words, metres, noise_in_words
from ._traces import Traces, read_stamp, read_traces

_ENDINGS = {"--out": (".csv", ".gpx"), "--plot": (".png",)}
_MOST_IN_A_PICTURE = 6
_KILOMETRES_FROM = 2e4  # a picture of a larger area is in kilometres
_NO_TIMES_DOMAIN = (0.0, 1.0)


class Release(NamedTuple):
    """What may be published: private traces in metres, and public facts."""

    grid: np.ndarray
    traces: list[np.ndarray]  # one array (n_points, 2) for each name
    promise: str
    noise: float  # typical distance at a point


def run(args: Namespace) -> int:
    """Release, print and write; everything public is checked before data is read."""
    bounds, domain = _check_public(args)
    _check_files(args)
    read = read_traces(args)
    if args.out.lower().endswith(".gpx") and not read.degrees:
        raise CommandError("GPX holds degrees: write .csv, or give --origin LON LAT")
    if args.plot and len(read.ids) > _MOST_IN_A_PICTURE:
        raise CommandError(
            f"--plot shows at most {_MOST_IN_A_PICTURE} traces: choose one with --only"
        )
    model = _fitted(args, bounds, domain, read.curves)
    # One release, which is charged once; all that is written comes from it.
    curves = model.release(read.curves, groups=read.groups)
    grid = np.linspace(*domain, args.points)
    release = Release(
        grid,
        [curve.evaluate(grid) for curve in curves],
        report.promise(model, "trace").replace("one row", "one trace"),
        typical_noise(model),
    )
    _write(args, read, release)
    if args.plot:
        _draw(args, bounds, read, release, _true(read) if args.compare else None)
    _print(args, model, read, release)
    return 0


def _check_public(args: Namespace) -> tuple[Any, tuple[float, float]]:
    """Bounds and domain; what is missing is explained, all at once."""
    command, missing = f"{PROG} trace {args.file}", []
    if args.area is None and args.bounds is None:
        missing.append(
            "--area METRES is missing: how far positions can be from the origin."
        )
    if args.domain is None and not args.no_times:
        missing.append(
            "--domain A B is missing: the seconds that are released, such as 0 7200."
        )
    if args.hide is None and args.epsilon is None and args.rho is None:
        missing.append(
            "--hide METRES --odds FACTOR is missing: traces that near must look alike."
        )
    if missing:
        times = "--no-times" if args.no_times else "--domain 0 7200"
        raise CommandError(
            "\n".join(missing) + "\nThese are public knowledge, chosen without a look "
            "at the trace: the size of a city, a\nlength that all tours are given. "
            "Never take them from the trace: they are written with\nit, and the "
            "guarantee would be void.\n"
            f"example: {command} --area 5000 {times} --hide 200 --odds 3"
        )
    if args.no_times and (args.domain is not None or args.start is not None):
        raise CommandError("--no-times has no --domain and no --start: it is 0 to 1")
    if (args.hide is None) != (args.odds is None):
        raise CommandError("--hide and --odds belong together: --hide 200 --odds 3")
    if args.compare and not args.plot:
        raise CommandError("--compare draws into the picture: add --plot picture.png")
    if args.group is not None and args.id is None:
        raise CommandError("--group needs --id, the column that names the traces")
    return _bounds(args), _NO_TIMES_DOMAIN if args.no_times else check_interval(
        args.domain, "--domain"
    )


def _bounds(args: Namespace) -> Any:
    """Two arrays with an end for each coordinate."""
    if args.area is not None:
        area = check_positive(args.area, "--area")
        return (-area, -area), (area, area)
    given = pairs(args.bounds, "--bounds")
    if len(given) > 2:
        raise CommandError("--bounds must be one pair, or one for each coordinate")
    both = [check_interval(pair, "--bounds") for pair in given] * (3 - len(given))
    return tuple(zip(*both, strict=True))


def _check_files(args: Namespace) -> None:
    taken = {args.file: "the file of the trace"}
    if args.ledger is not None:
        amount = "--rho 1" if args.rho is not None else "--epsilon 1"
        check_ledger(args.ledger, f"{amount} --metric L2")
        taken[args.ledger] = "the ledger"
    outputs = {"--out": args.out, "--plot": args.plot}
    check_outputs(outputs, taken, _ENDINGS, force=args.force)


def _fitted(args: Namespace, bounds: Any, domain: Any, curves: Any) -> GeoPrivateCurve:
    model = GeoPrivateCurve(
        bounds=bounds,
        domain=domain,
        epsilon=args.epsilon,
        rho=args.rho,
        parameter="arc length" if args.no_times else "time",
        denoise=not args.no_denoise,
        ledger=args.ledger,
        random_state=args.seed,
    )
    with warnings.catch_warnings():  # the report has words of its own for it
        warnings.simplefilter("ignore", NoiseDominatesWarning)
        return _fit_budget(model, args, domain, curves)


def _fit_budget(
    model: GeoPrivateCurve, args: Namespace, domain: Any, curves: Any
) -> GeoPrivateCurve:
    if args.hide is None:
        return model.fit(curves)

    def epsilon(radius: float) -> float:
        return epsilon_for_radius(radius, args.odds, domain=domain)

    hide = check_positive(args.hide, "--hide")
    model.set_params(epsilon=epsilon(hide)).fit(curves)
    # What floats add to a distance must look alike, too.
    error = model.guarantee_.distance_error / np.sqrt(domain[1] - domain[0])
    return model.set_params(epsilon=epsilon(hide + error)).fit(curves)


def _write(args: Namespace, read: Traces, release: Release) -> None:
    """The private traces, in the units of the file."""
    places = [
        to_degrees(xy, origin=tuple(args.origin))
        if read.degrees
        else (xy[:, 0], xy[:, 1])
        for xy in release.traces
    ]
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


def _stamps(args: Namespace, grid: np.ndarray) -> list[str] | None:
    """The points of the grid as stamps, if --start is one."""
    start = None if args.start is None else read_stamp(args.start)
    if start is None:
        return None
    moments = (start + timedelta(seconds=float(t)) for t in grid)
    return [moment.isoformat().replace("+00:00", "Z") for moment in moments]


def _print(
    args: Namespace, model: GeoPrivateCurve, read: Traces, release: Release
) -> None:
    """What was promised, in numbers and in words; public facts only."""
    *time, x, y = read.names
    over = time[0] if time else "the share of its length"
    which = f", one for each {args.id}" if args.id is not None else ""
    print(f"Private trace of {x} and {y} over {over}{which}")
    print(f"  guarantee  {release.promise}")
    print(f"  noise      {noise_in_words(model, release.noise)}")
    print()
    print(in_words(model.guarantee_, model.domain, args.hide, args.odds))
    if args.no_times:
        print(
            "Traces are compared at equal shares of their length; the length itself, "
            "and all times,\nare left out."
        )
    else:
        print(
            "Before its first and after its last point a trace is taken to rest, and "
            "between two\npoints to go straight."
        )
    if args.id is not None and args.group is None:
        print(
            "Protected is one trace. Traces of one person add up: two lose twice as "
            "much;\n--group COLUMN charges a --ledger for it."
        )
    print(f"\nWrote {args.out}: {args.points} public points for each trace")
    if args.plot:
        print(f"Wrote {args.plot}" + ", with the true trace" * args.compare)
    if args.ledger:
        print(f"Left in {args.ledger}: {BudgetLedger(args.ledger).remaining}")
    half_width = model.norm_bound_ / np.sqrt(2 * (model.domain[1] - model.domain[0]))
    if release.noise >= half_width:
        print(
            f"warning: the noise, {metres(release.noise)}, is as large as the area: "
            "next to nothing of the trace can be seen; hide less, or allow larger odds",
            file=sys.stderr,
        )
    if args.compare:
        print(
            f"warning: {args.plot} shows the true trace (--compare): never publish it",
            file=sys.stderr,
        )


def _true(read: Traces) -> list[np.ndarray]:
    """The points of every true trace within the domain, in metres."""
    if isinstance(read.curves, list):
        return read.curves
    low, high = read.curves.domain
    traces = [read.curves[i] for i in range(len(read.curves))]
    return [one.values[(one.times >= low) & (one.times <= high)] for one in traces]


def _draw(
    args: Namespace,
    bounds: Any,
    read: Traces,
    release: Release,
    true: list[np.ndarray] | None,
) -> None:
    """The private traces; the true ones only where they are given."""
    from matplotlib.figure import Figure

    low, high = np.array(bounds)
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
            guarantee=release.promise,
            true=None if true is None else np.clip(true[i], low, high) / scale,
            name=name if len(read.ids) > 1 else None,
            labels=labels,
            unit=unit,
        ).plot(ax)
    figure.savefig(args.plot, format="png", dpi=150)
