"""What the command ``density`` may be asked, with its help and examples."""

from __future__ import annotations

from typing import Any

from ._arguments import PROG, add_force, add_release, bound, count, level, names

_DENSITY = """\
Release the density of one to three columns of a CSV (also .csv.gz) or Parquet file, and
synthetic rows drawn from it. What is written may be published under the guarantee that
is printed.
"""

_EXAMPLES = f"""\
examples:
  Ages, with a picture and a thousand synthetic ones:
    {PROG} density patients.csv --column age --bounds 0 120 \\
        --sample 1000 --plot density.png

  Positions; protect each ship, however many rows it has:
    {PROG} density positions.csv --column lon lat \\
        --bounds -110 0 5 60 --group ship --plot map.png

  Hours of the day: midnight is not an end
    {PROG} density calls.csv --column hour --bounds 0 24 \\
        --boundary periodic

  Charged to a budget:
    {PROG} ledger create budget.db --epsilon 3 --unit person
    {PROG} density patients.csv --column age --bounds 0 120 --group id \\
        --epsilon 0.5 --ledger budget.db

Bounds are public knowledge: what is possible, not what occurs in the file. Equal bounds
give equal grids, so that the densities of two files can be subtracted row by row.
"""

_KERNELS = ("gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine")
_BOUNDARIES = ("reflect", "periodic", "renormalize")


def add_density(commands: Any) -> None:
    """Add the parser of the command."""
    parser = commands.add_parser(
        "density",
        help="release the density of columns of a file, and synthetic rows",
        usage=f"{PROG} density FILE --column NAME [NAME2] --bounds LO HI [options]",
        description=_DENSITY,
        epilog=_EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", help="CSV, .csv.gz or Parquet file")
    _add_public(parser.add_argument_group("public knowledge (required)"))
    _add_shape(parser.add_argument_group("how it is made"))
    _add_privacy(parser.add_argument_group("privacy"))
    _add_output(parser.add_argument_group("output"))


def _add_public(public: Any) -> None:
    public.add_argument(
        "--column",
        "--columns",
        type=names,
        nargs="+",
        metavar="NAME",
        help="one to three columns of numbers, with spaces: lon lat",
    )
    public.add_argument(
        "--bounds",
        type=bound,
        nargs="+",
        metavar=("LO", "HI"),
        help="possible values, others are moved there; LO1 HI1 LO2 HI2 ... for several "
        "columns, or one pair for all",
    )


def _add_shape(shape: Any) -> None:
    shape.add_argument(
        "--boundary",
        nargs="+",
        choices=_BOUNDARIES,
        default=["reflect"],
        metavar="RULE",
        help=f"what happens at the bounds: {', '.join(_BOUNDARIES)}; one, or one for "
        "each column (default: reflect)",
    )
    shape.add_argument(
        "--bandwidth",
        nargs="+",
        default=["pss"],
        metavar="H",
        help="of a kernel, in the units of the columns, one or one for each; or pss, "
        "private-iqr, scott, silverman (default: pss, with which the release is "
        "denoised and needs no kernel)",
    )
    shape.add_argument(
        "--kernel",
        choices=_KERNELS,
        default="gaussian",
        metavar="NAME",
        help=f"that a bandwidth belongs to: {', '.join(_KERNELS)} (default: "
        "%(default)s)",
    )


def _add_privacy(privacy: Any) -> None:
    privacy.add_argument(
        "--epsilon",
        type=float,
        default=1.0,
        metavar="EPS",
        help="budget; smaller is more private (default: %(default)s)",
    )
    privacy.add_argument(
        "--delta",
        type=float,
        default=0.0,
        help="for Gaussian noise: gaussian_process needs it, iclp may use it, noisy "
        "bins do without (default: 0)",
    )
    privacy.add_argument(
        "--mechanism",
        choices=("auto", "binned", "gaussian_process", "iclp", "bernstein"),
        default="auto",
        metavar="NAME",
        help="what is released: noisy bins (auto, binned), gaussian_process, iclp or "
        "bernstein (default: %(default)s)",
    )
    privacy.add_argument(
        "--group",
        "--groups",
        metavar="COLUMN",
        help="names the person of each row: people are protected, not rows, and weigh "
        "the same",
    )
    add_release(privacy)


def _add_output(output: Any) -> None:
    output.add_argument(
        "--out",
        "--output",
        default="private_density.csv",
        metavar="CSV",
        help="the density, and for one column the distribution function, on public "
        "points (default: %(default)s)",
    )
    output.add_argument(
        "--points",
        type=count,
        metavar="N",
        help="equally spaced along each column (default: 257, 65 or 17 for one, two or "
        "three columns)",
    )
    output.add_argument(
        "--sample",
        type=count,
        metavar="N",
        help="also write so many synthetic rows: they are free",
    )
    output.add_argument(
        "--sample-out",
        metavar="CSV",
        help="where to (default: private_sample.csv)",
    )
    output.add_argument(
        "--plot", metavar="PNG", help="picture of the density of one or two columns"
    )
    output.add_argument(
        "--json",
        metavar="FILE",
        help="the guarantee; '-' is standard output, the report then goes to stderr",
    )
    add_force(output)
    output.add_argument(
        "--level",
        type=level,
        default=0.95,
        help="of the band of noise in the picture (default: %(default)s)",
    )
