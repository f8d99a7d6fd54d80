"""What the command ``trace`` may be asked, with its help and examples."""

from __future__ import annotations

from typing import Any

from ._arguments import (
    PROG,
    add_force,
    add_interval,
    add_release,
    bound,
    count,
    names,
)

_TRACE = """\
Release a trace (a tour, a walk, a day of positions) from a GPX, CSV (also .csv.gz) or
Parquet file. What is written is private already: a smooth trace with noise, at public
times, within public bounds. The closer two traces are, the harder it is to tell which
of them it was.
"""

_EXAMPLES = f"""\
examples:
  First ask what it would cost, without a file: noise and detail by radius and odds
    {PROG} trace --plan --area 5000 --domain 0 7200

  A walk of at most two hours; hide all that is within 200 metres of it:
    {PROG} trace walk.gpx --origin 13.40 52.52 --area 5000 \\
        --start 2024-05-01T10:00Z --domain 0 7200 --hide 200 --odds 3

  The same, charged to a budget that is enough for three such walks:
    {PROG} ledger create traces.db --epsilon 2e-4 --metric L2
    {PROG} trace walk.gpx ... --ledger traces.db

  Points without times: the shape of the track alone
    {PROG} trace course.csv --no-times --origin 16.1 51.57 --area 5000 \\
        --hide 100 --odds 3 --out private.gpx --plot picture.png

  One storm of a table of many, six days from a public moment on:
    {PROG} trace storms.csv.gz --id storm --only Katrina-2005 \\
        --origin -85 27 --area 3e6 --start 2005-08-24 --domain 0 518400 \\
        --hide 2e4 --odds 5 --plot picture.png

Every run is another release of the same trace, and they add up.

Origin, area, start and domain are public knowledge: the middle of a city, its size, a
round hour, a length that all tours are given. Never take them from the trace, they are
written with it.
"""


def add_trace(commands: Any) -> None:
    """Add the parser of the command."""
    parser = commands.add_parser(
        "trace",
        help="release a trace of positions (GPX, CSV) that is private already",
        usage=f"{PROG} trace FILE --area M --domain A B --hide M --odds K [options]\n"
        f"       {PROG} trace --plan --area M --domain A B",
        description=_TRACE,
        epilog=_EXAMPLES,
    )
    # Not required: --plan needs none, and the command explains what is missing.
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="GPX, CSV, .csv.gz or Parquet file"
    )
    parser.add_argument(
        "--plan",
        action="store_true",
        help="only show noise and detail by radius and odds: no file is read, nothing "
        "is charged; add it to a command before you run it",
    )
    _add_public(
        parser.add_argument_group(
            "public knowledge (required; one of --area and --bounds is enough)"
        )
    )
    _add_budget(parser.add_argument_group("privacy (one of --hide, --epsilon, --rho)"))
    _add_table(parser.add_argument_group("what the columns are"))
    _add_output(parser.add_argument_group("output"))


def _add_public(public: Any) -> None:
    area = public.add_mutually_exclusive_group()
    area.add_argument(
        "--area",
        "--radius-of-area",
        type=float,
        metavar="METRES",
        help="positions lie at most so far east, west, north and south of the origin; "
        "others are moved to that edge",
    )
    area.add_argument(
        "--bounds",
        type=bound,
        nargs="+",
        metavar=("LO", "HI"),
        help="the same in metres, for both coordinates, or LO1 HI1 LO2 HI2",
    )
    add_interval(
        public,
        "--domain",
        "A",
        "B",
        "seconds, from the start, that are released; with --no-times it is 0 to 1",
    )
    public.add_argument(
        "--start",
        metavar="STAMP",
        help="2024-05-01T10:00Z, or a number for times that are numbers: second 0; "
        "without a zone it is UTC, and refused where the stamps of the file have one",
    )
    add_interval(
        public, "--origin", "LON", "LAT", "the middle of the area, for degrees"
    )


def _add_budget(privacy: Any) -> None:
    budget = privacy.add_mutually_exclusive_group()
    budget.add_argument(
        "--hide",
        type=float,
        metavar="METRES",
        help="traces that are nowhere further apart must look alike: see --odds",
    )
    budget.add_argument(
        "--epsilon", type=float, metavar="EPS", help="loss per unit of L2 distance"
    )
    budget.add_argument(
        "--rho",
        type=float,
        help="loss per squared unit of L2 distance (Gaussian noise)",
    )
    privacy.add_argument(
        "--odds",
        type=float,
        metavar="FACTOR",
        help="with --hide: how much the odds between two such traces may change; 2 is "
        "strong, 20 is weak",
    )
    privacy.add_argument(
        "--delta",
        type=float,
        metavar="CHANCE",
        help="with --hide: the odds may be exceeded with this chance, by Gaussian "
        "noise; it pays only where about 10 coefficients or more are worth it (see "
        "--plan: a small radius, large odds), otherwise leave it out; with --rho: the "
        "chance in the report's words",
    )
    add_release(privacy)


def _add_table(table: Any) -> None:
    table.add_argument(
        "--columns",
        type=names,
        metavar="NAMES",
        help="time,x,y or time,lon,lat, without the time with --no-times (default: "
        "guessed from names such as time, timestamp, x, y, lon, latitude)",
    )
    table.add_argument(
        "--no-times",
        action="store_true",
        help="ignore times: a trace is spread over 0 to 1 by the length along it",
    )
    table.add_argument(
        "--id",
        metavar="COLUMN",
        help="names the trace of each row, in a GPX file 'track'; the names are public",
    )
    table.add_argument("--only", metavar="NAME", help="the one trace to release")
    table.add_argument(
        "--group",
        metavar="COLUMN",
        help="names the person of each trace: --ledger is charged for all of a "
        "person's traces",
    )


def _add_output(output: Any) -> None:
    output.add_argument(
        "--out",
        default="private_trace.csv",
        metavar="FILE",
        help="the private trace, .csv or .gpx (default: %(default)s)",
    )
    output.add_argument(
        "--points",
        type=count,
        default=101,
        metavar="N",
        help="equally spaced over the domain (default: %(default)s)",
    )
    output.add_argument(
        "--plot", metavar="PNG", help="picture of the private trace; may be published"
    )
    output.add_argument(
        "--compare",
        action="store_true",
        help="draw the true trace as well: never publish that picture",
    )
    add_force(output)
